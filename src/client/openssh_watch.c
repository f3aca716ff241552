#include "client/openssh_watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/proc.h"
#include "client/client.h"

/* A keepalive and its answer are some 100 bytes, a second apart at the least; less than this in one
 * patience is no payload. */
#define PROGRESS_BYTES 4096

/* One line of /proc/PID/io, proc(5): "rchar: 323934931". */
static bool
read_line(const char *text, const char *label, uint64_t *value)
{
	const char *line = strstr(text, label);

	if (line == NULL)
		return false;
	*value = strtoull(line + strlen(label), NULL, 10);
	return true;
}

static struct xb_openssh_io
read_io(pid_t pid)
{
	struct xb_openssh_io io = { .known = false };
	char path[64], text[512];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return io;
	got = xb_read_all(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return io;
	text[got] = '\0';
	io.known = read_line(text, "rchar: ", &io.read) && read_line(text, "wchar: ", &io.written);
	return io;
}

/* Of all of them; -1 when one has gone and taken its figure with it. */
static int64_t
cpu_ns(const struct xb_openssh_watch *watch)
{
	int64_t sum = 0, one;
	size_t i;

	for (i = 0; i < watch->count; i++) {
		if (!xb_proc_cpu_ns(watch->pids[i], &one))
			return -1;
		sum += one;
	}
	return sum;
}

void
xb_openssh_watch_ready(struct xb_openssh_watch *watch, pid_t program, bool nested)
{
	const size_t room = sizeof(watch->pids) / sizeof(watch->pids[0]);

	watch->pids[0] = program;
	watch->count = 1 + xb_proc_descendants(program, watch->pids + 1, room - 1);
	/* Parents come before children: scp's and sftp's first one is its ssh. */
	watch->ssh = nested && watch->count > 1 ? 1 : 0;
	watch->ready_program = read_io(program);
	watch->ready_ssh = read_io(watch->pids[watch->ssh]);
	watch->ready_cpu_ns = cpu_ns(watch);
	xb_openssh_watch_begin(watch);
}

void
xb_openssh_watch_end(const struct xb_openssh_watch *watch, enum xb_direction direction,
    struct xb_outcome *outcome)
{
	const struct xb_openssh_io io = read_io(watch->pids[watch->ssh]);
	const int64_t cpu = cpu_ns(watch);
	uint64_t passed_on;

	if (cpu >= 0 && watch->ready_cpu_ns >= 0)
		outcome->programs_cpu_seconds = xb_seconds(cpu - watch->ready_cpu_ns);
	if (!io.known || !watch->ready_ssh.known)
		return;
	/* What ssh writes besides are lines of its log: some 1,000 bytes in all. */
	if (direction == XB_UPLOAD) {
		outcome->wire_bytes = io.written - watch->ready_ssh.written;
		return;
	}
	outcome->wire_bytes = io.read - watch->ready_ssh.read;
	/*
	 * An ssh that we read from ourselves is ahead of us: its share of what it has passed on
	 * counts.
	 */
	passed_on = io.written - watch->ready_ssh.written;
	if (watch->ssh == 0 && passed_on > outcome->bytes)
		outcome->wire_bytes = (uint64_t)((double)outcome->wire_bytes *
		    (double)outcome->bytes / (double)passed_on);
}

uint64_t
xb_openssh_watch_copied(const struct xb_openssh_watch *watch, enum xb_direction direction)
{
	const struct xb_openssh_io io = read_io(watch->pids[0]);

	if (!io.known || !watch->ready_program.known)
		return 0;
	return direction == XB_UPLOAD ? io.read - watch->ready_program.read
				      : io.written - watch->ready_program.written;
}

void
xb_openssh_watch_begin(struct xb_openssh_watch *watch)
{
	watch->seen = read_io(watch->pids[watch->ssh]);
	watch->seen_cpu_ns = cpu_ns(watch);
	watch->progress_ns = xb_clock_ns();
}

/*
 * Payload is written to the wire, or read from it. An ssh that has nothing more to write still
 * reads the window that the far side grants as it takes what is under way: bytes that come and are
 * not answered, as a keepalive is.
 */
static bool
has_moved(const struct xb_openssh_watch *watch, const struct xb_openssh_io *io, int64_t cpu)
{
	if (!io->known || !watch->seen.known)
		return cpu > watch->seen_cpu_ns;
	return io->written - watch->seen.written >= PROGRESS_BYTES ||
	    io->read - watch->seen.read >= PROGRESS_BYTES ||
	    (io->read > watch->seen.read && io->written == watch->seen.written);
}

bool
xb_openssh_watch_moved(struct xb_openssh_watch *watch)
{
	const struct xb_openssh_io io = read_io(watch->pids[watch->ssh]);
	const int64_t cpu = io.known ? 0 : cpu_ns(watch);

	if (!has_moved(watch, &io, cpu))
		return false;
	watch->seen = io;
	watch->seen_cpu_ns = cpu;
	watch->progress_ns = xb_clock_ns();
	return true;
}
