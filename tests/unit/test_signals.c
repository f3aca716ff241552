#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/signals.h"

/* Handlers belong to a process, so each claim is looked at in one of its own. */
#define EXPECT(claim) \
	do { \
		if (!(claim)) { \
			fprintf(stderr, "# %s:%d: %s\n", __FILE__, __LINE__, #claim); \
			_exit(1); \
		} \
	} while (0)

static int
run_apart(void (*body)(void))
{
	const pid_t pid = fork();
	int status = -1;

	assert_true(pid >= 0);
	if (pid == 0) {
		/* What the test runner's parent ignores is not to decide a test. */
		signal(SIGHUP, SIG_DFL);
		signal(SIGPIPE, SIG_DFL);
		alarm(20);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
assert_holds(void (*body)(void))
{
	assert_int_equal(run_apart(body), 0);
}

static void
pending_body(void)
{
	xb_signals_init();
	EXPECT(xb_signals_pending() == 0);
	raise(SIGTERM);
	EXPECT(xb_signals_pending() == SIGTERM);
}

static void
blocked_signal_is_seen_without_a_poll(void **state)
{
	(void)state;
	assert_holds(pending_body);
}

static void
first_body(void)
{
	xb_signals_init();
	raise(SIGHUP);
	EXPECT(xb_signals_pending() == SIGHUP);
	raise(SIGINT);
	raise(SIGTERM);
	EXPECT(xb_signals_pending() == SIGHUP);
	EXPECT(xb_signals_poll(NULL, 0, INT64_MAX) == -1 && errno == EINTR);
	EXPECT(xb_signals_pending() == SIGHUP);
}

static void
first_signal_stays_the_answer(void **state)
{
	(void)state;
	assert_holds(first_body);
}

static void
poll_body(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct pollfd fd = { .events = POLLIN };
	int fds[2];

	xb_signals_init();
	EXPECT(pipe(fds) == 0);
	fd.fd = fds[0];
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		raise(signals[i]);
		EXPECT(xb_signals_poll(&fd, 1, INT64_MAX) == -1 && errno == EINTR);
		EXPECT(xb_signals_pending() == SIGINT);
	}
}

static void
each_end_signal_ends_a_poll(void **state)
{
	(void)state;
	assert_holds(poll_body);
}

static void
plain_poll_body(void)
{
	struct pollfd fd = { .events = POLLIN };
	int64_t before;
	int fds[2];

	xb_signals_init();
	EXPECT(pipe(fds) == 0);
	fd.fd = fds[0];
	before = xb_clock_ns();
	EXPECT(xb_signals_poll(&fd, 1, before + 20 * XB_NS_PER_MS) == 0);
	EXPECT(xb_clock_ns() - before >= 20 * XB_NS_PER_MS);
	EXPECT(xb_signals_poll(&fd, 1, before) == 0);
	EXPECT(write(fds[1], "x", 1) == 1);
	EXPECT(xb_signals_poll(&fd, 1, INT64_MAX) == 1 && fd.revents == POLLIN);
	EXPECT(xb_signals_pending() == 0);
}

static void
poll_keeps_its_deadline_and_sees_descriptors(void **state)
{
	(void)state;
	assert_holds(plain_poll_body);
}

static void
child_body(void)
{
	pid_t pid;

	xb_signals_init();
	pid = fork();
	if (pid == 0)
		_exit(0);
	EXPECT(pid > 0);
	/* However early it ended: the signal waits for the poll. */
	EXPECT(xb_signals_poll(NULL, 0, INT64_MAX) == -1 && errno == EINTR);
	EXPECT(xb_signals_pending() == 0);
	EXPECT(waitpid(pid, NULL, WNOHANG) == pid);
}

static void
end_of_a_child_ends_a_poll(void **state)
{
	(void)state;
	assert_holds(child_body);
}

static void
continued_body(void)
{
	xb_signals_init();
	EXPECT(!xb_signals_was_continued());
	raise(SIGCONT);
	EXPECT(xb_signals_pending() == 0);
	EXPECT(xb_signals_was_continued());
	EXPECT(!xb_signals_was_continued());
	raise(SIGTERM);
	EXPECT(xb_signals_pending() == SIGTERM);
	raise(SIGCONT);
	EXPECT(xb_signals_pending() == SIGTERM);
	EXPECT(xb_signals_was_continued());
	EXPECT(xb_signals_pending() == SIGTERM);
}

static void
stop_and_continue_is_noted_once(void **state)
{
	(void)state;
	assert_holds(continued_body);
}

static void
stopped_body(void)
{
	xb_signals_init();
	raise(SIGSTOP);
	EXPECT(xb_signals_was_continued());
}

static void
real_stop_is_noted(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(20);
		stopped_body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
pipe_body(void)
{
	int fds[2];

	xb_signals_init();
	EXPECT(pipe(fds) == 0);
	close(fds[0]);
	EXPECT(write(fds[1], "x", 1) == -1 && errno == EPIPE);
	EXPECT(xb_signals_pending() == SIGPIPE);
}

static void
reader_that_went_away_asks_us_to_end(void **state)
{
	(void)state;
	assert_holds(pipe_body);
}

static void
quota_body(void)
{
	const struct rlimit none = { .rlim_cur = 0, .rlim_max = RLIM_INFINITY };
	FILE *file = tmpfile();

	xb_signals_init();
	EXPECT(file != NULL);
	EXPECT(setrlimit(RLIMIT_FSIZE, &none) == 0);
	EXPECT(write(fileno(file), "x", 1) == -1 && errno == EFBIG);
	EXPECT(xb_signals_pending() == 0);
}

static void
full_quota_is_an_error_not_an_end(void **state)
{
	(void)state;
	assert_holds(quota_body);
}

static void
nohup_body(void)
{
	signal(SIGHUP, SIG_IGN);
	xb_signals_init();
	raise(SIGHUP);
	EXPECT(xb_signals_pending() == 0);
	raise(SIGTERM);
	EXPECT(xb_signals_pending() == SIGTERM);
}

static void
hangup_stays_ignored_under_nohup(void **state)
{
	(void)state;
	assert_holds(nohup_body);
}

static void
worker_body(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	sigset_t mask;
	pid_t pid;

	xb_signals_init();
	raise(SIGTERM);
	EXPECT(xb_signals_pending() == SIGTERM);
	xb_signals_worker();
	EXPECT(xb_signals_pending() == 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		raise(signals[i]);
		sigprocmask(SIG_BLOCK, NULL, &mask);
		EXPECT(sigismember(&mask, signals[i]) == 0);
	}
	EXPECT(xb_signals_pending() == 0);
	EXPECT(xb_signals_poll(NULL, 0, xb_clock_ns()) == 0);
	raise(SIGCONT);
	EXPECT(xb_signals_was_continued());
	pid = fork();
	if (pid == 0)
		_exit(0);
	EXPECT(pid > 0);
	EXPECT(xb_signals_poll(NULL, 0, INT64_MAX) == -1 && errno == EINTR);
	EXPECT(waitpid(pid, NULL, 0) == pid);
}

static void
worker_leaves_end_signals_to_its_parent(void **state)
{
	(void)state;
	assert_holds(worker_body);
}

static void
raise_body(void)
{
	xb_signals_init();
	raise(SIGTERM);
	xb_signals_raise(xb_signals_pending());
}

static void
raise_worker_body(void)
{
	xb_signals_init();
	xb_signals_worker();
	xb_signals_raise(SIGINT);
}

static void
calling_shell_sees_the_signal_itself(void **state)
{
	int status;

	(void)state;
	status = run_apart(raise_body);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	status = run_apart(raise_worker_body);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocked_signal_is_seen_without_a_poll),
		cmocka_unit_test(first_signal_stays_the_answer),
		cmocka_unit_test(each_end_signal_ends_a_poll),
		cmocka_unit_test(poll_keeps_its_deadline_and_sees_descriptors),
		cmocka_unit_test(end_of_a_child_ends_a_poll),
		cmocka_unit_test(stop_and_continue_is_noted_once),
		cmocka_unit_test(real_stop_is_noted),
		cmocka_unit_test(reader_that_went_away_asks_us_to_end),
		cmocka_unit_test(full_quota_is_an_error_not_an_end),
		cmocka_unit_test(hangup_stays_ignored_under_nohup),
		cmocka_unit_test(worker_leaves_end_signals_to_its_parent),
		cmocka_unit_test(calling_shell_sees_the_signal_itself),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
