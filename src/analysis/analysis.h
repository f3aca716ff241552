#ifndef XB_ANALYSIS_ANALYSIS_H
#define XB_ANALYSIS_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

struct xb_run;
struct xb_result;

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

/* What the samples of one result say. */
struct xb_row {
	const struct xb_result *result;
	struct xb_interval rate; /* payload bytes per second */
	double raw_encrypt;      /* medians of the suite's primitives, bytes per second; NAN */
	double raw_decrypt;
	double raw;               /* the slower of both */
	double of_raw;            /* rate ÷ raw, only where both ends are this machine; NAN */
	double overhead;          /* 1 - of_raw; NAN */
	double client_share;      /* client CPU ÷ wall, of a core, median; NAN */
	double server_share;      /* NAN unknown */
	double client_cpu_per_gb; /* CPU seconds per 10^9 payload bytes, median; NAN */
	double server_cpu_per_gb;
	double login_seconds;     /* connect + kex + auth, median; NAN */
	struct xb_interval ratio; /* to the leader, paired within rounds; the leader itself: 1 */
	unsigned place;           /* 1 is the leader's; 0: no place (no rate, or unclear) */
	size_t failed;            /* trials that failed */
	size_t disturbed;         /* counted trials that carry a mark of disturbance */
};

/* The rows in the order to show them: by rate, then those without a rate in the plan's order. */
struct xb_analysis {
	size_t count;
	struct xb_row *rows;
	const struct xb_row *leader; /* NULL when nothing was measured */
	double worst_spread;    /* largest half-width of a rate's interval ÷ its median; NAN */
	bool places_clear;      /* false: too few rounds for any verdict */
	unsigned rounds_needed; /* for places, when places_clear is false */
};

/* Pure: run in, analysis out. The result points into run. Free with xb_analysis_free. */
void xb_analysis_make(const struct xb_run *run, struct xb_analysis *analysis);
void xb_analysis_free(struct xb_analysis *analysis);

#endif
