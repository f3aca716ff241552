#ifndef XB_REPORT_TABLE_LINES_H
#define XB_REPORT_TABLE_LINES_H

#include <stddef.h>

struct xb_table;
struct xb_row;

/* One line of the table: what differs by client alone. Private to the table_*.c files. */
struct xb_line {
	const struct xb_row *first;  /* its fastest row, or the first of the plan */
	const struct xb_row **cells; /* by client; NULL: no such case. All NULL: a reference row */
	size_t number;               /* within its group, from 1 */
};

struct xb_lines {
	size_t count;
	struct xb_line *lines;
};

/* The lines in the order of the analysis' rows. */
void xb_table_lines(const struct xb_table *table, struct xb_lines *lines);
void xb_table_lines_free(struct xb_lines *lines);

#endif
