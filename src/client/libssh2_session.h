#ifndef XB_CLIENT_LIBSSH2_SESSION_H
#define XB_CLIENT_LIBSSH2_SESSION_H

#include <libssh2.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"
#include "client/stream.h"
#include "client/wire.h"
#include "target/proxy.h"

struct xb_err;
struct xb_target;

/* One libssh2 session on one non-blocking socket. */
struct xb_libssh2 {
	const struct xb_target *target;
	struct xb_live *live;
	LIBSSH2_SESSION *session;
	LIBSSH2_CHANNEL *channel; /* that the payload takes, once it is open */
	int fd;
	struct xb_proxy proxy;        /* whose end fd is, where there is one */
	bool download;                /* the payload's direction */
	bool broken;                  /* a write failed, rather than stalled */
	int64_t progress_ns;          /* when payload last moved */
	uint64_t bytes;               /* that the library had taken or given, then */
	int queued;                   /* in the socket's send queue, then */
	unsigned long window;         /* granted by the far side, then */
	uint64_t taken;               /* that the channel gave since ready, counted or not */
	struct xb_wire wire;          /* what the socket has carried */
	struct xb_wire wire_at_ready; /* likewise, at ready */
	/*
	 * Asked while nothing moves, a few times a second: false with err set (XB_FAULT_TRIAL) when
	 * the far side has ended and nothing ever will. The library's writes do not see that. NULL:
	 * not asked.
	 */
	bool (*is_alive)(void *ctx, struct xb_err *err);
	void *is_alive_ctx;
};

/*
 * Waits until the socket is ready for what the session last wanted. AGAIN once the monotonic
 * deadline has passed; FAILED (err set) when the socket fails.
 */
enum xb_io xb_libssh2_wait(const struct xb_libssh2 *s, int64_t deadline_ns, struct xb_err *err);

/*
 * Likewise, AGAIN once no payload has moved for stall_ns, whatever else the server says meanwhile:
 * up it moves when the library takes some, the send queue or the far side's window change; down
 * when live->bytes grows.
 */
enum xb_io xb_libssh2_wait_moving(struct xb_libssh2 *s, int64_t stall_ns, struct xb_err *err);

/* Tells the parent where the trial stands; a phase begins with its whole patience. */
void xb_libssh2_enter(struct xb_libssh2 *s, enum xb_phase phase);

/*
 * Connects, exchanges keys, checks the host key and logs in, each timed apart in outcome, for
 * exactly the transfer's suite: a session that negotiated something else fails. s has session and
 * target.
 */
bool xb_libssh2_open(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);

/* The far side is ready, the stream begins. False with err set when another stream has failed. */
bool xb_libssh2_ready(struct xb_libssh2 *s, const struct xb_transfer *transfer, struct xb_err *err);

/*
 * The last byte that counts is confirmed or here; outcome has bytes, and gets the bytes on the
 * wire.
 */
void xb_libssh2_end(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome);

/*
 * What to do with a libssh2 result while step is under way: waits at EAGAIN and asks for a retry
 * (true, *again set); true without again when rc is no error; false with err set (XB_FAULT_TRIAL),
 * the library's own message made printable, or the deadline.
 */
bool xb_libssh2_step(const struct xb_libssh2 *s, int rc, const char *step, int64_t deadline_ns,
    bool *again, struct xb_err *err);

/*
 * Tells more of a stream that failed with err: how far it had come where the connection broke, and
 * what the far side said, "" for nothing.
 */
void xb_libssh2_explain(const struct xb_libssh2 *s, uint64_t bytes, const char *said,
    struct xb_err *err);

/* Records the library's last error as step's failure; always false. */
bool xb_libssh2_fail(const struct xb_libssh2 *s, const char *step, struct xb_err *err);

/*
 * Logs in with what the target has: ssh-agent and key files; keys that this build cannot use are
 * kept for last or left, and named in the refusal (XB_FAULT_TARGET). hint is the key that an
 * earlier login came in with, tried first, or NULL; the one that works goes to key.
 */
bool xb_libssh2_login(struct xb_libssh2 *s, const char *hint, char *key, size_t key_size,
    int64_t deadline_ns, struct xb_err *err);

/*
 * The methods, each a file of its own: from the open session to the confirmed stream. On failure
 * (XB_FAULT_TRIAL) outcome->bytes tells how far it came.
 */
bool xb_libssh2_exec(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);
bool xb_libssh2_scp(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);
bool xb_libssh2_sftp(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);

#endif
