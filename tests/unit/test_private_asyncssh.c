#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/rundir.h"
#include "bench/primitive.h"
#include "fake_server.h"
#include "model/namelist.h"
#include "model/offer.h"
#include "scratch.h"
#include "ssh_peer.h"
#include "target/offer_reader.h"
#include "target/private.h"

/* How many of the tests need no asyncssh. */
#define WITHOUT_ASYNCSSH 3

/* Starts a stand-in for python3, which must fail. */
static struct xb_err
refusal(const char *text)
{
	struct xb_private_options options = { .program = scratch_path("python3") };
	FILE *out = fopen(options.program, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(options.program, 0755), 0);
	return ssh_peer_refusal(&xb_private_asyncssh, &options);
}

static void
missing_python_is_told_with_the_package(void **state)
{
	struct xb_private_kind nowhere = xb_private_asyncssh;
	struct xb_err err;

	(void)state;
	nowhere.program = "/nowhere/python3";
	err = ssh_peer_refusal(&nowhere, NULL);
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "install python3-asyncssh"));
}

static void
python_without_asyncssh_is_told_with_the_package(void **state)
{
	/* -S keeps the installed modules away. */
	const struct xb_err err = refusal("#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n");

	(void)state;
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "install python3-asyncssh"));
}

static void
python_that_breaks_is_told_in_its_own_words(void **state)
{
	const struct xb_err err =
	    refusal("#!/bin/sh\necho Traceback; echo 'no snakes here'; exit 1\n");

	(void)state;
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "no snakes here"));
	assert_null(strstr(err.text, "Traceback"));
}

static struct xb_offer
read_offer(const struct ssh_peer *peer)
{
	struct xb_peer address = { .address = "" };
	struct xb_offer offer = { 0 };
	struct xb_err err = { .fault = XB_FAULT_NONE };

	if (!xb_offer_read("127.0.0.1", peer->login->port, HANG_NS, &address, &offer, &err))
		fail_msg("%s", err.text);
	return offer;
}

static void
old_ciphers_are_offered_and_stream(void **state)
{
	static const char *const ciphers[] = { "blowfish-cbc", "cast128-cbc", "arcfour128",
		"arcfour", "3des-cbc" };
	struct ssh_peer peer = ssh_peer_start(&xb_private_asyncssh, NULL);
	struct xb_offer offer = read_offer(&peer);

	(void)state;
	assert_string_equal(peer.login->lacks, "");
	for (size_t i = 0; i < sizeof(ciphers) / sizeof(ciphers[0]); i++) {
		const struct ssh_peer_stream stream =
		    ssh_peer_send(&peer, ciphers[i], "hmac-sha1", NULL, 1000000);

		assert_true(xb_namelist_has(&offer.ciphers_up, ciphers[i]));
		assert_string_equal(stream.cipher, ciphers[i]);
		assert_int_equal(stream.counted, 1000000);
	}
	assert_true(xb_namelist_has(&offer.ciphers_down, "arcfour256"));
	assert_true(xb_namelist_has(&offer.macs_up, "hmac-md5"));
	assert_true(xb_namelist_has(&offer.macs_up, "hmac-sha1-96"));
	assert_true(xb_namelist_has(&offer.compression_up, "zlib"));
	assert_true(xb_namelist_has(&offer.compression_up, "none"));
	xb_offer_free(&offer);
	ssh_peer_stop(&peer);
}

static void
no_byte_is_lost_when_the_sink_is_slow(void **state)
{
	struct ssh_peer peer = ssh_peer_start(&xb_private_asyncssh, NULL);
	/* All of it, and its end, is there before the sink takes the first byte. */
	const struct ssh_peer_stream stream =
	    ssh_peer_send(&peer, "aes128-ctr", NULL, "sleep 0.3; wc -c", 1500000);

	(void)state;
	assert_int_equal(stream.counted, 1500000);
	ssh_peer_stop(&peer);
}

static void
without_the_legacy_provider_its_ciphers_are_left_out_and_the_rest_works(void **state)
{
	struct ssh_peer peer;
	struct xb_offer offer;
	char out[4096];

	(void)state;
	assert_int_equal(setenv("OPENSSL_MODULES", scratch_dir(), 1), 0);
	peer = ssh_peer_start(&xb_private_asyncssh, NULL);
	unsetenv("OPENSSL_MODULES");
	offer = read_offer(&peer);
	assert_false(xb_namelist_has(&offer.ciphers_up, "blowfish-cbc"));
	assert_false(xb_namelist_has(&offer.ciphers_up, "cast128-cbc"));
	assert_false(xb_namelist_has(&offer.ciphers_up, "arcfour"));
	assert_true(xb_namelist_has(&offer.ciphers_up, "aes128-cbc"));
	assert_true(xb_namelist_has(&offer.ciphers_up, "3des-cbc"));
	assert_non_null(strstr(peer.login->lacks, "no blowfish-cbc, "));
	assert_non_null(strstr(peer.login->lacks, "legacy provider"));
	assert_int_equal(ssh_peer_ssh(&peer, NULL, "echo works", out, sizeof(out)), 0);
	assert_string_equal(out, "works\n");
	xb_offer_free(&offer);
	ssh_peer_stop(&peer);
}

static void
files_go_by_scp_and_sftp_and_the_null_device_keeps_its_mode(void **state)
{
	struct ssh_peer peer = ssh_peer_start(&xb_private_asyncssh, NULL);
	char *file = scratch_path("file"), *batch = scratch_path("batch");
	const char *const sftp[] = { "-b", batch, NULL };
	const char *const host[] = { "127.0.0.1", NULL };
	struct stat before, after, copied;
	char *copy = scratch_path("copy");
	char out[4096];
	const char *const scp[] = { "-O", NULL };
	const char *const names[] = { file, "127.0.0.1:/dev/null", NULL };
	FILE *batch_file;

	(void)state;
	assert_int_equal(stat("/dev/null", &before), 0);
	scratch_make_file(file);
	assert_int_equal(truncate(file, 3000000), 0);
	batch_file = fopen(batch, "we");
	assert_non_null(batch_file);
	fprintf(batch_file, "put %s /dev/null\nget %s %s\n", file, file, copy);
	fclose(batch_file);
	assert_int_equal(ssh_peer_program(&peer, "sftp", sftp, host, out, sizeof(out)), 0);
	assert_int_equal(stat(copy, &copied), 0);
	assert_int_equal(copied.st_size, 3000000);
	assert_int_equal(ssh_peer_program(&peer, "scp", scp, names, out, sizeof(out)), 0);
	assert_int_equal(stat("/dev/null", &after), 0);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(unlink(file) | unlink(batch) | unlink(copy), 0);
	ssh_peer_stop(&peer);
}

static void
refused_logins_are_in_the_log(void **state)
{
	const char *const other_user[] = { "-l", "nobody", NULL };
	struct ssh_peer peer = ssh_peer_start(&xb_private_asyncssh, NULL);
	char out[4096];

	(void)state;
	assert_int_equal(ssh_peer_ssh(&peer, other_user, "true", out, sizeof(out)), 255);
	assert_non_null(strstr(ssh_peer_drain(&peer).log, "no login for 'nobody'"));
	ssh_peer_stop(&peer);
}

static void
command_ends_with_its_connection(void **state)
{
	struct ssh_peer peer = ssh_peer_start(&xb_private_asyncssh, NULL);
	struct xb_private_usage usage;

	(void)state;
	ssh_peer_abandon(&peer, "sleep 1000 & sleep 1000");
	usage = ssh_peer_drain(&peer);
	assert_int_equal(usage.started, 1);
	assert_false(usage.killed);
	ssh_peer_stop(&peer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(missing_python_is_told_with_the_package),
		TEST(python_without_asyncssh_is_told_with_the_package),
		TEST(python_that_breaks_is_told_in_its_own_words),
		TEST(no_byte_is_lost_when_the_sink_is_slow),
		TEST(without_the_legacy_provider_its_ciphers_are_left_out_and_the_rest_works),
		TEST(files_go_by_scp_and_sftp_and_the_null_device_keeps_its_mode),
		TEST(refused_logins_are_in_the_log),
		TEST(command_ends_with_its_connection),
		TEST(old_ciphers_are_offered_and_stream),
	};
	const char *absent = ssh_peer_absent(&xb_private_asyncssh);
	size_t count = sizeof(tests) / sizeof(tests[0]);

	if (absent != NULL) {
		count = WITHOUT_ASYNCSSH;
		printf("# SKIP all but the first %zu: %s\n", count, absent);
	} else if (!xb_primitive_load_legacy()) {
		count--;
		printf("# SKIP the last: there is no legacy provider of OpenSSL\n");
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("tests", tests, count, ssh_peer_set_up_group, NULL);
}
