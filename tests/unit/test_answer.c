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
#include "analysis/answer.h"
#include "base/mem.h"
#include "canned.h"

static struct xb_answer
answer_of(const struct xb_run *run)
{
	struct xb_analysis analysis;
	struct xb_answer answer;

	xb_analysis_make(run, &analysis);
	xb_answer_make(run, &analysis, &answer);
	xb_analysis_free(&analysis);
	return answer;
}

static void
expect_answer(const struct xb_run *run, const char *expected)
{
	struct xb_answer answer = answer_of(run);

	assert_non_null(answer.answer);
	canned_expect(answer.answer, expected);
	xb_answer_free(&answer);
}

/* CPU shares of all samples; 1 s each. */
static void
expect_limit(struct xb_run *run, double client, double server, const char *expected)
{
	struct xb_answer answer;

	for (size_t i = 0; i < run->results[0].sample_count; i++) {
		run->results[0].samples[i].client_cpu_seconds = client;
		run->results[0].samples[i].server_cpu_seconds = server;
	}
	answer = answer_of(run);
	if (expected == NULL)
		assert_null(answer.limit);
	else
		canned_expect(answer.limit, expected);
	xb_answer_free(&answer);
}

static void
the_fastest_is_named_with_its_lead(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	/* numpy 1.24.2: x = log(fast / slow); exp of median, min and max: 1.0408, 1.0325, 1.0505 */
	expect_answer(&run,
	    "aes128-ctr with hmac-sha2-256 is the fastest here for libssh2: 510 MB/s, "
	    "1.04 times (1.03 to 1.05) aes256-ctr.");
	xb_run_free(&run);
}

static void
the_host_is_named_when_it_is_another(void **state)
{
	struct xb_run run;

	(void)state;
	canned_remote(&run);
	run.settings.unit = XB_RATE_MBIT;
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-512"), canned_slow, 6);
	canned_rates(canned_case(&run, "chacha20-poly1305@openssh.com", NULL), canned_fast, 6);
	expect_answer(&run,
	    "chacha20-poly1305 is the fastest to nas for libssh2: 4080 Mbit/s, "
	    "1.04 times (1.03 to 1.05) aes256-ctr with hmac-sha2-512.");
	xb_run_free(&run);
}

static void
a_small_sure_lead_is_not_rounded_away(void **state)
{
	static const double a[] = { 1000, 1001, 999, 1002, 998, 1000 };
	static const double b[] = { 998, 999, 996, 1000, 996, 998 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), a, 6);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), b, 6);
	expect_answer(&run,
	    "aes128-ctr with hmac-sha2-256 is the fastest here for libssh2: 1000 MB/s, "
	    "1.002 times (1.002 to 1.003) aes256-ctr.");
	xb_run_free(&run);
}

static void
of_equals_the_stronger_is_chosen(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_level, 6);
	expect_answer(&run,
	    "aes128-ctr and aes256-ctr are equal within what 6 rounds can see; choose aes256-ctr, "
	    "the stronger.");
	canned_rates(canned_case(&run, "aes192-ctr", "hmac-sha2-256"), canned_level, 6);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-512"), canned_slow, 6);
	expect_answer(&run,
	    "aes128-ctr, aes256-ctr and aes192-ctr are equal within what 6 rounds can see; choose "
	    "aes256-ctr, the strongest.");
	xb_run_free(&run);
}

static void
of_equals_in_strength_either_will_do(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes256-gcm@openssh.com", NULL), canned_fast, 6);
	canned_rates(canned_case(&run, "chacha20-poly1305@openssh.com", NULL), canned_level, 6);
	expect_answer(&run,
	    "aes256-gcm and chacha20-poly1305 are equal within what 6 rounds can see; either will "
	    "do.");
	xb_run_free(&run);
}

static void
equals_that_differ_in_mac_name_it(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-512"), canned_level, 6);
	expect_answer(&run,
	    "aes256-ctr with hmac-sha2-256 and aes256-ctr with hmac-sha2-512 are equal within what "
	    "6 rounds can see; either will do.");
	xb_run_free(&run);
}

static void
too_few_rounds_give_no_verdict(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 1);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 1);
	expect_answer(&run,
	    "aes128-ctr with hmac-sha2-256 came out fastest in 1 round, 510 MB/s with libssh2; "
	    "6 are needed to tell it from the others.");
	xb_run_free(&run);
}

static void
a_row_with_few_trials_is_not_compared(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes192-ctr", "hmac-sha2-256"), canned_level, 3);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	/* Three good rounds of aes192-ctr have the higher median: it cannot be told from any. */
	expect_answer(&run,
	    "aes192-ctr with hmac-sha2-256 came out fastest in 3 rounds, 511 MB/s with libssh2; "
	    "6 are needed to tell it from the others.");
	run.results[1].samples[1].bytes = 400000000;
	run.results[1].samples[0].bytes = 400000000;
	expect_answer(&run,
	    "aes128-ctr with hmac-sha2-256 is the fastest here for libssh2: 510 MB/s, 1.04 times "
	    "(1.03 to 1.05) aes256-ctr. aes192-ctr with hmac-sha2-256 has too few trials to compare.");
	xb_run_free(&run);
}

static void
one_alone_is_not_called_the_fastest(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	xb_case_refuse(&canned_case(&run, "aes256-ctr", "hmac-sha2-256")->c, XB_NOT_OFFERED,
	    "not offered", NULL);
	expect_answer(&run,
	    "aes128-ctr with hmac-sha2-256 reaches 510 MB/s with libssh2; no other sound one was "
	    "measured.");
	xb_run_free(&run);
}

static void
a_weak_cipher_is_never_recommended_beside_a_sound_one(void **state)
{
	struct xb_run run;
	struct xb_answer answer;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "arcfour128", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	canned_rates(canned_case(&run, "3des-cbc", "hmac-sha2-256"), (const double[]){ 33, 33, 34 },
	    3);
	answer = answer_of(&run);
	assert_non_null(strstr(answer.answer,
	    "aes256-ctr with hmac-sha2-256 reaches 490 MB/s with libssh2; no other sound one was "
	    "measured. arcfour128 with hmac-sha2-256 is faster, but arcfour128 is broken: RFC 8758"));
	xb_answer_free(&answer);
	xb_run_free(&run);
}

static void
a_weak_mac_is_never_recommended_beside_a_sound_one(void **state)
{
	struct xb_run run;
	struct xb_answer answer;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-md5"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	answer = answer_of(&run);
	assert_non_null(strstr(answer.answer,
	    "aes256-ctr with hmac-sha2-256 reaches 490 MB/s with libssh2; no other sound one was "
	    "measured. aes128-ctr with hmac-md5 is faster, but hmac-md5 is "));
	xb_answer_free(&answer);
	xb_run_free(&run);
}

static void
only_weak_ones_are_called_weak_with_the_source(void **state)
{
	struct xb_run run;
	struct xb_answer answer;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-cbc", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "3des-cbc", "hmac-sha2-256"), canned_slow, 6);
	answer = answer_of(&run);
	assert_non_null(strstr(answer.answer,
	    "aes128-cbc with hmac-sha2-256 is the fastest here for libssh2: 510 MB/s, 1.04 times "
	    "(1.03 to 1.05) 3des. aes128-cbc is weak: CVE-2008-5161"));
	assert_null(strstr(answer.answer, "choose"));
	assert_null(strstr(answer.answer, "3des is"));
	xb_answer_free(&answer);
	xb_run_free(&run);
}

static void
equal_weak_ones_are_not_chosen_from(void **state)
{
	struct xb_run run;
	struct xb_answer answer;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-cbc", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "3des-cbc", "hmac-sha2-256"), canned_level, 6);
	answer = answer_of(&run);
	assert_non_null(strstr(answer.answer,
	    "aes128-cbc and 3des are equal within what 6 rounds can see. aes128-cbc is weak: "));
	assert_non_null(strstr(answer.answer, " 3des is "));
	assert_null(strstr(answer.answer, "choose"));
	xb_answer_free(&answer);
	xb_run_free(&run);
}

static void
nothing_measured_has_no_answer(void **state)
{
	struct xb_run run;
	struct xb_answer answer;

	(void)state;
	canned_private(&run);
	xb_case_refuse(&canned_case(&run, "3des-cbc", "hmac-sha1")->c, XB_NOT_OFFERED, "no", NULL);
	answer = answer_of(&run);
	assert_null(answer.answer);
	assert_null(answer.limit);
	xb_answer_free(&answer);
	xb_run_free(&run);
}

static void
the_limit_is_a_core_that_was_seen_full(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	expect_limit(&run, 0.98, 0.71, "libssh2's CPU, 98% of one core.");
	expect_limit(&run, 0.4, 0.97, "sshd's CPU, 97% of one core.");
	expect_limit(&run, 0.93, 0.97,
	    "sshd's CPU, 97% of one core; libssh2's is nearly as busy, 93%.");
	expect_limit(&run, 0.98, 0.9,
	    "libssh2's CPU, 98% of one core; sshd's is nearly as busy, 90%.");
	expect_limit(&run, 0.98, NAN, "libssh2's CPU, 98% of one core.");
	xb_run_free(&run);
}

static void
no_full_core_leaves_the_limit_unclear(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	expect_limit(&run, 0.6, 0.7, "unclear: libssh2 60%, sshd 70% of a core.");
	expect_limit(&run, 0.6, NAN, "unclear: libssh2 60% of a core, sshd's CPU unknown.");
	expect_limit(&run, NAN, 0.7, "unclear: sshd 70% of a core, libssh2's CPU unknown.");
	expect_limit(&run, NAN, NAN, NULL);
	xb_run_free(&run);
}

static void
a_remote_limit_names_the_host(void **state)
{
	struct xb_run run;

	(void)state;
	canned_remote(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	for (size_t i = 0; i < 6; i++)
		run.results[0].samples[i].server_core_share = 0.99;
	expect_limit(&run, 0.04, NAN, "nas's CPU, 99% of one core.");
	xb_run_free(&run);
}

static void
many_equals_are_not_all_spelt_out(void **state)
{
	static const char *const macs[] = { "hmac-sha2-256", "hmac-sha2-512",
		"hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com",
		"umac-128@openssh.com", "umac-128-etm@openssh.com" };
	struct xb_run run;
	struct xb_answer answer;

	(void)state;
	canned_private(&run);
	for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++)
		canned_rates(canned_case(&run, "aes256-ctr", macs[i]), canned_fast, 6);
	canned_rates(canned_case(&run, "aes256-gcm@openssh.com", NULL), canned_fast, 6);
	answer = answer_of(&run);
	assert_non_null(strstr(answer.answer, "umac-128-etm and 1 more are equal"));
	assert_non_null(strstr(answer.answer, "any of them will do."));
	xb_answer_free(&answer);
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fastest_is_named_with_its_lead),
		cmocka_unit_test(the_host_is_named_when_it_is_another),
		cmocka_unit_test(a_small_sure_lead_is_not_rounded_away),
		cmocka_unit_test(of_equals_the_stronger_is_chosen),
		cmocka_unit_test(of_equals_in_strength_either_will_do),
		cmocka_unit_test(equals_that_differ_in_mac_name_it),
		cmocka_unit_test(too_few_rounds_give_no_verdict),
		cmocka_unit_test(a_row_with_few_trials_is_not_compared),
		cmocka_unit_test(one_alone_is_not_called_the_fastest),
		cmocka_unit_test(a_weak_cipher_is_never_recommended_beside_a_sound_one),
		cmocka_unit_test(a_weak_mac_is_never_recommended_beside_a_sound_one),
		cmocka_unit_test(only_weak_ones_are_called_weak_with_the_source),
		cmocka_unit_test(equal_weak_ones_are_not_chosen_from),
		cmocka_unit_test(nothing_measured_has_no_answer),
		cmocka_unit_test(the_limit_is_a_core_that_was_seen_full),
		cmocka_unit_test(no_full_core_leaves_the_limit_unclear),
		cmocka_unit_test(a_remote_limit_names_the_host),
		cmocka_unit_test(many_equals_are_not_all_spelt_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
