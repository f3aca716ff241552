#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/signals.h"
#include "client/client.h"
#include "client/openssh.h"
#include "scratch.h"
#include "ssh_peer.h"
#include "ssh_transfer.h"
#include "target/private.h"

#define CIPHER "aes128-ctr"
#define MAC "hmac-sha2-256"
#define SIZE SSH_TRANSFER_SIZE

static const enum xb_method methods[] = { XB_METHOD_EXEC, XB_METHOD_SCP, XB_METHOD_SFTP };
static const enum xb_direction directions[] = { XB_UPLOAD, XB_DOWNLOAD };

/*
 * A server without faults, whose directory has the others' programs, and what they are asked for.
 */
static struct ssh_transfer_server plain;
static struct xb_suite usual;

/* One transfer by each method and direction against an sshd of its own. */
static void
expect_failures(const char *options, enum xb_method method, const char *reason)
{
	struct ssh_transfer_server server = ssh_transfer_start(options);

	for (size_t d = 0; d < 2; d++) {
		const struct xb_transfer transfer =
		    ssh_transfer_of(&server, method, directions[d], &usual);
		const struct ssh_transfer_result result =
		    ssh_transfer_run(&xb_client_openssh, &transfer, NULL);

		ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, reason);
	}
	ssh_transfer_stop(&server);
}

static void
missing_sftp_server_is_told_by_the_far_side(void **state)
{
	(void)state;
	expect_failures("-o 'Subsystem=sftp /nonexistent/sftp-server'", XB_METHOD_SFTP,
	    "on the far side there is no such program");
}

/* The private sshd gives its sessions a home without a profile; this replaces it with none. */
#define NO_PATH "-o 'SetEnv=HOME=/nonexistent PATH=/nonexistent'"

static void
missing_scp_is_told_by_the_far_side(void **state)
{
	(void)state;
	expect_failures(NO_PATH, XB_METHOD_SCP, "scp: ");
	expect_failures(NO_PATH, XB_METHOD_SCP, "not found");
}

static void
account_for_sftp_alone_says_so(void **state)
{
	(void)state;
	expect_failures("-o ForceCommand=internal-sftp", XB_METHOD_EXEC,
	    "the remote command ended before its ready line");
}

/* An sshd whose remote commands find this program before the usual one. */
static struct ssh_transfer_server
server_with(const char *program, const char *body)
{
	/* One for each: what stands in for one program must not be found by another's test. */
	char *name = xb_asprintf("far-%s", program);
	char *dir = ssh_transfer_bin(&plain, name, program, body);
	char *options = xb_asprintf("-o 'SetEnv=HOME=/nonexistent PATH=%s:/usr/bin:/bin'", dir);
	struct ssh_transfer_server server = ssh_transfer_start(options);

	free(options);
	free(dir);
	free(name);
	return server;
}

static void
far_side_that_takes_nothing_is_found(void **state)
{
	struct ssh_transfer_server server = server_with("cat", "exec sleep 1000");
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_UPLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	transfer.stall_ns = SSH_TRANSFER_SHORT_NS;
	transfer.size = 0;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "the server took no data for");
	assert_int_equal(result.ends, 0);
	transfer.size = 1000;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "no end line from the far side for");
	assert_int_equal(result.ends, 0);
	ssh_transfer_stop(&server);
}

static void
sink_that_ends_early_is_no_success(void **state)
{
	struct ssh_transfer_server server = server_with("cat", "head -c 1000 >/dev/null");
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_UPLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	transfer.size = 100 * SIZE;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "the sink ended early, after ");
	ssh_transfer_stop(&server);
}

static void
sink_that_fails_gives_its_last_words(void **state)
{
	struct ssh_transfer_server server =
	    server_with("cat", "/bin/cat >/dev/null; echo no space left >&2; exit 3");
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_UPLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL,
	    "the sink ended with status 3: no space left");
	ssh_transfer_stop(&server);
}

/* cat's parent is sh, and that one's is sshd. */
static void
connection_that_breaks_is_told_with_how_far_it_came(void **state)
{
	struct ssh_transfer_server server = server_with("cat",
	    "head -c 100000 >/dev/null; read -r s </proc/$PPID/stat; set -- ${s##*)}; "
	    "kill -9 $2; exec sleep 1000");
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_UPLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	transfer.size = 100 * SIZE;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "the connection broke after ");
	assert_int_equal(result.ends, 0);
	ssh_transfer_stop(&server);
}

static void
source_that_ends_early_is_told_with_its_count(void **state)
{
	struct ssh_transfer_server server =
	    server_with("dd", "head -c 1000 /dev/zero; echo dd is out of zeros >&2; exit 1");
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_EXEC, XB_DOWNLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL,
	    "the source ended early, after 1000 bytes; it said: dd is out of zeros");
	assert_int_equal(result.outcome.bytes, 1000);
	assert_int_equal(result.ends, 0);
	for (size_t m = 1; m < 3; m++) {
		char *reason = xb_asprintf("the source ended after %" PRIu64 " bytes instead of "
					   "%" PRIu64,
		    SIZE, SIZE + 1);

		transfer = ssh_transfer_of(&server, methods[m], XB_DOWNLOAD, &usual);
		transfer.remote_bytes = SIZE + 1;
		result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
		ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, reason);
		assert_int_equal(result.outcome.bytes, SIZE);
		free(reason);
	}
	ssh_transfer_stop(&server);
}

static void
source_that_is_missing_is_told_by_name(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct xb_transfer transfer =
		    ssh_transfer_of(&plain, methods[m], XB_DOWNLOAD, &usual);
		struct ssh_transfer_result result;

		transfer.remote_file = "/nonexistent/file";
		result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
		ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "/nonexistent/file");
		assert_int_equal(result.ends, 0);
	}
}

/* The far side is still, and says so in time by keeping quiet. */
static void
copy_that_stands_still_is_ended(void **state)
{
	struct ssh_transfer_server server = server_with("scp", "printf '\\0'; exec sleep 1000");
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_SCP, XB_UPLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	transfer.stall_ns = SSH_TRANSFER_SHORT_NS;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "scp moved no data for");
	transfer.direction = XB_DOWNLOAD;
	transfer.remote_file = server.file;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "the far side's scp");
	ssh_transfer_stop(&server);
}

/* A scp on the far side that tells nothing of itself, as others than OpenSSH's may. */
static void
quiet_scp_is_measured_too(void **state)
{
	char *scp = xb_child_find_program("scp");
	char *body = xb_asprintf("[ \"$1\" != -v ] || shift; exec %s \"$@\"", scp);
	struct ssh_transfer_server server = server_with("scp", body);

	(void)state;
	free(body);
	free(scp);
	for (size_t d = 0; d < 2; d++) {
		const struct xb_transfer transfer =
		    ssh_transfer_of(&server, XB_METHOD_SCP, directions[d], &usual);
		const struct ssh_transfer_result result =
		    ssh_transfer_run(&xb_client_openssh, &transfer, NULL);

		ssh_transfer_expect(&result, SIZE);
	}
	ssh_transfer_stop(&server);
}

static void
ignored(void *ctx)
{
	(void)ctx;
}

static bool
killed_when_ready(void *ctx)
{
	(void)ctx;
	kill(getpid(), SIGKILL);
	return true;
}

static size_t
count_programs(void)
{
	pid_t pids[256];
	const size_t count = xb_proc_descendants(getpid(), pids, sizeof(pids) / sizeof(pids[0]));
	size_t found = 0;
	char name[64];

	for (size_t i = 0; i < count; i++)
		if (xb_proc_name(pids[i], name, sizeof(name)) &&
		    (strcmp(name, "ssh") == 0 || strcmp(name, "scp") == 0 ||
			strcmp(name, "sftp") == 0))
			found++;
	return found;
}

/* Not even an ssh below a scp, which waits for a far side that never ends. */
static void
nothing_outlives_the_clients_process(void **state)
{
	const struct timespec pause = { .tv_nsec = 10 * XB_NS_PER_MS };
	struct ssh_transfer_server server = server_with("scp", "printf '\\0'; exec sleep 1000");

	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct xb_transfer transfer =
		    ssh_transfer_of(&server, methods[m], XB_UPLOAD, &usual);
		int64_t deadline = xb_clock_ns() + 20 * XB_NS_PER_SECOND;
		struct xb_outcome outcome = { 0 };
		struct xb_live live = { 0 };
		struct xb_err err = { .fault = XB_FAULT_NONE };
		int status;
		pid_t pid;

		transfer.live = &live;
		transfer.on_login = ignored;
		transfer.on_ready = killed_when_ready;
		pid = xb_child_fork(&err);
		if (pid == 0) {
			xb_client_openssh.transfer(&transfer, &outcome, &err);
			printf("# it was not killed: %s\n", err.text);
			fflush(stdout);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		while (count_programs() > 0) {
			assert_true(xb_clock_ns() < deadline);
			nanosleep(&pause, NULL);
		}
	}
	ssh_transfer_stop(&server);
}

static int
set_up_group(void **state)
{
	xb_signals_init();
	/* So that what loses its parent is seen. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	scratch_set_up(state);
	plain = ssh_transfer_start(NULL);
	xb_suite_init(&usual, CIPHER, MAC, NULL);
	return 0;
}

static int
tear_down_group(void **state)
{
	xb_suite_free(&usual);
	ssh_transfer_stop(&plain);
	return scratch_tear_down(state);
}

int
main(void)
{
	const char *absent = ssh_peer_absent(&xb_private_openssh);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_sftp_server_is_told_by_the_far_side),
		cmocka_unit_test(missing_scp_is_told_by_the_far_side),
		cmocka_unit_test(account_for_sftp_alone_says_so),
		cmocka_unit_test(far_side_that_takes_nothing_is_found),
		cmocka_unit_test(sink_that_ends_early_is_no_success),
		cmocka_unit_test(sink_that_fails_gives_its_last_words),
		cmocka_unit_test(connection_that_breaks_is_told_with_how_far_it_came),
		cmocka_unit_test(source_that_ends_early_is_told_with_its_count),
		cmocka_unit_test(source_that_is_missing_is_told_by_name),
		cmocka_unit_test(copy_that_stands_still_is_ended),
		cmocka_unit_test(quiet_scp_is_measured_too),
		cmocka_unit_test(nothing_outlives_the_clients_process),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (absent != NULL) {
		printf("1..0 # SKIP %s\n", absent);
		return 0;
	}
	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
