#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/proc.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "fake_server.h"
#include "scratch.h"
#include "target/private.h"

static void
end_takes_everything_along(void **state)
{
	struct fake_server fake = fake_server_start(FAKE_STUBBORN);
	const int fd = fake_server_connect(&fake);

	(void)state;
	fake_server_say(fd, "go");
	wait_for_descendants(FAKE_STUBBORN_COUNT);
	assert_true(scratch_exists(scratch_path("outside")));
	xb_private_free(fake.server);
	assert_int_equal(count_descendants(), 0);
	assert_false(scratch_exists(scratch_path("outside")));
	xb_rundir_free(fake.dir);
	close(fd);
	xb_private_free(NULL);
}

static void
killed_listener_is_told_and_cleaned_up_after(void **state)
{
	struct fake_server fake = fake_server_start(FAKE_POLITE);
	const int fd = fake_server_connect(&fake);
	struct xb_private_usage usage;
	int64_t ns;
	pid_t pids[8];

	(void)state;
	assert_true(xb_proc_descendants(getpid(), pids, 8) >= 1);
	assert_int_equal(kill(pids[0], SIGKILL), 0);
	/* The server that it started dies with it, and what that one started has lost its client. */
	close(fd);
	wait_for_descendants(0);
	assert_false(xb_private_cpu_ns(fake.server, &ns));
	assert_false(xb_private_drain(fake.server, HANG_NS, &usage));
	xb_private_free(fake.server);
	assert_false(scratch_exists(scratch_path("outside")));
	xb_rundir_free(fake.dir);
}

static void
death_of_the_program_ends_the_server(void **state)
{
	struct fake_server fake;
	char byte;
	pid_t pid;
	int pair[2];

	(void)state;
	assert_int_equal(pipe(pair), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		fake = fake_server_start(FAKE_STUBBORN);
		if (write(fake_server_connect(&fake), "go\n", 3) != 3)
			_exit(1);
		wait_for_descendants(FAKE_STUBBORN_COUNT);
		assert_int_equal(write(pair[1], "x", 1), 1);
		kill(getpid(), SIGKILL);
	}
	close(pair[1]);
	assert_int_equal(read(pair[0], &byte, 1), 1);
	close(pair[0]);
	wait_for_descendants(0);
	assert_false(scratch_exists(scratch_path("outside")));
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* In a process of its own, since the signal stays with it. */
static void
signal_ends_the_start(void **state)
{
	struct xb_err err;
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		xb_signals_init();
		kill(getpid(), SIGINT);
		err = fake_server_refusal(FAKE_POLITE, &fake_kind, NULL);
		_exit(err.fault == XB_FAULT_SIGNAL ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(end_takes_everything_along),
		TEST(killed_listener_is_told_and_cleaned_up_after),
		TEST(death_of_the_program_ends_the_server),
		TEST(signal_ends_the_start),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, fake_server_set_up_group, NULL);
}
