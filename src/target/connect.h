#ifndef XB_TARGET_CONNECT_H
#define XB_TARGET_CONNECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * Connects a TCP socket, non-blocking, with TCP_NODELAY, close-on-exec. Returns it, or -1 with
 * errno: ETIMEDOUT at the deadline (as in xb_clock_poll_ms), EINTR when a signal asks us to end.
 */
int xb_connect(const struct sockaddr *addr, socklen_t addr_len, int64_t deadline_ns);

/* The same, from an address of this machine; from_len 0: any. */
int xb_connect_from(const struct sockaddr *from, socklen_t from_len, const struct sockaddr *addr,
    socklen_t addr_len, int64_t deadline_ns);

/* True when the connected socket's peer is loopback or one of this machine's own addresses. */
bool xb_connect_is_local(int fd, const struct sockaddr *peer);

#endif
