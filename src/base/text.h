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
