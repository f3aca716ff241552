#include "analysis/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pairs.h"
#include "analysis/row.h"
#include "base/mem.h"
#include "model/run.h"

/* The case with one stream that this one of several is compared with; NULL: none was measured. */
static const struct xb_result *
one_stream(const struct xb_run *run, const struct xb_case *c)
{
	for (size_t i = 0; i < run->result_count; i++) {
		const struct xb_case *one = &run->results[i].c;

		if (one->status == XB_MEASURED && one->streams <= 1 && !one->reference &&
		    strcmp(one->client, c->client) == 0 && one->method == c->method &&
		    one->direction == c->direction && one->target == c->target &&
		    xb_suite_equal(&one->suite, &c->suite))
			return &run->results[i];
	}
	return NULL;
}

static void
fill_scaling(const struct xb_run *run, struct xb_row *row)
{
	const struct xb_case *c = &row->result->c;
	const struct xb_result *one;

	if (row->rate.count == 0 || c->streams <= 1 || c->reference)
		return;
	one = one_stream(run, c);
	if (one != NULL)
		row->scaling = xb_pairs_ratio(row->result, one);
}

/* The group of a case, made when it is the first; a reference row has none. */
static size_t
group_of(struct xb_analysis *analysis, const struct xb_case *c)
{
	size_t i = 0;

	while (i < analysis->group_count &&
	    (analysis->groups[i].direction != c->direction ||
		analysis->groups[i].target != c->target))
		i++;
	if (i == analysis->group_count) {
		analysis->groups = xb_grow(analysis->groups, i, sizeof(*analysis->groups));
		analysis->groups[i] = (struct xb_group){
			.direction = c->direction,
			.target = c->target,
		};
		analysis->group_count++;
	}
	return i;
}

static void
fill_groups(struct xb_analysis *analysis)
{
	for (size_t i = 0; i < analysis->count; i++) {
		struct xb_row *row = &analysis->rows[i];

		if (row->result->c.reference)
			continue;
		row->group = group_of(analysis, &row->result->c);
		analysis->groups[row->group].ranked += row->ranked;
	}
	for (size_t i = 0; i < analysis->count; i++)
		if (analysis->rows[i].result->c.reference)
			analysis->rows[i].group = analysis->group_count;
}

/* What rows are sorted by: bytes, or logins, per second. */
static double
speed_of(const struct xb_row *row)
{
	return row->rate.count > 0 ? row->rate.median : 1 / row->login.total.median;
}

/* In a group: ranked rows, then measured ones, then those without a rate. */
static int
class_of(const struct xb_row *row)
{
	if (row->ranked)
		return 0;
	return row->measured ? 1 : 2;
}

/* Group by group, fastest first; else as planned. */
static int
by_speed(const void *a, const void *b)
{
	const struct xb_row *x = a;
	const struct xb_row *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (class_of(x) != class_of(y))
		return class_of(x) - class_of(y);
	if (x->measured && speed_of(x) > speed_of(y))
		return -1;
	if (x->measured && speed_of(x) < speed_of(y))
		return 1;
	return (x->result > y->result) - (x->result < y->result);
}

/*
 * A row is level with the leader when its interval reaches 1. Lying wholly above 1 is possible, as
 * the leader has the highest median and not the better pairs: it is no slower either. rows are the
 * group's, the ranked ones first.
 */
static void
fill_places(struct xb_group *group, struct xb_row *rows)
{
	bool any = false;

	for (size_t i = 0; i < group->ranked; i++) {
		struct xb_row *row = &rows[i];

		if (i == 0) {
			group->leader = row;
			row->ratio = (struct xb_interval){
				.median = 1,
				.low = 1,
				.high = 1,
				.coverage = 1,
				.count =
				    row->rate.count > 0 ? row->rate.count : row->login.total.count,
			};
			continue;
		}
		row->ratio = xb_pairs_ratio(row->result, group->leader->result);
		if (!xb_interval_is_clear(&row->ratio))
			continue;
		any = true;
		row->place = row->ratio.high >= 1 ? 1 : (unsigned)i + 1;
	}
	group->places_clear = any || group->ranked < 2;
	if (any)
		rows[0].place = 1;
	if (!group->places_clear)
		group->rounds_needed = XB_ROUNDS_FOR_VERDICT;
}

static void
fill_spread(struct xb_analysis *analysis)
{
	analysis->worst_spread = NAN;
	for (size_t i = 0; i < analysis->count; i++) {
		const struct xb_row *row = &analysis->rows[i];
		const struct xb_interval *figure =
		    row->rate.count > 0 ? &row->rate : &row->login.total;

		/* fmax leaves NAN out; one value has no spread. */
		if (row->measured && !row->result->c.reference && figure->count > 1)
			analysis->worst_spread = fmax(analysis->worst_spread,
			    (figure->high - figure->low) / 2 / figure->median);
	}
}

void
xb_analysis_make(const struct xb_run *run, struct xb_analysis *analysis)
{
	*analysis = (struct xb_analysis){
		.count = run->result_count,
		.rows = xb_calloc(run->result_count, sizeof(*analysis->rows)),
	};
	for (size_t i = 0; i < run->result_count; i++) {
		xb_row_fill(run, &run->results[i], &analysis->rows[i]);
		fill_scaling(run, &analysis->rows[i]);
	}
	fill_groups(analysis);
	if (analysis->count > 1)
		qsort(analysis->rows, analysis->count, sizeof(*analysis->rows), by_speed);
	for (size_t i = 0; i < analysis->count; i++) {
		struct xb_row *row = &analysis->rows[i];

		if (row->group < analysis->group_count &&
		    (i == 0 || row->group != analysis->rows[i - 1].group))
			fill_places(&analysis->groups[row->group], row);
	}
	for (size_t i = 0; i < analysis->group_count && analysis->leader == NULL; i++)
		analysis->leader = analysis->groups[i].leader;
	fill_spread(analysis);
}

void
xb_analysis_free(struct xb_analysis *analysis)
{
	free(analysis->rows);
	free(analysis->groups);
	*analysis = (struct xb_analysis){ 0 };
}
