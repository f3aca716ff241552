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

/* What the plan is made of; all lists are as typed. */
struct xb_plan_request {
	const char *ciphers;     /* NULL: the sound ones that are offered */
	const char *macs;        /* NULL: hmac-sha2-256 where a MAC applies */
	const char *compression; /* names of "none", "zlib", "zlib@openssh.com"; NULL: none */
	const char *clients;     /* names, or "all"; NULL: openssh and libssh2 */
	const char *methods;     /* "auto", or names of exec, scp, sftp; NULL: auto */
	const char *directions;  /* "upload", "download", "both"; NULL: upload */
	const char *streams;     /* numbers; NULL: 1 */
	unsigned handshakes;     /* logins of each case, no bulk data; 0: streams */
	const char *kex;         /* of handshakes: names, globs, "all"; NULL: as negotiated */
	const char *hostkeys;    /* likewise */
	bool has_remote_file;    /* the user named a file to download */
	const struct xb_client *const *all_clients; /* ends with NULL; NULL: xb_clients */
};

/*
 * Checks the lists that need no target: clients, methods, directions, streams, compression, and, where
 * there is no host whose offer could explain them, ciphers and MACs. False with err set
 * (XB_FAULT_USAGE): option, value, what would be accepted.
 */
bool xb_plan_check(const struct xb_plan_request *request, bool has_host, struct xb_err *err);

/*
 * True when some selected cipher is one that the first target, the one private openssh server, cannot
 * take and that the stand-in server may have. Needs the first sheet filled in.
 */
bool xb_plan_wants_stand_in(const struct xb_plan_request *request, const struct xb_run *run);

/*
 * Fills run->results: suite by suite in the order of the user's list (or of our table), and for each
 * all targets, methods, directions, streams and clients, each with a status: planned, or not offered,
 * unsupported or failed (a server that is absent) with its reason. Then, for each client without SSH
 * that was asked for, a reference case a direction; and, when anything is planned, for each ranked
 * client, method and direction against the first target one that is as_negotiated, whose suite is
 * still empty, where a session can begin. With handshakes only cases of method login, one for each key
 * exchange, host key algorithm, target and client. Needs run->targets filled in.
 *
 * A cipher that the first target does not take and the one that stands in does goes to the latter
 * alone; all else goes to every target but that.
 *
 * A case is by_name as far as the name that decides about it was typed. A client that was not, by
 * default or "all", does not count where another one has the same case planned.
 *
 * A choice that was made for the user (another MAC than the default) goes into run->notes. False with
 * err set (XB_FAULT_USAGE) for a list that names nothing we know.
 */
bool xb_plan_make(const struct xb_plan_request *request, struct xb_run *run, struct xb_err *err);

/* True when some case of the run is to be measured. */
bool xb_plan_has_work(const struct xb_run *run);

#endif
