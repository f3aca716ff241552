#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <openssl/bn.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

size_t
reference_unhex(uint8_t *out, const char *digits)
{
	size_t len = strlen(digits) / 2;
	char pair[3] = { 0 };

	for (size_t i = 0; i < len; i++) {
		memcpy(pair, digits + 2 * i, 2);
		out[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return len;
}

void
reference_rc4_keystream(const uint8_t *key, size_t key_len, size_t offset, uint8_t *out, size_t len)
{
	uint8_t s[256], swap, i = 0, j = 0;

	for (unsigned k = 0; k < 256; k++)
		s[k] = (uint8_t)k;
	for (unsigned k = 0; k < 256; k++) {
		j = (uint8_t)(j + s[k] + key[k % key_len]);
		swap = s[k];
		s[k] = s[j];
		s[j] = swap;
	}
	j = 0;
	for (size_t n = 0; n < offset + len; n++) {
		i++;
		j = (uint8_t)(j + s[i]);
		swap = s[i];
		s[i] = s[j];
		s[j] = swap;
		if (n >= offset)
			out[n - offset] = s[(uint8_t)(s[i] + s[j])];
	}
}

/* One multiplication in GF(2^128) with GCM's bit order, SP 800-38D section 6.3. */
static void
gcm_multiply(uint8_t *x, const uint8_t *h)
{
	uint8_t v[16], z[16] = { 0 }, carry, low;

	memcpy(v, h, sizeof(v));
	for (unsigned bit = 0; bit < 128; bit++) {
		if ((x[bit / 8] >> (7 - bit % 8) & 1) != 0)
			for (unsigned i = 0; i < 16; i++)
				z[i] ^= v[i];
		carry = 0;
		for (unsigned i = 0; i < 16; i++) {
			low = v[i] & 1;
			v[i] = (uint8_t)(v[i] >> 1 | carry << 7);
			carry = low;
		}
		if (carry != 0)
			v[0] ^= 0xe1;
	}
	memcpy(x, z, sizeof(z));
}

static void
gcm_absorb(uint8_t *y, const uint8_t *h, const uint8_t *bytes, size_t len)
{
	for (size_t at = 0; at < len; at += 16) {
		for (size_t i = at; i < len && i < at + 16; i++)
			y[i - at] ^= bytes[i];
		gcm_multiply(y, h);
	}
}

void
reference_gcm_tag(const uint8_t *key, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
    const uint8_t *ciphertext, size_t len, uint8_t *tag)
{
	uint8_t h[16] = { 0 }, start[16] = { 0 }, sizes[16] = { 0 };
	EVP_CIPHER_CTX *ecb = EVP_CIPHER_CTX_new();
	int done;

	memcpy(start, iv, 12);
	start[15] = 1;
	assert_int_equal(EVP_EncryptInit_ex(ecb, EVP_aes_128_ecb(), NULL, key, NULL), 1);
	assert_int_equal(EVP_EncryptUpdate(ecb, h, &done, h, 16), 1);
	assert_int_equal(EVP_EncryptUpdate(ecb, start, &done, start, 16), 1);
	EVP_CIPHER_CTX_free(ecb);
	sizes[7] = (uint8_t)(aad_len * 8);
	sizes[14] = (uint8_t)(len * 8 >> 8);
	sizes[15] = (uint8_t)(len * 8);
	memset(tag, 0, 16);
	gcm_absorb(tag, h, aad, aad_len);
	gcm_absorb(tag, h, ciphertext, len);
	gcm_absorb(tag, h, sizes, sizeof(sizes));
	for (unsigned i = 0; i < 16; i++)
		tag[i] ^= start[i];
}

#define ROTATE(x, n) ((x) << (n) | (x) >> (32 - (n)))

static void
quarter_round(uint32_t *x, unsigned a, unsigned b, unsigned c, unsigned d)
{
	x[a] += x[b];
	x[d] = ROTATE(x[d] ^ x[a], 16);
	x[c] += x[d];
	x[b] = ROTATE(x[b] ^ x[c], 12);
	x[a] += x[b];
	x[d] = ROTATE(x[d] ^ x[a], 8);
	x[c] += x[d];
	x[b] = ROTATE(x[b] ^ x[c], 7);
}

static uint32_t
little32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	    (uint32_t)bytes[3] << 24;
}

void
reference_chacha20(const uint8_t *key, uint64_t counter, const uint8_t *nonce, uint8_t *bytes,
    size_t len)
{
	uint32_t start[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 }, x[16];

	for (unsigned i = 0; i < 8; i++)
		start[4 + i] = little32(key + 4 * i);
	start[14] = little32(nonce);
	start[15] = little32(nonce + 4);
	for (size_t at = 0; at < len; at += 64, counter++) {
		start[12] = (uint32_t)counter;
		start[13] = (uint32_t)(counter >> 32);
		memcpy(x, start, sizeof(x));
		for (unsigned round = 0; round < 10; round++) {
			for (unsigned i = 0; i < 4; i++)
				quarter_round(x, i, 4 + i, 8 + i, 12 + i);
			for (unsigned i = 0; i < 4; i++)
				quarter_round(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4,
				    12 + (i + 3) % 4);
		}
		for (size_t i = at; i < len && i < at + 64; i++) {
			const size_t word = (i - at) / 4;

			bytes[i] ^= (uint8_t)((x[word] + start[word]) >> (8 * ((i - at) % 4)));
		}
	}
}

/* Poly1305 with big numbers: the sum of the blocks times powers of r, modulo 2^130 - 5. */
void
reference_poly1305(const uint8_t *key, const uint8_t *bytes, size_t len, uint8_t *tag)
{
	static const uint8_t clamp[16] = { 0xff, 0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f, 0xfc,
		0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f };
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *p = BN_new(), *sum = BN_new(), *r, *s, *block;
	uint8_t clamped[16], padded[17];

	for (unsigned i = 0; i < 16; i++)
		clamped[i] = key[i] & clamp[i];
	r = BN_lebin2bn(clamped, 16, NULL);
	s = BN_lebin2bn(key + 16, 16, NULL);
	BN_zero(sum);
	BN_zero(p);
	assert_int_equal(BN_set_bit(p, 130), 1);
	assert_int_equal(BN_sub_word(p, 5), 1);
	for (size_t at = 0; at < len; at += 16) {
		const size_t part = len - at < 16 ? len - at : 16;

		memcpy(padded, bytes + at, part);
		padded[part] = 1;
		block = BN_lebin2bn(padded, (int)part + 1, NULL);
		assert_int_equal(BN_add(sum, sum, block), 1);
		assert_int_equal(BN_mod_mul(sum, sum, r, p, ctx), 1);
		BN_free(block);
	}
	assert_int_equal(BN_add(sum, sum, s), 1);
	(void)BN_mask_bits(sum, 128);
	assert_int_equal(BN_bn2lebinpad(sum, tag, 16), 16);
	BN_free(p);
	BN_free(sum);
	BN_free(r);
	BN_free(s);
	BN_CTX_free(ctx);
}
