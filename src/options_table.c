#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "model/namelist.h"
#include "options.h"
#include "options_parts.h"

#define ROW(name, letter, value, help, argument) \
	{ \
		.longName = (name), .shortName = (letter), \
		.argInfo = (argument) != NULL ? POPT_ARG_STRING : POPT_ARG_NONE, .val = (value), \
		.descrip = (help), .argDescrip = (argument), \
	}

static const struct poptOption target_table[] = {
	ROW("host", '\0', XB_OPT_HOST, "[USER@]HOST[:PORT]; none: a private server", "HOST"),
	ROW("port", 'p', XB_OPT_PORT, "port of the host (22)", "PORT"),
	ROW("user", 'l', XB_OPT_USER, "login name", "USER"),
	ROW("identity", 'i', XB_OPT_IDENTITY, "private key file; may be repeated", "FILE"),
	ROW("ssh-config", 'F', XB_OPT_SSH_CONFIG, "instead of ~/.ssh/config and the system's",
	    "FILE"),
	ROW("ssh-option", 'o', XB_OPT_SSH_OPTION, "KEY=VALUE of ssh_config(5); repeatable",
	    "OPTION"),
	ROW("jump", 'J', XB_OPT_JUMP, "hosts to jump through, as ssh -J", "LIST"),
	ROW("host-key-check", '\0', XB_OPT_HOST_KEY_CHECK, "strict, accept-new or off (strict)",
	    "HOW"),
	ROW("known-hosts", '\0', XB_OPT_KNOWN_HOSTS, "instead of ~/.ssh/known_hosts", "FILE"),
	ROW("server", '\0', XB_OPT_SERVER, "openssh, dropbear, asyncssh (openssh)", "LIST"),
	ROW("sshd", '\0', XB_OPT_SSHD, "program of the private openssh server", "PATH"),
	ROW("dropbear-window", '\0', XB_OPT_DROPBEAR_WINDOW, "its receive window (its own)",
	    "SIZE"),
	ROW("connect-timeout", '\0', XB_OPT_CONNECT_TIMEOUT, "for each login step (10s)", "TIME"),
	ROW("stall-timeout", '\0', XB_OPT_STALL_TIMEOUT, "without any progress (10s)", "TIME"),
	POPT_TABLEEND,
};

static const struct poptOption what_table[] = {
	ROW("client", '\0', XB_OPT_CLIENT,
	    "openssh, libssh2, libssh, tcp, null or all (the first two)", "LIST"),
	ROW("method", '\0', XB_OPT_METHOD, "auto or exec, scp, sftp (auto)", "LIST"),
	ROW("direction", '\0', XB_OPT_DIRECTION, "upload, download, both (upload)", "LIST"),
	ROW("ciphers", 'c', XB_OPT_CIPHERS, "names, globs, 'all' (the sound ones)", "LIST"),
	ROW("macs", 'm', XB_OPT_MACS, "likewise (hmac-sha2-256)", "LIST"),
	ROW("compress", '\0', XB_OPT_COMPRESS, "none, zlib (none)", "LIST"),
	ROW("streams", '\0', XB_OPT_STREAMS, "sessions at once, such as 1,2,4 (1)", "LIST"),
	ROW("payload", '\0', XB_OPT_PAYLOAD, "sparse, random, text:PERCENT, a file", "WHAT"),
	ROW("remote-file", '\0', XB_OPT_REMOTE_FILE, "file on the host to download", "PATH"),
	POPT_TABLEEND,
};

static const struct poptOption login_table[] = {
	ROW("handshake", '\0', XB_OPT_HANDSHAKE, "logins of each kind, without a stream", "N"),
	ROW("kex", '\0', XB_OPT_KEX, "key exchanges: names, globs, 'all'", "LIST"),
	ROW("host-key-algorithms", '\0', XB_OPT_HOST_KEY_ALGORITHMS, "likewise", "LIST"),
	POPT_TABLEEND,
};

static const struct poptOption much_table[] = {
	ROW("time", 't', XB_OPT_TIME, "of a trial (1s), of a figure of raw (50ms)", "TIME"),
	ROW("size", 's', XB_OPT_SIZE, "bytes of a trial, such as 1GiB", "SIZE"),
	ROW("rounds", 'r', XB_OPT_ROUNDS, "visits to each case (6)", "N"),
	ROW("max-time", '\0', XB_OPT_MAX_TIME, "end the run after that", "TIME"),
	ROW("seed", '\0', XB_OPT_SEED, "of the random order", "N"),
	ROW("no-pin", '\0', XB_OPT_NO_PIN, "do not pin the two ends to CPUs", NULL),
	POPT_TABLEEND,
};

static const struct poptOption output_table[] = {
	ROW("units", 'u', XB_OPT_UNITS, "MB, MiB or Mbit (MB)", "UNIT"),
	ROW("export-json", '\0', XB_OPT_EXPORT_JSON, "write the result, too; - is stdout", "FILE"),
	ROW("quiet", 'q', XB_OPT_QUIET, "the table alone, no progress", NULL),
	ROW("verbose", 'v', XB_OPT_VERBOSE, "ranges, logins, CPU, the harness", NULL),
	ROW("help", 'h', XB_OPT_HELP, "this text", NULL),
	ROW("version", 'V', XB_OPT_VERSION, "versions of program and libraries", NULL),
	POPT_TABLEEND,
};

/* popt does not change its tables, though its type says so. */
#define GROUP(table, title) \
	{ \
		.argInfo = POPT_ARG_INCLUDE_TABLE, .arg = (void *)(uintptr_t)(table), \
		.descrip = (title), \
	}

const struct poptOption xb_option_tables[] = {
	GROUP(target_table, "Target:"),
	GROUP(what_table, "What to measure (LIST: comma-separated):"),
	GROUP(login_table, "Logins instead of streams:"),
	GROUP(much_table, "How much (TIME: 250ms, 1s, 2m; SIZE: 500M, 1GiB):"),
	GROUP(output_table, "Output:"),
	POPT_TABLEEND,
};

/* The row of an option, by its number; NULL past the last. */
static const struct poptOption *
row(size_t number)
{
	const struct poptOption *group = xb_option_tables, *option;

	for (; group->arg != NULL; group++)
		for (option = group->arg; option->longName != NULL; option++)
			if (number-- == 0)
				return option;
	return NULL;
}

const char *
xb_option_name(enum xb_option option)
{
	const struct poptOption *at;

	for (size_t i = 0; (at = row(i)) != NULL; i++)
		if (at->val == (int)option)
			return at->longName;
	return "?";
}

void
xb_option_names(struct xb_namelist *names)
{
	const struct poptOption *at;

	for (size_t i = 0; (at = row(i)) != NULL; i++)
		xb_namelist_add(names, at->longName, strlen(at->longName));
}

void
xb_options_help(FILE *out)
{
	static const char *argv[] = { "xferbench", NULL };
	poptContext context = poptGetContext("xferbench", 1, argv, xb_option_tables, 0);

	fputs("MB/s of SSH transfers, per cipher and client, beside the raw speed of the same\n"
	      "primitives.\n\n"
	      "  xferbench [run] [OPTION...] [HOST]   the benchmark; no HOST: a private server\n"
	      "  xferbench raw   [OPTION...]          primitives alone, no network\n"
	      "  xferbench list  [OPTION...] [HOST]   what clients and server have\n\n",
	    out);
	poptSetOtherOptionHelp(context, "[run|raw|list] [OPTION...] [HOST]");
	poptPrintHelp(context, out, 0);
	poptFreeContext(context);
	fputs("\nExit codes: 0 all measured, 1 some case has no rate, 2 usage, 3 target not\n"
	      "reached or login refused, 4 this system, 128 + signal. More: man xferbench\n",
	    out);
}
