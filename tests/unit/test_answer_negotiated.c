#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/answer.h"
#include "base/mem.h"
#include "canned.h"

#define CHACHA "chacha20-poly1305@openssh.com"
#define GCM128 "aes128-gcm@openssh.com"
#define GCM256 "aes256-gcm@openssh.com"

/* Half as fast again as canned_fast, by 1.47 to 1.59. */
static const double faster[CANNED_ROUNDS] = { 750, 784, 764, 767, 813, 777 };

static void
expect(const struct xb_run *run, const char *expected)
{
	struct xb_analysis analysis;
	struct xb_answer answer;

	xb_analysis_make(run, &analysis);
	xb_answer_make(run, &analysis, &answer);
	assert_non_null(answer.answer);
	canned_expect(answer.answer, expected);
	xb_answer_free(&answer);
	xb_analysis_free(&analysis);
}

/* A run whose answer is about ssh, which picks chacha20-poly1305 by itself at 510 MB/s: result 0. */
static void
begin(struct xb_run *run)
{
	canned_private(run);
	run->settings.answer_client = xb_strdup("openssh");
	canned_rates(canned_ssh(run, CHACHA, NULL), canned_fast, 6);
	run->results[0].c.as_negotiated = true;
}

static void
a_faster_cipher_is_a_line_for_the_configuration(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_rates(canned_ssh(&run, GCM256, NULL), faster, 6);
	/* Of another client, which is not asked about. */
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 2000);
	/* python3's statistics: x = log(faster / fast); exp of median, min, max: 1.5304, 1.4692, 1.5910 */
	expect(&run,
	    "Ciphers ^aes256-gcm@openssh.com     in ~/.ssh/config\n"
	    "1.53 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself.");
	xb_run_free(&run);
}

static void
a_mac_that_matters_is_a_line_too(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_rates(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), faster, 6);
	expect(&run,
	    "Ciphers ^aes128-ctr     in ~/.ssh/config\n"
	    "MACs ^hmac-sha2-256\n"
	    "1.53 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself.");
	/* The cipher is the same: the MAC alone. */
	free(run.results[0].c.suite.cipher_name);
	xb_suite_init(&run.results[0].c.suite, "aes128-ctr", "umac-64-etm@openssh.com", NULL);
	expect(&run,
	    "MACs ^hmac-sha2-256     in ~/.ssh/config\n"
	    "1.53 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself.");
	xb_run_free(&run);
}

static void
of_equally_fast_ones_the_stronger_goes_into_the_configuration(void **state)
{
	static const double level[] = { 765, 780, 766, 765, 810, 775 };
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_rates(canned_ssh(&run, GCM128, NULL), faster, 6);
	canned_rates(canned_ssh(&run, GCM256, NULL), level, 6);
	expect(&run,
	    "Ciphers ^aes256-gcm@openssh.com     in ~/.ssh/config\n"
	    "1.52 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself.");
	xb_run_free(&run);
}

static void
nothing_is_to_change_where_the_fastest_is_picked(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_rates(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), canned_slow, 6);
	/* python3's statistics: x = log(slow / fast); 1 - exp of median, max and min: 3.9%, 3.1%, 4.8% */
	expect(&run,
	    "ssh already uses the fastest, chacha20-poly1305. Nothing to change.\n"
	    "aes128-ctr with hmac-sha2-256 would be 4% slower (3 to 5).");
	xb_run_free(&run);
}

static void
what_another_choice_costs_is_told_in_hours(void **state)
{
	struct xb_run run;

	(void)state;
	canned_remote(&run);
	run.settings.answer_client = xb_strdup("openssh");
	canned_about(canned_ssh(&run, CHACHA, NULL), 10.4);
	run.results[0].c.as_negotiated = true;
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha1"), 8.9);
	run.results[1].samples[0].bytes += 50000;
	run.results[1].samples[1].bytes -= 90000;
	canned_about(canned_ssh(&run, "aes256-ctr", "hmac-sha2-256"), 8);
	expect(&run,
	    "ssh already uses the fastest, chacha20-poly1305. Nothing to change.\n"
	    "aes256-ctr with hmac-sha2-256 would be 23% slower (23 to 23), 100 GB in 3.5 h, "
	    "not 2.7 h.");
	xb_run_free(&run);
}

static void
one_of_several_equals_is_not_called_the_fastest(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_rates(canned_ssh(&run, GCM256, NULL), canned_level, 6);
	expect(&run, "ssh already uses one of the fastest, chacha20-poly1305. Nothing to change.");
	xb_run_free(&run);
}

static void
a_library_has_no_configuration_file(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	run.settings.answer_client = xb_strdup("libssh2");
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_fast, 6);
	run.results[0].c.as_negotiated = true;
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-512"), faster, 6);
	canned_about(canned_ssh(&run, CHACHA, NULL), 2000);
	expect(&run,
	    "with libssh2: aes128-ctr with hmac-sha2-512, 1.53 times (1.47 to 1.59) the 510 MB/s that "
	    "libssh2 picks by itself.");
	xb_run_free(&run);
}

static void
a_client_without_a_rate_leaves_the_answer_to_the_fastest(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	run.settings.answer_client = xb_strdup("openssh");
	xb_case_refuse(&canned_ssh(&run, "aes128-ctr", "hmac-sha2-256")->c, XB_FAILED,
	    "there is no ssh here", NULL);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	expect(&run,
	    "aes128-ctr with hmac-sha2-256 is the fastest here for libssh2: 510 MB/s, "
	    "1.04 times (1.03 to 1.05) aes256-ctr.");
	xb_run_free(&run);
}

static void
too_few_rounds_give_no_advice(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	run.settings.answer_client = xb_strdup("openssh");
	canned_rates(canned_ssh(&run, CHACHA, NULL), canned_fast, 3);
	run.results[0].c.as_negotiated = true;
	canned_rates(canned_ssh(&run, GCM256, NULL), faster, 3);
	expect(&run,
	    "aes256-gcm came out fastest in 3 rounds, 764 MB/s with ssh; 6 are needed to tell it "
	    "from the others.");
	xb_run_free(&run);
}

static void
what_is_picked_alone_is_compared_with_nothing(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	expect(&run,
	    "chacha20-poly1305, which ssh picks by itself, reaches 510 MB/s; no other sound one "
	    "was measured.");
	xb_run_free(&run);
}

static void
a_weak_cipher_goes_into_no_configuration(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_rates(canned_ssh(&run, "arcfour128", "hmac-sha2-256"), faster, 6);
	canned_rates(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), canned_slow, 6);
	expect(&run,
	    "ssh already uses the fastest, chacha20-poly1305. Nothing to change.\n"
	    "aes128-ctr with hmac-sha2-256 would be 4% slower (3 to 5). arcfour128 with "
	    "hmac-sha2-256 is faster, but arcfour128 is broken: RFC 8758: RC4 keystream is biased, "
	    "SSH must not use it.");
	xb_run_free(&run);
}

static void
only_weak_ones_beside_an_unknown_choice_are_no_advice(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	xb_suite_free(&run.results[0].c.suite);
	canned_rates(canned_ssh(&run, "arcfour128", "hmac-sha2-256"), faster, 6);
	expect(&run,
	    "arcfour128 with hmac-sha2-256 is the fastest here for ssh: 772 MB/s, 1.53 times (1.47 "
	    "to 1.59) as negotiated. arcfour128 is broken: RFC 8758: RC4 keystream is biased, SSH "
	    "must not use it.");
	xb_run_free(&run);
}

static void
a_weak_choice_of_today_is_told(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	xb_suite_free(&run.results[0].c.suite);
	xb_suite_init(&run.results[0].c.suite, "arcfour128", "hmac-sha2-256", NULL);
	canned_rates(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), faster, 6);
	canned_rates(canned_ssh(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	expect(&run,
	    "Ciphers ^aes128-ctr     in ~/.ssh/config\n"
	    "1.53 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself. ssh picks arcfour128 "
	    "with hmac-sha2-256 by itself: arcfour128 is broken: RFC 8758: RC4 keystream is "
	    "biased, SSH must not use it.");
	xb_run_free(&run);
}

static void
several_streams_and_zeros_under_compression_are_no_answer(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_about(canned_ssh(&run, GCM256, NULL), 3000);
	run.results[1].c.streams = 4;
	canned_about(canned_ssh(&run, GCM128, NULL), 9000);
	run.results[2].c.suite.compression = xb_strdup("zlib@openssh.com");
	canned_rates(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), canned_slow, 6);
	expect(&run,
	    "ssh already uses the fastest, chacha20-poly1305. Nothing to change.\n"
	    "aes128-ctr with hmac-sha2-256 would be 4% slower (3 to 5).");
	xb_run_free(&run);
}

static void
compression_that_pays_is_a_line_as_well(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	free(run.settings.payload);
	run.settings.payload = xb_strdup("text:90");
	canned_rates(canned_ssh(&run, CHACHA, NULL), faster, 6);
	run.results[1].c.suite.compression = xb_strdup("zlib@openssh.com");
	expect(&run,
	    "Compression yes     in ~/.ssh/config\n"
	    "1.53 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself.");
	xb_run_free(&run);
}

static void
the_faster_method_is_named(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_rates(canned_ssh(&run, GCM256, NULL), faster, 6);
	canned_about(canned_ssh(&run, GCM256, NULL), 400);
	run.results[2].c.method = XB_METHOD_SCP;
	canned_rates(canned_ssh(&run, GCM256, NULL), canned_fast, 6);
	run.results[3].c.method = XB_METHOD_SFTP;
	expect(&run,
	    "Ciphers ^aes256-gcm@openssh.com     in ~/.ssh/config\n"
	    "1.53 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself. exec is the fastest "
	    "method, 1.53 times (1.47 to 1.59) sftp.");
	/* One that is level with it leaves the choice open. */
	memcpy(run.results[3].samples, run.results[1].samples,
	    CANNED_ROUNDS * sizeof(*run.results[3].samples));
	expect(&run,
	    "Ciphers ^aes256-gcm@openssh.com     in ~/.ssh/config\n"
	    "1.53 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself.");
	xb_run_free(&run);
}

static void
each_direction_has_its_answer(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_rates(canned_ssh(&run, GCM256, NULL), faster, 6);
	canned_rates(canned_ssh(&run, CHACHA, NULL), canned_fast, 6);
	run.results[2].c.as_negotiated = true;
	run.results[2].c.direction = XB_DOWNLOAD;
	canned_rates(canned_ssh(&run, GCM256, NULL), canned_level, 6);
	run.results[3].c.direction = XB_DOWNLOAD;
	expect(&run,
	    "Upload: Ciphers ^aes256-gcm@openssh.com     in ~/.ssh/config\n"
	    "1.53 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself.\n"
	    "Download: ssh already uses one of the fastest, chacha20-poly1305. Nothing to change.");
	xb_run_free(&run);
}

static void
each_server_has_its_answer_but_one_that_stands_in(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	run.targets[0].server = xb_strdup("openssh");
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83");
	canned_server(&run, "asyncssh", "/usr/bin/python3", "AsyncSSH_2.10.1")->stands_in = true;
	canned_rates(canned_ssh(&run, GCM256, NULL), faster, 6);
	canned_rates(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	run.results[2].c.target = 1;
	canned_rates(canned_case(&run, "blowfish-cbc", "hmac-sha2-256"), canned_fast, 6);
	run.results[3].c.target = 2;
	expect(&run,
	    "openssh: Ciphers ^aes256-gcm@openssh.com     in ~/.ssh/config\n"
	    "1.53 times (1.47 to 1.59) the 510 MB/s that ssh picks by itself.\n"
	    "dropbear: aes128-ctr with hmac-sha2-256 reaches 510 MB/s with ssh; no other sound one "
	    "was measured.");
	xb_run_free(&run);
}

static void
the_limit_is_that_of_the_client_asked_about(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;
	struct xb_answer answer;

	(void)state;
	begin(&run);
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 2000);
	for (size_t i = 0; i < CANNED_ROUNDS; i++) {
		run.results[0].samples[i].client_cpu_seconds = 0.98;
		run.results[0].samples[i].server_cpu_seconds = 0.5;
		run.results[1].samples[i].client_cpu_seconds = 0.5;
		run.results[1].samples[i].server_cpu_seconds = 0.98;
	}
	xb_analysis_make(&run, &analysis);
	xb_answer_make(&run, &analysis, &answer);
	canned_expect(answer.limit, "ssh's CPU, 98% of one core.");
	xb_answer_free(&answer);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

static void
a_server_that_an_interpreter_runs_has_its_own_name(void **state)
{
	struct xb_run run;
	struct xb_analysis analysis;
	struct xb_answer answer;

	(void)state;
	canned_private(&run);
	canned_server(&run, "asyncssh", "/usr/bin/python3", "AsyncSSH_2.10.1")->stands_in = true;
	canned_about(canned_case(&run, "blowfish-cbc", "hmac-sha2-256"), 124);
	run.results[0].c.target = 1;
	for (size_t i = 0; i < CANNED_ROUNDS; i++)
		run.results[0].samples[i].server_cpu_seconds = 0.98;
	xb_analysis_make(&run, &analysis);
	xb_answer_make(&run, &analysis, &answer);
	canned_expect(answer.limit, "asyncssh's CPU, 98% of one core.");
	assert_non_null(strstr(answer.answer, "blowfish with hmac-sha2-256 reaches 124 MB/s"));
	xb_answer_free(&answer);
	xb_analysis_free(&analysis);
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_faster_cipher_is_a_line_for_the_configuration),
		cmocka_unit_test(a_mac_that_matters_is_a_line_too),
		cmocka_unit_test(of_equally_fast_ones_the_stronger_goes_into_the_configuration),
		cmocka_unit_test(nothing_is_to_change_where_the_fastest_is_picked),
		cmocka_unit_test(what_another_choice_costs_is_told_in_hours),
		cmocka_unit_test(one_of_several_equals_is_not_called_the_fastest),
		cmocka_unit_test(a_library_has_no_configuration_file),
		cmocka_unit_test(a_client_without_a_rate_leaves_the_answer_to_the_fastest),
		cmocka_unit_test(too_few_rounds_give_no_advice),
		cmocka_unit_test(what_is_picked_alone_is_compared_with_nothing),
		cmocka_unit_test(a_weak_cipher_goes_into_no_configuration),
		cmocka_unit_test(only_weak_ones_beside_an_unknown_choice_are_no_advice),
		cmocka_unit_test(a_weak_choice_of_today_is_told),
		cmocka_unit_test(several_streams_and_zeros_under_compression_are_no_answer),
		cmocka_unit_test(compression_that_pays_is_a_line_as_well),
		cmocka_unit_test(the_faster_method_is_named),
		cmocka_unit_test(each_direction_has_its_answer),
		cmocka_unit_test(each_server_has_its_answer_but_one_that_stands_in),
		cmocka_unit_test(the_limit_is_that_of_the_client_asked_about),
		cmocka_unit_test(a_server_that_an_interpreter_runs_has_its_own_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
