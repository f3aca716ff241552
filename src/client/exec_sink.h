#ifndef XB_CLIENT_EXEC_SINK_H
#define XB_CLIENT_EXEC_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct xb_err;

/*
 * The far side of method exec: a remote command that prints a ready line, reads all of its input into
 * /dev/null, and prints an end line. cat ends only at end of file, so the end line proves that every
 * byte before it was read. It runs under any login shell, prints nothing else, and tells the CPU time
 * of the server's session process where the server is a Linux.
 */
struct xb_exec_sink {
	char token[33]; /* unguessable, so that no profile's output is taken for a line of ours */
	char *command;  /* to execute */
	bool ready;     /* the ready line was seen */
	bool ended;     /* the end line was seen */
	int status;     /* of the reading program, valid when ended */
	bool has_count; /* wc -c counted: */
	uint64_t count;
	bool has_cpu; /* both lines told it */
	double cpu_seconds;
	long ready_ticks;
	char other[200]; /* what else came, last line, printable: a reason when things go wrong */
	struct xb_last_line complaint; /* of its stderr */
	char line[512];
	size_t line_len;
};

/* count: let GNU wc -c read instead of cat, where the far side has it. Free with _free. */
void xb_exec_sink_init(struct xb_exec_sink *sink, bool count);
void xb_exec_sink_free(struct xb_exec_sink *sink);

/* Takes what came from the remote command's stdout. */
void xb_exec_sink_feed(struct xb_exec_sink *sink, const char *bytes, size_t len);

/* Takes what came from its stderr: only kept as a reason. */
void xb_exec_sink_complain(struct xb_exec_sink *sink, const char *bytes, size_t len);

#endif
