#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "client/payload_parts.h"

#define MIB (UINT64_C(1024) * 1024)

/* A file of a payload without a length of its own. */
#define DEFAULT_BYTES (64 * MIB)

/* In /proc/meminfo (proc(5)), before a number of KiB. */
#define MEMORY_LINE "MemAvailable:"

/* What a warming read takes at once. */
#define READ_BYTES (1024u * 1024)

/* Lengths are powers of two, so that all together are less than twice the longest. */
#define LONGEST_SHARE 8u
#define ALL_SHARE 4u

struct xb_payload_files {
	const struct xb_rundir *dir;
	uint64_t longest;
	uint64_t room; /* in memory, for files that are still to be warmed */
	size_t count;
	struct made {
		uint64_t size;
		char *path;
	} * made;
};

/* Bytes of memory that new programs could have; where the kernel does not say, half of all. */
static uint64_t
available_memory(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib = 0;
	char line[128];

	while (file != NULL && kib == 0 && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, MEMORY_LINE, strlen(MEMORY_LINE)) == 0)
			kib = strtoull(line + strlen(MEMORY_LINE), NULL, 10);
	if (file != NULL)
		fclose(file);
	if (kib > 0)
		return kib * 1024;
	return (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct xb_payload_files *
xb_payload_files_new(const struct xb_rundir *dir, bool full)
{
	struct xb_payload_files *files = xb_calloc(1, sizeof(*files));
	uint64_t memory = available_memory(), room;
	struct statvfs fs;

	files->dir = dir;
	files->room = memory / ALL_SHARE;
	files->longest = memory / LONGEST_SHARE;
	if (full && dir != NULL && statvfs(xb_rundir_path(dir), &fs) == 0) {
		room = (uint64_t)fs.f_bavail * fs.f_frsize;
		if (files->longest > room / LONGEST_SHARE)
			files->longest = room / LONGEST_SHARE;
	}
	if (files->longest < MIB)
		files->longest = MIB;
	return files;
}

void
xb_payload_files_free(struct xb_payload_files *files)
{
	size_t i;

	if (files == NULL)
		return;
	for (i = 0; i < files->count; i++)
		free(files->made[i].path);
	free(files->made);
	free(files);
}

static bool
fail_write(struct xb_err *err, const char *path)
{
	return xb_fail_errno(err, XB_FAULT_SYSTEM,
	    "cannot write the payload's file %s (another place: TMPDIR=DIR)", path);
}

static bool
fail_signal(struct xb_err *err)
{
	return xb_fail(err, XB_FAULT_SIGNAL, "ended while preparing the payload's file");
}

/* Writes size bytes of the payload. */
static bool
copy_payload(const struct xb_payload *payload, int fd, uint64_t size, const char *path,
    struct xb_err *err)
{
	struct xb_cursor *cursor = xb_cursor_new(payload);
	const void *bytes;
	size_t len = 0;
	bool ok = true;

	for (; ok && size > 0; size -= len) {
		if (xb_signals_pending() != 0)
			ok = fail_signal(err);
		else if (!xb_cursor_peek(cursor, size, &bytes, &len, err))
			ok = false;
		else if (xb_write_all(fd, bytes, len) != (ssize_t)len)
			ok = fail_write(err, path);
		else
			xb_cursor_advance(cursor, len);
	}
	xb_cursor_free(cursor);
	return ok;
}

/* Reads a file's beginning, holes too: a program that reads it finds its pages in memory. */
static bool
warm(int fd, uint64_t bytes, struct xb_err *err)
{
	char *scrap = xb_calloc(1, READ_BYTES);
	uint64_t at = 0;
	ssize_t got = 1;
	bool ok = true;

	for (; ok && got > 0 && at < bytes; at += (uint64_t)got) {
		got = pread(fd, scrap, READ_BYTES, (off_t)at);
		if (xb_signals_pending() != 0)
			ok = fail_signal(err);
		else if (got < 0)
			ok = xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot read the payload's file");
	}
	free(scrap);
	return ok;
}

/*
 * A private server may run as another user, whose the directory then is: the file has to be his,
 * and what he may have put there under its name is not followed.
 */
static int
create(const struct xb_payload_files *files, const char *path, struct xb_err *err)
{
	struct stat dir;
	int fd;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && fchmod(fd, 0600) == 0 && stat(xb_rundir_path(files->dir), &dir) == 0 &&
	    (dir.st_uid == geteuid() || fchown(fd, dir.st_uid, dir.st_gid) == 0))
		return fd;
	fail_write(err, path);
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool
make(const struct xb_payload *payload, const char *path, uint64_t size, struct xb_err *err)
{
	struct xb_payload_files *files = payload->files;
	uint64_t warmed = size < files->room ? size : files->room;
	int fd = create(files, path, err);
	bool ok;

	if (fd < 0)
		return false;
	if (payload->zeros)
		ok =
		    (size <= INT64_MAX && ftruncate(fd, (off_t)size) == 0) || fail_write(err, path);
	else
		ok = copy_payload(payload, fd, size, path, err);
	ok = ok && warm(fd, warmed, err);
	files->room -= ok ? warmed : 0;
	close(fd);
	if (!ok)
		unlink(path);
	return ok;
}

const char *
xb_payload_file(const struct xb_payload *payload, uint64_t size, struct xb_err *err)
{
	struct xb_payload_files *files = payload->files;
	char name[48], *path;
	size_t i;

	if (payload->path != NULL && (size == 0 || size == payload->bytes))
		return payload->path;
	if (size == 0) {
		size = payload->bytes > 0 ? payload->bytes : DEFAULT_BYTES;
		if (size > files->longest)
			size = files->longest;
	}
	for (i = 0; i < files->count; i++)
		if (files->made[i].size == size)
			return files->made[i].path;
	if (files->dir == NULL) {
		xb_fail(err, XB_FAULT_SYSTEM, "no directory for the payload's file");
		return NULL;
	}
	snprintf(name, sizeof(name), "payload-%" PRIu64, size);
	path = xb_rundir_file(files->dir, name);
	if (!make(payload, path, size, err)) {
		free(path);
		return NULL;
	}
	files->made = xb_grow(files->made, files->count, sizeof(*files->made));
	files->made[files->count++] = (struct made){ .size = size, .path = path };
	return path;
}

uint64_t
xb_payload_file_max(const struct xb_payload *payload)
{
	return payload->files->longest;
}
