#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "canned.h"
#include "report/list.h"

static const struct xb_list_row rows[] = {
	{
	    .kind = "cipher",
	    .name = "aes128-ctr",
	    .offered = 1,
	    .has = 3,
	    .primitive = "yes",
	    .rating = "sound",
	    .rating_source = "RFC 4344",
	},
	{
	    .kind = "cipher",
	    .name = "blowfish-cbc",
	    .has = 2,
	    .primitive = "no",
	    .primitive_note = "no legacy provider",
	    .rating = "weak",
	    .rating_source = "CVE-2016-2183: 64-bit blocks collide after 2^32 of them",
	},
	{
	    .kind = "kex",
	    .name = "a-key-exchange-that-nobody-knows@example.org",
	    .offered = 1,
	    .primitive = "-",
	    .rating = "unknown",
	},
};

static const char *const one_server[] = { "offered" };
static const struct xb_list_client both[] = { { .label = "ssh" }, { .label = "libssh2" } };

static char *
list_text(const struct xb_list *list, const char *heading, const struct xb_report_style *style)
{
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	assert_true(xb_list_write(list, heading, style, out));
	xb_memstream_close(out);
	return text;
}

static char *
list_of(size_t count, const char *heading, const struct xb_report_style *style)
{
	const struct xb_list list = {
		.server_count = 1,
		.servers = one_server,
		.client_count = 2,
		.clients = both,
		.row_count = count,
		.rows = rows,
	};

	return list_text(&list, heading, style);
}

static void
a_pipe_has_everything(void **state)
{
	const struct xb_report_style style = { 0 };
	char *seen = list_of(3, "nas  dropbear 2022.83\nclients: openssh 9.2p1", &style);

	(void)state;
	canned_expect(seen,
	    "nas  dropbear 2022.83\n"
	    "clients: openssh 9.2p1\n"
	    "\n"
	    "KIND    NAME                                          offered  ssh  libssh2  raw     rating   source\n"
	    "cipher  aes128-ctr                                    yes      yes  yes      yes     sound    RFC 4344\n"
	    "cipher  blowfish-cbc                                  no       no   yes      no [a]  weak     CVE-2016-2183: 64-bit blocks collide after 2^32 of them\n"
	    "kex     a-key-exchange-that-nobody-knows@example.org  yes      no   no       -       unknown\n"
	    "[a] no legacy provider\n");
	free(seen);
}

static void
a_narrow_terminal_cuts_the_source_alone(void **state)
{
	const struct xb_report_style style = { .width = 80, .terminal = true };
	char *seen = list_of(2, NULL, &style);

	(void)state;
	assert_true(canned_widest(seen) <= 80);
	canned_expect(seen,
	    "KIND    NAME          offered  ssh  libssh2  raw     rating  source\n"
	    "cipher  aes128-ctr    yes      yes  yes      yes     sound   RFC 4344\n"
	    "cipher  blowfish-cbc  no       no   yes      no [a]  weak    CVE-2016-2183: 64-b\n"
	    "[a] no legacy provider\n");
	free(seen);
}

static void
a_long_name_is_broken_when_all_else_is_cut(void **state)
{
	const struct xb_report_style style = { .width = 60, .quiet = true };
	char *seen = list_of(3, "quiet leaves the heading out", &style);

	(void)state;
	assert_true(canned_widest(seen) <= 60);
	canned_expect(seen,
	    "KIND    NAME          offered  ssh  libssh2  raw     rating\n"
	    "cipher  aes128-ctr    yes      yes  yes      yes     sound\n"
	    "cipher  blowfish-cbc  no       no   yes      no [a]  weak\n"
	    "kex     a-key-exchan  yes      no   no       -       unknown\n"
	    "        ge-that-nobo\n"
	    "        dy-knows@exa\n"
	    "        mple.org\n"
	    "[a] no legacy provider\n");
	free(seen);
}

static void
without_a_target_no_offer_is_shown(void **state)
{
	const struct xb_report_style style = { 0 };
	const struct xb_list list = {
		.client_count = 2,
		.clients = both,
		.row_count = 1,
		.rows = rows,
	};
	char *seen = list_text(&list, NULL, &style);

	(void)state;
	canned_expect(seen,
	    "KIND    NAME        ssh  libssh2  raw  rating  source\n"
	    "cipher  aes128-ctr  yes  yes      yes  sound   RFC 4344\n");
	free(seen);
}

static void
each_of_several_servers_has_a_column(void **state)
{
	static const char *const servers[] = { "openssh", "dropbear" };
	const struct xb_report_style style = { 0 };
	const struct xb_list list = {
		.server_count = 2,
		.servers = servers,
		.client_count = 2,
		.clients = both,
		.row_count = 2,
		.rows = rows,
	};
	char *seen = list_text(&list, NULL, &style);

	(void)state;
	assert_non_null(strstr(seen, "KIND    NAME          openssh  dropbear  ssh  libssh2"));
	assert_non_null(strstr(seen, "cipher  aes128-ctr    yes      no        yes  yes"));
	free(seen);
}

static void
a_client_that_cannot_run_has_no_column_and_a_reason(void **state)
{
	static const struct xb_list_client clients[] = {
		{ .label = "ssh", .absent = "there is no ssh in PATH" },
		{ .label = "libssh2" },
	};
	const struct xb_report_style style = { 0 };
	const struct xb_list list = {
		.server_count = 1,
		.servers = one_server,
		.client_count = 2,
		.clients = clients,
		.row_count = 1,
		.rows = rows,
	};
	char *seen = list_text(&list, NULL, &style);

	(void)state;
	canned_expect(seen,
	    "KIND    NAME        offered  libssh2  raw  rating  source\n"
	    "cipher  aes128-ctr  yes      yes      yes  sound   RFC 4344\n"
	    "ssh has no column: there is no ssh in PATH\n");
	free(seen);
}

static void
a_full_device_is_an_error(void **state)
{
	const struct xb_report_style style = { 0 };
	const struct xb_list list = { .row_count = 3, .rows = rows };
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(out);
	assert_false(xb_list_write(&list, NULL, &style, out));
	fclose(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_has_everything),
		cmocka_unit_test(a_narrow_terminal_cuts_the_source_alone),
		cmocka_unit_test(a_long_name_is_broken_when_all_else_is_cut),
		cmocka_unit_test(without_a_target_no_offer_is_shown),
		cmocka_unit_test(each_of_several_servers_has_a_column),
		cmocka_unit_test(a_client_that_cannot_run_has_no_column_and_a_reason),
		cmocka_unit_test(a_full_device_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
