#include "payloads.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/rundir.h"
#include "client/payload.h"
#include "scratch.h"

struct payload_reader
payload_open(const char *what, uint64_t bytes, uint64_t seed)
{
	struct payload_reader reader = { .dir = scratch_new_run() };
	const struct xb_payload_options options = {
		.what = what,
		.bytes = bytes,
		.seed = seed,
		.dir = reader.dir,
	};
	struct xb_err err = { 0 };

	reader.payload = xb_payload_new(&options, &err);
	if (reader.payload == NULL)
		fail_msg("%s", err.text);
	reader.cursor = xb_cursor_new(reader.payload);
	return reader;
}

void
payload_close(struct payload_reader *reader)
{
	xb_cursor_free(reader->cursor);
	xb_payload_free(reader->payload);
	xb_rundir_free(reader->dir);
}

unsigned char *
payload_take(const struct payload_reader *reader, size_t len)
{
	static const size_t cuts[] = { SIZE_MAX, 1, 4096, 32700, SIZE_MAX, 7 };
	unsigned char *out = malloc(len);
	struct xb_err err = { 0 };
	size_t done = 0, piece, i = 0;
	const void *bytes;

	assert_non_null(out);
	while (done < len) {
		if (!xb_cursor_peek(reader->cursor, len - done, &bytes, &piece, &err))
			fail_msg("%s", err.text);
		assert_in_range(piece, 1, len - done);
		if (piece > cuts[i % 6])
			piece = cuts[i % 6];
		i++;
		memcpy(out + done, bytes, piece);
		xb_cursor_advance(reader->cursor, piece);
		done += piece;
	}
	return out;
}

unsigned char *
payload_random_file(const char *path, size_t len)
{
	struct xb_rng rng = { .state = len };
	unsigned char *bytes = malloc(len);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_non_null(bytes);
	assert_true(fd >= 0);
	xb_rng_fill(&rng, bytes, len);
	assert_int_equal(xb_write_all(fd, bytes, len), (ssize_t)len);
	close(fd);
	return bytes;
}

void
payload_expect_refused(const char *what, const char *text)
{
	struct xb_rundir *dir = scratch_new_run();
	const struct xb_payload_options options = { .what = what, .bytes = 1, .dir = dir };
	struct xb_err err = { 0 };

	assert_null(xb_payload_new(&options, &err));
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	if (strstr(err.text, text) == NULL)
		fail_msg("'%s' is not in: %s", text, err.text);
	xb_rundir_free(dir);
}
