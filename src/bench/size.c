#include "bench/size.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "bench/course.h"
#include "bench/rounds.h"
#include "bench/trial.h"
#include "client/client.h"
#include "client/payload.h"
#include "model/run.h"

#define MIB (UINT64_C(1024) * 1024)

/* A check's payload: more than a channel window, and no multiple of any buffer. */
#define CHECK_BYTES (8 * MIB + 17)

/* No transfer is scaled below this: less says nothing about a rate. */
#define LEAST_BYTES MIB

/* Nor above this, whatever a rate may be. */
#define MOST_BYTES (UINT64_C(1) << 50)

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median rate of the trials so far; 0 when there are none. */
static double
median_rate(const struct xb_result *result)
{
	double *rates = xb_calloc(result->sample_count, sizeof(*rates)), median = 0;
	size_t i, count = 0;

	for (i = 0; i < result->sample_count; i++)
		if (xb_sample_rate(&result->samples[i]) > 0)
			rates[count++] = xb_sample_rate(&result->samples[i]);
	qsort(rates, count, sizeof(*rates), compare);
	if (count > 0)
		median = (rates[count / 2] + rates[(count - 1) / 2]) / 2;
	free(rates);
	return median;
}

static bool
is_sized(const struct xb_trial *trial)
{
	return trial->client->sized != NULL &&
	    trial->client->sized(trial->method, trial->direction);
}

static bool
reads_file(const struct xb_trial *trial)
{
	return trial->client->reads_file != NULL &&
	    trial->client->reads_file(trial->method, trial->direction);
}

/* The fastest that any client has had from or to this target in this direction; 0 unknown. */
static double
known_rate(const struct xb_course *course, const struct xb_case *c)
{
	const struct xb_access *access = &course->accesses[c->target * course->client_count];
	double most = 0;
	size_t i;
	int method;

	for (i = 0; i < course->client_count; i++)
		for (method = 0; method < XB_METHOD_COUNT; method++)
			most = fmax(most, access[i].rates[method][c->direction]);
	return most;
}

/* What a check transfers: less where a link is known to be slow and the clock cannot end it. */
static uint64_t
check_bytes(const struct xb_course *course, const struct xb_case *c, const struct xb_trial *trial)
{
	double some = known_rate(course, c) * xb_seconds(trial->time_ns);

	if (!is_sized(trial) || !(some > 0) || some >= (double)CHECK_BYTES)
		return CHECK_BYTES;
	return some > (double)LEAST_BYTES ? (uint64_t)some : LEAST_BYTES;
}

/* What one of the streams transfers in the time-box, as far as is known: a power of two. */
static uint64_t
scaled_bytes(const struct xb_course *course, const struct xb_result *result,
    const struct xb_trial *trial, uint64_t most)
{
	const struct xb_case *c = &result->c;
	double rate = median_rate(result), bytes;
	uint64_t power = LEAST_BYTES;

	if (!(rate > 0))
		rate = xb_course_access(course, c)->rates[c->method][c->direction];
	bytes = rate * xb_seconds(trial->time_ns) / trial->streams;
	if (!(bytes > 0))
		bytes = (double)CHECK_BYTES;
	/* The nearest by ratio. */
	while (2 * power <= most && (double)power * M_SQRT2 < bytes)
		power *= 2;
	return power;
}

/* A file's path; what goes wrong with it is this trial's misfortune, unless a signal ended it. */
static const char *
file_of(const struct xb_course *course, uint64_t size, struct xb_err *err)
{
	const char *path = xb_payload_file(course->rounds->payload, size, err);

	if (path == NULL && err->fault == XB_FAULT_SYSTEM)
		err->fault = XB_FAULT_TRIAL;
	return path;
}

/* What somebody else's server sends. */
static bool
fill_foreign(const struct xb_course *course, bool check, struct xb_trial *trial, struct xb_err *err)
{
	trial->remote_file = course->rounds->remote_file;
	if (trial->remote_file == NULL && trial->method != XB_METHOD_EXEC)
		return xb_fail(err, XB_FAULT_TRIAL,
		    "no file to download by %s: name one there with --remote-file PATH",
		    xb_method_name(trial->method));
	/* A program that cannot stop within takes the whole file. */
	if (!is_sized(trial))
		trial->size = check ? CHECK_BYTES : course->run->settings.size;
	return true;
}

/* What a private server sends: ours, from a file of ours where it is not dd's zeros. */
static bool
fill_private(const struct xb_course *course, uint64_t size, uint64_t scaled, struct xb_trial *trial,
    struct xb_err *err)
{
	uint64_t most = xb_payload_file_max(course->rounds->payload);

	trial->size = size;
	if (trial->method == XB_METHOD_EXEC) {
		if (xb_payload_is_zeros(course->rounds->payload))
			return true;
		/* It is read again and again. */
		trial->remote_file = file_of(course, 0, err);
		return trial->remote_file != NULL;
	}
	/* Where the clock ends it, the file should not. */
	if (size == 0 && !is_sized(trial) && 2 * scaled <= most)
		scaled *= 2;
	trial->remote_bytes = size > 0 ? size : scaled;
	trial->remote_file = file_of(course, trial->remote_bytes, err);
	if (is_sized(trial))
		trial->size = trial->remote_bytes;
	return trial->remote_file != NULL;
}

bool
xb_size_fill(const struct xb_course *course, const struct xb_result *result, bool check,
    struct xb_trial *trial, struct xb_err *err)
{
	const struct xb_case *c = &result->c;
	const struct xb_run *run = course->run;
	bool ssh = trial->client->algorithms != NULL;
	bool has_file = reads_file(trial) || (ssh && c->direction == XB_DOWNLOAD);
	uint64_t most = has_file ? xb_payload_file_max(course->rounds->payload) : MOST_BYTES;
	uint64_t size = run->settings.size, scaled;

	if (check)
		size = check_bytes(course, c, trial);
	if (check && has_file && size > most)
		size = most;
	if (ssh && c->direction == XB_DOWNLOAD && !run->targets[c->target].is_private)
		return fill_foreign(course, check, trial, err);
	scaled = size > 0 ? size : scaled_bytes(course, result, trial, most);
	if (ssh && c->direction == XB_DOWNLOAD)
		return fill_private(course, size, scaled, trial, err);
	trial->size = is_sized(trial) ? scaled : size;
	return !reads_file(trial) || file_of(course, trial->size, err) != NULL;
}

void
xb_size_note(const struct xb_course *course)
{
	struct xb_run *run = course->run;
	bool has_file = false;
	char size[32], *note;
	size_t i;

	for (i = 0; i < run->result_count; i++) {
		const struct xb_case *c = &run->results[i].c;
		const struct xb_client *client = xb_course_client(course, c);

		if (c->status != XB_PLANNED || c->method == XB_METHOD_LOGIN)
			continue;
		has_file = has_file ||
		    (client->reads_file != NULL && client->reads_file(c->method, c->direction)) ||
		    (c->direction == XB_DOWNLOAD && c->method != XB_METHOD_EXEC &&
			run->targets[c->target].is_private);
	}
	if (!has_file || run->settings.size / 2 <= xb_payload_file_max(course->rounds->payload))
		return;
	xb_size_format(size, sizeof(size), run->settings.size);
	note = xb_asprintf("files of %s for programs to read are larger than what surely stays in "
			   "memory: reading them may be the limit",
	    size);
	xb_namelist_add_once(&run->notes, note);
	free(note);
}
