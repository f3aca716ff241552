#ifndef XB_REPORT_LIST_H
#define XB_REPORT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

/* What `xferbench list` tells of one algorithm. Strings are borrowed. */
struct xb_list_row {
	const char *kind;           /* "cipher", "MAC", "kex", "hostkey" */
	const char *name;           /* SSH name, printable */
	unsigned offered;           /* bit i: server i offers it */
	unsigned has;               /* bit i: client i has it */
	const char *primitive;      /* "yes", "no", "-" for what has no speed of its own */
	const char *primitive_note; /* why not, or NULL */
	const char *rating;         /* "sound", …; "unknown" when not in our table */
	const char *rating_source;  /* or NULL */
};

/* A client, with the head of its column; absent: why it cannot run here, then it has no column. */
struct xb_list_client {
	const char *label;
	const char *absent;
};

/* The servers that were asked are heads of columns too: "offered" for one alone. Borrowed. */
struct xb_list {
	size_t server_count;
	const char *const *servers;
	size_t client_count;
	const struct xb_list_client *clients;
	size_t row_count;
	const struct xb_list_row *rows;
};

/* heading is printed first, line by line; may be NULL. False when out cannot be written. */
bool xb_list_write(const struct xb_list *list, const char *heading,
    const struct xb_report_style *style, FILE *out);

#endif
