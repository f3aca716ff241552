#include "target/private_tools.h"

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

/* An RSA key takes a slow box some time. */
#define TOOL_TIMEOUT_NS (20 * XB_NS_PER_SECOND)

static const char *const tool_dirs[] = { "../bin", ".", NULL };

const struct xb_key_type xb_key_types[] = {
	{ "ed25519", NULL },
	{ "ecdsa", NULL },
	{ "rsa", "3072" },
};

const size_t xb_key_type_count = sizeof(xb_key_types) / sizeof(xb_key_types[0]);

bool
xb_tool_run(const char *const *argv, char *out, struct xb_err *err)
{
	char reason[300];
	int status;

	if (!xb_child_capture(argv, TOOL_TIMEOUT_NS, out, XB_TOOL_OUTPUT, &status, err))
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	xb_text_printable(reason, sizeof(reason), out, strlen(out));
	return xb_fail(err, XB_FAULT_TARGET, "%s fails: %s", argv[0],
	    reason[0] != '\0' ? reason : "it gives no reason");
}

char *
xb_tool_beside(const char *server, const char *const *dirs, const char *name)
{
	char *real = realpath(server, NULL);
	char *found = NULL;
	char *path, *slash, *dir;

	slash = real != NULL ? strrchr(real, '/') : NULL;
	if (slash != NULL)
		*slash = '\0';
	for (; slash != NULL && found == NULL && *dirs != NULL; dirs++) {
		path = xb_asprintf("%s/%s", real, *dirs);
		/* The directory alone: one file may be many tools, by the name of the link to it. */
		dir = realpath(path, NULL);
		free(path);
		if (dir == NULL)
			continue;
		path = xb_asprintf("%s/%s", dir, name);
		found = xb_child_find_program(path);
		free(path);
		free(dir);
	}
	free(real);
	return found;
}

char *
xb_tool_find(const char *server, const char *name)
{
	char *found = xb_tool_beside(server, tool_dirs, name);

	return found != NULL ? found : xb_child_find_program(name);
}

void
xb_tool_append(char ***strings, const char *text)
{
	size_t count = 0;

	while (*strings != NULL && (*strings)[count] != NULL)
		count++;
	*strings = xb_reallocarray(*strings, count + 2, sizeof(**strings));
	(*strings)[count] = xb_strdup(text);
	(*strings)[count + 1] = NULL;
}

void
xb_tool_free_strings(char **strings)
{
	for (size_t i = 0; strings != NULL && strings[i] != NULL; i++)
		free(strings[i]);
	free(strings);
}

char *
xb_tool_private_key(const char *public_key)
{
	return xb_strndup(public_key, strlen(public_key) - strlen(".pub"));
}

static char *
name_file(const struct xb_private_options *options, const char *kind, const char *what)
{
	return xb_asprintf("%s/%s-%s", xb_rundir_path(options->dir), kind, what);
}

void
xb_tool_name_files(struct xb_private_files *files, const struct xb_private_options *options,
    const char *kind)
{
	files->identity = name_file(options, kind, "user_key");
	files->known_hosts = name_file(options, kind, "known_hosts");
	files->log = name_file(options, kind, "log");
}

/* ssh-keygen; NULL with err that tells what to install. */
static char *
find_keygen(const char *server, struct xb_err *err)
{
	char *keygen = xb_tool_find(server, "ssh-keygen");

	if (keygen == NULL)
		xb_fail(err, XB_FAULT_TARGET,
		    "a private SSH server needs ssh-keygen, which is neither beside %s nor in "
		    "PATH; install openssh-client",
		    server);
	return keygen;
}

static bool
make_key(const char *keygen, const struct xb_key_type *type, const char *path, struct xb_err *err)
{
	const char *argv[16] = { keygen, "-q", "-N", "", "-C", "xferbench", "-t", type->name };
	char output[XB_TOOL_OUTPUT];
	size_t count = 8;

	if (type->bits != NULL) {
		argv[count++] = "-b";
		argv[count++] = type->bits;
	}
	argv[count++] = "-f";
	argv[count++] = path;
	return xb_tool_run(argv, output, err);
}

bool
xb_tool_make_identity(const struct xb_private_files *files, const char *server, struct xb_err *err)
{
	char *keygen = find_keygen(server, err);
	struct xb_err why = { .fault = XB_FAULT_NONE };
	bool ok = false;

	if (keygen == NULL)
		return false;
	for (size_t i = 0; !ok && i < xb_key_type_count; i++)
		ok = make_key(keygen, &xb_key_types[i], files->identity, &why);
	free(keygen);
	return ok || xb_fail(err, why.fault, "%s", why.text);
}

bool
xb_tool_make_hostkeys(struct xb_private_files *files, const struct xb_private_options *options,
    const char *kind, const char *server, struct xb_err *err)
{
	char *keygen = find_keygen(server, err);
	struct xb_err why = { .fault = XB_FAULT_NONE };
	char *path, *public_key;

	if (keygen == NULL)
		return false;
	for (size_t i = 0; i < xb_key_type_count; i++) {
		if (files->hostkeys.count > 0 && !options->every_hostkey)
			break;
		path = xb_asprintf("%s/%s-host_key_%s", xb_rundir_path(options->dir), kind,
		    xb_key_types[i].name);
		if (make_key(keygen, &xb_key_types[i], path, &why)) {
			public_key = xb_asprintf("%s.pub", path);
			xb_namelist_add_once(&files->hostkeys, public_key);
			free(public_key);
		}
		free(path);
	}
	free(keygen);
	return files->hostkeys.count > 0 || xb_fail(err, why.fault, "%s", why.text);
}
