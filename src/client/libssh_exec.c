#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "client/exec_sink.h"
#include "client/exec_source.h"
#include "client/libssh_channel.h"
#include "client/libssh_session.h"
#include "client/stream.h"

/*
 * What may still be under way after the last write, on the slowest of links: no longer than that.
 */
#define CONFIRM_MAX_NS (600 * XB_NS_PER_SECOND)

/* One read of a download. */
#define READ_BYTES (256u * 1024)

/* The far side of one transfer: one of the two has begun. */
struct far {
	struct xb_libssh *s;
	struct xb_exec_sink sink;
	struct xb_exec_source source;
	char *buffer; /* READ_BYTES, of a download */
};

static bool
no_line(const char *what, int64_t stall_ns, struct xb_err *err)
{
	char patience[32];

	xb_duration_format(patience, sizeof(patience), stall_ns);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "no %s line from the far side for %s (a longer wait: --stall-timeout)", what, patience);
}

static bool
ended_before(const char *what, const char *other, struct xb_err *err)
{
	return xb_fail(err, XB_FAULT_TRIAL, "the remote command ended before its %s line%s%s", what,
	    other[0] != '\0' ? "; it said: " : "", other);
}

static void
hear_sink(void *ctx, const char *bytes, size_t len)
{
	xb_exec_sink_feed(ctx, bytes, len);
}

static void
hear_sink_complain(void *ctx, const char *bytes, size_t len)
{
	xb_exec_sink_complain(ctx, bytes, len);
}

/* Takes all that has come; true when the line that *flag tells of is among it, or may yet come. */
static bool
take_lines(struct far *far, const bool *flag, const char *what, struct xb_err *err)
{
	const struct xb_libssh_ears ears = { hear_sink, hear_sink_complain, &far->sink };
	bool ended;

	return xb_libssh_hear(far->s, &ears, &ended, err) &&
	    (*flag || !ended || ended_before(what, far->sink.other, err));
}

/* Until the ready line: a profile may print and sleep before it, for stall_ns in all. */
static bool
await_ready(struct far *far, int64_t stall_ns, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + stall_ns;
	enum xb_io io;

	while (take_lines(far, &far->sink.ready, "ready", err)) {
		if (far->sink.ready)
			return true;
		io = xb_libssh_wait(far->s, deadline, err);
		if (io == XB_IO_AGAIN)
			return no_line("ready", stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
	}
	return false;
}

/* Until the end line: as long as what is under way keeps moving. */
static bool
await_end(struct far *far, int64_t stall_ns, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + CONFIRM_MAX_NS;
	enum xb_io io;

	while (take_lines(far, &far->sink.ended, "end", err)) {
		if (far->sink.ended)
			return true;
		io = xb_libssh_wait_moving(far->s, stall_ns, err);
		if (io == XB_IO_AGAIN || xb_clock_ns() >= deadline)
			return no_line("end", stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
	}
	return false;
}

/* The sink may end in mid-stream, and its last words are behind the window's last byte. */
static bool
is_sink_alive(void *ctx, struct xb_err *err)
{
	struct far *far = ctx;

	return take_lines(far, &far->sink.ended, "end", err) &&
	    (!far->sink.ended || xb_fail(err, XB_FAULT_TRIAL, "the sink ended early"));
}

/* The stream failed: what the far side said last is a better reason than what we saw of it. */
static void
explain_broken_stream(struct far *far, uint64_t bytes, struct xb_err *err)
{
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	char after[32], why[600];
	const bool broken = far->s->broken || !ssh_is_connected(far->s->session);
	bool none = true;

	take_lines(far, &none, "", &ignored);
	xb_size_format(after, sizeof(after), bytes);
	if (!far->sink.ended && !broken)
		return;
	snprintf(why, sizeof(why), "%s", err->text);
	err->fault = XB_FAULT_NONE;
	if (far->sink.ended)
		xb_fail(err, XB_FAULT_TRIAL, "the sink ended early, after %s, with status %d%s%s",
		    after, far->sink.status, far->sink.other[0] != '\0' ? ": " : "",
		    far->sink.other);
	else
		xb_fail(err, XB_FAULT_TRIAL, "the connection broke after %s: %.400s", after, why);
}

/* The words that go with a bad status come by another way than the end line, and may come after it. */
static void
hear_rest(struct far *far, int64_t stall_ns)
{
	const int64_t deadline = xb_clock_ns() + stall_ns;
	const struct xb_libssh_ears ears = { hear_sink, hear_sink_complain, &far->sink };
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	bool ended = false;

	while (xb_libssh_hear(far->s, &ears, &ended, &ignored) && !ended &&
	    xb_libssh_wait(far->s, deadline, &ignored) == XB_IO_DONE)
		continue;
}

/* After the clock has stopped: the exit status must agree with the end line. */
static bool
check_exit(struct far *far, int64_t stall_ns, struct xb_err *err)
{
	int status;

	if (far->sink.status != 0)
		hear_rest(far, stall_ns);
	if (far->sink.status != 0)
		return xb_fail(err, XB_FAULT_TRIAL, "the sink ended with status %d%s%s",
		    far->sink.status, far->sink.other[0] != '\0' ? ": " : "", far->sink.other);
	if (!xb_libssh_exit_status(far->s, stall_ns, &status, err))
		return false;
	return status <= 0 ||
	    xb_fail(err, XB_FAULT_TRIAL, "the remote command exited with status %d", status);
}

static bool
upload(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	struct xb_libssh *s = far->s;
	const struct xb_sink sink = {
		.send = xb_libssh_send,
		.wait = xb_libssh_stream_wait,
		.ctx = s,
	};

	if (!xb_libssh_start(s, far->sink.command, xb_clock_ns() + transfer->stall_ns, err) ||
	    !await_ready(far, transfer->stall_ns, err) || !xb_libssh_ready(s, transfer, err))
		return false;
	s->is_alive = is_sink_alive;
	s->is_alive_ctx = far;
	if (!xb_stream_upload(transfer, &sink, &outcome->bytes, err)) {
		explain_broken_stream(far, outcome->bytes, err);
		return false;
	}
	s->is_alive = NULL;
	xb_libssh_enter(s, XB_PHASE_CONFIRM);
	if (!xb_libssh_send_eof(s, err) || !await_end(far, transfer->stall_ns, err))
		return false;
	xb_libssh_end(s, transfer, outcome);
	outcome->has_count = far->sink.has_count;
	outcome->counted = far->sink.count;
	if (far->sink.has_cpu)
		outcome->session_cpu_seconds = far->sink.cpu_seconds;
	return check_exit(far, transfer->stall_ns, err);
}

static void
hear_source(void *ctx, const char *bytes, size_t len)
{
	xb_exec_source_feed(ctx, bytes, len);
}

static void
hear_source_complain(void *ctx, const char *bytes, size_t len)
{
	xb_exec_source_complain(ctx, bytes, len);
}

/* Until the ready line of a source, for stall_ns in all. */
static bool
await_source(struct far *far, int64_t stall_ns, struct xb_err *err)
{
	const struct xb_libssh_ears ears = { hear_source, hear_source_complain, &far->source };
	int64_t deadline = xb_clock_ns() + stall_ns;
	enum xb_io io;
	bool ended;

	while (xb_libssh_hear(far->s, &ears, &ended, err)) {
		if (far->source.ready)
			return true;
		if (ended)
			return ended_before("ready", far->source.other, err);
		io = xb_libssh_wait(far->s, deadline, err);
		if (io == XB_IO_AGAIN)
			return no_line("ready", stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
	}
	return false;
}

static enum xb_io
receive(void *ctx, size_t *received, struct xb_err *err)
{
	struct far *far = ctx;

	return xb_libssh_receive(far->s, far->buffer, READ_BYTES, received, err);
}

static enum xb_io
receive_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	struct far *far = ctx;

	return xb_libssh_wait_moving(far->s, stall_ns, err);
}

/* Adds what the far side said last, if anything, to the reason of a failed download. */
static void
explain_broken_source(struct far *far, struct xb_err *err)
{
	const struct xb_libssh_ears ears = { hear_source, hear_source_complain, &far->source };
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	char why[600];
	bool ended;

	xb_libssh_hear(far->s, &ears, &ended, &ignored);
	if (far->source.other[0] == '\0')
		return;
	snprintf(why, sizeof(why), "%s", err->text);
	err->fault = XB_FAULT_NONE;
	xb_fail(err, XB_FAULT_TRIAL, "%.380s; the far side said: %s", why, far->source.other);
}

static bool
download(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_source source = {
		.receive = receive,
		.wait = receive_wait,
		.ctx = far,
	};

	if (!xb_libssh_start(far->s, far->source.command, xb_clock_ns() + transfer->stall_ns,
		err) ||
	    !await_source(far, transfer->stall_ns, err) ||
	    !xb_libssh_ready(far->s, transfer, err) ||
	    !xb_libssh_send_all(far->s, XB_EXEC_SOURCE_GO, strlen(XB_EXEC_SOURCE_GO), "go",
		xb_clock_ns() + transfer->stall_ns, err))
		return false;
	if (!xb_stream_download(transfer, &source, 0, &outcome->bytes, err)) {
		explain_broken_source(far, err);
		return false;
	}
	xb_libssh_end(far->s, transfer, outcome);
	return true;
}

bool
xb_libssh_exec(struct xb_libssh *s, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	struct far far = { .s = s };
	bool ok;

	if (transfer->direction == XB_UPLOAD) {
		xb_exec_sink_init(&far.sink, transfer->count);
		ok = upload(&far, transfer, outcome, err);
		xb_exec_sink_free(&far.sink);
		return ok;
	}
	xb_exec_source_init(&far.source, transfer->remote_file);
	far.buffer = xb_calloc(1, READ_BYTES);
	ok = download(&far, transfer, outcome, err);
	free(far.buffer);
	xb_exec_source_free(&far.source);
	return ok;
}
