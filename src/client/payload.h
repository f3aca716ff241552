#ifndef XB_CLIENT_PAYLOAD_H
#define XB_CLIENT_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xb_err;
struct xb_rundir;

/*
 * What is sent. A sparse file of our own, random bytes, text mixed with random bytes, or the user's
 * file; a trial that wants more than its length starts again at its beginning. No trial's clock
 * pays for fresh page cache: holes are sent from one constant buffer, data through a small window
 * that is mapped.
 */
struct xb_payload;

struct xb_payload_options {
	const char *what; /* "sparse", "random", "text:PERCENT", or a path */
	uint64_t bytes;   /* length of the sparse file */
	uint64_t seed;    /* of random bytes and text */
	const struct xb_rundir
	    *dir; /* where the sparse file, and files for programs, are created */
};

/* Checks what needs no file: PERCENT of "text:PERCENT". False with err set (XB_FAULT_USAGE). */
bool xb_payload_check(const char *what, struct xb_err *err);

/*
 * Creates or opens it; the user's file is read once, so that its pages are in memory. NULL with err
 * set: USAGE for a path that is no readable, non-empty regular file, SYSTEM when TMPDIR is full or
 * read-only.
 */
struct xb_payload *xb_payload_new(const struct xb_payload_options *options, struct xb_err *err);
void xb_payload_free(struct xb_payload *payload);

/*
 * A file for a program to read (scp, sftp, ssh's stdin, a private server's downloads): the first
 * size bytes of the payload, begun again where the payload is shorter; size 0: its own length but
 * no more than xb_payload_file_max, or 64 MiB where it has none. The user's own file where it has
 * that length. Else it is created in the run directory when it is asked for, mode 0600, for whom
 * the directory belongs to, and kept for the next time; it is read once, so that its pages are in
 * memory, as long as a quarter of this machine's available memory has room for it. A forked trial
 * finds it ready only if it was asked for before the fork. Borrowed, absolute. NULL with err set:
 * XB_FAULT_SYSTEM, the file system is full; XB_FAULT_SIGNAL.
 */
const char *xb_payload_file(const struct xb_payload *payload, uint64_t size, struct xb_err *err);

/*
 * The longest that such files should be, so that several of different lengths are in memory
 * together and the disk has room: an eighth of what was available when the payload was made. At
 * least 1 MiB.
 */
uint64_t xb_payload_file_max(const struct xb_payload *payload);

/* True when it is nothing but zeros, which compress to nothing. */
bool xb_payload_is_zeros(const struct xb_payload *payload);

/* Its length in bytes; random bytes and text are without end: 0. */
uint64_t xb_payload_bytes(const struct xb_payload *payload);

/* What the user should know, such as a smaller file than asked for; NULL when nothing. */
const char *xb_payload_note(const struct xb_payload *payload);

/* A trial's place in a payload. */
struct xb_cursor;

struct xb_cursor *xb_cursor_new(const struct xb_payload *payload);
void xb_cursor_free(struct xb_cursor *cursor);

/*
 * The next bytes, at most max (at least 1): bytes stay valid until the next call, and the memory
 * is never written again, so that a pipe may go on reading pages that were lent to it. Does not
 * move on: xb_cursor_advance does. False with err set (XB_FAULT_TRIAL) when the file cannot be
 * read any more.
 */
bool xb_cursor_peek(struct xb_cursor *cursor, uint64_t max, const void **bytes, size_t *len,
    struct xb_err *err);

/* Moves on by len bytes, at most what the last peek gave. */
void xb_cursor_advance(struct xb_cursor *cursor, size_t len);

#endif
