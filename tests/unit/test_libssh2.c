#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "client/client.h"
#include "client/libssh2.h"
#include "client/payload.h"
#include "far_side.h"
#include "model/namelist.h"
#include "scratch.h"
#include "ssh_transfer.h"

#define CIPHER "aes128-ctr"
#define MAC "hmac-sha2-256"
#define SIZE SSH_TRANSFER_SIZE

static const enum xb_method methods[] = { XB_METHOD_EXEC, XB_METHOD_SCP, XB_METHOD_SFTP };
static const enum xb_direction directions[] = { XB_UPLOAD, XB_DOWNLOAD };
#define METHOD_COUNT (sizeof(methods) / sizeof(methods[0]))
#define DIRECTION_COUNT (sizeof(directions) / sizeof(directions[0]))

/* One private sshd for all tests, whose options change from login to login. */
static struct ssh_transfer_server server;
static struct xb_suite usual;

static int
set_up_group(void **state)
{
	if (scratch_set_up(state) != 0)
		return -1;
	server = far_side_start();
	xb_suite_init(&usual, CIPHER, MAC, NULL);
	return 0;
}

static int
tear_down_group(void **state)
{
	xb_suite_free(&usual);
	far_side_stop(&server);
	return scratch_tear_down(state);
}

static struct ssh_transfer_result
run(const struct xb_transfer *transfer)
{
	return ssh_transfer_run(&xb_client_libssh2, transfer, NULL);
}

static struct xb_transfer
transfer_of(enum xb_method method, enum xb_direction direction)
{
	return ssh_transfer_of(&server, method, direction, &usual);
}

static void
every_method_moves_exactly_the_size_either_way(void **state)
{
	(void)state;
	for (size_t m = 0; m < METHOD_COUNT; m++)
		for (size_t d = 0; d < DIRECTION_COUNT; d++) {
			struct xb_transfer transfer = transfer_of(methods[m], directions[d]);
			struct ssh_transfer_result result = run(&transfer);
			const struct xb_negotiated *got = &result.outcome.negotiated;

			ssh_transfer_expect(&result, SIZE);
			assert_string_equal(got->cipher, CIPHER);
			assert_string_equal(got->mac, MAC);
			assert_string_equal(got->compression, "none");
			assert_string_not_equal(got->kex, "");
			assert_string_not_equal(got->hostkey, "");
			assert_true(result.outcome.kex_seconds > 0);
			assert_true(result.outcome.auth_seconds > 0);
			/* Framing is there, and is little. */
			assert_in_range(result.outcome.wire_bytes, SIZE, SIZE + SIZE / 10);
		}
}

static void
part_of_a_file_can_be_downloaded(void **state)
{
	(void)state;
	for (size_t m = 0; m < METHOD_COUNT; m++) {
		struct xb_transfer transfer = transfer_of(methods[m], XB_DOWNLOAD);
		struct ssh_transfer_result result;

		transfer.remote_file = server.file;
		transfer.remote_bytes = SIZE;
		transfer.size = 300017;
		result = run(&transfer);
		ssh_transfer_expect(&result, 300017);
	}
}

/* exec and sftp begin again at the file's end; scp has no way to, and ends with it. */
static void
time_box_is_filled_but_by_scp(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	for (size_t m = 0; m < METHOD_COUNT; m++)
		for (size_t d = 0; d < DIRECTION_COUNT; d++) {
			struct xb_transfer transfer = transfer_of(methods[m], directions[d]);

			if (methods[m] == XB_METHOD_SCP && directions[d] == XB_UPLOAD)
				continue;
			if (directions[d] == XB_DOWNLOAD)
				transfer.remote_file = server.file;
			transfer.size = 0;
			transfer.time_ns = 300 * XB_NS_PER_MS;
			result = run(&transfer);
			ssh_transfer_expect(&result,
			    methods[m] == XB_METHOD_SCP ? SIZE : result.outcome.bytes);
			if (methods[m] != XB_METHOD_SCP)
				assert_true(result.seconds_ns >= transfer.time_ns);
		}
}

static void
file_is_begun_again_until_the_time_is_over(void **state)
{
	struct xb_transfer transfer = transfer_of(XB_METHOD_SFTP, XB_DOWNLOAD);
	char *path = xb_strdup(scratch_path("small"));
	struct ssh_transfer_result result;

	(void)state;
	scratch_make_file(path);
	assert_int_equal(truncate(path, 1000), 0);
	transfer.remote_file = path;
	transfer.remote_bytes = 1000;
	transfer.size = 0;
	transfer.time_ns = 300 * XB_NS_PER_MS;
	result = run(&transfer);
	ssh_transfer_expect(&result, result.outcome.bytes);
	assert_true(result.outcome.bytes > 2000);
	assert_int_equal(result.outcome.bytes % 1000, 0);
	free(path);
}

static void
as_negotiated_asks_for_nothing_and_reads_back_what_came(void **state)
{
	struct xb_suite suite;

	(void)state;
	xb_suite_init(&suite, NULL, NULL, NULL);
	for (size_t d = 0; d < DIRECTION_COUNT; d++) {
		struct xb_transfer transfer = transfer_of(XB_METHOD_EXEC, directions[d]);
		struct ssh_transfer_result result;

		transfer.suite = &suite;
		result = run(&transfer);
		ssh_transfer_expect(&result, SIZE);
		assert_string_not_equal(result.outcome.negotiated.cipher, "");
		assert_string_equal(result.outcome.negotiated.compression, "none");
		assert_string_not_equal(result.outcome.negotiated.kex, "");
	}
	xb_suite_free(&suite);
}

static void
compression_is_asked_for_and_shows_on_the_wire(void **state)
{
	const struct xb_payload_options options = {
		.what = "sparse",
		.bytes = SIZE,
		.dir = server.dir,
	};
	struct xb_err err = { 0 };
	struct xb_payload *zeros = xb_payload_new(&options, &err);
	struct xb_suite suite;

	(void)state;
	assert_non_null(zeros);
	xb_suite_init(&suite, CIPHER, MAC, "zlib@openssh.com");
	for (size_t d = 0; d < DIRECTION_COUNT; d++) {
		struct xb_transfer transfer = transfer_of(XB_METHOD_EXEC, directions[d]);
		struct ssh_transfer_result result;

		transfer.suite = &suite;
		transfer.payload = zeros;
		result = run(&transfer);
		ssh_transfer_expect(&result, SIZE);
		assert_string_equal(result.outcome.negotiated.compression, "zlib@openssh.com");
		assert_in_range(result.outcome.wire_bytes, 1, SIZE / 20);
	}
	xb_payload_free(zeros);
	xb_suite_free(&suite);
}

static void
suite_that_the_server_does_not_take_has_no_result(void **state)
{
	struct xb_transfer transfer = transfer_of(XB_METHOD_EXEC, XB_UPLOAD);
	struct ssh_transfer_result result;

	(void)state;
	far_side_options("-o Ciphers=aes256-ctr");
	result = run(&transfer);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "key exchange: ");
	assert_int_equal(result.readies, 0);
	far_side_options("");
}

static void
login_alone_moves_nothing_and_takes_the_algorithms_asked_for(void **state)
{
	struct xb_transfer transfer = transfer_of(XB_METHOD_LOGIN, XB_UPLOAD);
	struct ssh_transfer_result result;
	struct xb_suite suite;

	(void)state;
	xb_suite_init(&suite, NULL, NULL, NULL);
	suite.kex = xb_strdup("ecdh-sha2-nistp384");
	suite.hostkey = xb_strdup("ssh-ed25519");
	transfer.suite = &suite;
	result = run(&transfer);
	if (!result.ok)
		fail_msg("%s", result.err.text);
	assert_int_equal(result.logins, 1);
	assert_int_equal(result.readies, 0);
	assert_int_equal(result.ends, 0);
	assert_int_equal(result.outcome.bytes, 0);
	assert_true(result.outcome.connect_seconds >= 0);
	assert_true(result.outcome.kex_seconds > 0);
	assert_true(result.outcome.auth_seconds > 0);
	assert_string_equal(result.outcome.negotiated.kex, "ecdh-sha2-nistp384");
	assert_string_equal(result.outcome.negotiated.hostkey, "ssh-ed25519");
	free(suite.kex);
	suite.kex = xb_strdup("no-such-kex");
	result = run(&transfer);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "no-such-kex: ");
	xb_suite_free(&suite);
}

/* sshd asks for new keys every 16 MB. */
static void
new_keys_within_the_stream_do_no_harm(void **state)
{
	const uint64_t size = 20000017;
	char *path = xb_strdup(scratch_path("large"));

	(void)state;
	scratch_make_file(path);
	assert_int_equal(truncate(path, (off_t)size), 0);
	far_side_options("-o RekeyLimit=16M");
	for (size_t m = 0; m < METHOD_COUNT; m++)
		for (size_t d = 0; d < DIRECTION_COUNT; d++) {
			struct xb_transfer transfer = transfer_of(methods[m], directions[d]);
			struct ssh_transfer_result result;

			transfer.size = size;
			if (transfer.remote_file != NULL)
				transfer.remote_file = path;
			transfer.remote_bytes = transfer.remote_file != NULL ? size : 0;
			result = run(&transfer);
			ssh_transfer_expect(&result, size);
		}
	far_side_options("");
	free(path);
}

static bool
refuse(void *ctx)
{
	(void)ctx;
	return false;
}

static void
other_streams_failure_ends_this_one(void **state)
{
	(void)state;
	for (size_t m = 0; m < METHOD_COUNT; m++)
		for (size_t d = 0; d < DIRECTION_COUNT; d++) {
			struct xb_transfer transfer = transfer_of(methods[m], directions[d]);
			struct ssh_transfer_result result;

			transfer.on_ready = refuse;
			result = run(&transfer);
			ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL,
			    "another stream has failed");
			assert_int_equal(result.outcome.bytes, 0);
			assert_int_equal(result.ends, 0);
		}
}

static void
compression_is_among_the_algorithms(void **state)
{
	struct xb_client_algorithms has = { 0 };

	(void)state;
	xb_client_libssh2.algorithms(&has);
	assert_true(xb_namelist_has(&has.ciphers, CIPHER));
	assert_true(xb_namelist_has(&has.compression, "none"));
	assert_true(xb_namelist_has(&has.compression, "zlib@openssh.com"));
	assert_true(xb_namelist_has(&has.compression, "zlib"));
	xb_client_algorithms_free(&has);
}

static void
upload_by_scp_alone_needs_its_size_beforehand(void **state)
{
	struct xb_transfer transfer = transfer_of(XB_METHOD_SCP, XB_UPLOAD);
	struct ssh_transfer_result result;

	(void)state;
	for (size_t m = 0; m < METHOD_COUNT; m++)
		for (size_t d = 0; d < DIRECTION_COUNT; d++)
			assert_int_equal(xb_client_libssh2.sized(methods[m], directions[d]),
			    methods[m] == XB_METHOD_SCP && directions[d] == XB_UPLOAD);
	/* What was announced comes whole, whatever the clock says. */
	transfer.time_ns = 1;
	result = run(&transfer);
	ssh_transfer_expect(&result, SIZE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_method_moves_exactly_the_size_either_way),
		cmocka_unit_test(part_of_a_file_can_be_downloaded),
		cmocka_unit_test(time_box_is_filled_but_by_scp),
		cmocka_unit_test(file_is_begun_again_until_the_time_is_over),
		cmocka_unit_test(as_negotiated_asks_for_nothing_and_reads_back_what_came),
		cmocka_unit_test(compression_is_asked_for_and_shows_on_the_wire),
		cmocka_unit_test(suite_that_the_server_does_not_take_has_no_result),
		cmocka_unit_test(login_alone_moves_nothing_and_takes_the_algorithms_asked_for),
		cmocka_unit_test(new_keys_within_the_stream_do_no_harm),
		cmocka_unit_test(other_streams_failure_ends_this_one),
		cmocka_unit_test(compression_is_among_the_algorithms),
		cmocka_unit_test(upload_by_scp_alone_needs_its_size_beforehand),
	};

	alarm(300);
	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
