#ifndef XB_MODEL_CIPHER_H
#define XB_MODEL_CIPHER_H

#include <stdbool.h>
#include <stddef.h>

/* How sound an algorithm is today. */
enum xb_rating { XB_RATING_SOUND, XB_RATING_WEAK, XB_RATING_BROKEN };

/* "sound", "weak", "broken". */
const char *xb_rating_name(enum xb_rating rating);

/* How a cipher turns an SSH packet into ciphertext. */
enum xb_cipher_kind {
	XB_CIPHER_CBC,        /* chained over packets, RFC 4253 section 6.3 */
	XB_CIPHER_CTR,        /* one counter over the session, RFC 4344 */
	XB_CIPHER_STREAM,     /* arcfour, RFC 4253 and RFC 4345 */
	XB_CIPHER_GCM,        /* per packet IV and tag, RFC 5647 and PROTOCOL of OpenSSH */
	XB_CIPHER_CHACHAPOLY, /* two ChaCha20 keys and Poly1305, PROTOCOL.chacha20poly1305 of OpenSSH */
};

/* One SSH cipher: the only place where a cipher is described. */
struct xb_cipher {
	const char *name;           /* the SSH name, as in KEXINIT */
	const char *label;          /* the short name that people use and the table shows */
	const char *const *aliases; /* other accepted names, ends with NULL; NULL: none */
	enum xb_cipher_kind kind;
	const char *evp;        /* libcrypto's name for EVP_CIPHER_fetch */
	bool legacy;            /* needs libcrypto's legacy provider */
	unsigned key_bytes;     /* as SSH uses it */
	unsigned block_bytes;   /* to which SSH pads packets, at least 8 */
	unsigned discard_bytes; /* keystream thrown away first, RFC 4345 */
	enum xb_rating rating;
	const char *rating_source; /* the RFC, release note or CVE behind the rating */
};

/* All ciphers, best known first, broken ones last. */
extern const struct xb_cipher xb_ciphers[];
extern const size_t xb_cipher_count;

/* By SSH name only, exact; NULL when unknown. */
const struct xb_cipher *xb_cipher_by_name(const char *name);

/* By SSH name, label or alias, ignoring case; NULL when unknown. */
const struct xb_cipher *xb_cipher_find(const char *name);

/* True for ciphers that authenticate by themselves and take no MAC (GCM, chacha20-poly1305). */
bool xb_cipher_is_aead(const struct xb_cipher *cipher);

#endif
