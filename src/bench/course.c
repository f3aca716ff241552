#include "bench/course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"
#include "bench/rounds.h"
#include "bench/size.h"
#include "bench/speed.h"
#include "bench/trial.h"
#include "client/client.h"
#include "model/run.h"

/* A case that failed so often without ever a rate is left alone for the rest of the run. */
#define FAILURES_ENOUGH 2

/* A login is about this long until one has been seen. */
#define LOGIN_GUESS_SECONDS 0.2

/* How long a check streams on a slow link. */
#define CHECK_NS XB_NS_PER_SECOND

static const struct xb_client *const *
clients_of(const struct xb_course *course)
{
	return course->rounds->clients != NULL ? course->rounds->clients : xb_clients;
}

void
xb_course_init(struct xb_course *course, const struct xb_rounds *rounds)
{
	*course = (struct xb_course){
		.rounds = rounds,
		.run = rounds->run,
		.start_ns = xb_clock_ns(),
	};
	while (clients_of(course)[course->client_count] != NULL)
		course->client_count++;
	course->accesses =
	    xb_calloc(course->run->target_count * course->client_count, sizeof(*course->accesses));
}

void
xb_course_free(struct xb_course *course)
{
	size_t i;

	for (i = 0; i < course->run->target_count * course->client_count; i++)
		free(course->accesses[i].lost);
	free(course->accesses);
	xb_speed_free(course->speed);
}

/* A plan names only clients of the table that it was made with. */
static size_t
index_of(const struct xb_course *course, const char *name)
{
	size_t i = 0;

	while (strcmp(clients_of(course)[i]->name, name) != 0)
		i++;
	return i;
}

const struct xb_client *
xb_course_client(const struct xb_course *course, const struct xb_case *c)
{
	return clients_of(course)[index_of(course, c->client)];
}

struct xb_access *
xb_course_access(const struct xb_course *course, const struct xb_case *c)
{
	return &course->accesses[c->target * course->client_count + index_of(course, c->client)];
}

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

bool
xb_course_runs(const struct xb_result *result)
{
	return (result->c.status == XB_PLANNED || result->c.status == XB_MEASURED) &&
	    !given_up(result);
}

int64_t
xb_course_time_left(const struct xb_course *course)
{
	if (course->rounds->max_ns == 0)
		return INT64_MAX;
	return course->rounds->max_ns - (xb_clock_ns() - course->start_ns);
}

/* The time-box of a trial; 0 where there is none. */
static int64_t
time_box(const struct xb_run *run)
{
	return run->settings.handshakes > 0 ? 0 : run->settings.time_ns;
}

const char *
xb_course_over(const struct xb_course *course)
{
	int64_t left = xb_course_time_left(course);

	if (xb_signals_pending() != 0)
		return "ended by a signal";
	/* A trial that could not have its whole time is not begun, except the first. */
	if (course->trials > 0 && (left < time_box(course->run) || left <= 0))
		return "--max-time is over";
	return NULL;
}

void
xb_course_end_early(struct xb_course *course, const char *why)
{
	int signo = xb_signals_pending();

	if (course->run->partial)
		return;
	course->run->partial = true;
	if (signo != 0)
		course->run->partial_reason = xb_asprintf("ended by %s", xb_signals_name(signo));
	else
		course->run->partial_reason = xb_strdup(why);
}

/* Seconds that one trial with its login takes, as far as is known. */
static double
trial_seconds(const struct xb_course *course)
{
	const struct xb_settings *settings = &course->run->settings;

	if (course->trials > 0)
		return course->trial_seconds / course->trials;
	if (settings->handshakes > 0)
		return LOGIN_GUESS_SECONDS;
	return LOGIN_GUESS_SECONDS + (settings->time_ns > 0 ? xb_seconds(settings->time_ns) : 1);
}

void
xb_course_tell(const struct xb_course *course, unsigned round, const char *label,
    size_t done_in_round)
{
	const struct xb_rounds *rounds = course->rounds;
	struct xb_rounds_news news = {
		.round = round,
		.rounds = course->run->settings.rounds,
		.label = label,
	};
	size_t i, per_round = 0, left;

	if (rounds->on_news == NULL)
		return;
	for (i = 0; i < course->run->result_count; i++)
		per_round += xb_course_runs(&course->run->results[i]);
	left = per_round * (news.rounds - round);
	left = left > done_in_round ? left - done_in_round : 0;
	news.seconds_left = (double)left * trial_seconds(course);
	if (course->speed != NULL)
		news.seconds_left += (news.rounds - round) * xb_speed_round_seconds(course->speed);
	rounds->on_news(rounds->ctx, &news);
}

/* What the suite of a case is called: a login's key exchange or host key, else the cipher. */
static const char *
suite_label(const struct xb_case *c)
{
	if (c->suite.kex != NULL)
		return c->suite.kex;
	return c->suite.hostkey != NULL ? c->suite.hostkey : xb_suite_cipher_label(&c->suite);
}

void
xb_course_label(const struct xb_case *c, char *out, size_t size)
{
	const char *client = c->client_label != NULL ? c->client_label : c->client;
	bool plain = c->method == XB_METHOD_LOGIN ||
	    (c->method == XB_METHOD_EXEC && c->direction == XB_UPLOAD);
	char streams[32] = "";

	if (c->streams > 1)
		snprintf(streams, sizeof(streams), ", %u streams", c->streams);
	snprintf(out, size, "%s%s%s%s%s%s%s%s", c->reference ? "" : suite_label(c),
	    c->reference ? "" : " by ", client, plain ? "" : ", ",
	    plain ? "" : xb_method_name(c->method), plain ? "" : " ",
	    plain ? "" : xb_direction_name(c->direction), streams);
}

bool
xb_course_trial(const struct xb_course *course, const struct xb_result *result, bool check,
    struct xb_trial *trial, struct xb_err *err)
{
	const struct xb_rounds *rounds = course->rounds;
	const struct xb_settings *settings = &course->run->settings;
	const struct xb_case *c = &result->c;
	const struct xb_client *client = xb_course_client(course, c);
	const struct xb_access *access = xb_course_access(course, c);
	unsigned streams = check ? 1 : c->streams;

	*trial = (struct xb_trial){
		.client = client,
		.target = client->algorithms != NULL ? rounds->targets[c->target] : NULL,
		.suite = &c->suite,
		.method = c->method,
		.direction = c->direction,
		.streams = streams,
		.payload = rounds->payload,
		.time_ns = check ? CHECK_NS : settings->time_ns,
		.stall_ns = rounds->stall_ns,
		/* Several streams on one core would measure that core. */
		.client_cpu = streams > 1 ? -1 : settings->client_cpu,
		.server_cpu = streams > 1 ? -1 : settings->server_cpu,
		.login_hint = access->login_hint[0] != '\0' ? access->login_hint : NULL,
	};
	return c->method == XB_METHOD_LOGIN || xb_size_fill(course, result, check, trial, err);
}

void
xb_course_count(struct xb_course *course, const struct xb_case *c, const struct xb_trial *trial,
    const struct xb_trial_end *end)
{
	struct xb_access *access = xb_course_access(course, c);

	if (trial->client->algorithms != NULL)
		course->run->logins += trial->streams;
	if (access->login_hint[0] == '\0')
		snprintf(access->login_hint, sizeof(access->login_hint), "%s", end->login);
}
