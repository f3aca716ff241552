#ifndef XB_TARGET_OFFER_READER_H
#define XB_TARGET_OFFER_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct xb_err;
struct xb_namelist;
struct xb_offer;

/* How to reach a server; strings are borrowed. */
struct xb_route {
	const char *host;
	unsigned port;
	int family;                      /* AF_UNSPEC: any */
	const char *bind_address;        /* our end's; NULL: any */
	const struct xb_namelist *proxy; /* the command line of what connects instead; NULL: none */
};

/* The peer that answered. */
struct xb_peer {
	struct sockaddr_storage addr;
	socklen_t addr_len;           /* 0: behind a proxy */
	struct sockaddr_storage from; /* what our end is bound to */
	socklen_t from_len;           /* 0: nothing */
	char address[80];             /* numeric, with a zone */
	bool is_local;                /* loopback, or one of this machine's own addresses */
};

/*
 * Resolves host, connects to the first address that accepts (all are tried), and reads the server's
 * identification and KEXINIT; sends only our own identification line, so that the server sees a
 * client that left during key exchange, once. Everything within timeout_ns, in a worker process so
 * that a slow resolver or a signal cannot hang us. Errors are XB_FAULT_TARGET and name host, port,
 * address and the cause: does not resolve, refused, no route, timed out connecting, connected but said
 * nothing within N s, or what xb_kexinit_parse refuses.
 */
bool xb_offer_read(const char *host, unsigned port, int64_t timeout_ns, struct xb_peer *peer,
    struct xb_offer *offer, struct xb_err *err);

/* The same by a route. Behind a proxy the peer has no address, and the proxy's last line is part of an
 * error. */
bool xb_offer_read_by(const struct xb_route *route, int64_t timeout_ns, struct xb_peer *peer,
    struct xb_offer *offer, struct xb_err *err);

/*
 * Connects to a known peer: a non-blocking TCP socket with TCP_NODELAY, close-on-exec; -1 with err
 * set (XB_FAULT_TRIAL) after timeout_ns.
 */
int xb_peer_connect(const struct xb_peer *peer, int64_t timeout_ns, struct xb_err *err);

#endif
