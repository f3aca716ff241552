#include "report/wrap.h"

#include <stdbool.h>
#include <string.h>

/* Below this many columns beside the indent, a line would be a ladder of syllables. */
#define LEAST_ROOM 16

static bool
starts_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t
xb_text_columns(const char *text)
{
	size_t columns = 0;

	for (; *text != '\0'; text++)
		columns += starts_character(*text);
	return columns;
}

size_t
xb_text_start(const char *text, size_t columns)
{
	size_t bytes = 0;

	for (; text[bytes] != '\0'; bytes++) {
		if (!starts_character(text[bytes]))
			continue;
		if (columns-- == 0)
			break;
	}
	return bytes;
}

/* The part of text that goes on a line with this much room, without the blank that ends it. */
static size_t
line_length(const char *text, size_t room, bool fresh)
{
	size_t fits = xb_text_start(text, room);
	size_t end = fits;

	if (text[fits] == '\0')
		return fits;
	while (end > 0 && text[end] != ' ')
		end--;
	while (end > 0 && text[end - 1] == ' ')
		end--;
	/* A long word starts a line of its own before it is broken. */
	return end > 0 || !fresh ? end : fits;
}

void
xb_wrap(FILE *out, int width, size_t column, size_t indent, const char *text)
{
	size_t limit = (size_t)width;
	bool fresh = column <= indent;

	if (width <= 0) {
		fprintf(out, "%s\n", text);
		return;
	}
	if (limit < indent + LEAST_ROOM)
		limit = indent + LEAST_ROOM;
	for (;;) {
		size_t len = line_length(text, column < limit ? limit - column : 0, fresh);

		fwrite(text, 1, len, out);
		fputc('\n', out);
		text += len;
		while (*text == ' ')
			text++;
		if (*text == '\0')
			return;
		fprintf(out, "%*s", (int)indent, "");
		column = indent;
		fresh = true;
	}
}

void
xb_footnote_mark(char *out, size_t size, size_t number)
{
	char letters[16];
	size_t at = sizeof(letters) - 1;

	letters[at] = '\0';
	for (number++; number > 0 && at > 0; number = (number - 1) / 26)
		letters[--at] = (char)('a' + (number - 1) % 26);
	snprintf(out, size, "[%s]", letters + at);
}
