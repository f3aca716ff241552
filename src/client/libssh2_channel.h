#ifndef XB_CLIENT_LIBSSH2_CHANNEL_H
#define XB_CLIENT_LIBSSH2_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/libssh2_session.h"
#include "client/stream.h"

struct xb_err;

/* A remote command on the session's channel: what the methods exec and scp share. */

/* Opens the channel and starts the command on it. */
bool xb_libssh2_start(struct xb_libssh2 *s, const char *command, int64_t deadline_ns,
    struct xb_err *err);

/*
 * Takes what has come of stdout or, from SSH_EXTENDED_DATA_STDERR, of stderr until there is nothing
 * more now. False with err set at an error of the session.
 */
bool xb_libssh2_drain(struct xb_libssh2 *s, int stream,
    void (*take)(void *ctx, const char *bytes, size_t len), void *ctx, struct xb_err *err);

/* Sends all of it, be it only some bytes. */
bool xb_libssh2_say(struct xb_libssh2 *s, const char *bytes, size_t len, const char *step,
    int64_t stall_ns, struct xb_err *err);

/* The channel as a sink: its send and wait, ctx is the session. */
enum xb_io xb_libssh2_channel_send(void *ctx, const void *bytes, size_t len, size_t *sent,
    struct xb_err *err);
enum xb_io xb_libssh2_channel_wait(void *ctx, int64_t stall_ns, struct xb_err *err);

/* How much a download asks the library for at once. */
#define XB_LIBSSH2_READ_BYTES (256u * 1024)

/*
 * Reads up to size bytes of stdout, as a source's receive does: DONE with 0 is the end of the
 * channel. What comes of stderr meanwhile is given to take.
 */
enum xb_io xb_libssh2_channel_receive(struct xb_libssh2 *s, char *bytes, size_t size,
    size_t *received, void (*take)(void *ctx, const char *bytes, size_t len), void *ctx,
    struct xb_err *err);

/* Sends the end of file. */
bool xb_libssh2_send_eof(struct xb_libssh2 *s, int64_t stall_ns, struct xb_err *err);

/* The command has nothing more to do: waits for its end and closes. Its exit status has to be 0. */
bool xb_libssh2_finish(struct xb_libssh2 *s, int64_t stall_ns, struct xb_err *err);

#endif
