#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "base/units.h"
#include "client/payload_parts.h"
#include "client/payload_text.h"

/*
 * Zeros and random bytes come from one buffer that stays in the second-level cache, as the buffer
 * of a program that reads a file does.
 */
#define BUFFER_BYTES XB_PAYLOAD_BUFFER_BYTES

/*
 * What is repeated without end lies in the buffer twice, one after the other, so that from each
 * place in the first a whole one can be sent: a small file is sent in pieces as large as any
 * other's. zlib looks back 32 KiB, so random bytes repeated at this distance do not compress.
 */
#define RING_BYTES (BUFFER_BYTES / 2)

/* Text before it begins again: enough that its words are spread as in any long text. */
#define TEXT_BYTES (2u * 1024 * 1024)

/* What proves that a file system keeps holes: a file of this length that takes no blocks. */
#define PROBE_BYTES (1024 * 1024)

static bool
is_zeros(const unsigned char *bytes, size_t len)
{
	return len == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0);
}

/*
 * Sends the first len bytes of the buffer, at most RING_BYTES, without end, and no file any more.
 */
static void
use_ring(struct xb_payload *payload, size_t len)
{
	size_t i;

	payload->zeros = is_zeros(payload->buffer, len);
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
 * The sparse file. It loses its name at once: nothing of it is left in any ending. A file system
 * that would fill the holes with written zeros is found by a small file first.
 */
static bool
open_sparse(struct xb_payload *payload, const struct xb_payload_options *options, bool *has_holes,
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
		*has_holes = false;
		payload->bytes = options->bytes;
		payload->note = xb_asprintf("the file system of %s keeps no holes: the zeros come "
					    "from memory, no file was filled",
		    xb_rundir_path(options->dir));
		ok = true;
		goto out;
	}
	payload->zeros = true;
	ok = stretch(payload, options->bytes, path, err);
	/* A short one would have to be sent in short pieces. */
	if (ok && payload->bytes <= RING_BYTES)
		use_ring(payload, RING_BYTES);
out:
	free(path);
	return ok;
}

/*
 * Reads all of a file's data once, holes left out, so that its pages are in memory; and sees
 * whether it is anything but zeros.
 */
static bool
warm(struct xb_payload *payload, const char *path, struct xb_err *err)
{
	off_t data = 0, hole, end = (off_t)payload->bytes;
	ssize_t got;

	payload->zeros = true;
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
			payload->zeros = payload->zeros && is_zeros(payload->buffer, (size_t)got);
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
		    "--payload: '%s' is neither 'sparse' nor 'random' nor 'text:PERCENT' nor a "
		    "file to read",
		    path);
	if (fstat(payload->fd, &st) != 0)
		return xb_fail_errno(err, XB_FAULT_USAGE, "--payload: %s", path);
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return xb_fail(err, XB_FAULT_USAGE, "--payload: '%s' is %s", path,
		    S_ISREG(st.st_mode) ? "empty" : "not a regular file");
	payload->path = realpath(path, NULL);
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

static bool
open_text(struct xb_payload *payload, const struct xb_payload_options *options, struct xb_err *err)
{
	unsigned percent;

	if (!xb_payload_text_percent(options->what, &percent, err))
		return false;
	free(payload->buffer);
	payload->buffer = xb_calloc(2, TEXT_BYTES);
	payload->ring = TEXT_BYTES;
	xb_payload_text_fill(payload->buffer, TEXT_BYTES, percent, options->seed);
	memcpy(payload->buffer + TEXT_BYTES, payload->buffer, TEXT_BYTES);
	return true;
}

bool
xb_payload_check(const char *what, struct xb_err *err)
{
	unsigned percent;

	return !xb_payload_is_text(what) || xb_payload_text_percent(what, &percent, err);
}

struct xb_payload *
xb_payload_new(const struct xb_payload_options *options, struct xb_err *err)
{
	struct xb_payload *payload = xb_calloc(1, sizeof(*payload));
	struct xb_rng rng = { .state = options->seed };
	bool ok = true, has_holes = true;

	payload->fd = -1;
	/* Written to, not only allocated: untouched zero pages would all be one page in cache. */
	payload->buffer = xb_calloc(1, BUFFER_BYTES);
	memset(payload->buffer, 1, BUFFER_BYTES);
	memset(payload->buffer, 0, BUFFER_BYTES);
	if (strcmp(options->what, "random") == 0) {
		xb_rng_fill(&rng, payload->buffer, RING_BYTES);
		use_ring(payload, RING_BYTES);
	} else if (strcmp(options->what, "sparse") == 0) {
		ok = open_sparse(payload, options, &has_holes, err);
	} else if (xb_payload_is_text(options->what)) {
		ok = open_text(payload, options, err);
	} else {
		ok = open_file(payload, options->what, err);
	}
	payload->files = xb_payload_files_new(options->dir, !payload->zeros || !has_holes);
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
	xb_payload_files_free(payload->files);
	free(payload->buffer);
	free(payload->path);
	free(payload->note);
	free(payload);
}

bool
xb_payload_is_zeros(const struct xb_payload *payload)
{
	return payload->zeros;
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
