#ifndef TESTS_UNIT_SSH_PEER_H
#define TESTS_UNIT_SSH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/private.h"

/*
 * A real private server, and logins to it as a user would have them: by ssh and by libssh2. Needs
 * scratch_set_up. What goes wrong here fails the test.
 */

struct ssh_peer {
	const struct xb_private_kind *kind;
	struct xb_rundir *dir;
	struct xb_private *server;
	const struct xb_private_login *login;
};

/* For the whole group, as fake_server has it; OpenSSL's old ciphers come with it where they can. */
int ssh_peer_set_up_group(void **state);

/* Why a kind cannot be had on this machine, for a skip; NULL when it can. */
const char *ssh_peer_absent(const struct xb_private_kind *kind);

/* Starts a server; options without dir and server_cpu, NULL: all by default. */
struct ssh_peer ssh_peer_start(const struct xb_private_kind *kind,
    const struct xb_private_options *options);

/* Ends it: no process and no file of it may be left. */
void ssh_peer_stop(struct ssh_peer *peer);

/* The error of a start that must fail, and leave nothing. */
struct xb_err ssh_peer_refusal(const struct xb_private_kind *kind,
    const struct xb_private_options *options);

/*
 * "PROGRAM OPTION… REST…", where the program is one of OpenSSH's: with the key and the known_hosts file of
 * the server, and with options before, which win. Both lists end with NULL. Returns its exit status, and
 * what it printed.
 */
int ssh_peer_program(const struct ssh_peer *peer, const char *program, const char *const *options,
    const char *const *rest, char *out, size_t size);

/* The same for "ssh OPTION… HOST COMMAND"; options NULL: none. */
int ssh_peer_ssh(const struct ssh_peer *peer, const char *const *options, const char *command,
    char *out, size_t size);

/* What a login by libssh2 came to. */
struct ssh_peer_stream {
	char cipher[64];      /* as negotiated, of what we send */
	char hostkey[64];     /* algorithm of the key, which known_hosts vouched for */
	unsigned long window; /* that the far side granted at first */
	uint64_t counted;     /* on the far side */
};

/*
 * Logs in by libssh2 and sends bytes under a cipher and a MAC (NULL: what comes out of itself) to a
 * command that counts them; NULL: "wc -c".
 */
struct ssh_peer_stream ssh_peer_send(const struct ssh_peer *peer, const char *cipher,
    const char *mac, const char *sink, size_t bytes);

/* Logs in by libssh2, starts a command and breaks the connection. */
void ssh_peer_abandon(const struct ssh_peer *peer, const char *command);

struct xb_private_usage ssh_peer_drain(const struct ssh_peer *peer);

#endif
