#include "base/affinity.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"

struct xb_affinity
xb_affinity_none(void)
{
	return (struct xb_affinity){ .pinned = false, .client_cpu = -1, .server_cpu = -1 };
}

#ifdef __linux__

/* More than any kernel is built for (NR_CPUS); the kernel refuses a set smaller than its own. */
#define MAX_CPUS 8192

/* The first line of a file about a CPU; false when this kernel has none. */
static bool
read_cpu_file(int cpu, const char *name, char *out, size_t size)
{
	char path[128];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = xb_read_all(fd, out, size - 1);
	close(fd);
	if (got <= 0)
		return false;
	out[got] = '\0';
	return true;
}

/* True when cpu is in a list such as "0-1,4". */
static bool
list_has(const char *list, int cpu)
{
	char *end;
	long first, last;

	for (;;) {
		first = last = strtol(list, &end, 10);
		if (end == list)
			return false;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
}

static bool
are_siblings(int cpu, int other)
{
	char list[512];

	return read_cpu_file(cpu, "topology/thread_siblings_list", list, sizeof(list)) &&
	    list_has(list, other);
}

/* How fast a CPU is, the fastest being 1024; the same for all where cores do not differ. */
static long
capacity(int cpu)
{
	char text[32];

	return read_cpu_file(cpu, "cpu_capacity", text, sizeof(text)) ? strtol(text, NULL, 10)
								      : 1024;
}

/*
 * The fastest allowed CPU beside the taken one, the lowest number among equals, -1 when there is
 * none. With other_core, threads of the taken one's core do not count.
 */
static int
pick(const cpu_set_t *set, size_t size, int taken, bool other_core)
{
	long best_capacity = 0;
	int best = -1;

	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (!CPU_ISSET_S((size_t)cpu, size, set) || cpu == taken)
			continue;
		if (other_core && are_siblings(taken, cpu))
			continue;
		if (best < 0 || capacity(cpu) > best_capacity) {
			best_capacity = capacity(cpu);
			best = cpu;
		}
	}
	return best;
}

struct xb_affinity
xb_affinity_choose(void)
{
	struct xb_affinity chosen = xb_affinity_none();
	cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
	const size_t size = CPU_ALLOC_SIZE(MAX_CPUS);

	if (set == NULL)
		return chosen;
	CPU_ZERO_S(size, set);
	if (sched_getaffinity(0, size, set) == 0 && CPU_COUNT_S(size, set) >= 2) {
		chosen.pinned = true;
		chosen.client_cpu = pick(set, size, -1, false);
		chosen.server_cpu = pick(set, size, chosen.client_cpu, true);
		if (chosen.server_cpu < 0) {
			chosen.siblings = true;
			chosen.server_cpu = pick(set, size, chosen.client_cpu, false);
		}
	}
	CPU_FREE(set);
	return chosen;
}

bool
xb_affinity_pin(int cpu)
{
	cpu_set_t set[MAX_CPUS / CPU_SETSIZE];

	if (cpu < 0)
		return true;
	if (cpu >= MAX_CPUS) {
		errno = EINVAL;
		return false;
	}
	memset(set, 0, sizeof(set));
	CPU_SET_S((size_t)cpu, sizeof(set), set);
	return sched_setaffinity(0, sizeof(set), set) == 0;
}

#else

struct xb_affinity
xb_affinity_choose(void)
{
	return xb_affinity_none();
}

bool
xb_affinity_pin(int cpu)
{
	if (cpu < 0)
		return true;
	errno = ENOSYS;
	return false;
}

#endif
