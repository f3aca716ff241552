#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "client/libssh_channel.h"
#include "client/libssh_session.h"
#include "client/scp_peer.h"
#include "client/stream.h"

/*
 * Not with the library's ssh_scp functions: they are deprecated, and none of them reads the far
 * side's last reply, so that an upload to a full disk looks like a success. What they do with the
 * data is the same ssh_channel_write and ssh_channel_read as here.
 */

/*
 * What may still be under way after the last write, on the slowest of links: no longer than that.
 */
#define CONFIRM_MAX_NS (600 * XB_NS_PER_SECOND)

/* One read of a download. */
#define READ_BYTES (256u * 1024)

/* The far side of one transfer. */
struct far {
	struct xb_libssh *s;
	struct xb_scp_peer peer;
	char *buffer;  /* READ_BYTES, of a download */
	uint64_t left; /* bytes of the file that are still to come */
};

static void
hear_word(void *ctx, const char *bytes, size_t len)
{
	xb_scp_peer_feed(ctx, bytes, len);
}

static void
hear_complaint(void *ctx, const char *bytes, size_t len)
{
	xb_scp_peer_complain(ctx, bytes, len);
}

/* Takes all that the far side says now, which is no data. */
static bool
take_words(struct far *far, bool *ended, struct xb_err *err)
{
	const struct xb_libssh_ears ears = { hear_word, hear_complaint, &far->peer };

	return xb_libssh_hear(far->s, &ears, ended, err);
}

/* A word that is due: so many replies in all, or the file's line. */
struct due {
	const char *step;
	unsigned replies;
	bool file;
	int64_t stall_ns; /* without an answer, or without any movement: */
	bool moving;      /* what is under way may take its time */
};

static bool
is_here(const struct far *far, const struct due *due)
{
	return due->file ? far->peer.has_file : far->peer.replies >= due->replies;
}

static bool
await(struct far *far, const struct due *due, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + (due->moving ? CONFIRM_MAX_NS : due->stall_ns);
	char patience[32];
	enum xb_io io;
	bool ended;

	for (;;) {
		if (!take_words(far, &ended, err) || !xb_scp_peer_check(&far->peer, err))
			return false;
		if (is_here(far, due))
			return true;
		if (ended)
			return xb_scp_peer_ended(&far->peer, err);
		io = due->moving ? xb_libssh_wait_moving(far->s, due->stall_ns, err)
				 : xb_libssh_wait(far->s, deadline, err);
		if (io == XB_IO_FAILED)
			return false;
		if (io == XB_IO_AGAIN || xb_clock_ns() >= deadline) {
			xb_duration_format(patience, sizeof(patience), due->stall_ns);
			return xb_fail(err, XB_FAULT_TRIAL,
			    "%s: no answer from the far side's scp for %s (a longer wait: "
			    "--stall-timeout)",
			    due->step, patience);
		}
	}
}

/* The stream failed: what the far side said is a better reason than what we saw of it. */
static void
explain_broken_stream(struct far *far, struct xb_err *err)
{
	struct xb_err better = { .fault = XB_FAULT_NONE };
	const bool broken = far->s->broken || !ssh_is_connected(far->s->session);
	bool ended;

	take_words(far, &ended, &better);
	better.fault = XB_FAULT_NONE;
	if (!xb_scp_peer_check(&far->peer, &better) ||
	    (broken && far->peer.said[0] != '\0' && !xb_scp_peer_ended(&far->peer, &better)))
		*err = better;
}

/* scp may end in mid-stream. */
static bool
is_scp_alive(void *ctx, struct xb_err *err)
{
	struct far *far = ctx;
	bool ended;

	return take_words(far, &ended, err) && xb_scp_peer_check(&far->peer, err) &&
	    (!ended || xb_scp_peer_ended(&far->peer, err));
}

/* Our side of the start: the command, the file's line, and a reply to each. */
static bool
start_upload(struct far *far, const struct xb_transfer *transfer, struct xb_err *err)
{
	const struct due answer = { "start of scp", 1, false, transfer->stall_ns, false };
	const struct due ready = { "scp", 2, false, transfer->stall_ns, false };
	int64_t deadline = xb_clock_ns() + transfer->stall_ns;
	char *line = xb_scp_announce(transfer->size);
	bool ok;

	ok = xb_libssh_start(far->s, far->peer.command, deadline, err) &&
	    await(far, &answer, err) &&
	    xb_libssh_send_all(far->s, line, strlen(line), "scp", deadline, err) &&
	    await(far, &ready, err);
	free(line);
	return ok;
}

static bool
upload(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_sink sink = {
		.send = xb_libssh_send,
		.wait = xb_libssh_stream_wait,
		.ctx = far->s,
	};
	const struct due written = { "end of the file", 3, false, transfer->stall_ns, true };
	struct xb_transfer whole = *transfer;

	/* A file that was announced has to come whole. */
	whole.time_ns = 0;
	if (!start_upload(far, transfer, err) || !xb_libssh_ready(far->s, transfer, err))
		return false;
	far->s->is_alive = is_scp_alive;
	far->s->is_alive_ctx = far;
	if (!xb_stream_upload(&whole, &sink, &outcome->bytes, err)) {
		explain_broken_stream(far, err);
		return false;
	}
	far->s->is_alive = NULL;
	xb_libssh_enter(far->s, XB_PHASE_CONFIRM);
	/* Our own status, then its reply to the whole: written, or why not. */
	if (!xb_libssh_send_all(far->s, "", 1, "end of the file", xb_clock_ns() + CONFIRM_MAX_NS,
		err)) {
		explain_broken_stream(far, err);
		return false;
	}
	if (!await(far, &written, err))
		return false;
	xb_libssh_end(far->s, transfer, outcome);
	return true;
}

static enum xb_io
receive(void *ctx, size_t *received, struct xb_err *err)
{
	struct far *far = ctx;
	enum xb_io io;

	*received = 0;
	if (far->left == 0)
		return XB_IO_DONE;
	io = xb_libssh_receive(far->s, far->buffer,
	    far->left < READ_BYTES ? (size_t)far->left : READ_BYTES, received, err);
	far->left -= *received;
	return io;
}

static enum xb_io
receive_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	struct far *far = ctx;

	return xb_libssh_wait_moving(far->s, stall_ns, err);
}

static bool
download(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_source source = {
		.receive = receive,
		.wait = receive_wait,
		.ctx = far,
	};
	const struct due file = { "start of scp", 0, true, transfer->stall_ns, false };
	const struct due whole = { "end of the file", 1, false, transfer->stall_ns, false };
	int64_t deadline = xb_clock_ns() + transfer->stall_ns;
	uint64_t expected;

	if (!xb_libssh_start(far->s, far->peer.command, deadline, err) ||
	    !xb_libssh_send_all(far->s, "", 1, "start of scp", deadline, err) ||
	    !await(far, &file, err))
		return false;
	if (far->peer.file_size == 0)
		return xb_fail(err, XB_FAULT_TRIAL, "the file to download is empty");
	far->left = far->peer.file_size;
	if (!xb_libssh_ready(far->s, transfer, err) ||
	    !xb_libssh_send_all(far->s, "", 1, "scp", xb_clock_ns() + transfer->stall_ns, err))
		return false;
	expected = transfer->remote_bytes > 0 ? transfer->remote_bytes : far->peer.file_size;
	if (!xb_stream_download(transfer, &source, expected, &outcome->bytes, err)) {
		explain_broken_stream(far, err);
		return false;
	}
	xb_libssh_end(far->s, transfer, outcome);
	/* A file that could not be read to its end was filled up with anything: the reply tells. */
	return far->left > 0 || await(far, &whole, err);
}

bool
xb_libssh_scp(struct xb_libssh *s, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	struct far far = { .s = s };
	bool ok;

	if (transfer->direction == XB_UPLOAD) {
		xb_scp_peer_init_upload(&far.peer);
		ok = upload(&far, transfer, outcome, err);
	} else {
		xb_scp_peer_init_download(&far.peer, transfer->remote_file);
		far.buffer = xb_calloc(1, READ_BYTES);
		ok = download(&far, transfer, outcome, err);
		free(far.buffer);
	}
	xb_scp_peer_free(&far.peer);
	return ok;
}
