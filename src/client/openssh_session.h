#ifndef XB_CLIENT_OPENSSH_SESSION_H
#define XB_CLIENT_OPENSSH_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/client.h"
#include "client/openssh_log.h"
#include "client/openssh_warden.h"
#include "client/openssh_watch.h"
#include "client/stream.h"

struct xb_err;
struct xb_openssh_argv;

/* What a pipe to or from ssh should hold: it then wakes us once where 64 KiB would 16 times. */
#define XB_OPENSSH_PIPE_BYTES (1024 * 1024)

/* One ssh, scp or sftp that runs for one transfer, in a session and process group of its own. */
struct xb_openssh {
	const struct xb_transfer *transfer;
	struct xb_outcome *outcome;
	const char *program; /* "ssh", "scp", "sftp" */
	bool begun;          /* there may be something to close */
	pid_t pid;           /* 0: not started */
	struct xb_openssh_warden warden;
	int in, out, err; /* our ends of its pipes, non-blocking; -1: closed */
	/* Takes what comes from its stdout; NULL: whoever reads out. */
	void (*on_output)(void *ctx, const char *bytes, size_t len);
	void *output_ctx;
	struct xb_openssh_log log;
	unsigned seen; /* bits 1 << enum xb_openssh_event */
	bool proxied;  /* a program of the user's connects */
	int64_t start_ns, connecting_ns, connected_ns, keyed_ns, login_ns; /* 0: not yet */
	enum xb_phase phase;
	int64_t phase_ns; /* when it began */
	struct xb_openssh_watch watch;
	bool ended; /* it has; not waited for yet, so that its figures stay */
	int status; /* then, as of wait(2) */
};

/* The monotonic moment so long after one, as late as there is at the most. */
int64_t xb_openssh_later(int64_t from_ns, int64_t ns);

/* Starts it. s has transfer, outcome, program and on_output; the rest is all-zero. */
bool xb_openssh_start(struct xb_openssh *s, const struct xb_openssh_argv *argv, struct xb_err *err);

/*
 * Until ssh has sent the command or the subsystem (method login: until it is logged in), each step
 * timed apart in outcome: a session that negotiated something else than the suite fails. A step
 * without an end fails by its name; what ends ssh is told in its own words.
 */
bool xb_openssh_login(struct xb_openssh *s, struct xb_err *err);

/*
 * Waits until something has come (it is taken) or the program has ended (s->ended: all that it left
 * behind is taken). AGAIN once the monotonic deadline has passed; FAILED (err set) when poll fails.
 */
enum xb_io xb_openssh_wait(struct xb_openssh *s, int64_t deadline_ns, struct xb_err *err);

/*
 * Likewise, AGAIN once no payload has moved for the transfer's stall_ns; DONE at least each 250
 * ms.
 */
enum xb_io xb_openssh_wait_moving(struct xb_openssh *s, struct xb_err *err);

/* Sleeps so long, less when something comes; it is taken. */
void xb_openssh_nap(struct xb_openssh *s, int64_t ns);

/* Where log events arrive: stamps the phases. ctx: the struct xb_openssh. */
void xb_openssh_on_event(void *ctx, enum xb_openssh_event event);

bool xb_openssh_has(const struct xb_openssh *s, enum xb_openssh_event event);

/* Tells the parent where the trial stands; a phase begins with its whole patience. */
void xb_openssh_enter(struct xb_openssh *s, enum xb_phase phase);

/*
 * The ready line: on_ready, and the figures of the programs. False with err set when another
 * stream of the trial has failed.
 */
bool xb_openssh_ready(struct xb_openssh *s, struct xb_err *err);

/* The end line: on_end, and the figures of the programs. */
void xb_openssh_end(struct xb_openssh *s);

/* Waits for the end of the program for stall_ns; false with err set when it hangs on. */
bool xb_openssh_await_exit(struct xb_openssh *s, struct xb_err *err);

/* Records why the program has ended, in its own words where it has some; always false. */
bool xb_openssh_fail_ended(const struct xb_openssh *s, struct xb_err *err);

/*
 * Ends all that is left of it, closes the pipes, and fills in figures that the end line came too
 * late for. Never started is fine.
 */
void xb_openssh_close(struct xb_openssh *s);

#endif
