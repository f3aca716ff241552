#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/err.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/select.h"

/* Compares with "name+" for one that the user named and "name-" for others, by blanks. */
static void
check_items(const struct xb_selection *selection, const char *want)
{
	char got[2000] = "";

	for (size_t i = 0; i < selection->count; i++) {
		if (i > 0)
			strcat(got, " ");
		strcat(got, selection->items[i].name);
		strcat(got, selection->items[i].by_name ? "+" : "-");
	}
	assert_string_equal(got, want);
}

static void
check_ciphers(const char *list, const struct xb_namelist *extra, const char *want)
{
	struct xb_selection selection;
	struct xb_err err = { 0 };

	assert_true(xb_select_ciphers("--ciphers", list, extra, &selection, &err));
	assert_string_equal(err.text, "");
	assert_false(selection.defaulted);
	check_items(&selection, want);
	xb_selection_free(&selection);
}

static void
check_refused(const char *list, const char *want)
{
	struct xb_selection selection;
	struct xb_err err = { 0 };

	assert_false(xb_select_ciphers("--ciphers", list, NULL, &selection, &err));
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	assert_string_equal(err.text, want);
	assert_int_equal(selection.count, 0);
	assert_null(selection.items);
}

static void
names_short_names_and_aliases_give_ssh_names_in_order(void **state)
{
	(void)state;
	check_ciphers("aes256-ctr,aes128-ctr", NULL, "aes256-ctr+ aes128-ctr+");
	check_ciphers("blowfish,chacha20,AES128-GCM", NULL,
	    "blowfish-cbc+ chacha20-poly1305@openssh.com+ aes128-gcm@openssh.com+");
	check_ciphers(" 3des , arcfour ", NULL, "3des-cbc+ arcfour+");
}

static void
duplicates_and_aliases_count_once(void **state)
{
	(void)state;
	check_ciphers("3des,3des-cbc,aes128-ctr,3DES", NULL, "3des-cbc+ aes128-ctr+");
	check_ciphers("aes256-cbc,rijndael-cbc@lysator.liu.se", NULL, "aes256-cbc+");
}

static void
globs_select_in_table_order_and_are_not_by_name(void **state)
{
	(void)state;
	check_ciphers("aes*-ctr", NULL, "aes128-ctr- aes192-ctr- aes256-ctr-");
	check_ciphers("aes*-g?m", NULL, "aes128-gcm@openssh.com- aes256-gcm@openssh.com-");
	check_ciphers("blow*", NULL, "blowfish-cbc-");
}

static void
a_name_given_both_ways_is_by_name(void **state)
{
	(void)state;
	check_ciphers("aes*-ctr,aes192-ctr", NULL, "aes128-ctr- aes192-ctr+ aes256-ctr-");
	check_ciphers("aes192-ctr,aes*-ctr", NULL, "aes192-ctr+ aes128-ctr- aes256-ctr-");
}

static void
all_is_the_whole_table_once(void **state)
{
	struct xb_selection selection;

	(void)state;
	assert_true(xb_select_ciphers("--ciphers", "All,3des", NULL, &selection, NULL));
	assert_int_equal(selection.count, xb_cipher_count);
	for (size_t i = 0; i < selection.count; i++) {
		assert_string_equal(selection.items[i].name, xb_ciphers[i].name);
		assert_int_equal(selection.items[i].by_name,
		    strcmp(xb_ciphers[i].name, "3des-cbc") == 0);
	}
	xb_selection_free(&selection);
	assert_true(xb_select_macs("--macs", "all", NULL, &selection, NULL));
	assert_int_equal(selection.count, xb_mac_count);
	xb_selection_free(&selection);
}

static void
names_that_only_the_server_knows_can_be_selected(void **state)
{
	struct xb_namelist extra = { 0 };

	(void)state;
	xb_namelist_split(&extra,
	    "aes128-ctr,aes512-ctr,twofish256-cbc,rijndael-cbc@lysator.liu.se");
	check_ciphers("aes*-ctr", &extra, "aes128-ctr- aes192-ctr- aes256-ctr- aes512-ctr-");
	check_ciphers("twofish*", &extra, "twofish256-cbc-");
	check_ciphers("twofish256-cbc,3des", &extra, "twofish256-cbc+ 3des-cbc+");
	check_ciphers("rijndael*", &extra, "aes256-cbc-");
	xb_namelist_free(&extra);
}

static void
unknown_name_is_a_usage_error_that_suggests_the_nearest(void **state)
{
	(void)state;
	check_refused("aes128-crt",
	    "--ciphers: unknown cipher \"aes128-crt\"; did you mean aes128-ctr?");
	check_refused("3des,blowfsh",
	    "--ciphers: unknown cipher \"blowfsh\"; did you mean blowfish?");
	check_refused("this-is-nothing-at-all",
	    "--ciphers: unknown cipher \"this-is-nothing-at-all\"; \"xferbench list\" shows all names");
	check_refused("zz*",
	    "--ciphers: no cipher matches \"zz*\"; \"xferbench list\" shows all names");
}

static void
unprintable_names_are_made_printable(void **state)
{
	(void)state;
	check_refused("qqqqqqqqqqqqqqqq\033[2J",
	    "--ciphers: unknown cipher \"qqqqqqqqqqqqqqqq\\x1b[2J\"; "
	    "\"xferbench list\" shows all names");
}

static void
empty_list_is_a_usage_error(void **state)
{
	const char *want = "--ciphers: the list is empty; name a cipher, a glob, or \"all\"";

	(void)state;
	check_refused("", want);
	check_refused(",,", want);
	check_refused(" , ", want);
}

static void
macs_have_their_own_table(void **state)
{
	struct xb_selection selection;
	struct xb_err err = { 0 };

	(void)state;
	assert_true(xb_select_macs("--macs", "umac-64,hmac-sha1*-etm", NULL, &selection, &err));
	check_items(&selection,
	    "umac-64@openssh.com+ hmac-sha1-etm@openssh.com- hmac-sha1-96-etm@openssh.com-");
	xb_selection_free(&selection);
	assert_false(xb_select_macs("--macs", "hmac-sha2-265", NULL, &selection, &err));
	assert_string_equal(err.text,
	    "--macs: unknown MAC \"hmac-sha2-265\"; did you mean hmac-sha2-256?");
}

static void
words_are_spelled_as_in_their_set_each_once_in_order(void **state)
{
	struct xb_namelist set = { 0 }, words = { 0 };
	struct xb_err err = { 0 };

	(void)state;
	xb_namelist_split(&set, "exec,scp,sftp");
	assert_true(xb_select_words("--method", " SFTP,exec,, sftp", &set, &words, &err));
	assert_int_equal(words.count, 2);
	assert_string_equal(words.names[0], "sftp");
	assert_string_equal(words.names[1], "exec");
	xb_namelist_free(&words);
	assert_false(xb_select_words("--method", "exec,sfpt", &set, &words, &err));
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	assert_string_equal(err.text,
	    "--method: 'sfpt' is not one of exec, scp, sftp; did you mean sftp?");
	xb_namelist_free(&words);
	err = (struct xb_err){ 0 };
	assert_false(xb_select_words("--method", ",", &set, &words, &err));
	assert_string_equal(err.text, "--method: the list is empty; it takes exec, scp, sftp");
	xb_namelist_free(&words);
	xb_namelist_free(&set);
}

static void
pool_has_names_beside_what_all_and_globs_select(void **state)
{
	struct xb_namelist all = { 0 }, offered = { 0 }, known = { 0 };
	const struct xb_select_pool pool = { "--kex", "key exchange", &all, &offered, &known };
	struct xb_selection selection;
	struct xb_err err = { 0 };

	(void)state;
	xb_namelist_split(&all, "ecdh,sntrup");
	xb_namelist_split(&offered, "ecdh,sntrup,ecdh-cert");
	xb_namelist_split(&known, "ecdh,dh-group1");
	assert_true(xb_select_names(&pool, "DH-group1,all", &selection, &err));
	check_items(&selection, "dh-group1+ ecdh- sntrup-");
	xb_selection_free(&selection);
	assert_true(xb_select_names(&pool, "ecdh*", &selection, &err));
	check_items(&selection, "ecdh- ecdh-cert-");
	xb_selection_free(&selection);
	assert_false(xb_select_names(&pool, "dh*", &selection, &err));
	assert_string_equal(err.text,
	    "--kex: no key exchange matches \"dh*\"; offered: ecdh, sntrup, ecdh-cert");
	err = (struct xb_err){ 0 };
	assert_false(xb_select_names(&pool, "dh-group2", &selection, &err));
	assert_string_equal(err.text,
	    "--kex: unknown key exchange \"dh-group2\"; did you mean dh-group1?");
	xb_namelist_free(&all);
	xb_namelist_free(&offered);
	xb_namelist_free(&known);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_short_names_and_aliases_give_ssh_names_in_order),
		cmocka_unit_test(duplicates_and_aliases_count_once),
		cmocka_unit_test(globs_select_in_table_order_and_are_not_by_name),
		cmocka_unit_test(a_name_given_both_ways_is_by_name),
		cmocka_unit_test(all_is_the_whole_table_once),
		cmocka_unit_test(names_that_only_the_server_knows_can_be_selected),
		cmocka_unit_test(unknown_name_is_a_usage_error_that_suggests_the_nearest),
		cmocka_unit_test(unprintable_names_are_made_printable),
		cmocka_unit_test(empty_list_is_a_usage_error),
		cmocka_unit_test(macs_have_their_own_table),
		cmocka_unit_test(words_are_spelled_as_in_their_set_each_once_in_order),
		cmocka_unit_test(pool_has_names_beside_what_all_and_globs_select),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
