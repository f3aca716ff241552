#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/mem.h"
#include "canned.h"

#define TINY 1e-9
#define MB 1e6

static const struct xb_row *
row_of(const struct xb_analysis *analysis, const struct xb_run *run, size_t result)
{
	for (size_t i = 0; i < analysis->count; i++)
		if (analysis->rows[i].result == &run->results[result])
			return &analysis->rows[i];
	fail();
	return NULL;
}

static void
an_upload_does_not_compete_with_a_download(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 500);
	canned_about(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), 900);
	run.results[1].c.direction = XB_DOWNLOAD;
	canned_about(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), 400);
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 950);
	run.results[3].c.direction = XB_DOWNLOAD;
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.group_count, 2);
	assert_int_equal(analysis.groups[0].direction, XB_UPLOAD);
	assert_int_equal(analysis.groups[1].direction, XB_DOWNLOAD);
	assert_ptr_equal(analysis.groups[0].leader->result, &run.results[0]);
	assert_ptr_equal(analysis.groups[1].leader->result, &run.results[3]);
	assert_ptr_equal(analysis.leader, analysis.groups[0].leader);
	/* Group by group, though the downloads are faster. */
	assert_ptr_equal(analysis.rows[1].result, &run.results[2]);
	assert_ptr_equal(analysis.rows[2].result, &run.results[3]);
	assert_int_equal(row_of(&analysis, &run, 0)->place, 1);
	assert_int_equal(row_of(&analysis, &run, 2)->place, 2);
	assert_int_equal(row_of(&analysis, &run, 3)->place, 1);
	assert_int_equal(row_of(&analysis, &run, 1)->place, 2);
	canned_near(row_of(&analysis, &run, 1)->ratio.median, 900.0 / 950, 1e-6);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_router_is_no_alternative_to_this_sshd(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83");
	run.targets[1].is_local = false;
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 500);
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 300);
	run.results[1].c.target = 1;
	canned_raw(&run, "aes128-ctr", "hmac-sha2-256", 1000, 1000);
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.group_count, 2);
	assert_int_equal(analysis.groups[1].target, 1);
	assert_ptr_equal(analysis.groups[1].leader->result, &run.results[1]);
	assert_int_equal(analysis.groups[0].ranked, 1);
	/* Each row by its own target: the router is another machine. */
	canned_near(row_of(&analysis, &run, 0)->of_raw, 0.5, 0.01);
	assert_true(isnan(row_of(&analysis, &run, 1)->of_raw));
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
methods_and_clients_compete_within_a_group(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 500);
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), 860);
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), 700);
	run.results[2].c.method = XB_METHOD_SFTP;
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.group_count, 1);
	assert_int_equal(row_of(&analysis, &run, 1)->place, 1);
	assert_int_equal(row_of(&analysis, &run, 2)->place, 2);
	assert_int_equal(row_of(&analysis, &run, 0)->place, 3);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_reference_is_never_ranked_and_comes_last(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_about(canned_reference(&run, "tcp", "plain TCP"), 5200);
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 500);
	canned_about(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), 480);
	xb_case_refuse(&canned_case(&run, "3des-cbc", "hmac-sha1")->c, XB_NOT_OFFERED, "no", NULL);
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.group_count, 1);
	assert_int_equal(analysis.groups[0].ranked, 2);
	assert_ptr_equal(analysis.leader->result, &run.results[1]);
	assert_ptr_equal(analysis.rows[3].result, &run.results[0]);
	assert_false(analysis.rows[3].ranked);
	assert_int_equal(analysis.rows[3].place, 0);
	assert_int_equal(analysis.rows[3].ratio.count, 0);
	assert_int_equal(analysis.rows[3].group, analysis.group_count);
	canned_near(analysis.rows[3].rate.median / MB, 5205, 1);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_reference_alone_leads_nothing(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_about(canned_reference(&run, "null", "harness alone"), 25000);
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.group_count, 0);
	assert_null(analysis.leader);
	assert_true(isnan(analysis.worst_spread));
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static struct xb_result *
compressed(struct xb_run *run, double mb_per_second, double wire)
{
	struct xb_result *result = canned_case(run, "aes128-ctr", "hmac-sha2-256");

	canned_about(result, mb_per_second);
	result->c.suite.compression = xb_strdup("zlib@openssh.com");
	for (size_t i = 0; i < result->sample_count; i++)
		result->samples[i].wire_bytes = (uint64_t)(wire * (double)result->samples[i].bytes);
	return result;
}

static void
zeros_under_compression_are_not_ranked(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 500);
	compressed(&run, 9000, 0.003);
	xb_analysis_make(&run, &analysis);
	assert_ptr_equal(analysis.leader->result, &run.results[0]);
	assert_int_equal(row_of(&analysis, &run, 1)->place, 0);
	assert_false(row_of(&analysis, &run, 1)->ranked);
	assert_true(row_of(&analysis, &run, 1)->measured);
	assert_string_equal(row_of(&analysis, &run, 1)->warning,
	    "zeros under compression say nothing: --payload text:50");
	canned_near(row_of(&analysis, &run, 1)->wire_ratio, 0.003, 1e-6);
	assert_null(row_of(&analysis, &run, 0)->warning);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
compressed_text_is_ranked_and_has_no_overhead(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	free(run.settings.payload);
	run.settings.payload = xb_strdup("text:50");
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 500);
	compressed(&run, 45, 0.62);
	run.results[1].samples[3].wire_bytes = 0;
	canned_raw(&run, "aes128-ctr", "hmac-sha2-256", 1000, 1000);
	xb_analysis_make(&run, &analysis);
	assert_int_equal(row_of(&analysis, &run, 1)->place, 2);
	assert_null(row_of(&analysis, &run, 1)->warning);
	canned_near(row_of(&analysis, &run, 1)->wire_ratio, 0.62, 1e-6);
	assert_true(isnan(row_of(&analysis, &run, 1)->overhead));
	assert_true(isfinite(row_of(&analysis, &run, 0)->overhead));
	assert_true(isnan(row_of(&analysis, &run, 0)->wire_ratio));
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_download_is_judged_by_what_was_on_the_wire(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;
	struct xb_result *result;

	(void)state;
	canned_private(&run);
	free(run.settings.payload);
	run.settings.payload = xb_strdup("text:50");
	/* exec downloads zeros, whatever the payload is. */
	result = compressed(&run, 900, 0.004);
	result->c.direction = XB_DOWNLOAD;
	result = compressed(&run, 45, 0.62);
	result->c.direction = XB_DOWNLOAD;
	result->c.method = XB_METHOD_SFTP;
	/* A file of the user's, and nobody counted on the wire. */
	result = compressed(&run, 45, 0);
	result->c.direction = XB_DOWNLOAD;
	xb_analysis_make(&run, &analysis);
	assert_string_equal(row_of(&analysis, &run, 0)->warning,
	    "zeros under compression say nothing: --remote-file PATH");
	assert_null(row_of(&analysis, &run, 1)->warning);
	assert_non_null(row_of(&analysis, &run, 2)->warning);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
scaling_is_paired_with_one_stream_of_the_same_case(void **state)
{
	static const double one[] = { 500, 400, 300, 500, 400, 300 };
	static const double four[] = { 1500, 1240, 900, 1450, 1200, 930 };
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	/* The same of other clients, directions and suites. */
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), 10);
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 10);
	run.results[1].c.direction = XB_DOWNLOAD;
	canned_about(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), 10);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), one, 6);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), four, 6);
	run.results[4].c.streams = 4;
	canned_about(canned_ssh(&run, "aes256-ctr", "hmac-sha2-256"), 900);
	run.results[5].c.streams = 4;
	canned_raw(&run, "aes128-ctr", "hmac-sha2-256", 1000, 1000);
	xb_analysis_make(&run, &analysis);
	/* The ratios are 3, 3.1, 3, 2.9, 3 and 3.1. */
	canned_near(row_of(&analysis, &run, 4)->scaling.median, 3, TINY);
	canned_near(row_of(&analysis, &run, 4)->scaling.low, 2.9, TINY);
	canned_near(row_of(&analysis, &run, 4)->scaling.high, 3.1, TINY);
	/* Four streams have more than one core. */
	assert_true(isnan(row_of(&analysis, &run, 4)->overhead));
	assert_int_equal(row_of(&analysis, &run, 3)->scaling.count, 0);
	assert_int_equal(row_of(&analysis, &run, 5)->scaling.count, 0);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_login_has_seconds_and_no_rate(void **state)
{
	static const double quick[] = { 0.010, 0.011, 0.012, 0.010, 0.011, 0.012 };
	static const double slow[] = { 0.020, 0.022, 0.024, 0.025, 0.022, 0.024 };
	struct xb_run run;
	struct xb_analysis analysis;
	const struct xb_row *row;

	(void)state;
	canned_private(&run);
	canned_logins(canned_login(&run, "sntrup761x25519-sha512", "ssh-ed25519"), slow, 6);
	canned_logins(canned_login(&run, "curve25519-sha256", NULL), quick, 6);
	run.results[1].samples[0].start_seconds = 0.003;
	snprintf(run.results[1].samples[0].negotiated.hostkey, XB_NAME_MAX, "rsa-sha2-512");
	snprintf(run.results[0].samples[0].negotiated.hostkey, XB_NAME_MAX, "rsa-sha2-512");
	xb_analysis_make(&run, &analysis);
	row = row_of(&analysis, &run, 1);
	assert_ptr_equal(analysis.leader, row);
	assert_int_equal(row->rate.count, 0);
	assert_true(isnan(row->rate.median));
	canned_near(row->login.total.median, 0.011, TINY);
	canned_near(row->login.total.low, 0.010, TINY);
	canned_near(row->login.kex.median, 0.0066, TINY);
	canned_near(row->login.connect.median, 0.0022, TINY);
	canned_near(row->login.start.median, 0.003, TINY);
	assert_int_equal(row->login.start.count, 1);
	assert_int_equal(row->place, 1);
	assert_string_equal(xb_row_kex(row), "curve25519-sha256");
	assert_string_equal(xb_row_hostkey(row), "rsa-sha2-512");
	row = row_of(&analysis, &run, 0);
	assert_string_equal(xb_row_hostkey(row), "ssh-ed25519");
	assert_int_equal(row->place, 2);
	/* Logins per second, half as many. */
	canned_near(row->ratio.median, 0.5, TINY);
	canned_near(row->ratio.low, 0.4, TINY);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_suite_that_could_not_be_found_out_is_ranked_all_the_same(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_about(canned_ssh(&run, NULL, NULL), 660);
	run.results[0].c.as_negotiated = true;
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), 860);
	canned_raw(&run, "aes128-ctr", "hmac-sha2-256", 1000, 1000);
	xb_analysis_make(&run, &analysis);
	assert_int_equal(row_of(&analysis, &run, 0)->place, 2);
	assert_true(isnan(row_of(&analysis, &run, 0)->raw));
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
each_group_says_whether_its_places_are_clear(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 3);
	run.results[2].c.direction = XB_DOWNLOAD;
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 3);
	run.results[3].c.direction = XB_DOWNLOAD;
	xb_case_refuse(&canned_case(&run, "3des-cbc", "hmac-sha1")->c, XB_NOT_OFFERED, "no", NULL);
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83");
	run.results[4].c.target = 1;
	xb_analysis_make(&run, &analysis);
	assert_int_equal(analysis.group_count, 3);
	assert_true(analysis.groups[0].places_clear);
	assert_false(analysis.groups[1].places_clear);
	assert_int_equal(analysis.groups[1].rounds_needed, 6);
	assert_int_equal(analysis.groups[2].ranked, 0);
	assert_null(analysis.groups[2].leader);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_upload_does_not_compete_with_a_download),
		cmocka_unit_test(a_router_is_no_alternative_to_this_sshd),
		cmocka_unit_test(methods_and_clients_compete_within_a_group),
		cmocka_unit_test(a_reference_is_never_ranked_and_comes_last),
		cmocka_unit_test(a_reference_alone_leads_nothing),
		cmocka_unit_test(zeros_under_compression_are_not_ranked),
		cmocka_unit_test(compressed_text_is_ranked_and_has_no_overhead),
		cmocka_unit_test(a_download_is_judged_by_what_was_on_the_wire),
		cmocka_unit_test(scaling_is_paired_with_one_stream_of_the_same_case),
		cmocka_unit_test(a_login_has_seconds_and_no_rate),
		cmocka_unit_test(a_suite_that_could_not_be_found_out_is_ranked_all_the_same),
		cmocka_unit_test(each_group_says_whether_its_places_are_clear),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
