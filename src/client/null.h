#ifndef XB_CLIENT_NULL_H
#define XB_CLIENT_NULL_H

#include "client/client.h"

/* The harness alone: the upload loop into a sink that accepts each buffer. */
extern const struct xb_client xb_client_null;

#endif
