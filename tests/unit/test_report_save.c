#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "report/report.h"

#define NOBODY 65534

static const struct xb_run *const no_run = NULL;
static const struct xb_report_style plain = { 0 };

/* Each test has a fresh directory as its working directory. */
struct place {
	char path[64];
	int old_fd;
	mode_t old_mask;
};

static bool
write_hello(const struct xb_run *run, const struct xb_report_style *style, FILE *out,
    struct xb_err *err)
{
	(void)run;
	(void)style;
	(void)err;
	return fputs("hello\n", out) >= 0;
}

static bool
write_nothing(const struct xb_run *run, const struct xb_report_style *style, FILE *out,
    struct xb_err *err)
{
	(void)run;
	(void)style;
	(void)out;
	return xb_fail(err, XB_FAULT_SYSTEM, "this format never works");
}

static const struct xb_report hello = { .name = "hello", .write = write_hello };
static const struct xb_report broken = { .name = "broken", .write = write_nothing };

static int
set_up(void **state)
{
	struct place *place = xb_calloc(1, sizeof(*place));

	snprintf(place->path, sizeof(place->path), "/tmp/xferbench-test-XXXXXX");
	place->old_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	place->old_mask = umask(022);
	*state = place;
	return place->old_fd >= 0 && mkdtemp(place->path) != NULL && chdir(place->path) == 0 ? 0
											     : -1;
}

static int
tear_down(void **state)
{
	struct place *place = *state;
	DIR *dir = opendir(".");
	struct dirent *entry;
	int failed;

	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlink(entry->d_name) != 0)
			rmdir(entry->d_name);
	}
	closedir(dir);
	umask(place->old_mask);
	failed = fchdir(place->old_fd) != 0 || rmdir(place->path) != 0;
	close(place->old_fd);
	free(place);
	return failed ? -1 : 0;
}

static size_t
count_files(void)
{
	DIR *dir = opendir(".");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2;
}

static void
expect_content(const char *path, const char *expected)
{
	char text[64] = "";
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	assert_true(fread(text, 1, sizeof(text) - 1, in) > 0 || expected[0] == '\0');
	fclose(in);
	assert_string_equal(text, expected);
}

static void
put_content(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* Both the check and the save refuse, with these words, and leave nothing behind. */
static void
expect_refused(const char *path, const char *words)
{
	struct xb_err check = { 0 };
	struct xb_err save = { 0 };
	size_t files = count_files();

	assert_false(xb_report_check_path(path, &check));
	assert_int_equal(check.fault, XB_FAULT_SYSTEM);
	assert_non_null(strstr(check.text, words));
	assert_non_null(strstr(check.text, path));
	assert_false(xb_report_save(&hello, no_run, &plain, path, &save));
	assert_int_equal(save.fault, XB_FAULT_SYSTEM);
	assert_string_equal(save.text, check.text);
	assert_int_equal(count_files(), files);
}

static void
a_new_file_has_the_mode_of_the_umask(void **state)
{
	struct xb_err err = { 0 };

	(void)state;
	umask(027);
	assert_true(xb_report_check_path("result", &err));
	assert_int_equal(count_files(), 0);
	assert_true(xb_report_save(&hello, no_run, &plain, "result", &err));
	expect_content("result", "hello\n");
	assert_int_equal(mode_of("result"), 0640);
	assert_int_equal(count_files(), 1);
	assert_int_equal(umask(022), 027);
}

static void
an_existing_file_is_replaced_and_keeps_its_mode(void **state)
{
	struct xb_err err = { 0 };

	(void)state;
	put_content("result", "a longer text than the new one\n");
	assert_int_equal(chmod("result", 0600), 0);
	assert_true(xb_report_check_path("result", &err));
	expect_content("result", "a longer text than the new one\n");
	assert_true(xb_report_save(&hello, no_run, &plain, "result", &err));
	expect_content("result", "hello\n");
	assert_int_equal(mode_of("result"), 0600);
	assert_int_equal(count_files(), 1);
}

static void
a_path_with_folders_is_written_there(void **state)
{
	const struct place *place = *state;
	char *path = xb_asprintf("%s/result", place->path);
	struct xb_err err = { 0 };

	assert_true(xb_report_check_path(path, &err));
	assert_true(xb_report_save(&hello, no_run, &plain, path, &err));
	assert_true(xb_report_save(&hello, no_run, &plain, path, &err));
	expect_content("result", "hello\n");
	assert_int_equal(count_files(), 1);
	free(path);
}

static void
a_link_to_a_file_is_followed_and_stays(void **state)
{
	struct xb_err err = { 0 };
	struct stat st;

	(void)state;
	put_content("real", "old\n");
	assert_int_equal(symlink("real", "link"), 0);
	assert_int_equal(symlink("link", "link2"), 0);
	assert_true(xb_report_check_path("link2", &err));
	assert_true(xb_report_save(&hello, no_run, &plain, "link2", &err));
	expect_content("real", "hello\n");
	assert_int_equal(lstat("link2", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat("real", &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(count_files(), 3);
}

static void
never_over_a_directory(void **state)
{
	(void)state;
	assert_int_equal(mkdir("folder", 0755), 0);
	expect_refused("folder", "a directory");
	expect_refused("folder/", "a directory");
	assert_int_equal(symlink("folder", "link"), 0);
	expect_refused("link", "a directory");
}

/* Runs a part as an ordinary user, for whom permissions count; gives its exit code. */
static int
as_ordinary_user(int (*part)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(geteuid() == 0 && seteuid(NOBODY) != 0 ? 99 : part());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Parts that run in a child must not assert: the child would go on with the other tests. */
static int
refuse_device(void)
{
	static const char *const paths[] = { "/dev/null", "link" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct xb_err check = { 0 };
		struct xb_err save = { 0 };

		if (xb_report_check_path(paths[i], &check) ||
		    xb_report_save(&hello, no_run, &plain, paths[i], &save))
			return 1;
		if (strstr(check.text, "it is a device") == NULL ||
		    strcmp(check.text, save.text) != 0)
			return 2;
	}
	return 0;
}

/* As a user who could not replace the machine's own device, should it not be refused. */
static void
never_over_a_device(void **state)
{
	(void)state;
	assert_int_equal(symlink("/dev/null", "link"), 0);
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(as_ordinary_user(refuse_device), 0);
}

static void
never_over_a_pipe_or_a_socket(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(mkfifo("pipe", 0644), 0);
	expect_refused("pipe", "a pipe");
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	expect_refused("socket", "a socket");
	close(fd);
}

static void
a_link_that_leads_nowhere_is_refused(void **state)
{
	(void)state;
	assert_int_equal(symlink("nothing", "link"), 0);
	expect_refused("link", "a link: No such file or directory");
}

static void
a_missing_folder_is_named(void **state)
{
	(void)state;
	expect_refused("missing/result", "No such file or directory");
	expect_refused("missing/", "No such file or directory");
	expect_refused("", "without a name");
}

static int
write_protected(void)
{
	struct xb_err check = { 0 };
	struct xb_err save = { 0 };

	if (xb_report_check_path("protected", &check) ||
	    xb_report_save(&hello, no_run, &plain, "protected", &save))
		return 1;
	return strstr(check.text, "cannot write protected: Permission denied") != NULL &&
		strcmp(check.text, save.text) == 0
	    ? 0
	    : 2;
}

static void
a_write_protected_file_stays_as_it_is(void **state)
{
	(void)state;
	put_content("protected", "old\n");
	assert_int_equal(chmod("protected", 0444), 0);
	assert_int_equal(chmod(".", 0777), 0);
	assert_int_equal(as_ordinary_user(write_protected), 0);
	expect_content("protected", "old\n");
	assert_int_equal(count_files(), 1);
}

static int
write_into_protected_folder(void)
{
	struct xb_err err = { 0 };

	if (xb_report_check_path("result", &err))
		return 1;
	return strstr(err.text, "cannot write result: no new file beside it: Permission denied") !=
		NULL
	    ? 0
	    : 2;
}

static void
a_write_protected_folder_is_told_before_the_run(void **state)
{
	(void)state;
	assert_int_equal(chmod(".", 0555), 0);
	assert_int_equal(as_ordinary_user(write_into_protected_folder), 0);
	assert_int_equal(chmod(".", 0755), 0);
}

static int
exceed_file_size(void)
{
	const struct rlimit limit = { .rlim_cur = 3, .rlim_max = 3 };
	struct xb_err err = { 0 };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 1;
	if (xb_report_save(&hello, no_run, &plain, "result", &err))
		return 2;
	if (err.fault != XB_FAULT_SYSTEM ||
	    strcmp(err.text, "cannot write result: File too large") != 0)
		return 3;
	return 0;
}

static void
a_write_that_fails_half_way_keeps_the_old_file(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	put_content("result", "old\n");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(exceed_file_size());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	expect_content("result", "old\n");
	assert_int_equal(count_files(), 1);
}

static void
a_format_that_fails_touches_no_file(void **state)
{
	struct xb_err err = { 0 };

	(void)state;
	assert_false(xb_report_save(&broken, no_run, &plain, "result", &err));
	assert_string_equal(err.text, "this format never works");
	assert_int_equal(count_files(), 0);
}

/* Saves to standard output, which is path; the text of the error ends up in a file. */
static int
save_to_stdout(const char *path)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct xb_err err = { 0 };
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		bool ok;

		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || freopen(NULL, "w", stdout) == NULL)
			_exit(99);
		ok = xb_report_check_path("-", &err) &&
		    xb_report_save(&hello, no_run, &plain, "-", &err);
		if (!ok)
			put_content("error", err.text);
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
a_dash_is_standard_output(void **state)
{
	(void)state;
	assert_int_equal(save_to_stdout("output"), 0);
	expect_content("output", "hello\n");
}

static void
a_full_device_behind_standard_output_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(save_to_stdout("/dev/full"), 1);
	expect_content("error", "cannot write to standard output: No space left on device");
}

#define in_place(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		in_place(a_new_file_has_the_mode_of_the_umask),
		in_place(an_existing_file_is_replaced_and_keeps_its_mode),
		in_place(a_path_with_folders_is_written_there),
		in_place(a_link_to_a_file_is_followed_and_stays),
		in_place(never_over_a_directory),
		in_place(never_over_a_device),
		in_place(never_over_a_pipe_or_a_socket),
		in_place(a_link_that_leads_nowhere_is_refused),
		in_place(a_missing_folder_is_named),
		in_place(a_write_protected_file_stays_as_it_is),
		in_place(a_write_protected_folder_is_told_before_the_run),
		in_place(a_write_that_fails_half_way_keeps_the_old_file),
		in_place(a_format_that_fails_touches_no_file),
		in_place(a_dash_is_standard_output),
		in_place(a_full_device_behind_standard_output_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
