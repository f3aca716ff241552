#ifndef XB_MODEL_RUN_H
#define XB_MODEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "model/case.h"
#include "model/host.h"
#include "model/offer.h"
#include "model/sample.h"

/* Everything that a run found out: the only thing that analysis and reports see. */

/* Values of one figure, one a round; NAN where a round has none. */
struct xb_series {
	size_t count;
	double *values;
};

/* Appends a value. */
void xb_series_add(struct xb_series *series, double value);
void xb_series_free(struct xb_series *series);

/* In-memory speed of one suite's algorithms, bytes per second, one value a round. */
struct xb_primitive_result {
	char *cipher_name;
	char *mac_name; /* NULL with AEAD */
	char *reason;   /* why there is no speed; NULL when there is */
	struct xb_series cipher_encrypt;
	struct xb_series cipher_decrypt;
	struct xb_series mac;     /* empty with AEAD */
	struct xb_series encrypt; /* cipher and MAC one after the other */
	struct xb_series decrypt;
};

/* One case and its trials. */
struct xb_result {
	struct xb_case c;
	size_t sample_count;
	struct xb_sample *samples; /* in the order in which they ran */
};

/* What stands at the other end, as far as reports tell. */
struct xb_target_sheet {
	char *name;     /* what the user typed, or "this machine" */
	char *server;   /* the kind of a private server, "openssh"; NULL: not ours */
	char *absent;   /* why it could not be started: no case of it runs; NULL: it serves */
	bool stands_in; /* started beside the first, for ciphers that that one cannot take */
	char *address;  /* "192.168.1.20" or "127.0.0.1"; NULL when never reached */
	unsigned port;
	char *user;
	bool is_private;      /* a server that we started */
	bool is_local;        /* both ends are this machine: raw speeds compare */
	char *server_program; /* private: path of the sshd; else NULL */
	char *server_version; /* private: "OpenSSH_9.2p1 Debian-2"; else NULL, the banner tells */
	struct xb_offer offer;
	char *count_check;  /* "wc -c counted all 8388617 bytes", or why nothing was counted */
	char *hostkey_note; /* "host key not checked" and the like; NULL when strict */
};

struct xb_settings {
	int64_t time_ns; /* 0: no time-box */
	uint64_t size;   /* payload bytes a trial; 0: no size */
	unsigned rounds; /* planned */
	uint64_t seed;
	unsigned handshakes;    /* logins of each case, no bulk data; 0: a run that streams */
	char *payload;          /* "sparse", "random", "text:PERCENT", or a path */
	uint64_t payload_bytes; /* the file's length */
	bool pinned;
	int client_cpu; /* -1 when not pinned */
	int server_cpu;
	char *pin_note; /* why not pinned, NULL otherwise */
	enum xb_rate_unit unit;
	/* whose rows the answer is about: openssh, or the client that the user named; NULL: the fastest */
	char *answer_client;
};

struct xb_run {
	char *started;  /* ISO 8601 UTC */
	double seconds; /* wall time of the rounds so far */
	struct xb_namelist
	    libraries; /* "libssh2 1.10.0", "OpenSSL 3.0.19", … ; first: "xferbench 0.1" */
	struct xb_host host;
	size_t target_count;
	struct xb_target_sheet *targets; /* the first is the one that the run is about */
	struct xb_settings settings;
	size_t result_count;
	struct xb_result *results; /* in the order of the plan */
	size_t primitive_count;
	struct xb_primitive_result *primitives;
	struct xb_series
	    deflate; /* zlib alone on this payload, input bytes per second, one a round */
	struct xb_series inflate; /* likewise, output bytes per second */
	struct xb_namelist notes; /* what the user should know, a line each */
	unsigned rounds_done;     /* whole rounds */
	unsigned logins;          /* made so far */
	double null_rate;         /* harness alone (client null), bytes per second; NAN unknown */
	bool partial;             /* ended early: by a signal, --max-time, or a fault */
	char *partial_reason;
};

/* The target of a case. */
const struct xb_target_sheet *xb_run_target(const struct xb_run *run, const struct xb_case *c);

/* Appends an all-zero sheet and returns it, valid until the next one. */
struct xb_target_sheet *xb_run_add_target(struct xb_run *run);

/* Appends a result without samples, planned, of one stream; valid until the next one. */
struct xb_result *xb_run_add_result(struct xb_run *run);

/* The primitive result of a suite, NULL when there is none. */
const struct xb_primitive_result *xb_run_primitive(const struct xb_run *run,
    const char *cipher_name, const char *mac_name);

/* Releases everything, and the struct's contents; an all-zero run is valid. */
void xb_run_free(struct xb_run *run);

#endif
