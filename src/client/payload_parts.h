#ifndef XB_CLIENT_PAYLOAD_PARTS_H
#define XB_CLIENT_PAYLOAD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/payload.h"

/* Between payload.c, which opens a payload, payload_cursor.c, payload_file.c and payload_text.c. */

/* Pieces of holes, and of what is read, are so long. */
#define XB_PAYLOAD_BUFFER_BYTES (256u * 1024)

struct xb_payload_files;

struct xb_payload {
	int fd; /* -1: all from the buffer */
	uint64_t bytes;
	unsigned char *buffer; /* zeros with fd; else ring bytes, twice */
	size_t ring;
	bool zeros; /* nothing but zeros */
	char *path; /* of the user's file, absolute; NULL: not his */
	struct xb_payload_files *files;
	char *note;
};

/* Files for programs to read, made when they are asked for. full: they take the room of their
 * length on the disk. dir is borrowed, NULL: none can be made. */
struct xb_payload_files *xb_payload_files_new(const struct xb_rundir *dir, bool full);

/* Forgets them; the files go away with the directory. NULL does nothing. */
void xb_payload_files_free(struct xb_payload_files *files);

/* True for "text:…". Then percent is set, or, on false, err (XB_FAULT_USAGE). */
bool xb_payload_is_text(const char *what);
bool xb_payload_text_percent(const char *what, unsigned *percent, struct xb_err *err);

#endif
