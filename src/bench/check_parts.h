#ifndef XB_BENCH_CHECK_PARTS_H
#define XB_BENCH_CHECK_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/case.h"

struct xb_course;
struct xb_err;
struct xb_result;
struct xb_sample;
struct xb_trial;
struct xb_trial_end;

/* Between check.c, which finds out what works, and check_learn.c, which keeps what that teaches. */

/* Cases that one successful check speaks for. */
struct xb_check_group {
	size_t target;
	const char *client;
	const char *label; /* what tables call the client */
	enum xb_direction direction;
	enum xb_method method; /* of method_auto: the one that is tried */
	bool method_auto;
};

bool xb_check_belongs(const struct xb_check_group *group, const struct xb_case *c);

/* True for a case as negotiated before its suite is known. A login's stays empty: its samples say
 * what was negotiated. */
bool xb_check_is_placeholder(const struct xb_case *c);

/*
 * Keeps what a check that worked has found out: rate, count, suite. The result may be gone
 * afterwards. False with err set (XB_FAULT_TARGET) when the far side has lost data.
 */
bool xb_check_learn(const struct xb_course *course, const struct xb_check_group *group,
    const struct xb_result *result, const struct xb_trial *trial, const struct xb_sample *sample,
    const struct xb_trial_end *end, struct xb_err *err);

#endif
