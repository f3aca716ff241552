#include "options.h"

#include <inttypes.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

#define XB_SECOND INT64_C(1000000000)
#define DEFAULT_TIME_NS XB_SECOND
#define RAW_TIME_NS (XB_SECOND / 20)
#define ROUNDS_MAX 10000
#define TIME_MIN_NS (XB_SECOND / 100)

/* So that no sum of a time and a clock can overflow. */
#define TIME_MAX_NS (XB_SECOND * 3600 * 24 * 366)

/* What poptGetNextOpt returns for each option. */
enum option {
	OPT_HOST = 1,
	OPT_PORT,
	OPT_USER,
	OPT_IDENTITY,
	OPT_HOST_KEY_CHECK,
	OPT_KNOWN_HOSTS,
	OPT_SSHD,
	OPT_CONNECT_TIMEOUT,
	OPT_STALL_TIMEOUT,
	OPT_CIPHERS,
	OPT_MACS,
	OPT_PAYLOAD,
	OPT_TIME,
	OPT_SIZE,
	OPT_ROUNDS,
	OPT_MAX_TIME,
	OPT_SEED,
	OPT_NO_PIN,
	OPT_UNITS,
	OPT_EXPORT_JSON,
	OPT_QUIET,
	OPT_VERBOSE,
	OPT_HELP,
	OPT_VERSION,
};

#define ROW(name, letter, value, help, argument) \
	{ \
		.longName = (name), .shortName = (letter), \
		.argInfo = (argument) != NULL ? POPT_ARG_STRING : POPT_ARG_NONE, .val = (value), \
		.descrip = (help), .argDescrip = (argument), \
	}

static const struct poptOption target_table[] = {
	ROW("host", '\0', OPT_HOST, "[USER@]HOST[:PORT]; none: a private sshd here", "HOST"),
	ROW("port", 'p', OPT_PORT, "port of the host (22)", "PORT"),
	ROW("user", 'l', OPT_USER, "login name", "USER"),
	ROW("identity", 'i', OPT_IDENTITY, "private key file; may be repeated", "FILE"),
	ROW("host-key-check", '\0', OPT_HOST_KEY_CHECK, "strict, accept-new or off (strict)",
	    "HOW"),
	ROW("known-hosts", '\0', OPT_KNOWN_HOSTS, "instead of ~/.ssh/known_hosts", "FILE"),
	ROW("sshd", '\0', OPT_SSHD, "program of the private sshd", "PATH"),
	ROW("connect-timeout", '\0', OPT_CONNECT_TIMEOUT, "for each login step (10s)", "TIME"),
	ROW("stall-timeout", '\0', OPT_STALL_TIMEOUT, "without any progress (10s)", "TIME"),
	POPT_TABLEEND,
};

static const struct poptOption what_table[] = {
	ROW("ciphers", 'c', OPT_CIPHERS, "names, globs, 'all' (the sound ones)", "LIST"),
	ROW("macs", 'm', OPT_MACS, "likewise (hmac-sha2-256)", "LIST"),
	ROW("payload", '\0', OPT_PAYLOAD, "sparse, random or a file (sparse)", "WHAT"),
	POPT_TABLEEND,
};

static const struct poptOption much_table[] = {
	ROW("time", 't', OPT_TIME, "length of a trial (1s; raw: of a figure, 50ms)", "TIME"),
	ROW("size", 's', OPT_SIZE, "bytes of a trial, such as 1GiB", "SIZE"),
	ROW("rounds", 'r', OPT_ROUNDS, "visits to each case (6)", "N"),
	ROW("max-time", '\0', OPT_MAX_TIME, "end the run after that", "TIME"),
	ROW("seed", '\0', OPT_SEED, "of the random order", "N"),
	ROW("no-pin", '\0', OPT_NO_PIN, "do not pin the two ends to CPUs", NULL),
	POPT_TABLEEND,
};

static const struct poptOption output_table[] = {
	ROW("units", 'u', OPT_UNITS, "MB, MiB or Mbit (MB)", "UNIT"),
	ROW("export-json", '\0', OPT_EXPORT_JSON, "write the result, too; - is stdout", "FILE"),
	ROW("quiet", 'q', OPT_QUIET, "the table alone, no progress", NULL),
	ROW("verbose", 'v', OPT_VERBOSE, "ranges, logins, CPU, the harness", NULL),
	ROW("help", 'h', OPT_HELP, "this text", NULL),
	ROW("version", 'V', OPT_VERSION, "versions of program and libraries", NULL),
	POPT_TABLEEND,
};

/* popt does not change its tables, though its type says so. */
#define GROUP(table, title) \
	{ \
		.argInfo = POPT_ARG_INCLUDE_TABLE, .arg = (void *)(uintptr_t)(table), \
		.descrip = (title), \
	}

static const struct poptOption all_tables[] = {
	GROUP(target_table, "Target:"),
	GROUP(what_table, "What to measure (LIST: comma-separated):"),
	GROUP(much_table, "How much (TIME: 250ms, 1s, 2m; SIZE: 500M, 1GiB):"),
	GROUP(output_table, "Output:"),
	POPT_TABLEEND,
};

static const struct poptOption *const tables[] = {
	target_table,
	what_table,
	much_table,
	output_table,
};

/* Options that a command without sessions, or without streams, has no use for. */
static const enum option not_for_raw[] = { OPT_HOST, OPT_PORT, OPT_USER, OPT_IDENTITY,
	OPT_HOST_KEY_CHECK, OPT_KNOWN_HOSTS, OPT_SSHD, OPT_CONNECT_TIMEOUT, OPT_STALL_TIMEOUT,
	OPT_PAYLOAD, OPT_SIZE, OPT_ROUNDS, OPT_MAX_TIME, OPT_SEED, 0 };
static const enum option not_for_list[] = { OPT_CIPHERS, OPT_MACS, OPT_PAYLOAD, OPT_TIME, OPT_SIZE,
	OPT_ROUNDS, OPT_MAX_TIME, OPT_SEED, OPT_NO_PIN, OPT_UNITS, OPT_EXPORT_JSON,
	OPT_STALL_TIMEOUT, 0 };

/* A private server has its own port, user and keys. */
static const enum option only_with_host[] = { OPT_PORT, OPT_USER, OPT_IDENTITY, OPT_HOST_KEY_CHECK,
	OPT_KNOWN_HOSTS };

static const struct {
	const char *name;
	const enum option *refused;
} commands[] = {
	[XB_COMMAND_RUN] = { "run", NULL },
	[XB_COMMAND_RAW] = { "raw", not_for_raw },
	[XB_COMMAND_LIST] = { "list", not_for_list },
};

static const char *
option_name(enum option option)
{
	size_t i, j;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (j = 0; tables[i][j].longName != NULL; j++)
			if (tables[i][j].val == (int)option)
				return tables[i][j].longName;
	return "?";
}

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
parse_size(const char *value, uint64_t *size, struct xb_err *err)
{
	char shown[80];

	if (!xb_size_parse("--size", value, size, err))
		return false;
	if (*size > 0)
		return true;
	xb_text_printable(shown, sizeof(shown), value, strlen(value));
	return xb_fail(err, XB_FAULT_USAGE, "--size: '%s' is nothing; a trial needs at least 1",
	    shown);
}

/* Options with a value; value is taken over where it is kept as it is. */
static bool
apply_value(struct xb_options *o, enum option option, char **value, struct xb_err *err)
{
	uint64_t count = 0;
	bool ok;

	switch (option) {
	case OPT_HOST:
		replace(&o->host, value);
		return true;
	case OPT_PORT:
		ok = xb_count_parse("--port", *value, 1, 65535, &count, err);
		o->port = (unsigned)count;
		return ok;
	case OPT_USER:
		replace(&o->user, value);
		return true;
	case OPT_IDENTITY:
		xb_namelist_add(&o->identities, *value, strlen(*value));
		return true;
	case OPT_HOST_KEY_CHECK:
		return parse_policy(*value, &o->policy, err);
	case OPT_KNOWN_HOSTS:
		replace(&o->known_hosts, value);
		return true;
	case OPT_SSHD:
		replace(&o->sshd, value);
		return true;
	case OPT_CONNECT_TIMEOUT:
		return parse_time("--connect-timeout", *value, &o->connect_timeout_ns, err);
	case OPT_STALL_TIMEOUT:
		return parse_time("--stall-timeout", *value, &o->stall_timeout_ns, err);
	case OPT_CIPHERS:
		replace(&o->ciphers, value);
		return true;
	case OPT_MACS:
		replace(&o->macs, value);
		return true;
	case OPT_PAYLOAD:
		replace(&o->payload, value);
		return true;
	case OPT_TIME:
		return parse_time("--time", *value, &o->time_ns, err);
	case OPT_SIZE:
		return parse_size(*value, &o->size, err);
	case OPT_ROUNDS:
		ok = xb_count_parse("--rounds", *value, 1, ROUNDS_MAX, &count, err);
		o->rounds = (unsigned)count;
		return ok;
	case OPT_MAX_TIME:
		return parse_time("--max-time", *value, &o->max_ns, err);
	case OPT_SEED:
		return xb_count_parse("--seed", *value, 0, UINT64_MAX, &o->seed, err);
	case OPT_UNITS:
		return xb_rate_unit_parse("--units", *value, &o->unit, err);
	case OPT_EXPORT_JSON:
		replace(&o->export_json, value);
		return true;
	default:
		return xb_fail(err, XB_FAULT_USAGE, "unknown option");
	}
}

static bool
apply(struct xb_options *o, enum option option, char *value, struct xb_err *err)
{
	bool ok = true;

	switch (option) {
	case OPT_NO_PIN:
		o->pin = false;
		break;
	case OPT_QUIET:
		o->quiet = true;
		break;
	case OPT_VERBOSE:
		o->verbose = true;
		break;
	case OPT_HELP:
		o->help = true;
		break;
	case OPT_VERSION:
		o->version = true;
		break;
	default:
		if (value == NULL || (value[0] == '\0' && option != OPT_MACS))
			ok = xb_fail(err, XB_FAULT_USAGE, "--%s: an empty value has no meaning",
			    option_name(option));
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
	const char *names[64] = { NULL }, *near;
	const char *given = poptBadOption(context, POPT_BADOPTION_NOALIAS);
	size_t i, j, count = 0;
	char shown[80];

	xb_text_printable(shown, sizeof(shown), given, strlen(given));
	if (rc != POPT_ERROR_BADOPT)
		return xb_fail(err, XB_FAULT_USAGE, "%s: %s", shown, poptStrerror(rc));
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (j = 0; tables[i][j].longName != NULL && count < 64; j++)
			names[count++] = tables[i][j].longName;
	near = xb_text_nearest(given + strspn(given, "-"), names, count);
	if (near == NULL)
		return xb_fail(err, XB_FAULT_USAGE, "unknown option %s; see xferbench --help",
		    shown);
	return xb_fail(err, XB_FAULT_USAGE, "unknown option %s; did you mean --%s?", shown, near);
}

/* The arguments that are no options: a command, first, and a host. */
static bool
take_arguments(struct xb_options *o, const char **args, struct xb_err *err)
{
	char shown[80];
	size_t i;

	if (args == NULL || args[0] == NULL)
		return true;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(args[0], commands[i].name) == 0) {
			o->command = (enum xb_command)i;
			args++;
			break;
		}
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

/* An option that its command would ignore is refused: silence would be a lie. */
static bool
check_command(const struct xb_options *o, const bool *given, struct xb_err *err)
{
	const enum option *refused = commands[o->command].refused;
	size_t i;

	for (; refused != NULL && *refused != 0; refused++)
		if (given[*refused])
			return xb_fail(err, XB_FAULT_USAGE, "%s has no use for --%s",
			    commands[o->command].name, option_name(*refused));
	for (i = 0; o->host == NULL && i < sizeof(only_with_host) / sizeof(only_with_host[0]); i++)
		if (given[only_with_host[i]])
			return xb_fail(err, XB_FAULT_USAGE,
			    "--%s has no use without a HOST: a private sshd has its own",
			    option_name(only_with_host[i]));
	if (o->host != NULL && given[OPT_SSHD])
		return xb_fail(err, XB_FAULT_USAGE,
		    "--sshd has no use with a HOST, whose server runs already");
	return true;
}

/* Boxes that no trial can keep. */
static bool
check_times(const struct xb_options *o, struct xb_err *err)
{
	char shown[32], least[32];

	if (o->command == XB_COMMAND_RUN && o->time_ns > 0 && o->time_ns < TIME_MIN_NS) {
		xb_duration_format(shown, sizeof(shown), o->time_ns);
		xb_duration_format(least, sizeof(least), TIME_MIN_NS);
		return xb_fail(err, XB_FAULT_USAGE,
		    "--time: %s is too short for a trial; at least %s", shown, least);
	}
	if (o->max_ns > 0 && o->max_ns < o->time_ns) {
		xb_duration_format(shown, sizeof(shown), o->max_ns);
		xb_duration_format(least, sizeof(least), o->time_ns);
		return xb_fail(err, XB_FAULT_USAGE,
		    "--max-time: %s is less than one trial, which takes %s (--time)", shown, least);
	}
	return true;
}

static void
fill_defaults(struct xb_options *o)
{
	/* With a size alone there is no time-box. */
	if (o->time_ns == 0 && o->command == XB_COMMAND_RAW)
		o->time_ns = RAW_TIME_NS;
	else if (o->time_ns == 0 && o->size == 0)
		o->time_ns = DEFAULT_TIME_NS;
	if (o->payload == NULL)
		o->payload = xb_strdup("sparse");
}

bool
xb_options_parse(struct xb_options *o, int argc, const char **argv, struct xb_err *err)
{
	poptContext context = poptGetContext("xferbench", argc, argv, all_tables, 0);
	bool given[OPT_VERSION + 1] = { false };
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
		ok = apply(o, (enum option)rc, poptGetOptArg(context), err);
	}
	if (ok && rc < -1)
		ok = bad_option(context, rc, err);
	if (ok && !o->help && !o->version)
		ok = take_arguments(o, poptGetArgs(context), err) && check_command(o, given, err);
	fill_defaults(o);
	ok = ok && check_times(o, err);
	poptFreeContext(context);
	return ok;
}

void
xb_options_free(struct xb_options *o)
{
	free(o->host);
	free(o->user);
	xb_namelist_free(&o->identities);
	free(o->known_hosts);
	free(o->sshd);
	free(o->ciphers);
	free(o->macs);
	free(o->payload);
	free(o->export_json);
}

struct xb_target_options
xb_options_target(const struct xb_options *o, int server_cpu)
{
	return (struct xb_target_options){
		.host = o->host,
		.port = o->port,
		.user = o->user,
		.identities = &o->identities,
		.policy = o->policy,
		.known_hosts = o->known_hosts,
		.sshd = o->sshd,
		.server_cpu = server_cpu,
		.connect_timeout_ns = o->connect_timeout_ns,
	};
}

void
xb_options_help(FILE *out)
{
	static const char *argv[] = { "xferbench", NULL };
	poptContext context = poptGetContext("xferbench", 1, argv, all_tables, 0);

	fputs("MB/s of SSH transfers, per cipher, beside the raw speed of the same primitives.\n\n"
	      "  xferbench [run] [OPTION...] [HOST]   the benchmark; no HOST: a private sshd\n"
	      "  xferbench raw   [OPTION...]          primitives alone, no network\n"
	      "  xferbench list  [OPTION...] [HOST]   what client and server have\n\n",
	    out);
	poptSetOtherOptionHelp(context, "[run|raw|list] [OPTION...] [HOST]");
	poptPrintHelp(context, out, 0);
	poptFreeContext(context);
	fputs("\nExit codes: 0 all measured, 1 some case has no rate, 2 usage, 3 target not\n"
	      "reached or login refused, 4 this system, 128 + signal. More: man xferbench\n",
	    out);
}
