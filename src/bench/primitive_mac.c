#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#ifdef HAVE_NETTLE
#include <nettle/umac.h>
#endif

#include "base/err.h"
#include "base/mem.h"
#include "bench/primitive_ops.h"
#include "model/mac.h"

struct xb_tagger {
	const struct xb_mac *mac;
	bool (*run)(struct xb_tagger *tagger, uint64_t seq, const uint8_t *bytes, size_t len,
	    uint8_t *tag);
	EVP_MAC_CTX *hmac;
#ifdef HAVE_NETTLE
	struct umac64_ctx umac64;
	struct umac128_ctx umac128;
#endif
};

/* Without a key EVP_MAC_init goes back to the keyed start: two hash blocks are saved a packet. */
static bool
hmac_run(struct xb_tagger *t, uint64_t seq, const uint8_t *bytes, size_t len, uint8_t *tag)
{
	const uint8_t number[4] = { (uint8_t)(seq >> 24), (uint8_t)(seq >> 16), (uint8_t)(seq >> 8),
		(uint8_t)seq };
	uint8_t whole[XB_TAG_MAX];
	size_t whole_len;

	if (EVP_MAC_init(t->hmac, NULL, 0, NULL) != 1 ||
	    EVP_MAC_update(t->hmac, number, sizeof(number)) != 1 ||
	    EVP_MAC_update(t->hmac, bytes, len) != 1 ||
	    EVP_MAC_final(t->hmac, whole, &whole_len, sizeof(whole)) != 1)
		return false;
	memcpy(tag, whole, t->mac->tag_bytes);
	return true;
}

static bool
hmac_start(struct xb_tagger *t, const struct xb_primitive_keys *keys, struct xb_err *err)
{
	char *digest = xb_strdup(t->mac->evp);
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_MD *md = EVP_MD_fetch(NULL, t->mac->evp, NULL);
	EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	bool ok = md != NULL && hmac != NULL;

	if (ok) {
		t->hmac = EVP_MAC_CTX_new(hmac);
		t->run = hmac_run;
		ok = EVP_MAC_init(t->hmac, keys->mac, t->mac->key_bytes, params) == 1;
	}
	if (!ok) {
		ERR_clear_error();
		xb_fail(err, XB_FAULT_TRIAL, "libcrypto %s has no HMAC with %s",
		    OpenSSL_version(OPENSSL_VERSION_STRING), t->mac->evp);
	}
	EVP_MAC_free(hmac);
	EVP_MD_free(md);
	free(digest);
	return ok;
}

#ifdef HAVE_NETTLE

static void
put_nonce(uint8_t *nonce, uint64_t seq)
{
	for (size_t i = 0; i < 8; i++)
		nonce[i] = (uint8_t)(seq >> (56 - 8 * i));
}

static bool
umac64_run(struct xb_tagger *t, uint64_t seq, const uint8_t *bytes, size_t len, uint8_t *tag)
{
	uint8_t nonce[8];

	put_nonce(nonce, seq);
	umac64_set_nonce(&t->umac64, sizeof(nonce), nonce);
	umac64_update(&t->umac64, len, bytes);
	umac64_digest(&t->umac64, t->mac->tag_bytes, tag);
	return true;
}

static bool
umac128_run(struct xb_tagger *t, uint64_t seq, const uint8_t *bytes, size_t len, uint8_t *tag)
{
	uint8_t nonce[8];

	put_nonce(nonce, seq);
	umac128_set_nonce(&t->umac128, sizeof(nonce), nonce);
	umac128_update(&t->umac128, len, bytes);
	umac128_digest(&t->umac128, t->mac->tag_bytes, tag);
	return true;
}

static bool
umac_start(struct xb_tagger *t, const struct xb_primitive_keys *keys, struct xb_err *err)
{
	(void)err;
	if (t->mac->tag_bytes == UMAC64_DIGEST_SIZE) {
		umac64_set_key(&t->umac64, keys->mac);
		t->run = umac64_run;
	} else {
		umac128_set_key(&t->umac128, keys->mac);
		t->run = umac128_run;
	}
	return true;
}

#else

static bool
umac_start(struct xb_tagger *t, const struct xb_primitive_keys *keys, struct xb_err *err)
{
	(void)t;
	(void)keys;
	return xb_fail(err, XB_FAULT_TRIAL,
	    "this xferbench was built without nettle, which has UMAC");
}

#endif

struct xb_tagger *
xb_tagger_new(const struct xb_mac *mac, const struct xb_primitive_keys *keys, struct xb_err *err)
{
	struct xb_tagger *t = xb_calloc(1, sizeof(*t));

	t->mac = mac;
	if (mac->kind == XB_MAC_UMAC ? umac_start(t, keys, err) : hmac_start(t, keys, err))
		return t;
	xb_tagger_free(t);
	return NULL;
}

bool
xb_tagger_run(struct xb_tagger *t, uint64_t seq, const uint8_t *bytes, size_t len, uint8_t *tag)
{
	return t->run(t, seq, bytes, len, tag);
}

void
xb_tagger_free(struct xb_tagger *t)
{
	if (t == NULL)
		return;
	EVP_MAC_CTX_free(t->hmac);
	free(t);
}
