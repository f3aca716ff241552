#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/units.h"

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

static void
sizes_are_exact(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = {
		{ "0", 0 },
		{ "1", 1 },
		{ "17B", 17 },
		{ "007", 7 },
		{ "1k", 1000 },
		{ "1K", 1000 },
		{ "1kB", 1000 },
		{ "1M", 1000000 },
		{ "1mb", 1000000 },
		{ "1G", 1000000000 },
		{ "2TB", UINT64_C(2000000000000) },
		{ "1Ki", 1024 },
		{ "1KiB", 1024 },
		{ "1mIb", 1048576 },
		{ "1GiB", 1073741824 },
		{ "1.5GiB", 1610612736 },
		{ "1.50000000000000000000000000000000GiB", 1610612736 },
		{ "0.5k", 500 },
		{ "0.001k", 1 },
		{ "0.0009765625Ki", 1 },
		{ "0.1T", UINT64_C(100000000000) },
		{ "4503599.627370497G", UINT64_C(4503599627370497) },
		{ "2.0", 2 },
		{ "1TiB", UINT64_C(1) << 40 },
		{ "16777215TiB", UINT64_C(16777215) << 40 },
		{ "18446744073709551615", UINT64_MAX },
		{ "18446744073709551.615k", UINT64_MAX },
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bytes = 42;
		if (!xb_size_parse("--size", cases[i].text, &bytes, &err))
			fail_msg("%s", err.text);
		assert_int_equal(bytes, cases[i].bytes);
	}
}

static void
sizes_that_are_none_are_refused(void **state)
{
	static const char *const texts[] = { "", " ", "12x", "1e3", "0x10", " 1", "1 ", "+1", "-1",
		"1KiBx", "1.", ".5", "1.5.5", "k", "B", "1BB", "1Kib ", "1iB", "1i", "1P", "1,5k",
		"1k5", "١", "inf", "nan", "1K\n", "1.e3" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct xb_err err = { .fault = XB_FAULT_NONE };
		uint64_t bytes = 42;

		if (xb_size_parse("--size", texts[i], &bytes, &err))
			fail_msg("'%s' was taken", texts[i]);
		assert_int_equal(err.fault, XB_FAULT_USAGE);
		assert_non_null(strstr(err.text, "is not a size"));
		assert_int_equal(bytes, 42);
	}
}

static void
refusal_names_option_value_and_what_is_accepted(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	uint64_t bytes;

	(void)state;
	assert_false(xb_size_parse("--size", "12x", &bytes, &err));
	assert_string_equal(err.text,
	    "--size: '12x' is not a size; use digits with k, M, G, T (powers of 1000) or "
	    "Ki, Mi, Gi, Ti (1024), for example 1GiB");
}

static void
sizes_that_overflow_are_refused(void **state)
{
	static const char *const texts[] = { "18446744073709551616", "99999999999999999999999999",
		"16777216TiB", "18446744073709551616k", "18446745T" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct xb_err err = { .fault = XB_FAULT_NONE };
		uint64_t bytes;

		if (xb_size_parse("--size", texts[i], &bytes, &err))
			fail_msg("'%s' was taken", texts[i]);
		assert_int_equal(err.fault, XB_FAULT_USAGE);
		assert_non_null(strstr(err.text, "is too large"));
	}
}

static void
parts_of_a_byte_are_refused(void **state)
{
	static const char *const texts[] = { "1.5", "0.1Ki", "1.0001k", "0.3GiB",
		"0.0000000000001T" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct xb_err err = { .fault = XB_FAULT_NONE };
		uint64_t bytes;

		if (xb_size_parse("--size", texts[i], &bytes, &err))
			fail_msg("'%s' was taken", texts[i]);
		assert_int_equal(err.fault, XB_FAULT_USAGE);
		assert_non_null(strstr(err.text, "whole number of bytes"));
	}
}

static void
more_digits_than_can_be_held_are_refused(void **state)
{
	static const char *const texts[] = { "1.0000000000000000000000000000001G",
		"18446744073709551.616k" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct xb_err err = { .fault = XB_FAULT_NONE };
		uint64_t bytes;

		assert_false(xb_size_parse("--size", texts[i], &bytes, &err));
		assert_int_equal(err.fault, XB_FAULT_USAGE);
		assert_non_null(strstr(err.text, "more digits"));
	}
}

static void
foreign_bytes_in_a_refusal_are_printable(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char text[4000];
	uint64_t bytes;

	(void)state;
	memset(text, '\033', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(xb_size_parse("--size", text, &bytes, &err));
	assert_null(strchr(err.text, '\033'));
	assert_non_null(strstr(err.text, "..."));
	assert_non_null(strstr(err.text, "for example 1GiB"));
}

static void
durations_are_exact(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "1", INT64_C(1000000000) },
		{ "0.1", INT64_C(100000000) },
		{ "1s", INT64_C(1000000000) },
		{ "250ms", INT64_C(250000000) },
		{ "1.5m", INT64_C(90000000000) },
		{ "2min", INT64_C(120000000000) },
		{ "2h", INT64_C(7200000000000) },
		{ "0.000000001", 1 },
		{ "1ns", 1 },
		{ "1.5us", 1500 },
		{ "0.3s", INT64_C(300000000) },
		{ "9223372036854775807ns", INT64_MAX },
		{ "2562047h", INT64_C(9223369200000000000) },
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (!xb_duration_parse("--time", cases[i].text, &ns, &err))
			fail_msg("%s", err.text);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void
durations_that_are_none_are_refused(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "", "is not a duration" },
		{ "s", "is not a duration" },
		{ "-1s", "is not a duration" },
		{ "+1s", "is not a duration" },
		{ "1 s", "is not a duration" },
		{ "1e3s", "is not a duration" },
		{ "1d", "is not a duration" },
		{ "1S", "is not a duration" },
		{ "1sx", "is not a duration" },
		{ "0", "above 0" },
		{ "0.000s", "above 0" },
		{ "0h", "above 0" },
		{ "0.5ns", "finer than can be told" },
		{ "0.0000000001", "finer than can be told" },
		{ "9223372036854775808ns", "too long" },
		{ "2562048h", "too long" },
		{ "99999999999999999999s", "too long" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct xb_err err = { .fault = XB_FAULT_NONE };
		int64_t ns = 42;

		if (xb_duration_parse("--time", cases[i].text, &ns, &err))
			fail_msg("'%s' was taken", cases[i].text);
		assert_int_equal(err.fault, XB_FAULT_USAGE);
		if (strstr(err.text, cases[i].why) == NULL)
			fail_msg("'%s' says: %s", cases[i].text, err.text);
		assert_non_null(strstr(err.text, "--time: "));
		assert_int_equal(ns, 42);
	}
}

static void
counts_keep_to_their_range(void **state)
{
	static const char *const refused[] = { "", "0", "101", "-1", "+1", "1.0", "1.", "1x",
		"0x10", "1e1", " 1", "99999999999999999999999", "1k" };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	uint64_t value = 0;

	(void)state;
	assert_true(xb_count_parse("--rounds", "1", 1, 100, &value, &err));
	assert_int_equal(value, 1);
	assert_true(xb_count_parse("--rounds", "100", 1, 100, &value, &err));
	assert_int_equal(value, 100);
	assert_true(xb_count_parse("--seed", "18446744073709551615", 0, UINT64_MAX, &value, &err));
	assert_int_equal(value, UINT64_MAX);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct xb_err refusal = { .fault = XB_FAULT_NONE };

		if (xb_count_parse("--rounds", refused[i], 1, 100, &value, &refusal))
			fail_msg("'%s' was taken", refused[i]);
		assert_int_equal(refusal.fault, XB_FAULT_USAGE);
	}
	assert_false(xb_count_parse("--rounds", "0", 1, 100, &value, &err));
	assert_string_equal(err.text, "--rounds: '0' is not a whole number from 1 to 100");
}

static void
rate_units_say_what_they_are(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	enum xb_rate_unit unit = XB_RATE_MB;

	(void)state;
	assert_true(xb_rate_unit_parse("--units", "mib", &unit, &err));
	assert_int_equal(unit, XB_RATE_MIB);
	assert_string_equal(xb_rate_unit_label(unit), "MiB/s");
	assert_string_equal(xb_rate_unit_meaning(unit), "2^20 payload bytes/s");
	assert_true(xb_rate_in(unit, 1048576) == 1);
	assert_true(xb_rate_unit_parse("--units", "Mbit", &unit, &err));
	assert_string_equal(xb_rate_unit_label(unit), "Mbit/s");
	assert_string_equal(xb_rate_unit_meaning(unit), "10^6 payload bits/s");
	assert_true(xb_rate_in(unit, 1e6) == 8);
	assert_true(xb_rate_unit_parse("--units", "MB", &unit, &err));
	assert_string_equal(xb_rate_unit_label(unit), "MB/s");
	assert_string_equal(xb_rate_unit_meaning(unit), "10^6 payload bytes/s");
	assert_true(xb_rate_in(unit, 5e8) == 500);
	assert_false(xb_rate_unit_parse("--units", "GB", &unit, &err));
	assert_string_equal(err.text, "--units: 'GB' is not a unit; use MB, MiB or Mbit");
}

static void
figures_have_three_digits_at_most(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "0" },
		{ 1, "1" },
		{ 4712.3, "4710" },
		{ 0.1234, "0.123" },
		{ 999.4, "999" },
		{ 999.6, "1000" },
		{ 99.96, "100" },
		{ 99.94, "99.9" },
		{ 9.996, "10" },
		{ 0.9996, "1" },
		{ 0.09996, "0.1" },
		{ 8.9, "8.9" },
		{ 10.44, "10.4" },
		{ 123456789, "123000000" },
		{ 4.714e15, "4710000000000000" },
		{ 0.00012345, "0.000123" },
		{ -12.345, "-12.3" },
		{ NAN, "-" },
		{ INFINITY, "-" },
		{ DBL_MAX, "-" },
		{ DBL_TRUE_MIN, "-" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		xb_figure_format(text, sizeof(text), cases[i].value);
		assert_string_equal(text, cases[i].text);
	}
}

static void
figure_is_never_cut_into_another(void **state)
{
	char text[5];

	(void)state;
	xb_figure_format(text, sizeof(text), 1234);
	assert_string_equal(text, "1230");
	xb_figure_format(text, sizeof(text), 12345);
	assert_string_equal(text, "-");
}

static void
sizes_read_well(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 bytes" },
		{ 1, "1 byte" },
		{ 17, "17 bytes" },
		{ 999, "999 bytes" },
		{ 1000, "1 kB" },
		{ 1024, "1 KiB" },
		{ 1234, "1.234 kB" },
		{ 1536, "1.5 KiB" },
		{ 32768, "32 KiB" },
		{ 1000000, "1 MB" },
		{ 1500000, "1.5 MB" },
		{ 1234567, "1.23 MB" },
		{ 999999999, "1 GB" },
		{ 1073741824, "1 GiB" },
		{ UINT64_C(1) << 40, "1 TiB" },
		{ UINT64_C(1500) << 40, "1500 TiB" },
		{ UINT64_MAX, "18400000 TB" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		xb_size_format(text, sizeof(text), cases[i].bytes);
		assert_string_equal(text, cases[i].text);
	}
}

static void
durations_read_well(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 s" },
		{ 1, "1 ns" },
		{ 999, "999 ns" },
		{ 1500, "1.5 us" },
		{ 999600, "1 ms" },
		{ 250000000, "250 ms" },
		{ 999600000, "1 s" },
		{ 1000000000, "1 s" },
		{ 1234000000, "1.23 s" },
		{ INT64_C(59940000000), "59.9 s" },
		{ INT64_C(59990000000), "60 s" },
		{ INT64_C(108000000000), "108 s" },
		{ INT64_C(119600000000), "2 min" },
		{ INT64_C(125000000000), "2 min 5 s" },
		{ INT64_C(3599700000000), "1 h" },
		{ INT64_C(7500000000000), "2 h 5 min" },
		{ INT64_C(-1500000000), "-1.5 s" },
		{ INT64_MAX, "2562047 h 47 min" },
		{ INT64_MIN, "-2562047 h 47 min" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		xb_duration_format(text, sizeof(text), cases[i].ns);
		assert_string_equal(text, cases[i].text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_exact),
		cmocka_unit_test(sizes_that_are_none_are_refused),
		cmocka_unit_test(refusal_names_option_value_and_what_is_accepted),
		cmocka_unit_test(sizes_that_overflow_are_refused),
		cmocka_unit_test(parts_of_a_byte_are_refused),
		cmocka_unit_test(more_digits_than_can_be_held_are_refused),
		cmocka_unit_test(foreign_bytes_in_a_refusal_are_printable),
		cmocka_unit_test(durations_are_exact),
		cmocka_unit_test(durations_that_are_none_are_refused),
		cmocka_unit_test(counts_keep_to_their_range),
		cmocka_unit_test(rate_units_say_what_they_are),
		cmocka_unit_test(figures_have_three_digits_at_most),
		cmocka_unit_test(figure_is_never_cut_into_another),
		cmocka_unit_test(sizes_read_well),
		cmocka_unit_test(durations_read_well),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
