#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"
#include "client/client.h"
#include "client/libssh.h"
#include "client/payload.h"
#include "far_side.h"
#include "model/namelist.h"
#include "scratch.h"
#include "ssh_transfer.h"
#include "target/target.h"

#ifdef HAVE_LIBSSH

#define CIPHER "aes128-ctr"
#define MAC "hmac-sha2-256"
#define SIZE SSH_TRANSFER_SIZE

/* One private sshd for all tests. */
static struct ssh_transfer_server server;
static struct xb_suite usual;

static const struct {
	enum xb_method method;
	enum xb_direction direction;
} ways[] = {
	{ XB_METHOD_EXEC, XB_UPLOAD },
	{ XB_METHOD_EXEC, XB_DOWNLOAD },
	{ XB_METHOD_SCP, XB_UPLOAD },
	{ XB_METHOD_SCP, XB_DOWNLOAD },
	{ XB_METHOD_SFTP, XB_UPLOAD },
	{ XB_METHOD_SFTP, XB_DOWNLOAD },
};
#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))

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

static int
set_up(void **state)
{
	(void)state;
	far_side_options("");
	return 0;
}

static struct ssh_transfer_result
run(const struct xb_transfer *transfer)
{
	return ssh_transfer_run(&xb_client_libssh, transfer, NULL);
}

static void
every_method_moves_exactly_the_size_either_way(void **state)
{
	struct ssh_transfer_result result;
	struct xb_transfer transfer;

	(void)state;
	for (size_t i = 0; i < WAY_COUNT; i++) {
		transfer = ssh_transfer_of(&server, ways[i].method, ways[i].direction, &usual);
		result = run(&transfer);
		ssh_transfer_expect(&result, SIZE);
		assert_string_equal(result.outcome.negotiated.cipher, CIPHER);
		assert_string_equal(result.outcome.negotiated.mac, MAC);
		assert_string_equal(result.outcome.negotiated.compression, "none");
		assert_string_not_equal(result.outcome.negotiated.kex, "");
		assert_string_not_equal(result.outcome.negotiated.hostkey, "");
		assert_true(result.outcome.connect_seconds > 0);
		assert_true(result.outcome.kex_seconds > 0);
		assert_true(result.outcome.auth_seconds > 0);
		/* Framing is there, and is little. */
		assert_in_range(result.outcome.wire_bytes, SIZE, SIZE + SIZE / 10);
	}
}

/* scp is told the size of an upload, and has no way to begin a file again. */
static void
time_box_is_filled_but_by_scp(void **state)
{
	const int64_t box = 200 * XB_NS_PER_MS;
	struct ssh_transfer_result result;
	struct xb_transfer transfer;

	(void)state;
	for (size_t i = 0; i < WAY_COUNT; i++) {
		assert_int_equal(xb_client_libssh.sized(ways[i].method, ways[i].direction),
		    ways[i].method == XB_METHOD_SCP && ways[i].direction == XB_UPLOAD);
		if (ways[i].method == XB_METHOD_SCP)
			continue;
		transfer = ssh_transfer_of(&server, ways[i].method, ways[i].direction, &usual);
		transfer.size = 0;
		transfer.time_ns = box;
		result = run(&transfer);
		ssh_transfer_expect(&result, result.outcome.bytes);
		assert_true(result.outcome.bytes > 0);
		assert_true(result.seconds_ns >= box);
	}
}

/* What was announced comes whole, whatever the clock says. */
static void
upload_by_scp_ends_with_its_size_and_not_with_its_time(void **state)
{
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_SCP, XB_UPLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	transfer.time_ns = 1;
	result = run(&transfer);
	ssh_transfer_expect(&result, transfer.size);
}

static void
file_is_downloaded_again_and_again_by_exec(void **state)
{
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_DOWNLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	transfer.remote_file = server.file;
	transfer.size = 2 * SIZE + 1;
	result = run(&transfer);
	ssh_transfer_expect(&result, 2 * SIZE + 1);
}

static void
part_of_a_file_can_be_downloaded(void **state)
{
	static const enum xb_method methods[] = { XB_METHOD_SCP, XB_METHOD_SFTP };
	struct ssh_transfer_result result;
	struct xb_transfer transfer;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		transfer = ssh_transfer_of(&server, methods[i], XB_DOWNLOAD, &usual);
		transfer.size = SIZE / 3;
		result = run(&transfer);
		ssh_transfer_expect(&result, SIZE / 3);
	}
}

static void
suite_is_forced_and_read_back(void **state)
{
	static const struct {
		const char *cipher, *mac;
	} suites[] = {
		{ "chacha20-poly1305@openssh.com", NULL },
		{ "aes256-gcm@openssh.com", NULL },
		{ "aes128-cbc", "hmac-sha1" },
		{ "aes192-ctr", "hmac-sha2-512-etm@openssh.com" },
	};
	struct xb_suite suite;
	struct xb_transfer transfer;
	struct ssh_transfer_result result;

	(void)state;
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		xb_suite_init(&suite, suites[i].cipher, suites[i].mac, NULL);
		transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_UPLOAD, &suite);
		result = run(&transfer);
		ssh_transfer_expect(&result, SIZE);
		assert_string_equal(result.outcome.negotiated.cipher, suites[i].cipher);
		assert_string_equal(result.outcome.negotiated.mac,
		    suites[i].mac != NULL ? suites[i].mac : "");
		xb_suite_free(&suite);
	}
}

static void
compression_shows_on_the_wire(void **state)
{
	const struct xb_payload_options zeros = {
		.what = "sparse",
		.bytes = SIZE,
		.dir = server.dir,
	};
	struct xb_payload *payload = xb_payload_new(&zeros, NULL);
	struct xb_suite suite;
	struct xb_transfer transfer;
	struct ssh_transfer_result result;

	(void)state;
	assert_non_null(payload);
	xb_suite_init(&suite, CIPHER, MAC, "zlib@openssh.com");
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		transfer =
		    ssh_transfer_of(&server, XB_METHOD_EXEC, (enum xb_direction)direction, &suite);
		transfer.payload = payload;
		result = run(&transfer);
		ssh_transfer_expect(&result, SIZE);
		assert_string_equal(result.outcome.negotiated.compression, "zlib@openssh.com");
		assert_in_range(result.outcome.wire_bytes, 1, SIZE / 10);
	}
	xb_suite_free(&suite);
	xb_payload_free(payload);
}

static void
left_to_the_library_it_is_its_first_choice(void **state)
{
	struct xb_client_algorithms has = { 0 };
	struct xb_suite suite;
	struct xb_transfer transfer;
	struct ssh_transfer_result result;
	size_t i = 0;

	(void)state;
	xb_suite_init(&suite, NULL, NULL, NULL);
	transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_UPLOAD, &suite);
	result = run(&transfer);
	ssh_transfer_expect(&result, SIZE);
	xb_client_libssh.algorithms(&has);
	while (!xb_namelist_has(&server.target->offer.ciphers_up, has.ciphers.names[i]))
		i++;
	assert_string_equal(result.outcome.negotiated.cipher, has.ciphers.names[i]);
	assert_string_equal(result.outcome.negotiated.compression, "none");
	xb_client_algorithms_free(&has);
}

static void
cipher_that_the_library_lacks_is_named(void **state)
{
	struct xb_suite suite;
	struct xb_transfer transfer;
	struct ssh_transfer_result result;

	(void)state;
	xb_suite_init(&suite, "arcfour", "hmac-sha1", NULL);
	transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_UPLOAD, &suite);
	result = run(&transfer);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "arcfour");
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "(libssh 0.");
	xb_suite_free(&suite);
}

static void
algorithms_are_asked_for_at_run_time_and_each_is_there_once(void **state)
{
	struct xb_client_algorithms has = { 0 };
	const struct xb_namelist *lists[] = { &has.kex, &has.hostkeys, &has.ciphers, &has.macs,
		&has.compression };

	(void)state;
	xb_client_libssh.algorithms(&has);
	assert_null(has.absent);
	for (size_t i = 0; i < 5; i++) {
		assert_true(lists[i]->count > 0);
		for (size_t a = 0; a < lists[i]->count; a++)
			for (size_t b = 0; b < a; b++)
				assert_string_not_equal(lists[i]->names[a], lists[i]->names[b]);
	}
	assert_true(xb_namelist_has(&has.ciphers, "aes128-gcm@openssh.com"));
	assert_false(xb_namelist_has(&has.ciphers, "arcfour"));
	assert_true(xb_namelist_has(&has.macs, "hmac-sha2-256-etm@openssh.com"));
	assert_false(xb_namelist_has(&has.macs, "umac-64@openssh.com"));
	assert_true(xb_namelist_has(&has.kex, "curve25519-sha256"));
	assert_true(xb_namelist_has(&has.hostkeys, "ssh-ed25519"));
	assert_string_equal(has.compression.names[0], "none");
	xb_client_algorithms_free(&has);
	assert_int_equal(strspn(xb_client_libssh.version(), "0123456789."),
	    strlen(xb_client_libssh.version()));
}

static void
rekey_in_mid_stream_does_no_harm(void **state)
{
	struct ssh_transfer_result result;
	struct xb_transfer transfer;

	(void)state;
	far_side_options("-o RekeyLimit=256K");
	for (size_t i = 0; i < WAY_COUNT; i++) {
		transfer = ssh_transfer_of(&server, ways[i].method, ways[i].direction, &usual);
		result = run(&transfer);
		ssh_transfer_expect(&result, SIZE);
	}
}

static bool
refuse_to_begin(void *ctx)
{
	(void)ctx;
	return false;
}

static void
stream_does_not_begin_when_another_one_has_failed(void **state)
{
	struct ssh_transfer_result result;
	struct xb_transfer transfer;

	(void)state;
	for (size_t i = 0; i < WAY_COUNT; i++) {
		transfer = ssh_transfer_of(&server, ways[i].method, ways[i].direction, &usual);
		transfer.on_ready = refuse_to_begin;
		result = run(&transfer);
		ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "another stream has failed");
		assert_int_equal(result.ends, 0);
	}
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		TEST(every_method_moves_exactly_the_size_either_way),
		TEST(time_box_is_filled_but_by_scp),
		TEST(upload_by_scp_ends_with_its_size_and_not_with_its_time),
		TEST(file_is_downloaded_again_and_again_by_exec),
		TEST(part_of_a_file_can_be_downloaded),
		TEST(suite_is_forced_and_read_back),
		TEST(compression_shows_on_the_wire),
		TEST(left_to_the_library_it_is_its_first_choice),
		TEST(cipher_that_the_library_lacks_is_named),
		TEST(algorithms_are_asked_for_at_run_time_and_each_is_there_once),
		TEST(rekey_in_mid_stream_does_no_harm),
		TEST(stream_does_not_begin_when_another_one_has_failed),
	};
#undef TEST

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

#else

/* The row is there, and says why it cannot be used. */
static void
build_without_libssh_says_so(void **state)
{
	struct xb_client_algorithms has = { 0 };

	(void)state;
	xb_client_libssh.algorithms(&has);
	assert_non_null(has.absent);
	assert_non_null(strstr(has.absent, "--with-libssh"));
	xb_client_algorithms_free(&has);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(build_without_libssh_says_so) };

	printf("# SKIP all other tests of the client libssh: this build is without it\n");
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
