#include "base/rundir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#define NAME_PREFIX "xferbench-"
#define RANDOM_CHARS 6
#define LOCK_NAME "lock"

/* A directory without a lock this young may be somebody's who is about to take it, in seconds. */
#define YOUNG_SECONDS 60

/* A run's directory is two levels deep; what is deeper than this is not of our making. */
#define MAX_DEPTH 8

struct xb_rundir {
	char *path;
	const char *name; /* the last part of path */
	int parent_fd;
	int fd;
	int lock_fd; /* held by us and by every process forked from us, until it execs or ends */
};

/* Why a directory for temporary files will not do, with what would. */
static bool
fail_parent(struct xb_err *err, const char *parent)
{
	const int error = errno;
	char shown[256];
	const char *what;

	xb_text_printable(shown, sizeof(shown), parent, strlen(parent));
	switch (error) {
	case ENOENT:
		what = "does not exist";
		break;
	case ENOTDIR:
		what = "is not a directory";
		break;
	case EACCES:
	case EPERM:
		what = "cannot be written by this user";
		break;
	case EROFS:
		what = "is on a read-only file system";
		break;
	case ENOSPC:
		what = "is on a file system that is full";
		break;
	case EDQUOT:
		what = "is on a file system where this user's quota is used up";
		break;
	default:
		errno = error;
		return xb_fail_errno(err, XB_FAULT_SYSTEM,
		    "the directory for temporary files, %s, cannot be used; set TMPDIR to another",
		    shown);
	}
	return xb_fail(err, XB_FAULT_SYSTEM,
	    "the directory for temporary files, %s, %s; set TMPDIR to one that can be written",
	    shown, what);
}

static bool remove_entry(int dir_fd, const char *name, dev_t device, int depth);

/* Empties a directory and closes its descriptor. False when something is left. */
static bool
empty_dir(int fd, dev_t device, int depth)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	bool all = true;

	if (dir == NULL) {
		close(fd);
		return false;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (!remove_entry(dirfd(dir), entry->d_name, device, depth))
			all = false;
	}
	closedir(dir);
	return all;
}

/*
 * Removes one name. Each step is relative to an open directory and refuses links, so that it cannot
 * be led out, whatever is renamed meanwhile; other file systems are not entered.
 */
static bool
remove_entry(int dir_fd, const char *name, dev_t device, int depth)
{
	struct stat st;
	int fd;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT;
	if (!S_ISDIR(st.st_mode))
		return unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT;
	if (depth >= MAX_DEPTH)
		return false;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) != 0 || st.st_dev != device) {
		close(fd);
		return false;
	}
	return empty_dir(fd, device, depth + 1) && unlinkat(dir_fd, name, AT_REMOVEDIR) == 0;
}

/*
 * Removes the run's directory that fd is open on, and its name in parent_fd if that still means it.
 * What cannot be removed is left for the sweep of a later run.
 */
static void
remove_run(int parent_fd, const char *name, int fd)
{
	const int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat opened, named;

	if (copy < 0)
		return;
	if (fstat(copy, &opened) != 0) {
		close(copy);
		return;
	}
	if (empty_dir(copy, opened.st_dev, 0) &&
	    fstatat(parent_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
		unlinkat(parent_fd, name, AT_REMOVEDIR);
}

static bool
is_run_name(const char *name)
{
	const size_t prefix = strlen(NAME_PREFIX);

	if (strncmp(name, NAME_PREFIX, prefix) != 0 || strlen(name) != prefix + RANDOM_CHARS)
		return false;
	for (const char *c = name + prefix; *c != '\0'; c++) {
		if (!isalnum((unsigned char)*c))
			return false;
	}
	return true;
}

/* Our own, or, where root works for somebody, that user's: xb_rundir_give makes such. */
static bool
is_our_owner(uid_t owner)
{
	const char *text = getenv("SUDO_UID");
	uint64_t uid;

	if (owner == geteuid())
		return true;
	return geteuid() == 0 && text != NULL &&
	    xb_count_parse("SUDO_UID", text, 1, UINT32_MAX - 1, &uid, NULL) && owner == uid;
}

/* True when nobody holds the lock, which is then ours until lock_fd (-1: it has none) is closed. */
static bool
is_abandoned(int fd, const struct stat *st, int *lock_fd)
{
	struct stat lock;

	/* A fifo put there must not hold us up. */
	*lock_fd = openat(fd, LOCK_NAME, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*lock_fd < 0)
		return errno == ENOENT && time(NULL) - st->st_mtime > YOUNG_SECONDS;
	return fstat(*lock_fd, &lock) == 0 && S_ISREG(lock.st_mode) &&
	    flock(*lock_fd, LOCK_EX | LOCK_NB) == 0;
}

static void
sweep_one(int parent_fd, dev_t device, const char *name)
{
	struct stat st;
	int lock_fd = -1;
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_dev == device && is_our_owner(st.st_uid) &&
	    (st.st_mode & 07777) == 0700 && is_abandoned(fd, &st, &lock_fd))
		remove_run(parent_fd, name, fd);
	if (lock_fd >= 0)
		close(lock_fd);
	close(fd);
}

/* Removes what killed runs have left; what cannot be removed is left for the next one. */
static void
sweep(int parent_fd, const char *own_name)
{
	const struct dirent *entry;
	struct stat st;
	DIR *dir;
	int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (dir == NULL) {
		close(fd);
		return;
	}
	while (fstat(fd, &st) == 0 && (entry = readdir(dir)) != NULL) {
		if (is_run_name(entry->d_name) && strcmp(entry->d_name, own_name) != 0)
			sweep_one(parent_fd, st.st_dev, entry->d_name);
	}
	closedir(dir);
}

/*
 * Makes the lock under another name and renames it once it is held, so that a lock which can be
 * seen and is free always belongs to a dead run. The pid in it is for people, and finds a full disk
 * early.
 */
static bool
take_lock(struct xb_rundir *dir)
{
	char pid[32];
	int len = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());

	dir->lock_fd =
	    openat(dir->fd, LOCK_NAME ".new", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return dir->lock_fd >= 0 && flock(dir->lock_fd, LOCK_EX | LOCK_NB) == 0 &&
	    xb_write_all(dir->lock_fd, pid, (size_t)len) == len &&
	    renameat(dir->fd, LOCK_NAME ".new", dir->fd, LOCK_NAME) == 0;
}

/* Creates the directory in parent, an absolute path without links. False with errno. */
static bool
create(struct xb_rundir *dir, const char *parent)
{
	char *path;

	dir->parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->parent_fd < 0)
		return false;
	path = xb_asprintf("%s/" NAME_PREFIX "XXXXXX", strcmp(parent, "/") == 0 ? "" : parent);
	if (mkdtemp(path) == NULL) {
		free(path);
		return false;
	}
	dir->path = path;
	dir->name = strrchr(path, '/') + 1;
	dir->fd =
	    openat(dir->parent_fd, dir->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* A strict umask takes bits away from what mkdtemp gives. */
	return dir->fd >= 0 && fchmod(dir->fd, 0700) == 0 && take_lock(dir);
}

struct xb_rundir *
xb_rundir_new(struct xb_err *err)
{
	const char *wanted = getenv("TMPDIR");
	struct xb_rundir *dir = xb_calloc(1, sizeof(*dir));
	char *parent;

	dir->parent_fd = dir->fd = dir->lock_fd = -1;
	if (wanted == NULL || wanted[0] == '\0')
		wanted = "/tmp";
	parent = realpath(wanted, NULL);
	if (parent == NULL || !create(dir, parent)) {
		fail_parent(err, wanted);
		xb_rundir_free(dir);
		dir = NULL;
	} else {
		sweep(dir->parent_fd, dir->name);
	}
	free(parent);
	return dir;
}

const char *
xb_rundir_path(const struct xb_rundir *dir)
{
	return dir->path;
}

char *
xb_rundir_file(const struct xb_rundir *dir, const char *name)
{
	return xb_asprintf("%s/%s", dir->path, name);
}

bool
xb_rundir_give(const struct xb_rundir *dir, uid_t uid, gid_t gid, struct xb_err *err)
{
	/* The lock too: that user's next run must be able to see whether this one lives. */
	if (fchown(dir->lock_fd, uid, gid) == 0 && fchown(dir->fd, uid, gid) == 0)
		return true;
	return xb_fail_errno(err, XB_FAULT_SYSTEM,
	    "cannot give %s to user %lu; set TMPDIR to a directory on a file system with owners",
	    dir->path, (unsigned long)uid);
}

void
xb_rundir_free(struct xb_rundir *dir)
{
	if (dir == NULL)
		return;
	if (dir->fd >= 0) {
		remove_run(dir->parent_fd, dir->name, dir->fd);
		close(dir->fd);
	} else if (dir->path != NULL) {
		unlinkat(dir->parent_fd, dir->name, AT_REMOVEDIR);
	}
	if (dir->lock_fd >= 0)
		close(dir->lock_fd);
	if (dir->parent_fd >= 0)
		close(dir->parent_fd);
	free(dir->path);
	free(dir);
}
