#include "client/libssh2.h"

#include <errno.h>
#include <libssh2.h>
#include <math.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "client/exec_sink.h"
#include "client/libssh2_session.h"
#include "client/stream.h"
#include "model/cipher.h"
#include "model/namelist.h"
#include "target/target.h"

const char *
xb_libssh2_version(void)
{
	static char text[48];

	if (text[0] == '\0')
		snprintf(text, sizeof(text), "libssh2 %.30s", libssh2_version(0));
	return text;
}

static void
beat(const struct xb_libssh2 *s)
{
	atomic_fetch_add_explicit(&s->live->beats, 1, memory_order_relaxed);
}

static void
enter(const struct xb_libssh2 *s, enum xb_phase phase)
{
	atomic_store_explicit(&s->live->phase, (int)phase, memory_order_relaxed);
}

enum xb_io
xb_libssh2_wait(const struct xb_libssh2 *s, int64_t deadline_ns, struct xb_err *err)
{
	struct pollfd pfd = { .fd = s->fd };
	int wanted = libssh2_session_block_directions(s->session);
	int n;

	if ((wanted & LIBSSH2_SESSION_BLOCK_INBOUND) != 0 || wanted == 0)
		pfd.events |= POLLIN;
	if ((wanted & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0)
		pfd.events |= POLLOUT;
	do
		n = poll(&pfd, 1, xb_clock_poll_ms(deadline_ns));
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		xb_fail_errno(err, XB_FAULT_TRIAL, "poll");
		return XB_IO_FAILED;
	}
	if (n == 0)
		return XB_IO_AGAIN;
	beat(s);
	return XB_IO_DONE;
}

bool
xb_libssh2_fail(const struct xb_libssh2 *s, const char *step, struct xb_err *err)
{
	char text[200];
	char *raw = NULL;
	int len = 0;

	libssh2_session_last_error(s->session, &raw, &len, 0);
	xb_text_printable(text, sizeof(text), raw != NULL ? raw : "", len > 0 ? (size_t)len : 0);
	return xb_fail(err, XB_FAULT_TRIAL, "%s: %s (%s)", step,
	    text[0] != '\0' ? text : "failed without a message", xb_libssh2_version());
}

bool
xb_libssh2_step(const struct xb_libssh2 *s, int rc, const char *step, int64_t deadline_ns,
    bool *again, struct xb_err *err)
{
	enum xb_io io;

	*again = false;
	if (rc >= 0)
		return true;
	if (rc != LIBSSH2_ERROR_EAGAIN)
		return xb_libssh2_fail(s, step, err);
	io = xb_libssh2_wait(s, deadline_ns, err);
	if (io == XB_IO_AGAIN)
		return xb_fail(err, XB_FAULT_TRIAL, "%s: no answer in time", step);
	*again = true;
	return io == XB_IO_DONE;
}

/* Asks for exactly one cipher and MAC, and for host keys that known_hosts can judge. */
static bool
set_methods(const struct xb_libssh2 *s, const struct xb_suite *suite, struct xb_err *err)
{
	const struct {
		int method;
		const char *names;
	} wanted[] = {
		{ LIBSSH2_METHOD_CRYPT_CS, suite->cipher_name },
		{ LIBSSH2_METHOD_CRYPT_SC, suite->cipher_name },
		{ LIBSSH2_METHOD_MAC_CS, suite->mac_name },
		{ LIBSSH2_METHOD_MAC_SC, suite->mac_name },
		{ LIBSSH2_METHOD_COMP_CS, "none" },
		{ LIBSSH2_METHOD_COMP_SC, "none" },
	};
	struct xb_namelist types = { 0 };
	char *joined;
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (wanted[i].names != NULL &&
		    libssh2_session_method_pref(s->session, wanted[i].method, wanted[i].names) != 0)
			return xb_libssh2_fail(s, wanted[i].names, err);
	xb_target_hostkey_types(s->target, &types);
	if (types.count > 0) {
		joined = xb_namelist_join(&types, ",", 4096);
		/* Types that this build lacks are passed over; with none left its own list stands,
		 * and the check of the key tells what is wrong. */
		libssh2_session_method_pref(s->session, LIBSSH2_METHOD_HOSTKEY, joined);
		free(joined);
	}
	xb_namelist_free(&types);
	return true;
}

static void
copy_method(const struct xb_libssh2 *s, int method, char *out)
{
	const char *name = libssh2_session_methods(s->session, method);

	xb_text_printable(out, XB_NAME_MAX, name != NULL ? name : "",
	    name != NULL ? strlen(name) : 0);
}

/* Reads back what the session negotiated: a trial of something else has no rate. */
static bool
check_negotiated(const struct xb_libssh2 *s, const struct xb_suite *suite,
    struct xb_negotiated *got, struct xb_err *err)
{
	char down[XB_NAME_MAX];

	copy_method(s, LIBSSH2_METHOD_KEX, got->kex);
	copy_method(s, LIBSSH2_METHOD_HOSTKEY, got->hostkey);
	copy_method(s, LIBSSH2_METHOD_CRYPT_CS, got->cipher);
	copy_method(s, LIBSSH2_METHOD_CRYPT_SC, down);
	if (strcmp(got->cipher, suite->cipher_name) != 0 || strcmp(down, got->cipher) != 0)
		return xb_fail(err, XB_FAULT_TRIAL, "negotiated %s up and %s down instead of %s",
		    got->cipher, down, suite->cipher_name);
	if (suite->mac_name == NULL)
		return true;
	copy_method(s, LIBSSH2_METHOD_MAC_CS, got->mac);
	copy_method(s, LIBSSH2_METHOD_MAC_SC, down);
	if (strcmp(got->mac, suite->mac_name) != 0 || strcmp(down, got->mac) != 0)
		return xb_fail(err, XB_FAULT_TRIAL, "negotiated %s up and %s down instead of %s",
		    got->mac, down, suite->mac_name);
	return true;
}

static bool
check_hostkey(const struct xb_libssh2 *s, struct xb_err *err)
{
	struct xb_hostkey key = { 0 };

	key.blob = libssh2_session_hostkey(s->session, &key.len, NULL);
	if (key.blob == NULL)
		return xb_libssh2_fail(s, "host key", err);
	return xb_target_check_hostkey(s->target, &key, err);
}

/* Connection, key exchange, host key and login, each timed apart. */
static bool
open_session(struct xb_libssh2 *s, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_target *target = transfer->target;
	int64_t start = xb_clock_ns(), connected, keyed;
	bool again;
	int rc;

	enter(s, XB_PHASE_CONNECT);
	s->fd = xb_peer_connect(&target->peer, target->connect_timeout_ns, err);
	if (s->fd < 0)
		return false;
	connected = xb_clock_ns();
	outcome->connect_seconds = xb_seconds(connected - start);

	enter(s, XB_PHASE_KEX);
	libssh2_session_set_blocking(s->session, 0);
	if (!set_methods(s, transfer->suite, err))
		return false;
	do {
		rc = libssh2_session_handshake(s->session, s->fd);
		if (!xb_libssh2_step(s, rc, "key exchange", connected + target->connect_timeout_ns,
			&again, err))
			return false;
	} while (again);
	if (!check_negotiated(s, transfer->suite, &outcome->negotiated, err) ||
	    !check_hostkey(s, err))
		return false;
	keyed = xb_clock_ns();
	outcome->kex_seconds = xb_seconds(keyed - connected);

	enter(s, XB_PHASE_AUTH);
	transfer->on_login(transfer->ctx);
	if (!xb_libssh2_login(s, keyed + target->connect_timeout_ns, err))
		return false;
	outcome->auth_seconds = xb_seconds(xb_clock_ns() - keyed);
	return true;
}

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
drain_stream(struct xb_libssh2 *s, int stream, struct xb_exec_sink *sink, bool *moved,
    struct xb_err *err)
{
	char bytes[4096];
	ssize_t got;

	for (;;) {
		got = libssh2_channel_read_ex(s->channel, stream, bytes, sizeof(bytes));
		if (got == 0 || got == LIBSSH2_ERROR_EAGAIN)
			return true;
		if (got < 0)
			return xb_libssh2_fail(s, "read", err);
		*moved = true;
		if (stream == 0)
			xb_exec_sink_feed(sink, bytes, (size_t)got);
		else
			xb_exec_sink_complain(sink, bytes, (size_t)got);
	}
}

/*
 * Reads what the far side says until *flag (the ready or the end line) is set. Every sign of life,
 * also a window adjustment that we cannot see, puts the stall off.
 */
static bool
read_until(struct xb_libssh2 *s, struct xb_exec_sink *sink, const bool *flag, const char *what,
    int64_t stall_ns, struct xb_err *err)
{
	char patience[32];
	bool moved;
	enum xb_io io;

	for (;;) {
		moved = false;
		if (!drain_stream(s, 0, sink, &moved, err) ||
		    (!*flag && !drain_stream(s, SSH_EXTENDED_DATA_STDERR, sink, &moved, err)))
			return false;
		if (*flag)
			return true;
		if (libssh2_channel_eof(s->channel))
			return xb_fail(err, XB_FAULT_TRIAL,
			    "the remote command ended before its %s line%s%s", what,
			    sink->other[0] != '\0' ? "; it said: " : "", sink->other);
		io = xb_libssh2_wait(s, xb_clock_ns() + stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
		if (io == XB_IO_AGAIN) {
			xb_duration_format(patience, sizeof(patience), stall_ns);
			return xb_fail(err, XB_FAULT_TRIAL, "no %s line from the far side for %s",
			    what, patience);
		}
	}
}

static enum xb_io
channel_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
{
	const struct xb_libssh2 *s = ctx;
	ssize_t n = libssh2_channel_write(s->channel, bytes, len);

	if (n >= 0) {
		*sent = (size_t)n;
		return XB_IO_DONE;
	}
	if (n == LIBSSH2_ERROR_EAGAIN)
		return XB_IO_AGAIN;
	xb_libssh2_fail(s, "write", err);
	return XB_IO_FAILED;
}

static enum xb_io
channel_wait(void *ctx, int64_t deadline_ns, struct xb_err *err)
{
	return xb_libssh2_wait(ctx, deadline_ns, err);
}

/* A write failed: what the far side said last is a better reason than the library's error code. */
static void
explain_broken_stream(struct xb_libssh2 *s, struct xb_exec_sink *sink, uint64_t bytes,
    struct xb_err *err)
{
	struct xb_err ignored = { 0 };
	char after[32], why[600];
	bool moved;

	drain_stream(s, 0, sink, &moved, &ignored);
	ignored.fault = XB_FAULT_NONE;
	drain_stream(s, SSH_EXTENDED_DATA_STDERR, sink, &moved, &ignored);
	xb_size_format(after, sizeof(after), bytes);
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

	enter(s, XB_PHASE_CONFIRM);
	do {
		rc = libssh2_channel_send_eof(s->channel);
		if (!xb_libssh2_step(s, rc, "end of file", xb_clock_ns() + transfer->stall_ns,
			&again, err))
			return false;
	} while (again);
	return read_until(s, sink, &sink->ended, "end", transfer->stall_ns, err);
}

/* After the clock has stopped: the exit status must agree with the end line. */
static bool
check_exit(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    const struct xb_exec_sink *sink, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + transfer->stall_ns;
	bool again;
	int rc;

	enter(s, XB_PHASE_CLOSE);
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

	enter(s, XB_PHASE_EXEC);
	if (!start_command(s, remote->command, xb_clock_ns() + transfer->stall_ns, err) ||
	    !read_until(s, remote, &remote->ready, "ready", transfer->stall_ns, err))
		return false;
	enter(s, XB_PHASE_STREAM);
	transfer->on_ready(transfer->ctx);
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
		xb_fail(err, XB_FAULT_SYSTEM, "%s does not start", xb_libssh2_version());
		goto out;
	}
	if (!open_session(&s, transfer, outcome, err) ||
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

static void
algorithms(struct xb_namelist *ciphers, struct xb_namelist *macs)
{
	LIBSSH2_SESSION *session;

	if (libssh2_init(0) != 0 || (session = libssh2_session_init()) == NULL)
		return;
	ask(session, LIBSSH2_METHOD_CRYPT_CS, ciphers);
	ask(session, LIBSSH2_METHOD_MAC_CS, macs);
	libssh2_session_free(session);
}

const struct xb_client xb_client_libssh2 = {
	.name = "libssh2",
	.version = xb_libssh2_version,
	.algorithms = algorithms,
	.transfer = transfer,
	.ranked = true,
};
