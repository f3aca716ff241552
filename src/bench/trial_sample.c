#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/worker.h"
#include "bench/trial_parts.h"
#include "target/private.h"
#include "target/target.h"

/* More sleep than this is the machine's, not the scheduler's. */
#define SLEEP_NS (100 * XB_NS_PER_MS)

/* CPU of others, as a share of one core, that disturbs a trial. */
#define FOREIGN_SHARE 0.10

/* And at least as much in all: /proc/stat counts in ticks of 10 ms, several at once. */
#define FOREIGN_SECONDS 0.05

bool
xb_trial_ends_by_clock(const struct xb_trial *trial)
{
	const struct xb_client *client = trial->client;

	return client->sized == NULL || !client->sized(trial->method, trial->direction);
}

/* Turns the way a worker ended into an error; nothing when it delivered its message. */
static void
judge_worker(const struct xb_worker_result *worker, int at, struct xb_err *err)
{
	const char *phase = xb_phase_name(at);
	char how[80];

	switch (worker->end) {
	case XB_WORKER_DONE:
		if (worker->len != sizeof(struct xb_trial_message))
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
judge_message(const struct xb_trial_streams *streams, const struct xb_trial_message *message,
    struct xb_err *err)
{
	if (!message->ok) {
		*err = message->err;
		if (err->fault == XB_FAULT_NONE)
			xb_fail(err, XB_FAULT_TRIAL, "the client failed without a reason");
		return;
	}
	if (streams->trial->method == XB_METHOD_LOGIN)
		return;
	if (message->outcome.bytes == 0)
		xb_fail(err, XB_FAULT_TRIAL, "nothing was sent");
	else if (streams->shared->begin.wall_ns == 0 || message->end.wall_ns == 0)
		xb_fail(err, XB_FAULT_TRIAL, "the client did not say when it began and ended");
}

static bool
judge_stream(const struct xb_trial_streams *streams, unsigned index, struct xb_trial_end *end)
{
	int phase = atomic_load(&streams->shared->lives[index].live.phase);
	char which[48];

	judge_worker(&streams->results[index], phase, &end->err);
	if (end->err.fault == XB_FAULT_NONE)
		judge_message(streams, &streams->messages[index], &end->err);
	if (end->err.fault == XB_FAULT_NONE)
		return true;
	end->phase = phase;
	snprintf(which, sizeof(which), "stream %u of %u", index + 1, streams->count);
	if (streams->count > 1)
		xb_err_prefix(&end->err, which);
	return false;
}

void
xb_trial_judge(const struct xb_trial_streams *streams, struct xb_trial_end *end)
{
	unsigned failed = atomic_load(&streams->shared->failed), i;

	for (i = 0; i < streams->count; i++)
		if (streams->results[i].end == XB_WORKER_SIGNAL && !judge_stream(streams, i, end))
			return;
	/* The others failed because of this one. */
	if (failed > 0 && !judge_stream(streams, failed - 1, end))
		return;
	for (i = 0; i < streams->count; i++)
		if (!judge_stream(streams, i, end))
			return;
}

/* A figure in the account of all streams; NAN is what a stream does not know or does not have. */
static double
sum(double all, double one)
{
	if (isnan(one))
		return all;
	return isnan(all) ? one : all + one;
}

static double
larger(double all, double one)
{
	return isnan(all) || one > all ? one : all;
}

static const struct xb_moment *
last_end(const struct xb_trial_streams *streams)
{
	const struct xb_moment *last = &streams->messages[0].end;
	unsigned i;

	for (i = 1; i < streams->count; i++)
		if (streams->messages[i].end.wall_ns > last->wall_ns)
			last = &streams->messages[i].end;
	return last;
}

/*
 * True when each stream has the whole of the file on the far side: then that one is done as well.
 */
static bool
has_whole_file(const struct xb_trial_streams *streams)
{
	uint64_t length = streams->trial->remote_bytes;
	unsigned i;

	for (i = 0; i < streams->count; i++)
		if (length == 0 || streams->messages[i].outcome.bytes != length)
			return false;
	return true;
}

/*
 * CPU of a private server between ready and end. An upload's server is done when it has confirmed,
 * and so is one that has sent all there was: all that it used in its life, which is exact, less
 * what it had used by then. One that sends without end does so until it notices that we left: there
 * it is what it had used when the last stream ended.
 */
static double
private_cpu(const struct xb_trial_streams *streams)
{
	const struct xb_trial *trial = streams->trial;
	int64_t before = streams->shared->begin.server_ns, after = -1;
	unsigned i;

	if (trial->direction == XB_DOWNLOAD && xb_trial_ends_by_clock(trial) &&
	    !has_whole_file(streams)) {
		for (i = 0; i < streams->count; i++)
			if (streams->messages[i].end.server_ns > after)
				after = streams->messages[i].end.server_ns;
	} else if (streams->usage != NULL && !streams->usage->killed) {
		after = streams->usage->cpu_ns;
	}
	return before < 0 || after < 0 ? NAN : xb_seconds(after - before);
}

static void
fill_cpu(const struct xb_trial_streams *streams, struct xb_sample *sample)
{
	const struct xb_target *target = streams->trial->target;
	double programs = NAN, sink = NAN, session = NAN;
	int64_t own = 0;
	unsigned i;

	for (i = 0; i < streams->count; i++) {
		const struct xb_outcome *outcome = &streams->messages[i].outcome;

		own += streams->messages[i].cpu_ns;
		programs = sum(programs, outcome->programs_cpu_seconds);
		sink = sum(sink, outcome->sink_cpu_seconds);
		session = larger(session, outcome->session_cpu_seconds);
	}
	sample->client_cpu_seconds = sum(xb_seconds(own), programs);
	if (!isnan(sink))
		sample->server_cpu_seconds = sink;
	else if (target != NULL && target->server != NULL)
		sample->server_cpu_seconds = private_cpu(streams);
	if (sample->seconds > 0)
		sample->server_core_share = session / sample->seconds;
}

/* What everybody on this machine used, less what is ours. */
static void
fill_foreign(const struct xb_trial_streams *streams, struct xb_sample *sample)
{
	const struct xb_target *target = streams->trial->target;
	const struct xb_moment *a = &streams->shared->begin, *b = last_end(streams);
	double own = sample->client_cpu_seconds, busy;

	if (!a->has_times || !b->has_times)
		return;
	sample->steal_seconds = xb_seconds(b->times.steal_ns - a->times.steal_ns);
	if (target == NULL)
		own = sum(own, sample->server_cpu_seconds);
	else if (target->peer.is_local)
		own += sample->server_cpu_seconds;
	/* A server here that is not ours: its CPU cannot be told from other people's. */
	if (isnan(own))
		return;
	busy = xb_seconds(b->times.busy_ns - a->times.busy_ns);
	sample->foreign_cpu_seconds = busy > own ? busy - own : 0;
}

static void
fill_marks(const struct xb_trial_streams *streams, struct xb_sample *sample)
{
	const struct xb_moment *a = &streams->shared->begin, *b = last_end(streams);
	int64_t asleep = (b->boot_ns - a->boot_ns) - (b->wall_ns - a->wall_ns);
	unsigned i;

	if (asleep > SLEEP_NS)
		sample->marks |= XB_MARK_SLEPT;
	for (i = 0; i < streams->count; i++)
		if (streams->messages[i].was_continued)
			sample->marks |= XB_MARK_STOPPED;
	if (sample->foreign_cpu_seconds > FOREIGN_SHARE * sample->seconds &&
	    sample->foreign_cpu_seconds > FOREIGN_SECONDS)
		sample->marks |= XB_MARK_FOREIGN;
}

static void
fill_bytes(const struct xb_trial_streams *streams, struct xb_sample *sample)
{
	bool has_wire = true;
	unsigned i;

	for (i = 0; i < streams->count; i++) {
		sample->bytes += streams->messages[i].outcome.bytes;
		sample->wire_bytes += streams->messages[i].outcome.wire_bytes;
		has_wire = has_wire && streams->messages[i].outcome.wire_bytes > 0;
	}
	if (!has_wire)
		sample->wire_bytes = 0;
}

/* The slowest login of the streams, each step for itself. */
static void
fill_login(const struct xb_trial_streams *streams, struct xb_sample *sample)
{
	unsigned i;

	for (i = 0; i < streams->count; i++) {
		const struct xb_outcome *outcome = &streams->messages[i].outcome;

		sample->start_seconds = larger(sample->start_seconds, outcome->start_seconds);
		sample->connect_seconds = larger(sample->connect_seconds, outcome->connect_seconds);
		sample->kex_seconds = larger(sample->kex_seconds, outcome->kex_seconds);
		sample->auth_seconds = larger(sample->auth_seconds, outcome->auth_seconds);
	}
}

void
xb_trial_add_up(const struct xb_trial_streams *streams, struct xb_sample *sample)
{
	sample->status = XB_MEASURED;
	sample->negotiated = streams->messages[0].outcome.negotiated;
	fill_login(streams, sample);
	/* Nothing streamed: no seconds, so no rate. */
	if (streams->trial->method == XB_METHOD_LOGIN)
		return;
	fill_bytes(streams, sample);
	sample->seconds = xb_seconds(last_end(streams)->wall_ns - streams->shared->begin.wall_ns);
	fill_cpu(streams, sample);
	fill_foreign(streams, sample);
	fill_marks(streams, sample);
}

void
xb_trial_add_failure(const struct xb_trial_streams *streams, const struct xb_err *err,
    struct xb_sample *sample)
{
	const struct xb_private_usage *usage = streams->usage;
	unsigned i;

	sample->status = XB_FAILED;
	for (i = 0; i < streams->count; i++)
		sample->bytes += atomic_load(&streams->shared->lives[i].live.bytes);
	if (usage != NULL && usage->log[0] != '\0' && err->fault != XB_FAULT_SIGNAL)
		snprintf(sample->reason, sizeof(sample->reason), "%.370s; the server's log: %.200s",
		    err->text, usage->log);
	else
		snprintf(sample->reason, sizeof(sample->reason), "%s", err->text);
}
