#include "report/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/namelist.h"
#include "report/grid.h"
#include "report/wrap.h"

#define INDENT 4

/* The columns, by number. */
enum column { KIND, NAME, OFFERED, CLIENT, RAW, RATING, SOURCE };

/* "no [b]": with the mark of the note that says why. */
static void
put_noted(struct xb_grid *grid, size_t line, size_t column, const char *word, const char *note,
    struct xb_namelist *notes)
{
	char *cell;
	char mark[16];
	size_t number = 0;

	if (note == NULL) {
		xb_grid_set(grid, line, column, word);
		return;
	}
	xb_namelist_add_once(notes, note);
	while (strcmp(notes->names[number], note) != 0)
		number++;
	xb_footnote_mark(mark, sizeof(mark), number);
	cell = xb_asprintf("%s %s", word, mark);
	xb_grid_set(grid, line, column, cell);
	free(cell);
}

/* Without a target nothing is known of any row, and a column of question marks says no more. */
static bool
any_offer_known(const struct xb_list_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].offered, "?") != 0)
			return true;
	}
	return false;
}

bool
xb_list_write(const struct xb_list_row *rows, size_t count, const char *heading,
    const char *client_label, const struct xb_report_style *style, FILE *out)
{
	struct xb_grid *grid = xb_grid_new();
	struct xb_namelist notes = { 0 };
	bool offers = any_offer_known(rows, count);

	xb_grid_add_column(grid, "KIND", 0, 0);
	xb_grid_add_column(grid, "NAME", XB_GRID_BREAK, 0);
	xb_grid_add_column(grid, "offered", 0, 0);
	xb_grid_add_column(grid, client_label, 0, 0);
	xb_grid_add_column(grid, "raw", 0, 0);
	xb_grid_add_column(grid, "rating", 0, 0);
	xb_grid_add_column(grid, "source", XB_GRID_CUT, 1);
	for (size_t i = 0; i < count; i++) {
		const struct xb_list_row *row = &rows[i];
		size_t line = xb_grid_add_row(grid);

		xb_grid_set(grid, line, KIND, row->kind);
		xb_grid_set(grid, line, NAME, row->name);
		if (offers)
			xb_grid_set(grid, line, OFFERED, row->offered);
		put_noted(grid, line, CLIENT, row->client, row->client_note, &notes);
		put_noted(grid, line, RAW, row->primitive, row->primitive_note, &notes);
		xb_grid_set(grid, line, RATING, row->rating);
		if (row->rating_source != NULL)
			xb_grid_set(grid, line, SOURCE, row->rating_source);
	}
	xb_grid_fit(grid, style->width);
	if (heading != NULL && !style->quiet) {
		xb_wrap(out, style->width, 0, INDENT, heading);
		fputc('\n', out);
	}
	xb_grid_print(grid, style, out);
	for (size_t i = 0; i < notes.count; i++) {
		char mark[16];
		char *text;

		xb_footnote_mark(mark, sizeof(mark), i);
		text = xb_asprintf("%s %s", mark, notes.names[i]);
		xb_wrap(out, style->width, 0, INDENT, text);
		free(text);
	}
	xb_namelist_free(&notes);
	xb_grid_free(grid);
	return fflush(out) == 0 && !ferror(out);
}
