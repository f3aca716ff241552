#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "model/run.h"
#include "report/grid.h"
#include "report/table_parts.h"

#define INDENT 4
#define MOST_LIBRARIES 400 /* bytes of their names */

/* The columns of the second table, by number. */
enum column {
	CIPHER,
	MAC,
	COMPRESSION,
	METHOD,
	DIRECTION,
	SERVER,
	STREAMS,
	CLIENT,
	RANGE,
	COVERAGE,
	CLIENT_CPU,
	SERVER_CPU,
	CLIENT_PER_GB,
	SERVER_PER_GB,
	LOGIN
};

static struct xb_grid *
new_grid(const struct xb_table *table)
{
	struct xb_grid *grid = xb_grid_new();
	char *range = xb_asprintf("range %s", xb_rate_unit_label(table->run->settings.unit));

	xb_grid_add_column(grid, "CIPHER", XB_GRID_BREAK, 0);
	xb_grid_add_column(grid, "MAC", XB_GRID_BREAK, 0);
	xb_grid_add_column(grid, "COMPRESSION", XB_GRID_BREAK, 0);
	xb_grid_add_column(grid, "METHOD", 0, 0);
	xb_grid_add_column(grid, "DIRECTION", 0, 0);
	xb_grid_add_column(grid, "SERVER", XB_GRID_BREAK, 0);
	xb_grid_add_column(grid, "STREAMS", XB_GRID_RIGHT, 0);
	xb_grid_add_column(grid, "CLIENT", 0, 0);
	xb_grid_add_column(grid, range, XB_GRID_RIGHT, 0);
	xb_grid_add_column(grid, "cover", XB_GRID_RIGHT, 1);
	xb_grid_add_column(grid, "c CPU", XB_GRID_RIGHT, 4);
	xb_grid_add_column(grid, "s CPU", XB_GRID_RIGHT, 4);
	xb_grid_add_column(grid, "c s/GB", XB_GRID_RIGHT, 2);
	xb_grid_add_column(grid, "s s/GB", XB_GRID_RIGHT, 2);
	xb_grid_add_column(grid, "login", XB_GRID_RIGHT, 3);
	free(range);
	return grid;
}

/* What tells the row from others. */
static void
put_dimensions(const struct xb_table *table, struct xb_grid *grid, size_t line,
    const struct xb_case *c)
{
	const struct xb_dimensions *varies = &table->varies;
	char cell[256];

	xb_grid_set(grid, line, CIPHER, xb_suite_cipher_label(&c->suite));
	xb_grid_set(grid, line, MAC, xb_suite_mac_label(&c->suite));
	if (varies->compression)
		xb_grid_set(grid, line, COMPRESSION, xb_table_compression(&c->suite));
	if (varies->method)
		xb_grid_set(grid, line, METHOD, xb_method_name(c->method));
	if (varies->direction)
		xb_grid_set(grid, line, DIRECTION, xb_direction_name(c->direction));
	if (varies->server) {
		xb_table_target(xb_run_target(table->run, c), cell, sizeof(cell));
		xb_grid_set(grid, line, SERVER, cell);
	}
	if (varies->streams) {
		snprintf(cell, sizeof(cell), "%u", c->streams);
		xb_grid_set(grid, line, STREAMS, cell);
	}
	if (table->client_count > 1)
		xb_grid_set(grid, line, CLIENT, xb_case_client_label(c));
}

static void
put_row(const struct xb_table *table, struct xb_grid *grid, const struct xb_row *row)
{
	size_t line = xb_grid_add_row(grid);
	char cell[96];

	put_dimensions(table, grid, line, &row->result->c);
	xb_table_range(table, cell, sizeof(cell), &row->rate);
	xb_grid_set(grid, line, RANGE, cell);
	xb_table_percent(cell, sizeof(cell), row->rate.count > 1 ? row->rate.coverage : NAN);
	xb_grid_set(grid, line, COVERAGE, cell);
	xb_table_percent(cell, sizeof(cell), row->client_share);
	xb_grid_set(grid, line, CLIENT_CPU, cell);
	xb_table_percent(cell, sizeof(cell), row->server_share);
	xb_grid_set(grid, line, SERVER_CPU, cell);
	xb_table_figure(cell, sizeof(cell), row->client_cpu_per_gb);
	xb_grid_set(grid, line, CLIENT_PER_GB, cell);
	xb_table_figure(cell, sizeof(cell), row->server_cpu_per_gb);
	xb_grid_set(grid, line, SERVER_PER_GB, cell);
	xb_table_seconds(cell, sizeof(cell), row->login.total.median);
	xb_grid_set(grid, line, LOGIN, cell);
}

static void
put_grid(const struct xb_table *table)
{
	struct xb_grid *grid;

	if (table->analysis.leader == NULL)
		return;
	grid = new_grid(table);
	for (size_t i = 0; i < table->analysis.count; i++) {
		const struct xb_row *row = &table->analysis.rows[i];

		if (row->rate.count > 0 && !row->result->c.reference)
			put_row(table, grid, row);
	}
	xb_grid_fit(grid, table->style->width);
	fputc('\n', table->out);
	xb_grid_print(grid, table->style, table->out);
	xb_table_line(table, INDENT,
	    "cover = chance that the range holds the median. c, s = client, "
	    "server. CPU = share of one core. s/GB = CPU seconds per 10^9 payload bytes. "
	    "login = connect + key exchange + authentication");
	xb_grid_free(grid);
}

/* Trials that a reader should not take for plain ones, a line each. */
static void
put_marks(const struct xb_table *table, const struct xb_row *row, const struct xb_sample *sample)
{
	char words[128] = "";
	char *name;

	if (sample->marks == 0 && sample->status == XB_MEASURED)
		return;
	for (unsigned bit = 0; bit < XB_MARK_COUNT; bit++) {
		size_t used = strlen(words);

		if ((sample->marks & 1u << bit) != 0)
			snprintf(words + used, sizeof(words) - used, "%s%s", used > 0 ? ", " : "",
			    xb_mark_name(bit));
	}
	name = xb_table_row_name(table, row);
	xb_table_line(table, INDENT, "round %u, %s: %s%s%s%s", sample->round + 1, name, words,
	    sample->status == XB_FAILED && words[0] != '\0' ? ", " : "",
	    sample->status == XB_FAILED ? "failed: " : "",
	    sample->status == XB_FAILED ? sample->reason : "");
	free(name);
}

/* The key exchanges and host keys that sessions really had; usually one. */
static void
add_negotiated(struct xb_namelist *list, const struct xb_negotiated *negotiated)
{
	char *text;

	if (negotiated->kex[0] == '\0')
		return;
	text = xb_asprintf("%s, host key %s", negotiated->kex,
	    negotiated->hostkey[0] != '\0' ? negotiated->hostkey : "unknown");
	xb_namelist_add_once(list, text);
	free(text);
}

static void
put_trials(const struct xb_table *table)
{
	struct xb_namelist negotiated = { 0 };

	for (size_t i = 0; i < table->analysis.count; i++) {
		const struct xb_row *row = &table->analysis.rows[i];

		for (size_t j = 0; j < row->result->sample_count; j++) {
			put_marks(table, row, &row->result->samples[j]);
			add_negotiated(&negotiated, &row->result->samples[j].negotiated);
		}
	}
	for (size_t i = 0; i < negotiated.count; i++)
		xb_table_line(table, INDENT, "negotiated: key exchange %s", negotiated.names[i]);
	xb_namelist_free(&negotiated);
}

/* Digits in groups of three, from five digits on: "25,000". */
static void
grouped(char *out, size_t size, const char *figure)
{
	size_t len = strlen(figure);
	size_t used = 0;

	for (size_t i = 0; i < len && used + 2 < size; i++) {
		if (i > 0 && len > 4 && strchr(figure, '.') == NULL && (len - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = figure[i];
	}
	out[used] = '\0';
}

/* How far the harness is from being the limit. */
static void
put_null_rate(const struct xb_table *table)
{
	const struct xb_row *leader = table->analysis.leader;
	char figure[32];
	char rate[48];
	char times[32];

	if (!isfinite(table->run->null_rate))
		return;
	xb_table_rate(table, figure, sizeof(figure), table->run->null_rate);
	grouped(rate, sizeof(rate), figure);
	if (leader == NULL || leader->rate.count == 0) {
		xb_table_line(table, INDENT, "harness alone (null client): %s %s", rate,
		    xb_rate_unit_label(table->run->settings.unit));
		return;
	}
	xb_table_figure(times, sizeof(times), table->run->null_rate / leader->rate.median);
	xb_table_line(table, INDENT, "harness alone (null client): %s %s, %s times the fastest row",
	    rate, xb_rate_unit_label(table->run->settings.unit), times);
}

/* What one server said of itself and of our bytes. */
static void
put_server(const struct xb_table *table, const struct xb_target_sheet *target)
{
	const char *server =
	    target->server_version != NULL ? target->server_version : target->offer.banner;
	char printable[512];

	if (target->count_check != NULL)
		xb_table_line(table, INDENT, "%s", target->count_check);
	if (server == NULL)
		return;
	xb_text_printable(printable, sizeof(printable), server, strlen(server));
	xb_table_line(table, INDENT, "server: %s%s%s", printable,
	    target->server_program != NULL ? ", " : "",
	    target->server_program != NULL ? target->server_program : "");
}

static void
put_facts(const struct xb_table *table)
{
	const struct xb_run *run = table->run;
	char *libraries = xb_namelist_join(&run->libraries, ", ", MOST_LIBRARIES);

	for (size_t i = 0; i < run->target_count; i++)
		put_server(table, &run->targets[i]);
	if (libraries[0] != '\0')
		xb_table_line(table, INDENT, "%s", libraries);
	xb_table_line(table, INDENT, "order of trials: --seed %" PRIu64, run->settings.seed);
	free(libraries);
}

void
xb_table_detail(const struct xb_table *table)
{
	if (xb_table_is_handshake(table))
		xb_table_handshake_detail(table);
	else
		put_grid(table);
	put_trials(table);
	put_null_rate(table);
	put_facts(table);
}
