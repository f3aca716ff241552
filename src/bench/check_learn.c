#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/check_parts.h"
#include "bench/course.h"
#include "bench/rounds.h"
#include "bench/trial.h"
#include "client/payload.h"
#include "model/run.h"

bool
xb_check_belongs(const struct xb_check_group *group, const struct xb_case *c)
{
	return c->target == group->target && strcmp(c->client, group->client) == 0 &&
	    c->direction == group->direction && c->method_auto == group->method_auto &&
	    (group->method_auto || c->method == group->method);
}

bool
xb_check_is_placeholder(const struct xb_case *c)
{
	return c->as_negotiated && c->suite.cipher_name == NULL && c->method != XB_METHOD_LOGIN;
}

/* "" is what was not negotiated or could not be asked. */
static const char *
name_or_null(const char *name)
{
	return name[0] != '\0' ? name : NULL;
}

static bool
has_equal(const struct xb_course *course, const struct xb_case *placeholder,
    const struct xb_suite *suite)
{
	struct xb_run *run = course->run;
	struct xb_case *c;
	size_t i;

	for (i = 0; i < run->result_count; i++) {
		c = &run->results[i].c;
		if (c != placeholder && c->status == XB_PLANNED &&
		    c->target == placeholder->target && c->method == placeholder->method &&
		    c->direction == placeholder->direction && c->streams == placeholder->streams &&
		    strcmp(c->client, placeholder->client) == 0 &&
		    xb_suite_equal(&c->suite, suite)) {
			c->as_negotiated = true;
			return true;
		}
	}
	return false;
}

static void
remove_result(struct xb_run *run, size_t index)
{
	xb_case_free(&run->results[index].c);
	free(run->results[index].samples);
	run->result_count--;
	memmove(&run->results[index], &run->results[index + 1],
	    (run->result_count - index) * sizeof(*run->results));
}

/*
 * The suite that was found by asking for none: an equal case stands for it, or it is one of its
 * own.
 */
static void
adopt_suite(const struct xb_course *course, const struct xb_check_group *group,
    const struct xb_negotiated *negotiated)
{
	struct xb_run *run = course->run;
	const char *compression = name_or_null(negotiated->compression);
	struct xb_suite suite;
	size_t i;

	if (negotiated->cipher[0] == '\0')
		return;
	if (compression != NULL && strcmp(compression, "none") == 0)
		compression = NULL;
	xb_suite_init(&suite, negotiated->cipher, name_or_null(negotiated->mac), compression);
	for (i = run->result_count; i-- > 0;) {
		struct xb_case *c = &run->results[i].c;

		if (c->status != XB_PLANNED || !xb_check_belongs(group, c) ||
		    !xb_check_is_placeholder(c))
			continue;
		if (has_equal(course, c, &suite))
			remove_result(run, i);
		else
			xb_suite_init(&c->suite, suite.cipher_name, suite.mac_name,
			    suite.compression);
	}
	xb_suite_free(&suite);
}

static bool
note_count(const struct xb_course *course, const struct xb_case *c, const struct xb_sample *sample,
    const struct xb_trial_end *end, struct xb_err *err)
{
	struct xb_target_sheet *sheet = &course->run->targets[c->target];

	if (!end->has_count) {
		sheet->count_check =
		    xb_strdup("not counted there: no GNU wc; the end line alone confirms");
		return true;
	}
	sheet->count_check = xb_asprintf("wc -c there counted %" PRIu64 " of %" PRIu64 " bytes",
	    end->counted, sample->bytes);
	return end->counted == sample->bytes ||
	    xb_fail(err, XB_FAULT_TARGET, "%s: the far side lost data: %s", sheet->name,
		sheet->count_check);
}

/* A download that is not what --payload says. */
static void
note_zeros(const struct xb_course *course, const struct xb_case *c)
{
	const struct xb_rounds *rounds = course->rounds;
	struct xb_run *run = course->run;

	if (c->method == XB_METHOD_EXEC && c->direction == XB_DOWNLOAD &&
	    !run->targets[c->target].is_private && rounds->remote_file == NULL &&
	    !xb_payload_is_zeros(rounds->payload))
		xb_namelist_add_once(&run->notes,
		    "downloads by exec are zeros, whatever the payload: name a file there with "
		    "--remote-file PATH");
}

bool
xb_check_learn(const struct xb_course *course, const struct xb_check_group *group,
    const struct xb_result *result, const struct xb_trial *trial, const struct xb_sample *sample,
    const struct xb_trial_end *end, struct xb_err *err)
{
	const struct xb_case *c = &result->c;
	double rate = xb_sample_rate(sample);

	if (rate > 0)
		xb_course_access(course, c)->rates[c->method][c->direction] = rate;
	if (trial->count && !note_count(course, c, sample, end, err))
		return false;
	if (c->method != XB_METHOD_LOGIN)
		note_zeros(course, c);
	/* Last: the result may go. */
	if (xb_check_is_placeholder(c))
		adopt_suite(course, group, &sample->negotiated);
	return true;
}
