#ifndef XB_BENCH_COURSE_H
#define XB_BENCH_COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/case.h"

struct xb_client;
struct xb_err;
struct xb_result;
struct xb_rounds;
struct xb_run;
struct xb_speed;
struct xb_trial;
struct xb_trial_end;

/* A run on its course: what check.c, size.c and rounds.c share. */

/* What is known of one client at one target. */
struct xb_access {
	bool logged_in;
	char *lost;           /* why its login or the host key was refused; NULL: it was not */
	char login_hint[200]; /* the key that came in; "" unknown */
	/* Payload bytes per second that the check saw, 0: none. */
	double rates[XB_METHOD_COUNT][XB_DIRECTION_COUNT];
};

struct xb_course {
	const struct xb_rounds *rounds;
	struct xb_run *run;
	struct xb_speed *speed; /* NULL: not yet, or a run that does not stream */
	int64_t start_ns;
	double trial_seconds; /* measured, of all trials with their logins */
	unsigned trials;      /* of the rounds */
	size_t client_count;
	struct xb_access *accesses; /* for each target all clients */
};

void xb_course_init(struct xb_course *course, const struct xb_rounds *rounds);
void xb_course_free(struct xb_course *course);

/* The row of a case's client. */
const struct xb_client *xb_course_client(const struct xb_course *course, const struct xb_case *c);

struct xb_access *xb_course_access(const struct xb_course *course, const struct xb_case *c);

/* True when the case is to be visited in the rounds: planned or measured, and not given up. */
bool xb_course_runs(const struct xb_result *result);

/* What is left of the time bound, INT64_MAX without one. */
int64_t xb_course_time_left(const struct xb_course *course);

/* Why the run should end now; NULL when it should not. */
const char *xb_course_over(const struct xb_course *course);

/* Makes the run a partial one; a signal is told by its name. */
void xb_course_end_early(struct xb_course *course, const char *why);

/* Tells the one who watches. */
void xb_course_tell(const struct xb_course *course, unsigned round, const char *label,
    size_t done_in_round);

/* "aes128-ctr by ssh, scp download", cut to size. */
void xb_course_label(const struct xb_case *c, char *out, size_t size);

/*
 * The trial of a case, or the short one that checks it; all that it reads is made and in memory
 * then. False with err set when that cannot be: XB_FAULT_TRIAL, or SIGNAL.
 */
bool xb_course_trial(const struct xb_course *course, const struct xb_result *result, bool check,
    struct xb_trial *trial, struct xb_err *err);

/* Counts the sessions of a trial that was run, and keeps what its login taught. */
void xb_course_count(struct xb_course *course, const struct xb_case *c,
    const struct xb_trial *trial, const struct xb_trial_end *end);

#endif
