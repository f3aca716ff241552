#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void
xb_progress_init(struct xb_progress *progress, bool off)
{
	const char *term = getenv("TERM");

	progress->shown = false;
	progress->on = !off && isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

void
xb_progress_show(struct xb_progress *progress, const char *fmt, ...)
{
	struct winsize window = { 0 };
	char line[256];
	va_list ap;

	if (!progress->on)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	/* A line that wraps could not be rewritten in place. */
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
	    window.ws_col < sizeof(line))
		line[window.ws_col - 1] = '\0';
	fprintf(stderr, "\r%s\033[K", line);
	progress->shown = true;
}

void
xb_progress_clear(struct xb_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
