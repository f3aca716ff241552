#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/answer.h"
#include "base/mem.h"
#include "canned.h"

/* Seconds; slow takes twice as long as quick, level now more and now less than it. */
static const double quick[] = { 0.0120, 0.0124, 0.0118, 0.0121, 0.0122, 0.0119 };
static const double slow[] = { 0.0240, 0.0250, 0.0236, 0.0243, 0.0242, 0.0240 };
static const double level[] = { 0.0121, 0.0123, 0.0119, 0.0121, 0.0124, 0.0118 };

static void
begin(struct xb_run *run)
{
	canned_private(run);
	run->settings.handshakes = 6;
	run->settings.answer_client = xb_strdup("openssh");
}

static void
expect(const struct xb_run *run, const char *expected)
{
	struct xb_analysis analysis;
	struct xb_answer answer;

	xb_analysis_make(run, &analysis);
	xb_answer_make(run, &analysis, &answer);
	assert_non_null(answer.answer);
	canned_expect(answer.answer, expected);
	assert_null(answer.limit);
	xb_answer_free(&answer);
	xb_analysis_free(&analysis);
}

static void
the_fastest_login_is_named_and_what_today_costs(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_logins(canned_login(&run, "sntrup761x25519-sha512@openssh.com", "ssh-ed25519"), slow,
	    6);
	run.results[0].c.as_negotiated = true;
	canned_logins(canned_login(&run, "curve25519-sha256", "ssh-ed25519"), quick, 6);
	/* python3's statistics: x = log(slow / quick); exp of median, min, max: 2.004, 1.984, 2.017 */
	expect(&run,
	    "curve25519-sha256 with ssh-ed25519 is the fastest login for ssh: 12.1 ms.\n"
	    "ssh picks sntrup761x25519-sha512@openssh.com with ssh-ed25519 by itself: 24.1 ms, "
	    "2.00 times (1.98 to 2.02) as long.");
	xb_run_free(&run);
}

static void
the_fastest_that_is_picked_already_needs_no_change(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_logins(canned_login(&run, "curve25519-sha256", "ssh-ed25519"), quick, 6);
	run.results[0].c.as_negotiated = true;
	canned_logins(canned_login(&run, "diffie-hellman-group16-sha512", "ssh-ed25519"), slow, 6);
	expect(&run,
	    "ssh already uses the fastest login, curve25519-sha256 with ssh-ed25519: 12.1 ms. "
	    "Nothing to change.");
	xb_run_free(&run);
}

static void
a_key_exchange_with_sha1_is_never_recommended(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_logins(canned_login(&run, "diffie-hellman-group14-sha1", "ssh-ed25519"), quick, 6);
	canned_logins(canned_login(&run, "curve25519-sha256", "ssh-rsa"), quick, 6);
	canned_logins(canned_login(&run, "curve25519-sha256", "rsa-sha2-256"), slow, 6);
	expect(&run,
	    "curve25519-sha256 with rsa-sha2-256 takes 24.1 ms with ssh; no other sound one was "
	    "measured.");
	xb_run_free(&run);
}

static void
only_weak_ones_are_called_weak(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_logins(canned_login(&run, "diffie-hellman-group1-sha1", "ssh-rsa"), slow, 6);
	canned_logins(canned_login(&run, "curve25519-sha256", "ssh-dss"), quick, 6);
	expect(&run,
	    "curve25519-sha256 with ssh-dss is the fastest login for ssh: 12.1 ms. ssh-dss is "
	    "broken: 1024 bits and SHA-1; off by default since OpenSSH 7.0, removed in 10.0.");
	xb_run_free(&run);
}

static void
equal_logins_are_told_as_equal(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_logins(canned_login(&run, "curve25519-sha256", "ssh-ed25519"), quick, 6);
	canned_logins(canned_login(&run, "ecdh-sha2-nistp256", "ssh-ed25519"), level, 6);
	canned_logins(canned_login(&run, "mlkem768x25519-sha256", "ssh-ed25519"), slow, 6);
	run.results[2].c.as_negotiated = true;
	expect(&run,
	    "curve25519-sha256 with ssh-ed25519 and ecdh-sha2-nistp256 with ssh-ed25519 are equal "
	    "for ssh within what 6 logins can see, 12.1 ms.\n"
	    "ssh picks mlkem768x25519-sha256 with ssh-ed25519 by itself: 24.1 ms, 2.00 times (1.98 "
	    "to 2.02) as long.");
	xb_run_free(&run);
}

static void
few_logins_give_no_verdict(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_logins(canned_login(&run, "curve25519-sha256", "ssh-ed25519"), quick, 2);
	canned_logins(canned_login(&run, "ecdh-sha2-nistp256", "ssh-ed25519"), slow, 2);
	expect(&run,
	    "curve25519-sha256 with ssh-ed25519 came out fastest in 2 logins, 12.2 ms with ssh; 6 "
	    "are needed to tell it from the others.");
	xb_run_free(&run);
}

static void
a_weak_choice_of_today_is_told(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_logins(canned_login(&run, "diffie-hellman-group14-sha1", "ssh-rsa"), level, 6);
	run.results[0].c.as_negotiated = true;
	canned_logins(canned_login(&run, "curve25519-sha256", "ssh-ed25519"), quick, 6);
	canned_logins(canned_login(&run, "curve25519-sha256", "rsa-sha2-256"), slow, 6);
	expect(&run,
	    "curve25519-sha256 with ssh-ed25519 is the fastest login for ssh: 12.1 ms.\n"
	    "ssh picks diffie-hellman-group14-sha1 with ssh-rsa by itself: 12.1 ms, which is not "
	    "seen to be slower. diffie-hellman-group14-sha1 is weak: RFC 9142: SHA-1, which it "
	    "advises against.");
	xb_run_free(&run);
}

static void
names_that_were_left_to_the_session_are_read_from_it(void **state)
{
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_logins(canned_login(&run, NULL, NULL), slow, 6);
	run.results[0].c.as_negotiated = true;
	snprintf(run.results[0].samples[0].negotiated.kex, XB_NAME_MAX, "ecdh-sha2-nistp521");
	snprintf(run.results[0].samples[0].negotiated.hostkey, XB_NAME_MAX, "ssh-ed25519");
	canned_logins(canned_login(&run, "curve25519-sha256", NULL), quick, 6);
	snprintf(run.results[1].samples[0].negotiated.hostkey, XB_NAME_MAX, "ssh-ed25519");
	expect(&run,
	    "curve25519-sha256 with ssh-ed25519 is the fastest login for ssh: 12.1 ms.\n"
	    "ssh picks ecdh-sha2-nistp521 with ssh-ed25519 by itself: 24.1 ms, 2.00 times (1.98 to "
	    "2.02) as long.");
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fastest_login_is_named_and_what_today_costs),
		cmocka_unit_test(the_fastest_that_is_picked_already_needs_no_change),
		cmocka_unit_test(a_key_exchange_with_sha1_is_never_recommended),
		cmocka_unit_test(only_weak_ones_are_called_weak),
		cmocka_unit_test(equal_logins_are_told_as_equal),
		cmocka_unit_test(few_logins_give_no_verdict),
		cmocka_unit_test(a_weak_choice_of_today_is_told),
		cmocka_unit_test(names_that_were_left_to_the_session_are_read_from_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
