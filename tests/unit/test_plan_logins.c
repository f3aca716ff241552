#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "bench/plan.h"
#include "model/run.h"
#include "plans.h"

/* A host whose lists have markers and a certificate, which are no algorithms of a sweep. */
static struct xb_run
host(void)
{
	struct xb_run run = plans_host("aes128-ctr", "hmac-sha2-256");

	plans_set(&run.targets[0].offer.kex,
	    "sntrup761x25519-sha512@openssh.com,curve25519-sha256,"
	    "diffie-hellman-group14-sha256,ext-info-s,kex-strict-s-v00@openssh.com,"
	    "kexguess2@matt.ucc.asn.au");
	plans_set(&run.targets[0].offer.hostkeys,
	    "rsa-sha2-512,ssh-ed25519,ssh-ed25519-cert-v01@openssh.com");
	return run;
}

static struct xb_plan_request
request_of(const char *clients, const char *kex, const char *hostkeys)
{
	return (struct xb_plan_request){
		.clients = clients,
		.handshakes = 20,
		.kex = kex,
		.hostkeys = hostkeys,
		.all_clients = plans_all,
	};
}

static void
check(const char *clients, const char *kex, const char *hostkeys, const char *expected)
{
	struct xb_plan_request request = request_of(clients, kex, hostkeys);
	struct xb_run run = host();

	plans_make(&run, &request);
	for (size_t i = 0; i < run.result_count; i++) {
		const struct xb_case *c = &run.results[i].c;

		assert_int_equal(c->method, XB_METHOD_LOGIN);
		assert_int_equal(c->direction, XB_UPLOAD);
		assert_int_equal(c->streams, 1);
		assert_false(c->method_auto);
		assert_null(c->suite.cipher_name);
		assert_null(c->suite.mac_name);
	}
	plans_expect(&run, true, expected);
	xb_run_free(&run);
}

static void
login_without_lists_is_one_case_a_client_as_negotiated(void **state)
{
	(void)state;
	check(NULL, NULL, NULL,
	    "neg openssh kex - hostkey - planned; neg libssh2 kex - hostkey - planned");
	check("libssh2", NULL, NULL, "neg libssh2 kex - hostkey - planned");
}

static void
all_is_what_is_offered_without_markers_and_certificates(void **state)
{
	(void)state;
	check("openssh", "all", NULL,
	    "openssh kex sntrup761x25519-sha512@openssh.com hostkey - planned; "
	    "openssh kex curve25519-sha256 hostkey - planned; "
	    "openssh kex diffie-hellman-group14-sha256 hostkey - unsupported; "
	    "neg openssh kex - hostkey - planned");
	check("openssh", NULL, "all",
	    "openssh kex - hostkey rsa-sha2-512 planned; openssh kex - hostkey ssh-ed25519 planned; "
	    "neg openssh kex - hostkey - planned");
}

static void
both_lists_are_crossed_client_by_client(void **state)
{
	(void)state;
	check("openssh", "curve25519-sha256,sntrup*", "ssh-ed25519,rsa-sha2-512",
	    "openssh kex curve25519-sha256 hostkey ssh-ed25519 planned!; "
	    "openssh kex curve25519-sha256 hostkey rsa-sha2-512 planned!; "
	    "openssh kex sntrup761x25519-sha512@openssh.com hostkey ssh-ed25519 planned!; "
	    "openssh kex sntrup761x25519-sha512@openssh.com hostkey rsa-sha2-512 planned!; "
	    "neg openssh kex - hostkey - planned");
	check(NULL, "curve25519-sha256", NULL,
	    "openssh kex curve25519-sha256 hostkey - planned!; "
	    "libssh2 kex curve25519-sha256 hostkey - planned!; "
	    "neg openssh kex - hostkey - planned; neg libssh2 kex - hostkey - planned");
}

static void
names_are_judged_by_the_server_then_by_the_client(void **state)
{
	struct xb_plan_request request = request_of("openssh,libssh2",
	    "ecdh-sha2-nistp256,sntrup761x25519-sha512@openssh.com", NULL);
	struct xb_run run = host();

	(void)state;
	plans_make(&run, &request);
	plans_expect(&run, true,
	    "openssh kex ecdh-sha2-nistp256 hostkey - not_offered!; "
	    "libssh2 kex ecdh-sha2-nistp256 hostkey - not_offered!; "
	    "openssh kex sntrup761x25519-sha512@openssh.com hostkey - planned!; "
	    "libssh2 kex sntrup761x25519-sha512@openssh.com hostkey - unsupported!; "
	    "neg openssh kex - hostkey - planned; neg libssh2 kex - hostkey - planned");
	plans_expect_reason(&run, 0, "not offered by nas, which offers sntrup761");
	plans_expect_reason(&run, 3, "libssh2 1.0 does not have this key exchange");
	xb_run_free(&run);
	request = request_of("libssh2", NULL, "rsa-sha2-512");
	run = host();
	plans_make(&run, &request);
	plans_expect(&run, true, "libssh2 kex - hostkey rsa-sha2-512 unsupported!");
	plans_expect_reason(&run, 0, "does not have this host key algorithm");
	xb_run_free(&run);
}

static void
unnamed_client_that_lacks_it_does_not_count_beside_one_that_has_it(void **state)
{
	(void)state;
	check(NULL, "sntrup761x25519-sha512@openssh.com", NULL,
	    "openssh kex sntrup761x25519-sha512@openssh.com hostkey - planned!; "
	    "libssh2 kex sntrup761x25519-sha512@openssh.com hostkey - unsupported; "
	    "neg openssh kex - hostkey - planned; neg libssh2 kex - hostkey - planned");
}

static void
references_make_no_logins(void **state)
{
	(void)state;
	check("all", "curve25519-sha256", NULL,
	    "openssh kex curve25519-sha256 hostkey - planned!; "
	    "libssh2 kex curve25519-sha256 hostkey - planned!; "
	    "gone kex curve25519-sha256 hostkey - unsupported; "
	    "neg openssh kex - hostkey - planned; neg libssh2 kex - hostkey - planned");
}

static void
certificate_can_be_named(void **state)
{
	(void)state;
	check("openssh", NULL, "ssh-ed25519-cert-v01@openssh.com",
	    "openssh kex - hostkey ssh-ed25519-cert-v01@openssh.com planned!; "
	    "neg openssh kex - hostkey - planned");
}

/* In any case of letters; a name that only our table or a client knows is not offered, not unknown. */
static void
unknown_names_are_usage_errors_with_the_nearest(void **state)
{
	struct xb_plan_request request = request_of(NULL, "curve25519-sha265", NULL);
	struct xb_run run = host();

	(void)state;
	plans_refused(&run, &request,
	    "--kex: unknown key exchange \"curve25519-sha265\"; did you mean curve25519-sha256?");
	request.kex = "zz*";
	plans_refused(&run, &request,
	    "--kex: no key exchange matches \"zz*\"; offered: sntrup761x25519-sha512@openssh.com, ");
	request.kex = "ext-info-s";
	plans_refused(&run, &request, "--kex: unknown key exchange \"ext-info-s\"");
	request = request_of(NULL, NULL, "ssh-ed25518");
	plans_refused(&run, &request,
	    "--host-key-algorithms: unknown host key algorithm \"ssh-ed25518\"; did you mean "
	    "ssh-ed25519?");
	xb_run_free(&run);
	check("libssh2", "CURVE25519-SHA256,diffie-hellman-group1-sha1", NULL,
	    "libssh2 kex curve25519-sha256 hostkey - planned!; "
	    "libssh2 kex diffie-hellman-group1-sha1 hostkey - not_offered!; "
	    "neg libssh2 kex - hostkey - planned");
}

static void
each_server_that_was_named_gets_each_login(void **state)
{
	struct xb_plan_request request = request_of("libssh2", "all", NULL);
	struct xb_run run = { .target_count = 0 };

	(void)state;
	plans_add_private(&run, "openssh", "aes128-ctr", "hmac-sha2-256");
	plans_add_private(&run, "dropbear", "aes128-ctr", "hmac-sha2-256");
	plans_set(&run.targets[0].offer.kex, "curve25519-sha256");
	plans_set(&run.targets[1].offer.kex, "ecdh-sha2-nistp256,kexguess2@matt.ucc.asn.au");
	plans_make(&run, &request);
	plans_expect(&run, true,
	    "libssh2 kex curve25519-sha256 hostkey - planned; "
	    "libssh2 kex curve25519-sha256 hostkey - @1 not_offered; "
	    "libssh2 kex ecdh-sha2-nistp256 hostkey - not_offered; "
	    "libssh2 kex ecdh-sha2-nistp256 hostkey - @1 unsupported; "
	    "neg libssh2 kex - hostkey - planned");
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(login_without_lists_is_one_case_a_client_as_negotiated),
		cmocka_unit_test(all_is_what_is_offered_without_markers_and_certificates),
		cmocka_unit_test(both_lists_are_crossed_client_by_client),
		cmocka_unit_test(names_are_judged_by_the_server_then_by_the_client),
		cmocka_unit_test(
		    unnamed_client_that_lacks_it_does_not_count_beside_one_that_has_it),
		cmocka_unit_test(references_make_no_logins),
		cmocka_unit_test(certificate_can_be_named),
		cmocka_unit_test(unknown_names_are_usage_errors_with_the_nearest),
		cmocka_unit_test(each_server_that_was_named_gets_each_login),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
