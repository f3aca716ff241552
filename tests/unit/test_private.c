#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "fake_server.h"
#include "scratch.h"
#include "target/private.h"

static void
login_tells_what_a_client_needs(void **state)
{
	struct fake_server fake = fake_server_start(FAKE_POLITE);
	char line[128], expected[128];
	FILE *file;

	(void)state;
	assert_string_equal(fake.login->version, "Fake_1.0 of ours");
	assert_string_equal(fake.login->user, getpwuid(geteuid())->pw_name);
	assert_int_equal(fake.login->program[0], '/');
	assert_in_range(fake.login->port, 1, 65535);
	file = fopen(fake.login->known_hosts, "re");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	snprintf(expected, sizeof(expected), "[127.0.0.1]:%u ssh-fake AAAAfake\n",
	    fake.login->port);
	assert_string_equal(line, expected);
	fake_server_stop(&fake);
	assert_int_equal(scratch_count(), 0);
}

static void
server_that_does_not_speak_is_refused_with_its_own_words(void **state)
{
	const struct xb_err err =
	    fake_server_refusal("echo 'my key has melted' >&2; exit 3", &fake_kind, NULL);

	(void)state;
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "my key has melted"));
}

static void
refusal_to_prepare_comes_through(void **state)
{
	const struct xb_err err = fake_server_refusal(NULL, &fake_kind, NULL);

	(void)state;
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_string_equal(err.text, "it is not prepared for us");
}

static void
missing_server_is_told(void **state)
{
	const struct xb_private_kind nowhere = {
		.program = "xferbench-no-such-server",
		.missing = "nobody has installed a fake",
	};
	struct xb_err err = fake_server_refusal(FAKE_POLITE, &nowhere, NULL);

	(void)state;
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_string_equal(err.text, "nobody has installed a fake");
	err = fake_server_refusal(FAKE_POLITE, &fake_kind, "/nowhere/at/all");
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "/nowhere/at/all"));
}

static void
start_itself_is_not_in_the_first_drain(void **state)
{
	struct fake_server fake = fake_server_start(FAKE_BURN "echo it begins >&2; " FAKE_POLITE);
	const struct xb_private_usage usage = fake_server_drain(&fake, HANG_NS);

	(void)state;
	assert_int_equal(usage.cpu_ns, 0);
	assert_int_equal(usage.started, 0);
	assert_false(usage.killed);
	assert_string_equal(usage.log, "");
	fake_server_stop(&fake);
}

static void
cpu_time_is_seen_while_it_is_used_and_after(void **state)
{
	struct fake_server fake = fake_server_start(
	    FAKE_BANNER "read x || exit; " FAKE_BURN "echo done; cat > /dev/null");
	const int fd = fake_server_connect(&fake);
	const int64_t before = fake_server_cpu(&fake);
	struct xb_private_usage usage;
	char line[16];
	int64_t after;

	(void)state;
	fake_server_say(fd, "go");
	fake_server_read_line(fd, line, sizeof(line));
	assert_string_equal(line, "done");
	after = fake_server_cpu(&fake);
	assert_true(after > 2 * before);
	close(fd);
	usage = fake_server_drain(&fake, HANG_NS);
	assert_true(usage.cpu_ns >= after);
	assert_true(usage.cpu_ns < 2 * after);
	assert_int_equal(usage.started, 1);
	assert_false(usage.killed);
	fake_server_stop(&fake);
}

static void
cpu_time_of_waited_for_grandchildren_is_not_lost(void **state)
{
	struct fake_server fake = fake_server_start(FAKE_BANNER
	    "read x || exit; sh -c '" FAKE_BURN FAKE_BURN "'; echo done; cat > /dev/null");
	const int fd = fake_server_connect(&fake);
	struct xb_private_usage usage;
	char line[16];
	int64_t living;

	(void)state;
	fake_server_say(fd, "go");
	fake_server_read_line(fd, line, sizeof(line));
	assert_string_equal(line, "done");
	living = fake_server_cpu(&fake);
	close(fd);
	usage = fake_server_drain(&fake, HANG_NS);
	/* The living answer has it in ticks. */
	assert_true(usage.cpu_ns < 2 * living);
	assert_true(living < 2 * usage.cpu_ns);
	fake_server_stop(&fake);
}

static void
orphans_of_a_server_are_waited_for_and_counted(void **state)
{
	/* The first shell is gone at once; its child burns on. */
	struct fake_server fake =
	    fake_server_start(FAKE_BANNER "read x || exit; (" FAKE_BURN ") > /dev/null & exit 0");
	const int fd = fake_server_connect(&fake);
	const int64_t before = fake_server_cpu(&fake);
	struct xb_private_usage usage;

	(void)state;
	fake_server_say(fd, "go");
	close(fd);
	usage = fake_server_drain(&fake, HANG_NS);
	assert_false(usage.killed);
	assert_true(usage.cpu_ns > 2 * before);
	assert_int_equal(count_descendants(), 1);
	fake_server_stop(&fake);
}

static void
each_drain_counts_anew(void **state)
{
	struct fake_server fake = fake_server_start(FAKE_POLITE);

	(void)state;
	close(fake_server_connect(&fake));
	close(fake_server_connect(&fake));
	assert_int_equal(fake_server_drain(&fake, HANG_NS).started, 2);
	close(fake_server_connect(&fake));
	assert_int_equal(fake_server_drain(&fake, HANG_NS).started, 1);
	assert_int_equal(fake_server_drain(&fake, HANG_NS).started, 0);
	assert_int_equal(fake_server_drain(&fake, HANG_NS).cpu_ns, 0);
	fake_server_stop(&fake);
}

static void
drain_kills_what_does_not_end(void **state)
{
	struct fake_server fake = fake_server_start(FAKE_STUBBORN);
	const int fd = fake_server_connect(&fake);
	struct xb_private_usage usage;

	(void)state;
	fake_server_say(fd, "go");
	wait_for_descendants(FAKE_STUBBORN_COUNT);
	usage = fake_server_drain(&fake, 10 * XB_NS_PER_MS);
	assert_true(usage.killed);
	assert_int_equal(usage.started, 1);
	assert_int_equal(count_descendants(), 1);
	close(fd);
	assert_false(fake_server_drain(&fake, HANG_NS).killed);
	fake_server_stop(&fake);
}

static void
log_has_what_is_new_and_no_noise(void **state)
{
	struct fake_server fake =
	    fake_server_start(FAKE_BANNER "read x || exit; echo hello $x >&2; "
					  "echo no login for $x >&2; cat > /dev/null");
	int fd = fake_server_connect(&fake);

	(void)state;
	fake_server_say(fd, "eve");
	close(fd);
	assert_string_equal(fake_server_drain(&fake, HANG_NS).log, "no login for eve");
	fd = fake_server_connect(&fake);
	fake_server_say(fd, "bob");
	close(fd);
	assert_string_equal(fake_server_drain(&fake, HANG_NS).log, "no login for bob");
	assert_string_equal(fake_server_drain(&fake, HANG_NS).log, "");
	fake_server_stop(&fake);
}

static void
server_gets_what_steers_cryptography_and_nothing_private(void **state)
{
	struct fake_server fake;
	int fd;

	(void)state;
	assert_int_equal(setenv("OPENSSL_ia32cap", "~0x2", 1), 0);
	assert_int_equal(setenv("XB_SECRET", "tell nobody", 1), 0);
	fake = fake_server_start(
	    FAKE_BANNER "read x || exit; "
			"echo cap=$OPENSSL_ia32cap secret=$XB_SECRET home=${HOME:+set} >&2; "
			"cat > /dev/null");
	fd = fake_server_connect(&fake);
	fake_server_say(fd, "go");
	close(fd);
	assert_string_equal(fake_server_drain(&fake, HANG_NS).log, "cap=~0x2 secret= home=set");
	fake_server_stop(&fake);
	unsetenv("OPENSSL_ia32cap");
	unsetenv("XB_SECRET");
}

static void
answer_that_came_too_late_is_not_taken_for_the_next(void **state)
{
	struct fake_server fake = fake_server_start(
	    FAKE_BANNER "read x || exit; " FAKE_BURN "echo done; cat > /dev/null");
	struct xb_private_usage usage;
	char line[16];
	int fd;

	(void)state;
	/* Asked without the time to wait for the answer. */
	xb_private_drain(fake.server, -HANG_NS, &usage);
	/* Not earlier than that answer. */
	assert_int_equal(fake_server_cpu(&fake), 0);
	fd = fake_server_connect(&fake);
	fake_server_say(fd, "go");
	fake_server_read_line(fd, line, sizeof(line));
	assert_string_equal(line, "done");
	assert_true(fake_server_cpu(&fake) > 0);
	close(fd);
	fake_server_stop(&fake);
}

static void
questions_can_come_from_a_forked_trial(void **state)
{
	struct fake_server fake = fake_server_start(
	    FAKE_BANNER "read x || exit; " FAKE_BURN "echo done; cat > /dev/null");
	const int fd = fake_server_connect(&fake);
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char line[16];
	int64_t ns = 0;
	int status;
	pid_t pid;

	(void)state;
	fake_server_say(fd, "go");
	fake_server_read_line(fd, line, sizeof(line));
	pid = xb_child_fork(&err);
	if (pid == 0)
		_exit(xb_private_cpu_ns(fake.server, &ns) && ns > 0 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
	fake_server_stop(&fake);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(login_tells_what_a_client_needs),
		TEST(server_that_does_not_speak_is_refused_with_its_own_words),
		TEST(refusal_to_prepare_comes_through),
		TEST(missing_server_is_told),
		TEST(start_itself_is_not_in_the_first_drain),
		TEST(cpu_time_is_seen_while_it_is_used_and_after),
		TEST(cpu_time_of_waited_for_grandchildren_is_not_lost),
		TEST(orphans_of_a_server_are_waited_for_and_counted),
		TEST(each_drain_counts_anew),
		TEST(drain_kills_what_does_not_end),
		TEST(log_has_what_is_new_and_no_noise),
		TEST(server_gets_what_steers_cryptography_and_nothing_private),
		TEST(answer_that_came_too_late_is_not_taken_for_the_next),
		TEST(questions_can_come_from_a_forked_trial),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, fake_server_set_up_group, NULL);
}
