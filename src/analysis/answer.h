#ifndef XB_ANALYSIS_ANSWER_H
#define XB_ANALYSIS_ANSWER_H

#include <stdbool.h>

struct xb_run;
struct xb_analysis;

/* The last lines of the screen, in words. Owned strings; NULL when there is nothing to say. */
struct xb_answer {
	char *limit; /* which end's CPU fills a core, with the figure; only what was measured */
	char *
	    answer; /* what to choose and how much it gains, with the interval; lines end with \n but
	               * for the last */
};

/*
 * Pure. The answer is about the client that the settings name (else the fastest one's) and about sound
 * algorithms unless no others were measured, with one stream, and compares with the suite as
 * negotiated: what people get today. Ties go to the stronger key; where rounds are too few or rows
 * overlap it says so. One answer for each group of the analysis but those of a server that stands in.
 */
void xb_answer_make(const struct xb_run *run, const struct xb_analysis *analysis,
    struct xb_answer *answer);
void xb_answer_free(struct xb_answer *answer);

#endif
