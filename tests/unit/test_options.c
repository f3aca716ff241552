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
#include "options.h"

#define SECOND INT64_C(1000000000)

/* Parses a command line of at most 15 words, split at blanks. */
static bool
parse(struct xb_options *options, const char *line, struct xb_err *err)
{
	const char *argv[17] = { "xferbench" };
	char *copy = xb_strdup(line), *save = NULL, *word;
	int argc = 1;
	bool ok;

	for (word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
		assert_true(argc < 16);
		argv[argc++] = word;
	}
	*err = (struct xb_err){ 0 };
	ok = xb_options_parse(options, argc, argv, err);
	assert_true(ok == (err->fault == XB_FAULT_NONE));
	free(copy);
	return ok;
}

static struct xb_options
good(const char *line)
{
	struct xb_options options;
	struct xb_err err;

	if (!parse(&options, line, &err))
		fail_msg("'%s' is refused: %s", line, err.text);
	return options;
}

static void
refused(const char *line, const char *expected)
{
	struct xb_options options;
	struct xb_err err;

	if (parse(&options, line, &err))
		fail_msg("'%s' is not refused", line);
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	if (strstr(err.text, expected) == NULL)
		fail_msg("'%s' is not in: %s", expected, err.text);
	xb_options_free(&options);
}

static void
defaults_are_those_of_the_manual(void **state)
{
	struct xb_options o = good("");

	(void)state;
	assert_int_equal(o.command, XB_COMMAND_RUN);
	assert_null(o.host);
	assert_int_equal(o.port, 0);
	assert_int_equal(o.policy, XB_HOSTKEY_STRICT);
	assert_int_equal(o.connect_timeout_ns, 10 * SECOND);
	assert_int_equal(o.stall_timeout_ns, 10 * SECOND);
	assert_null(o.ciphers);
	assert_null(o.macs);
	assert_null(o.compression);
	assert_null(o.clients);
	assert_null(o.methods);
	assert_null(o.directions);
	assert_null(o.streams);
	assert_null(o.servers);
	assert_int_equal(o.window, 0);
	assert_int_equal(o.handshakes, 0);
	assert_null(o.kex);
	assert_null(o.hostkeys);
	assert_null(o.remote_file);
	assert_string_equal(o.payload, "sparse");
	assert_int_equal(o.time_ns, SECOND);
	assert_int_equal(o.size, 0);
	assert_int_equal(o.rounds, 6);
	assert_int_equal(o.max_ns, 0);
	assert_true(o.pin);
	assert_int_equal(o.unit, XB_RATE_MB);
	assert_null(o.export_json);
	assert_false(o.quiet || o.verbose || o.help || o.version);
	xb_options_free(&o);
}

static void
every_option_reaches_its_field(void **state)
{
	struct xb_options o = good("--host nas --port 2222 --user me --identity /a -i /b "
				   "--host-key-check accept-new --known-hosts /k");

	(void)state;
	assert_string_equal(o.host, "nas");
	assert_int_equal(o.port, 2222);
	assert_string_equal(o.user, "me");
	assert_int_equal(o.identities.count, 2);
	assert_string_equal(o.identities.names[0], "/a");
	assert_string_equal(o.identities.names[1], "/b");
	assert_int_equal(o.policy, XB_HOSTKEY_ACCEPT_NEW);
	assert_string_equal(o.known_hosts, "/k");
	xb_options_free(&o);
	o = good("--connect-timeout 2s --stall-timeout 250ms --ciphers a,b -m c --payload random "
		 "--sshd /s");
	assert_int_equal(o.connect_timeout_ns, 2 * SECOND);
	assert_int_equal(o.stall_timeout_ns, SECOND / 4);
	assert_string_equal(o.ciphers, "a,b");
	assert_string_equal(o.macs, "c");
	assert_string_equal(o.payload, "random");
	assert_string_equal(o.sshd, "/s");
	xb_options_free(&o);
	o = good("-t 2m -s 1k -r 3 --max-time 1h --seed 18446744073709551615 --no-pin -u Mbit");
	assert_int_equal(o.time_ns, 120 * SECOND);
	assert_int_equal(o.size, 1000);
	assert_int_equal(o.rounds, 3);
	assert_int_equal(o.max_ns, 3600 * SECOND);
	assert_int_equal(o.seed, UINT64_MAX);
	assert_false(o.pin);
	assert_int_equal(o.unit, XB_RATE_MBIT);
	xb_options_free(&o);
	o = good("--client openssh,libssh2 --method scp --direction both --compress none,zlib "
		 "--streams 1,4 --remote-file ./big");
	assert_string_equal(o.clients, "openssh,libssh2");
	assert_string_equal(o.methods, "scp");
	assert_string_equal(o.directions, "both");
	assert_string_equal(o.compression, "none,zlib");
	assert_string_equal(o.streams, "1,4");
	assert_string_equal(o.remote_file, "./big");
	xb_options_free(&o);
	o = good("--export-json - -q -v");
	assert_string_equal(o.export_json, "-");
	assert_true(o.quiet && o.verbose);
	xb_options_free(&o);
}

static void
last_of_an_option_counts(void **state)
{
	struct xb_options o = good("--rounds 2 --ciphers a --rounds=7 --ciphers b --host-key-check "
				   "off nas --host-key-check strict");

	(void)state;
	assert_int_equal(o.rounds, 7);
	assert_string_equal(o.ciphers, "b");
	assert_int_equal(o.policy, XB_HOSTKEY_STRICT);
	xb_options_free(&o);
}

static void
size_alone_means_no_time_box(void **state)
{
	struct xb_options o = good("--size 1MiB");

	(void)state;
	assert_int_equal(o.time_ns, 0);
	assert_int_equal(o.size, 1048576);
	xb_options_free(&o);
	o = good("--size 1MiB --time 3");
	assert_int_equal(o.time_ns, 3 * SECOND);
	xb_options_free(&o);
}

static void
first_word_may_be_a_command_and_the_next_one_a_host(void **state)
{
	struct xb_options o = good("nas");

	(void)state;
	assert_int_equal(o.command, XB_COMMAND_RUN);
	assert_string_equal(o.host, "nas");
	xb_options_free(&o);
	o = good("run raw");
	assert_int_equal(o.command, XB_COMMAND_RUN);
	assert_string_equal(o.host, "raw");
	xb_options_free(&o);
	o = good("-q list me@nas:22");
	assert_int_equal(o.command, XB_COMMAND_LIST);
	assert_string_equal(o.host, "me@nas:22");
	xb_options_free(&o);
	o = good("--host list");
	assert_int_equal(o.command, XB_COMMAND_RUN);
	assert_string_equal(o.host, "list");
	xb_options_free(&o);
	o = good("raw --ciphers aes128-ctr --time 10ms");
	assert_int_equal(o.command, XB_COMMAND_RAW);
	assert_int_equal(o.time_ns, SECOND / 100);
	xb_options_free(&o);
}

static void
raw_has_a_time_of_its_own(void **state)
{
	struct xb_options o = good("raw");

	(void)state;
	assert_int_equal(o.time_ns, SECOND / 20);
	xb_options_free(&o);
}

/* As many rounds as logins, and nothing that streams. */
static void
handshakes_are_rounds_without_a_time_box(void **state)
{
	struct xb_options o = good("--handshake 20 --kex all --host-key-algorithms ssh-ed25519");

	(void)state;
	assert_int_equal(o.handshakes, 20);
	assert_int_equal(o.rounds, 20);
	assert_int_equal(o.time_ns, 0);
	assert_int_equal(o.size, 0);
	assert_string_equal(o.kex, "all");
	assert_string_equal(o.hostkeys, "ssh-ed25519");
	xb_options_free(&o);
	o = good("--handshake 1 nas --client libssh2 --max-time 1s --no-pin --seed 1");
	assert_int_equal(o.rounds, 1);
	xb_options_free(&o);
}

static void
handshake_refuses_what_moves_bytes_and_its_own_lists_want_it(void **state)
{
	static const char *const streaming[] = { "--time 1s", "--size 1M", "--rounds 2",
		"--payload random", "--streams 2", "--method scp", "--direction both",
		"--compress zlib", "--macs all", "--ciphers all", "--remote-file /f",
		"--units MiB" };
	char line[80], expected[80];

	(void)state;
	for (size_t i = 0; i < sizeof(streaming) / sizeof(streaming[0]); i++) {
		snprintf(line, sizeof(line), "--handshake 5 %s", streaming[i]);
		snprintf(expected, sizeof(expected), "has no use for %.*s",
		    (int)strcspn(streaming[i], " "), streaming[i]);
		refused(line, expected);
	}
	refused("--kex all", "--kex is about logins alone");
	refused("--host-key-algorithms all", "--host-key-algorithms is about logins alone");
	refused("--handshake 0", "--handshake: '0'");
	refused("--handshake 10001", "--handshake: '10001'");
}

static void
servers_are_spelled_as_they_are_named_each_once(void **state)
{
	struct xb_options o = good("--server OpenSSH,openssh");

	(void)state;
	assert_string_equal(o.servers, "openssh");
	xb_options_free(&o);
	o = good("--server dropbear,openssh --dropbear-window 1MiB --sshd /s");
	assert_string_equal(o.servers, "dropbear,openssh");
	assert_int_equal(o.window, 1048576);
	xb_options_free(&o);
	refused("--server openshs", "--server: 'openshs' is not one of ");
	refused("--server openshs", "did you mean openssh?");
	refused("--server openssh nas", "--server has no use with a HOST");
	o = good("list --server openssh,dropbear");
	assert_string_equal(o.servers, "openssh,dropbear");
	xb_options_free(&o);
}

static void
options_of_one_server_want_that_server(void **state)
{
	(void)state;
	refused("--sshd /s --server dropbear", "--sshd has no use without --server openssh");
	refused("--dropbear-window 1M", "--dropbear-window has no use without --server dropbear");
	refused("--dropbear-window 1M nas", "--dropbear-window has no use with a HOST");
	refused("--server dropbear --dropbear-window 0", "--dropbear-window: '0'");
	refused("--server dropbear --dropbear-window 11MiB", "at most 10MiB");
}

static void
target_has_what_its_server_needs(void **state)
{
	struct xb_options o = good("--server dropbear --dropbear-window 1M");
	struct xb_target_options target = xb_options_target(&o, "dropbear", 3);

	(void)state;
	assert_string_equal(target.server, "dropbear");
	assert_int_equal(target.window, 1000000);
	assert_int_equal(target.server_cpu, 3);
	assert_false(target.every_hostkey);
	assert_null(target.host);
	xb_options_free(&o);
	o = good("--handshake 2 --kex all");
	assert_true(xb_options_target(&o, NULL, -1).every_hostkey);
	xb_options_free(&o);
	o = good("--handshake 2 --host-key-algorithms all");
	assert_true(xb_options_target(&o, NULL, -1).every_hostkey);
	xb_options_free(&o);
	/* The key that people have, as they have it. */
	o = good("--handshake 2");
	assert_false(xb_options_target(&o, NULL, -1).every_hostkey);
	xb_options_free(&o);
}

static void
text_payload_is_a_share_in_percent(void **state)
{
	struct xb_options o = good("--payload text:0");

	(void)state;
	assert_string_equal(o.payload, "text:0");
	xb_options_free(&o);
	o = good("--payload text:100");
	xb_options_free(&o);
	o = good("--payload ./text:101");
	xb_options_free(&o);
	refused("--payload text:101", "--payload text:PERCENT: '101'");
	refused("--payload text:", "--payload text:PERCENT");
	refused("--payload text:-1", "0 to 100");
}

static void
remote_file_is_no_option_and_has_no_control_characters(void **state)
{
	(void)state;
	refused("--direction download --remote-file -oX nas",
	    "--remote-file: '-oX' begins with '-'");
	refused("--direction download --remote-file a\033b nas",
	    "'a\\x1bb' has a control character");
}

static void
list_takes_clients_and_one_server(void **state)
{
	struct xb_options o = good("list --client openssh,libssh2 --server dropbear");

	(void)state;
	assert_int_equal(o.command, XB_COMMAND_LIST);
	assert_string_equal(o.clients, "openssh,libssh2");
	assert_string_equal(o.servers, "dropbear");
	xb_options_free(&o);
	refused("list --kex all", "list has no use for --kex");
	refused("list --handshake 2", "list has no use for --handshake");
	refused("list --method scp", "list has no use for --method");
	refused("list --dropbear-window 1M --server dropbear",
	    "list has no use for --dropbear-window");
}

static void
seeds_differ_from_run_to_run(void **state)
{
	struct xb_options a = good(""), b = good("");

	(void)state;
	assert_int_not_equal(a.seed, b.seed);
	xb_options_free(&a);
	xb_options_free(&b);
}

static void
bad_values_are_refused_by_option_and_value(void **state)
{
	(void)state;
	refused("--time 0", "--time: '0'");
	refused("--time 1x", "--time: '1x'");
	refused("--stall-timeout -5s", "--stall-timeout: '-5s'");
	refused("--size 0", "--size: '0'");
	refused("--size 1Q", "--size: '1Q'");
	refused("--rounds 10001", "--rounds: '10001'");
	refused("--port 65536", "--port: '65536'");
	refused("--seed 18446744073709551616", "--seed: '18446744073709551616'");
	refused("--units kB", "--units: 'kB'");
	refused("--host-key-check yes", "--host-key-check: 'yes'");
	refused("--ciphers=", "--ciphers");
}

/* A clock and a time are added: the sum must not overflow. */
static void
times_beyond_all_measure_are_refused(void **state)
{
	(void)state;
	refused("--time 2562046h", "longer than a year");
	refused("--connect-timeout 9999h", "longer than a year");
	refused("--stall-timeout 9999h", "longer than a year");
	refused("--max-time 9999h", "longer than a year");
}

static void
unknown_options_suggest_the_nearest(void **state)
{
	(void)state;
	refused("--cipher x", "unknown option --cipher; did you mean --ciphers?");
	refused("--time-out 3", "unknown option --time-out");
	refused("--zzzzzzzzz", "xferbench --help");
	refused("-Z", "-Z");
	refused("--rounds", "--rounds");
	refused("--quiet=1", "--quiet");
}

static void
what_a_command_would_ignore_is_refused(void **state)
{
	(void)state;
	refused("raw --rounds 2", "raw has no use for --rounds");
	refused("raw --host nas", "raw has no use for --host");
	refused("raw --client libssh2", "raw has no use for --client");
	refused("raw --server openssh", "raw has no use for --server");
	refused("raw --handshake 3", "raw has no use for --handshake");
	refused("raw nas", "raw takes no host");
	refused("list --time 1s", "list has no use for --time");
	refused("--user me", "--user has no use without a HOST");
	refused("list --port 22", "--port has no use without a HOST");
	refused("--sshd /s nas", "--sshd has no use with a HOST");
}

static void
there_is_one_host(void **state)
{
	(void)state;
	refused("a b", "one host at a time");
	refused("--host a b", "two hosts");
	refused("run a b", "one host at a time");
}

static void
help_and_version_ask_for_nothing_else(void **state)
{
	struct xb_options o = good("--help a b c");

	(void)state;
	assert_true(o.help);
	xb_options_free(&o);
	o = good("raw nas --version");
	assert_true(o.version);
	xb_options_free(&o);
	/* What is wrong by itself stays wrong. */
	refused("--help --rounds x", "--rounds");
}

static void
help_fits_80_columns(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);
	size_t column = 0;

	(void)state;
	xb_options_help(out);
	xb_memstream_close(out);
	assert_true(size > 1000);
	for (size_t i = 0; i < size; i++) {
		column = text[i] == '\n' ? 0 : column + 1;
		assert_true(column <= 80);
		assert_in_range((unsigned char)text[i], '\n', '~');
	}
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_manual),
		cmocka_unit_test(every_option_reaches_its_field),
		cmocka_unit_test(last_of_an_option_counts),
		cmocka_unit_test(size_alone_means_no_time_box),
		cmocka_unit_test(first_word_may_be_a_command_and_the_next_one_a_host),
		cmocka_unit_test(raw_has_a_time_of_its_own),
		cmocka_unit_test(handshakes_are_rounds_without_a_time_box),
		cmocka_unit_test(handshake_refuses_what_moves_bytes_and_its_own_lists_want_it),
		cmocka_unit_test(servers_are_spelled_as_they_are_named_each_once),
		cmocka_unit_test(options_of_one_server_want_that_server),
		cmocka_unit_test(target_has_what_its_server_needs),
		cmocka_unit_test(text_payload_is_a_share_in_percent),
		cmocka_unit_test(remote_file_is_no_option_and_has_no_control_characters),
		cmocka_unit_test(list_takes_clients_and_one_server),
		cmocka_unit_test(seeds_differ_from_run_to_run),
		cmocka_unit_test(bad_values_are_refused_by_option_and_value),
		cmocka_unit_test(times_beyond_all_measure_are_refused),
		cmocka_unit_test(unknown_options_suggest_the_nearest),
		cmocka_unit_test(what_a_command_would_ignore_is_refused),
		cmocka_unit_test(there_is_one_host),
		cmocka_unit_test(help_and_version_ask_for_nothing_else),
		cmocka_unit_test(help_fits_80_columns),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
