#ifndef XB_BENCH_SPEED_H
#define XB_BENCH_SPEED_H

#include "model/run.h"

struct xb_payload;

/*
 * The raw speeds of a run: one entry per suite whose cipher we know, its primitives set up once and
 * timed in every round, so that they share the weather of the trials beside them; zlib's too where
 * something is planned that compresses.
 */
struct xb_speed;

/*
 * Fills run->primitives, with a reason where libcrypto or nettle has no such algorithm. zlib works
 * on the payload's first bytes. cpu is where they run, -1: anywhere. Free before the run. To be
 * made when all suites are known.
 */
struct xb_speed *xb_speed_new(struct xb_run *run, const struct xb_payload *payload, int cpu);
void xb_speed_free(struct xb_speed *speed);

/* Times every operation of every suite once, in a process of its own on the chosen CPU, and appends
 * to the series; a pending signal ends it early and nothing is appended. */
void xb_speed_round(struct xb_speed *speed);

/* Wall seconds that a round of it takes. */
double xb_speed_round_seconds(const struct xb_speed *speed);

#endif
