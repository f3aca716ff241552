#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "scratch.h"

static void
new_directory_is_private_and_goes_with_its_contents(void **state)
{
	struct xb_rundir *dir = scratch_new_run();
	const char *path = xb_rundir_path(dir);
	struct stat st;
	char *file, *sub;

	(void)state;
	assert_int_equal(strncmp(path, scratch_dir(), strlen(scratch_dir())), 0);
	assert_int_equal(strncmp(strrchr(path, '/'), "/xferbench-", 11), 0);
	assert_int_equal(strlen(strrchr(path, '/')), strlen("/xferbench-XXXXXX"));
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_uid, geteuid());
	file = xb_rundir_file(dir, "config");
	assert_int_equal(strncmp(file, path, strlen(path)), 0);
	assert_string_equal(file + strlen(path), "/config");
	scratch_make_file(file);
	free(file);
	sub = xb_rundir_file(dir, "keys");
	scratch_make_dir(sub, 0700);
	free(sub);
	sub = xb_rundir_file(dir, "keys/more");
	scratch_make_dir(sub, 0700);
	free(sub);
	file = xb_rundir_file(dir, "keys/more/id");
	scratch_make_file(file);
	free(file);
	xb_rundir_free(dir);
	assert_int_equal(scratch_count(), 0);
	xb_rundir_free(NULL);
}

static void
strict_umask_takes_nothing_away(void **state)
{
	const mode_t old = umask(0277);
	struct xb_rundir *dir = scratch_new_run();
	struct stat st;

	(void)state;
	umask(old);
	assert_int_equal(lstat(xb_rundir_path(dir), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	xb_rundir_free(dir);
}

static void
links_in_a_directory_are_removed_not_followed(void **state)
{
	struct xb_rundir *dir = scratch_new_run();
	char *link = xb_rundir_file(dir, "link");

	(void)state;
	scratch_make_dir(scratch_path("precious"), 0700);
	scratch_make_file(scratch_path("precious/file"));
	assert_int_equal(symlink(scratch_path("precious"), link), 0);
	free(link);
	xb_rundir_free(dir);
	assert_true(scratch_exists(scratch_path("precious/file")));
	assert_int_equal(scratch_count(), 1);
}

static void
directory_that_was_replaced_is_left(void **state)
{
	struct xb_rundir *dir = scratch_new_run();
	char *path = strdup(xb_rundir_path(dir));

	(void)state;
	assert_int_equal(rename(path, scratch_path("moved")), 0);
	scratch_make_dir(path, 0700);
	xb_rundir_free(dir);
	assert_true(scratch_exists(path));
	assert_false(scratch_exists(scratch_path("moved/lock")));
	free(path);
}

static void
assert_refused(const char *tmpdir, const char *why)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	setenv("TMPDIR", tmpdir, 1);
	assert_null(xb_rundir_new(&err));
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	if (strstr(err.text, tmpdir) == NULL || strstr(err.text, why) == NULL ||
	    strstr(err.text, "set TMPDIR to") == NULL)
		fail_msg("%s", err.text);
}

static void
unusable_directory_is_named_with_what_to_do(void **state)
{
	(void)state;
	scratch_make_file(scratch_path("file"));
	assert_refused(scratch_path("missing"), "does not exist");
	assert_refused(scratch_path("file"), "is not a directory");
	assert_refused(scratch_path("file/below"), "is not a directory");
	assert_refused("/proc/self", "set TMPDIR to");
}

/* Ends with 0 when a directory that this user cannot write is refused in words. */
static void __attribute__((noreturn)) refused_main(const char *path)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
		_exit(1);
	setenv("TMPDIR", path, 1);
	if (xb_rundir_new(&err) != NULL || strstr(err.text, path) == NULL)
		_exit(2);
	_exit(strstr(err.text, "cannot be written by this user; set TMPDIR") != NULL ? 0 : 3);
}

static void
directory_without_permission_is_told(void **state)
{
	char *path = scratch_path("closed");
	int status;
	pid_t pid;

	(void)state;
	scratch_make_dir(path, 0555);
	assert_int_equal(chmod(scratch_dir(), 0755), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		refused_main(path);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Ends with 0 when a lock that cannot be written is an error and leaves nothing behind. */
static void __attribute__((noreturn)) full_main(void)
{
	const struct rlimit none = { .rlim_cur = 0, .rlim_max = 0 };
	struct xb_err err = { .fault = XB_FAULT_NONE };

	xb_signals_init();
	if (setrlimit(RLIMIT_FSIZE, &none) != 0)
		_exit(1);
	if (xb_rundir_new(&err) != NULL || strstr(err.text, "set TMPDIR to") == NULL)
		_exit(2);
	_exit(scratch_count() == 0 ? 0 : 3);
}

static void
nothing_is_left_where_nothing_can_be_written(void **state)
{
	const pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		full_main();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
path_is_absolute_without_links(void **state)
{
	struct xb_rundir *dir;
	char cwd[4096];

	(void)state;
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	scratch_make_dir(scratch_path("real"), 0700);
	assert_int_equal(symlink("real", scratch_path("link")), 0);
	assert_int_equal(chdir(scratch_dir()), 0);
	setenv("TMPDIR", "link", 1);
	dir = scratch_new_run();
	assert_int_equal(chdir(cwd), 0);
	assert_int_equal(strncmp(xb_rundir_path(dir), scratch_path("real/"),
			     strlen(scratch_path("real/"))),
	    0);
	xb_rundir_free(dir);
	assert_int_equal(scratch_count(), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_directory_is_private_and_goes_with_its_contents),
		TEST(strict_umask_takes_nothing_away),
		TEST(links_in_a_directory_are_removed_not_followed),
		TEST(directory_that_was_replaced_is_left),
		TEST(unusable_directory_is_named_with_what_to_do),
		TEST(directory_without_permission_is_told),
		TEST(nothing_is_left_where_nothing_can_be_written),
		TEST(path_is_absolute_without_links),
	};

	alarm(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
