#ifndef XB_BASE_AFFINITY_H
#define XB_BASE_AFFINITY_H

#include <stdbool.h>

/* Where the two ends of a private transfer run. */
struct xb_affinity {
	bool pinned;    /* false: fewer than two CPUs are allowed to us, or pinning is off */
	int client_cpu; /* -1 when not pinned */
	int server_cpu;
	bool siblings; /* only two threads of one core were to be had */
};

/* Chooses two allowed CPUs on different cores where there are such (thread_siblings_list). */
struct xb_affinity xb_affinity_choose(void);

/* Neither end pinned. */
struct xb_affinity xb_affinity_none(void);

/* Moves the calling process to one CPU; -1 does nothing. False with errno when refused. */
bool xb_affinity_pin(int cpu);

#endif
