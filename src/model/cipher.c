#include "model/cipher.h"

#include <string.h>
#include <strings.h>

/* The sources that several rows share. */
#define FROM_SWEET32 "CVE-2016-2183 (Sweet32): 64-bit blocks collide after some 2^32 of them"
#define FROM_RC4 "RFC 8758: RC4 keystream is biased, SSH must not use it"
#define FROM_CBC \
	"CVE-2008-5161: plaintext recovery from CBC packets; off by default since OpenSSH 6.7 " \
	"(server) and 7.6 (client)"

const char *
xb_rating_name(enum xb_rating rating)
{
	static const char *const names[] = {
		[XB_RATING_SOUND] = "sound",
		[XB_RATING_WEAK] = "weak",
		[XB_RATING_BROKEN] = "broken",
	};

	return names[rating];
}

const struct xb_cipher xb_ciphers[] = {
	{
	    .name = "chacha20-poly1305@openssh.com",
	    .label = "chacha20-poly1305",
	    .aliases = (const char *const[]){ "chacha20", NULL },
	    .kind = XB_CIPHER_CHACHAPOLY,
	    .evp = "ChaCha20",
	    .key_bytes = 64,
	    .block_bytes = 8,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "OpenSSH PROTOCOL.chacha20poly1305; wants strict key exchange "
			     "(CVE-2023-48795, Terrapin)",
	},
	{
	    .name = "aes128-gcm@openssh.com",
	    .label = "aes128-gcm",
	    .aliases = (const char *const[]){ "AEAD_AES_128_GCM", NULL },
	    .kind = XB_CIPHER_GCM,
	    .evp = "AES-128-GCM",
	    .key_bytes = 16,
	    .block_bytes = 16,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 5647 and OpenSSH PROTOCOL section 1.6",
	},
	{
	    .name = "aes256-gcm@openssh.com",
	    .label = "aes256-gcm",
	    .aliases = (const char *const[]){ "AEAD_AES_256_GCM", NULL },
	    .kind = XB_CIPHER_GCM,
	    .evp = "AES-256-GCM",
	    .key_bytes = 32,
	    .block_bytes = 16,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 5647 and OpenSSH PROTOCOL section 1.6",
	},
	{
	    .name = "aes128-ctr",
	    .label = "aes128-ctr",
	    .kind = XB_CIPHER_CTR,
	    .evp = "AES-128-CTR",
	    .key_bytes = 16,
	    .block_bytes = 16,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 4344",
	},
	{
	    .name = "aes192-ctr",
	    .label = "aes192-ctr",
	    .kind = XB_CIPHER_CTR,
	    .evp = "AES-192-CTR",
	    .key_bytes = 24,
	    .block_bytes = 16,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 4344",
	},
	{
	    .name = "aes256-ctr",
	    .label = "aes256-ctr",
	    .kind = XB_CIPHER_CTR,
	    .evp = "AES-256-CTR",
	    .key_bytes = 32,
	    .block_bytes = 16,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 4344",
	},
	{
	    .name = "aes128-cbc",
	    .label = "aes128-cbc",
	    .kind = XB_CIPHER_CBC,
	    .evp = "AES-128-CBC",
	    .key_bytes = 16,
	    .block_bytes = 16,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_CBC,
	},
	{
	    .name = "aes192-cbc",
	    .label = "aes192-cbc",
	    .kind = XB_CIPHER_CBC,
	    .evp = "AES-192-CBC",
	    .key_bytes = 24,
	    .block_bytes = 16,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_CBC,
	},
	{
	    .name = "aes256-cbc",
	    .label = "aes256-cbc",
	    .aliases = (const char *const[]){ "rijndael-cbc@lysator.liu.se", NULL },
	    .kind = XB_CIPHER_CBC,
	    .evp = "AES-256-CBC",
	    .key_bytes = 32,
	    .block_bytes = 16,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_CBC,
	},
	{
	    .name = "3des-cbc",
	    .label = "3des",
	    .kind = XB_CIPHER_CBC,
	    .evp = "DES-EDE3-CBC",
	    .key_bytes = 24,
	    .block_bytes = 8,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_SWEET32 "; not offered by ssh since OpenSSH 7.4",
	},
	{
	    .name = "blowfish-cbc",
	    .label = "blowfish",
	    .aliases = (const char *const[]){ "bf", NULL },
	    .kind = XB_CIPHER_CBC,
	    .evp = "BF-CBC",
	    .legacy = true,
	    .key_bytes = 16,
	    .block_bytes = 8,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_SWEET32 "; removed in OpenSSH 7.6",
	},
	{
	    .name = "cast128-cbc",
	    .label = "cast128",
	    .aliases = (const char *const[]){ "cast5", NULL },
	    .kind = XB_CIPHER_CBC,
	    .evp = "CAST5-CBC",
	    .legacy = true,
	    .key_bytes = 16,
	    .block_bytes = 8,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_SWEET32 "; removed in OpenSSH 7.6",
	},
	{
	    .name = "arcfour256",
	    .label = "arcfour256",
	    .kind = XB_CIPHER_STREAM,
	    .evp = "RC4",
	    .legacy = true,
	    .key_bytes = 32,
	    .block_bytes = 8,
	    .discard_bytes = 1536,
	    .rating = XB_RATING_BROKEN,
	    .rating_source = FROM_RC4,
	},
	{
	    .name = "arcfour128",
	    .label = "arcfour128",
	    .kind = XB_CIPHER_STREAM,
	    .evp = "RC4",
	    .legacy = true,
	    .key_bytes = 16,
	    .block_bytes = 8,
	    .discard_bytes = 1536,
	    .rating = XB_RATING_BROKEN,
	    .rating_source = FROM_RC4,
	},
	{
	    .name = "arcfour",
	    .label = "arcfour",
	    .aliases = (const char *const[]){ "rc4", NULL },
	    .kind = XB_CIPHER_STREAM,
	    .evp = "RC4",
	    .legacy = true,
	    .key_bytes = 16,
	    .block_bytes = 8,
	    .rating = XB_RATING_BROKEN,
	    .rating_source = FROM_RC4,
	},
};

const size_t xb_cipher_count = sizeof(xb_ciphers) / sizeof(xb_ciphers[0]);

const struct xb_cipher *
xb_cipher_by_name(const char *name)
{
	for (size_t i = 0; i < xb_cipher_count; i++)
		if (strcmp(xb_ciphers[i].name, name) == 0)
			return &xb_ciphers[i];
	return NULL;
}

static bool
answers_to(const struct xb_cipher *cipher, const char *name)
{
	if (strcasecmp(cipher->name, name) == 0 || strcasecmp(cipher->label, name) == 0)
		return true;
	for (const char *const *alias = cipher->aliases; alias != NULL && *alias != NULL; alias++)
		if (strcasecmp(*alias, name) == 0)
			return true;
	return false;
}

const struct xb_cipher *
xb_cipher_find(const char *name)
{
	for (size_t i = 0; i < xb_cipher_count; i++)
		if (answers_to(&xb_ciphers[i], name))
			return &xb_ciphers[i];
	return NULL;
}

bool
xb_cipher_is_aead(const struct xb_cipher *cipher)
{
	return cipher->kind == XB_CIPHER_GCM || cipher->kind == XB_CIPHER_CHACHAPOLY;
}
