#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "client/exec_sink.h"
#include "client/exec_source.h"
#include "client/libssh2_channel.h"

/*
 * What may still be under way after the last write, on the slowest of links: no longer than that.
 */
#define CONFIRM_MAX_NS (600 * XB_NS_PER_SECOND)

/* The far side of one transfer, whichever way. */
struct far {
	struct xb_libssh2 *s;
	struct xb_exec_sink sink;
	struct xb_exec_source source;
	char *buffer; /* of XB_LIBSSH2_READ_BYTES, for a download */
};

static void
take_stdout(void *ctx, const char *bytes, size_t len)
{
	struct far *far = ctx;

	if (far->s->download)
		xb_exec_source_feed(&far->source, bytes, len);
	else
		xb_exec_sink_feed(&far->sink, bytes, len);
}

static void
take_stderr(void *ctx, const char *bytes, size_t len)
{
	struct far *far = ctx;

	if (far->s->download)
		xb_exec_source_complain(&far->source, bytes, len);
	else
		xb_exec_sink_complain(&far->sink, bytes, len);
}

static const char *
said(const struct far *far)
{
	return far->s->download ? far->source.other : far->sink.other;
}

/* Takes all that has come; false when it failed, or ended without the line that *flag tells of. */
static bool
take_lines(struct far *far, const bool *flag, const char *what, struct xb_err *err)
{
	/* stdout last: each call takes in what has come for the other stream as well, and nothing
	 * would wake us for a line that is here already. */
	if (!xb_libssh2_drain(far->s, SSH_EXTENDED_DATA_STDERR, take_stderr, far, err) ||
	    !xb_libssh2_drain(far->s, 0, take_stdout, far, err))
		return false;
	if (!*flag && libssh2_channel_eof(far->s->channel))
		return xb_fail(err, XB_FAULT_TRIAL,
		    "the remote command ended before its %s line%s%s", what,
		    said(far)[0] != '\0' ? "; it said: " : "", said(far));
	return true;
}

static bool
no_line(const char *what, int64_t stall_ns, struct xb_err *err)
{
	char patience[32];

	xb_duration_format(patience, sizeof(patience), stall_ns);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "no %s line from the far side for %s (a longer wait: --stall-timeout)", what, patience);
}

/* Until the ready line: a profile may print and sleep before it, for stall_ns in all. */
static bool
await_ready(struct far *far, const bool *ready, int64_t stall_ns, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + stall_ns;
	enum xb_io io;

	while (take_lines(far, ready, "ready", err)) {
		if (*ready)
			return true;
		io = xb_libssh2_wait(far->s, deadline, err);
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
		io = xb_libssh2_wait_moving(far->s, stall_ns, err);
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
explain_broken_upload(struct far *far, uint64_t bytes, struct xb_err *err)
{
	const struct xb_exec_sink *sink = &far->sink;
	struct xb_err ignored = { 0 };
	char after[32];

	xb_libssh2_drain(far->s, 0, take_stdout, far, &ignored);
	xb_libssh2_drain(far->s, SSH_EXTENDED_DATA_STDERR, take_stderr, far, &ignored);
	if (!sink->ended) {
		xb_libssh2_explain(far->s, bytes, sink->other, err);
		return;
	}
	xb_size_format(after, sizeof(after), bytes);
	err->fault = XB_FAULT_NONE;
	xb_fail(err, XB_FAULT_TRIAL, "the sink ended early, after %s, with status %d%s%s", after,
	    sink->status, sink->other[0] != '\0' ? ": " : "", sink->other);
}

/* Sends the end of file, waits for the end line, and holds the far side to its word. */
static bool
confirm(struct far *far, const struct xb_transfer *transfer, struct xb_err *err)
{
	xb_libssh2_enter(far->s, XB_PHASE_CONFIRM);
	return xb_libssh2_send_eof(far->s, transfer->stall_ns, err) &&
	    await_end(far, transfer->stall_ns, err);
}

/* The words that go with a bad status come by another way than the end line, and may come after it. */
static void
hear_rest(struct far *far, int64_t stall_ns)
{
	const int64_t deadline = xb_clock_ns() + stall_ns;
	struct xb_err ignored = { .fault = XB_FAULT_NONE };

	while (take_lines(far, &far->sink.ended, "end", &ignored) &&
	    !libssh2_channel_eof(far->s->channel) &&
	    xb_libssh2_wait(far->s, deadline, &ignored) == XB_IO_DONE)
		continue;
}

/* After the clock has stopped: the exit status must agree with the end line. */
static bool
check_exit(struct far *far, const struct xb_transfer *transfer, struct xb_err *err)
{
	const struct xb_exec_sink *sink = &far->sink;

	xb_libssh2_enter(far->s, XB_PHASE_CLOSE);
	if (sink->status != 0)
		hear_rest(far, transfer->stall_ns);
	if (sink->status != 0)
		return xb_fail(err, XB_FAULT_TRIAL, "the sink ended with status %d%s%s",
		    sink->status, sink->other[0] != '\0' ? ": " : "", sink->other);
	return xb_libssh2_finish(far->s, transfer->stall_ns, err);
}

static bool
upload(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_sink sink = {
		.send = xb_libssh2_channel_send,
		.wait = xb_libssh2_channel_wait,
		.ctx = far->s,
	};

	if (!xb_libssh2_start(far->s, far->sink.command, xb_clock_ns() + transfer->stall_ns, err) ||
	    !await_ready(far, &far->sink.ready, transfer->stall_ns, err) ||
	    !xb_libssh2_ready(far->s, transfer, err))
		return false;
	far->s->is_alive = is_sink_alive;
	far->s->is_alive_ctx = far;
	if (!xb_stream_upload(transfer, &sink, &outcome->bytes, err)) {
		explain_broken_upload(far, outcome->bytes, err);
		return false;
	}
	far->s->is_alive = NULL;
	if (!confirm(far, transfer, err))
		return false;
	xb_libssh2_end(far->s, transfer, outcome);
	if (!check_exit(far, transfer, err))
		return false;
	outcome->has_count = far->sink.has_count;
	outcome->counted = far->sink.count;
	if (far->sink.has_cpu)
		outcome->session_cpu_seconds = far->sink.cpu_seconds;
	return true;
}

static enum xb_io
receive(void *ctx, size_t *received, struct xb_err *err)
{
	struct far *far = ctx;

	return xb_libssh2_channel_receive(far->s, far->buffer, XB_LIBSSH2_READ_BYTES, received,
	    take_stderr, far, err);
}

static enum xb_io
download_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	const struct far *far = ctx;

	return xb_libssh2_wait_moving(far->s, stall_ns, err);
}

static bool
download(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_source source = { .receive = receive, .wait = download_wait, .ctx = far };

	if (!xb_libssh2_start(far->s, far->source.command, xb_clock_ns() + transfer->stall_ns,
		err) ||
	    !await_ready(far, &far->source.ready, transfer->stall_ns, err) ||
	    !xb_libssh2_ready(far->s, transfer, err) ||
	    !xb_libssh2_say(far->s, XB_EXEC_SOURCE_GO, strlen(XB_EXEC_SOURCE_GO), "go",
		transfer->stall_ns, err))
		return false;
	if (!xb_stream_download(transfer, &source, 0, &outcome->bytes, err)) {
		xb_libssh2_explain(far->s, outcome->bytes, far->source.other, err);
		return false;
	}
	xb_libssh2_end(far->s, transfer, outcome);
	return true;
}

bool
xb_libssh2_exec(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	struct far far = { .s = s };
	bool ok;

	xb_libssh2_enter(s, XB_PHASE_EXEC);
	if (s->download) {
		xb_exec_source_init(&far.source, transfer->remote_file);
		far.buffer = xb_calloc(1, XB_LIBSSH2_READ_BYTES);
		ok = download(&far, transfer, outcome, err);
	} else {
		xb_exec_sink_init(&far.sink, transfer->count);
		ok = upload(&far, transfer, outcome, err);
	}
	xb_exec_source_free(&far.source);
	xb_exec_sink_free(&far.sink);
	free(far.buffer);
	return ok;
}
