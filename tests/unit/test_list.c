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
	    .offered = "yes",
	    .client = "yes",
	    .primitive = "yes",
	    .rating = "sound",
	    .rating_source = "RFC 4344",
	},
	{
	    .kind = "cipher",
	    .name = "blowfish-cbc",
	    .offered = "no",
	    .client = "no",
	    .client_note = "libssh2 1.10.0 has no blowfish-cbc",
	    .primitive = "no",
	    .primitive_note = "no legacy provider",
	    .rating = "weak",
	    .rating_source = "CVE-2016-2183: 64-bit blocks collide after 2^32 of them",
	},
	{
	    .kind = "MAC",
	    .name = "hmac-of-a-kind-that-nobody-knows@example.org",
	    .offered = "yes",
	    .client = "no",
	    .client_note = "no legacy provider",
	    .primitive = "no",
	    .rating = "unknown",
	},
};

static char *
list_of(size_t count, const char *heading, const struct xb_report_style *style)
{
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	assert_true(xb_list_write(rows, count, heading, "libssh2 1.10.0", style, out));
	xb_memstream_close(out);
	return text;
}

static void
a_pipe_has_everything(void **state)
{
	const struct xb_report_style style = { 0 };
	char *seen = list_of(3, "nas  dropbear 2022.83", &style);

	(void)state;
	canned_expect(seen,
	    "nas  dropbear 2022.83\n"
	    "\n"
	    "KIND    NAME                                          offered  libssh2 1.10.0  raw     rating   source\n"
	    "cipher  aes128-ctr                                    yes      yes             yes     sound    RFC 4344\n"
	    "cipher  blowfish-cbc                                  no       no [a]          no [b]  weak     CVE-2016-2183: 64-bit blocks collide after 2^32 of them\n"
	    "MAC     hmac-of-a-kind-that-nobody-knows@example.org  yes      no [b]          no      unknown\n"
	    "[a] libssh2 1.10.0 has no blowfish-cbc\n"
	    "[b] no legacy provider\n");
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
	    "KIND    NAME          offered  libssh2 1.10.0  raw     rating  source\n"
	    "cipher  aes128-ctr    yes      yes             yes     sound   RFC 4344\n"
	    "cipher  blowfish-cbc  no       no [a]          no [b]  weak    CVE-2016-2183: 64\n"
	    "[a] libssh2 1.10.0 has no blowfish-cbc\n"
	    "[b] no legacy provider\n");
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
	    "KIND    NAME        offered  libssh2 1.10.0  raw     rating\n"
	    "cipher  aes128-ctr  yes      yes             yes     sound\n"
	    "cipher  blowfish-c  no       no [a]          no [b]  weak\n"
	    "        bc\n"
	    "MAC     hmac-of-a-  yes      no [b]          no      unknown\n"
	    "        kind-that-\n"
	    "        nobody-kno\n"
	    "        ws@example\n"
	    "        .org\n"
	    "[a] libssh2 1.10.0 has no blowfish-cbc\n"
	    "[b] no legacy provider\n");
	free(seen);
}

static void
without_a_target_no_offer_is_shown(void **state)
{
	const struct xb_report_style style = { 0 };
	const struct xb_list_row row = {
		.kind = "cipher",
		.name = "aes128-ctr",
		.offered = "?",
		.client = "yes",
		.primitive = "yes",
		.rating = "sound",
	};
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	(void)state;
	assert_true(xb_list_write(&row, 1, NULL, "libssh2", &style, out));
	xb_memstream_close(out);
	canned_expect(text,
	    "KIND    NAME        libssh2  raw  rating\n"
	    "cipher  aes128-ctr  yes      yes  sound\n");
	free(text);
}

static void
a_full_device_is_an_error(void **state)
{
	const struct xb_report_style style = { 0 };
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(out);
	assert_false(xb_list_write(rows, 3, NULL, "libssh2", &style, out));
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
		cmocka_unit_test(a_full_device_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
