#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/primitive_ops.h"
#include "model/cipher.h"

#define GCM_IV_BYTES 12
#define GCM_COUNTER_BYTES 8
#define AEAD_TAG_BYTES 16
#define CHACHA_KEY_BYTES 32
#define CHACHA_IV_BYTES 16
#define POLY1305_KEY_BYTES 32

struct xb_crypter {
	const struct xb_cipher *cipher;
	const struct mode *mode;
	struct xb_primitive_keys keys;
	bool encrypt;
	uint64_t first_counter; /* GCM: the invocation counter of packet 0 */
	EVP_CIPHER_CTX *body;
	EVP_CIPHER_CTX *length; /* chacha20-poly1305: the key for the length field */
	EVP_MAC_CTX *poly1305;
};

/* What differs between the kinds of ciphers. */
struct mode {
	bool (*restart)(struct xb_crypter *crypter);
	enum xb_opened (*run)(struct xb_crypter *crypter, uint64_t seq, const uint8_t *in,
	    uint8_t *out, size_t len);
};

static uint64_t
get_u64(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	return value;
}

static void
put_u64(uint8_t *bytes, uint64_t value)
{
	for (size_t i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> (56 - 8 * i));
}

static bool
update(EVP_CIPHER_CTX *ctx, uint8_t *out, const uint8_t *in, size_t len)
{
	int done;

	return EVP_CipherUpdate(ctx, out, &done, in, (int)len) == 1;
}

/* CBC, CTR and stream ciphers: one state that runs through the session, one call a packet. */

static bool
stream_restart(struct xb_crypter *c)
{
	uint8_t scratch[64] = { 0 };

	if (EVP_CipherInit_ex(c->body, NULL, NULL, c->keys.cipher, c->keys.iv, c->encrypt) != 1 ||
	    EVP_CIPHER_CTX_set_padding(c->body, 0) != 1)
		return false;
	for (unsigned gone = 0; gone < c->cipher->discard_bytes; gone += sizeof(scratch))
		if (!update(c->body, scratch, scratch, sizeof(scratch)))
			return false;
	return true;
}

static enum xb_opened
stream_run(struct xb_crypter *c, uint64_t seq, const uint8_t *in, uint8_t *out, size_t len)
{
	(void)seq;
	return update(c->body, out + XB_LENGTH_BYTES, in + XB_LENGTH_BYTES, len) ? XB_OPENED
										 : XB_OPEN_FAILED;
}

/*
 * GCM, RFC 5647 section 7.1: 4 fixed bytes and an invocation counter of 8, the length field in the
 * clear as associated data. Encrypting lets libcrypto count, as SSH programs do. Decrypting sets
 * the counter, at the same cost, so that one packet can be decrypted again and again.
 */

static bool
gcm_restart(struct xb_crypter *c)
{
	c->first_counter = get_u64(c->keys.iv + GCM_IV_BYTES - GCM_COUNTER_BYTES);
	return EVP_CipherInit_ex(c->body, NULL, NULL, c->keys.cipher, NULL, c->encrypt) == 1 &&
	    EVP_CIPHER_CTX_ctrl(c->body, EVP_CTRL_GCM_SET_IV_FIXED, -1, c->keys.iv) == 1;
}

static enum xb_opened
gcm_encrypt(struct xb_crypter *c, const uint8_t *in, uint8_t *out, size_t len)
{
	uint8_t last;
	int done;

	if (EVP_CIPHER_CTX_ctrl(c->body, EVP_CTRL_GCM_IV_GEN, 1, &last) != 1 ||
	    !update(c->body, NULL, in, XB_LENGTH_BYTES) ||
	    !update(c->body, out + XB_LENGTH_BYTES, in + XB_LENGTH_BYTES, len) ||
	    EVP_CipherFinal_ex(c->body, &last, &done) != 1 ||
	    EVP_CIPHER_CTX_ctrl(c->body, EVP_CTRL_AEAD_GET_TAG, AEAD_TAG_BYTES,
		out + XB_LENGTH_BYTES + len) != 1)
		return XB_OPEN_FAILED;
	memcpy(out, in, XB_LENGTH_BYTES);
	return XB_OPENED;
}

static enum xb_opened
gcm_decrypt(struct xb_crypter *c, uint64_t seq, const uint8_t *in, uint8_t *out, size_t len)
{
	uint8_t counter[GCM_COUNTER_BYTES], tag[AEAD_TAG_BYTES], last;
	int done;

	put_u64(counter, c->first_counter + seq);
	memcpy(tag, in + XB_LENGTH_BYTES + len, sizeof(tag));
	if (EVP_CIPHER_CTX_ctrl(c->body, EVP_CTRL_GCM_SET_IV_INV, sizeof(counter), counter) != 1 ||
	    EVP_CIPHER_CTX_ctrl(c->body, EVP_CTRL_AEAD_SET_TAG, sizeof(tag), tag) != 1 ||
	    !update(c->body, NULL, in, XB_LENGTH_BYTES) ||
	    !update(c->body, out + XB_LENGTH_BYTES, in + XB_LENGTH_BYTES, len))
		return XB_OPEN_FAILED;
	memcpy(out, in, XB_LENGTH_BYTES);
	return EVP_CipherFinal_ex(c->body, &last, &done) == 1 ? XB_OPENED : XB_OPEN_FORGED;
}

static enum xb_opened
gcm_run(struct xb_crypter *c, uint64_t seq, const uint8_t *in, uint8_t *out, size_t len)
{
	return c->encrypt ? gcm_encrypt(c, in, out, len) : gcm_decrypt(c, seq, in, out, len);
}

/*
 * chacha20-poly1305@openssh.com, PROTOCOL.chacha20poly1305 of OpenSSH: the first half of the key
 * encrypts the body (and its block 0 is the Poly1305 key), the second half the length field. The
 * sequence number is the nonce of both. libcrypto's 16-byte IV is the block counter, little endian,
 * then the nonce.
 */

static bool
chachapoly_restart(struct xb_crypter *c)
{
	return EVP_CipherInit_ex(c->body, NULL, NULL, c->keys.cipher, NULL, 1) == 1 &&
	    EVP_CipherInit_ex(c->length, NULL, NULL, c->keys.cipher + CHACHA_KEY_BYTES, NULL, 1) ==
	    1;
}

/* The tag over encrypted length and body; leaves the body's cipher at block 1. */
static bool
chachapoly_start(struct xb_crypter *c, uint8_t *iv, uint8_t *poly_key)
{
	static const uint8_t zeros[POLY1305_KEY_BYTES];

	if (EVP_CipherInit_ex(c->body, NULL, NULL, NULL, iv, 1) != 1 ||
	    !update(c->body, poly_key, zeros, sizeof(zeros)) ||
	    EVP_CipherInit_ex(c->length, NULL, NULL, NULL, iv, 1) != 1)
		return false;
	iv[0] = 1;
	return EVP_CipherInit_ex(c->body, NULL, NULL, NULL, iv, 1) == 1;
}

static bool
chachapoly_tag(struct xb_crypter *c, const uint8_t *poly_key, const uint8_t *frame, size_t len,
    uint8_t *tag)
{
	size_t tag_len;

	return EVP_MAC_init(c->poly1305, poly_key, POLY1305_KEY_BYTES, NULL) == 1 &&
	    EVP_MAC_update(c->poly1305, frame, XB_LENGTH_BYTES + len) == 1 &&
	    EVP_MAC_final(c->poly1305, tag, &tag_len, AEAD_TAG_BYTES) == 1;
}

static enum xb_opened
chachapoly_run(struct xb_crypter *c, uint64_t seq, const uint8_t *in, uint8_t *out, size_t len)
{
	uint8_t iv[CHACHA_IV_BYTES] = { 0 }, poly_key[POLY1305_KEY_BYTES], tag[AEAD_TAG_BYTES];
	const size_t tagged = XB_LENGTH_BYTES + len;

	put_u64(iv + 8, seq);
	if (!chachapoly_start(c, iv, poly_key))
		return XB_OPEN_FAILED;
	if (!c->encrypt) {
		if (!chachapoly_tag(c, poly_key, in, len, tag))
			return XB_OPEN_FAILED;
		if (CRYPTO_memcmp(tag, in + tagged, sizeof(tag)) != 0)
			return XB_OPEN_FORGED;
	}
	if (!update(c->length, out, in, XB_LENGTH_BYTES) ||
	    !update(c->body, out + XB_LENGTH_BYTES, in + XB_LENGTH_BYTES, len))
		return XB_OPEN_FAILED;
	if (c->encrypt && !chachapoly_tag(c, poly_key, out, len, out + tagged))
		return XB_OPEN_FAILED;
	return XB_OPENED;
}

static const struct mode modes[] = {
	[XB_CIPHER_CBC] = { stream_restart, stream_run },
	[XB_CIPHER_CTR] = { stream_restart, stream_run },
	[XB_CIPHER_STREAM] = { stream_restart, stream_run },
	[XB_CIPHER_GCM] = { gcm_restart, gcm_run },
	[XB_CIPHER_CHACHAPOLY] = { chachapoly_restart, chachapoly_run },
};

static bool
fail_missing(const struct xb_cipher *cipher, struct xb_err *err)
{
	ERR_clear_error();
	if (cipher->legacy && OSSL_PROVIDER_available(NULL, "legacy") != 1)
		return xb_fail(err, XB_FAULT_TRIAL,
		    "libcrypto %s has no %s: its legacy provider is not loaded "
		    "(ossl-modules/legacy.so)",
		    OpenSSL_version(OPENSSL_VERSION_STRING), cipher->evp);
	return xb_fail(err, XB_FAULT_TRIAL, "libcrypto %s has no %s",
	    OpenSSL_version(OPENSSL_VERSION_STRING), cipher->evp);
}

static bool
set_cipher(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *evp, int key_bytes, bool encrypt)
{
	if (EVP_CipherInit_ex(ctx, evp, NULL, NULL, NULL, encrypt) != 1)
		return false;
	return EVP_CIPHER_CTX_get_key_length(ctx) == key_bytes ||
	    EVP_CIPHER_CTX_set_key_length(ctx, key_bytes) == 1;
}

/* The second ChaCha20 and the Poly1305. */
static bool
add_chachapoly(struct xb_crypter *c, const EVP_CIPHER *evp, struct xb_err *err)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "POLY1305", NULL);

	if (mac == NULL) {
		ERR_clear_error();
		return xb_fail(err, XB_FAULT_TRIAL, "libcrypto %s has no Poly1305",
		    OpenSSL_version(OPENSSL_VERSION_STRING));
	}
	c->poly1305 = EVP_MAC_CTX_new(mac);
	EVP_MAC_free(mac);
	return c->poly1305 != NULL && set_cipher(c->length, evp, CHACHA_KEY_BYTES, true);
}

struct xb_crypter *
xb_crypter_new(const struct xb_cipher *cipher, const struct xb_primitive_keys *keys, bool encrypt,
    struct xb_err *err)
{
	const bool chachapoly = cipher->kind == XB_CIPHER_CHACHAPOLY;
	EVP_CIPHER *evp = EVP_CIPHER_fetch(NULL, cipher->evp, NULL);
	struct xb_crypter *c;
	bool ok;

	if (evp == NULL) {
		fail_missing(cipher, err);
		return NULL;
	}
	c = xb_calloc(1, sizeof(*c));
	*c = (struct xb_crypter){
		.cipher = cipher,
		.mode = &modes[cipher->kind],
		.keys = *keys,
		.encrypt = encrypt,
		.body = EVP_CIPHER_CTX_new(),
		.length = EVP_CIPHER_CTX_new(),
	};
	ok = c->body != NULL && c->length != NULL;
	ok = ok &&
	    set_cipher(c->body, evp, chachapoly ? CHACHA_KEY_BYTES : (int)cipher->key_bytes,
		chachapoly || encrypt);
	if (ok && chachapoly)
		ok = add_chachapoly(c, evp, err);
	ok = ok && xb_crypter_restart(c);
	EVP_CIPHER_free(evp);
	if (!ok) {
		ERR_clear_error();
		xb_fail(err, XB_FAULT_TRIAL, "libcrypto %s refuses to set up %s for %s",
		    OpenSSL_version(OPENSSL_VERSION_STRING), cipher->evp, cipher->name);
		xb_crypter_free(c);
		return NULL;
	}
	return c;
}

bool
xb_crypter_restart(struct xb_crypter *c)
{
	return c->mode->restart(c);
}

enum xb_opened
xb_crypter_run(struct xb_crypter *c, uint64_t seq, const uint8_t *in, uint8_t *out, size_t len)
{
	return c->mode->run(c, seq, in, out, len);
}

void
xb_crypter_free(struct xb_crypter *c)
{
	if (c == NULL)
		return;
	EVP_CIPHER_CTX_free(c->body);
	EVP_CIPHER_CTX_free(c->length);
	EVP_MAC_CTX_free(c->poly1305);
	free(c);
}

/*
 * By configuration, not by OSSL_PROVIDER_load: libcrypto then owns the providers, frees them at
 * exit and loads none twice. An explicit provider switches the automatic default off, so default is
 * in the list, and first.
 */
bool
xb_primitive_load_legacy(void)
{
	static const char text[] = "openssl_conf = init\n"
				   "[init]\n"
				   "providers = list\n"
				   "[list]\n"
				   "default = on\n"
				   "legacy = on\n"
				   "[on]\n"
				   "activate = 1\n";
	CONF *conf = NCONF_new(NULL);
	BIO *bio = BIO_new_mem_buf(text, -1);
	long line;
	bool ok;

	/* The system's own configuration goes first, as everywhere else. */
	ok = OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL) == 1 && conf != NULL &&
	    bio != NULL && NCONF_load_bio(conf, bio, &line) == 1 &&
	    CONF_modules_load(conf, NULL, 0) == 1;
	BIO_free(bio);
	NCONF_free(conf);
	ERR_clear_error();
	return ok && OSSL_PROVIDER_available(NULL, "legacy") == 1;
}
