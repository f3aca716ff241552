#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/rundir.h"
#include "client/payload.h"
#include "payloads.h"
#include "scratch.h"

static void
expect_zeros(const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != 0)
			fail_msg("byte %zu is %d", i, bytes[i]);
}

/* What comes is file_len bytes of content again and again. */
static void
expect_repeated(const struct payload_reader *reader, const unsigned char *content, size_t file_len,
    size_t len)
{
	unsigned char *got = payload_take(reader, len);

	for (size_t i = 0; i < len; i++)
		if (got[i] != content[i % file_len])
			fail_msg("byte %zu is %d, not %d", i, got[i], content[i % file_len]);
	free(got);
}

static void
sparse_file_is_zeros_of_its_length_and_has_no_name(void **state)
{
	struct payload_reader reader = payload_open("sparse", UINT64_C(1) << 30, 0);
	unsigned char *got;
	char *path;

	(void)state;
	assert_int_equal(xb_payload_bytes(reader.payload), UINT64_C(1) << 30);
	assert_null(xb_payload_note(reader.payload));
	path = xb_rundir_file(reader.dir, "sparse");
	assert_false(scratch_exists(path));
	free(path);
	got = payload_take(&reader, 3000000);
	expect_zeros(got, 3000000);
	free(got);
	payload_close(&reader);
}

/* Fresh page cache would be paid for by whoever touches it first: holes never touch any. */
static void
holes_come_from_one_constant_buffer(void **state)
{
	struct payload_reader reader = payload_open("sparse", UINT64_C(1) << 40, 0);
	const void *first, *bytes;
	struct xb_err err = { 0 };
	size_t len;

	(void)state;
	assert_true(xb_cursor_peek(reader.cursor, UINT64_MAX, &first, &len, &err));
	for (int i = 0; i < 100; i++) {
		assert_true(xb_cursor_peek(reader.cursor, UINT64_MAX, &bytes, &len, &err));
		assert_ptr_equal(bytes, first);
		assert_true(len >= 32768);
		xb_cursor_advance(reader.cursor, len);
	}
	payload_close(&reader);
}

static void
peek_alone_does_not_move_on(void **state)
{
	unsigned char *content = payload_random_file(scratch_path("file"), 600000);
	struct payload_reader reader = payload_open(scratch_path("file"), 0, 0);
	const void *bytes;
	struct xb_err err = { 0 };
	size_t len;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(xb_cursor_peek(reader.cursor, 1000, &bytes, &len, &err));
		assert_int_equal(len, 1000);
		assert_memory_equal(bytes, content, 1000);
	}
	xb_cursor_advance(reader.cursor, 3);
	assert_true(xb_cursor_peek(reader.cursor, 1000, &bytes, &len, &err));
	assert_memory_equal(bytes, content + 3, len);
	free(content);
	payload_close(&reader);
}

static void
file_of_any_length_is_sent_again_and_again(void **state)
{
	static const size_t lengths[] = { 1, 2, 999, 131071, 131072, 131073, 262144, 262145,
		5000017 };
	unsigned char *content;
	struct payload_reader reader;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		content = payload_random_file(scratch_path("file"), lengths[i]);
		reader = payload_open(scratch_path("file"), 0, 0);
		assert_int_equal(xb_payload_bytes(reader.payload), lengths[i]);
		expect_repeated(&reader, content, lengths[i], 2 * lengths[i] + 700001);
		free(content);
		payload_close(&reader);
	}
}

/* A file of a few bytes must not be sent in packets of a few bytes. */
static void
small_payloads_are_sent_in_large_pieces(void **state)
{
	struct payload_reader reader;
	const void *bytes;
	struct xb_err err = { 0 };
	size_t len;

	(void)state;
	free(payload_random_file(scratch_path("file"), 3));
	reader = payload_open(scratch_path("file"), 0, 0);
	for (int i = 0; i < 20; i++) {
		assert_true(xb_cursor_peek(reader.cursor, UINT64_MAX, &bytes, &len, &err));
		assert_true(len >= 65536);
		xb_cursor_advance(reader.cursor, 32700);
	}
	payload_close(&reader);
	reader = payload_open("sparse", 1, 0);
	assert_int_equal(xb_payload_bytes(reader.payload), 1);
	assert_true(xb_cursor_peek(reader.cursor, UINT64_MAX, &bytes, &len, &err));
	assert_true(len >= 65536);
	expect_zeros(bytes, len);
	payload_close(&reader);
}

static void
data_between_holes_arrives_where_it_is(void **state)
{
	const size_t len = 20000003;
	unsigned char *content = calloc(1, len);
	const char *path = scratch_path("file");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct xb_rng rng = { .state = 5 };
	struct payload_reader reader;

	(void)state;
	assert_non_null(content);
	xb_rng_fill(&rng, content + 9000000, 5000000);
	assert_int_equal(pwrite(fd, content + 9000000, 5000000, 9000000), 5000000);
	content[len - 1] = 'x';
	assert_int_equal(pwrite(fd, "x", 1, (off_t)len - 1), 1);
	close(fd);
	reader = payload_open(path, 0, 0);
	expect_repeated(&reader, content, len, len + 10000000);
	free(content);
	payload_close(&reader);
}

static void
random_bytes_follow_the_seed_and_do_not_repeat_within_zlibs_reach(void **state)
{
	struct payload_reader a = payload_open("random", 0, 7), b = payload_open("random", 0, 7);
	struct payload_reader c = payload_open("random", 0, 8);
	unsigned char *first = payload_take(&a, 600000), *second = payload_take(&b, 600000);
	unsigned char *third = payload_take(&c, 600000);

	(void)state;
	assert_int_equal(xb_payload_bytes(a.payload), 0);
	assert_memory_equal(first, second, 600000);
	assert_memory_not_equal(first, third, 64);
	for (size_t at = 1; at <= 32768; at++)
		if (memcmp(first, first + at, 16) == 0)
			fail_msg("the same bytes again after %zu", at);
	free(first);
	free(second);
	free(third);
	payload_close(&a);
	payload_close(&b);
	payload_close(&c);
}

static void
cursors_of_one_payload_are_independent(void **state)
{
	unsigned char *content = payload_random_file(scratch_path("file"), 300000);
	struct payload_reader reader = payload_open(scratch_path("file"), 0, 0);
	struct payload_reader other = reader;

	(void)state;
	other.cursor = xb_cursor_new(reader.payload);
	free(payload_take(&reader, 12345));
	expect_repeated(&other, content, 300000, 300000);
	xb_cursor_free(other.cursor);
	free(content);
	payload_close(&reader);
}

static void
file_that_has_shrunk_is_an_error_wherever_the_cursor_is(void **state)
{
	const char *path = scratch_path("file");
	static const size_t left[] = { 0, 1000, 5000000 };
	struct payload_reader reader;
	const void *bytes;
	struct xb_err err;
	size_t len, sent;

	(void)state;
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		free(payload_random_file(path, 9000000));
		reader = payload_open(path, 0, 0);
		free(payload_take(&reader, 100));
		assert_int_equal(truncate(path, (off_t)left[i]), 0);
		/* What is mapped already may be sent, but not to the end. */
		err = (struct xb_err){ 0 };
		for (sent = 100; sent < 9000000; sent += len) {
			if (!xb_cursor_peek(reader.cursor, UINT64_MAX, &bytes, &len, &err))
				break;
			xb_cursor_advance(reader.cursor, len);
		}
		assert_true(sent < 9000000);
		assert_int_equal(err.fault, XB_FAULT_TRIAL);
		assert_non_null(strstr(err.text, "shorter"));
		payload_close(&reader);
	}
}

static void
file_that_has_grown_is_sent_as_it_was(void **state)
{
	const char *path = scratch_path("file");
	unsigned char *content = payload_random_file(path, 400000);
	struct payload_reader reader = payload_open(path, 0, 0);

	(void)state;
	assert_int_equal(truncate(path, 800000), 0);
	expect_repeated(&reader, content, 400000, 1000000);
	free(content);
	payload_close(&reader);
}

static void
what_is_no_file_to_read_is_refused(void **state)
{
	char *fifo = scratch_path("fifo");

	(void)state;
	payload_expect_refused(scratch_path("absent"), "No such file");
	scratch_make_dir(scratch_path("folder"), 0700);
	payload_expect_refused(scratch_path("folder"), "not a regular file");
	payload_expect_refused("/dev/zero", "not a regular file");
	/* Nobody writes into it: to open it must not wait for that. */
	assert_int_equal(mkfifo(fifo, 0600), 0);
	payload_expect_refused(fifo, "not a regular file");
	close(open(scratch_path("empty"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	payload_expect_refused(scratch_path("empty"), "empty");
}

static void
length_beyond_the_file_system_becomes_the_largest_and_is_said(void **state)
{
	struct payload_reader reader = payload_open("sparse", UINT64_MAX, 0);
	uint64_t bytes = xb_payload_bytes(reader.payload);
	unsigned char *got;

	(void)state;
	/* No file is longer than an offset can say; most file systems stop earlier. */
	assert_in_range(bytes, UINT64_C(1) << 30, INT64_MAX);
	if (bytes < INT64_MAX) {
		assert_non_null(xb_payload_note(reader.payload));
		assert_non_null(strstr(xb_payload_note(reader.payload), "largest"));
	}
	got = payload_take(&reader, 1000000);
	expect_zeros(got, 1000000);
	free(got);
	payload_close(&reader);
}

#define PAYLOAD_TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAYLOAD_TEST(sparse_file_is_zeros_of_its_length_and_has_no_name),
		PAYLOAD_TEST(holes_come_from_one_constant_buffer),
		PAYLOAD_TEST(peek_alone_does_not_move_on),
		PAYLOAD_TEST(file_of_any_length_is_sent_again_and_again),
		PAYLOAD_TEST(small_payloads_are_sent_in_large_pieces),
		PAYLOAD_TEST(data_between_holes_arrives_where_it_is),
		PAYLOAD_TEST(random_bytes_follow_the_seed_and_do_not_repeat_within_zlibs_reach),
		PAYLOAD_TEST(cursors_of_one_payload_are_independent),
		PAYLOAD_TEST(file_that_has_shrunk_is_an_error_wherever_the_cursor_is),
		PAYLOAD_TEST(file_that_has_grown_is_sent_as_it_was),
		PAYLOAD_TEST(what_is_no_file_to_read_is_refused),
		PAYLOAD_TEST(length_beyond_the_file_system_becomes_the_largest_and_is_said),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
