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

static void
put_row(const struct xb_table *table, struct xb_grid *grid, const struct xb_row *row)
{
	const struct xb_case *c = &row->result->c;
	size_t line = xb_grid_add_row(grid);
	char cell[96];

	xb_grid_set(grid, line, CIPHER, xb_suite_cipher_label(&c->suite));
	xb_grid_set(grid, line, MAC, xb_suite_mac_label(&c->suite));
	if (table->clients.count > 1)
		xb_grid_set(grid, line, CLIENT, c->client);
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
	xb_table_seconds(cell, sizeof(cell), row->login_seconds);
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
		if (table->analysis.rows[i].rate.count > 0)
			put_row(table, grid, &table->analysis.rows[i]);
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
	if (leader == NULL) {
		xb_table_line(table, INDENT, "harness alone (null client): %s %s", rate,
		    xb_rate_unit_label(table->run->settings.unit));
		return;
	}
	xb_table_figure(times, sizeof(times), table->run->null_rate / leader->rate.median);
	xb_table_line(table, INDENT, "harness alone (null client): %s %s, %s times the fastest row",
	    rate, xb_rate_unit_label(table->run->settings.unit), times);
}

static void
put_facts(const struct xb_table *table)
{
	const struct xb_run *run = table->run;
	const char *server = run->targets[0].server_version;
	char *libraries = xb_namelist_join(&run->libraries, ", ", MOST_LIBRARIES);
	char printable[512];

	if (run->targets[0].count_check != NULL)
		xb_table_line(table, INDENT, "%s", run->targets[0].count_check);
	if (server == NULL)
		server = run->targets[0].offer.banner;
	if (server != NULL) {
		xb_text_printable(printable, sizeof(printable), server, strlen(server));
		xb_table_line(table, INDENT, "server: %s%s%s", printable,
		    run->targets[0].server_program != NULL ? ", " : "",
		    run->targets[0].server_program != NULL ? run->targets[0].server_program : "");
	}
	if (libraries[0] != '\0')
		xb_table_line(table, INDENT, "%s", libraries);
	xb_table_line(table, INDENT, "order of trials: --seed %" PRIu64, run->settings.seed);
	free(libraries);
}

void
xb_table_detail(const struct xb_table *table)
{
	put_grid(table);
	put_trials(table);
	put_null_rate(table);
	put_facts(table);
}
