#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"

/* Far from what any of these programs takes; ends a test that hangs. */
#define LONG_NS (60 * XB_NS_PER_SECOND)

#define ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

static int
wait_for(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
capture_ok(const char *const *argv, char *out, size_t size)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	int status = -1;

	if (!xb_child_capture(argv, LONG_NS, out, size, &status, &err))
		fail_msg("%s", err.text);
	assert_int_equal(status, 0);
}

static void
both_outputs_are_captured_in_their_order(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char out[64];
	int status;

	(void)state;
	assert_true(xb_child_capture(ARGV("sh", "-c", "echo one; echo two >&2; echo three; exit 3"),
	    LONG_NS, out, sizeof(out), &status, &err));
	assert_string_equal(out, "one\ntwo\nthree\n");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
}

static void
captured_program_has_no_input(void **state)
{
	char out[64];

	(void)state;
	capture_ok(ARGV("sh", "-c", "cat; readlink /proc/self/fd/0"), out, sizeof(out));
	assert_string_equal(out, "/dev/null\n");
}

static void
arguments_reach_the_program_unchanged(void **state)
{
	char out[128];

	(void)state;
	capture_ok(ARGV("printf", "<%s>", "$HOME; *", "", "a b\n\"'"), out, sizeof(out));
	assert_string_equal(out, "<$HOME; *><><a b\n\"'>");
}

static void
output_beyond_the_bound_is_dropped(void **state)
{
	char *out = malloc(9);

	(void)state;
	assert_non_null(out);
	/* Far more than a pipe holds: the program ends only because it is all read. */
	capture_ok(ARGV("head", "-c", "3000000", "/dev/zero"), out, 9);
	assert_memory_equal(out, "\0\0\0\0\0\0\0\0\0", 9);
	capture_ok(ARGV("echo", "123456789"), out, 9);
	assert_string_equal(out, "12345678");
	capture_ok(ARGV("echo", "123456789"), out, 1);
	assert_string_equal(out, "");
	capture_ok(ARGV("echo", "123456789"), NULL, 0);
	free(out);
}

/* The pid that a shell has printed; what it stands for is ours to wait for, as a subreaper. */
static pid_t
printed_pid(const char *out)
{
	const long pid = strtol(out, NULL, 10);

	assert_true(pid > 1);
	return (pid_t)pid;
}

static void
hung_program_is_killed_with_its_group(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char out[64];
	int status = 0;

	(void)state;
	assert_false(xb_child_capture(ARGV("sh", "-c", "sleep 1000 & echo $!; wait"),
	    300 * XB_NS_PER_MS, out, sizeof(out), &status, &err));
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	assert_non_null(strstr(err.text, "'sh' did not end within 300 ms and was killed"));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	status = wait_for(printed_pid(out));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void
program_that_never_stops_writing_is_killed(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char out[5];
	int status = 0;

	(void)state;
	assert_false(
	    xb_child_capture(ARGV("yes"), 100 * XB_NS_PER_MS, out, sizeof(out), &status, &err));
	assert_non_null(strstr(err.text, "'yes' did not end within 100 ms"));
	assert_string_equal(out, "y\ny\n");
}

static void
program_that_closes_its_output_and_hangs_is_killed(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char out[16];
	int status = 0;

	(void)state;
	assert_false(xb_child_capture(ARGV("sh", "-c", "echo x; exec sleep 1000 >&- 2>&-"),
	    200 * XB_NS_PER_MS, out, sizeof(out), &status, &err));
	assert_string_equal(out, "x\n");
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void
what_a_program_leaves_running_does_not_hold_up_its_end(void **state)
{
	char out[64];
	int status;

	(void)state;
	/* The sleep has the output open, so there is no end of file. */
	capture_ok(ARGV("sh", "-c", "sleep 1000 & echo $!"), out, sizeof(out));
	status = wait_for(printed_pid(out));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* In a process of its own, whose handlers are installed. */
static int
interrupted_capture(void)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char out[16];
	int status = 0;

	xb_signals_init();
	raise(SIGTERM);
	if (xb_child_capture(ARGV("sleep", "1000"), LONG_NS, out, sizeof(out), &status, &err))
		return 1;
	if (err.fault != XB_FAULT_SIGNAL || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return 2;
	return xb_signals_pending() == SIGTERM ? 0 : 3;
}

static void
signal_that_asks_us_to_end_ends_a_capture(void **state)
{
	const pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(interrupted_capture());
	assert_int_equal(wait_for(pid), 0);
}

static int
become_subreaper(void **state)
{
	(void)state;
	alarm(100);
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_outputs_are_captured_in_their_order),
		cmocka_unit_test(captured_program_has_no_input),
		cmocka_unit_test(arguments_reach_the_program_unchanged),
		cmocka_unit_test(output_beyond_the_bound_is_dropped),
		cmocka_unit_test(hung_program_is_killed_with_its_group),
		cmocka_unit_test(program_that_never_stops_writing_is_killed),
		cmocka_unit_test(program_that_closes_its_output_and_hangs_is_killed),
		cmocka_unit_test(what_a_program_leaves_running_does_not_hold_up_its_end),
		cmocka_unit_test(signal_that_asks_us_to_end_ends_a_capture),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, become_subreaper, NULL);
}
