#ifndef XB_TESTS_PLANS_H
#define XB_TESTS_PLANS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/plan.h"
#include "model/run.h"

/* What the tests of the plan share: clients and servers that have just what a test says. */

struct xb_client;

/* One client, "plain": CTR and CBC, three MACs, zlib of both kinds; not one that a run has by itself. */
extern const struct xb_client *const plans_plain[];

/*
 * As a build has them: openssh (called ssh; all but the old ciphers; delayed zlib; it has no scp
 * download), libssh2 (no AEAD, no UMAC, blowfish, no compression), gone (its program is missing), tcp
 * and null (references; null cannot download).
 */
extern const struct xb_client *const plans_all[];

/* A run against the host "nas", which offers these, the same in both directions. */
struct xb_run plans_host(const char *ciphers, const char *macs);

/* Adds a private server of this kind. */
struct xb_target_sheet *plans_add_private(struct xb_run *run, const char *kind, const char *ciphers,
    const char *macs);

/* Replaces a list of names. */
void plans_set(struct xb_namelist *list, const char *names);

/* Makes the plan, which has to succeed; a refused case has a reason, and a planned one none. */
void plans_make(struct xb_run *run, const struct xb_plan_request *request);

/* The plan has to fail with a usage error that has this in it. */
void plans_refused(struct xb_run *run, const struct xb_plan_request *request, const char *part);

/*
 * The plan is these rows, by "; ", each "CLIENT CIPHER MAC STATUS", with a "!" when it is the user's by
 * name. Before the status stands what is not usual: method, "download", "x4" streams, "@1" target,
 * "+zlib". A login is "CLIENT kex NAME hostkey NAME STATUS". References and what is as negotiated begin
 * with "ref" and "neg"; the latter are left out when !negotiated.
 */
void plans_expect(const struct xb_run *run, bool negotiated, const char *expected);

/* The reason of a row has this in it. */
void plans_expect_reason(const struct xb_run *run, size_t row, const char *part);

#endif
