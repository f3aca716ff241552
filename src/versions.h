#ifndef XB_VERSIONS_H
#define XB_VERSIONS_H

#include "model/namelist.h"

/* "xferbench 0.1.0", then every library that took part, as it runs: "libssh2 1.10.0", … */
void xb_versions(struct xb_namelist *names);

/* "UMAC yes", "legacy ciphers yes", …: what this build and this machine can do. */
void xb_features(struct xb_namelist *names);

#endif
