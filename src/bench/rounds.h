#ifndef XB_BENCH_ROUNDS_H
#define XB_BENCH_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xb_client;
struct xb_err;
struct xb_payload;
struct xb_run;
struct xb_target;

/* What the one who watches a run is told. */
struct xb_rounds_news {
	unsigned round; /* from 0 */
	unsigned rounds;
	const char *label;   /* what runs now: "aes128-ctr by ssh", "raw speeds", "login by ssh" */
	double seconds_left; /* predicted */
};

/* How to run the rounds of a plan. */
struct xb_rounds {
	struct xb_run *run;               /* planned; is filled */
	struct xb_target *const *targets; /* beside run->targets; NULL where one is absent */
	const struct xb_client *const
	    *clients; /* the table that the plan was made with; NULL: xb_clients */
	const struct xb_payload *payload; /* NULL where only logins are planned */
	const char *remote_file;          /* the user's, on the far side; NULL: none */
	int64_t stall_ns;
	int64_t max_ns; /* bounds the run: no trial begins that would pass it; 0: no bound */
	/* Both may be NULL. on_round is called after each whole round, and false from it ends the
	 * run with err. */
	void (*on_news)(void *ctx, const struct xb_rounds_news *news);
	bool (*on_round)(void *ctx, const struct xb_run *run, struct xb_err *err);
	void *ctx;
};

/*
 * Checks what works (bench/check.h), measures the harness alone, and visits all planned cases in
 * each round in a fresh random order from the recorded seed, with the raw speeds beside them. With
 * settings.handshakes there are as many rounds, of logins alone, and neither payload nor speeds are
 * needed.
 *
 * A disturbed trial is repeated once. A signal or the time bound ends it early: what is measured
 * stays, run->partial tells. Every planned case ends as measured or failed; the case as negotiated
 * may be gone, because an equal one stands for it. False with err set when no login works
 * (XB_FAULT_TARGET) or this machine does not (XB_FAULT_SYSTEM).
 */
bool xb_rounds_run(const struct xb_rounds *rounds, struct xb_err *err);

#endif
