#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "base/text.h"
#include "target/private.h"
#include "target/private_tools.h"

#define KIND "dropbear"

/* A number that no descriptor of dropbear's ever has. */
#define NO_DESCRIPTOR "1000000"

/* dropbear's MAX_RECV_WINDOW (sysoptions.h); what is larger it would cut without failing. */
#define WINDOW_MAX (10 * 1024 * 1024)

/* Found by the dynamic linker wherever the system has it. */
#define WRAPPER "libnss_wrapper.so"

static const char *const log_noise[] = {
	"Child connection from *",
	"Exit * from <*>: Disconnect received",
	"Exit * from <*>: Exited normally",
	"Pubkey auth succeeded for *",
	NULL,
};

/* What one prepare finds out and makes. Strings are owned. */
struct setup {
	const struct xb_private_options *options;
	const char *program;
	struct xb_private_files *files;
	char help[XB_TOOL_OUTPUT]; /* of "dropbear -h" */
	char *user;
	char *shell;
	unsigned long uid, gid;
	char *home; /* private, with .ssh/authorized_keys in it */
	char *ssh_dir;
	bool wrapped; /* it sees the private home as the account's */
};

static bool
setup_init(struct setup *setup, const struct xb_private_options *options, const char *program,
    const char *user, struct xb_err *err)
{
	const struct passwd *pw = getpwnam(user);

	if (pw == NULL)
		return xb_fail(err, XB_FAULT_TARGET, "there is no account '%s' any more", user);
	setup->options = options;
	setup->program = program;
	setup->user = xb_strdup(user);
	/* An empty field means the Bourne shell, passwd(5). */
	setup->shell = xb_strdup(pw->pw_shell[0] != '\0' ? pw->pw_shell : "/bin/sh");
	setup->uid = pw->pw_uid;
	setup->gid = pw->pw_gid;
	setup->home = xb_rundir_file(options->dir, KIND "-home");
	setup->ssh_dir = xb_asprintf("%s/.ssh", setup->home);
	return true;
}

static void
setup_free(struct setup *setup)
{
	free(setup->user);
	free(setup->shell);
	free(setup->home);
	free(setup->ssh_dir);
}

/* True when this build has an option: what was compiled out is an error on the command line. */
static bool
has_option(const struct setup *setup, char letter)
{
	const char line[] = { '\n', '-', letter, '\0' };

	return strstr(setup->help, line) != NULL;
}

/* True when dropbear lets in an account with this shell. */
static bool
is_listed_shell(const char *shell)
{
	const char *listed;
	bool found = false;

	setusershell();
	while (!found && (listed = getusershell()) != NULL)
		found = strcmp(listed, shell) == 0;
	endusershell();
	return found;
}

static bool
write_text(const char *path, const char *text, struct xb_err *err)
{
	FILE *out = fopen(path, "we");
	bool ok = out != NULL && fputs(text, out) >= 0;

	if (out != NULL && fclose(out) != 0)
		ok = false;
	return ok || xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", path);
}

/* dropbear looks for authorized_keys below the home and trusts what belongs to the user. A home of
 * this run's own also keeps the user's profile out. */
static bool
make_home(const struct setup *setup, struct xb_err *err)
{
	char *public_key = xb_asprintf("%s.pub", setup->files->identity);
	char *keys = xb_asprintf("%s/authorized_keys", setup->ssh_dir);
	bool ok = mkdir(setup->home, 0700) == 0 && mkdir(setup->ssh_dir, 0700) == 0 &&
	    symlink(public_key, keys) == 0;

	if (!ok)
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot make %s", keys);
	free(keys);
	free(public_key);
	return ok;
}

/*
 * Writes the account's lines with the private home, passwd(5) and group(5), and the assignments that
 * make a program see them. False with err when they cannot be written.
 */
static bool
write_account(const struct setup *setup, struct xb_err *err)
{
	char *passwd = xb_rundir_file(setup->options->dir, KIND "-passwd");
	char *group = xb_rundir_file(setup->options->dir, KIND "-group");
	char *account = xb_asprintf("%s:x:%lu:%lu::%s:%s\n", setup->user, setup->uid, setup->gid,
	    setup->home, is_listed_shell(setup->shell) ? setup->shell : "/bin/sh");
	char *members = xb_asprintf("%s:x:%lu:\n", setup->user, setup->gid);
	char *see_passwd = xb_asprintf("NSS_WRAPPER_PASSWD=%s", passwd);
	char *see_group = xb_asprintf("NSS_WRAPPER_GROUP=%s", group);
	bool ok;

	xb_tool_append(&setup->files->env, "LD_PRELOAD=" WRAPPER);
	xb_tool_append(&setup->files->env, see_passwd);
	xb_tool_append(&setup->files->env, see_group);
	ok = write_text(passwd, account, err) && write_text(group, members, err);
	free(see_group);
	free(see_passwd);
	free(members);
	free(account);
	free(group);
	free(passwd);
	return ok;
}

/* Sees whether the wrapper is there and works, by a program that does nothing but ask. */
static bool
wrapper_works(const struct setup *setup)
{
	char *const *env = setup->files->env;
	const char *const argv[] = { "env", env[0], env[1], env[2], "getent", "passwd", setup->user,
		NULL };
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	char output[XB_TOOL_OUTPUT];

	return xb_tool_run(argv, output, &ignored) && strstr(output, setup->home) != NULL;
}

/* True when nobody else may write into the directory nor into any above it. */
static bool
is_closed(const char *dir)
{
	char *path = xb_strdup(dir);
	bool closed = true;
	struct stat st;

	while (closed && path[0] == '/') {
		closed = stat(path, &st) == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
		    (st.st_uid == 0 || st.st_uid == geteuid());
		*strrchr(path, '/') = '\0';
	}
	free(path);
	return closed;
}

/*
 * Lets dropbear find the key of this run and not the user's own files: by an account whose home is
 * the private one, which libnss-wrapper shows to this process alone; or else, from 2025.87 on, by -D,
 * which minds who may write into any directory above, and leaves the session in the user's home.
 */
static bool
arrange_login(struct setup *setup, struct xb_err *err)
{
	const bool fits = strpbrk(setup->home, ":\n") == NULL;

	if (!make_home(setup, err) || !write_account(setup, err))
		return false;
	setup->wrapped = fits && wrapper_works(setup);
	if (setup->wrapped)
		return true;
	xb_tool_free_strings(setup->files->env);
	setup->files->env = NULL;
	if (has_option(setup, 'D') && is_closed(setup->ssh_dir) && is_listed_shell(setup->shell))
		return true;
	if (!fits)
		return xb_fail(err, XB_FAULT_TARGET,
		    "dropbear needs a home for this run, whose path has a colon or a line end; set "
		    "TMPDIR to a plain path");
	return xb_fail(err, XB_FAULT_TARGET,
	    "dropbear reads authorized_keys from the home of '%s', which is left alone, and there "
	    "is no " WRAPPER " to give it another one for this run; install libnss-wrapper",
	    setup->user);
}

/* Writes the public half of a key, "ssh-ed25519 AAAA… COMMENT" among what dropbearkey says, as
 * KEY.pub, and notes it. */
static bool
note_hostkey(const struct setup *setup, const char *dropbearkey, const char *path,
    struct xb_err *err)
{
	const char *const argv[] = { dropbearkey, "-y", "-f", path, NULL };
	char output[XB_TOOL_OUTPUT];
	char *public_key, *line;
	bool ok;

	if (!xb_tool_run(argv, output, err))
		return false;
	line = strstr(output, "\nssh-");
	if (line == NULL)
		line = strstr(output, "\necdsa-");
	if (line == NULL)
		return xb_fail(err, XB_FAULT_TARGET, "%s shows no public key", dropbearkey);
	line[1 + strcspn(line + 1, "\n")] = '\0';
	public_key = xb_asprintf("%s.pub", path);
	ok = write_text(public_key, line + 1, err);
	xb_namelist_add_once(&setup->files->hostkeys, public_key);
	free(public_key);
	return ok;
}

/* One host key, in dropbear's own format. */
static bool
make_hostkey(const struct setup *setup, const char *dropbearkey, const struct xb_key_type *type,
    struct xb_err *err)
{
	char *path =
	    xb_asprintf("%s/" KIND "-host_key_%s", xb_rundir_path(setup->options->dir), type->name);
	const char *argv[] = { dropbearkey, "-t", type->name, "-f", path, NULL, NULL, NULL };
	char output[XB_TOOL_OUTPUT];
	bool ok;

	if (type->bits != NULL) {
		argv[5] = "-s";
		argv[6] = type->bits;
	}
	ok = xb_tool_run(argv, output, err) && note_hostkey(setup, dropbearkey, path, err);
	free(path);
	return ok;
}

static bool
make_hostkeys(const struct setup *setup, struct xb_err *err)
{
	const struct xb_namelist *made = &setup->files->hostkeys;
	char *dropbearkey = xb_tool_find(setup->program, "dropbearkey");
	struct xb_err why = { .fault = XB_FAULT_NONE };

	if (dropbearkey == NULL)
		return xb_fail(err, XB_FAULT_TARGET,
		    "a private dropbear needs dropbearkey, which is neither beside %s nor in PATH; "
		    "install dropbear-bin",
		    setup->program);
	for (size_t i = 0; i < xb_key_type_count; i++) {
		if (made->count == 0 || setup->options->every_hostkey)
			make_hostkey(setup, dropbearkey, &xb_key_types[i], &why);
	}
	free(dropbearkey);
	return made->count > 0 || xb_fail(err, why.fault, "%s", why.text);
}

/*
 * With -i dropbear insists on syslog, which is no place for a private server's lines: to inetd, stderr
 * is the socket. What it gives to itself when it starts itself anew for a connection does the same
 * without: -2 with the number of a descriptor to close after the login. That none is open does no harm.
 */
static bool
logs_to_stderr(const struct setup *setup)
{
	const char *const argv[] = { setup->program, "-E", "-2", NO_DESCRIPTOR, "-h", NULL };
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	char output[XB_TOOL_OUTPUT];

	return xb_tool_run(argv, output, &ignored);
}

static void
add_flag(const struct setup *setup, char letter)
{
	const char flag[] = { '-', letter, '\0' };

	if (has_option(setup, letter))
		xb_tool_append(&setup->files->argv, flag);
}

static void
make_argv(const struct setup *setup)
{
	struct xb_private_files *files = setup->files;
	char window[16];
	char *key;

	xb_tool_append(&files->argv, setup->program);
	if (logs_to_stderr(setup)) {
		xb_tool_append(&files->argv, "-E");
		xb_tool_append(&files->argv, "-2");
		xb_tool_append(&files->argv, NO_DESCRIPTOR);
	} else {
		xb_tool_append(&files->argv, "-i");
	}
	add_flag(setup, 'm'); /* no message of the day */
	add_flag(setup, 's'); /* no passwords */
	add_flag(setup, 'j'); /* no forwarding, either way */
	add_flag(setup, 'k');
	for (size_t i = 0; i < files->hostkeys.count; i++) {
		key = xb_tool_private_key(files->hostkeys.names[i]);
		xb_tool_append(&files->argv, "-r");
		xb_tool_append(&files->argv, key);
		free(key);
	}
	if (setup->options->window > 0) {
		snprintf(window, sizeof(window), "%u", setup->options->window);
		xb_tool_append(&files->argv, "-W");
		xb_tool_append(&files->argv, window);
	}
	if (!setup->wrapped) {
		xb_tool_append(&files->argv, "-D");
		xb_tool_append(&files->argv, setup->ssh_dir);
	}
}

static bool
prepare(const struct xb_private_options *options, const char *program, const char *user,
    struct xb_private_files *files, struct xb_err *err)
{
	const char *const ask_help[] = { program, "-h", NULL };
	struct setup setup = { .files = files };
	bool ok;

	if (options->window > WINDOW_MAX)
		return xb_fail(err, XB_FAULT_TARGET,
		    "dropbear's receive window is %d bytes at most, not %u", WINDOW_MAX,
		    options->window);
	xb_tool_name_files(files, options, KIND);
	ok = setup_init(&setup, options, program, user, err) &&
	    xb_tool_run(ask_help, setup.help, err) && xb_tool_make_identity(files, program, err) &&
	    arrange_login(&setup, err) && make_hostkeys(&setup, err);
	if (ok)
		make_argv(&setup);
	setup_free(&setup);
	return ok;
}

/* "[1234] Jan 31 12:34:56 ". */
static size_t
log_stamp(const char *line)
{
	int len = 0;

	/* Where the line is another, len stays what it is. */
	sscanf(line, "[%*d] %*3s %*d %*d:%*d:%*d %n", &len);
	return (size_t)len;
}

const struct xb_private_kind xb_private_dropbear = {
	.name = KIND,
	.program = "dropbear",
	.missing =
	    "no dropbear is installed to measure against on this machine; install dropbear-bin",
	.prepare = prepare,
	.log_noise = log_noise,
	.log_stamp = log_stamp,
};
