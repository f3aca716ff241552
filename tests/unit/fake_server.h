#ifndef TESTS_UNIT_FAKE_SERVER_H
#define TESTS_UNIT_FAKE_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "target/private.h"

/*
 * A private server whose kind is a shell script: its stdin and stdout are the client's socket. Needs
 * scratch_set_up. What goes wrong here fails the test.
 */

/* Nothing here takes this long but what hangs. */
#define HANG_NS (20 * XB_NS_PER_SECOND)

/* Parts of scripts: the identification line; CPU time for a while that any clock can see; a server
 * that stays until its client leaves; one that has to be killed, once it was told to go. */
#define FAKE_BANNER "printf 'SSH-2.0-Fake_1.0 of ours\\r\\n'; "
#define FAKE_BURN "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; "
#define FAKE_POLITE FAKE_BANNER "cat > /dev/null"
#define FAKE_STUBBORN "trap '' TERM HUP; " FAKE_BANNER "read x || exit; sleep 1000 & sleep 1000"

/* How many processes a stubborn server has, the listener included. */
#define FAKE_STUBBORN_COUNT 4

struct fake_server {
	struct xb_rundir *dir;
	struct xb_private *server;
	const struct xb_private_login *login;
};

/* The kind. It makes "outside" in the scratch directory, to be gone in the end. */
extern const struct xb_private_kind fake_kind;

/* For the whole group: this process serves itself, and what a test leaves behind becomes its child. */
int fake_server_set_up_group(void **state);

/* A server that runs script; the only child of this process is then its listener. */
struct fake_server fake_server_start(const char *script);
void fake_server_stop(struct fake_server *fake);

/* The error of a start that must fail, and leave nothing. script NULL: fails to prepare. */
struct xb_err fake_server_refusal(const char *script, const struct xb_private_kind *kind,
    const char *program);

/* A client's socket; the identification has been read. */
int fake_server_connect(const struct fake_server *fake);

/* Says "word" to the server as a line of its own. */
void fake_server_say(int fd, const char *word);

/* Reads a line; cut to size - 1, without its end. */
void fake_server_read_line(int fd, char *line, size_t size);

struct xb_private_usage fake_server_drain(const struct fake_server *fake, int64_t timeout_ns);
int64_t fake_server_cpu(const struct fake_server *fake);

/* Our descendants, zombies apart; the other waits until there are so many. */
size_t count_descendants(void);
void wait_for_descendants(size_t count);

#endif
