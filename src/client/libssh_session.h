#ifndef XB_CLIENT_LIBSSH_SESSION_H
#define XB_CLIENT_LIBSSH_SESSION_H

#include <libssh/libssh.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"
#include "client/stream.h"
#include "target/proxy.h"

struct xb_err;
struct xb_target;

/* One libssh session on one socket. */
struct xb_libssh {
	const struct xb_target *target;
	struct xb_live *live;
	ssh_session session;
	ssh_channel channel; /* NULL: none yet */
	int fd;
	struct xb_proxy proxy; /* whose end fd is, where there is one */
	bool broken;           /* a write failed, rather than stalled */
	int64_t progress_ns;   /* when payload last moved */
	uint64_t bytes;        /* that the library had taken, then */
	uint64_t flushed;      /* to the socket, then */
	int queued;            /* in the socket's send queue, then */
	uint32_t window;       /* granted by the far side, then */
	/*
	 * Asked while nothing moves, a few times a second: false with err set (XB_FAULT_TRIAL) when
	 * the far side has ended and nothing ever will. The library's writes see that late. NULL:
	 * not asked.
	 */
	bool (*is_alive)(void *ctx, struct xb_err *err);
	void *is_alive_ctx;
	struct ssh_counter_struct socket;
	uint64_t wire_at_ready; /* as socket counts */
};

/* The version that runs, "0.10.6"; kept here. */
const char *xb_libssh_version(void);

/*
 * Waits until the socket is ready for what the session last wanted. AGAIN once the monotonic
 * deadline has passed; FAILED (err set) when the socket fails.
 */
enum xb_io xb_libssh_wait(const struct xb_libssh *s, int64_t deadline_ns, struct xb_err *err);

/*
 * Likewise, AGAIN once no payload has moved for stall_ns, whatever else the server says
 * meanwhile.
 */
enum xb_io xb_libssh_wait_moving(struct xb_libssh *s, int64_t stall_ns, struct xb_err *err);

/* Tells the parent where the trial stands; a phase begins with its whole patience. */
void xb_libssh_enter(struct xb_libssh *s, enum xb_phase phase);

/*
 * The ready line and the end line: on_ready and on_end with the wire's bytes around them. False
 * with err set when another stream of the trial has failed.
 */
bool xb_libssh_ready(struct xb_libssh *s, const struct xb_transfer *transfer, struct xb_err *err);
void xb_libssh_end(struct xb_libssh *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome);

/*
 * Connects, exchanges keys, checks the host key and logs in, each timed apart in outcome, for
 * exactly the transfer's suite: a session that negotiated something else fails. s has session and
 * target.
 */
bool xb_libssh_open(struct xb_libssh *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);

/*
 * What to do with a libssh result while step is under way: waits at SSH_AGAIN and asks for a retry
 * (true, *again set); true without again when rc is no error; false with err set (XB_FAULT_TRIAL),
 * the library's own message made printable, or the deadline.
 */
bool xb_libssh_step(const struct xb_libssh *s, int rc, const char *step, int64_t deadline_ns,
    bool *again, struct xb_err *err);

/* Records the library's last error as step's failure; always false. */
bool xb_libssh_fail(const struct xb_libssh *s, const char *step, struct xb_err *err);

/*
 * Logs in with what the target has: ssh-agent and key files; keys that this library cannot use are
 * named in the refusal (XB_FAULT_TARGET). hint is the key that an earlier login came in with, tried
 * first, or NULL; the one that works goes to key.
 */
bool xb_libssh_login(struct xb_libssh *s, const char *hint, char *key, size_t key_size,
    int64_t deadline_ns, struct xb_err *err);

/* Asks a session for what this build has, name by name, in the library's order. */
void xb_libssh_algorithms(struct xb_client_algorithms *algorithms);

/* The transfers, one a method; the session is logged in. */
bool xb_libssh_exec(struct xb_libssh *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);
bool xb_libssh_scp(struct xb_libssh *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);
bool xb_libssh_sftp(struct xb_libssh *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);

#endif
