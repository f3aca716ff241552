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
#include "client/client.h"
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
 * Progress is what moves payload: what the library took, the socket's queue, or the window that the
 * far side grants. A wait may find the last two as the one before it did, with much sent in between.
 * A keepalive is a sign of life and no progress, so a far side that is stuck is found all the same.
 */
static void
look_for_progress(struct xb_libssh2 *s)
{
	unsigned long window = s->channel != NULL ? libssh2_channel_window_write(s->channel) : 0;
	uint64_t bytes = atomic_load_explicit(&s->live->bytes, memory_order_relaxed);
	int queued = 0;

#ifdef SIOCOUTQ
	if (ioctl(s->fd, SIOCOUTQ, &queued) != 0)
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

/* poll(2) for what the session last wanted. */
static enum xb_io
poll_socket(const struct xb_libssh2 *s, int64_t deadline_ns, struct xb_err *err)
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
	} while (io == XB_IO_AGAIN);
	return io;
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
		/* Types that this build lacks are passed over; with none left the library's own list
		 * stands, and the check of the key tells what is wrong. */
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

bool
xb_libssh2_open(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	const struct xb_target *target = transfer->target;
	int64_t start = xb_clock_ns(), connected, keyed;
	bool again;
	int rc;

	xb_libssh2_enter(s, XB_PHASE_CONNECT);
	s->fd = xb_peer_connect(&target->peer, target->connect_timeout_ns, err);
	if (s->fd < 0)
		return false;
	connected = xb_clock_ns();
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
