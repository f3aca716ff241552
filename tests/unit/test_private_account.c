#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "target/private_account.h"

/* What is said about an ordinary account with this shell; "" when nothing is wrong with it. */
static struct xb_err
judge(char *shell)
{
	const struct xb_account account = {
		.name = (char[]){ "eve" },
		.home = (char[]){ "/" },
		.shell = shell,
		.uid = 12345,
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };

	if (xb_account_check(&account, &err))
		assert_int_equal(err.fault, XB_FAULT_NONE);
	else
		assert_int_not_equal(err.fault, XB_FAULT_NONE);
	return err;
}

static void
account_with_a_shell_is_accepted(void **state)
{
	(void)state;
	assert_int_equal(judge((char[]){ "/bin/sh" }).fault, XB_FAULT_NONE);
}

static void
shells_that_turn_users_away_are_refused_by_name(void **state)
{
	char shells[][32] = { "/usr/sbin/nologin", "/bin/false", "nologin" };

	(void)state;
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		const struct xb_err err = judge(shells[i]);

		assert_int_equal(err.fault, XB_FAULT_TARGET);
		assert_non_null(strstr(err.text, "'eve'"));
		assert_non_null(strstr(err.text, shells[i]));
		assert_non_null(strstr(err.text, "sudo"));
	}
}

static void
shell_that_is_absent_or_no_program_is_refused(void **state)
{
	struct xb_err err;

	(void)state;
	err = judge((char[]){ "/nowhere/sh\x1b[1m" });
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "/nowhere/sh\\x1b[1m does not exist"));
	err = judge((char[]){ "/etc/passwd" });
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, "/etc/passwd may not be executed"));
}

/* The first account that is not root's. */
static const struct passwd *
somebody_else(void)
{
	const struct passwd *pw;

	setpwent();
	do
		pw = getpwent();
	while (pw != NULL && (pw->pw_uid == 0 || pw->pw_uid == geteuid()));
	endpwent();
	assert_non_null(pw);
	return pw;
}

static void
set_sudo(const char *user, unsigned uid)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", uid);
	assert_int_equal(setenv("SUDO_USER", user, 1), 0);
	assert_int_equal(setenv("SUDO_UID", text, 1), 0);
}

/* The account chosen must be that of uid. */
static void
assert_chosen(uid_t uid)
{
	struct xb_account account;
	struct xb_err err = { .fault = XB_FAULT_NONE };

	assert_true(xb_account_choose(&account, &err));
	assert_int_equal(account.uid, uid);
	assert_int_equal(account.other, uid != geteuid());
	assert_string_equal(account.name, getpwuid(uid)->pw_name);
	assert_int_not_equal(account.shell[0], '\0');
	xb_account_free(&account);
}

static void
whoever_called_sudo_is_served_by_root_alone(void **state)
{
	const struct passwd *pw = somebody_else();
	const uid_t uid = pw->pw_uid;

	(void)state;
	set_sudo(pw->pw_name, uid);
	assert_chosen(geteuid() == 0 ? uid : geteuid());
}

static void
sudo_variables_that_make_no_sense_are_not_believed(void **state)
{
	const struct passwd *pw = somebody_else();

	(void)state;
	set_sudo(pw->pw_name, pw->pw_uid + 1);
	assert_chosen(geteuid());
	set_sudo("no such user: of course", pw->pw_uid);
	assert_chosen(geteuid());
	set_sudo("root", 0);
	assert_chosen(geteuid());
	assert_int_equal(setenv("SUDO_UID", "-1", 1), 0);
	assert_chosen(geteuid());
	unsetenv("SUDO_UID");
	assert_chosen(geteuid());
	unsetenv("SUDO_USER");
	assert_chosen(geteuid());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(account_with_a_shell_is_accepted),
		cmocka_unit_test(shells_that_turn_users_away_are_refused_by_name),
		cmocka_unit_test(shell_that_is_absent_or_no_program_is_refused),
		cmocka_unit_test(whoever_called_sudo_is_served_by_root_alone),
		cmocka_unit_test(sudo_variables_that_make_no_sense_are_not_believed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
