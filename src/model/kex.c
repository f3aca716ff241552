#include "model/kex.h"

#include <string.h>

/* The sources that several rows share. */
#define FROM_HYBRID "post-quantum and classical in one: as strong as the stronger of both"
#define FROM_SHA1 "RFC 9142: SHA-1, which it advises against"
#define FROM_1024 "RFC 9142; CVE-2015-4000 (Logjam): 1024 bits are within reach"
#define FROM_RSA_SHA1 "RFC 8332: SHA-1 collides; off by default since OpenSSH 8.8"
#define FROM_DSS "1024 bits and SHA-1; off by default since OpenSSH 7.0, removed in 10.0"
#define FROM_RSA1024 "RFC 9142: must not be used"

const struct xb_keying xb_kexes[] = {
	{
	    .name = "mlkem768x25519-sha256",
	    .rating = XB_RATING_SOUND,
	    .rating_source = FROM_HYBRID,
	},
	{
	    .name = "mlkem768nistp256-sha256",
	    .rating = XB_RATING_SOUND,
	    .rating_source = FROM_HYBRID,
	},
	{
	    .name = "mlkem1024nistp384-sha384",
	    .rating = XB_RATING_SOUND,
	    .rating_source = FROM_HYBRID,
	},
	{
	    .name = "sntrup761x25519-sha512",
	    .rating = XB_RATING_SOUND,
	    .rating_source = FROM_HYBRID,
	},
	{
	    .name = "sntrup761x25519-sha512@openssh.com",
	    .rating = XB_RATING_SOUND,
	    .rating_source = FROM_HYBRID,
	},
	{
	    .name = "curve25519-sha256",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8731",
	},
	{
	    .name = "curve25519-sha256@libssh.org",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8731, under its first name",
	},
	{
	    .name = "curve448-sha512",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8731",
	},
	{
	    .name = "ecdh-sha2-nistp256",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 5656",
	},
	{
	    .name = "ecdh-sha2-nistp384",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 5656",
	},
	{
	    .name = "ecdh-sha2-nistp521",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 5656",
	},
	{
	    .name = "diffie-hellman-group-exchange-sha256",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 4419; as good as the group that the server picks",
	},
	{
	    .name = "diffie-hellman-group14-sha256",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8268",
	},
	{
	    .name = "diffie-hellman-group15-sha512",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8268",
	},
	{
	    .name = "diffie-hellman-group16-sha512",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8268",
	},
	{
	    .name = "diffie-hellman-group17-sha512",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8268",
	},
	{
	    .name = "diffie-hellman-group18-sha512",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8268",
	},
	{
	    .name = "diffie-hellman-group14-sha1",
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_SHA1,
	},
	{
	    .name = "diffie-hellman-group-exchange-sha1",
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_SHA1,
	},
	{
	    .name = "diffie-hellman-group1-sha1",
	    .rating = XB_RATING_BROKEN,
	    .rating_source = FROM_1024,
	},
	{
	    .name = "rsa1024-sha1",
	    .rating = XB_RATING_BROKEN,
	    .rating_source = FROM_RSA1024,
	},
};
const size_t xb_kex_count = sizeof(xb_kexes) / sizeof(xb_kexes[0]);

const struct xb_keying xb_hostkeys[] = {
	{
	    .name = "ssh-ed25519",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8709",
	},
	{
	    .name = "ssh-ed448",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8709",
	},
	{
	    .name = "ecdsa-sha2-nistp256",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 5656",
	},
	{
	    .name = "ecdsa-sha2-nistp384",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 5656",
	},
	{
	    .name = "ecdsa-sha2-nistp521",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 5656",
	},
	{
	    .name = "rsa-sha2-256",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8332",
	},
	{
	    .name = "rsa-sha2-512",
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 8332",
	},
	{
	    .name = "ssh-rsa",
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_RSA_SHA1,
	},
	{
	    .name = "ssh-dss",
	    .rating = XB_RATING_BROKEN,
	    .rating_source = FROM_DSS,
	},
};
const size_t xb_hostkey_count = sizeof(xb_hostkeys) / sizeof(xb_hostkeys[0]);

static const struct xb_keying *
by_name(const struct xb_keying *table, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

const struct xb_keying *
xb_kex_by_name(const char *name)
{
	return by_name(xb_kexes, xb_kex_count, name);
}

const struct xb_keying *
xb_hostkey_by_name(const char *name)
{
	return by_name(xb_hostkeys, xb_hostkey_count, name);
}

bool
xb_kex_is_marker(const char *name)
{
	static const char *const starts[] = { "ext-info-", "kex-strict-", "kexguess2@" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}
