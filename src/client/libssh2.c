#include "client/libssh2.h"

#include <libssh2.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "client/exec_sink.h"
#include "client/libssh2_session.h"
#include "client/stream.h"
#include "model/cipher.h"
#include "model/namelist.h"

/* What may still be under way after the last write, on the slowest of links: no longer than that. */
#define CONFIRM_MAX_NS (600 * XB_NS_PER_SECOND)

static bool
start_command(struct xb_libssh2 *s, const char *command, int64_t deadline, struct xb_err *err)
{
	bool again;
	int rc;

	do {
		s->channel = libssh2_channel_open_session(s->session);
		rc = s->channel != NULL ? 0 : libssh2_session_last_errno(s->session);
		if (!xb_libssh2_step(s, rc, "channel", deadline, &again, err))
			return false;
	} while (again);
	do {
		rc = libssh2_channel_exec(s->channel, command);
		if (!xb_libssh2_step(s, rc, "remote command", deadline, &again, err))
			return false;
	} while (again);
	return true;
}

/* Reads one stream of the channel until it has nothing more now. False at an error of the session. */
static bool
drain_stream(struct xb_libssh2 *s, int stream, struct xb_exec_sink *sink, struct xb_err *err)
{
	char bytes[4096];
	ssize_t got;

	for (;;) {
		got = libssh2_channel_read_ex(s->channel, stream, bytes, sizeof(bytes));
		if (got == 0 || got == LIBSSH2_ERROR_EAGAIN)
			return true;
		if (got < 0)
			return xb_libssh2_fail(s, "read", err);
		if (stream == 0)
			xb_exec_sink_feed(sink, bytes, (size_t)got);
		else
			xb_exec_sink_complain(sink, bytes, (size_t)got);
	}
}

/* Takes all that has come; true when the line that *flag tells of is among it. */
static bool
take_lines(struct xb_libssh2 *s, struct xb_exec_sink *sink, const bool *flag, const char *what,
    struct xb_err *err)
{
	/* stdout last: each call takes in what has come for the other stream as well, and nothing
	 * would wake us for a line that is here already. */
	if (!drain_stream(s, SSH_EXTENDED_DATA_STDERR, sink, err) || !drain_stream(s, 0, sink, err))
		return false;
	if (!*flag && libssh2_channel_eof(s->channel))
		return xb_fail(err, XB_FAULT_TRIAL,
		    "the remote command ended before its %s line%s%s", what,
		    sink->other[0] != '\0' ? "; it said: " : "", sink->other);
	return true;
}

static bool
no_line(const char *what, int64_t stall_ns, struct xb_err *err)
{
	char patience[32];

	xb_duration_format(patience, sizeof(patience), stall_ns);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "no %s line from the far side for %s (a longer wait: --stall-timeout)", what, patience);
}

/* Until the ready line: a profile may print and sleep before it, for stall_ns in all. */
static bool
await_ready(struct xb_libssh2 *s, struct xb_exec_sink *sink, int64_t stall_ns, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + stall_ns;
	enum xb_io io;

	while (take_lines(s, sink, &sink->ready, "ready", err)) {
		if (sink->ready)
			return true;
		io = xb_libssh2_wait(s, deadline, err);
		if (io == XB_IO_AGAIN)
			return no_line("ready", stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
	}
	return false;
}

/* Until the end line: as long as what is under way keeps moving. */
static bool
await_end(struct xb_libssh2 *s, struct xb_exec_sink *sink, int64_t stall_ns, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + CONFIRM_MAX_NS;
	enum xb_io io;

	while (take_lines(s, sink, &sink->ended, "end", err)) {
		if (sink->ended)
			return true;
		io = xb_libssh2_wait_moving(s, stall_ns, err);
		if (io == XB_IO_AGAIN || xb_clock_ns() >= deadline)
			return no_line("end", stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
	}
	return false;
}

static enum xb_io
channel_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
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

static enum xb_io
channel_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	return xb_libssh2_wait_moving(ctx, stall_ns, err);
}

/* The stream failed: what the far side said last is a better reason than what we saw of it. */
static void
explain_broken_stream(struct xb_libssh2 *s, struct xb_exec_sink *sink, uint64_t bytes,
    struct xb_err *err)
{
	struct xb_err ignored = { 0 };
	char after[32], why[600];

	drain_stream(s, 0, sink, &ignored);
	drain_stream(s, SSH_EXTENDED_DATA_STDERR, sink, &ignored);
	xb_size_format(after, sizeof(after), bytes);
	if (!sink->ended && !s->broken)
		return;
	snprintf(why, sizeof(why), "%s", err->text);
	err->fault = XB_FAULT_NONE;
	if (sink->ended)
		xb_fail(err, XB_FAULT_TRIAL, "the sink ended early, after %s, with status %d%s%s",
		    after, sink->status, sink->other[0] != '\0' ? ": " : "", sink->other);
	else
		xb_fail(err, XB_FAULT_TRIAL, "the connection broke after %s: %.400s", after, why);
}

/* Sends the end of file, waits for the end line, and holds the far side to its word. */
static bool
confirm(struct xb_libssh2 *s, const struct xb_transfer *transfer, struct xb_exec_sink *sink,
    struct xb_err *err)
{
	bool again;
	int rc;

	xb_libssh2_enter(s, XB_PHASE_CONFIRM);
	do {
		rc = libssh2_channel_send_eof(s->channel);
		if (!xb_libssh2_step(s, rc, "end of file", xb_clock_ns() + transfer->stall_ns,
			&again, err))
			return false;
	} while (again);
	return await_end(s, sink, transfer->stall_ns, err);
}

/* After the clock has stopped: the exit status must agree with the end line. */
static bool
check_exit(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    const struct xb_exec_sink *sink, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + transfer->stall_ns;
	bool again;
	int rc;

	xb_libssh2_enter(s, XB_PHASE_CLOSE);
	if (sink->status != 0)
		return xb_fail(err, XB_FAULT_TRIAL, "the sink ended with status %d%s%s",
		    sink->status, sink->other[0] != '\0' ? ": " : "", sink->other);
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

static bool
stream(struct xb_libssh2 *s, const struct xb_transfer *transfer, struct xb_exec_sink *remote,
    struct xb_outcome *outcome, struct xb_err *err)
{
	const struct xb_sink sink = { .send = channel_send, .wait = channel_wait, .ctx = s };

	xb_libssh2_enter(s, XB_PHASE_EXEC);
	if (!start_command(s, remote->command, xb_clock_ns() + transfer->stall_ns, err) ||
	    !await_ready(s, remote, transfer->stall_ns, err))
		return false;
	xb_libssh2_enter(s, XB_PHASE_STREAM);
	if (!transfer->on_ready(transfer->ctx))
		return xb_fail(err, XB_FAULT_TRIAL, "another stream has failed");
	if (!xb_stream_upload(transfer, &sink, &outcome->bytes, err)) {
		explain_broken_stream(s, remote, outcome->bytes, err);
		return false;
	}
	if (!confirm(s, transfer, remote, err))
		return false;
	transfer->on_end(transfer->ctx);
	return check_exit(s, transfer, remote, err);
}

static bool
transfer(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	struct xb_libssh2 s = { .target = transfer->target, .live = transfer->live, .fd = -1 };
	struct xb_exec_sink remote;
	bool ok = false;

	xb_exec_sink_init(&remote, transfer->count);
	outcome->session_cpu_seconds = NAN;
	if (libssh2_init(0) != 0 || (s.session = libssh2_session_init()) == NULL) {
		xb_fail(err, XB_FAULT_SYSTEM, "libssh2 %s does not start", libssh2_version(0));
		goto out;
	}
	if (!xb_libssh2_open(&s, transfer, outcome, err) ||
	    !stream(&s, transfer, &remote, outcome, err))
		goto out;
	outcome->has_count = remote.has_count;
	outcome->counted = remote.count;
	if (remote.has_cpu)
		outcome->session_cpu_seconds = remote.cpu_seconds;
	ok = true;
out:
	xb_exec_sink_free(&remote);
	/* The process ends now, and with it the socket: a hostile server cannot keep us in a clean
	 * farewell. */
	if (s.fd >= 0)
		close(s.fd);
	return ok;
}

/*
 * libssh2 lists ciphers that its crypto library then refuses: blowfish, cast128 and arcfour without
 * OpenSSL's legacy provider. These are asked for where they are made.
 */
static bool
really_has(const char *name)
{
	const struct xb_cipher *cipher = xb_cipher_by_name(name);
	EVP_CIPHER *evp;
	bool has;

	if (cipher == NULL || !cipher->legacy)
		return true;
	evp = EVP_CIPHER_fetch(NULL, cipher->evp, NULL);
	has = evp != NULL;
	EVP_CIPHER_free(evp);
	return has;
}

static void
ask(LIBSSH2_SESSION *session, int method, struct xb_namelist *names)
{
	const char **list = NULL;
	int i, count;

	count = libssh2_session_supported_algs(session, method, &list);
	for (i = 0; i < count; i++)
		if (really_has(list[i]))
			xb_namelist_add(names, list[i], strlen(list[i]));
	if (list != NULL)
		libssh2_free(session, list);
}

/* The one that runs, which need not be the one that we were built with. */
static const char *
version(void)
{
	return libssh2_version(0);
}

static void
algorithms(struct xb_client_algorithms *has)
{
	LIBSSH2_SESSION *session;

	if (libssh2_init(0) != 0 || (session = libssh2_session_init()) == NULL)
		return;
	ask(session, LIBSSH2_METHOD_KEX, &has->kex);
	ask(session, LIBSSH2_METHOD_HOSTKEY, &has->hostkeys);
	ask(session, LIBSSH2_METHOD_CRYPT_CS, &has->ciphers);
	ask(session, LIBSSH2_METHOD_MAC_CS, &has->macs);
	libssh2_session_free(session);
}

const struct xb_client xb_client_libssh2 = {
	.name = "libssh2",
	.version = version,
	.algorithms = algorithms,
	.transfer = transfer,
	.ranked = true,
};
