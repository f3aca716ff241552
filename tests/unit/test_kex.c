#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "model/kex.h"

static void
check(const struct xb_keying *table, size_t count, const struct xb_keying *(*find)(const char *))
{
	assert_true(count > 0);
	for (size_t i = 0; i < count; i++) {
		/* By its own name, and so the first with it: names are unique. */
		assert_ptr_equal(find(table[i].name), &table[i]);
		assert_true(strlen(table[i].rating_source) > 0);
		assert_null(strpbrk(table[i].name, ",*? "));
		assert_false(xb_kex_is_marker(table[i].name));
		if (i > 0)
			assert_true(table[i].rating >= table[i - 1].rating);
	}
	assert_null(find("none"));
	assert_null(find(""));
}

static void
every_row_is_complete_and_broken_ones_are_last(void **state)
{
	(void)state;
	check(xb_kexes, xb_kex_count, xb_kex_by_name);
	check(xb_hostkeys, xb_hostkey_count, xb_hostkey_by_name);
}

static void
hybrids_are_sound_and_sha1_is_not(void **state)
{
	(void)state;
	assert_int_equal(xb_kex_by_name("sntrup761x25519-sha512@openssh.com")->rating,
	    XB_RATING_SOUND);
	assert_int_equal(xb_kex_by_name("mlkem768x25519-sha256")->rating, XB_RATING_SOUND);
	for (size_t i = 0; i < xb_kex_count; i++)
		if (strstr(xb_kexes[i].name, "-sha1") != NULL)
			assert_int_not_equal(xb_kexes[i].rating, XB_RATING_SOUND);
	assert_int_equal(xb_hostkey_by_name("ssh-rsa")->rating, XB_RATING_WEAK);
	assert_int_equal(xb_hostkey_by_name("ssh-dss")->rating, XB_RATING_BROKEN);
	assert_int_equal(xb_hostkey_by_name("rsa-sha2-256")->rating, XB_RATING_SOUND);
}

static void
markers_are_no_key_exchange(void **state)
{
	(void)state;
	assert_true(xb_kex_is_marker("ext-info-s"));
	assert_true(xb_kex_is_marker("kex-strict-s-v00@openssh.com"));
	assert_true(xb_kex_is_marker("kexguess2@matt.ucc.asn.au"));
	assert_false(xb_kex_is_marker("ext"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_complete_and_broken_ones_are_last),
		cmocka_unit_test(hybrids_are_sound_and_sha1_is_not),
		cmocka_unit_test(markers_are_no_key_exchange),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
