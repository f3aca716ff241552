#include "analysis/analysis.h"
#include "model/case.h"
#include "model/run.h"
#include "model/sample.h"
#include "report/json_parts.h"

static json_t *
marks(unsigned set)
{
	json_t *array = json_array();

	for (unsigned bit = 0; bit < XB_MARK_COUNT; bit++)
		if ((set & 1u << bit) != 0)
			array = xb_json_append(array, xb_json_text(xb_mark_name(bit)));
	return array;
}

static json_t *
negotiated(const struct xb_negotiated *n)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "cipher",
	    xb_json_text_array(n->cipher, sizeof(n->cipher)), "mac",
	    xb_json_text_array(n->mac, sizeof(n->mac)), "compression",
	    xb_json_text_array(n->compression, sizeof(n->compression)), "kex",
	    xb_json_text_array(n->kex, sizeof(n->kex)), "hostkey",
	    xb_json_text_array(n->hostkey, sizeof(n->hostkey)));
}

static json_t *
sample(const struct xb_sample *s)
{
	json_t *reason = json_null();

	if (s->status != XB_MEASURED)
		reason = s->reason[0] != '\0' ? xb_json_text_array(s->reason, sizeof(s->reason))
					      : json_string("no reason was recorded");
	return json_pack("{s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
			 " s:o, s:o, s:o, s:o, s:o}",
	    "round", (json_int_t)s->round, "order", (json_int_t)s->order, "status",
	    xb_status_name(s->status), "reason", reason, "bytes", xb_json_count(s->bytes),
	    "seconds", xb_json_number(s->seconds), "start_seconds",
	    xb_json_number(s->start_seconds), "connect_seconds", xb_json_number(s->connect_seconds),
	    "kex_seconds", xb_json_number(s->kex_seconds), "auth_seconds",
	    xb_json_number(s->auth_seconds), "client_cpu_seconds",
	    xb_json_number(s->client_cpu_seconds), "server_cpu_seconds",
	    xb_json_number(s->server_cpu_seconds), "server_core_share",
	    xb_json_number(s->server_core_share), "foreign_cpu_seconds",
	    xb_json_number(s->foreign_cpu_seconds), "steal_seconds",
	    xb_json_number(s->steal_seconds), "wire_bytes",
	    s->wire_bytes > 0 ? xb_json_count(s->wire_bytes) : json_null(), "peak_kib",
	    s->peak_kib > 0 ? json_integer(s->peak_kib) : json_null(), "marks", marks(s->marks),
	    "negotiated", negotiated(&s->negotiated));
}

/* Null without values. */
static json_t *
interval(const struct xb_interval *i)
{
	if (i->count == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "median", xb_json_number(i->median), "low",
	    xb_json_number(i->low), "high", xb_json_number(i->high), "coverage",
	    xb_json_number(i->coverage));
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
		return xb_json_text(c->reason);
	return json_string(
	    c->status == XB_PLANNED ? "not measured so far" : "no reason was recorded");
}

/* What the case is. */
static json_t *
identity(const struct xb_case *c)
{
	const struct xb_suite *suite = &c->suite;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:I, s:I, s:b, s:b}", "cipher",
	    xb_json_text(suite->cipher_name), "mac", xb_json_text(suite->mac_name), "compression",
	    xb_suite_compresses(suite) ? xb_json_text(suite->compression) : json_null(), "kex",
	    xb_json_text(suite->kex), "hostkey", xb_json_text(suite->hostkey), "client",
	    xb_json_text(c->client), "method", xb_method_name(c->method), "direction",
	    xb_direction_name(c->direction), "target", (json_int_t)c->target, "streams",
	    (json_int_t)(c->streams > 0 ? c->streams : 1), "as_negotiated", c->as_negotiated,
	    "reference", c->reference);
}

static json_t *
login(const struct xb_login *l)
{
	if (l->total.count == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "start", interval(&l->start), "connect",
	    interval(&l->connect), "kex", interval(&l->kex), "auth", interval(&l->auth), "total",
	    interval(&l->total));
}

/* What came out. */
static json_t *
outcome(const struct xb_case *c, const struct xb_row *row, const struct xb_group *group)
{
	bool has_rate = c->status == XB_MEASURED && row->rate.count > 0;
	bool leads = group != NULL && group->leader == row;

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}",
	    "status", xb_status_name(c->status), "reason", case_reason(c), "hint",
	    xb_json_text(c->hint), "warning", xb_json_text(row->warning), "rate",
	    has_rate ? interval(&row->rate) : json_null(), "login", login(&row->login), "overhead",
	    has_rate ? xb_json_number(row->overhead) : json_null(), "raw", xb_json_number(row->raw),
	    "wire_ratio", xb_json_number(row->wire_ratio), "scaling", interval(&row->scaling),
	    "group", group != NULL ? json_integer((json_int_t)row->group) : json_null(), "place",
	    row->place > 0 ? json_integer(row->place) : json_null(), "leader", leads, "ratio",
	    interval(&row->ratio));
}

static json_t *
result(const struct xb_result *r, const struct xb_analysis *analysis)
{
	const struct xb_row *row = row_of(analysis, r);
	const struct xb_group *group = r->c.reference ? NULL : &analysis->groups[row->group];
	json_t *object = identity(&r->c);
	json_t *rest = outcome(&r->c, row, group);
	json_t *samples = json_array();

	for (size_t i = 0; i < r->sample_count; i++)
		samples = xb_json_append(samples, sample(&r->samples[i]));
	/* NULL in any of them is an error of the call, which frees the new one all the same. */
	if (json_object_update(object, rest) != 0 ||
	    json_object_set_new(object, "samples", samples) != 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(rest);
	return object;
}

json_t *
xb_json_results(const struct xb_run *run)
{
	struct xb_analysis analysis = { 0 };
	json_t *array = json_array();

	xb_analysis_make(run, &analysis);
	for (size_t i = 0; i < run->result_count; i++)
		array = xb_json_append(array, result(&run->results[i], &analysis));
	xb_analysis_free(&analysis);
	return array;
}
