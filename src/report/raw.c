#include "report/raw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/namelist.h"
#include "report/grid.h"
#include "report/wrap.h"

/* Sizes that a narrow terminal can do without: their neighbours tell the same. */
static const unsigned size_drop[XB_RAW_SIZES] = { 0, 1, 2, 0, 0, 2, 0 };
#define RATING_DROP 3

#define FIGURE_BYTES 32

/* The place of a reason among the footnotes; each text has one. */
static size_t
footnote_of(struct xb_namelist *reasons, const char *reason)
{
	xb_namelist_add_once(reasons, reason);
	for (size_t i = 0; i < reasons->count; i++)
		if (strcmp(reasons->names[i], reason) == 0)
			return i;
	return 0;
}

static size_t
add_columns(struct xb_grid *grid, enum xb_rate_unit unit)
{
	char size[FIGURE_BYTES];

	xb_grid_add_column(grid, xb_rate_unit_label(unit), 0, 0);
	xb_grid_add_column(grid, "", 0, 0);
	for (size_t i = 0; i < XB_RAW_SIZES; i++) {
		snprintf(size, sizeof(size), "%u", xb_raw_sizes[i]);
		xb_grid_add_column(grid, size, XB_GRID_RIGHT, size_drop[i]);
	}
	return xb_grid_add_column(grid, "RATING", 0, RATING_DROP);
}

static void
add_row(struct xb_grid *grid, const struct xb_raw_row *row, enum xb_rate_unit unit,
    struct xb_namelist *reasons)
{
	size_t at = xb_grid_add_row(grid), column = 0;
	char figure[FIGURE_BYTES];
	char mark[16] = "";
	char *name;

	if (row->reason != NULL)
		xb_footnote_mark(mark, sizeof(mark), footnote_of(reasons, row->reason));
	name = xb_asprintf("%s%s%s", row->label, mark[0] != '\0' ? " " : "", mark);
	xb_grid_set(grid, at, column++, name);
	xb_grid_set(grid, at, column++, row->direction);
	for (size_t i = 0; i < XB_RAW_SIZES; i++) {
		if (isfinite(row->speed[i]))
			xb_figure_format(figure, sizeof(figure), xb_rate_in(unit, row->speed[i]));
		else
			snprintf(figure, sizeof(figure), "-");
		xb_grid_set(grid, at, column++, figure);
	}
	xb_grid_set(grid, at, column, row->rating);
	free(name);
}

/* "weak: 3des, blowfish" for a terminal that has no room for the column. */
static void
write_rated(const struct xb_raw_table *table, const char *rating, int width, FILE *out)
{
	struct xb_namelist labels = { 0 };
	char *joined, *line;

	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i].rating, rating) == 0)
			xb_namelist_add_once(&labels, table->rows[i].label);
	if (labels.count > 0) {
		joined = xb_namelist_join(&labels, ", ", SIZE_MAX);
		line = xb_asprintf("%s: %s", rating, joined);
		xb_wrap(out, width, 0, 4, line);
		free(joined);
		free(line);
	}
	xb_namelist_free(&labels);
}

static void
write_footnotes(const struct xb_raw_table *table, const struct xb_namelist *reasons,
    bool rating_shown, int width, FILE *out)
{
	for (size_t i = 0; i < reasons->count; i++) {
		char mark[16];
		char *line;

		xb_footnote_mark(mark, sizeof(mark), i);
		line = xb_asprintf("%s %s", mark, reasons->names[i]);
		xb_wrap(out, width, 0, 4, line);
		free(line);
	}
	if (!rating_shown) {
		write_rated(table, "weak", width, out);
		write_rated(table, "broken", width, out);
	}
}

/* What the figures are; above the table. */
static void
write_heading(const struct xb_raw_table *table, enum xb_rate_unit unit, int width, FILE *out)
{
	char *line = xb_asprintf("%s = %s, in memory, one core. Columns: bytes per packet.",
	    xb_rate_unit_label(unit), xb_rate_unit_meaning(unit));

	xb_wrap(out, width, 0, 4, line);
	free(line);
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].kind == XB_RAW_ZLIB)
			xb_wrap(out, width, 0, 4,
			    "zlib compresses made-up words, flushed per packet; other data, other figures.");
}

bool
xb_raw_write(const struct xb_raw_table *table, enum xb_rate_unit unit,
    const struct xb_report_style *style, FILE *out)
{
	struct xb_grid *grid = xb_grid_new();
	struct xb_namelist reasons = { 0 };
	size_t rating_column = add_columns(grid, unit);

	for (size_t i = 0; i < table->count; i++)
		add_row(grid, &table->rows[i], unit, &reasons);
	xb_grid_fit(grid, style->width);
	if (!style->quiet)
		write_heading(table, unit, style->width, out);
	if (table->partial_reason != NULL)
		fprintf(out, "partial: %s\n", table->partial_reason);
	xb_grid_print(grid, style, out);
	write_footnotes(table, &reasons, xb_grid_shows(grid, rating_column), style->width, out);
	xb_grid_free(grid);
	xb_namelist_free(&reasons);
	return fflush(out) == 0 && ferror(out) == 0;
}
