#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"
#include "client/client.h"
#include "client/libssh.h"
#include "far_side.h"
#include "scratch.h"
#include "ssh_transfer.h"
#include "target/target.h"

#ifdef HAVE_LIBSSH

#define SIZE SSH_TRANSFER_SIZE

/* One private sshd for all tests; each says what its far side does. */
static struct ssh_transfer_server server;
static struct xb_suite usual;

static int
set_up_group(void **state)
{
	if (scratch_set_up(state) != 0)
		return -1;
	server = far_side_start();
	xb_suite_init(&usual, "aes128-ctr", "hmac-sha2-256", NULL);
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
run(enum xb_method method, enum xb_direction direction)
{
	struct xb_transfer transfer = ssh_transfer_of(&server, method, direction, &usual);

	return ssh_transfer_run(&xb_client_libssh, &transfer, NULL);
}

/* The same where something will be stuck. */
static struct ssh_transfer_result
run_short(enum xb_method method, enum xb_direction direction, uint64_t size)
{
	struct xb_transfer transfer = ssh_transfer_of(&server, method, direction, &usual);

	transfer.size = size;
	transfer.stall_ns = SSH_TRANSFER_SHORT_NS;
	return ssh_transfer_run(&xb_client_libssh, &transfer, NULL);
}

static void
expect(const struct ssh_transfer_result *result, const char *reason)
{
	ssh_transfer_expect_failure(result, XB_FAULT_TRIAL, reason);
}

/* A listener where the kernel alone accepts. */
static void
server_that_says_nothing_ends_in_time(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_UPLOAD, &usual);
	struct xb_target target = *server.target;
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ssh_transfer_result result;

	(void)state;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	memcpy(&target.peer.addr, &address, sizeof(address));
	target.peer.addr_len = len;
	target.connect_timeout_ns = SSH_TRANSFER_SHORT_NS;
	transfer.target = &target;
	result = ssh_transfer_run(&xb_client_libssh, &transfer, NULL);
	expect(&result, "key exchange: no answer in time");
	assert_int_equal(result.phase, XB_PHASE_KEX);
	close(fd);
}

static void
remote_command_that_is_not_ready_or_ends_is_told(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		far_side_script("echo 'this account is for mail' >&2; exit 1");
		result = run(XB_METHOD_EXEC, (enum xb_direction)direction);
		expect(&result, "ended before its ready line");
		expect(&result, "this account is for mail");
		far_side_script("exec sleep 1000");
		result = run_short(XB_METHOD_EXEC, (enum xb_direction)direction, SIZE);
		expect(&result, "no ready line from the far side for " SSH_TRANSFER_SHORT);
		assert_int_equal(result.phase, XB_PHASE_EXEC);
	}
}

static void
profile_that_prints_before_the_ready_line_does_no_harm(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	far_side_script("echo Welcome; echo aboard >&2; exec sh -c \"$SSH_ORIGINAL_COMMAND\"");
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		result = run(XB_METHOD_EXEC, (enum xb_direction)direction);
		ssh_transfer_expect(&result, SIZE);
	}
}

static void
sink_that_ends_early_or_badly_has_no_rate(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	far_side_cat("/bin/cat >/dev/null; exit 3");
	result = run(XB_METHOD_EXEC, XB_UPLOAD);
	expect(&result, "status 3");
	far_side_cat("head -c 100000 >/dev/null; echo 'disk on fire' >&2; exit 4");
	result = run(XB_METHOD_EXEC, XB_UPLOAD);
	expect(&result, "status 4");
	expect(&result, "disk on fire");
}

static void
sink_that_stops_reading_ends_in_time(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	far_side_cat("exec sleep 1000");
	/* More than any window and buffer. */
	result = run_short(XB_METHOD_EXEC, XB_UPLOAD, 30 * SIZE);
	expect(&result, "the server took no data for " SSH_TRANSFER_SHORT);
	assert_int_equal(result.phase, XB_PHASE_STREAM);
	/* All of it fits into the window: the end line is missing. */
	result = run_short(XB_METHOD_EXEC, XB_UPLOAD, 1000);
	expect(&result, "no end line from the far side for " SSH_TRANSFER_SHORT);
	assert_int_equal(result.phase, XB_PHASE_CONFIRM);
}

/* Kills the server's session process, the nearest above. */
#define KILL_SSHD \
	"p=$PPID; while [ \"$p\" -gt 1 ]; do\n" \
	"case $(ps -o comm= -p $p) in sshd*) kill -9 $p; exit;; esac\n" \
	"p=$(ps -o ppid= -p $p | tr -d ' '); done"

static void
connection_that_breaks_in_mid_stream_is_told(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	far_side_cat("head -c 100000 >/dev/null; " KILL_SSHD);
	result = run_short(XB_METHOD_EXEC, XB_UPLOAD, 30 * SIZE);
	expect(&result, "the connection broke after ");
	assert_int_equal(result.ends, 0);
	far_side_script(
	    "printf 'C0644 1000003 f\\n'; head -c 100000 /dev/zero; sleep 0.1; " KILL_SSHD);
	result = run_short(XB_METHOD_SCP, XB_DOWNLOAD, SIZE);
	expect(&result, "(libssh 0.");
	assert_int_equal(result.ends, 0);
}

/* Says the ready line of the command that was asked for. */
#define SAY_READY \
	"token=$(printf %s \"$SSH_ORIGINAL_COMMAND\" | sed 's/.*echo \"//; s/-ready.*//')\n" \
	"echo \"$token-ready 1\"; read -r go; "

static void
source_that_ends_early_is_a_failure_with_its_count(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	far_side_script(SAY_READY "head -c 100000 /dev/zero; echo 'disk on fire' >&2");
	result = run(XB_METHOD_EXEC, XB_DOWNLOAD);
	expect(&result, "the source ended early, after 100000 bytes");
	expect(&result, "disk on fire");
	far_side_script("printf 'C0644 1000003 f\\n'; head -c 100000 /dev/zero");
	result = run(XB_METHOD_SCP, XB_DOWNLOAD);
	expect(&result, "the source ended after 100000 bytes instead of 1000003");
}

static void
source_that_stops_ends_in_time(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	far_side_script(SAY_READY "head -c 100000 /dev/zero; exec sleep 1000");
	result = run_short(XB_METHOD_EXEC, XB_DOWNLOAD, SIZE);
	expect(&result, "the server sent no data for " SSH_TRANSFER_SHORT " after 100 kB");
	far_side_script("printf 'C0644 1000003 f\\n'; head -c 100000 /dev/zero; exec sleep 1000");
	result = run_short(XB_METHOD_SCP, XB_DOWNLOAD, SIZE);
	expect(&result, "the server sent no data for " SSH_TRANSFER_SHORT " after 100 kB");
}

static void
last_reply_of_scp_decides(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	far_side_script("printf '\\0'; read -r header; printf '\\0'; head -c 1000003 >/dev/null\n"
			"printf '\\1scp: /dev/null: No space left on device\\n'");
	result = run(XB_METHOD_SCP, XB_UPLOAD);
	expect(&result, "No space left on device");
	far_side_script("printf 'C0644 1000003 f\\n'; head -c 1000003 /dev/zero\n"
			"printf '\\1scp: f: Input/output error\\n'");
	result = run(XB_METHOD_SCP, XB_DOWNLOAD);
	expect(&result, "Input/output error");
	far_side_script("printf '\\0'; read -r header; printf '\\0'; head -c 1000003 >/dev/null");
	result = run(XB_METHOD_SCP, XB_UPLOAD);
	expect(&result, "scp on the far side ended early");
}

static void
missing_or_silent_scp_is_told(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	for (int direction = 0; direction < XB_DIRECTION_COUNT; direction++) {
		far_side_script("echo 'sh: scp: not found' >&2; exit 127");
		result = run(XB_METHOD_SCP, (enum xb_direction)direction);
		expect(&result, "sh: scp: not found");
		far_side_script("exec sleep 1000");
		result = run_short(XB_METHOD_SCP, (enum xb_direction)direction, SIZE);
		expect(&result, "start of scp: no answer");
	}
}

static void
missing_silent_or_false_sftp_server_is_told(void **state)
{
	struct ssh_transfer_result result;

	(void)state;
	far_side_script("exit 127");
	result = run(XB_METHOD_SFTP, XB_UPLOAD);
	expect(&result, "the server's sftp subsystem ended at once");
	far_side_script("echo Welcome aboard; exec sleep 1000");
	result = run(XB_METHOD_SFTP, XB_UPLOAD);
	expect(&result, "is not SFTP");
	far_side_script("exec sleep 1000");
	result = run_short(XB_METHOD_SFTP, XB_DOWNLOAD, SIZE);
	expect(&result, "sftp subsystem: no answer in time");
}

/* Where the sftp-server program is; NULL without one. */
static const char *
sftp_server(void)
{
	static const char *const paths[] = { "/usr/lib/openssh/sftp-server",
		"/usr/libexec/openssh/sftp-server", "/usr/libexec/sftp-server",
		"/usr/lib/ssh/sftp-server", NULL };

	for (size_t i = 0; paths[i] != NULL; i++)
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

static void
sftp_server_that_stops_within_ends_in_time(void **state)
{
	char script[200];
	struct ssh_transfer_result result;

	(void)state;
	if (sftp_server() == NULL) {
		printf("# SKIP sftp_server_that_stops_within: no sftp-server program\n");
		return;
	}
	snprintf(script, sizeof(script),
	    "{ dd bs=65536 count=9 2>/dev/null; exec sleep 1000; } | %s", sftp_server());
	far_side_script(script);
	result = run_short(XB_METHOD_SFTP, XB_UPLOAD, SIZE);
	expect(&result, "sftp write: no answer in time");
	/* Writes in flight may be all on their way. */
	assert_true(result.phase >= XB_PHASE_STREAM);
	snprintf(script, sizeof(script), "%s | dd bs=65536 count=9 2>/dev/null", sftp_server());
	far_side_script(script);
	result = run_short(XB_METHOD_SFTP, XB_DOWNLOAD, SIZE);
	expect(&result, "sftp read");
}

static void
file_that_is_not_there_or_empty_is_no_source(void **state)
{
	static const enum xb_method methods[] = { XB_METHOD_EXEC, XB_METHOD_SCP, XB_METHOD_SFTP };
	struct ssh_transfer_result result;
	struct xb_transfer transfer;

	(void)state;
	far_side_options("");
	scratch_make_file(scratch_path("empty"));
	assert_int_equal(truncate(scratch_path("empty"), 0), 0);
	for (size_t i = 0; i < 3; i++) {
		transfer = ssh_transfer_of(&server, methods[i], XB_DOWNLOAD, &usual);
		transfer.remote_file = "/no/such file's here";
		result = ssh_transfer_run(&xb_client_libssh, &transfer, NULL);
		expect(&result, "o such file");
		transfer.remote_file = scratch_path("empty");
		result = ssh_transfer_run(&xb_client_libssh, &transfer, NULL);
		expect(&result, "empty");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(server_that_says_nothing_ends_in_time),
		cmocka_unit_test(remote_command_that_is_not_ready_or_ends_is_told),
		cmocka_unit_test(profile_that_prints_before_the_ready_line_does_no_harm),
		cmocka_unit_test(sink_that_ends_early_or_badly_has_no_rate),
		cmocka_unit_test(sink_that_stops_reading_ends_in_time),
		cmocka_unit_test(connection_that_breaks_in_mid_stream_is_told),
		cmocka_unit_test(source_that_ends_early_is_a_failure_with_its_count),
		cmocka_unit_test(source_that_stops_ends_in_time),
		cmocka_unit_test(last_reply_of_scp_decides),
		cmocka_unit_test(missing_or_silent_scp_is_told),
		cmocka_unit_test(missing_silent_or_false_sftp_server_is_told),
		cmocka_unit_test(sftp_server_that_stops_within_ends_in_time),
		cmocka_unit_test(file_that_is_not_there_or_empty_is_no_source),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

#else

int
main(void)
{
	printf("1..0 # SKIP this build is without libssh\n");
	return 0;
}

#endif
