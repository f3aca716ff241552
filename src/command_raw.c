#include <stdio.h>
#include <string.h>

#include "base/affinity.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"
#include "bench/raw.h"
#include "commands.h"
#include "model/select.h"
#include "options.h"
#include "progress.h"
#include "report/raw.h"
#include "report/report.h"

static void
on_row(void *ctx, const struct xb_raw_row *row, size_t done, size_t total)
{
	xb_progress_show(ctx, "%zu of %zu: %s %s", done + 1, total, row->name, row->direction);
}

static bool
print(const struct xb_options *options, const struct xb_raw_table *table, struct xb_err *err)
{
	bool to_stdout = options->export_json != NULL && strcmp(options->export_json, "-") == 0;
	FILE *out = to_stdout ? stderr : stdout;
	struct xb_report_style style = xb_report_style_of(out);

	bool ok;

	/* What is measured is shown, also when it cannot be saved. */
	ok = options->export_json == NULL || xb_raw_save(table, options->export_json, err);
	style.verbose = options->verbose;
	style.quiet = options->quiet;
	if (!xb_raw_write(table, options->unit, &style, out))
		ok = xb_fail(err, XB_FAULT_SYSTEM, "cannot write the table");
	return ok;
}

/* True when the user typed this very name. */
static bool
is_typed(const struct xb_selection *selection, const char *name)
{
	size_t i;

	for (i = 0; i < selection->count; i++)
		if (strcmp(selection->items[i].name, name) == 0)
			return selection->items[i].by_name;
	return false;
}

bool
xb_command_raw(const struct xb_options *options, int *code, struct xb_err *err)
{
	struct xb_selection ciphers = { 0 }, macs = { 0 };
	struct xb_raw_table table = { 0 };
	struct xb_progress progress;
	struct xb_raw_request request = { .time_ns = options->time_ns };
	size_t i;
	bool ok;

	xb_progress_init(&progress, options->quiet);
	ok = (options->export_json == NULL || xb_report_check_path(options->export_json, err)) &&
	    (options->ciphers == NULL ||
		xb_select_ciphers("--ciphers", options->ciphers, NULL, &ciphers, err)) &&
	    (options->macs == NULL || xb_select_macs("--macs", options->macs, NULL, &macs, err));
	if (!ok)
		goto out;
	/* A list of one kind asks for that kind alone. */
	request.ciphers = options->ciphers != NULL || options->macs != NULL ? &ciphers : NULL;
	request.macs = options->ciphers != NULL || options->macs != NULL ? &macs : NULL;
	request.zlib = options->ciphers == NULL && options->macs == NULL;
	if (options->pin)
		xb_affinity_pin(xb_affinity_choose().client_cpu);
	xb_raw_measure(&request, on_row, &progress, &table);
	xb_progress_clear(&progress);
	if (xb_signals_pending() != 0)
		table.partial_reason =
		    xb_asprintf("ended by %s", xb_signals_name(xb_signals_pending()));
	ok = print(options, &table, err);
	*code = 0;
	for (i = 0; i < table.count; i++)
		if (table.rows[i].reason != NULL &&
		    (is_typed(&ciphers, table.rows[i].name) || is_typed(&macs, table.rows[i].name)))
			*code = 1;
out:
	xb_progress_clear(&progress);
	xb_raw_table_free(&table);
	xb_selection_free(&ciphers);
	xb_selection_free(&macs);
	return ok;
}
