#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/err.h"
#include "base/rundir.h"
#include "scratch.h"

/* A run that comes and goes; its sweep is what counts. */
static void
sweep(void)
{
	xb_rundir_free(scratch_new_run());
}

/*
 * A run in a process of its own. Sends the path of its directory; with a worker, that is what lives
 * on, until the pipe that it reads from is closed.
 */
struct run {
	pid_t pid;
	char path[256];
	int keep_fd;
};

static void __attribute__((noreturn)) run_main(int path_fd, int keep_fd, bool worker)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_rundir *dir = xb_rundir_new(&err);
	char path[256] = "", byte;

	if (dir == NULL)
		_exit(1);
	snprintf(path, sizeof(path), "%s", xb_rundir_path(dir));
	/* A plain fork, since death of the parent would kill one of xb_child_fork. */
	if (worker && fork() != 0) {
		for (;;)
			pause();
	}
	xb_write_all(path_fd, path, sizeof(path));
	xb_read_all(keep_fd, &byte, 1);
	_exit(0);
}

static struct run
start_run(bool worker)
{
	struct run run = { .keep_fd = -1 };
	int path_fds[2], keep_fds[2];

	assert_int_equal(pipe2(path_fds, O_CLOEXEC), 0);
	assert_int_equal(pipe2(keep_fds, O_CLOEXEC), 0);
	run.pid = fork();
	assert_true(run.pid >= 0);
	if (run.pid == 0) {
		alarm(60);
		close(keep_fds[1]);
		close(path_fds[0]);
		run_main(path_fds[1], keep_fds[0], worker);
	}
	close(path_fds[1]);
	close(keep_fds[0]);
	assert_int_equal(xb_read_all(path_fds[0], run.path, sizeof(run.path)), sizeof(run.path));
	close(path_fds[0]);
	run.keep_fd = keep_fds[1];
	return run;
}

static void
kill_run(const struct run *run)
{
	kill(run->pid, SIGKILL);
	assert_int_equal(waitpid(run->pid, NULL, 0), run->pid);
}

static void
directory_of_a_killed_run_is_swept(void **state)
{
	struct run run = start_run(false);
	char file[512];

	(void)state;
	snprintf(file, sizeof(file), "%s/left", run.path);
	scratch_make_file(file);
	kill_run(&run);
	assert_true(scratch_exists(run.path));
	sweep();
	assert_false(scratch_exists(run.path));
	close(run.keep_fd);
}

static void
directory_of_a_living_run_is_left(void **state)
{
	struct run run = start_run(false);

	(void)state;
	scratch_make_old(run.path);
	sweep();
	assert_true(scratch_exists(run.path));
	kill_run(&run);
	close(run.keep_fd);
}

static void
directory_is_kept_as_long_as_a_worker_lives(void **state)
{
	struct run run = start_run(true);

	(void)state;
	kill_run(&run);
	scratch_make_old(run.path);
	sweep();
	assert_true(scratch_exists(run.path));
	/* Lets the worker end, which is ours to wait for now. */
	close(run.keep_fd);
	assert_true(waitpid(-1, NULL, 0) > 0);
	sweep();
	assert_false(scratch_exists(run.path));
}

static void
directory_about_to_be_locked_is_left_for_a_minute(void **state)
{
	char *path = scratch_path("xferbench-aB3xyz");

	(void)state;
	scratch_make_dir(path, 0700);
	sweep();
	assert_true(scratch_exists(path));
	scratch_make_old(path);
	sweep();
	assert_false(scratch_exists(path));
}

static void
only_directories_of_ours_are_swept(void **state)
{
	static const char *const kept[] = { "xferbench-", "xferbench-abcde", "xferbench-abcdefg",
		"xferbench-abc.ef", "xferbench2-abcdef", "other-abcdef", "xferbench-opened" };

	(void)state;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		scratch_make_dir(scratch_path(kept[i]),
		    strcmp(kept[i], "xferbench-opened") == 0 ? 0755 : 0700);
		scratch_make_old(scratch_path(kept[i]));
	}
	scratch_make_file(scratch_path("xferbench-afile1"));
	scratch_make_old(scratch_path("xferbench-afile1"));
	scratch_make_dir(scratch_path("target"), 0700);
	scratch_make_file(scratch_path("target/file"));
	scratch_make_old(scratch_path("target"));
	assert_int_equal(symlink("target", scratch_path("xferbench-alink1")), 0);
	scratch_make_old(scratch_path("xferbench-alink1"));
	sweep();
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (!scratch_exists(scratch_path(kept[i])))
			fail_msg("%s was removed", kept[i]);
	}
	assert_true(scratch_exists(scratch_path("xferbench-afile1")));
	assert_true(scratch_exists(scratch_path("xferbench-alink1")));
	assert_true(scratch_exists(scratch_path("target/file")));
}

static void
lock_that_is_no_file_holds_up_nobody(void **state)
{
	char *path = scratch_path("xferbench-fifo01");

	(void)state;
	scratch_make_dir(path, 0700);
	assert_int_equal(mkfifo(scratch_path("xferbench-fifo01/lock"), 0600), 0);
	scratch_make_old(path);
	sweep();
	assert_true(scratch_exists(path));
}

/* As root: other users' directories are left, those of the user that root works for are not. */
static void
owner_decides(void **state)
{
	char *path = scratch_path("xferbench-owner1");
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_rundir *dir;
	struct stat st;

	(void)state;
	if (geteuid() != 0) {
		/* Nobody but root can give a directory away, and is told so. */
		dir = scratch_new_run();
		assert_false(xb_rundir_give(dir, geteuid() + 1, getegid(), &err));
		assert_non_null(strstr(err.text, xb_rundir_path(dir)));
		xb_rundir_free(dir);
		return;
	}
	scratch_make_dir(path, 0700);
	assert_int_equal(chown(path, 12345, 12345), 0);
	scratch_make_old(path);
	unsetenv("SUDO_UID");
	sweep();
	assert_true(scratch_exists(path));
	setenv("SUDO_UID", "12344", 1);
	sweep();
	assert_true(scratch_exists(path));
	setenv("SUDO_UID", "12345", 1);
	sweep();
	assert_false(scratch_exists(path));
	unsetenv("SUDO_UID");
	dir = scratch_new_run();
	assert_true(xb_rundir_give(dir, 12345, 12346, &err));
	assert_int_equal(lstat(xb_rundir_path(dir), &st), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 12346);
	xb_rundir_free(dir);
	assert_int_equal(scratch_count(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(directory_of_a_killed_run_is_swept),
		TEST(directory_of_a_living_run_is_left),
		TEST(directory_is_kept_as_long_as_a_worker_lives),
		TEST(directory_about_to_be_locked_is_left_for_a_minute),
		TEST(only_directories_of_ours_are_swept),
		TEST(lock_that_is_no_file_holds_up_nobody),
		TEST(owner_decides),
	};

	alarm(100);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
