#include "client/libssh2_channel.h"

#include <libssh2.h>

#include "base/clock.h"
#include "base/err.h"

bool
xb_libssh2_start(struct xb_libssh2 *s, const char *command, int64_t deadline_ns, struct xb_err *err)
{
	bool again;
	int rc;

	do {
		s->channel = libssh2_channel_open_session(s->session);
		rc = s->channel != NULL ? 0 : libssh2_session_last_errno(s->session);
		if (!xb_libssh2_step(s, rc, "channel", deadline_ns, &again, err))
			return false;
	} while (again);
	do {
		rc = libssh2_channel_exec(s->channel, command);
		if (!xb_libssh2_step(s, rc, "remote command", deadline_ns, &again, err))
			return false;
	} while (again);
	return true;
}

bool
xb_libssh2_drain(struct xb_libssh2 *s, int stream,
    void (*take)(void *ctx, const char *bytes, size_t len), void *ctx, struct xb_err *err)
{
	char bytes[4096];
	ssize_t got;

	for (;;) {
		got = libssh2_channel_read_ex(s->channel, stream, bytes, sizeof(bytes));
		if (got == 0 || got == LIBSSH2_ERROR_EAGAIN)
			return true;
		if (got < 0)
			return xb_libssh2_fail(s, "read", err);
		take(ctx, bytes, (size_t)got);
	}
}

bool
xb_libssh2_say(struct xb_libssh2 *s, const char *bytes, size_t len, const char *step,
    int64_t stall_ns, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + stall_ns;
	size_t said = 0;
	bool again;
	ssize_t n;

	while (said < len) {
		n = libssh2_channel_write(s->channel, bytes + said, len - said);
		/* No window and nothing to read yet is an EAGAIN as well. */
		if (n == 0)
			n = LIBSSH2_ERROR_EAGAIN;
		if (!xb_libssh2_step(s, (int)n, step, deadline, &again, err))
			return false;
		if (!again)
			said += (size_t)n;
	}
	return true;
}

enum xb_io
xb_libssh2_channel_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
{
	struct xb_libssh2 *s = ctx;
	ssize_t n = libssh2_channel_write(s->channel, bytes, len);

	if (n >= 0) {
		*sent = (size_t)n;
		return XB_IO_DONE;
	}
	if (n == LIBSSH2_ERROR_EAGAIN)
		return XB_IO_AGAIN;
	s->broken = true;
	xb_libssh2_fail(s, "write", err);
	return XB_IO_FAILED;
}

enum xb_io
xb_libssh2_channel_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	return xb_libssh2_wait_moving(ctx, stall_ns, err);
}

enum xb_io
xb_libssh2_channel_receive(struct xb_libssh2 *s, char *bytes, size_t size, size_t *received,
    void (*take)(void *ctx, const char *bytes, size_t len), void *ctx, struct xb_err *err)
{
	bool ended = false;
	ssize_t n = 0;
	int i;

	/*
	 * Words on stderr hide the end of the channel behind them, so they are taken out. Then
	 * stdout again: each call takes in what has come for the other stream as well, and nothing
	 * would wake us for that, nor make the far side send more once the window is used up.
	 */
	for (i = 0; i < 3; i++) {
		n = libssh2_channel_read(s->channel, bytes, size);
		ended = n == 0 && libssh2_channel_eof(s->channel);
		if (ended || (n != 0 && n != LIBSSH2_ERROR_EAGAIN) ||
		    (i > 0 && n == LIBSSH2_ERROR_EAGAIN))
			break;
		if (!xb_libssh2_drain(s, SSH_EXTENDED_DATA_STDERR, take, ctx, err))
			return XB_IO_FAILED;
	}
	*received = n > 0 ? (size_t)n : 0;
	s->taken += *received;
	if (n > 0 || ended)
		return XB_IO_DONE;
	if (n == 0 || n == LIBSSH2_ERROR_EAGAIN)
		return XB_IO_AGAIN;
	s->broken = true;
	xb_libssh2_fail(s, "read", err);
	return XB_IO_FAILED;
}

bool
xb_libssh2_send_eof(struct xb_libssh2 *s, int64_t stall_ns, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + stall_ns;
	bool again;
	int rc;

	do {
		rc = libssh2_channel_send_eof(s->channel);
		if (!xb_libssh2_step(s, rc, "end of file", deadline, &again, err))
			return false;
	} while (again);
	return true;
}

bool
xb_libssh2_finish(struct xb_libssh2 *s, int64_t stall_ns, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + stall_ns;
	bool again;
	int rc;

	do {
		rc = libssh2_channel_wait_eof(s->channel);
		if (!xb_libssh2_step(s, rc, "end of the remote command", deadline, &again, err))
			return false;
	} while (again);
	do {
		rc = libssh2_channel_close(s->channel);
		if (!xb_libssh2_step(s, rc, "close", deadline, &again, err))
			return false;
	} while (again);
	rc = libssh2_channel_get_exit_status(s->channel);
	if (rc != 0)
		return xb_fail(err, XB_FAULT_TRIAL, "the remote command exited with status %d", rc);
	return true;
}
