#ifndef XB_BENCH_PLAN_PARTS_H
#define XB_BENCH_PLAN_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "client/client.h"
#include "model/case.h"
#include "model/namelist.h"
#include "model/select.h"

/* The plan while it is made; for the files of the plan alone. */

struct xb_err;
struct xb_plan_request;
struct xb_run;
struct xb_target_sheet;

#define XB_PLAN_STREAMS_MAX 64

/* One client of the run. */
struct xb_plan_client {
	const struct xb_client *client;
	bool named;                      /* by the user itself, not by a default or "all" */
	char *label;                     /* name and version; NULL until asked */
	struct xb_client_algorithms has; /* empty until asked */
};

/* What the lists of the request come to that no target has a say in. */
struct xb_plan_lists {
	size_t client_count;
	struct xb_plan_client *clients; /* in the user's order */
	bool method_auto;               /* then methods has what is tried, in this order */
	bool methods_named;
	size_t method_count;
	enum xb_method methods[XB_METHOD_COUNT];
	bool directions_named;
	size_t direction_count;
	enum xb_direction directions[XB_DIRECTION_COUNT];
	size_t stream_count;
	unsigned streams[XB_PLAN_STREAMS_MAX];
	bool compression_named;
	struct xb_namelist compression; /* as typed: "none", "zlib", "zlib@openssh.com" */
};

/* Reads them; asks no client anything yet. False with err set (XB_FAULT_USAGE). Free in either case. */
bool xb_plan_lists_read(const struct xb_plan_request *request, struct xb_plan_lists *lists,
    struct xb_err *err);
void xb_plan_lists_free(struct xb_plan_lists *lists);

struct xb_plan {
	const struct xb_plan_request *request;
	struct xb_run *run;
	struct xb_plan_lists lists;
	struct xb_selection ciphers;
	struct xb_selection macs;
};

/* What a case asks for, and how the user came to it. */
struct xb_plan_wish {
	const struct xb_selected *cipher; /* NULL: a login, which leaves it to the client */
	const struct xb_selected *mac;    /* NULL: there is none */
	const char *compression;          /* one of the list, NULL: a login */
	const struct xb_selected *kex;    /* NULL: left to the client */
	const struct xb_selected *hostkey;
};

/* True for a target that was asked for and serves, not one that stands in. */
bool xb_plan_is_present(const struct xb_target_sheet *target);

/* Both directions: one session has both. */
bool xb_plan_offers_cipher(const struct xb_target_sheet *target, const char *name);
bool xb_plan_offers_mac(const struct xb_target_sheet *target, const char *name);

/* The target that stands in, NULL: there is none. */
const struct xb_target_sheet *xb_plan_stand_in(const struct xb_run *run);

/*
 * Adds a case for each target that the wish goes to, method, direction, number of streams and ranked
 * client, with its status.
 */
void xb_plan_add(struct xb_plan *plan, const struct xb_plan_wish *wish);

/* The cases of --handshake. False with err set (XB_FAULT_USAGE) for a name that nothing here means. */
bool xb_plan_add_logins(struct xb_plan *plan, struct xb_err *err);

/* The cases beside those of suites: references, and the suites as negotiated. */
void xb_plan_add_references(struct xb_plan *plan);
void xb_plan_add_as_negotiated(struct xb_plan *plan);

/* How the first target, or any, is called in reasons; fresh. */
char *xb_plan_target_name(const struct xb_run *run, const struct xb_target_sheet *target);

/*
 * The method that a client begins with where it is left open: the first that it can for this direction,
 * else the first at all.
 */
enum xb_method xb_plan_first_method(const struct xb_plan_lists *lists,
    const struct xb_client *client, enum xb_direction direction);

/* The word of --compress as the target spells it on the wire; NULL for "none". */
const char *xb_plan_wire_compression(const struct xb_target_sheet *target, const char *word);

/*
 * Gives a case its status, by the server's word first, which no client can change, then by the
 * client's; and by_name, as far as what decides was typed.
 */
void xb_plan_judge(const struct xb_plan *plan, const struct xb_plan_wish *wish,
    const struct xb_plan_client *client, struct xb_case *c);

#endif
