#include "report/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/namelist.h"
#include "report/grid.h"
#include "report/wrap.h"

#define INDENT 4

/* The columns, by number. */
struct columns {
	size_t kind;
	size_t name;
	size_t servers; /* the first of them */
	size_t *clients;
	size_t primitive;
	size_t rating;
	size_t source;
};

static void
add_columns(const struct xb_list *list, struct xb_grid *grid, struct columns *columns)
{
	columns->clients = xb_calloc(list->client_count, sizeof(*columns->clients));
	columns->kind = xb_grid_add_column(grid, "KIND", 0, 0);
	columns->name = xb_grid_add_column(grid, "NAME", XB_GRID_BREAK, 0);
	for (size_t i = 0; i < list->server_count; i++) {
		size_t column = xb_grid_add_column(grid, list->servers[i], 0, 0);

		if (i == 0)
			columns->servers = column;
	}
	for (size_t i = 0; i < list->client_count; i++)
		if (list->clients[i].absent == NULL)
			columns->clients[i] =
			    xb_grid_add_column(grid, list->clients[i].label, 0, 0);
	columns->primitive = xb_grid_add_column(grid, "raw", 0, 0);
	columns->rating = xb_grid_add_column(grid, "rating", 0, 0);
	columns->source = xb_grid_add_column(grid, "source", XB_GRID_CUT, 1);
}

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

static const char *
yes_or_no(unsigned set, size_t bit)
{
	return (set >> bit & 1) != 0 ? "yes" : "no";
}

static void
put_row(const struct xb_list *list, struct xb_grid *grid, const struct columns *columns,
    const struct xb_list_row *row, struct xb_namelist *notes)
{
	size_t line = xb_grid_add_row(grid);

	xb_grid_set(grid, line, columns->kind, row->kind);
	xb_grid_set(grid, line, columns->name, row->name);
	for (size_t i = 0; i < list->server_count; i++)
		xb_grid_set(grid, line, columns->servers + i, yes_or_no(row->offered, i));
	for (size_t i = 0; i < list->client_count; i++)
		if (list->clients[i].absent == NULL)
			xb_grid_set(grid, line, columns->clients[i], yes_or_no(row->has, i));
	put_noted(grid, line, columns->primitive, row->primitive, row->primitive_note, notes);
	xb_grid_set(grid, line, columns->rating, row->rating);
	if (row->rating_source != NULL)
		xb_grid_set(grid, line, columns->source, row->rating_source);
}

static void
put_notes(const struct xb_list *list, const struct xb_namelist *notes, int width, FILE *out)
{
	char *text;

	for (size_t i = 0; i < notes->count; i++) {
		char mark[16];

		xb_footnote_mark(mark, sizeof(mark), i);
		text = xb_asprintf("%s %s", mark, notes->names[i]);
		xb_wrap(out, width, 0, INDENT, text);
		free(text);
	}
	for (size_t i = 0; i < list->client_count; i++) {
		if (list->clients[i].absent == NULL)
			continue;
		text = xb_asprintf("%s has no column: %s", list->clients[i].label,
		    list->clients[i].absent);
		xb_wrap(out, width, 0, INDENT, text);
		free(text);
	}
}

static void
put_heading(const char *heading, int width, FILE *out)
{
	char *copy = xb_strdup(heading);
	char *rest = copy;
	char *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		xb_wrap(out, width, 0, INDENT, line);
	fputc('\n', out);
	free(copy);
}

bool
xb_list_write(const struct xb_list *list, const char *heading, const struct xb_report_style *style,
    FILE *out)
{
	struct xb_grid *grid = xb_grid_new();
	struct xb_namelist notes = { 0 };
	struct columns columns = { 0 };

	add_columns(list, grid, &columns);
	for (size_t i = 0; i < list->row_count; i++)
		put_row(list, grid, &columns, &list->rows[i], &notes);
	xb_grid_fit(grid, style->width);
	if (heading != NULL && !style->quiet)
		put_heading(heading, style->width, out);
	xb_grid_print(grid, style, out);
	put_notes(list, &notes, style->width, out);
	xb_namelist_free(&notes);
	free(columns.clients);
	xb_grid_free(grid);
	return fflush(out) == 0 && !ferror(out);
}
