#ifndef XB_BENCH_PLAN_H
#define XB_BENCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "model/namelist.h"
#include "model/select.h"

struct xb_client;
struct xb_err;
struct xb_offer;
struct xb_run;

/* What the plan is made of. */
struct xb_plan_request {
	const char *ciphers; /* --ciphers as typed; NULL: the sound ones that are offered */
	const char *macs;    /* --macs as typed; NULL: hmac-sha2-256 where a MAC applies */
	const struct xb_client *client;
};

/*
 * Fills run->results: every selected suite in the order of the user's list (or of our table), each
 * with a status: planned, or not offered or unsupported with its reason. Needs run->target filled in.
 * A choice that was made for the user (another MAC than the default) goes into run->notes. False with
 * err set (XB_FAULT_USAGE) for a list that names nothing we know.
 */
bool xb_plan_make(const struct xb_plan_request *request, struct xb_run *run, struct xb_err *err);

/* True when some case of the run is to be measured. */
bool xb_plan_has_work(const struct xb_run *run);

#endif
