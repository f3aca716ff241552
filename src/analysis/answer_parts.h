#ifndef XB_ANALYSIS_ANSWER_PARTS_H
#define XB_ANALYSIS_ANSWER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/analysis.h"
#include "model/case.h"

/* What the parts of the answer share; private to the answer*.c files. */

struct xb_run;

/* The rows of one client and one method that compete for a group's answer, fastest first, and how the
 * others stand to the first. */
struct xb_field {
	const struct xb_run *run;
	const struct xb_group *group;
	const char *client; /* as sentences call it */
	const struct xb_row **rows;
	struct xb_interval *ratios; /* speed of the first ÷ that of each; the first's own is 1 */
	size_t count;
	bool sound;                   /* all of them */
	const struct xb_row *fastest; /* of the client and the method, sound or not */
	const struct xb_row
	    *negotiated; /* the client's row as negotiated, same method, sound or not */
	/* The best row of each other method, as sound as the field's; NULL: none. */
	const struct xb_row *methods[XB_METHOD_COUNT];
};

/* False when nothing of the group competes; then there is nothing to free. */
bool xb_field_make(const struct xb_run *run, const struct xb_analysis *analysis, size_t group,
    struct xb_field *field);
void xb_field_free(struct xb_field *field);

/* Cipher and MAC, with method login key exchange and host key: all rated sound. */
bool xb_row_is_sound(const struct xb_row *row);

/* What is wrong with a row that is not sound, fresh. */
char *xb_row_fault(const struct xb_row *row);

/* Enough rounds to compare with the first. */
bool xb_field_is_clear(const struct xb_field *field, size_t i);

/* Rows that have enough rounds, without the first. */
size_t xb_field_count_clear(const struct xb_field *field);

/* The first is not seen to be faster. */
bool xb_field_is_level(const struct xb_field *field, size_t i);

/* Sentences about what to choose: of a field that streams, and of one that logs in. */
void xb_answer_put_stream(FILE *out, const struct xb_field *field);
void xb_answer_put_login(FILE *out, const struct xb_field *field);

/* Parts of sentences. */

/* "1.53 times (1.47 to 1.59)"; three decimals where two would hide that it is apart from 1. */
void xb_answer_put_times(FILE *out, const struct xb_interval *ratio);

/* ", " or the word between names. */
void xb_answer_put_between(FILE *out, size_t i, size_t count, const char *word);

/* " aes128-cbc is weak: CVE-2008-5161…." for each row that is level, each fault once. */
void xb_answer_put_faults(FILE *out, const struct xb_field *field);

#endif
