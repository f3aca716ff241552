#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"
#include "fake_clients.h"

static bool
alpha_is_refused(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	if (strcmp(client->name, "alpha") == 0)
		return fake_fails_at(transfer, XB_PHASE_AUTH, XB_FAULT_TARGET,
		    "nobody lets alpha in", err);
	return fake_streams(transfer, 0, outcome, err);
}

static void
client_that_cannot_log_in_fails_while_another_one_is_measured(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_behaves = alpha_is_refused;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "beta", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "alpha", "cipher-b", "hmac-sha2-256")->method = XB_METHOD_SCP;
	fake_case(bench, "alpha", NULL, NULL)->method = XB_METHOD_SFTP;
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "cipher-a", XB_FAILED, "nobody lets alpha in");
	fake_expect(bench, "alpha", "cipher-b", XB_FAILED, "nobody lets alpha in");
	fake_expect(bench, "alpha", "", XB_FAILED, "nobody lets alpha in");
	fake_expect(bench, "beta", "cipher-a", XB_MEASURED, NULL);
	/* Refused once is enough: servers penalise who tries again. */
	assert_int_equal(fake_calls_of("alpha", XB_METHOD_COUNT), 1);
	fake_bench_free(bench);
}

static bool
nobody_is_let_in(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	(void)client;
	(void)outcome;
	return fake_fails_at(transfer, XB_PHASE_AUTH, XB_FAULT_TARGET, "login refused", err);
}

static void
run_ends_when_no_client_can_log_in(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");
	struct xb_err err = { 0 };

	(void)state;
	fake_behaves = nobody_is_let_in;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "beta", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "plain", "cipher-b", NULL)->reference = true;
	assert_false(xb_rounds_run(&bench->rounds, &err));
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_string_equal(err.text, "login refused");
	assert_int_equal(fake_call_count(), 2);
	assert_int_equal(bench->run.logins, 2);
	fake_expect(bench, "alpha", "cipher-a", XB_FAILED, "login refused");
	fake_bench_free(bench);
}

static bool
brings_its_own_key(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	snprintf(outcome->login, sizeof(outcome->login), "%s's key", client->name);
	return fake_streams(transfer, 0, outcome, err);
}

static void
key_that_came_in_is_the_hint_of_that_client_alone(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");
	unsigned calls[2] = { 0, 0 };

	(void)state;
	fake_behaves = brings_its_own_key;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "beta", "cipher-a", "hmac-sha2-256");
	fake_bench_run(bench);
	for (size_t i = 0; i < fake_call_count(); i++) {
		const struct fake_call *call = fake_call(i);
		bool is_beta = strcmp(call->client, "beta") == 0;

		if (calls[is_beta]++ == 0)
			assert_string_equal(call->hint, "");
		else
			assert_string_equal(call->hint, is_beta ? "beta's key" : "alpha's key");
	}
	assert_int_equal(calls[0], 3);
	assert_int_equal(calls[1], 3);
	fake_bench_free(bench);
}

static bool
counts_when_asked(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	(void)client;
	if (!fake_streams(transfer, 0, outcome, err))
		return false;
	outcome->has_count = transfer->count;
	outcome->counted = outcome->bytes;
	return true;
}

static void
far_side_counts_once_for_each_target(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");
	unsigned counts = 0;

	(void)state;
	fake_behaves = counts_when_asked;
	xb_run_add_target(&bench->run)->name = xb_strdup("another");
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256")->method = XB_METHOD_SFTP;
	fake_case(bench, "alpha", "cipher-b", "hmac-sha2-256");
	fake_case(bench, "beta", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "beta", "cipher-b", "hmac-sha2-256")->target = 1;
	fake_bench_run(bench);
	for (size_t i = 0; i < fake_call_count(); i++) {
		counts += fake_call(i)->count;
		assert_true(!fake_call(i)->count || fake_call(i)->method == XB_METHOD_EXEC);
	}
	assert_int_equal(counts, 2);
	assert_string_equal(bench->run.targets[0].count_check,
	    "wc -c there counted 8388625 of 8388625 bytes");
	assert_non_null(bench->run.targets[1].count_check);
	fake_bench_free(bench);
}

static bool
loses_a_byte(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	if (!counts_when_asked(client, transfer, outcome, err))
		return false;
	outcome->counted--;
	return true;
}

static void
far_side_that_loses_data_ends_the_run(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");
	struct xb_err err = { 0 };

	(void)state;
	fake_behaves = loses_a_byte;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	assert_false(xb_rounds_run(&bench->rounds, &err));
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "lost data"));
	assert_int_equal(fake_call_count(), 1);
	fake_bench_free(bench);
}

static void
check_is_one_short_stream_whatever_is_planned(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	bench->run.settings.size = 12345;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256")->streams = 3;
	fake_bench_run(bench);
	assert_int_equal(fake_call(0)->size, 8388625);
	assert_int_equal(fake_call(0)->time_ns, XB_NS_PER_SECOND);
	assert_int_equal(fake_call(1)->size, 12345);
	assert_int_equal(fake_call(1)->time_ns, 10 * XB_NS_PER_MS);
	assert_int_equal(fake_call_count(), 1 + 2 * 3);
	assert_int_equal(bench->run.logins, 1 + 2 * 3);
	assert_int_equal(bench->run.results[0].samples[0].bytes, 3 * 12345);
	fake_bench_free(bench);
}

static void
reference_is_measured_without_a_check_or_a_login(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");
	struct xb_case *c;

	(void)state;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	c = &xb_run_add_result(&bench->run)->c;
	c->client = "plain";
	c->reference = true;
	fake_bench_run(bench);
	assert_int_equal(bench->run.results[1].sample_count, 2);
	assert_int_equal(bench->run.results[1].c.status, XB_MEASURED);
	assert_int_equal(fake_calls_of("plain", XB_METHOD_COUNT), 2);
	assert_int_equal(bench->run.logins, 3);
	fake_bench_free(bench);
}

#define CHECK_TEST(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CHECK_TEST(client_that_cannot_log_in_fails_while_another_one_is_measured),
		CHECK_TEST(run_ends_when_no_client_can_log_in),
		CHECK_TEST(key_that_came_in_is_the_hint_of_that_client_alone),
		CHECK_TEST(far_side_counts_once_for_each_target),
		CHECK_TEST(far_side_that_loses_data_ends_the_run),
		CHECK_TEST(check_is_one_short_stream_whatever_is_planned),
		CHECK_TEST(reference_is_measured_without_a_check_or_a_login),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
