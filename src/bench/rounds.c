#include "bench/rounds.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/signals.h"
#include "bench/speed.h"
#include "bench/trial.h"
#include "client/client.h"
#include "model/cipher.h"
#include "model/run.h"
#include "target/target.h"

/* The check run's payload: more than a channel window, and no multiple of any buffer; on a slow link
 * what goes through in this time. */
#define CHECK_BYTES (UINT64_C(8) * 1024 * 1024 + 17)
#define CHECK_NS XB_NS_PER_SECOND

/* A case whose check fails may be at fault itself; after so many the target is. */
#define CHECKS_MAX 3

/* The least time-box that is left for a trial of a given size. */
#define SHORTEST_NS (10 * XB_NS_PER_MS)

/* The null client's time: the harness needs no more to show its rate. */
#define NULL_NS (100 * XB_NS_PER_MS)

/* A case that failed so often without ever a rate is left alone for the rest of the run. */
#define FAILURES_ENOUGH 2

/* A login is about this long until one has been seen. */
#define LOGIN_GUESS_SECONDS 0.2

/* The rounds under way. */
struct state {
	const struct xb_rounds *rounds;
	struct xb_run *run;
	struct xb_speed *speed;
	struct xb_rng rng;
	int64_t start_ns;
	double trial_seconds; /* measured, of a whole trial with its login; 0: none yet */
	unsigned trials;
	char login_hint[200]; /* the key that came in; "" unknown */
};

static bool
given_up(const struct xb_result *result)
{
	size_t i, failed = 0;

	for (i = 0; i < result->sample_count; i++) {
		if (result->samples[i].status == XB_MEASURED)
			return false;
		failed++;
	}
	return failed >= FAILURES_ENOUGH;
}

static bool
runs(const struct xb_result *result)
{
	return (result->c.status == XB_PLANNED || result->c.status == XB_MEASURED) &&
	    !given_up(result);
}

/* Seconds that one trial with its login takes, as far as is known. */
static double
trial_seconds(const struct state *state)
{
	const struct xb_settings *settings = &state->run->settings;

	if (state->trials > 0)
		return state->trial_seconds / state->trials;
	return LOGIN_GUESS_SECONDS + (settings->time_ns > 0 ? xb_seconds(settings->time_ns) : 1);
}

static void
tell(const struct state *state, unsigned round, const char *label, size_t done_in_round)
{
	const struct xb_rounds *rounds = state->rounds;
	struct xb_rounds_news news = {
		.round = round,
		.rounds = state->run->settings.rounds,
		.label = label,
	};
	size_t i, per_round = 0, left;

	if (rounds->on_news == NULL)
		return;
	for (i = 0; i < state->run->result_count; i++)
		per_round += runs(&state->run->results[i]);
	left = per_round * (news.rounds - round);
	left = left > done_in_round ? left - done_in_round : 0;
	news.seconds_left = (double)left * trial_seconds(state) +
	    (news.rounds - round) * xb_speed_round_seconds(state->speed);
	rounds->on_news(rounds->ctx, &news);
}

/* What is left of the time bound, INT64_MAX without one. */
static int64_t
time_left(const struct state *state)
{
	if (state->rounds->max_ns == 0)
		return INT64_MAX;
	return state->rounds->max_ns - (xb_clock_ns() - state->start_ns);
}

/* Why the run should end now; NULL when it should not. */
static const char *
over(const struct state *state)
{
	if (xb_signals_pending() != 0)
		return "ended by a signal";
	/* A trial that could not have its whole time is not begun, except the first. */
	if (state->trials > 0 &&
	    (time_left(state) < state->run->settings.time_ns || time_left(state) <= 0))
		return "--max-time is over";
	return NULL;
}

static void
end_early(struct state *state, const char *why)
{
	int signo = xb_signals_pending();

	if (state->run->partial)
		return;
	state->run->partial = true;
	if (signo != 0)
		state->run->partial_reason = xb_asprintf("ended by %s", xb_signals_name(signo));
	else
		state->run->partial_reason = xb_strdup(why);
}

static struct xb_trial
trial_of(const struct state *state, const struct xb_result *result)
{
	const struct xb_settings *settings = &state->run->settings;

	return (struct xb_trial){
		.client = xb_client_find(result->c.client),
		.target = state->rounds->targets[result->c.target],
		.suite = &result->c.suite,
		.method = result->c.method,
		.direction = result->c.direction,
		.streams = result->c.streams,
		.payload = state->rounds->payload,
		.time_ns = settings->time_ns,
		.size = settings->size,
		.stall_ns = state->rounds->stall_ns,
		.client_cpu = settings->client_cpu,
		.server_cpu = settings->server_cpu,
		.login_hint = state->login_hint[0] != '\0' ? state->login_hint : NULL,
	};
}

/* Runs one trial and keeps its sample, unless a signal ended it: then there is nothing to keep. */
static struct xb_sample *
keep_trial(struct state *state, struct xb_result *result, unsigned round, unsigned order)
{
	struct xb_trial trial = trial_of(state, result);
	int64_t start = xb_clock_ns(), left = time_left(state);
	struct xb_trial_end end;
	struct xb_sample sample;

	/* A size alone has no end of its own. */
	if (trial.time_ns == 0 && left < INT64_MAX)
		trial.time_ns = left > SHORTEST_NS ? left : SHORTEST_NS;
	xb_trial_run(&trial, &sample, &end);
	if (end.err.fault == XB_FAULT_SIGNAL)
		return NULL;
	state->run->logins++;
	state->trial_seconds += xb_seconds(xb_clock_ns() - start);
	state->trials++;
	sample.round = round;
	sample.order = order;
	result->samples = xb_grow(result->samples, result->sample_count, sizeof(sample));
	result->samples[result->sample_count] = sample;
	if (sample.status == XB_MEASURED)
		result->c.status = XB_MEASURED;
	return &result->samples[result->sample_count++];
}

/* One case of a round; a disturbed trial once more, and the undisturbed or later one counts. */
static void
visit(struct state *state, struct xb_result *result, unsigned round, unsigned order)
{
	const unsigned disturbed = XB_MARK_SLEPT | XB_MARK_STOPPED | XB_MARK_FOREIGN;
	struct xb_sample *first = keep_trial(state, result, round, order), *again;
	size_t index;

	if (first == NULL || first->status != XB_MEASURED || (first->marks & disturbed) == 0 ||
	    over(state) != NULL)
		return;
	index = result->sample_count - 1;
	again = keep_trial(state, result, round, order);
	if (again == NULL)
		return;
	again->marks |= XB_MARK_REPEAT;
	if (again->status == XB_MEASURED)
		result->samples[index].marks |= XB_MARK_SUPERSEDED;
}

/* All cases once, in a fresh order. False when the run ended within: then the round is not whole. */
static bool
run_round(struct state *state, unsigned round)
{
	struct xb_run *run = state->run;
	size_t *order = xb_calloc(run->result_count, sizeof(*order));
	struct xb_result *result;
	const char *why = NULL;
	size_t i, done = 0;

	xb_rng_shuffle(&state->rng, order, run->result_count);
	for (i = 0; i < run->result_count; i++) {
		result = &run->results[order[i]];
		if (!runs(result))
			continue;
		why = over(state);
		if (why != NULL)
			break;
		tell(state, round, result->c.suite.cipher->label, done);
		visit(state, result, round, (unsigned)done);
		done++;
	}
	free(order);
	/* The time bound does not matter once all is done; a signal may have taken the last trial. */
	if (why == NULL && xb_signals_pending() != 0)
		why = over(state);
	if (why == NULL) {
		tell(state, round, "raw speeds", done);
		xb_speed_round(state->speed);
		run->rounds_done = round + 1;
	} else {
		end_early(state, why);
	}
	run->seconds = xb_seconds(xb_clock_ns() - state->start_ns);
	return why == NULL;
}

/* How fast the loop itself is, with a sink that accepts each buffer. */
static void
measure_null(struct state *state)
{
	const struct xb_trial trial = {
		.client = xb_client_find("null"),
		.payload = state->rounds->payload,
		.time_ns = NULL_NS,
		.stall_ns = state->rounds->stall_ns,
		.client_cpu = state->run->settings.client_cpu,
	};
	struct xb_trial_end end;
	struct xb_sample sample;

	xb_trial_run(&trial, &sample, &end);
	state->run->null_rate = xb_sample_rate(&sample);
	if (sample.status != XB_MEASURED && end.err.fault != XB_FAULT_SIGNAL)
		xb_namelist_add_once(&state->run->notes, "the harness alone could not be measured");
}

static void
note_count(struct state *state, const struct xb_sample *sample, const struct xb_trial_end *end,
    struct xb_err *err)
{
	struct xb_target_sheet *sheet = &state->run->targets[0];

	free(sheet->count_check);
	if (!end->has_count) {
		sheet->count_check =
		    xb_strdup("not counted there: no GNU wc; the end line alone confirms");
		return;
	}
	sheet->count_check = xb_asprintf("wc -c there counted %" PRIu64 " of %" PRIu64 " bytes",
	    end->counted, sample->bytes);
	if (end->counted != sample->bytes)
		xb_fail(err, XB_FAULT_TARGET, "%s: the far side lost data: %s", sheet->name,
		    sheet->count_check);
}

/* Checks with one case; false with err set when the run shall not go on. *done: no other is needed. */
static bool
check_case(struct state *state, struct xb_result *result, bool *done, struct xb_err *err)
{
	struct xb_trial trial = trial_of(state, result);
	struct xb_trial_end end;
	struct xb_sample sample;

	trial.size = CHECK_BYTES;
	trial.time_ns = CHECK_NS;
	trial.count = true;
	xb_trial_run(&trial, &sample, &end);
	*done = true;
	if (end.err.fault == XB_FAULT_SIGNAL) {
		end_early(state, "ended by a signal");
		return true;
	}
	state->run->logins++;
	if (sample.status == XB_MEASURED) {
		memcpy(state->login_hint, end.login, sizeof(state->login_hint));
		note_count(state, &sample, &end, err);
		return err->fault == XB_FAULT_NONE;
	}
	if (end.err.fault == XB_FAULT_TARGET || end.err.fault == XB_FAULT_SYSTEM)
		return xb_fail(err, end.err.fault, "%s", sample.reason);
	*done = false;
	return true;
}

/*
 * The first login, outside of all rounds: a refused login or host key ends the run here, the far side
 * counts what it gets, and what is slow only once is over. A case that cannot run has its reason again
 * in the rounds, and the next one is checked instead.
 */
static bool
check_target(struct state *state, struct xb_err *err)
{
	unsigned checks = 0;
	bool done = false, ok = true;
	size_t i;

	tell(state, 0, "login", 0);
	for (i = 0; ok && !done && checks < CHECKS_MAX && i < state->run->result_count; i++)
		if (runs(&state->run->results[i])) {
			ok = check_case(state, &state->run->results[i], &done, err);
			checks++;
		}
	return ok;
}

/* What was planned and never measured has failed, with its first reason. */
static void
settle(struct xb_run *run)
{
	struct xb_result *result;
	size_t i, j;

	for (i = 0; i < run->result_count; i++) {
		result = &run->results[i];
		for (j = 0; j < result->sample_count; j++)
			if (result->samples[j].status == XB_FAILED && result->c.reason == NULL) {
				if (result->c.status == XB_PLANNED)
					xb_case_refuse(&result->c, XB_FAILED,
					    result->samples[j].reason, NULL);
				else
					result->c.reason = xb_strdup(result->samples[j].reason);
			}
		if (result->c.status == XB_PLANNED)
			xb_case_refuse(&result->c, XB_FAILED,
			    run->partial_reason != NULL ? run->partial_reason : "not reached",
			    NULL);
	}
}

bool
xb_rounds_run(const struct xb_rounds *rounds, struct xb_err *err)
{
	struct xb_run *run = rounds->run;
	struct state state = {
		.rounds = rounds,
		.run = run,
		.rng = { .state = run->settings.seed },
		.start_ns = xb_clock_ns(),
	};
	bool ok;
	unsigned round;

	state.speed = xb_speed_new(run, run->settings.client_cpu);
	ok = check_target(&state, err);
	if (ok && !run->partial)
		measure_null(&state);
	for (round = 0; ok && !run->partial && round < run->settings.rounds; round++) {
		if (run_round(&state, round) && rounds->on_round != NULL)
			ok = rounds->on_round(rounds->ctx, run, err);
		if (!ok)
			end_early(&state, err->text);
	}
	settle(run);
	xb_speed_free(state.speed);
	return ok;
}
