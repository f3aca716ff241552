#ifndef XB_CLIENT_OPENSSH_WATCH_H
#define XB_CLIENT_OPENSSH_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/case.h"

struct xb_outcome;

/*
 * Bytes that a process has read and written in all, as Linux counts them: files, pipes and
 * sockets.
 */
struct xb_openssh_io {
	bool known;
	uint64_t read;
	uint64_t written;
};

/*
 * A program that we run and all that it runs, seen from outside: their CPU time and what they
 * move.
 */
struct xb_openssh_watch {
	pid_t pids[16]; /* the program first */
	size_t count;
	size_t ssh; /* index of the one that speaks to the server */
	/* between ready and end */
	int64_t ready_cpu_ns;
	struct xb_openssh_io ready_program, ready_ssh;
	/* what was seen last, and when it had moved */
	struct xb_openssh_io seen;
	int64_t seen_cpu_ns;
	int64_t progress_ns;
};

/* The moment of the ready line. nested: the program runs the ssh below it. */
void xb_openssh_watch_ready(struct xb_openssh_watch *watch, pid_t program, bool nested);

/*
 * The moment of the end line: fills programs_cpu_seconds and wire_bytes. What has ended before it
 * could be asked makes them unknown: they stay as they are.
 */
void xb_openssh_watch_end(const struct xb_openssh_watch *watch, enum xb_direction direction,
    struct xb_outcome *outcome);

/* Bytes that scp or sftp has read (upload) or written (download) since ready, its own messages with
 * them; 0 where that is not known. */
uint64_t xb_openssh_watch_copied(const struct xb_openssh_watch *watch, enum xb_direction direction);

/* Starts the patience anew. */
void xb_openssh_watch_begin(struct xb_openssh_watch *watch);

/*
 * Looks whether payload has moved since the last look. Keepalives are a sign of life and no
 * progress, so a far side that is stuck is found all the same.
 */
bool xb_openssh_watch_moved(struct xb_openssh_watch *watch);

#endif
