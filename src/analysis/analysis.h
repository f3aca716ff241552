#ifndef XB_ANALYSIS_ANALYSIS_H
#define XB_ANALYSIS_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/case.h"

struct xb_run;
struct xb_result;
struct xb_target_sheet;

/* A median and the interval of order statistics around it, with its true coverage. */
struct xb_interval {
	double median;
	double low;
	double high;
	double
	    coverage; /* of the median, 0..1; for n values the k-th smallest to k-th largest covers
			    1 - 2 * P(Binomial(n, 1/2) < k); 0 for fewer than two values */
	size_t count; /* values behind it; 0: all figures are NAN */
};

/* Seconds of a login. */
struct xb_login {
	struct xb_interval
	    start; /* of a client that is a program: until it connects; not in total */
	struct xb_interval connect;
	struct xb_interval kex;
	struct xb_interval auth;
	struct xb_interval total; /* connect + kex + auth */
};

/* What the samples of one result say. */
struct xb_row {
	const struct xb_result *result;
	size_t group;        /* number of its group in the analysis; of a reference row the count */
	bool measured;       /* has counted samples: a rate, or with method login its seconds */
	bool ranked;         /* measured, and competes with the others of its group */
	const char *warning; /* why its rate says nothing about the suite, static; NULL: it does */
	struct xb_interval rate; /* payload bytes per second; none with method login */
	double raw_encrypt;      /* medians of the suite's primitives, bytes per second; NAN */
	double raw_decrypt;
	double raw; /* the slower of both */
	/* rate ÷ raw, only where both ends are this machine, for one stream without compression: several
	 * streams have several cores, and compressed bytes are not those that are encrypted; NAN */
	double of_raw;
	double overhead;          /* 1 - of_raw; NAN */
	double client_share;      /* client CPU ÷ wall, of a core, median; NAN */
	double server_share;      /* NAN unknown */
	double client_cpu_per_gb; /* CPU seconds per 10^9 payload bytes, median; NAN */
	double server_cpu_per_gb;
	double
	    wire_ratio; /* bytes on the wire ÷ payload bytes, median of those that are known; NAN */
	/* Of several streams: rate ÷ that of the same suite, client, method, direction and target with
	 * one stream, paired within rounds; count 0: none was measured. */
	struct xb_interval scaling;
	struct xb_login login;
	/* Speed ÷ the leader's, paired within rounds; the leader itself: 1. The speed is the rate, with
	 * method login the logins per second. */
	struct xb_interval ratio;
	unsigned
	    place; /* in its group, 1 is the leader's; 0: no place (no rate, unclear, unranked) */
	size_t failed;    /* trials that failed */
	size_t disturbed; /* counted trials that carry a mark of disturbance */
};

/*
 * Cases that are alternatives: same direction, same target. A router is none to this sshd, an upload
 * none to a download; methods, streams, compression and clients compete within.
 */
struct xb_group {
	enum xb_direction direction;
	size_t target;               /* index into the run's targets */
	const struct xb_row *leader; /* fastest of the ranked rows; NULL when there is none */
	size_t ranked;               /* rows that are ranked */
	bool places_clear;           /* false: too few rounds for any verdict */
	unsigned rounds_needed;      /* for places, when places_clear is false */
};

/*
 * The rows in the order to show them: group by group; in each by speed, then those that are measured
 * and not ranked, then those without a rate in the plan's order. Reference rows come last of all.
 */
struct xb_analysis {
	size_t count;
	struct xb_row *rows;
	size_t group_count;
	struct xb_group *groups;     /* in the order of the plan */
	const struct xb_row *leader; /* of the first group that has one; NULL: nothing is ranked */
	double
	    worst_spread; /* largest half-width of an SSH rate's (login's) interval ÷ its median; NAN */
};

/* Pure: run in, analysis out. The result points into run. Free with xb_analysis_free. */
void xb_analysis_make(const struct xb_run *run, struct xb_analysis *analysis);
void xb_analysis_free(struct xb_analysis *analysis);

/* The name that tables and sentences call the case's client. Borrowed. */
const char *xb_case_client_label(const struct xb_case *c);

/* The key exchange and the host key's algorithm that were asked for, else that the first session had;
 * NULL: not known. Borrowed, at most XB_NAME_MAX - 1 letters. */
const char *xb_row_kex(const struct xb_row *row);
const char *xb_row_hostkey(const struct xb_row *row);

/* The server's program as sentences call it: "sshd", "dropbear", "asyncssh"; printable. */
void xb_target_program(const struct xb_target_sheet *target, char *out, size_t size);

/* True when the suite compresses ("none" is no compression). */
bool xb_suite_compresses(const struct xb_suite *suite);

#endif
