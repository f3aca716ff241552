#include "target/hostspec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

struct example {
	const char *text;
	const char *user; /* NULL: none */
	const char *host;
	unsigned port;
};

static void
assert_parsed(const struct example *example)
{
	struct xb_hostspec spec;
	struct xb_err err = { .fault = XB_FAULT_NONE };

	if (!xb_hostspec_parse("HOST", example->text, &spec, &err))
		fail_msg("'%s': %s", example->text, err.text);
	assert_string_equal(spec.host, example->host);
	assert_int_equal(spec.port, example->port);
	if (example->user == NULL)
		assert_null(spec.user);
	else
		assert_string_equal(spec.user, example->user);
	xb_hostspec_free(&spec);
	assert_null(spec.host);
}

static void
assert_refused(const char *text, const char *why)
{
	struct xb_hostspec spec;
	struct xb_err err = { .fault = XB_FAULT_NONE };

	if (xb_hostspec_parse("--host", text, &spec, &err))
		fail_msg("'%s' was taken as '%s'", text, spec.host);
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	assert_null(spec.host);
	assert_null(spec.user);
	if (strstr(err.text, why) == NULL || strstr(err.text, "--host") == NULL)
		fail_msg("'%s' or the option is not in '%s'", why, err.text);
}

static void
host_user_and_port_are_taken_apart(void **state)
{
	static const struct example examples[] = {
		{ .text = "nas", .host = "nas" },
		{ .text = "NAS.example.org", .host = "NAS.example.org" },
		{ .text = "nas:2222", .host = "nas", .port = 2222 },
		{ .text = "joe@nas", .user = "joe", .host = "nas" },
		{ .text = "joe@nas:1", .user = "joe", .host = "nas", .port = 1 },
		{ .text = "joe@corp@nas:65535", .user = "joe@corp", .host = "nas", .port = 65535 },
		{ .text = "DOMAIN\\joe smith@nas", .user = "DOMAIN\\joe smith", .host = "nas" },
		{ .text = "a:b@nas", .user = "a:b", .host = "nas" },
		{ .text = "192.0.2.1:22", .host = "192.0.2.1", .port = 22 },
		{ .text = "my_nas-2", .host = "my_nas-2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(examples); i++)
		assert_parsed(&examples[i]);
}

static void
ipv6_addresses_are_understood_bare_and_in_brackets(void **state)
{
	static const struct example examples[] = {
		{ .text = "::1", .host = "::1" },
		{ .text = "2001:db8::5", .host = "2001:db8::5" },
		{ .text = "fe80::1%eth0", .host = "fe80::1%eth0" },
		{ .text = "root@::1", .user = "root", .host = "::1" },
		{ .text = "[::1]", .host = "::1" },
		{ .text = "[::1]:2222", .host = "::1", .port = 2222 },
		{ .text = "[fe80::1%eth0]:22", .host = "fe80::1%eth0", .port = 22 },
		{ .text = "joe@[2001:db8::5]:22",
		    .user = "joe",
		    .host = "2001:db8::5",
		    .port = 22 },
		{ .text = "[nas]:2222", .host = "nas", .port = 2222 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(examples); i++)
		assert_parsed(&examples[i]);
}

static void
ssh_urls_are_understood(void **state)
{
	static const struct example examples[] = {
		{ .text = "ssh://nas", .host = "nas" },
		{ .text = "SSH://nas/", .host = "nas" },
		{ .text = "ssh://joe@nas:2222/", .user = "joe", .host = "nas", .port = 2222 },
		{ .text = "ssh://[::1]:22", .host = "::1", .port = 22 },
		{ .text = "ssh://[fe80::1%25eth0]", .host = "fe80::1%eth0" },
		{ .text = "ssh://joe%40corp@nas", .user = "joe@corp", .host = "nas" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(examples); i++)
		assert_parsed(&examples[i]);
}

static void
empty_parts_are_refused(void **state)
{
	(void)state;
	assert_refused("", "the host is empty");
	assert_refused("joe@", "the host is empty");
	assert_refused(":22", "the host is empty");
	assert_refused("[]", "the host is empty");
	assert_refused("[]:22", "the host is empty");
	assert_refused("@nas", "the user is empty");
	assert_refused("nas:", "port");
	assert_refused("[::1]:", "port");
	assert_refused("ssh://", "the host is empty");
	assert_refused("ssh:///", "the host is empty");
	assert_refused("ssh://joe@/", "the host is empty");
}

static void
ports_out_of_range_and_trash_are_refused(void **state)
{
	static const char *const texts[] = { "nas:0", "nas:65536", "nas:-1", "nas:+22", "nas:22x",
		"nas: 22", "nas:22 ", "nas:0x16", "nas:99999999999999999999", "[::1]:ssh",
		"ssh://nas:70000", "nas:2.2" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_refused(texts[i], "from 1 to 65535");
}

static void
hosts_that_other_programs_would_misread_are_refused(void **state)
{
	static const char *const texts[] = { "a b", "a\tb", "a\nb", "\x1b[31m", "caf\xc3\xa9",
		"a;b", "a|b", "$(id)", "`id`", "a,b", "*", "nas?", "!nas", "#nas", "a/b", "'a'",
		"ssh://a%20b", "[a b]" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_refused(texts[i], "no host name has");
	assert_refused("-oProxyCommand=id", "'-'");
	assert_refused("joe@-nas", "'-'");
	assert_refused("ssh://%2dnas", "'-'");
	assert_refused("-joe@nas", "'-'");
	assert_refused("a\x01@nas", "control character");
}

static void
colons_and_brackets_must_make_sense(void **state)
{
	(void)state;
	assert_refused("a:b:c", "several colons");
	assert_refused("::1:22:", "several colons");
	assert_refused("fe80::1%", "several colons");
	assert_refused("[::1", "not closed");
	assert_refused("[::1]22", "only a port");
	assert_refused("[1:2]", "no IPv6 address");
	assert_refused("ssh://a%3Ab", "a colon in the host");
}

static void
urls_with_path_password_or_bad_escapes_are_refused(void **state)
{
	(void)state;
	assert_refused("ssh://nas/home", "a path");
	assert_refused("ssh://nas:22//", "a path");
	assert_refused("ssh://joe:secret@nas", "a password");
	assert_refused("ssh://j%zz@nas", "% escape");
	assert_refused("ssh://j%4", "% escape");
	assert_refused("ssh://j%00@nas", "% escape");
	assert_refused("ssh://nas%", "% escape");
}

static void
refusal_is_printable_and_short_for_any_text(void **state)
{
	struct xb_hostspec spec;
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char text[5000];

	(void)state;
	memset(text, '\x1b', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(xb_hostspec_parse("HOST", text, &spec, &err));
	for (const char *c = err.text; *c != '\0'; c++)
		assert_true(*c >= 0x20 && *c < 0x7f);
	memset(text, 'a', sizeof(text) - 1);
	assert_refused(text, "the host is too long");
	text[4000] = '@';
	text[4002] = '\0';
	assert_refused(text, "the user is too long");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_user_and_port_are_taken_apart),
		cmocka_unit_test(ipv6_addresses_are_understood_bare_and_in_brackets),
		cmocka_unit_test(ssh_urls_are_understood),
		cmocka_unit_test(empty_parts_are_refused),
		cmocka_unit_test(ports_out_of_range_and_trash_are_refused),
		cmocka_unit_test(hosts_that_other_programs_would_misread_are_refused),
		cmocka_unit_test(colons_and_brackets_must_make_sense),
		cmocka_unit_test(urls_with_path_password_or_bad_escapes_are_refused),
		cmocka_unit_test(refusal_is_printable_and_short_for_any_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
