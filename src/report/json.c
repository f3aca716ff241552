#include "report/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/stats.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "model/case.h"
#include "model/host.h"
#include "model/offer.h"
#include "model/run.h"
#include "model/sample.h"

#define SCHEMA "xferbench/1"

/*
 * A NULL that one of these functions returns, for want of memory, makes each json_pack and append
 * above it give NULL too, and is told once at the end.
 */

static json_t *
number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* JSON integers are signed here; what is larger is a number all the same. */
static json_t *
count(uint64_t value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

/* The first len bytes; NULL is null. */
static json_t *
text_part(const char *text, size_t len)
{
	json_t *value;
	char *printable;
	size_t size;

	if (text == NULL)
		return json_null();
	value = json_stringn(text, len);
	if (value != NULL)
		return value;
	/* Not UTF-8. */
	size = 4 * len + 1;
	printable = xb_calloc(size, 1);
	xb_text_printable(printable, size, text, len);
	value = json_string(printable);
	free(printable);
	return value;
}

static json_t *
text(const char *string)
{
	return text_part(string, string != NULL ? strlen(string) : 0);
}

/* A string in an array of its own, which a broken trial may have left open; "" is null. */
static json_t *
text_array(const char *array, size_t size)
{
	size_t len = strnlen(array, size);

	return len > 0 ? text_part(array, len) : json_null();
}

/* Adds to an array and returns it; NULL when one of both is NULL or memory ran out. */
static json_t *
append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) == 0)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *
names(const struct xb_namelist *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		array = append(array, text(list->names[i]));
	return array;
}

/* "libssh2 1.10.0" as name and version. */
static json_t *
versioned(const char *library)
{
	size_t len = strcspn(library, " ");
	const char *version = library[len] != '\0' ? library + len + 1 : NULL;

	return json_pack("{s:o, s:o}", "name", text_part(library, len), "version", text(version));
}

/* All but the first, which is the tool itself. */
static json_t *
libraries(const struct xb_namelist *list)
{
	json_t *array = json_array();

	for (size_t i = 1; i < list->count; i++)
		array = append(array, versioned(list->names[i]));
	return array;
}

static json_t *
host(const struct xb_host *h)
{
	return json_pack(
	    "{s:o, s:o, s:o, s:i, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
	    " s:o, s:o}",
	    "kernel", text(h->kernel), "architecture", text(h->architecture), "cpu_model",
	    text(h->cpu_model), "cpus", h->cpus, "aes", h->aes, "sha", h->sha, "avx2", h->avx2,
	    "avx512", h->avx512, "virtualisation", text(h->virtualisation), "governor",
	    text(h->governor), "cgroup_quota", text(h->cgroup_quota), "load1", number(h->load1),
	    "congestion", text(h->congestion), "tcp_rmem", text(h->tcp_rmem), "tcp_wmem",
	    text(h->tcp_wmem), "openssl_ia32cap", text(h->openssl_ia32cap), "openssl_armcap",
	    text(h->openssl_armcap));
}

static json_t *
offer(const struct xb_offer *o)
{
	if (o->banner == NULL)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kex", names(&o->kex),
	    "hostkeys", names(&o->hostkeys), "ciphers_up", names(&o->ciphers_up), "ciphers_down",
	    names(&o->ciphers_down), "macs_up", names(&o->macs_up), "macs_down",
	    names(&o->macs_down), "compression_up", names(&o->compression_up), "compression_down",
	    names(&o->compression_down));
}

static json_t *
target(const struct xb_target_sheet *t)
{
	return json_pack("{s:o, s:o, s:I, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
	    text(t->name), "address", text(t->address), "port", (json_int_t)t->port, "user",
	    text(t->user), "private", t->is_private, "local", t->is_local, "server_program",
	    text(t->server_program), "server_version", text(t->server_version), "banner",
	    text(t->offer.banner), "offer", offer(&t->offer), "count_check", text(t->count_check),
	    "hostkey_note", text(t->hostkey_note));
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
	    text(s->pin_note));
	return json_pack("{s:o, s:o, s:I, s:s, s:o, s:o, s:o, s:s}", "time_seconds",
	    s->time_ns > 0 ? number((double)s->time_ns / 1e9) : json_null(), "size",
	    s->size > 0 ? count(s->size) : json_null(), "rounds", (json_int_t)s->rounds, "seed",
	    seed, "payload", text(s->payload), "payload_bytes", count(s->payload_bytes), "pinning",
	    pinning, "unit", xb_rate_unit_label(s->unit));
}

static json_t *
marks(unsigned set)
{
	json_t *array = json_array();

	for (unsigned bit = 0; bit < XB_MARK_COUNT; bit++)
		if ((set & 1u << bit) != 0)
			array = append(array, text(xb_mark_name(bit)));
	return array;
}

static json_t *
negotiated(const struct xb_negotiated *n)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "cipher", text_array(n->cipher, sizeof(n->cipher)),
	    "mac", text_array(n->mac, sizeof(n->mac)), "kex", text_array(n->kex, sizeof(n->kex)),
	    "hostkey", text_array(n->hostkey, sizeof(n->hostkey)));
}

static json_t *
sample(const struct xb_sample *s)
{
	json_t *reason = json_null();

	if (s->status != XB_MEASURED)
		reason = s->reason[0] != '\0' ? text_array(s->reason, sizeof(s->reason))
					      : json_string("no reason was recorded");
	return json_pack("{s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
			 " s:o, s:o, s:o}",
	    "round", (json_int_t)s->round, "order", (json_int_t)s->order, "status",
	    xb_status_name(s->status), "reason", reason, "bytes", count(s->bytes), "seconds",
	    number(s->seconds), "connect_seconds", number(s->connect_seconds), "kex_seconds",
	    number(s->kex_seconds), "auth_seconds", number(s->auth_seconds), "client_cpu_seconds",
	    number(s->client_cpu_seconds), "server_cpu_seconds", number(s->server_cpu_seconds),
	    "server_core_share", number(s->server_core_share), "foreign_cpu_seconds",
	    number(s->foreign_cpu_seconds), "steal_seconds", number(s->steal_seconds), "peak_kib",
	    s->peak_kib > 0 ? json_integer(s->peak_kib) : json_null(), "marks", marks(s->marks),
	    "negotiated", negotiated(&s->negotiated));
}

static json_t *
interval(const struct xb_interval *i)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "median", number(i->median), "low", number(i->low),
	    "high", number(i->high), "coverage", number(i->coverage));
}

/* Every result has its row. */
static const struct xb_row *
row_of(const struct xb_analysis *analysis, const struct xb_result *result)
{
	const struct xb_row *row = analysis->rows;

	while (row->result != result)
		row++;
	return row;
}

/* Why there is no rate: never null in a case without one. */
static json_t *
case_reason(const struct xb_case *c)
{
	if (c->reason != NULL || c->status == XB_MEASURED)
		return text(c->reason);
	return json_string(
	    c->status == XB_PLANNED ? "not measured so far" : "no reason was recorded");
}

static json_t *
result(const struct xb_result *r, const struct xb_row *row)
{
	const struct xb_case *c = &r->c;
	bool has_rate = c->status == XB_MEASURED && row->rate.count > 0;
	json_t *samples = json_array();

	for (size_t i = 0; i < r->sample_count; i++)
		samples = append(samples, sample(&r->samples[i]));
	return json_pack("{s:o, s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
	    "cipher", text(c->suite.cipher_name), "mac", text(c->suite.mac_name), "client",
	    text(c->client), "method", xb_method_name(c->method), "direction",
	    xb_direction_name(c->direction), "status", xb_status_name(c->status), "reason",
	    case_reason(c), "hint", text(c->hint), "rate",
	    has_rate ? interval(&row->rate) : json_null(), "overhead",
	    has_rate ? number(row->overhead) : json_null(), "raw", number(row->raw), "place",
	    has_rate && row->place > 0 ? json_integer(row->place) : json_null(), "samples",
	    samples);
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
		rounds = append(rounds, number(s->values[i]));
	return json_pack("{s:o, s:o}", "median", number(xb_median(s->values, s->count)), "rounds",
	    rounds);
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
	return json_pack("{s:o, s:o, s:o, s:o}", "cipher", text(p->cipher_name), "mac",
	    text(p->mac_name), "reason", text(p->reason), "speed",
	    p->reason == NULL ? speed(p) : json_null());
}

static json_t *
results(const struct xb_run *run)
{
	struct xb_analysis analysis = { 0 };
	json_t *array = json_array();

	xb_analysis_make(run, &analysis);
	for (size_t i = 0; i < run->result_count; i++)
		array =
		    append(array, result(&run->results[i], row_of(&analysis, &run->results[i])));
	xb_analysis_free(&analysis);
	return array;
}

static json_t *
primitives(const struct xb_run *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->primitive_count; i++)
		array = append(array, primitive(&run->primitives[i]));
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
	    "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:o, s:o, s:b,"
	    " s:o}",
	    "schema", SCHEMA, "tool", versioned(tool), "libraries", libraries(&run->libraries),
	    "started", text(run->started), "host", host(&run->host), "target", target(&run->targets[0]),
	    "settings", settings(&run->settings), "results", results(run), "primitives",
	    primitives(run), "rounds_done", (json_int_t)run->rounds_done, "seconds",
	    number(run->seconds), "logins", (json_int_t)run->logins, "null_rate",
	    number(run->null_rate), "notes", names(&run->notes), "partial", partial != NULL,
	    "partial_reason", text(partial));
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
