#include "analysis/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/pairs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/namelist.h"
#include "model/run.h"

#define FULL_CORE 0.9 /* a busy share from which on a core is called full */
#define MOST_NAMES 6  /* in one sentence */
#define STRONGEST_KEY 32u

/* The rows that compete for the answer, fastest first, and how the others stand to the first. */
struct field {
	const struct xb_run *run;
	const struct xb_row **rows;
	struct xb_interval *ratios; /* of the first to each; the first's own is 1 */
	size_t count;
	bool sound; /* all of them */
};

static bool
suite_is_sound(const struct xb_suite *suite)
{
	if (suite->cipher == NULL || suite->cipher->rating != XB_RATING_SOUND)
		return false;
	if (suite->mac_name == NULL)
		return true;
	return suite->mac != NULL && suite->mac->rating == XB_RATING_SOUND;
}

static const struct xb_suite *
suite_of(const struct field *field, size_t i)
{
	return &field->rows[i]->result->c.suite;
}

/* "and" or "or" between names; MOST_NAMES at most are spelt out. */
static void
put_between(FILE *out, size_t i, size_t count, const char *word)
{
	if (i == 0)
		return;
	if (i + 1 == count)
		fprintf(out, " %s ", word);
	else
		fputs(", ", out);
}

static void
put_suite(FILE *out, const struct xb_suite *suite, bool with_mac)
{
	fputs(xb_suite_cipher_label(suite), out);
	if (with_mac && suite->mac_name != NULL)
		fprintf(out, " with %s", xb_suite_mac_label(suite));
}

static void
put_rate(FILE *out, const struct field *field, const struct xb_row *row)
{
	enum xb_rate_unit unit = field->run->settings.unit;
	char figure[32];

	xb_figure_format(figure, sizeof(figure), xb_rate_in(unit, row->rate.median));
	fprintf(out, "%s %s", figure, xb_rate_unit_label(unit));
}

/* Two decimals; three where two would hide that the interval is apart from 1. */
static void
put_times(FILE *out, const struct xb_interval *ratio)
{
	int decimals = ratio->low < 1.005 ? 3 : 2;

	fprintf(out, "%.*f times (%.*f to %.*f)", decimals, ratio->median, decimals, ratio->low,
	    decimals, ratio->high);
}

/* "here", or "to NAME". */
static void
put_where(FILE *out, const struct field *field)
{
	char name[256];

	if (field->run->targets[0].is_local) {
		fputs("here", out);
		return;
	}
	xb_text_printable(name, sizeof(name), field->run->targets[0].name,
	    strlen(field->run->targets[0].name));
	fprintf(out, "to %s", name);
}

static char *
weakness(const char *label, enum xb_rating rating, const char *source)
{
	if (source == NULL)
		return xb_asprintf("%s is %s", label, xb_rating_name(rating));
	return xb_asprintf("%s is %s: %s", label, xb_rating_name(rating), source);
}

/* What is wrong with a suite that is not sound, fresh: the cipher first. */
static char *
fault_text(const struct xb_suite *suite)
{
	const struct xb_cipher *cipher = suite->cipher;
	const struct xb_mac *mac = suite->mac;

	if (cipher == NULL)
		return xb_asprintf("%s is not rated", suite->cipher_name);
	if (cipher->rating != XB_RATING_SOUND)
		return weakness(cipher->label, cipher->rating, cipher->rating_source);
	if (mac == NULL)
		return xb_asprintf("%s is not rated", suite->mac_name);
	return weakness(mac->label, mac->rating, mac->rating_source);
}

static bool
is_clear(const struct field *field, size_t i)
{
	return xb_interval_is_clear(&field->ratios[i]);
}

/* The first is not seen to be faster. */
static bool
is_level(const struct field *field, size_t i)
{
	return i == 0 || (is_clear(field, i) && field->ratios[i].low <= 1);
}

/* Fills from the measured rows: the sound ones, or all; of one client, the fastest one's. */
static void
field_fill(struct field *field, const struct xb_analysis *analysis, bool sound)
{
	field->count = 0;
	field->sound = sound;
	for (size_t i = 0; i < analysis->count; i++) {
		const struct xb_row *row = &analysis->rows[i];
		const struct xb_case *c = &row->result->c;

		if (row->rate.count == 0 || (sound && !suite_is_sound(&c->suite)))
			continue;
		if (field->count > 0 && strcmp(c->client, field->rows[0]->result->c.client) != 0)
			continue;
		field->rows[field->count++] = row;
	}
	for (size_t i = 1; i < field->count; i++)
		field->ratios[i] = xb_pairs_ratio(field->rows[0]->result, field->rows[i]->result);
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
macs_differ(const struct field *field)
{
	const char *first = suite_of(field, 0)->mac_name;

	for (size_t i = 1; i < field->count; i++) {
		const char *name = suite_of(field, i)->mac_name;

		if (is_level(field, i) &&
		    (name == NULL ? first != NULL : first == NULL || strcmp(name, first) != 0))
			return true;
	}
	return false;
}

/* The names of the level rows that are at least this strong, joined by word. */
static void
put_level(FILE *out, const struct field *field, unsigned least, size_t count, const char *word)
{
	bool with_mac = macs_differ(field);
	size_t shown = count > MOST_NAMES ? MOST_NAMES : count;
	size_t done = 0;

	for (size_t i = 0; i < field->count && done < shown; i++) {
		if (!is_level(field, i) || strength(suite_of(field, i)) < least)
			continue;
		put_between(out, done++, count, word);
		put_suite(out, suite_of(field, i), with_mac);
	}
	if (shown < count)
		fprintf(out, " %s %zu more", word, count - shown);
}

static size_t
count_level(const struct field *field, unsigned least)
{
	size_t count = 0;

	for (size_t i = 0; i < field->count; i++)
		count += is_level(field, i) && strength(suite_of(field, i)) >= least;
	return count;
}

/* Several rows that cannot be told apart: what is known is that they are level. */
static void
put_tie(FILE *out, const struct field *field, size_t level)
{
	size_t rounds = field->rows[0]->rate.count;
	unsigned most = 0;
	size_t strongest;

	for (size_t i = 0; i < field->count; i++) {
		if (!is_level(field, i))
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
put_fastest(FILE *out, const struct field *field)
{
	const struct xb_suite *best = suite_of(field, 0);

	put_suite(out, best, true);
	fputs(" is the fastest ", out);
	put_where(out, field);
	fprintf(out, " for %s: ", field->rows[0]->result->c.client);
	put_rate(out, field, field->rows[0]);
	for (size_t i = 1; i < field->count; i++) {
		const struct xb_suite *next = suite_of(field, i);
		bool same_mac = best->mac_name != NULL && next->mac_name != NULL &&
		    strcmp(best->mac_name, next->mac_name) == 0;

		if (!is_clear(field, i))
			continue;
		fputs(", ", out);
		put_times(out, &field->ratios[i]);
		fputc(' ', out);
		put_suite(out, next, !same_mac);
		break;
	}
}

/* Too few rounds for any comparison, or nothing to compare with. */
static void
put_unclear(FILE *out, const struct field *field)
{
	size_t rounds = field->rows[0]->rate.count;

	put_suite(out, suite_of(field, 0), true);
	if (field->count == 1) {
		fprintf(out, " reaches ");
		put_rate(out, field, field->rows[0]);
		fprintf(out, " with %s; no other%s was measured", field->rows[0]->result->c.client,
		    field->sound ? " sound one" : "");
		return;
	}
	fprintf(out, " came out fastest in %zu round%s, ", rounds, rounds == 1 ? "" : "s");
	put_rate(out, field, field->rows[0]);
	fprintf(out, " with %s; %d are needed to tell it from the others",
	    field->rows[0]->result->c.client, XB_ROUNDS_FOR_VERDICT);
}

/* A faster row that is not sound is mentioned, with what is wrong with it. */
static void
put_faster_but_weak(FILE *out, const struct field *field, const struct xb_row *leader)
{
	struct xb_interval ratio;
	char *fault;

	if (leader == field->rows[0] || suite_is_sound(&leader->result->c.suite))
		return;
	ratio = xb_pairs_ratio(leader->result, field->rows[0]->result);
	if (!xb_interval_is_clear(&ratio) || ratio.low <= 1)
		return;
	fault = fault_text(&leader->result->c.suite);
	fputc(' ', out);
	put_suite(out, &leader->result->c.suite, true);
	fprintf(out, " is faster, but %s.", fault);
	free(fault);
}

/* Nothing sound was measured: what is wrong with each row that the answer names, once. */
static void
put_faults(FILE *out, const struct field *field)
{
	struct xb_namelist faults = { 0 };

	for (size_t i = 0; i < field->count; i++) {
		char *fault;

		if (!is_level(field, i))
			continue;
		fault = fault_text(suite_of(field, i));
		xb_namelist_add_once(&faults, fault);
		free(fault);
	}
	for (size_t i = 0; i < faults.count; i++)
		fprintf(out, " %s.", faults.names[i]);
	xb_namelist_free(&faults);
}

static void
put_answer(FILE *out, const struct field *field, const struct xb_row *leader)
{
	size_t level = count_level(field, 0);
	size_t clear = 0;

	for (size_t i = 1; i < field->count; i++)
		clear += is_clear(field, i);
	if (clear == 0)
		put_unclear(out, field);
	else if (level > 1)
		put_tie(out, field, level);
	else
		put_fastest(out, field);
	fputc('.', out);
	for (size_t i = 1; clear > 0 && i < field->count; i++) {
		if (is_clear(field, i))
			continue;
		fputc(' ', out);
		put_suite(out, suite_of(field, i), true);
		fputs(" has too few trials to compare.", out);
	}
	if (field->sound)
		put_faster_but_weak(out, field, leader);
	else
		put_faults(out, field);
}

/* "sshd", "the server" or "nas": who the other end is. */
static void
server_name(const struct xb_target_sheet *target, char *out, size_t size)
{
	const char *name = target->name;

	if (target->is_private && target->server_program != NULL) {
		const char *slash = strrchr(target->server_program, '/');

		name = slash != NULL ? slash + 1 : target->server_program;
	} else if (target->is_local) {
		name = "the server";
	}
	xb_text_printable(out, size, name, strlen(name));
}

/* Only a core that was seen full is a limit; else the figures stand for themselves. */
static char *
limit_text(const struct xb_run *run, const struct xb_row *leader)
{
	const char *client = leader->result->c.client;
	double client_core = leader->client_share;
	double server_core = leader->server_share;
	bool client_full = client_core >= FULL_CORE;
	bool server_full = server_core >= FULL_CORE;
	char server[256];

	server_name(&run->targets[0], server, sizeof(server));
	if (client_full && server_full) {
		bool server_first = server_core > client_core;

		return xb_asprintf("%s's CPU, %.0f%% of one core; %s's is nearly as busy, %.0f%%.",
		    server_first ? server : client,
		    100 * (server_first ? server_core : client_core),
		    server_first ? client : server,
		    100 * (server_first ? client_core : server_core));
	}
	if (client_full || server_full)
		return xb_asprintf("%s's CPU, %.0f%% of one core.", server_full ? server : client,
		    100 * (server_full ? server_core : client_core));
	if (isfinite(client_core) && isfinite(server_core))
		return xb_asprintf("unclear: %s %.0f%%, %s %.0f%% of a core.", client,
		    100 * client_core, server, 100 * server_core);
	if (isfinite(client_core))
		return xb_asprintf("unclear: %s %.0f%% of a core, %s's CPU unknown.", client,
		    100 * client_core, server);
	if (isfinite(server_core))
		return xb_asprintf("unclear: %s %.0f%% of a core, %s's CPU unknown.", server,
		    100 * server_core, client);
	return NULL;
}

void
xb_answer_make(const struct xb_run *run, const struct xb_analysis *analysis,
    struct xb_answer *answer)
{
	struct field field = { .run = run };
	size_t size;
	FILE *out;

	*answer = (struct xb_answer){ 0 };
	if (analysis->leader == NULL)
		return;
	answer->limit = limit_text(run, analysis->leader);
	field.rows = xb_calloc(analysis->count, sizeof(const struct xb_row *));
	field.ratios = xb_calloc(analysis->count, sizeof(*field.ratios));
	field_fill(&field, analysis, true);
	if (field.count == 0)
		field_fill(&field, analysis, false);
	out = xb_memstream(&answer->answer, &size);
	put_answer(out, &field, analysis->leader);
	xb_memstream_close(out);
	free(field.rows);
	free(field.ratios);
}

void
xb_answer_free(struct xb_answer *answer)
{
	free(answer->limit);
	free(answer->answer);
	*answer = (struct xb_answer){ 0 };
}
