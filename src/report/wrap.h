#ifndef XB_REPORT_WRAP_H
#define XB_REPORT_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Columns that UTF-8 text without wide or combining characters takes: one a character. */
size_t xb_text_columns(const char *text);

/* The bytes of the longest start of text that takes at most so many columns. */
size_t xb_text_start(const char *text, size_t columns);

/*
 * Writes text from the given column on and ends the line; what does not fit goes on in further
 * lines, indented. Breaks at blanks; a word longer than a line is broken where the line ends.
 * width 0: no limit.
 */
void xb_wrap(FILE *out, int width, size_t column, size_t indent, const char *text);

/* The mark of a footnote, from 0: "[a]" to "[z]", then "[aa]" and so on. */
void xb_footnote_mark(char *out, size_t size, size_t number);

#endif
