#ifndef XB_ANALYSIS_ANSWER_LIMIT_H
#define XB_ANALYSIS_ANSWER_LIMIT_H

struct xb_run;
struct xb_row;

/* Which end's CPU fills a core in this row, with the figure, fresh; NULL: nothing is known. Private to
 * the answer*.c files. */
char *xb_answer_limit(const struct xb_run *run, const struct xb_row *row);

#endif
