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

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "client/payload.h"
#include "fake_clients.h"
#include "scratch.h"

#define MIB (UINT64_C(1024) * 1024)
#define CHECK_BYTES (8 * MIB + 17)

/* ---- how much ------------------------------------------------------------------------ */

static double rates[4]; /* of the check, and of each round */

static bool
at_a_given_rate(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	size_t call = fake_call_count() - 1;

	(void)client;
	return fake_streams(transfer, rates[call < 3 ? call : 3] * (double)MIB, outcome, err);
}

static void
transfer_that_needs_a_size_is_scaled_from_what_was_seen(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_behaves = at_a_given_rate;
	fake_is_sized = true;
	bench->run.settings.time_ns = 400 * XB_NS_PER_MS;
	bench->run.settings.rounds = 3;
	/* A sample takes a little longer than it should: each is some way from where the power of two
	 * would be another one. */
	rates[0] = 90;
	rates[1] = rates[2] = rates[3] = 360;
	fake_case(bench, "alpha", "cipher-a", NULL);
	fake_bench_run(bench);
	assert_int_equal(fake_call(0)->size, CHECK_BYTES);
	assert_int_equal(fake_call(1)->size, 32 * MIB);
	assert_int_equal(fake_call(2)->size, 128 * MIB);
	assert_int_equal(fake_call(3)->size, 128 * MIB);
	assert_int_equal(bench->run.results[0].samples[0].bytes, 32 * MIB);
	fake_bench_free(bench);
}

static void
streams_share_what_was_seen(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_behaves = at_a_given_rate;
	fake_is_sized = true;
	bench->run.settings.time_ns = 400 * XB_NS_PER_MS;
	bench->run.settings.rounds = 1;
	rates[0] = rates[1] = rates[2] = rates[3] = 90;
	fake_case(bench, "alpha", "cipher-a", NULL)->streams = 4;
	fake_bench_run(bench);
	for (size_t i = 1; i <= 4; i++)
		assert_int_equal(fake_call(i)->size, 8 * MIB);
	fake_bench_free(bench);
}

static void
slow_link_is_checked_with_less_once_it_is_known(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_behaves = at_a_given_rate;
	bench->run.settings.rounds = 1;
	fake_is_sized = true;
	rates[0] = rates[1] = rates[2] = rates[3] = 4;
	fake_case(bench, "alpha", "cipher-a", NULL)->method = XB_METHOD_SCP;
	fake_case(bench, "beta", "cipher-a", NULL)->method = XB_METHOD_SFTP;
	fake_bench_run(bench);
	assert_int_equal(fake_call(0)->size, CHECK_BYTES);
	assert_in_range(fake_call(1)->size, 3 * MIB, 4 * MIB);
	/* And 10 ms of it are no transfer. */
	assert_int_equal(fake_call(2)->size, MIB);
	fake_bench_free(bench);
}

static void
size_of_the_users_counts_exactly(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_is_sized = fake_reads_file = true;
	bench->run.settings.size = 1234567;
	fake_case(bench, "alpha", "cipher-a", NULL);
	fake_case(bench, "alpha", "cipher-b", NULL)->direction = XB_DOWNLOAD;
	fake_bench_run(bench);
	for (size_t i = 2; i < fake_call_count(); i++)
		assert_int_equal(fake_call(i)->size, 1234567);
	fake_bench_free(bench);
}

static void
client_that_the_clock_ends_gets_no_size(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	fake_case(bench, "alpha", "cipher-a", NULL);
	fake_bench_run(bench);
	assert_int_equal(fake_call(1)->size, 0);
	assert_int_equal(fake_call(1)->time_ns, 10 * XB_NS_PER_MS);
	fake_bench_free(bench);
}

/* ---- which file ---------------------------------------------------------------------- */

static void
expect_file(const struct fake_call *call)
{
	assert_true(call->size > 0);
	if (call->file[0] == '\0')
		fail_msg("no file for %s", xb_method_name(call->method));
	assert_int_equal(call->remote_bytes, call->size);
}

/* Where files for programs are made. */
static const char *made_in;

/* In the process of the trial, where a program would open it: it is there, and not made anew. */
static bool
opens_its_file(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	char name[512];
	struct stat before, after;
	const char *path = transfer->remote_file;

	(void)client;
	snprintf(name, sizeof(name), "%s/payload-%llu", made_in,
	    (unsigned long long)transfer->size);
	if (stat(name, &before) != 0)
		return fake_fails_at(transfer, XB_PHASE_EXEC, XB_FAULT_TRIAL, "no file", err);
	if (transfer->direction == XB_UPLOAD)
		path = xb_payload_file(transfer->payload, transfer->size, err);
	if (path == NULL || strcmp(path, name) != 0 || stat(path, &after) != 0 ||
	    before.st_ino != after.st_ino || (uint64_t)after.st_size != transfer->size)
		return fake_fails_at(transfer, XB_PHASE_EXEC, XB_FAULT_TRIAL, "another", err);
	return fake_streams(transfer, 0, outcome, err);
}

static void
file_for_programs_is_there_before_the_trial(void **state)
{
	struct fake_bench *bench = fake_bench_new("sparse");

	(void)state;
	made_in = xb_rundir_path(bench->dir);
	fake_behaves = opens_its_file;
	fake_is_sized = fake_reads_file = true;
	bench->run.settings.size = 4000000;
	fake_case(bench, "alpha", "cipher-a", NULL)->method = XB_METHOD_SCP;
	fake_case(bench, "alpha", "cipher-b", NULL)->method = XB_METHOD_SFTP;
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "cipher-a", XB_MEASURED, NULL);
	fake_expect(bench, "alpha", "cipher-b", XB_MEASURED, NULL);
	fake_bench_free(bench);
}

static void
private_server_sends_a_file_of_ours(void **state)
{
	static const enum xb_method methods[] = { XB_METHOD_SCP, XB_METHOD_SFTP };
	struct fake_bench *bench = fake_bench_new("sparse");
	struct xb_case *c;

	(void)state;
	made_in = xb_rundir_path(bench->dir);
	fake_behaves = opens_its_file;
	fake_is_sized = true;
	for (size_t i = 0; i < 2; i++) {
		c = fake_case(bench, "alpha", "cipher-a", NULL);
		c->method = methods[i];
		c->direction = XB_DOWNLOAD;
	}
	fake_bench_run(bench);
	for (size_t i = 0; i < 2; i++)
		if (bench->run.results[i].c.status != XB_MEASURED)
			fail_msg("%s", bench->run.results[i].c.reason);
	for (size_t i = 0; i < fake_call_count(); i++)
		expect_file(fake_call(i));
	fake_bench_free(bench);
}

static void
download_that_the_clock_ends_has_a_file_that_lasts(void **state)
{
	struct fake_bench *bench = fake_bench_new("sparse");
	struct xb_case *c = fake_case(bench, "alpha", "cipher-a", NULL);

	(void)state;
	fake_behaves = at_a_given_rate;
	rates[0] = rates[1] = rates[2] = rates[3] = 90;
	bench->run.settings.time_ns = 400 * XB_NS_PER_MS;
	bench->run.settings.rounds = 1;
	c->method = XB_METHOD_SFTP;
	c->direction = XB_DOWNLOAD;
	fake_bench_run(bench);
	assert_int_equal(fake_call(1)->size, 0);
	/* 36 MiB in the time-box: of the powers of two 32 is the nearest, twice that lasts. */
	assert_int_equal(fake_call(1)->remote_bytes, 64 * MIB);
	fake_bench_free(bench);
}

/* What exec downloads from a private server with a payload: "" zeros of dd's. */
static char *
file_of_exec(const char *payload)
{
	struct fake_bench *bench = fake_bench_new(payload);
	char *file;

	fake_case(bench, "alpha", "cipher-a", NULL)->direction = XB_DOWNLOAD;
	fake_bench_run(bench);
	assert_int_equal(bench->run.notes.count, 0);
	file = xb_strdup(fake_call(fake_call_count() - 1)->file);
	fake_bench_free(bench);
	return file;
}

static void
exec_sends_zeros_of_its_own_and_a_file_of_all_else(void **state)
{
	char *zeros = file_of_exec("sparse"), *noise = file_of_exec("random");

	(void)state;
	assert_string_equal(zeros, "");
	assert_non_null(strstr(noise, "/payload-"));
	free(zeros);
	free(noise);
}

/* A server that is not ours, on this machine or another. */
static struct fake_bench *
new_foreign(const char *payload)
{
	struct fake_bench *bench = fake_bench_new(payload);

	bench->run.targets[0].is_private = false;
	return bench;
}

static void
other_servers_send_the_file_that_the_user_names(void **state)
{
	struct fake_bench *bench = new_foreign("sparse");
	struct xb_case *c = fake_case(bench, "alpha", "cipher-a", NULL);

	(void)state;
	bench->rounds.remote_file = "/srv/large";
	bench->run.settings.size = 5000000;
	c->method = XB_METHOD_SFTP;
	c->direction = XB_DOWNLOAD;
	fake_bench_run(bench);
	for (size_t i = 0; i < fake_call_count(); i++) {
		assert_string_equal(fake_call(i)->file, "/srv/large");
		assert_int_equal(fake_call(i)->remote_bytes, 0);
	}
	assert_int_equal(fake_call(1)->size, 5000000);
	fake_bench_free(bench);
}

static void
nothing_to_download_is_a_reason_and_no_login(void **state)
{
	struct fake_bench *bench = new_foreign("sparse");
	struct xb_case *c = fake_case(bench, "alpha", "cipher-a", NULL);

	(void)state;
	c->method = XB_METHOD_SCP;
	c->direction = XB_DOWNLOAD;
	fake_case(bench, "alpha", "cipher-b", NULL);
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "cipher-a", XB_FAILED, "--remote-file");
	assert_int_equal(fake_calls_of("alpha", XB_METHOD_SCP), 0);
	fake_expect(bench, "alpha", "cipher-b", XB_MEASURED, NULL);
	fake_bench_free(bench);
}

static void
zeros_that_come_instead_of_the_payload_are_told(void **state)
{
	struct fake_bench *bench = new_foreign("random");

	(void)state;
	fake_case(bench, "alpha", "cipher-a", NULL)->direction = XB_DOWNLOAD;
	fake_bench_run(bench);
	assert_int_equal(bench->run.notes.count, 1);
	assert_non_null(strstr(bench->run.notes.names[0], "zeros"));
	fake_bench_free(bench);
}

static void
file_that_cannot_be_made_is_the_reason_of_those_that_need_it(void **state)
{
	struct fake_bench *bench = fake_bench_new("random");

	(void)state;
	/* As when somebody has removed it; root may write anywhere. */
	assert_int_equal(rmdir(xb_rundir_path(bench->dir)) == 0 ||
		rename(xb_rundir_path(bench->dir), scratch_path("elsewhere")) == 0,
	    1);
	fake_reads_file = true;
	fake_case(bench, "alpha", "cipher-a", NULL);
	fake_bench_run(bench);
	fake_expect(bench, "alpha", "cipher-a", XB_FAILED, "TMPDIR");
	assert_int_equal(fake_call_count(), 0);
	fake_bench_free(bench);
}

#define SIZE_TEST(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SIZE_TEST(transfer_that_needs_a_size_is_scaled_from_what_was_seen),
		SIZE_TEST(streams_share_what_was_seen),
		SIZE_TEST(slow_link_is_checked_with_less_once_it_is_known),
		SIZE_TEST(size_of_the_users_counts_exactly),
		SIZE_TEST(client_that_the_clock_ends_gets_no_size),
		SIZE_TEST(file_for_programs_is_there_before_the_trial),
		SIZE_TEST(private_server_sends_a_file_of_ours),
		SIZE_TEST(download_that_the_clock_ends_has_a_file_that_lasts),
		SIZE_TEST(exec_sends_zeros_of_its_own_and_a_file_of_all_else),
		SIZE_TEST(other_servers_send_the_file_that_the_user_names),
		SIZE_TEST(nothing_to_download_is_a_reason_and_no_login),
		SIZE_TEST(zeros_that_come_instead_of_the_payload_are_told),
		SIZE_TEST(file_that_cannot_be_made_is_the_reason_of_those_that_need_it),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
