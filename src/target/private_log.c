#include "target/private_log.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "target/private.h"

#define TAIL_BYTES 8192

/* Longer than any line that is worth showing whole. */
#define LINE_MAX_SHOWN 400

static bool
is_noise(const char *line, const struct xb_private_kind *kind)
{
	for (const char *const *noise = kind->log_noise; noise != NULL && *noise != NULL; noise++) {
		if (xb_text_glob(*noise, line))
			return true;
	}
	return false;
}

/* Puts a line before what is in out already. False when it does not fit. */
static bool
put_before(char *out, size_t size, const char *line)
{
	const size_t used = strlen(out);
	const size_t len = strlen(line);
	const size_t gap = used > 0 ? 2 : 0;

	if (used == 0) {
		xb_text_printable(out, size, line, len);
		return true;
	}
	if (len + gap + used + 1 > size)
		return false;
	memmove(out + len + gap, out, used + 1);
	memcpy(out, line, len);
	memcpy(out + len, "; ", gap);
	return true;
}

void
xb_private_log_pick(char *out, size_t size, const char *text, size_t len,
    const struct xb_private_kind *kind)
{
	char whole[LINE_MAX_SHOWN];
	const char *line;
	size_t start;

	if (size == 0)
		return;
	out[0] = '\0';
	/* From the last line to the first. */
	for (size_t end = len; end > 0; end = start > 0 ? start - 1 : 0) {
		for (start = end; start > 0 && text[start - 1] != '\n'; start--)
			;
		xb_text_printable(whole, sizeof(whole), text + start, end - start);
		line = whole + (kind->log_stamp != NULL ? kind->log_stamp(whole) : 0);
		if (line[0] == '\0' || is_noise(line, kind))
			continue;
		if (!put_before(out, size, line))
			return;
	}
}

off_t
xb_private_log_tail(char *out, size_t size, int fd, off_t start, const struct xb_private_kind *kind)
{
	char text[TAIL_BYTES];
	struct stat st;
	ssize_t got;
	off_t from;

	if (size > 0)
		out[0] = '\0';
	if (fstat(fd, &st) != 0)
		return start;
	from = st.st_size - start > TAIL_BYTES ? st.st_size - TAIL_BYTES : start;
	got = pread(fd, text, sizeof(text), from);
	if (got > 0)
		xb_private_log_pick(out, size, text, (size_t)got, kind);
	return st.st_size;
}
