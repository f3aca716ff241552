#include "client/libssh2.h"

#include <libssh2.h>
#include <math.h>
#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "client/libssh2_session.h"
#include "model/cipher.h"
#include "model/namelist.h"

static bool
move(struct xb_libssh2 *s, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	switch (transfer->method) {
	case XB_METHOD_EXEC:
		return xb_libssh2_exec(s, transfer, outcome, err);
	case XB_METHOD_SCP:
		return xb_libssh2_scp(s, transfer, outcome, err);
	case XB_METHOD_SFTP:
		return xb_libssh2_sftp(s, transfer, outcome, err);
	case XB_METHOD_LOGIN:
		return true;
	}
	return xb_fail(err, XB_FAULT_TRIAL, "libssh2 does not have this method");
}

static bool
transfer(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	struct xb_libssh2 s = {
		.target = transfer->target,
		.live = transfer->live,
		.fd = -1,
		.download = transfer->direction == XB_DOWNLOAD,
	};
	bool ok = false;

	outcome->session_cpu_seconds = NAN;
	if (libssh2_init(0) != 0 ||
	    (s.session = libssh2_session_init_ex(NULL, NULL, NULL, &s.wire)) == NULL) {
		xb_fail(err, XB_FAULT_SYSTEM, "libssh2 %s does not start", libssh2_version(0));
	} else {
		xb_wire_count(s.session);
		ok =
		    xb_libssh2_open(&s, transfer, outcome, err) && move(&s, transfer, outcome, err);
	}
	/* The process ends now, and with it the socket: a hostile server cannot keep us in a clean
	 * farewell. */
	if (s.fd >= 0)
		close(s.fd);
	xb_proxy_end(&s.proxy, ok ? NULL : err);
	return ok;
}

/* scp announces a file's length before its first byte. */
static bool
sized(enum xb_method method, enum xb_direction direction)
{
	return method == XB_METHOD_SCP && direction == XB_UPLOAD;
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
	/* Without the flag the library lists no more than "none". */
	libssh2_session_flag(session, LIBSSH2_FLAG_COMPRESS, 1);
	ask(session, LIBSSH2_METHOD_COMP_CS, &has->compression);
	libssh2_session_free(session);
}

const struct xb_client xb_client_libssh2 = {
	.name = "libssh2",
	.version = version,
	.algorithms = algorithms,
	.sized = sized,
	.transfer = transfer,
	.ranked = true,
};
