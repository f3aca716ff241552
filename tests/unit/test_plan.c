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
#include "client/client.h"
#include "model/run.h"

/* A client that can do CTR, CBC and two MACs. */
static void
plain_algorithms(struct xb_client_algorithms *algorithms)
{
	xb_namelist_split(&algorithms->kex, "curve25519-sha256");
	xb_namelist_split(&algorithms->hostkeys, "ssh-ed25519,rsa-sha2-512");
	xb_namelist_split(&algorithms->ciphers, "aes128-ctr,aes256-ctr,aes128-cbc,3des-cbc");
	xb_namelist_split(&algorithms->macs, "hmac-sha1,hmac-sha2-256,hmac-sha2-512");
}

static const char *
plain_version(void)
{
	return "1.0";
}

static const struct xb_client plain = {
	.name = "plain",
	.version = plain_version,
	.algorithms = plain_algorithms,
};

static void
rich_algorithms(struct xb_client_algorithms *algorithms)
{
	plain_algorithms(algorithms);
	xb_namelist_split(&algorithms->ciphers,
	    "aes128-gcm@openssh.com,chacha20-poly1305@openssh.com");
}

static const struct xb_client rich = {
	.name = "rich",
	.version = plain_version,
	.algorithms = rich_algorithms,
};

/* A run against a server that offers these, the same in both directions. */
static struct xb_run
offered(const char *ciphers, const char *macs)
{
	struct xb_run run = { .target = { .name = xb_strdup("nas") } };
	struct xb_offer *offer = &run.targets[0].offer;

	xb_namelist_split(&offer->kex, "sntrup761x25519-sha512@openssh.com,curve25519-sha256");
	xb_namelist_split(&offer->hostkeys, "rsa-sha2-512,ssh-ed25519");
	xb_namelist_split(&offer->ciphers_up, ciphers);
	xb_namelist_split(&offer->ciphers_down, ciphers);
	xb_namelist_split(&offer->macs_up, macs);
	xb_namelist_split(&offer->macs_down, macs);
	return run;
}

static void
make(struct xb_run *run, const struct xb_client *client, const char *ciphers, const char *macs)
{
	const struct xb_plan_request request = {
		.ciphers = ciphers,
		.macs = macs,
		.client = client,
	};
	struct xb_err err = { 0 };

	if (!xb_plan_make(&request, run, &err))
		fail_msg("%s", err.text);
	assert_int_equal(err.fault, XB_FAULT_NONE);
	for (size_t i = 0; i < run->result_count; i++) {
		/* What is refused has a reason, and what is planned none. */
		assert_true(
		    (run->results[i].c.reason == NULL) == (run->results[i].c.status == XB_PLANNED));
		assert_string_equal(run->results[i].c.client, client->name);
	}
}

/* The plan is these rows, by "; ": cipher, MAC or "-", status, and "!" when named by the user. */
static void
expect(const struct xb_run *run, const char *expected)
{
	char text[2000] = "";
	size_t len = 0;

	for (size_t i = 0; i < run->result_count; i++) {
		const struct xb_case *c = &run->results[i].c;

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s %s%s",
		    i > 0 ? "; " : "", c->suite.cipher_name,
		    c->suite.mac_name != NULL ? c->suite.mac_name : "-", xb_status_name(c->status),
		    c->by_name ? "!" : "");
		assert_true(len < sizeof(text));
	}
	assert_string_equal(text, expected);
}

static void
expect_reason(const struct xb_run *run, size_t row, const char *part)
{
	assert_true(row < run->result_count);
	assert_non_null(run->results[row].c.reason);
	if (strstr(run->results[row].c.reason, part) == NULL)
		fail_msg("'%s' is not in: %s", part, run->results[row].c.reason);
}

static void
default_is_what_is_sound_and_offered(void **state)
{
	struct xb_run run = offered("aes128-cbc,3des-cbc,aes256-ctr,arcfour,aes128-ctr,"
				    "aes128-gcm@openssh.com",
	    "hmac-sha2-512,hmac-sha2-256");

	(void)state;
	make(&run, &plain, NULL, NULL);
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
	struct xb_run run = offered("3des-cbc,aes128-cbc", "hmac-sha1");

	(void)state;
	make(&run, &plain, NULL, NULL);
	assert_int_equal(run.result_count, 2);
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
	struct xb_run run = offered("aes128-ctr,aes256-ctr", "hmac-sha2-256");

	(void)state;
	make(&run, &plain, "blowfish,aes128-ctr", NULL);
	expect(&run, "blowfish-cbc hmac-sha2-256 not_offered!; aes128-ctr hmac-sha2-256 planned!");
	expect_reason(&run, 0, "not offered by nas, which offers aes128-ctr, aes256-ctr");
	assert_non_null(run.results[0].c.hint);
	xb_run_free(&run);
}

static void
offer_of_one_direction_is_no_offer(void **state)
{
	struct xb_run run = offered("aes128-ctr", "hmac-sha2-256");

	(void)state;
	xb_namelist_add(&run.targets[0].offer.ciphers_up, "aes256-ctr", strlen("aes256-ctr"));
	make(&run, &plain, "aes256-ctr,aes128-ctr", NULL);
	expect(&run, "aes256-ctr hmac-sha2-256 not_offered!; aes128-ctr hmac-sha2-256 planned!");
	xb_run_free(&run);
}

static void
unsupported_names_the_client_and_its_version(void **state)
{
	struct xb_run run = offered("aes192-ctr,chacha20-poly1305@openssh.com", "hmac-sha2-256");

	(void)state;
	make(&run, &plain, "aes192-ctr,chacha20", NULL);
	expect(&run,
	    "aes192-ctr hmac-sha2-256 unsupported!; "
	    "chacha20-poly1305@openssh.com - unsupported!");
	expect_reason(&run, 0, "plain 1.0");
	expect_reason(&run, 1, "plain 1.0 has no AEAD cipher");
	assert_false(xb_plan_has_work(&run));
	xb_run_free(&run);
}

static void
servers_word_comes_before_the_clients(void **state)
{
	struct xb_run run = offered("aes128-ctr", "hmac-sha2-256");

	(void)state;
	make(&run, &plain, "aes192-ctr", NULL);
	expect(&run, "aes192-ctr hmac-sha2-256 not_offered!");
	xb_run_free(&run);
}

static void
name_that_only_the_server_knows_is_shown_as_unknown_to_us(void **state)
{
	struct xb_run run = offered("aes128-ctr,kuznyechik@example.org", "hmac-sha2-256");

	(void)state;
	make(&run, &plain, NULL, NULL);
	expect(&run, "aes128-ctr hmac-sha2-256 planned; kuznyechik@example.org - unsupported");
	expect_reason(&run, 1, "unknown to xferbench");
	xb_run_free(&run);
	run = offered("aes128-ctr,kuznyechik@example.org", "hmac-sha2-256");
	make(&run, &plain, "kuz*", NULL);
	expect(&run, "kuznyechik@example.org - unsupported");
	xb_run_free(&run);
}

static void
all_is_our_table_and_what_the_server_has_besides(void **state)
{
	struct xb_run run = offered("aes128-ctr,kuznyechik@example.org", "hmac-sha2-256");
	unsigned planned = 0, unknown = 0, refused = 0;

	(void)state;
	make(&run, &plain, "all", NULL);
	for (size_t i = 0; i < run.result_count; i++) {
		const struct xb_case *c = &run.results[i].c;

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
	    offered("aes128-ctr,aes128-gcm@openssh.com,aes128-cbc", "hmac-sha2-256,hmac-sha1");

	(void)state;
	make(&run, &rich, "aes128-gcm,aes128-ctr,aes128-cbc", "hmac-sha1,hmac-sha2-256");
	expect(&run,
	    "aes128-gcm@openssh.com - planned!; aes128-ctr hmac-sha1 planned!; "
	    "aes128-ctr hmac-sha2-256 planned!; aes128-cbc hmac-sha1 planned!; "
	    "aes128-cbc hmac-sha2-256 planned!");
	xb_run_free(&run);
}

static void
default_mac_falls_back_to_the_soundest_that_both_have_and_says_so(void **state)
{
	struct xb_run run = offered("aes128-ctr", "umac-64@openssh.com,hmac-sha1,hmac-sha2-512");

	(void)state;
	make(&run, &plain, NULL, NULL);
	expect(&run, "aes128-ctr hmac-sha2-512 planned");
	assert_int_equal(run.notes.count, 1);
	assert_non_null(strstr(run.notes.names[0], "nas does not offer hmac-sha2-256"));
	assert_non_null(strstr(run.notes.names[0], "hmac-sha2-512"));
	xb_run_free(&run);
}

static void
no_mac_in_common_is_a_reason_not_a_login(void **state)
{
	struct xb_run run = offered("aes128-ctr", "umac-64@openssh.com");

	(void)state;
	make(&run, &plain, NULL, NULL);
	assert_int_equal(run.result_count, 1);
	assert_int_equal(run.results[0].c.status, XB_NOT_OFFERED);
	expect_reason(&run, 0, "umac-64@openssh.com");
	assert_false(xb_plan_has_work(&run));
	xb_run_free(&run);
}

static void
mac_that_was_named_is_judged_like_a_cipher(void **state)
{
	struct xb_run run = offered("aes128-ctr", "umac-64@openssh.com,hmac-sha2-256");

	(void)state;
	make(&run, &plain, "aes128-ctr", "umac-64,hmac-sha1,hmac-sha2-256");
	expect(&run,
	    "aes128-ctr umac-64@openssh.com unsupported!; "
	    "aes128-ctr hmac-sha1 not_offered!; aes128-ctr hmac-sha2-256 planned!");
	expect_reason(&run, 0, "plain 1.0");
	expect_reason(&run, 1, "which offers umac-64@openssh.com, hmac-sha2-256");
	xb_run_free(&run);
}

/* Only a name that the user typed makes the exit code 1 when it has no rate. */
static void
globs_are_not_by_name_and_what_is_typed_is(void **state)
{
	struct xb_run run = offered("aes128-ctr", "hmac-sha2-256");

	(void)state;
	make(&run, &plain, "aes*-ctr,aes256-ctr", NULL);
	expect(&run,
	    "aes128-ctr hmac-sha2-256 planned; aes192-ctr hmac-sha2-256 not_offered; "
	    "aes256-ctr hmac-sha2-256 not_offered!");
	xb_run_free(&run);
	/* A MAC out of a glob is nobody's wish, though the cipher beside it is. */
	run = offered("aes128-ctr", "hmac-sha2-256");
	make(&run, &plain, "aes128-ctr", "hmac-sha2-*");
	for (size_t i = 0; i < run.result_count; i++)
		assert_true(run.results[i].c.status == XB_PLANNED || !run.results[i].c.by_name);
	xb_run_free(&run);
}

static void
session_that_cannot_begin_is_told_before_any_login(void **state)
{
	struct xb_run run = offered("aes128-ctr", "hmac-sha2-256");

	(void)state;
	xb_namelist_free(&run.targets[0].offer.kex);
	run.targets[0].offer.kex = (struct xb_namelist){ 0 };
	xb_namelist_split(&run.targets[0].offer.kex, "mlkem768x25519-sha256");
	make(&run, &plain, NULL, NULL);
	expect(&run, "aes128-ctr hmac-sha2-256 unsupported");
	expect_reason(&run, 0, "key exchange");
	expect_reason(&run, 0, "mlkem768x25519-sha256");
	xb_run_free(&run);
	run = offered("aes128-ctr", "hmac-sha2-256");
	xb_namelist_free(&run.targets[0].offer.hostkeys);
	run.targets[0].offer.hostkeys = (struct xb_namelist){ 0 };
	xb_namelist_split(&run.targets[0].offer.hostkeys, "ssh-dss");
	make(&run, &plain, NULL, NULL);
	expect(&run, "aes128-ctr hmac-sha2-256 unsupported");
	expect_reason(&run, 0, "ssh-dss");
	xb_run_free(&run);
}

static void
unknown_names_are_usage_errors(void **state)
{
	struct xb_plan_request request = { .ciphers = "aes129-ctr", .client = &plain };
	struct xb_run run = offered("aes128-ctr", "hmac-sha2-256");
	struct xb_err err = { 0 };

	(void)state;
	assert_false(xb_plan_make(&request, &run, &err));
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	assert_non_null(strstr(err.text, "did you mean aes128-ctr?"));
	err = (struct xb_err){ 0 };
	request.ciphers = NULL;
	request.macs = "hmac-sha2-257";
	assert_false(xb_plan_make(&request, &run, &err));
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	assert_non_null(strstr(err.text, "did you mean hmac-sha2-256?"));
	xb_run_free(&run);
}

static void
empty_offer_gives_an_empty_plan_or_refusals_but_no_work(void **state)
{
	struct xb_run run = offered("", "");

	(void)state;
	make(&run, &plain, NULL, NULL);
	assert_false(xb_plan_has_work(&run));
	xb_run_free(&run);
	run = offered("", "");
	make(&run, &plain, "aes128-ctr", NULL);
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
