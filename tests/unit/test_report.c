#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "report/report.h"

static void
reports_are_found_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; xb_reports[i] != NULL; i++) {
		assert_non_null(xb_reports[i]->write);
		/* By its own name, and so the first with it: names are unique. */
		assert_ptr_equal(xb_report_find(xb_reports[i]->name), xb_reports[i]);
	}
	assert_non_null(xb_report_find("table"));
	assert_non_null(xb_report_find("json"));
	assert_null(xb_report_find("xml"));
}

static void
columns_set_the_width_of_a_file(void **state)
{
	FILE *out = tmpfile();
	struct xb_report_style style;

	(void)state;
	assert_non_null(out);
	unsetenv("COLUMNS");
	style = xb_report_style_of(out);
	assert_int_equal(style.width, 0);
	assert_false(style.terminal || style.colour || style.utf8);
	setenv("COLUMNS", "100", 1);
	assert_int_equal(xb_report_style_of(out).width, 100);
	setenv("COLUMNS", "1e9", 1);
	assert_int_equal(xb_report_style_of(out).width, 0);
	setenv("COLUMNS", "0", 1);
	assert_int_equal(xb_report_style_of(out).width, 0);
	unsetenv("COLUMNS");
	fclose(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_are_found_by_name),
		cmocka_unit_test(columns_set_the_width_of_a_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
