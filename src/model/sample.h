#ifndef XB_MODEL_SAMPLE_H
#define XB_MODEL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/case.h"

/* What disturbed a trial. */
enum xb_mark {
	XB_MARK_SLEPT = 1 << 0,      /* the machine slept */
	XB_MARK_STOPPED = 1 << 1,    /* the program was stopped and continued */
	XB_MARK_FOREIGN = 1 << 2,    /* others used over 10% of a core */
	XB_MARK_REPEAT = 1 << 3,     /* stands in for a disturbed trial of the same round */
	XB_MARK_SUPERSEDED = 1 << 4, /* a repeat stands in for it: kept, not counted */
};
#define XB_MARK_COUNT 5

/* "slept", "stopped", "foreign-cpu", "repeat", "superseded"; index is the bit's number. */
const char *xb_mark_name(unsigned bit);

#define XB_NAME_MAX 64

/* What the session says that it negotiated; empty strings where it could not be asked. */
struct xb_negotiated {
	char cipher[XB_NAME_MAX];
	char mac[XB_NAME_MAX];         /* "" with AEAD */
	char compression[XB_NAME_MAX]; /* "none", "zlib@openssh.com", "zlib" */
	char kex[XB_NAME_MAX];
	char hostkey[XB_NAME_MAX];
};

/*
 * What one trial gave, of several streams in all: bytes, CPU and memory are sums, the steps of the
 * login those of the slowest. Plain data without pointers: it crosses a pipe as it is. NAN is
 * "unknown".
 */
struct xb_sample {
	enum xb_status status; /* measured or failed */
	char reason[600];      /* when failed */
	unsigned round;        /* from 0 */
	unsigned order;        /* place within its round, from 0 */
	uint64_t bytes; /* payload bytes that the far end confirmed; when failed: sent so far */
	double seconds; /* from the ready line to the end line; NAN: a login alone */
	double start_seconds; /* of a client that is a program: until it connects; NAN: none */
	double connect_seconds;
	double kex_seconds;
	double auth_seconds;
	double client_cpu_seconds; /* between ready and end; with the programs that it runs */
	double server_cpu_seconds; /* session and sink, between ready and end; NAN unknown */
	double server_core_share;  /* busy share of the busiest session's core, 0..1; NAN unknown */
	double foreign_cpu_seconds; /* CPU of others on this machine meanwhile; NAN unknown */
	double steal_seconds;       /* taken by the hypervisor; NAN unknown */
	uint64_t wire_bytes;        /* as the client counts in the payload's direction; 0 unknown */
	long peak_kib;              /* the trial processes' peak memory */
	unsigned marks;             /* enum xb_mark */
	struct xb_negotiated negotiated;
};

/* True when the sample has a rate that counts: measured, and no repeat stands in for it. */
bool xb_sample_counts(const struct xb_sample *sample);

/* Payload bytes per second of a measured sample; NAN otherwise. */
double xb_sample_rate(const struct xb_sample *sample);

#endif
