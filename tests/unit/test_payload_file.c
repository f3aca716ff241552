#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/err.h"
#include "base/rundir.h"
#include "client/payload.h"
#include "payloads.h"
#include "scratch.h"

/* What zlib makes of it in SSH packets, output per input. */
static double
deflate_ratio(const struct payload_reader *reader)
{
	const size_t packet = 32768, len = 64 * packet;
	unsigned char *bytes = payload_take(reader, len), out[2 * 32768];
	z_stream z = { 0 };
	size_t total = 0;

	assert_int_equal(deflateInit(&z, 6), Z_OK);
	for (size_t at = 0; at < len; at += packet) {
		z.next_in = bytes + at;
		z.avail_in = (uInt)packet;
		z.next_out = out;
		z.avail_out = sizeof(out);
		assert_int_equal(deflate(&z, Z_PARTIAL_FLUSH), Z_OK);
		total += sizeof(out) - z.avail_out;
	}
	deflateEnd(&z);
	free(bytes);
	return (double)total / (double)len;
}

static void
more_text_compresses_better_as_the_header_says(void **state)
{
	static const struct {
		const char *what;
		double ratio;
	} expected[] = { { "text:0", 1.00 }, { "text:25", 0.91 }, { "text:50", 0.77 },
		{ "text:75", 0.60 }, { "text:100", 0.38 } };
	double ratio, last = 2;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct payload_reader reader = payload_open(expected[i].what, 0, 3);

		ratio = deflate_ratio(&reader);
		if (fabs(ratio - expected[i].ratio) > 0.02)
			fail_msg("%s: %.3f, not %.2f", expected[i].what, ratio, expected[i].ratio);
		assert_true(ratio < last);
		last = ratio;
		assert_int_equal(xb_payload_bytes(reader.payload), 0);
		assert_false(xb_payload_is_zeros(reader.payload));
		payload_close(&reader);
	}
}

/* The share of letters, blanks and marks in bytes. */
static double
text_share(const unsigned char *bytes, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += (bytes[i] < 0x80 && isalpha(bytes[i])) || bytes[i] == ' ' ||
		    bytes[i] == '\n' || bytes[i] == '.' || bytes[i] == ',';
	return (double)count / (double)len;
}

static void
every_packet_has_its_share_of_text_and_the_seed_decides_which(void **state)
{
	struct payload_reader a = payload_open("text:30", 0, 7), b = payload_open("text:30", 0, 7);
	struct payload_reader c = payload_open("text:30", 0, 8);
	unsigned char *first = payload_take(&a, 5000000), *second = payload_take(&b, 5000000);
	unsigned char *third = payload_take(&c, 5000000);
	/* Random bytes are such letters and marks by chance, too. */
	const double expected = 0.30 + 0.70 * 56 / 256;
	double share;

	(void)state;
	assert_memory_equal(first, second, 5000000);
	assert_memory_not_equal(first, third, 4096);
	for (size_t at = 0; at + 32768 <= 5000000; at += 32768) {
		share = text_share(first + at, 32768);
		if (fabs(share - expected) > 0.03)
			fail_msg("at %zu: %.3f, not %.3f", at, share, expected);
	}
	free(first);
	free(second);
	free(third);
	payload_close(&a);
	payload_close(&b);
	payload_close(&c);
}

static void
text_without_a_percentage_is_refused_with_what_is_accepted(void **state)
{
	static const char *const bad[] = { "text:", "text:101", "text:-1", "text:5%", "text:half",
		"text:1.5" };
	struct xb_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct xb_err){ 0 };
		assert_false(xb_payload_check(bad[i], &err));
		assert_int_equal(err.fault, XB_FAULT_USAGE);
		assert_non_null(strstr(err.text, "--payload"));
		assert_non_null(strstr(err.text, "0 to 100"));
		payload_expect_refused(bad[i], "0 to 100");
	}
	err = (struct xb_err){ 0 };
	assert_true(xb_payload_check("text:0", &err));
	assert_true(xb_payload_check("text:100", &err));
	assert_true(xb_payload_check("sparse", &err));
	assert_true(xb_payload_check("text", &err));
	assert_int_equal(err.fault, XB_FAULT_NONE);
	payload_expect_refused("text", "text:PERCENT");
}

static void
zeros_are_known_wherever_they_come_from(void **state)
{
	const char *path = scratch_path("zeros");
	static const off_t lengths[] = { 1, 1000, 5000000 };
	struct payload_reader reader;
	int fd;

	(void)state;
	reader = payload_open("sparse", 1000000, 0);
	assert_true(xb_payload_is_zeros(reader.payload));
	payload_close(&reader);
	reader = payload_open("random", 0, 1);
	assert_false(xb_payload_is_zeros(reader.payload));
	payload_close(&reader);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		assert_int_equal(ftruncate(fd, lengths[i]), 0);
		reader = payload_open(path, 0, 0);
		assert_true(xb_payload_is_zeros(reader.payload));
		payload_close(&reader);
		assert_int_equal(pwrite(fd, "x", 1, lengths[i] - 1), 1);
		close(fd);
		reader = payload_open(path, 0, 0);
		assert_false(xb_payload_is_zeros(reader.payload));
		payload_close(&reader);
	}
}

/* The file for programs holds what a cursor gives. */
static void
expect_file(const struct payload_reader *reader, const char *path, size_t size)
{
	unsigned char *expected = payload_take(reader, size), *got = malloc(size + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	assert_non_null(got);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, size);
	assert_int_equal(xb_read_all(fd, got, size + 1), (ssize_t)size);
	assert_memory_equal(got, expected, size);
	close(fd);
	free(got);
	free(expected);
}

static void
programs_get_a_file_of_any_payload_and_size(void **state)
{
	static const size_t sizes[] = { 1, 131072, 3000017 };
	const char *file = scratch_path("file");
	const char *const whats[] = { "sparse", "random", "text:50", file };
	struct xb_err err = { 0 };
	struct payload_reader reader;
	const char *path;
	struct stat st;

	(void)state;
	free(payload_random_file(file, 700001));
	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++)
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			reader = payload_open(whats[i], 2000000, 4);
			path = xb_payload_file(reader.payload, sizes[j], &err);
			if (path == NULL)
				fail_msg("%s", err.text);
			assert_ptr_equal(strchr(path, '/'), path);
			expect_file(&reader, path, sizes[j]);
			assert_int_equal(stat(path, &st), 0);
			assert_int_equal(st.st_mode & 07777, 0600);
			/* Asked for again it is the same one. */
			assert_ptr_equal(xb_payload_file(reader.payload, sizes[j], &err), path);
			payload_close(&reader);
		}
	assert_int_equal(scratch_count(), 1);
}

static void
files_of_several_sizes_stand_side_by_side_and_the_sparse_one_takes_no_room(void **state)
{
	struct payload_reader reader = payload_open("sparse", UINT64_C(1) << 30, 0);
	struct xb_err err = { 0 };
	const char *small = xb_payload_file(reader.payload, 1000, &err);
	const char *large = xb_payload_file(reader.payload, 50000000, &err);
	struct stat st;

	(void)state;
	assert_non_null(small);
	assert_non_null(large);
	assert_int_equal(stat(small, &st), 0);
	assert_int_equal(st.st_size, 1000);
	assert_int_equal(stat(large, &st), 0);
	assert_int_equal(st.st_size, 50000000);
	assert_true(st.st_blocks * 512 < 1000000);
	assert_true(xb_payload_file_max(reader.payload) >= 1024 * 1024);
	payload_close(&reader);
}

static void
file_without_a_size_is_the_payloads_own_or_64_mib(void **state)
{
	const char *file = scratch_path("file");
	struct xb_err err = { 0 };
	struct payload_reader reader;
	struct stat st;
	const char *path;
	char *real;

	(void)state;
	free(payload_random_file(file, 700001));
	real = realpath(file, NULL);
	reader = payload_open(file, 0, 0);
	assert_string_equal(xb_payload_file(reader.payload, 0, &err), real);
	assert_string_equal(xb_payload_file(reader.payload, 700001, &err), real);
	assert_string_not_equal(xb_payload_file(reader.payload, 700000, &err), real);
	payload_close(&reader);
	free(real);
	reader = payload_open("sparse", 12345678, 0);
	path = xb_payload_file(reader.payload, 0, &err);
	assert_non_null(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 12345678);
	payload_close(&reader);
	reader = payload_open("random", 0, 0);
	path = xb_payload_file(reader.payload, 0, &err);
	assert_non_null(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal((uint64_t)st.st_size,
	    xb_payload_file_max(reader.payload) < 64u << 20 ? xb_payload_file_max(reader.payload)
							    : 64u << 20);
	payload_close(&reader);
}

/* A private server runs as the user that the directory was given to. */
static void
file_belongs_to_whom_the_directory_belongs(void **state)
{
	struct payload_reader reader = payload_open("random", 0, 0);
	struct xb_err err = { 0 };
	const char *path;
	struct stat st;

	(void)state;
	if (geteuid() != 0) {
		print_message("# not root: no directory can be given away\n");
		payload_close(&reader);
		return;
	}
	assert_true(xb_rundir_give(reader.dir, 12345, 54321, &err));
	path = xb_payload_file(reader.payload, 1000, &err);
	assert_non_null(path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 54321);
	payload_close(&reader);
}

static void
link_in_the_files_place_is_not_followed(void **state)
{
	struct payload_reader reader = payload_open("random", 0, 0);
	char *name = xb_rundir_file(reader.dir, "payload-1000");
	const char *victim = scratch_path("victim");
	struct xb_err err = { 0 };
	struct stat st;

	(void)state;
	scratch_make_file(victim);
	assert_int_equal(symlink(victim, name), 0);
	assert_non_null(xb_payload_file(reader.payload, 1000, &err));
	assert_int_equal(lstat(name, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 1);
	free(name);
	payload_close(&reader);
}

static void
file_that_cannot_be_written_is_an_error_that_names_a_way_out(void **state)
{
	struct payload_reader reader = payload_open("random", 0, 0);
	const struct rlimit none = { .rlim_cur = 100000, .rlim_max = RLIM_INFINITY };
	struct rlimit before;
	struct xb_err err = { 0 };
	char *name = xb_rundir_file(reader.dir, "payload-1000000");

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_null(xb_payload_file(reader.payload, 1000000, &err));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	assert_non_null(strstr(err.text, "TMPDIR"));
	/* And nothing of it is left to fill the disk. */
	assert_false(scratch_exists(name));
	free(name);
	payload_close(&reader);
}

#define PAYLOAD_TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAYLOAD_TEST(more_text_compresses_better_as_the_header_says),
		PAYLOAD_TEST(every_packet_has_its_share_of_text_and_the_seed_decides_which),
		PAYLOAD_TEST(text_without_a_percentage_is_refused_with_what_is_accepted),
		PAYLOAD_TEST(zeros_are_known_wherever_they_come_from),
		PAYLOAD_TEST(programs_get_a_file_of_any_payload_and_size),
		PAYLOAD_TEST(
		    files_of_several_sizes_stand_side_by_side_and_the_sparse_one_takes_no_room),
		PAYLOAD_TEST(file_without_a_size_is_the_payloads_own_or_64_mib),
		PAYLOAD_TEST(file_belongs_to_whom_the_directory_belongs),
		PAYLOAD_TEST(link_in_the_files_place_is_not_followed),
		PAYLOAD_TEST(file_that_cannot_be_written_is_an_error_that_names_a_way_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
