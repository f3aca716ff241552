#include "analysis/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define WANTED_COVERAGE 0.95

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The finite values in rising order, fresh. */
static double *
sorted_finite(const double *values, size_t count, size_t *finite)
{
	double *sorted = xb_calloc(count, sizeof(*sorted));
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (isfinite(values[i]))
			sorted[n++] = values[i];
	}
	if (n > 1)
		qsort(sorted, n, sizeof(*sorted), by_value);
	*finite = n;
	return sorted;
}

static double
middle(const double *sorted, size_t n)
{
	if (n == 0)
		return NAN;
	return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double
xb_median(const double *values, size_t count)
{
	size_t n;
	double *sorted = sorted_finite(values, count, &n);
	double median = middle(sorted, n);

	free(sorted);
	return median;
}

/*
 * Each value lies below the median with probability 1/2 whatever the distribution, so the number
 * below it is Binomial(n, 1/2). The median lies outside when fewer than k values are on one side:
 * 2 * P(X < k). P(X = i) = C(n, i) / 2^n by logarithms, as 2^n overflows from n = 1024 on.
 */
double
xb_coverage(size_t n, size_t k)
{
	double total = (double)n;
	double below = 0;

	if (n < 2 || k < 1)
		return 0;
	for (size_t i = 0; i < k && i <= n; i++) {
		double some = (double)i;

		below += exp(lgamma(total + 1) - lgamma(some + 1) - lgamma(total - some + 1) -
		    total * log(2));
	}
	return fmax(0, 1 - 2 * below);
}

/* The largest k whose interval still covers enough: coverage falls with k, so halve. */
static size_t
narrowest(size_t n)
{
	size_t low = 1;
	size_t high = n / 2 + 1;

	while (high - low > 1) {
		size_t k = low + (high - low) / 2;

		if (xb_coverage(n, k) >= WANTED_COVERAGE)
			low = k;
		else
			high = k;
	}
	return low;
}

struct xb_interval
xb_interval_make(const double *values, size_t count)
{
	struct xb_interval interval = { .median = NAN, .low = NAN, .high = NAN };
	size_t n;
	double *sorted = sorted_finite(values, count, &n);

	if (n > 0) {
		size_t k = narrowest(n);

		interval = (struct xb_interval){
			.median = middle(sorted, n),
			.low = sorted[k - 1],
			.high = sorted[n - k],
			.coverage = xb_coverage(n, k),
			.count = n,
		};
	}
	free(sorted);
	return interval;
}
