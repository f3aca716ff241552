#include "report/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/err.h"
#include "base/units.h"
#include "model/host.h"
#include "model/offer.h"
#include "model/run.h"
#include "report/json_parts.h"

#define SCHEMA "xferbench/1"

/* "libssh2 1.10.0" as name and version. */
static json_t *
versioned(const char *library)
{
	size_t len = strcspn(library, " ");
	const char *version = library[len] != '\0' ? library + len + 1 : NULL;

	return json_pack("{s:o, s:o}", "name", xb_json_text_part(library, len), "version",
	    xb_json_text(version));
}

/* All but the first, which is the tool itself. */
static json_t *
libraries(const struct xb_namelist *list)
{
	json_t *array = json_array();

	for (size_t i = 1; i < list->count; i++)
		array = xb_json_append(array, versioned(list->names[i]));
	return array;
}

static json_t *
host(const struct xb_host *h)
{
	return json_pack(
	    "{s:o, s:o, s:o, s:i, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
	    " s:o, s:o}",
	    "kernel", xb_json_text(h->kernel), "architecture", xb_json_text(h->architecture),
	    "cpu_model", xb_json_text(h->cpu_model), "cpus", h->cpus, "aes", h->aes, "sha", h->sha,
	    "avx2", h->avx2, "avx512", h->avx512, "virtualisation", xb_json_text(h->virtualisation),
	    "governor", xb_json_text(h->governor), "cgroup_quota", xb_json_text(h->cgroup_quota),
	    "load1", xb_json_number(h->load1), "congestion", xb_json_text(h->congestion),
	    "tcp_rmem", xb_json_text(h->tcp_rmem), "tcp_wmem", xb_json_text(h->tcp_wmem),
	    "openssl_ia32cap", xb_json_text(h->openssl_ia32cap), "openssl_armcap",
	    xb_json_text(h->openssl_armcap));
}

static json_t *
offer(const struct xb_offer *o)
{
	if (o->banner == NULL)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kex", xb_json_names(&o->kex),
	    "hostkeys", xb_json_names(&o->hostkeys), "ciphers_up", xb_json_names(&o->ciphers_up),
	    "ciphers_down", xb_json_names(&o->ciphers_down), "macs_up", xb_json_names(&o->macs_up),
	    "macs_down", xb_json_names(&o->macs_down), "compression_up",
	    xb_json_names(&o->compression_up), "compression_down",
	    xb_json_names(&o->compression_down));
}

static json_t *
target(const struct xb_target_sheet *t)
{
	return json_pack(
	    "{s:o, s:o, s:o, s:b, s:o, s:I, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
	    xb_json_text(t->name), "server", xb_json_text(t->server), "absent",
	    xb_json_text(t->absent), "stands_in", t->stands_in, "address", xb_json_text(t->address),
	    "port", (json_int_t)t->port, "user", xb_json_text(t->user), "private", t->is_private,
	    "local", t->is_local, "server_program", xb_json_text(t->server_program),
	    "server_version", xb_json_text(t->server_version), "banner",
	    xb_json_text(t->offer.banner), "offer", offer(&t->offer), "count_check",
	    xb_json_text(t->count_check), "hostkey_note", xb_json_text(t->hostkey_note));
}

static json_t *
cpu(bool pinned, int number_of_cpu)
{
	return pinned && number_of_cpu >= 0 ? json_integer(number_of_cpu) : json_null();
}

static json_t *
settings(const struct xb_settings *s)
{
	char seed[24];
	json_t *pinning;

	/* Many readers keep numbers as doubles, which would change a seed above 2^53. */
	snprintf(seed, sizeof(seed), "%" PRIu64, s->seed);
	pinning = json_pack("{s:b, s:o, s:o, s:o}", "pinned", s->pinned, "client_cpu",
	    cpu(s->pinned, s->client_cpu), "server_cpu", cpu(s->pinned, s->server_cpu), "note",
	    xb_json_text(s->pin_note));
	return json_pack("{s:o, s:o, s:I, s:o, s:s, s:o, s:o, s:o, s:s, s:o}", "time_seconds",
	    s->time_ns > 0 ? xb_json_number((double)s->time_ns / 1e9) : json_null(), "size",
	    s->size > 0 ? xb_json_count(s->size) : json_null(), "rounds", (json_int_t)s->rounds,
	    "handshakes", s->handshakes > 0 ? json_integer(s->handshakes) : json_null(), "seed",
	    seed, "payload", xb_json_text(s->payload), "payload_bytes",
	    xb_json_count(s->payload_bytes), "pinning", pinning, "unit",
	    xb_rate_unit_label(s->unit), "answer_client", xb_json_text(s->answer_client));
}

/* Null where the suite has no such figure. */
static json_t *
series(const struct xb_series *s)
{
	json_t *rounds;

	if (s->count == 0)
		return json_null();
	rounds = json_array();
	for (size_t i = 0; i < s->count; i++)
		rounds = xb_json_append(rounds, xb_json_number(s->values[i]));
	return json_pack("{s:o, s:o}", "median", xb_json_number(xb_median(s->values, s->count)),
	    "rounds", rounds);
}

static json_t *
speed(const struct xb_primitive_result *p)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "cipher_encrypt", series(&p->cipher_encrypt),
	    "cipher_decrypt", series(&p->cipher_decrypt), "mac", series(&p->mac), "encrypt",
	    series(&p->encrypt), "decrypt", series(&p->decrypt));
}

static json_t *
primitive(const struct xb_primitive_result *p)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "cipher", xb_json_text(p->cipher_name), "mac",
	    xb_json_text(p->mac_name), "reason", xb_json_text(p->reason), "speed",
	    p->reason == NULL ? speed(p) : json_null());
}

static json_t *
targets(const struct xb_run *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->target_count; i++)
		array = xb_json_append(array, target(&run->targets[i]));
	return array;
}

static json_t *
primitives(const struct xb_run *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->primitive_count; i++)
		array = xb_json_append(array, primitive(&run->primitives[i]));
	return array;
}

/*
 * Why this is not the whole run, NULL when it is. A file that is written between rounds says so
 * too: it is what stays when the program is killed.
 */
static const char *
partial_reason(const struct xb_run *run)
{
	if (run->partial)
		return run->partial_reason != NULL ? run->partial_reason : "ended early";
	for (size_t i = 0; run->rounds_done < run->settings.rounds && i < run->result_count; i++)
		if (run->results[i].sample_count > 0)
			return "the run goes on";
	return NULL;
}

static json_t *
document(const struct xb_run *run)
{
	const char *partial = partial_reason(run);
	const char *tool = run->libraries.count > 0 ? run->libraries.names[0] : "xferbench";

	return json_pack(
	    "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:o, s:o, s:b,"
	    " s:o}",
	    "schema", SCHEMA, "tool", versioned(tool), "libraries", libraries(&run->libraries),
	    "started", xb_json_text(run->started), "host", host(&run->host), "targets",
	    targets(run), "settings", settings(&run->settings), "results", xb_json_results(run),
	    "primitives", primitives(run), "deflate", series(&run->deflate), "inflate",
	    series(&run->inflate), "rounds_done", (json_int_t)run->rounds_done, "seconds",
	    xb_json_number(run->seconds), "logins", (json_int_t)run->logins, "null_rate",
	    xb_json_number(run->null_rate), "notes", xb_json_names(&run->notes), "partial",
	    partial != NULL, "partial_reason", xb_json_text(partial));
}

static bool
write_json(const struct xb_run *run, const struct xb_report_style *style, FILE *out,
    struct xb_err *err)
{
	/* Fifteen digits are more than any clock here has, and print 0.1 as 0.1. */
	const size_t flags = JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15);
	json_t *root = document(run);
	bool ok = false;

	(void)style;
	if (root == NULL)
		xb_fail(err, XB_FAULT_SYSTEM, "cannot make the JSON result: out of memory");
	else if (json_dumpf(root, out, flags) != 0 || fputc('\n', out) == EOF)
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write the JSON result");
	else
		ok = true;
	json_decref(root);
	return ok;
}

const struct xb_report xb_report_json = {
	.name = "json",
	.write = write_json,
};
