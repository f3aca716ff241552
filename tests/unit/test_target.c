#include "target/target.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

#define LONG_NS (30 * XB_NS_PER_SECOND)

/* A whole offer: every list is "a", the languages are empty. */
#define LIST "\0\0\0\1a"
#define FOUR_LISTS LIST LIST LIST LIST
static const char offer_bytes[] = "SSH-2.0-test\r\n"
				  "\0\0\0\x4c\x05\x14"
				  "0123456789abcdef" FOUR_LISTS FOUR_LISTS "\0\0\0\0\0\0\0\0"
				  "\0\0\0\0\0"
				  "\0\0\0\0\0";

/* A server that makes its offer to one client. */
struct server {
	unsigned port;
	pid_t pid;
};

static int
serve(int listener)
{
	char heard[64];
	int fd = accept(listener, NULL, NULL);

	if (fd < 0 || send(fd, offer_bytes, sizeof(offer_bytes) - 1, MSG_NOSIGNAL) < 0)
		return 1;
	while (recv(fd, heard, sizeof(heard), 0) > 0)
		continue;
	return 0;
}

static struct server
start(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	struct server server;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(listener >= 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
	server.port = ntohs(addr.sin_port);
	server.pid = fork();
	assert_true(server.pid >= 0);
	if (server.pid == 0) {
		alarm(60);
		_exit(serve(listener));
	}
	close(listener);
	return server;
}

static void
finish(const struct server *server)
{
	int status = -1;

	assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
	assert_int_equal(status, 0);
}

static struct xb_target *
open_target(const struct xb_target_options *options)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_target *target = xb_target_new(options, NULL, &err);

	if (target == NULL)
		fail_msg("%s", err.text);
	return target;
}

static void
assert_usage_error(const struct xb_target_options *options, const char *why)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	assert_null(xb_target_new(options, NULL, &err));
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	if (strstr(err.text, why) == NULL)
		fail_msg("'%s' is not in '%s'", why, err.text);
}

static void
host_without_options_is_what_ssh_would_make_of_it(void **state)
{
	struct server server = start();
	char *host = xb_asprintf("127.0.0.1:%u", server.port);
	const struct xb_target_options options = { .host = host, .connect_timeout_ns = LONG_NS };
	const struct passwd *pw = getpwuid(geteuid());
	struct xb_target *target;
	char *user_file;

	(void)state;
	assert_non_null(pw);
	user_file = xb_asprintf("%s/.ssh/known_hosts", pw->pw_dir);
	setenv("SSH_AUTH_SOCK", "/nowhere/agent", 1);
	setenv("HOME", "/nowhere", 1);
	target = open_target(&options);
	assert_string_equal(target->name, host);
	assert_string_equal(target->host, "127.0.0.1");
	assert_int_equal(target->port, server.port);
	assert_string_equal(target->user, pw->pw_name);
	assert_true(target->use_agent);
	assert_true(target->peer.is_local);
	assert_string_equal(target->offer.banner, "SSH-2.0-test");
	assert_false(target->identities_given);
	assert_int_equal(target->policy, XB_HOSTKEY_STRICT);
	assert_int_equal(target->known_hosts.count, 4);
	assert_string_equal(target->known_hosts.names[0], user_file);
	assert_string_equal(target->known_hosts.names[2], "/etc/ssh/ssh_known_hosts");
	assert_null(target->server);
	xb_target_free(target);
	free(user_file);
	free(host);
	finish(&server);
}

static void
options_win_over_what_the_host_says(void **state)
{
	struct server server = start();
	struct xb_namelist identities = { .count = 0 };
	const struct xb_target_options options = {
		.host = "joe@127.0.0.1:1",
		.port = server.port,
		.user = "ann",
		.identities = &identities,
		.policy = XB_HOSTKEY_ACCEPT_NEW,
		.known_hosts = "/nowhere/known_hosts",
		.connect_timeout_ns = LONG_NS,
	};
	struct xb_target *target;

	(void)state;
	/* Any readable file will do: what is in it is for the login to judge. */
	xb_namelist_add_once(&identities, "/proc/self/exe");
	xb_namelist_add_once(&identities, "/proc/self/exe");
	unsetenv("SSH_AUTH_SOCK");
	target = open_target(&options);
	assert_int_equal(target->port, server.port);
	assert_string_equal(target->user, "ann");
	assert_false(target->use_agent);
	assert_true(target->identities_given);
	assert_int_equal(target->identities.count, 1);
	assert_string_equal(target->identities.names[0], "/proc/self/exe");
	assert_int_equal(target->policy, XB_HOSTKEY_ACCEPT_NEW);
	assert_int_equal(target->known_hosts.count, 1);
	assert_string_equal(target->known_hosts.names[0], "/nowhere/known_hosts");
	xb_target_free(target);
	xb_namelist_free(&identities);
	finish(&server);
}

static void
user_of_the_host_is_taken_without_an_option(void **state)
{
	struct server server = start();
	char *host = xb_asprintf("ssh://joe@127.0.0.1:%u/", server.port);
	const struct xb_target_options options = { .host = host, .connect_timeout_ns = LONG_NS };
	struct xb_target *target;

	(void)state;
	target = open_target(&options);
	assert_string_equal(target->user, "joe");
	xb_target_free(target);
	free(host);
	finish(&server);
}

static void
key_file_that_cannot_be_read_is_a_usage_error(void **state)
{
	struct xb_namelist identities = { .count = 0 };
	const struct xb_target_options options = { .host = "127.0.0.1", .identities = &identities };

	(void)state;
	xb_namelist_add_once(&identities, "/nowhere/id_rsa");
	assert_usage_error(&options, "--identity /nowhere/id_rsa: No such file or directory");
	xb_namelist_free(&identities);
	xb_namelist_add_once(&identities, "/");
	assert_usage_error(&options, "--identity /: this is no regular file");
	xb_namelist_free(&identities);
}

static void
host_and_user_that_make_no_sense_are_usage_errors(void **state)
{
	struct xb_target_options options = { .host = "nas:0" };

	(void)state;
	assert_usage_error(&options, "from 1 to 65535");
	options.host = "nas";
	options.user = "-oProxyCommand=id";
	assert_usage_error(&options, "--user");
	options.user = "";
	assert_usage_error(&options, "--user");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_without_options_is_what_ssh_would_make_of_it),
		cmocka_unit_test(options_win_over_what_the_host_says),
		cmocka_unit_test(user_of_the_host_is_taken_without_an_option),
		cmocka_unit_test(key_file_that_cannot_be_read_is_a_usage_error),
		cmocka_unit_test(host_and_user_that_make_no_sense_are_usage_errors),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
