#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench/primitive.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/namelist.h"
#include "model/offer.h"

/* Adds the names of a row to a list and fails when another row has one of them. */
static void
claim_names(struct xb_namelist *taken, const char *name, const char *label,
    const char *const *aliases)
{
	struct xb_namelist own = { 0 };

	xb_namelist_add_once(&own, name);
	xb_namelist_add_once(&own, label);
	for (; aliases != NULL && *aliases != NULL; aliases++) {
		assert_false(xb_namelist_has(&own, *aliases));
		xb_namelist_add_once(&own, *aliases);
	}
	for (size_t i = 0; i < own.count; i++) {
		for (size_t j = 0; j < taken->count; j++)
			assert_int_not_equal(strcasecmp(own.names[i], taken->names[j]), 0);
		assert_int_not_equal(strcasecmp(own.names[i], "all"), 0);
		assert_null(strpbrk(own.names[i], ",*? "));
	}
	for (size_t i = 0; i < own.count; i++)
		xb_namelist_add(taken, own.names[i], strlen(own.names[i]));
	xb_namelist_free(&own);
}

static void
no_two_rows_answer_to_one_name(void **state)
{
	struct xb_namelist taken = { 0 };

	(void)state;
	for (size_t i = 0; i < xb_cipher_count; i++)
		claim_names(&taken, xb_ciphers[i].name, xb_ciphers[i].label, xb_ciphers[i].aliases);
	xb_namelist_free(&taken);
	for (size_t i = 0; i < xb_mac_count; i++)
		claim_names(&taken, xb_macs[i].name, xb_macs[i].label, xb_macs[i].aliases);
	xb_namelist_free(&taken);
}

static void
every_row_is_complete_and_broken_ones_are_last(void **state)
{
	(void)state;
	for (size_t i = 0; i < xb_cipher_count; i++) {
		const struct xb_cipher *c = &xb_ciphers[i];

		assert_non_null(c->evp);
		assert_true(c->key_bytes >= 16 && c->key_bytes <= 64);
		assert_true(c->block_bytes == 8 || c->block_bytes == 16);
		assert_true(strlen(c->rating_source) > 0);
		if (i > 0)
			assert_true(c->rating >= xb_ciphers[i - 1].rating);
	}
	for (size_t i = 0; i < xb_mac_count; i++) {
		const struct xb_mac *m = &xb_macs[i];

		assert_int_equal(m->evp == NULL, m->kind == XB_MAC_UMAC);
		assert_int_equal(m->etm, strstr(m->name, "-etm@openssh.com") != NULL);
		assert_true(m->key_bytes >= 16 && m->key_bytes <= 64);
		assert_true(m->tag_bytes >= 8 && m->tag_bytes <= 64);
		assert_true(strlen(m->rating_source) > 0);
		if (i > 0)
			assert_true(m->rating >= xb_macs[i - 1].rating);
	}
}

/* The table says what libcrypto says, wherever SSH uses the algorithm as it is. */
static void
sizes_are_those_of_libcrypto(void **state)
{
	(void)state;
	(void)xb_primitive_load_legacy();
	for (size_t i = 0; i < xb_cipher_count; i++) {
		const struct xb_cipher *c = &xb_ciphers[i];
		EVP_CIPHER *evp = EVP_CIPHER_fetch(NULL, c->evp, NULL);

		assert_true(evp != NULL || c->legacy);
		if (evp == NULL)
			continue;
		if (c->kind != XB_CIPHER_CHACHAPOLY && c->kind != XB_CIPHER_STREAM)
			assert_int_equal(c->key_bytes, EVP_CIPHER_get_key_length(evp));
		if (c->kind == XB_CIPHER_CBC)
			assert_int_equal(c->block_bytes, EVP_CIPHER_get_block_size(evp));
		EVP_CIPHER_free(evp);
	}
	for (size_t i = 0; i < xb_mac_count; i++) {
		EVP_MD *md;

		if (xb_macs[i].evp == NULL)
			continue;
		md = EVP_MD_fetch(NULL, xb_macs[i].evp, NULL);
		assert_non_null(md);
		assert_int_equal(xb_macs[i].key_bytes, EVP_MD_get_size(md));
		assert_int_equal(xb_macs[i].tag_bytes,
		    strstr(xb_macs[i].name, "-96") != NULL ? 12 : EVP_MD_get_size(md));
		EVP_MD_free(md);
	}
}

static void
ciphers_are_found_by_any_name_in_any_case(void **state)
{
	const struct xb_cipher *gcm = xb_cipher_by_name("aes128-gcm@openssh.com");

	(void)state;
	assert_non_null(gcm);
	assert_true(xb_cipher_is_aead(gcm));
	assert_ptr_equal(xb_cipher_find("aes128-gcm"), gcm);
	assert_ptr_equal(xb_cipher_find("AES128-GCM@openssh.com"), gcm);
	assert_ptr_equal(xb_cipher_find("AEAD_AES_128_GCM"), gcm);
	assert_string_equal(xb_cipher_find("3des")->name, "3des-cbc");
	assert_string_equal(xb_cipher_find("blowfish")->name, "blowfish-cbc");
	assert_string_equal(xb_cipher_find("cast128")->name, "cast128-cbc");
	assert_string_equal(xb_cipher_find("chacha20")->label, "chacha20-poly1305");
	assert_string_equal(xb_cipher_find("rijndael-cbc@lysator.liu.se")->name, "aes256-cbc");
	assert_true(xb_cipher_is_aead(xb_cipher_find("chacha20-poly1305")));
	assert_false(xb_cipher_is_aead(xb_cipher_find("aes128-ctr")));
	assert_null(xb_cipher_find("rot13"));
	assert_null(xb_cipher_find(""));
}

static void
names_on_the_wire_are_exact(void **state)
{
	(void)state;
	assert_null(xb_cipher_by_name("aes128-gcm"));
	assert_null(xb_cipher_by_name("AES128-CTR"));
	assert_null(xb_mac_by_name("umac-64"));
	assert_non_null(xb_mac_by_name("umac-64@openssh.com"));
	assert_ptr_equal(xb_mac_find("umac-64"), xb_mac_by_name("umac-64@openssh.com"));
	assert_ptr_equal(xb_mac_find("hmac-ripemd160@openssh.com"), xb_mac_find("hmac-ripemd160"));
	assert_string_equal(xb_mac_find("hmac-sha2-256-etm")->name,
	    "hmac-sha2-256-etm@openssh.com");
	assert_null(xb_mac_find("none"));
}

static void
old_algorithms_are_rated_as_such(void **state)
{
	(void)state;
	assert_int_equal(xb_cipher_find("arcfour")->rating, XB_RATING_BROKEN);
	assert_int_equal(xb_cipher_find("blowfish")->rating, XB_RATING_WEAK);
	assert_int_equal(xb_cipher_find("aes256-cbc")->rating, XB_RATING_WEAK);
	assert_int_equal(xb_cipher_find("aes256-ctr")->rating, XB_RATING_SOUND);
	assert_int_equal(xb_mac_find("hmac-sha1")->rating, XB_RATING_WEAK);
	assert_int_equal(xb_mac_find("hmac-sha2-512-etm")->rating, XB_RATING_SOUND);
	assert_string_equal(xb_rating_name(XB_RATING_SOUND), "sound");
	assert_string_equal(xb_rating_name(XB_RATING_WEAK), "weak");
	assert_string_equal(xb_rating_name(XB_RATING_BROKEN), "broken");
}

static void
namelist_splits_without_empty_parts_and_adds_once(void **state)
{
	struct xb_namelist list = { 0 };

	(void)state;
	xb_namelist_split(&list, ",aes128-ctr,,3des-cbc,");
	assert_int_equal(list.count, 2);
	assert_string_equal(list.names[0], "aes128-ctr");
	assert_string_equal(list.names[1], "3des-cbc");
	assert_true(xb_namelist_has(&list, "3des-cbc"));
	assert_false(xb_namelist_has(&list, "3des"));
	xb_namelist_add_once(&list, "3des-cbc");
	assert_int_equal(list.count, 2);
	xb_namelist_add(&list, "none,zlib", 4);
	assert_string_equal(list.names[2], "none");
	xb_namelist_free(&list);
	assert_int_equal(list.count, 0);
	xb_namelist_split(&list, "");
	xb_namelist_split(&list, ",,,");
	assert_int_equal(list.count, 0);
	xb_namelist_free(&list);
}

static void
check_join(const struct xb_namelist *list, size_t max, const char *want)
{
	char *joined = xb_namelist_join(list, ", ", max);

	assert_string_equal(joined, want);
	assert_true(strlen(joined) <= max);
	free(joined);
}

static void
joined_names_never_exceed_the_limit_nor_end_half_way(void **state)
{
	struct xb_namelist list = { 0 };

	(void)state;
	check_join(&list, 10, "");
	xb_namelist_split(&list, "one,two,three");
	check_join(&list, 100, "one, two, three");
	check_join(&list, 15, "one, two, three");
	check_join(&list, 14, "one, two, ...");
	check_join(&list, 13, "one, two, ...");
	check_join(&list, 12, "one, ...");
	check_join(&list, 7, "...");
	check_join(&list, 2, "..");
	check_join(&list, 0, "");
	xb_namelist_free(&list);
}

static void
offer_frees_all_and_may_be_empty(void **state)
{
	struct xb_offer offer = { 0 };

	(void)state;
	xb_offer_free(&offer);
	offer.banner = strdup("SSH-2.0-x");
	xb_namelist_split(&offer.kex, "a,b");
	xb_namelist_split(&offer.compression_down, "none");
	xb_offer_free(&offer);
	assert_null(offer.banner);
	assert_int_equal(offer.kex.count, 0);
	assert_int_equal(offer.compression_down.count, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_two_rows_answer_to_one_name),
		cmocka_unit_test(every_row_is_complete_and_broken_ones_are_last),
		cmocka_unit_test(sizes_are_those_of_libcrypto),
		cmocka_unit_test(ciphers_are_found_by_any_name_in_any_case),
		cmocka_unit_test(names_on_the_wire_are_exact),
		cmocka_unit_test(old_algorithms_are_rated_as_such),
		cmocka_unit_test(namelist_splits_without_empty_parts_and_adds_once),
		cmocka_unit_test(joined_names_never_exceed_the_limit_nor_end_half_way),
		cmocka_unit_test(offer_frees_all_and_may_be_empty),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
