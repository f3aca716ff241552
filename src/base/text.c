#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Names to suggest are shorter; longer foreign text is not worth comparing. */
#define NEAREST_MAX 64

static bool
is_line_end(unsigned char c)
{
	return c == '\n' || c == '\r';
}

static bool
is_trimmed(unsigned char c)
{
	return is_line_end(c) || c == ' ' || c == '\t';
}

/* Marks that text was cut at used; with no room for that, as many dots as fit. */
static void
put_dots(char *out, size_t size, size_t used)
{
	const size_t room = size - 1 - used;
	const size_t dots = room < 3 ? room : 3;

	memset(out + used, '.', dots);
	out[used + dots] = '\0';
}

void
xb_text_printable(char *out, size_t size, const void *bytes, size_t len)
{
	const unsigned char *in = bytes;
	size_t used = 0, cut = 0, piece_len;
	char piece[8];

	if (size == 0)
		return;
	while (len > 0 && is_trimmed(in[len - 1]))
		len--;
	while (len > 0 && is_trimmed(in[0])) {
		in++;
		len--;
	}
	for (size_t i = 0; i < len; i++) {
		if (is_line_end(in[i])) {
			if (is_line_end(in[i + 1]))
				continue;
			snprintf(piece, sizeof(piece), " ");
		} else if (in[i] >= 0x20 && in[i] < 0x7f) {
			snprintf(piece, sizeof(piece), "%c", in[i]);
		} else {
			snprintf(piece, sizeof(piece), "\\x%02x", in[i]);
		}
		piece_len = strlen(piece);
		if (used + piece_len > size - 1) {
			put_dots(out, size, cut);
			return;
		}
		memcpy(out + used, piece, piece_len);
		used += piece_len;
		/* The last place between two characters where dots would still fit behind. */
		if (used + 3 <= size - 1)
			cut = used;
	}
	out[used] = '\0';
}

void
xb_text_last_line(char *out, size_t size, const char *text, size_t len)
{
	size_t start;

	while (len > 0 && is_trimmed((unsigned char)text[len - 1]))
		len--;
	start = len;
	while (start > 0 && !is_line_end((unsigned char)text[start - 1]))
		start--;
	xb_text_printable(out, size, text + start, len - start);
}

void
xb_last_line_add(struct xb_last_line *line, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (is_line_end((unsigned char)bytes[i])) {
			line->over = true;
			continue;
		}
		if (line->over && !is_trimmed((unsigned char)bytes[i])) {
			line->over = false;
			line->len = 0;
		}
		if (!line->over && line->len < sizeof(line->bytes))
			line->bytes[line->len++] = bytes[i];
	}
}

void
xb_last_line_get(const struct xb_last_line *line, char *out, size_t size)
{
	xb_text_printable(out, size, line->bytes, line->len);
}

static size_t
least(size_t a, size_t b, size_t c)
{
	const size_t smaller = a < b ? a : b;

	return smaller < c ? smaller : c;
}

static bool
same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Optimal string alignment: the fewest inserts, deletes, replacements and swaps of neighbours that
 * make a out of b, no part changed twice. Both are shorter than NEAREST_MAX. Row i of the usual
 * matrix needs the two rows before it, no more.
 */
static size_t
distance(const char *a, const char *b)
{
	size_t rows[3][NEAREST_MAX];
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *spare;
	const size_t a_len = strlen(a), b_len = strlen(b);

	for (size_t j = 0; j <= b_len; j++)
		above[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1,
			    above[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1));
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]) && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[b_len];
}

const char *
xb_text_nearest(const char *text, const char *const *names, size_t count)
{
	const size_t len = strlen(text);
	/* One slip in three letters is a slip, more is another word. */
	size_t limit = (len + 1) / 3, found;
	const char *nearest = NULL;

	if (len >= NEAREST_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (strlen(names[i]) >= NEAREST_MAX)
			continue;
		found = distance(text, names[i]);
		if (nearest == NULL ? found <= limit : found < limit) {
			limit = found;
			nearest = names[i];
		}
	}
	return nearest;
}

bool
xb_text_glob(const char *pattern, const char *name)
{
	const char *after_star = NULL; /* where the pattern goes on after the last star */
	const char *resume = NULL;     /* what of the name that star has not swallowed yet */

	/* Only the last star is ever tried again, longer by one: pattern times name at most. */
	while (*name != '\0') {
		if (*pattern == '*') {
			after_star = ++pattern;
			resume = name;
		} else if (*pattern == '?' || (*pattern == *name && *pattern != '\0')) {
			pattern++;
			name++;
		} else if (after_star != NULL) {
			pattern = after_star;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

bool
xb_text_is_glob(const char *text)
{
	return strpbrk(text, "*?") != NULL;
}
