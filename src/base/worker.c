#include "base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"

/* Reads what is there; false at end of file, which is the worker's end or its closing of the pipe. */
static bool
collect(int fd, char *out, size_t size, size_t *len)
{
	char scrap[512];
	ssize_t got;

	if (*len < size)
		got = read(fd, out + *len, size - *len);
	else
		got = read(fd, scrap, sizeof(scrap));
	if (got > 0 && *len < size)
		*len += (size_t)got;
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Waits for the end of the output, the deadline, the watch or a signal, whichever is first. */
static enum xb_worker_end
watch(const struct xb_worker *worker, int fd, char *out, size_t size, size_t *len)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int64_t now, next;

	for (;;) {
		now = xb_clock_ns();
		if (xb_signals_pending() != 0)
			return XB_WORKER_SIGNAL;
		if (now >= worker->deadline_ns)
			return XB_WORKER_DEADLINE;
		if (worker->is_alive != NULL && !worker->is_alive(worker->ctx))
			return XB_WORKER_HUNG;
		next = now + XB_NS_PER_SECOND;
		if (next > worker->deadline_ns)
			next = worker->deadline_ns;
		if (xb_signals_poll(&pfd, 1, next) > 0 && !collect(fd, out, size, len))
			return XB_WORKER_DONE;
	}
}

void
xb_worker_run(const struct xb_worker *worker, void *out, size_t size,
    struct xb_worker_result *result, struct xb_err *err)
{
	struct rusage usage;
	int fds[2];
	pid_t pid;

	memset(result, 0, sizeof(*result));
	result->end = XB_WORKER_ERROR;
	if (pipe2(fds, O_CLOEXEC) != 0) {
		xb_fail_errno(err, XB_FAULT_SYSTEM, "pipe");
		return;
	}
	pid = xb_child_fork(err);
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return;
	}
	if (pid == 0) {
		close(fds[0]);
		worker->work(fds[1], worker->ctx);
		_exit(0);
	}
	close(fds[1]);
	result->end = watch(worker, fds[0], out, size, &result->len);
	if (result->end != XB_WORKER_DONE)
		kill(pid, SIGKILL);
	while (wait4(pid, &result->status, 0, &usage) < 0 && errno == EINTR)
		continue;
	close(fds[0]);
	result->peak_kib = usage.ru_maxrss;
	result->cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * XB_NS_PER_SECOND +
	    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
	if (result->end == XB_WORKER_DONE && result->status != 0)
		result->end = XB_WORKER_DIED;
}
