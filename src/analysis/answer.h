#ifndef XB_ANALYSIS_ANSWER_H
#define XB_ANALYSIS_ANSWER_H

#include <stdbool.h>

struct xb_run;
struct xb_analysis;

/* The last lines of the screen, in words. Owned strings; NULL when there is nothing to say. */
struct xb_answer {
	char *limit;  /* which end's CPU fills a core, with the figure; only what was measured */
	char *answer; /* what to choose and how much it gains, with the interval */
};

/*
 * Pure. The answer is about sound algorithms (cipher and MAC both rated sound) unless the user named
 * others; ties go to the stronger key; where rounds are too few or rows overlap it says so.
 */
void xb_answer_make(const struct xb_run *run, const struct xb_analysis *analysis,
    struct xb_answer *answer);
void xb_answer_free(struct xb_answer *answer);

#endif
