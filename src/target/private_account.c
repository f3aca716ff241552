#include "target/private_account.h"

#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <shadow.h>
#endif

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#define WAY_AROUND "run as a user with a login shell, or through sudo from one"

/* Programs that stand in the passwd file where no login is meant to succeed. */
static const char *const no_shells[] = { "nologin", "false", "true", "sync", "halt", "shutdown" };

/* The account of the user who called sudo, NULL when there is none that makes sense. */
static const struct passwd *
sudo_account(void)
{
	const char *name = getenv("SUDO_USER");
	const char *id = getenv("SUDO_UID");
	const struct passwd *pw;
	uint64_t uid;

	if (geteuid() != 0 || name == NULL || id == NULL)
		return NULL;
	if (!xb_count_parse("SUDO_UID", id, 1, UINT32_MAX - 1, &uid, NULL))
		return NULL;
	pw = getpwnam(name);
	return pw != NULL && pw->pw_uid == uid ? pw : NULL;
}

bool
xb_account_choose(struct xb_account *account, struct xb_err *err)
{
	const struct passwd *pw = sudo_account();

	*account = (struct xb_account){ .other = pw != NULL };
	if (pw == NULL)
		pw = getpwuid(geteuid());
	if (pw == NULL)
		return xb_fail(err, XB_FAULT_TARGET,
		    "user id %u has no account on this machine (no passwd entry), so no private SSH "
		    "server can log it in; run as a user with an account, or give a HOST",
		    (unsigned)geteuid());
	account->name = xb_strdup(pw->pw_name);
	account->home = xb_strdup(pw->pw_dir);
	/* An empty field means the Bourne shell, passwd(5). */
	account->shell = xb_strdup(pw->pw_shell[0] != '\0' ? pw->pw_shell : "/bin/sh");
	account->uid = pw->pw_uid;
	account->gid = pw->pw_gid;
	return true;
}

static bool
turns_away(const char *shell)
{
	const char *slash = strrchr(shell, '/');
	const char *name = slash != NULL ? slash + 1 : shell;

	for (size_t i = 0; i < sizeof(no_shells) / sizeof(no_shells[0]); i++) {
		if (strcmp(name, no_shells[i]) == 0)
			return true;
	}
	return false;
}

/* True when the account's last day is over. Only root can see it, and only to root's server does it
 * matter: one that runs as an ordinary user cannot look either. */
static bool
is_expired(const struct xb_account *account)
{
#ifdef __linux__
	const struct spwd *shadow;

	if (geteuid() != 0 || account->uid != 0)
		return false;
	shadow = getspnam(account->name);
	/* Days since 1970, -1 for no end; shadow(5). */
	return shadow != NULL && shadow->sp_expire > 0 && time(NULL) / 86400 > shadow->sp_expire;
#else
	(void)account;
	return false;
#endif
}

bool
xb_account_check(const struct xb_account *account, struct xb_err *err)
{
	char name[128], shell[256];

	xb_text_printable(name, sizeof(name), account->name, strlen(account->name));
	xb_text_printable(shell, sizeof(shell), account->shell, strlen(account->shell));
	if (turns_away(account->shell))
		return xb_fail(err, XB_FAULT_TARGET,
		    "account '%s' cannot log in: its shell is %s; " WAY_AROUND, name, shell);
	if (access(account->shell, F_OK) != 0)
		return xb_fail(err, XB_FAULT_TARGET,
		    "account '%s' cannot log in: its shell %s does not exist; " WAY_AROUND, name,
		    shell);
	if (access(account->shell, X_OK) != 0)
		return xb_fail(err, XB_FAULT_TARGET,
		    "account '%s' cannot log in: its shell %s may not be executed; " WAY_AROUND,
		    name, shell);
	if (is_expired(account))
		return xb_fail(err, XB_FAULT_TARGET,
		    "account '%s' cannot log in: it has expired (see chage -l %s); run as an "
		    "ordinary user, or through sudo from one",
		    name, name);
	return true;
}

bool
xb_account_become(const struct xb_account *account, struct xb_err *err)
{
	char name[128];

	xb_text_printable(name, sizeof(name), account->name, strlen(account->name));
	if (initgroups(account->name, account->gid) != 0 ||
	    setresgid(account->gid, account->gid, account->gid) != 0 ||
	    setresuid(account->uid, account->uid, account->uid) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM,
		    "cannot run the private server as '%s', who called sudo", name);
	setenv("HOME", account->home, 1);
	setenv("USER", account->name, 1);
	setenv("LOGNAME", account->name, 1);
	setenv("SHELL", account->shell, 1);
	return true;
}

void
xb_account_free(struct xb_account *account)
{
	free(account->name);
	free(account->home);
	free(account->shell);
	*account = (struct xb_account){ 0 };
}
