#include "options.h"

#include <popt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/units.h"
#include "client/payload.h"
#include "options_parts.h"

#define XB_SECOND INT64_C(1000000000)
#define DEFAULT_TIME_NS XB_SECOND
#define RAW_TIME_NS (XB_SECOND / 20)
#define ROUNDS_MAX 10000
#define LOGINS_MAX 10000

/* MAX_RECV_WINDOW of Dropbear's sources, which take no larger one. */
#define WINDOW_MAX (UINT64_C(10) << 20)

/* So that no sum of a time and a clock can overflow. */
#define TIME_MAX_NS (XB_SECOND * 3600 * 24 * 366)

static void
replace(char **field, char **value)
{
	free(*field);
	*field = *value;
	*value = NULL;
}

static bool
parse_policy(const char *value, enum xb_hostkey_policy *policy, struct xb_err *err)
{
	static const char *const names[] = {
		[XB_HOSTKEY_STRICT] = "strict",
		[XB_HOSTKEY_ACCEPT_NEW] = "accept-new",
		[XB_HOSTKEY_OFF] = "off",
	};
	char shown[80];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(value, names[i]) == 0) {
			*policy = (enum xb_hostkey_policy)i;
			return true;
		}
	xb_text_printable(shown, sizeof(shown), value, strlen(value));
	return xb_fail(err, XB_FAULT_USAGE,
	    "--host-key-check: '%s' is not one of strict, accept-new, off", shown);
}

static bool
parse_time(const char *option, const char *value, int64_t *ns, struct xb_err *err)
{
	char shown[80];

	if (!xb_duration_parse(option, value, ns, err))
		return false;
	if (*ns <= TIME_MAX_NS)
		return true;
	xb_text_printable(shown, sizeof(shown), value, strlen(value));
	return xb_fail(err, XB_FAULT_USAGE, "%s: '%s' is longer than a year", option, shown);
}

static bool
parse_size(const char *option, const char *value, uint64_t *size, struct xb_err *err)
{
	char shown[80];

	if (!xb_size_parse(option, value, size, err))
		return false;
	if (*size > 0)
		return true;
	xb_text_printable(shown, sizeof(shown), value, strlen(value));
	return xb_fail(err, XB_FAULT_USAGE, "%s: '%s' is nothing; at least 1 is needed", option,
	    shown);
}

static bool
parse_window(const char *value, unsigned *window, struct xb_err *err)
{
	uint64_t size = 0;
	char shown[80];

	if (!parse_size("--dropbear-window", value, &size, err))
		return false;
	xb_text_printable(shown, sizeof(shown), value, strlen(value));
	if (size > WINDOW_MAX)
		return xb_fail(err, XB_FAULT_USAGE,
		    "--dropbear-window: '%s' is more than dropbear takes; at most 10MiB", shown);
	*window = (unsigned)size;
	return true;
}

static bool
parse_number(const char *option, const char *value, uint64_t max, unsigned *number,
    struct xb_err *err)
{
	uint64_t count = 0;
	bool ok = xb_count_parse(option, value, 1, max, &count, err);

	*number = (unsigned)count;
	return ok;
}

/* It goes to programs on both sides: what could be taken for an option there is refused. */
static bool
check_remote_file(const char *path, struct xb_err *err)
{
	char shown[80];

	xb_text_printable(shown, sizeof(shown), path, strlen(path));
	if (path[0] == '-')
		return xb_fail(err, XB_FAULT_USAGE,
		    "--remote-file: '%s' begins with '-'; write ./%s", shown, shown);
	for (const char *c = path; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return xb_fail(err, XB_FAULT_USAGE,
			    "--remote-file: '%s' has a control character; a path without is wanted",
			    shown);
	return true;
}

/* Options whose value is kept as it is. */
static const struct {
	enum xb_option option;
	size_t offset;
} kept[] = {
	{ XB_OPT_HOST, offsetof(struct xb_options, host) },
	{ XB_OPT_USER, offsetof(struct xb_options, user) },
	{ XB_OPT_SSH_CONFIG, offsetof(struct xb_options, ssh_config) },
	{ XB_OPT_JUMP, offsetof(struct xb_options, jump) },
	{ XB_OPT_KNOWN_HOSTS, offsetof(struct xb_options, known_hosts) },
	{ XB_OPT_SERVER, offsetof(struct xb_options, servers) },
	{ XB_OPT_SSHD, offsetof(struct xb_options, sshd) },
	{ XB_OPT_CLIENT, offsetof(struct xb_options, clients) },
	{ XB_OPT_METHOD, offsetof(struct xb_options, methods) },
	{ XB_OPT_DIRECTION, offsetof(struct xb_options, directions) },
	{ XB_OPT_CIPHERS, offsetof(struct xb_options, ciphers) },
	{ XB_OPT_MACS, offsetof(struct xb_options, macs) },
	{ XB_OPT_COMPRESS, offsetof(struct xb_options, compression) },
	{ XB_OPT_STREAMS, offsetof(struct xb_options, streams) },
	{ XB_OPT_PAYLOAD, offsetof(struct xb_options, payload) },
	{ XB_OPT_REMOTE_FILE, offsetof(struct xb_options, remote_file) },
	{ XB_OPT_KEX, offsetof(struct xb_options, kex) },
	{ XB_OPT_HOST_KEY_ALGORITHMS, offsetof(struct xb_options, hostkeys) },
	{ XB_OPT_EXPORT_JSON, offsetof(struct xb_options, export_json) },
};

/* Takes the value over where its option keeps it. */
static bool
keep(struct xb_options *o, enum xb_option option, char **value)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (kept[i].option == option) {
			replace((char **)(void *)((char *)o + kept[i].offset), value);
			return true;
		}
	return false;
}

/* Options whose value is a number, a time, a size or a word. */
static bool
apply_parsed(struct xb_options *o, enum xb_option option, const char *value, struct xb_err *err)
{
	switch (option) {
	case XB_OPT_PORT:
		return parse_number("--port", value, 65535, &o->port, err);
	case XB_OPT_IDENTITY:
		xb_namelist_add(&o->identities, value, strlen(value));
		return true;
	case XB_OPT_SSH_OPTION:
		xb_namelist_add(&o->ssh_options, value, strlen(value));
		return true;
	case XB_OPT_HOST_KEY_CHECK:
		return parse_policy(value, &o->policy, err);
	case XB_OPT_DROPBEAR_WINDOW:
		return parse_window(value, &o->window, err);
	case XB_OPT_CONNECT_TIMEOUT:
		o->timeout_given = true;
		return parse_time("--connect-timeout", value, &o->connect_timeout_ns, err);
	case XB_OPT_STALL_TIMEOUT:
		return parse_time("--stall-timeout", value, &o->stall_timeout_ns, err);
	case XB_OPT_HANDSHAKE:
		return parse_number("--handshake", value, LOGINS_MAX, &o->handshakes, err);
	case XB_OPT_TIME:
		return parse_time("--time", value, &o->time_ns, err);
	case XB_OPT_SIZE:
		return parse_size("--size", value, &o->size, err);
	case XB_OPT_ROUNDS:
		return parse_number("--rounds", value, ROUNDS_MAX, &o->rounds, err);
	case XB_OPT_MAX_TIME:
		return parse_time("--max-time", value, &o->max_ns, err);
	case XB_OPT_SEED:
		return xb_count_parse("--seed", value, 0, UINT64_MAX, &o->seed, err);
	case XB_OPT_UNITS:
		return xb_rate_unit_parse("--units", value, &o->unit, err);
	default:
		return xb_fail(err, XB_FAULT_USAGE, "unknown option");
	}
}

/* Options with a value; value is taken over where it is kept as it is. */
static bool
apply_value(struct xb_options *o, enum xb_option option, char **value, struct xb_err *err)
{
	if ((option == XB_OPT_REMOTE_FILE && !check_remote_file(*value, err)) ||
	    (option == XB_OPT_PAYLOAD && !xb_payload_check(*value, err)))
		return false;
	return keep(o, option, value) || apply_parsed(o, option, *value, err);
}

static bool
apply(struct xb_options *o, enum xb_option option, char *value, struct xb_err *err)
{
	bool ok = true;

	switch (option) {
	case XB_OPT_NO_PIN:
		o->pin = false;
		break;
	case XB_OPT_QUIET:
		o->quiet = true;
		break;
	case XB_OPT_VERBOSE:
		o->verbose = true;
		break;
	case XB_OPT_HELP:
		o->help = true;
		break;
	case XB_OPT_VERSION:
		o->version = true;
		break;
	default:
		if (value == NULL || (value[0] == '\0' && option != XB_OPT_MACS))
			ok = xb_fail(err, XB_FAULT_USAGE, "--%s: an empty value has no meaning",
			    xb_option_name(option));
		else
			ok = apply_value(o, option, &value, err);
		free(value);
		break;
	}
	return ok;
}

static bool
bad_option(poptContext context, int rc, struct xb_err *err)
{
	struct xb_namelist names = { 0 };
	const char *given = poptBadOption(context, POPT_BADOPTION_NOALIAS), *near;
	char shown[80];

	xb_text_printable(shown, sizeof(shown), given, strlen(given));
	if (rc != POPT_ERROR_BADOPT)
		return xb_fail(err, XB_FAULT_USAGE, "%s: %s", shown, poptStrerror(rc));
	xb_option_names(&names);
	near = xb_text_nearest(given + strspn(given, "-"), (const char *const *)names.names,
	    names.count);
	if (near == NULL)
		xb_fail(err, XB_FAULT_USAGE, "unknown option %s; see xferbench --help", shown);
	else
		xb_fail(err, XB_FAULT_USAGE, "unknown option %s; did you mean --%s?", shown, near);
	xb_namelist_free(&names);
	return false;
}

/* The arguments that are no options: a command, first, and a host. */
static bool
take_arguments(struct xb_options *o, const char **args, struct xb_err *err)
{
	char shown[80];

	if (args == NULL || args[0] == NULL)
		return true;
	if (xb_options_find_command(args[0], &o->command))
		args++;
	if (args[0] == NULL)
		return true;
	xb_text_printable(shown, sizeof(shown), args[0], strlen(args[0]));
	if (o->command == XB_COMMAND_RAW)
		return xb_fail(err, XB_FAULT_USAGE, "raw takes no host: '%s'", shown);
	if (o->host != NULL)
		return xb_fail(err, XB_FAULT_USAGE, "two hosts: '%s' and that of --host", shown);
	if (args[0][0] == '\0')
		return xb_fail(err, XB_FAULT_USAGE, "the host is empty");
	if (args[1] != NULL)
		return xb_fail(err, XB_FAULT_USAGE, "one host at a time: '%s' and another argument",
		    shown);
	o->host = xb_strdup(args[0]);
	return true;
}

static void
fill_defaults(struct xb_options *o)
{
	/* With a size alone there is no time-box, and none for logins. */
	if (o->time_ns == 0 && o->command == XB_COMMAND_RAW)
		o->time_ns = RAW_TIME_NS;
	else if (o->time_ns == 0 && o->size == 0 && o->handshakes == 0)
		o->time_ns = DEFAULT_TIME_NS;
	if (o->handshakes > 0)
		o->rounds = o->handshakes;
	if (o->payload == NULL)
		o->payload = xb_strdup("sparse");
}

bool
xb_options_parse(struct xb_options *o, int argc, const char **argv, struct xb_err *err)
{
	poptContext context = poptGetContext("xferbench", argc, argv, xb_option_tables, 0);
	bool given[XB_OPT_END] = { false };
	bool ok = true;
	int rc = 0;

	*o = (struct xb_options){
		.policy = XB_HOSTKEY_STRICT,
		.connect_timeout_ns = 10 * XB_SECOND,
		.stall_timeout_ns = 10 * XB_SECOND,
		.rounds = 6,
		.seed = xb_rng_seed(),
		.pin = true,
		.unit = XB_RATE_MB,
	};
	while (ok && (rc = poptGetNextOpt(context)) > 0) {
		given[rc] = true;
		ok = apply(o, (enum xb_option)rc, poptGetOptArg(context), err);
	}
	if (ok && rc < -1)
		ok = bad_option(context, rc, err);
	if (ok && !o->help && !o->version)
		ok = take_arguments(o, poptGetArgs(context), err);
	fill_defaults(o);
	if (ok && !o->help && !o->version)
		ok = xb_options_check(o, given, err);
	poptFreeContext(context);
	return ok;
}

void
xb_options_free(struct xb_options *o)
{
	free(o->host);
	free(o->user);
	xb_namelist_free(&o->identities);
	free(o->ssh_config);
	xb_namelist_free(&o->ssh_options);
	free(o->jump);
	free(o->known_hosts);
	free(o->sshd);
	free(o->ciphers);
	free(o->macs);
	free(o->compression);
	free(o->clients);
	free(o->methods);
	free(o->directions);
	free(o->streams);
	free(o->servers);
	free(o->kex);
	free(o->hostkeys);
	free(o->remote_file);
	free(o->payload);
	free(o->export_json);
}

struct xb_target_options
xb_options_target(const struct xb_options *o, const char *server, int server_cpu)
{
	return (struct xb_target_options){
		.host = o->host,
		.port = o->port,
		.user = o->user,
		.identities = &o->identities,
		.ssh_config = o->ssh_config,
		.ssh_options = &o->ssh_options,
		.jump = o->jump,
		.policy = o->policy,
		.known_hosts = o->known_hosts,
		.server = server,
		.sshd = o->sshd,
		.window = o->window,
		.every_hostkey = o->kex != NULL || o->hostkeys != NULL,
		.server_cpu = server_cpu,
		.connect_timeout_ns = o->connect_timeout_ns,
		.timeout_given = o->timeout_given,
	};
}
