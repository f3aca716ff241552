#include "client/call_limit.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/err.h"

/* The timer brings the socket along, so that no global needs to. */
static void
on_time_up(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	if (info->si_code == SI_TIMER)
		shutdown(info->si_value.sival_int, SHUT_RDWR);
}

bool
xb_call_limit_init(struct xb_call_limit *limit, int fd, struct xb_err *err)
{
	struct sigaction action;
	struct sigevent event;

	memset(limit, 0, sizeof(*limit));
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_time_up;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigemptyset(&action.sa_mask);
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGRTMIN;
	event.sigev_value.sival_int = fd;
	if (sigaction(SIGRTMIN, &action, NULL) != 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &limit->timer) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "timer");
	limit->made = true;
	limit->deadline_ns = INT64_MAX;
	return true;
}

void
xb_call_limit_free(struct xb_call_limit *limit)
{
	if (limit->made)
		timer_delete(limit->timer);
	limit->made = false;
}

void
xb_call_limit_reset(struct xb_call_limit *limit, int64_t stall_ns)
{
	const int64_t now = xb_clock_ns(), spare = stall_ns / 8;
	struct itimerspec spec;

	/* The timer runs a little longer than it has to, and most calls need not set it again. */
	if ((limit->deadline_ns != INT64_MAX && limit->deadline_ns - now >= stall_ns) ||
	    stall_ns > INT64_MAX / 4)
		return;
	limit->deadline_ns = now + stall_ns + spare;
	memset(&spec, 0, sizeof(spec));
	spec.it_value.tv_sec = (time_t)(limit->deadline_ns / XB_NS_PER_SECOND);
	spec.it_value.tv_nsec = (long)(limit->deadline_ns % XB_NS_PER_SECOND);
	timer_settime(limit->timer, TIMER_ABSTIME, &spec, NULL);
}

bool
xb_call_limit_expired(const struct xb_call_limit *limit)
{
	return xb_clock_ns() >= limit->deadline_ns;
}
