#include "client/exec_source.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

/*
 * Single quotes only, as in exec_sink.c, so that every login shell passes it on as it is. The
 * number behind the token tells the line from the command itself, which a shell may print, with
 * "$$" there.
 */
#define COMMAND "sh -c '%secho \"%s-ready $$\"; read -r go || exit 1; %s'"
#define SEND_ZEROS "exec dd if=/dev/zero bs=64k"
#define SEND_FILE "while cat -- \"$f\"; do :; done"
/* An empty file would be a loop without end that sends nothing. */
#define CHECK_FILE \
	"f=$(printf \"%sx\"); f=${f%%x}; " \
	"[ -r \"$f\" ] || { echo \"$f: no such file, or not readable\" >&2; exit 1; }; " \
	"if [ -f \"$f\" ]; then [ -s \"$f\" ] || { echo \"$f: empty\" >&2; exit 1; }; fi; "

/* printf(1)'s escapes for all but plain letters: then no shell in between finds anything to expand.
 * The x behind it saves line ends at the end of a name from $(). */
static char *
check_file(const char *file)
{
	char *text, *command;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	for (const char *c = file; *c != '\0'; c++) {
		if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '/' || *c == '.')
			fputc(*c, out);
		else
			fprintf(out, "\\%03o", (unsigned)(unsigned char)*c);
	}
	xb_memstream_close(out);
	command = xb_asprintf(CHECK_FILE, text);
	free(text);
	return command;
}

void
xb_exec_source_init(struct xb_exec_source *source, const char *file)
{
	char *check = file != NULL ? check_file(file) : xb_strdup("");

	memset(source, 0, sizeof(*source));
	snprintf(source->token, sizeof(source->token), "xb%016" PRIx64, xb_rng_seed());
	source->command =
	    xb_asprintf(COMMAND, check, source->token, file != NULL ? SEND_FILE : SEND_ZEROS);
	free(check);
}

void
xb_exec_source_free(struct xb_exec_source *source)
{
	free(source->command);
	source->command = NULL;
}

static void
take_line(struct xb_exec_source *source)
{
	const char *rest;

	source->line[source->line_len] = '\0';
	/* A profile may have printed something without a newline before our line. */
	rest = strstr(source->line, source->token);
	if (rest != NULL) {
		rest += strlen(source->token);
		if (strncmp(rest, "-ready ", 7) == 0 && isdigit((unsigned char)rest[7]))
			source->ready = true;
		return;
	}
	if (source->line_len > 0)
		xb_text_printable(source->other, sizeof(source->other), source->line,
		    source->line_len);
}

size_t
xb_exec_source_feed(struct xb_exec_source *source, const char *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len && !source->ready; i++) {
		if (bytes[i] == '\n') {
			take_line(source);
			source->line_len = 0;
		} else if (source->line_len + 1 < sizeof(source->line)) {
			source->line[source->line_len++] = bytes[i];
		}
	}
	return i;
}

/*
 * What dd counted begins with a number: "12+0 records in", "786432 bytes (786 kB) copied". So may the
 * first piece of such a line be nothing else.
 */
static bool
is_statistics(const char *line)
{
	size_t digits = strspn(line, "0123456789");

	return digits > 0 && (line[digits] == '+' || line[digits] == ' ' || line[digits] == '\0');
}

void
xb_exec_source_complain(struct xb_exec_source *source, const char *bytes, size_t len)
{
	const char *end = bytes + len, *line_end;
	char line[sizeof(source->other)];

	for (; bytes < end; bytes = line_end) {
		line_end = memchr(bytes, '\n', (size_t)(end - bytes));
		line_end = line_end != NULL ? line_end + 1 : end;
		xb_last_line_add(&source->complaint, bytes, (size_t)(line_end - bytes));
		xb_last_line_get(&source->complaint, line, sizeof(line));
		if (line[0] != '\0' && !is_statistics(line))
			snprintf(source->other, sizeof(source->other), "%s", line);
	}
}
