#ifndef XB_MODEL_KEX_H
#define XB_MODEL_KEX_H

#include <stdbool.h>
#include <stddef.h>

#include "model/cipher.h"

/* A key exchange, or the algorithm of a host key's signature: the only place where one is described. */
struct xb_keying {
	const char *name; /* the SSH name, as in KEXINIT */
	enum xb_rating rating;
	const char *rating_source; /* the RFC, release note or CVE behind the rating */
};

/* Best known first, broken ones last. */
extern const struct xb_keying xb_kexes[];
extern const size_t xb_kex_count;
extern const struct xb_keying xb_hostkeys[];
extern const size_t xb_hostkey_count;

/* By SSH name, exact; NULL when unknown. */
const struct xb_keying *xb_kex_by_name(const char *name);
const struct xb_keying *xb_hostkey_by_name(const char *name);

/* True for names that stand among the key exchanges of a KEXINIT and only tell what a side can:
 * ext-info-s (RFC 8308), kex-strict-s-v00@openssh.com, kexguess2@matt.ucc.asn.au. */
bool xb_kex_is_marker(const char *name);

#endif
