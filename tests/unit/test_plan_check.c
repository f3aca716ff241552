#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "bench/plan.h"
#include "plans.h"

static void
refused(struct xb_plan_request request, const char *part)
{
	struct xb_err err = { 0 };

	request.all_clients = plans_all;
	assert_false(xb_plan_check(&request, false, &err));
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	if (strstr(err.text, part) == NULL)
		fail_msg("'%s' is not in: %s", part, err.text);
}

static void
accepted(struct xb_plan_request request, bool has_host)
{
	struct xb_err err = { 0 };

	request.all_clients = plans_all;
	if (!xb_plan_check(&request, has_host, &err))
		fail_msg("%s", err.text);
	assert_int_equal(err.fault, XB_FAULT_NONE);
}

#define REQUEST(...) ((struct xb_plan_request){ __VA_ARGS__ })

static void
defaults_and_what_the_manual_names_are_accepted(void **state)
{
	(void)state;
	accepted(REQUEST(.ciphers = NULL), false);
	accepted(REQUEST(.clients = "all", .methods = "exec,scp,sftp", .directions = "both",
		     .streams = "1,2,64", .compression = "none,zlib,zlib@openssh.com"),
	    false);
	accepted(REQUEST(.clients = "OpenSSH, LIBSSH2", .methods = "AUTO", .directions = "Upload"),
	    false);
	accepted(REQUEST(.handshakes = 3, .clients = "all", .kex = "all"), false);
	accepted(REQUEST(.directions = "both", .has_remote_file = true), true);
	accepted(REQUEST(.clients = "tcp", .directions = "download"), false);
}

static void
unknown_words_are_refused_with_the_set_and_the_nearest(void **state)
{
	(void)state;
	refused(REQUEST(.clients = "opensssh"),
	    "--client: 'opensssh' is not one of openssh, libssh2, gone, tcp, null, all; did you mean "
	    "openssh?");
	refused(REQUEST(.methods = "exec,sft"),
	    "--method: 'sft' is not one of auto, exec, scp, sftp; did you mean sftp?");
	refused(REQUEST(.directions = "sideways"),
	    "--direction: 'sideways' is not one of upload, download, both");
	refused(REQUEST(.compression = "zib"),
	    "--compress: 'zib' is not one of none, zlib, zlib@openssh.com; did you mean zlib?");
	/* Logins are asked for by --handshake alone. */
	refused(REQUEST(.methods = "login"), "--method: 'login' is not one of");
	refused(REQUEST(.clients = "\033[31m"), "--client: '\\x1b[31m'");
}

static void
client_that_this_build_is_without_is_told_from_an_unknown_one(void **state)
{
	(void)state;
	refused(REQUEST(.clients = "libssh"), "--client: this xferbench is built without libssh");
}

static void
empty_lists_are_refused(void **state)
{
	(void)state;
	refused(REQUEST(.clients = " , "), "--client");
	refused(REQUEST(.methods = ","), "--method: the list is empty");
	refused(REQUEST(.directions = ","), "--direction: the list is empty");
	refused(REQUEST(.streams = ","), "--streams: the list is empty");
	refused(REQUEST(.compression = ","), "--compress: the list is empty");
}

static void
streams_are_numbers_within_bounds(void **state)
{
	(void)state;
	refused(REQUEST(.streams = "1,65"), "--streams: '65'");
	refused(REQUEST(.streams = "0"), "--streams: '0'");
	refused(REQUEST(.streams = "1,,two"), "--streams: 'two'");
	refused(REQUEST(.streams = "-1"), "1 to 64");
	/* As many as there are, each twice. */
	accepted(REQUEST(.streams =
			     "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,"
			     "25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,"
			     "46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,1,2,3,"
			     "4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,64"),
	    false);
}

static void
auto_stands_alone(void **state)
{
	(void)state;
	refused(REQUEST(.methods = "auto,scp"), "--method: auto");
}

static void
what_would_be_ignored_is_refused(void **state)
{
	(void)state;
	refused(REQUEST(.has_remote_file = true), "--remote-file has no use with uploads alone");
	refused(REQUEST(.handshakes = 1, .clients = "openssh,tcp"),
	    "--handshake has no use for --client tcp");
	refused(REQUEST(.clients = "tcp,null", .ciphers = "aes128-ctr"),
	    "--ciphers has no use with --client tcp,null, which speaks no SSH");
	refused(REQUEST(.clients = "tcp", .compression = "zlib"), "--compress has no use");
	refused(REQUEST(.clients = "null", .methods = "scp"), "--method has no use");
}

static void
algorithms_are_checked_where_no_host_can_explain_them(void **state)
{
	(void)state;
	refused(REQUEST(.ciphers = "blofish"), "did you mean blowfish?");
	refused(REQUEST(.macs = "hmac-sha2-257"), "did you mean hmac-sha2-256?");
	accepted(REQUEST(.ciphers = "kuznyechik@example.org", .macs = "streebog@example.org"),
	    true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_and_what_the_manual_names_are_accepted),
		cmocka_unit_test(unknown_words_are_refused_with_the_set_and_the_nearest),
		cmocka_unit_test(client_that_this_build_is_without_is_told_from_an_unknown_one),
		cmocka_unit_test(empty_lists_are_refused),
		cmocka_unit_test(streams_are_numbers_within_bounds),
		cmocka_unit_test(auto_stands_alone),
		cmocka_unit_test(what_would_be_ignored_is_refused),
		cmocka_unit_test(algorithms_are_checked_where_no_host_can_explain_them),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
