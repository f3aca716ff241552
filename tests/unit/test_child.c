#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"

/* Far from what any of these programs takes; ends a test that hangs. */
#define LONG_NS (60 * XB_NS_PER_SECOND)

#define ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

static int
wait_for(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
capture_ok(const char *const *argv, char *out, size_t size)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	int status = -1;

	if (!xb_child_capture(argv, LONG_NS, out, size, &status, &err))
		fail_msg("%s", err.text);
	assert_int_equal(status, 0);
}

static void
missing_program_is_told_by_name(void **state)
{
	const struct xb_child_spec spec = {
		.argv = ARGV("xferbench-no-such-program", "-x"),
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cpu = -1,
	};
	const struct xb_child_spec with_path = {
		.argv = ARGV("/no/such/program"),
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cpu = -1,
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };

	(void)state;
	assert_int_equal(xb_child_spawn(&spec, &err), -1);
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	assert_non_null(strstr(err.text, "'xferbench-no-such-program'"));
	assert_non_null(strstr(err.text, "install it"));
	err = (struct xb_err){ .fault = XB_FAULT_NONE };
	assert_int_equal(xb_child_spawn(&with_path, &err), -1);
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	assert_non_null(strstr(err.text, "'/no/such/program': No such file or directory"));
	/* Nothing of either is left to wait for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void
file_that_is_no_program_is_told(void **state)
{
	char path[] = "/tmp/xb-test-child-XXXXXX";
	const int fd = mkstemp(path);
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char out[64];
	int status;

	(void)state;
	assert_true(fd >= 0);
	assert_false(xb_child_capture(ARGV(path), LONG_NS, out, sizeof(out), &status, &err));
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, "Permission denied; it must be executable"));
	err = (struct xb_err){ .fault = XB_FAULT_NONE };
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	assert_false(xb_child_capture(ARGV(path), LONG_NS, out, sizeof(out), &status, &err));
	assert_non_null(strstr(err.text, "Exec format error"));
	unlink(path);
}

static void
one_socket_serves_as_input_and_output(void **state)
{
	struct xb_child_spec spec = { .argv = ARGV("cat"), .stderr_fd = -1, .cpu = -1 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char back[16];
	int fds[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	spec.stdin_fd = fds[1];
	spec.stdout_fd = fds[1];
	pid = xb_child_spawn(&spec, &err);
	assert_true(pid > 0);
	close(fds[1]);
	assert_int_equal(xb_write_all(fds[0], "there and back", 14), 14);
	assert_int_equal(shutdown(fds[0], SHUT_WR), 0);
	assert_int_equal(xb_read_all(fds[0], back, sizeof(back)), 14);
	assert_memory_equal(back, "there and back", 14);
	close(fds[0]);
	assert_int_equal(wait_for(pid), 0);
}

/* In a process of its own: gives a program its standard descriptors crossed over. */
static void __attribute__((noreturn)) cross_over(int out_fd, int err_fd)
{
	const struct xb_child_spec spec = {
		.argv = ARGV("sh", "-c", "echo out; echo err >&2"),
		.stdin_fd = -1,
		.stdout_fd = 2,
		.stderr_fd = 1,
		.cpu = -1,
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };
	pid_t pid;

	dup2(out_fd, 2);
	dup2(err_fd, 1);
	/* The error pipe then gets a number that the program's input needs. */
	close(0);
	pid = xb_child_spawn(&spec, &err);
	_exit(pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : 1);
}

static void
descriptors_can_be_crossed_over(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	int out[2], errors[2];
	char text[16] = "";
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(errors, O_CLOEXEC), 0);
	pid = xb_child_fork(&err);
	if (pid == 0)
		cross_over(out[1], errors[1]);
	assert_true(pid > 0);
	close(out[1]);
	close(errors[1]);
	assert_int_equal(wait_for(pid), 0);
	assert_int_equal(xb_read_all(out[0], text, sizeof(text)), 4);
	assert_memory_equal(text, "out\n", 4);
	assert_int_equal(xb_read_all(errors[0], text, sizeof(text)), 4);
	assert_memory_equal(text, "err\n", 4);
	close(out[0]);
	close(errors[0]);
}

static void
other_descriptors_are_closed_on_exec(void **state)
{
	char out[256];
	const int fd = fcntl(1, F_DUPFD, 77); /* not close-on-exec */

	(void)state;
	assert_true(fd >= 77);
	capture_ok(ARGV("sh", "-c", "for f in /proc/$$/fd/*; do echo ${f##*/}; done"), out,
	    sizeof(out));
	close(fd);
	assert_null(strstr(out, "77"));
	assert_non_null(strstr(out, "0\n1\n2\n"));
}

static void
signal_mask_and_dispositions_are_reset(void **state)
{
	char out[512];
	void (*old_usr)(int) = signal(SIGUSR1, SIG_IGN);
	void (*old_pipe)(int) = signal(SIGPIPE, SIG_IGN);
	void (*old_hup)(int) = signal(SIGHUP, SIG_DFL);
	sigset_t term, old;
	const char *ignored;

	(void)state;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	capture_ok(ARGV("grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"), out, sizeof(out));
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGUSR1, old_usr);
	signal(SIGPIPE, old_pipe);
	signal(SIGHUP, old_hup);
	ignored = strstr(out, "SigIgn:\t");
	assert_non_null(ignored);
	/* 32 and 33 are the C library's own: posix_spawn(3), of make for one, leaves them ignored. */
	assert_int_equal(strtoull(ignored + strlen("SigIgn:\t"), NULL, 16) & ~0x180000000ULL, 0);
	assert_int_equal(strncmp(out, "SigBlk:\t0000000000000000\n", 24), 0);
}

static void
new_session_is_out_of_our_group(void **state)
{
	struct xb_child_spec spec = {
		.argv = ARGV("sleep", "1000"),
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cpu = -1,
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };
	pid_t pid = xb_child_spawn(&spec, &err);

	(void)state;
	assert_true(pid > 0);
	assert_int_equal(getsid(pid), getsid(0));
	assert_int_equal(getpgid(pid), getpgid(0));
	kill(pid, SIGKILL);
	wait_for(pid);
	spec.new_session = true;
	pid = xb_child_spawn(&spec, &err);
	assert_true(pid > 0);
	assert_int_equal(getsid(pid), pid);
	kill(pid, SIGKILL);
	wait_for(pid);
}

static void
environment_is_ours_or_the_given_one(void **state)
{
	static const char *const environment[] = { "XB_TEST_GIVEN=yes", NULL };
	struct xb_child_spec spec = {
		.argv = ARGV("sh", "-c", "echo \"$XB_TEST_OURS,$XB_TEST_GIVEN\""),
		.stdin_fd = -1,
		.stderr_fd = -1,
		.cpu = -1,
	};
	static const char expected[] = "ours,\n,yes\n";
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char text[32];
	int fds[2];

	(void)state;
	assert_int_equal(setenv("XB_TEST_OURS", "ours", 1), 0);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	spec.stdout_fd = fds[1];
	assert_int_equal(wait_for(xb_child_spawn(&spec, &err)), 0);
	spec.envp = environment;
	assert_int_equal(wait_for(xb_child_spawn(&spec, &err)), 0);
	close(fds[1]);
	assert_int_equal(xb_read_all(fds[0], text, sizeof(text)), strlen(expected));
	assert_memory_equal(text, expected, strlen(expected));
	close(fds[0]);
	unsetenv("XB_TEST_OURS");
}

static void
program_runs_on_the_cpu_it_is_given(void **state)
{
	struct xb_child_spec spec = {
		.argv = ARGV("grep", "Cpus_allowed_list", "/proc/self/status"),
		.stdin_fd = -1,
		.stderr_fd = -1,
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char text[128] = "", expected[64];
	cpu_set_t allowed;
	int fds[2];

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (spec.cpu = CPU_SETSIZE - 1; !CPU_ISSET(spec.cpu, &allowed);)
		spec.cpu--;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	spec.stdout_fd = fds[1];
	assert_int_equal(wait_for(xb_child_spawn(&spec, &err)), 0);
	assert_true(xb_read_all(fds[0], text, 20) > 0);
	snprintf(expected, sizeof(expected), "Cpus_allowed_list:\t%d", spec.cpu);
	assert_memory_equal(text, expected, strlen(expected));
	/* No machine has this one. */
	spec.cpu = 8191;
	assert_int_equal(xb_child_spawn(&spec, &err), -1);
	assert_non_null(strstr(err.text, "cannot run 'grep' on CPU 8191"));
	assert_non_null(strstr(err.text, "--no-pin"));
	close(fds[0]);
	close(fds[1]);
}

/* Starts a parent that starts a process, kills the parent, and returns how the process ended. */
static int
status_after_death_of_parent(bool program)
{
	const struct xb_child_spec spec = {
		.argv = ARGV("sleep", "1000"),
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cpu = -1,
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };
	pid_t parent, child = -1;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	parent = fork();
	assert_true(parent >= 0);
	if (parent == 0) {
		child = program ? xb_child_spawn(&spec, &err) : xb_child_fork(&err);
		/* A worker speaks for itself: from then on its life hangs on the parent's. */
		if (!program && child == 0)
			child = getpid();
		if (program || child == getpid())
			xb_write_all(fds[1], &child, sizeof(child));
		for (;;)
			pause();
	}
	assert_int_equal(xb_read_all(fds[0], &child, sizeof(child)), sizeof(child));
	close(fds[0]);
	close(fds[1]);
	assert_true(child > 0);
	kill(parent, SIGKILL);
	wait_for(parent);
	return wait_for(child);
}

static void
death_of_the_parent_kills_its_programs_and_workers(void **state)
{
	int status;

	(void)state;
	status = status_after_death_of_parent(true);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	status = status_after_death_of_parent(false);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void
worker_ignores_what_is_meant_for_its_parent(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	const pid_t pid = xb_child_fork(&err);
	int status;

	(void)state;
	if (pid == 0) {
		raise(SIGINT);
		raise(SIGTERM);
		raise(SIGHUP);
		_exit(7);
	}
	assert_true(pid > 0);
	status = wait_for(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void
wait_status_is_put_into_words(void **state)
{
	char text[64];
	pid_t pid;

	(void)state;
	xb_child_status_text(text, sizeof(text), 3 << 8);
	assert_string_equal(text, "exit status 3");
	pid = fork();
	if (pid == 0) {
		raise(SIGKILL);
		_exit(0);
	}
	xb_child_status_text(text, sizeof(text), wait_for(pid));
	assert_string_equal(text, "signal 9 (Killed)");
}

static void
programs_are_found_by_absolute_path(void **state)
{
	char *old_path = strdup(getenv("PATH"));
	char *found;

	(void)state;
	found = xb_child_find_program("sh");
	assert_non_null(found);
	assert_int_equal(found[0], '/');
	assert_int_equal(access(found, X_OK), 0);
	free(found);
	assert_null(xb_child_find_program("xferbench-no-such-program"));
	assert_null(xb_child_find_program(""));
	assert_null(xb_child_find_program("/"));
	assert_null(xb_child_find_program("/etc/passwd"));
	assert_null(xb_child_find_program("/no/such/program"));
	found = xb_child_find_program("/bin/sh");
	assert_string_equal(found, "/bin/sh");
	free(found);
	/* Services' directories count although they are not in PATH. */
	assert_int_equal(setenv("PATH", "/no/such/dir", 1), 0);
	assert_null(xb_child_find_program("xferbench-no-such-program"));
	found = xb_child_find_program("ldconfig");
	assert_non_null(found);
	assert_non_null(strstr(found, "sbin/ldconfig"));
	free(found);
	assert_int_equal(setenv("PATH", old_path, 1), 0);
	free(old_path);
}

static void
relative_path_becomes_absolute(void **state)
{
	char dir[] = "/tmp/xb-test-child-XXXXXX";
	char expected[128], old_cwd[4096];
	char *old_path = strdup(getenv("PATH"));
	char *found;

	(void)state;
	assert_non_null(getcwd(old_cwd, sizeof(old_cwd)));
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(symlink("/bin/sh", "tool"), 0);
	snprintf(expected, sizeof(expected), "%s/./tool", dir);
	found = xb_child_find_program("./tool");
	assert_string_equal(found, expected);
	free(found);
	/* As everywhere, an empty part of PATH is the current directory. */
	assert_int_equal(setenv("PATH", "/no/such/dir::/nor/this", 1), 0);
	snprintf(expected, sizeof(expected), "%s/tool", dir);
	found = xb_child_find_program("tool");
	assert_string_equal(found, expected);
	free(found);
	assert_int_equal(setenv("PATH", old_path, 1), 0);
	free(old_path);
	unlink("tool");
	assert_int_equal(chdir(old_cwd), 0);
	rmdir(dir);
}

static void
reading_stops_at_end_of_file(void **state)
{
	char text[16];
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(xb_write_all(fds[1], "12345", 5), 5);
	assert_int_equal(xb_read_all(fds[0], text, 3), 3);
	close(fds[1]);
	assert_int_equal(xb_read_all(fds[0], text, sizeof(text)), 2);
	assert_int_equal(xb_read_all(fds[0], text, sizeof(text)), 0);
	close(fds[0]);
	assert_int_equal(xb_read_all(fds[0], text, sizeof(text)), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(xb_write_all(fds[1], "x", 1), -1);
}

static int
become_subreaper(void **state)
{
	(void)state;
	alarm(100);
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_program_is_told_by_name),
		cmocka_unit_test(file_that_is_no_program_is_told),
		cmocka_unit_test(one_socket_serves_as_input_and_output),
		cmocka_unit_test(descriptors_can_be_crossed_over),
		cmocka_unit_test(other_descriptors_are_closed_on_exec),
		cmocka_unit_test(signal_mask_and_dispositions_are_reset),
		cmocka_unit_test(new_session_is_out_of_our_group),
		cmocka_unit_test(environment_is_ours_or_the_given_one),
		cmocka_unit_test(program_runs_on_the_cpu_it_is_given),
		cmocka_unit_test(death_of_the_parent_kills_its_programs_and_workers),
		cmocka_unit_test(worker_ignores_what_is_meant_for_its_parent),
		cmocka_unit_test(wait_status_is_put_into_words),
		cmocka_unit_test(programs_are_found_by_absolute_path),
		cmocka_unit_test(relative_path_becomes_absolute),
		cmocka_unit_test(reading_stops_at_end_of_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, become_subreaper, NULL);
}
