#include "client/libssh_channel.h"

#include "base/clock.h"
#include "base/err.h"

/*
 * One write: each ends with a poll(2) and a send(2). Four times as much takes 10% more CPU: what
 * the library makes of it is no longer in the cache when the socket takes it.
 */
#define WRITE_BYTES (256u * 1024)

/*
 * How long the library waits by itself in mid-stream, where its own loop has less to do for each
 * wait than ours. Afterwards ours sees whether anything moves.
 */
#define WAIT_MS 250

bool
xb_libssh_open_channel(struct xb_libssh *s, int64_t deadline_ns, struct xb_err *err)
{
	bool again;
	int rc;

	s->channel = ssh_channel_new(s->session);
	if (s->channel == NULL)
		return xb_libssh_fail(s, "channel", err);
	do {
		rc = ssh_channel_open_session(s->channel);
		if (!xb_libssh_step(s, rc, "channel", deadline_ns, &again, err))
			return false;
	} while (again);
	return true;
}

bool
xb_libssh_start(struct xb_libssh *s, const char *command, int64_t deadline_ns, struct xb_err *err)
{
	bool again;
	int rc;

	if (!xb_libssh_open_channel(s, deadline_ns, err))
		return false;
	do {
		rc = ssh_channel_request_exec(s->channel, command);
		if (!xb_libssh_step(s, rc, "remote command", deadline_ns, &again, err))
			return false;
	} while (again);
	return true;
}

/* All that has come of one stream, to its ear; *ended at its end. */
static bool
hear_stream(struct xb_libssh *s, bool is_stderr, const struct xb_libssh_ears *ears, bool *ended,
    struct xb_err *err)
{
	char bytes[4096];
	int n;

	for (;;) {
		n = ssh_channel_read_nonblocking(s->channel, bytes, sizeof(bytes), is_stderr);
		*ended = n == SSH_EOF;
		if (n == SSH_EOF || n == 0 || n == SSH_AGAIN)
			return true;
		if (n < 0)
			return xb_libssh_fail(s, "read", err);
		if (is_stderr)
			ears->hear_err(ears->ctx, bytes, (size_t)n);
		else
			ears->hear_out(ears->ctx, bytes, (size_t)n);
	}
}

bool
xb_libssh_hear(struct xb_libssh *s, const struct xb_libssh_ears *ears, bool *ended,
    struct xb_err *err)
{
	bool ignored;

	/* stdout last: each call takes in what has come for the other stream as well, and nothing
	 * would wake us for a line that is here already. */
	return hear_stream(s, true, ears, &ignored, err) &&
	    hear_stream(s, false, ears, ended, err) &&
	    (!*ended || hear_stream(s, true, ears, &ignored, err));
}

enum xb_io
xb_libssh_receive(struct xb_libssh *s, void *bytes, size_t size, size_t *got, struct xb_err *err)
{
	int n;

	*got = 0;
	do {
		n = ssh_channel_read_timeout(s->channel, bytes, (uint32_t)size, 0, WAIT_MS);
		if (n > 0) {
			*got = (size_t)n;
			return XB_IO_DONE;
		}
		/* It says 0 for the end as well as for nothing yet. This one takes in more, too. */
		if (n == 0)
			n = ssh_channel_poll(s->channel, 0);
	} while (n > 0);
	if (n == SSH_EOF)
		return XB_IO_DONE;
	if (n == 0 || n == SSH_AGAIN)
		return XB_IO_AGAIN;
	xb_libssh_fail(s, "read", err);
	return XB_IO_FAILED;
}

enum xb_io
xb_libssh_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
{
	struct xb_libssh *s = ctx;
	int n;

	/* What the socket has not taken yet is one write's worth, not a window's. */
	if ((ssh_get_status(s->session) & SSH_WRITE_PENDING) != 0 &&
	    ssh_blocking_flush(s->session, WAIT_MS) == SSH_AGAIN)
		return XB_IO_AGAIN;
	n = ssh_channel_write(s->channel, bytes, (uint32_t)(len < WRITE_BYTES ? len : WRITE_BYTES));
	if (n > 0) {
		*sent = (size_t)n;
		return XB_IO_DONE;
	}
	if (n == 0)
		return XB_IO_AGAIN;
	s->broken = true;
	xb_libssh_fail(s, "write", err);
	return XB_IO_FAILED;
}

enum xb_io
xb_libssh_stream_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	return xb_libssh_wait_moving(ctx, stall_ns, err);
}

bool
xb_libssh_send_all(struct xb_libssh *s, const void *bytes, size_t len, const char *step,
    int64_t deadline_ns, struct xb_err *err)
{
	const char *at = bytes;
	size_t sent;
	enum xb_io io;

	while (len > 0) {
		sent = 0;
		io = xb_libssh_send(s, at, len, &sent, err);
		if (io == XB_IO_AGAIN)
			io = xb_libssh_wait(s, deadline_ns, err);
		if (io == XB_IO_AGAIN)
			return xb_fail(err, XB_FAULT_TRIAL,
			    "%s: no answer in time (more: --stall-timeout)", step);
		if (io == XB_IO_FAILED)
			return false;
		at += sent;
		len -= sent;
	}
	return true;
}

bool
xb_libssh_send_eof(struct xb_libssh *s, struct xb_err *err)
{
	int rc = ssh_channel_send_eof(s->channel);

	/*
	 * AGAIN: it is behind what the socket has not taken yet, and goes out with the next read.
	 */
	return rc == SSH_OK || rc == SSH_AGAIN || xb_libssh_fail(s, "end of file", err);
}

/* The status so far, -1 without one. */
static int
exit_status(ssh_channel channel)
{
#if LIBSSH_VERSION_INT >= SSH_VERSION_INT(0, 11, 0)
	uint32_t code = UINT32_MAX;

	ssh_channel_get_exit_state(channel, &code, NULL, NULL);
	return (int)code;
#else
	return ssh_channel_get_exit_status(channel);
#endif
}

static void
hear_nothing(void *ctx, const char *bytes, size_t len)
{
	(void)ctx;
	(void)bytes;
	(void)len;
}

bool
xb_libssh_exit_status(struct xb_libssh *s, int64_t stall_ns, int *status, struct xb_err *err)
{
	const struct xb_libssh_ears deaf = { .hear_out = hear_nothing, .hear_err = hear_nothing };
	int64_t deadline = xb_clock_ns() + stall_ns;
	enum xb_io io = XB_IO_DONE;
	bool ended;

	while (io == XB_IO_DONE) {
		if (!xb_libssh_hear(s, &deaf, &ended, err))
			return false;
		if (ended) {
			*status = exit_status(s->channel);
			if (*status != -1 || ssh_channel_is_closed(s->channel))
				return true;
		}
		io = xb_libssh_wait(s, deadline, err);
	}
	return io == XB_IO_AGAIN &&
	    xb_fail(err, XB_FAULT_TRIAL,
		"end of the remote command: no answer in time (more: --stall-timeout)");
}
