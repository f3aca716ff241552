#include "bench/raw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"
#include "bench/primitive.h"
#include "client/payload_text.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/select.h"

#define ZLIB_LEVEL 6
#define TEXT_BYTES (1024u * 1024)

/* One row and how to measure it. */
struct job {
	struct xb_raw_row row;
	const struct xb_cipher *cipher;
	const struct xb_mac *mac;
	enum xb_primitive_op op;
};

struct job_list {
	size_t count;
	struct job *jobs;
};

static void
add_job(struct job_list *list, struct job job)
{
	list->jobs = xb_grow(list->jobs, list->count, sizeof(*list->jobs));
	list->jobs[list->count++] = job;
}

/* Both directions of a cipher; cipher is NULL when the table has no such name. */
static void
add_cipher(struct job_list *list, const struct xb_cipher *cipher, const char *name)
{
	struct job job = {
		.row = { .kind = XB_RAW_CIPHER,
		    .name = name,
		    .label = cipher != NULL ? cipher->label : name,
		    .rating = cipher != NULL ? xb_rating_name(cipher->rating) : "" },
		.cipher = cipher,
	};

	job.row.direction = "encrypt";
	job.op = XB_OP_CIPHER_ENCRYPT;
	add_job(list, job);
	job.row.direction = "decrypt";
	job.op = XB_OP_CIPHER_DECRYPT;
	add_job(list, job);
}

static void
add_mac(struct job_list *list, const struct xb_mac *mac, const char *name)
{
	add_job(list,
	    (struct job){
		.row = { .kind = XB_RAW_MAC,
		    .name = name,
		    .label = mac != NULL ? mac->label : name,
		    .direction = "",
		    .rating = mac != NULL ? xb_rating_name(mac->rating) : "" },
		.mac = mac,
		.op = XB_OP_MAC,
	    });
}

static void
plan(const struct xb_raw_request *request, struct job_list *list)
{
	const struct xb_selection *ciphers = request->ciphers, *macs = request->macs;

	for (size_t i = 0; ciphers == NULL && i < xb_cipher_count; i++)
		add_cipher(list, &xb_ciphers[i], xb_ciphers[i].name);
	for (size_t i = 0; ciphers != NULL && i < ciphers->count; i++)
		add_cipher(list, xb_cipher_by_name(ciphers->items[i].name), ciphers->items[i].name);
	for (size_t i = 0; macs == NULL && i < xb_mac_count; i++)
		add_mac(list, &xb_macs[i], xb_macs[i].name);
	for (size_t i = 0; macs != NULL && i < macs->count; i++)
		add_mac(list, xb_mac_by_name(macs->items[i].name), macs->items[i].name);
	if (request->zlib)
		add_job(list,
		    (struct job){
			.row = { .kind = XB_RAW_ZLIB,
			    .name = "zlib level 6",
			    .label = "zlib level 6",
			    .direction = "",
			    .rating = "" },
		    });
}

/* The same text each time. */
static char *
make_text(void)
{
	char *text = xb_calloc(TEXT_BYTES, 1);

	xb_payload_text_fill(text, TEXT_BYTES, 100, 1);
	return text;
}

/* One figure in bytes per second; NAN with err set when there is none. */
static double
measure_size(const struct job *job, const char *text, size_t bytes, int64_t time_ns,
    struct xb_err *err)
{
	struct xb_primitive *primitive;
	double speed;

	if (job->row.kind == XB_RAW_ZLIB) {
		speed = xb_primitive_deflate_speed(text, TEXT_BYTES, bytes, ZLIB_LEVEL, time_ns);
	} else if (job->cipher == NULL && job->mac == NULL) {
		xb_fail(err, XB_FAULT_TRIAL, "xferbench does not know %s", job->row.name);
		return NAN;
	} else {
		primitive = xb_primitive_new(job->cipher, job->mac, bytes, err);
		if (primitive == NULL)
			return NAN;
		speed = xb_primitive_speed(primitive, job->op, time_ns);
		xb_primitive_free(primitive);
	}
	if (speed > 0)
		return speed;
	xb_fail(err, XB_FAULT_TRIAL, "%s failed while it was measured", job->row.name);
	return NAN;
}

/* False when a signal ended it half-way. */
static bool
measure_row(struct job *job, const char *text, int64_t time_ns)
{
	struct xb_err err = { 0 };

	for (size_t i = 0; i < XB_RAW_SIZES; i++)
		job->row.speed[i] = NAN;
	for (size_t i = 0; i < XB_RAW_SIZES && err.fault == XB_FAULT_NONE; i++) {
		job->row.speed[i] = measure_size(job, text, xb_raw_sizes[i], time_ns, &err);
		if (xb_signals_pending() != 0)
			return false;
	}
	if (err.fault != XB_FAULT_NONE)
		job->row.reason = xb_strdup(err.text);
	return true;
}

void
xb_raw_measure(const struct xb_raw_request *request,
    void (*progress)(void *ctx, const struct xb_raw_row *row, size_t done, size_t total), void *ctx,
    struct xb_raw_table *table)
{
	struct job_list list = { 0 };
	char *text = request->zlib ? make_text() : NULL;

	plan(request, &list);
	*table = (struct xb_raw_table){ .rows = xb_calloc(list.count, sizeof(*table->rows)) };
	for (size_t i = 0; i < list.count; i++) {
		if (progress != NULL)
			progress(ctx, &list.jobs[i].row, i, list.count);
		if (!measure_row(&list.jobs[i], text, request->time_ns))
			break;
		table->rows[table->count++] = list.jobs[i].row;
	}
	free(list.jobs);
	free(text);
}
