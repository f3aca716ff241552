#include "shells.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/err.h"
#include "scratch.h"

#define SHELL(...) ((const char *const[]){ __VA_ARGS__, NULL })

const char *const *const shells[] = {
	SHELL("sh"),
	SHELL("bash"),
	SHELL("dash"),
	SHELL("zsh"),
	SHELL("fish"),
	SHELL("tcsh"),
	SHELL("csh"),
	SHELL("ksh"),
	SHELL("mksh"),
	SHELL("yash"),
	SHELL("busybox", "sh"),
	NULL,
};

static void
write_profile(const char *name, const char *text)
{
	FILE *file = fopen(scratch_path(name), "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

int
shells_set_up(void **state)
{
	static const char bourne[] = "echo 17 messages\nprintf 'motd: '\n"
				     "printf 'warning: old' >&2\nsleep 0.05\n";

	if (scratch_set_up(state) != 0)
		return -1;
	setenv("HOME", scratch_dir(), 1);
	setenv("ZDOTDIR", scratch_dir(), 1);
	setenv("XDG_CONFIG_HOME", scratch_dir(), 1);
	setenv("BASH_ENV", scratch_path("profile"), 1);
	scratch_make_dir(scratch_path("fish"), 0700);
	write_profile("profile", bourne);
	write_profile(".zshenv", bourne);
	write_profile("fish/config.fish", bourne);
	write_profile(".cshrc",
	    "set echo\necho 17 messages\nprintf 'motd: '\nsh -c 'echo old >&2'\nsleep 0.05\n");
	return 0;
}

int
shells_tear_down(void **state)
{
	static const char *const names[] = { "HOME", "ZDOTDIR", "XDG_CONFIG_HOME", "BASH_ENV" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	return scratch_tear_down(state);
}

bool
shell_start(const char *const *shell, const char *command, struct shell_run *run)
{
	const char *argv[5] = { 0 };
	struct xb_err err = { 0 };
	struct xb_child_spec spec = { .argv = argv, .cpu = -1, .new_session = true };
	int in[2], out[2], error[2];
	char *program = xb_child_find_program(shell[0]);
	size_t n = 0;

	free(program);
	if (program == NULL)
		return false;
	while (shell[n] != NULL) {
		argv[n] = shell[n];
		n++;
	}
	argv[n] = "-c";
	argv[n + 1] = command;
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(error, O_CLOEXEC), 0);
	spec.stdin_fd = in[0];
	spec.stdout_fd = out[1];
	spec.stderr_fd = error[1];
	run->pid = xb_child_spawn(&spec, &err);
	if (run->pid < 0)
		fail_msg("%s: %s", shell[0], err.text);
	close(in[0]);
	close(out[1]);
	close(error[1]);
	run->in_fd = in[1];
	run->out_fd = out[0];
	run->err_fd = error[0];
	return true;
}

int
shell_finish(struct shell_run *run)
{
	int *const fds[] = { &run->in_fd, &run->out_fd, &run->err_fd };
	int status;

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
	return status;
}
