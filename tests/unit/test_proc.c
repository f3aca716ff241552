#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/affinity.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/proc.h"

#define BURN_NS (60 * XB_NS_PER_MS)

static void
burn_cpu(int64_t ns)
{
	const int64_t end = xb_clock_cpu_ns() + ns;

	while (xb_clock_cpu_ns() < end)
		;
}

static void __attribute__((noreturn)) wait_to_be_killed(void)
{
	for (;;)
		pause();
}

/* Runs body in a worker, which sends the number that body returns and then waits for its end. */
static pid_t
start_worker(int64_t (*body)(void), int64_t *number)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	int64_t sent;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = xb_child_fork(&err);
	if (pid == 0) {
		sent = body();
		xb_write_all(fds[1], &sent, sizeof(sent));
		wait_to_be_killed();
	}
	assert_true(pid > 0);
	assert_int_equal(xb_read_all(fds[0], number, sizeof(*number)), sizeof(*number));
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static void
end_worker(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
machine_times_grow_by_what_is_used(void **state)
{
	struct xb_cpu_times before, after;

	(void)state;
	assert_true(xb_cpu_times_read(&before));
	burn_cpu(2 * BURN_NS);
	assert_true(xb_cpu_times_read(&after));
	/* Counted in ticks of 10 ms: half of it is far from the edge. */
	assert_true(after.busy_ns - before.busy_ns >= BURN_NS);
	assert_true(after.irq_ns >= before.irq_ns);
	assert_true(after.steal_ns >= before.steal_ns);
}

static int64_t
burn_body(void)
{
	burn_cpu(BURN_NS);
	return xb_clock_cpu_ns();
}

static void *
thread_main(void *done_fd)
{
	burn_cpu(BURN_NS);
	xb_write_all(*(int *)done_fd, "", 1);
	wait_to_be_killed();
}

static int64_t
thread_body(void)
{
	pthread_t thread;
	char byte;
	int fds[2];

	if (pipe(fds) != 0 || pthread_create(&thread, NULL, thread_main, &fds[1]) != 0 ||
	    xb_read_all(fds[0], &byte, 1) != 1)
		return -1;
	return xb_clock_cpu_ns();
}

/* Compares what we see of a process with what it knows of itself. */
static void
assert_cpu_is_known(int64_t (*body)(void))
{
	int64_t known, seen = 0;
	pid_t pid = start_worker(body, &known);
	int status;

	/* The kernel brings the figure up to date when a process leaves its CPU. */
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_true(known >= BURN_NS);
	assert_true(xb_proc_cpu_ns(pid, &seen));
	if (seen < known / 2 || seen > known * 2)
		fail_msg("%lld ns seen, %lld ns known", (long long)seen, (long long)known);
	end_worker(pid);
}

static void
cpu_of_a_process_agrees_with_its_own_clock(void **state)
{
	(void)state;
	assert_cpu_is_known(burn_body);
}

static void
cpu_of_all_threads_counts(void **state)
{
	(void)state;
	assert_cpu_is_known(thread_body);
}

static int64_t
odd_name_body(void)
{
	return prctl(PR_SET_NAME, ") Z 1 (\n\033");
}

static void
odd_process_name_misleads_nobody(void **state)
{
	int64_t result, ns;
	pid_t pid = start_worker(odd_name_body, &result);
	pid_t found[4];
	char name[64];

	(void)state;
	assert_int_equal(result, 0);
	assert_true(xb_proc_name(pid, name, sizeof(name)));
	assert_string_equal(name, ") Z 1 ( \\x1b");
	assert_true(xb_proc_cpu_ns(pid, &ns));
	assert_int_equal(xb_proc_descendants(getpid(), found, 4), 1);
	assert_int_equal(found[0], pid);
	end_worker(pid);
}

static void
process_that_is_gone_has_nothing(void **state)
{
	int64_t number, ns;
	pid_t pid = start_worker(burn_body, &number);
	char name[64];

	(void)state;
	end_worker(pid);
	assert_false(xb_proc_cpu_ns(pid, &ns));
	assert_false(xb_proc_name(pid, name, sizeof(name)));
}

/* A worker with a child of its own, whose pid it returns. */
static int64_t
parent_body(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		wait_to_be_killed();
	return pid;
}

static void
descendants_come_parents_first(void **state)
{
	int64_t grandchild, other;
	pid_t child = start_worker(parent_body, &grandchild);
	pid_t second = start_worker(odd_name_body, &other);
	pid_t found[8];
	size_t at_child = 8, at_grandchild = 8;

	(void)state;
	assert_int_equal(xb_proc_descendants(getpid(), found, 8), 3);
	for (size_t i = 0; i < 3; i++) {
		at_child = found[i] == child ? i : at_child;
		at_grandchild = found[i] == grandchild ? i : at_grandchild;
	}
	assert_true(at_child < at_grandchild && at_grandchild < 8);
	assert_int_equal(xb_proc_descendants(child, found, 8), 1);
	assert_int_equal(found[0], grandchild);
	assert_int_equal(xb_proc_descendants(second, found, 8), 0);
	/* No more than there is room for. */
	found[1] = found[2] = -7;
	assert_int_equal(xb_proc_descendants(getpid(), found, 1), 1);
	assert_int_equal(found[1], -7);
	assert_int_equal(xb_proc_descendants(getpid(), NULL, 0), 0);
	xb_proc_kill_descendants(getpid());
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void
zombies_are_left_out(void **state)
{
	int64_t number;
	pid_t pid = start_worker(odd_name_body, &number);
	siginfo_t info;
	pid_t found[4];

	(void)state;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(xb_proc_descendants(getpid(), found, 4), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
no_root_has_no_descendants(void **state)
{
	pid_t found[4];

	(void)state;
	assert_int_equal(xb_proc_descendants(0, found, 4), 0);
	assert_int_equal(xb_proc_descendants(-1, found, 4), 0);
}

static void
killing_descendants_leaves_none(void **state)
{
	int64_t grandchild;
	pid_t child = start_worker(parent_body, &grandchild);
	pid_t found[4];
	int status;

	(void)state;
	/* A stopped process is killed like any other. */
	kill((pid_t)grandchild, SIGSTOP);
	xb_proc_kill_descendants(getpid());
	assert_int_equal(xb_proc_descendants(getpid(), found, 4), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(waitpid((pid_t)grandchild, &status, 0), grandchild);
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void
two_ends_never_share_a_cpu(void **state)
{
	const struct xb_affinity chosen = xb_affinity_choose();
	cpu_set_t allowed;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	assert_int_equal(chosen.pinned, CPU_COUNT(&allowed) >= 2);
	if (chosen.pinned) {
		assert_true(CPU_ISSET(chosen.client_cpu, &allowed));
		assert_true(CPU_ISSET(chosen.server_cpu, &allowed));
		assert_int_not_equal(chosen.client_cpu, chosen.server_cpu);
	}
}

/* Pins itself to the first allowed CPU, then asks where two ends could run. */
static int64_t
one_cpu_body(void)
{
	struct xb_affinity chosen;
	cpu_set_t allowed;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 1;
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	if (!xb_affinity_pin(cpu) || !xb_affinity_pin(-1) || sched_getcpu() != cpu)
		return 2;
	chosen = xb_affinity_choose();
	return !chosen.pinned && chosen.client_cpu == -1 && chosen.server_cpu == -1 ? 0 : 3;
}

static void
one_allowed_cpu_means_no_pinning(void **state)
{
	int64_t result;
	pid_t pid = start_worker(one_cpu_body, &result);

	(void)state;
	assert_int_equal(result, 0);
	end_worker(pid);
	assert_false(xb_affinity_pin(8191));
	assert_int_equal(errno, EINVAL);
}

static int
become_subreaper(void **state)
{
	(void)state;
	alarm(60);
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machine_times_grow_by_what_is_used),
		cmocka_unit_test(cpu_of_a_process_agrees_with_its_own_clock),
		cmocka_unit_test(cpu_of_all_threads_counts),
		cmocka_unit_test(odd_process_name_misleads_nobody),
		cmocka_unit_test(process_that_is_gone_has_nothing),
		cmocka_unit_test(descendants_come_parents_first),
		cmocka_unit_test(zombies_are_left_out),
		cmocka_unit_test(no_root_has_no_descendants),
		cmocka_unit_test(killing_descendants_leaves_none),
		cmocka_unit_test(two_ends_never_share_a_cpu),
		cmocka_unit_test(one_allowed_cpu_means_no_pinning),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, become_subreaper, NULL);
}
