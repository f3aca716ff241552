#include "report/grid.h"

#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "report/wrap.h"

#define SEPARATOR "  "
#define LEAST_BROKEN 6 /* columns: shorter pieces of a text help nobody */
#define LEAST_CUT 12

struct column {
	char *header;
	unsigned flags;
	unsigned drop;
	size_t width;
	bool shown;
};

struct row {
	char **cells; /* NULL: empty */
	bool bold;
};

struct xb_grid {
	size_t column_count;
	struct column *columns;
	size_t row_count;
	struct row *rows;
};

struct xb_grid *
xb_grid_new(void)
{
	return xb_calloc(1, sizeof(struct xb_grid));
}

void
xb_grid_free(struct xb_grid *grid)
{
	if (grid == NULL)
		return;
	for (size_t i = 0; i < grid->row_count; i++) {
		for (size_t c = 0; c < grid->column_count; c++)
			free(grid->rows[i].cells[c]);
		free(grid->rows[i].cells);
	}
	free(grid->rows);
	for (size_t c = 0; c < grid->column_count; c++)
		free(grid->columns[c].header);
	free(grid->columns);
	free(grid);
}

size_t
xb_grid_add_column(struct xb_grid *grid, const char *header, unsigned flags, unsigned drop)
{
	grid->columns = xb_grow(grid->columns, grid->column_count, sizeof(*grid->columns));
	grid->columns[grid->column_count] = (struct column){
		.header = xb_strdup(header),
		.flags = flags,
		.drop = drop,
	};
	return grid->column_count++;
}

size_t
xb_grid_add_row(struct xb_grid *grid)
{
	grid->rows = xb_grow(grid->rows, grid->row_count, sizeof(*grid->rows));
	grid->rows[grid->row_count] = (struct row){
		.cells = xb_calloc(grid->column_count, sizeof(char *)),
	};
	return grid->row_count++;
}

void
xb_grid_set(struct xb_grid *grid, size_t row, size_t column, const char *text)
{
	char **cell = &grid->rows[row].cells[column];

	free(*cell);
	*cell = text[0] != '\0' ? xb_strdup(text) : NULL;
}

void
xb_grid_set_bold(struct xb_grid *grid, size_t row)
{
	grid->rows[row].bold = true;
}

static size_t
total_width(const struct xb_grid *grid)
{
	size_t total = 0;

	for (size_t c = 0; c < grid->column_count; c++) {
		if (!grid->columns[c].shown)
			continue;
		total += total > 0 ? strlen(SEPARATOR) : 0;
		total += grid->columns[c].width;
	}
	return total;
}

static void
measure(struct xb_grid *grid)
{
	for (size_t c = 0; c < grid->column_count; c++) {
		struct column *column = &grid->columns[c];

		column->width = xb_text_columns(column->header);
		for (size_t i = 0; i < grid->row_count; i++) {
			const char *cell = grid->rows[i].cells[c];
			size_t width = cell != NULL ? xb_text_columns(cell) : 0;

			column->shown = column->shown || cell != NULL;
			if (width > column->width)
				column->width = width;
		}
	}
}

/* Leaves out the columns with the largest drop number; false when none may go. */
static bool
drop_some(struct xb_grid *grid)
{
	unsigned largest = 0;

	for (size_t c = 0; c < grid->column_count; c++) {
		if (grid->columns[c].shown && grid->columns[c].drop > largest)
			largest = grid->columns[c].drop;
	}
	for (size_t c = 0; c < grid->column_count; c++) {
		if (largest > 0 && grid->columns[c].drop == largest)
			grid->columns[c].shown = false;
	}
	return largest > 0;
}

/* Narrows the widest column with the flag by one; false when all are as narrow as may be. */
static bool
narrow_one(struct xb_grid *grid, unsigned flag, size_t narrowest)
{
	struct column *widest = NULL;

	for (size_t c = 0; c < grid->column_count; c++) {
		struct column *column = &grid->columns[c];
		size_t least = xb_text_columns(column->header);

		if (least < narrowest)
			least = narrowest;
		if (column->shown && (column->flags & flag) != 0 && column->width > least &&
		    (widest == NULL || column->width > widest->width))
			widest = column;
	}
	if (widest != NULL)
		widest->width--;
	return widest != NULL;
}

/* The text with a line end after every width columns, fresh. */
static char *
broken(const char *text, size_t width)
{
	char *lines = xb_calloc(2 * strlen(text) + 1, 1);
	size_t used = 0;

	for (;;) {
		size_t len = xb_text_start(text, width);

		memcpy(lines + used, text, len);
		used += len;
		text += len;
		if (*text == '\0')
			return lines;
		lines[used++] = '\n';
	}
}

static void
fit_cells(struct xb_grid *grid, size_t c)
{
	const struct column *column = &grid->columns[c];

	for (size_t i = 0; i < grid->row_count; i++) {
		char **cell = &grid->rows[i].cells[c];
		char *lines;

		if (*cell == NULL || xb_text_columns(*cell) <= column->width)
			continue;
		if ((column->flags & XB_GRID_CUT) != 0) {
			(*cell)[xb_text_start(*cell, column->width)] = '\0';
			continue;
		}
		lines = broken(*cell, column->width);
		free(*cell);
		*cell = lines;
	}
}

void
xb_grid_fit(struct xb_grid *grid, int width)
{
	measure(grid);
	if (width <= 0)
		return;
	while (total_width(grid) > (size_t)width) {
		if (!narrow_one(grid, XB_GRID_CUT, LEAST_CUT) && !drop_some(grid) &&
		    !narrow_one(grid, XB_GRID_BREAK, LEAST_BROKEN))
			break;
	}
	for (size_t c = 0; c < grid->column_count; c++)
		fit_cells(grid, c);
}

bool
xb_grid_shows(const struct xb_grid *grid, size_t column)
{
	return grid->columns[column].shown;
}

/* libsmartcols fails for want of memory alone. */
static void
must(bool done)
{
	if (!done) {
		fputs("xferbench: out of memory\n", stderr);
		exit(4);
	}
}

static void
add_columns(const struct xb_grid *grid, struct libscols_table *table)
{
	for (size_t c = 0; c < grid->column_count; c++) {
		const struct column *column = &grid->columns[c];
		bool right = (column->flags & XB_GRID_RIGHT) != 0;
		bool wraps = (column->flags & XB_GRID_BREAK) != 0;
		struct libscols_column *made;

		if (!column->shown)
			continue;
		made = scols_table_new_column(table, column->header, (double)column->width,
		    (right ? SCOLS_FL_RIGHT : 0) | (wraps ? SCOLS_FL_WRAP : 0));
		must(made != NULL);
		if (!wraps)
			continue;
		must(scols_column_set_safechars(made, "\n") == 0);
		must(scols_column_set_wrapfunc(made, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
			 NULL) == 0);
	}
}

static void
add_rows(const struct xb_grid *grid, struct libscols_table *table)
{
	for (size_t i = 0; i < grid->row_count; i++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);
		size_t shown = 0;

		must(line != NULL);
		if (grid->rows[i].bold)
			must(scols_line_set_color(line, "\033[1m") == 0);
		for (size_t c = 0; c < grid->column_count; c++) {
			const char *cell = grid->rows[i].cells[c];

			if (!grid->columns[c].shown)
				continue;
			if (cell != NULL)
				must(scols_line_set_data(line, shown, cell) == 0);
			shown++;
		}
	}
}

/* The library pads a wrapped cell in the last column. */
static void
print_trimmed(const char *text, FILE *out)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		size_t kept = len;

		while (kept > 0 && text[kept - 1] == ' ')
			kept--;
		fprintf(out, "%.*s\n", (int)kept, text);
		text += len + (text[len] != '\0');
	}
}

void
xb_grid_print(const struct xb_grid *grid, const struct xb_report_style *style, FILE *out)
{
	struct libscols_table *table;
	char *text = NULL;

	if (grid->row_count == 0)
		return;
	table = scols_new_table();
	must(table != NULL);
	/* The widths are settled: the library shall not look for a terminal. */
	must(scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) == 0);
	must(scols_table_set_column_separator(table, SEPARATOR) == 0);
	must(scols_table_enable_colors(table, style->colour) == 0);
	add_columns(grid, table);
	add_rows(grid, table);
	must(scols_print_table_to_string(table, &text) == 0);
	print_trimmed(text, out);
	free(text);
	scols_unref_table(table);
}
