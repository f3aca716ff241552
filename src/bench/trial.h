#ifndef XB_BENCH_TRIAL_H
#define XB_BENCH_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/sample.h"

struct xb_client;
struct xb_payload;
struct xb_suite;
struct xb_target;

/* One trial, as the rounds ask for it. */
struct xb_trial {
	const struct xb_client *client;
	const struct xb_target *target; /* NULL for the null client */
	const struct xb_suite *suite;
	enum xb_method method;
	enum xb_direction direction;
	unsigned streams; /* sessions at once, 0 is 1; they stream when all are ready */
	const struct xb_payload *payload;
	const char *remote_file; /* as in struct xb_transfer */
	uint64_t remote_bytes;
	int64_t time_ns; /* as in struct xb_transfer */
	uint64_t size;
	int64_t stall_ns;
	bool count;
	const char *login_hint; /* as an earlier trial's end gave it, NULL: none */
	int client_cpu;         /* -1: anywhere */
	int server_cpu;         /* for a sink of our own, -1: anywhere */
};

/* What became of it, besides the sample. */
struct xb_trial_end {
	struct xb_err err; /* why it failed; XB_FAULT_SIGNAL: the program shall end */
	int phase;         /* where it failed, enum xb_phase */
	uint64_t counted;  /* what the far side counted, when has_count */
	bool has_count;
	char login[200]; /* the key that came in, the next trial's hint; "" unknown */
};

/*
 * Runs one trial, each stream in a process of its own: connect, login, stream, confirmation.
 * Afterwards no process of a private server is left. The sample is whole in any case: measured, or
 * failed with its reason, where bytes is what had been sent.
 *
 * The clock runs from the ready line to the end line, CPU and marks are taken over the same span.
 * With several streams that is from the moment when the last of them is ready, before which none
 * streams, to the last one's end; bytes, CPU and memory are sums, login figures are those of the
 * slowest, the server's core share that of the busiest. The failure of one is the failure of all,
 * which end soon.
 *
 * CPU of a private server is exact (wait4) where it is done at our end: for uploads, and for
 * downloads that end with their size or their file. Where the clock ends a download, and the server
 * sends on, it is what the server had used when the last stream ended, exact for processes that
 * live then. The method login gives the steps' seconds, and nothing that tells of a stream.
 */
void xb_trial_run(const struct xb_trial *trial, struct xb_sample *sample, struct xb_trial_end *end);

/* The sample and the end of a trial that could not even begin. */
void xb_trial_refuse(const struct xb_err *err, struct xb_sample *sample, struct xb_trial_end *end);

#endif
