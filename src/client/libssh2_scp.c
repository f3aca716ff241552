#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "client/libssh2_channel.h"
#include "client/scp_peer.h"

/*
 * The protocol is spoken here, on a channel as libssh2_scp_send64 and libssh2_scp_recv2 open it:
 * those throw away what the far side says when it refuses, take "scp: not found" for a start, leave
 * out the byte that ends a file, and ask for times (-p) to tell a length. The payload goes through
 * the same calls either way.
 */

/*
 * What may still be under way after the last write, on the slowest of links: no longer than that.
 */
#define CONFIRM_MAX_NS (600 * XB_NS_PER_SECOND)

struct far {
	struct xb_libssh2 *s;
	struct xb_scp_peer peer;
	char *buffer;  /* of XB_LIBSSH2_READ_BYTES, for a download */
	uint64_t left; /* of the file, still to come */
};

static void
take_stdout(void *ctx, const char *bytes, size_t len)
{
	struct far *far = ctx;

	xb_scp_peer_feed(&far->peer, bytes, len);
}

static void
take_stderr(void *ctx, const char *bytes, size_t len)
{
	struct far *far = ctx;

	xb_scp_peer_complain(&far->peer, bytes, len);
}

/* Takes all that has come. False when the far side refused, ended, or is lost. */
static bool
take_words(struct far *far, struct xb_err *err)
{
	if (!xb_libssh2_drain(far->s, SSH_EXTENDED_DATA_STDERR, take_stderr, far, err) ||
	    !xb_libssh2_drain(far->s, 0, take_stdout, far, err) ||
	    !xb_scp_peer_check(&far->peer, err))
		return false;
	return true;
}

static bool
no_answer(const struct far *far, int64_t stall_ns, struct xb_err *err)
{
	const char *words = xb_scp_peer_words(&far->peer);
	char patience[32];

	xb_duration_format(patience, sizeof(patience), stall_ns);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "no answer from scp on the far side for %s (a longer wait: --stall-timeout)%s%s",
	    patience, words[0] != '\0' ? "; it said: " : "", words);
}

/*
 * Waits for so many good replies in all, or for the file's line: as long as payload keeps moving,
 * which it does not before the stream.
 */
static bool
await(struct far *far, unsigned replies, bool file, int64_t stall_ns, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + CONFIRM_MAX_NS;
	enum xb_io io;

	while (take_words(far, err)) {
		if (file ? far->peer.has_file : far->peer.replies >= replies)
			return true;
		if (libssh2_channel_eof(far->s->channel))
			return xb_scp_peer_ended(&far->peer, err);
		io = xb_libssh2_wait_moving(far->s, stall_ns, err);
		if (io == XB_IO_AGAIN || xb_clock_ns() >= deadline)
			return no_answer(far, stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
	}
	return false;
}

/* The stream failed: what the far side said meanwhile is a better reason than what we saw of it. */
static void
explain(struct far *far, uint64_t bytes, struct xb_err *err)
{
	struct xb_err better = { 0 };

	if (!take_words(far, &better) && far->peer.refused)
		*err = better;
	else
		xb_libssh2_explain(far->s, bytes, far->peer.said, err);
}

/* scp may end in mid-stream. */
static bool
is_scp_alive(void *ctx, struct xb_err *err)
{
	struct far *far = ctx;

	return take_words(far, err) &&
	    (!libssh2_channel_eof(far->s->channel) || xb_scp_peer_ended(&far->peer, err));
}

static bool
upload(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_sink sink = {
		.send = xb_libssh2_channel_send,
		.wait = xb_libssh2_channel_wait,
		.ctx = far->s,
	};
	const int64_t stall_ns = transfer->stall_ns;
	struct xb_transfer whole = *transfer;
	char *announce = xb_scp_announce(transfer->size);
	bool ok;

	/* A file that was announced has to come whole. */
	whole.time_ns = 0;
	ok = await(far, 1, false, stall_ns, err) &&
	    xb_libssh2_say(far->s, announce, strlen(announce), "scp", stall_ns, err) &&
	    await(far, 2, false, stall_ns, err) && xb_libssh2_ready(far->s, transfer, err);
	free(announce);
	if (!ok)
		return false;
	far->s->is_alive = is_scp_alive;
	far->s->is_alive_ctx = far;
	if (!xb_stream_upload(&whole, &sink, &outcome->bytes, err)) {
		explain(far, outcome->bytes, err);
		return false;
	}
	far->s->is_alive = NULL;
	xb_libssh2_enter(far->s, XB_PHASE_CONFIRM);
	if (!xb_libssh2_say(far->s, "", 1, "end of the file", stall_ns, err) ||
	    !await(far, 3, false, stall_ns, err))
		return false;
	xb_libssh2_end(far->s, transfer, outcome);
	xb_libssh2_enter(far->s, XB_PHASE_CLOSE);
	return xb_libssh2_send_eof(far->s, stall_ns, err) &&
	    xb_libssh2_finish(far->s, stall_ns, err);
}

static enum xb_io
receive(void *ctx, size_t *received, struct xb_err *err)
{
	struct far *far = ctx;
	size_t want = far->left < XB_LIBSSH2_READ_BYTES ? (size_t)far->left : XB_LIBSSH2_READ_BYTES;
	enum xb_io io;

	*received = 0;
	if (want == 0)
		return XB_IO_DONE;
	io = xb_libssh2_channel_receive(far->s, far->buffer, want, received, take_stderr, far, err);
	far->left -= *received;
	return io;
}

static enum xb_io
download_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	const struct far *far = ctx;

	return xb_libssh2_wait_moving(far->s, stall_ns, err);
}

static bool
download(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_source source = { .receive = receive, .wait = download_wait, .ctx = far };
	const int64_t stall_ns = transfer->stall_ns;
	uint64_t expected;

	if (!xb_libssh2_say(far->s, "", 1, "scp", stall_ns, err) ||
	    !await(far, 0, true, stall_ns, err))
		return false;
	if (far->peer.file_size == 0)
		return xb_fail(err, XB_FAULT_TRIAL, "the remote file is empty");
	if (!xb_libssh2_ready(far->s, transfer, err) ||
	    !xb_libssh2_say(far->s, "", 1, "scp", stall_ns, err))
		return false;
	far->left = far->peer.file_size;
	expected = transfer->remote_bytes > 0 ? transfer->remote_bytes : far->peer.file_size;
	if (!xb_stream_download(transfer, &source, expected, &outcome->bytes, err)) {
		xb_libssh2_explain(far->s, outcome->bytes, far->peer.said, err);
		return false;
	}
	xb_libssh2_end(far->s, transfer, outcome);
	/*
	 * Behind a whole file it tells whether it could read all of it: zeros stand in for the
	 * rest.
	 */
	if (far->left > 0)
		return true;
	xb_libssh2_enter(far->s, XB_PHASE_CLOSE);
	return await(far, 1, false, stall_ns, err);
}

bool
xb_libssh2_scp(struct xb_libssh2 *s, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	struct far far = { .s = s };
	bool ok;

	if (s->download && transfer->remote_file == NULL)
		return xb_fail(err, XB_FAULT_TRIAL, "scp needs a file to download");
	if (!s->download && transfer->size == 0)
		return xb_fail(err, XB_FAULT_TRIAL, "scp needs the size of an upload beforehand");
	if (s->download)
		xb_scp_peer_init_download(&far.peer, transfer->remote_file);
	else
		xb_scp_peer_init_upload(&far.peer);
	xb_libssh2_enter(s, XB_PHASE_EXEC);
	ok = xb_libssh2_start(s, far.peer.command, xb_clock_ns() + transfer->stall_ns, err);
	if (ok && s->download) {
		far.buffer = xb_calloc(1, XB_LIBSSH2_READ_BYTES);
		ok = download(&far, transfer, outcome, err);
	} else if (ok) {
		ok = upload(&far, transfer, outcome, err);
	}
	xb_scp_peer_free(&far.peer);
	free(far.buffer);
	return ok;
}
