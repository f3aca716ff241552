#include "analysis/answer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/answer_limit.h"
#include "analysis/answer_parts.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/namelist.h"
#include "model/run.h"

void
xb_answer_put_times(FILE *out, const struct xb_interval *ratio)
{
	int decimals = ratio->low < 1.005 ? 3 : 2;

	fprintf(out, "%.*f times (%.*f to %.*f)", decimals, ratio->median, decimals, ratio->low,
	    decimals, ratio->high);
}

void
xb_answer_put_between(FILE *out, size_t i, size_t count, const char *word)
{
	if (i == 0)
		return;
	if (i + 1 == count)
		fprintf(out, " %s ", word);
	else
		fputs(", ", out);
}

void
xb_answer_put_faults(FILE *out, const struct xb_field *field)
{
	struct xb_namelist faults = { 0 };

	for (size_t i = 0; i < field->count; i++) {
		char *fault;

		if (!xb_field_is_level(field, i))
			continue;
		fault = xb_row_fault(field->rows[i]);
		xb_namelist_add_once(&faults, fault);
		free(fault);
	}
	for (size_t i = 0; i < faults.count; i++)
		fprintf(out, " %s.", faults.names[i]);
	xb_namelist_free(&faults);
}

/* The groups that an answer is about; how they differ names them. */
struct groups {
	size_t count;
	bool directions;
	bool targets;
};

/* A server that stands in is asked about only where nothing else was measured. */
static bool
is_asked(const struct xb_run *run, const struct xb_analysis *analysis, size_t i, bool stand_ins)
{
	const struct xb_group *group = &analysis->groups[i];

	return group->leader != NULL && (stand_ins || !run->targets[group->target].stands_in);
}

static struct groups
asked_groups(const struct xb_run *run, const struct xb_analysis *analysis, bool stand_ins)
{
	struct groups groups = { 0 };
	const struct xb_group *first = NULL;

	for (size_t i = 0; i < analysis->group_count; i++) {
		const struct xb_group *group = &analysis->groups[i];

		if (!is_asked(run, analysis, i, stand_ins))
			continue;
		if (first == NULL)
			first = group;
		groups.count++;
		groups.directions |= group->direction != first->direction;
		groups.targets |= group->target != first->target;
	}
	return groups;
}

/* "Upload: ", "dropbear: ", "dropbear, upload: "; nothing for one group alone. */
static void
put_group_name(FILE *out, const struct xb_run *run, const struct xb_group *group,
    const struct groups *groups)
{
	const struct xb_target_sheet *target = &run->targets[group->target];
	const char *direction = xb_direction_name(group->direction);
	const char *server = target->server != NULL ? target->server : target->name;
	char name[256];

	if (groups->targets) {
		xb_text_printable(name, sizeof(name), server, strlen(server));
		fprintf(out, "%s%s%s: ", name, groups->directions ? ", " : "",
		    groups->directions ? direction : "");
	} else if (groups->directions) {
		fprintf(out, "%c%s: ", toupper((unsigned char)direction[0]), direction + 1);
	}
}

static void
put_group(FILE *out, const struct xb_run *run, const struct xb_analysis *analysis, size_t i,
    char **limit)
{
	struct xb_field field;

	if (!xb_field_make(run, analysis, i, &field))
		return;
	if (field.rows[0]->result->c.method == XB_METHOD_LOGIN) {
		xb_answer_put_login(out, &field);
	} else {
		xb_answer_put_stream(out, &field);
		if (*limit == NULL)
			*limit = xb_answer_limit(run, field.fastest);
	}
	xb_field_free(&field);
}

void
xb_answer_make(const struct xb_run *run, const struct xb_analysis *analysis,
    struct xb_answer *answer)
{
	struct groups groups;
	bool stand_ins = false;
	size_t done = 0;
	size_t size;
	FILE *out;

	*answer = (struct xb_answer){ 0 };
	if (analysis->leader == NULL)
		return;
	groups = asked_groups(run, analysis, stand_ins);
	if (groups.count == 0) {
		stand_ins = true;
		groups = asked_groups(run, analysis, stand_ins);
	}
	out = xb_memstream(&answer->answer, &size);
	for (size_t i = 0; i < analysis->group_count; i++) {
		if (!is_asked(run, analysis, i, stand_ins))
			continue;
		if (done++ > 0)
			fputc('\n', out);
		put_group_name(out, run, &analysis->groups[i], &groups);
		put_group(out, run, analysis, i, &answer->limit);
	}
	xb_memstream_close(out);
}

void
xb_answer_free(struct xb_answer *answer)
{
	free(answer->limit);
	free(answer->answer);
	*answer = (struct xb_answer){ 0 };
}
