#ifndef XB_TARGET_PRIVATE_CPU_H
#define XB_TARGET_PRIVATE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * CPU time of the processes below the listener. A process that its own parent has waited for is in
 * the parent's account alone, which a living parent shows in ticks of 10 ms only: so what each process
 * had used when it was last seen is kept until the parent's exact account comes in.
 */
struct xb_private_cpu {
	int64_t reaped_ns; /* exact: waited for by us, with all that those had waited for */
	int64_t gone_ns;   /* last seen of processes that others have waited for since */
	size_t count;
	struct xb_private_seen {
		pid_t pid;
		int64_t ns;
	} * seen; /* the living, at the last look */
};

/* Waits for what has ended. Returns how many there were; *idle when no process is left below us. */
unsigned xb_private_cpu_reap(struct xb_private_cpu *cpu, bool *idle);

/* CPU nanoseconds so far of all that live and lived since the last reset. */
int64_t xb_private_cpu_look(struct xb_private_cpu *cpu);

/* Begins anew, when nothing lives. */
void xb_private_cpu_reset(struct xb_private_cpu *cpu);
void xb_private_cpu_free(struct xb_private_cpu *cpu);

#endif
