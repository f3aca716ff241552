#include "client/exec_sink.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

/* Linux shows /proc/PID/stat in ticks of USER_HZ, which is 100 on all but long-gone machines. */
#define TICKS_PER_SECOND 100.0

/*
 * Single quotes only, without quotes, backslashes or exclamation marks inside: sh, csh, fish and zsh
 * pass it on as it is. `read` is a builtin: no process is started to tell the CPU time, and where
 * there is no /proc the variable stays empty. The braces keep a refused redirection quiet.
 */
#define TELL_CPU "{ read -r s </proc/$PPID/stat; } 2>/dev/null; "
#define COMMAND \
	"sh -c 's=; " TELL_CPU "echo \"%s-ready $s\"; %s; e=$?; s=; " TELL_CPU \
	"echo \"%s-end $e $s\"'"
#define SINK_PLAIN "cat >/dev/null"
/* wc of BusyBox reads byte by byte; GNU's costs what cat costs. */
#define SINK_COUNT "case $(wc --version 2>/dev/null) in *GNU*) wc -c;; *) cat >/dev/null;; esac"

void
xb_exec_sink_init(struct xb_exec_sink *sink, bool count)
{
	memset(sink, 0, sizeof(*sink));
	snprintf(sink->token, sizeof(sink->token), "xb%016" PRIx64, xb_rng_seed());
	sink->command =
	    xb_asprintf(COMMAND, sink->token, count ? SINK_COUNT : SINK_PLAIN, sink->token);
}

void
xb_exec_sink_free(struct xb_exec_sink *sink)
{
	free(sink->command);
	sink->command = NULL;
}

/* User and system ticks of a server's session process from a line of /proc/PID/stat, proc(5); -1 when
 * the parent is some shell in between. */
static long
session_ticks(const char *stat)
{
	const char *name = strchr(stat, '('), *field = strrchr(stat, ')');
	unsigned long user, system;
	char *end;

	if (name == NULL || field == NULL ||
	    (strncmp(name, "(sshd", 5) != 0 && strncmp(name, "(dropbear", 9) != 0))
		return -1;
	/* Behind the name: state, then 10 numbers, then utime and stime. */
	for (int i = 0; field != NULL && i < 12; i++)
		field = strchr(field + 1, ' ');
	if (field == NULL)
		return -1;
	user = strtoul(field, &end, 10);
	if (end == field || user > LONG_MAX / 2)
		return -1;
	field = end;
	system = strtoul(field, &end, 10);
	if (end == field || system > LONG_MAX / 2)
		return -1;
	return (long)(user + system);
}

static void
take_end(struct xb_exec_sink *sink, const char *rest)
{
	char *after;
	long ticks;

	sink->ended = true;
	sink->status = (int)strtol(rest, &after, 10);
	ticks = session_ticks(after);
	if (ticks >= 0 && sink->ready_ticks >= 0) {
		sink->has_cpu = true;
		sink->cpu_seconds = (double)(ticks - sink->ready_ticks) / TICKS_PER_SECOND;
	}
}

static void
take_line(struct xb_exec_sink *sink)
{
	const char *rest;
	char *after;
	uint64_t count;

	sink->line[sink->line_len] = '\0';
	/* A profile may have printed something without a newline before our line. */
	rest = strstr(sink->line, sink->token);
	if (rest != NULL) {
		rest += strlen(sink->token);
		/* A shell that prints its commands prints the token too, with "$" behind it. */
		if (!sink->ready && strncmp(rest, "-ready ", 7) == 0 && rest[7] != '$') {
			sink->ready = true;
			sink->ready_ticks = session_ticks(rest + 7);
		} else if (sink->ready && strncmp(rest, "-end ", 5) == 0 && rest[5] != '$') {
			take_end(sink, rest + 5);
		}
		return;
	}
	count = strtoull(sink->line, &after, 10);
	if (sink->ready && after != sink->line && *after == '\0') {
		sink->has_count = true;
		sink->count = count;
		return;
	}
	if (sink->line_len > 0)
		xb_text_printable(sink->other, sizeof(sink->other), sink->line, sink->line_len);
}

void
xb_exec_sink_feed(struct xb_exec_sink *sink, const char *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len && !sink->ended; i++) {
		if (bytes[i] == '\n') {
			take_line(sink);
			sink->line_len = 0;
		} else if (sink->line_len + 1 < sizeof(sink->line)) {
			sink->line[sink->line_len++] = bytes[i];
		}
	}
}

void
xb_exec_sink_complain(struct xb_exec_sink *sink, const char *bytes, size_t len)
{
	char last[sizeof(sink->other)];

	xb_last_line_add(&sink->complaint, bytes, len);
	xb_last_line_get(&sink->complaint, last, sizeof(last));
	if (last[0] != '\0')
		snprintf(sink->other, sizeof(sink->other), "%s", last);
}
