#ifndef TESTS_UNIT_SSH_TRANSFER_H
#define TESTS_UNIT_SSH_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"
#include "client/client.h"

/*
 * Transfers by one client against a private sshd, each in a process of its own as in a trial. Needs
 * scratch_set_up and signals. What goes wrong here fails the test.
 */

/* No multiple of any buffer, packet or window. */
#define SSH_TRANSFER_SIZE UINT64_C(1000003)

/*
 * The patience for where something is stuck, and how a reason words it. Long enough for the steps
 * before that, with sanitizers and on a busy machine.
 */
#define SSH_TRANSFER_SHORT_NS (2 * XB_NS_PER_SECOND)
#define SSH_TRANSFER_SHORT "2 s"

/* A private sshd, something to send, and a file to download. */
struct ssh_transfer_server {
	struct xb_rundir *dir;
	struct xb_target *target;
	struct xb_payload *payload; /* random */
	char *file;                 /* of SSH_TRANSFER_SIZE bytes; its name is an awkward one */
};

/* options: of sshd, before those of its configuration; NULL: none. */
struct ssh_transfer_server ssh_transfer_start(const char *options);
void ssh_transfer_stop(struct ssh_transfer_server *server);

/*
 * A directory in the server's with one program in it, a shell script of this body; its path,
 * fresh.
 */
char *ssh_transfer_bin(const struct ssh_transfer_server *server, const char *name,
    const char *program, const char *body);

/* What a transfer came to. */
struct ssh_transfer_result {
	bool ok;
	unsigned logins, readies, ends; /* how often each was told */
	int64_t seconds_ns;             /* between ready and end */
	int phase;                      /* where it stood last */
	struct xb_outcome outcome;
	struct xb_err err;
};

/* A transfer of SSH_TRANSFER_SIZE bytes; other fields may be changed before it runs. */
struct xb_transfer ssh_transfer_of(const struct ssh_transfer_server *server, enum xb_method method,
    enum xb_direction direction, const struct xb_suite *suite);

/*
 * Runs it: when the client's process has ended no descendant of this process is left but those of
 * the server. path: the PATH meanwhile, NULL: as it is.
 */
struct ssh_transfer_result ssh_transfer_run(const struct xb_client *client,
    const struct xb_transfer *transfer, const char *path);

/* It came to so many bytes. */
void ssh_transfer_expect(const struct ssh_transfer_result *result, uint64_t bytes);

/* It failed with this fault, and a reason that has this text in it. */
void ssh_transfer_expect_failure(const struct ssh_transfer_result *result, enum xb_fault fault,
    const char *reason);

#endif
