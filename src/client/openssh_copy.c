#include "client/openssh_copy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "client/payload.h"

bool
xb_openssh_await(struct xb_openssh *s, bool (*until)(void *ctx), void *ctx, const char *what,
    struct xb_err *err)
{
	const int64_t stall_ns = s->transfer->stall_ns,
		      deadline = xb_openssh_later(xb_clock_ns(), stall_ns);
	char patience[32];

	while (!until(ctx)) {
		if (s->ended)
			return xb_openssh_fail_ended(s, err);
		switch (xb_openssh_wait(s, deadline, err)) {
		case XB_IO_DONE:
			break;
		case XB_IO_AGAIN:
			xb_duration_format(patience, sizeof(patience), stall_ns);
			return xb_fail(err, XB_FAULT_TRIAL,
			    "%s for %s (a longer wait: --stall-timeout)%s%s", what, patience,
			    s->log.words[0] != '\0' ? "; it said: " : "", s->log.words);
		case XB_IO_FAILED:
			return false;
		}
	}
	return true;
}

/* Its own messages are in what a program reads and writes: never more than the file. */
static uint64_t
show_progress(const struct xb_openssh *s, uint64_t size)
{
	uint64_t bytes = xb_openssh_watch_copied(&s->watch, s->transfer->direction);

	if (size > 0 && bytes > size)
		bytes = size;
	atomic_store_explicit(&s->transfer->live->bytes, bytes, memory_order_relaxed);
	return bytes;
}

static bool
stalled(const struct xb_openssh *s, uint64_t bytes, struct xb_err *err)
{
	char after[32], patience[32];

	xb_size_format(after, sizeof(after), bytes);
	xb_duration_format(patience, sizeof(patience), s->transfer->stall_ns);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "%s moved no data for %s after %s (a longer wait: --stall-timeout)", s->program,
	    patience, after);
}

bool
xb_openssh_copy(struct xb_openssh *s, bool (*until)(void *ctx), void *ctx, uint64_t size,
    struct xb_err *err)
{
	enum xb_io io;

	while (!s->ended && !until(ctx)) {
		io = xb_openssh_wait_moving(s, err);
		s->outcome->bytes = show_progress(s, size);
		if (io == XB_IO_AGAIN)
			return stalled(s, s->outcome->bytes, err);
		if (io == XB_IO_FAILED)
			return false;
	}
	if (s->ended && s->status != 0)
		return xb_openssh_fail_ended(s, err);
	xb_openssh_end(s);
	return true;
}

bool
xb_openssh_copied(struct xb_openssh *s, uint64_t size, uint64_t told, struct xb_err *err)
{
	if (!xb_openssh_await_exit(s, err))
		return false;
	if (s->status != 0)
		return xb_openssh_fail_ended(s, err);
	if (size == 0)
		size = told;
	if (told > 0 && told != size) {
		s->outcome->bytes = told;
		return xb_fail(err, XB_FAULT_TRIAL,
		    "the source ended after %" PRIu64 " bytes instead of %" PRIu64, told, size);
	}
	s->outcome->bytes = size;
	atomic_store_explicit(&s->transfer->live->bytes, size, memory_order_relaxed);
	return true;
}

const char *
xb_openssh_file(const struct xb_transfer *transfer, uint64_t *size, struct xb_err *err)
{
	const char *path = xb_payload_file(transfer->payload, transfer->size, err);
	struct stat st;

	if (path == NULL)
		return NULL;
	if (stat(path, &st) != 0) {
		xb_fail_errno(err, XB_FAULT_TRIAL, "%s", path);
		return NULL;
	}
	*size = (uint64_t)st.st_size;
	return path;
}

/*
 * "-rw-r--r--    ? root     root      3000000 Nov 30 21:18 /tmp/f": the name, and the names of
 * user and group, can have blanks in them. So the length is found by what is around it: a number,
 * a month, a day, and a time or a year.
 */
uint64_t
xb_openssh_listed_size(const char *line)
{
	static const char *const months[] = { " Jan ", " Feb ", " Mar ", " Apr ", " May ", " Jun ",
		" Jul ", " Aug ", " Sep ", " Oct ", " Nov ", " Dec " };
	const char *at, *digits;
	size_t i;

	if (line[0] != '-')
		return 0;
	for (at = strchr(line, ' '); at != NULL; at = strchr(at + 1, ' ')) {
		for (i = 0; i < sizeof(months) / sizeof(months[0]); i++)
			if (strncmp(at, months[i], strlen(months[i])) == 0)
				break;
		if (i == sizeof(months) / sizeof(months[0]))
			continue;
		for (digits = at; digits > line && digits[-1] >= '0' && digits[-1] <= '9';)
			digits--;
		if (digits < at)
			return strtoull(digits, NULL, 10);
	}
	return 0;
}
