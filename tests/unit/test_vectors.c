#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "bench/primitive_ops.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "reference.h"

#define FRAME_MAX 256u

static struct xb_crypter *
crypter(const char *name, const char *key, const char *iv, bool encrypt)
{
	struct xb_primitive_keys keys = { 0 };
	struct xb_err err = { 0 };
	struct xb_crypter *c;

	reference_unhex(keys.cipher, key);
	reference_unhex(keys.iv, iv);
	c = xb_crypter_new(xb_cipher_find(name), &keys, encrypt, &err);
	assert_string_equal(err.text, "");
	assert_non_null(c);
	return c;
}

/* Runs bytes through a cipher in packets of packet bytes and compares with what is published. */
static void
check_stream(const char *name, const char *key, const char *iv, const char *plain,
    const char *ciphertext, size_t packet)
{
	struct xb_crypter *e = crypter(name, key, iv, true), *d = crypter(name, key, iv, false);
	uint8_t in[FRAME_MAX] = { 0 }, want[FRAME_MAX] = { 0 };
	uint8_t out[FRAME_MAX] = { 0 }, back[FRAME_MAX] = { 0 };
	size_t len = reference_unhex(in + XB_LENGTH_BYTES, plain);

	assert_int_equal(reference_unhex(want + XB_LENGTH_BYTES, ciphertext), len);
	for (size_t at = 0; at < len; at += packet) {
		assert_int_equal(xb_crypter_run(e, 0, in + at, out + at, packet), XB_OPENED);
		assert_int_equal(xb_crypter_run(d, 0, out + at, back + at, packet), XB_OPENED);
	}
	assert_memory_equal(out, want, XB_LENGTH_BYTES + len);
	assert_memory_equal(back, in, XB_LENGTH_BYTES + len);
	xb_crypter_free(e);
	xb_crypter_free(d);
}

/* The texts of all AES examples of NIST SP 800-38A, appendix F. */
#define NIST_PLAIN \
	"6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" \
	"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
#define NIST_KEY_128 "2b7e151628aed2a6abf7158809cf4f3c"
#define NIST_KEY_192 "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"
#define NIST_KEY_256 "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"

static void
aes_ctr_is_that_of_sp800_38a_over_several_packets(void **state)
{
	const char *counter = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

	(void)state;
	for (size_t packet = 16; packet <= 64; packet *= 2) {
		check_stream("aes128-ctr", NIST_KEY_128, counter, NIST_PLAIN,
		    "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
		    "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
		    packet);
		check_stream("aes192-ctr", NIST_KEY_192, counter, NIST_PLAIN,
		    "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
		    "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
		    packet);
		check_stream("aes256-ctr", NIST_KEY_256, counter, NIST_PLAIN,
		    "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
		    "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
		    packet);
	}
}

static void
aes_cbc_is_that_of_sp800_38a_chained_over_packets(void **state)
{
	const char *iv = "000102030405060708090a0b0c0d0e0f";

	(void)state;
	for (size_t packet = 16; packet <= 64; packet *= 2) {
		check_stream("aes128-cbc", NIST_KEY_128, iv, NIST_PLAIN,
		    "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
		    "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
		    packet);
		check_stream("aes192-cbc", NIST_KEY_192, iv, NIST_PLAIN,
		    "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
		    "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
		    packet);
		check_stream("aes256-cbc", NIST_KEY_256, iv, NIST_PLAIN,
		    "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
		    "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
		    packet);
	}
}

/* With an IV of zeros the first block of CBC is what ECB examples show. */
static void
triple_des_is_that_of_sp800_67(void **state)
{
	(void)state;
	check_stream("3des", "0123456789abcdef23456789abcdef01456789abcdef0123", "0000000000000000",
	    "5468652071756663", "a826fd8ce53b855f", 8);
}

/* The keys of RFC 6229 are 01 02 03 ...; zeros encrypt to the keystream. */
static void
check_arcfour(const char *name, size_t key_len, size_t discarded)
{
	struct xb_primitive_keys keys = { 0 };
	const uint8_t zeros[FRAME_MAX] = { 0 };
	uint8_t want[64], out[FRAME_MAX];
	struct xb_crypter *c;

	for (size_t i = 0; i < key_len; i++)
		keys.cipher[i] = (uint8_t)(i + 1);
	reference_rc4_keystream(keys.cipher, key_len, discarded, want, sizeof(want));
	c = xb_crypter_new(xb_cipher_find(name), &keys, true, NULL);
	assert_non_null(c);
	assert_int_equal(xb_crypter_run(c, 0, zeros, out, 32), XB_OPENED);
	assert_memory_equal(out + XB_LENGTH_BYTES, want, 32);
	assert_int_equal(xb_crypter_run(c, 1, zeros, out, 32), XB_OPENED);
	assert_memory_equal(out + XB_LENGTH_BYTES, want + 32, 32);
	xb_crypter_free(c);
}

static void
without_legacy_provider_the_reason_names_it(void)
{
	const struct xb_primitive_keys keys = { 0 };
	struct xb_err err = { 0 };

	assert_null(xb_crypter_new(xb_cipher_find("blowfish"), &keys, true, &err));
	assert_non_null(strstr(err.text, "legacy provider"));
}

/* Where the system has no legacy provider there is nothing to compare, but still a reason. */
static void
legacy_ciphers_are_the_published_ones(void **state)
{
	const uint8_t key[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	uint8_t want[16], got[16];

	(void)state;
	/* RFC 6229, 128 bits, offset 0: the reference above is RC4. */
	reference_unhex(want, "9ac7cc9a609d1ef7b2932899cde41b97");
	reference_rc4_keystream(key, sizeof(key), 0, got, sizeof(got));
	assert_memory_equal(got, want, sizeof(want));
	if (!xb_primitive_load_legacy()) {
		without_legacy_provider_the_reason_names_it();
		return;
	}
	check_arcfour("arcfour", 16, 0);
	check_arcfour("arcfour128", 16, 1536);
	check_arcfour("arcfour256", 32, 1536);
	/* Eric Young's example for Blowfish (vectors.txt, chaining mode test data). */
	check_stream("blowfish", "0123456789abcdeff0e1d2c3b4a59687", "fedcba9876543210",
	    "37363534333231204e6f77206973207468652074696d6520666f722000000000",
	    "6b77b4d63006dee605b156e27403979358deb9e7154616d959f1652bd5ff92cc", 16);
	/* RFC 2144, appendix B.1. */
	check_stream("cast128", "0123456712345678234567893456789a", "0000000000000000",
	    "0123456789abcdef", "238b4fe5847e44b2", 8);
}

/*
 * Test case 3 of McGrew and Viega, The Galois/Counter Mode of Operation. Its text encrypts to the
 * same bytes here; its tag is without associated data, so SSH's is made by the reference above.
 */
static void
gcm_is_that_of_the_specification_with_the_length_authenticated(void **state)
{
	const char *key = "feffe9928665731c6d6a8f9467308308", *iv = "cafebabefacedbaddecaf888";
	struct xb_crypter *e = crypter("aes128-gcm", key, iv, true);
	struct xb_crypter *d = crypter("aes128-gcm", key, iv, false);
	uint8_t in[FRAME_MAX] = { 0, 0, 0, 64 }, out[FRAME_MAX], back[FRAME_MAX], want[64], tag[16];
	uint8_t raw_iv[12], raw_key[16];

	(void)state;
	reference_unhex(raw_iv, iv);
	reference_unhex(raw_key, key);
	reference_unhex(in + XB_LENGTH_BYTES,
	    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
	    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255");
	reference_unhex(want,
	    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
	    "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985");
	reference_gcm_tag(raw_key, raw_iv, NULL, 0, want, 64, tag);
	reference_unhex(back, "4d5c2af327cd64a62cf35abd2ba6fab4");
	assert_memory_equal(tag, back, 16);

	assert_int_equal(xb_crypter_run(e, 0, in, out, 64), XB_OPENED);
	assert_memory_equal(out, in, XB_LENGTH_BYTES);
	assert_memory_equal(out + XB_LENGTH_BYTES, want, 64);
	reference_gcm_tag(raw_key, raw_iv, in, XB_LENGTH_BYTES, want, 64, tag);
	assert_memory_equal(out + XB_LENGTH_BYTES + 64, tag, 16);
	assert_int_equal(xb_crypter_run(d, 0, out, back, 64), XB_OPENED);
	assert_memory_equal(back, in, XB_LENGTH_BYTES + 64);

	/* RFC 5647 section 7.1: the next packet's counter is one more. */
	raw_iv[11]++;
	assert_int_equal(xb_crypter_run(e, 1, in, out, 64), XB_OPENED);
	reference_gcm_tag(raw_key, raw_iv, in, XB_LENGTH_BYTES, out + XB_LENGTH_BYTES, 64, tag);
	assert_memory_equal(out + XB_LENGTH_BYTES + 64, tag, 16);
	assert_int_equal(xb_crypter_run(d, 0, out, back, 64), XB_OPEN_FORGED);
	assert_int_equal(xb_crypter_run(d, 1, out, back, 64), XB_OPENED);
	xb_crypter_free(e);
	xb_crypter_free(d);
}

static void
references_agree_with_rfc_8439(void **state)
{
	static const char text[] =
	    "Ladies and Gentlemen of the class of '99: If I could offer you o";
	static const char message[] = "Cryptographic Forum Research Group";
	const uint8_t nonce[8] = { 0, 0, 0, 0x4a };
	uint8_t key[32], bytes[64], want[64];

	(void)state;
	/* Section 2.4.2. */
	for (unsigned i = 0; i < 32; i++)
		key[i] = (uint8_t)i;
	memcpy(bytes, text, sizeof(bytes));
	reference_chacha20(key, 1, nonce, bytes, sizeof(bytes));
	reference_unhex(want,
	    "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0b"
	    "f91b65c5524733ab8f593dabcd62b3571639d624e65152ab8f530c359f0861d8");
	assert_memory_equal(bytes, want, sizeof(want));
	/* Section 2.5.2. */
	reference_unhex(key, "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
	reference_poly1305(key, (const uint8_t *)message, strlen(message), bytes);
	reference_unhex(want, "a8061dc1305136c6c22b8baf0c0127a9");
	assert_memory_equal(bytes, want, 16);
}

/* PROTOCOL.chacha20poly1305 of OpenSSH, rebuilt from the references above. */
static void
chacha20_poly1305_is_opensshs_with_two_keys(void **state)
{
	enum { BODY = 152 };
	const uint8_t nonce[8] = { 0, 0, 0, 0, 0x01, 0x02, 0x03, 0x04 };
	struct xb_primitive_keys keys = { 0 };
	struct xb_crypter *e, *d;
	uint8_t in[FRAME_MAX] = { 0, 0, 0, BODY }, want[FRAME_MAX], out[FRAME_MAX], back[FRAME_MAX];
	uint8_t poly_key[32] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 64; i++)
		keys.cipher[i] = (uint8_t)(0x80 + 3 * i);
	for (unsigned i = 0; i < BODY; i++)
		in[XB_LENGTH_BYTES + i] = (uint8_t)(7 * i);
	memcpy(want, in, XB_LENGTH_BYTES + BODY);
	reference_chacha20(keys.cipher, 0, nonce, poly_key, sizeof(poly_key));
	reference_chacha20(keys.cipher + 32, 0, nonce, want, XB_LENGTH_BYTES);
	reference_chacha20(keys.cipher, 1, nonce, want + XB_LENGTH_BYTES, BODY);
	reference_poly1305(poly_key, want, XB_LENGTH_BYTES + BODY, want + XB_LENGTH_BYTES + BODY);

	e = xb_crypter_new(xb_cipher_find("chacha20-poly1305"), &keys, true, NULL);
	d = xb_crypter_new(xb_cipher_find("chacha20-poly1305"), &keys, false, NULL);
	assert_int_equal(xb_crypter_run(e, 0x01020304, in, out, BODY), XB_OPENED);
	assert_memory_equal(out, want, XB_LENGTH_BYTES + BODY + 16);
	assert_int_equal(xb_crypter_run(d, 0x01020304, out, back, BODY), XB_OPENED);
	assert_memory_equal(back, in, XB_LENGTH_BYTES + BODY);
	assert_int_equal(xb_crypter_run(d, 0x01020305, out, back, BODY), XB_OPEN_FORGED);
	xb_crypter_free(e);
	xb_crypter_free(d);
}

/* The first four bytes of the example's data are taken for the sequence number. */
static void
check_hmac(const char *name, size_t key_len, const char *want_hex)
{
	const struct xb_mac *mac = xb_mac_find(name);
	struct xb_primitive_keys keys = { 0 };
	uint8_t tag[XB_TAG_MAX + 1], want[XB_TAG_MAX];
	struct xb_tagger *t;

	memset(keys.mac, 0x0b, key_len);
	t = xb_tagger_new(mac, &keys, NULL);
	assert_non_null(t);
	reference_unhex(want, want_hex);
	for (unsigned packet = 0; packet < 2; packet++) {
		memset(tag, 0xee, sizeof(tag));
		assert_true(xb_tagger_run(t, 0x48692054, (const uint8_t *)"here", 4, tag));
		assert_memory_equal(tag, want, mac->tag_bytes);
		assert_int_equal(tag[mac->tag_bytes], 0xee);
	}
	xb_tagger_free(t);
}

static void
hmacs_are_those_of_rfc_4231_2202_and_2286_truncated(void **state)
{
	const char *sha256 = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
	const char *sha512 = "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
			     "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854";
	const char *sha1 = "b617318655057264e28bc0b6fb378c8ef146be00";
	const char *md5 = "9294727a3638bb1c13f48ef8158bfc9d";

	(void)state;
	check_hmac("hmac-sha2-256", 20, sha256);
	check_hmac("hmac-sha2-256-96", 20, sha256);
	check_hmac("hmac-sha2-512", 20, sha512);
	check_hmac("hmac-sha2-512-96-etm", 20, sha512);
	check_hmac("hmac-sha1", 20, sha1);
	check_hmac("hmac-sha1-96", 20, sha1);
	check_hmac("hmac-md5", 16, md5);
	check_hmac("hmac-md5-96", 16, md5);
	check_hmac("hmac-ripemd160", 20, "24cb4bd67d20fc1a5d2ed7732dcc39377f0a5668");
}

/* RFC 4418, appendix: the nonce "bcdefghi" as a number. UMAC-96 is the start of UMAC-128. */
static void
check_umac(const char *name, size_t len, const char *want_hex)
{
	struct xb_primitive_keys keys = { .mac = "abcdefghijklmnop" };
	uint8_t *message = malloc(len + 1), tag[XB_TAG_MAX], want[XB_TAG_MAX];
	struct xb_tagger *t = xb_tagger_new(xb_mac_find(name), &keys, NULL);

	assert_non_null(t);
	memset(message, 'a', len + 1);
	for (unsigned packet = 0; packet < 2; packet++) {
		memset(tag, 0, sizeof(tag));
		assert_true(xb_tagger_run(t, 0x6263646566676869, message, len, tag));
		assert_memory_equal(tag, want, reference_unhex(want, want_hex));
	}
	xb_tagger_free(t);
	free(message);
}

static void
umacs_are_those_of_rfc_4418_or_have_a_reason(void **state)
{
#ifdef HAVE_NETTLE
	(void)state;
	check_umac("umac-64", 0, "6e155fad26900be1");
	check_umac("umac-64", 3, "44b5cb542f220104");
	check_umac("umac-64-etm", 1 << 10, "26bf2f5d60118bd9");
	check_umac("umac-64", 1 << 15, "27f8ef643b0d118d");
	check_umac("umac-64", 1 << 20, "a4477e87e9f55853");
	check_umac("umac-128", 0, "32fedb100c79ad58f07ff764");
	check_umac("umac-128", 3, "185e4fe905cba7bd85e4c2dc");
	check_umac("umac-128-etm", 1 << 10, "7a54abe04af82d60fb298c3c");
#else
	const struct xb_primitive_keys keys = { 0 };
	struct xb_err err = { 0 };

	(void)state;
	(void)check_umac;
	assert_null(xb_tagger_new(xb_mac_find("umac-64"), &keys, &err));
	assert_non_null(strstr(err.text, "without nettle"));
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aes_ctr_is_that_of_sp800_38a_over_several_packets),
		cmocka_unit_test(aes_cbc_is_that_of_sp800_38a_chained_over_packets),
		cmocka_unit_test(triple_des_is_that_of_sp800_67),
		cmocka_unit_test(legacy_ciphers_are_the_published_ones),
		cmocka_unit_test(gcm_is_that_of_the_specification_with_the_length_authenticated),
		cmocka_unit_test(references_agree_with_rfc_8439),
		cmocka_unit_test(chacha20_poly1305_is_opensshs_with_two_keys),
		cmocka_unit_test(hmacs_are_those_of_rfc_4231_2202_and_2286_truncated),
		cmocka_unit_test(umacs_are_those_of_rfc_4418_or_have_a_reason),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
