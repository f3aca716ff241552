#ifndef XB_CLIENT_LIBSSH_WATCH_H
#define XB_CLIENT_LIBSSH_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct xb_err;

/*
 * A bound on calls that block without one: libssh's sftp functions wait for an answer for ever.
 * When the time is up both directions of the socket are shut down, and the call ends with an
 * error. For a trial's own process: it takes the first real-time signal.
 */
struct xb_libssh_watch {
	timer_t timer;
	bool made;
	int64_t deadline_ns;
};

/* False with err set (XB_FAULT_SYSTEM) when there is no timer to be had. Free with _free. */
bool xb_libssh_watch_init(struct xb_libssh_watch *watch, int fd, struct xb_err *err);
void xb_libssh_watch_free(struct xb_libssh_watch *watch);

/* From now on the calls have at least stall_ns, and little more. Cheap enough for each call. */
void xb_libssh_watch_reset(struct xb_libssh_watch *watch, int64_t stall_ns);

/* True when the time was up: an error that has come is its consequence. */
bool xb_libssh_watch_expired(const struct xb_libssh_watch *watch);

#endif
