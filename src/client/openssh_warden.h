#ifndef XB_CLIENT_OPENSSH_WARDEN_H
#define XB_CLIENT_OPENSSH_WARDEN_H

#include <stdbool.h>
#include <sys/types.h>

struct xb_err;

/*
 * A process that ends a process group when this process dies, however. The kernel does so for a
 * program that we start, but not for what that one starts: the ssh of a scp, or a proxy.
 */
struct xb_openssh_warden {
	pid_t pid; /* 0: none */
	int fd;
};

/* Before anything that it must not hold open is made. */
bool xb_openssh_warden_start(struct xb_openssh_warden *warden, struct xb_err *err);

/* Tells it the group. */
void xb_openssh_warden_watch(const struct xb_openssh_warden *warden, pid_t group);

/* Before the group's leader is waited for: until then its number is nobody else's. None is fine. */
void xb_openssh_warden_end(struct xb_openssh_warden *warden);

#endif
