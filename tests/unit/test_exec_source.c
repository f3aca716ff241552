#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "client/exec_source.h"
#include "scratch.h"
#include "shells.h"

/* All that some shell would expand, end at or choke on, a line end at its end included. */
#define ODD_NAME " -a'b\"c$HOME`d`!!e\\f\\n%s*?[g]{h,i}~;&|<>(j)#k\xc3\xa4\tl\nm\n"

static size_t
feed(struct xb_exec_source *source, const char *text)
{
	return xb_exec_source_feed(source, text, strlen(text));
}

/* Feeds text in which "@" stands for the token. */
static void
feed_lines(struct xb_exec_source *source, const char *text)
{
	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '@')
			feed(source, source->token);
		else
			xb_exec_source_feed(source, c, 1);
	}
}

static void
bytes_behind_the_ready_line_are_left_whatever_the_pieces(void **state)
{
	char text[200];
	struct xb_exec_source source;
	size_t len, taken, now;

	(void)state;
	for (size_t piece = 1; piece < 60; piece++) {
		xb_exec_source_init(&source, NULL);
		snprintf(text, sizeof(text), "hello\n%s-ready 4711\ndata\n%s-ready 1\n",
		    source.token, source.token);
		len = strlen(text);
		for (taken = 0; !source.ready; taken += now) {
			now = len - taken < piece ? len - taken : piece;
			now = xb_exec_source_feed(&source, text + taken, now);
			assert_true(now > 0);
		}
		assert_memory_equal(text + taken, "data\n", 5);
		assert_int_equal(xb_exec_source_feed(&source, text + taken, len - taken), 0);
		assert_string_equal(source.other, "hello");
		xb_exec_source_free(&source);
	}
}

static void
command_has_its_own_token_and_nothing_that_a_shell_would_expand(void **state)
{
	struct xb_exec_source a, b;

	(void)state;
	xb_exec_source_init(&a, NULL);
	xb_exec_source_init(&b, ODD_NAME);
	assert_string_not_equal(a.token, b.token);
	assert_memory_equal(a.command, "sh -c '", strlen("sh -c '"));
	assert_string_equal(strchr(a.command + strlen("sh -c '"), '\''), "'");
	assert_string_equal(strchr(b.command + strlen("sh -c '"), '\''), "'");
	assert_null(strpbrk(a.command, "\\!"));
	assert_null(strpbrk(b.command, "!\n"));
	xb_exec_source_free(&a);
	xb_exec_source_free(&b);
}

static void
text_before_the_token_on_its_line_does_no_harm(void **state)
{
	struct xb_exec_source source;

	(void)state;
	xb_exec_source_init(&source, NULL);
	feed_lines(&source, "Welcome\nlast login: never @-ready 5\n");
	assert_true(source.ready);
	xb_exec_source_free(&source);
}

/* "set -v" or csh's "set echo": the command itself is no line of it. */
static void
shell_that_prints_its_commands_is_not_taken_for_the_command(void **state)
{
	struct xb_exec_source source;

	(void)state;
	xb_exec_source_init(&source, NULL);
	feed(&source, source.command);
	feed(&source, "\n");
	feed_lines(&source, "+ echo \"@-ready $$\"\n@-ready\n@ ready 1\n");
	assert_false(source.ready);
	feed_lines(&source, "xb0000000000000000-ready 1\n@-ready 1\n");
	assert_true(source.ready);
	xb_exec_source_free(&source);
}

static void
endless_lines_and_control_characters_are_bounded(void **state)
{
	char junk[4096];
	struct xb_exec_source source;

	(void)state;
	memset(junk, '\x1b', sizeof(junk));
	xb_exec_source_init(&source, NULL);
	for (int i = 0; i < 100; i++)
		assert_int_equal(xb_exec_source_feed(&source, junk, sizeof(junk)), sizeof(junk));
	feed_lines(&source, "\nThis account is \x1b[1mclosed\x1b[m.\n");
	assert_false(source.ready);
	assert_null(strchr(source.other, '\x1b'));
	assert_non_null(strstr(source.other, "closed"));
	xb_exec_source_complain(&source, junk, sizeof(junk));
	assert_true(strlen(source.other) < sizeof(source.other));
	xb_exec_source_free(&source);
}

static void
complaints_are_kept_and_statistics_are_none(void **state)
{
	static const char statistics[] =
	    "dd: error writing 'standard output': Broken pipe\n"
	    "12+0 records in\n11+1 Datens\xc3\xa4tze aus\n"
	    "786432 bytes (786 kB, 768 KiB) copied, 0.00025 s, 3.1 GB/s\n\n";
	static const char missing[] = "first\nsh: 1: exec: dd: not found";
	struct xb_exec_source source;

	(void)state;
	xb_exec_source_init(&source, NULL);
	xb_exec_source_complain(&source, statistics, strlen(statistics));
	assert_string_equal(source.other, "dd: error writing 'standard output': Broken pipe");
	xb_exec_source_complain(&source, missing, strlen(missing));
	assert_string_equal(source.other, "sh: 1: exec: dd: not found");
	xb_exec_source_free(&source);
}

/*
 * Reads until the ready line, then lets it go, and reads len bytes of data. False when the output
 * ends before. Nothing follows the ready line until then.
 */
static bool
read_data(struct xb_exec_source *source, const struct shell_run *run, char *data, size_t len)
{
	char bytes[4096];
	size_t have = 0, used, rest;
	bool was_ready;
	ssize_t got;

	while (have < len) {
		got = read(run->out_fd, bytes, sizeof(bytes));
		if (got <= 0)
			return false;
		was_ready = source->ready;
		used = xb_exec_source_feed(source, bytes, (size_t)got);
		rest = (size_t)got - used;
		if (source->ready && !was_ready) {
			assert_int_equal(rest, 0);
			assert_int_equal(xb_write_all(run->in_fd, XB_EXEC_SOURCE_GO,
					     strlen(XB_EXEC_SOURCE_GO)),
			    strlen(XB_EXEC_SOURCE_GO));
		}
		if (rest > len - have)
			rest = len - have;
		memcpy(data + have, bytes + used, rest);
		have += rest;
	}
	return true;
}

/* What comes of a command in one shell: len bytes of data in any case. */
static void
expect_data(const char *const *shell, const char *file, char *data, size_t len)
{
	struct xb_exec_source source;
	struct shell_run run;

	xb_exec_source_init(&source, file);
	if (!shell_start(shell, source.command, &run)) {
		print_message("# no %s on this machine\n", shell[0]);
		memset(data, 0, len);
	} else {
		if (!read_data(&source, &run, data, len))
			fail_msg("%s ended early; it said: %s", shell[0], source.other);
		/* It ends for want of a reader. */
		shell_finish(&run);
	}
	xb_exec_source_free(&source);
}

static void
every_shell_sends_zeros_behind_the_ready_line_whatever_its_profile_prints(void **state)
{
	static char data[1000003];

	(void)state;
	for (size_t i = 0; shells[i] != NULL; i++) {
		memset(data, 1, sizeof(data));
		expect_data(shells[i], NULL, data, sizeof(data));
		for (size_t at = 0; at < sizeof(data); at++)
			assert_int_equal(data[at], 0);
	}
}

static void
every_shell_sends_a_file_of_any_name_again_and_again(void **state)
{
	static const char text[] = "0123456789\n";
	char *path = scratch_path(ODD_NAME);
	char data[3 * sizeof(text)];
	char *program;
	FILE *file;

	(void)state;
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	for (size_t i = 0; shells[i] != NULL; i++) {
		program = xb_child_find_program(shells[i][0]);
		expect_data(shells[i], path, data, sizeof(data));
		if (program != NULL) {
			assert_memory_equal(data, "0123456789\n0123456789\n0123456789\n012", 36);
		}
		free(program);
	}
}

/* The reason why a command ends without data. */
static void
expect_reason(const char *file, const char *reason)
{
	struct xb_exec_source source;
	struct shell_run run;
	char byte, complaint[1000];
	ssize_t len;

	xb_exec_source_init(&source, file);
	assert_true(shell_start(shells[0], source.command, &run));
	assert_false(read_data(&source, &run, &byte, 1));
	assert_false(source.ready);
	len = xb_read_all(run.err_fd, complaint, sizeof(complaint));
	assert_true(len >= 0);
	xb_exec_source_complain(&source, complaint, (size_t)len);
	if (strstr(source.other, reason) == NULL)
		fail_msg("'%s' is not in: %s", reason, source.other);
	assert_true(WIFEXITED(shell_finish(&run)));
	xb_exec_source_free(&source);
}

static void
file_that_is_missing_or_empty_is_told_before_the_ready_line(void **state)
{
	char *path = scratch_path("empty");

	(void)state;
	scratch_make_file(path);
	assert_int_equal(truncate(path, 0), 0);
	expect_reason(path, "empty: empty");
	expect_reason("/nowhere/nothing", "/nowhere/nothing: no such file");
}

static void
command_whose_input_ends_before_the_go_sends_nothing(void **state)
{
	struct xb_exec_source source;
	struct shell_run run;
	char out[1000];
	ssize_t len;

	(void)state;
	xb_exec_source_init(&source, NULL);
	assert_true(shell_start(shells[0], source.command, &run));
	close(run.in_fd);
	run.in_fd = -1;
	len = xb_read_all(run.out_fd, out, sizeof(out));
	assert_true(len > 0);
	assert_int_equal(xb_exec_source_feed(&source, out, (size_t)len), len);
	assert_true(source.ready);
	assert_true(WIFEXITED(shell_finish(&run)));
	xb_exec_source_free(&source);
}

static void
device_is_no_empty_file(void **state)
{
	char data[10000];

	(void)state;
	memset(data, 1, sizeof(data));
	expect_data(shells[0], "/dev/zero", data, sizeof(data));
	assert_int_equal(data[9999], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_behind_the_ready_line_are_left_whatever_the_pieces),
		cmocka_unit_test(command_has_its_own_token_and_nothing_that_a_shell_would_expand),
		cmocka_unit_test(text_before_the_token_on_its_line_does_no_harm),
		cmocka_unit_test(shell_that_prints_its_commands_is_not_taken_for_the_command),
		cmocka_unit_test(endless_lines_and_control_characters_are_bounded),
		cmocka_unit_test(complaints_are_kept_and_statistics_are_none),
		cmocka_unit_test_setup_teardown(
		    every_shell_sends_zeros_behind_the_ready_line_whatever_its_profile_prints,
		    shells_set_up, shells_tear_down),
		cmocka_unit_test_setup_teardown(
		    every_shell_sends_a_file_of_any_name_again_and_again, shells_set_up,
		    shells_tear_down),
		cmocka_unit_test_setup_teardown(
		    file_that_is_missing_or_empty_is_told_before_the_ready_line, scratch_set_up,
		    scratch_tear_down),
		cmocka_unit_test(command_whose_input_ends_before_the_go_sends_nothing),
		cmocka_unit_test(device_is_no_empty_file),
	};

	alarm(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
