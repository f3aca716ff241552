#ifndef XB_CLIENT_CALL_LIMIT_H
#define XB_CLIENT_CALL_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct xb_err;

/*
 * A bound on calls of a library that may not come back: libssh's sftp functions wait for an answer
 * for ever, and libssh2's read of a file spins where the sftp server has ended within a packet.
 * When the time is up both directions of the socket are shut down, and the call ends with an
 * error. For a trial's own process: it takes the first real-time signal.
 */
struct xb_call_limit {
	timer_t timer;
	bool made;
	int64_t deadline_ns;
};

/* False with err set (XB_FAULT_SYSTEM) when there is no timer to be had. Free with _free. */
bool xb_call_limit_init(struct xb_call_limit *limit, int fd, struct xb_err *err);
void xb_call_limit_free(struct xb_call_limit *limit);

/* From now on the calls have at least stall_ns, and little more. Cheap enough for each call. */
void xb_call_limit_reset(struct xb_call_limit *limit, int64_t stall_ns);

/* True when the time was up: an error that has come is its consequence. */
bool xb_call_limit_expired(const struct xb_call_limit *limit);

#endif
