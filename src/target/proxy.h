#ifndef XB_TARGET_PROXY_H
#define XB_TARGET_PROXY_H

#include <stdbool.h>
#include <sys/types.h>

struct xb_err;
struct xb_namelist;
struct xb_ssh_config;

/* A program that carries the connection of one worker. All-zero, or after its end: none runs. */
struct xb_proxy {
	pid_t pid;
	int log_fd; /* what it writes to stderr; -1: it is somebody else's */
};

/*
 * The command line that ProxyJump or ProxyCommand (whose tokens are expanded) asks for; empty: none.
 * As ssh does it: a jump is `ssh -W` with the same -F file (NULL: the usual ones) and none of the -o,
 * which are about the target; a command is the one thing that a shell runs.
 */
void xb_proxy_command(const struct xb_ssh_config *config, const char *host, unsigned port,
    const char *file, struct xb_namelist *argv);

/* Memory for what a proxy says, as a descriptor; -1 with err set. */
int xb_proxy_log(struct xb_err *err);

/* Adds the last line of what it holds to an error that is set. */
void xb_proxy_add_words(int log_fd, struct xb_err *err);

/*
 * Starts it on a socket pair, its stderr in log_fd (the caller's; -1: one of its own), and returns our end, non-blocking and close-on-exec; -1 with err set. It
 * is killed when this process dies.
 */
int xb_proxy_start(const struct xb_namelist *argv, int log_fd, struct xb_proxy *proxy,
    struct xb_err *err);

/*
 * Once our end is closed: gives it a moment to end by itself, then kills it and what it has started,
 * and reaps it. The last line of what it said in a log of its own is added to an error that is set.
 */
void xb_proxy_end(struct xb_proxy *proxy, struct xb_err *err);

#endif
