#ifndef XB_MODEL_OFFER_H
#define XB_MODEL_OFFER_H

#include "model/namelist.h"

/* What a server said before any login: its identification line and the lists of its KEXINIT,
 * RFC 4253 sections 4.2 and 7.1, in its order. All names are printable ASCII. */
struct xb_offer {
	char *banner; /* "SSH-2.0-OpenSSH_9.2p1 Debian-2", printable */
	struct xb_namelist kex;
	struct xb_namelist hostkeys;
	struct xb_namelist ciphers_up; /* client to server */
	struct xb_namelist ciphers_down;
	struct xb_namelist macs_up;
	struct xb_namelist macs_down;
	struct xb_namelist compression_up;
	struct xb_namelist compression_down;
};

/* Releases what the offer owns, not the struct; an all-zero offer is valid. */
void xb_offer_free(struct xb_offer *offer);

#endif
