#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "target/hostspec.h"
#include "target/identity.h"
#include "target/private.h"

#define SSH_PORT 22
#define LOOPBACK "127.0.0.1"
#define DEFAULT_SERVER "openssh"

/* How long the private server may take to notice that the reader of its offer has left. */
#define DRAIN_NS (5 * XB_NS_PER_SECOND)

/* What the server itself logged tells more than what was seen from outside. */
static void
add_log(const struct xb_private_usage *usage, const struct xb_err *seen, struct xb_err *err)
{
	if (seen->fault != XB_FAULT_TARGET)
		xb_fail(err, seen->fault, "%s", seen->text);
	else if (usage->log[0] == '\0')
		xb_fail(err, seen->fault, "the private server on %.500s", seen->text);
	else
		xb_fail(err, seen->fault, "the private server on %.200s; its log: %s", seen->text,
		    usage->log);
}

static bool
open_private(struct xb_target *target, const struct xb_target_options *options,
    const struct xb_rundir *dir, struct xb_err *err)
{
	const char *name = options->server != NULL ? options->server : DEFAULT_SERVER;
	const struct xb_private_kind *kind = xb_private_find(name);
	const struct xb_private_options private_options = {
		.dir = dir,
		.program = kind == &xb_private_openssh ? options->sshd : NULL,
		.window = options->window,
		.every_hostkey = options->every_hostkey,
		.server_cpu = options->server_cpu,
	};
	const struct xb_private_login *login;
	struct xb_private_usage usage = { .started = 0 };
	struct xb_err seen = { .fault = XB_FAULT_NONE };
	bool ok;

	if (kind == NULL)
		return xb_fail(err, XB_FAULT_USAGE, "there is no private server '%s'", name);
	target->server = xb_private_new(kind, &private_options, err);
	if (target->server == NULL)
		return false;
	login = xb_private_login(target->server);
	target->name = xb_strdup("this machine");
	target->host = xb_strdup(LOOPBACK);
	target->port = login->port;
	target->user = xb_strdup(login->user);
	xb_namelist_add_once(&target->identities, login->identity);
	xb_namelist_add_once(&target->known_hosts, login->known_hosts);
	target->identities_given = true;
	target->policy = XB_HOSTKEY_STRICT;
	ok = xb_offer_read(target->host, target->port, options->connect_timeout_ns, &target->peer,
	    &target->offer, &seen);
	/* In both cases: the first trial's CPU time must not have this connection's in it. */
	if (!xb_private_drain(target->server, DRAIN_NS, &usage) && ok)
		return xb_fail(err, XB_FAULT_TARGET, "the private server has ended unexpectedly");
	if (!ok)
		add_log(&usage, &seen, err);
	return ok;
}

/* A key file that the user named and that cannot be used is better told now than after logins. */
static bool
take_identities(struct xb_target *target, const struct xb_namelist *given, const char *home,
    struct xb_err *err)
{
	struct xb_identity identity;
	char shown[200];

	target->identities_given = given != NULL && given->count > 0;
	if (!target->identities_given) {
		xb_identity_defaults(home, &target->identities);
		return true;
	}
	for (size_t i = 0; i < given->count; i++) {
		xb_identity_inspect(given->names[i], &identity);
		if (!identity.exists) {
			xb_text_printable(shown, sizeof(shown), given->names[i],
			    strlen(given->names[i]));
			if (access(given->names[i], R_OK) != 0)
				return xb_fail_errno(err, XB_FAULT_USAGE, "--identity %s", shown);
			return xb_fail(err, XB_FAULT_USAGE,
			    "--identity %s: this is no regular file", shown);
		}
		xb_namelist_add_once(&target->identities, given->names[i]);
	}
	return true;
}

/* Where ssh looks: UserKnownHostsFile and GlobalKnownHostsFile, ssh_config(5). */
static void
take_known_hosts(struct xb_target *target, const char *given, const char *home)
{
	static const char *const in_home[] = { "known_hosts", "known_hosts2" };
	static const char *const in_system[] = { "/etc/ssh/ssh_known_hosts",
		"/etc/ssh/ssh_known_hosts2" };
	char *path;

	if (given != NULL) {
		xb_namelist_add_once(&target->known_hosts, given);
		target->known_hosts_given = true;
		return;
	}
	for (size_t i = 0; home != NULL && i < sizeof(in_home) / sizeof(in_home[0]); i++) {
		path = xb_asprintf("%s/.ssh/%s", home, in_home[i]);
		xb_namelist_add_once(&target->known_hosts, path);
		free(path);
	}
	for (size_t i = 0; i < sizeof(in_system) / sizeof(in_system[0]); i++)
		xb_namelist_add_once(&target->known_hosts, in_system[i]);
}

static bool
take_user(struct xb_target *target, const char *given, const struct xb_hostspec *spec,
    const struct passwd *pw, struct xb_err *err)
{
	if (given == NULL)
		given = spec->user;
	if (given == NULL && pw != NULL)
		given = pw->pw_name;
	if (given == NULL)
		return xb_fail(err, XB_FAULT_USAGE,
		    "there is no user with the number %u here; say with --user whom to log in as",
		    (unsigned)geteuid());
	if (given[0] == '\0' || given[0] == '-')
		return xb_fail(err, XB_FAULT_USAGE,
		    "--user: a user is neither empty nor does it begin with '-'");
	target->user = xb_strdup(given);
	return true;
}

static bool
open_host(struct xb_target *target, const struct xb_target_options *options, struct xb_err *err)
{
	/* As ssh does: the effective user's home, whatever HOME says. */
	const struct passwd *pw = getpwuid(geteuid());
	const char *home = pw != NULL ? pw->pw_dir : NULL;
	const char *agent = getenv("SSH_AUTH_SOCK");
	struct xb_hostspec spec;
	bool ok;

	if (!xb_hostspec_parse("HOST", options->host, &spec, err))
		return false;
	target->name = xb_strdup(options->host);
	target->host = xb_strdup(spec.host);
	target->port = options->port != 0 ? options->port : spec.port;
	if (target->port == 0)
		target->port = SSH_PORT;
	target->policy = options->policy;
	target->use_agent = agent != NULL && agent[0] != '\0';
	take_known_hosts(target, options->known_hosts, home);
	ok = take_user(target, options->user, &spec, pw, err) &&
	    take_identities(target, options->identities, home, err) &&
	    xb_offer_read(target->host, target->port, options->connect_timeout_ns, &target->peer,
		&target->offer, err);
	xb_hostspec_free(&spec);
	return ok;
}

struct xb_target *
xb_target_new(const struct xb_target_options *options, const struct xb_rundir *dir,
    struct xb_err *err)
{
	struct xb_target *target = xb_calloc(1, sizeof(*target));
	bool ok;

	target->connect_timeout_ns = options->connect_timeout_ns;
	ok = options->host == NULL ? open_private(target, options, dir, err)
				   : open_host(target, options, err);
	if (ok)
		return target;
	xb_target_free(target);
	return NULL;
}

void
xb_target_free(struct xb_target *target)
{
	if (target == NULL)
		return;
	xb_private_free(target->server);
	xb_namelist_free(&target->known_hosts);
	xb_namelist_free(&target->identities);
	xb_offer_free(&target->offer);
	free(target->user);
	free(target->host);
	free(target->name);
	free(target);
}
