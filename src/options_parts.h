#ifndef XB_OPTIONS_PARTS_H
#define XB_OPTIONS_PARTS_H

#include <popt.h>
#include <stdbool.h>
#include <stddef.h>

#include "options.h"

/* The command line while it is parsed; for the files of the options alone. */

struct xb_err;
struct xb_namelist;

/* What poptGetNextOpt returns for each option. */
enum xb_option {
	XB_OPT_HOST = 1,
	XB_OPT_PORT,
	XB_OPT_USER,
	XB_OPT_IDENTITY,
	XB_OPT_SSH_CONFIG,
	XB_OPT_SSH_OPTION,
	XB_OPT_JUMP,
	XB_OPT_HOST_KEY_CHECK,
	XB_OPT_KNOWN_HOSTS,
	XB_OPT_SERVER,
	XB_OPT_SSHD,
	XB_OPT_DROPBEAR_WINDOW,
	XB_OPT_CONNECT_TIMEOUT,
	XB_OPT_STALL_TIMEOUT,
	XB_OPT_CLIENT,
	XB_OPT_METHOD,
	XB_OPT_DIRECTION,
	XB_OPT_CIPHERS,
	XB_OPT_MACS,
	XB_OPT_COMPRESS,
	XB_OPT_STREAMS,
	XB_OPT_PAYLOAD,
	XB_OPT_REMOTE_FILE,
	XB_OPT_HANDSHAKE,
	XB_OPT_KEX,
	XB_OPT_HOST_KEY_ALGORITHMS,
	XB_OPT_TIME,
	XB_OPT_SIZE,
	XB_OPT_ROUNDS,
	XB_OPT_MAX_TIME,
	XB_OPT_SEED,
	XB_OPT_NO_PIN,
	XB_OPT_UNITS,
	XB_OPT_EXPORT_JSON,
	XB_OPT_QUIET,
	XB_OPT_VERBOSE,
	XB_OPT_HELP,
	XB_OPT_VERSION,
	XB_OPT_END, /* no option: one more than the last */
};

/* All options, in groups, as popt wants them. */
extern const struct poptOption xb_option_tables[];

/* Its long name, without the dashes. */
const char *xb_option_name(enum xb_option option);

/* The long names of all. */
void xb_option_names(struct xb_namelist *names);

/* The command of that name; false when there is none. */
bool xb_options_find_command(const char *name, enum xb_command *command);

/*
 * Refuses what the command, the host, or another option leaves without a use, and a time that no trial
 * can keep; given tells by enum xb_option what the command line has. Spells the list of --server as
 * the servers are named. False with err set (XB_FAULT_USAGE).
 */
bool xb_options_check(struct xb_options *options, const bool *given, struct xb_err *err);

#endif
