#include <stdlib.h>
#include <string.h>

#include "analysis/answer_parts.h"
#include "analysis/pairs.h"
#include "base/mem.h"
#include "model/cipher.h"
#include "model/kex.h"
#include "model/mac.h"
#include "model/run.h"

static bool
is_login(const struct xb_row *row)
{
	return row->result->c.method == XB_METHOD_LOGIN;
}

static const struct xb_keying *
kex_of(const struct xb_row *row)
{
	const char *name = xb_row_kex(row);

	return name != NULL ? xb_kex_by_name(name) : NULL;
}

static const struct xb_keying *
hostkey_of(const struct xb_row *row)
{
	const char *name = xb_row_hostkey(row);

	return name != NULL ? xb_hostkey_by_name(name) : NULL;
}

static bool
is_sound(const struct xb_keying *keying)
{
	return keying != NULL && keying->rating == XB_RATING_SOUND;
}

bool
xb_row_is_sound(const struct xb_row *row)
{
	const struct xb_suite *suite = &row->result->c.suite;

	if (is_login(row))
		return is_sound(kex_of(row)) && is_sound(hostkey_of(row));
	if (suite->cipher == NULL || suite->cipher->rating != XB_RATING_SOUND)
		return false;
	if (suite->mac_name == NULL)
		return true;
	return suite->mac != NULL && suite->mac->rating == XB_RATING_SOUND;
}

static char *
weakness(const char *label, enum xb_rating rating, const char *source)
{
	if (source == NULL)
		return xb_asprintf("%s is %s", label, xb_rating_name(rating));
	return xb_asprintf("%s is %s: %s", label, xb_rating_name(rating), source);
}

/* The key exchange first. */
static char *
login_fault(const struct xb_row *row)
{
	const struct xb_keying *keying = is_sound(kex_of(row)) ? hostkey_of(row) : kex_of(row);
	const char *name = is_sound(kex_of(row)) ? xb_row_hostkey(row) : xb_row_kex(row);

	if (keying == NULL)
		return xb_asprintf("%s is not rated", name != NULL ? name : "what was negotiated");
	return weakness(keying->name, keying->rating, keying->rating_source);
}

/* The cipher first. */
char *
xb_row_fault(const struct xb_row *row)
{
	const struct xb_suite *suite = &row->result->c.suite;

	if (is_login(row))
		return login_fault(row);
	if (suite->cipher == NULL)
		return xb_asprintf("%s is not rated",
		    suite->cipher_name != NULL ? suite->cipher_name : "what was negotiated");
	if (suite->cipher->rating != XB_RATING_SOUND)
		return weakness(suite->cipher->label, suite->cipher->rating,
		    suite->cipher->rating_source);
	if (suite->mac == NULL)
		return xb_asprintf("%s is not rated", suite->mac_name);
	return weakness(suite->mac->label, suite->mac->rating, suite->mac->rating_source);
}

bool
xb_field_is_clear(const struct xb_field *field, size_t i)
{
	return xb_interval_is_clear(&field->ratios[i]);
}

size_t
xb_field_count_clear(const struct xb_field *field)
{
	size_t clear = 0;

	for (size_t i = 1; i < field->count; i++)
		clear += xb_field_is_clear(field, i);
	return clear;
}

bool
xb_field_is_level(const struct xb_field *field, size_t i)
{
	return i == 0 || (xb_field_is_clear(field, i) && field->ratios[i].low <= 1);
}

/* What a row must be to compete. */
struct wanted {
	size_t group;
	const char *client; /* NULL: any */
	unsigned streams;
	bool sound;
};

static bool
competes(const struct xb_row *row, const struct wanted *wanted)
{
	const struct xb_case *c = &row->result->c;

	return row->ranked && row->group == wanted->group && c->streams == wanted->streams &&
	    (wanted->client == NULL || strcmp(c->client, wanted->client) == 0) &&
	    (!wanted->sound || xb_row_is_sound(row));
}

/* Rows stand in the order of their speed. */
static const struct xb_row *
first_of(const struct xb_analysis *analysis, const struct wanted *wanted)
{
	for (size_t i = 0; i < analysis->count; i++)
		if (competes(&analysis->rows[i], wanted))
			return &analysis->rows[i];
	return NULL;
}

/* One stream is what people have; several where nothing else was measured. */
static unsigned
fewest_streams(const struct xb_analysis *analysis, size_t group, const char *client)
{
	unsigned fewest = 0;

	for (size_t i = 0; i < analysis->count; i++) {
		const struct xb_case *c = &analysis->rows[i].result->c;

		if (analysis->rows[i].ranked && analysis->rows[i].group == group &&
		    (client == NULL || strcmp(c->client, client) == 0) &&
		    (fewest == 0 || c->streams < fewest))
			fewest = c->streams;
	}
	return fewest;
}

/* Of the client if it has any, of the fastest one else; the sound ones first. */
static const struct xb_row *
choose(const struct xb_run *run, const struct xb_analysis *analysis, struct wanted *wanted)
{
	const char *const clients[] = { run->settings.answer_client, NULL };
	const struct xb_row *first = NULL;

	for (size_t i = 0; first == NULL && i < 2; i++) {
		wanted->client = clients[i];
		wanted->streams = fewest_streams(analysis, wanted->group, clients[i]);
		wanted->sound = true;
		first = first_of(analysis, wanted);
		wanted->sound = first != NULL;
		if (first == NULL)
			first = first_of(analysis, wanted);
	}
	if (first != NULL)
		wanted->client = first->result->c.client;
	return first;
}

static void
add_rows(struct xb_field *field, const struct xb_analysis *analysis, const struct wanted *wanted,
    enum xb_method method)
{
	struct wanted any = *wanted;

	any.sound = false;
	for (size_t i = 0; i < analysis->count; i++) {
		const struct xb_row *row = &analysis->rows[i];
		enum xb_method its = row->result->c.method;

		if (!competes(row, &any))
			continue;
		if (its == method && field->fastest == NULL)
			field->fastest = row;
		if (its == method && row->result->c.as_negotiated && field->negotiated == NULL)
			field->negotiated = row;
		if (!competes(row, wanted))
			continue;
		if (its == method)
			field->rows[field->count++] = row;
		else if (field->methods[its] == NULL)
			field->methods[its] = row;
	}
}

bool
xb_field_make(const struct xb_run *run, const struct xb_analysis *analysis, size_t group,
    struct xb_field *field)
{
	struct wanted wanted = { .group = group };
	const struct xb_row *first = choose(run, analysis, &wanted);

	if (first == NULL)
		return false;
	*field = (struct xb_field){
		.run = run,
		.group = &analysis->groups[group],
		.client = xb_case_client_label(&first->result->c),
		.rows = xb_calloc(analysis->count, sizeof(const struct xb_row *)),
		.ratios = xb_calloc(analysis->count, sizeof(*field->ratios)),
		.sound = wanted.sound,
	};
	add_rows(field, analysis, &wanted, first->result->c.method);
	field->ratios[0] = (struct xb_interval){ .median = 1, .low = 1, .high = 1 };
	for (size_t i = 1; i < field->count; i++)
		field->ratios[i] = xb_pairs_ratio(field->rows[0]->result, field->rows[i]->result);
	return true;
}

void
xb_field_free(struct xb_field *field)
{
	free(field->rows);
	free(field->ratios);
}
