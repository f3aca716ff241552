#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "client/payload_parts.h"

/*
 * How much of a file is mapped at once: small in memory, large enough that mapping costs nothing.
 */
#define WINDOW_BYTES (4u * 1024 * 1024)

struct xb_cursor {
	const struct xb_payload *payload;
	uint64_t offset;     /* in the file, or in the ring */
	uint64_t extent_end; /* of the hole or the data around offset; 0: not known */
	bool in_hole;
	unsigned char *window;
	uint64_t window_offset;
	size_t window_len;
};

struct xb_cursor *
xb_cursor_new(const struct xb_payload *payload)
{
	struct xb_cursor *cursor = xb_calloc(1, sizeof(*cursor));

	cursor->payload = payload;
	return cursor;
}

static void
drop_window(struct xb_cursor *cursor)
{
	if (cursor->window != NULL)
		munmap(cursor->window, cursor->window_len);
	cursor->window = NULL;
}

void
xb_cursor_free(struct xb_cursor *cursor)
{
	if (cursor == NULL)
		return;
	drop_window(cursor);
	free(cursor);
}

static bool
check_length(const struct xb_payload *payload, struct xb_err *err)
{
	struct stat st;

	return (fstat(payload->fd, &st) == 0 && (uint64_t)st.st_size >= payload->bytes) ||
	    xb_fail(err, XB_FAULT_TRIAL, "the payload file became shorter meanwhile");
}

/*
 * Finds the hole or the data around the offset. Where SEEK_HOLE is unknown all is data; a file that
 * has grown is sent as long as it was, and behind the end of one that has shrunk is no hole.
 */
static bool
find_extent(struct xb_cursor *cursor, struct xb_err *err)
{
	const struct xb_payload *payload = cursor->payload;
	off_t here = (off_t)cursor->offset, next;

	if (!check_length(payload, err))
		return false;
	cursor->in_hole = false;
	next = lseek(payload->fd, here, SEEK_DATA);
	if (next < 0 && errno == ENXIO) {
		cursor->in_hole = true;
		next = (off_t)payload->bytes;
	} else if (next > here) {
		cursor->in_hole = true;
	} else {
		next = lseek(payload->fd, here, SEEK_HOLE);
		if (next <= here)
			next = (off_t)payload->bytes;
	}
	cursor->extent_end = (uint64_t)next < payload->bytes ? (uint64_t)next : payload->bytes;
	return true;
}

/* Maps the window of the file around the offset; its pages are in memory already. */
static bool
map_window(struct xb_cursor *cursor, struct xb_err *err)
{
	const struct xb_payload *payload = cursor->payload;
	uint64_t left;

	drop_window(cursor);
	/* A page behind the end of a file that shrank would be a SIGBUS. */
	if (!check_length(payload, err))
		return false;
	cursor->window_offset = cursor->offset - cursor->offset % WINDOW_BYTES;
	left = payload->bytes - cursor->window_offset;
	cursor->window_len = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
	cursor->window = mmap(NULL, cursor->window_len, PROT_READ, MAP_SHARED | MAP_POPULATE,
	    payload->fd, (off_t)cursor->window_offset);
	if (cursor->window == MAP_FAILED) {
		cursor->window = NULL;
		return xb_fail_errno(err, XB_FAULT_TRIAL, "cannot map the payload file");
	}
	return true;
}

bool
xb_cursor_peek(struct xb_cursor *cursor, uint64_t max, const void **bytes, size_t *len,
    struct xb_err *err)
{
	const struct xb_payload *payload = cursor->payload;
	uint64_t here, room = XB_PAYLOAD_BUFFER_BYTES;

	if (payload->fd < 0) {
		*bytes = payload->buffer + cursor->offset;
		*len = (size_t)(max < payload->ring ? max : payload->ring);
		return true;
	}
	if (cursor->offset >= payload->bytes) {
		cursor->offset = 0;
		cursor->extent_end = 0;
	}
	if (cursor->offset >= cursor->extent_end && !find_extent(cursor, err))
		return false;
	if (cursor->extent_end - cursor->offset < room)
		room = cursor->extent_end - cursor->offset;
	*bytes = payload->buffer;
	if (!cursor->in_hole) {
		if ((cursor->window == NULL || cursor->offset < cursor->window_offset ||
			cursor->offset >= cursor->window_offset + cursor->window_len) &&
		    !map_window(cursor, err))
			return false;
		here = cursor->offset - cursor->window_offset;
		if (cursor->window_len - here < room)
			room = cursor->window_len - here;
		*bytes = cursor->window + here;
	}
	*len = (size_t)(max < room ? max : room);
	return true;
}

void
xb_cursor_advance(struct xb_cursor *cursor, size_t len)
{
	cursor->offset += len;
	if (cursor->payload->fd < 0)
		cursor->offset %= cursor->payload->ring;
}
