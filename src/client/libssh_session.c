#include "client/libssh_session.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __linux__
#include <linux/sockios.h>
#endif
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "model/cipher.h"
#include "model/namelist.h"
#include "target/target.h"

/* How often a wait looks whether anything moved. */
#define LOOK_NS (250 * XB_NS_PER_MS)

/* More than a keepalive's answers come to in any stall timeout, and a packet's worth of payload. */
#define FLUSHED_BYTES 32768u

void
xb_libssh_enter(struct xb_libssh *s, enum xb_phase phase)
{
	atomic_store_explicit(&s->live->phase, (int)phase, memory_order_relaxed);
	s->progress_ns = xb_clock_ns();
}

/*
 * The wire's bytes as the library counts them: what it has read, not what the kernel holds
 * beyond, which belongs to no download any more.
 */
static uint64_t
wire_bytes(const struct xb_libssh *s, enum xb_direction direction)
{
	return direction == XB_UPLOAD ? s->socket.out_bytes : s->socket.in_bytes;
}

bool
xb_libssh_ready(struct xb_libssh *s, const struct xb_transfer *transfer, struct xb_err *err)
{
	xb_libssh_enter(s, XB_PHASE_STREAM);
	s->wire_at_ready = wire_bytes(s, transfer->direction);
	return transfer->on_ready(transfer->ctx) ||
	    xb_fail(err, XB_FAULT_TRIAL, "another stream has failed");
}

void
xb_libssh_end(struct xb_libssh *s, const struct xb_transfer *transfer, struct xb_outcome *outcome)
{
	transfer->on_end(transfer->ctx);
	outcome->wire_bytes = wire_bytes(s, transfer->direction) - s->wire_at_ready;
	xb_libssh_enter(s, XB_PHASE_CLOSE);
}

/*
 * Progress is what moves payload: what the library took and wrote to the socket, the socket's
 * queue, or the window that the far side grants. A wait may find the last two as the one before
 * it did, with much sent in between. A keepalive is a sign of life and no progress, so a far side
 * that is stuck is found all the same.
 */
static void
look_for_progress(struct xb_libssh *s)
{
	uint32_t window = s->channel != NULL ? ssh_channel_window_size(s->channel) : 0;
	uint64_t bytes = atomic_load_explicit(&s->live->bytes, memory_order_relaxed);
	int queued = 0;

#ifdef SIOCOUTQ
	if (ioctl(s->fd, SIOCOUTQ, &queued) != 0)
		queued = 0;
#endif
	if (bytes == s->bytes && queued == s->queued && window == s->window &&
	    s->socket.out_bytes - s->flushed < FLUSHED_BYTES)
		return;
	s->bytes = bytes;
	s->queued = queued;
	s->window = window;
	s->flushed = s->socket.out_bytes;
	s->progress_ns = xb_clock_ns();
	atomic_fetch_add_explicit(&s->live->beats, 1, memory_order_relaxed);
}

/* poll(2) for what the session last wanted. */
static enum xb_io
poll_socket(const struct xb_libssh *s, int64_t deadline_ns, struct xb_err *err)
{
	struct pollfd pfd = { .fd = s->fd, .events = POLLIN };
	int n;

	/* The library has closed the socket: only now does it say so. */
	if (!ssh_is_connected(s->session)) {
		xb_libssh_fail(s, "connection", err);
		return XB_IO_FAILED;
	}
	if ((ssh_get_poll_flags(s->session) & SSH_WRITE_PENDING) != 0)
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
xb_libssh_wait(const struct xb_libssh *s, int64_t deadline_ns, struct xb_err *err)
{
	/* A server that is never silent must not put the deadline off. */
	if (xb_clock_ns() >= deadline_ns)
		return XB_IO_AGAIN;
	return poll_socket(s, deadline_ns, err);
}

enum xb_io
xb_libssh_wait_moving(struct xb_libssh *s, int64_t stall_ns, struct xb_err *err)
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

bool
xb_libssh_fail(const struct xb_libssh *s, const char *step, struct xb_err *err)
{
	const char *raw = ssh_get_error(s->session);
	char text[300];

	xb_text_printable(text, sizeof(text), raw, strlen(raw));
	return xb_fail(err, XB_FAULT_TRIAL, "%s: %s (libssh %s)", step,
	    text[0] != '\0' ? text : "failed without a message", xb_libssh_version());
}

bool
xb_libssh_step(const struct xb_libssh *s, int rc, const char *step, int64_t deadline_ns,
    bool *again, struct xb_err *err)
{
	enum xb_io io;

	*again = false;
	if (rc == SSH_OK)
		return true;
	if (rc != SSH_AGAIN)
		return xb_libssh_fail(s, step, err);
	io = xb_libssh_wait(s, deadline_ns, err);
	if (io == XB_IO_AGAIN)
		return xb_fail(err, XB_FAULT_TRIAL,
		    "%s: no answer in time (more: --connect-timeout, --stall-timeout)", step);
	*again = true;
	return io == XB_IO_DONE;
}

static bool
set(const struct xb_libssh *s, enum ssh_options_e option, const void *value, const char *what,
    struct xb_err *err)
{
	return ssh_options_set(s->session, option, value) == 0 || xb_libssh_fail(s, what, err);
}

/* Nothing of the user's configuration or the library's own policy has a say. */
static bool
set_basics(const struct xb_libssh *s, struct xb_err *err)
{
	const bool no = false;
	const int quiet = SSH_LOG_NOLOG;

	return set(s, SSH_OPTIONS_LOG_VERBOSITY, &quiet, "log", err) &&
	    set(s, SSH_OPTIONS_PROCESS_CONFIG, &no, "configuration", err) &&
	    set(s, SSH_OPTIONS_KNOWNHOSTS, "/dev/null", "known_hosts", err) &&
	    set(s, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null", "known_hosts", err) &&
	    set(s, SSH_OPTIONS_USER, s->target->user, "user", err) &&
	    (s->target->agent == NULL ||
		set(s, SSH_OPTIONS_IDENTITY_AGENT, s->target->agent, "agent", err)) &&
	    set(s, SSH_OPTIONS_FD, &s->fd, "socket", err);
}

/*
 * Host key algorithms, asked for one by one: a list without any name that the library knows is
 * refused. Those that it will offer go to asked; with none the library's own list stands, and the
 * check of the key tells what is wrong.
 */
static void
set_hostkeys(const struct xb_libssh *s, const struct xb_suite *suite, struct xb_namelist *asked)
{
	struct xb_namelist types = { 0 };
	char *joined;
	size_t i;

	if (suite->hostkey != NULL)
		xb_namelist_add_once(&types, suite->hostkey);
	else
		xb_target_hostkey_types(s->target, &types);
	for (i = 0; i < types.count; i++)
		if (ssh_options_set(s->session, SSH_OPTIONS_HOSTKEYS, types.names[i]) == 0)
			xb_namelist_add_once(asked, types.names[i]);
	if (asked->count > 0) {
		joined = xb_namelist_join(asked, ",", 4096);
		ssh_options_set(s->session, SSH_OPTIONS_HOSTKEYS, joined);
		free(joined);
	}
	xb_namelist_free(&types);
}

/* Asks for exactly the suite; without a cipher the library chooses by itself. */
static bool
set_suite(const struct xb_libssh *s, const struct xb_suite *suite, struct xb_err *err)
{
	const bool chosen = suite->cipher_name != NULL;
	const char *compression = suite->compression != NULL ? suite->compression : "none";
	const struct {
		enum ssh_options_e option;
		const char *name;
	} wanted[] = {
		{ SSH_OPTIONS_CIPHERS_C_S, suite->cipher_name },
		{ SSH_OPTIONS_CIPHERS_S_C, suite->cipher_name },
		{ SSH_OPTIONS_HMAC_C_S, chosen ? suite->mac_name : NULL },
		{ SSH_OPTIONS_HMAC_S_C, chosen ? suite->mac_name : NULL },
		{ SSH_OPTIONS_COMPRESSION_C_S, chosen ? compression : NULL },
		{ SSH_OPTIONS_COMPRESSION_S_C, chosen ? compression : NULL },
		{ SSH_OPTIONS_KEY_EXCHANGE, suite->kex },
	};
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (wanted[i].name != NULL &&
		    !set(s, wanted[i].option, wanted[i].name, wanted[i].name, err))
			return false;
	return true;
}

static void
copy_name(char *out, const char *name)
{
	xb_text_printable(out, XB_NAME_MAX, name != NULL ? name : "",
	    name != NULL ? strlen(name) : 0);
}

/* What RFC 4253 section 7.1 makes of two lists: the client's first name that the server has. */
static const char *
first_common(const struct xb_namelist *client, const struct xb_namelist *server)
{
	size_t i;

	for (i = 0; i < client->count; i++)
		if (xb_namelist_has(server, client->names[i]))
			return client->names[i];
	return "";
}

/*
 * The library tells neither the compression nor the host key's signature algorithm, nor a group
 * exchange. Where one name was asked for, a session that stands has it; else both lists are known.
 */
static void
derive(const struct xb_libssh *s, const struct xb_suite *suite, const struct xb_namelist *asked,
    const char *key_type, struct xb_negotiated *got)
{
	const struct xb_offer *offer = &s->target->offer;
	struct xb_client_algorithms own = { 0 };
	const char *name;

	xb_libssh_algorithms(&own);
	if (suite->cipher_name != NULL)
		name = suite->compression != NULL ? suite->compression : "none";
	else
		name = first_common(&own.compression, &offer->compression_up);
	copy_name(got->compression, name);
	name = first_common(asked->count > 0 ? asked : &own.hostkeys, &offer->hostkeys);
	if (strncmp(name, "rsa-sha2-", 9) != 0 || strcmp(key_type, "ssh-rsa") != 0)
		name = key_type;
	copy_name(got->hostkey, suite->hostkey != NULL ? suite->hostkey : name);
	copy_name(got->kex, ssh_get_kex_algo(s->session));
	/* The one group exchange that the library asks for by itself. */
	if (got->kex[0] == '\0')
		copy_name(got->kex,
		    suite->kex != NULL ? suite->kex : "diffie-hellman-group-exchange-sha256");
	xb_client_algorithms_free(&own);
}

/* The library's words for the MAC of a cipher that has its own. */
static bool
is_aead_mac(const char *mac)
{
	return strncmp(mac, "aead-", 5) == 0;
}

/* Reads back what the session negotiated: a trial of something else has no rate. */
static bool
check_negotiated(const struct xb_libssh *s, const struct xb_suite *suite, struct xb_negotiated *got,
    struct xb_err *err)
{
	char down[XB_NAME_MAX];

	if (suite->kex != NULL && strcmp(got->kex, suite->kex) != 0)
		return xb_fail(err, XB_FAULT_TRIAL, "negotiated %s instead of %s", got->kex,
		    suite->kex);
	copy_name(got->cipher, ssh_get_cipher_out(s->session));
	copy_name(down, ssh_get_cipher_in(s->session));
	if (suite->cipher_name != NULL &&
	    (strcmp(got->cipher, suite->cipher_name) != 0 || strcmp(down, got->cipher) != 0))
		return xb_fail(err, XB_FAULT_TRIAL, "negotiated %s up and %s down instead of %s",
		    got->cipher, down, suite->cipher_name);
	copy_name(got->mac, ssh_get_hmac_out(s->session));
	copy_name(down, ssh_get_hmac_in(s->session));
	if (suite->mac_name != NULL &&
	    (strcmp(got->mac, suite->mac_name) != 0 || strcmp(down, got->mac) != 0))
		return xb_fail(err, XB_FAULT_TRIAL, "negotiated %s up and %s down instead of %s",
		    got->mac, down, suite->mac_name);
	if (is_aead_mac(got->mac))
		got->mac[0] = '\0';
	return true;
}

/* The library gives the key's blob in base64; out has room for size bytes. */
static bool
export_key(ssh_key key, unsigned char *out, size_t size, size_t *len)
{
	char *text = NULL;
	size_t text_len;
	int n = -1;

	if (ssh_pki_export_pubkey_base64(key, &text) != SSH_OK || text == NULL)
		return false;
	text_len = strlen(text);
	if (text_len % 4 == 0 && text_len / 4 * 3 <= size)
		n = EVP_DecodeBlock(out, (const unsigned char *)text, (int)text_len);
	while (n > 0 && text_len > 0 && text[--text_len] == '=')
		n--;
	ssh_string_free_char(text);
	*len = n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* By our own rules, not by the library's: all clients judge a key alike. */
static bool
check_hostkey(const struct xb_libssh *s, char *type, size_t type_size, struct xb_err *err)
{
	unsigned char blob[8192];
	struct xb_hostkey hostkey = { .blob = blob };
	ssh_key key = NULL;
	bool ok;

	ok = ssh_get_server_publickey(s->session, &key) == SSH_OK &&
	    export_key(key, blob, sizeof(blob), &hostkey.len) &&
	    xb_hostkey_type(&hostkey, type, type_size);
	ssh_key_free(key);
	if (!ok)
		return xb_libssh_fail(s, "host key", err);
	return xb_target_check_hostkey(s->target, &hostkey, err);
}

static bool
exchange_keys(struct xb_libssh *s, const struct xb_suite *suite, int64_t deadline,
    struct xb_negotiated *got, struct xb_err *err)
{
	struct xb_namelist asked = { 0 };
	char type[XB_NAME_MAX];
	bool again, ok;

	ssh_set_blocking(s->session, 0);
	ssh_set_counters(s->session, &s->socket, NULL);
	ok = set_basics(s, err) && set_suite(s, suite, err);
	if (ok)
		set_hostkeys(s, suite, &asked);
	do
		ok = ok &&
		    xb_libssh_step(s, ssh_connect(s->session), "key exchange", deadline, &again,
			err);
	while (ok && again);
	/* The library has made it blocking: a write to a far side that is stuck would never end. */
	if (ok && fcntl(s->fd, F_SETFL, O_RDWR | O_NONBLOCK) != 0)
		ok = xb_fail_errno(err, XB_FAULT_TRIAL, "socket");
	ok = ok && check_hostkey(s, type, sizeof(type), err);
	if (ok) {
		derive(s, suite, &asked, type, got);
		ok = check_negotiated(s, suite, got, err);
	}
	xb_namelist_free(&asked);
	return ok;
}

bool
xb_libssh_open(struct xb_libssh *s, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_target *target = transfer->target;
	int64_t start = xb_clock_ns(), connected, keyed;

	xb_libssh_enter(s, XB_PHASE_CONNECT);
	s->fd = xb_target_connect(target, &s->proxy, err);
	if (s->fd < 0)
		return false;
	connected = xb_clock_ns();
	/* A proxy's own time is nobody's: it may have logged in elsewhere first. */
	if (target->proxy.count == 0)
		outcome->connect_seconds = xb_seconds(connected - start);

	xb_libssh_enter(s, XB_PHASE_KEX);
	if (!exchange_keys(s, transfer->suite, connected + target->connect_timeout_ns,
		&outcome->negotiated, err))
		return false;
	keyed = xb_clock_ns();
	outcome->kex_seconds = xb_seconds(keyed - connected);

	xb_libssh_enter(s, XB_PHASE_AUTH);
	transfer->on_login(transfer->ctx);
	if (!xb_libssh_login(s, transfer->login_hint, outcome->login, sizeof(outcome->login),
		keyed + target->connect_timeout_ns, err))
		return false;
	outcome->auth_seconds = xb_seconds(xb_clock_ns() - keyed);
	return true;
}
