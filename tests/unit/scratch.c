#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/err.h"
#include "base/rundir.h"

static char dir_path[64];

int
scratch_set_up(void **state)
{
	(void)state;
	snprintf(dir_path, sizeof(dir_path), "/tmp/xb-test-XXXXXX");
	if (mkdtemp(dir_path) == NULL)
		return -1;
	return setenv("TMPDIR", dir_path, 1);
}

int
scratch_tear_down(void **state)
{
	const char *const argv[] = { "rm", "-rf", dir_path, NULL };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char out[256];
	int status;

	(void)state;
	if (!xb_child_capture(argv, INT64_MAX, out, sizeof(out), &status, &err))
		return -1;
	return status;
}

const char *
scratch_dir(void)
{
	return dir_path;
}

char *
scratch_path(const char *name)
{
	static char paths[4][256];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir_path, name);
	return path;
}

size_t
scratch_count(void)
{
	DIR *dir = opendir(dir_path);
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2; /* "." and ".." */
}

bool
scratch_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

void
scratch_make_dir(const char *path, mode_t mode)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, mode), 0);
}

void
scratch_make_file(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(xb_write_all(fd, "x", 1), 1);
	close(fd);
}

void
scratch_make_old(const char *path)
{
	const struct timespec then = { .tv_sec = time(NULL) - 120 };
	const struct timespec times[2] = { then, then };

	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

struct xb_rundir *
scratch_new_run(void)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_rundir *dir = xb_rundir_new(&err);

	if (dir == NULL)
		fail_msg("%s", err.text);
	return dir;
}
