#ifndef XB_TARGET_PRIVATE_ACCOUNT_H
#define XB_TARGET_PRIVATE_ACCOUNT_H

#include <stdbool.h>
#include <sys/types.h>

struct xb_err;

/* The account that a private server serves and runs as. Strings are owned. */
struct xb_account {
	char *name;
	char *home;
	char *shell; /* never empty */
	uid_t uid;
	gid_t gid;
	bool other; /* not who we are: to become with xb_account_become */
};

/*
 * Who is served: as root under sudo the invoking user (SUDO_USER and SUDO_UID, when they name the same
 * account and not root), else the current user. XB_FAULT_TARGET when that user has no account.
 */
bool xb_account_choose(struct xb_account *account, struct xb_err *err);

/*
 * Refuses, by XB_FAULT_TARGET, an account that no SSH server lets in: a shell that is absent, no
 * program, or one that turns users away; and, where this can be seen and counts (root serving
 * itself), an account that has expired.
 */
bool xb_account_check(const struct xb_account *account, struct xb_err *err);

/*
 * Takes the account's user, groups and home for this process for good, and HOME, USER, LOGNAME and
 * SHELL with them. XB_FAULT_SYSTEM when refused. Clears what prctl(2) calls the parent-death signal.
 */
bool xb_account_become(const struct xb_account *account, struct xb_err *err);

/* Releases the strings. */
void xb_account_free(struct xb_account *account);

#endif
