#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "model/run.h"
#include "report/grid.h"
#include "report/table_lines.h"
#include "report/table_parts.h"
#include "report/wrap.h"

/* What goes first when the width is short: the largest. */
enum drop {
	KEEP,
	DROP_SCALING,
	DROP_OF_RAW,
	DROP_RAW,
	DROP_SPREAD,
	DROP_RANGE,
	DROP_CPU_PER_GB,
	DROP_LOGIN
};

/* The columns of one client. */
struct client_columns {
	bool has_star; /* some rate of it has a mark behind its digits */
	size_t rate;
	size_t of_raw;
	size_t scaling;
	size_t spread;
	size_t range;
	size_t client_per_gb;
	size_t server_per_gb;
	size_t login;
};

struct columns {
	bool has_place;
	size_t place;
	size_t cipher;
	size_t mac;
	size_t compression;
	size_t method;
	size_t direction;
	size_t server;
	size_t streams;
	size_t raw;
	size_t wire;
	size_t server_cpu;
	size_t reference; /* rate of reference rows: the first client's, or one of its own */
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

/* A server that stands in does not compete with the one that the run is about. */
static bool
shows_place(const struct xb_table *table, const struct xb_row *row)
{
	return row->place > 0 && !xb_run_target(table->run, &row->result->c)->stands_in;
}

static bool
any_place(const struct xb_table *table)
{
	for (size_t i = 0; i < table->analysis.count; i++) {
		if (shows_place(table, &table->analysis.rows[i]))
			return true;
	}
	return false;
}

static const char *
client_label(const struct xb_table *table, size_t i)
{
	return xb_case_client_label(table->clients[i]);
}

/* What a narrow screen has no room for. */
static void
add_details(const struct xb_table *table, struct xb_grid *grid, struct columns *columns,
    const char *server)
{
	const char *unit = xb_rate_unit_label(table->run->settings.unit);
	bool several = table->client_count > 1;

	columns->server_cpu = add_number(grid, DROP_RAW, server, "CPU");
	for (size_t i = 0; i < table->client_count; i++) {
		struct client_columns *c = &columns->clients[i];
		const char *label = client_label(table, i);

		c->range = add_number(grid, DROP_RANGE, several ? label : "range",
		    several ? "range" : unit);
		c->client_per_gb = add_number(grid, DROP_CPU_PER_GB, label, "s/GB");
		c->server_per_gb = add_number(grid, DROP_CPU_PER_GB, server, "s/GB");
		c->login = add_number(grid, DROP_LOGIN, several ? label : "", "login");
	}
}

/* Rates first, client by client. Columns that no row fills are left out. */
static void
add_columns(const struct xb_table *table, struct xb_grid *grid, struct columns *columns)
{
	const char *unit = xb_rate_unit_label(table->run->settings.unit);
	char name[256];

	columns->clients = xb_calloc(table->client_count, sizeof(*columns->clients));
	columns->has_place = any_place(table);
	if (columns->has_place)
		columns->place = add_number(grid, KEEP, "", "");
	columns->cipher = xb_grid_add_column(grid, "CIPHER", XB_GRID_BREAK, KEEP);
	columns->mac = xb_grid_add_column(grid, "MAC", XB_GRID_BREAK, KEEP);
	columns->compression = xb_grid_add_column(grid, "COMPRESSION", XB_GRID_BREAK, KEEP);
	columns->method = xb_grid_add_column(grid, "METHOD", 0, KEEP);
	columns->direction = xb_grid_add_column(grid, "DIRECTION", 0, KEEP);
	columns->server = xb_grid_add_column(grid, "SERVER", XB_GRID_BREAK, KEEP);
	columns->streams = add_number(grid, KEEP, "", "STREAMS");
	columns->raw = add_number(grid, DROP_RAW, "raw", unit);
	for (size_t i = 0; i < table->client_count; i++) {
		struct client_columns *c = &columns->clients[i];

		c->rate = add_number(grid, KEEP, client_label(table, i), unit);
		c->of_raw = add_number(grid, DROP_OF_RAW, "", "%");
		c->scaling = add_number(grid, DROP_SCALING, "", xb_table_times(table));
		c->spread = add_number(grid, DROP_SPREAD, "", xb_table_plus_minus(table));
	}
	columns->reference =
	    table->client_count > 0 ? columns->clients[0].rate : add_number(grid, KEEP, "", unit);
	columns->wire = add_number(grid, DROP_SCALING, "", "wire");
	add_details(table, grid, columns, xb_table_server(table, name, sizeof(name)));
}

/* "- [c]": why there is no rate. */
static void
put_reason(struct xb_table *table, struct xb_grid *grid, size_t line, size_t column,
    const struct xb_row *row)
{
	char mark[16];
	char cell[32];

	xb_footnote_mark(mark, sizeof(mark), xb_table_footnote(table, row));
	snprintf(cell, sizeof(cell), "- %s", mark);
	xb_grid_set(grid, line, column, cell);
}

/* "660*", with the mark of a warning: a rate alone would be believed. */
static void
put_rate(struct xb_table *table, struct xb_grid *grid, size_t line,
    const struct client_columns *columns, const struct xb_row *row)
{
	bool star = row->result->c.as_negotiated;
	char rate[32];
	char mark[16] = "";
	char cell[96];

	xb_table_rate(table, rate, sizeof(rate), row->rate.median);
	if (row->warning != NULL) {
		snprintf(cell, sizeof(cell), "warning: %s", row->warning);
		xb_footnote_mark(mark, sizeof(mark), xb_table_footnote_text(table, cell, NULL));
	}
	snprintf(cell, sizeof(cell), "%s%s%s%s", rate,
	    star                    ? "*"
		: columns->has_star ? " "
				    : "",
	    mark[0] != '\0' ? " " : "", mark);
	xb_grid_set(grid, line, columns->rate, cell);
	table->shows_star |= star;
}

/* The cells of one client in the row of its suite. */
static void
put_client(struct xb_table *table, struct xb_grid *grid, size_t line,
    const struct client_columns *columns, const struct xb_row *row)
{
	char cell[96];

	if (row->rate.count == 0) {
		put_reason(table, grid, line, columns->rate, row);
		return;
	}
	put_rate(table, grid, line, columns, row);
	xb_table_percent(cell, sizeof(cell), row->of_raw);
	xb_grid_set(grid, line, columns->of_raw, cell);
	if (row->scaling.count > 0) {
		snprintf(cell, sizeof(cell), "%s%.1f", xb_table_times(table), row->scaling.median);
		xb_grid_set(grid, line, columns->scaling, cell);
	}
	xb_table_spread(table, cell, sizeof(cell), &row->rate);
	xb_grid_set(grid, line, columns->spread, cell);
	/* With --verbose the detail below has the rest. */
	if (table->style->verbose)
		return;
	xb_table_range(table, cell, sizeof(cell), &row->rate);
	xb_grid_set(grid, line, columns->range, cell);
	xb_table_figure(cell, sizeof(cell), row->client_cpu_per_gb);
	xb_grid_set(grid, line, columns->client_per_gb, cell);
	xb_table_figure(cell, sizeof(cell), row->server_cpu_per_gb);
	xb_grid_set(grid, line, columns->server_per_gb, cell);
	xb_table_seconds(cell, sizeof(cell), row->login.total.median);
	xb_grid_set(grid, line, columns->login, cell);
}

/* "blowfish [b]": that another server serves the line than the one that the run is about. */
static void
put_stand_in(struct xb_table *table, struct xb_grid *grid, size_t line,
    const struct columns *columns, const struct xb_row *first)
{
	const struct xb_target_sheet *target = xb_run_target(table->run, &first->result->c);
	char server[256] = "";
	char stand_in[128];
	char asked[128];
	char mark[16];
	char *text;

	if (table->varies.server)
		xb_table_target(target, server, sizeof(server));
	if (!target->stands_in || !first->measured) {
		xb_grid_set(grid, line, columns->server, server);
		return;
	}
	xb_table_software(target, stand_in, sizeof(stand_in));
	xb_table_software(&table->run->targets[0], asked, sizeof(asked));
	text = xb_asprintf("%s stands in: %s has no such cipher; no place among the others",
	    stand_in, asked);
	xb_footnote_mark(mark, sizeof(mark), xb_table_footnote_text(table, text, NULL));
	free(text);
	text = xb_asprintf("%s %s",
	    server[0] != '\0' ? server : xb_suite_cipher_label(&first->result->c.suite), mark);
	xb_grid_set(grid, line, server[0] != '\0' ? columns->server : columns->cipher, text);
	free(text);
}

/* What tells the line from others, beside cipher and MAC. */
static void
put_dimensions(struct xb_table *table, struct xb_grid *grid, size_t line,
    const struct columns *columns, const struct xb_row *first)
{
	const struct xb_dimensions *varies = &table->varies;
	const struct xb_case *c = &first->result->c;
	char cell[32];

	if (varies->compression)
		xb_grid_set(grid, line, columns->compression, xb_table_compression(&c->suite));
	if (varies->method)
		xb_grid_set(grid, line, columns->method,
		    xb_table_knows_method(c) ? xb_method_name(c->method) : "auto");
	if (varies->direction)
		xb_grid_set(grid, line, columns->direction, xb_direction_name(c->direction));
	if (varies->streams) {
		snprintf(cell, sizeof(cell), "%u", c->streams);
		xb_grid_set(grid, line, columns->streams, cell);
	}
	put_stand_in(table, grid, line, columns, first);
}

static void
put_place(struct xb_table *table, struct xb_grid *grid, size_t at, const struct columns *columns,
    const struct xb_line *line)
{
	const struct xb_row *first = line->first;
	char cell[32];

	if (!columns->has_place)
		return;
	snprintf(cell, sizeof(cell), "%s", first->rate.count > 0 ? "" : "-");
	/* Places count suites here, and a suite has as many rows as there are clients. */
	if (shows_place(table, first))
		snprintf(cell, sizeof(cell), "%zu", first->place == 1 ? 1 : line->number);
	xb_grid_set(grid, at, columns->place, cell);
	if (shows_place(table, first) && first->place == 1)
		xb_grid_set_bold(grid, at);
}

/* What the line has once, whatever the client. */
static void
put_line(struct xb_table *table, struct xb_grid *grid, size_t at, const struct columns *columns,
    const struct xb_line *line)
{
	const struct xb_row *first = line->first;
	const struct xb_suite *suite = &first->result->c.suite;
	char cell[96];

	xb_grid_set(grid, at, columns->cipher, xb_suite_cipher_label(suite));
	xb_grid_set(grid, at, columns->mac, xb_suite_mac_label(suite));
	put_dimensions(table, grid, at, columns, first);
	if (xb_run_target(table->run, &first->result->c)->is_local) {
		xb_table_rate(table, cell, sizeof(cell), first->raw);
		xb_grid_set(grid, at, columns->raw, cell);
	} else {
		xb_table_percent(cell, sizeof(cell), first->server_share);
		xb_grid_set(grid, at, columns->server_cpu, cell);
	}
	put_place(table, grid, at, columns, line);
	for (size_t i = 0; i < table->client_count; i++) {
		const struct xb_row *row = line->cells[i];

		if (row == NULL)
			continue;
		put_client(table, grid, at, &columns->clients[i], row);
		xb_table_percent(cell, sizeof(cell), row->wire_ratio);
		if (xb_suite_compresses(suite) && cell[0] != '\0')
			xb_grid_set(grid, at, columns->wire, cell);
	}
}

/* "(plain TCP)": what bounds the others, and has neither suite nor place. */
static void
put_reference(struct xb_table *table, struct xb_grid *grid, size_t at,
    const struct columns *columns, const struct xb_row *row)
{
	const struct xb_case *c = &row->result->c;
	char *name = xb_asprintf("(%s)", xb_case_client_label(c));
	char cell[96];

	xb_grid_set(grid, at, columns->cipher, name);
	free(name);
	if (table->varies.direction)
		xb_grid_set(grid, at, columns->direction, xb_direction_name(c->direction));
	if (row->rate.count == 0) {
		put_reason(table, grid, at, columns->reference, row);
		return;
	}
	xb_table_rate(table, cell, sizeof(cell), row->rate.median);
	if (table->client_count > 0 && columns->clients[0].has_star)
		snprintf(cell + strlen(cell), sizeof(cell) - strlen(cell), " ");
	xb_grid_set(grid, at, columns->reference, cell);
}

static void
put_lines(struct xb_table *table, struct xb_grid *grid, const struct columns *columns,
    const struct xb_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct xb_line *line = &lines->lines[i];
		size_t at = xb_grid_add_row(grid);

		if (line->first->result->c.reference)
			put_reference(table, grid, at, columns, line->first);
		else
			put_line(table, grid, at, columns, line);
	}
}

static void
find_stars(const struct xb_table *table, const struct columns *columns)
{
	for (size_t i = 0; i < table->analysis.count; i++) {
		const struct xb_row *row = &table->analysis.rows[i];

		if (row->rate.count > 0 && row->result->c.as_negotiated)
			columns->clients[xb_table_client(table, &row->result->c)].has_star = true;
	}
}

/* What the printed grid has, for the legend. */
static void
note_columns(struct xb_table *table, const struct xb_grid *grid, const struct columns *columns)
{
	table->shows_raw = xb_grid_shows(grid, columns->raw);
	table->shows_server_cpu = xb_grid_shows(grid, columns->server_cpu);
	table->shows_wire = xb_grid_shows(grid, columns->wire);
	for (size_t i = 0; i < table->client_count; i++) {
		const struct client_columns *c = &columns->clients[i];

		table->shows_of_raw |= xb_grid_shows(grid, c->of_raw);
		table->shows_scaling |= xb_grid_shows(grid, c->scaling);
		table->shows_spread |= xb_grid_shows(grid, c->spread);
		table->shows_cpu_per_gb |=
		    xb_grid_shows(grid, c->client_per_gb) || xb_grid_shows(grid, c->server_per_gb);
		table->shows_login |= xb_grid_shows(grid, c->login);
	}
}

void
xb_table_rows(struct xb_table *table)
{
	struct xb_grid *grid = xb_grid_new();
	struct columns columns = { 0 };
	struct xb_lines lines;

	add_columns(table, grid, &columns);
	find_stars(table, &columns);
	xb_table_lines(table, &lines);
	put_lines(table, grid, &columns, &lines);
	xb_grid_fit(grid, table->style->width);
	xb_grid_print(grid, table->style, table->out);
	note_columns(table, grid, &columns);
	xb_table_lines_free(&lines);
	free(columns.clients);
	xb_grid_free(grid);
}
