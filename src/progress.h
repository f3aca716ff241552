#ifndef XB_PROGRESS_H
#define XB_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * One line of progress on a terminal's stderr, rewritten in place; nothing where stderr is no
 * terminal or off is set.
 */
struct xb_progress {
	bool on;
	bool shown;
};

void xb_progress_init(struct xb_progress *progress, bool off);

/* Shows a line instead of the last. */
void xb_progress_show(struct xb_progress *progress, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes the line away, before anything else is printed. */
void xb_progress_clear(struct xb_progress *progress);

#endif
