#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/run.h"
#include "report/grid.h"
#include "report/table_lines.h"
#include "report/table_parts.h"
#include "report/wrap.h"

#define INDENT 4

/* What goes first when the width is short: the largest. */
enum drop { KEEP, DROP_SPREAD, DROP_PARTS, DROP_START };

/* The columns of one client. */
struct client_columns {
	bool has_star;
	size_t total;
	size_t spread;
	size_t start;
	size_t connect;
	size_t kex;
	size_t auth;
};

struct columns {
	size_t kex;
	size_t hostkey;
	size_t server;
	struct client_columns *clients;
};

static size_t
add_number(struct xb_grid *grid, unsigned drop, const char *prefix, const char *head)
{
	char *header = xb_asprintf("%s%s%s", prefix, prefix[0] != '\0' ? " " : "", head);
	size_t column = xb_grid_add_column(grid, header, XB_GRID_RIGHT, drop);

	free(header);
	return column;
}

/* The totals first, client by client; their parts have the client's name where there are several. */
static void
add_columns(const struct xb_table *table, struct xb_grid *grid, struct columns *columns)
{
	columns->clients = xb_calloc(table->client_count, sizeof(*columns->clients));
	columns->kex = xb_grid_add_column(grid, "KEY EXCHANGE", XB_GRID_BREAK, KEEP);
	columns->hostkey = xb_grid_add_column(grid, "HOST KEY", XB_GRID_BREAK, KEEP);
	columns->server = xb_grid_add_column(grid, "SERVER", XB_GRID_BREAK, KEEP);
	for (size_t i = 0; i < table->client_count; i++) {
		struct client_columns *c = &columns->clients[i];

		c->total = add_number(grid, KEEP, xb_case_client_label(table->clients[i]), "ms");
		c->spread = add_number(grid, DROP_SPREAD, "", xb_table_plus_minus(table));
	}
	for (size_t i = 0; i < table->client_count; i++) {
		struct client_columns *c = &columns->clients[i];
		const char *label =
		    table->client_count > 1 ? xb_case_client_label(table->clients[i]) : "";

		c->connect = add_number(grid, DROP_PARTS, label, "connect");
		c->kex = add_number(grid, DROP_PARTS, label, "kex");
		c->auth = add_number(grid, DROP_PARTS, label, "auth");
		c->start = add_number(grid, DROP_START, label, "start");
	}
}

static void
set_ms(struct xb_grid *grid, size_t line, size_t column, const struct xb_interval *seconds)
{
	char cell[32];

	xb_table_figure(cell, sizeof(cell), 1000 * seconds->median);
	xb_grid_set(grid, line, column, cell);
}

static void
put_client(struct xb_table *table, struct xb_grid *grid, size_t line,
    const struct client_columns *columns, const struct xb_row *row)
{
	bool star = row->result->c.as_negotiated;
	char figure[32];
	char cell[96];

	if (!row->measured) {
		xb_footnote_mark(figure, sizeof(figure), xb_table_footnote(table, row));
		snprintf(cell, sizeof(cell), "- %s", figure);
		xb_grid_set(grid, line, columns->total, cell);
		return;
	}
	xb_table_figure(figure, sizeof(figure), 1000 * row->login.total.median);
	snprintf(cell, sizeof(cell), "%s%s", figure, star ? "*" : columns->has_star ? " " : "");
	xb_grid_set(grid, line, columns->total, cell);
	table->shows_star |= star;
	xb_table_spread(table, cell, sizeof(cell), &row->login.total);
	xb_grid_set(grid, line, columns->spread, cell);
	/* With --verbose the detail below has the rest. */
	if (table->style->verbose)
		return;
	set_ms(grid, line, columns->start, &row->login.start);
	set_ms(grid, line, columns->connect, &row->login.connect);
	set_ms(grid, line, columns->kex, &row->login.kex);
	set_ms(grid, line, columns->auth, &row->login.auth);
}

static const char *
known(const char *name)
{
	return name != NULL ? name : "as negotiated";
}

static void
put_line(struct xb_table *table, struct xb_grid *grid, const struct columns *columns,
    const struct xb_line *line)
{
	size_t at = xb_grid_add_row(grid);
	char server[256];

	xb_grid_set(grid, at, columns->kex, known(xb_row_kex(line->first)));
	xb_grid_set(grid, at, columns->hostkey, known(xb_row_hostkey(line->first)));
	if (table->varies.server) {
		xb_table_target(xb_run_target(table->run, &line->first->result->c), server,
		    sizeof(server));
		xb_grid_set(grid, at, columns->server, server);
	}
	for (size_t i = 0; i < table->client_count; i++)
		if (line->cells[i] != NULL)
			put_client(table, grid, at, &columns->clients[i], line->cells[i]);
}

/* The client that the answer is about, the first one else. */
static size_t
sorting_client(const struct xb_table *table)
{
	const char *name = table->run->settings.answer_client;

	for (size_t i = 0; name != NULL && i < table->client_count; i++)
		if (strcmp(table->clients[i]->client, name) == 0)
			return i;
	return 0;
}

static double
total_of(const struct xb_line *line, size_t client)
{
	const struct xb_row *row = line->cells[client];

	return row != NULL && row->measured ? row->login.total.median : INFINITY;
}

/* Group by group, by that client's total: a stable insertion, as lines are few and in order. */
static void
sort_lines(struct xb_lines *lines, size_t client)
{
	for (size_t i = 1; i < lines->count; i++) {
		struct xb_line line = lines->lines[i];
		size_t j = i;

		while (j > 0 && lines->lines[j - 1].first->group == line.first->group &&
		    total_of(&lines->lines[j - 1], client) > total_of(&line, client)) {
			lines->lines[j] = lines->lines[j - 1];
			j--;
		}
		lines->lines[j] = line;
	}
}

void
xb_table_handshake_rows(struct xb_table *table)
{
	struct xb_grid *grid = xb_grid_new();
	struct columns columns = { 0 };
	struct xb_lines lines;

	add_columns(table, grid, &columns);
	for (size_t i = 0; i < table->analysis.count; i++) {
		const struct xb_case *c = &table->analysis.rows[i].result->c;

		if (table->analysis.rows[i].measured && c->as_negotiated)
			columns.clients[xb_table_client(table, c)].has_star = true;
	}
	xb_table_lines(table, &lines);
	if (table->client_count > 0)
		sort_lines(&lines, sorting_client(table));
	for (size_t i = 0; i < lines.count; i++)
		put_line(table, grid, &columns, &lines.lines[i]);
	xb_grid_fit(grid, table->style->width);
	xb_grid_print(grid, table->style, table->out);
	for (size_t i = 0; i < table->client_count; i++) {
		table->shows_spread |= xb_grid_shows(grid, columns.clients[i].spread);
		table->shows_parts |= xb_grid_shows(grid, columns.clients[i].kex);
		table->shows_start |= xb_grid_shows(grid, columns.clients[i].start);
	}
	xb_table_lines_free(&lines);
	free(columns.clients);
	xb_grid_free(grid);
}

/* The columns of the parts, a line a client, by number. */
enum detail { KEX, HOSTKEY, SERVER, CLIENT, RANGE, CONNECT, KEX_MS, AUTH, START };

static struct xb_grid *
new_detail(void)
{
	struct xb_grid *grid = xb_grid_new();

	xb_grid_add_column(grid, "KEY EXCHANGE", XB_GRID_BREAK, 0);
	xb_grid_add_column(grid, "HOST KEY", XB_GRID_BREAK, 0);
	xb_grid_add_column(grid, "SERVER", XB_GRID_BREAK, 0);
	xb_grid_add_column(grid, "CLIENT", 0, 0);
	xb_grid_add_column(grid, "range ms", XB_GRID_RIGHT, 3);
	xb_grid_add_column(grid, "connect", XB_GRID_RIGHT, 1);
	xb_grid_add_column(grid, "kex", XB_GRID_RIGHT, 0);
	xb_grid_add_column(grid, "auth", XB_GRID_RIGHT, 0);
	xb_grid_add_column(grid, "start", XB_GRID_RIGHT, 2);
	return grid;
}

static void
put_detail(const struct xb_table *table, struct xb_grid *grid, const struct xb_row *row)
{
	const struct xb_case *c = &row->result->c;
	size_t line = xb_grid_add_row(grid);
	char low[32];
	char high[32];
	char cell[256];

	xb_grid_set(grid, line, KEX, known(xb_row_kex(row)));
	xb_grid_set(grid, line, HOSTKEY, known(xb_row_hostkey(row)));
	if (table->varies.server) {
		xb_table_target(xb_run_target(table->run, c), cell, sizeof(cell));
		xb_grid_set(grid, line, SERVER, cell);
	}
	if (table->client_count > 1)
		xb_grid_set(grid, line, CLIENT, xb_case_client_label(c));
	xb_table_figure(low, sizeof(low), 1000 * row->login.total.low);
	xb_table_figure(high, sizeof(high), 1000 * row->login.total.high);
	snprintf(cell, sizeof(cell), "%s to %s", low, high);
	if (row->login.total.count > 1)
		xb_grid_set(grid, line, RANGE, cell);
	set_ms(grid, line, CONNECT, &row->login.connect);
	set_ms(grid, line, KEX_MS, &row->login.kex);
	set_ms(grid, line, AUTH, &row->login.auth);
	set_ms(grid, line, START, &row->login.start);
}

void
xb_table_handshake_detail(const struct xb_table *table)
{
	struct xb_grid *grid;

	if (table->analysis.leader == NULL)
		return;
	grid = new_detail();
	for (size_t i = 0; i < table->analysis.count; i++)
		if (table->analysis.rows[i].measured)
			put_detail(table, grid, &table->analysis.rows[i]);
	xb_grid_fit(grid, table->style->width);
	fputc('\n', table->out);
	xb_grid_print(grid, table->style, table->out);
	xb_table_line(table, INDENT,
	    "all in ms. start = of a program, until it connects; not in its total");
	xb_grid_free(grid);
}
