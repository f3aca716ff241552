#include "model/mac.h"

#include <string.h>
#include <strings.h>

/* The sources that several rows share. */
#define FROM_SHA1 "no forgery known, but NIST retires SHA-1 by the end of 2030"
#define FROM_MD5 "RFC 6151; off by default since OpenSSH 7.2"
#define FROM_DRAFT "in a draft of RFC 6668 only; removed in OpenSSH 6.1"

const struct xb_mac xb_macs[] = {
	{
	    .name = "hmac-sha2-256",
	    .label = "hmac-sha2-256",
	    .aliases = (const char *const[]){ "hmac-sha256", NULL },
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA256",
	    .key_bytes = 32,
	    .tag_bytes = 32,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 6668",
	},
	{
	    .name = "hmac-sha2-256-etm@openssh.com",
	    .label = "hmac-sha2-256-etm",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA256",
	    .etm = true,
	    .key_bytes = 32,
	    .tag_bytes = 32,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 6668",
	},
	{
	    .name = "hmac-sha2-512",
	    .label = "hmac-sha2-512",
	    .aliases = (const char *const[]){ "hmac-sha512", NULL },
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA512",
	    .key_bytes = 64,
	    .tag_bytes = 64,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 6668",
	},
	{
	    .name = "hmac-sha2-512-etm@openssh.com",
	    .label = "hmac-sha2-512-etm",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA512",
	    .etm = true,
	    .key_bytes = 64,
	    .tag_bytes = 64,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 6668",
	},
	{
	    .name = "umac-64@openssh.com",
	    .label = "umac-64",
	    .kind = XB_MAC_UMAC,
	    .key_bytes = 16,
	    .tag_bytes = 8,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 4418; a tag of 64 bits",
	},
	{
	    .name = "umac-64-etm@openssh.com",
	    .label = "umac-64-etm",
	    .kind = XB_MAC_UMAC,
	    .etm = true,
	    .key_bytes = 16,
	    .tag_bytes = 8,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 4418; a tag of 64 bits",
	},
	{
	    .name = "umac-128@openssh.com",
	    .label = "umac-128",
	    .kind = XB_MAC_UMAC,
	    .key_bytes = 16,
	    .tag_bytes = 16,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 4418",
	},
	{
	    .name = "umac-128-etm@openssh.com",
	    .label = "umac-128-etm",
	    .kind = XB_MAC_UMAC,
	    .etm = true,
	    .key_bytes = 16,
	    .tag_bytes = 16,
	    .rating = XB_RATING_SOUND,
	    .rating_source = "RFC 4418",
	},
	{
	    .name = "hmac-sha1",
	    .label = "hmac-sha1",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA1",
	    .key_bytes = 20,
	    .tag_bytes = 20,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_SHA1,
	},
	{
	    .name = "hmac-sha1-etm@openssh.com",
	    .label = "hmac-sha1-etm",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA1",
	    .etm = true,
	    .key_bytes = 20,
	    .tag_bytes = 20,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_SHA1,
	},
	{
	    .name = "hmac-sha1-96",
	    .label = "hmac-sha1-96",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA1",
	    .key_bytes = 20,
	    .tag_bytes = 12,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_SHA1 "; truncated MACs: off by default since OpenSSH 7.2",
	},
	{
	    .name = "hmac-sha1-96-etm@openssh.com",
	    .label = "hmac-sha1-96-etm",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA1",
	    .etm = true,
	    .key_bytes = 20,
	    .tag_bytes = 12,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_SHA1 "; truncated MACs: off by default since OpenSSH 7.2",
	},
	{
	    .name = "hmac-sha2-256-96",
	    .label = "hmac-sha2-256-96",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA256",
	    .key_bytes = 32,
	    .tag_bytes = 12,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_DRAFT,
	},
	{
	    .name = "hmac-sha2-256-96-etm@openssh.com",
	    .label = "hmac-sha2-256-96-etm",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA256",
	    .etm = true,
	    .key_bytes = 32,
	    .tag_bytes = 12,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_DRAFT,
	},
	{
	    .name = "hmac-sha2-512-96",
	    .label = "hmac-sha2-512-96",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA512",
	    .key_bytes = 64,
	    .tag_bytes = 12,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_DRAFT,
	},
	{
	    .name = "hmac-sha2-512-96-etm@openssh.com",
	    .label = "hmac-sha2-512-96-etm",
	    .kind = XB_MAC_HMAC,
	    .evp = "SHA512",
	    .etm = true,
	    .key_bytes = 64,
	    .tag_bytes = 12,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_DRAFT,
	},
	{
	    .name = "hmac-ripemd160",
	    .label = "hmac-ripemd160",
	    .aliases = (const char *const[]){ "hmac-ripemd160@openssh.com", NULL },
	    .kind = XB_MAC_HMAC,
	    .evp = "RIPEMD160",
	    .key_bytes = 20,
	    .tag_bytes = 20,
	    .rating = XB_RATING_WEAK,
	    .rating_source = "removed in OpenSSH 7.6",
	},
	{
	    .name = "hmac-ripemd160-etm@openssh.com",
	    .label = "hmac-ripemd160-etm",
	    .kind = XB_MAC_HMAC,
	    .evp = "RIPEMD160",
	    .etm = true,
	    .key_bytes = 20,
	    .tag_bytes = 20,
	    .rating = XB_RATING_WEAK,
	    .rating_source = "removed in OpenSSH 7.6",
	},
	{
	    .name = "hmac-md5",
	    .label = "hmac-md5",
	    .kind = XB_MAC_HMAC,
	    .evp = "MD5",
	    .key_bytes = 16,
	    .tag_bytes = 16,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_MD5,
	},
	{
	    .name = "hmac-md5-etm@openssh.com",
	    .label = "hmac-md5-etm",
	    .kind = XB_MAC_HMAC,
	    .evp = "MD5",
	    .etm = true,
	    .key_bytes = 16,
	    .tag_bytes = 16,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_MD5,
	},
	{
	    .name = "hmac-md5-96",
	    .label = "hmac-md5-96",
	    .kind = XB_MAC_HMAC,
	    .evp = "MD5",
	    .key_bytes = 16,
	    .tag_bytes = 12,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_MD5,
	},
	{
	    .name = "hmac-md5-96-etm@openssh.com",
	    .label = "hmac-md5-96-etm",
	    .kind = XB_MAC_HMAC,
	    .evp = "MD5",
	    .etm = true,
	    .key_bytes = 16,
	    .tag_bytes = 12,
	    .rating = XB_RATING_WEAK,
	    .rating_source = FROM_MD5,
	},
};

const size_t xb_mac_count = sizeof(xb_macs) / sizeof(xb_macs[0]);

const struct xb_mac *
xb_mac_by_name(const char *name)
{
	for (size_t i = 0; i < xb_mac_count; i++)
		if (strcmp(xb_macs[i].name, name) == 0)
			return &xb_macs[i];
	return NULL;
}

static bool
answers_to(const struct xb_mac *mac, const char *name)
{
	if (strcasecmp(mac->name, name) == 0 || strcasecmp(mac->label, name) == 0)
		return true;
	for (const char *const *alias = mac->aliases; alias != NULL && *alias != NULL; alias++)
		if (strcasecmp(*alias, name) == 0)
			return true;
	return false;
}

const struct xb_mac *
xb_mac_find(const char *name)
{
	for (size_t i = 0; i < xb_mac_count; i++)
		if (answers_to(&xb_macs[i], name))
			return &xb_macs[i];
	return NULL;
}
