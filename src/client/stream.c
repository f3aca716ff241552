#include "client/stream.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "client/client.h"
#include "client/payload.h"

static bool
stalled(const struct xb_transfer *transfer, uint64_t bytes, struct xb_err *err)
{
	char after[32], patience[32];

	xb_size_format(after, sizeof(after), bytes);
	xb_duration_format(patience, sizeof(patience), transfer->stall_ns);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "the server took no data for %s after %s (a longer wait: --stall-timeout)", patience,
	    after);
}

/* One round of the loop: offers a piece, and waits when the sink takes none of it. */
static enum xb_io
send_some(const struct xb_transfer *transfer, const struct xb_sink *sink, struct xb_cursor *cursor,
    uint64_t *bytes, struct xb_err *err)
{
	uint64_t left = transfer->size > 0 ? transfer->size - *bytes : UINT64_MAX;
	const void *piece;
	size_t len, sent = 0;
	enum xb_io io;

	if (!xb_cursor_peek(cursor, left, &piece, &len, err))
		return XB_IO_FAILED;
	io = sink->send(sink->ctx, piece, len, &sent, err);
	if (io == XB_IO_DONE && sent > 0) {
		xb_cursor_advance(cursor, sent);
		*bytes += sent;
		atomic_store_explicit(&transfer->live->bytes, *bytes, memory_order_relaxed);
		return XB_IO_DONE;
	}
	if (io == XB_IO_FAILED)
		return XB_IO_FAILED;
	io = sink->wait(sink->ctx, transfer->stall_ns, err);
	if (io == XB_IO_AGAIN)
		stalled(transfer, *bytes, err);
	return io == XB_IO_DONE ? XB_IO_AGAIN : XB_IO_FAILED;
}

bool
xb_stream_upload(const struct xb_transfer *transfer, const struct xb_sink *sink, uint64_t *bytes,
    struct xb_err *err)
{
	struct xb_cursor *cursor = xb_cursor_new(transfer->payload);
	int64_t end_ns = INT64_MAX;
	enum xb_io io;

	*bytes = 0;
	if (transfer->time_ns > 0)
		end_ns = xb_clock_ns() + transfer->time_ns;
	/* What the sink has half-taken is finished, even past the end of the time-box. */
	do
		io = send_some(transfer, sink, cursor, bytes, err);
	while (io == XB_IO_AGAIN ||
	    (io == XB_IO_DONE && xb_clock_ns() < end_ns &&
		(transfer->size == 0 || *bytes < transfer->size)));
	xb_cursor_free(cursor);
	return io == XB_IO_DONE;
}
