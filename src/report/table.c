#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/answer.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "model/run.h"
#include "report/table_parts.h"
#include "report/wrap.h"

#define LONGEST_HEAD 12 /* of a host's name over a column */

void
xb_table_line(const struct xb_table *table, size_t indent, const char *fmt, ...)
{
	va_list ap;
	char *text = NULL;
	size_t size;
	FILE *stream = xb_memstream(&text, &size);

	va_start(ap, fmt);
	vfprintf(stream, fmt, ap);
	va_end(ap);
	xb_memstream_close(stream);
	xb_wrap(table->out, table->style->width, 0, indent, text);
	free(text);
}

const char *
xb_table_plus_minus(const struct xb_table *table)
{
	return table->style->utf8 ? "\u00b1" : "+-";
}

const char *
xb_table_times(const struct xb_table *table)
{
	return table->style->utf8 ? "\u00d7" : "x";
}

void
xb_table_spread(const struct xb_table *table, char *out, size_t size,
    const struct xb_interval *figure)
{
	double spread = (figure->high - figure->low) / 2 / figure->median;
	char percent[32];

	snprintf(out, size, "%s", "");
	if (figure->count < 2 || !isfinite(spread))
		return;
	xb_table_percent(percent, sizeof(percent), spread);
	snprintf(out, size, "%s%s", xb_table_plus_minus(table), percent);
}

void
xb_table_percent(char *out, size_t size, double share)
{
	double percent = 100 * share;

	if (!isfinite(percent))
		snprintf(out, size, "%s", "");
	else if (percent == 0 || percent >= 0.95)
		snprintf(out, size, "%.0f%%", percent);
	else if (percent >= 0.05)
		snprintf(out, size, "%.1f%%", percent);
	else
		snprintf(out, size, "<0.1%%");
}

void
xb_table_figure(char *out, size_t size, double value)
{
	if (isfinite(value))
		xb_figure_format(out, size, value);
	else
		snprintf(out, size, "%s", "");
}

void
xb_table_rate(const struct xb_table *table, char *out, size_t size, double bytes_per_second)
{
	xb_table_figure(out, size, xb_rate_in(table->run->settings.unit, bytes_per_second));
}

void
xb_table_range(const struct xb_table *table, char *out, size_t size, const struct xb_interval *rate)
{
	char low[32];
	char high[32];

	snprintf(out, size, "%s", "");
	if (rate->count < 2)
		return;
	xb_table_rate(table, low, sizeof(low), rate->low);
	xb_table_rate(table, high, sizeof(high), rate->high);
	snprintf(out, size, "%s to %s", low, high);
}

void
xb_table_seconds(char *out, size_t size, double seconds)
{
	snprintf(out, size, "%s", "");
	/* Beyond a century is no login; the comparison also keeps NAN out. */
	if (seconds >= 0 && seconds < 3e9)
		xb_duration_format(out, size, (int64_t)(seconds * (double)XB_NS_PER_SECOND));
}

/* Servers that are there and that the run is about. */
static size_t
count_servers(const struct xb_run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->target_count; i++)
		count += run->targets[i].absent == NULL && !run->targets[i].stands_in;
	return count;
}

const char *
xb_table_server(const struct xb_table *table, char *out, size_t size)
{
	const struct xb_target_sheet *target = &table->run->targets[0];

	if (count_servers(table->run) > 1 || (target->is_local && !target->is_private))
		return "server";
	if (target->is_private)
		xb_target_program(target, out, size);
	else
		xb_text_printable(out, size, target->name, strlen(target->name));
	return strlen(out) <= LONGEST_HEAD ? out : "server";
}

size_t
xb_table_trials(const struct xb_row *row)
{
	size_t trials = 0;

	for (size_t i = 0; i < row->result->sample_count; i++)
		trials += (row->result->samples[i].marks & XB_MARK_SUPERSEDED) == 0;
	return trials;
}

const char *
xb_table_failure(const struct xb_row *row)
{
	for (size_t i = 0; i < row->result->sample_count; i++) {
		const struct xb_sample *sample = &row->result->samples[i];

		if (sample->status == XB_FAILED && sample->reason[0] != '\0')
			return sample->reason;
	}
	return "";
}

/* Each line of the text from one column on. */
static void
put_labelled(const struct xb_table *table, const char *label, const char *text)
{
	const size_t indent = 9;
	bool colour = table->style->colour;
	char *copy = xb_strdup(text);
	char *rest = copy;
	char *line;

	fprintf(table->out, "%s%s%s%*s", colour ? "\033[1m" : "", label, colour ? "\033[0m" : "",
	    (int)(indent - strlen(label)), "");
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (line != copy)
			fprintf(table->out, "%*s", (int)indent, "");
		xb_wrap(table->out, table->style->width, indent, indent, line);
	}
	free(copy);
}

void
xb_table_answer(const struct xb_table *table)
{
	struct xb_answer answer;

	xb_answer_make(table->run, &table->analysis, &answer);
	if (answer.limit != NULL || answer.answer != NULL)
		fputc('\n', table->out);
	if (answer.limit != NULL)
		put_labelled(table, "Limit", answer.limit);
	if (answer.answer != NULL)
		put_labelled(table, "Answer", answer.answer);
	xb_answer_free(&answer);
}

static void
put_all(struct xb_table *table)
{
	const struct xb_report_style *style = table->style;

	/* A part of a run never looks like the whole of it, however quiet. */
	xb_table_partial(table);
	if (!style->quiet) {
		xb_table_head(table);
		fputc('\n', table->out);
	}
	if (xb_table_is_handshake(table))
		xb_table_handshake_rows(table);
	else
		xb_table_rows(table);
	if (!style->quiet)
		xb_table_legend(table);
	xb_table_footnotes(table);
	if (style->quiet)
		return;
	xb_table_notes(table);
	if (style->verbose)
		xb_table_detail(table);
	if (style->terminal)
		xb_table_answer(table);
}

static bool
table_write(const struct xb_run *run, const struct xb_report_style *style, FILE *out,
    struct xb_err *err)
{
	struct xb_table table = { .run = run, .style = style };
	char *text = NULL;
	size_t size;
	bool ok;

	xb_analysis_make(run, &table.analysis);
	xb_table_find_dimensions(&table);
	table.out = xb_memstream(&text, &size);
	put_all(&table);
	xb_memstream_close(table.out);
	/* In one piece, so that errno is that of the write that failed. */
	ok = fwrite(text, 1, size, out) == size && fflush(out) == 0;
	if (!ok)
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write the table");
	free(text);
	xb_table_footnotes_free(&table);
	free(table.clients);
	xb_analysis_free(&table.analysis);
	return ok;
}

const struct xb_report xb_report_table = {
	.name = "table",
	.write = table_write,
};
