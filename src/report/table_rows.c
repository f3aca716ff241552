#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "model/run.h"
#include "report/grid.h"
#include "report/table_parts.h"
#include "report/wrap.h"

#define MOST_HINTS 1000 /* bytes of one footnote's hints */

/* What goes first when the width is short: the largest. */
enum drop { KEEP, DROP_OF_RAW, DROP_RAW, DROP_SPREAD, DROP_RANGE, DROP_CPU_PER_GB, DROP_LOGIN };

/* The columns of one client. */
struct client_columns {
	size_t rate;
	size_t of_raw;
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
	size_t raw;
	size_t server_cpu;
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

static bool
any_place(const struct xb_analysis *analysis)
{
	for (size_t i = 0; i < analysis->count; i++) {
		if (analysis->rows[i].place > 0)
			return true;
	}
	return false;
}

/* Rates first, client by client; what a narrow screen has no room for last. */
static void
add_columns(const struct xb_table *table, struct xb_grid *grid, struct columns *columns)
{
	const char *unit = xb_rate_unit_label(table->run->settings.unit);
	const char *plus_minus = xb_table_plus_minus(table);
	char name[256];
	const char *server = xb_table_server(table, name, sizeof(name));

	columns->clients = xb_calloc(table->clients.count, sizeof(*columns->clients));
	columns->has_place = any_place(&table->analysis);
	if (columns->has_place)
		columns->place = add_number(grid, KEEP, "", "");
	columns->cipher = xb_grid_add_column(grid, "CIPHER", XB_GRID_BREAK, KEEP);
	columns->mac = xb_grid_add_column(grid, "MAC", XB_GRID_BREAK, KEEP);
	columns->raw = add_number(grid, DROP_RAW, "raw", unit);
	for (size_t i = 0; i < table->clients.count; i++) {
		struct client_columns *c = &columns->clients[i];

		c->rate = add_number(grid, KEEP, table->clients.names[i], unit);
		c->of_raw = add_number(grid, DROP_OF_RAW, "", "%");
		c->spread = add_number(grid, DROP_SPREAD, "", plus_minus);
	}
	columns->server_cpu = add_number(grid, DROP_RAW, server, "CPU");
	for (size_t i = 0; i < table->clients.count; i++) {
		struct client_columns *c = &columns->clients[i];

		c->range = add_number(grid, DROP_RANGE, "range", unit);
		c->client_per_gb =
		    add_number(grid, DROP_CPU_PER_GB, table->clients.names[i], "s/GB");
		c->server_per_gb = add_number(grid, DROP_CPU_PER_GB, server, "s/GB");
		c->login = add_number(grid, DROP_LOGIN, "", "login");
	}
}

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

/* The number of the row's footnote; equal reasons share one. */
static size_t
footnote_of(struct xb_table *table, const struct xb_row *row)
{
	char *reason = reason_text(table, row);
	const char *hint = row->result->c.hint;
	size_t i = 0;

	while (i < table->footnote_count && strcmp(table->footnotes[i].reason, reason) != 0)
		i++;
	if (i == table->footnote_count) {
		table->footnotes = xb_grow(table->footnotes, i, sizeof(*table->footnotes));
		table->footnotes[i] = (struct xb_footnote){ .reason = xb_strdup(reason) };
		table->footnote_count++;
	}
	if (hint != NULL)
		xb_namelist_add_once(&table->footnotes[i].hints, hint);
	free(reason);
	return i;
}

/* The cells of one client in the row of its suite. */
static void
put_client(struct xb_table *table, struct xb_grid *grid, size_t line,
    const struct client_columns *columns, const struct xb_row *row)
{
	char cell[96];
	char mark[16];
	double spread = (row->rate.high - row->rate.low) / 2 / row->rate.median;
	const char *plus_minus = xb_table_plus_minus(table);

	if (row->rate.count == 0) {
		xb_footnote_mark(mark, sizeof(mark), footnote_of(table, row));
		snprintf(cell, sizeof(cell), "- %s", mark);
		xb_grid_set(grid, line, columns->rate, cell);
		return;
	}
	xb_table_rate(table, cell, sizeof(cell), row->rate.median);
	xb_grid_set(grid, line, columns->rate, cell);
	xb_table_percent(cell, sizeof(cell), row->of_raw);
	xb_grid_set(grid, line, columns->of_raw, cell);
	if (row->rate.count > 1 && isfinite(spread)) {
		snprintf(cell, sizeof(cell), "%s", plus_minus);
		xb_table_percent(cell + strlen(cell), sizeof(cell) - strlen(cell), spread);
		xb_grid_set(grid, line, columns->spread, cell);
	}
	/* With --verbose the detail below has the rest. */
	if (table->style->verbose)
		return;
	xb_table_range(table, cell, sizeof(cell), &row->rate);
	xb_grid_set(grid, line, columns->range, cell);
	xb_table_figure(cell, sizeof(cell), row->client_cpu_per_gb);
	xb_grid_set(grid, line, columns->client_per_gb, cell);
	xb_table_figure(cell, sizeof(cell), row->server_cpu_per_gb);
	xb_grid_set(grid, line, columns->server_per_gb, cell);
	xb_table_seconds(cell, sizeof(cell), row->login_seconds);
	xb_grid_set(grid, line, columns->login, cell);
}

static bool
same_suite(const struct xb_row *a, const struct xb_row *b)
{
	const struct xb_suite *x = &a->result->c.suite;
	const struct xb_suite *y = &b->result->c.suite;

	if ((x->mac_name == NULL) != (y->mac_name == NULL))
		return false;
	return strcmp(x->cipher_name, y->cipher_name) == 0 &&
	    (x->mac_name == NULL || strcmp(x->mac_name, y->mac_name) == 0);
}

/* What the suite has once, whatever the client; first is its fastest row. */
static void
put_suite(const struct xb_table *table, struct xb_grid *grid, size_t line,
    const struct columns *columns, const struct xb_row *first)
{
	const struct xb_suite *suite = &first->result->c.suite;
	char cell[96];

	xb_grid_set(grid, line, columns->cipher, xb_suite_cipher_label(suite));
	xb_grid_set(grid, line, columns->mac, xb_suite_mac_label(suite));
	if (table->run->targets[0].is_local) {
		xb_table_rate(table, cell, sizeof(cell), first->raw);
		xb_grid_set(grid, line, columns->raw, cell);
	} else {
		xb_table_percent(cell, sizeof(cell), first->server_share);
		xb_grid_set(grid, line, columns->server_cpu, cell);
	}
	if (!columns->has_place)
		return;
	snprintf(cell, sizeof(cell), "%s", first->rate.count > 0 ? "" : "-");
	/* Places count suites here, and a suite has as many rows as there are clients. */
	if (first->place > 0)
		snprintf(cell, sizeof(cell), "%zu", first->place == 1 ? 1 : line + 1);
	xb_grid_set(grid, line, columns->place, cell);
	if (first->place == 1)
		xb_grid_set_bold(grid, line);
}

static size_t
client_number(const struct xb_table *table, const struct xb_row *row)
{
	size_t i = 0;

	while (strcmp(table->clients.names[i], row->result->c.client) != 0)
		i++;
	return i;
}

static void
put_rows(struct xb_table *table, struct xb_grid *grid, const struct columns *columns)
{
	const struct xb_analysis *analysis = &table->analysis;
	bool *done = xb_calloc(analysis->count, sizeof(*done));

	for (size_t i = 0; i < analysis->count; i++) {
		size_t line;

		if (done[i])
			continue;
		line = xb_grid_add_row(grid);
		put_suite(table, grid, line, columns, &analysis->rows[i]);
		for (size_t j = i; j < analysis->count; j++) {
			const struct xb_row *row = &analysis->rows[j];

			if (done[j] || !same_suite(&analysis->rows[i], row))
				continue;
			done[j] = true;
			put_client(table, grid, line, &columns->clients[client_number(table, row)],
			    row);
		}
	}
	free(done);
}

void
xb_table_rows(struct xb_table *table)
{
	struct xb_grid *grid = xb_grid_new();
	struct columns columns = { 0 };

	add_columns(table, grid, &columns);
	put_rows(table, grid, &columns);
	xb_grid_fit(grid, table->style->width);
	xb_grid_print(grid, table->style, table->out);
	table->shows_raw = xb_grid_shows(grid, columns.raw);
	table->shows_server_cpu = xb_grid_shows(grid, columns.server_cpu);
	for (size_t i = 0; i < table->clients.count; i++) {
		const struct client_columns *c = &columns.clients[i];

		table->shows_of_raw |= xb_grid_shows(grid, c->of_raw);
		table->shows_spread |= xb_grid_shows(grid, c->spread);
		table->shows_cpu_per_gb |=
		    xb_grid_shows(grid, c->client_per_gb) || xb_grid_shows(grid, c->server_per_gb);
		table->shows_login |= xb_grid_shows(grid, c->login);
	}
	free(columns.clients);
	xb_grid_free(grid);
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
