#ifndef XB_BASE_TEXT_H
#define XB_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copies len bytes of foreign text (from a server, a file, a configuration) so that a terminal can
 * see it: printable ASCII as it is, every other byte as \xNN, blanks and line ends trimmed from both
 * ends, line ends inside as one blank. Always terminates; what does not fit ends in "...".
 */
void xb_text_printable(char *out, size_t size, const void *bytes, size_t len);

/* The last non-empty line of a text, printable. Empty when there is none. */
void xb_text_last_line(char *out, size_t size, const char *text, size_t len);

/* The last line of a text that comes in pieces, which may end anywhere. All zero is the beginning. */
struct xb_last_line {
	char bytes[256]; /* as they came; what is longer is cut */
	size_t len;
	bool over; /* its end has come: the next byte but a blank begins another */
};

void xb_last_line_add(struct xb_last_line *line, const char *bytes, size_t len);

/* The last line so far that is not blank, printable, "" for none. */
void xb_last_line_get(const struct xb_last_line *line, char *out, size_t size);

/*
 * The name nearest to text by edit distance (insert, delete, replace, swap neighbours), ignoring
 * case; NULL when none is near enough to be worth suggesting.
 */
const char *xb_text_nearest(const char *text, const char *const *names, size_t count);

/* True when the shell-style pattern (* and ? only) matches the whole name. Bounded work. */
bool xb_text_glob(const char *pattern, const char *name);

/* True when the text has * or ?. */
bool xb_text_is_glob(const char *text);

#endif
