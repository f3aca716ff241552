#include <libssh2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/libssh2_session.h"
#include "model/namelist.h"
#include "target/identity.h"
#include "target/known_hosts.h"
#include "target/target.h"

/* libssh2 1.11 tells its signature algorithms under this number; 1.10 knows neither. */
#define METHOD_SIGN_ALGO 10

/* What became of one key. */
enum tried { TRIED_IN, TRIED_REFUSED, TRIED_UNUSABLE, TRIED_BROKEN };

/* The login as it goes: what was tried is the text of a refusal. */
struct login {
	struct xb_libssh2 *s;
	int64_t deadline_ns;
	bool rsa_sha2;    /* this build can sign with RSA and SHA-2 */
	const char *only; /* try this key alone, as worked names it; NULL: all */
	char *worked;     /* the key that came in */
	size_t worked_size;
	struct xb_namelist refused;
	struct xb_namelist unusable;
	struct xb_err *err;
};

/* Asked at run time: 1.10 answers that it knows no such list. */
static bool
signs_rsa_sha2(LIBSSH2_SESSION *session)
{
	const char **list = NULL;
	bool has = false;
	int i, count;

	count = libssh2_session_supported_algs(session, METHOD_SIGN_ALGO, &list);
	for (i = 0; i < count; i++)
		has = has || strncmp(list[i], "rsa-sha2-", 9) == 0;
	if (list != NULL)
		libssh2_free(session, list);
	return has;
}

static void
note(struct xb_namelist *list, const char *what, const char *type, const char *why)
{
	char shown[200];
	char *text;

	xb_text_printable(shown, sizeof(shown), what, strlen(what));
	text = xb_asprintf("%s (%s%s%s)", shown, type, why[0] != '\0' ? ": " : "", why);
	xb_namelist_add(list, text, strlen(text));
	free(text);
}

/* Judges the library's answer to one key. */
static enum tried
judge(struct login *login, int rc, const char *what, const char *type)
{
	char why[160];
	char *raw = NULL;
	int len = 0;

	if (rc == 0) {
		snprintf(login->worked, login->worked_size, "%s", what);
		return TRIED_IN;
	}
	libssh2_session_last_error(login->s->session, &raw, &len, 0);
	xb_text_printable(why, sizeof(why), raw != NULL ? raw : "", len > 0 ? (size_t)len : 0);
	switch (rc) {
	case LIBSSH2_ERROR_AUTHENTICATION_FAILED:
	case LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED:
		if (strcmp(type, "ssh-rsa") == 0 && !login->rsa_sha2) {
			snprintf(why, sizeof(why), "libssh2 %s cannot sign with RSA and SHA-2",
			    libssh2_version(0));
			note(&login->unusable, what, type, why);
			return TRIED_UNUSABLE;
		}
		note(&login->refused, what, type, "");
		return TRIED_REFUSED;
	case LIBSSH2_ERROR_SOCKET_SEND:
	case LIBSSH2_ERROR_SOCKET_RECV:
	case LIBSSH2_ERROR_SOCKET_DISCONNECT:
	case LIBSSH2_ERROR_SOCKET_TIMEOUT:
		xb_fail(login->err, XB_FAULT_TARGET, "%s: the server ended the login: %s",
		    login->s->target->name, why);
		return TRIED_BROKEN;
	default:
		note(&login->unusable, what, type, why);
		return TRIED_UNUSABLE;
	}
}

/* Waits for a retry; false once it is too late, with err set. */
static bool
wait_again(struct login *login)
{
	enum xb_io io = xb_libssh2_wait(login->s, login->deadline_ns, login->err);

	if (io == XB_IO_AGAIN)
		xb_fail(login->err, XB_FAULT_TARGET,
		    "%s: no answer to the login in time (a longer wait: --connect-timeout)",
		    login->s->target->name);
	return io == XB_IO_DONE;
}

/* A name that is cut to fit is compared as far as it goes. */
static bool
wanted(const struct login *login, const char *what)
{
	return login->only == NULL || strncmp(login->only, what, login->worked_size - 1) == 0;
}

static enum tried
try_file(struct login *login, const char *path, const char *type)
{
	const char *user = login->s->target->user;
	int rc;

	for (;;) {
		rc = libssh2_userauth_publickey_fromfile_ex(login->s->session, user,
		    (unsigned)strlen(user), NULL, path, "");
		if (rc != LIBSSH2_ERROR_EAGAIN)
			return judge(login, rc, path, type);
		if (!wait_again(login))
			return TRIED_BROKEN;
	}
}

/* Tries the key files whose type is RSA or is not, so that RSA, which may be of no use, comes last. */
static enum tried
try_files(struct login *login, bool rsa)
{
	const struct xb_namelist *files = &login->s->target->identities;
	struct xb_identity identity;
	enum tried tried;
	size_t i;

	for (i = 0; i < files->count; i++) {
		xb_identity_inspect(files->names[i], &identity);
		if ((strcmp(identity.type, "ssh-rsa") == 0) != rsa ||
		    !wanted(login, files->names[i]))
			continue;
		if (!identity.is_key) {
			note(&login->unusable, files->names[i], "no private key",
			    identity.exists ? "" : "not readable");
		} else if (identity.encrypted) {
			note(&login->unusable, files->names[i],
			    identity.type[0] != '\0' ? identity.type : "key",
			    "encrypted; put it into an agent with ssh-add");
		} else if (strncmp(identity.type, "sk-", 3) == 0) {
			note(&login->unusable, files->names[i], identity.type,
			    "a hardware key needs an agent");
		} else {
			tried = try_file(login, files->names[i],
			    identity.type[0] != '\0' ? identity.type : "key");
			if (tried == TRIED_IN || tried == TRIED_BROKEN)
				return tried;
		}
		if (identity.has_cert)
			note(&login->unusable, files->names[i], "certificate beside it",
			    "this client library logs in without certificates");
	}
	return TRIED_REFUSED;
}

static enum tried
try_agent_key(struct login *login, LIBSSH2_AGENT *agent, struct libssh2_agent_publickey *key)
{
	const struct xb_hostkey blob = { .blob = key->blob, .len = key->blob_len };
	char type[64] = "key", name[100];
	int rc;

	xb_hostkey_type(&blob, type, sizeof(type));
	snprintf(name, sizeof(name), "agent's %s",
	    key->comment != NULL && key->comment[0] != '\0' ? key->comment : "key");
	if (!wanted(login, name))
		return TRIED_REFUSED;
	for (;;) {
		rc = libssh2_agent_userauth(agent, login->s->target->user, key);
		if (rc != LIBSSH2_ERROR_EAGAIN)
			return judge(login, rc, name, type);
		if (!wait_again(login))
			return TRIED_BROKEN;
	}
}

static enum tried
try_agent(struct login *login, bool rsa)
{
	LIBSSH2_AGENT *agent = libssh2_agent_init(login->s->session);
	struct libssh2_agent_publickey *key = NULL, *next;
	enum tried tried = TRIED_REFUSED;
	struct xb_hostkey blob;
	char type[64];

	if (agent != NULL && login->s->target->agent != NULL)
		libssh2_agent_set_identity_path(agent, login->s->target->agent);
	if (agent == NULL || libssh2_agent_connect(agent) != 0 ||
	    libssh2_agent_list_identities(agent) != 0) {
		if (!rsa)
			note(&login->unusable, "ssh-agent", "no answer", "");
		goto out;
	}
	while (libssh2_agent_get_identity(agent, &next, key) == 0) {
		key = next;
		blob = (struct xb_hostkey){ .blob = key->blob, .len = key->blob_len };
		type[0] = '\0';
		xb_hostkey_type(&blob, type, sizeof(type));
		if ((strcmp(type, "ssh-rsa") == 0) != rsa)
			continue;
		tried = try_agent_key(login, agent, key);
		if (tried == TRIED_IN || tried == TRIED_BROKEN)
			break;
	}
out:
	if (agent != NULL)
		libssh2_agent_free(agent);
	return tried;
}

/* Everything that may let us in, in order; what this library cannot use comes last. */
static enum tried
try_all(struct login *login)
{
	const struct xb_target *target = login->s->target;
	enum tried tried = TRIED_REFUSED;
	int rsa;

	for (rsa = 0; rsa < 2; rsa++) {
		if (target->identities_given)
			tried = try_files(login, rsa);
		if (tried != TRIED_IN && tried != TRIED_BROKEN && target->use_agent)
			tried = try_agent(login, rsa);
		if (tried != TRIED_IN && tried != TRIED_BROKEN && !target->identities_given)
			tried = try_files(login, rsa);
		if (tried == TRIED_IN || tried == TRIED_BROKEN)
			return tried;
	}
	return TRIED_REFUSED;
}

static void
refuse(struct login *login, const char *methods)
{
	const struct xb_target *target = login->s->target;
	char *refused = xb_namelist_join(&login->refused, ", ", 150);
	char *unusable = xb_namelist_join(&login->unusable, ", ", 250);
	char shown[80];

	xb_text_printable(shown, sizeof(shown), methods, strlen(methods));
	xb_fail(login->err, XB_FAULT_TARGET,
	    "%s: login as %s refused (the server takes %s); tried: %s%s%s%s", target->name,
	    target->user, shown, refused[0] != '\0' ? refused : "no key",
	    unusable[0] != '\0' ? "; not usable: " : "", unusable,
	    refused[0] == '\0' && unusable[0] == '\0' ? "; name a key with -i, or start ssh-agent"
						      : "");
	free(refused);
	free(unusable);
}

bool
xb_libssh2_login(struct xb_libssh2 *s, const char *hint, char *key, size_t key_size,
    int64_t deadline_ns, struct xb_err *err)
{
	struct login login = {
		.s = s,
		.deadline_ns = deadline_ns,
		.only = hint,
		.worked = key,
		.worked_size = key_size,
		.err = err,
	};
	const char *user = s->target->user;
	enum tried tried = TRIED_REFUSED;
	char methods[200];
	char *list;
	bool again;

	do {
		list = libssh2_userauth_list(s->session, user, (unsigned)strlen(user));
		if (list == NULL && libssh2_userauth_authenticated(s->session))
			return true;
		if (!xb_libssh2_step(s, list != NULL ? 0 : libssh2_session_last_errno(s->session),
			"login", deadline_ns, &again, err))
			return false;
	} while (again);
	snprintf(methods, sizeof(methods), "%s", list != NULL ? list : "nothing");
	login.rsa_sha2 = signs_rsa_sha2(s->session);
	if (strstr(methods, "publickey") != NULL)
		tried = try_all(&login);
	/* The key that came in before is refused now: then every key again. */
	if (tried == TRIED_REFUSED && hint != NULL) {
		login.only = NULL;
		tried = try_all(&login);
	}
	if (tried == TRIED_REFUSED)
		refuse(&login, methods);
	xb_namelist_free(&login.refused);
	xb_namelist_free(&login.unusable);
	return tried == TRIED_IN;
}
