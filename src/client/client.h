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
	XB_PHASE_EXEC,    /* channel and remote command or subsystem, until the ready line */
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
	const struct xb_suite *suite;   /* what to ask for; NULL names are left to the client */
	enum xb_method method;
	enum xb_direction direction;
	const struct xb_payload *payload;
	/*
	 * A file on the far side to download, NULL: none. Without it exec downloads dd's zeros; scp and
	 * sftp always need one. remote_bytes is its length where it is known, else 0.
	 */
	const char *remote_file;
	uint64_t remote_bytes;
	int server_cpu;  /* where a sink of our own runs (client tcp), -1: anywhere */
	int64_t time_ns; /* stream at most this long; 0: no time-box */
	uint64_t
	    size; /* stream at most this many bytes; 0: no size. Exactly so many where the client
	                  is sized for this method and direction */
	int64_t stall_ns;       /* no progress for so long is a failure */
	bool count;             /* the far side shall count with wc -c, where it can at no cost */
	const char *login_hint; /* the key that came in before, NULL: unknown */
	struct xb_live *live;
	/*
	 * Called when keys are agreed and the login begins, at the ready line (of scp and sftp: when the
	 * far side has answered the first request) and at the end line (upload: when the far end has
	 * confirmed the last byte; download: when the last byte that counts is here). The one who asks
	 * holds the clock. on_ready false: another stream of the trial has failed; end, with an error.
	 */
	void (*on_login)(void *ctx);
	bool (*on_ready)(void *ctx);
	void (*on_end)(void *ctx);
	void *ctx;
};

/* What a client tells of its transfer, besides the clock. */
struct xb_outcome {
	uint64_t
	    bytes; /* upload: confirmed by the far end; download: received; after a failure: so far */
	uint64_t
	    wire_bytes; /* of them and their framing on the wire between ready and end; 0 unknown */
	double
	    start_seconds; /* of a client that is a program: from its start until it connects; NAN */
	double connect_seconds;
	double kex_seconds;
	double auth_seconds;
	double
	    session_cpu_seconds; /* of the server's session process, as a Linux server tells; NAN */
	double
	    programs_cpu_seconds; /* between ready and end, of programs that the client runs; NAN: it
	                                runs none */
	double sink_cpu_seconds;  /* likewise, of a sink of our own (client tcp); NAN: none */
	uint64_t counted;         /* what wc -c counted, when count was asked and has_count */
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
	struct xb_namelist compression;
	char *
	    absent; /* why the client cannot run here (a program is missing); NULL: it can. Owned */
};
void xb_client_algorithms_free(struct xb_client_algorithms *algorithms);

/*
 * One thing that moves bytes: one file, one row in xb_clients. Runs in a process of its own.
 */
struct xb_client {
	const char *name;
	const char
	    *label; /* what tables and sentences call it: "ssh" for openssh; NULL: the name */
	/* The version that runs, "1.10.0"; "" without one. Static, or kept by the client. */
	const char *(*version)(void);
	/* Fills an all-zero struct with what this build has, asked at run time. NULL: no SSH. */
	void (*algorithms)(struct xb_client_algorithms *algorithms);
	/* Why this client cannot do it at all, static; NULL: it can. The hook NULL: it does all. */
	const char *(*cannot)(enum xb_method method, enum xb_direction direction);
	/* True where a transfer cannot end by the clock and needs a size. The hook NULL: never. */
	bool (*sized)(enum xb_method method, enum xb_direction direction);
	/* True where the payload has to be a file for a program to read. The hook NULL: never. */
	bool (*reads_file)(enum xb_method method, enum xb_direction direction);
	/* Logs in, streams and has it confirmed; errors are TRIAL, or TARGET for login and host key. */
	bool (*transfer)(const struct xb_transfer *transfer, struct xb_outcome *outcome,
	    struct xb_err *err);
	bool ranked; /* false: a reference row */
};
/* In the order of the columns: ranked ones first; ends with NULL. */
extern const struct xb_client *const xb_clients[];
const struct xb_client *xb_client_find(const char *name);

/* Name and version as they are shown, "libssh2 1.10.0"; fresh. */
char *xb_client_label(const struct xb_client *client);

#endif
