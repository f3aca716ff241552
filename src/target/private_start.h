#ifndef XB_TARGET_PRIVATE_START_H
#define XB_TARGET_PRIVATE_START_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/private.h"
#include "target/private_cpu.h"

struct xb_err;
struct xb_private_ready;

/* The state of the listener process. Descriptors are -1 while they are not open. */
struct xb_listener {
	const struct xb_private_kind *kind;
	const struct xb_private_options *options;
	int control; /* to the program */
	int socket;  /* where clients connect */
	int log_fd;  /* the server's log, appending */
	unsigned port;
	char *program;
	char *user;
	struct xb_private_files files;
	const char **envp; /* of the server: borrows its strings; NULL: our own environment */

	/* Since the last drain. */
	struct xb_private_cpu cpu;
	unsigned started;
	off_t log_start;

	/* A drain that is not answered yet. */
	bool draining;
	int64_t drain_tag;
	int64_t drain_deadline;
};

/*
 * Makes this freshly forked process the listener: apart from the terminal, subreaper, as the account
 * that is served, with a small environment; then prepares the server, listens, pins the host keys,
 * and sees one server start and speak, whose process is left to be reaped. Fills ready.
 */
bool xb_listener_start(struct xb_listener *listener, struct xb_private_ready *ready,
    struct xb_err *err);

/* Accepts a connection and starts its server; a failure goes into the log. True when one started. */
bool xb_listener_accept(struct xb_listener *listener);

/* Undoes what was made outside the run directory and releases what listener owns. */
void xb_listener_release(struct xb_listener *listener);

#endif
