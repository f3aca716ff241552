#ifndef XB_CLIENT_LIBSSH2_H
#define XB_CLIENT_LIBSSH2_H

#include "client/client.h"

/* What a well-written program on plain libssh2 reaches: non-blocking, large writes, TCP_NODELAY, the
 * default window; no tricks around the library. */
extern const struct xb_client xb_client_libssh2;

#endif
