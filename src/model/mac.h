#ifndef XB_MODEL_MAC_H
#define XB_MODEL_MAC_H

#include <stdbool.h>
#include <stddef.h>

#include "model/cipher.h"

enum xb_mac_kind { XB_MAC_HMAC, XB_MAC_UMAC };

/* One SSH MAC: the only place where a MAC is described. */
struct xb_mac {
	const char *name;           /* the SSH name, as in KEXINIT */
	const char *label;          /* the short name the table shows */
	const char *const *aliases; /* ends with NULL; NULL: none */
	enum xb_mac_kind kind;
	const char *evp; /* libcrypto's digest name; NULL for UMAC (nettle) */
	bool etm;        /* encrypt-then-MAC, PROTOCOL of OpenSSH */
	unsigned key_bytes;
	unsigned tag_bytes; /* on the wire, after truncation */
	enum xb_rating rating;
	const char *rating_source;
};

extern const struct xb_mac xb_macs[];
extern const size_t xb_mac_count;

const struct xb_mac *xb_mac_by_name(const char *name);
const struct xb_mac *xb_mac_find(const char *name);

#endif
