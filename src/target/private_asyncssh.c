#include "target/private_asyncssh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "base/text.h"
#include "target/private.h"
#include "target/private_tools.h"

#define KIND "asyncssh"

/* Debian's packages are for this one, whatever python3 comes first in PATH. */
#define PYTHON "/usr/bin/python3"

/* Loading asyncssh for the first time, from a disk. */
#define CHECK_TIMEOUT_NS (20 * XB_NS_PER_SECOND)

/* More than the program lacks. */
#define LACKS_MAX 400

static bool
write_program(const char *path, struct xb_err *err)
{
	FILE *out = fopen(path, "we");
	bool ok = out != NULL;

	for (const char *const *line = xb_asyncssh_program; ok && *line != NULL; line++)
		ok = fputs(*line, out) >= 0;
	if (out != NULL && fclose(out) != 0)
		ok = false;
	return ok || xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", path);
}

/* Python without the user's own modules and variables, which leaves no compiled files behind and keeps
 * its warnings of old ciphers to itself. */
static void
add_python(char ***argv, const char *python, const char *script)
{
	xb_tool_append(argv, python);
	xb_tool_append(argv, "-I");
	xb_tool_append(argv, "-B");
	xb_tool_append(argv, "-W");
	xb_tool_append(argv, "ignore");
	xb_tool_append(argv, script);
}

/* Asks the program whether it can work here; what it says then is what it lacks. */
static bool
check(const char *python, const char *script, struct xb_private_files *files, struct xb_err *err)
{
	char output[XB_TOOL_OUTPUT], said[LACKS_MAX];
	char **argv = NULL;
	int status;
	bool ok;

	add_python(&argv, python, script);
	xb_tool_append(&argv, "check");
	ok = xb_child_capture((const char *const *)argv, CHECK_TIMEOUT_NS, output, sizeof(output),
	    &status, err);
	xb_tool_free_strings(argv);
	if (!ok)
		return false;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		xb_text_last_line(said, sizeof(said), output, strlen(output));
		return xb_fail(err, XB_FAULT_TARGET,
		    "the private asyncssh server does not start: %s",
		    said[0] != '\0' ? said : "it gives no reason");
	}
	xb_text_printable(said, sizeof(said), output, strlen(output));
	if (said[0] != '\0')
		files->lacks = xb_strdup(said);
	return true;
}

static void
make_argv(const struct xb_private_options *options, const char *python, const char *script,
    const char *user, struct xb_private_files *files)
{
	char *public_key = xb_asprintf("%s.pub", files->identity);
	char *key;

	add_python(&files->argv, python, script);
	xb_tool_append(&files->argv, "serve");
	xb_tool_append(&files->argv, user);
	xb_tool_append(&files->argv, public_key);
	xb_tool_append(&files->argv, xb_rundir_path(options->dir));
	for (size_t i = 0; i < files->hostkeys.count; i++) {
		key = xb_tool_private_key(files->hostkeys.names[i]);
		xb_tool_append(&files->argv, key);
		free(key);
	}
	free(public_key);
}

static bool
prepare(const struct xb_private_options *options, const char *program, const char *user,
    struct xb_private_files *files, struct xb_err *err)
{
	char *script = xb_rundir_file(options->dir, KIND "-server.py");
	bool ok;

	xb_tool_name_files(files, options, KIND);
	ok = write_program(script, err) && check(program, script, files, err) &&
	    xb_tool_make_hostkeys(files, options, KIND, program, err) &&
	    xb_tool_make_identity(files, program, err);
	if (ok)
		make_argv(options, program, script, user, files);
	free(script);
	return ok;
}

const struct xb_private_kind xb_private_asyncssh = {
	.name = KIND,
	.program = PYTHON,
	.missing = "there is no " PYTHON " for a private asyncssh server; install python3-asyncssh",
	.prepare = prepare,
};
