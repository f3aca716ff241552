#ifndef XB_BENCH_TRIAL_PARTS_H
#define XB_BENCH_TRIAL_PARTS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/proc.h"
#include "bench/trial.h"
#include "client/client.h"

struct xb_private_usage;
struct xb_worker_result;

/* Between trial.c, which runs the streams of a trial, and trial_sample.c, which adds them up. */

/* The clocks that all streams of a trial share, at one moment. */
struct xb_moment {
	int64_t wall_ns; /* 0: the moment never came */
	int64_t boot_ns;
	int64_t server_ns; /* CPU of a private server; -1 unknown */
	bool has_times;
	struct xb_cpu_times times;
};

/* What a stream's process sends to its parent, as it is. */
struct xb_trial_message {
	bool ok;
	struct xb_outcome outcome;
	struct xb_moment end;
	int64_t cpu_ns; /* of the process, between ready and end */
	bool was_continued;
	struct xb_err err;
};

/* What the streams of a trial share with each other and with their parent. */
struct xb_trial_shared {
	/*
	 * A private server's listener takes one question at a time. Robust: whoever asks may die.
	 */
	pthread_mutex_t asking;
	sem_t start; /* posted for each stream when all are ready, or when one has failed */
	_Atomic unsigned ready;
	_Atomic unsigned ended;
	_Atomic unsigned failed;   /* number of the stream that failed first, from 1; 0: none */
	_Atomic int64_t failed_ns; /* since when */
	struct xb_moment begin;    /* the common start, once ready has counted all */
	/* Each counts in a cache line of its own, so that no stream's progress slows another's. */
	struct xb_trial_live {
		alignas(64) struct xb_live live;
	} lives[];
};

/* A trial's streams after they have ended; streams is at least 1. */
struct xb_trial_streams {
	const struct xb_trial *trial;
	unsigned count;
	const struct xb_trial_shared *shared;
	const struct xb_trial_message *messages; /* as far as they came, see results */
	const struct xb_worker_result *results;
	const struct xb_private_usage *usage; /* NULL: no private server, or it did not answer */
};

/* True where the server sends on after our end of a download: the client has no size to ask for. */
bool xb_trial_ends_by_clock(const struct xb_trial *trial);

/* The error of the stream that failed first, and where it stood; nothing when all went well. */
void xb_trial_judge(const struct xb_trial_streams *streams, struct xb_trial_end *end);

/* The sum of streams that all went well. The sample is clear. */
void xb_trial_add_up(const struct xb_trial_streams *streams, struct xb_sample *sample);

/* A failed trial keeps how far it came; a private server's own words are added to its reason. */
void xb_trial_add_failure(const struct xb_trial_streams *streams, const struct xb_err *err,
    struct xb_sample *sample);

#endif
