#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void
first_error_wins(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	(void)state;
	assert_false(xb_fail(&err, XB_FAULT_TARGET, "host '%s' is %s", "nas", "gone"));
	assert_false(xb_fail(&err, XB_FAULT_SYSTEM, "a later one"));
	errno = ENOENT;
	assert_false(xb_fail_errno(&err, XB_FAULT_USAGE, "the last one"));
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_string_equal(err.text, "host 'nas' is gone");
}

static void
system_error_is_appended(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	(void)state;
	errno = ENOENT;
	assert_false(xb_fail_errno(&err, XB_FAULT_SYSTEM, "cannot open %d", 7));
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	assert_string_equal(err.text, "cannot open 7: No such file or directory");
}

static void
no_place_for_an_error_is_allowed(void **state)
{
	(void)state;
	assert_false(xb_fail(NULL, XB_FAULT_TRIAL, "nobody reads this"));
	assert_false(xb_fail_errno(NULL, XB_FAULT_TRIAL, "nor this"));
	xb_err_prefix(NULL, "prefix");
}

static void
long_text_is_cut_and_ends(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	errno = EIO;
	xb_fail_errno(&err, XB_FAULT_SYSTEM, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	xb_err_prefix(&err, "trial 3");
	assert_true(strlen(err.text) < sizeof(err.text));
	assert_memory_equal(err.text, "trial 3: xxx", strlen("trial 3: xxx"));
}

static void
prefix_goes_before_a_set_error_only(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	(void)state;
	xb_err_prefix(&err, "round 1");
	assert_int_equal(err.fault, XB_FAULT_NONE);
	assert_string_equal(err.text, "");
	xb_fail(&err, XB_FAULT_TRIAL, "it stalled");
	xb_err_prefix(&err, "round 1");
	assert_int_equal(err.fault, XB_FAULT_TRIAL);
	assert_string_equal(err.text, "round 1: it stalled");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_error_wins),
		cmocka_unit_test(system_error_is_appended),
		cmocka_unit_test(no_place_for_an_error_is_allowed),
		cmocka_unit_test(long_text_is_cut_and_ends),
		cmocka_unit_test(prefix_goes_before_a_set_error_only),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
