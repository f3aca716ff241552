#ifndef XB_BASE_PROC_H
#define XB_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* CPU time of this machine since boot, all CPUs, in nanoseconds (from clock ticks). */
struct xb_cpu_times {
	int64_t busy_ns;  /* user, nice, system */
	int64_t irq_ns;   /* irq and softirq: the network's share belongs to nobody */
	int64_t steal_ns; /* taken by the hypervisor */
};

/* Reads /proc/stat; false where there is none. */
bool xb_cpu_times_read(struct xb_cpu_times *times);

/*
 * CPU nanoseconds that a process (all its threads) has used: the schedstat of its threads, else the
 * ticks of /proc/PID/stat (10 ms). A zombie still has its time. False when it is gone.
 */
bool xb_proc_cpu_ns(pid_t pid, int64_t *ns);

/*
 * CPU nanoseconds of the children that a live process has waited for, and of theirs: ticks of 10 ms,
 * user and system each rounded down. False when it is gone.
 */
bool xb_proc_waited_ns(pid_t pid, int64_t *ns);

/* The command name of a process (/proc/PID/comm), printable; false when it is gone. */
bool xb_proc_name(pid_t pid, char *out, size_t size);

/*
 * All living descendants of root, parents before children, root itself not included; at most max.
 * Returns how many were written. Zombies are left out.
 */
size_t xb_proc_descendants(pid_t root, pid_t *pids, size_t max);

/* SIGKILL to all descendants of root, again until none is left or 2 s are over. Reaps nobody. */
void xb_proc_kill_descendants(pid_t root);

#endif
