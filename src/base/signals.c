#include "base/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/*
 * The low bits hold the first signal that asked us to end, one bit above them says that a SIGCONT
 * came. Both in one word: the end signals are blocked outside xb_signals_poll and handlers block
 * each other, so that SIGCONT alone can come between a read and a write of it; change_state shuts
 * that out.
 */
#define SIGNAL_BITS 0x7f
#define CONTINUED_BIT 0x80

static volatile sig_atomic_t state;

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };

#define END_SIGNAL_COUNT (sizeof(end_signals) / sizeof(end_signals[0]))

static void
on_end(int signo)
{
	if ((state & SIGNAL_BITS) == 0)
		state |= signo;
}

static void
on_continue(int signo)
{
	(void)signo;
	state |= CONTINUED_BIT;
}

/* Does nothing: that it is a handler is what ends a ppoll. */
static void
on_child(int signo)
{
	(void)signo;
}

static void
install(int signo, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigfillset(&action.sa_mask);
	sigaction(signo, &action, NULL);
}

static void
change_state(int clear, int set)
{
	sigset_t cont, old;

	sigemptyset(&cont);
	sigaddset(&cont, SIGCONT);
	sigprocmask(SIG_BLOCK, &cont, &old);
	state = (state & ~clear) | set;
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* nohup(1) asks for a run that outlives its terminal. */
static bool
is_ignored_hangup(int signo)
{
	struct sigaction inherited;

	return signo == SIGHUP && sigaction(signo, NULL, &inherited) == 0 &&
	    inherited.sa_handler == SIG_IGN;
}

void
xb_signals_init(void)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (size_t i = 0; i < END_SIGNAL_COUNT; i++) {
		/* Not blocked either: what is blocked becomes pending although it is ignored. */
		if (is_ignored_hangup(end_signals[i])) {
			sigdelset(&mask, end_signals[i]);
			continue;
		}
		sigaddset(&mask, end_signals[i]);
		install(end_signals[i], on_end, SA_RESTART);
	}
	sigaddset(&mask, SIGCHLD);
	sigdelset(&mask, SIGCONT);
	install(SIGCHLD, on_child, SA_RESTART | SA_NOCLDSTOP);
	install(SIGCONT, on_continue, SA_RESTART);
	install(SIGXFSZ, SIG_IGN, 0);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

int
xb_signals_pending(void)
{
	sigset_t pending;

	if ((state & SIGNAL_BITS) != 0)
		return state & SIGNAL_BITS;
	if (sigpending(&pending) != 0)
		return 0;
	for (size_t i = 0; i < END_SIGNAL_COUNT; i++) {
		if (sigismember(&pending, end_signals[i]) == 1) {
			/* Kept, so that a later signal does not change the answer. */
			change_state(0, end_signals[i]);
			return end_signals[i];
		}
	}
	return 0;
}

bool
xb_signals_was_continued(void)
{
	if ((state & CONTINUED_BIT) == 0)
		return false;
	change_state(CONTINUED_BIT, 0);
	return true;
}

int
xb_signals_poll(struct pollfd *fds, nfds_t count, int64_t deadline_ns)
{
	struct timespec left = { 0 };
	sigset_t mask;
	int64_t ns;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (size_t i = 0; i < END_SIGNAL_COUNT; i++)
		sigdelset(&mask, end_signals[i]);
	sigdelset(&mask, SIGCHLD);
	if (deadline_ns == INT64_MAX)
		return ppoll(fds, count, NULL, &mask);
	ns = deadline_ns - xb_clock_ns();
	if (ns > 0) {
		left.tv_sec = (time_t)(ns / XB_NS_PER_SECOND);
		left.tv_nsec = (long)(ns % XB_NS_PER_SECOND);
	}
	return ppoll(fds, count, &left, &mask);
}

void
xb_signals_worker(void)
{
	sigset_t mask;

	/* Ignored first: what the process group got since the fork is dropped, not delivered. */
	for (size_t i = 0; i < END_SIGNAL_COUNT; i++)
		install(end_signals[i], SIG_IGN, 0);
	install(SIGCHLD, on_child, SA_RESTART | SA_NOCLDSTOP);
	install(SIGCONT, on_continue, SA_RESTART);
	change_state(SIGNAL_BITS | CONTINUED_BIT, 0);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

const char *
xb_signals_name(int signo)
{
	switch (signo) {
	case SIGINT:
		return "SIGINT";
	case SIGTERM:
		return "SIGTERM";
	case SIGHUP:
		return "SIGHUP";
	case SIGPIPE:
		return "SIGPIPE";
	default:
		return "a signal";
	}
}

void
xb_signals_raise(int signo)
{
	sigset_t one;

	install(signo, SIG_DFL, 0);
	sigemptyset(&one);
	sigaddset(&one, signo);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(signo);
	/* Only a signal that does not end a process by default comes here. */
	_exit(128 + signo);
}
