#include "client/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "base/units.h"

/*
 * Zeros and random bytes come from one buffer that stays in the second-level cache, as the buffer of
 * a program that reads a file does.
 */
#define BUFFER_BYTES (256u * 1024)

/*
 * What is repeated without end lies in the buffer twice, one after the other, so that from each place
 * in the first a whole one can be sent: a small file is sent in pieces as large as any other's. zlib
 * looks back 32 KiB, so random bytes repeated at this distance do not compress.
 */
#define RING_BYTES (BUFFER_BYTES / 2)

/* How much of a file is mapped at once: small in memory, large enough that mapping costs nothing. */
#define WINDOW_BYTES (4u * 1024 * 1024)

/* What proves that a file system keeps holes: a file of this length that takes no blocks. */
#define PROBE_BYTES (1024 * 1024)

struct xb_payload {
	int fd; /* -1: all from the buffer */
	uint64_t bytes;
	unsigned char *buffer; /* zeros with fd; else ring bytes, twice */
	size_t ring;
	char *note;
};

struct xb_cursor {
	const struct xb_payload *payload;
	uint64_t offset;     /* in the file, or in the ring */
	uint64_t extent_end; /* of the hole or the data around offset; 0: not known */
	bool in_hole;
	unsigned char *window;
	uint64_t window_offset;
	size_t window_len;
};

/* Sends the first len bytes of the buffer, at most RING_BYTES, without end, and no file any more. */
static void
use_ring(struct xb_payload *payload, size_t len)
{
	size_t i;

	payload->ring = RING_BYTES / len * len;
	for (i = len; i < 2 * payload->ring; i++)
		payload->buffer[i] = payload->buffer[i - len];
	if (payload->fd >= 0)
		close(payload->fd);
	payload->fd = -1;
}

/* Makes the empty file as long as asked for, or as long as the file system allows. */
static bool
stretch(struct xb_payload *payload, uint64_t bytes, const char *path, struct xb_err *err)
{
	uint64_t low = 0, high, middle;
	char asked[32], got[32];

	if (bytes > INT64_MAX)
		bytes = INT64_MAX;
	payload->bytes = bytes;
	if (ftruncate(payload->fd, (off_t)bytes) == 0)
		return true;
	if (errno != EFBIG && errno != EINVAL)
		return xb_fail_errno(err, XB_FAULT_SYSTEM,
		    "cannot create the sparse file %s (another place: TMPDIR=DIR)", path);
	for (high = bytes; high - low > 1;) {
		middle = low + (high - low) / 2;
		if (ftruncate(payload->fd, (off_t)middle) == 0)
			low = middle;
		else
			high = middle;
	}
	if (low == 0 || ftruncate(payload->fd, (off_t)low) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot create the sparse file %s",
		    path);
	payload->bytes = low;
	xb_size_format(asked, sizeof(asked), bytes);
	xb_size_format(got, sizeof(got), low);
	payload->note = xb_asprintf("the sparse file is %s, not %s: the largest that the file "
				    "system allows; trials start again at its beginning",
	    got, asked);
	return true;
}

/*
 * The sparse file. It loses its name at once: nothing of it is left in any ending. A file system that
 * would fill the holes with written zeros is found by a small file first.
 */
static bool
open_sparse(struct xb_payload *payload, const struct xb_payload_options *options,
    struct xb_err *err)
{
	char *path = xb_rundir_file(options->dir, "sparse");
	struct stat st;
	bool ok = false;

	payload->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (payload->fd < 0) {
		xb_fail_errno(err, XB_FAULT_SYSTEM,
		    "cannot create the sparse file %s (another place: TMPDIR=DIR)", path);
		goto out;
	}
	unlink(path);
	if (ftruncate(payload->fd, PROBE_BYTES) != 0 || fstat(payload->fd, &st) != 0 ||
	    st.st_blocks * 512 >= PROBE_BYTES) {
		use_ring(payload, RING_BYTES);
		payload->bytes = options->bytes;
		payload->note = xb_asprintf("the file system of %s keeps no holes: the zeros come "
					    "from memory, no file was filled",
		    xb_rundir_path(options->dir));
		ok = true;
		goto out;
	}
	ok = stretch(payload, options->bytes, path, err);
	/* A short one would have to be sent in short pieces. */
	if (ok && payload->bytes <= RING_BYTES)
		use_ring(payload, RING_BYTES);
out:
	free(path);
	return ok;
}

/* Reads all of a file's data once, holes left out, so that its pages are in memory. */
static bool
warm(const struct xb_payload *payload, const char *path, struct xb_err *err)
{
	off_t data = 0, hole, end = (off_t)payload->bytes;
	ssize_t got;

	for (;;) {
		data = lseek(payload->fd, data, SEEK_DATA);
		if (data < 0 || data >= end)
			return true;
		hole = lseek(payload->fd, data, SEEK_HOLE);
		if (hole < 0)
			hole = end;
		for (; data < hole; data += got) {
			if (xb_signals_pending() != 0)
				return xb_fail(err, XB_FAULT_SIGNAL,
				    "ended while reading the payload");
			got = pread(payload->fd, payload->buffer, BUFFER_BYTES, data);
			if (got < 0)
				return xb_fail_errno(err, XB_FAULT_USAGE, "--payload: %s", path);
			if (got == 0)
				return true;
		}
	}
}

static bool
open_file(struct xb_payload *payload, const char *path, struct xb_err *err)
{
	struct stat st;
	ssize_t got;

	payload->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (payload->fd < 0)
		return xb_fail_errno(err, XB_FAULT_USAGE,
		    "--payload: '%s' is neither 'sparse' nor 'random' nor a file to read", path);
	if (fstat(payload->fd, &st) != 0)
		return xb_fail_errno(err, XB_FAULT_USAGE, "--payload: %s", path);
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return xb_fail(err, XB_FAULT_USAGE, "--payload: '%s' is %s", path,
		    S_ISREG(st.st_mode) ? "empty" : "not a regular file");
	payload->bytes = (uint64_t)st.st_size;
	if (payload->bytes <= RING_BYTES) {
		got = xb_read_all(payload->fd, payload->buffer, (size_t)payload->bytes);
		if (got < 0)
			return xb_fail_errno(err, XB_FAULT_USAGE, "--payload: %s", path);
		if ((uint64_t)got != payload->bytes)
			return xb_fail(err, XB_FAULT_USAGE,
			    "--payload: '%s' became shorter meanwhile", path);
		use_ring(payload, (size_t)payload->bytes);
		return true;
	}
	if (!warm(payload, path, err))
		return false;
	if (payload->bytes / (uint64_t)sysconf(_SC_PAGESIZE) >= (uint64_t)sysconf(_SC_PHYS_PAGES))
		payload->note =
		    xb_strdup("the payload does not fit into this machine's memory: its "
			      "disk may be the limit");
	memset(payload->buffer, 0, BUFFER_BYTES);
	return true;
}

struct xb_payload *
xb_payload_new(const struct xb_payload_options *options, struct xb_err *err)
{
	struct xb_payload *payload = xb_calloc(1, sizeof(*payload));
	struct xb_rng rng = { .state = options->seed };
	bool ok = true;

	payload->fd = -1;
	/* Written to, not only allocated: untouched zero pages would all be one page in cache. */
	payload->buffer = xb_calloc(1, BUFFER_BYTES);
	memset(payload->buffer, 1, BUFFER_BYTES);
	memset(payload->buffer, 0, BUFFER_BYTES);
	if (strcmp(options->what, "random") == 0) {
		xb_rng_fill(&rng, payload->buffer, RING_BYTES);
		use_ring(payload, RING_BYTES);
	} else if (strcmp(options->what, "sparse") == 0) {
		ok = open_sparse(payload, options, err);
	} else {
		ok = open_file(payload, options->what, err);
	}
	if (ok)
		return payload;
	xb_payload_free(payload);
	return NULL;
}

void
xb_payload_free(struct xb_payload *payload)
{
	if (payload == NULL)
		return;
	if (payload->fd >= 0)
		close(payload->fd);
	free(payload->buffer);
	free(payload->note);
	free(payload);
}

uint64_t
xb_payload_bytes(const struct xb_payload *payload)
{
	return payload->bytes;
}

const char *
xb_payload_note(const struct xb_payload *payload)
{
	return payload->note;
}

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
	uint64_t here, room = BUFFER_BYTES;

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
