#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"
#include "model/namelist.h"
#include "model/select.h"
#include "options.h"
#include "options_parts.h"
#include "target/private.h"

#define TIME_MIN_NS INT64_C(10000000)

/* More than any list of servers has bytes. */
#define LIST_MAX 200

/* Options that a command without sessions, or without streams, has no use for; each ends with 0. */
static const enum xb_option not_for_raw[] = { XB_OPT_HOST, XB_OPT_PORT, XB_OPT_USER,
	XB_OPT_IDENTITY, XB_OPT_SSH_CONFIG, XB_OPT_SSH_OPTION, XB_OPT_JUMP, XB_OPT_HOST_KEY_CHECK,
	XB_OPT_KNOWN_HOSTS, XB_OPT_SERVER, XB_OPT_SSHD, XB_OPT_DROPBEAR_WINDOW,
	XB_OPT_CONNECT_TIMEOUT, XB_OPT_STALL_TIMEOUT, XB_OPT_CLIENT, XB_OPT_METHOD,
	XB_OPT_DIRECTION, XB_OPT_COMPRESS, XB_OPT_STREAMS, XB_OPT_PAYLOAD, XB_OPT_REMOTE_FILE,
	XB_OPT_HANDSHAKE, XB_OPT_KEX, XB_OPT_HOST_KEY_ALGORITHMS, XB_OPT_SIZE, XB_OPT_ROUNDS,
	XB_OPT_MAX_TIME, XB_OPT_SEED, 0 };
static const enum xb_option not_for_list[] = { XB_OPT_METHOD, XB_OPT_DIRECTION, XB_OPT_CIPHERS,
	XB_OPT_MACS, XB_OPT_COMPRESS, XB_OPT_STREAMS, XB_OPT_PAYLOAD, XB_OPT_REMOTE_FILE,
	XB_OPT_HANDSHAKE, XB_OPT_KEX, XB_OPT_HOST_KEY_ALGORITHMS, XB_OPT_DROPBEAR_WINDOW,
	XB_OPT_TIME, XB_OPT_SIZE, XB_OPT_ROUNDS, XB_OPT_MAX_TIME, XB_OPT_SEED, XB_OPT_NO_PIN,
	XB_OPT_UNITS, XB_OPT_EXPORT_JSON, XB_OPT_STALL_TIMEOUT, 0 };

/* Logins move no bytes, and their number is that of the rounds. */
static const enum xb_option not_for_logins[] = { XB_OPT_TIME, XB_OPT_SIZE, XB_OPT_ROUNDS,
	XB_OPT_PAYLOAD, XB_OPT_STREAMS, XB_OPT_METHOD, XB_OPT_DIRECTION, XB_OPT_COMPRESS,
	XB_OPT_MACS, XB_OPT_CIPHERS, XB_OPT_REMOTE_FILE, XB_OPT_DROPBEAR_WINDOW, XB_OPT_UNITS, 0 };
static const enum xb_option only_for_logins[] = { XB_OPT_KEX, XB_OPT_HOST_KEY_ALGORITHMS, 0 };

/* A private server has its own port, user and keys. */
static const enum xb_option only_with_host[] = { XB_OPT_PORT, XB_OPT_USER, XB_OPT_IDENTITY,
	XB_OPT_SSH_CONFIG, XB_OPT_SSH_OPTION, XB_OPT_JUMP, XB_OPT_HOST_KEY_CHECK,
	XB_OPT_KNOWN_HOSTS, 0 };
static const enum xb_option only_without_host[] = { XB_OPT_SERVER, XB_OPT_SSHD,
	XB_OPT_DROPBEAR_WINDOW, 0 };

static const struct {
	const char *name;
	const enum xb_option *refused;
} commands[] = {
	[XB_COMMAND_RUN] = { "run", NULL },
	[XB_COMMAND_RAW] = { "raw", not_for_raw },
	[XB_COMMAND_LIST] = { "list", not_for_list },
};

bool
xb_options_find_command(const char *name, enum xb_command *command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(name, commands[i].name) == 0) {
			*command = (enum xb_command)i;
			return true;
		}
	return false;
}

/* The first of the options that was given; 0 when none was. */
static enum xb_option
first_given(const enum xb_option *options, const bool *given)
{
	while (*options != 0 && !given[*options])
		options++;
	return *options;
}

/* An option that its command would ignore is refused: silence would be a lie. */
static bool
check_command(const struct xb_options *o, const bool *given, struct xb_err *err)
{
	const enum xb_option *refused = commands[o->command].refused;
	enum xb_option option = refused != NULL ? first_given(refused, given) : 0;

	if (option != 0)
		return xb_fail(err, XB_FAULT_USAGE, "%s has no use for --%s",
		    commands[o->command].name, xb_option_name(option));
	option = first_given(only_with_host, given);
	if (o->host == NULL && option != 0)
		return xb_fail(err, XB_FAULT_USAGE,
		    "--%s has no use without a HOST: a private server has its own",
		    xb_option_name(option));
	option = first_given(only_without_host, given);
	if (o->host != NULL && option != 0)
		return xb_fail(err, XB_FAULT_USAGE,
		    "--%s has no use with a HOST, whose server runs already",
		    xb_option_name(option));
	return true;
}

static bool
check_logins(const struct xb_options *o, const bool *given, struct xb_err *err)
{
	enum xb_option option = first_given(only_for_logins, given);

	if (o->handshakes == 0 && option != 0)
		return xb_fail(err, XB_FAULT_USAGE,
		    "--%s is about logins alone: it has no use without --handshake N",
		    xb_option_name(option));
	option = first_given(not_for_logins, given);
	if (o->handshakes > 0 && option != 0)
		return xb_fail(err, XB_FAULT_USAGE,
		    "--handshake, which moves no bytes, has no use for --%s",
		    xb_option_name(option));
	return true;
}

static bool
check_servers(struct xb_options *o, const bool *given, struct xb_err *err)
{
	struct xb_namelist known = { 0 }, names = { 0 };
	const struct xb_private_kind *const *kind = xb_private_servers;
	bool ok;

	for (; *kind != NULL; kind++)
		xb_namelist_add_once(&known, (*kind)->name);
	ok = xb_select_words("--server", o->servers != NULL ? o->servers : "openssh", &known,
	    &names, err);
	if (ok && given[XB_OPT_SSHD] && !xb_namelist_has(&names, "openssh"))
		ok = xb_fail(err, XB_FAULT_USAGE,
		    "--sshd has no use without --server openssh, whose program it is");
	if (ok && given[XB_OPT_DROPBEAR_WINDOW] && !xb_namelist_has(&names, "dropbear"))
		ok = xb_fail(err, XB_FAULT_USAGE,
		    "--dropbear-window has no use without --server dropbear");
	if (ok && o->servers != NULL) {
		free(o->servers);
		o->servers = xb_namelist_join(&names, ",", LIST_MAX);
	}
	xb_namelist_free(&names);
	xb_namelist_free(&known);
	return ok;
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

bool
xb_options_check(struct xb_options *options, const bool *given, struct xb_err *err)
{
	return check_command(options, given, err) && check_logins(options, given, err) &&
	    check_servers(options, given, err) && check_times(options, err);
}
