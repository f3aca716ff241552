#ifndef XB_CLIENT_LIBSSH_H
#define XB_CLIENT_LIBSSH_H

#include "client/client.h"

/*
 * What a well-written program on libssh reaches: large writes, TCP_NODELAY, the default window,
 * reads in flight where sftp has them; no tricks around the library. In a build without libssh
 * the row is there all the same, and its algorithms say why it is absent.
 */
extern const struct xb_client xb_client_libssh;

#endif
