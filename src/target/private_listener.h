#ifndef XB_TARGET_PRIVATE_LISTENER_H
#define XB_TARGET_PRIVATE_LISTENER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "target/private.h"

/*
 * What the program and the listener of its private server say to each other, one struct a packet of a
 * SOCK_SEQPACKET pair: the listener begins with one ready; then each request has one answer, except
 * for END, which has none. One request at a time.
 */
enum xb_private_ask {
	XB_PRIVATE_ASK_CPU,
	XB_PRIVATE_ASK_DRAIN,
	XB_PRIVATE_ASK_END,
};

struct xb_private_request {
	enum xb_private_ask ask;
	int64_t tag;        /* comes back with the answer: whoever asked may be dead by then */
	int64_t timeout_ns; /* of a drain */
};

struct xb_private_answer {
	int64_t tag;
	int64_t cpu_ns;
	struct xb_private_usage usage;
};

/* That it serves, or why it does not. */
struct xb_private_ready {
	bool ok;
	struct xb_err err;
	unsigned port;
	char user[256];
	char program[PATH_MAX];
	char identity[PATH_MAX];
	char known_hosts[PATH_MAX];
	char version[256];
	char lacks[400];
	char made[PATH_MAX]; /* as xb_private_files has it, "" for none */
};

/* The listener process, from its first line to its end; control is its end of the pair. */
void xb_private_listen(int control, const struct xb_private_kind *kind,
    const struct xb_private_options *options) __attribute__((noreturn));

#endif
