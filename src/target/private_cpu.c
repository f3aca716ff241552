#include "target/private_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"

/* More processes than all connections of a trial ever have. */
#define DESCENDANTS_MAX 1024

static int64_t
rusage_ns(const struct rusage *usage)
{
	return ((int64_t)usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * XB_NS_PER_SECOND +
	    ((int64_t)usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

static void
forget(struct xb_private_cpu *cpu, pid_t pid)
{
	size_t i;

	for (i = 0; i < cpu->count; i++)
		if (cpu->seen[i].pid == pid) {
			cpu->seen[i] = cpu->seen[--cpu->count];
			return;
		}
}

unsigned
xb_private_cpu_reap(struct xb_private_cpu *cpu, bool *idle)
{
	struct rusage usage;
	unsigned count = 0;
	pid_t pid;

	while ((pid = wait4(-1, NULL, WNOHANG, &usage)) > 0 || (pid < 0 && errno == EINTR)) {
		if (pid < 0)
			continue;
		cpu->reaped_ns += rusage_ns(&usage);
		/* Those that were gone are in its account, exactly. */
		cpu->gone_ns = 0;
		forget(cpu, pid);
		count++;
	}
	*idle = pid < 0;
	return count;
}

/*
 * One look at the living: those of the last look that are not among them any more are gone. Both what
 * was seen of the gone and what the living have waited for are too little; the larger is taken.
 */
static int64_t
look_once(struct xb_private_cpu *cpu)
{
	pid_t pids[DESCENDANTS_MAX];
	size_t i, count = xb_proc_descendants(getpid(), pids, DESCENDANTS_MAX);
	struct xb_private_seen *now = xb_calloc(count, sizeof(*now));
	int64_t sum = 0, waited = 0, one;
	size_t living = 0;

	for (i = 0; i < count; i++) {
		if (!xb_proc_cpu_ns(pids[i], &now[living].ns))
			continue;
		now[living].pid = pids[i];
		sum += now[living].ns;
		if (xb_proc_waited_ns(pids[i], &one))
			waited += one;
		forget(cpu, pids[i]);
		living++;
	}
	for (i = 0; i < cpu->count; i++)
		cpu->gone_ns += cpu->seen[i].ns;
	free(cpu->seen);
	cpu->seen = now;
	cpu->count = living;
	return sum + (waited > cpu->gone_ns ? waited : cpu->gone_ns);
}

int64_t
xb_private_cpu_look(struct xb_private_cpu *cpu)
{
	int64_t sum;
	bool idle;

	xb_private_cpu_reap(cpu, &idle);
	/* Again when somebody ended meanwhile: its time has moved from the living to the reaped. */
	do
		sum = look_once(cpu);
	while (xb_private_cpu_reap(cpu, &idle) > 0);
	return cpu->reaped_ns + sum;
}

void
xb_private_cpu_reset(struct xb_private_cpu *cpu)
{
	xb_private_cpu_free(cpu);
	memset(cpu, 0, sizeof(*cpu));
}

void
xb_private_cpu_free(struct xb_private_cpu *cpu)
{
	free(cpu->seen);
	cpu->seen = NULL;
}
