#ifndef XB_TARGET_PRIVATE_LOG_H
#define XB_TARGET_PRIVATE_LOG_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Picks out of a server's log what explains a failure: the last lines, joined by "; ", that do not
 * begin with one of noise (ends with NULL, may be NULL). As many as fit whole, at least the last one,
 * which is cut then; printable. "" when there is none.
 */
void xb_private_log_pick(char *out, size_t size, const char *text, size_t len,
    const char *const *noise);

/* The same for a file, from offset start on (its last 8 KiB at most). Returns the file's length. */
off_t xb_private_log_tail(char *out, size_t size, int fd, off_t start, const char *const *noise);

#endif
