#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/err.h"
#include "target/proxy.h"
#include "target/ssh_config.h"

static const struct xb_ssh_tokens tokens = {
	.typed = "nas",
	.host = "nas.example.org",
	.port = 2222,
	.user = "joe",
	.jump = "gate",
	.home = "/home/me",
	.local_user = "me",
	.local_host = "box.example.org",
	.uid = 1000,
};

static void
assert_expands(const char *text, bool path, const char *wanted)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char *got = xb_ssh_expand("Option", text, &tokens, path, &err);

	assert_non_null(got);
	assert_string_equal(got, wanted);
	free(got);
}

static void
assert_refused(const char *text)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	assert_null(xb_ssh_expand("IdentityFile", text, &tokens, true, &err));
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	assert_non_null(strstr(err.text, "IdentityFile"));
}

static void
every_line_that_matters_is_read(void **state)
{
	struct xb_ssh_config config = { .port = 0 };

	(void)state;
	xb_ssh_config_parse("host nas\nuser joe\nhostname 192.0.2.7\nport 2222\n"
			    "addressfamily inet6\nidentitiesonly yes\nidentityagent none\n"
			    "identityfile ~/.ssh/a b\nidentityfile /k\n"
			    "globalknownhostsfile /g1 /g2\nuserknownhostsfile ~/u\n"
			    "hostkeyalias cluster\nrevokedhostkeys /r\nbindaddress ::1\n"
			    "connecttimeout 7\nproxyjump a@b:3,c\nproxycommand none\n",
	    &config);
	assert_string_equal(config.user, "joe");
	assert_string_equal(config.hostname, "192.0.2.7");
	assert_int_equal(config.port, 2222);
	assert_int_equal(config.family, AF_INET6);
	assert_true(config.identities_only);
	assert_string_equal(config.identity_agent, "none");
	assert_int_equal(config.identities.count, 2);
	assert_string_equal(config.identities.names[0], "~/.ssh/a b");
	assert_int_equal(config.system_known_hosts.count, 2);
	assert_string_equal(config.system_known_hosts.names[1], "/g2");
	assert_string_equal(config.user_known_hosts.names[0], "~/u");
	assert_string_equal(config.hostkey_alias, "cluster");
	assert_string_equal(config.revoked_hostkeys, "/r");
	assert_string_equal(config.bind_address, "::1");
	assert_int_equal(config.connect_timeout, 7);
	assert_string_equal(config.proxy_jump, "a@b:3,c");
	assert_null(config.proxy_command);
	xb_ssh_config_free(&config);
}

static void
what_is_no_option_is_passed_over(void **state)
{
	struct xb_ssh_config config = { .port = 0 };

	(void)state;
	xb_ssh_config_parse("port 99999\nport\nport x\n\n \nuserknownhostsfile none\n"
			    "connecttimeout none\nnonsense of 3 words\nproxyjump ",
	    &config);
	assert_int_equal(config.port, 0);
	assert_int_equal(config.connect_timeout, 0);
	assert_int_equal(config.user_known_hosts.count, 0);
	assert_null(config.proxy_jump);
	assert_null(config.hostname);
	xb_ssh_config_free(&config);
}

static void
tokens_are_what_the_manual_says(void **state)
{
	(void)state;
	assert_expands("%%-%d-%h-%i-%k", true, "%-/home/me-nas.example.org-1000-nas");
	assert_expands("%L-%l-%n-%p-%r-%u-%j", true, "box-box.example.org-nas-2222-joe-me-gate");
	/* printf %s box.example.orgnas.example.org2222joegate | sha1sum */
	assert_expands("%C", true, "69370f4c66572ab595c235538797ec9337853ccb");
}

static void
a_home_and_variables_are_for_paths_alone(void **state)
{
	(void)state;
	setenv("XB_TEST_DIR", "/srv/100%h", 1);
	assert_expands("~/.ssh/id", true, "/home/me/.ssh/id");
	assert_expands("${XB_TEST_DIR}/x", true, "/srv/100%h/x");
	assert_expands("~/${XB_TEST_DIR} %h", false, "~/${XB_TEST_DIR} nas.example.org");
	assert_expands("/a/~/b", true, "/a/~/b");
	unsetenv("XB_TEST_DIR");
}

static void
an_unknown_token_or_variable_is_refused(void **state)
{
	(void)state;
	assert_refused("/x/%y");
	assert_refused("/x/%");
	assert_refused("/x/${XB_TEST_NO_SUCH_VARIABLE}");
	assert_refused("/x/${HOME");
}

static void
assert_command(const struct xb_ssh_config *config, const char *wanted)
{
	struct xb_namelist argv = { 0 };
	char *joined;

	xb_proxy_command(config, "fe80::1", 22, "/cfg", &argv);
	joined = xb_namelist_join(&argv, " ", 400);
	assert_string_equal(joined, wanted);
	free(joined);
	xb_namelist_free(&argv);
}

static void
the_last_hop_connects_and_the_others_are_its_own(void **state)
{
	static char one[] = "joe@gate:2200", two[] = "a,ssh://b", command[] = "nc h 22";
	struct xb_ssh_config config = { .proxy_jump = one };

	(void)state;
	assert_command(&config,
	    "ssh -F /cfg -oBatchMode=yes -oClearAllForwardings=yes -W [fe80::1]:22 -- "
	    "ssh://joe@gate:2200");
	config.proxy_jump = two;
	assert_command(&config,
	    "ssh -F /cfg -oBatchMode=yes -oClearAllForwardings=yes -J a -W [fe80::1]:22 -- "
	    "ssh://b");
	config.proxy_jump = NULL;
	config.proxy_command = command;
	assert_command(&config, "/bin/sh -c exec nc h 22");
	config.proxy_command = NULL;
	assert_command(&config, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_that_matters_is_read),
		cmocka_unit_test(what_is_no_option_is_passed_over),
		cmocka_unit_test(tokens_are_what_the_manual_says),
		cmocka_unit_test(a_home_and_variables_are_for_paths_alone),
		cmocka_unit_test(an_unknown_token_or_variable_is_refused),
		cmocka_unit_test(the_last_hop_connects_and_the_others_are_its_own),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
