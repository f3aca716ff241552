#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analysis/stats.h"
#include "canned.h"

#define TINY 1e-9
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
coverage_is_that_of_the_binomial_distribution(void **state)
{
	/* scipy 1.10.1: 1 - 2 * scipy.stats.binom.cdf(k - 1, n, 0.5) */
	static const struct {
		size_t n;
		size_t k;
		double coverage;
	} rows[] = {
		{ 2, 1, 0.5 },
		{ 5, 1, 0.9375 },
		{ 6, 1, 0.96875 },
		{ 8, 1, 0.9921875 },
		{ 9, 2, 0.9609375 },
		{ 12, 3, 0.96142578125 },
		{ 15, 4, 0.96484375 },
		{ 20, 6, 0.9586105346679688 },
		{ 24, 7, 0.9773441553115845 },
		{ 50, 18, 0.9671608624357315 },
		{ 100, 40, 0.9647997997822951 },
		{ 2000, 956, 0.9534471795082161 },
		{ 2000, 957, 0.948297789178179 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		canned_near(xb_coverage(rows[i].n, rows[i].k), rows[i].coverage, TINY);
}

static void
an_interval_turned_round_covers_nothing(void **state)
{
	(void)state;
	/* scipy: 1 - 2 * binom.cdf(5, 10, 0.5) is below zero */
	canned_near(xb_coverage(10, 6), 0, TINY);
	canned_near(xb_coverage(10, 11), 0, TINY);
	canned_near(xb_coverage(10, 0), 0, TINY);
	canned_near(xb_coverage(1, 1), 0, TINY);
	canned_near(xb_coverage(0, 1), 0, TINY);
}

static void
median_of_odd_and_even_counts(void **state)
{
	/* numpy 1.24.2: numpy.median */
	static const double odd[] = { 512.3, 498.1, 520.7, 505.5, 517.2, 509.9, 501.4, 530.2,
		511.1 };
	static const double even[] = { 3.5, 1.25, 9.75, 2.0 };

	(void)state;
	canned_near(xb_median(odd, COUNT(odd)), 511.1, TINY);
	canned_near(xb_median(even, COUNT(even)), 2.75, TINY);
	canned_near(xb_median(even, 1), 3.5, TINY);
	canned_near(odd[0], 512.3, 0);
}

static void
unknown_values_are_left_out(void **state)
{
	const double values[] = { NAN, 3, INFINITY, 1, NAN, 2, -INFINITY };
	struct xb_interval interval = xb_interval_make(values, COUNT(values));

	(void)state;
	canned_near(xb_median(values, COUNT(values)), 2, 0);
	assert_int_equal(interval.count, 3);
	canned_near(interval.low, 1, 0);
	canned_near(interval.high, 3, 0);
	/* scipy: 1 - 2 * binom.cdf(0, 3, 0.5) */
	canned_near(interval.coverage, 0.75, TINY);
}

static void
nothing_has_no_median(void **state)
{
	const double values[] = { NAN };
	struct xb_interval interval = xb_interval_make(values, 1);

	(void)state;
	assert_true(isnan(xb_median(NULL, 0)));
	assert_true(isnan(xb_median(values, 1)));
	assert_int_equal(interval.count, 0);
	assert_true(isnan(interval.median) && isnan(interval.low) && isnan(interval.high));
	canned_near(interval.coverage, 0, 0);
}

static void
one_value_covers_nothing(void **state)
{
	const double value = 7;
	struct xb_interval interval = xb_interval_make(&value, 1);

	(void)state;
	assert_int_equal(interval.count, 1);
	canned_near(interval.median, 7, 0);
	canned_near(interval.low, 7, 0);
	canned_near(interval.high, 7, 0);
	canned_near(interval.coverage, 0, 0);
}

static void
six_values_cover_from_smallest_to_largest(void **state)
{
	static const double values[] = { 510, 512, 520, 498, 511, 508 };
	struct xb_interval interval = xb_interval_make(values, COUNT(values));

	(void)state;
	canned_near(interval.median, 510.5, TINY);
	canned_near(interval.low, 498, 0);
	canned_near(interval.high, 520, 0);
	canned_near(interval.coverage, 0.96875, TINY);
}

static void
the_interval_is_the_shortest_with_95_percent(void **state)
{
	/* numpy.sort(values)[[1, -2]]; scipy: binom.cdf(1, 9, 0.5) leaves 96.1%, cdf(2) 82% */
	static const double values[] = { 512.3, 498.1, 520.7, 505.5, 517.2, 509.9, 501.4, 530.2,
		511.1 };
	struct xb_interval interval = xb_interval_make(values, COUNT(values));
	double many[2000];

	(void)state;
	canned_near(interval.low, 501.4, 0);
	canned_near(interval.high, 520.7, 0);
	canned_near(interval.coverage, 0.9609375, TINY);
	/* scipy: of 2000, k = 956 covers 95.3% and 957 covers 94.8% */
	for (size_t i = 0; i < COUNT(many); i++)
		many[COUNT(many) - 1 - i] = (double)i + 1;
	interval = xb_interval_make(many, COUNT(many));
	canned_near(interval.low, 956, 0);
	canned_near(interval.high, 1045, 0);
	canned_near(interval.median, 1000.5, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coverage_is_that_of_the_binomial_distribution),
		cmocka_unit_test(an_interval_turned_round_covers_nothing),
		cmocka_unit_test(median_of_odd_and_even_counts),
		cmocka_unit_test(unknown_values_are_left_out),
		cmocka_unit_test(nothing_has_no_median),
		cmocka_unit_test(one_value_covers_nothing),
		cmocka_unit_test(six_values_cover_from_smallest_to_largest),
		cmocka_unit_test(the_interval_is_the_shortest_with_95_percent),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
