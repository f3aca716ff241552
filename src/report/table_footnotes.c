#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/run.h"
#include "report/table_parts.h"
#include "report/wrap.h"

#define MOST_HINTS 1000 /* bytes of one footnote's hints */

/* Why the row has no rate, fresh. */
static char *
reason_text(const struct xb_table *table, const struct xb_row *row)
{
	const char *reason = row->result->c.reason;
	size_t trials = xb_table_trials(row);

	if (reason == NULL && row->failed > 0)
		reason = xb_table_failure(row);
	if (row->failed > 0)
		return xb_asprintf("%zu of %zu trial%s failed: %s", row->failed, trials,
		    trials == 1 ? "" : "s", reason);
	if (reason == NULL)
		return xb_strdup("not measured");
	/* The run's end is the reason of all that was left. */
	if (table->run->partial_reason != NULL && strcmp(reason, table->run->partial_reason) == 0)
		return xb_asprintf("not measured: %s", reason);
	return xb_strdup(reason);
}

size_t
xb_table_footnote_text(struct xb_table *table, const char *text, const char *hint)
{
	size_t i = 0;

	while (i < table->footnote_count && strcmp(table->footnotes[i].reason, text) != 0)
		i++;
	if (i == table->footnote_count) {
		table->footnotes = xb_grow(table->footnotes, i, sizeof(*table->footnotes));
		table->footnotes[i] = (struct xb_footnote){ .reason = xb_strdup(text) };
		table->footnote_count++;
	}
	if (hint != NULL)
		xb_namelist_add_once(&table->footnotes[i].hints, hint);
	return i;
}

size_t
xb_table_footnote(struct xb_table *table, const struct xb_row *row)
{
	char *reason = reason_text(table, row);
	size_t number = xb_table_footnote_text(table, reason, row->result->c.hint);

	free(reason);
	return number;
}

void
xb_table_footnotes(const struct xb_table *table)
{
	for (size_t i = 0; i < table->footnote_count; i++) {
		const struct xb_footnote *note = &table->footnotes[i];
		char *hints = xb_namelist_join(&note->hints, "; ", MOST_HINTS);
		char mark[16];

		xb_footnote_mark(mark, sizeof(mark), i);
		xb_table_line(table, strlen(mark) + 1, "%s %s%s%s", mark, note->reason,
		    hints[0] != '\0' ? "; " : "", hints);
		free(hints);
	}
}

void
xb_table_footnotes_free(struct xb_table *table)
{
	for (size_t i = 0; i < table->footnote_count; i++) {
		free(table->footnotes[i].reason);
		xb_namelist_free(&table->footnotes[i].hints);
	}
	free(table->footnotes);
	table->footnotes = NULL;
	table->footnote_count = 0;
}
