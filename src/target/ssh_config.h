#ifndef XB_TARGET_SSH_CONFIG_H
#define XB_TARGET_SSH_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/namelist.h"

struct xb_err;

/* What to ask `ssh -G` about; strings are borrowed. */
struct xb_ssh_question {
	const char *host;                     /* an alias, or a name or address */
	const char *file;                     /* -F; NULL: the user's and the system's files */
	const struct xb_namelist *options;    /* -o, in order; NULL: none */
	const char *jump;                     /* -J; NULL: none */
	const char *user;                     /* -l; NULL: not given */
	unsigned port;                        /* -p; 0: not given */
	const struct xb_namelist *identities; /* -i; NULL or empty: none */
	int64_t timeout_ns;
};

/*
 * What ssh makes of a host. Owned; NULL is ssh's own default, or that the option is "none". Words as
 * `ssh -G` prints them, until xb_ssh_config_expand.
 */
struct xb_ssh_config {
	char *hostname;
	unsigned port; /* 0: not told */
	char *user;
	struct xb_namelist identities;
	bool identities_only;
	char *identity_agent; /* a path, "SSH_AUTH_SOCK", "$NAME" or "none" */
	struct xb_namelist user_known_hosts;
	struct xb_namelist system_known_hosts;
	char *hostkey_alias;
	char *revoked_hostkeys;
	char *known_hosts_command;
	char *proxy_jump;
	char *proxy_command;
	int family; /* AF_UNSPEC, AF_INET or AF_INET6 */
	char *bind_address;
	unsigned connect_timeout; /* seconds; 0: none */
};

/* What the tokens of ssh_config(5) stand for; strings are borrowed. */
struct xb_ssh_tokens {
	const char *typed;      /* %n */
	const char *host;       /* %h */
	unsigned port;          /* %p */
	const char *user;       /* %r */
	const char *alias;      /* %k; NULL: the host typed */
	const char *jump;       /* %j; NULL: "" */
	const char *home;       /* %d and ~; NULL: unknown */
	const char *local_user; /* %u */
	const char *local_host; /* %l, and %L up to its first dot */
	unsigned uid;           /* %i */
};

/* Reads the output of `ssh -G`, of any content. Pure; what it does not know is passed over. Fills an
 * all-zero struct. */
void xb_ssh_config_parse(const char *text, struct xb_ssh_config *config);

/*
 * The text with its tokens replaced; path: with "~" and "~/" in front and ${NAME} as well. Fresh; NULL
 * with err set (USAGE), which names option, for a token or a variable that there is not.
 */
char *xb_ssh_expand(const char *option, const char *text, const struct xb_ssh_tokens *tokens,
    bool path, struct xb_err *err);

/* Replaces what `ssh -G` leaves as it is in paths and in ProxyCommand. False with err set (USAGE). */
bool xb_ssh_config_expand(struct xb_ssh_config *config, const struct xb_ssh_tokens *tokens,
    struct xb_err *err);

/*
 * Runs `ssh -G`. found: there is an ssh program; without one config stays as it is, which is no error.
 * False with err set, to what ssh says (USAGE), or SIGNAL or SYSTEM.
 */
bool xb_ssh_config_ask(const struct xb_ssh_question *question, struct xb_ssh_config *config,
    bool *found, struct xb_err *err);

void xb_ssh_config_free(struct xb_ssh_config *config);

#endif
