#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "fake_server.h"
#include "scratch.h"
#include "ssh_peer.h"
#include "target/private.h"

/*
 * A stand-in for dropbear, so that one with other abilities can be had: its options are what -h tells,
 * and refuses is the status that it ends with when it is given -2. How it is called for a connection
 * goes into the log.
 */
#define DROPBEAR(refuses, help) \
	"#!/bin/sh\n" \
	"for last; do :; done\n" \
	"if [ \"$last\" = -h ]; then\n" \
	"	case \"$*\" in *-2*) exit " refuses ";; esac\n" \
	"	printf 'Dropbear server v0\\n" help "\\n'; exit 0\n" \
	"fi\n" \
	"printf 'SSH-2.0-dropbear_0\\r\\n'; read x || exit\n" \
	"echo \"called with $*\" >&2; cat > /dev/null\n"

/* How many of the tests need neither dropbear nor libnss-wrapper. */
#define WITHOUT_DROPBEAR 4

/* Where Debian's dropbear looks for it. */
#define SFTP_SERVER "/usr/lib/sftp-server"

#define DROPBEARKEY \
	"#!/bin/sh\n" \
	"for last; do :; done\n" \
	"echo secret > \"$last\"; echo; echo 'ssh-fake AAAA me@here'; echo 'Fingerprint: none'\n"

static const char *
write_program(const char *name, const char *text)
{
	const char *path = scratch_path(name);
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

/* How the stand-in is called; "" when it refuses to start, with err. */
static void
call(const char *dropbear, const struct xb_private_options *wanted, char *line, size_t size,
    struct xb_err *err)
{
	struct xb_private_options options = *wanted;
	struct fake_server fake = { .dir = scratch_new_run() };
	int fd;

	line[0] = '\0';
	write_program("dropbearkey", DROPBEARKEY);
	options.program = write_program("dropbear", dropbear);
	options.dir = fake.dir;
	options.server_cpu = -1;
	fake.server = xb_private_new(&xb_private_dropbear, &options, err);
	if (fake.server != NULL) {
		fake.login = xb_private_login(fake.server);
		assert_string_equal(fake.login->version, "dropbear_0");
		fd = fake_server_connect(&fake);
		fake_server_say(fd, "go");
		close(fd);
		snprintf(line, size, "%s ", fake_server_drain(&fake, HANG_NS).log);
	}
	fake_server_stop(&fake);
}

static void
options_that_a_build_has_not_are_not_given(void **state)
{
	const struct xb_private_options plain = { .server_cpu = -1 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char line[512];

	(void)state;
	assert_int_equal(setenv("TAKES_2", "0", 1), 0);
	call(DROPBEAR("0", "-s\\tno passwords\\n-j\\n-k"), &plain, line, sizeof(line), &err);
	assert_string_equal(err.text, "");
	assert_non_null(strstr(line, " -s -j -k -r "));
	assert_null(strstr(line, " -m "));
	assert_null(strstr(line, " -W "));
}

static void
log_is_ours_where_dropbear_lets_us(void **state)
{
	const struct xb_private_options plain = { .server_cpu = -1 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char line[512];

	(void)state;
	call(DROPBEAR("0", ""), &plain, line, sizeof(line), &err);
	assert_non_null(strstr(line, " -E -2 "));
	assert_null(strstr(line, " -i "));
	call(DROPBEAR("1", ""), &plain, line, sizeof(line), &err);
	assert_string_equal(err.text, "");
	assert_non_null(strstr(line, " -i "));
	assert_null(strstr(line, " -E "));
}

static void
window_is_given_when_asked_for(void **state)
{
	const struct xb_private_options wide = { .window = 1234567 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char line[512];

	(void)state;
	call(DROPBEAR("0", ""), &wide, line, sizeof(line), &err);
	assert_string_equal(err.text, "");
	assert_non_null(strstr(line, " -W 1234567 "));
}

static void
window_that_dropbear_would_cut_is_refused(void **state)
{
	const struct xb_private_options wide = { .window = 10 * 1024 * 1024 + 1 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char line[512];

	(void)state;
	call(DROPBEAR("0", ""), &wide, line, sizeof(line), &err);
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "10485760"));
}

static void
home_that_no_account_file_can_hold_is_refused(void **state)
{
	const struct xb_private_options plain = { .server_cpu = -1 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char *odd = scratch_path("a:b");
	char line[512];

	(void)state;
	scratch_make_dir(odd, 0700);
	assert_int_equal(setenv("TMPDIR", odd, 1), 0);
	/* Nor is -D a way out: the directory lies below one where everybody may write. */
	call(DROPBEAR("0", "-D\\tdirectory"), &plain, line, sizeof(line), &err);
	assert_int_equal(setenv("TMPDIR", scratch_dir(), 1), 0);
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "TMPDIR"));
}

static void
what_is_no_dropbear_is_refused_in_its_own_words(void **state)
{
	const struct xb_private_options plain = { .server_cpu = -1 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char line[512];

	(void)state;
	call("#!/bin/sh\necho 'my drop is dry' >&2; exit 1\n", &plain, line, sizeof(line), &err);
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "my drop is dry"));
}

static void
missing_dropbear_is_told_with_its_package(void **state)
{
	struct xb_private_kind nowhere = xb_private_dropbear;
	struct xb_err err;

	(void)state;
	nowhere.program = "xferbench-no-such-dropbear";
	err = ssh_peer_refusal(&nowhere, NULL);
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "install dropbear-bin"));
}

/* The rest is about the real one. */

static void
window_is_what_a_client_is_granted(void **state)
{
	const struct xb_private_options wide = { .window = 500000 };
	struct ssh_peer peer = ssh_peer_start(&xb_private_dropbear, NULL);
	const unsigned long by_itself = ssh_peer_send(&peer, NULL, NULL, NULL, 100000).window;

	(void)state;
	ssh_peer_stop(&peer);
	assert_int_not_equal(by_itself, 500000);
	peer = ssh_peer_start(&xb_private_dropbear, &wide);
	assert_int_equal(ssh_peer_send(&peer, NULL, NULL, NULL, 100000).window, 500000);
	ssh_peer_stop(&peer);
}

static void
refused_login_is_in_the_log_without_stamps(void **state)
{
	const char *const other_user[] = { "-l", "nobody", NULL };
	struct ssh_peer peer = ssh_peer_start(&xb_private_dropbear, NULL);
	struct xb_private_usage usage;
	char out[4096];

	(void)state;
	assert_int_equal(ssh_peer_ssh(&peer, other_user, "true", out, sizeof(out)), 255);
	usage = ssh_peer_drain(&peer);
	/* Its account file has one line. */
	assert_ptr_equal(strstr(usage.log, "Login attempt for nonexistent user"), usage.log);
	ssh_peer_stop(&peer);
}

static void
sftp_works_where_there_is_an_sftp_server(void **state)
{
	struct ssh_peer peer = ssh_peer_start(&xb_private_dropbear, NULL);
	char *file = scratch_path("file"), *batch = scratch_path("batch");
	const char *const options[] = { "-b", batch, NULL };
	const char *const host[] = { "127.0.0.1", NULL };
	FILE *commands = fopen(batch, "we");
	char out[4096];

	(void)state;
	assert_non_null(commands);
	scratch_make_file(file);
	fprintf(commands, "put %s /dev/null\n", file);
	fclose(commands);
	assert_int_equal(ssh_peer_program(&peer, "sftp", options, host, out, sizeof(out)), 0);
	assert_int_equal(unlink(batch) | unlink(file), 0);
	ssh_peer_stop(&peer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(window_that_dropbear_would_cut_is_refused),
		TEST(home_that_no_account_file_can_hold_is_refused),
		TEST(what_is_no_dropbear_is_refused_in_its_own_words),
		TEST(missing_dropbear_is_told_with_its_package),
		TEST(options_that_a_build_has_not_are_not_given),
		TEST(log_is_ours_where_dropbear_lets_us),
		TEST(window_is_given_when_asked_for),
		TEST(window_is_what_a_client_is_granted),
		TEST(refused_login_is_in_the_log_without_stamps),
		TEST(sftp_works_where_there_is_an_sftp_server),
	};
	const char *absent = ssh_peer_absent(&xb_private_dropbear);
	size_t count = sizeof(tests) / sizeof(tests[0]);

	if (absent != NULL) {
		count = WITHOUT_DROPBEAR;
		printf("# SKIP all but the first %zu: %s\n", count, absent);
	} else if (access(SFTP_SERVER, X_OK) != 0) {
		count--;
		printf("# SKIP the last: there is no " SFTP_SERVER "\n");
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("tests", tests, count, ssh_peer_set_up_group, NULL);
}
