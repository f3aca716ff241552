#include "client/openssh_session.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"
#include "client/openssh_argv.h"

/* How often a wait looks around. */
#define LOOK_NS (250 * XB_NS_PER_MS)

/* At most so much is taken at once from one pipe, so that no flood can hold up a deadline. */
#define TAKE_BYTES (1024u * 1024)

int64_t
xb_openssh_later(int64_t from_ns, int64_t ns)
{
	return ns < INT64_MAX - from_ns ? from_ns + ns : INT64_MAX;
}

bool
xb_openssh_has(const struct xb_openssh *s, enum xb_openssh_event event)
{
	return (s->seen & (1u << event)) != 0;
}

void
xb_openssh_enter(struct xb_openssh *s, enum xb_phase phase)
{
	s->phase = phase;
	s->phase_ns = xb_clock_ns();
	atomic_store_explicit(&s->transfer->live->phase, (int)phase, memory_order_relaxed);
}

/* A pipe whose first end is the child's when it is its stdin, else the second. */
static bool
make_pipe(int *ours, int *theirs, bool is_input, struct xb_err *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "pipe");
	*theirs = fds[is_input ? 0 : 1];
	*ours = fds[is_input ? 1 : 0];
	/* Only ours: whether the other end blocks is the program's business. */
	fcntl(*ours, F_SETFL, O_NONBLOCK);
	return true;
}

bool
xb_openssh_start(struct xb_openssh *s, const struct xb_openssh_argv *argv, struct xb_err *err)
{
	struct xb_child_spec spec = { .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1 };
	char **env = xb_openssh_env();
	pid_t pid = -1;

	s->begun = true;
	s->in = s->out = s->err = -1;
	s->log.on_event = xb_openssh_on_event;
	s->log.ctx = s;
	spec.argv = (const char *const *)argv->words;
	spec.envp = (const char *const *)env;
	spec.cpu = -1;
	spec.new_session = true;
	if (xb_openssh_warden_start(&s->warden, err) &&
	    make_pipe(&s->in, &spec.stdin_fd, true, err) &&
	    make_pipe(&s->out, &spec.stdout_fd, false, err) &&
	    make_pipe(&s->err, &spec.stderr_fd, false, err)) {
		s->start_ns = xb_clock_ns();
		xb_openssh_enter(s, XB_PHASE_START);
		pid = xb_child_spawn(&spec, err);
		if (pid > 0)
			xb_openssh_warden_watch(&s->warden, pid);
	}
	if (spec.stdin_fd >= 0)
		close(spec.stdin_fd);
	if (spec.stdout_fd >= 0)
		close(spec.stdout_fd);
	if (spec.stderr_fd >= 0)
		close(spec.stderr_fd);
	xb_openssh_env_free(env);
	s->pid = pid > 0 ? pid : 0;
	return pid > 0;
}

/* Takes what is there in one pipe, and closes it at its end. */
static void
take(struct xb_openssh *s, int *fd)
{
	char bytes[16384];
	size_t taken = 0;
	ssize_t got;

	while (*fd >= 0 && taken < TAKE_BYTES) {
		got = read(*fd, bytes, sizeof(bytes));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0) {
			close(*fd);
			*fd = -1;
			return;
		}
		taken += (size_t)got;
		if (fd == &s->err)
			xb_openssh_log_feed(&s->log, bytes, (size_t)got);
		else
			s->on_output(s->output_ctx, bytes, (size_t)got);
	}
}

static void
take_all(struct xb_openssh *s)
{
	take(s, &s->err);
	if (s->on_output != NULL)
		take(s, &s->out);
}

/* It stays a zombie: its figures can be read, and its group's number is not given out again. */
static void
look_for_end(struct xb_openssh *s)
{
	siginfo_t info = { .si_pid = 0 };

	if (s->ended || waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid != s->pid)
		return;
	s->ended = true;
	s->status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0)
					       : W_EXITCODE(0, info.si_status);
	/* Not until end of file: what the program started may hold the pipes open. */
	take_all(s);
	xb_openssh_log_end(&s->log);
}

enum xb_io
xb_openssh_wait(struct xb_openssh *s, int64_t deadline_ns, struct xb_err *err)
{
	int64_t now = xb_clock_ns(), next;
	int n;

	while (!s->ended && now < deadline_ns) {
		struct pollfd fds[] = {
			{ .fd = s->err, .events = POLLIN },
			{ .fd = s->on_output != NULL ? s->out : -1, .events = POLLIN },
		};

		next = now + LOOK_NS < deadline_ns ? now + LOOK_NS : deadline_ns;
		n = xb_signals_poll(fds, 2, next);
		if (n < 0 && errno != EINTR) {
			xb_fail_errno(err, XB_FAULT_TRIAL, "poll");
			return XB_IO_FAILED;
		}
		take_all(s);
		look_for_end(s);
		if (n > 0)
			return XB_IO_DONE;
		now = xb_clock_ns();
	}
	return s->ended ? XB_IO_DONE : XB_IO_AGAIN;
}

enum xb_io
xb_openssh_wait_moving(struct xb_openssh *s, struct xb_err *err)
{
	int64_t now = xb_clock_ns();
	enum xb_io io;

	if (xb_openssh_watch_moved(&s->watch))
		atomic_fetch_add_explicit(&s->transfer->live->beats, 1, memory_order_relaxed);
	else if (now - s->watch.progress_ns >= s->transfer->stall_ns)
		return XB_IO_AGAIN;
	io = xb_openssh_wait(s, now + LOOK_NS, err);
	return io == XB_IO_AGAIN ? XB_IO_DONE : io;
}

void
xb_openssh_nap(struct xb_openssh *s, int64_t ns)
{
	const struct timespec patience = { .tv_sec = ns / XB_NS_PER_SECOND,
		.tv_nsec = ns % XB_NS_PER_SECOND };
	struct pollfd fds[] = {
		{ .fd = s->err, .events = POLLIN },
		{ .fd = s->on_output != NULL ? s->out : -1, .events = POLLIN },
	};

	if (ppoll(fds, 2, &patience, NULL) != 0)
		take_all(s);
	look_for_end(s);
}

bool
xb_openssh_ready(struct xb_openssh *s, struct xb_err *err)
{
	const struct xb_transfer *transfer = s->transfer;

	xb_openssh_watch_ready(&s->watch, s->pid, transfer->method != XB_METHOD_EXEC);
	xb_openssh_enter(s, XB_PHASE_STREAM);
	if (!transfer->on_ready(transfer->ctx))
		return xb_fail(err, XB_FAULT_TRIAL, "another stream has failed");
	s->phase_ns = xb_clock_ns();
	s->watch.progress_ns = s->phase_ns;
	return true;
}

void
xb_openssh_end(struct xb_openssh *s)
{
	s->transfer->on_end(s->transfer->ctx);
	xb_openssh_watch_end(&s->watch, s->transfer->direction, s->outcome);
	xb_openssh_enter(s, XB_PHASE_CLOSE);
}

bool
xb_openssh_await_exit(struct xb_openssh *s, struct xb_err *err)
{
	const int64_t deadline = xb_openssh_later(xb_clock_ns(), s->transfer->stall_ns);

	while (!s->ended) {
		switch (xb_openssh_wait(s, deadline, err)) {
		case XB_IO_DONE:
			break;
		case XB_IO_AGAIN:
			return xb_fail(err, XB_FAULT_TRIAL,
			    "%s did not end after the transfer (a longer wait: --stall-timeout)",
			    s->program);
		case XB_IO_FAILED:
			return false;
		}
	}
	return true;
}

/*
 * What had ended before the end line could ask it: all that it used in its life, as its parent
 * knows, and all that the session moved, as ssh told. Both have the session's own end in them, and
 * no more.
 */
static void
fill_gaps(struct xb_openssh *s, const struct rusage *usage)
{
	struct xb_outcome *outcome = s->outcome;
	const bool is_upload = s->transfer->direction == XB_UPLOAD;
	int64_t life_ns = (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * XB_NS_PER_SECOND +
	    (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * INT64_C(1000);

	if (s->watch.count == 0 || !s->ended)
		return;
	if (isnan(outcome->programs_cpu_seconds) && s->watch.ready_cpu_ns >= 0 &&
	    life_ns >= s->watch.ready_cpu_ns)
		outcome->programs_cpu_seconds = xb_seconds(life_ns - s->watch.ready_cpu_ns);
	if (outcome->wire_bytes == 0)
		outcome->wire_bytes = is_upload ? s->log.wire_sent : s->log.wire_received;
}

void
xb_openssh_close(struct xb_openssh *s)
{
	struct rusage usage = { 0 };

	if (!s->begun)
		return;
	/* The group: scp and sftp have an ssh below them, and ssh may have a proxy. */
	if (s->pid != 0)
		kill(-s->pid, SIGKILL);
	xb_openssh_warden_end(&s->warden);
	if (s->pid != 0) {
		while (wait4(s->pid, NULL, 0, &usage) < 0 && errno == EINTR)
			continue;
		fill_gaps(s, &usage);
	}
	s->pid = 0;
	if (s->in >= 0)
		close(s->in);
	if (s->out >= 0)
		close(s->out);
	if (s->err >= 0)
		close(s->err);
}
