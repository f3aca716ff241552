#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/openssh_argv.h"
#include "client/openssh_programs.h"
#include "target/target.h"

static char ssh_path[] = "/opt/bin/ssh", scp_path[] = "/opt/bin/scp", sftp_path[] = "/opt/bin/sftp";

static const struct xb_openssh_programs programs = {
	.ssh = ssh_path,
	.scp = scp_path,
	.sftp = sftp_path,
	.session_options = true,
	.rcp_option = true,
};

/* A transfer that is only looked at. */
struct wish {
	char host[64], user[32], file[64];
	struct xb_target target;
	struct xb_suite suite;
	struct xb_transfer transfer;
	struct xb_openssh_argv argv;
};

static int
set_up(void **state)
{
	struct wish *wish = xb_calloc(1, sizeof(*wish));

	strcpy(wish->host, "nas");
	strcpy(wish->user, "joe");
	strcpy(wish->file, "/srv/file");
	wish->target.host = wish->host;
	wish->target.user = wish->user;
	wish->target.port = 2222;
	wish->target.connect_timeout_ns = 1500 * XB_NS_PER_MS;
	wish->transfer.target = &wish->target;
	wish->transfer.suite = &wish->suite;
	wish->transfer.remote_file = wish->file;
	xb_suite_init(&wish->suite, "aes128-ctr", "hmac-sha2-256", NULL);
	*state = wish;
	return 0;
}

static int
tear_down(void **state)
{
	struct wish *wish = *state;

	xb_openssh_argv_free(&wish->argv);
	xb_namelist_free(&wish->target.known_hosts);
	xb_namelist_free(&wish->target.identities);
	xb_suite_free(&wish->suite);
	free(wish);
	return 0;
}

/* Index of a word, or the count. */
static size_t
find(const struct wish *wish, const char *word)
{
	size_t i;

	for (i = 0; i < wish->argv.count; i++)
		if (strcmp(wish->argv.words[i], word) == 0)
			break;
	return i;
}

static bool
has_option(const struct wish *wish, const char *option)
{
	const size_t i = find(wish, option);

	return i > 0 && i < wish->argv.count && strcmp(wish->argv.words[i - 1], "-o") == 0;
}

/* True when any -o sets this key. */
static bool
sets(const struct wish *wish, const char *key)
{
	const size_t len = strlen(key);

	for (size_t i = 1; i < wish->argv.count; i++)
		if (strncmp(wish->argv.words[i], key, len) == 0 && wish->argv.words[i][len] == '=')
			return true;
	return false;
}

static void
make_ssh(struct wish *wish, const char *command)
{
	xb_openssh_argv_free(&wish->argv);
	xb_openssh_argv_ssh(&wish->argv, &programs, &wish->transfer, command);
	assert_null(wish->argv.words[wish->argv.count]);
}

static void
make_all_three(struct wish *wish, size_t which)
{
	xb_openssh_argv_free(&wish->argv);
	if (which == 0)
		xb_openssh_argv_ssh(&wish->argv, &programs, &wish->transfer, "cat");
	else if (which == 1)
		xb_openssh_argv_scp(&wish->argv, &programs, &wish->transfer, "/tmp/f");
	else
		xb_openssh_argv_sftp(&wish->argv, &programs, &wish->transfer);
}

static void
every_program_is_told_what_decides_about_the_measurement(void **state)
{
	static const char *const options[] = { "ControlPath=none", "ControlMaster=no",
		"ControlPersist=no", "LogLevel=DEBUG1", "ClearAllForwardings=yes",
		"ExitOnForwardFailure=no", "ForwardAgent=no", "ForwardX11=no", "Tunnel=no",
		"RemoteCommand=none", "RequestTTY=no", "PermitLocalCommand=no", "EscapeChar=none",
		"BatchMode=yes", "StdinNull=no", "ForkAfterAuthentication=no", "VisualHostKey=no",
		"UpdateHostKeys=no", "AddKeysToAgent=no", "Ciphers=aes128-ctr",
		"MACs=hmac-sha2-256", "Compression=no", "Port=2222", "User=\"joe\"",
		"ConnectTimeout=2", "StrictHostKeyChecking=yes" };
	struct wish *wish = *state;

	for (size_t which = 0; which < 3; which++) {
		make_all_three(wish, which);
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
			if (!has_option(wish, options[i]))
				fail_msg("%s lacks %s", wish->argv.words[0], options[i]);
		/* -p and -q: of scp and sftp they would change /dev/null, or hide the log. */
		assert_int_equal(find(wish, "-p"), wish->argv.count);
		assert_int_equal(find(wish, "-q"), wish->argv.count);
		/* The user's configuration counts. */
		assert_int_equal(find(wish, "-F"), wish->argv.count);
		assert_false(sets(wish, "RekeyLimit"));
		assert_false(sets(wish, "HostKeyAlgorithms"));
		assert_false(sets(wish, "KexAlgorithms"));
		assert_false(sets(wish, "UserKnownHostsFile"));
		assert_false(sets(wish, "IdentityFile"));
	}
}

static void
command_comes_last_behind_the_host(void **state)
{
	struct wish *wish = *state;
	size_t count;

	make_ssh(wish, "sh -c 'cat'");
	count = wish->argv.count;
	assert_string_equal(wish->argv.words[0], ssh_path);
	assert_string_equal(wish->argv.words[count - 3], "--");
	assert_string_equal(wish->argv.words[count - 2], "nas");
	assert_string_equal(wish->argv.words[count - 1], "sh -c 'cat'");
	assert_true(has_option(wish, "SessionType=default"));
	assert_int_equal(find(wish, "-N"), count);
}

static void
login_alone_asks_for_no_session(void **state)
{
	struct wish *wish = *state;

	make_ssh(wish, NULL);
	assert_true(find(wish, "-N") < wish->argv.count);
	assert_false(sets(wish, "SessionType"));
	assert_string_equal(wish->argv.words[wish->argv.count - 1], "nas");
}

static void
as_negotiated_says_nothing_of_the_suite(void **state)
{
	struct wish *wish = *state;

	xb_suite_free(&wish->suite);
	xb_suite_init(&wish->suite, NULL, NULL, NULL);
	make_ssh(wish, "cat");
	assert_false(sets(wish, "Ciphers"));
	assert_false(sets(wish, "MACs"));
	assert_false(sets(wish, "Compression"));
}

static void
suite_is_asked_for_by_name(void **state)
{
	struct wish *wish = *state;

	xb_suite_free(&wish->suite);
	xb_suite_init(&wish->suite, "aes128-gcm@openssh.com", NULL, "zlib@openssh.com");
	wish->suite.kex = xb_strdup("curve25519-sha256");
	wish->suite.hostkey = xb_strdup("rsa-sha2-256");
	make_ssh(wish, "cat");
	assert_true(has_option(wish, "Ciphers=aes128-gcm@openssh.com"));
	assert_false(sets(wish, "MACs"));
	assert_true(has_option(wish, "Compression=yes"));
	assert_true(has_option(wish, "KexAlgorithms=curve25519-sha256"));
	assert_true(has_option(wish, "HostKeyAlgorithms=rsa-sha2-256"));
}

static void
private_server_has_no_configuration_but_ours(void **state)
{
	struct wish *wish = *state;
	size_t at;

	/* Only that there is one is looked at. */
	wish->target.server = (struct xb_private *)wish;
	wish->target.identities_given = true;
	xb_namelist_add_once(&wish->target.identities, "/run dir/key");
	xb_namelist_add_once(&wish->target.known_hosts, "/run dir/known_hosts");
	for (size_t which = 0; which < 3; which++) {
		make_all_three(wish, which);
		at = find(wish, "-F");
		assert_true(at < wish->argv.count);
		assert_string_equal(wish->argv.words[at + 1], "none");
		assert_true(has_option(wish, "UserKnownHostsFile=\"/run dir/known_hosts\""));
		assert_true(has_option(wish, "GlobalKnownHostsFile=/dev/null"));
		assert_true(has_option(wish, "StrictHostKeyChecking=yes"));
		assert_true(has_option(wish, "IdentityFile=\"/run dir/key\""));
		assert_true(has_option(wish, "IdentitiesOnly=yes"));
		assert_true(has_option(wish, "IdentityAgent=none"));
		assert_true(has_option(wish, "PreferredAuthentications=publickey"));
	}
}

static void
host_key_policy_is_passed_on(void **state)
{
	struct wish *wish = *state;

	xb_namelist_add_once(&wish->target.known_hosts, "/home/joe/.ssh/known_hosts");
	wish->target.policy = XB_HOSTKEY_ACCEPT_NEW;
	make_ssh(wish, "cat");
	assert_true(has_option(wish, "StrictHostKeyChecking=accept-new"));
	assert_false(sets(wish, "UserKnownHostsFile"));
	wish->target.known_hosts_given = true;
	make_ssh(wish, "cat");
	assert_true(has_option(wish, "UserKnownHostsFile=\"/home/joe/.ssh/known_hosts\""));
	assert_true(has_option(wish, "GlobalKnownHostsFile=/dev/null"));
	wish->target.policy = XB_HOSTKEY_OFF;
	make_ssh(wish, "cat");
	assert_true(has_option(wish, "StrictHostKeyChecking=no"));
	assert_true(has_option(wish, "UserKnownHostsFile=/dev/null"));
}

static void
only_keys_that_the_user_named_are_named(void **state)
{
	struct wish *wish = *state;

	xb_namelist_add_once(&wish->target.identities, "/a \"b\" \\ 100%/key");
	xb_namelist_add_once(&wish->target.identities, "~key");
	make_ssh(wish, "cat");
	assert_false(sets(wish, "IdentityFile"));
	wish->target.identities_given = true;
	make_ssh(wish, "cat");
	assert_true(has_option(wish, "IdentityFile=\"/a \\\"b\\\" \\\\ 100%%/key\""));
	assert_true(has_option(wish, "IdentityFile=\"./~key\""));
}

static void
scp_speaks_its_own_protocol_through_the_same_ssh(void **state)
{
	struct wish *wish = *state;
	size_t at;

	make_all_three(wish, 1);
	at = find(wish, "-S");
	assert_string_equal(wish->argv.words[at + 1], ssh_path);
	assert_true(find(wish, "-O") < wish->argv.count);
	assert_true(find(wish, "-v") < wish->argv.count);
	assert_string_equal(wish->argv.words[wish->argv.count - 3], "--");
	assert_string_equal(wish->argv.words[wish->argv.count - 2], "/tmp/f");
	assert_string_equal(wish->argv.words[wish->argv.count - 1], "nas:/dev/null");
	make_all_three(wish, 2);
	at = find(wish, "-S");
	assert_string_equal(wish->argv.words[at + 1], ssh_path);
	at = find(wish, "-b");
	assert_string_equal(wish->argv.words[at + 1], "-");
	assert_false(sets(wish, "SessionType"));
}

static void
expect_scp_source(struct wish *wish, const char *file, const char *source)
{
	wish->transfer.direction = XB_DOWNLOAD;
	wish->transfer.remote_file = file;
	make_all_three(wish, 1);
	assert_string_equal(wish->argv.words[wish->argv.count - 2], source);
	assert_string_equal(wish->argv.words[wish->argv.count - 1], "/dev/null");
}

static void
remote_name_means_itself_to_the_shell_that_reads_it(void **state)
{
	struct wish *wish = *state;

	expect_scp_source(wish, "/srv/f-1_2.x", "nas:/srv/f-1_2.x");
	expect_scp_source(wish, "/a b/it's $x;*", "nas:/a\\ b/it\\'s\\ \\$x\\;\\*");
	expect_scp_source(wish, "-rf", "nas:./-rf");
	expect_scp_source(wish, "~", "nas:\\~");
	expect_scp_source(wish, "\xc3\xa9", "nas:\xc3\xa9");
}

static void
address_with_colons_is_in_brackets_where_a_colon_has_a_meaning(void **state)
{
	struct wish *wish = *state;

	strcpy(wish->host, "fe80::1%eth0");
	make_ssh(wish, "cat");
	assert_string_equal(wish->argv.words[wish->argv.count - 2], "fe80::1%eth0");
	make_all_three(wish, 1);
	assert_string_equal(wish->argv.words[wish->argv.count - 1], "[fe80::1%eth0]:/dev/null");
	make_all_three(wish, 2);
	assert_string_equal(wish->argv.words[wish->argv.count - 1], "[fe80::1%eth0]");
}

static void
older_programs_are_not_told_what_they_do_not_know(void **state)
{
	struct xb_openssh_programs old = programs;
	struct wish *wish = *state;

	old.session_options = false;
	old.rcp_option = false;
	xb_openssh_argv_scp(&wish->argv, &old, &wish->transfer, "/tmp/f");
	assert_false(sets(wish, "SessionType"));
	assert_false(sets(wish, "StdinNull"));
	assert_false(sets(wish, "ForkAfterAuthentication"));
	assert_false(sets(wish, "LogVerbose"));
	assert_int_equal(find(wish, "-O"), wish->argv.count);
}

static void
time_limit_is_a_whole_second_at_least(void **state)
{
	struct wish *wish = *state;

	wish->target.connect_timeout_ns = 1;
	make_ssh(wish, "cat");
	assert_true(has_option(wish, "ConnectTimeout=1"));
	wish->target.connect_timeout_ns = INT64_MAX;
	make_ssh(wish, "cat");
	assert_true(has_option(wish, "ConnectTimeout=86400"));
}

static void
expect_quoted(const char *name, const char *quoted)
{
	char *text = xb_openssh_quote(name);

	assert_string_equal(text, quoted);
	free(text);
}

static void
sftp_reads_a_name_as_it_is(void **state)
{
	(void)state;
	expect_quoted("/a b", "\"/a b\"");
	expect_quoted("it's \"x\" \\ *", "\"it's \\\"x\\\" \\\\ *\"");
	expect_quoted("-x", "\"./-x\"");
	assert_null(xb_openssh_quote("a\nb"));
}

static bool
env_has(char *const *env, const char *entry)
{
	for (; *env != NULL; env++)
		if (strcmp(*env, entry) == 0)
			return true;
	return false;
}

static void
environment_is_ours_but_for_language_and_questions(void **state)
{
	char **env;

	(void)state;
	setenv("LC_MESSAGES", "de_DE.UTF-8", 1);
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	setenv("SSH_ASKPASS", "/bin/false", 1);
	setenv("SSH_ASKPASS_REQUIRE", "force", 1);
	setenv("SSH_AUTH_SOCK", "/tmp/agent", 1);
	setenv("OPENSSL_ia32cap", "~0x200000200000000:~0x0", 1);
	env = xb_openssh_env();
	assert_true(env_has(env, "LC_ALL=C"));
	assert_false(env_has(env, "LC_ALL=de_DE.UTF-8"));
	assert_false(env_has(env, "LC_MESSAGES=de_DE.UTF-8"));
	assert_false(env_has(env, "SSH_ASKPASS=/bin/false"));
	assert_false(env_has(env, "SSH_ASKPASS_REQUIRE=force"));
	assert_true(env_has(env, "SSH_AUTH_SOCK=/tmp/agent"));
	assert_true(env_has(env, "OPENSSL_ia32cap=~0x200000200000000:~0x0"));
	xb_openssh_env_free(env);
}

#define WISH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WISH(every_program_is_told_what_decides_about_the_measurement),
		WISH(command_comes_last_behind_the_host),
		WISH(login_alone_asks_for_no_session),
		WISH(as_negotiated_says_nothing_of_the_suite),
		WISH(suite_is_asked_for_by_name),
		WISH(private_server_has_no_configuration_but_ours),
		WISH(host_key_policy_is_passed_on),
		WISH(only_keys_that_the_user_named_are_named),
		WISH(scp_speaks_its_own_protocol_through_the_same_ssh),
		WISH(remote_name_means_itself_to_the_shell_that_reads_it),
		WISH(address_with_colons_is_in_brackets_where_a_colon_has_a_meaning),
		WISH(older_programs_are_not_told_what_they_do_not_know),
		WISH(time_limit_is_a_whole_second_at_least),
		cmocka_unit_test(sftp_reads_a_name_as_it_is),
		cmocka_unit_test(environment_is_ours_but_for_language_and_questions),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
