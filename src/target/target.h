#ifndef XB_TARGET_TARGET_H
#define XB_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/namelist.h"
#include "model/offer.h"
#include "target/known_hosts.h"
#include "target/offer_reader.h"

struct xb_err;
struct xb_private;
struct xb_proxy;
struct xb_rundir;

/* What to do with a host key that known_hosts does not vouch for. */
enum xb_hostkey_policy {
	XB_HOSTKEY_STRICT,     /* unknown and changed keys are refused */
	XB_HOSTKEY_ACCEPT_NEW, /* unknown ones are added, changed ones refused */
	XB_HOSTKEY_OFF,        /* taken as they come; the result says so */
};

/* The target as the command line wants it; strings are borrowed. */
struct xb_target_options {
	const char *host;                     /* as typed; NULL: a private server */
	unsigned port;                        /* 0: from host, else 22 */
	const char *user;                     /* NULL: from host, else the current user */
	const struct xb_namelist *identities; /* NULL or empty: ssh's default files */
	enum xb_hostkey_policy policy;
	const char *known_hosts;               /* NULL: the user's and the system's files */
	const char *ssh_config;                /* -F; NULL: ssh's own files */
	const struct xb_namelist *ssh_options; /* -o; NULL or empty: none */
	const char *jump;                      /* -J; NULL: what the configuration says */
	const char *server;                    /* kind of the private server, NULL: openssh */
	const char *sshd;   /* private openssh server's program, NULL: look for it */
	unsigned window;    /* receive window of a private dropbear, bytes; 0: its own default */
	bool every_hostkey; /* a private server has a host key of every type */
	int server_cpu;     /* for a private server, -1: anywhere */
	int64_t connect_timeout_ns;
	bool timeout_given; /* by the user: stronger than ConnectTimeout */
};

/* One SSH server, resolved and reachable, with its offer. All fields are read-only after opening. */
struct xb_target {
	char *name;                     /* as typed, or "this machine" */
	char *host;                     /* name for known_hosts and messages */
	char *ssh_host;                 /* what to call it to ssh: an alias; NULL: host */
	char *hostkey_alias;            /* its name in known_hosts, whatever the port; NULL: host */
	char *ssh_config;               /* -F for ssh; NULL: none */
	char *jump;                     /* -J for ssh; NULL: none */
	struct xb_namelist ssh_options; /* -o for ssh */
	unsigned port;
	char *user;
	struct xb_peer peer;      /* address "": behind a proxy */
	struct xb_namelist proxy; /* the command line of the proxy; empty: none */
	struct xb_offer offer;
	struct xb_namelist identities; /* private key files to try, in order */
	bool identities_given;         /* by the user: a missing one is worth a word */
	bool use_agent;
	char *agent;   /* its socket; NULL: that of the environment */
	char *revoked; /* file of revoked host keys, a list or a KRL; NULL: none */
	enum xb_hostkey_policy policy;
	struct xb_namelist known_hosts; /* files; new keys go into the first */
	bool known_hosts_given;         /* by the user: instead of the usual files */
	int64_t connect_timeout_ns;
	char *note; /* what the user should know of how it was resolved; NULL: nothing */
	struct xb_private *server; /* NULL: not ours */
};

/*
 * Resolves and reaches the target and reads its offer; starts the private server when no host is
 * given. NULL with err set (USAGE, TARGET or SYSTEM).
 */
struct xb_target *xb_target_new(const struct xb_target_options *options,
    const struct xb_rundir *dir, struct xb_err *err);
void xb_target_free(struct xb_target *target);

/*
 * Connects to the target, through its proxy where it has one (else proxy stays all-zero): a
 * non-blocking, close-on-exec socket, or -1 with err set (TRIAL, SIGNAL or SYSTEM). After the socket is
 * closed the caller ends the proxy.
 */
int xb_target_connect(const struct xb_target *target, struct xb_proxy *proxy, struct xb_err *err);

/*
 * Judges the host key that a session presents, by policy. The refusal (XB_FAULT_TARGET) gives the
 * fingerprint, and the file and line that contradicts, as clear as ssh's. Called by each client.
 */
bool xb_target_check_hostkey(const struct xb_target *target, const struct xb_hostkey *key,
    struct xb_err *err);

/* The host key algorithms to ask for: those that the server offers and known_hosts can judge. Empty:
 * no preference, and the check of the key tells what is wrong. */
void xb_target_hostkey_types(const struct xb_target *target, struct xb_namelist *types);

#endif
