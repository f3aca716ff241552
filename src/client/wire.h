#ifndef XB_CLIENT_WIRE_H
#define XB_CLIENT_WIRE_H

#include <libssh2.h>
#include <stdint.h>

/* Bytes of one session on the wire, as the library writes and reads them: encrypted, headers of TCP
 * and below left out. What has come but lies in the kernel is not counted; what was sent is, wherever
 * it is. */
struct xb_wire {
	uint64_t sent;
	uint64_t received;
};

/* Counts from now on, for a session that was made with wire as its abstract pointer. */
void xb_wire_count(LIBSSH2_SESSION *session);

#endif
