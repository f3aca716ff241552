#ifndef XB_REPORT_RAW_H
#define XB_REPORT_RAW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/units.h"
#include "model/raw.h"
#include "report/report.h"

struct xb_err;

/*
 * The table of `xferbench raw`: a row per algorithm and direction, a column per block size. A row
 * without a speed has dashes and a footnote with its reason. Where the width has no room for the
 * ratings, footnotes name what is not sound. False when out cannot be written.
 */
bool xb_raw_write(const struct xb_raw_table *table, enum xb_rate_unit unit,
    const struct xb_report_style *style, FILE *out);

/*
 * The table as JSON, "schema": "xferbench-raw/1": the sizes in bytes and for each row kind, name,
 * direction, bytes_per_second (a number or null for each size) and reason (a string or null). The
 * caller owns it; NULL when memory runs out.
 */
json_t *xb_raw_json(const struct xb_raw_table *table);

/* Writes that JSON to path as xb_report_save does, "-" is stdout. */
bool xb_raw_save(const struct xb_raw_table *table, const char *path, struct xb_err *err);

#endif
