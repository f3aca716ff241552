#ifndef XB_CLIENT_OPENSSH_H
#define XB_CLIENT_OPENSSH_H

#include "client/client.h"

/* The installed ssh, scp and sftp, each as the user would start it. */
extern const struct xb_client xb_client_openssh;

#endif
