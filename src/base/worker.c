#include "base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"

/* Workers that run side by side. */
struct crew {
	const struct xb_worker *workers;
	size_t count;
	char *out;
	size_t size; /* room for each in out */
	struct xb_worker_result *results;
	pid_t *pids;        /* 0: not started, or gone */
	struct pollfd *fds; /* the ends of the pipes; -1: as above */
};

/*
 * Reads what is there; false at end of file, which is the worker's end or its closing of the pipe.
 */
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

/* Starts one; in the child it works and does not return. */
static bool
start(struct crew *crew, size_t index, struct xb_err *err)
{
	const struct xb_worker *worker = &crew->workers[index];
	size_t i;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "pipe");
	crew->fds[index] = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	crew->pids[index] = xb_child_fork(err);
	if (crew->pids[index] == 0) {
		for (i = 0; i <= index; i++)
			close(crew->fds[i].fd);
		worker->work(fds[1], worker->ctx);
		_exit(0);
	}
	close(fds[1]);
	if (crew->pids[index] > 0)
		return true;
	close(fds[0]);
	crew->fds[index].fd = -1;
	crew->pids[index] = 0;
	return false;
}

/* Takes one away, by force unless it has ended by itself, and fills its result. */
static void
finish(struct crew *crew, size_t index, enum xb_worker_end end)
{
	const struct xb_worker *worker = &crew->workers[index];
	struct xb_worker_result *result = &crew->results[index];
	struct rusage usage;

	if (end != XB_WORKER_DONE)
		kill(crew->pids[index], SIGKILL);
	while (wait4(crew->pids[index], &result->status, 0, &usage) < 0 && errno == EINTR)
		continue;
	close(crew->fds[index].fd);
	crew->fds[index].fd = -1;
	crew->pids[index] = 0;
	result->end = end == XB_WORKER_DONE && result->status != 0 ? XB_WORKER_DIED : end;
	result->peak_kib = usage.ru_maxrss;
	result->cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * XB_NS_PER_SECOND +
	    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
	if (worker->on_end != NULL)
		worker->on_end(worker->ctx, result);
}

static void
finish_all(struct crew *crew, enum xb_worker_end end)
{
	size_t i;

	for (i = 0; i < crew->count; i++)
		if (crew->pids[i] != 0)
			finish(crew, i, end);
}

/* Ends those that are too late or hang. Returns when to look again, 0 when none is left. */
static int64_t
look(struct crew *crew)
{
	int64_t now = xb_clock_ns(), next = now + XB_NS_PER_SECOND;
	const struct xb_worker *worker;
	bool any = false;
	size_t i;

	for (i = 0; i < crew->count; i++) {
		worker = &crew->workers[i];
		if (crew->pids[i] == 0)
			continue;
		if (now >= worker->deadline_ns) {
			finish(crew, i, XB_WORKER_DEADLINE);
		} else if (worker->is_alive != NULL && !worker->is_alive(worker->ctx)) {
			finish(crew, i, XB_WORKER_HUNG);
		} else {
			any = true;
			if (worker->deadline_ns < next)
				next = worker->deadline_ns;
		}
	}
	return any ? next : 0;
}

/* Until all have ended, each by itself, its deadline, its watch, or all by a signal. */
static void
watch(struct crew *crew)
{
	int64_t next;
	size_t i;

	for (;;) {
		if (xb_signals_pending() != 0)
			finish_all(crew, XB_WORKER_SIGNAL);
		next = look(crew);
		if (next == 0)
			return;
		if (xb_signals_poll(crew->fds, (nfds_t)crew->count, next) <= 0)
			continue;
		for (i = 0; i < crew->count; i++)
			if (crew->pids[i] != 0 && crew->fds[i].revents != 0 &&
			    !collect(crew->fds[i].fd, crew->out + i * crew->size, crew->size,
				&crew->results[i].len))
				finish(crew, i, XB_WORKER_DONE);
	}
}

void
xb_worker_run_all(const struct xb_worker *workers, size_t count, void *out, size_t size,
    struct xb_worker_result *results, struct xb_err *err)
{
	struct crew crew = {
		.workers = workers,
		.count = count,
		.out = out,
		.size = size,
		.results = results,
		.pids = xb_calloc(count, sizeof(*crew.pids)),
		.fds = xb_calloc(count, sizeof(*crew.fds)),
	};
	bool ok = true;
	size_t i;

	memset(results, 0, count * sizeof(*results));
	for (i = 0; i < count; i++) {
		results[i].end = XB_WORKER_ERROR;
		crew.fds[i].fd = -1;
	}
	for (i = 0; ok && i < count; i++)
		ok = start(&crew, i, err);
	if (ok)
		watch(&crew);
	else
		finish_all(&crew, XB_WORKER_ERROR);
	free(crew.pids);
	free(crew.fds);
}

void
xb_worker_run(const struct xb_worker *worker, void *out, size_t size,
    struct xb_worker_result *result, struct xb_err *err)
{
	xb_worker_run_all(worker, 1, out, size, result, err);
}
