#ifndef XB_BASE_SIGNALS_H
#define XB_BASE_SIGNALS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The one mutable global of the program: the signal that asks us to end. SIGINT, SIGTERM, SIGHUP and
 * SIGPIPE are caught and blocked except inside xb_signals_poll, so that no other code is ever
 * interrupted half-way. The same goes for SIGCHLD, whose handler does nothing but end a poll.
 * SIGCONT is never blocked: it is noted, and restarts what it interrupts.
 *
 * A write to any pipe or socket that nobody reads raises SIGPIPE, which this process takes as the
 * wish that it ends: MSG_NOSIGNAL for sockets.
 */

/*
 * Installs the handlers; SIGXFSZ is ignored, so that a full quota is an error, not an end. SIGHUP
 * stays ignored where it was (nohup).
 */
void xb_signals_init(void);

/* The first signal that asked us to end, 0 while there is none. Also looks at pending ones. */
int xb_signals_pending(void);

/* True when the process was stopped and continued (SIGTSTP, SIGSTOP) since the last call. */
bool xb_signals_was_continued(void);

/*
 * poll(2) that a signal, the end of a child too, ends early with -1 and EINTR; deadline as in
 * xb_clock_poll_ms. A signal that an earlier call has taken does not end a later one: ask
 * xb_signals_pending first.
 */
int xb_signals_poll(struct pollfd *fds, nfds_t count, int64_t deadline_ns);

/*
 * In a forked worker: the parent's business is not ours; end signals are ignored, SIGPIPE too, none
 * is pending. The mask is empty but for SIGCHLD, which waits for a poll as in the parent.
 */
void xb_signals_worker(void);

/* "SIGINT" and so on, of the signals that ask us to end; "a signal" for others. Static. */
const char *xb_signals_name(int signo);

/* Ends this process by the signal itself, so that a calling shell sees it. Does not return. */
void xb_signals_raise(int signo) __attribute__((noreturn));

#endif
