#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/rng.h"

/* The first values of SplitMix64 for the seed 1234567, as published with Vigna's reference code
 * (https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64). */
static void
values_are_those_of_the_reference(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(6457827717110365317),
		UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	struct xb_rng rng = { .state = 1234567 };

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(xb_rng_next(&rng), expected[i]);
}

static void
bounded_values_stay_below_and_reach_all(void **state)
{
	struct xb_rng rng = { .state = 1 };
	unsigned seen[7] = { 0 };

	(void)state;
	for (int i = 0; i < 7000; i++) {
		uint64_t value = xb_rng_below(&rng, 7);

		assert_true(value < 7);
		seen[value]++;
	}
	/* 1000 each, with a standard deviation of 29: 8 of them away is another distribution. */
	for (int i = 0; i < 7; i++)
		assert_in_range(seen[i], 760, 1240);
	for (int i = 0; i < 100; i++)
		assert_int_equal(xb_rng_below(&rng, 1), 0);
}

/* With 3/4 of all values as the bound, the plain remainder would be below 1/4 half of the time. */
static void
bounded_values_have_no_modulo_bias(void **state)
{
	const uint64_t quarter = UINT64_C(1) << 62;
	struct xb_rng rng = { .state = 5 };
	unsigned low = 0;

	(void)state;
	for (int i = 0; i < 3000; i++)
		low += xb_rng_below(&rng, 3 * quarter) < quarter;
	assert_in_range(low, 850, 1150);
}

static void
shuffle_keeps_every_element_once(void **state)
{
	struct xb_rng rng = { .state = 99 };
	size_t order[40];
	unsigned seen[40] = { 0 };

	(void)state;
	xb_rng_shuffle(&rng, order, 40);
	for (size_t i = 0; i < 40; i++) {
		assert_true(order[i] < 40);
		seen[order[i]]++;
	}
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(seen[i], 1);
	xb_rng_shuffle(&rng, order, 1);
	assert_int_equal(order[0], 0);
	xb_rng_shuffle(&rng, order, 0);
}

static void
shuffle_gives_all_orders_equally_often(void **state)
{
	struct xb_rng rng = { .state = 3 };
	unsigned seen[27] = { 0 }, orders = 0;
	size_t order[3];

	(void)state;
	for (int i = 0; i < 6000; i++) {
		xb_rng_shuffle(&rng, order, 3);
		seen[order[0] * 9 + order[1] * 3 + order[2]]++;
	}
	/* 1000 each of the six, the standard deviation is 29. */
	for (int i = 0; i < 27; i++) {
		if (seen[i] == 0)
			continue;
		assert_in_range(seen[i], 770, 1230);
		orders++;
	}
	assert_int_equal(orders, 6);
}

static void
same_seed_gives_the_same_orders_and_another_seed_others(void **state)
{
	struct xb_rng a = { .state = 42 }, b = { .state = 42 }, c = { .state = 43 };
	size_t first[20], second[20], third[20];
	bool differ = false;

	(void)state;
	for (int i = 0; i < 5; i++) {
		xb_rng_shuffle(&a, first, 20);
		xb_rng_shuffle(&b, second, 20);
		xb_rng_shuffle(&c, third, 20);
		assert_memory_equal(first, second, sizeof(first));
		differ = differ || memcmp(first, third, sizeof(first)) != 0;
	}
	assert_true(differ);
}

static void
fill_writes_all_bytes_and_no_more(void **state)
{
	struct xb_rng rng = { .state = 7 };
	unsigned char bytes[64];

	(void)state;
	for (size_t len = 0; len <= 17; len++) {
		memset(bytes, 0xa5, sizeof(bytes));
		xb_rng_fill(&rng, bytes, len);
		for (size_t i = len; i < sizeof(bytes); i++)
			assert_int_equal(bytes[i], 0xa5);
	}
	memset(bytes, 0, sizeof(bytes));
	xb_rng_fill(&rng, bytes, sizeof(bytes));
	assert_memory_not_equal(bytes, bytes + 32, 32);
}

static void
seeds_of_the_kernel_differ(void **state)
{
	(void)state;
	assert_int_not_equal(xb_rng_seed(), xb_rng_seed());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_the_reference),
		cmocka_unit_test(bounded_values_stay_below_and_reach_all),
		cmocka_unit_test(bounded_values_have_no_modulo_bias),
		cmocka_unit_test(shuffle_keeps_every_element_once),
		cmocka_unit_test(shuffle_gives_all_orders_equally_often),
		cmocka_unit_test(same_seed_gives_the_same_orders_and_another_seed_others),
		cmocka_unit_test(fill_writes_all_bytes_and_no_more),
		cmocka_unit_test(seeds_of_the_kernel_differ),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
