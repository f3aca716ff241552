#include "target/connect.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"
#include "target/offer_reader.h"

static bool
same_address(const struct sockaddr *a, const struct sockaddr *b)
{
	const void *x = a, *y = b;
	const struct sockaddr_in *a4 = x, *b4 = y;
	const struct sockaddr_in6 *a6 = x, *b6 = y;

	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->sa_family == AF_INET6 && IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}

static bool
is_loopback(const struct sockaddr *addr)
{
	const void *any = addr;
	const struct sockaddr_in *v4 = any;
	const struct sockaddr_in6 *v6 = any;

	if (addr->sa_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return addr->sa_family == AF_INET6 &&
	    (IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ||
		(IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) && v6->sin6_addr.s6_addr[12] == 127));
}

/* Connecting to one of our own addresses gives a socket with the same one at both ends, unless a
 * route says otherwise: so the interfaces are asked as well. */
bool
xb_connect_is_local(int fd, const struct sockaddr *peer)
{
	struct sockaddr_storage own = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(own);
	const void *any = &own;
	struct ifaddrs *all = NULL;
	bool found = false;

	if (is_loopback(peer) ||
	    (getsockname(fd, (void *)&own, &len) == 0 && same_address(any, peer)))
		return true;
	if (getifaddrs(&all) != 0)
		return false;
	for (const struct ifaddrs *at = all; at != NULL && !found; at = at->ifa_next)
		found = at->ifa_addr != NULL && same_address(at->ifa_addr, peer);
	freeifaddrs(all);
	return found;
}

int
xb_connect(const struct sockaddr *addr, socklen_t addr_len, int64_t deadline_ns)
{
	return xb_connect_from(NULL, 0, addr, addr_len, deadline_ns);
}

int
xb_connect_from(const struct sockaddr *from, socklen_t from_len, const struct sockaddr *addr,
    socklen_t addr_len, int64_t deadline_ns)
{
	const int one = 1;
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int error;

	if (fd < 0)
		return -1;
	/* Only latency depends on it: a socket without it is still of use. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if ((from_len == 0 || bind(fd, from, from_len) == 0) && connect(fd, addr, addr_len) == 0)
		return fd;
	error = errno;
	if (error == EINPROGRESS) {
		error = 0;
		while (error == 0 && xb_signals_poll(&pfd, 1, deadline_ns) <= 0) {
			if (xb_signals_pending() != 0)
				error = EINTR;
			else if (xb_clock_ns() >= deadline_ns)
				error = ETIMEDOUT;
		}
		if (error == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
			error = errno;
	}
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int
xb_peer_connect(const struct xb_peer *peer, int64_t timeout_ns, struct xb_err *err)
{
	const int64_t now = xb_clock_ns();
	const int64_t deadline = timeout_ns < INT64_MAX - now ? now + timeout_ns : INT64_MAX;
	const void *addr = &peer->addr;
	const struct sockaddr_in *v4 = addr;
	const struct sockaddr_in6 *v6 = addr;
	unsigned port = ntohs(peer->addr.ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port);
	const void *from = &peer->from;
	int fd = xb_connect_from(from, peer->from_len, addr, peer->addr_len, deadline);

	if (fd >= 0)
		return fd;
	if (errno == EINTR)
		xb_fail(err, XB_FAULT_SIGNAL, "a signal ended the connecting to %s", peer->address);
	else
		xb_fail_errno(err, XB_FAULT_TRIAL, "cannot connect to %s port %u", peer->address,
		    port);
	return -1;
}
