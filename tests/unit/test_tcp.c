#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/proc.h"
#include "base/signals.h"
#include "bench/trial.h"
#include "client/client.h"
#include "client/payload.h"
#include "client/tcp.h"
#include "model/sample.h"

/* No multiple of any buffer. */
#define SIZE UINT64_C(30000017)

/* Short enough to wait for where something is stuck. */
#define SHORT_NS (2 * XB_NS_PER_SECOND)

static struct xb_payload *payload;

static int
set_up_group(void **state)
{
	const struct xb_payload_options options = { .what = "random", .seed = 1 };

	(void)state;
	payload = xb_payload_new(&options, NULL);
	return payload != NULL ? 0 : -1;
}

static int
tear_down_group(void **state)
{
	(void)state;
	xb_payload_free(payload);
	return 0;
}

static struct xb_sample
run_trial(enum xb_direction direction, uint64_t size, int64_t time_ns, unsigned streams)
{
	const struct xb_trial trial = {
		.client = &xb_client_tcp,
		.method = XB_METHOD_EXEC,
		.direction = direction,
		.streams = streams,
		.payload = payload,
		.size = size,
		.time_ns = time_ns,
		.stall_ns = 10 * XB_NS_PER_SECOND,
		.client_cpu = -1,
		.server_cpu = -1,
	};
	struct xb_trial_end end;
	struct xb_sample sample;

	xb_trial_run(&trial, &sample, &end);
	if (sample.status != XB_MEASURED)
		fail_msg("%s", sample.reason);
	return sample;
}

static void
size_is_moved_exactly_either_way(void **state)
{
	struct xb_sample sample;

	(void)state;
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		sample = run_trial((enum xb_direction)direction, SIZE, 0, 1);
		assert_int_equal(sample.bytes, SIZE);
		/* Nothing frames the bytes, and no session is behind them. */
		assert_int_equal(sample.wire_bytes, SIZE);
		assert_string_equal(sample.negotiated.cipher, "");
		assert_true(sample.seconds > 0);
		assert_true(sample.client_cpu_seconds > 0);
		assert_true(sample.server_cpu_seconds > 0);
	}
}

static void
time_box_is_filled(void **state)
{
	struct xb_sample sample;

	(void)state;
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		sample = run_trial((enum xb_direction)direction, 0, 100 * XB_NS_PER_MS, 1);
		assert_true(sample.bytes > 0);
		assert_true(sample.seconds >= 0.1);
	}
}

static void
several_streams_add_up(void **state)
{
	struct xb_sample sample;

	(void)state;
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		sample = run_trial((enum xb_direction)direction, SIZE, 0, 2);
		assert_int_equal(sample.bytes, 2 * SIZE);
	}
}

/* A transfer in this very process, where what is left behind can be seen. */
struct direct {
	int signo; /* for the process at the other end, at the ready line; 0: none */
	unsigned ends;
	bool refused;
};

static bool
on_ready(void *ctx)
{
	const struct direct *direct = ctx;
	pid_t far;

	assert_int_equal(xb_proc_descendants(getpid(), &far, 1), 1);
	if (direct->signo != 0)
		assert_int_equal(kill(far, direct->signo), 0);
	return !direct->refused;
}

static void
on_end(void *ctx)
{
	struct direct *direct = ctx;

	direct->ends++;
}

/* The lowest descriptor that is free. */
static int
next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static bool
run_direct(enum xb_direction direction, struct direct *direct, struct xb_err *err)
{
	struct xb_live live = { .bytes = 0 };
	const struct xb_transfer transfer = {
		.direction = direction,
		.payload = payload,
		.server_cpu = -1,
		.size = SIZE,
		.stall_ns = SHORT_NS,
		.live = &live,
		.on_ready = on_ready,
		.on_end = on_end,
		.ctx = direct,
	};
	struct xb_outcome outcome = { .bytes = 0 };
	const int before = next_fd();
	bool ok = xb_client_tcp.transfer(&transfer, &outcome, err);
	pid_t left;

	assert_int_equal(xb_proc_descendants(getpid(), &left, 1), 0);
	assert_int_equal(next_fd(), before);
	if (ok)
		assert_int_equal(outcome.bytes, SIZE);
	return ok;
}

static void
nothing_is_left_behind(void **state)
{
	struct direct direct = { .signo = 0 };
	struct xb_err err = { .fault = XB_FAULT_NONE };

	(void)state;
	assert_true(run_direct(XB_UPLOAD, &direct, &err));
	assert_true(run_direct(XB_DOWNLOAD, &direct, &err));
	assert_int_equal(direct.ends, 2);
}

static void
expect_failure(enum xb_direction direction, struct direct direct, const char *reason)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	assert_false(run_direct(direction, &direct, &err));
	assert_int_equal(err.fault, XB_FAULT_TRIAL);
	assert_int_equal(direct.ends, 0);
	if (strstr(err.text, reason) == NULL)
		fail_msg("'%s' is not in: %s", reason, err.text);
}

static void
stream_does_not_begin_when_another_one_has_failed(void **state)
{
	(void)state;
	expect_failure(XB_UPLOAD, (struct direct){ .refused = true }, "another stream");
	expect_failure(XB_DOWNLOAD, (struct direct){ .refused = true }, "another stream");
}

static void
death_of_the_other_end_is_told(void **state)
{
	(void)state;
	expect_failure(XB_UPLOAD, (struct direct){ .signo = SIGKILL }, "write: ");
	expect_failure(XB_DOWNLOAD, (struct direct){ .signo = SIGKILL }, "");
}

static void
other_end_that_is_stuck_ends_in_time(void **state)
{
	(void)state;
	expect_failure(XB_UPLOAD, (struct direct){ .signo = SIGSTOP }, "took no data for 2 s");
	expect_failure(XB_DOWNLOAD, (struct direct){ .signo = SIGSTOP }, "sent no data for 2 s");
}

static void
other_methods_are_not_there(void **state)
{
	(void)state;
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		enum xb_direction way = (enum xb_direction)direction;

		assert_null(xb_client_tcp.cannot(XB_METHOD_EXEC, way));
		assert_non_null(xb_client_tcp.cannot(XB_METHOD_SCP, way));
		assert_non_null(xb_client_tcp.cannot(XB_METHOD_SFTP, way));
		assert_non_null(xb_client_tcp.cannot(XB_METHOD_LOGIN, way));
	}
	assert_false(xb_client_tcp.ranked);
	assert_null(xb_client_tcp.algorithms);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_is_moved_exactly_either_way),
		cmocka_unit_test(time_box_is_filled),
		cmocka_unit_test(several_streams_add_up),
		cmocka_unit_test(nothing_is_left_behind),
		cmocka_unit_test(stream_does_not_begin_when_another_one_has_failed),
		cmocka_unit_test(death_of_the_other_end_is_told),
		cmocka_unit_test(other_end_that_is_stuck_ends_in_time),
		cmocka_unit_test(other_methods_are_not_there),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
