#include "analysis/analysis.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/pairs.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "model/run.h"
#include "model/sample.h"

#define BYTES_PER_GB 1e9
#define DISTURBED (XB_MARK_SLEPT | XB_MARK_STOPPED | XB_MARK_FOREIGN)

static double
client_share(const struct xb_sample *sample)
{
	return sample->client_cpu_seconds / sample->seconds;
}

/* Of a server that is held to one core: all that runs for the session shares it. */
static double
pinned_server_share(const struct xb_sample *sample)
{
	if (isfinite(sample->server_cpu_seconds))
		return sample->server_cpu_seconds / sample->seconds;
	return sample->server_core_share;
}

/* Elsewhere the sink may run on another core: what fills one is the session's own process. */
static double
session_share(const struct xb_sample *sample)
{
	if (isfinite(sample->server_core_share))
		return sample->server_core_share;
	return sample->server_cpu_seconds / sample->seconds;
}

static double
client_cpu_per_gb(const struct xb_sample *sample)
{
	return sample->client_cpu_seconds * BYTES_PER_GB / (double)sample->bytes;
}

static double
server_cpu_per_gb(const struct xb_sample *sample)
{
	return sample->server_cpu_seconds * BYTES_PER_GB / (double)sample->bytes;
}

static double
login_seconds(const struct xb_sample *sample)
{
	return sample->connect_seconds + sample->kex_seconds + sample->auth_seconds;
}

/* A figure over the samples that count, one a round. */
static struct xb_interval
interval_of(const struct xb_result *result, double (*figure)(const struct xb_sample *sample))
{
	double *values = xb_calloc(result->sample_count, sizeof(*values));
	struct xb_interval interval;
	const struct xb_sample *sample;
	size_t count = 0;
	size_t at = 0;

	while ((sample = xb_counted_next(result, &at)) != NULL)
		values[count++] = figure(sample);
	interval = xb_interval_make(values, count);
	free(values);
	return interval;
}

static void
fill_raw(const struct xb_run *run, struct xb_row *row)
{
	const struct xb_suite *suite = &row->result->c.suite;
	const struct xb_primitive_result *p =
	    xb_run_primitive(run, suite->cipher_name, suite->mac_name);

	if (p == NULL || p->reason != NULL)
		return;
	row->raw_encrypt = xb_median(p->encrypt.values, p->encrypt.count);
	row->raw_decrypt = xb_median(p->decrypt.values, p->decrypt.count);
	/* A transfer needs both ends: without one of the two there is no slower one. */
	if (isfinite(row->raw_encrypt) && isfinite(row->raw_decrypt))
		row->raw = fmin(row->raw_encrypt, row->raw_decrypt);
}

static void
fill_rate(const struct xb_run *run, struct xb_row *row)
{
	const struct xb_result *result = row->result;
	bool pinned = run->settings.pinned && run->settings.server_cpu >= 0;
	const struct xb_sample *sample;
	size_t at = 0;

	row->rate = interval_of(result, xb_sample_rate);
	row->client_share = interval_of(result, client_share).median;
	row->server_share =
	    interval_of(result, pinned ? pinned_server_share : session_share).median;
	row->client_cpu_per_gb = interval_of(result, client_cpu_per_gb).median;
	row->server_cpu_per_gb = interval_of(result, server_cpu_per_gb).median;
	row->login_seconds = interval_of(result, login_seconds).median;
	if (run->targets[0].is_local && row->rate.count > 0 && row->raw > 0) {
		row->of_raw = row->rate.median / row->raw;
		row->overhead = 1 - row->of_raw;
	}
	while ((sample = xb_counted_next(result, &at)) != NULL)
		row->disturbed += (sample->marks & DISTURBED) != 0;
}

static void
fill_row(const struct xb_run *run, const struct xb_result *result, struct xb_row *row)
{
	const struct xb_interval none = { .median = NAN, .low = NAN, .high = NAN };

	*row = (struct xb_row){
		.result = result,
		.rate = none,
		.raw_encrypt = NAN,
		.raw_decrypt = NAN,
		.raw = NAN,
		.of_raw = NAN,
		.overhead = NAN,
		.client_share = NAN,
		.server_share = NAN,
		.client_cpu_per_gb = NAN,
		.server_cpu_per_gb = NAN,
		.login_seconds = NAN,
		.ratio = none,
	};
	fill_raw(run, row);
	if (result->c.status == XB_MEASURED)
		fill_rate(run, row);
	for (size_t i = 0; i < result->sample_count; i++)
		row->failed += result->samples[i].status == XB_FAILED;
}

/* Fastest first; rows without a rate last; else as planned. */
static int
by_rate(const void *a, const void *b)
{
	const struct xb_row *x = a;
	const struct xb_row *y = b;

	if ((x->rate.count > 0) != (y->rate.count > 0))
		return x->rate.count > 0 ? -1 : 1;
	if (x->rate.count > 0 && x->rate.median > y->rate.median)
		return -1;
	if (x->rate.count > 0 && x->rate.median < y->rate.median)
		return 1;
	return (x->result > y->result) - (x->result < y->result);
}

/*
 * A row is level with the leader when its interval reaches 1. Lying wholly above 1 is possible, as
 * the leader has the highest median and not the better pairs: it is no slower either.
 */
static void
fill_places(struct xb_analysis *analysis, size_t measured)
{
	bool any = false;

	for (size_t i = 0; i < measured; i++) {
		struct xb_row *row = &analysis->rows[i];

		if (row == analysis->leader) {
			row->ratio = (struct xb_interval){
				.median = 1,
				.low = 1,
				.high = 1,
				.coverage = 1,
				.count = row->rate.count,
			};
			continue;
		}
		row->ratio = xb_pairs_ratio(row->result, analysis->leader->result);
		if (!xb_interval_is_clear(&row->ratio))
			continue;
		any = true;
		row->place = row->ratio.high >= 1 ? 1 : (unsigned)i + 1;
	}
	analysis->places_clear = any || measured < 2;
	if (any)
		analysis->rows[0].place = 1;
	if (!analysis->places_clear)
		analysis->rounds_needed = XB_ROUNDS_FOR_VERDICT;
}

void
xb_analysis_make(const struct xb_run *run, struct xb_analysis *analysis)
{
	size_t measured = 0;

	*analysis = (struct xb_analysis){
		.count = run->result_count,
		.rows = xb_calloc(run->result_count, sizeof(*analysis->rows)),
		.worst_spread = NAN,
	};
	for (size_t i = 0; i < run->result_count; i++)
		fill_row(run, &run->results[i], &analysis->rows[i]);
	if (analysis->count > 1)
		qsort(analysis->rows, analysis->count, sizeof(*analysis->rows), by_rate);
	for (; measured < analysis->count && analysis->rows[measured].rate.count > 0; measured++) {
		const struct xb_interval *rate = &analysis->rows[measured].rate;

		/* fmax leaves NAN out; one value has no spread. */
		if (rate->count > 1)
			analysis->worst_spread = fmax(analysis->worst_spread,
			    (rate->high - rate->low) / 2 / rate->median);
	}
	if (measured > 0)
		analysis->leader = &analysis->rows[0];
	fill_places(analysis, measured);
}

void
xb_analysis_free(struct xb_analysis *analysis)
{
	free(analysis->rows);
	*analysis = (struct xb_analysis){ 0 };
}
