#ifndef XB_TARGET_IDENTITY_H
#define XB_TARGET_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/namelist.h"

/* What can be known of a private key file without using it. */
struct xb_identity {
	bool exists;    /* a readable regular file */
	bool is_key;    /* looks like a private key */
	bool encrypted; /* needs a passphrase */
	bool has_cert;  /* a certificate (FILE-cert.pub) lies beside it */
	char type[64];  /* "ssh-rsa", "ssh-ed25519", …; "" unknown (PEM without a public half) */
};

/* Looks at the file (at most 64 KiB of it; the secret part is not kept) and at FILE.pub. */
void xb_identity_inspect(const char *path, struct xb_identity *identity);

/* The files that ssh tries by default and that exist: ~/.ssh/id_rsa, id_ecdsa, id_ecdsa_sk,
 * id_ed25519, id_ed25519_sk, in ssh's order (ssh_config(5), IdentityFile). home NULL: from passwd. */
void xb_identity_defaults(const char *home, struct xb_namelist *files);

#endif
