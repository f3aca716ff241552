#ifndef XB_ANALYSIS_ROW_H
#define XB_ANALYSIS_ROW_H

#include "analysis/analysis.h"

struct xb_run;
struct xb_result;

/* Fills what a result says by itself: all but group, scaling, ratio and place. */
void xb_row_fill(const struct xb_run *run, const struct xb_result *result, struct xb_row *row);

#endif
