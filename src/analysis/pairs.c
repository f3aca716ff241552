#include "analysis/pairs.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"
#include "base/mem.h"
#include "model/run.h"
#include "model/sample.h"

const struct xb_sample *
xb_counted_next(const struct xb_result *result, size_t *at)
{
	const struct xb_sample *found = NULL;

	for (; *at < result->sample_count; (*at)++) {
		const struct xb_sample *sample = &result->samples[*at];

		if (!xb_sample_counts(sample))
			continue;
		if (found != NULL && sample->round != found->round)
			break;
		found = sample;
	}
	return found;
}

double
xb_login_seconds(const struct xb_sample *sample)
{
	return sample->connect_seconds + sample->kex_seconds + sample->auth_seconds;
}

/* A speed of zero gives an infinity or NAN, which the interval leaves out. */
static double
log_speed(const struct xb_result *result, const struct xb_sample *sample)
{
	return result->c.method == XB_METHOD_LOGIN ? -log(xb_login_seconds(sample))
						   : log(xb_sample_rate(sample));
}

struct xb_interval
xb_pairs_ratio(const struct xb_result *a, const struct xb_result *b)
{
	double *logs = xb_calloc(a->sample_count, sizeof(*logs));
	size_t count = 0;
	size_t at_a = 0;
	size_t at_b = 0;
	const struct xb_sample *sa = xb_counted_next(a, &at_a);
	const struct xb_sample *sb = xb_counted_next(b, &at_b);
	struct xb_interval ratio;

	while (sa != NULL && sb != NULL) {
		if (sa->round < sb->round) {
			sa = xb_counted_next(a, &at_a);
		} else if (sa->round > sb->round) {
			sb = xb_counted_next(b, &at_b);
		} else {
			logs[count++] = log_speed(a, sa) - log_speed(b, sb);
			sa = xb_counted_next(a, &at_a);
			sb = xb_counted_next(b, &at_b);
		}
	}
	ratio = xb_interval_make(logs, count);
	ratio.median = exp(ratio.median);
	ratio.low = exp(ratio.low);
	ratio.high = exp(ratio.high);
	free(logs);
	return ratio;
}

bool
xb_interval_is_clear(const struct xb_interval *interval)
{
	return interval->count >= XB_ROUNDS_FOR_VERDICT;
}
