#ifndef XB_CLIENT_OPENSSH_COPY_H
#define XB_CLIENT_OPENSSH_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "client/openssh_session.h"

struct xb_err;

/* What scp and sftp have in common: a whole file, moved by a program that answers to nobody. */

/* Waits for stall_ns until the far side has answered; what is the failure: "no answer of scp". */
bool xb_openssh_await(struct xb_openssh *s, bool (*until)(void *ctx), void *ctx, const char *what,
    struct xb_err *err);

/*
 * From the ready line to the end of the payload: until is asked after each sign of life and says
 * when that is. The end of the program ends it as well. size: of the file, 0 where it is not
 * known.
 */
bool xb_openssh_copy(struct xb_openssh *s, bool (*until)(void *ctx), void *ctx, uint64_t size,
    struct xb_err *err);

/*
 * After the clock has stopped: waits for the program's end, which must be a good one, and fills
 * outcome->bytes. told: what came, as the far side says of a download; 0: it does not.
 */
bool xb_openssh_copied(struct xb_openssh *s, uint64_t size, uint64_t told, struct xb_err *err);

/* The payload's file of an upload and its length; NULL with err set. */
const char *xb_openssh_file(const struct xb_transfer *transfer, uint64_t *size, struct xb_err *err);

/* The length in a line of sftp's "ls -ln" of this file; 0 when it is none. */
uint64_t xb_openssh_listed_size(const char *line);

#endif
