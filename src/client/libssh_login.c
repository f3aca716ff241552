#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/libssh_session.h"
#include "model/namelist.h"
#include "target/identity.h"
#include "target/target.h"

/* The library goes through the agent's keys by itself and does not say which one came in. */
#define AGENT "ssh-agent"

/* What became of one key. */
enum tried { TRIED_IN, TRIED_REFUSED, TRIED_UNUSABLE, TRIED_BROKEN };

/* The login as it goes: what was tried is the text of a refusal. */
struct login {
	struct xb_libssh *s;
	int64_t deadline_ns;
	const char *only; /* try this key alone, as worked names it; NULL: all */
	char *worked;     /* the key that came in */
	size_t worked_size;
	struct xb_namelist refused;
	struct xb_namelist unusable;
	struct xb_err *err;
};

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

static void
ended(struct login *login)
{
	const char *raw = ssh_get_error(login->s->session);
	char why[300];

	xb_text_printable(why, sizeof(why), raw, strlen(raw));
	xb_fail(login->err, XB_FAULT_TARGET, "%s: the server ended the login: %s",
	    login->s->target->name, why);
}

/* Judges the library's answer to one key. */
static enum tried
judge(struct login *login, int rc, const char *what, const char *type)
{
	const char *raw = ssh_get_error(login->s->session);
	char why[160];

	if (rc == SSH_AUTH_SUCCESS) {
		snprintf(login->worked, login->worked_size, "%s", what);
		return TRIED_IN;
	}
	xb_text_printable(why, sizeof(why), raw, strlen(raw));
	if (rc == SSH_AUTH_PARTIAL) {
		note(&login->refused, what, type, "accepted, but it is not enough");
		return TRIED_REFUSED;
	}
	if (!ssh_is_connected(login->s->session)) {
		ended(login);
		return TRIED_BROKEN;
	}
	/* The library's own policy (a key too short, a type too old) is told in other words. */
	if (rc == SSH_AUTH_DENIED && strncmp(why, "Access denied", 13) == 0) {
		note(&login->refused, what, type, "");
		return TRIED_REFUSED;
	}
	note(&login->unusable, what, type, why);
	return TRIED_UNUSABLE;
}

/* Waits for a retry; false once it is too late, with err set. */
static bool
wait_again(struct login *login)
{
	enum xb_io io;

	/* A session that the server has ended is none to wait for, but is still asked again. */
	if (!ssh_is_connected(login->s->session)) {
		ended(login);
		return false;
	}
	io = xb_libssh_wait(login->s, login->deadline_ns, login->err);
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
	enum tried tried = TRIED_BROKEN;
	ssh_key key = NULL;
	int rc;

	/* An empty passphrase: without any, OpenSSL would ask on the terminal. */
	if (ssh_pki_import_privkey_file(path, "", NULL, NULL, &key) != SSH_OK) {
		note(&login->unusable, path, type, "this client library cannot read it");
		return TRIED_UNUSABLE;
	}
	do {
		rc = ssh_userauth_publickey(login->s->session, NULL, key);
		if (rc != SSH_AUTH_AGAIN)
			tried = judge(login, rc, path, type);
	} while (rc == SSH_AUTH_AGAIN && wait_again(login));
	ssh_key_free(key);
	return tried;
}

static enum tried
try_files(struct login *login)
{
	const struct xb_namelist *files = &login->s->target->identities;
	struct xb_identity identity;
	const char *type;
	enum tried tried;
	size_t i;

	for (i = 0; i < files->count; i++) {
		if (!wanted(login, files->names[i]))
			continue;
		xb_identity_inspect(files->names[i], &identity);
		type = identity.type[0] != '\0' ? identity.type : "key";
		if (!identity.is_key) {
			note(&login->unusable, files->names[i], "no private key",
			    identity.exists ? "" : "not readable");
		} else if (identity.encrypted) {
			note(&login->unusable, files->names[i], type,
			    "encrypted; put it into an agent with ssh-add");
		} else if (strncmp(identity.type, "sk-", 3) == 0) {
			note(&login->unusable, files->names[i], type,
			    "a hardware key needs an agent");
		} else {
			tried = try_file(login, files->names[i], type);
			if (tried == TRIED_IN || tried == TRIED_BROKEN)
				return tried;
		}
		if (identity.has_cert)
			note(&login->unusable, files->names[i], "certificate beside it",
			    "this client logs in without certificates");
	}
	return TRIED_REFUSED;
}

static enum tried
try_agent(struct login *login)
{
	int rc;

	if (!wanted(login, AGENT))
		return TRIED_REFUSED;
	do {
		rc = ssh_userauth_agent(login->s->session, NULL);
		if (rc == SSH_AUTH_DENIED) {
			note(&login->refused, AGENT, "none of its keys", "");
			return TRIED_REFUSED;
		}
		if (rc != SSH_AUTH_AGAIN)
			return judge(login, rc, AGENT, "its keys");
	} while (wait_again(login));
	return TRIED_BROKEN;
}

/* Everything that may let us in: the user's files first where they were named, as ssh does. */
static enum tried
try_all(struct login *login)
{
	const struct xb_target *target = login->s->target;
	enum tried tried = TRIED_REFUSED;

	if (target->identities_given)
		tried = try_files(login);
	if (tried != TRIED_IN && tried != TRIED_BROKEN && target->use_agent)
		tried = try_agent(login);
	if (tried != TRIED_IN && tried != TRIED_BROKEN && !target->identities_given)
		tried = try_files(login);
	return tried == TRIED_IN || tried == TRIED_BROKEN ? tried : TRIED_REFUSED;
}

/* What the server takes, in ssh's words. */
static void
name_methods(int methods, char *out, size_t size)
{
	static const struct {
		int bit;
		const char *name;
	} names[] = {
		{ SSH_AUTH_METHOD_PUBLICKEY, "publickey" },
		{ SSH_AUTH_METHOD_PASSWORD, "password" },
		{ SSH_AUTH_METHOD_INTERACTIVE, "keyboard-interactive" },
		{ SSH_AUTH_METHOD_HOSTBASED, "hostbased" },
		{ SSH_AUTH_METHOD_GSSAPI_MIC, "gssapi-with-mic" },
	};
	struct xb_namelist list = { 0 };
	char *joined;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((methods & names[i].bit) != 0)
			xb_namelist_add_once(&list, names[i].name);
	joined = xb_namelist_join(&list, ",", size - 1);
	snprintf(out, size, "%s", list.count > 0 ? joined : "nothing");
	free(joined);
	xb_namelist_free(&list);
}

static void
refuse(struct login *login, int methods)
{
	const struct xb_target *target = login->s->target;
	char *refused = xb_namelist_join(&login->refused, ", ", 150);
	char *unusable = xb_namelist_join(&login->unusable, ", ", 250);
	char shown[80];

	name_methods(methods, shown, sizeof(shown));
	xb_fail(login->err, XB_FAULT_TARGET,
	    "%s: login as %s refused (the server takes %s); tried: %s%s%s%s", target->name,
	    target->user, shown, refused[0] != '\0' ? refused : "no key",
	    unusable[0] != '\0' ? "; not usable: " : "", unusable,
	    refused[0] == '\0' && unusable[0] == '\0' ? "; name a key with -i, or start ssh-agent"
						      : "");
	free(refused);
	free(unusable);
}

/* The first request of a login: its refusal lists what the server takes. */
static enum tried
try_none(struct login *login)
{
	int rc;

	do {
		rc = ssh_userauth_none(login->s->session, NULL);
		if (rc == SSH_AUTH_SUCCESS)
			return TRIED_IN;
		if (rc == SSH_AUTH_DENIED || rc == SSH_AUTH_PARTIAL)
			return TRIED_REFUSED;
		if (rc == SSH_AUTH_ERROR) {
			ended(login);
			return TRIED_BROKEN;
		}
	} while (wait_again(login));
	return TRIED_BROKEN;
}

bool
xb_libssh_login(struct xb_libssh *s, const char *hint, char *key, size_t key_size,
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
	enum tried tried = try_none(&login);
	int methods;

	if (tried != TRIED_REFUSED)
		return tried == TRIED_IN;
	methods = ssh_userauth_list(s->session, NULL);
	if ((methods & SSH_AUTH_METHOD_PUBLICKEY) != 0)
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
