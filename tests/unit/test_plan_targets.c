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
#include "model/run.h"
#include "plans.h"

#define MODERN "aes128-ctr,aes128-gcm@openssh.com,3des-cbc"
#define OLD "aes128-ctr,3des-cbc,blowfish-cbc,arcfour"

static struct xb_plan_request
request_of(const char *ciphers)
{
	return (struct xb_plan_request){
		.ciphers = ciphers,
		.clients = "libssh2",
		.all_clients = plans_all,
	};
}

/* One private openssh server. */
static struct xb_run
private_run(void)
{
	struct xb_run run = { .target_count = 0 };

	plans_add_private(&run, "openssh", MODERN, "hmac-sha2-256");
	return run;
}

static void
add_stand_in(struct xb_run *run)
{
	plans_add_private(run, "asyncssh", OLD, "hmac-sha2-256")->stands_in = true;
}

/* A server that could not be started. */
static struct xb_target_sheet *
add_absent(struct xb_run *run, const char *kind, const char *reason)
{
	struct xb_target_sheet *target = xb_run_add_target(run);

	target->name = xb_strdup("this machine");
	target->server = xb_strdup(kind);
	target->is_private = true;
	target->is_local = true;
	target->absent = xb_strdup(reason);
	return target;
}

static bool
wants(const struct xb_run *run, const char *ciphers)
{
	struct xb_plan_request request = request_of(ciphers);

	return xb_plan_wants_stand_in(&request, run);
}

static void
stand_in_is_wanted_for_what_openssh_has_dropped_named_or_not(void **state)
{
	struct xb_run run = private_run();

	(void)state;
	assert_true(wants(&run, "aes128-ctr,blowfish"));
	assert_true(wants(&run, "arc*"));
	assert_true(wants(&run, "all"));
	assert_false(wants(&run, NULL));
	assert_false(wants(&run, "aes128-ctr,3des"));
	/* A sound one that is missing is an older server's, or switched off: that is the answer. */
	assert_false(wants(&run, "chacha20"));
	xb_run_free(&run);
}

static void
stand_in_is_not_wanted_on_a_host_for_other_servers_or_for_logins(void **state)
{
	struct xb_plan_request request = request_of("blowfish");
	struct xb_run run = plans_host(MODERN, "hmac-sha2-256");

	(void)state;
	assert_false(wants(&run, "blowfish"));
	xb_run_free(&run);
	run = (struct xb_run){ .target_count = 0 };
	plans_add_private(&run, "dropbear", MODERN, "hmac-sha2-256");
	assert_false(wants(&run, "blowfish"));
	plans_add_private(&run, "openssh", MODERN, "hmac-sha2-256");
	assert_false(wants(&run, "blowfish"));
	xb_run_free(&run);
	run = private_run();
	request.handshakes = 1;
	assert_false(xb_plan_wants_stand_in(&request, &run));
	xb_run_free(&run);
}

static void
stand_in_gets_what_the_first_cannot_take_and_nothing_else(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr,blowfish,3des");
	struct xb_run run = private_run();

	(void)state;
	add_stand_in(&run);
	plans_make(&run, &request);
	plans_expect(&run, true,
	    "libssh2 aes128-ctr hmac-sha2-256 planned!; "
	    "libssh2 blowfish-cbc hmac-sha2-256 @1 planned!; "
	    "libssh2 3des-cbc hmac-sha2-256 planned!; neg libssh2 planned");
	xb_run_free(&run);
}

static void
cipher_that_the_stand_in_lacks_too_is_the_first_ones_refusal(void **state)
{
	struct xb_plan_request request = request_of("cast128");
	struct xb_run run = private_run();

	(void)state;
	add_stand_in(&run);
	plans_make(&run, &request);
	plans_expect(&run, false, "libssh2 cast128-cbc hmac-sha2-256 not_offered!");
	/* With two servers on this machine, which one is said. */
	plans_expect_reason(&run, 0, "not offered by this machine's openssh, which offers");
	assert_string_equal(run.results[0].c.hint,
	    "asyncssh, which stands in, lacks it without OpenSSL's legacy provider");
	xb_run_free(&run);
}

static void
stand_in_that_is_missing_is_in_the_hint(void **state)
{
	struct xb_plan_request request = request_of("blowfish,chacha20");
	struct xb_run run = private_run();

	(void)state;
	add_absent(&run, "asyncssh", "python3-asyncssh is not installed")->stands_in = true;
	plans_make(&run, &request);
	plans_expect(&run, false,
	    "libssh2 blowfish-cbc hmac-sha2-256 not_offered!; "
	    "libssh2 chacha20-poly1305@openssh.com - not_offered!");
	assert_string_equal(run.results[0].c.hint,
	    "asyncssh cannot stand in: python3-asyncssh is not installed");
	assert_non_null(strstr(run.results[1].c.hint, "--sshd PATH"));
	xb_run_free(&run);
}

static void
names_of_the_stand_in_are_not_the_servers(void **state)
{
	struct xb_plan_request request = request_of("all");
	struct xb_run run = private_run();

	(void)state;
	plans_add_private(&run, "asyncssh", OLD ",seed-cbc@ssh.com", "hmac-sha2-256")->stands_in =
	    true;
	plans_make(&run, &request);
	for (size_t i = 0; i < run.result_count; i++)
		assert_true(run.results[i].c.as_negotiated ||
		    strcmp(run.results[i].c.suite.cipher_name, "seed-cbc@ssh.com") != 0);
	xb_run_free(&run);
}

static void
each_suite_goes_to_each_server_that_was_named(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr,blowfish");
	struct xb_run run = private_run();

	(void)state;
	plans_add_private(&run, "asyncssh", OLD, "hmac-sha2-256");
	plans_make(&run, &request);
	plans_expect(&run, true,
	    "libssh2 aes128-ctr hmac-sha2-256 planned!; "
	    "libssh2 aes128-ctr hmac-sha2-256 @1 planned!; "
	    "libssh2 blowfish-cbc hmac-sha2-256 not_offered!; "
	    "libssh2 blowfish-cbc hmac-sha2-256 @1 planned!; "
	    /* As negotiated with the first. */
	    "neg libssh2 planned");
	xb_run_free(&run);
}

static void
default_is_what_is_sound_and_offered_by_any_server(void **state)
{
	struct xb_plan_request request = request_of(NULL);
	struct xb_run run = private_run();

	(void)state;
	request.clients = "openssh";
	plans_add_private(&run, "dropbear", "chacha20-poly1305@openssh.com,aes128-ctr,aes128-cbc",
	    "hmac-sha2-256");
	plans_make(&run, &request);
	plans_expect(&run, false,
	    "openssh chacha20-poly1305@openssh.com - not_offered; "
	    "openssh chacha20-poly1305@openssh.com - @1 planned; "
	    "openssh aes128-gcm@openssh.com - planned; "
	    "openssh aes128-gcm@openssh.com - @1 not_offered; "
	    "openssh aes128-ctr hmac-sha2-256 planned; openssh aes128-ctr hmac-sha2-256 @1 planned");
	plans_expect_reason(&run, 3, "not offered by this machine's dropbear");
	assert_non_null(strstr(run.results[3].c.hint, "--server"));
	xb_run_free(&run);
}

static void
one_mac_serves_all_servers_and_the_one_that_lacks_the_default_is_named(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = { .target_count = 0 };

	(void)state;
	plans_add_private(&run, "openssh", MODERN, "hmac-sha2-256,hmac-sha1");
	plans_add_private(&run, "dropbear", MODERN, "hmac-sha1");
	plans_make(&run, &request);
	plans_expect(&run, false,
	    "libssh2 aes128-ctr hmac-sha1 planned!; libssh2 aes128-ctr hmac-sha1 @1 planned!");
	assert_int_equal(run.notes.count, 1);
	assert_string_equal(run.notes.names[0],
	    "this machine's dropbear does not offer hmac-sha2-256: hmac-sha1 is used");
	xb_run_free(&run);
}

static void
server_that_cannot_be_started_is_a_reason_and_the_others_are_measured(void **state)
{
	struct xb_plan_request request = request_of(NULL);
	struct xb_run run = { .target_count = 0 };

	(void)state;
	add_absent(&run, "openssh", "no sshd is installed");
	plans_add_private(&run, "dropbear", "aes128-ctr", "hmac-sha2-256");
	plans_make(&run, &request);
	/* The first target is the one that the run is about: with it goes what is as negotiated. */
	plans_expect(&run, true,
	    "libssh2 aes128-ctr hmac-sha2-256 failed!; "
	    "libssh2 aes128-ctr hmac-sha2-256 @1 planned");
	plans_expect_reason(&run, 0, "no sshd is installed");
	assert_int_equal(run.notes.count, 0);
	xb_run_free(&run);
}

static void
private_server_needs_no_file_to_download(void **state)
{
	struct xb_plan_request request = request_of("aes128-ctr");
	struct xb_run run = private_run();

	(void)state;
	request.methods = "sftp";
	request.directions = "download";
	plans_make(&run, &request);
	plans_expect(&run, false, "libssh2 aes128-ctr hmac-sha2-256 sftp download planned!");
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stand_in_is_wanted_for_what_openssh_has_dropped_named_or_not),
		cmocka_unit_test(stand_in_is_not_wanted_on_a_host_for_other_servers_or_for_logins),
		cmocka_unit_test(stand_in_gets_what_the_first_cannot_take_and_nothing_else),
		cmocka_unit_test(cipher_that_the_stand_in_lacks_too_is_the_first_ones_refusal),
		cmocka_unit_test(stand_in_that_is_missing_is_in_the_hint),
		cmocka_unit_test(names_of_the_stand_in_are_not_the_servers),
		cmocka_unit_test(each_suite_goes_to_each_server_that_was_named),
		cmocka_unit_test(default_is_what_is_sound_and_offered_by_any_server),
		cmocka_unit_test(
		    one_mac_serves_all_servers_and_the_one_that_lacks_the_default_is_named),
		cmocka_unit_test(
		    server_that_cannot_be_started_is_a_reason_and_the_others_are_measured),
		cmocka_unit_test(private_server_needs_no_file_to_download),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
