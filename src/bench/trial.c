#include "bench/trial.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"
#include "base/units.h"
#include "base/worker.h"
#include "bench/trial_parts.h"
#include "target/private.h"
#include "target/target.h"

/* A private server's processes have this long to end by themselves after the client has. */
#define DRAIN_NS (2 * XB_NS_PER_SECOND)

/* What the parent grants above the client's own time-outs before it takes the trial for hung. */
#define HANG_GRACE_NS (5 * XB_NS_PER_SECOND)

/* What streams are granted to end by themselves after another one has failed. */
#define FAILED_GRACE_NS (1 * XB_NS_PER_SECOND)

/* For what is still under way when a time-box ends, on the slowest of links. */
#define TAIL_NS (600 * XB_NS_PER_SECOND)

/* One stream of a trial under way. */
struct stream {
	const struct xb_trial *trial;
	unsigned index, count;
	struct xb_trial_shared *shared;
	struct xb_live *live;
	/* in its own process */
	struct xb_trial_message message;
	int64_t ready_cpu_ns;
	struct xb_err late; /* the others were not ready in time */
	/* in the parent: what was seen last, and since when */
	uint64_t seen_bytes, seen_beats;
	int seen_phase;
	int64_t seen_ns;
};

/* -1 when there is no private server, or it does not answer. */
static int64_t
ask_server(struct stream *stream)
{
	const struct xb_target *target = stream->trial->target;
	int64_t ns = -1;

	if (target == NULL || target->server == NULL)
		return -1;
	if (pthread_mutex_lock(&stream->shared->asking) == EOWNERDEAD)
		pthread_mutex_consistent(&stream->shared->asking);
	if (!xb_private_cpu_ns(target->server, &ns))
		ns = -1;
	pthread_mutex_unlock(&stream->shared->asking);
	return ns;
}

/*
 * The server's process for the key exchange ends with the login and is then only in its parent's
 * account, in ticks of 10 ms: it is asked for now, while it lives, so that the ready line knows it.
 */
static void
on_login(void *ctx)
{
	ask_server(ctx);
}

/* The last stream that is ready begins for all: nothing flows anywhere yet. */
static void
begin(struct stream *stream)
{
	struct xb_trial_shared *shared = stream->shared;
	struct xb_moment *m = &shared->begin;
	unsigned i;

	m->server_ns = ask_server(stream);
	m->has_times = xb_cpu_times_read(&m->times);
	m->boot_ns = xb_clock_boot_ns();
	m->wall_ns = xb_clock_ns();
	for (i = 1; i < stream->count; i++)
		sem_post(&shared->start);
}

/* Until the last one is ready, or one has failed; as long as any other silence is borne. */
static void
await_others(struct stream *stream)
{
	int64_t deadline = xb_clock_ns() + stream->trial->stall_ns;
	const struct timespec until = {
		.tv_sec = deadline / XB_NS_PER_SECOND,
		.tv_nsec = deadline % XB_NS_PER_SECOND,
	};
	char patience[32];
	int rc;

	do
		rc = sem_clockwait(&stream->shared->start, CLOCK_MONOTONIC, &until);
	while (rc != 0 && errno == EINTR);
	if (rc == 0)
		return;
	xb_duration_format(patience, sizeof(patience), stream->trial->stall_ns);
	xb_fail(&stream->late, XB_FAULT_TRIAL,
	    "only %u of %u streams were ready after %s (a longer wait: --stall-timeout)",
	    atomic_load(&stream->shared->ready), stream->count, patience);
}

/* The order matters: the clocks are read last before the stream begins and first after its end. */
static bool
on_ready(void *ctx)
{
	struct stream *stream = ctx;
	struct xb_trial_shared *shared = stream->shared;

	if (atomic_fetch_add(&shared->ready, 1) + 1 == stream->count)
		begin(stream);
	else
		await_others(stream);
	if (stream->late.fault != XB_FAULT_NONE || atomic_load(&shared->failed) != 0)
		return false;
	xb_signals_was_continued();
	stream->ready_cpu_ns = xb_clock_cpu_ns();
	return true;
}

static void
on_end(void *ctx)
{
	struct stream *stream = ctx;
	struct xb_trial_message *message = &stream->message;
	struct xb_moment *m = &message->end;

	m->wall_ns = xb_clock_ns();
	message->cpu_ns = xb_clock_cpu_ns() - stream->ready_cpu_ns;
	m->boot_ns = xb_clock_boot_ns();
	m->has_times = xb_cpu_times_read(&m->times);
	message->was_continued = xb_signals_was_continued();
	m->server_ns = -1;
	/* Asked by the last one, for all; and only where it sends on: see private_cpu. */
	if (atomic_fetch_add(&stream->shared->ended, 1) + 1 == stream->count &&
	    stream->trial->direction == XB_DOWNLOAD && xb_trial_ends_by_clock(stream->trial))
		m->server_ns = ask_server(stream);
}

/* Tells the other streams: those that wait for the start go on, and see why. */
static void
tell_failure(struct stream *stream)
{
	struct xb_trial_shared *shared = stream->shared;
	unsigned none = 0, i;

	if (!atomic_compare_exchange_strong(&shared->failed, &none, stream->index + 1))
		return;
	atomic_store(&shared->failed_ns, xb_clock_ns());
	for (i = 0; i < stream->count; i++)
		sem_post(&shared->start);
}

/* In the stream's process. */
static void
work(int out_fd, void *ctx)
{
	struct stream *stream = ctx;
	const struct xb_trial *trial = stream->trial;
	struct xb_trial_message *message = &stream->message;
	const struct xb_transfer transfer = {
		.target = trial->target,
		.suite = trial->suite,
		.method = trial->method,
		.direction = trial->direction,
		.remote_file = trial->remote_file,
		.remote_bytes = trial->remote_bytes,
		.server_cpu = trial->server_cpu,
		.payload = trial->payload,
		.time_ns = trial->time_ns,
		.size = trial->size,
		.stall_ns = trial->stall_ns,
		.count = trial->count,
		.login_hint = trial->login_hint,
		.live = stream->live,
		.on_login = on_login,
		.on_ready = on_ready,
		.on_end = on_end,
		.ctx = stream,
	};

	xb_affinity_pin(trial->client_cpu);
	message->outcome.start_seconds = NAN;
	message->outcome.connect_seconds = NAN;
	message->outcome.kex_seconds = NAN;
	message->outcome.auth_seconds = NAN;
	message->outcome.session_cpu_seconds = NAN;
	message->outcome.programs_cpu_seconds = NAN;
	message->outcome.sink_cpu_seconds = NAN;
	message->ok = trial->client->transfer(&transfer, &message->outcome, &message->err);
	if (stream->late.fault != XB_FAULT_NONE) {
		message->ok = false;
		message->err = stream->late;
	}
	if (!message->ok)
		tell_failure(stream);
	xb_write_all(out_fd, message, sizeof(*message));
}

/* In the parent: one that could not tell the others itself. */
static void
on_worker_end(void *ctx, const struct xb_worker_result *result)
{
	if (result->end != XB_WORKER_DONE || result->len != sizeof(struct xb_trial_message))
		tell_failure(ctx);
}

/*
 * In the parent, once a second: a worker without any sign of life beyond its own time-outs hangs.
 */
static bool
is_alive(void *ctx)
{
	struct stream *stream = ctx;
	const struct xb_trial *trial = stream->trial;
	uint64_t bytes = atomic_load(&stream->live->bytes);
	uint64_t beats = atomic_load(&stream->live->beats);
	int phase = atomic_load(&stream->live->phase);
	int64_t now = xb_clock_ns(), patience = trial->stall_ns;

	if (atomic_load(&stream->shared->failed) != 0 &&
	    now - atomic_load(&stream->shared->failed_ns) > FAILED_GRACE_NS)
		return false;
	if (trial->target != NULL && trial->target->connect_timeout_ns > patience)
		patience = trial->target->connect_timeout_ns;
	if (bytes != stream->seen_bytes || beats != stream->seen_beats ||
	    phase != stream->seen_phase) {
		stream->seen_bytes = bytes;
		stream->seen_beats = beats;
		stream->seen_phase = phase;
		stream->seen_ns = now;
	}
	return now - stream->seen_ns < patience + HANG_GRACE_NS;
}

/* A trial that the time-box ends does end in any case: its steps' own limits, and then some. */
static int64_t
deadline_of(const struct xb_trial *trial)
{
	int64_t login = trial->target != NULL ? trial->target->connect_timeout_ns : 0;

	if (trial->time_ns == 0 || !xb_trial_ends_by_clock(trial) ||
	    trial->time_ns > INT64_MAX / 16 || login > INT64_MAX / 16 ||
	    trial->stall_ns > INT64_MAX / 16)
		return INT64_MAX;
	return xb_clock_ns() + 3 * login + trial->time_ns + 5 * trial->stall_ns + TAIL_NS;
}

static size_t
shared_size(unsigned count)
{
	return sizeof(struct xb_trial_shared) + count * sizeof(struct xb_trial_live);
}

static struct xb_trial_shared *
share(unsigned count, struct xb_err *err)
{
	struct xb_trial_shared *shared = mmap(NULL, shared_size(count), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;

	if (shared == MAP_FAILED) {
		xb_fail_errno(err, XB_FAULT_SYSTEM, "shared memory");
		return NULL;
	}
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->asking, &attr);
	pthread_mutexattr_destroy(&attr);
	sem_init(&shared->start, 1, 0);
	return shared;
}

static void
sample_clear(struct xb_sample *sample)
{
	memset(sample, 0, sizeof(*sample));
	sample->seconds = NAN;
	sample->start_seconds = NAN;
	sample->connect_seconds = NAN;
	sample->kex_seconds = NAN;
	sample->auth_seconds = NAN;
	sample->client_cpu_seconds = NAN;
	sample->server_cpu_seconds = NAN;
	sample->server_core_share = NAN;
	sample->foreign_cpu_seconds = NAN;
	sample->steal_seconds = NAN;
}

void
xb_trial_refuse(const struct xb_err *err, struct xb_sample *sample, struct xb_trial_end *end)
{
	struct xb_err copy = *err;

	sample_clear(sample);
	memset(end, 0, sizeof(*end));
	end->err = copy;
	sample->status = XB_FAILED;
	snprintf(sample->reason, sizeof(sample->reason), "%s", copy.text);
}

/* Runs the streams side by side until all have ended. */
static void
run_streams(const struct xb_trial *trial, unsigned count, struct xb_trial_shared *shared,
    struct xb_trial_message *messages, struct xb_worker_result *results, struct xb_err *err)
{
	struct stream *streams = xb_calloc(count, sizeof(*streams));
	struct xb_worker *workers = xb_calloc(count, sizeof(*workers));
	int64_t now = xb_clock_ns(), deadline = deadline_of(trial);
	unsigned i;

	for (i = 0; i < count; i++) {
		streams[i] = (struct stream){
			.trial = trial,
			.index = i,
			.count = count,
			.shared = shared,
			.live = &shared->lives[i].live,
			.seen_ns = now,
		};
		workers[i] = (struct xb_worker){
			.work = work,
			.ctx = &streams[i],
			.deadline_ns = deadline,
			.is_alive = is_alive,
			.on_end = on_worker_end,
		};
	}
	xb_worker_run_all(workers, count, messages, sizeof(*messages), results, err);
	free(workers);
	free(streams);
}

/* Adds up what came, or says why it did not. */
static void
settle(const struct xb_trial_streams *streams, struct xb_sample *sample, struct xb_trial_end *end)
{
	const struct xb_outcome *first = &streams->messages[0].outcome;
	unsigned i;

	if (end->err.fault == XB_FAULT_NONE)
		xb_trial_judge(streams, end);
	if (end->err.fault == XB_FAULT_NONE) {
		xb_trial_add_up(streams, sample);
		end->has_count = first->has_count;
		end->counted = first->counted;
		snprintf(end->login, sizeof(end->login), "%s", first->login);
	} else {
		xb_trial_add_failure(streams, &end->err, sample);
	}
	for (i = 0; i < streams->count; i++)
		sample->peak_kib += streams->results[i].peak_kib;
}

void
xb_trial_run(const struct xb_trial *trial, struct xb_sample *sample, struct xb_trial_end *end)
{
	unsigned count = trial->streams > 0 ? trial->streams : 1;
	struct xb_private_usage usage = { 0 };
	struct xb_trial_shared *shared;
	struct xb_trial_message *messages;
	struct xb_worker_result *results;
	struct xb_trial_streams streams = { .trial = trial, .count = count };
	struct xb_err err = { 0 };

	shared = share(count, &err);
	if (shared == NULL) {
		xb_trial_refuse(&err, sample, end);
		return;
	}
	memset(end, 0, sizeof(*end));
	sample_clear(sample);
	messages = xb_calloc(count, sizeof(*messages));
	results = xb_calloc(count, sizeof(*results));
	run_streams(trial, count, shared, messages, results, &end->err);
	if (trial->target != NULL && trial->target->server != NULL &&
	    xb_private_drain(trial->target->server, DRAIN_NS, &usage))
		streams.usage = &usage;
	streams.shared = shared;
	streams.messages = messages;
	streams.results = results;
	settle(&streams, sample, end);
	free(messages);
	free(results);
	munmap(shared, shared_size(count));
}
