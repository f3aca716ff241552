#ifndef XB_BENCH_ROUNDS_H
#define XB_BENCH_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xb_err;
struct xb_payload;
struct xb_run;
struct xb_target;

/* What the one who watches a run is told. */
struct xb_rounds_news {
	unsigned round; /* from 0 */
	unsigned rounds;
	const char *label;   /* what runs now: a cipher's label, "raw speeds", "login" */
	double seconds_left; /* predicted */
};

/* How to run the rounds of a plan. */
struct xb_rounds {
	struct xb_run *run; /* planned; is filled */
	struct xb_target *const *targets; /* beside run->targets; NULL where one is absent */
	struct xb_payload *payload;
	const char *remote_file; /* the user's, on the far side; NULL: none */
	int64_t stall_ns;
	int64_t max_ns; /* bounds the run: no trial begins that would pass it; 0: no bound */
	/* Both may be NULL. on_round is called after each whole round, and false from it ends the
	 * run with err. */
	void (*on_news)(void *ctx, const struct xb_rounds_news *news);
	bool (*on_round)(void *ctx, const struct xb_run *run, struct xb_err *err);
	void *ctx;
};

/*
 * Logs in once for each target, client, method and direction to see that it works (and, where the far
 * side has GNU wc, that it counts what we send): what does not work is found here and is then the
 * reason of all its cases; the suite as negotiated is read here, and its case joins an equal one. Then
 * visits all planned cases in each round in a fresh random order from the recorded seed.
 * A disturbed trial is repeated once. A signal or the time bound ends it early: what is measured
 * stays, run->partial tells. Every planned case ends as measured or failed. False with err set when
 * no login works (XB_FAULT_TARGET) or this machine does (XB_FAULT_SYSTEM).
 */
bool xb_rounds_run(const struct xb_rounds *rounds, struct xb_err *err);

#endif
