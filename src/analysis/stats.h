#ifndef XB_ANALYSIS_STATS_H
#define XB_ANALYSIS_STATS_H

#include <stddef.h>

#include "analysis/analysis.h"

/* The median of the finite values; NAN when there is none. values is not changed. */
double xb_median(const double *values, size_t count);

/*
 * The shortest interval of order statistics that covers the median with at least 95%, or smallest to
 * largest with what that covers when there are too few values. NAN values are left out.
 */
struct xb_interval xb_interval_make(const double *values, size_t count);

/* Coverage of the interval from the k-th smallest to the k-th largest of n values, k from 1. */
double xb_coverage(size_t n, size_t k);

#endif
