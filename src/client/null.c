#include "client/null.h"

#include "base/err.h"
#include "client/client.h"
#include "client/stream.h"

/* The packet size of an SSH client, so that the loop goes round as often as with a real one. */
#define PIECE_BYTES 32768u

static const char *
null_version(void)
{
	return "";
}

static enum xb_io
null_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
{
	(void)ctx;
	(void)bytes;
	(void)err;
	*sent = len < PIECE_BYTES ? len : PIECE_BYTES;
	return XB_IO_DONE;
}

static enum xb_io
null_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	(void)ctx;
	(void)stall_ns;
	(void)err;
	return XB_IO_DONE;
}

static bool
null_transfer(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	const struct xb_sink sink = { .send = null_send, .wait = null_wait };
	bool ok;

	if (!transfer->on_ready(transfer->ctx))
		return xb_fail(err, XB_FAULT_TRIAL, "another stream has failed");
	ok = xb_stream_upload(transfer, &sink, &outcome->bytes, err);
	transfer->on_end(transfer->ctx);
	return ok;
}

/* A login is nothing but what this client leaves out, and scp and sftp would be the same loop. */
static const char *
null_cannot(enum xb_method method, enum xb_direction direction)
{
	if (method != XB_METHOD_EXEC)
		return "no session, so no other method";
	return direction == XB_DOWNLOAD ? "nothing to receive" : NULL;
}

const struct xb_client xb_client_null = {
	.name = "null",
	.label = "harness alone",
	.version = null_version,
	.cannot = null_cannot,
	.transfer = null_transfer,
};
