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
struct xb_target_sheet;

/* Why some rows have no rate, and what could be done about it: usually the same for all of them. */
struct xb_footnote {
	char *reason;
	struct xb_namelist hints;
};

/* In what the cases differ beside cipher, MAC and client: what is the same everywhere needs no column. */
struct xb_dimensions {
	bool method;
	bool direction;
	bool server; /* more than one, those that stand in left out */
	bool streams;
	bool compression;
	bool any_compression; /* some case compresses */
};

/* What the parts of the table report share; private to the table_*.c files. */
struct xb_table {
	const struct xb_run *run;
	const struct xb_report_style *style;
	struct xb_analysis analysis;
	size_t client_count; /* that have results and are no reference, in the order of the plan */
	const struct xb_case **clients; /* the first case of each */
	struct xb_dimensions varies;
	size_t footnote_count;
	struct xb_footnote *footnotes;
	FILE *out;
	bool shows_raw; /* columns that the last printed grid has, for the legend */
	bool shows_of_raw;
	bool shows_spread;
	bool shows_server_cpu;
	bool shows_cpu_per_gb;
	bool shows_login;
	bool shows_scaling;
	bool shows_wire;
	bool shows_parts; /* of logins */
	bool shows_start;
	bool shows_star; /* a row as negotiated is marked */
};

/* True for a run of logins alone: its table is another one. */
bool xb_table_is_handshake(const struct xb_table *table);

/* Finds clients and dimensions; the clients are freed with free(). */
void xb_table_find_dimensions(struct xb_table *table);

/* False where the method is still to be found: such a case is no reason to name it. */
bool xb_table_knows_method(const struct xb_case *c);

/* Number of the case's client among the table's. */
size_t xb_table_client(const struct xb_table *table, const struct xb_case *c);

/* "dropbear", "nas": one of several servers, printable. */
void xb_table_target(const struct xb_target_sheet *target, char *out, size_t size);

/* "OpenSSH 9.2p1", from version or identification line, printable; "server unknown". */
void xb_table_software(const struct xb_target_sheet *target, char *out, size_t size);

/* "none", "zlib@openssh.com". Borrowed. */
const char *xb_table_compression(const struct xb_suite *suite);

/* What the run was about: the target, this machine, the settings. */
void xb_table_head(const struct xb_table *table);

/* "partial: ended by SIGINT after 2 of 6 rounds"; nothing for a whole run. */
void xb_table_partial(const struct xb_table *table);

/* The rows; fills footnotes and the shows_ fields. */
void xb_table_rows(struct xb_table *table);

/* The same for a run of logins, and with --verbose the parts of each. */
void xb_table_handshake_rows(struct xb_table *table);
void xb_table_handshake_detail(const struct xb_table *table);

/* The number of the footnote that tells why the row has no rate; equal reasons share one. */
size_t xb_table_footnote(struct xb_table *table, const struct xb_row *row);

/* The number of the footnote with this text; hint may be NULL. */
size_t xb_table_footnote_text(struct xb_table *table, const char *text, const char *hint);

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

/* "×" or "x". */
const char *xb_table_times(const struct xb_table *table);

/* A share as a percentage without false precision: "30%", "0.4%"; "" when unknown. */
void xb_table_percent(char *out, size_t size, double share);

/* A rate in the run's unit, at most three significant digits; "" when unknown. */
void xb_table_rate(const struct xb_table *table, char *out, size_t size, double bytes_per_second);

/* A figure with at most three significant digits; "" when unknown. */
void xb_table_figure(char *out, size_t size, double value);

/* "±2%", "" for fewer than two values. */
void xb_table_spread(const struct xb_table *table, char *out, size_t size,
    const struct xb_interval *figure);

/* "498 to 520" in the run's unit; "" for fewer than two values. */
void xb_table_range(const struct xb_table *table, char *out, size_t size,
    const struct xb_interval *rate);

/* "45 ms"; "" when unknown. */
void xb_table_seconds(char *out, size_t size, double seconds);

/* "sshd", "server", or the host's name when it is short enough for a column's head. */
const char *xb_table_server(const struct xb_table *table, char *out, size_t size);

/* "aes128-ctr hmac-sha2-256", with what differs between rows beside. Fresh. */
char *xb_table_row_name(const struct xb_table *table, const struct xb_row *row);

/* Trials of the row, those left out that a repeat stands in for. */
size_t xb_table_trials(const struct xb_row *row);

/* The reason of the row's first failed trial, "" when there is none. */
const char *xb_table_failure(const struct xb_row *row);

#endif
