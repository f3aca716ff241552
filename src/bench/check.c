#include "bench/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/check_parts.h"
#include "bench/course.h"
#include "bench/trial.h"
#include "client/client.h"
#include "model/run.h"

/* A case whose check fails may be at fault itself; after so many the method is. */
#define CHECKS_MAX 3

/* How much of a reason is quoted where several stand together. */
#define QUOTE 180

enum verdict {
	WORKS,
	FAILS, /* this case, or this method */
	LOST,  /* the login or the host key is refused: nothing of this client works here */
	OVER,  /* the run is to end: it is partial, or err is set */
};

/* A check phase under way. */
struct phase {
	struct xb_course *course;
	struct xb_err refusal; /* the first refused login */
	unsigned checks;
	struct xb_err *err;
};

/* Whose failure it is, as far as the place where it happened tells. */
enum blame {
	SUITE, /* nothing was agreed, or a moment's misfortune before the session began */
	METHOD, /* nothing flowed: the far side, or this machine, does not have what the method needs */
	STREAM, /* it flowed, and broke: the suite's fault, or that of all */
};

/* What checks of a group's cases came to. */
struct finding {
	enum verdict verdict;
	enum blame blame;    /* of what FAILS */
	bool speaks_for_all; /* what FAILS is the reason of the whole group */
	bool nothing_agreed; /* it failed in the key exchange */
	char reason[600];
};

/* The next planned case of a group; those from *at on. NULL: no more. */
static struct xb_result *
next_planned(const struct phase *phase, const struct xb_check_group *group, size_t *at)
{
	struct xb_run *run = phase->course->run;
	struct xb_result *result;

	while (*at < run->result_count) {
		result = &run->results[(*at)++];
		if (result->c.status == XB_PLANNED && xb_check_belongs(group, &result->c))
			return result;
	}
	return NULL;
}

static void
refuse(const struct phase *phase, const struct xb_check_group *group, enum xb_status status,
    const char *reason)
{
	struct xb_result *result;
	size_t at = 0;

	while ((result = next_planned(phase, group, &at)) != NULL)
		xb_case_refuse(&result->c, status, reason, NULL);
}

static void
refuse_placeholders(const struct phase *phase, const struct xb_check_group *group,
    enum xb_status status, const char *reason)
{
	struct xb_result *result;
	size_t at = 0;

	while ((result = next_planned(phase, group, &at)) != NULL)
		if (xb_check_is_placeholder(&result->c))
			xb_case_refuse(&result->c, status, reason, NULL);
}

static void
refuse_client(const struct phase *phase, const struct xb_check_group *group, const char *reason)
{
	struct xb_run *run = phase->course->run;
	struct xb_case *c;
	size_t i;

	for (i = 0; i < run->result_count; i++) {
		c = &run->results[i].c;
		if (c->status == XB_PLANNED && c->target == group->target &&
		    strcmp(c->client, group->client) == 0)
			xb_case_refuse(c, XB_FAILED, reason, NULL);
	}
}

/* All cases of the group, refused ones too, so that the run tells one method. */
static void
set_method(const struct phase *phase, struct xb_check_group *group, enum xb_method method,
    bool found)
{
	struct xb_run *run = phase->course->run;
	size_t i;

	for (i = 0; i < run->result_count; i++)
		if (xb_check_belongs(group, &run->results[i].c)) {
			run->results[i].c.method = method;
			run->results[i].c.method_auto = !found;
		}
	group->method = method;
	group->method_auto = !found;
}

/* What a check that failed says about whom. */
static enum verdict
judge(struct phase *phase, const struct xb_case *c, const struct xb_trial_end *end,
    const struct xb_sample *sample)
{
	struct xb_access *access = xb_course_access(phase->course, c);

	switch (end->err.fault) {
	case XB_FAULT_SIGNAL:
		xb_course_end_early(phase->course, "ended by a signal");
		return OVER;
	case XB_FAULT_SYSTEM:
		xb_fail(phase->err, XB_FAULT_SYSTEM, "%s", sample->reason);
		return OVER;
	case XB_FAULT_TARGET:
		free(access->lost);
		access->lost = xb_strdup(sample->reason);
		xb_fail(&phase->refusal, XB_FAULT_TARGET, "%s", sample->reason);
		return LOST;
	case XB_FAULT_NONE:
	case XB_FAULT_TRIAL:
	case XB_FAULT_USAGE:
		break;
	}
	if (end->phase >= (int)XB_PHASE_EXEC)
		access->logged_in = true;
	return FAILS;
}

/* Not a byte after the ready line is as good as no ready line: a command that is missing there. */
static enum blame
blame_of(const struct xb_trial_end *end, const struct xb_sample *sample)
{
	if (end->phase < (int)XB_PHASE_EXEC)
		return SUITE;
	return end->phase == (int)XB_PHASE_EXEC || sample->bytes == 0 ? METHOD : STREAM;
}

/* One short trial of a case. */
static void
check_case(struct phase *phase, const struct xb_check_group *group, const struct xb_result *result,
    struct finding *finding)
{
	struct xb_course *course = phase->course;
	const struct xb_case *c = &result->c;
	struct xb_trial trial;
	struct xb_trial_end end;
	struct xb_sample sample;
	struct xb_err err = { 0 };

	if (xb_course_trial(course, result, true, &trial, &err)) {
		trial.count = c->method == XB_METHOD_EXEC && c->direction == XB_UPLOAD &&
		    course->run->targets[c->target].count_check == NULL;
		xb_trial_run(&trial, &sample, &end);
		phase->checks++;
		if (end.err.fault != XB_FAULT_SIGNAL)
			xb_course_count(course, c, &trial, &end);
		finding->blame = blame_of(&end, &sample);
	} else {
		xb_trial_refuse(&err, &sample, &end);
		finding->blame = METHOD;
	}
	finding->speaks_for_all = finding->blame == METHOD;
	finding->nothing_agreed = end.phase == (int)XB_PHASE_KEX;
	snprintf(finding->reason, sizeof(finding->reason), "%s", sample.reason);
	if (sample.status == XB_MEASURED) {
		xb_course_access(course, c)->logged_in = true;
		finding->verdict = WORKS;
		if (!xb_check_learn(course, group, result, &trial, &sample, &end, phase->err))
			finding->verdict = OVER;
	} else {
		finding->verdict = judge(phase, c, &end, &sample);
	}
}

/* The first planned case that asks for nothing, or NULL. */
static const struct xb_result *
first_placeholder(const struct phase *phase, const struct xb_check_group *group)
{
	const struct xb_result *result;
	size_t at = 0;

	while ((result = next_planned(phase, group, &at)) != NULL)
		if (xb_check_is_placeholder(&result->c))
			return result;
	return NULL;
}

/*
 * Checks by what the client and the target choose themselves, then by planned cases until one works
 * or one shows that the method does not: the others would fail there as well. Of several failures
 * the first behind the key exchange is told; only when as many as are tried at all have broken it
 * is the reason of all.
 */
static struct finding
try_method(struct phase *phase, const struct xb_check_group *group)
{
	struct finding found = { .verdict = FAILS }, negotiated = { .verdict = WORKS }, one;
	const struct xb_result *result = first_placeholder(phase, group);
	unsigned checks = 0, broken = 0;
	size_t at = 0;

	if (result != NULL) {
		check_case(phase, group, result, &negotiated);
		if (negotiated.verdict != FAILS || negotiated.blame == METHOD)
			return negotiated;
		/* To ask for a suite may still help. */
		if (negotiated.nothing_agreed)
			refuse_placeholders(phase, group, XB_UNSUPPORTED, negotiated.reason);
		found = negotiated;
	}
	while (found.verdict == FAILS && found.blame != METHOD && checks < CHECKS_MAX &&
	    (result = next_planned(phase, group, &at)) != NULL) {
		if (xb_check_is_placeholder(&result->c))
			continue;
		check_case(phase, group, result, &one);
		checks++;
		broken += one.verdict == FAILS && one.blame == STREAM;
		if (one.verdict != FAILS || one.blame == METHOD || found.blame == SUITE)
			found = one;
	}
	if (found.verdict == FAILS && broken == CHECKS_MAX)
		found.speaks_for_all = true;
	if (negotiated.verdict == FAILS && found.verdict == WORKS)
		refuse_placeholders(phase, group, XB_FAILED, negotiated.reason);
	return found;
}

static void
add_reason(char *reasons, size_t size, enum xb_method method, const char *reason)
{
	size_t len = strlen(reasons);

	snprintf(reasons + len, size - len, "%s%s: %.*s", len > 0 ? "; " : "",
	    xb_method_name(method), QUOTE, reason);
}

/* Not the first choice: the user learns why. */
static void
note_method(const struct phase *phase, const struct xb_check_group *group, const char *reasons)
{
	struct xb_run *run = phase->course->run;
	const struct xb_target_sheet *sheet = &run->targets[group->target];
	const char *server = run->target_count > 1 && sheet->server != NULL ? sheet->server : NULL;
	char *note;

	note = xb_asprintf("%s: %s is used for %ss%s%s; %s", group->label,
	    xb_method_name(group->method), xb_direction_name(group->direction),
	    server != NULL ? " with " : "", server != NULL ? server : "", reasons);
	xb_namelist_add_once(&run->notes, note);
	free(note);
}

static const char *
cannot(const struct xb_client *client, enum xb_method method, enum xb_direction direction)
{
	return client->cannot != NULL ? client->cannot(method, direction) : NULL;
}

/*
 * The first method that works, or one by which something flowed at least. Otherwise the reason
 * tells of all.
 */
static struct finding
try_methods(struct phase *phase, struct xb_check_group *group, const struct xb_client *client)
{
	static const enum xb_method methods[] = { XB_METHOD_EXEC, XB_METHOD_SCP, XB_METHOD_SFTP };
	const enum xb_method planned = group->method;
	struct finding found = { .verdict = FAILS, .blame = METHOD, .speaks_for_all = true };
	char reasons[sizeof(found.reason)] = "";
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		why = cannot(client, methods[i], group->direction);
		if (why == NULL) {
			set_method(phase, group, methods[i], false);
			found = try_method(phase, group);
			why = found.reason;
		}
		if (found.verdict == WORKS || found.blame == STREAM) {
			set_method(phase, group, methods[i], true);
			if (reasons[0] != '\0')
				note_method(phase, group, reasons);
		}
		/* No other method would get farther. */
		if (found.verdict != FAILS || found.blame != METHOD)
			return found;
		add_reason(reasons, sizeof(reasons), methods[i], why);
	}
	set_method(phase, group, planned, false);
	snprintf(found.reason, sizeof(found.reason), "%s", reasons);
	return found;
}

/* False when the phase is to end. */
static bool
check_group(struct phase *phase, struct xb_check_group *group)
{
	struct xb_course *course = phase->course;
	const struct xb_case c = { .client = group->client, .target = group->target };
	const struct xb_client *client = xb_course_client(course, &c);
	char label[160];
	struct finding found;
	const char *why = xb_course_over(course);

	if (why == NULL && phase->checks > 0 && xb_course_time_left(course) <= 0)
		why = "--max-time is over";
	if (why != NULL) {
		xb_course_end_early(course, why);
		return false;
	}
	snprintf(label, sizeof(label), "login by %s", group->label);
	xb_course_tell(course, 0, label, 0);
	found = group->method_auto ? try_methods(phase, group, client) : try_method(phase, group);
	/*
	 * What may be a suite's fault, as a login's always is, fails again in the rounds: as a
	 * sample.
	 */
	if (found.verdict == FAILS && found.speaks_for_all && group->method != XB_METHOD_LOGIN)
		refuse(phase, group, XB_FAILED, found.reason);
	else if (found.verdict == LOST)
		refuse_client(phase, group, found.reason);
	return found.verdict != OVER;
}

static struct xb_check_group
group_of(const struct xb_case *c)
{
	return (struct xb_check_group){
		.target = c->target,
		.client = c->client,
		.label = c->client_label != NULL ? c->client_label : c->client,
		.direction = c->direction,
		.method = c->method,
		.method_auto = c->method_auto,
	};
}

/* The groups of what is planned, in the order of the plan; fresh. */
static struct xb_check_group *
list_groups(const struct xb_course *course, size_t *count)
{
	const struct xb_run *run = course->run;
	struct xb_check_group *groups = xb_calloc(run->result_count, sizeof(*groups));
	size_t i, j;

	*count = 0;
	for (i = 0; i < run->result_count; i++) {
		const struct xb_case *c = &run->results[i].c;

		/* Without SSH there is nothing to find out. */
		if (c->status != XB_PLANNED || xb_course_client(course, c)->algorithms == NULL)
			continue;
		for (j = 0; j < *count && !xb_check_belongs(&groups[j], c); j++)
			continue;
		if (j == *count)
			groups[(*count)++] = group_of(c);
	}
	return groups;
}

bool
xb_check_run(struct xb_course *course, struct xb_err *err)
{
	struct phase phase = { .course = course, .err = err };
	bool go_on = true, logged_in = false;
	size_t count, i;
	struct xb_check_group *groups = list_groups(course, &count);

	for (i = 0; go_on && i < count; i++) {
		const struct xb_case c = { .client = groups[i].client, .target = groups[i].target };

		if (xb_course_access(course, &c)->lost == NULL)
			go_on = check_group(&phase, &groups[i]);
	}
	free(groups);
	if (err->fault != XB_FAULT_NONE)
		return false;
	for (i = 0; i < course->run->target_count * course->client_count; i++)
		logged_in = logged_in || course->accesses[i].logged_in;
	/* With none there is nothing to go on with. */
	if (!logged_in && !course->run->partial && phase.refusal.fault != XB_FAULT_NONE)
		return xb_fail(err, phase.refusal.fault, "%s", phase.refusal.text);
	return true;
}
