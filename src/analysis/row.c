#include "analysis/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pairs.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/run.h"
#include "model/sample.h"

#define BYTES_PER_GB 1e9
#define ZEROS_RATIO 0.02
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
start_seconds(const struct xb_sample *sample)
{
	return sample->start_seconds;
}

static double
connect_seconds(const struct xb_sample *sample)
{
	return sample->connect_seconds;
}

static double
kex_seconds(const struct xb_sample *sample)
{
	return sample->kex_seconds;
}

static double
auth_seconds(const struct xb_sample *sample)
{
	return sample->auth_seconds;
}

static double
wire_ratio(const struct xb_sample *sample)
{
	if (sample->wire_bytes == 0 || sample->bytes == 0)
		return NAN;
	return (double)sample->wire_bytes / (double)sample->bytes;
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

/*
 * Deflate makes 1 byte of 1032 at best (zlib's technical details), and SSH and TCP frame what is left:
 * zeros come to less than 1%, and hardly anything else does.
 */
static bool
sent_zeros(const struct xb_run *run, const struct xb_row *row)
{
	const struct xb_case *c = &row->result->c;
	bool sparse = run->settings.payload != NULL && strcmp(run->settings.payload, "sparse") == 0;

	if (c->direction == XB_UPLOAD && sparse)
		return true;
	if (isfinite(row->wire_ratio))
		return row->wire_ratio < ZEROS_RATIO;
	return sparse || (c->direction == XB_DOWNLOAD && c->method == XB_METHOD_EXEC);
}

static void
fill_warning(const struct xb_run *run, struct xb_row *row)
{
	const struct xb_case *c = &row->result->c;

	if (!xb_suite_compresses(&c->suite) || c->method == XB_METHOD_LOGIN ||
	    !sent_zeros(run, row))
		return;
	row->warning = c->direction == XB_UPLOAD || c->method != XB_METHOD_EXEC
	    ? "zeros under compression say nothing: --payload text:50"
	    : "zeros under compression say nothing: --remote-file PATH";
}

static void
fill_login(struct xb_row *row)
{
	const struct xb_result *result = row->result;

	row->login = (struct xb_login){
		.start = interval_of(result, start_seconds),
		.connect = interval_of(result, connect_seconds),
		.kex = interval_of(result, kex_seconds),
		.auth = interval_of(result, auth_seconds),
		.total = interval_of(result, xb_login_seconds),
	};
}

static void
fill_rate(const struct xb_run *run, struct xb_row *row)
{
	const struct xb_result *result = row->result;
	const struct xb_case *c = &result->c;
	bool pinned = run->settings.pinned && run->settings.server_cpu >= 0;
	bool comparable =
	    xb_run_target(run, c)->is_local && c->streams <= 1 && !xb_suite_compresses(&c->suite);

	row->rate = interval_of(result, xb_sample_rate);
	row->client_share = interval_of(result, client_share).median;
	row->server_share =
	    interval_of(result, pinned ? pinned_server_share : session_share).median;
	row->client_cpu_per_gb = interval_of(result, client_cpu_per_gb).median;
	row->server_cpu_per_gb = interval_of(result, server_cpu_per_gb).median;
	row->wire_ratio = interval_of(result, wire_ratio).median;
	if (comparable && row->rate.count > 0 && row->raw > 0) {
		row->of_raw = row->rate.median / row->raw;
		row->overhead = 1 - row->of_raw;
	}
}

static void
fill_measured(const struct xb_run *run, struct xb_row *row)
{
	const struct xb_case *c = &row->result->c;
	const struct xb_sample *sample;
	size_t at = 0;

	fill_login(row);
	if (c->method != XB_METHOD_LOGIN)
		fill_rate(run, row);
	while ((sample = xb_counted_next(row->result, &at)) != NULL)
		row->disturbed += (sample->marks & DISTURBED) != 0;
	row->measured =
	    row->rate.count > 0 || (c->method == XB_METHOD_LOGIN && row->login.total.count > 0);
	fill_warning(run, row);
	row->ranked = row->measured && !c->reference && row->warning == NULL;
}

void
xb_row_fill(const struct xb_run *run, const struct xb_result *result, struct xb_row *row)
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
		.wire_ratio = NAN,
		.scaling = none,
		.login = { none, none, none, none, none },
		.ratio = none,
	};
	fill_raw(run, row);
	if (result->c.status == XB_MEASURED)
		fill_measured(run, row);
	for (size_t i = 0; i < result->sample_count; i++)
		row->failed += result->samples[i].status == XB_FAILED;
}

bool
xb_suite_compresses(const struct xb_suite *suite)
{
	return suite->compression != NULL && strcmp(suite->compression, "none") != 0;
}

const char *
xb_case_client_label(const struct xb_case *c)
{
	return c->client_label != NULL ? c->client_label : c->client;
}

/* What the row's first session told of itself; NULL: there was none. */
static const struct xb_negotiated *
negotiated(const struct xb_row *row)
{
	size_t at = 0;
	const struct xb_sample *sample = xb_counted_next(row->result, &at);

	return sample != NULL ? &sample->negotiated : NULL;
}

const char *
xb_row_kex(const struct xb_row *row)
{
	const struct xb_negotiated *had = negotiated(row);

	if (row->result->c.suite.kex != NULL)
		return row->result->c.suite.kex;
	return had != NULL && had->kex[0] != '\0' ? had->kex : NULL;
}

const char *
xb_row_hostkey(const struct xb_row *row)
{
	const struct xb_negotiated *had = negotiated(row);

	if (row->result->c.suite.hostkey != NULL)
		return row->result->c.suite.hostkey;
	return had != NULL && had->hostkey[0] != '\0' ? had->hostkey : NULL;
}

void
xb_target_program(const struct xb_target_sheet *target, char *out, size_t size)
{
	const char *program = target->server_program;
	const char *name = program != NULL ? program : "server";
	const char *slash = strrchr(name, '/');

	/* One that an interpreter runs has its kind's name. */
	if (target->server != NULL && (program == NULL || strcmp(target->server, "openssh") != 0))
		name = target->server;
	else if (slash != NULL)
		name = slash + 1;
	xb_text_printable(out, size, name, strlen(name));
}
