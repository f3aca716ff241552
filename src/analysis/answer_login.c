#include <stdlib.h>
#include <string.h>

#include "analysis/answer_parts.h"
#include "analysis/pairs.h"
#include "base/units.h"
#include "model/run.h"

#define MOST_NAMES 4 /* in one sentence: they are long */

static void
put_name(FILE *out, const struct xb_row *row)
{
	const char *kex = xb_row_kex(row);
	const char *hostkey = xb_row_hostkey(row);

	fputs(kex != NULL ? kex : "what was negotiated", out);
	if (hostkey != NULL)
		fprintf(out, " with %s", hostkey);
}

static void
put_seconds(FILE *out, const struct xb_row *row)
{
	char figure[32];

	xb_figure_format(figure, sizeof(figure), 1000 * row->login.total.median);
	fprintf(out, "%s ms", figure);
}

static size_t
count_level(const struct xb_field *field)
{
	size_t count = 0;

	for (size_t i = 0; i < field->count; i++)
		count += xb_field_is_level(field, i);
	return count;
}

/* True when the row and the one as negotiated are the same algorithms, or the same row. */
static bool
is_today(const struct xb_field *field, const struct xb_row *row)
{
	const struct xb_row *now = field->negotiated;
	const char *a[] = { xb_row_kex(row), xb_row_hostkey(row) };
	const char *b[] = { xb_row_kex(now), xb_row_hostkey(now) };

	if (row == now)
		return true;
	return a[0] != NULL && a[1] != NULL && b[0] != NULL && b[1] != NULL &&
	    strcmp(a[0], b[0]) == 0 && strcmp(a[1], b[1]) == 0;
}

static void
put_unclear(FILE *out, const struct xb_field *field)
{
	size_t logins = field->rows[0]->login.total.count;

	put_name(out, field->rows[0]);
	if (field->count == 1) {
		fputs(" takes ", out);
		put_seconds(out, field->rows[0]);
		fprintf(out, " with %s; no other%s was measured.", field->client,
		    field->sound ? " sound one" : "");
		return;
	}
	fprintf(out, " came out fastest in %zu login%s, ", logins, logins == 1 ? "" : "s");
	put_seconds(out, field->rows[0]);
	fprintf(out, " with %s; %d are needed to tell it from the others.", field->client,
	    XB_ROUNDS_FOR_VERDICT);
}

static void
put_tie(FILE *out, const struct xb_field *field, size_t level)
{
	size_t shown = level > MOST_NAMES ? MOST_NAMES : level;
	size_t done = 0;

	for (size_t i = 0; i < field->count && done < shown; i++) {
		if (!xb_field_is_level(field, i))
			continue;
		xb_answer_put_between(out, done++, level, "and");
		put_name(out, field->rows[i]);
	}
	if (shown < level)
		fprintf(out, " and %zu more", level - shown);
	fprintf(out, " are equal for %s within what %zu logins can see, ", field->client,
	    field->rows[0]->login.total.count);
	put_seconds(out, field->rows[0]);
	fputc('.', out);
}

static void
put_fastest(FILE *out, const struct xb_field *field)
{
	put_name(out, field->rows[0]);
	fprintf(out, " is the fastest login for %s: ", field->client);
	put_seconds(out, field->rows[0]);
	fputc('.', out);
}

/* What the choice that is made without being asked costs, compared with the fastest. */
static void
put_today(FILE *out, const struct xb_field *field)
{
	const struct xb_row *now = field->negotiated;
	struct xb_interval slower;

	if (now == NULL || is_today(field, field->rows[0]))
		return;
	slower = xb_pairs_ratio(field->rows[0]->result, now->result);
	fprintf(out, "\n%s picks ", field->client);
	put_name(out, now);
	fputs(" by itself: ", out);
	put_seconds(out, now);
	if (xb_interval_is_clear(&slower) && slower.low > 1) {
		fputs(", ", out);
		xb_answer_put_times(out, &slower);
		fputs(" as long.", out);
	} else if (xb_interval_is_clear(&slower)) {
		fputs(", which is not seen to be slower.", out);
	} else {
		fputc('.', out);
	}
	if (!xb_row_is_sound(now)) {
		char *fault = xb_row_fault(now);

		fprintf(out, " %s.", fault);
		free(fault);
	}
}

void
xb_answer_put_login(FILE *out, const struct xb_field *field)
{
	size_t level = count_level(field);

	if (xb_field_count_clear(field) == 0) {
		put_unclear(out, field);
	} else if (level > 1) {
		put_tie(out, field, level);
	} else if (field->negotiated != NULL && is_today(field, field->rows[0])) {
		fprintf(out, "%s already uses the fastest login, ", field->client);
		put_name(out, field->rows[0]);
		fputs(": ", out);
		put_seconds(out, field->rows[0]);
		fputs(". Nothing to change.", out);
	} else {
		put_fastest(out, field);
	}
	if (!field->sound)
		xb_answer_put_faults(out, field);
	put_today(out, field);
}
