#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/proc.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "bench/rounds.h"
#include "bench/trial.h"
#include "canned.h"
#include "client/client.h"
#include "client/payload.h"
#include "scratch.h"
#include "target/target.h"

/* Trials and rounds against a real private sshd, by the client libssh2. */

#define CIPHER "aes128-ctr"
#define MAC "hmac-sha2-256"
#define STALL_NS (30 * XB_NS_PER_SECOND)

/* No multiple of any buffer, packet or window. */
#define SIZE UINT64_C(1000017)

struct server {
	struct xb_rundir *dir;
	struct xb_target *target;
	struct xb_payload *payload;
};

static struct server server;

static int
set_up(void **state)
{
	const struct xb_target_options wanted = {
		.server_cpu = -1,
		.connect_timeout_ns = STALL_NS,
	};
	struct xb_payload_options payload = { .what = "random", .seed = 1 };
	struct xb_err err = { 0 };

	if (scratch_set_up(state) != 0)
		return -1;
	server.dir = scratch_new_run();
	server.target = xb_target_new(&wanted, server.dir, &err);
	if (server.target == NULL)
		fail_msg("%s", err.text);
	payload.dir = server.dir;
	server.payload = xb_payload_new(&payload, &err);
	if (server.payload == NULL)
		fail_msg("%s", err.text);
	return 0;
}

static int
tear_down(void **state)
{
	xb_payload_free(server.payload);
	xb_target_free(server.target);
	xb_rundir_free(server.dir);
	return scratch_tear_down(state);
}

static struct xb_sample
run_trial(enum xb_direction direction, unsigned streams, uint64_t size)
{
	struct xb_suite suite;
	struct xb_trial trial = {
		.client = xb_client_find("libssh2"),
		.target = server.target,
		.suite = &suite,
		.method = XB_METHOD_EXEC,
		.direction = direction,
		.streams = streams,
		.payload = server.payload,
		.time_ns = size > 0 ? 0 : 300 * XB_NS_PER_MS,
		.size = size,
		.stall_ns = STALL_NS,
		.client_cpu = -1,
		.server_cpu = -1,
	};
	struct xb_trial_end end;
	struct xb_sample sample;

	xb_suite_init(&suite, CIPHER, MAC, NULL);
	xb_trial_run(&trial, &sample, &end);
	xb_suite_free(&suite);
	if (sample.status != XB_MEASURED)
		fail_msg("%s", sample.reason);
	return sample;
}

/* Both ends have used CPU, and neither more than all the cores had in that time. */
static void
expect_cpu(const struct xb_sample *sample, unsigned streams)
{
	const double most = streams * (sample->seconds + 0.5);

	if (!(sample->client_cpu_seconds > 0 && sample->client_cpu_seconds < most))
		fail_msg("client %g s of %g s", sample->client_cpu_seconds, sample->seconds);
	if (!(sample->server_cpu_seconds > 0 && sample->server_cpu_seconds < most))
		fail_msg("server %g s of %g s", sample->server_cpu_seconds, sample->seconds);
	assert_string_equal(sample->negotiated.cipher, CIPHER);
	assert_true(sample->kex_seconds > 0);
}

static void
upload_and_download_have_bytes_and_cpu_of_both_ends(void **state)
{
	struct xb_sample sample;

	(void)state;
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		sample = run_trial((enum xb_direction)direction, 1, SIZE);
		assert_int_equal(sample.bytes, SIZE);
		expect_cpu(&sample, 1);
		sample = run_trial((enum xb_direction)direction, 1, 0);
		assert_true(sample.bytes > 0);
		assert_true(sample.seconds >= 0.3);
		expect_cpu(&sample, 1);
	}
	/* Nothing is left but the listener. */
	assert_int_equal(xb_proc_descendants(getpid(), (pid_t[8]){ 0 }, 8), 1);
}

static void
several_sessions_stream_at_once_and_all_their_bytes_count(void **state)
{
	struct xb_sample sample;

	(void)state;
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		sample = run_trial((enum xb_direction)direction, 4, SIZE);
		assert_int_equal(sample.bytes, 4 * SIZE);
		expect_cpu(&sample, 4);
	}
	assert_int_equal(xb_proc_descendants(getpid(), (pid_t[8]){ 0 }, 8), 1);
}

/* Adds libssh2's case, with a cipher or as negotiated. */
static struct xb_case *
add_case(struct xb_run *run, enum xb_method method, enum xb_direction direction, const char *cipher)
{
	struct xb_case *c = &xb_run_add_result(run)->c;

	c->client = "libssh2";
	c->method = method;
	c->direction = direction;
	c->as_negotiated = cipher == NULL;
	xb_suite_init(&c->suite, cipher, cipher != NULL ? MAC : NULL, NULL);
	return c;
}

static void
run_rounds(struct xb_run *run)
{
	struct xb_target *const targets[] = { server.target };
	const struct xb_rounds rounds = {
		.run = run,
		.targets = targets,
		.payload = server.payload,
		.stall_ns = STALL_NS,
	};
	struct xb_err err = { 0 };

	if (!xb_rounds_run(&rounds, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < run->result_count; i++)
		if (run->results[i].c.status != XB_MEASURED)
			fail_msg("%s %s: %s", xb_method_name(run->results[i].c.method),
			    xb_direction_name(run->results[i].c.direction),
			    run->results[i].c.reason);
}

static struct xb_run
new_run(void)
{
	struct xb_run run;

	canned_private(&run);
	run.logins = 0;
	run.rounds_done = 0;
	run.settings.rounds = 1;
	run.settings.client_cpu = run.settings.server_cpu = -1;
	run.settings.size = SIZE;
	run.settings.time_ns = 0;
	return run;
}

static void
every_method_and_direction_is_measured_in_rounds(void **state)
{
	static const enum xb_method methods[] = { XB_METHOD_EXEC, XB_METHOD_SCP, XB_METHOD_SFTP };
	struct xb_run run = new_run();

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++)
			add_case(&run, methods[i], (enum xb_direction)direction, CIPHER);
	run_rounds(&run);
	for (size_t i = 0; i < run.result_count; i++)
		assert_int_equal(run.results[i].samples[0].bytes, SIZE);
	/* GNU wc is what this machine has, or it is told that it has not. */
	assert_non_null(run.targets[0].count_check);
	xb_run_free(&run);
}

static void
suite_as_negotiated_is_read_from_the_session(void **state)
{
	struct xb_run run = new_run();
	const struct xb_case *c;

	(void)state;
	add_case(&run, XB_METHOD_EXEC, XB_UPLOAD, NULL)->method_auto = true;
	run_rounds(&run);
	assert_int_equal(run.result_count, 1);
	c = &run.results[0].c;
	assert_true(c->as_negotiated);
	assert_false(c->method_auto);
	assert_non_null(c->suite.cipher);
	assert_string_equal(c->suite.cipher_name, run.results[0].samples[0].negotiated.cipher);
	xb_run_free(&run);
}

static void
login_alone_has_the_seconds_of_its_steps(void **state)
{
	struct xb_run run = new_run();
	const struct xb_sample *sample;

	(void)state;
	run.settings.handshakes = 2;
	add_case(&run, XB_METHOD_LOGIN, XB_UPLOAD, NULL);
	run_rounds(&run);
	assert_int_equal(run.results[0].sample_count, 2);
	sample = &run.results[0].samples[1];
	assert_true(sample->connect_seconds >= 0);
	assert_true(sample->kex_seconds > 0);
	assert_true(sample->auth_seconds > 0);
	assert_true(isnan(xb_sample_rate(sample)));
	assert_string_not_equal(sample->negotiated.kex, "");
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(upload_and_download_have_bytes_and_cpu_of_both_ends),
		cmocka_unit_test(several_sessions_stream_at_once_and_all_their_bytes_count),
		cmocka_unit_test(every_method_and_direction_is_measured_in_rounds),
		cmocka_unit_test(suite_as_negotiated_is_read_from_the_session),
		cmocka_unit_test(login_alone_has_the_seconds_of_its_steps),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
