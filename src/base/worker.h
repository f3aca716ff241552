#ifndef XB_BASE_WORKER_H
#define XB_BASE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xb_err;

enum xb_worker_end {
	XB_WORKER_DONE,     /* ended by itself */
	XB_WORKER_DIED,     /* killed by a signal that we did not send, or exit status not 0 */
	XB_WORKER_DEADLINE, /* killed by us: too late */
	XB_WORKER_HUNG,     /* killed by us: is_alive said so */
	XB_WORKER_SIGNAL,   /* killed by us: a signal asks the program to end */
	XB_WORKER_ERROR,    /* it, or another one of its group, could not be started */
};

/* What became of a worker. */
struct xb_worker_result {
	enum xb_worker_end end;
	size_t len;    /* bytes of out that the worker wrote */
	int status;    /* wait(2) status */
	long peak_kib; /* peak memory */
	int64_t cpu_ns;
};

/*
 * A piece of work in a forked process of its own, so that a hang is ended by a deadline, a crash is
 * one failed result, and memory and CPU are exact. The worker writes its result to out_fd.
 */
struct xb_worker {
	void (*work)(int out_fd, void *ctx); /* in the child; returning ends it */
	void *ctx;
	int64_t deadline_ns; /* monotonic; INT64_MAX: none */
	/* Asked about once a second in the parent: false ends the worker as hung. NULL: never. */
	bool (*is_alive)(void *ctx);
	/* Called in the parent as soon as this worker is gone, when others of its group may still run.
	 * NULL: nobody asks. */
	void (*on_end)(void *ctx, const struct xb_worker_result *result);
};

/*
 * Runs the worker and collects at most size bytes of its output. err is set (XB_FAULT_SYSTEM) when
 * it could not be started.
 */
void xb_worker_run(const struct xb_worker *worker, void *out, size_t size,
    struct xb_worker_result *result, struct xb_err *err);

/*
 * Runs several workers side by side, at least one, until all have ended: each with its own
 * deadline, watch and result; out has room for size bytes of each, one after the other. A signal
 * that asks the program to end ends them all, and when one cannot be started none is left running.
 */
void xb_worker_run_all(const struct xb_worker *workers, size_t count, void *out, size_t size,
    struct xb_worker_result *results, struct xb_err *err);

#endif
