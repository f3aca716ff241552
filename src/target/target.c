#include "target/target.h"

#include <ctype.h>
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
#include "target/proxy.h"
#include "target/ssh_config.h"

#define SSH_PORT 22
#define LOOPBACK "127.0.0.1"
#define DEFAULT_SERVER "openssh"

/* ssh reads files for it, and may run what Match exec names. */
#define ASK_NS (30 * XB_NS_PER_SECOND)

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
take_identities(struct xb_target *target, const struct xb_namelist *given,
    const struct xb_ssh_config *config, const char *home, struct xb_err *err)
{
	struct xb_identity identity;
	char shown[200];

	target->identities_given = given != NULL && given->count > 0;
	if (!target->identities_given) {
		for (size_t i = 0; i < config->identities.count; i++)
			if (access(config->identities.names[i], F_OK) == 0)
				xb_namelist_add_once(&target->identities,
				    config->identities.names[i]);
		if (config->hostname == NULL)
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
take_known_hosts(struct xb_target *target, const char *given, const struct xb_ssh_config *config,
    const char *home)
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
	if (config->hostname != NULL) {
		for (size_t i = 0; i < config->user_known_hosts.count; i++)
			xb_namelist_add_once(&target->known_hosts,
			    config->user_known_hosts.names[i]);
		for (size_t i = 0; i < config->system_known_hosts.count; i++)
			xb_namelist_add_once(&target->known_hosts,
			    config->system_known_hosts.names[i]);
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
take_user(struct xb_target *target, const char *given, struct xb_err *err)
{
	if (given == NULL)
		return xb_fail(err, XB_FAULT_USAGE,
		    "there is no user with the number %u here; say with --user whom to log in as",
		    (unsigned)geteuid());
	if (given[0] == '\0' || given[0] == '-')
		return xb_fail(err, XB_FAULT_USAGE,
		    "--user: a user is neither empty nor does it begin with '-'");
	for (const char *c = given; *c != '\0'; c++)
		if (iscntrl((unsigned char)*c))
			return xb_fail(err, XB_FAULT_USAGE, "the user has a control character");
	target->user = xb_strdup(given);
	return true;
}

/* What a configuration makes of a host is shown, and goes to programs, as if it had been typed. */
static bool
take_host(struct xb_target *target, const char *host, struct xb_err *err)
{
	bool ok = host[0] != '\0' && host[0] != '-';

	for (const char *c = host; ok && *c != '\0'; c++)
		ok = isgraph((unsigned char)*c) != 0;
	target->host = xb_strdup(host);
	return ok ||
	    xb_fail(err, XB_FAULT_USAGE, "the HostName of %.100s in the ssh configuration is none",
		target->ssh_host);
}

/* IdentityAgent: a socket's path, a variable that has one, or "none". */
static void
take_agent(struct xb_target *target, const char *configured)
{
	const char *agent = configured;

	if (configured == NULL || strcmp(configured, "SSH_AUTH_SOCK") == 0)
		agent = getenv("SSH_AUTH_SOCK");
	else if (strcmp(configured, "none") == 0)
		agent = NULL;
	else if (configured[0] == '$')
		agent = getenv(configured + 1);
	target->use_agent = agent != NULL && agent[0] != '\0';
	if (target->use_agent && configured != NULL)
		target->agent = xb_strdup(agent);
}

/* Everything that ssh is asked about the host, before what the user typed comes to its right. */
static bool
ask_ssh(struct xb_target *target, const struct xb_target_options *options,
    const struct xb_hostspec *spec, struct xb_ssh_config *config, struct xb_err *err)
{
	const struct xb_ssh_question question = {
		.host = spec->host,
		.file = options->ssh_config,
		.options = options->ssh_options,
		.jump = options->jump,
		.user = options->user != NULL ? options->user : spec->user,
		.port = options->port != 0 ? options->port : spec->port,
		.identities = options->identities,
		.timeout_ns = ASK_NS,
	};
	bool found = false;

	if (question.user != NULL && (question.user[0] == '\0' || question.user[0] == '-'))
		return take_user(target, question.user, err);
	if (!xb_ssh_config_ask(&question, config, &found, err))
		return false;
	if (found && config->hostname == NULL)
		return xb_fail(err, XB_FAULT_USAGE, "ssh -G tells no host name for %.100s",
		    spec->host);
	if (!found &&
	    (options->jump != NULL || options->ssh_config != NULL ||
		(options->ssh_options != NULL && options->ssh_options->count > 0)))
		return xb_fail(err, XB_FAULT_USAGE,
		    "-F, -o and -J are ssh's own, and there is no ssh program here");
	if (!found)
		target->note =
		    xb_asprintf("there is no ssh program here: %.100s is taken as a host "
				"name, and no ssh configuration is read",
			spec->host);
	return true;
}

/* Takes over what is ssh's own business: how it is reached, and who vouches for its key. */
static bool
take_config(struct xb_target *target, const struct xb_target_options *options,
    const struct xb_hostspec *spec, const struct passwd *pw, struct xb_ssh_config *config,
    struct xb_err *err)
{
	char local[256] = "";
	struct xb_ssh_tokens tokens = {
		.typed = spec->host,
		.host = target->host,
		.port = target->port,
		.user = target->user,
		.alias = config->hostkey_alias,
		.jump = config->proxy_jump,
		.home = pw != NULL ? pw->pw_dir : NULL,
		.local_user = pw != NULL ? pw->pw_name : NULL,
		.local_host = local,
		.uid = (unsigned)geteuid(),
	};

	(void)gethostname(local, sizeof(local) - 1);
	if (!xb_ssh_config_expand(config, &tokens, err))
		return false;
	if (config->hostkey_alias != NULL)
		target->hostkey_alias = xb_strdup(config->hostkey_alias);
	if (config->revoked_hostkeys != NULL)
		target->revoked = xb_strdup(config->revoked_hostkeys);
	if (config->connect_timeout > 0 && !options->timeout_given)
		target->connect_timeout_ns = config->connect_timeout * XB_NS_PER_SECOND;
	/* No client library can be told which of an agent's keys to offer. */
	take_agent(target, config->identities_only ? "none" : config->identity_agent);
	take_known_hosts(target, options->known_hosts, config, tokens.home);
	xb_proxy_command(config, target->host, target->port, options->ssh_config, &target->proxy);
	return take_identities(target, options->identities, config, tokens.home, err);
}

static void
take_words(struct xb_target *target, const struct xb_target_options *options,
    const struct xb_hostspec *spec)
{
	target->name = xb_strdup(options->host);
	target->ssh_host = xb_strdup(spec->host);
	if (options->ssh_config != NULL)
		target->ssh_config = xb_strdup(options->ssh_config);
	if (options->jump != NULL)
		target->jump = xb_strdup(options->jump);
	for (size_t i = 0; options->ssh_options != NULL && i < options->ssh_options->count; i++)
		xb_namelist_add(&target->ssh_options, options->ssh_options->names[i],
		    strlen(options->ssh_options->names[i]));
	target->policy = options->policy;
}

static bool
reach(struct xb_target *target, const struct xb_ssh_config *config, struct xb_err *err)
{
	const struct xb_route route = {
		.host = target->host,
		.port = target->port,
		.family = config->family,
		.bind_address = config->bind_address,
		.proxy = target->proxy.count > 0 ? &target->proxy : NULL,
	};

	return xb_offer_read_by(&route, target->connect_timeout_ns, &target->peer, &target->offer,
	    err);
}

static bool
open_host(struct xb_target *target, const struct xb_target_options *options, struct xb_err *err)
{
	/* As ssh does: the effective user's home, whatever HOME says. */
	const struct passwd *pw = getpwuid(geteuid());
	struct xb_ssh_config config = { .port = 0 };
	struct xb_hostspec spec;
	const char *user;
	bool ok;

	if (!xb_hostspec_parse("HOST", options->host, &spec, err))
		return false;
	take_words(target, options, &spec);
	ok = ask_ssh(target, options, &spec, &config, err);
	target->port = options->port != 0 ? options->port
	    : spec.port != 0              ? spec.port
	    : config.port != 0            ? config.port
					  : SSH_PORT;
	user = options->user != NULL ? options->user : spec.user;
	if (user == NULL)
		user = config.user;
	if (user == NULL && pw != NULL)
		user = pw->pw_name;
	ok = ok && take_user(target, user, err) &&
	    take_host(target, config.hostname != NULL ? config.hostname : spec.host, err) &&
	    take_config(target, options, &spec, pw, &config, err) && reach(target, &config, err);
	xb_ssh_config_free(&config);
	xb_hostspec_free(&spec);
	return ok;
}

int
xb_target_connect(const struct xb_target *target, struct xb_proxy *proxy, struct xb_err *err)
{
	if (target->proxy.count > 0)
		return xb_proxy_start(&target->proxy, -1, proxy, err);
	return xb_peer_connect(&target->peer, target->connect_timeout_ns, err);
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
	xb_namelist_free(&target->proxy);
	xb_namelist_free(&target->ssh_options);
	free(target->note);
	free(target->revoked);
	free(target->agent);
	free(target->jump);
	free(target->ssh_config);
	free(target->hostkey_alias);
	free(target->ssh_host);
	free(target->user);
	free(target->host);
	free(target->name);
	free(target);
}
