#include <stdlib.h>
#include <string.h>

#include "analysis/answer_parts.h"
#include "analysis/pairs.h"
#include "base/text.h"
#include "base/units.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/run.h"

#define MOST_NAMES 6 /* in one sentence */
#define STRONGEST_KEY 32u
#define MUCH_DATA 100e9 /* bytes, of which people know how long they wait */

/* The client whose configuration we know how to write, and where it is. */
#define CONFIGURED_CLIENT "openssh"
#define CONFIG_FILE "~/.ssh/config"

static const struct xb_suite *
suite_of(const struct xb_field *field, size_t i)
{
	return &field->rows[i]->result->c.suite;
}

static bool
same_name(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void
put_suite(FILE *out, const struct xb_suite *suite, bool with_mac)
{
	bool mac = with_mac && suite->mac_name != NULL;

	fputs(xb_suite_cipher_label(suite), out);
	if (mac)
		fprintf(out, " with %s", xb_suite_mac_label(suite));
	if (xb_suite_compresses(suite))
		fprintf(out, "%s %s", mac ? " and" : " with", suite->compression);
}

static void
put_rate(FILE *out, const struct xb_field *field, const struct xb_row *row)
{
	enum xb_rate_unit unit = field->run->settings.unit;
	char figure[32];

	xb_figure_format(figure, sizeof(figure), xb_rate_in(unit, row->rate.median));
	fprintf(out, "%s %s", figure, xb_rate_unit_label(unit));
}

/* "here", "to NAME", "from NAME". */
static void
put_where(FILE *out, const struct xb_field *field)
{
	const struct xb_target_sheet *target = &field->run->targets[field->group->target];
	char name[256];

	if (target->is_local) {
		fputs("here", out);
		return;
	}
	xb_text_printable(name, sizeof(name), target->name, strlen(target->name));
	fprintf(out, "%s %s", field->group->direction == XB_UPLOAD ? "to" : "from", name);
}

/* Bits that help against a search for the key: two keys of 256 bits are no stronger than one. */
static unsigned
strength(const struct xb_suite *suite)
{
	unsigned bytes = suite->cipher != NULL ? suite->cipher->key_bytes : 0;

	return bytes < STRONGEST_KEY ? bytes : STRONGEST_KEY;
}

/* True when the level rows differ in their MAC, so that a cipher's name alone says too little. */
static bool
macs_differ(const struct xb_field *field)
{
	for (size_t i = 1; i < field->count; i++)
		if (xb_field_is_level(field, i) &&
		    !same_name(suite_of(field, i)->mac_name, suite_of(field, 0)->mac_name))
			return true;
	return false;
}

/* The names of the level rows that are at least this strong, joined by word. */
static void
put_level(FILE *out, const struct xb_field *field, unsigned least, size_t count, const char *word)
{
	bool with_mac = macs_differ(field);
	size_t shown = count > MOST_NAMES ? MOST_NAMES : count;
	size_t done = 0;

	for (size_t i = 0; i < field->count && done < shown; i++) {
		if (!xb_field_is_level(field, i) || strength(suite_of(field, i)) < least)
			continue;
		xb_answer_put_between(out, done++, count, word);
		put_suite(out, suite_of(field, i), with_mac);
	}
	if (shown < count)
		fprintf(out, " %s %zu more", word, count - shown);
}

static size_t
count_level(const struct xb_field *field, unsigned least)
{
	size_t count = 0;

	for (size_t i = 0; i < field->count; i++)
		count += xb_field_is_level(field, i) && strength(suite_of(field, i)) >= least;
	return count;
}

/* Several rows that cannot be told apart: what is known is that they are level. */
static void
put_tie(FILE *out, const struct xb_field *field, size_t level)
{
	size_t rounds = field->rows[0]->rate.count;
	unsigned most = 0;
	size_t strongest;

	for (size_t i = 0; i < field->count; i++) {
		if (!xb_field_is_level(field, i))
			continue;
		if (i > 0 && field->ratios[i].count < rounds)
			rounds = field->ratios[i].count;
		if (strength(suite_of(field, i)) > most)
			most = strength(suite_of(field, i));
	}
	put_level(out, field, 0, level, "and");
	fprintf(out, " are equal within what %zu rounds can see", rounds);
	if (!field->sound)
		return;
	strongest = count_level(field, most);
	if (strongest == level) {
		fprintf(out, "; %s will do", level == 2 ? "either" : "any of them");
		return;
	}
	fputs("; choose ", out);
	put_level(out, field, most, strongest, "or");
	fprintf(out, ", the %s", level == 2 ? "stronger" : "strongest");
}

static void
put_fastest(FILE *out, const struct xb_field *field)
{
	const struct xb_suite *best = suite_of(field, 0);

	put_suite(out, best, true);
	fputs(" is the fastest ", out);
	put_where(out, field);
	fprintf(out, " for %s: ", field->client);
	put_rate(out, field, field->rows[0]);
	for (size_t i = 1; i < field->count; i++) {
		const struct xb_suite *next = suite_of(field, i);
		bool same_mac = best->mac_name != NULL && same_name(best->mac_name, next->mac_name);

		if (!xb_field_is_clear(field, i))
			continue;
		fputs(", ", out);
		xb_answer_put_times(out, &field->ratios[i]);
		fputc(' ', out);
		put_suite(out, next, !same_mac);
		break;
	}
}

/* Too few rounds for any comparison, or nothing to compare with. */
static void
put_unclear(FILE *out, const struct xb_field *field)
{
	size_t rounds = field->rows[0]->rate.count;

	put_suite(out, suite_of(field, 0), true);
	if (field->count == 1) {
		if (field->rows[0] == field->negotiated)
			fprintf(out, ", which %s picks by itself,", field->client);
		fprintf(out, " reaches ");
		put_rate(out, field, field->rows[0]);
		if (field->rows[0] != field->negotiated)
			fprintf(out, " with %s", field->client);
		fprintf(out, "; no other%s was measured", field->sound ? " sound one" : "");
		return;
	}
	fprintf(out, " came out fastest in %zu round%s, ", rounds, rounds == 1 ? "" : "s");
	put_rate(out, field, field->rows[0]);
	fprintf(out, " with %s; %d are needed to tell it from the others", field->client,
	    XB_ROUNDS_FOR_VERDICT);
}

/* "3.1 h": how long so much data takes. */
static void
wait_text(char *out, size_t size, double bytes_per_second)
{
	double seconds = MUCH_DATA / bytes_per_second;
	char figure[24];

	if (seconds >= 3600)
		snprintf(out, size, "%.1f h", seconds / 3600);
	else if (seconds >= 60)
		snprintf(out, size, "%.0f min", seconds / 60);
	else {
		xb_figure_format(figure, sizeof(figure), seconds);
		snprintf(out, size, "%s s", figure);
	}
}

/* What the nearest row that is seen to be slower than the one as negotiated would cost. */
static void
put_slower(FILE *out, const struct xb_field *field, const struct xb_row *now)
{
	char wait[32];
	char wait_now[32];

	for (size_t i = 0; i < field->count; i++) {
		struct xb_interval ratio = xb_pairs_ratio(field->rows[i]->result, now->result);
		int decimals = ratio.high > 0.995 ? 1 : 0;

		if (field->rows[i] == now || !xb_interval_is_clear(&ratio) || ratio.high >= 1)
			continue;
		fputc('\n', out);
		put_suite(out, suite_of(field, i), true);
		fprintf(out, " would be %.*f%% slower (%.*f to %.*f)", decimals,
		    100 * (1 - ratio.median), decimals, 100 * (1 - ratio.high), decimals,
		    100 * (1 - ratio.low));
		wait_text(wait, sizeof(wait), field->rows[i]->rate.median);
		wait_text(wait_now, sizeof(wait_now), now->rate.median);
		if (strcmp(wait, wait_now) != 0)
			fprintf(out, ", 100 GB in %s, not %s", wait, wait_now);
		fputc('.', out);
		return;
	}
}

/* What is negotiated today is level with the fastest. */
static void
put_already(FILE *out, const struct xb_field *field, const struct xb_row *now, size_t level)
{
	fprintf(out, "%s already uses %s, ", field->client,
	    level > 1 ? "one of the fastest" : "the fastest");
	put_suite(out, &now->result->c.suite, true);
	fputs(". Nothing to change.", out);
	put_slower(out, field, now);
}

/* Of the rows level with the first and seen to be faster than today's, the one with the longest key. */
static const struct xb_row *
better_row(const struct xb_field *field, struct xb_interval *ratio)
{
	const struct xb_row *best = NULL;

	for (size_t i = 0; i < field->count; i++) {
		struct xb_interval its =
		    xb_pairs_ratio(field->rows[i]->result, field->negotiated->result);

		if (!xb_field_is_level(field, i) || !xb_interval_is_clear(&its) || its.low <= 1 ||
		    (best != NULL &&
			strength(suite_of(field, i)) <= strength(&best->result->c.suite)))
			continue;
		best = field->rows[i];
		*ratio = its;
	}
	return best;
}

/* The lines for the client's configuration; the file's name stands behind the first. */
static void
put_config(FILE *out, const struct xb_suite *suite, const struct xb_suite *now)
{
	const char *where = "     in " CONFIG_FILE;

	if (!same_name(suite->cipher_name, now->cipher_name)) {
		fprintf(out, "Ciphers ^%s%s\n", suite->cipher_name, where);
		where = "";
	}
	if (suite->mac_name != NULL && !same_name(suite->mac_name, now->mac_name)) {
		fprintf(out, "MACs ^%s%s\n", suite->mac_name, where);
		where = "";
	}
	if (xb_suite_compresses(suite) != xb_suite_compresses(now))
		fprintf(out, "Compression %s%s\n", xb_suite_compresses(suite) ? "yes" : "no",
		    where);
}

/* Something sound is seen to be faster than what is negotiated today. */
static void
put_better(FILE *out, const struct xb_field *field, const struct xb_row *row,
    const struct xb_interval *ratio)
{
	const struct xb_case *c = &row->result->c;

	if (strcmp(c->client, CONFIGURED_CLIENT) == 0) {
		put_config(out, &c->suite, &field->negotiated->result->c.suite);
	} else {
		fprintf(out, "with %s: ", field->client);
		put_suite(out, &c->suite, true);
		fputs(", ", out);
	}
	xb_answer_put_times(out, ratio);
	fputs(" the ", out);
	put_rate(out, field, field->negotiated);
	fprintf(out, " that %s picks by itself.", field->client);
}

static void
put_few_trials(FILE *out, const struct xb_field *field)
{
	for (size_t i = 1; i < field->count; i++) {
		if (xb_field_is_clear(field, i))
			continue;
		fputc(' ', out);
		put_suite(out, suite_of(field, i), true);
		fputs(" has too few trials to compare.", out);
	}
}

/* A faster row that is not sound is mentioned, with what is wrong with it. */
static void
put_faster_but_weak(FILE *out, const struct xb_field *field)
{
	struct xb_interval ratio;
	char *fault;

	if (field->fastest == field->rows[0] || xb_row_is_sound(field->fastest))
		return;
	ratio = xb_pairs_ratio(field->fastest->result, field->rows[0]->result);
	if (!xb_interval_is_clear(&ratio) || ratio.low <= 1)
		return;
	fault = xb_row_fault(field->fastest);
	fputc(' ', out);
	put_suite(out, &field->fastest->result->c.suite, true);
	fprintf(out, " is faster, but %s.", fault);
	free(fault);
}

/* What people get today is not sound: that matters more than its speed. */
static void
put_weak_today(FILE *out, const struct xb_field *field)
{
	const struct xb_row *now = field->negotiated;
	char *fault;

	if (now == NULL || now->result->c.suite.cipher_name == NULL || xb_row_is_sound(now))
		return;
	fault = xb_row_fault(now);
	fprintf(out, " %s picks ", field->client);
	put_suite(out, &now->result->c.suite, true);
	fprintf(out, " by itself: %s.", fault);
	free(fault);
}

/* Which method is the fastest, where it is seen to be faster than each other one. */
static void
put_method(FILE *out, const struct xb_field *field)
{
	const struct xb_row *next = NULL;
	struct xb_interval nearest = { 0 };

	for (int i = 0; i < XB_METHOD_COUNT; i++) {
		struct xb_interval ratio;

		if (field->methods[i] == NULL)
			continue;
		ratio = xb_pairs_ratio(field->rows[0]->result, field->methods[i]->result);
		if (!xb_interval_is_clear(&ratio) || ratio.low <= 1)
			return;
		if (next == NULL || ratio.median < nearest.median) {
			next = field->methods[i];
			nearest = ratio;
		}
	}
	if (next == NULL)
		return;
	fprintf(out, " %s is the fastest method, ",
	    xb_method_name(field->rows[0]->result->c.method));
	xb_answer_put_times(out, &nearest);
	fprintf(out, " %s.", xb_method_name(next->result->c.method));
}

/* The main sentence where there is nothing to compare with but the other rows. */
static void
put_choice(FILE *out, const struct xb_field *field, size_t level, size_t clear)
{
	if (clear == 0)
		put_unclear(out, field);
	else if (level > 1)
		put_tie(out, field, level);
	else
		put_fastest(out, field);
	fputc('.', out);
}

/* True when what is negotiated today is seen to be as fast as the first. */
static bool
is_already(const struct xb_field *field)
{
	for (size_t i = 0; i < field->count; i++)
		if (field->rows[i] == field->negotiated)
			return xb_field_is_level(field, i);
	return false;
}

void
xb_answer_put_stream(FILE *out, const struct xb_field *field)
{
	size_t level = count_level(field, 0);
	size_t clear = xb_field_count_clear(field);
	const struct xb_row *better = NULL;
	struct xb_interval ratio;

	if (field->sound && field->negotiated != NULL)
		better = better_row(field, &ratio);
	if (better != NULL)
		put_better(out, field, better, &ratio);
	else if (field->negotiated != NULL && field->sound && clear > 0 && is_already(field))
		put_already(out, field, field->negotiated, level);
	else
		put_choice(out, field, level, clear);
	if (clear > 0)
		put_few_trials(out, field);
	if (field->sound) {
		put_faster_but_weak(out, field);
		put_weak_today(out, field);
	} else {
		xb_answer_put_faults(out, field);
	}
	put_method(out, field);
}
