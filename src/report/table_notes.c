#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pairs.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "base/units.h"
#include "model/run.h"
#include "report/table_parts.h"

#define INDENT 4

/* "spread: worst ±4%, …": of which interval. */
static void
put_spread(const struct xb_table *table)
{
	const struct xb_analysis *analysis = &table->analysis;
	const struct xb_interval *rate;
	char spread[32];
	char coverage[32];

	if (analysis->leader == NULL || !isfinite(analysis->worst_spread))
		return;
	rate = analysis->leader->rate.count > 0 ? &analysis->leader->rate
						: &analysis->leader->login.total;
	xb_table_percent(spread, sizeof(spread), analysis->worst_spread);
	xb_table_percent(coverage, sizeof(coverage), rate->coverage);
	if (xb_interval_is_clear(rate))
		xb_table_line(table, INDENT,
		    "spread: worst %s%s, %s interval of the median of %zu%s",
		    xb_table_plus_minus(table), spread, coverage, rate->count,
		    table->style->verbose ? "" : ", see --verbose");
	else
		xb_table_line(table, INDENT, "spread: worst %s%s, lowest to highest of %zu",
		    xb_table_plus_minus(table), spread, rate->count);
}

static bool
any_rate(const struct xb_table *table)
{
	for (size_t i = 0; i < table->analysis.count; i++)
		if (table->analysis.rows[i].rate.count > 0)
			return true;
	return false;
}

/* What the columns of a run that streams mean. */
static void
put_columns(FILE *out, const struct xb_table *table)
{
	enum xb_rate_unit unit = table->run->settings.unit;
	char name[256];

	fprintf(out, "%s = %s", xb_rate_unit_label(unit), xb_rate_unit_meaning(unit));
	if (table->shows_raw)
		fputs(". raw = cipher + MAC alone, one core", out);
	if (table->shows_of_raw)
		fputs(table->shows_raw ? ". % = SSH / raw" : ". % = SSH / cipher + MAC alone", out);
	if (table->shows_scaling)
		fprintf(out, ". %s = times one stream", xb_table_times(table));
	if (table->shows_wire)
		fputs(". wire = bytes on the wire / payload", out);
	if (table->shows_server_cpu)
		fprintf(out, ". %s CPU = share of one core",
		    xb_table_server(table, name, sizeof(name)));
}

/* What the columns of a run of logins mean. */
static void
put_logins(FILE *out, const struct xb_table *table)
{
	fputs("ms = connect + key exchange + authentication, median", out);
	if (table->shows_parts)
		fputs(". kex = key exchange, all parts in ms", out);
	if (table->shows_start)
		fputs(". start = of a program, until it connects; not in its total", out);
}

/* zlib's own speed stands beside rows that compress. */
static void
put_zlib(const struct xb_table *table)
{
	const struct xb_run *run = table->run;
	double deflate = xb_median(run->deflate.values, run->deflate.count);
	double inflate = xb_median(run->inflate.values, run->inflate.count);
	const char *unit = xb_rate_unit_label(run->settings.unit);
	char compressed[32];
	char restored[32];

	if (!table->varies.any_compression || !isfinite(deflate) || !isfinite(inflate))
		return;
	xb_table_rate(table, compressed, sizeof(compressed), deflate);
	xb_table_rate(table, restored, sizeof(restored), inflate);
	xb_table_line(table, INDENT,
	    "zlib alone on these bytes: %s %s deflate, %s %s inflate, one core", compressed, unit,
	    restored, unit);
}

void
xb_table_legend(const struct xb_table *table)
{
	bool handshake = xb_table_is_handshake(table);
	char *text = NULL;
	size_t size;
	FILE *out;

	if (table->analysis.leader == NULL && !table->shows_raw && !any_rate(table))
		return;
	out = xb_memstream(&text, &size);
	if (handshake)
		put_logins(out, table);
	else
		put_columns(out, table);
	xb_memstream_close(out);
	xb_table_line(table, INDENT, "%s", text);
	free(text);
	if (table->shows_star)
		xb_table_line(table, INDENT, "* = picked by this client itself (as negotiated)");
	if (table->shows_cpu_per_gb)
		xb_table_line(table, INDENT, "s/GB = CPU seconds per 10^9 payload bytes%s",
		    table->shows_login ? ". login = connect + key exchange + authentication" : "");
	put_zlib(table);
	put_spread(table);
}

/* The kinds of disturbance in a set of marks, in words. */
static void
disturbances(char *out, size_t size, unsigned marks)
{
	static const struct {
		unsigned mark;
		const char *words;
	} kinds[] = {
		{ XB_MARK_FOREIGN, "foreign CPU" },
		{ XB_MARK_SLEPT, "the machine slept" },
		{ XB_MARK_STOPPED, "stopped" },
	};

	snprintf(out, size, "%s", "");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t used = strlen(out);

		if ((marks & kinds[i].mark) != 0)
			snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "",
			    kinds[i].words);
	}
}

/* Trials with a mark of disturbance: repeated ones, and those that count all the same. */
static void
put_disturbed(const struct xb_table *table)
{
	const unsigned kinds = XB_MARK_SLEPT | XB_MARK_STOPPED | XB_MARK_FOREIGN;
	unsigned repeated_marks = 0;
	unsigned counted_marks = 0;
	size_t repeated = 0;
	size_t counted = 0;
	char words[96];

	for (size_t i = 0; i < table->run->result_count; i++) {
		const struct xb_result *result = &table->run->results[i];

		for (size_t j = 0; j < result->sample_count; j++) {
			const struct xb_sample *sample = &result->samples[j];

			if ((sample->marks & kinds) == 0)
				continue;
			if ((sample->marks & XB_MARK_SUPERSEDED) != 0) {
				repeated++;
				repeated_marks |= sample->marks;
			} else if (xb_sample_counts(sample)) {
				counted++;
				counted_marks |= sample->marks;
			}
		}
	}
	disturbances(words, sizeof(words), repeated_marks);
	if (repeated > 0)
		xb_table_line(table, INDENT, "%zu trial%s disturbed (%s) and repeated", repeated,
		    repeated == 1 ? " was" : "s were", words);
	disturbances(words, sizeof(words), counted_marks);
	if (counted > 0)
		xb_table_line(table, INDENT, "%zu trial%s disturbed (%s) and count%s all the same",
		    counted, counted == 1 ? " was" : "s were", words, counted == 1 ? "s" : "");
}

/* Rows with a rate of which some trials failed: the others have a footnote. */
static void
put_failures(const struct xb_table *table)
{
	for (size_t i = 0; i < table->analysis.count; i++) {
		const struct xb_row *row = &table->analysis.rows[i];
		char *name;

		if (!row->measured || row->failed == 0)
			continue;
		name = xb_table_row_name(table, row);
		xb_table_line(table, INDENT, "%s: %zu of %zu trials failed: %s", name, row->failed,
		    xb_table_trials(row), xb_table_failure(row));
		free(name);
	}
}

/* Figures behind a row: rounds, or logins. */
static size_t
count_figures(const struct xb_row *row)
{
	return row->rate.count > 0 ? row->rate.count : row->login.total.count;
}

/* Why a group has no places, in one line for all groups where it is the same. */
static void
add_unclear(struct xb_namelist *lines, const struct xb_group *group)
{
	size_t rounds = count_figures(group->leader);
	char *line = xb_asprintf("no places: %zu round%s; %u are needed to tell rows apart", rounds,
	    rounds == 1 ? "" : "s", group->rounds_needed);

	xb_namelist_add_once(lines, line);
	free(line);
}

/* Why there are no places, or none for one row. */
static void
put_places(const struct xb_table *table)
{
	const struct xb_analysis *analysis = &table->analysis;
	struct xb_namelist lines = { 0 };

	for (size_t i = 0; i < analysis->group_count; i++)
		if (analysis->groups[i].leader != NULL && !analysis->groups[i].places_clear)
			add_unclear(&lines, &analysis->groups[i]);
	for (size_t i = 0; i < lines.count; i++)
		xb_table_line(table, INDENT, "%s", lines.names[i]);
	xb_namelist_free(&lines);
	for (size_t i = 0; i < analysis->count; i++) {
		const struct xb_row *row = &analysis->rows[i];
		char *name;

		if (!row->ranked || row->place > 0 ||
		    analysis->groups[row->group].leader->place == 0)
			continue;
		name = xb_table_row_name(table, row);
		xb_table_line(table, INDENT,
		    "no place for %s: %zu round%s with the leader; %d are needed", name,
		    row->ratio.count, row->ratio.count == 1 ? "" : "s", XB_ROUNDS_FOR_VERDICT);
		free(name);
	}
}

void
xb_table_notes(const struct xb_table *table)
{
	put_failures(table);
	put_disturbed(table);
	if (!xb_table_is_handshake(table))
		put_places(table);
	for (size_t i = 0; i < table->run->notes.count; i++)
		xb_table_line(table, INDENT, "%s", table->run->notes.names[i]);
}
