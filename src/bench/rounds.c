#include "bench/rounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/signals.h"
#include "bench/check.h"
#include "bench/course.h"
#include "bench/size.h"
#include "bench/speed.h"
#include "bench/trial.h"
#include "client/client.h"
#include "model/run.h"

/* The least time-box that is left for a trial of a given size. */
#define SHORTEST_NS (10 * XB_NS_PER_MS)

/* The null client's time: the harness needs no more to show its rate. */
#define NULL_NS (100 * XB_NS_PER_MS)

/* Runs one trial and keeps its sample, unless a signal ended it: then there is nothing to keep. */
static struct xb_sample *
keep_trial(struct xb_course *course, struct xb_result *result, unsigned round, unsigned order)
{
	int64_t left = xb_course_time_left(course), start;
	struct xb_trial trial;
	struct xb_trial_end end;
	struct xb_sample sample;
	struct xb_err err = { 0 };

	if (xb_course_trial(course, result, false, &trial, &err)) {
		/* A size alone has no end of its own. */
		if (trial.time_ns == 0 && left < INT64_MAX)
			trial.time_ns = left > SHORTEST_NS ? left : SHORTEST_NS;
		start = xb_clock_ns();
		xb_trial_run(&trial, &sample, &end);
		if (end.err.fault == XB_FAULT_SIGNAL)
			return NULL;
		xb_course_count(course, &result->c, &trial, &end);
		course->trial_seconds += xb_seconds(xb_clock_ns() - start);
		course->trials++;
	} else if (err.fault == XB_FAULT_SIGNAL) {
		return NULL;
	} else {
		xb_trial_refuse(&err, &sample, &end);
	}
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
visit(struct xb_course *course, struct xb_result *result, unsigned round, unsigned order)
{
	const unsigned disturbed = XB_MARK_SLEPT | XB_MARK_STOPPED | XB_MARK_FOREIGN;
	struct xb_sample *first = keep_trial(course, result, round, order), *again;
	size_t index;

	if (first == NULL || first->status != XB_MEASURED || (first->marks & disturbed) == 0 ||
	    xb_course_over(course) != NULL)
		return;
	index = result->sample_count - 1;
	again = keep_trial(course, result, round, order);
	if (again == NULL)
		return;
	again->marks |= XB_MARK_REPEAT;
	if (again->status == XB_MEASURED)
		result->samples[index].marks |= XB_MARK_SUPERSEDED;
}

/*
 * All cases once, in a fresh order. False when the run ended within: then the round is not whole.
 */
static bool
run_round(struct xb_course *course, struct xb_rng *rng, unsigned round)
{
	struct xb_run *run = course->run;
	size_t *order = xb_calloc(run->result_count, sizeof(*order));
	struct xb_result *result;
	const char *why = NULL;
	char label[160];
	size_t i, done = 0;

	xb_rng_shuffle(rng, order, run->result_count);
	for (i = 0; i < run->result_count; i++) {
		result = &run->results[order[i]];
		if (!xb_course_runs(result))
			continue;
		why = xb_course_over(course);
		if (why != NULL)
			break;
		xb_course_label(&result->c, label, sizeof(label));
		xb_course_tell(course, round, label, done);
		visit(course, result, round, (unsigned)done);
		done++;
	}
	free(order);
	/*
	 * The time bound does not matter once all is done; a signal may have taken the last trial.
	 */
	if (why == NULL && xb_signals_pending() != 0)
		why = xb_course_over(course);
	if (why != NULL) {
		xb_course_end_early(course, why);
	} else {
		if (course->speed != NULL) {
			xb_course_tell(course, round, "raw speeds", done);
			xb_speed_round(course->speed);
		}
		run->rounds_done = round + 1;
	}
	run->seconds = xb_seconds(xb_clock_ns() - course->start_ns);
	return why == NULL;
}

/* How fast the loop itself is, with a sink that accepts each buffer. */
static void
measure_null(struct xb_course *course)
{
	const struct xb_trial trial = {
		.client = xb_client_find("null"),
		.payload = course->rounds->payload,
		.time_ns = NULL_NS,
		.stall_ns = course->rounds->stall_ns,
		.client_cpu = course->run->settings.client_cpu,
		.server_cpu = -1,
	};
	struct xb_trial_end end;
	struct xb_sample sample;

	xb_trial_run(&trial, &sample, &end);
	course->run->null_rate = xb_sample_rate(&sample);
	if (sample.status != XB_MEASURED && end.err.fault != XB_FAULT_SIGNAL)
		xb_namelist_add_once(&course->run->notes,
		    "the harness alone could not be measured");
}

/* What a run that streams has beside its trials. */
static void
prepare_speeds(struct xb_course *course)
{
	struct xb_run *run = course->run;

	xb_size_note(course);
	course->speed = xb_speed_new(run, course->rounds->payload, run->settings.client_cpu);
	measure_null(course);
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
	struct xb_rng rng = { .state = run->settings.seed };
	struct xb_course course;
	unsigned round;
	bool ok;

	if (run->settings.handshakes > 0)
		run->settings.rounds = run->settings.handshakes;
	xb_course_init(&course, rounds);
	ok = xb_check_run(&course, err);
	if (ok && !run->partial && run->settings.handshakes == 0)
		prepare_speeds(&course);
	for (round = 0; ok && !run->partial && round < run->settings.rounds; round++) {
		if (run_round(&course, &rng, round) && rounds->on_round != NULL)
			ok = rounds->on_round(rounds->ctx, run, err);
		if (!ok)
			xb_course_end_early(&course, err->text);
	}
	settle(run);
	xb_course_free(&course);
	return ok;
}
