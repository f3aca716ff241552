#ifndef XB_TARGETS_H
#define XB_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

struct xb_err;
struct xb_options;
struct xb_run;
struct xb_rundir;
struct xb_target;

/* The open targets of a run, beside run->targets: NULL where one is absent. */
struct xb_targets {
	size_t count;
	struct xb_target **targets;
};

/*
 * Opens what the options ask for: the host, or each kind of private server, and fills run->targets.
 * A private server that cannot be started is absent, with its reason in the sheet, as long as another
 * one serves; else, and for a host, false with err set. server_cpu: for private servers, -1: anywhere.
 */
bool xb_targets_open(struct xb_targets *targets, const struct xb_options *options,
    const struct xb_rundir *dir, int server_cpu, struct xb_run *run, struct xb_err *err);

/*
 * Adds the private server that stands in for ciphers that the first target cannot take; absent with
 * its reason where it cannot be started. False with err set for a signal or a fault of this system.
 */
bool xb_targets_stand_in(struct xb_targets *targets, const struct xb_options *options,
    const struct xb_rundir *dir, int server_cpu, struct xb_run *run, struct xb_err *err);

void xb_targets_free(struct xb_targets *targets);

#endif
