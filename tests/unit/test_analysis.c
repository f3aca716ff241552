#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "canned.h"

#define TINY 1e-9
#define MB 1e6

static void
rate_is_the_median_of_the_rounds(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	xb_analysis_make(&run, &analysis);
	/* numpy 1.24.2: numpy.median(fast) */
	canned_near(analysis.rows[0].rate.median, 510.5 * MB, TINY);
	canned_near(analysis.rows[0].rate.low, 498 * MB, TINY);
	canned_near(analysis.rows[0].rate.high, 520 * MB, TINY);
	canned_near(analysis.rows[0].rate.coverage, 0.96875, TINY);
	canned_near(analysis.worst_spread, 11 / 510.5, TINY);
	canned_near(analysis.rows[0].login.total.median, 0.051, TINY);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
superseded_and_failed_trials_do_not_count(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;
	struct xb_result *result;

	(void)state;
	canned_private(&run);
	result = canned_case(&run, "aes128-ctr", "hmac-sha2-256");
	canned_sample(result, 0, 500);
	canned_sample(result, 1, 10)->marks = XB_MARK_FOREIGN | XB_MARK_SUPERSEDED;
	canned_sample(result, 1, 502)->marks = XB_MARK_REPEAT;
	canned_failure(result, 2, "the server went away");
	canned_sample(result, 3, 504)->marks = XB_MARK_SLEPT;
	canned_sample(result, 4, 20)->marks = XB_MARK_FOREIGN | XB_MARK_SUPERSEDED;
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.rows[0].rate.count, 3);
	canned_near(analysis.rows[0].rate.median, 502 * MB, TINY);
	canned_near(analysis.rows[0].rate.low, 500 * MB, TINY);
	assert_int_equal(analysis.rows[0].failed, 1);
	assert_int_equal(analysis.rows[0].disturbed, 1);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_round_counts_once(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;
	struct xb_result *result;

	(void)state;
	canned_private(&run);
	result = canned_case(&run, "aes128-ctr", "hmac-sha2-256");
	canned_sample(result, 0, 100);
	canned_sample(result, 0, 300);
	canned_sample(result, 1, 500);
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.rows[0].rate.count, 2);
	canned_near(analysis.rows[0].rate.median, 400 * MB, TINY);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
refused_cipher_is_never_ranked(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;
	struct xb_result *result;

	(void)state;
	canned_private(&run);
	result = canned_case(&run, "3des-cbc", "hmac-sha2-256");
	/* Even with a sample that looks like a trial of 14 ms. */
	canned_sample(result, 0, 10000);
	result->c.status = XB_PLANNED;
	xb_case_refuse(&result->c, XB_NOT_OFFERED, "not offered by nas", NULL);
	result = canned_case(&run, "blowfish-cbc", "hmac-sha2-256");
	canned_failure(result, 0, "no");
	result->c.status = XB_FAILED;
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_raw(&run, "3des-cbc", "hmac-sha2-256", 40, 40);
	xb_analysis_make(&run, &analysis);
	assert_string_equal(analysis.rows[0].result->c.suite.cipher_name, "aes128-ctr");
	assert_string_equal(analysis.rows[1].result->c.suite.cipher_name, "aes256-ctr");
	assert_string_equal(analysis.rows[2].result->c.suite.cipher_name, "3des-cbc");
	assert_string_equal(analysis.rows[3].result->c.suite.cipher_name, "blowfish-cbc");
	for (size_t i = 2; i < 4; i++) {
		assert_int_equal(analysis.rows[i].rate.count, 0);
		assert_true(isnan(analysis.rows[i].rate.median));
		assert_true(isnan(analysis.rows[i].of_raw));
		assert_true(isnan(analysis.rows[i].ratio.median));
		assert_int_equal(analysis.rows[i].place, 0);
	}
	assert_int_equal(analysis.rows[3].failed, 1);
	assert_ptr_equal(analysis.leader, &analysis.rows[0]);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
equal_place_is_equal_to_the_leader(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes192-ctr", "hmac-sha2-256"), canned_level, 6);
	xb_analysis_make(&run, &analysis);
	assert_true(analysis.groups[0].places_clear);
	assert_string_equal(analysis.rows[0].result->c.suite.cipher_name, "aes128-ctr");
	assert_int_equal(analysis.rows[0].place, 1);
	canned_near(analysis.rows[0].ratio.median, 1, 0);
	assert_string_equal(analysis.rows[1].result->c.suite.cipher_name, "aes192-ctr");
	assert_int_equal(analysis.rows[1].place, 1);
	assert_string_equal(analysis.rows[2].result->c.suite.cipher_name, "aes256-ctr");
	assert_int_equal(analysis.rows[2].place, 3);
	/* numpy 1.24.2: x = log(slow / fast); exp(median(x)), exp(min(x)), exp(max(x)) */
	canned_near(analysis.rows[2].ratio.median, 0.9608226844722747, TINY);
	canned_near(analysis.rows[2].ratio.low, 0.9519230769230769, TINY);
	canned_near(analysis.rows[2].ratio.high, 0.9685039370078741, TINY);
	canned_near(analysis.rows[2].ratio.coverage, 0.96875, TINY);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
drift_between_rounds_cancels_in_the_ratio(void **state)
{
	/* The machine slows to a third, the second is a tenth slower in each round. */
	static const double first[] = { 600, 500, 400, 300, 250, 200 };
	static const double second[] = { 540, 455, 356, 270, 226.25, 179 };
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), first, 6);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), second, 6);
	xb_analysis_make(&run, &analysis);
	assert_true(analysis.rows[1].rate.high > analysis.rows[0].rate.low);
	/* numpy 1.24.2: x = log(second / first); exp(median(x)), exp(min(x)), exp(max(x)) */
	canned_near(analysis.rows[1].ratio.median, 0.9, TINY);
	canned_near(analysis.rows[1].ratio.low, 0.89, TINY);
	canned_near(analysis.rows[1].ratio.high, 0.91, TINY);
	assert_int_equal(analysis.rows[1].place, 2);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
only_rounds_of_both_are_paired(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;
	struct xb_result *result;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	result = canned_case(&run, "aes256-ctr", "hmac-sha2-256");
	canned_failure(result, 0, "no");
	canned_sample(result, 1, 256);
	canned_sample(result, 2, 999)->marks = XB_MARK_FOREIGN | XB_MARK_SUPERSEDED;
	canned_sample(result, 2, 260)->marks = XB_MARK_REPEAT;
	canned_sample(result, 5, 254);
	canned_sample(result, 7, 1);
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.rows[1].rate.count, 4);
	assert_int_equal(analysis.rows[1].ratio.count, 3);
	canned_near(analysis.rows[1].ratio.median, 0.5, TINY);
	canned_near(analysis.rows[1].ratio.low, 0.5, TINY);
	canned_near(analysis.rows[1].ratio.high, 0.5, TINY);
	assert_int_equal(analysis.rows[1].place, 0);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
five_rounds_give_no_places(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 5);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 5);
	xb_analysis_make(&run, &analysis);
	assert_false(analysis.groups[0].places_clear);
	assert_int_equal(analysis.groups[0].rounds_needed, 6);
	assert_int_equal(analysis.rows[0].place, 0);
	assert_int_equal(analysis.rows[1].place, 0);
	canned_near(analysis.rows[1].ratio.coverage, 0.9375, TINY);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_row_with_too_few_rounds_takes_no_place_from_others(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes192-ctr", "hmac-sha2-256"), canned_level, 4);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	xb_analysis_make(&run, &analysis);
	assert_true(analysis.groups[0].places_clear);
	assert_string_equal(analysis.rows[0].result->c.suite.cipher_name, "aes128-ctr");
	assert_int_equal(analysis.rows[0].place, 1);
	assert_string_equal(analysis.rows[1].result->c.suite.cipher_name, "aes192-ctr");
	assert_int_equal(analysis.rows[1].place, 0);
	assert_int_equal(analysis.rows[2].place, 3);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
one_row_alone_has_no_place(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	xb_analysis_make(&run, &analysis);
	assert_true(analysis.groups[0].places_clear);
	assert_int_equal(analysis.rows[0].place, 0);
	assert_ptr_equal(analysis.leader, &analysis.rows[0]);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
raw_is_the_slower_direction_and_compares_only_here(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_raw(&run, "aes128-ctr", "hmac-sha1", 9000, 9000);
	canned_raw(&run, "aes128-ctr", "hmac-sha2-256", 1690, 1021);
	xb_analysis_make(&run, &analysis);
	canned_near(analysis.rows[0].raw_encrypt, 1690 * MB, TINY);
	canned_near(analysis.rows[0].raw_decrypt, 1021 * MB, TINY);
	canned_near(analysis.rows[0].raw, 1021 * MB, TINY);
	canned_near(analysis.rows[0].of_raw, 0.5, TINY);
	canned_near(analysis.rows[0].overhead, 0.5, TINY);
	xb_analysis_free(&analysis);
	run.targets[0].is_local = false;
	xb_analysis_make(&run, &analysis);
	canned_near(analysis.rows[0].raw, 1021 * MB, TINY);
	assert_true(isnan(analysis.rows[0].of_raw));
	assert_true(isnan(analysis.rows[0].overhead));
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
one_direction_alone_is_no_raw_speed(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_raw(&run, "aes128-ctr", "hmac-sha2-256", 1690, NAN);
	xb_analysis_make(&run, &analysis);
	assert_true(isnan(analysis.rows[0].raw));
	assert_true(isnan(analysis.rows[0].of_raw));
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_pinned_server_is_charged_with_its_sink(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;
	struct xb_sample *sample;

	(void)state;
	canned_private(&run);
	sample = canned_sample(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 0, 500);
	sample->client_cpu_seconds = 0.6;
	sample->server_cpu_seconds = 0.97;
	sample->server_core_share = 0.85;
	xb_analysis_make(&run, &analysis);
	canned_near(analysis.rows[0].client_share, 0.6, TINY);
	canned_near(analysis.rows[0].server_share, 0.97, TINY);
	canned_near(analysis.rows[0].client_cpu_per_gb, 1.2, TINY);
	canned_near(analysis.rows[0].server_cpu_per_gb, 1.94, TINY);
	xb_analysis_free(&analysis);
	/* The sink may be on another core. */
	run.settings.pinned = false;
	xb_analysis_make(&run, &analysis);
	canned_near(analysis.rows[0].server_share, 0.85, TINY);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
an_empty_run_has_no_leader(void **state)
{
	struct xb_run run = { 0 };
	struct xb_analysis analysis;

	(void)state;
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.count, 0);
	assert_null(analysis.leader);
	assert_true(isnan(analysis.worst_spread));
	xb_analysis_free(&analysis);
}

static void
a_trial_without_time_or_bytes_breaks_no_figure(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;
	struct xb_result *result;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	result = canned_case(&run, "aes256-ctr", "hmac-sha2-256");
	canned_sample(result, 0, 0);
	canned_sample(result, 1, 100)->seconds = 0;
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.rows[1].rate.count, 1);
	canned_near(analysis.rows[1].rate.median, 0, 0);
	assert_int_equal(analysis.rows[1].ratio.count, 0);
	assert_true(isnan(analysis.rows[1].ratio.median));
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_is_the_median_of_the_rounds),
		cmocka_unit_test(superseded_and_failed_trials_do_not_count),
		cmocka_unit_test(a_round_counts_once),
		cmocka_unit_test(refused_cipher_is_never_ranked),
		cmocka_unit_test(equal_place_is_equal_to_the_leader),
		cmocka_unit_test(drift_between_rounds_cancels_in_the_ratio),
		cmocka_unit_test(only_rounds_of_both_are_paired),
		cmocka_unit_test(five_rounds_give_no_places),
		cmocka_unit_test(a_row_with_too_few_rounds_takes_no_place_from_others),
		cmocka_unit_test(one_row_alone_has_no_place),
		cmocka_unit_test(raw_is_the_slower_direction_and_compares_only_here),
		cmocka_unit_test(one_direction_alone_is_no_raw_speed),
		cmocka_unit_test(a_pinned_server_is_charged_with_its_sink),
		cmocka_unit_test(an_empty_run_has_no_leader),
		cmocka_unit_test(a_trial_without_time_or_bytes_breaks_no_figure),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
