#ifndef XB_ANALYSIS_PAIRS_H
#define XB_ANALYSIS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/analysis.h"

struct xb_result;
struct xb_sample;

/* From so many paired rounds on, the interval of order statistics can cover 95%: 1 - 2 / 2^6. */
#define XB_ROUNDS_FOR_VERDICT 6

/*
 * The result's next sample that counts, at or after *at, which is moved past it; NULL at the end.
 * Each round gives one sample at most, its last one. Samples are in the order in which they ran.
 */
const struct xb_sample *xb_counted_next(const struct xb_result *result, size_t *at);

/* connect + kex + auth of a sample, without the start of a program; NAN when a part is unknown. */
double xb_login_seconds(const struct xb_sample *sample);

/*
 * Speed of a ÷ speed of b: rates; with method login, logins per second. Both ran in the same round
 * under the same conditions, so the ratio is taken within each round: what drifts from round to round
 * cancels. The median and the interval are those of the ratios' logarithms, so that a ÷ b and b ÷ a
 * tell the same.
 */
struct xb_interval xb_pairs_ratio(const struct xb_result *a, const struct xb_result *b);

/* True when the interval has its 95%: enough paired rounds for a verdict. */
bool xb_interval_is_clear(const struct xb_interval *interval);

#endif
