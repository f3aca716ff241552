#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"
#include "base/worker.h"

/* Each worker does what its ctx, a function, says. */
struct task {
	void (*run)(int out_fd);
};

static void
work(int out_fd, void *ctx)
{
	const struct task *task = ctx;

	task->run(out_fd);
}

static struct xb_worker_result
run_worker(void (*run)(int out_fd), int64_t deadline_ns, bool (*is_alive)(void *), void *out,
    size_t size)
{
	struct task task = { .run = run };
	const struct xb_worker worker = {
		.work = work,
		.ctx = &task,
		.deadline_ns = deadline_ns,
		.is_alive = is_alive,
	};
	struct xb_worker_result result;
	struct xb_err err = { 0 };

	xb_worker_run(&worker, out, size, &result, &err);
	assert_int_equal(err.fault, XB_FAULT_NONE);
	/* Whatever became of it, nobody is left to be waited for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	return result;
}

static void
say_hello(int out_fd)
{
	xb_write_all(out_fd, "hello", 5);
}

static void
say_in_pieces(int out_fd)
{
	for (int i = 0; i < 1000; i++)
		xb_write_all(out_fd, "0123456789", 10);
}

static void
say_and_sleep(int out_fd)
{
	xb_write_all(out_fd, "half", 4);
	for (;;)
		pause();
}

static void
say_and_crash(int out_fd)
{
	xb_write_all(out_fd, "half", 4);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void
exit_badly(int out_fd)
{
	(void)out_fd;
	_exit(7);
}

static void
use_cpu_and_memory(int out_fd)
{
	const size_t size = 32 * 1024 * 1024;
	volatile char *memory = malloc(size);
	int64_t end = xb_clock_cpu_ns() + 50 * XB_NS_PER_MS;

	(void)out_fd;
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	while (xb_clock_cpu_ns() < end)
		continue;
	free((void *)(uintptr_t)memory);
}

static void
end_this_program(int out_fd)
{
	(void)out_fd;
	kill(getppid(), SIGTERM);
	for (;;)
		pause();
}

static bool
never_alive(void *ctx)
{
	(void)ctx;
	return false;
}

static bool
always_alive(void *ctx)
{
	(void)ctx;
	return true;
}

static void
output_arrives_whole(void **state)
{
	struct xb_worker_result result;
	char out[20000];

	(void)state;
	result = run_worker(say_hello, INT64_MAX, NULL, out, sizeof(out));
	assert_int_equal(result.end, XB_WORKER_DONE);
	assert_int_equal(result.len, 5);
	assert_memory_equal(out, "hello", 5);
	result = run_worker(say_in_pieces, INT64_MAX, always_alive, out, sizeof(out));
	assert_int_equal(result.end, XB_WORKER_DONE);
	assert_int_equal(result.len, 10000);
	for (size_t i = 0; i < 10000; i++)
		assert_int_equal(out[i], '0' + i % 10);
}

static void
output_beyond_the_buffer_is_dropped_and_holds_nobody_up(void **state)
{
	struct xb_worker_result result;
	char out[16];

	(void)state;
	memset(out, 'x', sizeof(out));
	result = run_worker(say_in_pieces, INT64_MAX, NULL, out, 12);
	assert_int_equal(result.end, XB_WORKER_DONE);
	assert_int_equal(result.len, 12);
	assert_memory_equal(out, "012345678901xxxx", 16);
}

static void
crash_is_told_with_its_signal(void **state)
{
	struct xb_worker_result result;
	char out[16];

	(void)state;
	result = run_worker(say_and_crash, INT64_MAX, NULL, out, sizeof(out));
	assert_int_equal(result.end, XB_WORKER_DIED);
	assert_int_equal(result.len, 4);
	assert_true(WIFSIGNALED(result.status));
	assert_int_equal(WTERMSIG(result.status), SIGSEGV);
}

static void
bad_exit_status_is_no_success(void **state)
{
	struct xb_worker_result result;
	char out[16];

	(void)state;
	result = run_worker(exit_badly, INT64_MAX, NULL, out, sizeof(out));
	assert_int_equal(result.end, XB_WORKER_DIED);
	assert_int_equal(WEXITSTATUS(result.status), 7);
}

static void
deadline_ends_a_worker(void **state)
{
	int64_t start = xb_clock_ns();
	struct xb_worker_result result;
	char out[16];

	(void)state;
	result = run_worker(say_and_sleep, start + 50 * XB_NS_PER_MS, NULL, out, sizeof(out));
	assert_int_equal(result.end, XB_WORKER_DEADLINE);
	assert_int_equal(result.len, 4);
	assert_true(xb_clock_ns() - start >= 50 * XB_NS_PER_MS);
	assert_true(xb_clock_ns() - start < 20 * XB_NS_PER_SECOND);
}

static void
worker_that_is_called_hung_is_ended(void **state)
{
	struct xb_worker_result result;
	char out[16];

	(void)state;
	result = run_worker(say_and_sleep, INT64_MAX, never_alive, out, sizeof(out));
	assert_int_equal(result.end, XB_WORKER_HUNG);
}

static void
cpu_and_peak_memory_are_the_workers_own(void **state)
{
	struct xb_worker_result small, large;
	char out[16];

	(void)state;
	small = run_worker(say_hello, INT64_MAX, NULL, out, sizeof(out));
	large = run_worker(use_cpu_and_memory, INT64_MAX, NULL, out, sizeof(out));
	assert_true(large.cpu_ns >= 50 * XB_NS_PER_MS);
	assert_true(small.cpu_ns < large.cpu_ns);
	assert_true(large.peak_kib - small.peak_kib > 25 * 1024);
}

/* Several tasks at once; ended counts how often a worker was told to be gone. */
#define CREW 4u
#define HANG_NS (60 * XB_NS_PER_SECOND)
#define ROOM 16u

struct crew {
	struct task tasks[CREW];
	struct xb_worker workers[CREW];
	struct xb_worker_result results[CREW];
	char out[CREW * ROOM];
};

static unsigned ended;

static void
count_end(void *ctx, const struct xb_worker_result *result)
{
	(void)ctx;
	assert_true(result->end != XB_WORKER_ERROR);
	ended++;
}

static void
run_crew(struct crew *crew, void (*const *runs)(int out_fd), size_t count, int64_t time_ns)
{
	struct xb_err err = { 0 };

	ended = 0;
	memset(crew, 0, sizeof(*crew));
	for (size_t i = 0; i < count; i++) {
		crew->tasks[i].run = runs[i];
		crew->workers[i] = (struct xb_worker){
			.work = work,
			.ctx = &crew->tasks[i],
			.deadline_ns = xb_clock_ns() + time_ns,
			.on_end = count_end,
		};
	}
	xb_worker_run_all(crew->workers, count, crew->out, ROOM, crew->results, &err);
	assert_int_equal(err.fault, XB_FAULT_NONE);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(ended, count);
}

static void
workers_side_by_side_have_each_their_own_end(void **state)
{
	void (*const runs[CREW])(int) = { say_and_sleep, say_hello, exit_badly, say_in_pieces };
	struct crew crew;

	(void)state;
	run_crew(&crew, runs, CREW, XB_NS_PER_SECOND);
	assert_int_equal(crew.results[0].end, XB_WORKER_DEADLINE);
	assert_int_equal(crew.results[0].len, 4);
	assert_memory_equal(crew.out, "half", 5);
	assert_int_equal(crew.results[1].end, XB_WORKER_DONE);
	assert_memory_equal(crew.out + ROOM, "hello", 6);
	assert_int_equal(crew.results[2].end, XB_WORKER_DIED);
	assert_int_equal(WEXITSTATUS(crew.results[2].status), 7);
	assert_int_equal(crew.results[3].end, XB_WORKER_DONE);
	/* As much as there is room for, and not a byte into the next one's. */
	assert_int_equal(crew.results[3].len, ROOM);
	assert_memory_equal(crew.out + 3 * ROOM, "0123456789012345", ROOM);
}

/* Shared: how many have come. */
static _Atomic unsigned *here;

static void
wait_for_all(int out_fd)
{
	atomic_fetch_add(here, 1);
	while (atomic_load(here) < CREW)
		usleep(1000);
	xb_write_all(out_fd, "met", 3);
}

static void
workers_run_at_the_same_time(void **state)
{
	void (*runs[CREW])(int);
	struct crew crew;

	(void)state;
	for (size_t i = 0; i < CREW; i++)
		runs[i] = wait_for_all;
	here = mmap(NULL, sizeof(*here), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(here != MAP_FAILED);
	run_crew(&crew, runs, CREW, HANG_NS);
	for (size_t i = 0; i < CREW; i++)
		assert_int_equal(crew.results[i].end, XB_WORKER_DONE);
}

/* Last of all: from here on this program has been asked to end. */
static void
signal_ends_every_worker(void **state)
{
	void (*const runs[2])(int) = { say_and_sleep, say_and_sleep };
	struct crew crew;
	struct xb_worker_result result;
	char out[16];

	(void)state;
	result = run_worker(end_this_program, INT64_MAX, NULL, out, sizeof(out));
	assert_int_equal(result.end, XB_WORKER_SIGNAL);
	assert_int_equal(xb_signals_pending(), SIGTERM);
	/* And no other one gets to do much. */
	result = run_worker(say_and_sleep, INT64_MAX, NULL, out, sizeof(out));
	assert_int_equal(result.end, XB_WORKER_SIGNAL);
	run_crew(&crew, runs, 2, HANG_NS);
	assert_int_equal(crew.results[0].end, XB_WORKER_SIGNAL);
	assert_int_equal(crew.results[1].end, XB_WORKER_SIGNAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_arrives_whole),
		cmocka_unit_test(output_beyond_the_buffer_is_dropped_and_holds_nobody_up),
		cmocka_unit_test(crash_is_told_with_its_signal),
		cmocka_unit_test(bad_exit_status_is_no_success),
		cmocka_unit_test(deadline_ends_a_worker),
		cmocka_unit_test(worker_that_is_called_hung_is_ended),
		cmocka_unit_test(cpu_and_peak_memory_are_the_workers_own),
		cmocka_unit_test(workers_side_by_side_have_each_their_own_end),
		cmocka_unit_test(workers_run_at_the_same_time),
		cmocka_unit_test(signal_ends_every_worker),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
