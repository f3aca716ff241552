#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"
#include "client/client.h"
#include "client/libssh2.h"
#include "far_side.h"
#include "scratch.h"
#include "ssh_transfer.h"

#define CIPHER "aes128-ctr"
#define MAC "hmac-sha2-256"
#define SIZE SSH_TRANSFER_SIZE

static const enum xb_method methods[] = { XB_METHOD_EXEC, XB_METHOD_SCP, XB_METHOD_SFTP };
static const enum xb_direction directions[] = { XB_UPLOAD, XB_DOWNLOAD };
#define METHOD_COUNT (sizeof(methods) / sizeof(methods[0]))
#define DIRECTION_COUNT (sizeof(directions) / sizeof(directions[0]))

/* One private sshd for all tests, whose options change from login to login. */
static struct ssh_transfer_server server;
static struct xb_suite usual;

static int
set_up_group(void **state)
{
	if (scratch_set_up(state) != 0)
		return -1;
	server = far_side_start();
	xb_suite_init(&usual, CIPHER, MAC, NULL);
	return 0;
}

static int
tear_down_group(void **state)
{
	xb_suite_free(&usual);
	far_side_stop(&server);
	return scratch_tear_down(state);
}

static struct ssh_transfer_result
run(const struct xb_transfer *transfer)
{
	return ssh_transfer_run(&xb_client_libssh2, transfer, NULL);
}

static struct xb_transfer
transfer_of(enum xb_method method, enum xb_direction direction)
{
	return ssh_transfer_of(&server, method, direction, &usual);
}

/* A failure of this trial alone, with a reason and no end line. */
static void
expect(const struct ssh_transfer_result *result, const char *reason)
{
	ssh_transfer_expect_failure(result, XB_FAULT_TRIAL, reason);
	assert_int_equal(result->ends, 0);
}

/* The script in which "@" stands for sftp-server. False, with a skip, on a machine without it. */
static bool
script_with_sftp(const char *script)
{
	static const char *const paths[] = { "/usr/lib/openssh/sftp-server",
		"/usr/libexec/openssh/sftp-server", "/usr/libexec/sftp-server",
		"/usr/lib/ssh/sftp-server" };
	const char *at = strchr(script, '@');
	char *text;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (access(paths[i], X_OK) != 0)
			continue;
		text = xb_asprintf("%.*s%s%s", (int)(at - script), script, paths[i], at + 1);
		far_side_script(text);
		free(text);
		return true;
	}
	print_message("# skipped: no sftp-server program on this machine\n");
	return false;
}

/* What each method gives as its reason against the far side as it is now; NULL: it works. */
static void
expect_reasons(const char *const reasons[3])
{
	for (size_t m = 0; m < METHOD_COUNT; m++)
		for (size_t d = 0; d < DIRECTION_COUNT; d++) {
			struct xb_transfer transfer = transfer_of(methods[m], directions[d]);
			struct ssh_transfer_result result = run(&transfer);

			if (reasons[m] == NULL) {
				ssh_transfer_expect(&result, SIZE);
			} else {
				expect(&result, reasons[m]);
				assert_int_equal(result.readies, 0);
			}
		}
	far_side_options("");
}

static void
server_without_sftp_is_told(void **state)
{
	static const char *const reasons[] = { NULL, NULL,
		"the server's sftp subsystem ended at once" };

	(void)state;
	far_side_script("case $SSH_ORIGINAL_COMMAND in *sftp*) exit 127;;\n"
			"*) eval \"$SSH_ORIGINAL_COMMAND\";; esac");
	expect_reasons(reasons);
}

static void
account_for_sftp_alone_is_told_by_the_others(void **state)
{
	static const char said[] = "it said: This service allows sftp connections only.";
	static const char *const reasons[] = { said, said, NULL };

	(void)state;
	far_side_options("-o ForceCommand=internal-sftp");
	expect_reasons(reasons);
}

static void
server_without_scp_is_told(void **state)
{
	static const char *const reasons[] = { NULL,
		"scp on the far side did not start; it said: sh: 1: scp: not found", NULL };

	(void)state;
	if (script_with_sftp("case $SSH_ORIGINAL_COMMAND in\n"
			     "scp*) echo 'sh: 1: scp: not found' >&2; exit 127;;\n"
			     "*sftp*) exec @;; *) eval \"$SSH_ORIGINAL_COMMAND\";; esac"))
		expect_reasons(reasons);
}

static void
account_without_a_shell_is_told(void **state)
{
	static const char said[] = "it said: This account is currently not available.";
	static const char *const reasons[] = { said, said, said };

	(void)state;
	far_side_script("echo This account is currently not available.; exit 1");
	expect_reasons(reasons);
}

static void
profile_that_prints_and_sleeps_harms_scp_and_sftp_alone(void **state)
{
	static const char *const reasons[] = { NULL,
		"the far side printed \"Welcome\" before scp answered, which breaks scp",
		"the far side printed \"Welcome\" before sftp answered, which breaks sftp" };

	(void)state;
	if (script_with_sftp("echo Welcome; echo aboard >&2; sleep 0.1\n"
			     "case $SSH_ORIGINAL_COMMAND in *sftp*) exec @;;\n"
			     "*) eval \"$SSH_ORIGINAL_COMMAND\";; esac"))
		expect_reasons(reasons);
}

static void
file_shorter_than_promised_is_an_error_with_its_count(void **state)
{
	(void)state;
	for (size_t m = 1; m < METHOD_COUNT; m++)
		for (int timed = 0; timed < 2; timed++) {
			struct xb_transfer transfer = transfer_of(methods[m], XB_DOWNLOAD);
			struct ssh_transfer_result result;

			transfer.remote_bytes = 2 * SIZE;
			transfer.size = timed ? 0 : 2 * SIZE;
			transfer.time_ns = timed ? 60 * XB_NS_PER_SECOND : 0;
			result = run(&transfer);
			expect(&result, "ended after 1000003 bytes instead of 2000006");
			assert_int_equal(result.outcome.bytes, SIZE);
		}
}

static void
file_that_is_missing_or_empty_is_told_before_the_clock_runs(void **state)
{
	static const char *const missing[] = {
		"/nowhere/no such: no such file, or not readable",
		"/nowhere/no such: No such file or directory",
		"sftp cannot open /nowhere/no such: no such file",
	};
	char *empty = xb_strdup(scratch_path("empty"));

	(void)state;
	scratch_make_file(empty);
	assert_int_equal(truncate(empty, 0), 0);
	for (size_t m = 0; m < METHOD_COUNT; m++) {
		struct xb_transfer transfer = transfer_of(methods[m], XB_DOWNLOAD);
		struct ssh_transfer_result result;

		transfer.remote_file = "/nowhere/no such";
		result = run(&transfer);
		expect(&result, missing[m]);
		assert_int_equal(result.readies, 0);
		transfer.remote_file = empty;
		result = run(&transfer);
		expect(&result, "empty");
	}
	free(empty);
}

/* The far side's output, cut off behind its first line and a million bytes. */
#define CUT "{ eval \"$SSH_ORIGINAL_COMMAND\"; } | { head -n 1; head -c 500000; "

static void
download_that_breaks_off_is_an_error_with_its_count(void **state)
{
	struct xb_transfer transfer = transfer_of(XB_METHOD_EXEC, XB_DOWNLOAD);
	struct ssh_transfer_result result;

	(void)state;
	far_side_script(CUT "echo disk on fire >&2; }");
	result = run(&transfer);
	expect(&result, "the source ended early, after 500000 bytes");
	expect(&result, "the far side said: disk on fire");
	assert_int_equal(result.outcome.bytes, 500000);
	transfer = transfer_of(XB_METHOD_SCP, XB_DOWNLOAD);
	result = run(&transfer);
	expect(&result, "the source ended after 500000 bytes instead of 1000003");
	assert_int_equal(result.outcome.bytes, 500000);
	far_side_options("");
}

static void
download_that_stalls_is_ended_and_told(void **state)
{
	(void)state;
	far_side_script(CUT "exec sleep 1000; }");
	for (size_t m = 0; m < 2; m++) {
		struct xb_transfer transfer = transfer_of(methods[m], XB_DOWNLOAD);
		struct ssh_transfer_result result;

		transfer.stall_ns = SSH_TRANSFER_SHORT_NS;
		result = run(&transfer);
		expect(&result, "the server sent no data for " SSH_TRANSFER_SHORT " after 500 kB");
		assert_int_equal(result.phase, XB_PHASE_STREAM);
	}
	far_side_options("");
}

/* More words on stderr than the window holds must not hide what comes on stdout. */
static void
words_on_stderr_do_no_harm_to_a_download(void **state)
{
	struct xb_transfer transfer = transfer_of(XB_METHOD_EXEC, XB_DOWNLOAD);
	struct ssh_transfer_result result;

	(void)state;
	far_side_script("{ head -c 10000000 /dev/zero | tr '\\0' x >&2; } & "
			"eval \"$SSH_ORIGINAL_COMMAND\"");
	transfer.size = 20 * SIZE;
	result = run(&transfer);
	ssh_transfer_expect(&result, 20 * SIZE);
	far_side_options("");
}

static void
last_reply_of_scp_decides(void **state)
{
	struct xb_transfer up = transfer_of(XB_METHOD_SCP, XB_UPLOAD);
	struct xb_transfer down = transfer_of(XB_METHOD_SCP, XB_DOWNLOAD);
	struct ssh_transfer_result result;

	(void)state;
	far_side_script("printf '\\0'; read -r header; printf '\\0'; head -c 1000003 >/dev/null\n"
			"printf '\\1scp: /dev/null: No space left on device\\n'");
	result = run(&up);
	expect(&result, "the far side's scp failed: scp: /dev/null: No space left on device");
	far_side_script("printf '\\0'; read -r header; printf '\\0'; head -c 1000003 >/dev/null");
	result = run(&up);
	expect(&result, "scp on the far side ended early");
	far_side_script("printf 'C0644 1000003 f\\n'; head -c 1000003 /dev/zero\n"
			"printf '\\1scp: f: Input/output error\\n'");
	result = run(&down);
	/* All of it came, but zeros stand in for what could not be read. */
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "Input/output error");
	far_side_options("");
}

/* libssh2 itself would wait for ever. */
static void
sftp_server_that_ends_in_the_middle_is_told(void **state)
{
	(void)state;
	if (!script_with_sftp("exec 3<&0; @ <&3 & sleep 2; kill $!"))
		return;
	for (size_t d = 0; d < DIRECTION_COUNT; d++) {
		struct xb_transfer transfer = transfer_of(XB_METHOD_SFTP, directions[d]);
		struct ssh_transfer_result result;

		transfer.size = 0;
		transfer.time_ns = 60 * XB_NS_PER_SECOND;
		result = run(&transfer);
		expect(&result, "the far side's sftp server ended early");
		assert_int_equal(result.readies, 1);
	}
	far_side_options("");
}

/* A server that is stopped keeps the connection and says nothing. */
static void
sftp_that_stalls_is_ended_and_told(void **state)
{
	(void)state;
	if (!script_with_sftp("exec 3<&0; @ <&3 & sleep 0.5; kill -STOP $!; sleep 1000"))
		return;
	for (size_t d = 0; d < DIRECTION_COUNT; d++) {
		struct xb_transfer transfer = transfer_of(XB_METHOD_SFTP, directions[d]);
		struct ssh_transfer_result result;

		transfer.size = 0;
		transfer.time_ns = 60 * XB_NS_PER_SECOND;
		transfer.stall_ns = SSH_TRANSFER_SHORT_NS;
		result = run(&transfer);
		expect(&result, "data for " SSH_TRANSFER_SHORT " after");
		assert_int_equal(result.readies, 1);
	}
	far_side_options("");
}

static void
far_side_that_never_answers_is_ended_and_told(void **state)
{
	static const char *const reasons[] = {
		"no ready line from the far side for " SSH_TRANSFER_SHORT,
		"no answer from scp on the far side for " SSH_TRANSFER_SHORT,
		"sftp: no answer for " SSH_TRANSFER_SHORT
	};

	(void)state;
	far_side_script("exec sleep 1000");
	for (size_t m = 0; m < METHOD_COUNT; m++) {
		struct xb_transfer transfer = transfer_of(methods[m], XB_UPLOAD);
		struct ssh_transfer_result result;

		transfer.stall_ns = SSH_TRANSFER_SHORT_NS;
		result = run(&transfer);
		expect(&result, reasons[m]);
		assert_int_equal(result.phase, XB_PHASE_EXEC);
	}
	far_side_options("");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(server_without_sftp_is_told),
		cmocka_unit_test(account_for_sftp_alone_is_told_by_the_others),
		cmocka_unit_test(server_without_scp_is_told),
		cmocka_unit_test(account_without_a_shell_is_told),
		cmocka_unit_test(profile_that_prints_and_sleeps_harms_scp_and_sftp_alone),
		cmocka_unit_test(file_shorter_than_promised_is_an_error_with_its_count),
		cmocka_unit_test(file_that_is_missing_or_empty_is_told_before_the_clock_runs),
		cmocka_unit_test(download_that_breaks_off_is_an_error_with_its_count),
		cmocka_unit_test(download_that_stalls_is_ended_and_told),
		cmocka_unit_test(words_on_stderr_do_no_harm_to_a_download),
		cmocka_unit_test(last_reply_of_scp_decides),
		cmocka_unit_test(sftp_server_that_ends_in_the_middle_is_told),
		cmocka_unit_test(sftp_that_stalls_is_ended_and_told),
		cmocka_unit_test(far_side_that_never_answers_is_ended_and_told),
	};

	alarm(300);
	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
