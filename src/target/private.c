#include "target/private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"
#include "target/private_listener.h"

/* Each step of the start has its own, shorter limit; this is for an account database that hangs. */
#define READY_TIMEOUT_NS (30 * XB_NS_PER_SECOND)

/* Killing what it started takes the listener this long at most, and then some. */
#define END_TIMEOUT_NS (6 * XB_NS_PER_SECOND)

#define ANSWER_TIMEOUT_NS (2 * XB_NS_PER_SECOND)

struct xb_private {
	const struct xb_private_kind *kind;
	pid_t listener;
	int control;
	struct xb_private_ready ready;
	struct xb_private_login login; /* points into ready */
};

const struct xb_private_kind *const xb_private_servers[] = {
	&xb_private_openssh,
	&xb_private_dropbear,
	&xb_private_asyncssh,
	NULL,
};

const struct xb_private_kind *
xb_private_find(const char *name)
{
	const struct xb_private_kind *const *kind = xb_private_servers;

	while (*kind != NULL && strcmp((*kind)->name, name) != 0)
		kind++;
	return *kind;
}

/* Waits for the ready packet; false with err when the listener failed, hangs, or a signal came. */
static bool
wait_ready(struct xb_private *server, struct xb_err *err)
{
	const int64_t deadline = xb_clock_ns() + READY_TIMEOUT_NS;
	struct pollfd watch = { .fd = server->control, .events = POLLIN };
	ssize_t got;

	while (xb_signals_poll(&watch, 1, deadline) <= 0) {
		if (xb_signals_pending() != 0)
			return xb_fail(err, XB_FAULT_SIGNAL,
			    "a signal ended the start of the private server");
		if (xb_clock_ns() >= deadline)
			return xb_fail(err, XB_FAULT_TARGET,
			    "the private server was not ready within %d s; see whether 'getent "
			    "passwd' hangs",
			    (int)(READY_TIMEOUT_NS / XB_NS_PER_SECOND));
	}
	got = recv(server->control, &server->ready, sizeof(server->ready), 0);
	if (got != (ssize_t)sizeof(server->ready))
		return xb_fail(err, XB_FAULT_TARGET,
		    "the private server's listener died while it started");
	if (!server->ready.ok) {
		xb_fail(err, server->ready.err.fault, "%s", server->ready.err.text);
		return false;
	}
	server->login = (struct xb_private_login){
		.port = server->ready.port,
		.user = server->ready.user,
		.identity = server->ready.identity,
		.known_hosts = server->ready.known_hosts,
		.program = server->ready.program,
		.version = server->ready.version,
		.lacks = server->ready.lacks,
	};
	return true;
}

struct xb_private *
xb_private_new(const struct xb_private_kind *kind, const struct xb_private_options *options,
    struct xb_err *err)
{
	struct xb_private *server;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot make a socket for the private server");
		return NULL;
	}
	server = xb_calloc(1, sizeof(*server));
	server->kind = kind;
	server->control = pair[0];
	server->listener = xb_child_fork(err);
	if (server->listener == 0) {
		/* The listener takes the end of this for the end of the program. */
		close(pair[0]);
		xb_private_listen(pair[1], kind, options);
	}
	close(pair[1]);
	if (server->listener < 0 || !wait_ready(server, err)) {
		xb_private_free(server);
		return NULL;
	}
	return server;
}

const struct xb_private_login *
xb_private_login(const struct xb_private *server)
{
	return &server->login;
}

/* Waits for the next packet until the deadline; false when there is none or the listener is gone. */
static bool
receive(int control, int64_t deadline, struct xb_private_answer *answer)
{
	struct pollfd watch = { .fd = control, .events = POLLIN };
	int ready;

	do
		ready = poll(&watch, 1, xb_clock_poll_ms(deadline));
	while (ready < 0 && errno == EINTR);
	return ready > 0 &&
	    recv(control, answer, sizeof(*answer), MSG_DONTWAIT) == (ssize_t)sizeof(*answer);
}

static bool
ask(const struct xb_private *server, enum xb_private_ask what, int64_t timeout_ns, int64_t wait_ns,
    struct xb_private_answer *answer)
{
	const int64_t now = xb_clock_ns();
	const int64_t deadline = now + wait_ns;
	struct xb_private_request request;

	/* The padding too goes to a process that may be another user's. */
	memset(&request, 0, sizeof(request));
	request.ask = what;
	request.tag = now;
	request.timeout_ns = timeout_ns;
	if (send(server->control, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return false;
	do {
		if (!receive(server->control, deadline, answer))
			return false;
		/* Another tag: the answer for a trial that was killed while it waited. */
	} while (answer->tag != request.tag);
	return true;
}

bool
xb_private_cpu_ns(const struct xb_private *server, int64_t *ns)
{
	struct xb_private_answer answer;

	if (!ask(server, XB_PRIVATE_ASK_CPU, 0, ANSWER_TIMEOUT_NS, &answer))
		return false;
	*ns = answer.cpu_ns;
	return true;
}

bool
xb_private_drain(const struct xb_private *server, int64_t timeout_ns,
    struct xb_private_usage *usage)
{
	struct xb_private_answer answer;

	if (!ask(server, XB_PRIVATE_ASK_DRAIN, timeout_ns, timeout_ns + END_TIMEOUT_NS, &answer))
		return false;
	*usage = answer.usage;
	return true;
}

/* Asks the listener to end and waits for it; kills it when it does not. Returns its wait(2) status. */
static int
end_listener(const struct xb_private *server)
{
	const int64_t deadline = xb_clock_ns() + END_TIMEOUT_NS;
	struct xb_private_request request;
	struct xb_private_answer dropped;
	int status = 0;

	memset(&request, 0, sizeof(request));
	request.ask = XB_PRIVATE_ASK_END;
	send(server->control, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT);
	/* For while it starts and does not listen yet. */
	kill(server->listener, SIGTERM);
	while (receive(server->control, deadline, &dropped))
		;
	/* Its end of the pair is closed, or the time is over. */
	if (xb_clock_ns() >= deadline)
		kill(server->listener, SIGKILL);
	while (waitpid(server->listener, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

void
xb_private_free(struct xb_private *server)
{
	struct xb_private_files left = { 0 };
	int status;

	if (server == NULL)
		return;
	if (server->listener > 0) {
		status = end_listener(server);
		/* A listener that was killed has not cleaned up. */
		if (!WIFEXITED(status) && server->ready.made[0] != '\0' &&
		    server->kind->after_all != NULL) {
			left.made = server->ready.made;
			server->kind->after_all(&left);
		}
	}
	close(server->control);
	free(server);
}
