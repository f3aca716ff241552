#include "client/libssh.h"

#include "base/err.h"
#include "base/mem.h"

#ifdef HAVE_LIBSSH

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/libssh_session.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/namelist.h"

const char *
xb_libssh_version(void)
{
	/* The library says "0.10.6/openssl/zlib". Written once, with the same bytes each time. */
	static char number[24];
	const char *all = ssh_version(0);

	snprintf(number, sizeof(number), "%.*s", (int)strcspn(all, "/"), all);
	return number;
}

static bool
transfer(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	struct xb_libssh s = { .target = transfer->target, .live = transfer->live, .fd = -1 };
	bool ok;

	outcome->session_cpu_seconds = NAN;
	s.session = ssh_new();
	if (s.session == NULL)
		return xb_fail(err, XB_FAULT_SYSTEM, "libssh %s does not start",
		    xb_libssh_version());
	ok = xb_libssh_open(&s, transfer, outcome, err);
	if (ok && transfer->method != XB_METHOD_LOGIN)
		xb_libssh_enter(&s, XB_PHASE_EXEC);
	if (ok && transfer->method == XB_METHOD_EXEC)
		ok = xb_libssh_exec(&s, transfer, outcome, err);
	if (ok && transfer->method == XB_METHOD_SCP)
		ok = xb_libssh_scp(&s, transfer, outcome, err);
	if (ok && transfer->method == XB_METHOD_SFTP)
		ok = xb_libssh_sftp(&s, transfer, outcome, err);
	/* The process ends now, and with it the session: a hostile server cannot keep us in a clean
	 * farewell. */
	if (s.fd >= 0)
		close(s.fd);
	xb_proxy_end(&s.proxy, ok ? NULL : err);
	return ok;
}

/* An upload by scp tells its size first. */
static bool
sized(enum xb_method method, enum xb_direction direction)
{
	return method == XB_METHOD_SCP && direction == XB_UPLOAD;
}

/* Names that it may know, in its own order: a list of what this build has is not to be had. */
static const char *const kex_names[] = { "mlkem768x25519-sha256", "mlkem768nistp256-sha256",
	"mlkem1024nistp384-sha384", "sntrup761x25519-sha512", "sntrup761x25519-sha512@openssh.com",
	"curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256",
	"ecdh-sha2-nistp384", "ecdh-sha2-nistp521", "diffie-hellman-group18-sha512",
	"diffie-hellman-group16-sha512", "diffie-hellman-group-exchange-sha256",
	"diffie-hellman-group14-sha256", "diffie-hellman-group-exchange-sha1",
	"diffie-hellman-group14-sha1", "diffie-hellman-group1-sha1", NULL };
static const char *const hostkey_names[] = { "ssh-ed25519", "ecdsa-sha2-nistp521",
	"ecdsa-sha2-nistp384", "ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com",
	"sk-ecdsa-sha2-nistp256@openssh.com", "rsa-sha2-512", "rsa-sha2-256", "ssh-rsa", "ssh-dss",
	NULL };
static const char *const cipher_names[] = { "chacha20-poly1305@openssh.com",
	"aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "aes256-ctr", "aes192-ctr",
	"aes128-ctr", "aes256-cbc", "aes192-cbc", "aes128-cbc", NULL };
static const char *const mac_names[] = { "hmac-sha2-256-etm@openssh.com",
	"hmac-sha2-512-etm@openssh.com", "hmac-sha1-etm@openssh.com", "hmac-sha2-256",
	"hmac-sha2-512", "hmac-sha1", NULL };
static const char *const compression_names[] = { "none", "zlib@openssh.com", "zlib", NULL };

/* An option refuses a name that this build does not know. */
static void
ask(ssh_session session, enum ssh_options_e option, const char *name, struct xb_namelist *names)
{
	if (ssh_options_set(session, option, name) == 0)
		xb_namelist_add_once(names, name);
}

static void
ask_all(ssh_session session, enum ssh_options_e option, const char *const *list,
    struct xb_namelist *names)
{
	for (; *list != NULL; list++)
		ask(session, option, *list, names);
}

void
xb_libssh_algorithms(struct xb_client_algorithms *has)
{
	ssh_session session = ssh_new();
	size_t i;

	if (session == NULL)
		return;
	ask_all(session, SSH_OPTIONS_KEY_EXCHANGE, kex_names, &has->kex);
	ask_all(session, SSH_OPTIONS_HOSTKEYS, hostkey_names, &has->hostkeys);
	ask_all(session, SSH_OPTIONS_CIPHERS_C_S, cipher_names, &has->ciphers);
	for (i = 0; i < xb_cipher_count; i++)
		ask(session, SSH_OPTIONS_CIPHERS_C_S, xb_ciphers[i].name, &has->ciphers);
	ask_all(session, SSH_OPTIONS_HMAC_C_S, mac_names, &has->macs);
	for (i = 0; i < xb_mac_count; i++)
		ask(session, SSH_OPTIONS_HMAC_C_S, xb_macs[i].name, &has->macs);
	ask_all(session, SSH_OPTIONS_COMPRESSION_C_S, compression_names, &has->compression);
	ssh_free(session);
}

const struct xb_client xb_client_libssh = {
	.name = "libssh",
	.version = xb_libssh_version,
	.algorithms = xb_libssh_algorithms,
	.sized = sized,
	.transfer = transfer,
	.ranked = true,
};

#else

#define ABSENT "this build is without libssh (configure --with-libssh=yes, Debian's libssh-dev)"

static const char *
version(void)
{
	return "";
}

static void
algorithms(struct xb_client_algorithms *has)
{
	has->absent = xb_strdup(ABSENT);
}

static bool
transfer(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)transfer;
	(void)outcome;
	return xb_fail(err, XB_FAULT_TRIAL, "%s", ABSENT);
}

const struct xb_client xb_client_libssh = {
	.name = "libssh",
	.version = version,
	.algorithms = algorithms,
	.transfer = transfer,
	.ranked = true,
};

#endif
