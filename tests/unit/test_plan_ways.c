#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/plan.h"
#include "bench/primitive.h"
#include "model/run.h"
#include "plans.h"

/* A host for both clients: CTR, GCM, and an old one that only libssh2 has. */
static struct xb_run
host(void)
{
	return plans_host("aes128-ctr,aes128-gcm@openssh.com,blowfish-cbc", "hmac-sha2-256");
}

static struct xb_plan_request
request_of(const char *ciphers)
{
	return (struct xb_plan_request){ .ciphers = ciphers, .all_clients = plans_all };
}

static void
check(const struct xb_plan_request *request, bool negotiated, const char *expected)
{
	struct xb_run run = host();

	plans_make(&run, request);
	plans_expect(&run, negotiated, expected);
	xb_run_free(&run);
}

static void
default_clients_are_openssh_and_libssh2(void **state)
{
	struct xb_plan_request request = request_of(NULL);

	(void)state;
	check(&request, false,
	    "openssh aes128-gcm@openssh.com - planned; libssh2 aes128-gcm@openssh.com - unsupported; "
	    "openssh aes128-ctr hmac-sha2-256 planned; libssh2 aes128-ctr hmac-sha2-256 planned");
}

static void
clients_come_in_the_users_order_each_once_by_name_or_label(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");

	(void)state;
	request.clients = " libssh2, SSH ,openssh";
	check(&request, false,
	    "libssh2 aes128-ctr hmac-sha2-256 planned!; openssh aes128-ctr hmac-sha2-256 planned!");
}

static void
cases_carry_what_tables_call_the_client(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = host();

	(void)state;
	plans_make(&run, &request);
	assert_string_equal(run.results[0].c.client_label, "ssh");
	assert_null(run.results[1].c.client_label);
	xb_run_free(&run);
}

/* By default and with "all", a cipher that was named counts once some client has a rate for it. */
static void
unnamed_client_that_lacks_a_named_cipher_does_not_count_beside_one_that_has_it(void **state)
{
	struct xb_plan_request request = request_of("aes128-gcm,blowfish");

	(void)state;
	check(&request, false,
	    "openssh aes128-gcm@openssh.com - planned!; libssh2 aes128-gcm@openssh.com - unsupported; "
	    "openssh blowfish-cbc hmac-sha2-256 unsupported; "
	    "libssh2 blowfish-cbc hmac-sha2-256 planned!");
	request.clients = "all";
	check(&request, false,
	    "openssh aes128-gcm@openssh.com - planned!; libssh2 aes128-gcm@openssh.com - unsupported; "
	    "gone aes128-gcm@openssh.com - unsupported; "
	    "openssh blowfish-cbc hmac-sha2-256 unsupported; "
	    "libssh2 blowfish-cbc hmac-sha2-256 planned!; "
	    "gone blowfish-cbc hmac-sha2-256 unsupported; "
	    "ref tcp unsupported; ref null unsupported");
}

static void
named_client_that_lacks_a_named_cipher_counts(void **state)
{
	struct xb_plan_request request = request_of("aes128-gcm");

	(void)state;
	request.clients = "openssh,libssh2";
	check(&request, false,
	    "openssh aes128-gcm@openssh.com - planned!; "
	    "libssh2 aes128-gcm@openssh.com - unsupported!");
	/* Named beside "all" it is named as well. */
	request.clients = "all,libssh2";
	check(&request, false,
	    "openssh aes128-gcm@openssh.com - planned!; "
	    "libssh2 aes128-gcm@openssh.com - unsupported!; "
	    "gone aes128-gcm@openssh.com - unsupported; ref tcp unsupported; ref null unsupported");
	/* Its default is nobody's wish. */
	request.ciphers = NULL;
	request.clients = "libssh2";
	check(&request, false,
	    "libssh2 aes128-gcm@openssh.com - unsupported; libssh2 aes128-ctr hmac-sha2-256 planned");
}

static void
named_cipher_that_no_client_has_counts_for_all(void **state)
{
	struct xb_plan_request request = request_of("cast128");
	struct xb_run run = plans_host("cast128-cbc", "hmac-sha2-256");

	(void)state;
	plans_make(&run, &request);
	plans_expect(&run, false,
	    "openssh cast128-cbc hmac-sha2-256 unsupported!; "
	    "libssh2 cast128-cbc hmac-sha2-256 unsupported!");
	plans_expect_reason(&run, 0, "ssh 1.0 does not have this cipher");
	xb_run_free(&run);
}

/* The provider cannot be taken away again: the rest of this program runs with it. */
static void
legacy_provider_is_a_hint_only_where_it_is_missing(void **state)
{
	struct xb_plan_request request = request_of("blowfish");
	struct xb_run run = host();

	(void)state;
	request.clients = "openssh";
	plans_make(&run, &request);
	assert_non_null(strstr(run.results[0].c.hint, "legacy provider"));
	xb_run_free(&run);
	if (!xb_primitive_load_legacy()) {
		print_message("# SKIP the rest: there is no legacy provider here\n");
		return;
	}
	run = host();
	plans_make(&run, &request);
	assert_null(run.results[0].c.hint);
	xb_run_free(&run);
}

static void
client_that_cannot_run_has_its_reason_and_counts_when_named(void **state)
{
	struct xb_plan_request request = request_of(NULL);
	struct xb_run run = plans_host("aes128-ctr", "hmac-sha2-256");

	(void)state;
	request.clients = "gone";
	plans_make(&run, &request);
	/* There is no suite that it negotiates. */
	plans_expect(&run, true, "gone aes128-ctr hmac-sha2-256 unsupported!");
	plans_expect_reason(&run, 0, "there is no program gone");
	xb_run_free(&run);
}

static void
servers_word_comes_before_that_of_an_absent_client(void **state)
{
	struct xb_plan_request request = request_of("3des");

	(void)state;
	request.clients = "gone";
	check(&request, false, "gone 3des-cbc hmac-sha2-256 not_offered!");
}

static void
each_client_has_a_case_as_negotiated_which_is_nobodys_by_name(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");

	(void)state;
	check(&request, true,
	    "openssh aes128-ctr hmac-sha2-256 planned!; libssh2 aes128-ctr hmac-sha2-256 planned!; "
	    "neg openssh planned; neg libssh2 planned");
}

static void
nothing_in_common_leaves_no_case_as_negotiated(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = host();

	(void)state;
	/* openssh alone has this one. */
	plans_set(&run.targets[0].offer.kex, "sntrup761x25519-sha512@openssh.com");
	plans_make(&run, &request);
	plans_expect(&run, true,
	    "openssh aes128-ctr hmac-sha2-256 planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 unsupported; neg openssh planned");
	plans_expect_reason(&run, 1, "libssh2 1.0 has no key exchange in common with nas");
	xb_run_free(&run);
}

static void
methods_directions_and_streams_are_crossed_suite_by_suite(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");

	(void)state;
	request.clients = "libssh2";
	request.methods = "sftp,exec,sftp";
	request.directions = "both,upload";
	request.streams = "4,1,4";
	request.has_remote_file = true;
	check(&request, true,
	    "libssh2 aes128-ctr hmac-sha2-256 sftp x4 planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 sftp planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 sftp download x4 planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 sftp download planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 x4 planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 download x4 planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 download planned!; "
	    /* As negotiated with the first number of streams. */
	    "neg libssh2 sftp x4 planned; neg libssh2 sftp download x4 planned; "
	    "neg libssh2 x4 planned; neg libssh2 download x4 planned");
}

static void
method_auto_is_one_case_that_begins_with_exec(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = host();

	(void)state;
	request.methods = "auto";
	plans_make(&run, &request);
	assert_int_equal(run.result_count, 4);
	for (size_t i = 0; i < run.result_count; i++) {
		assert_true(run.results[i].c.method_auto);
		assert_int_equal(run.results[i].c.method, XB_METHOD_EXEC);
	}
	xb_run_free(&run);
	run = host();
	request.methods = "exec";
	plans_make(&run, &request);
	assert_false(run.results[0].c.method_auto);
	xb_run_free(&run);
}

static void
what_a_client_cannot_do_is_its_own_reason(void **state)
{
	struct xb_plan_request request = request_of(NULL);
	struct xb_run run = plans_host("aes128-ctr", "hmac-sha2-256");

	(void)state;
	request.clients = "openssh";
	request.methods = "scp";
	request.directions = "both";
	request.has_remote_file = true;
	plans_make(&run, &request);
	plans_expect(&run, true,
	    "openssh aes128-ctr hmac-sha2-256 scp planned!; "
	    "openssh aes128-ctr hmac-sha2-256 scp download unsupported!; neg openssh scp planned");
	plans_expect_reason(&run, 1, "this ssh has no scp download");
	xb_run_free(&run);
}

static void
download_by_scp_or_sftp_needs_a_file_on_a_host_and_exec_none(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = host();

	(void)state;
	request.clients = "libssh2";
	request.methods = "exec,scp,sftp";
	request.directions = "download";
	plans_make(&run, &request);
	plans_expect(&run, true,
	    "libssh2 aes128-ctr hmac-sha2-256 download planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 scp download unsupported!; "
	    "libssh2 aes128-ctr hmac-sha2-256 sftp download unsupported!; "
	    "neg libssh2 download planned");
	plans_expect_reason(&run, 1, "needs a file there to download: --remote-file PATH");
	xb_run_free(&run);
	request.has_remote_file = true;
	check(&request, false,
	    "libssh2 aes128-ctr hmac-sha2-256 download planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 scp download planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 sftp download planned!");
}

static void
zlib_is_the_delayed_kind_where_that_is_offered_and_none_is_asked_for_too(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = host();

	(void)state;
	request.clients = "openssh";
	request.compression = "none,zlib";
	check(&request, false,
	    "openssh aes128-ctr hmac-sha2-256 planned!; "
	    "openssh aes128-ctr hmac-sha2-256 +zlib@openssh.com planned!");
	plans_set(&run.targets[0].offer.compression_up, "none,zlib");
	plans_set(&run.targets[0].offer.compression_down, "none,zlib");
	request.all_clients = plans_plain;
	request.clients = "plain";
	plans_make(&run, &request);
	plans_expect(&run, false,
	    "plain aes128-ctr hmac-sha2-256 planned!; "
	    "plain aes128-ctr hmac-sha2-256 +zlib planned!");
	xb_run_free(&run);
}

static void
two_names_of_one_compression_are_one_row(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");

	(void)state;
	request.clients = "openssh";
	request.compression = "zlib,zlib@openssh.com,zlib";
	check(&request, false, "openssh aes128-ctr hmac-sha2-256 +zlib@openssh.com planned!");
}

static void
compression_that_one_side_lacks_is_told_by_that_side(void **state)
{
	struct xb_plan_request request = request_of(NULL);
	struct xb_run run = plans_host("aes128-ctr", "hmac-sha2-256");

	(void)state;
	request.compression = "zlib";
	plans_make(&run, &request);
	plans_expect(&run, false,
	    "openssh aes128-ctr hmac-sha2-256 +zlib@openssh.com planned; "
	    "libssh2 aes128-ctr hmac-sha2-256 +zlib@openssh.com unsupported");
	plans_expect_reason(&run, 1, "libssh2 1.0 does not have this compression");
	xb_run_free(&run);
	/* One direction is not enough; and the name was typed, though no cipher was. */
	run = plans_host("aes128-ctr", "hmac-sha2-256");
	plans_set(&run.targets[0].offer.compression_down, "none");
	plans_make(&run, &request);
	plans_expect(&run, false,
	    "openssh aes128-ctr hmac-sha2-256 +zlib@openssh.com not_offered!; "
	    "libssh2 aes128-ctr hmac-sha2-256 +zlib@openssh.com not_offered!");
	plans_expect_reason(&run, 0, "this compression is not offered by nas");
	xb_run_free(&run);
}

static void
server_that_offers_compression_alone_cannot_do_without(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = host();

	(void)state;
	request.clients = "openssh";
	plans_set(&run.targets[0].offer.compression_up, "zlib@openssh.com");
	plans_make(&run, &request);
	plans_expect(&run, false, "openssh aes128-ctr hmac-sha2-256 not_offered");
	xb_run_free(&run);
}

static void
one_mac_serves_all_clients(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = plans_host("aes128-ctr", "umac-64@openssh.com,hmac-sha2-512,hmac-sha1");

	(void)state;
	/* The soundest that some client has, though another one lacks it. */
	plans_make(&run, &request);
	plans_expect(&run, false,
	    "openssh aes128-ctr hmac-sha2-512 planned!; libssh2 aes128-ctr hmac-sha2-512 unsupported");
	assert_int_equal(run.notes.count, 1);
	assert_string_equal(run.notes.names[0],
	    "nas does not offer hmac-sha2-256: hmac-sha2-512 is used");
	xb_run_free(&run);
}

static void
references_are_measured_here_alone_once_a_direction(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = { .target_count = 0 };

	(void)state;
	plans_add_private(&run, "openssh", "aes128-ctr", "hmac-sha2-256");
	request.clients = "openssh,null,tcp";
	request.methods = "exec,sftp";
	request.directions = "both";
	request.streams = "2,1";
	plans_make(&run, &request);
	/* null cannot download. */
	plans_expect(&run, false,
	    "openssh aes128-ctr hmac-sha2-256 x2 planned!; "
	    "openssh aes128-ctr hmac-sha2-256 planned!; "
	    "openssh aes128-ctr hmac-sha2-256 download x2 planned!; "
	    "openssh aes128-ctr hmac-sha2-256 download planned!; "
	    "openssh aes128-ctr hmac-sha2-256 sftp x2 planned!; "
	    "openssh aes128-ctr hmac-sha2-256 sftp planned!; "
	    "openssh aes128-ctr hmac-sha2-256 sftp download x2 planned!; "
	    "openssh aes128-ctr hmac-sha2-256 sftp download planned!; "
	    "ref null x2 planned!; ref tcp x2 planned!; ref tcp download x2 planned!");
	xb_run_free(&run);
	run = host();
	request = request_of(NULL);
	request.clients = "tcp";
	plans_make(&run, &request);
	plans_expect(&run, true, "ref tcp unsupported!");
	plans_expect_reason(&run, 0, "on this machine only");
	xb_run_free(&run);
}

static void
reference_that_can_no_direction_says_so(void **state)
{
	struct xb_plan_request request = request_of(NULL);
	struct xb_run run = { .target_count = 0 };

	(void)state;
	plans_add_private(&run, "openssh", "aes128-ctr", "hmac-sha2-256");
	request.clients = "null";
	request.directions = "download";
	plans_make(&run, &request);
	plans_expect(&run, true, "ref null download unsupported!");
	plans_expect_reason(&run, 0, "nothing has no bytes to give");
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_clients_are_openssh_and_libssh2),
		cmocka_unit_test(clients_come_in_the_users_order_each_once_by_name_or_label),
		cmocka_unit_test(cases_carry_what_tables_call_the_client),
		cmocka_unit_test(
		    unnamed_client_that_lacks_a_named_cipher_does_not_count_beside_one_that_has_it),
		cmocka_unit_test(named_client_that_lacks_a_named_cipher_counts),
		cmocka_unit_test(named_cipher_that_no_client_has_counts_for_all),
		cmocka_unit_test(legacy_provider_is_a_hint_only_where_it_is_missing),
		cmocka_unit_test(client_that_cannot_run_has_its_reason_and_counts_when_named),
		cmocka_unit_test(servers_word_comes_before_that_of_an_absent_client),
		cmocka_unit_test(each_client_has_a_case_as_negotiated_which_is_nobodys_by_name),
		cmocka_unit_test(nothing_in_common_leaves_no_case_as_negotiated),
		cmocka_unit_test(methods_directions_and_streams_are_crossed_suite_by_suite),
		cmocka_unit_test(method_auto_is_one_case_that_begins_with_exec),
		cmocka_unit_test(what_a_client_cannot_do_is_its_own_reason),
		cmocka_unit_test(download_by_scp_or_sftp_needs_a_file_on_a_host_and_exec_none),
		cmocka_unit_test(
		    zlib_is_the_delayed_kind_where_that_is_offered_and_none_is_asked_for_too),
		cmocka_unit_test(two_names_of_one_compression_are_one_row),
		cmocka_unit_test(compression_that_one_side_lacks_is_told_by_that_side),
		cmocka_unit_test(server_that_offers_compression_alone_cannot_do_without),
		cmocka_unit_test(one_mac_serves_all_clients),
		cmocka_unit_test(references_are_measured_here_alone_once_a_direction),
		cmocka_unit_test(reference_that_can_no_direction_says_so),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
