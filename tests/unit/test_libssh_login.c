#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/err.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "client/client.h"
#include "client/libssh.h"
#include "far_side.h"
#include "model/namelist.h"
#include "model/sample.h"
#include "scratch.h"
#include "ssh_transfer.h"
#include "target/target.h"

#ifdef HAVE_LIBSSH

/* One private sshd for all tests. */
static struct ssh_transfer_server server;

static int
set_up_group(void **state)
{
	if (scratch_set_up(state) != 0)
		return -1;
	server = far_side_start();
	return 0;
}

static int
tear_down_group(void **state)
{
	far_side_stop(&server);
	return scratch_tear_down(state);
}

static int
set_up(void **state)
{
	(void)state;
	far_side_options("");
	return 0;
}

static struct ssh_transfer_result
run(const struct xb_transfer *transfer)
{
	return ssh_transfer_run(&xb_client_libssh, transfer, NULL);
}

/* Nothing is streamed: no ready line, no end line. */
static void
expect_login(const struct ssh_transfer_result *result)
{
	if (!result->ok)
		fail_msg("%s", result->err.text);
	assert_int_equal(result->logins, 1);
	assert_int_equal(result->readies, 0);
	assert_int_equal(result->ends, 0);
	assert_true(result->outcome.connect_seconds > 0);
	assert_true(result->outcome.kex_seconds > 0);
	assert_true(result->outcome.auth_seconds > 0);
}

static void
login_alone_gives_its_seconds_and_what_was_asked_for(void **state)
{
	static const char *const kex[] = { "ecdh-sha2-nistp256",
		"diffie-hellman-group-exchange-sha256" };
	char name[XB_NAME_MAX], hostkey[XB_NAME_MAX];
	struct xb_suite suite = { .kex = name, .hostkey = hostkey };
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_LOGIN, XB_UPLOAD, &suite);
	struct ssh_transfer_result result;

	(void)state;
	snprintf(hostkey, sizeof(hostkey), "%s", server.target->offer.hostkeys.names[0]);
	for (size_t i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s", kex[i]);
		result = run(&transfer);
		expect_login(&result);
		assert_string_equal(result.outcome.negotiated.kex, kex[i]);
		assert_string_equal(result.outcome.negotiated.hostkey, hostkey);
	}
}

/* Runs a program to its good end; what it prints goes to out. */
static void
run_program(const char *const *argv, char *out, size_t size)
{
	int status;

	assert_true(xb_child_capture(argv, INT64_MAX, out, size, &status, NULL));
	assert_int_equal(status, 0);
}

/* A key of a new name, in the run's directory. */
static char *
make_key(const char *name, const char *passphrase)
{
	char *path = xb_rundir_file(server.dir, name);
	const char *const argv[] = { "ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C",
		"", "-f", path, NULL };
	char out[256];

	run_program(argv, out, sizeof(out));
	return path;
}

/* A login with these key files alone. */
static struct ssh_transfer_result
log_in(char **files, size_t count, const char *hint)
{
	struct xb_target target = *server.target;
	struct xb_suite suite = { 0 };
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_LOGIN, XB_UPLOAD, &suite);

	target.identities = (struct xb_namelist){ .count = count, .names = files };
	target.use_agent = false;
	transfer.target = &target;
	transfer.login_hint = hint;
	return run(&transfer);
}

static void
refused_login_names_what_was_tried_and_what_cannot_be(void **state)
{
	char *files[] = { make_key("wrong", ""), make_key("locked", "secret") };
	struct ssh_transfer_result result = log_in(files, 2, NULL);

	(void)state;
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET,
	    "refused (the server takes publickey)");
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET, files[0]);
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET, "put it into an agent with ssh-add");
	free(files[0]);
	free(files[1]);
}

static void
hint_saves_tries_and_a_stale_one_does_no_harm(void **state)
{
	char *files[] = { make_key("first", ""), server.target->identities.names[0] };
	struct ssh_transfer_result result;

	(void)state;
	/* One wrong key is one too many. */
	far_side_options("-o MaxAuthTries=1");
	result = log_in(files, 2, files[1]);
	expect_login(&result);
	assert_string_equal(result.outcome.login, files[1]);
	far_side_options("");
	result = log_in(files, 2, "/some/other/key");
	expect_login(&result);
	assert_string_equal(result.outcome.login, files[1]);
	free(files[0]);
}

static void
end_of_the_login_by_the_server_is_told(void **state)
{
	char *files[] = { make_key("one", ""), make_key("two", ""), make_key("three", "") };
	struct ssh_transfer_result result;

	(void)state;
	far_side_options("-o MaxAuthTries=2");
	result = log_in(files, 3, NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET, "the server ended the login");
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET, "Too many authentication failures");
	for (size_t i = 0; i < 3; i++)
		free(files[i]);
}

/* A login with nothing but an agent. */
static struct ssh_transfer_result
log_in_by_agent(const char *hint)
{
	struct xb_target target = *server.target;
	struct xb_suite suite = { 0 };
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_LOGIN, XB_UPLOAD, &suite);

	target.identities = (struct xb_namelist){ .count = 0 };
	target.use_agent = true;
	transfer.target = &target;
	transfer.login_hint = hint;
	return run(&transfer);
}

/* Starts an agent and waits for its first word: then it listens. */
static pid_t
start_agent(const char *sock)
{
	const char *const argv[] = { "ssh-agent", "-D", "-a", sock, NULL };
	struct xb_child_spec spec = { .argv = argv, .stdin_fd = -1, .stderr_fd = -1, .cpu = -1 };
	char first;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	spec.stdout_fd = fds[1];
	pid = xb_child_spawn(&spec, NULL);
	assert_true(pid > 0);
	close(fds[1]);
	assert_int_equal(xb_read_all(fds[0], &first, 1), 1);
	close(fds[0]);
	assert_int_equal(setenv("SSH_AUTH_SOCK", sock, 1), 0);
	return pid;
}

static void
stop_agent(pid_t pid)
{
	int status;

	unsetenv("SSH_AUTH_SOCK");
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void
agent_lets_in_and_is_named_when_it_does_not(void **state)
{
	char *wrong = make_key("agents", "");
	const char *const add_wrong[] = { "ssh-add", "-q", wrong, NULL };
	const char *const add_right[] = { "ssh-add", "-q", server.target->identities.names[0],
		NULL };
	const pid_t agent = start_agent(scratch_path("agent"));
	struct ssh_transfer_result result;
	char out[256];

	(void)state;
	result = log_in_by_agent(NULL);
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET, "tried: ssh-agent");
	run_program(add_wrong, out, sizeof(out));
	run_program(add_right, out, sizeof(out));
	result = log_in_by_agent(NULL);
	expect_login(&result);
	assert_string_equal(result.outcome.login, "ssh-agent");
	result = log_in_by_agent("ssh-agent");
	expect_login(&result);
	stop_agent(agent);
	free(wrong);
}

static void
unknown_host_key_is_refused(void **state)
{
	char *nowhere = scratch_path("no-known-hosts");
	struct xb_target target = *server.target;
	struct xb_suite suite = { 0 };
	struct xb_transfer transfer = ssh_transfer_of(&server, XB_METHOD_LOGIN, XB_UPLOAD, &suite);
	struct ssh_transfer_result result;

	(void)state;
	target.known_hosts = (struct xb_namelist){ .count = 1, .names = &nowhere };
	transfer.target = &target;
	result = run(&transfer);
	ssh_transfer_expect_failure(&result, XB_FAULT_TARGET, "is unknown");
	assert_int_equal(result.logins, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		TEST(login_alone_gives_its_seconds_and_what_was_asked_for),
		TEST(refused_login_names_what_was_tried_and_what_cannot_be),
		TEST(hint_saves_tries_and_a_stale_one_does_no_harm),
		TEST(end_of_the_login_by_the_server_is_told),
		TEST(agent_lets_in_and_is_named_when_it_does_not),
		TEST(unknown_host_key_is_refused),
	};
#undef TEST

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
