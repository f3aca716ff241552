#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/rundir.h"
#include "fake_server.h"
#include "scratch.h"
#include "target/private.h"

/*
 * A stand-in for sshd, so that one that knows little can be had: -t reads the file line by line, and
 * dies of the first algorithm that it does not know, or of all options that it does not know.
 */
#define SSHD_HEAD \
	"#!/bin/sh\n" \
	"if [ \"$1\" = -i ]; then printf 'SSH-2.0-OpenSSH_0.1\\r\\n'; cat > /dev/null; exit; fi\n" \
	"n=0; bad=0\n" \
	"while read -r option value; do n=$((n+1)); case \"$option $value\" in\n"
#define SSHD_TAIL \
	"\nesac; done < \"$3\"\n" \
	"[ $bad = 0 ] && exit 0\n" \
	"echo \"$3: terminating, $bad bad configuration options\" >&2; exit 255\n"
#define SSHD_UNKNOWN \
	" echo \"$3: line $n: Bad configuration option: $option\" >&2; bad=$((bad+1));;\n"
#define SSHD_CIPHERS \
	"'Ciphers +'aes128-ctr|'Ciphers +'aes128-cbc|'Ciphers +'aes128-ctr,aes128-cbc) ;;\n" \
	"Ciphers*) echo \"$3 line $n: Bad SSH2 cipher spec '$value'.\" >&2; exit 255;;\n"

#define KEYGEN \
	"#!/bin/sh\n" \
	"for last; do :; done\n" \
	"echo secret > \"$last\"; echo ssh-fake AAAA > \"$last.pub\"\n"

static void
write_program(const char *name, const char *text)
{
	const char *path = scratch_path(name);
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

/* Starts the stand-in; NULL with err. */
static struct xb_private *
start(const struct xb_rundir *dir, const char *sshd, bool every_hostkey, struct xb_err *err)
{
	struct xb_private_options options = {
		.dir = dir,
		.every_hostkey = every_hostkey,
		.server_cpu = -1,
	};

	write_program("sshd", sshd);
	write_program("ssh-keygen", KEYGEN);
	options.program = scratch_path("sshd");
	return xb_private_new(&xb_private_openssh, &options, err);
}

/* The configuration that was written; lines that were dropped are left out. */
static void
read_config(const struct xb_rundir *dir, char *out, size_t size)
{
	char *path = xb_rundir_file(dir, "openssh-sshd_config");
	FILE *in = fopen(path, "re");
	char line[1024];
	size_t used = 0;

	assert_non_null(in);
	out[0] = '\0';
	while (fgets(line, sizeof(line), in) != NULL) {
		if (line[0] != '#')
			used += (size_t)snprintf(out + used, size - used, "%s", line);
		assert_true(used < size);
	}
	fclose(in);
	free(path);
}

/* Starts the stand-in, which must work, and reads its configuration. */
static void
configure(const char *sshd, bool every_hostkey, char *config, size_t size)
{
	struct xb_rundir *dir = scratch_new_run();
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_private *server = start(dir, sshd, every_hostkey, &err);

	assert_string_equal(err.text, "");
	assert_string_equal(xb_private_login(server)->version, "OpenSSH_0.1");
	read_config(dir, config, size);
	xb_private_free(server);
	xb_rundir_free(dir);
}

/* Starts the stand-in, which must fail. */
static struct xb_err
refusal(const char *sshd)
{
	struct xb_rundir *dir = scratch_new_run();
	struct xb_err err = { .fault = XB_FAULT_NONE };

	assert_null(start(dir, sshd, false, &err));
	xb_rundir_free(dir);
	return err;
}

static void
only_algorithms_that_this_sshd_takes_are_enabled(void **state)
{
	char config[8192];

	(void)state;
	configure(SSHD_HEAD SSHD_CIPHERS SSHD_TAIL, false, config, sizeof(config));
	assert_non_null(strstr(config, "\nCiphers +aes128-ctr,aes128-cbc\n"));
	/* One line for all: sshd would believe the first and no other. */
	assert_null(strstr(strstr(config, "\nCiphers ") + 1, "\nCiphers "));
	assert_non_null(strstr(config, "\nMACs +"));
	assert_non_null(strstr(config, "hmac-sha2-256,"));
	assert_null(strstr(strstr(config, "\nMACs ") + 1, "\nMACs "));
}

static void
nobody_comes_in_without_the_key_of_this_run(void **state)
{
	char config[8192];

	(void)state;
	configure(SSHD_HEAD "-) ;;\n" SSHD_TAIL, false, config, sizeof(config));
	assert_non_null(strstr(config, "\nPasswordAuthentication no\n"));
	assert_non_null(strstr(config, "\nKbdInteractiveAuthentication no\n"));
	assert_non_null(strstr(config, "\nAllowUsers "));
	assert_non_null(strstr(config, "/openssh-user_key.pub\"\n"));
	assert_non_null(strstr(config, "\nPermitTTY no\n"));
}

static void
every_key_exchange_is_offered_on_request_alone(void **state)
{
	char config[8192];

	(void)state;
	configure(SSHD_HEAD "-) ;;\n" SSHD_TAIL, false, config, sizeof(config));
	assert_null(strstr(config, "KexAlgorithms"));
	assert_null(strstr(config, "HostKeyAlgorithms"));
	assert_null(strstr(config, "-host_key_rsa"));
	configure(SSHD_HEAD
	    "'KexAlgorithms +diffie-hellman-group1-sha1')"
	    " echo \"$3 line $n: Bad SSH2 KexAlgorithms '$value'.\" >&2; exit 255;;\n" SSHD_TAIL,
	    true, config, sizeof(config));
	assert_non_null(strstr(config, "\nKexAlgorithms +"));
	assert_non_null(strstr(config, "diffie-hellman-group14-sha1"));
	assert_null(strstr(config, "diffie-hellman-group1-sha1"));
	assert_non_null(strstr(strstr(config, "\nHostKeyAlgorithms +"), "ssh-rsa"));
	assert_non_null(strstr(config, "-host_key_ed25519\"\n"));
	assert_non_null(strstr(config, "-host_key_ecdsa\"\n"));
	assert_non_null(strstr(config, "-host_key_rsa\"\n"));
}

static void
options_that_an_old_sshd_does_not_know_are_dropped(void **state)
{
	char config[8192];

	(void)state;
	configure(SSHD_HEAD "PermitUserRC*|PermitTTY*)" SSHD_UNKNOWN SSHD_TAIL, false, config,
	    sizeof(config));
	assert_null(strstr(config, "PermitUserRC"));
	assert_null(strstr(config, "PermitTTY"));
	assert_non_null(strstr(config, "\nPermitTunnel no\n"));
}

static void
option_that_keeps_others_out_is_never_dropped(void **state)
{
	const struct xb_err err =
	    refusal(SSHD_HEAD "PasswordAuthentication*)" SSHD_UNKNOWN SSHD_TAIL);

	(void)state;
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "Bad configuration option: PasswordAuthentication"));
}

static void
refusal_of_sshd_is_told_in_its_own_words(void **state)
{
	const struct xb_err err = refusal("#!/bin/sh\necho 'my directory is gone' >&2; exit 255\n");

	(void)state;
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "/sshd refuses to start: my directory is gone"));
}

static void
path_that_no_configuration_can_hold_is_refused(void **state)
{
	char *odd = scratch_path("100%h");
	struct xb_err err;

	(void)state;
	scratch_make_dir(odd, 0700);
	assert_int_equal(setenv("TMPDIR", odd, 1), 0);
	err = refusal(SSHD_HEAD "-) ;;\n" SSHD_TAIL);
	assert_int_equal(setenv("TMPDIR", scratch_dir(), 1), 0);
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	assert_non_null(strstr(err.text, "TMPDIR"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_algorithms_that_this_sshd_takes_are_enabled),
		TEST(nobody_comes_in_without_the_key_of_this_run),
		TEST(every_key_exchange_is_offered_on_request_alone),
		TEST(options_that_an_old_sshd_does_not_know_are_dropped),
		TEST(option_that_keeps_others_out_is_never_dropped),
		TEST(refusal_of_sshd_is_told_in_its_own_words),
		TEST(path_that_no_configuration_can_hold_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, fake_server_set_up_group, NULL);
}
