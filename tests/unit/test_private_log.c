#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target/private.h"
#include "target/private_log.h"

static const char *const noise[] = { "Accepted *", "Disconnected from *: as wished", NULL };

static const struct xb_private_kind kind = { .log_noise = noise };

static const char *
pick(const char *text, size_t size)
{
	static char out[64];

	assert_true(size <= sizeof(out));
	memset(out, 'x', sizeof(out));
	xb_private_log_pick(out, size, text, strlen(text), &kind);
	return out;
}

static void
last_lines_are_joined_without_noise(void **state)
{
	(void)state;
	assert_string_equal(
	    pick("one\r\nAccepted key\r\ntwo\r\n\r\nDisconnected from x: as wished\r\n", 64),
	    "one; two");
	assert_string_equal(pick("no newline at the end", 64), "no newline at the end");
}

static void
nothing_but_noise_gives_nothing(void **state)
{
	(void)state;
	assert_string_equal(pick("", 64), "");
	assert_string_equal(pick("\r\n\n", 64), "");
	assert_string_equal(pick("Accepted publickey\n", 64), "");
}

static void
only_the_whole_of_a_noise_line_makes_it_noise(void **state)
{
	(void)state;
	assert_string_equal(pick("Disconnected from x: as wished\n", 64), "");
	assert_string_equal(pick("Disconnected from x: too slow\n", 64),
	    "Disconnected from x: too slow");
	assert_string_equal(pick("Not Accepted key\n", 64), "Not Accepted key");
}

static void
stamps_before_the_lines_are_left_out(void **state)
{
	const char *text =
	    "[77] Nov 30 21:17:15 Exit before auth from <127.0.0.1:4>: No matching algo\n"
	    "[78] Feb  1 01:02:03 Child connection from 127.0.0.1:4\n"
	    "no stamp\n";
	char out[128];

	(void)state;
	xb_private_log_pick(out, sizeof(out), text, strlen(text), &xb_private_dropbear);
	assert_string_equal(out, "Exit before auth from <127.0.0.1:4>: No matching algo; no stamp");
}

static void
older_lines_are_left_out_when_they_do_not_fit(void **state)
{
	(void)state;
	assert_string_equal(pick("first\nsecond\nthird\n", 14), "second; third");
	assert_string_equal(pick("first\nsecond\nthird\n", 13), "third");
	assert_string_equal(pick("one that is longer than there is room\n", 14), "one that i...");
	assert_string_equal(pick("x\n", 1), "");
}

static void
what_a_server_logs_is_made_printable(void **state)
{
	(void)state;
	assert_string_equal(pick("Invalid user \x1b[2J\x07\n", 64), "Invalid user \\x1b[2J\\x07");
}

static void
file_is_read_from_where_it_was_left(void **state)
{
	FILE *file = tmpfile();
	char out[64];
	off_t at;

	(void)state;
	assert_non_null(file);
	fputs("old\n", file);
	fflush(file);
	at = xb_private_log_tail(out, sizeof(out), fileno(file), 0, &kind);
	assert_string_equal(out, "old");
	assert_int_equal(at, 4);
	for (int i = 0; i < 5000; i++)
		fputs("Accepted again\n", file);
	fputs("new\n", file);
	fflush(file);
	at = xb_private_log_tail(out, sizeof(out), fileno(file), at, &kind);
	/* What is left of a line at the beginning of the last 8 KiB cannot be told from a line. */
	assert_string_equal(out + strlen(out) - 3, "new");
	at = xb_private_log_tail(out, sizeof(out), fileno(file), at, &kind);
	assert_string_equal(out, "");
	assert_int_equal(at, 4 + 5000 * 15 + 4);
	fclose(file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_lines_are_joined_without_noise),
		cmocka_unit_test(nothing_but_noise_gives_nothing),
		cmocka_unit_test(only_the_whole_of_a_noise_line_makes_it_noise),
		cmocka_unit_test(stamps_before_the_lines_are_left_out),
		cmocka_unit_test(older_lines_are_left_out_when_they_do_not_fit),
		cmocka_unit_test(what_a_server_logs_is_made_printable),
		cmocka_unit_test(file_is_read_from_where_it_was_left),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
