#include <inttypes.h>
#include <setjmp.h>
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
#include "base/err.h"
#include "base/mem.h"
#include "client/scp_peer.h"
#include "scratch.h"
#include "shells.h"

static void
feed(struct xb_scp_peer *peer, const char *text)
{
	xb_scp_peer_feed(peer, text, strlen(text));
}

/* What speaks against it is told so. */
static void
expect_refusal(const struct xb_scp_peer *peer, const char *text)
{
	struct xb_err err = { 0 };

	assert_false(xb_scp_peer_check(peer, &err));
	assert_int_equal(err.fault, XB_FAULT_TRIAL);
	assert_string_equal(err.text, text);
}

static void
replies_of_an_upload_are_counted(void **state)
{
	struct xb_err err = { 0 };
	struct xb_scp_peer peer;
	char *line;

	(void)state;
	xb_scp_peer_init_upload(&peer);
	assert_string_equal(peer.command, "scp -t /dev/null");
	assert_int_equal(peer.replies, 0);
	xb_scp_peer_feed(&peer, "", 1);
	assert_int_equal(peer.replies, 1);
	xb_scp_peer_feed(&peer, "\0\0", 2);
	assert_int_equal(peer.replies, 3);
	assert_true(xb_scp_peer_check(&peer, &err));
	xb_scp_peer_free(&peer);
	/* A mode without the owner's w would be set on /dev/null for a moment. */
	line = xb_scp_announce(UINT64_C(18446744073709551615));
	assert_string_equal(line, "C0644 18446744073709551615 null\n");
	free(line);
}

static void
file_is_announced_with_its_length(void **state)
{
	struct xb_err err = { 0 };
	struct xb_scp_peer peer;

	(void)state;
	xb_scp_peer_init_download(&peer, "/tmp/a-file_1.txt");
	assert_string_equal(peer.command, "scp -f /tmp/a-file_1.txt");
	feed(&peer, "C0600 1234567890123 C0644 12 ");
	assert_false(peer.has_file);
	feed(&peer, "odd name\n");
	assert_true(peer.has_file);
	assert_int_equal(peer.file_size, UINT64_C(1234567890123));
	assert_true(xb_scp_peer_check(&peer, &err));
	xb_scp_peer_free(&peer);
}

static void
error_is_the_reason_and_the_first_one_stays(void **state)
{
	struct xb_scp_peer peer;

	(void)state;
	xb_scp_peer_init_download(&peer, "x");
	feed(&peer, "\1scp: /\x1b[1mx: No such file or directory\n\2lost\n");
	expect_refusal(&peer,
	    "the far side's scp failed: scp: /\\x1b[1mx: No such file or directory");
	xb_scp_peer_complain(&peer, "also\n", 5);
	assert_non_null(strstr(peer.said, "No such file"));
	xb_scp_peer_free(&peer);
	/* An upload whose disk is full is told at its end. */
	xb_scp_peer_init_upload(&peer);
	xb_scp_peer_feed(&peer, "\0\0", 2);
	feed(&peer, "\1scp: /dev/null: No space left on device\n");
	assert_int_equal(peer.replies, 2);
	expect_refusal(&peer, "the far side's scp failed: scp: /dev/null: No space left on device");
	xb_scp_peer_free(&peer);
}

static void
profile_that_prints_is_told_once_scp_has_spoken(void **state)
{
	struct xb_err err = { 0 };
	struct xb_scp_peer peer;

	(void)state;
	xb_scp_peer_init_upload(&peer);
	feed(&peer, "Welcome\nto this machine\n");
	xb_scp_peer_complain(&peer, "aboard\n", 7);
	assert_true(xb_scp_peer_check(&peer, &err));
	xb_scp_peer_feed(&peer, "", 1);
	expect_refusal(&peer,
	    "the far side printed \"Welcome\" before scp answered, which breaks scp");
	xb_scp_peer_free(&peer);
	/* Without a line end, too. */
	xb_scp_peer_init_upload(&peer);
	xb_scp_peer_feed(&peer, "motd: \0", 7);
	expect_refusal(&peer,
	    "the far side printed \"motd:\" before scp answered, which breaks scp");
	xb_scp_peer_free(&peer);
	xb_scp_peer_init_upload(&peer);
	xb_scp_peer_feed(&peer, "\n\0", 2);
	expect_refusal(&peer, "the far side printed \"\\n\" before scp answered, which breaks scp");
	xb_scp_peer_free(&peer);
	xb_scp_peer_init_download(&peer, "x");
	feed(&peer, "Cannot find your mail\nC0644 12 x\n");
	expect_refusal(&peer,
	    "the far side printed \"Cannot find your mail\" before scp answered, which breaks scp");
	xb_scp_peer_free(&peer);
}

static void
end_tells_whether_it_ever_started(void **state)
{
	static const char missing[] = "bash: line 1: scp: command not found\n";
	struct xb_scp_peer peer;
	struct xb_err err = { 0 };

	(void)state;
	xb_scp_peer_init_upload(&peer);
	xb_scp_peer_complain(&peer, missing, strlen(missing));
	assert_false(xb_scp_peer_ended(&peer, &err));
	assert_string_equal(err.text,
	    "scp on the far side did not start; it said: bash: line 1: scp: command not found");
	xb_scp_peer_free(&peer);
	err.fault = XB_FAULT_NONE;
	xb_scp_peer_init_upload(&peer);
	feed(&peer, "This service allows sftp connections only.\n");
	assert_false(xb_scp_peer_ended(&peer, &err));
	assert_non_null(strstr(err.text, "did not start; it said: This service allows sftp"));
	xb_scp_peer_free(&peer);
	err.fault = XB_FAULT_NONE;
	xb_scp_peer_init_upload(&peer);
	xb_scp_peer_feed(&peer, "", 1);
	assert_false(xb_scp_peer_ended(&peer, &err));
	assert_string_equal(err.text, "scp on the far side ended early");
	xb_scp_peer_free(&peer);
}

static void
endless_lines_are_bounded(void **state)
{
	char junk[4096];
	struct xb_scp_peer peer;

	(void)state;
	memset(junk, '\x1b', sizeof(junk));
	xb_scp_peer_init_upload(&peer);
	for (int i = 0; i < 100; i++)
		xb_scp_peer_feed(&peer, junk, sizeof(junk));
	xb_scp_peer_feed(&peer, "", 1);
	assert_string_not_equal(peer.printed, "");
	assert_null(strchr(peer.printed, '\x1b'));
	assert_true(strlen(peer.printed) < sizeof(peer.printed));
	xb_scp_peer_free(&peer);
}

/* A program of this name in PATH that prints what it was given as its last argument. */
static void
make_fake_scp(void)
{
	char *path = scratch_path("bin/scp");
	FILE *file;

	scratch_make_dir(scratch_path("bin"), 0700);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("#!/bin/sh\nshift\nprintf '<%s>' \"$1\"\n", file);
	assert_int_equal(fchmod(fileno(file), 0700), 0);
	assert_int_equal(fclose(file), 0);
}

static void
every_shell_passes_a_file_of_any_name_on(void **state)
{
	static const char odd[] =
	    "/x -a'b\"c$HOME`d`e!!f\\g\\n%s*?[h]{i,j}~;&|<>(k)#\xc3\xa4\tl^m=n:o";
	char *old = xb_strdup(getenv("PATH"));
	char *path = xb_asprintf("%s/bin:%s", scratch_dir(), old);
	char *expected = xb_asprintf("<%s>", odd);
	struct xb_scp_peer peer;
	struct shell_run run;
	char out[1000];
	ssize_t len;

	(void)state;
	make_fake_scp();
	setenv("PATH", path, 1);
	xb_scp_peer_init_download(&peer, odd);
	for (size_t i = 0; shells[i] != NULL; i++) {
		if (!shell_start(shells[i], peer.command, &run)) {
			print_message("# no %s on this machine\n", shells[i][0]);
			continue;
		}
		len = xb_read_all(run.out_fd, out, sizeof(out) - 1);
		assert_true(len >= 0);
		out[len] = '\0';
		assert_true(WIFEXITED(shell_finish(&run)));
		if (strstr(out, expected) == NULL)
			fail_msg("%s: %s", shells[i][0], out);
	}
	setenv("PATH", old, 1);
	xb_scp_peer_free(&peer);
	free(expected);
	free(path);
	free(old);
}

/* A leading dash is no option, and an end of line stands where a shell takes it. */
static void
command_of_a_name_that_looks_like_an_option(void **state)
{
	struct xb_scp_peer peer;

	(void)state;
	xb_scp_peer_init_download(&peer, "-rf");
	assert_string_equal(peer.command, "scp -f ./-rf");
	xb_scp_peer_free(&peer);
	xb_scp_peer_init_download(&peer, "a\nb");
	assert_string_equal(peer.command, "scp -f a'\n'b");
	xb_scp_peer_free(&peer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_of_an_upload_are_counted),
		cmocka_unit_test(file_is_announced_with_its_length),
		cmocka_unit_test(error_is_the_reason_and_the_first_one_stays),
		cmocka_unit_test(profile_that_prints_is_told_once_scp_has_spoken),
		cmocka_unit_test(end_tells_whether_it_ever_started),
		cmocka_unit_test(endless_lines_are_bounded),
		cmocka_unit_test_setup_teardown(every_shell_passes_a_file_of_any_name_on,
		    shells_set_up, shells_tear_down),
		cmocka_unit_test(command_of_a_name_that_looks_like_an_option),
	};

	alarm(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
