#include "report/table_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/run.h"
#include "report/table_parts.h"

static bool
same_name(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* What was not measured may not know which host key it would have met. */
static bool
same_login(const struct xb_row *a, const struct xb_row *b)
{
	bool unknown = !b->measured && xb_row_hostkey(b) == NULL;

	return same_name(xb_row_kex(a), xb_row_kex(b)) &&
	    (unknown || same_name(xb_row_hostkey(a), xb_row_hostkey(b)));
}

static bool
same_transfer(const struct xb_case *a, const struct xb_case *b)
{
	return same_name(a->suite.cipher_name, b->suite.cipher_name) &&
	    same_name(a->suite.mac_name, b->suite.mac_name) &&
	    strcmp(xb_table_compression(&a->suite), xb_table_compression(&b->suite)) == 0 &&
	    (a->method == b->method || !xb_table_knows_method(b));
}

/* True when b may stand in the line that a began: rows of one group come together. */
static bool
belongs(const struct xb_row *a, const struct xb_row *b)
{
	const struct xb_case *x = &a->result->c;
	const struct xb_case *y = &b->result->c;

	if (a->group != b->group || x->streams != y->streams || y->reference)
		return false;
	return x->method == XB_METHOD_LOGIN ? same_login(a, b) : same_transfer(x, y);
}

static void
add_line(const struct xb_table *table, struct xb_lines *lines, const struct xb_row *row)
{
	struct xb_line *line;
	size_t number = 1;

	for (size_t i = 0; i < lines->count; i++)
		number += lines->lines[i].first->group == row->group;
	lines->lines = xb_grow(lines->lines, lines->count, sizeof(*lines->lines));
	line = &lines->lines[lines->count++];
	*line = (struct xb_line){
		.first = row,
		.cells = xb_calloc(table->client_count, sizeof(const struct xb_row *)),
		.number = number,
	};
	if (!row->result->c.reference)
		line->cells[xb_table_client(table, &row->result->c)] = row;
}

void
xb_table_lines(const struct xb_table *table, struct xb_lines *lines)
{
	*lines = (struct xb_lines){ 0 };
	for (size_t i = 0; i < table->analysis.count; i++) {
		const struct xb_row *row = &table->analysis.rows[i];
		const struct xb_row **cell = NULL;

		for (size_t j = 0; cell == NULL && j < lines->count; j++) {
			struct xb_line *line = &lines->lines[j];

			if (belongs(line->first, row))
				cell = &line->cells[xb_table_client(table, &row->result->c)];
			/* A client's row as negotiated may be another one's twin. */
			if (cell != NULL && *cell != NULL)
				cell = NULL;
		}
		if (cell != NULL)
			*cell = row;
		else
			add_line(table, lines, row);
	}
}

void
xb_table_lines_free(struct xb_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i].cells);
	free(lines->lines);
}
