#include "client/stream.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "client/client.h"
#include "client/payload.h"

/* what: "took no data". */
static bool
stalled(const struct xb_transfer *transfer, const char *what, uint64_t bytes, struct xb_err *err)
{
	char after[32], patience[32];

	xb_size_format(after, sizeof(after), bytes);
	xb_duration_format(patience, sizeof(patience), transfer->stall_ns);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "the server %s for %s after %s (a longer wait: --stall-timeout)", what, patience,
	    after);
}

static void
show_progress(const struct xb_transfer *transfer, uint64_t bytes)
{
	atomic_store_explicit(&transfer->live->bytes, bytes, memory_order_relaxed);
}

static int64_t
end_of_time_box(const struct xb_transfer *transfer)
{
	return transfer->time_ns > 0 ? xb_clock_ns() + transfer->time_ns : INT64_MAX;
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
		show_progress(transfer, *bytes);
		return XB_IO_DONE;
	}
	if (io == XB_IO_FAILED)
		return XB_IO_FAILED;
	io = sink->wait(sink->ctx, transfer->stall_ns, err);
	if (io == XB_IO_AGAIN)
		stalled(transfer, "took no data", *bytes, err);
	return io == XB_IO_DONE ? XB_IO_AGAIN : XB_IO_FAILED;
}

bool
xb_stream_upload(const struct xb_transfer *transfer, const struct xb_sink *sink, uint64_t *bytes,
    struct xb_err *err)
{
	struct xb_cursor *cursor = xb_cursor_new(transfer->payload);
	int64_t end_ns = end_of_time_box(transfer);
	enum xb_io io;

	*bytes = 0;
	/* What the sink has half-taken is finished, even past the end of the time-box. */
	do
		io = send_some(transfer, sink, cursor, bytes, err);
	while (io == XB_IO_AGAIN ||
	    (io == XB_IO_DONE && xb_clock_ns() < end_ns &&
		(transfer->size == 0 || *bytes < transfer->size)));
	xb_cursor_free(cursor);
	return io == XB_IO_DONE;
}

/* The source has ended: as it should, with its whole length, or too early. */
static bool
judge_end(uint64_t expected, uint64_t bytes, struct xb_err *err)
{
	if (expected > 0 && bytes == expected)
		return true;
	if (expected > 0)
		return xb_fail(err, XB_FAULT_TRIAL,
		    "the source ended after %" PRIu64 " bytes instead of %" PRIu64, bytes,
		    expected);
	return xb_fail(err, XB_FAULT_TRIAL, "the source ended early, after %" PRIu64 " bytes",
	    bytes);
}

bool
xb_stream_download(const struct xb_transfer *transfer, const struct xb_source *source,
    uint64_t expected, uint64_t *bytes, struct xb_err *err)
{
	int64_t end_ns = end_of_time_box(transfer);
	size_t received;
	enum xb_io io;

	*bytes = 0;
	/* A time-box that is over before anything has come would measure nothing. */
	while (*bytes == 0 ||
	    (xb_clock_ns() < end_ns && (transfer->size == 0 || *bytes < transfer->size))) {
		received = 0;
		io = source->receive(source->ctx, &received, err);
		if (io == XB_IO_DONE && received == 0)
			return judge_end(expected, *bytes, err);
		if (io == XB_IO_DONE) {
			*bytes += received;
			if (transfer->size > 0 && *bytes > transfer->size)
				*bytes = transfer->size;
			show_progress(transfer, *bytes);
		} else if (io == XB_IO_AGAIN) {
			io = source->wait(source->ctx, transfer->stall_ns, err);
			if (io == XB_IO_AGAIN)
				return stalled(transfer, "sent no data", *bytes, err);
		}
		if (io == XB_IO_FAILED)
			return false;
	}
	return true;
}
