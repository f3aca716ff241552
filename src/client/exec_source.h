#ifndef XB_CLIENT_EXEC_SOURCE_H
#define XB_CLIENT_EXEC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * The far side of a download by method exec: a remote command that prints a ready line, waits for
 * XB_EXEC_SOURCE_GO on its stdin, and then sends nothing but data: the zeros of dd if=/dev/zero
 * bs=64k, without end, or a file again and again. So no byte is under way before the clock runs,
 * however long on_ready takes. Who has enough of it closes the channel. It runs under any login
 * shell, like xb_exec_sink's. A file that cannot be read or is empty ends the command before its
 * ready line, with a word on stderr; the end of its stdin before the go ends it without data.
 */
#define XB_EXEC_SOURCE_GO "\n"

struct xb_exec_source {
	char token[33];  /* unguessable, so that no profile's output is taken for our line */
	char *command;   /* to execute */
	bool ready;      /* the ready line was seen: what follows the go is data */
	char other[200]; /* what else came, last line, printable: a reason when things go wrong */
	struct xb_last_line complaint; /* of its stderr */
	char line[512];
	size_t line_len;
};

/* file: to read on the far side, again and again; NULL: zeros. Free with _free. */
void xb_exec_source_init(struct xb_exec_source *source, const char *file);
void xb_exec_source_free(struct xb_exec_source *source);

/*
 * Takes what came from the remote command's stdout until the ready line is complete. Returns how
 * many bytes it took: all of them, but for data. Once ready it takes nothing.
 */
size_t xb_exec_source_feed(struct xb_exec_source *source, const char *bytes, size_t len);

/* Takes what came from its stderr: only kept as a reason, dd's statistics left out. */
void xb_exec_source_complain(struct xb_exec_source *source, const char *bytes, size_t len);

#endif
