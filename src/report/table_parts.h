#ifndef XB_REPORT_TABLE_PARTS_H
#define XB_REPORT_TABLE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/analysis.h"
#include "model/namelist.h"
#include "report/report.h"

struct xb_run;
struct xb_suite;

/* Why some rows have no rate, and what could be done about it: usually the same for all of them. */
struct xb_footnote {
	char *reason;
	struct xb_namelist hints;
};

/* What the parts of the table report share; private to the table_*.c files. */
struct xb_table {
	const struct xb_run *run;
	const struct xb_report_style *style;
	struct xb_analysis analysis;
	struct xb_namelist clients; /* that have results, in the order of the plan */
	size_t footnote_count;
	struct xb_footnote *footnotes;
	FILE *out;
	bool shows_raw; /* columns that the last printed grid has, for the legend */
	bool shows_of_raw;
	bool shows_spread;
	bool shows_server_cpu;
	bool shows_cpu_per_gb;
	bool shows_login;
};

/* What the run was about: the target, this machine, the settings. */
void xb_table_head(const struct xb_table *table);

/* "partial: ended by SIGINT after 2 of 6 rounds"; nothing for a whole run. */
void xb_table_partial(const struct xb_table *table);

/* The rows; fills footnotes and the shows_ fields. */
void xb_table_rows(struct xb_table *table);

/* Footnotes of the rows: why there is no rate. */
void xb_table_footnotes(const struct xb_table *table);
void xb_table_footnotes_free(struct xb_table *table);

/* What the columns mean and how far they spread. */
void xb_table_legend(const struct xb_table *table);

/* Failures, disturbances, missing places, notes of the run. */
void xb_table_notes(const struct xb_table *table);

/* With --verbose: intervals, cost and login of each row, trials with marks, versions. */
void xb_table_detail(const struct xb_table *table);

/* Limit and answer, in words. */
void xb_table_answer(const struct xb_table *table);

/* Columns and texts that several parts use. */

/* A line of text wrapped to the width, further lines indented. */
void xb_table_line(const struct xb_table *table, size_t indent, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* "±" or "+-". */
const char *xb_table_plus_minus(const struct xb_table *table);

/* A share as a percentage without false precision: "30%", "0.4%"; "" when unknown. */
void xb_table_percent(char *out, size_t size, double share);

/* A rate in the run's unit, at most three significant digits; "" when unknown. */
void xb_table_rate(const struct xb_table *table, char *out, size_t size, double bytes_per_second);

/* A figure with at most three significant digits; "" when unknown. */
void xb_table_figure(char *out, size_t size, double value);

/* "498 to 520" in the run's unit; "" for fewer than two values. */
void xb_table_range(const struct xb_table *table, char *out, size_t size,
    const struct xb_interval *rate);

/* "45 ms"; "" when unknown. */
void xb_table_seconds(char *out, size_t size, double seconds);

/* "sshd", "server", or the host's name when it is short enough for a column's head. */
const char *xb_table_server(const struct xb_table *table, char *out, size_t size);

/* "aes128-ctr hmac-sha2-256", with the client's name where there are several. Fresh. */
char *xb_table_row_name(const struct xb_table *table, const struct xb_row *row);

/* Trials of the row, those left out that a repeat stands in for. */
size_t xb_table_trials(const struct xb_row *row);

/* The reason of the row's first failed trial, "" when there is none. */
const char *xb_table_failure(const struct xb_row *row);

#endif
