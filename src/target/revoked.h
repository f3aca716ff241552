#ifndef XB_TARGET_REVOKED_H
#define XB_TARGET_REVOKED_H

#include <stdbool.h>

struct xb_err;
struct xb_hostkey;

/*
 * Looks a host key up in a file of RevokedHostKeys: a list of public keys, a line each, or a KRL, which
 * ssh-keygen reads. False with err set (TARGET) when the key is in it, or when the file cannot be
 * read: as with ssh, no key can be trusted then.
 */
bool xb_revoked_check(const char *file, const struct xb_hostkey *key, struct xb_err *err);

#endif
