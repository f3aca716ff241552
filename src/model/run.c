#include "model/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
xb_series_add(struct xb_series *series, double value)
{
	series->values = xb_grow(series->values, series->count, sizeof(*series->values));
	series->values[series->count++] = value;
}

void
xb_series_free(struct xb_series *series)
{
	free(series->values);
	*series = (struct xb_series){ 0 };
}

static bool
same_name(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a, b) == 0;
}

const struct xb_primitive_result *
xb_run_primitive(const struct xb_run *run, const char *cipher_name, const char *mac_name)
{
	for (size_t i = 0; i < run->primitive_count; i++) {
		const struct xb_primitive_result *p = &run->primitives[i];

		if (same_name(p->cipher_name, cipher_name) && same_name(p->mac_name, mac_name))
			return p;
	}
	return NULL;
}

const struct xb_target_sheet *
xb_run_target(const struct xb_run *run, const struct xb_case *c)
{
	return &run->targets[c->target];
}

struct xb_target_sheet *
xb_run_add_target(struct xb_run *run)
{
	run->targets = xb_grow(run->targets, run->target_count, sizeof(*run->targets));
	run->targets[run->target_count] = (struct xb_target_sheet){ 0 };
	return &run->targets[run->target_count++];
}

struct xb_result *
xb_run_add_result(struct xb_run *run)
{
	run->results = xb_grow(run->results, run->result_count, sizeof(*run->results));
	run->results[run->result_count] = (struct xb_result){ .c = { .streams = 1 } };
	return &run->results[run->result_count++];
}

static void
primitive_free(struct xb_primitive_result *p)
{
	free(p->cipher_name);
	free(p->mac_name);
	free(p->reason);
	xb_series_free(&p->cipher_encrypt);
	xb_series_free(&p->cipher_decrypt);
	xb_series_free(&p->mac);
	xb_series_free(&p->encrypt);
	xb_series_free(&p->decrypt);
}

static void
sheet_free(struct xb_target_sheet *target)
{
	free(target->name);
	free(target->server);
	free(target->absent);
	free(target->address);
	free(target->user);
	free(target->server_program);
	free(target->server_version);
	free(target->count_check);
	free(target->hostkey_note);
	xb_offer_free(&target->offer);
}

void
xb_run_free(struct xb_run *run)
{
	free(run->started);
	xb_namelist_free(&run->libraries);
	xb_host_free(&run->host);
	for (size_t i = 0; i < run->target_count; i++)
		sheet_free(&run->targets[i]);
	free(run->targets);
	free(run->settings.payload);
	free(run->settings.pin_note);
	free(run->settings.answer_client);
	for (size_t i = 0; i < run->result_count; i++) {
		xb_case_free(&run->results[i].c);
		free(run->results[i].samples);
	}
	free(run->results);
	for (size_t i = 0; i < run->primitive_count; i++)
		primitive_free(&run->primitives[i]);
	free(run->primitives);
	xb_series_free(&run->deflate);
	xb_series_free(&run->inflate);
	xb_namelist_free(&run->notes);
	free(run->partial_reason);
	*run = (struct xb_run){ 0 };
}
