#include "bench/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/units.h"
#include "base/worker.h"
#include "client/client.h"
#include "target/private.h"
#include "target/target.h"

/* A private server's processes have this long to end by themselves after the client has. */
#define DRAIN_NS (2 * XB_NS_PER_SECOND)

/* What the parent grants above the client's own time-outs before it takes the trial for hung. */
#define HANG_GRACE_NS (5 * XB_NS_PER_SECOND)

/* For what is still under way when a time-box ends, on the slowest of links. */
#define TAIL_NS (600 * XB_NS_PER_SECOND)

/* More sleep than this is the machine's, not the scheduler's. */
#define SLEEP_NS (100 * XB_NS_PER_MS)

/* CPU of others, as a share of one core, that disturbs a trial. */
#define FOREIGN_SHARE 0.10

/* And at least as much in all: /proc/stat counts in ticks of 10 ms, several at once. */
#define FOREIGN_SECONDS 0.05

/* All clocks at one moment. */
struct moment {
	int64_t wall_ns;
	int64_t boot_ns;
	int64_t cpu_ns;
	int64_t server_ns; /* -1 unknown */
	bool has_times;
	struct xb_cpu_times times;
};

/* What the worker sends to its parent, as it is. */
struct message {
	bool ok;
	struct xb_outcome outcome;
	struct moment ready, end;
	bool was_continued;
	struct xb_err err;
};

/* A trial under way. */
struct running {
	const struct xb_trial *trial;
	struct xb_live *live;
	struct message message; /* in the worker; the parent's own copy is what arrived */
	uint64_t seen_bytes, seen_beats;
	int seen_phase;
	int64_t seen_ns;
};

/*
 * The server's process for the key exchange ends with the login and is then only in its parent's
 * account, in ticks of 10 ms: it is asked for now, while it lives, so that the ready line knows it.
 */
static void
on_login(void *ctx)
{
	const struct running *running = ctx;
	const struct xb_target *target = running->trial->target;
	int64_t ignored;

	if (target != NULL && target->server != NULL)
		xb_private_cpu_ns(target->server, &ignored);
}

/* The order matters: the clock is read last before the stream begins and first after its end. */
static bool
on_ready(void *ctx)
{
	struct running *running = ctx;
	const struct xb_target *target = running->trial->target;
	struct moment *m = &running->message.ready;

	m->server_ns = -1;
	if (target != NULL && target->server != NULL)
		xb_private_cpu_ns(target->server, &m->server_ns);
	m->has_times = xb_cpu_times_read(&m->times);
	xb_signals_was_continued();
	m->boot_ns = xb_clock_boot_ns();
	m->cpu_ns = xb_clock_cpu_ns();
	m->wall_ns = xb_clock_ns();
	return true;
}

static void
on_end(void *ctx)
{
	struct running *running = ctx;
	struct moment *m = &running->message.end;

	m->wall_ns = xb_clock_ns();
	m->cpu_ns = xb_clock_cpu_ns();
	m->boot_ns = xb_clock_boot_ns();
	m->has_times = xb_cpu_times_read(&m->times);
	running->message.was_continued = xb_signals_was_continued();
}

/* In the worker. */
static void
work(int out_fd, void *ctx)
{
	struct running *running = ctx;
	const struct xb_trial *trial = running->trial;
	struct message *message = &running->message;
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
		.live = running->live,
		.on_login = on_login,
		.on_ready = on_ready,
		.on_end = on_end,
		.ctx = running,
	};

	xb_affinity_pin(trial->client_cpu);
	message->outcome.session_cpu_seconds = NAN;
	message->outcome.start_seconds = NAN;
	message->outcome.programs_cpu_seconds = NAN;
	message->outcome.sink_cpu_seconds = NAN;
	message->ok = trial->client->transfer(&transfer, &message->outcome, &message->err);
	xb_write_all(out_fd, message, sizeof(*message));
}

/* In the parent, once a second: a worker without any sign of life beyond its own time-outs hangs. */
static bool
is_alive(void *ctx)
{
	struct running *running = ctx;
	const struct xb_trial *trial = running->trial;
	uint64_t bytes = atomic_load(&running->live->bytes);
	uint64_t beats = atomic_load(&running->live->beats);
	int phase = atomic_load(&running->live->phase);
	int64_t now = xb_clock_ns(), patience = trial->stall_ns;

	if (trial->target != NULL && trial->target->connect_timeout_ns > patience)
		patience = trial->target->connect_timeout_ns;
	if (bytes != running->seen_bytes || beats != running->seen_beats ||
	    phase != running->seen_phase) {
		running->seen_bytes = bytes;
		running->seen_beats = beats;
		running->seen_phase = phase;
		running->seen_ns = now;
	}
	return now - running->seen_ns < patience + HANG_GRACE_NS;
}

/* Turns the way a worker ended into an error; nothing when it delivered its message. */
static void
judge_end(const struct running *running, const struct xb_worker_result *worker, struct xb_err *err)
{
	const char *phase = xb_phase_name(atomic_load(&running->live->phase));
	char how[80];

	switch (worker->end) {
	case XB_WORKER_DONE:
		if (worker->len != sizeof(struct message))
			xb_fail(err, XB_FAULT_TRIAL, "the client ended without a result during %s",
			    phase);
		break;
	case XB_WORKER_DIED:
		xb_child_status_text(how, sizeof(how), worker->status);
		xb_fail(err, XB_FAULT_TRIAL, "the client died during %s: %s", phase, how);
		break;
	case XB_WORKER_DEADLINE:
	case XB_WORKER_HUNG:
		xb_fail(err, XB_FAULT_TRIAL, "the client hung during %s and was ended", phase);
		break;
	case XB_WORKER_SIGNAL:
		xb_fail(err, XB_FAULT_SIGNAL, "ended by a signal during %s", phase);
		break;
	case XB_WORKER_ERROR:
		break;
	}
}

/* What the client says of its transfer: only one that moved something has a rate. */
static void
judge_message(const struct message *message, struct xb_err *err)
{
	if (message->ok && message->outcome.bytes > 0)
		return;
	*err = message->err;
	if (err->fault == XB_FAULT_NONE)
		xb_fail(err, XB_FAULT_TRIAL, "%s",
		    message->ok ? "nothing was sent" : "the client failed without a reason");
}

/* CPU of the server between ready and end: all it used in its life less what it had used by then. */
static double
server_cpu(const struct message *message, const struct xb_private_usage *usage)
{
	if (message->ready.server_ns < 0 || usage == NULL || usage->killed)
		return NAN;
	return xb_seconds(usage->cpu_ns - message->ready.server_ns);
}

static void
fill_cpu(const struct running *running, const struct message *message,
    const struct xb_private_usage *usage, struct xb_sample *sample)
{
	const struct xb_target *target = running->trial->target;
	const struct moment *a = &message->ready, *b = &message->end;
	double own, busy;

	sample->client_cpu_seconds = xb_seconds(b->cpu_ns - a->cpu_ns);
	sample->server_cpu_seconds = server_cpu(message, usage);
	if (!isnan(message->outcome.session_cpu_seconds) && sample->seconds > 0)
		sample->server_core_share = message->outcome.session_cpu_seconds / sample->seconds;
	if (!a->has_times || !b->has_times)
		return;
	sample->steal_seconds = xb_seconds(b->times.steal_ns - a->times.steal_ns);
	own = sample->client_cpu_seconds;
	if (target != NULL && target->peer.is_local)
		own += sample->server_cpu_seconds;
	/* A server here that is not ours: its CPU cannot be told from other people's. */
	if (isnan(own))
		return;
	busy = xb_seconds(b->times.busy_ns - a->times.busy_ns);
	sample->foreign_cpu_seconds = busy > own ? busy - own : 0;
}

static void
fill_marks(const struct message *message, struct xb_sample *sample)
{
	const struct moment *a = &message->ready, *b = &message->end;
	int64_t asleep = (b->boot_ns - a->boot_ns) - (b->wall_ns - a->wall_ns);

	if (asleep > SLEEP_NS)
		sample->marks |= XB_MARK_SLEPT;
	if (message->was_continued)
		sample->marks |= XB_MARK_STOPPED;
	if (sample->foreign_cpu_seconds > FOREIGN_SHARE * sample->seconds &&
	    sample->foreign_cpu_seconds > FOREIGN_SECONDS)
		sample->marks |= XB_MARK_FOREIGN;
}

static void
fill_sample(const struct running *running, const struct message *message,
    const struct xb_private_usage *usage, struct xb_sample *sample)
{
	const struct xb_outcome *outcome = &message->outcome;

	sample->status = XB_MEASURED;
	sample->bytes = outcome->bytes;
	sample->seconds = xb_seconds(message->end.wall_ns - message->ready.wall_ns);
	sample->connect_seconds = outcome->connect_seconds;
	sample->kex_seconds = outcome->kex_seconds;
	sample->auth_seconds = outcome->auth_seconds;
	sample->negotiated = outcome->negotiated;
	fill_cpu(running, message, usage, sample);
	fill_marks(message, sample);
}

/* A failed trial keeps how far it came; a private server's own words are added to its reason. */
static void
fill_failure(const struct running *running, const struct xb_private_usage *usage,
    const struct xb_err *err, struct xb_sample *sample)
{
	sample->status = XB_FAILED;
	sample->bytes = atomic_load(&running->live->bytes);
	if (usage != NULL && usage->log[0] != '\0' && err->fault != XB_FAULT_SIGNAL)
		snprintf(sample->reason, sizeof(sample->reason), "%.380s; sshd's log: %.200s",
		    err->text, usage->log);
	else
		snprintf(sample->reason, sizeof(sample->reason), "%s", err->text);
}

/* A trial with a time-box ends in any case: its steps' own limits, and then some. */
static int64_t
deadline_of(const struct xb_trial *trial)
{
	int64_t login = trial->target != NULL ? trial->target->connect_timeout_ns : 0;

	if (trial->time_ns == 0 || trial->time_ns > INT64_MAX / 16 || login > INT64_MAX / 16 ||
	    trial->stall_ns > INT64_MAX / 16)
		return INT64_MAX;
	return xb_clock_ns() + 3 * login + trial->time_ns + 4 * trial->stall_ns + TAIL_NS;
}

static struct xb_live *
share_live(struct xb_err *err)
{
	void *page = mmap(NULL, sizeof(struct xb_live), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page != MAP_FAILED)
		return page;
	xb_fail_errno(err, XB_FAULT_SYSTEM, "shared memory");
	return NULL;
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
xb_trial_run(const struct xb_trial *trial, struct xb_sample *sample, struct xb_trial_end *end)
{
	struct running running = { .trial = trial, .seen_ns = xb_clock_ns() };
	const struct xb_worker worker = {
		.work = work,
		.ctx = &running,
		.deadline_ns = deadline_of(trial),
		.is_alive = is_alive,
	};
	struct xb_private_usage usage = { 0 }, *server = NULL;
	struct xb_worker_result result = { 0 };
	struct message message;

	memset(end, 0, sizeof(*end));
	sample_clear(sample);
	running.live = share_live(&end->err);
	if (running.live == NULL) {
		sample->status = XB_FAILED;
		snprintf(sample->reason, sizeof(sample->reason), "%s", end->err.text);
		return;
	}
	xb_worker_run(&worker, &message, sizeof(message), &result, &end->err);
	if (trial->target != NULL && trial->target->server != NULL &&
	    xb_private_drain(trial->target->server, DRAIN_NS, &usage))
		server = &usage;
	judge_end(&running, &result, &end->err);
	if (end->err.fault == XB_FAULT_NONE)
		judge_message(&message, &end->err);
	if (end->err.fault == XB_FAULT_NONE) {
		fill_sample(&running, &message, server, sample);
		end->has_count = message.outcome.has_count;
		end->counted = message.outcome.counted;
		snprintf(end->login, sizeof(end->login), "%s", message.outcome.login);
	} else {
		fill_failure(&running, server, &end->err, sample);
	}
	sample->peak_kib = result.peak_kib;
	munmap(running.live, sizeof(*running.live));
}
