#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

static void
foreign_bytes_become_printable(void **state)
{
	static const struct {
		const char *in;
		size_t len;
		const char *out;
	} cases[] = {
		{ "plain ~text", 11, "plain ~text" },
		{ "", 0, "" },
		{ " \t\r\n", 4, "" },
		{ "  trimmed\r\n", 11, "trimmed" },
		{ "two\r\nlines", 10, "two lines" },
		{ "two\n\n\nlines", 11, "two lines" },
		{ "\033[31mred", 8, "\\x1b[31mred" },
		{ "a\0b", 3, "a\\x00b" },
		{ "a\tb", 3, "a\\x09b" },
		{ "\xc3\xa4", 2, "\\xc3\\xa4" },
		{ "\x7f", 1, "\\x7f" },
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		xb_text_printable(out, sizeof(out), cases[i].in, cases[i].len);
		assert_string_equal(out, cases[i].out);
	}
}

static void
text_that_does_not_fit_ends_in_dots(void **state)
{
	static const struct {
		size_t size;
		const char *in;
		const char *out;
	} cases[] = {
		{ 8, "1234567", "1234567" },
		{ 8, "12345678", "1234..." },
		{ 8, "12345\n78", "1234..." },
		{ 8, "\033\033", "\\x1b..." },
		{ 7, "\033\033", "..." },
		{ 4, "12345", "..." },
		{ 3, "12345", ".." },
		{ 2, "12345", "." },
		{ 1, "12345", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		/* Of exactly that size, so that a sanitizer sees a byte too many. */
		char *out = malloc(cases[i].size);

		assert_non_null(out);
		xb_text_printable(out, cases[i].size, cases[i].in, strlen(cases[i].in));
		assert_string_equal(out, cases[i].out);
		free(out);
	}
	xb_text_printable(NULL, 0, "x", 1);
}

static void
bytes_beyond_the_length_are_not_read(void **state)
{
	char *in = malloc(3);
	char out[16];

	(void)state;
	assert_non_null(in);
	memcpy(in, "a\nb", 3);
	xb_text_printable(out, sizeof(out), in, 3);
	assert_string_equal(out, "a b");
	xb_text_last_line(out, sizeof(out), in, 3);
	assert_string_equal(out, "b");
	free(in);
}

/* However a text is cut into two pieces, and into single bytes, its last line is the same. */
static void
last_line_of_pieces_is_that_of_the_whole(void **state)
{
	static const char text[] = "first\r\n  cat: write error: No space left\n \n\n";
	struct xb_last_line pieces, bytes = { .len = 0 };
	char out[64];

	(void)state;
	for (size_t cut = 0; cut < sizeof(text); cut++) {
		pieces = (struct xb_last_line){ .len = 0 };
		xb_last_line_add(&pieces, text, cut);
		xb_last_line_add(&pieces, text + cut, sizeof(text) - 1 - cut);
		xb_last_line_get(&pieces, out, sizeof(out));
		assert_string_equal(out, "cat: write error: No space left");
		if (cut > 0)
			xb_last_line_add(&bytes, &text[cut - 1], 1);
	}
	xb_last_line_get(&bytes, out, sizeof(out));
	assert_string_equal(out, "cat: write error: No space left");
}

static void
last_line_is_cut_where_it_is_too_long(void **state)
{
	struct xb_last_line line = { .len = 0 };
	char out[400];

	(void)state;
	xb_last_line_get(&line, out, sizeof(out));
	assert_string_equal(out, "");
	for (int i = 0; i < 1000; i++)
		xb_last_line_add(&line, "x", 1);
	xb_last_line_get(&line, out, sizeof(out));
	assert_int_equal(strlen(out), sizeof(line.bytes));
	xb_last_line_add(&line, "\nshort", 6);
	xb_last_line_get(&line, out, sizeof(out));
	assert_string_equal(out, "short");
}

static void
last_line_is_the_last_that_says_something(void **state)
{
	static const struct {
		const char *in;
		const char *out;
	} cases[] = {
		{ "one\ntwo\n", "two" },
		{ "one\ntwo\r\n\r\n  \n", "two" },
		{ "only", "only" },
		{ "\n\n", "" },
		{ "", "" },
		{ "a\nb\x01", "b\\x01" },
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		xb_text_last_line(out, sizeof(out), cases[i].in, strlen(cases[i].in));
		assert_string_equal(out, cases[i].out);
	}
}

static void
nearest_name_is_suggested(void **state)
{
	static const char *const names[] = { "aes128-ctr", "aes192-ctr", "aes256-ctr", "aes128-cbc",
		"3des-cbc", "blowfish-cbc", "blowfish", "chacha20-poly1305@openssh.com",
		"arcfour" };
	static const struct {
		const char *text;
		const char *name;
	} cases[] = {
		{ "aes128-ctr", "aes128-ctr" },
		{ "AES128-CTR", "aes128-ctr" },
		{ "aes128ctr", "aes128-ctr" },
		{ "ase256-ctr", "aes256-ctr" },
		{ "aes526-ctr", "aes256-ctr" },
		{ "blwofish", "blowfish" },
		{ "blowfihs-cbc", "blowfish-cbc" },
		{ "arcfuor", "arcfour" },
		{ "chacha20-poly1035@openssh.com", "chacha20-poly1305@openssh.com" },
		{ "twofish-and-more", NULL },
		{ "zzz", NULL },
		{ "a", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *nearest = xb_text_nearest(cases[i].text, names, ARRAY_LEN(names));

		if (cases[i].name == NULL)
			assert_null(nearest);
		else {
			assert_non_null(nearest);
			assert_string_equal(nearest, cases[i].name);
		}
	}
	assert_null(xb_text_nearest("aes128-ctr", names, 0));
}

static void
names_too_long_to_compare_are_passed_over(void **state)
{
	static const char longest[] =
	    "123456789.123456789.123456789.123456789.123456789.123456789.123";
	static const char too_long[] =
	    "123456789.123456789.123456789.123456789.123456789.123456789.1234";
	static const char *const names[] = { too_long, longest };

	(void)state;
	assert_int_equal(strlen(longest), 63);
	assert_string_equal(xb_text_nearest(longest, names, 2), longest);
	assert_null(xb_text_nearest(too_long, names, 2));
}

static void
glob_matches_whole_names(void **state)
{
	static const struct {
		const char *pattern;
		const char *name;
		bool matches;
	} cases[] = {
		{ "aes*-ctr", "aes128-ctr", true },
		{ "aes*-ctr", "aes128-ctr@example.com", false },
		{ "aes*-ctr", "xaes128-ctr", false },
		{ "*", "", true },
		{ "*", "anything", true },
		{ "", "", true },
		{ "", "a", false },
		{ "?", "", false },
		{ "?", "a", true },
		{ "aes??8-ctr", "aes128-ctr", true },
		{ "aes??8-ctr", "aes1288-ctr", false },
		{ "*cbc", "cbccbc", true },
		{ "*a*b*", "xxaxxbxx", true },
		{ "*a*b*", "xxbxxaxx", false },
		{ "a**b", "ab", true },
		{ "a*", "a", true },
		{ "*?", "", false },
		{ "[ab]", "a", false },
		{ "[ab]", "[ab]", true },
		{ "AES*", "aes128-ctr", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (xb_text_glob(cases[i].pattern, cases[i].name) != cases[i].matches)
			fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
	}
}

/* With a star that tries all lengths again inside another, this would not end in a lifetime. */
static void
glob_of_many_stars_ends(void **state)
{
	char pattern[201], name[2001];

	(void)state;
	for (size_t i = 0; i < sizeof(pattern) - 1; i += 2) {
		pattern[i] = '*';
		pattern[i + 1] = 'a';
	}
	pattern[sizeof(pattern) - 1] = '\0';
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_true(xb_text_glob(pattern, name));
	name[sizeof(name) - 2] = 'b';
	assert_false(xb_text_glob(pattern, name));
}

static void
globs_are_told_from_names(void **state)
{
	(void)state;
	assert_true(xb_text_is_glob("aes*"));
	assert_true(xb_text_is_glob("aes12?"));
	assert_false(xb_text_is_glob("aes128-ctr"));
	assert_false(xb_text_is_glob(""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_bytes_become_printable),
		cmocka_unit_test(text_that_does_not_fit_ends_in_dots),
		cmocka_unit_test(bytes_beyond_the_length_are_not_read),
		cmocka_unit_test(last_line_is_cut_where_it_is_too_long),
		cmocka_unit_test(last_line_is_the_last_that_says_something),
		cmocka_unit_test(last_line_of_pieces_is_that_of_the_whole),
		cmocka_unit_test(nearest_name_is_suggested),
		cmocka_unit_test(names_too_long_to_compare_are_passed_over),
		cmocka_unit_test(glob_matches_whole_names),
		cmocka_unit_test(glob_of_many_stars_ends),
		cmocka_unit_test(globs_are_told_from_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
