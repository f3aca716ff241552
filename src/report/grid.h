#ifndef XB_REPORT_GRID_H
#define XB_REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct xb_report_style;

/* A table of texts that is laid out for a width by leaving out columns in a fixed order. */
struct xb_grid;

/* How a column takes part. */
enum xb_grid_flag {
	XB_GRID_RIGHT = 1 << 0, /* aligned to the right, for numbers */
	XB_GRID_BREAK = 1 << 1, /* too long a text goes on in the next line: nothing is lost */
	XB_GRID_CUT = 1 << 2,   /* too long a text is cut, before any column is left out */
};

struct xb_grid *xb_grid_new(void);
void xb_grid_free(struct xb_grid *grid);

/*
 * Adds a column, all of them before the first row, and returns its number. drop: columns with the
 * largest number are left out first when the width is short, those of equal number together; 0 is
 * never left out. A column without any text in its rows is left out, too.
 */
size_t xb_grid_add_column(struct xb_grid *grid, const char *header, unsigned flags, unsigned drop);

/* Adds an empty row and returns its number. */
size_t xb_grid_add_row(struct xb_grid *grid);

/* Puts a copy of text into a cell. */
void xb_grid_set(struct xb_grid *grid, size_t row, size_t column, const char *text);

/* Shows the row in bold where the style has colours. */
void xb_grid_set_bold(struct xb_grid *grid, size_t row);

/* Chooses the columns and breaks and cuts the texts for the width, 0: no limit. Once, and last. */
void xb_grid_fit(struct xb_grid *grid, int width);

/* After the fit: is the column there? */
bool xb_grid_shows(const struct xb_grid *grid, size_t column);

/* After the fit: prints header and rows. No line ends in blanks where there are no colours. */
void xb_grid_print(const struct xb_grid *grid, const struct xb_report_style *style, FILE *out);

#endif
