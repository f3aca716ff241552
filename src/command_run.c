#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/affinity.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "base/text.h"
#include "bench/hostsheet.h"
#include "bench/plan.h"
#include "bench/rounds.h"
#include "client/client.h"
#include "client/payload.h"
#include "commands.h"
#include "model/run.h"
#include "options.h"
#include "progress.h"
#include "report/json.h"
#include "report/report.h"
#include "report/table.h"
#include "targets.h"
#include "versions.h"

/* The sparse file's length, unless --size is more. */
#define SPARSE_BYTES (UINT64_C(1) << 30)

/* The farthest end that is predicted. */
#define FAR_SECONDS 1e9

/* A run and what it holds. */
struct bench {
	const struct xb_options *options;
	struct xb_rundir *dir;
	struct xb_targets targets;
	struct xb_payload *payload;
	struct xb_run run;
	struct xb_progress progress;
};

/* With "-" the result goes to stdout and the table to stderr. */
static FILE *
table_stream(const struct xb_options *options)
{
	return options->export_json != NULL && strcmp(options->export_json, "-") == 0 ? stderr
										      : stdout;
}

static bool
save_json(const struct bench *bench, const struct xb_run *run, struct xb_err *err)
{
	const struct xb_report_style style = { 0 };

	if (bench->options->export_json == NULL)
		return true;
	return xb_report_save(&xb_report_json, run, &style, bench->options->export_json, err);
}

static void
on_news(void *ctx, const struct xb_rounds_news *news)
{
	struct bench *bench = ctx;
	char left[32];

	xb_duration_format(left, sizeof(left),
	    (int64_t)fmin(ceil(news->seconds_left), FAR_SECONDS) * XB_NS_PER_SECOND);
	xb_progress_show(&bench->progress, "round %u of %u: %s, %s left", news->round + 1,
	    news->rounds, news->label, left);
}

/* Saved after each round, so that nothing measured is lost; stdout gets only the whole. */
static bool
on_round(void *ctx, const struct xb_run *run, struct xb_err *err)
{
	struct bench *bench = ctx;

	if (bench->options->export_json != NULL && strcmp(bench->options->export_json, "-") == 0)
		return true;
	return save_json(bench, run, err);
}

/* Instructions that are there and not used colour every figure of this end. */
static void
note_masked_cpu(struct xb_run *run)
{
	const char *cap = run->host.openssl_ia32cap != NULL ? run->host.openssl_ia32cap
							    : run->host.openssl_armcap;
	char *note;

	if (cap == NULL)
		return;
	note = xb_asprintf("%s=%s is set: OpenSSL may leave AES and other instructions unused",
	    run->host.openssl_ia32cap != NULL ? "OPENSSL_ia32cap" : "OPENSSL_armcap", cap);
	xb_namelist_add(&run->notes, note, strlen(note));
	free(note);
}

static void
add_note(struct xb_run *run, const char *note)
{
	xb_namelist_add(&run->notes, note, strlen(note));
}

static struct xb_affinity
choose_cpus(struct bench *bench)
{
	struct xb_settings *settings = &bench->run.settings;
	struct xb_affinity affinity = xb_affinity_none();

	if (!bench->options->pin)
		settings->pin_note = xb_strdup("--no-pin");
	else if (bench->options->host != NULL)
		settings->pin_note = xb_strdup("the server is not ours to pin");
	else if (bench->options->streams != NULL && strcmp(bench->options->streams, "1") != 0)
		settings->pin_note = xb_strdup("several streams use several cores");
	else
		affinity = xb_affinity_choose();
	if (!affinity.pinned && settings->pin_note == NULL)
		settings->pin_note = xb_strdup("only one CPU is allowed to us");
	if (affinity.pinned && affinity.siblings)
		add_note(&bench->run,
		    "both ends run on one core, as two of its threads: no other is allowed to us");
	settings->pinned = affinity.pinned;
	settings->client_cpu = affinity.client_cpu;
	settings->server_cpu = affinity.server_cpu;
	return affinity;
}

/* The client whose rows the answer is about: the first that the user named, else ssh. */
static char *
answer_client(const struct xb_options *options)
{
	struct xb_namelist names = { 0 };
	char *name;

	if (options->clients != NULL)
		xb_namelist_split(&names, options->clients);
	name = xb_strdup(
	    names.count > 0 && xb_client_find(names.names[0]) != NULL ? names.names[0] : "openssh");
	xb_namelist_free(&names);
	return name;
}

static void
fill_settings(struct bench *bench)
{
	const struct xb_options *options = bench->options;
	struct xb_settings *settings = &bench->run.settings;

	settings->time_ns = options->time_ns;
	settings->size = options->size;
	settings->rounds = options->rounds;
	settings->seed = options->seed;
	settings->unit = options->unit;
	settings->handshakes = options->handshakes;
	settings->payload = xb_strdup(options->payload);
	settings->answer_client = answer_client(options);
}

/* What the user should know of the ends before any figure. */
static void
note_targets(struct bench *bench)
{
	struct xb_run *run = &bench->run;

	for (size_t i = 0; i < run->target_count; i++)
		if (run->targets[i].is_local && !run->targets[i].is_private)
			add_note(run,
			    "this server is not ours: what other programs used of the "
			    "CPUs is not known");
}

static bool
open_targets(struct bench *bench, const struct xb_plan_request *request, struct xb_err *err)
{
	const struct xb_options *options = bench->options;
	int server_cpu = choose_cpus(bench).server_cpu;

	xb_progress_show(&bench->progress,
	    options->host != NULL ? "reading the offer of %s" : "starting private servers",
	    options->host);
	if (!xb_targets_open(&bench->targets, options, bench->dir, server_cpu, &bench->run, err) ||
	    (xb_plan_wants_stand_in(request, &bench->run) &&
		!xb_targets_stand_in(&bench->targets, options, bench->dir, server_cpu, &bench->run,
		    err)))
		return false;
	note_targets(bench);
	return true;
}

static bool
open_payload(struct bench *bench, struct xb_err *err)
{
	const struct xb_options *options = bench->options;
	const struct xb_payload_options wanted = {
		.what = options->payload,
		.bytes = options->size > SPARSE_BYTES ? options->size : SPARSE_BYTES,
		.seed = options->seed,
		.dir = bench->dir,
	};
	const char *note;

	bench->payload = xb_payload_new(&wanted, err);
	if (bench->payload == NULL)
		return false;
	bench->run.settings.payload_bytes = xb_payload_bytes(bench->payload);
	note = xb_payload_note(bench->payload);
	if (note != NULL)
		add_note(&bench->run, note);
	return true;
}

static struct xb_plan_request
plan_request(const struct xb_options *options)
{
	return (struct xb_plan_request){
		.ciphers = options->ciphers,
		.macs = options->macs,
		.compression = options->compression,
		.clients = options->clients,
		.methods = options->methods,
		.directions = options->directions,
		.streams = options->streams,
		.handshakes = options->handshakes,
		.kex = options->kex,
		.hostkeys = options->hostkeys,
		.has_remote_file = options->remote_file != NULL,
	};
}

static bool
run_rounds(struct bench *bench, struct xb_err *err)
{
	const struct xb_rounds rounds = {
		.run = &bench->run,
		.targets = bench->targets.targets,
		.payload = bench->payload,
		.remote_file = bench->options->remote_file,
		.stall_ns = bench->options->stall_timeout_ns,
		.max_ns = bench->options->max_ns,
		.on_news = on_news,
		.on_round = on_round,
		.ctx = bench,
	};

	return xb_rounds_run(&rounds, err);
}

/* The table, whatever the end was. */
static bool
print(struct bench *bench, struct xb_err *err)
{
	const struct xb_options *options = bench->options;
	FILE *out = table_stream(options);
	struct xb_report_style style = xb_report_style_of(out);

	xb_progress_clear(&bench->progress);
	style.verbose = options->verbose;
	style.quiet = options->quiet;
	return xb_report_table.write(&bench->run, &style, out, err);
}

/* A case that the user named and that has no rate, or a failed trial: exit 1. */
static int
exit_code(const struct xb_run *run)
{
	const struct xb_result *result;
	size_t i, j;

	for (i = 0; i < run->result_count; i++) {
		result = &run->results[i];
		if (result->c.status == XB_FAILED ||
		    (result->c.by_name && result->c.status != XB_MEASURED))
			return 1;
		for (j = 0; j < result->sample_count; j++)
			if (result->samples[j].status == XB_FAILED)
				return 1;
	}
	return 0;
}

/* Everything up to the first trial. */
static bool
prepare(struct bench *bench, struct xb_err *err)
{
	const struct xb_options *options = bench->options;
	const struct xb_plan_request request = plan_request(options);

	/* Names that nothing here can mean are told before a server is started. */
	if (!xb_plan_check(&request, options->host != NULL, err) ||
	    (options->export_json != NULL && !xb_report_check_path(options->export_json, err)))
		return false;
	bench->dir = xb_rundir_new(err);
	if (bench->dir == NULL)
		return false;
	return open_targets(bench, &request, err) && xb_plan_make(&request, &bench->run, err) &&
	    (options->handshakes > 0 || open_payload(bench, err));
}

bool
xb_command_run(const struct xb_options *options, int *code, struct xb_err *err)
{
	struct bench bench = {
		.options = options,
		.run = { .null_rate = NAN },
	};
	char date[32];
	bool ok;

	xb_progress_init(&bench.progress, options->quiet);
	xb_clock_date(date, sizeof(date));
	bench.run.started = xb_strdup(date);
	xb_versions(&bench.run.libraries);
	xb_hostsheet_read(&bench.run.host);
	fill_settings(&bench);
	note_masked_cpu(&bench.run);
	ok = prepare(&bench, err);
	if (ok) {
		if (xb_plan_has_work(&bench.run))
			ok = run_rounds(&bench, err);
		/* What is measured is shown, also when it could not be saved. */
		ok = ok && save_json(&bench, &bench.run, err);
		if (ok || bench.run.logins > 1)
			ok = print(&bench, err) && ok;
	}
	xb_progress_clear(&bench.progress);
	*code = exit_code(&bench.run);
	xb_payload_free(bench.payload);
	xb_targets_free(&bench.targets);
	xb_rundir_free(bench.dir);
	xb_run_free(&bench.run);
	return ok;
}
