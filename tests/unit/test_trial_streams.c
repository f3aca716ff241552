#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"
#include "bench/trial.h"
#include "client/client.h"

/* How long a silence is borne: longer than anything here takes. */
#define PATIENCE_NS (30 * XB_NS_PER_SECOND)

/* What the streams' processes leave for the test to see. */
struct seen {
	_Atomic unsigned born; /* which stream is which: they take numbers */
	_Atomic unsigned ready;
	_Atomic unsigned too_early; /* streams that began before all were ready */
	_Atomic unsigned refused;   /* streams that were told that another one has failed */
	_Atomic int64_t last_ready_ns;
};

static struct seen *seen;

static int
set_up(void **state)
{
	(void)state;
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return seen != MAP_FAILED ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	return munmap(seen, sizeof(*seen));
}

static void
burn(int64_t ns)
{
	int64_t end = xb_clock_cpu_ns() + ns;

	while (xb_clock_cpu_ns() < end)
		continue;
}

static void
tell_steps(struct xb_outcome *outcome, double number)
{
	outcome->connect_seconds = 0.1 * number;
	outcome->kex_seconds = 1 - 0.1 * number;
	outcome->auth_seconds = 0.5;
}

/* Streams 1, 2, 3 …: each is ready later than the one before, and sends ten times as much. */
static bool
ready_one_after_the_other(const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	unsigned number = atomic_fetch_add(&seen->born, 1) + 1;
	uint64_t bytes = 1;

	usleep(number * 50000);
	atomic_store(&seen->last_ready_ns, xb_clock_ns());
	atomic_fetch_add(&seen->ready, 1);
	if (!transfer->on_ready(transfer->ctx))
		return xb_fail(err, XB_FAULT_TRIAL, "told that another has failed");
	if (atomic_load(&seen->ready) != 3)
		atomic_fetch_add(&seen->too_early, 1);
	burn(20 * XB_NS_PER_MS);
	usleep(100000 - number * 20000);
	transfer->on_end(transfer->ctx);
	for (unsigned i = 1; i < number; i++)
		bytes *= 10;
	outcome->bytes = bytes;
	outcome->wire_bytes = 2 * bytes;
	outcome->programs_cpu_seconds = 0.25;
	tell_steps(outcome, number);
	return true;
}

static struct xb_sample
run_streams(bool (*transfer)(const struct xb_transfer *, struct xb_outcome *, struct xb_err *),
    unsigned streams, int64_t stall_ns, struct xb_trial_end *end)
{
	const struct xb_client client = { .name = "fake", .transfer = transfer };
	const struct xb_trial trial = {
		.client = &client,
		.streams = streams,
		.time_ns = XB_NS_PER_SECOND,
		.stall_ns = stall_ns,
		.client_cpu = -1,
		.server_cpu = -1,
	};
	struct xb_sample sample;

	memset(&sample, 0x5a, sizeof(sample));
	memset(end, 0x5a, sizeof(*end));
	xb_trial_run(&trial, &sample, end);
	/* Whatever became of them, nobody is left. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	return sample;
}

static void
streams_begin_together_and_are_added_up(void **state)
{
	struct xb_trial_end end;
	int64_t begun = xb_clock_ns(), ended;
	struct xb_sample sample = run_streams(ready_one_after_the_other, 3, PATIENCE_NS, &end);

	(void)state;
	ended = xb_clock_ns();
	if (sample.status != XB_MEASURED)
		fail_msg("%s", sample.reason);
	assert_int_equal(atomic_load(&seen->too_early), 0);
	assert_int_equal(sample.bytes, 111);
	assert_int_equal(sample.wire_bytes, 222);
	/*
	 * From the moment when the last was ready to the last one's end, and not a bit of the
	 * waiting.
	 */
	assert_true(sample.seconds >= 0.1);
	assert_true(sample.seconds <= xb_seconds(ended - atomic_load(&seen->last_ready_ns)));
	assert_true(sample.seconds <= xb_seconds(ended - begun) - 0.15);
	/* 20 ms and a program's 250 ms for each. */
	assert_true(sample.client_cpu_seconds >= 0.81);
	assert_true(sample.client_cpu_seconds < 1.2);
	/* The slowest of the three, step by step. */
	assert_true(fabs(sample.connect_seconds - 0.3) < 1e-9);
	assert_true(fabs(sample.kex_seconds - 0.9) < 1e-9);
	assert_true(isnan(sample.start_seconds));
	assert_true(sample.peak_kib > 0);
}

/* The first one knows nothing of the wire. */
static bool
one_does_not_know_the_wire(const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	(void)err;
	if (!transfer->on_ready(transfer->ctx))
		return false;
	usleep(1000);
	transfer->on_end(transfer->ctx);
	outcome->bytes = 10;
	outcome->wire_bytes = atomic_fetch_add(&seen->born, 1) == 0 ? 0 : 12;
	outcome->sink_cpu_seconds = 0.5;
	return true;
}

static void
sum_of_what_is_not_known_is_not_known(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_streams(one_does_not_know_the_wire, 2, PATIENCE_NS, &end);

	(void)state;
	assert_int_equal(sample.status, XB_MEASURED);
	assert_int_equal(sample.bytes, 20);
	assert_int_equal(sample.wire_bytes, 0);
	/* A sink of our own is the server. */
	assert_true(fabs(sample.server_cpu_seconds - 1.0) < 1e-9);
	assert_true(isnan(sample.server_core_share));
}

/* One is refused while the others wait at the start. */
static bool
second_is_refused(const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	(void)outcome;
	if (atomic_fetch_add(&seen->born, 1) == 1) {
		atomic_store(&transfer->live->phase, (int)XB_PHASE_AUTH);
		return xb_fail(err, XB_FAULT_TARGET, "login refused");
	}
	if (!transfer->on_ready(transfer->ctx)) {
		atomic_fetch_add(&seen->refused, 1);
		return xb_fail(err, XB_FAULT_TRIAL, "told that another has failed");
	}
	return true;
}

static void
failure_of_one_stream_is_the_reason_and_ends_those_that_wait(void **state)
{
	struct xb_trial_end end;
	int64_t start = xb_clock_ns();
	struct xb_sample sample = run_streams(second_is_refused, 4, PATIENCE_NS, &end);

	(void)state;
	assert_int_equal(sample.status, XB_FAILED);
	assert_true(isnan(xb_sample_rate(&sample)));
	assert_non_null(strstr(sample.reason, "login refused"));
	assert_non_null(strstr(sample.reason, " of 4"));
	assert_int_equal(end.err.fault, XB_FAULT_TARGET);
	assert_int_equal(end.phase, XB_PHASE_AUTH);
	/* Told, not killed; and long before they had waited as long as a silence is borne. */
	assert_int_equal(atomic_load(&seen->refused), 3);
	assert_true(xb_clock_ns() - start < PATIENCE_NS);
}

/* One breaks when all stream; the others would go on for a minute. */
static bool
one_dies_within(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)outcome;
	(void)err;
	if (!transfer->on_ready(transfer->ctx))
		return false;
	atomic_store(&transfer->live->phase, (int)XB_PHASE_STREAM);
	atomic_store(&transfer->live->bytes, 7);
	if (atomic_fetch_add(&seen->born, 1) == 0)
		raise(SIGKILL);
	sleep(60);
	return true;
}

static void
death_of_one_stream_ends_those_that_stream(void **state)
{
	struct xb_trial_end end;
	int64_t start = xb_clock_ns();
	struct xb_sample sample = run_streams(one_dies_within, 3, PATIENCE_NS, &end);

	(void)state;
	assert_int_equal(sample.status, XB_FAILED);
	assert_non_null(strstr(sample.reason, "died during stream: signal 9"));
	assert_int_equal(end.err.fault, XB_FAULT_TRIAL);
	assert_true(sample.bytes >= 7 && sample.bytes <= 21);
	assert_true(xb_clock_ns() - start < 30 * XB_NS_PER_SECOND);
}

/* One is never ready, though it shows signs of life. */
static bool
one_is_never_ready(const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	(void)outcome;
	if (atomic_fetch_add(&seen->born, 1) == 0)
		for (;;) {
			atomic_fetch_add(&transfer->live->beats, 1);
			usleep(100000);
		}
	if (!transfer->on_ready(transfer->ctx))
		return xb_fail(err, XB_FAULT_TRIAL, "told that another has failed");
	return true;
}

static void
stream_that_is_never_ready_is_not_waited_for_without_end(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_streams(one_is_never_ready, 2, XB_NS_PER_SECOND, &end);

	(void)state;
	assert_int_equal(sample.status, XB_FAILED);
	assert_non_null(strstr(sample.reason, "only 1 of 2 streams were ready after 1 s"));
}

/* A client that says it is done and never streamed. */
static bool
silent(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)transfer;
	(void)err;
	outcome->bytes = 1000;
	return true;
}

static void
client_that_never_says_when_has_no_rate(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_streams(silent, 1, PATIENCE_NS, &end);

	(void)state;
	assert_int_equal(sample.status, XB_FAILED);
	assert_non_null(strstr(sample.reason, "when it began"));
}

static bool
logs_in(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)err;
	assert_int_equal(transfer->method, XB_METHOD_LOGIN);
	outcome->start_seconds = 0.01;
	tell_steps(outcome, 2);
	snprintf(outcome->negotiated.kex, XB_NAME_MAX, "sntrup761x25519");
	snprintf(outcome->login, sizeof(outcome->login), "the spare key");
	return true;
}

static void
login_alone_is_measured_without_a_rate(void **state)
{
	const struct xb_client client = { .name = "fake", .transfer = logs_in };
	const struct xb_trial trial = {
		.client = &client,
		.method = XB_METHOD_LOGIN,
		.streams = 1,
		.stall_ns = XB_NS_PER_SECOND,
		.client_cpu = -1,
		.server_cpu = -1,
	};
	struct xb_trial_end end;
	struct xb_sample sample;

	(void)state;
	xb_trial_run(&trial, &sample, &end);
	if (sample.status != XB_MEASURED)
		fail_msg("%s", sample.reason);
	assert_true(xb_sample_counts(&sample));
	assert_true(isnan(xb_sample_rate(&sample)));
	assert_int_equal(sample.bytes, 0);
	assert_true(isnan(sample.seconds));
	assert_true(isnan(sample.client_cpu_seconds));
	assert_true(isnan(sample.server_cpu_seconds));
	assert_int_equal(sample.marks, 0);
	assert_true(fabs(sample.start_seconds - 0.01) < 1e-9);
	assert_true(fabs(sample.connect_seconds - 0.2) < 1e-9);
	assert_true(fabs(sample.kex_seconds - 0.8) < 1e-9);
	assert_string_equal(sample.negotiated.kex, "sntrup761x25519");
	assert_string_equal(end.login, "the spare key");
}

/* Last of all: from here on this program has been asked to end. */
static bool
ends_this_program(const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	(void)outcome;
	(void)err;
	if (!transfer->on_ready(transfer->ctx))
		return false;
	if (atomic_fetch_add(&seen->born, 1) == 0)
		kill(getppid(), SIGTERM);
	sleep(60);
	return true;
}

static void
signal_ends_all_streams(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_streams(ends_this_program, 3, PATIENCE_NS, &end);

	(void)state;
	assert_int_equal(sample.status, XB_FAILED);
	assert_int_equal(end.err.fault, XB_FAULT_SIGNAL);
	assert_int_equal(xb_signals_pending(), SIGTERM);
}

#define STREAMS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		STREAMS_TEST(streams_begin_together_and_are_added_up),
		STREAMS_TEST(sum_of_what_is_not_known_is_not_known),
		STREAMS_TEST(failure_of_one_stream_is_the_reason_and_ends_those_that_wait),
		STREAMS_TEST(death_of_one_stream_ends_those_that_stream),
		STREAMS_TEST(stream_that_is_never_ready_is_not_waited_for_without_end),
		STREAMS_TEST(client_that_never_says_when_has_no_rate),
		STREAMS_TEST(login_alone_is_measured_without_a_rate),
		STREAMS_TEST(signal_ends_all_streams),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
