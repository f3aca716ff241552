#include <fcntl.h>
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
#include "base/rundir.h"
#include "base/signals.h"
#include "client/client.h"
#include "client/openssh.h"
#include "scratch.h"
#include "ssh_peer.h"
#include "ssh_transfer.h"
#include "target/private.h"
#include "target/target.h"

#define CIPHER "aes128-ctr"
#define MAC "hmac-sha2-256"
#define SIZE SSH_TRANSFER_SIZE

static const enum xb_method methods[] = { XB_METHOD_EXEC, XB_METHOD_SCP, XB_METHOD_SFTP };
static const enum xb_direction directions[] = { XB_UPLOAD, XB_DOWNLOAD };

/*
 * The server that most tests share, what they ask it for, and the programs as they are installed.
 */
static struct ssh_transfer_server plain;
static struct xb_suite usual;
static char *real_ssh;

/* A PATH where ssh is a script: it answers -V and -Q, and else does what body says. */
static char *
fake_ssh(const char *name, const char *body)
{
	char *script = xb_asprintf("case $1 in -V|-Q) exec %s \"$@\";; esac\n%s", real_ssh, body);
	char *dir = ssh_transfer_bin(&plain, name, "ssh", script);
	char *path = xb_asprintf("%s:%s", dir, getenv("PATH"));

	free(script);
	free(dir);
	return path;
}

static struct ssh_transfer_result
run_with(const struct xb_transfer *transfer, char *path)
{
	struct ssh_transfer_result result = ssh_transfer_run(&xb_client_openssh, transfer, path);

	free(path);
	return result;
}

/* The private server as if it were any host: the user's configuration counts. */
static struct xb_target
as_a_host(const struct ssh_transfer_server *server)
{
	struct xb_target host = *server->target;

	host.server = NULL;
	host.known_hosts_given = true;
	return host;
}

static void
missing_program_is_named_with_its_package(void **state)
{
	char *empty = ssh_transfer_bin(&plain, "empty", "nothing", "");
	struct xb_transfer transfer = ssh_transfer_of(&plain, XB_METHOD_EXEC, XB_UPLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, empty);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL,
	    "there is no ssh in PATH: install openssh-client");
	free(ssh_transfer_bin(&plain, "empty", "ssh", "exec false"));
	transfer.method = XB_METHOD_SFTP;
	result = ssh_transfer_run(&xb_client_openssh, &transfer, empty);
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL,
	    "there is no sftp in PATH: install openssh-client");
	free(empty);
}

/* How far a fake ssh comes, and what the step is called in which it stays. */
static const struct {
	const char *log, *phase;
} steps[] = {
	{ "", "start" },
	{ "debug1: Connecting to x", "connect" },
	{ "debug1: Connecting to x\\ndebug1: Connection established.", "key exchange" },
	{ "debug1: Connecting to x\\ndebug1: Connection established.\\n"
	  "debug1: SSH2_MSG_NEWKEYS received",
	    "login" },
	{ "Authenticated to x", "start of the remote command" },
};

static void
ssh_that_hangs_is_ended_and_the_step_named(void **state)
{
	struct xb_target impatient = *plain.target;
	struct xb_transfer transfer = ssh_transfer_of(&plain, XB_METHOD_EXEC, XB_UPLOAD, &usual);

	(void)state;
	impatient.connect_timeout_ns = SSH_TRANSFER_SHORT_NS;
	transfer.target = &impatient;
	transfer.stall_ns = SSH_TRANSFER_SHORT_NS;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		char *body = xb_asprintf("printf '%s\\n' >&2; sleep 1000 & wait", steps[i].log);
		char *reason = xb_asprintf("ssh made no progress during %s for", steps[i].phase);
		struct ssh_transfer_result result = run_with(&transfer, fake_ssh("hung", body));

		ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, reason);
		free(reason);
		free(body);
	}
}

static void
ssh_that_dies_by_a_signal_is_told_so(void **state)
{
	struct xb_transfer transfer = ssh_transfer_of(&plain, XB_METHOD_EXEC, XB_UPLOAD, &usual);

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		char *body = xb_asprintf("printf '%s\\n' >&2; kill -SEGV $$", steps[i].log);
		char *phase = xb_asprintf("during %s", steps[i].phase);
		struct ssh_transfer_result result = run_with(&transfer, fake_ssh("dead", body));

		ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, "ssh died: signal 11 (");
		ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL, phase);
		free(phase);
		free(body);
	}
}

static void
ssh_that_ends_without_a_word_is_told_so(void **state)
{
	struct xb_transfer transfer = ssh_transfer_of(&plain, XB_METHOD_EXEC, XB_UPLOAD, &usual);
	struct ssh_transfer_result result = run_with(&transfer, fake_ssh("mute", "exit 7"));

	(void)state;
	ssh_transfer_expect_failure(&result, XB_FAULT_TRIAL,
	    "ssh ended with exit status 7 during start, without a word");
}

static void
ten_megabytes_on_stderr_do_no_harm(void **state)
{
	static const char *const floods[] = { "head -c 10000000 /dev/zero | tr '\\0' x >&2",
		"yes 'debug1: nothing at all' | head -c 10000000 >&2" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *body = xb_asprintf("%s\nexec %s \"$@\"", floods[i], real_ssh);

		for (size_t m = 0; m < 3; m++) {
			const struct xb_transfer transfer =
			    ssh_transfer_of(&plain, methods[m], XB_UPLOAD, &usual);
			const struct ssh_transfer_result result =
			    run_with(&transfer, fake_ssh("flood", body));

			ssh_transfer_expect(&result, SIZE);
		}
		free(body);
	}
}

/* What a user may have in a configuration for other reasons. */
static const char nasty[] = "Ciphers aes256-ctr\n"
			    "MACs hmac-sha2-512\n"
			    "Compression yes\n"
			    "RemoteCommand echo nasty\n"
			    "RequestTTY force\n"
			    "ForkAfterAuthentication yes\n"
			    "StdinNull yes\n"
			    "SessionType none\n"
			    "LocalForward 127.0.0.1:%u 127.0.0.1:1\n"
			    "ExitOnForwardFailure yes\n"
			    "PermitLocalCommand yes\n"
			    "LocalCommand touch %s/local-command\n"
			    "LogLevel QUIET\n"
			    "LogVerbose *:*:*\n"
			    "RekeyLimit 1M\n"
			    "ForwardAgent yes\n"
			    "VisualHostKey yes\n"
			    "EscapeChar ~\n"
			    "IdentityAgent none\n";

/* A PATH where ssh reads this configuration for the user's. */
static char *
ssh_with_config(const char *config)
{
	char *body = xb_asprintf("exec %s -F %s \"$@\"", real_ssh, config);
	char *path = fake_ssh("config", body);

	free(body);
	return path;
}

static void
users_configuration_does_not_change_what_is_measured(void **state)
{
	struct xb_target host = as_a_host(&plain);
	char *config = xb_rundir_file(plain.dir, "nasty");
	char *made = xb_rundir_file(plain.dir, "local-command");
	FILE *file = fopen(config, "we");

	(void)state;
	assert_non_null(file);
	fprintf(file, nasty, host.port, xb_rundir_path(plain.dir));
	assert_int_equal(fclose(file), 0);
	for (size_t m = 0; m < 3; m++)
		for (size_t d = 0; d < 2; d++) {
			struct xb_transfer transfer =
			    ssh_transfer_of(&plain, methods[m], directions[d], &usual);
			struct ssh_transfer_result result;

			transfer.target = &host;
			result = run_with(&transfer, ssh_with_config(config));
			ssh_transfer_expect(&result, SIZE);
			assert_string_equal(result.outcome.negotiated.cipher, CIPHER);
			assert_string_equal(result.outcome.negotiated.mac, MAC);
			assert_string_equal(result.outcome.negotiated.compression, "none");
		}
	assert_false(scratch_exists(made));
	free(made);
	free(config);
}

static void
as_negotiated_is_what_the_users_configuration_says(void **state)
{
	struct xb_target host = as_a_host(&plain);
	char *config = xb_rundir_file(plain.dir, "nasty");
	struct xb_suite suite = { 0 };
	struct xb_transfer transfer = ssh_transfer_of(&plain, XB_METHOD_EXEC, XB_UPLOAD, &suite);
	struct ssh_transfer_result result;

	(void)state;
	transfer.target = &host;
	result = run_with(&transfer, ssh_with_config(config));
	ssh_transfer_expect(&result, SIZE);
	assert_string_equal(result.outcome.negotiated.cipher, "aes256-ctr");
	assert_string_equal(result.outcome.negotiated.mac, "hmac-sha2-512");
	assert_string_equal(result.outcome.negotiated.compression, "zlib@openssh.com");
	free(config);
}

/* Waits for a file that somebody else makes. */
static void
await_file(const char *path)
{
	const struct timespec pause = { .tv_nsec = 5 * XB_NS_PER_MS };
	const int64_t deadline = xb_clock_ns() + 20 * XB_NS_PER_SECOND;

	while (!scratch_exists(path)) {
		assert_true(xb_clock_ns() < deadline);
		nanosleep(&pause, NULL);
	}
}

/* A master, or with control ("check") a word to one. */
static pid_t
start_ssh(const char *config, const char *control)
{
	const char *const word[] = { real_ssh, "-F", config, "-O", control, "nas", NULL };
	const char *const master[] = { real_ssh, "-F", config, "-N", "-M", "nas", NULL };
	const struct xb_child_spec spec = {
		.argv = control != NULL ? word : master,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cpu = -1,
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };
	const pid_t pid = xb_child_spawn(&spec, &err);

	assert_true(pid > 0);
	return pid;
}

static void
live_master_under_another_cipher_is_left_alone(void **state)
{
	struct xb_target host = as_a_host(&plain);
	char *config = xb_rundir_file(plain.dir, "master");
	char *socket = xb_rundir_file(plain.dir, "control");
	FILE *file = fopen(config, "we");
	pid_t master, check;
	int status;

	(void)state;
	assert_non_null(file);
	fprintf(file,
	    "ControlMaster auto\nControlPath %s\n"
	    "Host nas\nHostName 127.0.0.1\nPort %u\nUser %s\nIdentityFile %s\n"
	    "IdentityAgent none\nUserKnownHostsFile %s\nCiphers aes256-ctr\n",
	    socket, host.port, host.user, host.identities.names[0], host.known_hosts.names[0]);
	assert_int_equal(fclose(file), 0);
	master = start_ssh(config, NULL);
	await_file(socket);
	for (size_t m = 0; m < 3; m++) {
		struct xb_transfer transfer =
		    ssh_transfer_of(&plain, methods[m], XB_UPLOAD, &usual);
		struct ssh_transfer_result result;

		transfer.target = &host;
		result = run_with(&transfer, ssh_with_config(config));
		ssh_transfer_expect(&result, SIZE);
		assert_string_equal(result.outcome.negotiated.cipher, CIPHER);
	}
	/* It lives still: it could have been used. */
	check = start_ssh(config, "check");
	assert_int_equal(waitpid(check, &status, 0), check);
	assert_int_equal(status, 0);
	kill(master, SIGTERM);
	assert_int_equal(waitpid(master, &status, 0), master);
	free(socket);
	free(config);
}

static void
make_empty(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void
what_a_login_cannot_get_past_is_the_targets_fault(void **state)
{
	struct xb_target host = as_a_host(&plain);
	struct xb_transfer transfer = ssh_transfer_of(&plain, XB_METHOD_EXEC, XB_UPLOAD, &usual);
	char *empty = xb_rundir_file(plain.dir, "no-hosts");
	char *config = xb_rundir_file(plain.dir, "no-config");
	char *known = host.known_hosts.names[0];
	struct ssh_transfer_result result;

	(void)state;
	make_empty(empty);
	make_empty(config);
	transfer.target = &host;
	host.known_hosts.names[0] = empty;
	result = run_with(&transfer, ssh_with_config(config));
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET, "ssh: No ");
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET, "host key is known for");
	host.policy = XB_HOSTKEY_ACCEPT_NEW;
	result = run_with(&transfer, ssh_with_config(config));
	ssh_transfer_expect(&result, SIZE);
	/* It was learnt. */
	host.policy = XB_HOSTKEY_STRICT;
	result = run_with(&transfer, ssh_with_config(config));
	ssh_transfer_expect(&result, SIZE);
	host.known_hosts.names[0] = known;

	host.identities_given = false;
	result = run_with(&transfer, ssh_with_config("none"));
	/* Unless this user's own keys are let in, which they are not. */
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET, "Permission denied");
	host.identities_given = true;

	/* A port that nobody listens on: of the server's own numbers, 1 is none. */
	host.port = 1;
	result = run_with(&transfer, ssh_with_config("none"));
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET,
	    "ssh: connect to host 127.0.0.1 port 1: Connection refused");
	free(config);
	free(empty);
}

static void
unchecked_host_key_needs_no_file(void **state)
{
	struct xb_target host = as_a_host(&plain);
	struct xb_transfer transfer = ssh_transfer_of(&plain, XB_METHOD_EXEC, XB_UPLOAD, &usual);
	struct ssh_transfer_result result;

	(void)state;
	transfer.target = &host;
	host.policy = XB_HOSTKEY_OFF;
	result = run_with(&transfer, ssh_with_config("none"));
	ssh_transfer_expect(&result, SIZE);
}

static int
set_up_group(void **state)
{
	xb_signals_init();
	/* So that what loses its parent is seen. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	scratch_set_up(state);
	real_ssh = xb_child_find_program("ssh");
	assert_non_null(real_ssh);
	plain = ssh_transfer_start(NULL);
	xb_suite_init(&usual, CIPHER, MAC, NULL);
	return 0;
}

static int
tear_down_group(void **state)
{
	xb_suite_free(&usual);
	ssh_transfer_stop(&plain);
	free(real_ssh);
	return scratch_tear_down(state);
}

int
main(void)
{
	const char *absent = ssh_peer_absent(&xb_private_openssh);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_program_is_named_with_its_package),
		cmocka_unit_test(ssh_that_hangs_is_ended_and_the_step_named),
		cmocka_unit_test(ssh_that_dies_by_a_signal_is_told_so),
		cmocka_unit_test(ssh_that_ends_without_a_word_is_told_so),
		cmocka_unit_test(ten_megabytes_on_stderr_do_no_harm),
		cmocka_unit_test(users_configuration_does_not_change_what_is_measured),
		cmocka_unit_test(as_negotiated_is_what_the_users_configuration_says),
		cmocka_unit_test(live_master_under_another_cipher_is_left_alone),
		cmocka_unit_test(what_a_login_cannot_get_past_is_the_targets_fault),
		cmocka_unit_test(unchecked_host_key_needs_no_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (absent != NULL) {
		printf("1..0 # SKIP %s\n", absent);
		return 0;
	}
	return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
