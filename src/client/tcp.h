#ifndef XB_CLIENT_TCP_H
#define XB_CLIENT_TCP_H

#include "client/client.h"

/*
 * Plain bytes over loopback to a process of our own: what the kernel's TCP and our own loops
 * take, a reference for all that encrypts. It needs no target and no server.
 */
extern const struct xb_client xb_client_tcp;

#endif
