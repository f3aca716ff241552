#ifndef XB_REPORT_LIST_H
#define XB_REPORT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

/* One line of `xferbench list`: what is known of one cipher or MAC. Strings are borrowed. */
struct xb_list_row {
	const char *kind;        /* "cipher", "MAC" */
	const char *name;        /* SSH name, printable */
	const char *offered;     /* "yes", "no", "?" without a target */
	const char *client;      /* "yes", "no" */
	const char *client_note; /* why not, or NULL */
	const char *primitive;   /* "yes", "no" */
	const char *primitive_note;
	const char *rating;        /* "sound", …; "unknown" when not in our table */
	const char *rating_source; /* or NULL */
};

/* heading is printed first, may be NULL. client_label heads the client's column ("libssh2 1.10.0"). */
bool xb_list_write(const struct xb_list_row *rows, size_t count, const char *heading,
    const char *client_label, const struct xb_report_style *style, FILE *out);

#endif
