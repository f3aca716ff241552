#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"
#include "bench/trial.h"
#include "client/client.h"
#include "client/payload.h"

/* Clients that stand for what a real one may do; each trial runs them in a process of their own. */

static void
burn(int64_t ns)
{
	int64_t end = xb_clock_cpu_ns() + ns;

	while (xb_clock_cpu_ns() < end)
		continue;
}

/* Busy and slow before the ready line and behind the end line, 100 ms and 5 bytes between them. */
static bool
framed(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)err;
	usleep(200000);
	burn(50 * XB_NS_PER_MS);
	transfer->on_ready(transfer->ctx);
	usleep(100000);
	burn(20 * XB_NS_PER_MS);
	transfer->on_end(transfer->ctx);
	burn(50 * XB_NS_PER_MS);
	usleep(200000);
	outcome->bytes = 5;
	outcome->connect_seconds = 0.25;
	outcome->kex_seconds = 0.5;
	outcome->auth_seconds = 0.75;
	outcome->has_count = true;
	outcome->counted = 4;
	outcome->session_cpu_seconds = 0.01;
	snprintf(outcome->negotiated.cipher, XB_NAME_MAX, "rot13");
	snprintf(outcome->negotiated.kex, XB_NAME_MAX, "shouting");
	snprintf(outcome->login, sizeof(outcome->login), "the spare key");
	return true;
}

static bool
refused(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)outcome;
	atomic_store(&transfer->live->phase, (int)XB_PHASE_AUTH);
	return xb_fail(err, XB_FAULT_TARGET, "login refused");
}

static bool
broken(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	transfer->on_ready(transfer->ctx);
	atomic_store(&transfer->live->bytes, 1234);
	outcome->bytes = 1234;
	return xb_fail(err, XB_FAULT_TRIAL, "the connection broke");
}

static bool
killed(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)outcome;
	(void)err;
	transfer->on_ready(transfer->ctx);
	atomic_store(&transfer->live->phase, (int)XB_PHASE_STREAM);
	atomic_store(&transfer->live->bytes, 77);
	raise(SIGKILL);
	return true;
}

static bool
vanished(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)outcome;
	(void)err;
	atomic_store(&transfer->live->phase, (int)XB_PHASE_KEX);
	_exit(0);
}

/* As after SIGTSTP: the process is told that it goes on. */
static bool
continued_within(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)err;
	transfer->on_ready(transfer->ctx);
	raise(SIGCONT);
	transfer->on_end(transfer->ctx);
	outcome->bytes = 1;
	return true;
}

static bool
continued_before(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	(void)err;
	raise(SIGCONT);
	transfer->on_ready(transfer->ctx);
	usleep(1000);
	transfer->on_end(transfer->ctx);
	raise(SIGCONT);
	outcome->bytes = 1;
	return true;
}

static struct xb_sample
run_trial(bool (*transfer)(const struct xb_transfer *, struct xb_outcome *, struct xb_err *),
    struct xb_trial_end *end)
{
	const struct xb_client client = { .name = "fake", .transfer = transfer };
	const struct xb_trial trial = {
		.client = &client,
		.time_ns = XB_NS_PER_SECOND,
		.stall_ns = XB_NS_PER_SECOND,
		.client_cpu = -1,
	};
	struct xb_sample sample;

	/* What is not written must not look as if it were. */
	memset(&sample, 0x5a, sizeof(sample));
	memset(end, 0x5a, sizeof(*end));
	xb_trial_run(&trial, &sample, end);
	return sample;
}

/* A failed sample has a reason and no rate. */
static void
expect_failure(const struct xb_sample *sample, const char *reason)
{
	assert_int_equal(sample->status, XB_FAILED);
	if (strstr(sample->reason, reason) == NULL)
		fail_msg("'%s' is not in: %s", reason, sample->reason);
	assert_true(isnan(xb_sample_rate(sample)));
	assert_false(xb_sample_counts(sample));
}

static void
clock_and_cpu_run_between_ready_and_end_only(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_trial(framed, &end);

	(void)state;
	assert_int_equal(sample.status, XB_MEASURED);
	assert_int_equal(end.err.fault, XB_FAULT_NONE);
	assert_int_equal(sample.bytes, 5);
	assert_true(sample.seconds >= 0.12);
	assert_true(sample.client_cpu_seconds >= 0.02);
	assert_true(sample.client_cpu_seconds < 0.05);
	assert_true(sample.peak_kib > 0);
}

static void
what_the_client_tells_is_in_the_sample(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_trial(framed, &end);

	(void)state;
	assert_true(sample.connect_seconds == 0.25);
	assert_true(sample.kex_seconds == 0.5);
	assert_true(sample.auth_seconds == 0.75);
	assert_string_equal(sample.negotiated.cipher, "rot13");
	assert_string_equal(sample.negotiated.kex, "shouting");
	assert_string_equal(sample.negotiated.mac, "");
	assert_true(sample.server_core_share > 0);
	assert_true(end.has_count);
	assert_int_equal(end.counted, 4);
	assert_string_equal(end.login, "the spare key");
	/* No server of ours: its CPU time is not known, which is not 0. */
	assert_true(isnan(sample.server_cpu_seconds));
}

static void
failure_keeps_its_reason_and_how_far_it_came(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_trial(broken, &end);

	(void)state;
	expect_failure(&sample, "the connection broke");
	assert_int_equal(end.err.fault, XB_FAULT_TRIAL);
	assert_int_equal(sample.bytes, 1234);
	assert_true(isnan(sample.client_cpu_seconds));
	assert_false(end.has_count);
	assert_string_equal(end.login, "");
}

static void
refused_login_is_told_as_the_targets(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_trial(refused, &end);

	(void)state;
	expect_failure(&sample, "login refused");
	assert_int_equal(end.err.fault, XB_FAULT_TARGET);
}

static void
client_that_dies_is_a_failed_sample_with_phase_and_signal(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_trial(killed, &end);

	(void)state;
	expect_failure(&sample, "died during stream: signal 9");
	assert_int_equal(sample.bytes, 77);
	sample = run_trial(vanished, &end);
	expect_failure(&sample, "without a result during key exchange");
	assert_int_equal(end.err.fault, XB_FAULT_TRIAL);
}

static void
stop_within_the_stream_is_marked_and_one_outside_is_not(void **state)
{
	struct xb_trial_end end;
	struct xb_sample sample = run_trial(continued_within, &end);

	(void)state;
	assert_int_equal(sample.status, XB_MEASURED);
	assert_true((sample.marks & XB_MARK_STOPPED) != 0);
	sample = run_trial(continued_before, &end);
	assert_int_equal(sample.status, XB_MEASURED);
	assert_true((sample.marks & XB_MARK_STOPPED) == 0);
	assert_true((sample.marks & XB_MARK_SLEPT) == 0);
}

static struct xb_sample
run_null(const char *what, int64_t time_ns, uint64_t size)
{
	const struct xb_payload_options options = { .what = what };
	struct xb_payload *payload = xb_payload_new(&options, NULL);
	const struct xb_trial trial = {
		.client = xb_client_find("null"),
		.payload = payload,
		.time_ns = time_ns,
		.size = size,
		.stall_ns = XB_NS_PER_SECOND,
		.client_cpu = -1,
	};
	struct xb_trial_end end;
	struct xb_sample sample;

	assert_non_null(payload);
	xb_trial_run(&trial, &sample, &end);
	xb_payload_free(payload);
	return sample;
}

static void
null_client_measures_the_loop_alone(void **state)
{
	struct xb_sample sample = run_null("random", 50 * XB_NS_PER_MS, 0);

	(void)state;
	assert_int_equal(sample.status, XB_MEASURED);
	assert_true(sample.seconds >= 0.05);
	/* Far above any cipher: more than a GB a second even where others have the CPU. */
	assert_true(xb_sample_rate(&sample) > 1e9);
	assert_string_equal(sample.negotiated.cipher, "");
	sample = run_null("random", 0, 12345678);
	assert_int_equal(sample.bytes, 12345678);
}

static void
memory_does_not_grow_with_what_is_sent(void **state)
{
	struct xb_sample small = run_null("random", 0, 1000);
	struct xb_sample large = run_null("random", 0, UINT64_C(20000000000));

	(void)state;
	assert_int_equal(large.bytes, UINT64_C(20000000000));
	assert_true(labs(large.peak_kib - small.peak_kib) < 4096);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clock_and_cpu_run_between_ready_and_end_only),
		cmocka_unit_test(what_the_client_tells_is_in_the_sample),
		cmocka_unit_test(failure_keeps_its_reason_and_how_far_it_came),
		cmocka_unit_test(refused_login_is_told_as_the_targets),
		cmocka_unit_test(client_that_dies_is_a_failed_sample_with_phase_and_signal),
		cmocka_unit_test(stop_within_the_stream_is_marked_and_one_outside_is_not),
		cmocka_unit_test(null_client_measures_the_loop_alone),
		cmocka_unit_test(memory_does_not_grow_with_what_is_sent),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
