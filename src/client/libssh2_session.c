#include "client/libssh2_session.h"

#include <errno.h>
#include <libssh2.h>
#ifdef __linux__
#include <linux/sockios.h>
#endif
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "client/client.h"
#include "model/cipher.h"
#include "model/namelist.h"
#include "target/target.h"

/* How often a wait looks whether anything moved. */
#define LOOK_NS (250 * XB_NS_PER_MS)

void
xb_libssh2_enter(struct xb_libssh2 *s, enum xb_phase phase)
{
	atomic_store_explicit(&s->live->phase, (int)phase, memory_order_relaxed);
	s->progress_ns = xb_clock_ns();
}

/*
 * Progress is what moves payload: what the library took or gave, the socket's queue, or the window
 * that the far side grants. A wait may find the last two as the one before it did, with much sent
 * in between. A keepalive is a sign of life and no progress, so a far side that is stuck is found
 * all the same; down it is answered by us, so there only what came counts.
 */
static void
look_for_progress(struct xb_libssh2 *s)
{
	uint64_t bytes = atomic_load_explicit(&s->live->bytes, memory_order_relaxed);
	unsigned long window = 0;
	int queued = 0;

	if (!s->download && s->channel != NULL)
		window = libssh2_channel_window_write(s->channel);
#ifdef SIOCOUTQ
	if (s->download || ioctl(s->fd, SIOCOUTQ, &queued) != 0)
		queued = 0;
#endif
	if (bytes == s->bytes && queued == s->queued && window == s->window)
		return;
	s->bytes = bytes;
	s->queued = queued;
	s->window = window;
	s->progress_ns = xb_clock_ns();
	atomic_fetch_add_explicit(&s->live->beats, 1, memory_order_relaxed);
}

/*
 * poll(2) for what the session last wanted. With a packet half sent the library reads nothing until
 * the rest is out, whatever it says: input that waits meanwhile would only keep the poll from
 * sleeping.
 */
static enum xb_io
poll_socket(const struct xb_libssh2 *s, int64_t deadline_ns, struct xb_err *err)
{
	int wanted = libssh2_session_block_directions(s->session);
	bool half_sent = (wanted & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0;
	struct pollfd pfd = { .fd = s->fd, .events = half_sent ? POLLOUT : POLLIN };
	int n;

	do
		n = poll(&pfd, 1, xb_clock_poll_ms(deadline_ns));
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		xb_fail_errno(err, XB_FAULT_TRIAL, "poll");
		return XB_IO_FAILED;
	}
	return n == 0 ? XB_IO_AGAIN : XB_IO_DONE;
}

enum xb_io
xb_libssh2_wait(const struct xb_libssh2 *s, int64_t deadline_ns, struct xb_err *err)
{
	/* A server that is never silent must not put the deadline off. */
	if (xb_clock_ns() >= deadline_ns)
		return XB_IO_AGAIN;
	return poll_socket(s, deadline_ns, err);
}

enum xb_io
xb_libssh2_wait_moving(struct xb_libssh2 *s, int64_t stall_ns, struct xb_err *err)
{
	int64_t now, next;
	enum xb_io io;

	do {
		look_for_progress(s);
		now = xb_clock_ns();
		if (now - s->progress_ns >= stall_ns)
			return XB_IO_AGAIN;
		next = s->progress_ns + stall_ns;
		if (next > now + LOOK_NS)
			next = now + LOOK_NS;
		io = poll_socket(s, next, err);
		if (io == XB_IO_AGAIN && s->is_alive != NULL && !s->is_alive(s->is_alive_ctx, err))
			io = XB_IO_FAILED;
	} while (io == XB_IO_AGAIN);
	return io;
}

void
xb_libssh2_explain(const struct xb_libssh2 *s, uint64_t bytes, const char *said, struct xb_err *err)
{
	char after[32], why[sizeof(err->text)];

	snprintf(why, sizeof(why), "%s", err->text);
	if (s->broken) {
		xb_size_format(after, sizeof(after), bytes);
		snprintf(err->text, sizeof(err->text), "the connection broke after %s: %.300s",
		    after, why);
		snprintf(why, sizeof(why), "%s", err->text);
	}
	if (said[0] != '\0')
		snprintf(err->text, sizeof(err->text), "%.380s; the far side said: %.190s", why,
		    said);
}

bool
xb_libssh2_fail(const struct xb_libssh2 *s, const char *step, struct xb_err *err)
{
	char text[200];
	char *raw = NULL;
	int len = 0;

	libssh2_session_last_error(s->session, &raw, &len, 0);
	xb_text_printable(text, sizeof(text), raw != NULL ? raw : "", len > 0 ? (size_t)len : 0);
	return xb_fail(err, XB_FAULT_TRIAL, "%s: %s (libssh2 %s)", step,
	    text[0] != '\0' ? text : "failed without a message", libssh2_version(0));
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
		return xb_fail(err, XB_FAULT_TRIAL,
		    "%s: no answer in time (more: --connect-timeout, --stall-timeout)", step);
	*again = true;
	return io == XB_IO_DONE;
}

/* Host keys: the one that is asked for, or those that known_hosts can judge. */
static bool
set_hostkeys(const struct xb_libssh2 *s, const struct xb_suite *suite, struct xb_err *err)
{
	struct xb_namelist types = { 0 };
	char *joined;

	if (suite->hostkey != NULL) {
		if (libssh2_session_method_pref(s->session, LIBSSH2_METHOD_HOSTKEY,
			suite->hostkey) != 0)
			return xb_libssh2_fail(s, suite->hostkey, err);
		return true;
	}
	xb_target_hostkey_types(s->target, &types);
	if (types.count > 0) {
		joined = xb_namelist_join(&types, ",", 4096);
		/*
		 * Types that this build lacks are passed over; with none left the library's own
		 * list stands, and the check of the key tells what is wrong.
		 */
		libssh2_session_method_pref(s->session, LIBSSH2_METHOD_HOSTKEY, joined);
		free(joined);
	}
	xb_namelist_free(&types);
	return true;
}

/* Without compression, as it is asked for with a cipher. */
static const char *
wanted_compression(const struct xb_suite *suite)
{
	return suite->compression != NULL ? suite->compression : "none";
}

/*
 * Asks for exactly one of each that the suite names; without a cipher's name the library chooses.
 */
static bool
set_methods(const struct xb_libssh2 *s, const struct xb_suite *suite, struct xb_err *err)
{
	const char *compression = suite->cipher_name != NULL ? wanted_compression(suite) : NULL;
	const struct {
		int method;
		const char *name;
	} wanted[] = {
		{ LIBSSH2_METHOD_KEX, suite->kex },
		{ LIBSSH2_METHOD_CRYPT_CS, suite->cipher_name },
		{ LIBSSH2_METHOD_CRYPT_SC, suite->cipher_name },
		{ LIBSSH2_METHOD_MAC_CS, suite->mac_name },
		{ LIBSSH2_METHOD_MAC_SC, suite->mac_name },
		{ LIBSSH2_METHOD_COMP_CS, compression },
		{ LIBSSH2_METHOD_COMP_SC, compression },
	};
	size_t i;

	/* First: without it the library knows of no compression. */
	if (suite->compression != NULL)
		libssh2_session_flag(s->session, LIBSSH2_FLAG_COMPRESS, 1);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (wanted[i].name != NULL &&
		    libssh2_session_method_pref(s->session, wanted[i].method, wanted[i].name) != 0)
			return xb_libssh2_fail(s, wanted[i].name, err);
	return set_hostkeys(s, suite, err);
}

static void
copy_method(const struct xb_libssh2 *s, int method, char *out)
{
	const char *name = libssh2_session_methods(s->session, method);

	xb_text_printable(out, XB_NAME_MAX, name != NULL ? name : "",
	    name != NULL ? strlen(name) : 0);
}

/* One algorithm of each way; got is the payload's. wanted NULL: whatever it is. */
static bool
check_ways(const struct xb_libssh2 *s, int up_method, int down_method, const char *wanted,
    char *got, struct xb_err *err)
{
	char up[XB_NAME_MAX], down[XB_NAME_MAX];

	copy_method(s, up_method, up);
	copy_method(s, down_method, down);
	snprintf(got, XB_NAME_MAX, "%s", s->download ? down : up);
	if (wanted == NULL || (strcmp(up, wanted) == 0 && strcmp(down, wanted) == 0))
		return true;
	return xb_fail(err, XB_FAULT_TRIAL, "negotiated %s up and %s down instead of %s", up, down,
	    wanted);
}

static bool
check_one(const struct xb_libssh2 *s, int method, const char *wanted, char *got, struct xb_err *err)
{
	copy_method(s, method, got);
	if (wanted == NULL || strcmp(got, wanted) == 0)
		return true;
	return xb_fail(err, XB_FAULT_TRIAL, "negotiated %s instead of %s", got, wanted);
}

/* Reads back what the session negotiated: a trial of something else has no rate. */
static bool
check_negotiated(const struct xb_libssh2 *s, const struct xb_suite *suite,
    struct xb_negotiated *got, struct xb_err *err)
{
	const char *compression = suite->cipher_name != NULL ? wanted_compression(suite) : NULL;
	const struct xb_cipher *cipher;

	if (!check_one(s, LIBSSH2_METHOD_KEX, suite->kex, got->kex, err) ||
	    !check_one(s, LIBSSH2_METHOD_HOSTKEY, suite->hostkey, got->hostkey, err) ||
	    !check_ways(s, LIBSSH2_METHOD_CRYPT_CS, LIBSSH2_METHOD_CRYPT_SC, suite->cipher_name,
		got->cipher, err) ||
	    !check_ways(s, LIBSSH2_METHOD_COMP_CS, LIBSSH2_METHOD_COMP_SC, compression,
		got->compression, err))
		return false;
	cipher = xb_cipher_by_name(got->cipher);
	if (cipher != NULL && xb_cipher_is_aead(cipher))
		return true;
	return check_ways(s, LIBSSH2_METHOD_MAC_CS, LIBSSH2_METHOD_MAC_SC, suite->mac_name,
	    got->mac, err);
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

bool
xb_libssh2_ready(struct xb_libssh2 *s, const struct xb_transfer *transfer, struct xb_err *err)
{
	xb_libssh2_enter(s, XB_PHASE_STREAM);
	s->wire_at_ready = s->wire;
	s->taken = 0;
	if (!transfer->on_ready(transfer->ctx))
		return xb_fail(err, XB_FAULT_TRIAL, "another stream has failed");
	/* The wait for the others is nobody's stall. */
	s->progress_ns = xb_clock_ns();
	return true;
}

/* Bytes that have come and were not counted: the far side sends on until the session ends. */
static uint64_t
waiting(const struct xb_libssh2 *s)
{
	unsigned long unread = 0;

	if (s->channel != NULL)
		libssh2_channel_window_read_ex(s->channel, &unread, NULL);
	return unread;
}

void
xb_libssh2_end(struct xb_libssh2 *s, const struct xb_transfer *transfer, struct xb_outcome *outcome)
{
	uint64_t come;

	transfer->on_end(transfer->ctx);
	if (!s->download) {
		outcome->wire_bytes = s->wire.sent - s->wire_at_ready.sent;
		return;
	}
	/*
	 * More has come than counts: what the last read took beyond the size, and what nobody has
	 * taken.
	 */
	come = (s->taken > 0 ? s->taken : outcome->bytes) + waiting(s);
	outcome->wire_bytes = s->wire.received - s->wire_at_ready.received;
	if (outcome->bytes > 0)
		outcome->wire_bytes =
		    (uint64_t)((double)outcome->wire_bytes * (double)outcome->bytes / (double)come);
}

bool
xb_libssh2_open(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	const struct xb_target *target = transfer->target;
	int64_t start = xb_clock_ns(), connected, keyed;
	bool again;
	int rc;

	xb_libssh2_enter(s, XB_PHASE_CONNECT);
	s->fd = xb_target_connect(target, &s->proxy, err);
	if (s->fd < 0)
		return false;
	connected = xb_clock_ns();
	/* A proxy's own time is nobody's: it may have logged in elsewhere first. */
	if (target->proxy.count == 0)
		outcome->connect_seconds = xb_seconds(connected - start);

	xb_libssh2_enter(s, XB_PHASE_KEX);
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

	xb_libssh2_enter(s, XB_PHASE_AUTH);
	transfer->on_login(transfer->ctx);
	if (!xb_libssh2_login(s, transfer->login_hint, outcome->login, sizeof(outcome->login),
		keyed + target->connect_timeout_ns, err))
		return false;
	outcome->auth_seconds = xb_seconds(xb_clock_ns() - keyed);
	return true;
}
