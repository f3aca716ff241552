#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/plan.h"
#include "model/run.h"
#include "plans.h"

/* With the one client, "plain". */
static void
make(struct xb_run *run, const char *ciphers, const char *macs)
{
	const struct xb_plan_request request = {
		.ciphers = ciphers,
		.macs = macs,
		.clients = "all",
		.all_clients = plans_plain,
	};

	plans_make(run, &request);
}

/* Its rows, by "; ", without its name. */
static void
expect(const struct xb_run *run, const char *expected)
{
	char *copy = xb_strdup(expected), *save = NULL, *row;
	char text[2000] = "";
	size_t len = 0;

	for (row = strtok_r(copy, ";", &save); row != NULL; row = strtok_r(NULL, ";", &save)) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%splain %s",
		    len > 0 ? "; " : "", row + (row[0] == ' '));
		assert_true(len < sizeof(text));
	}
	free(copy);
	plans_expect(run, false, text);
}

/* How many cases are of suites. */
static size_t
suites(const struct xb_run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->result_count; i++)
		count += run->results[i].c.suite.cipher_name != NULL;
	return count;
}

static void
default_is_what_is_sound_and_offered(void **state)
{
	struct xb_run run = plans_host("aes128-cbc,3des-cbc,aes256-ctr,arcfour,aes128-ctr,"
				       "aes128-gcm@openssh.com",
	    "hmac-sha2-512,hmac-sha2-256");

	(void)state;
	make(&run, NULL, NULL);
	expect(&run,
	    "aes128-gcm@openssh.com - unsupported; aes128-ctr hmac-sha2-256 planned; "
	    "aes256-ctr hmac-sha2-256 planned");
	assert_true(xb_plan_has_work(&run));
	assert_int_equal(run.notes.count, 0);
	xb_run_free(&run);
}

static void
server_with_nothing_sound_is_shown_with_what_it_has(void **state)
{
	struct xb_run run = plans_host("3des-cbc,aes128-cbc", "hmac-sha1");

	(void)state;
	make(&run, NULL, NULL);
	assert_int_equal(suites(&run), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(run.results[i].c.status, XB_PLANNED);
		assert_string_equal(run.results[i].c.suite.mac_name, "hmac-sha1");
	}
	assert_true(run.notes.count >= 1);
	xb_run_free(&run);
}

static void
not_offered_names_the_target_and_its_offer(void **state)
{
	struct xb_run run = plans_host("aes128-ctr,aes256-ctr", "hmac-sha2-256");

	(void)state;
	make(&run, "blowfish,aes128-ctr", NULL);
	expect(&run, "blowfish-cbc hmac-sha2-256 not_offered!; aes128-ctr hmac-sha2-256 planned!");
	plans_expect_reason(&run, 0, "not offered by nas, which offers aes128-ctr, aes256-ctr");
	assert_non_null(run.results[0].c.hint);
	xb_run_free(&run);
}

static void
offer_of_one_direction_is_no_offer(void **state)
{
	struct xb_run run = plans_host("aes128-ctr", "hmac-sha2-256");

	(void)state;
	xb_namelist_add(&run.targets[0].offer.ciphers_up, "aes256-ctr", strlen("aes256-ctr"));
	make(&run, "aes256-ctr,aes128-ctr", NULL);
	expect(&run, "aes256-ctr hmac-sha2-256 not_offered!; aes128-ctr hmac-sha2-256 planned!");
	xb_run_free(&run);
}

static void
unsupported_names_the_client_and_its_version(void **state)
{
	struct xb_run run = plans_host("aes192-ctr,chacha20-poly1305@openssh.com", "hmac-sha2-256");

	(void)state;
	make(&run, "aes192-ctr,chacha20", NULL);
	expect(&run,
	    "aes192-ctr hmac-sha2-256 unsupported!; "
	    "chacha20-poly1305@openssh.com - unsupported!");
	plans_expect_reason(&run, 0, "plain 1.0");
	plans_expect_reason(&run, 1, "plain 1.0 has no AEAD cipher");
	assert_false(xb_plan_has_work(&run));
	xb_run_free(&run);
}

static void
servers_word_comes_before_the_clients(void **state)
{
	struct xb_run run = plans_host("aes128-ctr", "hmac-sha2-256");

	(void)state;
	make(&run, "aes192-ctr", NULL);
	expect(&run, "aes192-ctr hmac-sha2-256 not_offered!");
	xb_run_free(&run);
}

static void
name_that_only_the_server_knows_is_shown_as_unknown_to_us(void **state)
{
	struct xb_run run = plans_host("aes128-ctr,kuznyechik@example.org", "hmac-sha2-256");

	(void)state;
	make(&run, NULL, NULL);
	expect(&run, "aes128-ctr hmac-sha2-256 planned; kuznyechik@example.org - unsupported");
	plans_expect_reason(&run, 1, "unknown to xferbench");
	xb_run_free(&run);
	run = plans_host("aes128-ctr,kuznyechik@example.org", "hmac-sha2-256");
	make(&run, "kuz*", NULL);
	expect(&run, "kuznyechik@example.org - unsupported");
	xb_run_free(&run);
}

static void
all_is_our_table_and_what_the_server_has_besides(void **state)
{
	struct xb_run run = plans_host("aes128-ctr,kuznyechik@example.org", "hmac-sha2-256");
	unsigned planned = 0, unknown = 0, refused = 0;

	(void)state;
	make(&run, "all", NULL);
	for (size_t i = 0; i < run.result_count; i++) {
		const struct xb_case *c = &run.results[i].c;

		if (c->as_negotiated)
			continue;
		planned += c->status == XB_PLANNED;
		refused += c->status == XB_NOT_OFFERED;
		unknown += strcmp(c->suite.cipher_name, "kuznyechik@example.org") == 0;
		assert_false(c->by_name);
	}
	assert_int_equal(planned, 1);
	assert_int_equal(unknown, 1);
	assert_true(refused > 10);
	xb_run_free(&run);
}

static void
aead_is_one_row_whatever_the_macs_are(void **state)
{
	struct xb_run run =
	    plans_host("aes128-ctr,aes128-gcm@openssh.com,aes128-cbc", "hmac-sha2-256,hmac-sha1");
	const struct xb_plan_request request = {
		.ciphers = "aes128-gcm,aes128-ctr,aes128-cbc",
		.macs = "hmac-sha1,hmac-sha2-256",
		.clients = "openssh",
		.all_clients = plans_all,
	};

	(void)state;
	plans_make(&run, &request);
	plans_expect(&run, false,
	    "openssh aes128-gcm@openssh.com - planned!; openssh aes128-ctr hmac-sha1 planned!; "
	    "openssh aes128-ctr hmac-sha2-256 planned!; openssh aes128-cbc hmac-sha1 planned!; "
	    "openssh aes128-cbc hmac-sha2-256 planned!");
	xb_run_free(&run);
}

static void
default_mac_falls_back_to_the_soundest_that_both_have_and_says_so(void **state)
{
	struct xb_run run = plans_host("aes128-ctr", "umac-64@openssh.com,hmac-sha1,hmac-sha2-512");

	(void)state;
	make(&run, NULL, NULL);
	expect(&run, "aes128-ctr hmac-sha2-512 planned");
	assert_int_equal(run.notes.count, 1);
	assert_non_null(strstr(run.notes.names[0], "nas does not offer hmac-sha2-256"));
	assert_non_null(strstr(run.notes.names[0], "hmac-sha2-512"));
	xb_run_free(&run);
}

static void
no_mac_in_common_is_a_reason_not_a_login(void **state)
{
	struct xb_run run = plans_host("aes128-ctr", "umac-64@openssh.com");

	(void)state;
	make(&run, NULL, NULL);
	assert_int_equal(suites(&run), 1);
	assert_int_equal(run.results[0].c.status, XB_NOT_OFFERED);
	plans_expect_reason(&run, 0, "umac-64@openssh.com");
	assert_false(xb_plan_has_work(&run));
	xb_run_free(&run);
}

static void
mac_that_was_named_is_judged_like_a_cipher(void **state)
{
	struct xb_run run = plans_host("aes128-ctr", "umac-64@openssh.com,hmac-sha2-256");

	(void)state;
	make(&run, "aes128-ctr", "umac-64,hmac-sha1,hmac-sha2-256");
	expect(&run,
	    "aes128-ctr umac-64@openssh.com unsupported!; "
	    "aes128-ctr hmac-sha1 not_offered!; aes128-ctr hmac-sha2-256 planned!");
	plans_expect_reason(&run, 0, "plain 1.0");
	plans_expect_reason(&run, 1, "which offers umac-64@openssh.com, hmac-sha2-256");
	xb_run_free(&run);
}

/* Only a name that the user typed makes the exit code 1 when it has no rate. */
static void
globs_are_not_by_name_and_what_is_typed_is(void **state)
{
	struct xb_run run = plans_host("aes128-ctr", "hmac-sha2-256");

	(void)state;
	make(&run, "aes*-ctr,aes256-ctr", NULL);
	expect(&run,
	    "aes128-ctr hmac-sha2-256 planned; aes192-ctr hmac-sha2-256 not_offered; "
	    "aes256-ctr hmac-sha2-256 not_offered!");
	xb_run_free(&run);
	/* A MAC out of a glob is nobody's wish, though the cipher beside it is. */
	run = plans_host("aes128-ctr", "hmac-sha2-256");
	make(&run, "aes128-ctr", "hmac-sha2-*");
	for (size_t i = 0; i < run.result_count; i++)
		assert_true(run.results[i].c.status == XB_PLANNED || !run.results[i].c.by_name);
	xb_run_free(&run);
}

static void
session_that_cannot_begin_is_told_before_any_login(void **state)
{
	struct xb_run run = plans_host("aes128-ctr", "hmac-sha2-256");

	(void)state;
	plans_set(&run.targets[0].offer.kex, "mlkem768x25519-sha256");
	make(&run, NULL, NULL);
	expect(&run, "aes128-ctr hmac-sha2-256 unsupported");
	plans_expect_reason(&run, 0, "key exchange");
	plans_expect_reason(&run, 0, "mlkem768x25519-sha256");
	xb_run_free(&run);
	run = plans_host("aes128-ctr", "hmac-sha2-256");
	plans_set(&run.targets[0].offer.hostkeys, "ssh-dss");
	make(&run, NULL, NULL);
	expect(&run, "aes128-ctr hmac-sha2-256 unsupported");
	plans_expect_reason(&run, 0, "ssh-dss");
	xb_run_free(&run);
}

static void
unknown_names_are_usage_errors(void **state)
{
	struct xb_plan_request request = { .ciphers = "aes129-ctr", .all_clients = plans_all };
	struct xb_run run = plans_host("aes128-ctr", "hmac-sha2-256");

	(void)state;
	plans_refused(&run, &request, "did you mean aes128-ctr?");
	request.ciphers = NULL;
	request.macs = "hmac-sha2-257";
	plans_refused(&run, &request, "did you mean hmac-sha2-256?");
	xb_run_free(&run);
}

static void
empty_offer_gives_an_empty_plan_or_refusals_but_no_work(void **state)
{
	struct xb_run run = plans_host("", "");

	(void)state;
	make(&run, NULL, NULL);
	assert_false(xb_plan_has_work(&run));
	xb_run_free(&run);
	run = plans_host("", "");
	make(&run, "aes128-ctr", NULL);
	expect(&run, "aes128-ctr hmac-sha2-256 not_offered!");
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_is_what_is_sound_and_offered),
		cmocka_unit_test(server_with_nothing_sound_is_shown_with_what_it_has),
		cmocka_unit_test(not_offered_names_the_target_and_its_offer),
		cmocka_unit_test(offer_of_one_direction_is_no_offer),
		cmocka_unit_test(unsupported_names_the_client_and_its_version),
		cmocka_unit_test(servers_word_comes_before_the_clients),
		cmocka_unit_test(name_that_only_the_server_knows_is_shown_as_unknown_to_us),
		cmocka_unit_test(all_is_our_table_and_what_the_server_has_besides),
		cmocka_unit_test(aead_is_one_row_whatever_the_macs_are),
		cmocka_unit_test(default_mac_falls_back_to_the_soundest_that_both_have_and_says_so),
		cmocka_unit_test(no_mac_in_common_is_a_reason_not_a_login),
		cmocka_unit_test(mac_that_was_named_is_judged_like_a_cipher),
		cmocka_unit_test(globs_are_not_by_name_and_what_is_typed_is),
		cmocka_unit_test(session_that_cannot_begin_is_told_before_any_login),
		cmocka_unit_test(unknown_names_are_usage_errors),
		cmocka_unit_test(empty_offer_gives_an_empty_plan_or_refusals_but_no_work),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
