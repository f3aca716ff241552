#include "target/private_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/signals.h"
#include "target/private_log.h"
#include "target/private_start.h"

/* How long processes that were killed may take to be gone. */
#define REAP_TIMEOUT_NS (2 * XB_NS_PER_SECOND)

/* Ends all that serves; a process that does not die (it hangs in the kernel) is given up. */
static void
kill_all(struct xb_listener *listener)
{
	const int64_t deadline = xb_clock_ns() + REAP_TIMEOUT_NS;
	bool idle = false;

	xb_proc_kill_descendants(getpid());
	for (;;) {
		xb_private_cpu_reap(&listener->cpu, &idle);
		if (idle || xb_clock_ns() >= deadline)
			break;
		xb_signals_poll(NULL, 0, xb_clock_ns() + 2 * XB_NS_PER_MS);
	}
}

static void
reply(const struct xb_listener *listener, const struct xb_private_answer *answer)
{
	/* Nobody reads it when the program is dead, which we notice soon. */
	send(listener->control, answer, sizeof(*answer), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Answers a drain and begins to count anew. */
static void
finish_drain(struct xb_listener *listener, bool killed)
{
	struct xb_private_answer answer;

	memset(&answer, 0, sizeof(answer));
	answer.tag = listener->drain_tag;
	answer.usage.cpu_ns = listener->cpu.reaped_ns;
	answer.usage.started = listener->started;
	answer.usage.killed = killed;
	listener->log_start = xb_private_log_tail(answer.usage.log, sizeof(answer.usage.log),
	    listener->log_fd, listener->log_start, listener->kind);
	xb_private_cpu_reset(&listener->cpu);
	listener->started = 0;
	listener->draining = false;
	reply(listener, &answer);
}

/* Goes on with a drain that was asked for. */
static void
drain(struct xb_listener *listener, bool idle)
{
	if (idle) {
		finish_drain(listener, false);
	} else if (xb_clock_ns() >= listener->drain_deadline) {
		kill_all(listener);
		finish_drain(listener, true);
	}
}

/* Handles one request; false at the end: asked for, or the program is gone. */
static bool
handle_request(struct xb_listener *listener)
{
	struct xb_private_request request;
	struct xb_private_answer answer;
	ssize_t got;

	got = recv(listener->control, &request, sizeof(request), MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got != (ssize_t)sizeof(request))
		return false;
	switch (request.ask) {
	case XB_PRIVATE_ASK_CPU:
		memset(&answer, 0, sizeof(answer));
		answer.tag = request.tag;
		answer.cpu_ns = xb_private_cpu_look(&listener->cpu);
		reply(listener, &answer);
		return true;
	case XB_PRIVATE_ASK_DRAIN:
		listener->draining = true;
		listener->drain_tag = request.tag;
		listener->drain_deadline = xb_clock_ns() + request.timeout_ns;
		return true;
	case XB_PRIVATE_ASK_END:
		break;
	}
	return false;
}

static void
serve(struct xb_listener *listener)
{
	struct pollfd watch[2] = {
		{ .fd = listener->control, .events = POLLIN },
		{ .fd = listener->socket, .events = POLLIN },
	};
	bool idle;

	while (xb_signals_pending() == 0) {
		watch[0].revents = watch[1].revents = 0;
		/* A child's end interrupts this. */
		xb_signals_poll(watch, 2,
		    listener->draining ? listener->drain_deadline : INT64_MAX);
		xb_private_cpu_reap(&listener->cpu, &idle);
		/* Before requests: a connection that is older than a drain belongs to it. */
		if (watch[1].revents != 0 && xb_listener_accept(listener))
			idle = false;
		if (watch[0].revents != 0 && !handle_request(listener))
			return;
		if (listener->draining)
			drain(listener, idle);
	}
}

/* Waits for the server of the start to end, which it does when its client leaves, and forgets it. */
static void
forget_start(struct xb_listener *listener)
{
	const int64_t deadline = xb_clock_ns() + REAP_TIMEOUT_NS;
	char ignored[1];
	bool idle = false;

	for (;;) {
		xb_private_cpu_reap(&listener->cpu, &idle);
		if (idle || xb_clock_ns() >= deadline || xb_signals_pending() != 0)
			break;
		xb_signals_poll(NULL, 0, deadline);
	}
	if (!idle)
		kill_all(listener);
	xb_private_cpu_reset(&listener->cpu);
	listener->started = 0;
	listener->log_start =
	    xb_private_log_tail(ignored, sizeof(ignored), listener->log_fd, 0, listener->kind);
}

void
xb_private_listen(int control, const struct xb_private_kind *kind,
    const struct xb_private_options *options)
{
	struct xb_listener listener = {
		.kind = kind,
		.options = options,
		.control = control,
		.socket = -1,
		.log_fd = -1,
	};
	struct xb_private_ready *ready = xb_calloc(1, sizeof(*ready));
	bool told;

	ready->ok = xb_listener_start(&listener, ready, &ready->err);
	if (ready->ok)
		forget_start(&listener);
	told = send(control, ready, sizeof(*ready), MSG_NOSIGNAL) == (ssize_t)sizeof(*ready);
	if (ready->ok && told)
		serve(&listener);
	kill_all(&listener);
	xb_listener_release(&listener);
	free(ready);
	_exit(0);
}
