#include <math.h>
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
#include "base/signals.h"
#include "bench/rounds.h"
#include "canned.h"
#include "client/client.h"
#include "client/payload.h"
#include "model/cipher.h"
#include "model/run.h"
#include "scratch.h"

/*
 * As the null client, which needs no target and sends whatever the suite is called; but it logs in.
 */
static bool
transfer(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	outcome->connect_seconds = outcome->kex_seconds = outcome->auth_seconds = 0.001;
	if (transfer->method == XB_METHOD_LOGIN)
		return true;
	return xb_client_find("null")->transfer(transfer, outcome, err);
}

static void
no_algorithms(struct xb_client_algorithms *algorithms)
{
	(void)algorithms;
}

static const struct xb_client fake = {
	.name = "fake",
	.label = "Fake",
	.algorithms = no_algorithms,
	.transfer = transfer,
	.ranked = true,
};
static const struct xb_client *const clients[] = { &fake, NULL };
static struct xb_target *const no_targets[] = { NULL };

struct bench {
	struct xb_run run;
	struct xb_payload *payload;
	struct xb_rounds rounds;
	char *file; /* the payload, where a test makes it fail */
	unsigned news, rounds_told;
	unsigned stop_after;   /* on_round gives an error after so many; 0: never */
	unsigned shrink_after; /* the payload is cut after so many; 0: never */
	double seconds_left;   /* as first told */
	bool label_seen;       /* "cipher by client" was among the news */
};

static void
on_news(void *ctx, const struct xb_rounds_news *news)
{
	struct bench *bench = ctx;

	assert_non_null(news->label);
	assert_true(isfinite(news->seconds_left) && news->seconds_left >= 0);
	assert_true(news->round < news->rounds);
	bench->label_seen = bench->label_seen || strcmp(news->label, "aes256-ctr by Fake") == 0;
	if (bench->news++ == 0)
		bench->seconds_left = news->seconds_left;
}

static bool
on_round(void *ctx, const struct xb_run *run, struct xb_err *err)
{
	struct bench *bench = ctx;

	bench->rounds_told++;
	assert_int_equal(run->rounds_done, bench->rounds_told);
	if (bench->rounds_told == bench->shrink_after)
		assert_int_equal(truncate(bench->file, 10), 0);
	if (bench->rounds_told == bench->stop_after)
		return xb_fail(err, XB_FAULT_SYSTEM, "the disk is full");
	return true;
}

/* A bench of the first `cases` ciphers of our table, with trials of a megabyte. */
static void
prepare(struct bench *bench, size_t cases, unsigned rounds, uint64_t seed)
{
	const struct xb_payload_options options = { .what = bench->file };
	struct xb_err err = { 0 };
	struct xb_result *result;

	canned_private(&bench->run);
	bench->run.rounds_done = 0;
	bench->run.logins = 0;
	bench->run.settings.rounds = rounds;
	bench->run.settings.seed = seed;
	bench->run.settings.time_ns = 0;
	bench->run.settings.size = 1000000;
	bench->run.settings.client_cpu = -1;
	for (size_t i = 0; i < cases; i++) {
		result = canned_case(&bench->run, xb_ciphers[i].name, NULL);
		result->c.client = "fake";
		result->c.client_label = "Fake";
		result->c.streams = 1;
	}
	bench->payload = xb_payload_new(&options, &err);
	if (bench->payload == NULL)
		fail_msg("%s", err.text);
	bench->rounds = (struct xb_rounds){
		.run = &bench->run,
		.targets = no_targets,
		.clients = clients,
		.payload = bench->payload,
		.stall_ns = XB_NS_PER_SECOND,
		.on_news = on_news,
		.on_round = on_round,
		.ctx = bench,
	};
}

static struct bench
new_bench(size_t cases, unsigned rounds, uint64_t seed)
{
	struct bench bench = { .file = scratch_path("file") };

	scratch_make_file(bench.file);
	assert_int_equal(truncate(bench.file, 2000000), 0);
	prepare(&bench, cases, rounds, seed);
	return bench;
}

static void
free_bench(struct bench *bench)
{
	xb_payload_free(bench->payload);
	xb_run_free(&bench->run);
	unlink(bench->file);
}

static void
run_bench(struct bench *bench)
{
	struct xb_err err = { 0 };

	bench->rounds.ctx = bench;
	bench->rounds.run = &bench->run;
	if (!xb_rounds_run(&bench->rounds, &err))
		fail_msg("%s", err.text);
	assert_int_equal(err.fault, XB_FAULT_NONE);
}

/* Which case ran at which place: a letter for each case, a blank behind each round. */
static void
order_of(const struct xb_run *run, char *out, size_t rounds)
{
	memset(out, '?', rounds * (run->result_count + 1));
	for (size_t round = 0; round < rounds; round++)
		out[round * (run->result_count + 1) + run->result_count] = ' ';
	out[rounds * (run->result_count + 1)] = '\0';
	for (size_t i = 0; i < run->result_count; i++)
		for (size_t j = 0; j < run->results[i].sample_count; j++) {
			const struct xb_sample *sample = &run->results[i].samples[j];

			assert_true(sample->order < run->result_count);
			out[sample->round * (run->result_count + 1) + sample->order] =
			    (char)('a' + i);
		}
}

static void
each_round_visits_every_case_once_and_orders_differ(void **state)
{
	struct bench bench = new_bench(5, 4, 42);
	char order[64];
	bool differ = false;

	(void)state;
	run_bench(&bench);
	order_of(&bench.run, order, 4);
	for (size_t round = 0; round < 4; round++) {
		for (int c = 'a'; c <= 'e'; c++)
			if (memchr(order + round * 6, c, 5) == NULL)
				fail_msg("%c has no place in round %zu: %s", c, round, order);
		differ = differ || memcmp(order, order + round * 6, 5) != 0;
	}
	assert_true(differ);
	assert_int_equal(bench.run.rounds_done, 4);
	assert_int_equal(bench.rounds_told, 4);
	assert_false(bench.run.partial);
	for (size_t i = 0; i < 5; i++) {
		unsigned counting = 0;

		assert_int_equal(bench.run.results[i].c.status, XB_MEASURED);
		assert_null(bench.run.results[i].c.reason);
		for (size_t j = 0; j < bench.run.results[i].sample_count; j++)
			counting += xb_sample_counts(&bench.run.results[i].samples[j]);
		/* A disturbed trial is repeated; one of each round counts. */
		assert_int_equal(counting, 4);
	}
	free_bench(&bench);
}

static void
seed_reproduces_the_orders(void **state)
{
	static const uint64_t seeds[] = { 7, 7, 8 };
	char orders[3][64];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct bench bench = new_bench(5, 3, seeds[i]);

		run_bench(&bench);
		order_of(&bench.run, orders[i], 3);
		free_bench(&bench);
	}
	assert_string_equal(orders[0], orders[1]);
	assert_string_not_equal(orders[0], orders[2]);
}

static void
every_trial_and_the_check_are_logins(void **state)
{
	struct bench bench = new_bench(2, 2, 1);
	size_t trials = 0;

	(void)state;
	run_bench(&bench);
	for (size_t i = 0; i < 2; i++)
		trials += bench.run.results[i].sample_count;
	assert_int_equal(bench.run.logins, trials + 1);
	assert_true(bench.run.null_rate > 1e9);
	assert_true(bench.run.seconds > 0);
	assert_non_null(bench.run.targets[0].count_check);
	free_bench(&bench);
}

static void
raw_speeds_are_measured_in_each_round(void **state)
{
	struct bench bench = new_bench(2, 3, 1);

	(void)state;
	run_bench(&bench);
	assert_int_equal(bench.run.primitive_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_null(bench.run.primitives[i].reason);
		assert_int_equal(bench.run.primitives[i].encrypt.count, 3);
		for (size_t j = 0; j < 3; j++)
			assert_true(bench.run.primitives[i].encrypt.values[j] > 0);
	}
	free_bench(&bench);
}

static void
refused_case_is_never_tried(void **state)
{
	struct bench bench = new_bench(3, 2, 1);

	(void)state;
	xb_case_refuse(&bench.run.results[1].c, XB_NOT_OFFERED, "not offered", NULL);
	run_bench(&bench);
	assert_int_equal(bench.run.results[1].c.status, XB_NOT_OFFERED);
	assert_int_equal(bench.run.results[1].sample_count, 0);
	assert_int_equal(bench.run.results[0].c.status, XB_MEASURED);
	assert_int_equal(bench.run.results[2].c.status, XB_MEASURED);
	free_bench(&bench);
}

static void
case_that_fails_twice_is_left_alone_and_has_its_reason(void **state)
{
	struct bench bench = new_bench(2, 5, 1);

	(void)state;
	/* From the beginning each trial fails. */
	assert_int_equal(truncate(bench.file, 10), 0);
	run_bench(&bench);
	for (size_t i = 0; i < 2; i++) {
		const struct xb_result *result = &bench.run.results[i];

		assert_int_equal(result->c.status, XB_FAILED);
		assert_int_equal(result->sample_count, 2);
		assert_non_null(strstr(result->c.reason, "shorter"));
	}
	assert_int_equal(bench.run.rounds_done, 5);
	free_bench(&bench);
}

static void
failure_after_a_rate_keeps_rate_and_reason(void **state)
{
	struct bench bench = new_bench(1, 3, 1);

	(void)state;
	bench.shrink_after = 1;
	run_bench(&bench);
	assert_int_equal(bench.run.results[0].c.status, XB_MEASURED);
	assert_non_null(bench.run.results[0].c.reason);
	assert_non_null(strstr(bench.run.results[0].c.reason, "shorter"));
	free_bench(&bench);
}

static void
time_bound_ends_the_run_between_trials(void **state)
{
	struct bench bench = new_bench(2, 10000, 1);

	(void)state;
	bench.rounds.max_ns = 600 * XB_NS_PER_MS;
	run_bench(&bench);
	assert_true(bench.run.partial);
	assert_non_null(strstr(bench.run.partial_reason, "--max-time"));
	assert_true(bench.run.rounds_done < 10000);
	free_bench(&bench);
}

static void
nothing_stays_planned_when_the_time_is_over_at_once(void **state)
{
	struct bench bench = new_bench(6, 3, 1);

	(void)state;
	bench.rounds.max_ns = 1;
	run_bench(&bench);
	assert_true(bench.run.partial);
	assert_int_equal(bench.run.rounds_done, 0);
	for (size_t i = 0; i < 6; i++) {
		const struct xb_case *c = &bench.run.results[i].c;

		assert_true(c->status == XB_MEASURED || c->status == XB_FAILED);
		assert_true((c->status == XB_FAILED) == (c->reason != NULL));
	}
	free_bench(&bench);
}

static void
error_of_the_watcher_ends_the_run(void **state)
{
	struct bench bench = new_bench(1, 5, 1);
	struct xb_err err = { 0 };

	(void)state;
	bench.stop_after = 2;
	bench.rounds.ctx = &bench;
	bench.rounds.run = &bench.run;
	assert_false(xb_rounds_run(&bench.rounds, &err));
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	assert_string_equal(err.text, "the disk is full");
	assert_int_equal(bench.run.rounds_done, 2);
	free_bench(&bench);
}

static void
news_tells_of_the_time_left(void **state)
{
	struct bench bench = new_bench(2, 2, 1);

	(void)state;
	run_bench(&bench);
	/* The login, each trial, and the raw speeds of each round. */
	assert_true(bench.news >= 1 + 4 + 2);
	assert_true(bench.seconds_left > 0);
	free_bench(&bench);
}

static void
nobody_has_to_watch(void **state)
{
	struct bench bench = new_bench(1, 1, 1);

	(void)state;
	bench.rounds.on_news = NULL;
	bench.rounds.on_round = NULL;
	run_bench(&bench);
	assert_int_equal(bench.run.rounds_done, 1);
	free_bench(&bench);
}

static void
news_names_suite_and_client(void **state)
{
	struct bench bench = new_bench(0, 1, 1);
	struct xb_result *result;

	(void)state;
	result = canned_case(&bench.run, "aes256-ctr", "hmac-sha2-256");
	result->c.client = "fake";
	result->c.client_label = "Fake";
	run_bench(&bench);
	assert_true(bench.label_seen);
	free_bench(&bench);
}

static void
handshakes_are_rounds_of_logins_without_bytes_or_speeds(void **state)
{
	struct bench bench = new_bench(3, 1, 1);
	size_t samples = 0;

	(void)state;
	bench.run.settings.handshakes = 4;
	bench.rounds.payload = NULL;
	for (size_t i = 0; i < 3; i++)
		bench.run.results[i].c.method = XB_METHOD_LOGIN;
	run_bench(&bench);
	assert_int_equal(bench.run.rounds_done, 4);
	assert_int_equal(bench.run.settings.rounds, 4);
	for (size_t i = 0; i < 3; i++) {
		const struct xb_result *result = &bench.run.results[i];

		assert_int_equal(result->c.status, XB_MEASURED);
		assert_int_equal(result->sample_count, 4);
		for (size_t j = 0; j < 4; j++) {
			assert_true(xb_sample_counts(&result->samples[j]));
			assert_true(isnan(xb_sample_rate(&result->samples[j])));
			samples++;
		}
	}
	assert_int_equal(bench.run.logins, samples + 1);
	assert_int_equal(bench.run.primitive_count, 0);
	assert_int_equal(bench.run.deflate.count, 0);
	assert_true(isnan(bench.run.null_rate));
	free_bench(&bench);
}

#define ROUNDS_TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ROUNDS_TEST(each_round_visits_every_case_once_and_orders_differ),
		ROUNDS_TEST(seed_reproduces_the_orders),
		ROUNDS_TEST(every_trial_and_the_check_are_logins),
		ROUNDS_TEST(raw_speeds_are_measured_in_each_round),
		ROUNDS_TEST(refused_case_is_never_tried),
		ROUNDS_TEST(case_that_fails_twice_is_left_alone_and_has_its_reason),
		ROUNDS_TEST(failure_after_a_rate_keeps_rate_and_reason),
		ROUNDS_TEST(time_bound_ends_the_run_between_trials),
		ROUNDS_TEST(nothing_stays_planned_when_the_time_is_over_at_once),
		ROUNDS_TEST(error_of_the_watcher_ends_the_run),
		ROUNDS_TEST(news_tells_of_the_time_left),
		ROUNDS_TEST(nobody_has_to_watch),
		ROUNDS_TEST(news_names_suite_and_client),
		ROUNDS_TEST(handshakes_are_rounds_of_logins_without_bytes_or_speeds),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
