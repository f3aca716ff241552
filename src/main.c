#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/err.h"
#include "base/signals.h"
#include "bench/primitive.h"
#include "commands.h"
#include "options.h"
#include "versions.h"

/* A standard descriptor that is closed must not become a file of ours; this one refuses writing. */
static void
occupy_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/*
 * Whether the file gives whoever starts us rights that are not theirs: set-user-ID, set-group-ID,
 * or capabilities, which no identity shows. They choose what runs here, and what it sees.
 */
static bool
borrows_rights(void)
{
	return getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid();
}

static void
print_version(void)
{
	struct xb_namelist names = { 0 };
	size_t i;

	xb_versions(&names);
	xb_features(&names);
	for (i = 0; i < names.count; i++)
		printf("%s%s\n", i > 0 ? "  " : "", names.names[i]);
	xb_namelist_free(&names);
}

static bool
dispatch(const struct xb_options *options, int *code, struct xb_err *err)
{
	static bool (*const commands[])(const struct xb_options *, int *, struct xb_err *) = {
		[XB_COMMAND_RUN] = xb_command_run,
		[XB_COMMAND_RAW] = xb_command_raw,
		[XB_COMMAND_LIST] = xb_command_list,
	};

	/* Before any SSH library starts, so that it has the old ciphers as well. */
	xb_primitive_load_legacy();
	if (options->help)
		xb_options_help(stdout);
	else if (options->version)
		print_version();
	else
		return commands[options->command](options, code, err);
	return true;
}

/* The one place that owns exit codes. */
static int
exit_code(enum xb_fault fault, int code)
{
	switch (fault) {
	case XB_FAULT_NONE:
		return code;
	case XB_FAULT_TRIAL:
		return 1;
	case XB_FAULT_USAGE:
		return 2;
	case XB_FAULT_TARGET:
		return 3;
	case XB_FAULT_SYSTEM:
	case XB_FAULT_SIGNAL:
		break;
	}
	return 4;
}

int
main(int argc, const char **argv)
{
	struct xb_options options;
	struct xb_err err = { 0 };
	int code = 0, signo;

	if (borrows_rights()) {
		fputs("xferbench: refuses to run setuid, setgid or with file capabilities\n",
		    stderr);
		return 2;
	}
	setlocale(LC_CTYPE, "");
	occupy_standard_descriptors();
	xb_signals_init();
	if (xb_options_parse(&options, argc, argv, &err))
		dispatch(&options, &code, &err);
	xb_options_free(&options);
	if (fflush(stdout) != 0 || ferror(stdout))
		xb_fail_errno(&err, XB_FAULT_SYSTEM, "cannot write to stdout");
	signo = xb_signals_pending();
	if (err.fault != XB_FAULT_NONE && err.fault != XB_FAULT_SIGNAL && signo != SIGPIPE)
		fprintf(stderr, "xferbench: %s\n", err.text);
	if (signo != 0)
		xb_signals_raise(signo);
	return exit_code(err.fault, code);
}
