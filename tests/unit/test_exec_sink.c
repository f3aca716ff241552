#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/mem.h"
#include "client/exec_sink.h"
#include "shells.h"

/* From /proc/PID/stat of sshd sessions: state, ten numbers, utime, stime and more (proc(5)). */
#define SSHD_STAT(ticks) \
	"4242 (sshd) S 4200 4242 4242 0 -1 4194560 1234 5678 0 0 " ticks " 0 0 20 0 1 0 123456 1 2"
#define SESSION_STAT(ticks) \
	"4242 (sshd-session) S 4200 4242 4242 0 -1 4194560 1234 5678 0 0 " ticks " 0 0 20 0 1 0 1"
#define OTHER_STAT "1 (my sshd) S 4 5 6 0 -1 1 2 3 0 0 1 1 0"
#define BASH_STAT "4242 (bash) S 4200 4242 4242 0 -1 4194560 1234 5678 0 0 17 4 0 0 20 0 1 0 123456"

static void
feed(struct xb_exec_sink *sink, const char *text)
{
	xb_exec_sink_feed(sink, text, strlen(text));
}

/* Feeds text in which "@" stands for the token. */
static void
feed_lines(struct xb_exec_sink *sink, const char *text)
{
	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '@')
			feed(sink, sink->token);
		else
			xb_exec_sink_feed(sink, c, 1);
	}
}

static void
ready_and_end_lines_are_seen_with_the_status(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	xb_exec_sink_init(&sink, false);
	assert_false(sink.ready);
	feed_lines(&sink, "@-ready \n");
	assert_true(sink.ready);
	assert_false(sink.ended);
	feed_lines(&sink, "@-end 3 \n");
	assert_true(sink.ended);
	assert_int_equal(sink.status, 3);
	assert_false(sink.has_count);
	assert_false(sink.has_cpu);
	xb_exec_sink_free(&sink);
}

static void
command_names_the_token_and_runs_under_any_shell(void **state)
{
	struct xb_exec_sink a, b;

	(void)state;
	xb_exec_sink_init(&a, false);
	xb_exec_sink_init(&b, true);
	assert_non_null(strstr(a.command, a.token));
	assert_string_not_equal(a.token, b.token);
	assert_memory_equal(a.command, "sh -c '", strlen("sh -c '"));
	/* Two quotes, and nothing inside that some shell would expand between single ones. */
	assert_string_equal(strchr(a.command + strlen("sh -c '"), '\''), "'");
	assert_null(strpbrk(a.command, "\\!"));
	assert_null(strpbrk(b.command, "\\!"));
	assert_null(strstr(a.command, "wc -c"));
	assert_non_null(strstr(b.command, "wc -c"));
	xb_exec_sink_free(&a);
	xb_exec_sink_free(&b);
}

static void
lines_may_come_in_any_pieces(void **state)
{
	char text[200];
	struct xb_exec_sink sink;
	size_t len;

	(void)state;
	for (size_t piece = 1; piece < 60; piece++) {
		xb_exec_sink_init(&sink, false);
		snprintf(text, sizeof(text), "hello\n%s-ready \n8388625\n%s-end 0 \n", sink.token,
		    sink.token);
		len = strlen(text);
		for (size_t at = 0; at < len; at += piece)
			xb_exec_sink_feed(&sink, text + at, at + piece < len ? piece : len - at);
		assert_true(sink.ready);
		assert_true(sink.ended);
		assert_int_equal(sink.status, 0);
		assert_true(sink.has_count);
		assert_int_equal(sink.count, 8388625);
		xb_exec_sink_free(&sink);
	}
}

static void
end_line_before_the_ready_line_is_nothing(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	xb_exec_sink_init(&sink, false);
	feed_lines(&sink, "@-end 0 \n");
	assert_false(sink.ended);
	assert_false(sink.ready);
	xb_exec_sink_free(&sink);
}

static void
lines_without_the_token_are_nothing_but_a_reason(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	xb_exec_sink_init(&sink, false);
	feed_lines(&sink, "xb0000000000000000-ready \nready\n-ready \nThis account is closed.\n");
	assert_false(sink.ready);
	assert_string_equal(sink.other, "This account is closed.");
	xb_exec_sink_free(&sink);
}

/* A profile's printf without a newline stands before our line. */
static void
text_before_the_token_on_its_line_does_no_harm(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	xb_exec_sink_init(&sink, false);
	feed_lines(&sink, "Welcome\nlast login: never @-ready \n");
	assert_true(sink.ready);
	xb_exec_sink_free(&sink);
}

/* "set -v" or an echoing terminal: the command itself is no line of it. */
static void
shell_that_prints_its_commands_is_not_taken_for_the_command(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	xb_exec_sink_init(&sink, false);
	feed(&sink, sink.command);
	feed(&sink, "\n");
	feed_lines(&sink, "+ echo \"@-ready $s\"\n");
	assert_false(sink.ready);
	feed_lines(&sink, "@-ready \necho \"@-end $e $s\"\n");
	assert_true(sink.ready);
	assert_false(sink.ended);
	feed_lines(&sink, "@-end 1 \n");
	assert_true(sink.ended);
	assert_int_equal(sink.status, 1);
	xb_exec_sink_free(&sink);
}

static void
numbers_of_a_profile_are_no_count(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	xb_exec_sink_init(&sink, true);
	feed_lines(&sink, "17\n@-ready \n");
	assert_false(sink.has_count);
	feed_lines(&sink, "18 messages\n");
	assert_false(sink.has_count);
	feed_lines(&sink, "1000\n@-end 0 \n");
	assert_true(sink.has_count);
	assert_int_equal(sink.count, 1000);
	xb_exec_sink_free(&sink);
}

static void
what_comes_after_the_end_is_not_looked_at(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	xb_exec_sink_init(&sink, false);
	feed_lines(&sink, "@-ready \n@-end 0 \n@-end 9 \n77\nsomething\n");
	assert_int_equal(sink.status, 0);
	assert_false(sink.has_count);
	assert_string_equal(sink.other, "");
	xb_exec_sink_free(&sink);
}

static void
session_cpu_is_the_difference_of_both_lines(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	xb_exec_sink_init(&sink, false);
	feed_lines(&sink, "@-ready " SSHD_STAT("10 3") "\n@-end 0 " SSHD_STAT("95 40") "\n");
	assert_true(sink.has_cpu);
	assert_true(sink.cpu_seconds > 1.219 && sink.cpu_seconds < 1.221);
	xb_exec_sink_free(&sink);
	xb_exec_sink_init(&sink, false);
	feed_lines(&sink, "@-ready " SESSION_STAT("0 0") "\n@-end 0 " SESSION_STAT("1 1") "\n");
	assert_true(sink.has_cpu);
	assert_true(sink.cpu_seconds > 0.019 && sink.cpu_seconds < 0.021);
	xb_exec_sink_free(&sink);
}

static void
cpu_of_a_shell_in_between_is_not_the_servers(void **state)
{
	static const char *const texts[] = {
		"@-ready " BASH_STAT "\n@-end 0 " BASH_STAT "\n",
		"@-ready " BASH_STAT "\n@-end 0 " SSHD_STAT("1 1") "\n",
		"@-ready " SSHD_STAT("1 1") "\n@-end 0 \n",
		"@-ready \n@-end 0 " SSHD_STAT("1 1") "\n",
		"@-ready 1 (sshd) S 1 2 3\n@-end 0 1 (sshd) S 1 2 3\n",
		"@-ready sshd\n@-end 0 (sshd\n",
		"@-ready " OTHER_STAT "\n@-end 0 " OTHER_STAT "\n",
	};
	struct xb_exec_sink sink;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		xb_exec_sink_init(&sink, false);
		feed_lines(&sink, texts[i]);
		assert_true(sink.ended);
		assert_false(sink.has_cpu);
		xb_exec_sink_free(&sink);
	}
}

static void
endless_lines_and_control_characters_are_bounded(void **state)
{
	static const char complaint[] = "cat: \x1b[31mno space\x07\n";
	char junk[4096];
	struct xb_exec_sink sink;

	(void)state;
	memset(junk, '\x1b', sizeof(junk));
	xb_exec_sink_init(&sink, false);
	for (int i = 0; i < 100; i++)
		xb_exec_sink_feed(&sink, junk, sizeof(junk));
	feed_lines(&sink, "\n@-ready \n");
	assert_true(sink.ready);
	assert_null(strchr(sink.other, '\x1b'));
	assert_true(strlen(sink.other) < sizeof(sink.other));
	xb_exec_sink_complain(&sink, complaint, strlen(complaint));
	assert_non_null(strstr(sink.other, "no space"));
	assert_null(strchr(sink.other, '\x1b'));
	assert_null(strchr(sink.other, '\x07'));
	xb_exec_sink_free(&sink);
}

static void
complaint_keeps_its_last_line_and_empty_ones_keep_the_old(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	xb_exec_sink_init(&sink, false);
	xb_exec_sink_complain(&sink, "first\nsecond\n", 13);
	assert_string_equal(sink.other, "second");
	xb_exec_sink_complain(&sink, "\n \n", 3);
	assert_string_equal(sink.other, "second");
	xb_exec_sink_free(&sink);
}

/* What sh makes of the command: the only reader of it that matters. */
static void
run_command(bool count, const char *input_bytes, struct xb_exec_sink *sink)
{
	char *line, out[4096];
	size_t len;
	FILE *pipe;

	xb_exec_sink_init(sink, count);
	line = xb_asprintf("head -c %s /dev/zero | %s", input_bytes, sink->command);
	pipe = popen(line, "re");
	assert_non_null(pipe);
	len = fread(out, 1, sizeof(out), pipe);
	assert_int_equal(pclose(pipe), 0);
	xb_exec_sink_feed(sink, out, len);
	free(line);
}

static void
command_reads_all_and_ends(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	run_command(false, "1000003", &sink);
	assert_true(sink.ready);
	assert_true(sink.ended);
	assert_int_equal(sink.status, 0);
	assert_false(sink.has_count);
	xb_exec_sink_free(&sink);
}

static void
command_counts_exactly_where_wc_is_gnu(void **state)
{
	struct xb_exec_sink sink;

	(void)state;
	run_command(true, "1000003", &sink);
	assert_true(sink.ended);
	assert_int_equal(sink.status, 0);
	if (system("wc --version 2>/dev/null | grep -q GNU") == 0) {
		assert_true(sink.has_count);
		assert_int_equal(sink.count, 1000003);
	}
	xb_exec_sink_free(&sink);
}

static void
every_shell_reads_all_and_ends_whatever_its_profile_prints(void **state)
{
	static const char zeros[300000];
	struct xb_exec_sink sink;
	struct shell_run run;
	char out[4096];
	ssize_t len;

	(void)state;
	for (size_t i = 0; shells[i] != NULL; i++) {
		xb_exec_sink_init(&sink, i % 2 == 1);
		if (!shell_start(shells[i], sink.command, &run)) {
			print_message("# no %s on this machine\n", shells[i][0]);
			xb_exec_sink_free(&sink);
			continue;
		}
		assert_int_equal(xb_write_all(run.in_fd, zeros, sizeof(zeros)), sizeof(zeros));
		close(run.in_fd);
		run.in_fd = -1;
		len = xb_read_all(run.out_fd, out, sizeof(out));
		assert_true(len > 0);
		assert_int_equal(shell_finish(&run), 0);
		xb_exec_sink_feed(&sink, out, (size_t)len);
		if (!sink.ready || !sink.ended || sink.status != 0)
			fail_msg("%s: no end; it said: %s", shells[i][0], sink.other);
		if (sink.has_count)
			assert_int_equal(sink.count, sizeof(zeros));
		xb_exec_sink_free(&sink);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ready_and_end_lines_are_seen_with_the_status),
		cmocka_unit_test(command_names_the_token_and_runs_under_any_shell),
		cmocka_unit_test(lines_may_come_in_any_pieces),
		cmocka_unit_test(end_line_before_the_ready_line_is_nothing),
		cmocka_unit_test(lines_without_the_token_are_nothing_but_a_reason),
		cmocka_unit_test(text_before_the_token_on_its_line_does_no_harm),
		cmocka_unit_test(shell_that_prints_its_commands_is_not_taken_for_the_command),
		cmocka_unit_test(numbers_of_a_profile_are_no_count),
		cmocka_unit_test(what_comes_after_the_end_is_not_looked_at),
		cmocka_unit_test(session_cpu_is_the_difference_of_both_lines),
		cmocka_unit_test(cpu_of_a_shell_in_between_is_not_the_servers),
		cmocka_unit_test(endless_lines_and_control_characters_are_bounded),
		cmocka_unit_test(complaint_keeps_its_last_line_and_empty_ones_keep_the_old),
		cmocka_unit_test(command_reads_all_and_ends),
		cmocka_unit_test(command_counts_exactly_where_wc_is_gnu),
		cmocka_unit_test_setup_teardown(
		    every_shell_reads_all_and_ends_whatever_its_profile_prints, shells_set_up,
		    shells_tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
