#ifndef XB_REPORT_REPORT_H
#define XB_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct xb_run;
struct xb_err;

/* How a text report may use its output. */
struct xb_report_style {
	int width;     /* columns; 0: no limit (a pipe or a file) */
	bool terminal; /* the answer block */
	bool colour;   /* a terminal without NO_COLOR and TERM=dumb */
	bool utf8;     /* else plain ASCII */
	bool verbose;  /* ranges, login times, CPU per GB, per-trial marks, the harness figure */
	bool quiet;    /* the table alone */
};

/* Width, terminal, utf8 from the stream, COLUMNS, the locale, NO_COLOR and TERM=dumb. */
struct xb_report_style xb_report_style_of(FILE *out);

/* One report format: one file, one row in xb_reports. */
struct xb_report {
	const char *name;
	bool (*write)(const struct xb_run *run, const struct xb_report_style *style, FILE *out,
	    struct xb_err *err);
};
extern const struct xb_report *const xb_reports[]; /* ends with NULL */
const struct xb_report *xb_report_find(const char *name);

/*
 * Writes a report into a file at path: a temporary file beside it and a rename, so that a reader
 * never sees half of it; only over an absent or regular file. "-" is out. Full or read-only file
 * systems are XB_FAULT_SYSTEM with the path.
 */
bool xb_report_save(const struct xb_report *report, const struct xb_run *run,
    const struct xb_report_style *style, const char *path, struct xb_err *err);

/* The same for a text that is ready; borrowed. */
bool xb_report_save_text(const char *text, size_t size, const char *path, struct xb_err *err);

/* Checks before the first trial that path can be written as xb_report_save will do it. */
bool xb_report_check_path(const char *path, struct xb_err *err);

#endif
