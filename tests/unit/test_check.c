#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/signals.h"
#include "fake_clients.h"

/* ---- as negotiated ------------------------------------------------------------------- */

static void
suite_as_negotiated_joins_the_equal_case(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_case(bench, "alpha", "cipher-b", "hmac-sha2-256");
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "beta", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "alpha", NULL, NULL);
	fake_bench_run(bench);
	assert_int_equal(bench->run.result_count, 3);
	assert_false(fake_result(bench, "alpha", "cipher-b")->c.as_negotiated);
	assert_true(fake_result(bench, "alpha", "cipher-a")->c.as_negotiated);
	assert_false(fake_result(bench, "beta", "cipher-a")->c.as_negotiated);
	assert_int_equal(fake_result(bench, "alpha", "cipher-a")->sample_count, 2);
	/* That case was the check of its group, and no other. */
	assert_string_equal(fake_call(0)->cipher, "");
	assert_int_equal(fake_calls_of("alpha", XB_METHOD_COUNT), 1 + 2 * 2);
	fake_bench_free(bench);
}

static void
suite_as_negotiated_that_nobody_planned_is_a_case_of_its_own(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");
	const struct xb_result *result;

	(void)state;
	fake_negotiates = (struct xb_negotiated){ .cipher = "aes256-gcm@openssh.com",
		.compression = "zlib@openssh.com" };
	fake_case(bench, "alpha", "aes256-gcm@openssh.com", NULL);
	fake_case(bench, "alpha", NULL, NULL);
	fake_bench_run(bench);
	assert_int_equal(bench->run.result_count, 2);
	result = &bench->run.results[1];
	assert_true(result->c.as_negotiated);
	assert_int_equal(result->c.status, XB_MEASURED);
	assert_string_equal(result->c.suite.cipher_name, "aes256-gcm@openssh.com");
	assert_non_null(result->c.suite.cipher);
	assert_null(result->c.suite.mac_name);
	assert_string_equal(result->c.suite.compression, "zlib@openssh.com");
	assert_int_equal(result->sample_count, 2);
	assert_false(bench->run.results[0].c.as_negotiated);
	/* Its raw speed and that of its compression stand beside it. */
	assert_int_equal(bench->run.primitive_count, 1);
	assert_int_equal(bench->run.deflate.count, 2);
	assert_int_equal(bench->run.inflate.count, 2);
	assert_true(bench->run.deflate.values[0] > 0);
	assert_true(bench->run.inflate.values[1] > 0);
	fake_bench_free(bench);
}

static void
no_compression_is_no_compression_however_it_is_told(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	snprintf(fake_negotiates.compression, XB_NAME_MAX, "none");
	fake_case(bench, "alpha", NULL, NULL);
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	fake_bench_run(bench);
	assert_int_equal(bench->run.result_count, 1);
	assert_true(bench->run.results[0].c.as_negotiated);
	/* Nothing compresses: zlib is not measured. */
	assert_int_equal(bench->run.deflate.count, 0);
	fake_bench_free(bench);
}

static void
suite_that_cannot_be_asked_stays_as_negotiated(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_negotiates = (struct xb_negotiated){ .cipher = "" };
	fake_case(bench, "alpha", NULL, NULL);
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	fake_bench_run(bench);
	assert_int_equal(bench->run.result_count, 2);
	fake_expect(bench, "alpha", "", XB_MEASURED, NULL);
	fake_bench_free(bench);
}

static bool
agrees_on_nothing_by_default(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	(void)client;
	if (transfer->suite->cipher_name == NULL)
		return fake_fails_at(transfer, XB_PHASE_KEX, XB_FAULT_TRIAL, "no common cipher",
		    err);
	return fake_streams(transfer, 0, outcome, err);
}

static void
nothing_in_common_by_default_leaves_the_suites_that_are_asked_for(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_behaves = agrees_on_nothing_by_default;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "alpha", NULL, NULL);
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "", XB_UNSUPPORTED, "no common cipher");
	fake_expect(bench, "alpha", "cipher-a", XB_MEASURED, NULL);
	/* Two checks, and two rounds. */
	assert_int_equal(fake_call_count(), 4);
	fake_bench_free(bench);
}

/* ---- what works ---------------------------------------------------------------------- */

static bool
has_sftp_alone(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	if (strcmp(client->name, "alpha") == 0 && transfer->method != XB_METHOD_SFTP)
		return fake_fails_at(transfer, XB_PHASE_EXEC, XB_FAULT_TRIAL,
		    transfer->method == XB_METHOD_EXEC ? "This service allows sftp only"
						       : "scp is not here",
		    err);
	return fake_streams(transfer, 0, outcome, err);
}

static void
open_method_becomes_the_first_that_works_and_says_why(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");
	struct xb_case *c;

	(void)state;
	fake_behaves = has_sftp_alone;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256")->method_auto = true;
	fake_case(bench, "beta", "cipher-a", "hmac-sha2-256")->method_auto = true;
	c = fake_case(bench, "alpha", "cipher-b", "hmac-sha2-256");
	c->method_auto = true;
	xb_case_refuse(c, XB_NOT_OFFERED, "not offered", NULL);
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "cipher-a", XB_MEASURED, NULL);
	assert_int_equal(fake_result(bench, "alpha", "cipher-a")->c.method, XB_METHOD_SFTP);
	assert_false(fake_result(bench, "alpha", "cipher-a")->c.method_auto);
	/* All rows of the group tell one method. */
	assert_int_equal(fake_result(bench, "alpha", "cipher-b")->c.method, XB_METHOD_SFTP);
	/* Found once. */
	assert_int_equal(fake_calls_of("alpha", XB_METHOD_EXEC), 1);
	assert_int_equal(fake_calls_of("alpha", XB_METHOD_SCP), 1);
	assert_int_equal(fake_calls_of("alpha", XB_METHOD_SFTP), 1 + 2);
	/* The first choice needs no word. */
	assert_int_equal(fake_result(bench, "beta", "cipher-a")->c.method, XB_METHOD_EXEC);
	assert_int_equal(bench->run.notes.count, 1);
	assert_string_equal(bench->run.notes.names[0],
	    "alpha: sftp is used for uploads; exec: This service allows sftp only; "
	    "scp: scp is not here");
	fake_bench_free(bench);
}

static void
method_that_the_client_has_not_is_not_tried(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_cannot_exec = "it has no shell channel";
	fake_case(bench, "beta", "cipher-a", "hmac-sha2-256")->method_auto = true;
	fake_bench_run(bench);
	assert_int_equal(fake_calls_of("beta", XB_METHOD_EXEC), 0);
	assert_int_equal(fake_result(bench, "beta", "cipher-a")->c.method, XB_METHOD_SCP);
	assert_string_equal(bench->run.notes.names[0],
	    "B: scp is used for uploads; exec: it has no shell channel");
	fake_bench_free(bench);
}

static bool
has_nothing(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	(void)outcome;
	if (strcmp(client->name, "beta") == 0)
		return fake_streams(transfer, 0, outcome, err);
	return fake_fails_at(transfer, XB_PHASE_EXEC, XB_FAULT_TRIAL, "nothing here", err);
}

static void
open_method_without_any_that_works_has_all_reasons(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_behaves = has_nothing;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256")->method_auto = true;
	fake_case(bench, "alpha", "cipher-b", "hmac-sha2-256")->method_auto = true;
	fake_case(bench, "alpha", NULL, NULL)->method_auto = true;
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "cipher-a", XB_FAILED,
	    "exec: nothing here; scp: nothing here; sftp: nothing here");
	fake_expect(bench, "alpha", "cipher-b", XB_FAILED, "sftp: nothing here");
	fake_expect(bench, "alpha", "", XB_FAILED, "exec: nothing here");
	assert_int_equal(fake_call_count(), 3);
	fake_bench_free(bench);
}

static void
named_method_that_does_not_work_fails_once_for_all_its_cases(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");
	static const enum xb_method methods[] = { XB_METHOD_SCP, XB_METHOD_SFTP };

	(void)state;
	fake_behaves = has_sftp_alone;
	for (size_t i = 0; i < 2; i++) {
		fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256")->method = methods[i];
		fake_case(bench, "alpha", "cipher-b", "hmac-sha2-256")->method = methods[i];
	}
	fake_bench_run(bench);
	for (size_t i = 0; i < 4; i++) {
		const struct xb_result *result = &bench->run.results[i];

		assert_int_equal(result->c.status, i < 2 ? XB_FAILED : XB_MEASURED);
		if (i < 2)
			assert_string_equal(result->c.reason, "scp is not here");
		assert_int_equal(result->sample_count, i < 2 ? 0 : 2);
	}
	assert_int_equal(fake_calls_of("alpha", XB_METHOD_SCP), 1);
	fake_bench_free(bench);
}

static bool
first_cipher_breaks(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	(void)client;
	if (strcmp(transfer->suite->cipher_name, "cipher-a") == 0)
		return fake_fails_at(transfer, XB_PHASE_STREAM, XB_FAULT_TRIAL, "it broke", err);
	return fake_streams(transfer, 0, outcome, err);
}

static void
case_that_is_at_fault_itself_does_not_speak_for_the_others(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_behaves = first_cipher_breaks;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");
	fake_case(bench, "alpha", "cipher-b", "hmac-sha2-256");
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "cipher-a", XB_FAILED, "it broke");
	fake_expect(bench, "alpha", "cipher-b", XB_MEASURED, NULL);
	fake_bench_free(bench);
}

static bool
breaks_while_it_streams(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	(void)client;
	(void)outcome;
	return fake_fails_at(transfer, XB_PHASE_STREAM, XB_FAULT_TRIAL,
	    transfer->suite->cipher_name, err);
}

static void
three_cases_that_break_speak_for_all(void **state)
{
	static const char *const ciphers[] = { "cipher-a", "cipher-c", "cipher-b", "cipher-d",
		"cipher-e" };
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_behaves = breaks_while_it_streams;
	for (size_t i = 0; i < 5; i++)
		fake_case(bench, "alpha", ciphers[i], "hmac-sha2-256");
	fake_bench_run(bench);
	for (size_t i = 0; i < 5; i++)
		fake_expect(bench, "alpha", ciphers[i], XB_FAILED, "cipher-a");
	assert_int_equal(fake_call_count(), 3);
	fake_bench_free(bench);
}

/* One alone is tried again in the rounds, so that there is a sample that tells how far it came. */
static void
case_that_breaks_alone_has_failed_samples_with_their_count(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");
	const struct xb_result *result;

	(void)state;
	fake_behaves = breaks_while_it_streams;
	fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256")->method_auto = true;
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "cipher-a", XB_FAILED, "cipher-a");
	result = fake_result(bench, "alpha", "cipher-a");
	assert_int_equal(result->sample_count, 2);
	assert_int_equal(result->samples[0].status, XB_FAILED);
	assert_int_equal(result->samples[0].bytes, 4711);
	/* Something flowed: that method is there, and it is the one that is told. */
	assert_int_equal(result->c.method, XB_METHOD_EXEC);
	assert_false(result->c.method_auto);
	assert_int_equal(fake_call_count(), 3);
	fake_bench_free(bench);
}

static bool
exec_gives_nothing(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	(void)client;
	if (transfer->method == XB_METHOD_EXEC) {
		atomic_store(&transfer->live->phase, (int)XB_PHASE_STREAM);
		return xb_fail(err, XB_FAULT_TRIAL, "the source ended early, after 0 bytes");
	}
	return fake_streams(transfer, 0, outcome, err);
}

/* As where the far side has a shell and no dd. */
static void
command_that_gives_nothing_is_a_method_that_is_not_there(void **state)
{
	struct fake_bench *bench = fake_bench_new("sparse");
	struct xb_case *c = fake_case(bench, "alpha", "cipher-a", "hmac-sha2-256");

	(void)state;
	fake_behaves = exec_gives_nothing;
	c->method_auto = true;
	c->direction = XB_DOWNLOAD;
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "cipher-a", XB_MEASURED, NULL);
	assert_int_equal(bench->run.results[0].c.method, XB_METHOD_SCP);
	assert_int_equal(fake_calls_of("alpha", XB_METHOD_EXEC), 1);
	fake_bench_free(bench);
}

static bool
only_the_last_cipher_is_agreed(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	(void)client;
	if (strcmp(transfer->suite->cipher_name, "cipher-e") != 0)
		return fake_fails_at(transfer, XB_PHASE_KEX, XB_FAULT_TRIAL, "no common cipher",
		    err);
	return fake_streams(transfer, 0, outcome, err);
}

/* That the first suites are not agreed says nothing about those that were not tried. */
static void
suites_that_are_not_agreed_do_not_speak_for_others(void **state)
{
	static const char *const ciphers[] = { "cipher-a", "cipher-c", "cipher-b", "cipher-d",
		"cipher-e" };
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_behaves = only_the_last_cipher_is_agreed;
	for (size_t i = 0; i < 5; i++)
		fake_case(bench, "alpha", ciphers[i], "hmac-sha2-256")->method_auto = true;
	fake_bench_run(bench);
	for (size_t i = 0; i < 4; i++)
		fake_expect(bench, "alpha", ciphers[i], XB_FAILED, "no common cipher");
	fake_expect(bench, "alpha", "cipher-e", XB_MEASURED, NULL);
	/* Another method would not have been agreed better. */
	assert_int_equal(fake_calls_of("alpha", XB_METHOD_SFTP), 0);
	fake_bench_free(bench);
}

#define CHECK_TEST(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CHECK_TEST(suite_as_negotiated_joins_the_equal_case),
		CHECK_TEST(suite_as_negotiated_that_nobody_planned_is_a_case_of_its_own),
		CHECK_TEST(no_compression_is_no_compression_however_it_is_told),
		CHECK_TEST(suite_that_cannot_be_asked_stays_as_negotiated),
		CHECK_TEST(nothing_in_common_by_default_leaves_the_suites_that_are_asked_for),
		CHECK_TEST(open_method_becomes_the_first_that_works_and_says_why),
		CHECK_TEST(method_that_the_client_has_not_is_not_tried),
		CHECK_TEST(open_method_without_any_that_works_has_all_reasons),
		CHECK_TEST(named_method_that_does_not_work_fails_once_for_all_its_cases),
		CHECK_TEST(case_that_is_at_fault_itself_does_not_speak_for_the_others),
		CHECK_TEST(three_cases_that_break_speak_for_all),
		CHECK_TEST(case_that_breaks_alone_has_failed_samples_with_their_count),
		CHECK_TEST(command_that_gives_nothing_is_a_method_that_is_not_there),
		CHECK_TEST(suites_that_are_not_agreed_do_not_speak_for_others),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
