#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "bench/primitive_ops.h"
#include "model/cipher.h"
#include "model/mac.h"

#define BODY 256u
#define FRAME (XB_LENGTH_BYTES + BODY + XB_TAG_MAX)

/* False where this build or this system has no such algorithm; then there is a reason. */
static bool
works(const struct xb_cipher *cipher, const struct xb_mac *mac)
{
	struct xb_err err = { 0 };
	struct xb_primitive *p = xb_primitive_new(cipher, mac, BODY, &err);
	bool ok = p != NULL;

	assert_int_equal(ok, err.text[0] == '\0');
	if (!ok) {
		assert_int_equal(err.fault, XB_FAULT_TRIAL);
		assert_true((cipher != NULL && cipher->legacy) ||
		    (mac != NULL && mac->kind == XB_MAC_UMAC));
	}
	xb_primitive_free(p);
	return ok;
}

/* Runs first: the legacy provider is loaded by nothing yet (main keeps openssl.cnf out). */
static void
cipher_without_the_legacy_provider_has_a_reason_that_names_it(void **state)
{
	struct xb_err err = { 0 };

	(void)state;
	assert_null(xb_primitive_new(xb_cipher_find("blowfish"), NULL, BODY, &err));
	assert_int_equal(err.fault, XB_FAULT_TRIAL);
	assert_non_null(strstr(err.text, "has no BF-CBC: its legacy provider is not loaded"));
	(void)xb_primitive_load_legacy();
}

static void
legacy_provider_leaves_the_others_as_they_are(void **state)
{
	(void)state;
	for (size_t i = 0; i < xb_cipher_count; i++)
		if (!xb_ciphers[i].legacy)
			assert_true(works(&xb_ciphers[i], NULL));
}

static void
check_round_trip(const struct xb_cipher *cipher, const struct xb_mac *mac, size_t bytes)
{
	struct xb_primitive *p = xb_primitive_new(cipher, mac, bytes, NULL);
	struct xb_err err = { 0 };
	struct xb_rng rng = { .state = bytes };
	uint8_t *plain = malloc(bytes), *wire = malloc(bytes + 68);
	const bool clear = mac == NULL || mac->etm;
	size_t wire_len, begin = clear ? XB_LENGTH_BYTES : 0;

	assert_non_null(p);
	xb_rng_fill(&rng, plain, bytes);
	for (unsigned again = 0; again < 2; again++) {
		assert_true(xb_primitive_round_trip(p, plain, wire, &wire_len, &err));
		assert_int_equal(wire_len, begin + bytes + (mac != NULL ? mac->tag_bytes : 16));
		assert_memory_not_equal(wire + begin, plain, 16);
		assert_memory_not_equal(wire + begin + bytes - 16, plain + bytes - 16, 16);
		assert_true(xb_primitive_speed(p, XB_OP_DECRYPT, 1000) > 0);
	}
	free(plain);
	free(wire);
	xb_primitive_free(p);
}

static void
every_cipher_with_every_mac_gives_its_packet_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < xb_cipher_count; i++) {
		const struct xb_cipher *cipher = &xb_ciphers[i];

		if (!works(cipher, NULL))
			continue;
		if (xb_cipher_is_aead(cipher)) {
			check_round_trip(cipher, NULL, BODY);
			check_round_trip(cipher, NULL, XB_PACKET_BYTES);
			continue;
		}
		for (size_t j = 0; j < xb_mac_count; j++)
			if (works(NULL, &xb_macs[j]))
				check_round_trip(cipher, &xb_macs[j], BODY);
		check_round_trip(cipher, xb_mac_find("hmac-sha2-256"), XB_PACKET_BYTES);
	}
}

static void
aead_takes_no_mac(void **state)
{
	const struct xb_cipher *gcm = xb_cipher_find("aes128-gcm");
	struct xb_primitive *p = xb_primitive_new(gcm, xb_mac_find("hmac-sha1"), BODY, NULL);
	uint8_t plain[BODY] = { 0 }, wire[BODY + 68];
	size_t len;

	(void)state;
	assert_false(xb_primitive_has(p, XB_OP_MAC));
	assert_true(xb_primitive_round_trip(p, plain, wire, &len, NULL));
	assert_int_equal(len, XB_LENGTH_BYTES + BODY + 16);
	xb_primitive_free(p);
}

/* Any bit of length field, body or tag that changes on the way is noticed. */
static void
check_tampering(const struct xb_cipher *cipher, const struct xb_mac *mac)
{
	const bool clear = mac == NULL || mac->etm;
	const size_t tag_bytes = mac != NULL ? mac->tag_bytes : 16;
	struct xb_primitive *p = xb_primitive_new(cipher, mac, BODY, NULL);
	uint8_t in[FRAME] = { 0, 0, 1, 0 }, wire[FRAME], back[FRAME];

	for (size_t at = clear ? 0 : XB_LENGTH_BYTES; at < XB_LENGTH_BYTES + BODY + tag_bytes;
	     at++) {
		assert_true(xb_primitive_restart(p));
		assert_true(xb_primitive_seal(p, 0, in, wire));
		wire[at] ^= (uint8_t)(1u << (at % 8));
		assert_int_equal(xb_primitive_open(p, 0, wire, back), XB_OPEN_FORGED);
	}
	assert_true(xb_primitive_restart(p));
	assert_true(xb_primitive_seal(p, 0, in, wire));
	assert_int_equal(xb_primitive_open(p, 1, wire, back), XB_OPEN_FORGED);
	assert_true(xb_primitive_restart(p));
	assert_int_equal(xb_primitive_open(p, 0, wire, back), XB_OPENED);
	xb_primitive_free(p);
}

static void
a_changed_packet_or_number_is_forged(void **state)
{
	const char *const macs[] = { "hmac-sha2-256", "hmac-sha2-512-etm", "hmac-md5-96", "umac-64",
		"umac-128-etm" };
	const char *const ciphers[] = { "aes128-ctr", "aes256-cbc", "arcfour" };

	(void)state;
	check_tampering(xb_cipher_find("chacha20-poly1305"), NULL);
	check_tampering(xb_cipher_find("aes128-gcm"), NULL);
	check_tampering(xb_cipher_find("aes256-gcm"), NULL);
	for (size_t i = 0; i < sizeof(ciphers) / sizeof(ciphers[0]); i++)
		for (size_t j = 0; j < sizeof(macs) / sizeof(macs[0]); j++)
			if (works(xb_cipher_find(ciphers[i]), xb_mac_find(macs[j])))
				check_tampering(xb_cipher_find(ciphers[i]), xb_mac_find(macs[j]));
}

/* The second packet of the session is not the first one again: its state or number went on. */
static void
the_same_text_twice_is_never_the_same_on_the_wire(void **state)
{
	uint8_t in[FRAME] = { 0 }, first[FRAME] = { 0 }, second[FRAME] = { 0 }, back[FRAME];

	(void)state;
	for (size_t i = 0; i < xb_cipher_count; i++) {
		const struct xb_mac *mac =
		    xb_cipher_is_aead(&xb_ciphers[i]) ? NULL : xb_mac_find("hmac-sha2-256");
		struct xb_primitive *p = xb_primitive_new(&xb_ciphers[i], mac, BODY, NULL);

		if (p == NULL)
			continue;
		assert_true(xb_primitive_seal(p, 0, in, first));
		assert_true(xb_primitive_seal(p, 1, in, second));
		for (size_t at = XB_LENGTH_BYTES; at < XB_LENGTH_BYTES + BODY; at += 16)
			assert_memory_not_equal(first + at, second + at, 16);
		assert_int_equal(xb_primitive_open(p, 0, first, back), XB_OPENED);
		assert_int_equal(xb_primitive_open(p, 1, second, back), XB_OPENED);
		assert_memory_equal(back + XB_LENGTH_BYTES, in + XB_LENGTH_BYTES, BODY);
		xb_primitive_free(p);
	}
}

/* HMAC over a sequence number of zero and one part, by libcrypto's one call. */
static void
one_shot_hmac(const uint8_t *key, size_t key_len, const uint8_t *part, size_t len, uint8_t *tag)
{
	uint8_t data[4 + FRAME] = { 0 };
	size_t tag_len;

	memcpy(data + 4, part, len);
	assert_non_null(EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, key_len, data, 4 + len,
	    tag, 32, &tag_len));
}

static void
mac_covers_plain_packet_or_length_and_ciphertext(void **state)
{
	const struct xb_cipher *ctr = xb_cipher_find("aes128-ctr");
	struct xb_primitive_keys keys = { .cipher = "0123456789abcdef", .mac = "some key of MACs" };
	uint8_t in[FRAME] = { 0, 0, 1, 0, 'x' }, wire[FRAME], tag[32];
	struct xb_primitive *p;

	(void)state;
	p = xb_primitive_new_keyed(ctr, xb_mac_find("hmac-sha2-256"), BODY, &keys, NULL);
	assert_true(xb_primitive_seal(p, 0, in, wire));
	one_shot_hmac(keys.mac, 32, in + XB_LENGTH_BYTES, BODY, tag);
	assert_memory_equal(wire + XB_LENGTH_BYTES + BODY, tag, sizeof(tag));
	xb_primitive_free(p);

	p = xb_primitive_new_keyed(ctr, xb_mac_find("hmac-sha2-256-etm"), BODY, &keys, NULL);
	assert_true(xb_primitive_seal(p, 0, in, wire));
	assert_memory_equal(wire, in, XB_LENGTH_BYTES);
	one_shot_hmac(keys.mac, 32, wire, XB_LENGTH_BYTES + BODY, tag);
	assert_memory_equal(wire + XB_LENGTH_BYTES + BODY, tag, sizeof(tag));
	xb_primitive_free(p);
}

static void
packet_is_rounded_up_to_the_block(void **state)
{
	struct xb_primitive *p =
	    xb_primitive_new(xb_cipher_find("aes128-gcm"), NULL, BODY - 15, NULL);
	uint8_t plain[BODY] = { 0 }, wire[BODY + 68];
	size_t len;

	(void)state;
	assert_true(xb_primitive_round_trip(p, plain, wire, &len, NULL));
	assert_int_equal(len, XB_LENGTH_BYTES + BODY + 16);
	xb_primitive_free(p);
}

static void
check_operations(const struct xb_cipher *cipher, const struct xb_mac *mac, const bool *has)
{
	struct xb_primitive *p = xb_primitive_new(cipher, mac, BODY, NULL);

	assert_non_null(p);
	for (unsigned op = 0; op < XB_OP_COUNT; op++) {
		assert_int_equal(xb_primitive_has(p, op), has[op]);
		assert_int_equal(xb_primitive_speed(p, op, 10000) > 0, has[op]);
	}
	xb_primitive_free(p);
}

static void
only_operations_that_the_suite_has_give_a_speed(void **state)
{
	const struct xb_cipher *ctr = xb_cipher_find("aes128-ctr");
	const struct xb_mac *sha = xb_mac_find("hmac-sha2-256"),
			    *etm = xb_mac_find("hmac-sha1-etm");

	(void)state;
	check_operations(ctr, NULL, (bool[]){ true, true, false, false, false });
	check_operations(NULL, sha, (bool[]){ false, false, true, false, false });
	check_operations(ctr, sha, (bool[]){ true, true, true, true, true });
	check_operations(ctr, etm, (bool[]){ true, true, true, true, true });
	for (size_t i = 0; i < xb_cipher_count; i++)
		if (xb_cipher_is_aead(&xb_ciphers[i]))
			check_operations(&xb_ciphers[i], NULL,
			    (bool[]){ true, true, false, true, true });
}

struct counted {
	unsigned calls;
	unsigned fail_after;
};

/* At least 2 ms each. */
static bool
slow_pass(void *ctx)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	struct counted *c = ctx;

	nanosleep(&pause, NULL);
	c->calls++;
	return c->fail_after == 0 || c->calls < c->fail_after;
}

static void
speed_is_what_was_done_in_the_time_it_took(void **state)
{
	struct counted c = { 0 };
	int64_t begin = xb_clock_ns(), took;
	double speed = xb_primitive_time(slow_pass, &c, 1000, 20 * XB_NS_PER_MS);

	(void)state;
	took = xb_clock_ns() - begin;
	assert_true(took >= 20 * XB_NS_PER_MS);
	/* 1000 bytes in no less than 2 ms; and the calls that count are among those made. */
	assert_true(speed > 0 && speed <= 500000);
	assert_true(speed * xb_seconds(20 * XB_NS_PER_MS) <= 1000.0 * c.calls);
}

static void
a_failed_pass_has_no_speed(void **state)
{
	struct counted at_once = { .fail_after = 1 }, later = { .fail_after = 4 };

	(void)state;
	assert_true(xb_primitive_time(slow_pass, &at_once, 1000, 20 * XB_NS_PER_MS) <= 0);
	assert_int_equal(at_once.calls, 1);
	assert_true(xb_primitive_time(slow_pass, &later, 1000, 20 * XB_NS_PER_MS) <= 0);
	assert_int_equal(later.calls, 4);
}

static void
deflate_has_a_speed_where_it_can_have_one(void **state)
{
	const size_t len = 65536;
	char *zeros = calloc(1, len), *noise = malloc(len);
	struct xb_rng rng = { .state = 1 };

	(void)state;
	xb_rng_fill(&rng, noise, len);
	assert_true(xb_primitive_deflate_speed(zeros, len, 32768, 6, XB_NS_PER_MS) > 0);
	assert_true(xb_primitive_deflate_speed(noise, len, 16, 6, XB_NS_PER_MS) > 0);
	assert_true(xb_primitive_deflate_speed(noise, len, 30000, 9, XB_NS_PER_MS) > 0);
	assert_true(xb_primitive_deflate_speed(noise, len, len + 1, 6, XB_NS_PER_MS) <= 0);
	assert_true(xb_primitive_deflate_speed(noise, len, 1024, 17, XB_NS_PER_MS) <= 0);
	free(zeros);
	free(noise);
}

static void
inflate_has_a_speed_on_what_deflate_makes_of_anything(void **state)
{
	const size_t len = 200000;
	char *zeros = calloc(1, len), *noise = malloc(len);
	struct xb_rng rng = { .state = 1 };

	(void)state;
	xb_rng_fill(&rng, noise, len);
	/* Several times over all of it: the stream begins again where it ends. */
	assert_true(xb_primitive_inflate_speed(zeros, len, 32768, 6, 5 * XB_NS_PER_MS) > 0);
	assert_true(xb_primitive_inflate_speed(noise, len, 32768, 6, 5 * XB_NS_PER_MS) > 0);
	assert_true(xb_primitive_inflate_speed(noise, len, 17, 1, 5 * XB_NS_PER_MS) > 0);
	assert_true(xb_primitive_inflate_speed(noise, len, len, 9, XB_NS_PER_MS) > 0);
	assert_true(xb_primitive_inflate_speed(noise, len, len + 1, 6, XB_NS_PER_MS) <= 0);
	assert_true(xb_primitive_inflate_speed(noise, len, 1024, 17, XB_NS_PER_MS) <= 0);
	/* Far from the edge: what is thrown away to compress random bytes need not be made again. */
	assert_true(xb_primitive_inflate_speed(noise, len, 32768, 6, 5 * XB_NS_PER_MS) >
	    xb_primitive_deflate_speed(noise, len, 32768, 6, 5 * XB_NS_PER_MS));
	free(zeros);
	free(noise);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cipher_without_the_legacy_provider_has_a_reason_that_names_it),
		cmocka_unit_test(legacy_provider_leaves_the_others_as_they_are),
		cmocka_unit_test(every_cipher_with_every_mac_gives_its_packet_back),
		cmocka_unit_test(aead_takes_no_mac),
		cmocka_unit_test(a_changed_packet_or_number_is_forged),
		cmocka_unit_test(the_same_text_twice_is_never_the_same_on_the_wire),
		cmocka_unit_test(mac_covers_plain_packet_or_length_and_ciphertext),
		cmocka_unit_test(packet_is_rounded_up_to_the_block),
		cmocka_unit_test(only_operations_that_the_suite_has_give_a_speed),
		cmocka_unit_test(speed_is_what_was_done_in_the_time_it_took),
		cmocka_unit_test(a_failed_pass_has_no_speed),
		cmocka_unit_test(deflate_has_a_speed_where_it_can_have_one),
		cmocka_unit_test(inflate_has_a_speed_on_what_deflate_makes_of_anything),
	};

	setenv("OPENSSL_CONF", "/dev/null", 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
