#ifndef XB_TARGET_PRIVATE_H
#define XB_TARGET_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/namelist.h"

struct xb_err;
struct xb_rundir;

/*
 * A private SSH server on loopback for this run alone. Its listener is a process of its own, a child
 * subreaper that accepts on 127.0.0.1 (a port of the kernel's choice), starts one server process per
 * connection with the accepted socket as stdin and stdout, waits for it, and answers questions about
 * CPU time. When this program dies, however, the listener kills what it started, removes what it
 * made outside the run directory, and ends.
 */
struct xb_private;

struct xb_private_options {
	const struct xb_rundir *dir;
	const char *program; /* path or name of the server, NULL: look for it */
	unsigned window;    /* dropbear's receive window, bytes, up to 10 MiB; 0: its own default */
	bool every_hostkey; /* host keys of every type, and every key exchange, for handshakes */
	int server_cpu;     /* where the server and its sink run, -1: anywhere */
};

/* What a login to it needs. Strings belong to the server. */
struct xb_private_login {
	unsigned port; /* on 127.0.0.1 */
	const char *user;
	const char *identity;    /* private key file */
	const char *known_hosts; /* file that pins its host keys */
	const char *program;     /* the server's absolute path */
	const char *version;     /* "OpenSSH_9.2p1 Debian-2+deb12u6": from its banner, printable */
	const char *lacks;       /* what it could do elsewhere, and why not here; "" for nothing */
};

/* What a kind prepares: owned, freed by the listener. made is before_start's, the rest prepare's. */
struct xb_private_files {
	char **argv;       /* the server, per connection; ends with NULL */
	char **env;        /* assignments for it alone; ends with NULL. NULL: none */
	char *identity;    /* private key file of the user */
	char *known_hosts; /* will pin the host keys for [127.0.0.1]:port; not prepare's to write */
	struct xb_namelist hostkeys; /* public host key files, for known_hosts */
	char *log;                   /* the file that the server logs into */
	char *lacks;                 /* for xb_private_login, printable; NULL: nothing */
	char *made;                  /* directory made outside the run directory, NULL: none */
};

/* One kind of private server: one file, one row in xb_private_servers. */
struct xb_private_kind {
	const char *name;    /* "openssh"; also begins the name of each of its files */
	const char *program; /* what to look for: "sshd" */
	const char *missing; /* what to tell when it is not installed */
	/* Makes keys and configuration in the run directory and fills files. Runs in the process and
	 * as the user that will serve. Errors are XB_FAULT_TARGET with the server's own message. */
	bool (*prepare)(const struct xb_private_options *options, const char *program,
	    const char *user, struct xb_private_files *files, struct xb_err *err);
	/* Before each start, prepare's own tries included; may be NULL. What it makes outside the run
	 * directory is in files->made and goes away with after_all. What it cannot make the server
	 * will miss, and say so. */
	void (*before_start)(struct xb_private_files *files);
	void (*after_all)(struct xb_private_files *files); /* may be NULL */
	/* Log lines that tell of nothing but a normal connection, as patterns; ends with NULL. */
	const char *const *log_noise;
	/* How long the date, and the like, is before the text of a log line; NULL: there is none. */
	size_t (*log_stamp)(const char *line);
};
extern const struct xb_private_kind xb_private_asyncssh;
extern const struct xb_private_kind xb_private_dropbear;
extern const struct xb_private_kind xb_private_openssh;
extern const struct xb_private_kind *const xb_private_servers[]; /* ends with NULL */

/* By name; NULL when there is none. Several kinds can serve at once in one run directory. */
const struct xb_private_kind *xb_private_find(const char *name);

/*
 * Starts the listener for a kind, and one server to see that it speaks. Under sudo it serves (and
 * runs as) the invoking user, the run directory is given to that user; else the current user.
 * Accounts that cannot log in (nologin shell, expired) are XB_FAULT_TARGET errors that name the
 * account and the way around; a signal that asks the program to end is XB_FAULT_SIGNAL.
 *
 * Of the environment the server gets PATH, HOME, USER, LOGNAME, SHELL, LANG, TZ and LD_LIBRARY_PATH,
 * and all that begins with OPENSSL_: OPENSSL_ia32cap, OPENSSL_armcap and OPENSSL_CONF decide how fast
 * its ciphers are, so both ends must have the same; and what its kind adds for it alone.
 */
struct xb_private *xb_private_new(const struct xb_private_kind *kind,
    const struct xb_private_options *options, struct xb_err *err);

const struct xb_private_login *xb_private_login(const struct xb_private *server);

/*
 * CPU nanoseconds of all processes that serve now, sinks included, and of those that have ended since
 * the last drain. Exact but for a process that another one has waited for (the sink, by its shell):
 * until that one has ended too it counts by what it had at the last answer, or by 10 ms ticks. May be
 * asked from a forked trial, one at a time. False when the listener does not answer.
 */
bool xb_private_cpu_ns(const struct xb_private *server, int64_t *ns);

/* What the connections since the last drain came to. */
struct xb_private_usage {
	int64_t cpu_ns;   /* of all reaped processes, sinks included: wait4 */
	unsigned started; /* server processes */
	bool killed;      /* some did not end by themselves in time */
	/* The server's last log lines that tell more than that somebody came and went, printable. */
	char log[400];
};

/*
 * Waits until no connection is served, at most timeout_ns, then kills what is left. False when the
 * listener is gone.
 */
bool xb_private_drain(const struct xb_private *server, int64_t timeout_ns,
    struct xb_private_usage *usage);

/* Ends the listener with all it started and frees server; NULL does nothing. */
void xb_private_free(struct xb_private *server);

#endif
