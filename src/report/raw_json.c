#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "report/raw.h"

#define SCHEMA "xferbench-raw/1"

/* A NULL for want of memory makes each json_pack above it give NULL too. */

static json_t *
sizes_json(void)
{
	json_t *sizes = json_array();

	for (size_t i = 0; i < XB_RAW_SIZES; i++)
		if (json_array_append_new(sizes, json_integer(xb_raw_sizes[i])) != 0) {
			json_decref(sizes);
			return NULL;
		}
	return sizes;
}

static json_t *
row_json(const struct xb_raw_row *row)
{
	json_t *speeds = json_array();

	for (size_t i = 0; i < XB_RAW_SIZES; i++) {
		const double speed = row->speed[i];

		if (json_array_append_new(speeds,
			isfinite(speed) ? json_real(speed) : json_null()) != 0) {
			json_decref(speeds);
			return NULL;
		}
	}
	return json_pack("{s:s, s:s, s:s, s:o, s:s?}", "kind", xb_raw_kind_name(row->kind), "name",
	    row->name, "direction", row->direction, "bytes_per_second", speeds, "reason",
	    row->reason);
}

json_t *
xb_raw_json(const struct xb_raw_table *table)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < table->count; i++)
		if (json_array_append_new(rows, row_json(&table->rows[i])) != 0) {
			json_decref(rows);
			return NULL;
		}
	return json_pack("{s:s, s:s, s:o, s:o, s:b, s:s?}", "schema", SCHEMA, "version",
	    PACKAGE_VERSION, "sizes", sizes_json(), "rows", rows, "partial",
	    table->partial_reason != NULL, "partial_reason", table->partial_reason);
}

bool
xb_raw_save(const struct xb_raw_table *table, const char *path, struct xb_err *err)
{
	json_t *json = xb_raw_json(table);
	char *text =
	    json != NULL ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
	char *line;
	bool ok;

	json_decref(json);
	if (text == NULL)
		return xb_fail(err, XB_FAULT_SYSTEM, "cannot make JSON of the raw table");
	line = xb_asprintf("%s\n", text);
	ok = xb_report_save_text(line, strlen(line), path, err);
	free(line);
	free(text);
	return ok;
}
