#ifndef XB_CLIENT_LIBSSH_CHANNEL_H
#define XB_CLIENT_LIBSSH_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/libssh_session.h"
#include "client/stream.h"

struct xb_err;

/* The session's one channel, mostly with a remote command on it, without blocking. */

/* Opens the channel, a session without anything on it yet. */
bool xb_libssh_open_channel(struct xb_libssh *s, int64_t deadline_ns, struct xb_err *err);

/* Opens the channel and starts the command. */
bool xb_libssh_start(struct xb_libssh *s, const char *command, int64_t deadline_ns,
    struct xb_err *err);

/*
 * Takes all that has come by now of what is no data, and says it to hear_out (stdout) and hear_err
 * (stderr); *ended: no more will come. False with err set at an error of the session.
 */
struct xb_libssh_ears {
	void (*hear_out)(void *ctx, const char *bytes, size_t len);
	void (*hear_err)(void *ctx, const char *bytes, size_t len);
	void *ctx;
};
bool xb_libssh_hear(struct xb_libssh *s, const struct xb_libssh_ears *ears, bool *ended,
    struct xb_err *err);

/*
 * Takes some of a download's data: DONE with some bytes, or with 0 at its end; FAILED with err
 * set. The wait is inside, because the library takes 4 KiB at a time from the socket, and a
 * packet has to be whole: AGAIN after a quarter of a second at the latest.
 */
enum xb_io xb_libssh_receive(struct xb_libssh *s, void *bytes, size_t size, size_t *got,
    struct xb_err *err);

/* For struct xb_sink and xb_source: the channel as either; ctx is the session. */
enum xb_io xb_libssh_send(void *ctx, const void *bytes, size_t len, size_t *sent,
    struct xb_err *err);
enum xb_io xb_libssh_stream_wait(void *ctx, int64_t stall_ns, struct xb_err *err);

/* Sends all of it, within the deadline; step names it in an error. */
bool xb_libssh_send_all(struct xb_libssh *s, const void *bytes, size_t len, const char *step,
    int64_t deadline_ns, struct xb_err *err);

/* Sends the end of file. */
bool xb_libssh_send_eof(struct xb_libssh *s, struct xb_err *err);

/*
 * Waits for the end of the remote command and tells its exit status, -1 where the server tells
 * none. What the command says meanwhile is thrown away.
 */
bool xb_libssh_exit_status(struct xb_libssh *s, int64_t stall_ns, int *status, struct xb_err *err);

#endif
