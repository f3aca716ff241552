#include "base/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

/* What is needed of /proc/PID/stat. */
struct stat_line {
	char state;
	pid_t parent;
	uint64_t ticks;        /* user and system */
	uint64_t waited_ticks; /* of children that it has waited for */
};

/* A process in a snapshot of the whole table. */
struct entry {
	pid_t pid;
	pid_t parent;
};

/* The beginning of a small file of /proc, terminated; false when it cannot be read or is empty. */
static bool
read_file(const char *path, char *out, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = xb_read_all(fd, out, size - 1);
	close(fd);
	if (got <= 0)
		return false;
	out[got] = '\0';
	return true;
}

static int64_t
ticks_to_ns(uint64_t ticks)
{
	const long per_second = sysconf(_SC_CLK_TCK);

	return (
	    int64_t)(ticks * (uint64_t)(XB_NS_PER_SECOND / (per_second > 0 ? per_second : 100)));
}

/* Reads count numbers parted by blanks; false when there are fewer. */
static bool
read_numbers(const char *text, uint64_t *numbers, size_t count)
{
	char *end;

	for (size_t i = 0; i < count; i++) {
		errno = 0;
		numbers[i] = strtoull(text, &end, 10);
		if (end == text || errno != 0)
			return false;
		text = end;
	}
	return true;
}

bool
xb_cpu_times_read(struct xb_cpu_times *times)
{
	/* See proc(5); a guest's time, which follows these, is within user and nice. */
	enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COUNT };
	static const char label[] = "cpu ";
	uint64_t ticks[COUNT];
	char text[512];

	if (!read_file("/proc/stat", text, sizeof(text)) ||
	    strncmp(text, label, strlen(label)) != 0 ||
	    !read_numbers(text + strlen(label), ticks, COUNT))
		return false;
	times->busy_ns = ticks_to_ns(ticks[USER] + ticks[NICE] + ticks[SYSTEM]);
	times->irq_ns = ticks_to_ns(ticks[IRQ] + ticks[SOFTIRQ]);
	times->steal_ns = ticks_to_ns(ticks[STEAL]);
	return true;
}

static bool
read_stat(pid_t pid, struct stat_line *line)
{
	/* The fields from ppid on, which proc(5) counts as the 4th, up to the 17th. */
	enum { PPID = 0, UTIME = 14 - 4, STIME, CUTIME, CSTIME, COUNT };
	uint64_t fields[COUNT];
	const char *name_end;
	char path[64];
	char text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_file(path, text, sizeof(text)))
		return false;
	/* The command name can have anything in it, blanks and brackets too; the rest cannot. */
	name_end = strrchr(text, ')');
	if (name_end == NULL || strlen(name_end) < strlen(") S ") ||
	    !read_numbers(name_end + strlen(") S "), fields, COUNT))
		return false;
	line->state = name_end[2];
	line->parent = (pid_t)fields[PPID];
	line->ticks = fields[UTIME] + fields[STIME];
	line->waited_ticks = fields[CUTIME] + fields[CSTIME];
	return true;
}

/* The pid that a name in /proc or in a task directory stands for, 0 when it is something else. */
static pid_t
name_to_pid(const char *name)
{
	char *end;
	long value;

	if (!isdigit((unsigned char)name[0]))
		return 0;
	errno = 0;
	value = strtol(name, &end, 10);
	return errno == 0 && *end == '\0' && value == (pid_t)value ? (pid_t)value : 0;
}

/* The sum over the threads that live now, in nanoseconds; 0 where the kernel does not keep it. */
static int64_t
sum_schedstat(pid_t pid)
{
	char path[64 + sizeof(((struct dirent *)0)->d_name)];
	const struct dirent *task;
	uint64_t sum = 0, one;
	char text[128];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (dir == NULL)
		return 0;
	while ((task = readdir(dir)) != NULL) {
		if (name_to_pid(task->d_name) == 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, task->d_name);
		if (read_file(path, text, sizeof(text)) && read_numbers(text, &one, 1))
			sum += one;
	}
	closedir(dir);
	return (int64_t)sum;
}

bool
xb_proc_cpu_ns(pid_t pid, int64_t *ns)
{
	struct stat_line line;
	int64_t sum, ticks;

	if (!read_stat(pid, &line))
		return false;
	sum = sum_schedstat(pid);
	ticks = ticks_to_ns(line.ticks);
	/* Ticks are the same time cut to 10 ms, but they keep that of threads which have ended. */
	*ns = sum > ticks ? sum : ticks;
	return true;
}

bool
xb_proc_waited_ns(pid_t pid, int64_t *ns)
{
	struct stat_line line;

	if (!read_stat(pid, &line))
		return false;
	*ns = ticks_to_ns(line.waited_ticks);
	return true;
}

bool
xb_proc_name(pid_t pid, char *out, size_t size)
{
	char path[64];
	char text[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (!read_file(path, text, sizeof(text)))
		return false;
	xb_text_printable(out, size, text, strlen(text));
	return true;
}

/* All processes but zombies, in a fresh array. */
static struct entry *
snapshot(size_t *count)
{
	struct entry *entries = NULL;
	const struct dirent *name;
	struct stat_line line;
	DIR *dir;
	pid_t pid;

	*count = 0;
	/* Not /proc/PID/task/TID/children: not every kernel is built with it. */
	dir = opendir("/proc");
	if (dir == NULL)
		return NULL;
	while ((name = readdir(dir)) != NULL) {
		pid = name_to_pid(name->d_name);
		if (pid == 0 || !read_stat(pid, &line) || line.state == 'Z' || line.state == 'X')
			continue;
		entries = xb_grow(entries, *count, sizeof(*entries));
		entries[(*count)++] = (struct entry){ .pid = pid, .parent = line.parent };
	}
	closedir(dir);
	return entries;
}

static bool
is_listed(const pid_t *pids, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

size_t
xb_proc_descendants(pid_t root, pid_t *pids, size_t max)
{
	struct entry *entries;
	size_t total, found = 0;
	pid_t parent = root;

	if (root <= 0)
		return 0;
	entries = snapshot(&total);
	/* Breadth first: the list is its own queue. The snapshot is not of one moment, so a number
	 * that was given out twice meanwhile must not make a ring. */
	for (size_t next = 0;; next++) {
		for (size_t i = 0; i < total && found < max; i++) {
			if (entries[i].parent == parent && entries[i].pid != root &&
			    !is_listed(pids, found, entries[i].pid))
				pids[found++] = entries[i].pid;
		}
		if (next == found)
			break;
		parent = pids[next];
	}
	free(entries);
	return found;
}

void
xb_proc_kill_descendants(pid_t root)
{
	const int64_t deadline = xb_clock_ns() + 2 * XB_NS_PER_SECOND;
	struct timespec pause = { .tv_nsec = 2 * XB_NS_PER_MS };
	pid_t pids[256];
	size_t count;

	/* Again, since a process can have started another one between the look and the signal. */
	while ((count = xb_proc_descendants(root, pids, sizeof(pids) / sizeof(pids[0]))) > 0) {
		for (size_t i = 0; i < count; i++)
			kill(pids[i], SIGKILL);
		if (xb_clock_ns() >= deadline)
			return;
		nanosleep(&pause, NULL);
	}
}
