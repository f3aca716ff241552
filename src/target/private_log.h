#ifndef XB_TARGET_PRIVATE_LOG_H
#define XB_TARGET_PRIVATE_LOG_H

#include <stddef.h>
#include <sys/types.h>

struct xb_private_kind;

/*
 * Picks out of a server's log what explains a failure: the last lines, without their stamps and
 * joined by "; ", that are not of the kind's noise. As many as fit whole, at least the last
 * one, which is cut then; printable. "" when there is none.
 */
void xb_private_log_pick(char *out, size_t size, const char *text, size_t len,
    const struct xb_private_kind *kind);

/* The same for a file, from offset start on (its last 8 KiB at most). Returns the file's length. */
off_t xb_private_log_tail(char *out, size_t size, int fd, off_t start,
    const struct xb_private_kind *kind);

#endif
