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

#include "base/err.h"
#include "base/signals.h"
#include "client/client.h"
#include "client/openssh.h"
#include "client/openssh_copy.h"
#include "client/openssh_programs.h"
#include "scratch.h"

static void
expect_version(const char *answer, const char *expected, bool expected_newer)
{
	char version[40];
	bool newer;

	assert_int_equal(xb_openssh_parse_version(answer, version, sizeof(version), &newer),
	    expected[0] != '\0');
	assert_string_equal(version, expected);
	assert_int_equal(newer, expected_newer);
}

static void
version_is_cut_out_of_the_answer(void **state)
{
	(void)state;
	expect_version("OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026\n", "9.2p1",
	    true);
	expect_version("OpenSSH_10.0p2, OpenSSL 3.5.1\n", "10.0p2", true);
	expect_version("OpenSSH_8.7\n", "8.7", true);
	expect_version("OpenSSH_8.4p1 Debian-5, OpenSSL 1.1.1n\n", "8.4p1", false);
	expect_version("OpenSSH_for_Windows_9.5p1, LibreSSL 3.8.2", "for_Windows_9.5p1", false);
	expect_version("Dropbear v2022.83\n", "", false);
	expect_version("OpenSSH_", "", false);
	expect_version("", "", false);
}

static void
option_of_scp_is_found_in_its_usage(void **state)
{
	(void)state;
	assert_true(xb_openssh_parse_usage("usage: scp [-346ABCOpqRrsTv] [-c cipher]\n"));
	assert_false(xb_openssh_parse_usage("usage: scp [-346ABCpqrTv] [-c cipher] [-O x]\n"));
	assert_false(xb_openssh_parse_usage("usage: scp [-346"));
	assert_false(xb_openssh_parse_usage("scp: what?\n"));
	assert_false(xb_openssh_parse_usage(""));
}

static void
length_is_found_in_what_sftp_lists(void **state)
{
	(void)state;
	assert_int_equal(xb_openssh_listed_size("-rw-r--r--    ? root     root      3000000 Nov 30 "
						"21:18 /tmp/f"),
	    3000000);
	assert_int_equal(xb_openssh_listed_size(
			     "-rw-------    1 domain users 12 staff 7 Jan  3  2025 a b"),
	    7);
	assert_int_equal(xb_openssh_listed_size(
			     "-rw-------    1 0 0 18446744073709551615 Dec 31 23:59 x"),
	    UINT64_MAX);
	assert_int_equal(xb_openssh_listed_size("drwxr-xr-x    2 0 0 4096 Nov 30 21:18 d"), 0);
	assert_int_equal(xb_openssh_listed_size("Can't ls: \"/x\" not found"), 0);
	assert_int_equal(xb_openssh_listed_size("-"), 0);
	assert_int_equal(xb_openssh_listed_size(""), 0);
}

/* Each look-up is kept for life, so it is made in a process of its own; 0: as it should be. */
static void
expect_in_child(const char *path, int (*check)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (path != NULL)
			setenv("PATH", path, 1);
		_exit(check());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int
knows_what_ssh_has(void)
{
	struct xb_client_algorithms has = { .absent = NULL };
	const char *version = xb_client_openssh.version();

	xb_client_openssh.algorithms(&has);
	if (has.absent != NULL || version[0] < '0' || version[0] > '9')
		return 1;
	if (!xb_namelist_has(&has.ciphers, "aes128-ctr") ||
	    !xb_namelist_has(&has.macs, "hmac-sha2-256") ||
	    !xb_namelist_has(&has.kex, "curve25519-sha256") ||
	    !xb_namelist_has(&has.hostkeys, "ssh-ed25519") ||
	    !xb_namelist_has(&has.compression, "none"))
		return 2;
	if (xb_client_openssh.version() != version)
		return 3;
	for (int m = 0; m < XB_METHOD_COUNT; m++)
		if (xb_client_openssh.cannot((enum xb_method)m, XB_UPLOAD) != NULL)
			return 4;
	return 0;
}

static void
installed_ssh_tells_its_version_and_its_algorithms(void **state)
{
	(void)state;
	expect_in_child(NULL, knows_what_ssh_has);
}

static int
misses_ssh(void)
{
	struct xb_client_algorithms has = { .absent = NULL };
	const char *cannot = xb_client_openssh.cannot(XB_METHOD_EXEC, XB_UPLOAD);

	xb_client_openssh.algorithms(&has);
	if (has.absent == NULL || strstr(has.absent, "openssh-client") == NULL ||
	    has.ciphers.count != 0)
		return 1;
	if (xb_client_openssh.version()[0] != '\0')
		return 2;
	return cannot == NULL || strstr(cannot, "no ssh in PATH") == NULL;
}

static void
missing_ssh_is_told_with_its_package(void **state)
{
	(void)state;
	expect_in_child(scratch_dir(), misses_ssh);
}

static int
misses_scp_alone(void)
{
	const char *cannot = xb_client_openssh.cannot(XB_METHOD_SCP, XB_DOWNLOAD);

	if (xb_client_openssh.cannot(XB_METHOD_EXEC, XB_UPLOAD) != NULL)
		return 1;
	return cannot == NULL || strstr(cannot, "no scp in PATH") == NULL;
}

static void
make_script(const char *name, const char *body)
{
	const char *path = scratch_path(name);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", body);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static void
missing_scp_stops_scp_alone(void **state)
{
	(void)state;
	make_script("ssh", "echo OpenSSH_9.2p1 >&2");
	expect_in_child(scratch_dir(), misses_scp_alone);
	unlink(scratch_path("ssh"));
}

static int
is_no_openssh(void)
{
	struct xb_client_algorithms has = { .absent = NULL };

	xb_client_openssh.algorithms(&has);
	return has.absent == NULL || strstr(has.absent, "ssh -Q kex: ") == NULL;
}

static void
ssh_of_another_make_is_told_apart(void **state)
{
	static const char *const bodies[] = { "echo 'unknown option -Q'; exit 1", "exit 0",
		"kill -SEGV $$", "head -c 10000000 /dev/zero" };

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		char *path;

		make_script("ssh", bodies[i]);
		assert_true(asprintf(&path, "%s:%s", scratch_dir(), getenv("PATH")) > 0);
		expect_in_child(path, is_no_openssh);
		free(path);
		unlink(scratch_path("ssh"));
	}
}

static void
only_scp_and_sftp_need_a_size_and_a_file(void **state)
{
	(void)state;
	assert_false(xb_client_openssh.sized(XB_METHOD_EXEC, XB_UPLOAD));
	assert_true(xb_client_openssh.sized(XB_METHOD_SCP, XB_DOWNLOAD));
	assert_true(xb_client_openssh.sized(XB_METHOD_SFTP, XB_UPLOAD));
	assert_true(xb_client_openssh.reads_file(XB_METHOD_SCP, XB_UPLOAD));
	assert_false(xb_client_openssh.reads_file(XB_METHOD_SCP, XB_DOWNLOAD));
	assert_false(xb_client_openssh.reads_file(XB_METHOD_EXEC, XB_UPLOAD));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_is_cut_out_of_the_answer),
		cmocka_unit_test(option_of_scp_is_found_in_its_usage),
		cmocka_unit_test(length_is_found_in_what_sftp_lists),
		cmocka_unit_test(installed_ssh_tells_its_version_and_its_algorithms),
		cmocka_unit_test_setup_teardown(missing_ssh_is_told_with_its_package,
		    scratch_set_up, scratch_tear_down),
		cmocka_unit_test_setup_teardown(missing_scp_stops_scp_alone, scratch_set_up,
		    scratch_tear_down),
		cmocka_unit_test_setup_teardown(ssh_of_another_make_is_told_apart, scratch_set_up,
		    scratch_tear_down),
		cmocka_unit_test(only_scp_and_sftp_need_a_size_and_a_file),
	};

	xb_signals_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
