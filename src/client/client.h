#ifndef XB_CLIENT_CLIENT_H
#define XB_CLIENT_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/case.h"
#include "model/namelist.h"
#include "model/sample.h"

struct xb_err;
struct xb_payload;
struct xb_target;

/* Where a trial stands. */
enum xb_phase {
	XB_PHASE_START,
	XB_PHASE_CONNECT,
	XB_PHASE_KEX,
	XB_PHASE_AUTH,
	XB_PHASE_EXEC,    /* channel and remote command, until the ready line */
	XB_PHASE_STREAM,  /* until our last write */
	XB_PHASE_CONFIRM, /* until the end line */
	XB_PHASE_CLOSE,
};
const char *xb_phase_name(int phase);

/* What a trial shares with its parent while it runs; lives in shared memory. */
struct xb_live {
	_Atomic uint64_t bytes; /* sent so far */
	_Atomic uint64_t beats; /* grows with every sign of life */
	_Atomic int phase;      /* enum xb_phase */
};

/* One transfer, as a client is asked for it. */
struct xb_transfer {
	const struct xb_target *target; /* NULL for clients that need none */
	const struct xb_suite *suite;
	const struct xb_payload *payload;
	int64_t time_ns;        /* stream at most this long; 0: no time-box */
	uint64_t size;          /* stream at most this many bytes; 0: no size */
	int64_t stall_ns;       /* no progress for so long is a failure */
	bool count;             /* the far side shall count with wc -c, where it can at no cost */
	const char *login_hint; /* the key that came in before, NULL: unknown */
	struct xb_live *live;
	/* Called when keys are agreed and the login begins, at the ready line and at the end line:
	 * the one who asks holds the clock. */
	void (*on_login)(void *ctx);
	void (*on_ready)(void *ctx);
	void (*on_end)(void *ctx);
	void *ctx;
};

/* What a client tells of its transfer, besides the clock. */
struct xb_outcome {
	uint64_t bytes; /* confirmed by the far end; after a failure: sent */
	double connect_seconds;
	double kex_seconds;
	double auth_seconds;
	double
	    session_cpu_seconds; /* of the server's session process, as a Linux server tells; NAN */
	uint64_t counted;        /* what wc -c counted, when count was asked and has_count */
	bool has_count;
	struct xb_negotiated negotiated;
	char login[200]; /* the key that came in, as a later login's hint; "" unknown */
};

/* What a client build has, in its own order. */
struct xb_client_algorithms {
	struct xb_namelist kex;
	struct xb_namelist hostkeys;
	struct xb_namelist ciphers;
	struct xb_namelist macs;
};
void xb_client_algorithms_free(struct xb_client_algorithms *algorithms);

/*
 * One thing that moves bytes: one file, one row in xb_clients. Runs in a process of its own.
 */
struct xb_client {
	const char *name;
	/* The version that runs, "1.10.0"; "" without one. Static. */
	const char *(*version)(void);
	/* Fills an all-zero struct with what this build has, asked at run time. NULL: no SSH. */
	void (*algorithms)(struct xb_client_algorithms *algorithms);
	/* Logs in, streams and has it confirmed; errors are TRIAL, or TARGET for login and host key. */
	bool (*transfer)(const struct xb_transfer *transfer, struct xb_outcome *outcome,
	    struct xb_err *err);
	bool ranked; /* false: a reference row */
};
/* The first is the default; ends with NULL. */
extern const struct xb_client *const xb_clients[];
const struct xb_client *xb_client_find(const char *name);

/* Name and version as they are shown, "libssh2 1.10.0"; fresh. */
char *xb_client_label(const struct xb_client *client);

#endif
