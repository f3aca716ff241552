#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "client/exec_sink.h"
#include "client/exec_source.h"
#include "client/openssh_argv.h"
#include "client/openssh_parts.h"
#include "client/openssh_pipe.h"
#include "client/openssh_session.h"
#include "client/stream.h"

/*
 * What may still be under way after the last write, on the slowest of links: no longer than that.
 */
#define CONFIRM_MAX_NS (600 * XB_NS_PER_SECOND)

/* The far side of one transfer: one of the two has begun. */
struct far {
	struct xb_exec_sink sink;
	struct xb_exec_source source;
};

static void
feed_sink(void *ctx, const char *bytes, size_t len)
{
	struct far *far = ctx;

	xb_exec_sink_feed(&far->sink, bytes, len);
}

static void
feed_source(void *ctx, const char *bytes, size_t len)
{
	struct far *far = ctx;

	xb_exec_source_feed(&far->source, bytes, len);
}

/* What it said on stderr, which comes with the log, or else on stdout. */
static const char *
last_words(const struct xb_openssh *s, const char *other)
{
	return s->log.words[0] != '\0' && !s->log.words_are_poor ? s->log.words : other;
}

static bool
no_line(const char *what, int64_t stall_ns, struct xb_err *err)
{
	char patience[32];

	xb_duration_format(patience, sizeof(patience), stall_ns);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "no %s line from the far side for %s (a longer wait: --stall-timeout)", what, patience);
}

/* ssh has ended, and the line that was waited for is not among what it left. */
static bool
ended_before(const struct xb_openssh *s, const char *what, const char *other, struct xb_err *err)
{
	const char *words = last_words(s, other);

	/* 255 is ssh's own: the session has failed, and not the command. */
	if (WIFSIGNALED(s->status) || (WEXITSTATUS(s->status) == 255 && s->log.words[0] != '\0'))
		return xb_openssh_fail_ended(s, err);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "the remote command ended before its %s line, with status %d%s%s", what,
	    WEXITSTATUS(s->status), words[0] != '\0' ? "; it said: " : "", words);
}

/* Until the ready line: a profile may print and sleep before it, for stall_ns in all. */
static bool
await_ready(struct xb_openssh *s, const bool *ready, const char *other, struct xb_err *err)
{
	const int64_t stall_ns = s->transfer->stall_ns,
		      deadline = xb_openssh_later(xb_clock_ns(), stall_ns);

	xb_openssh_enter(s, XB_PHASE_EXEC);
	while (!*ready) {
		if (s->ended)
			return ended_before(s, "ready", other, err);
		switch (xb_openssh_wait(s, deadline, err)) {
		case XB_IO_DONE:
			break;
		case XB_IO_AGAIN:
			return no_line("ready", stall_ns, err);
		case XB_IO_FAILED:
			return false;
		}
	}
	return xb_openssh_ready(s, err);
}

/* Until the end line: as long as what is under way keeps moving. */
static bool
await_end(struct xb_openssh *s, const struct xb_exec_sink *sink, struct xb_err *err)
{
	const int64_t deadline = xb_clock_ns() + CONFIRM_MAX_NS;
	enum xb_io io;

	xb_openssh_watch_begin(&s->watch);
	while (!sink->ended) {
		if (s->ended)
			return ended_before(s, "end", sink->other, err);
		io = xb_openssh_wait_moving(s, err);
		if (io == XB_IO_FAILED)
			return false;
		if (!sink->ended && (io == XB_IO_AGAIN || xb_clock_ns() >= deadline))
			return no_line("end", s->transfer->stall_ns, err);
	}
	return true;
}

/* The stream failed: what the far side said last is a better reason than what we saw of it. */
static void
explain_broken_stream(struct xb_openssh *s, const struct xb_exec_sink *sink, uint64_t bytes,
    struct xb_err *err)
{
	struct xb_err ignored = { .fault = XB_FAULT_NONE }, why = { .fault = XB_FAULT_NONE };
	const char *words = last_words(s, sink->other);
	char after[32];

	xb_size_format(after, sizeof(after), bytes);
	/* A pipe that broke is told before the end of the program is. */
	if (!sink->ended && !s->ended)
		xb_openssh_wait(s, xb_clock_ns() + XB_NS_PER_SECOND, &ignored);
	if (sink->ended) {
		err->fault = XB_FAULT_NONE;
		xb_fail(err, XB_FAULT_TRIAL, "the sink ended early, after %s, with status %d%s%s",
		    after, sink->status, words[0] != '\0' ? ": " : "", words);
	} else if (s->ended) {
		err->fault = XB_FAULT_NONE;
		xb_openssh_fail_ended(s, &why);
		xb_fail(err, XB_FAULT_TRIAL, "the connection broke after %s: %.400s", after,
		    why.text);
	}
}

/* After the clock has stopped: the exit status must agree with the end line. */
static bool
check_exit(struct xb_openssh *s, const struct xb_exec_sink *sink, struct xb_err *err)
{
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	const char *words;

	if (sink->status != 0) {
		/* The words that go with it come by another way, and may come after it. */
		xb_openssh_await_exit(s, &ignored);
		words = last_words(s, sink->other);
		return xb_fail(err, XB_FAULT_TRIAL, "the sink ended with status %d%s%s",
		    sink->status, words[0] != '\0' ? ": " : "", words);
	}
	if (!xb_openssh_await_exit(s, err))
		return false;
	if (WIFSIGNALED(s->status) || WEXITSTATUS(s->status) == 255)
		return xb_openssh_fail_ended(s, err);
	if (s->status != 0)
		return xb_fail(err, XB_FAULT_TRIAL, "the remote command exited with status %d",
		    WEXITSTATUS(s->status));
	return true;
}

static bool
upload(struct xb_openssh *s, struct xb_exec_sink *sink, struct xb_err *err)
{
	struct xb_openssh_pipe pipe;
	struct xb_sink into;
	bool ok;

	xb_openssh_pipe_init(&pipe, s, s->in);
	into = xb_openssh_pipe_sink(&pipe);
	if (!await_ready(s, &sink->ready, sink->other, err))
		return false;
	ok = xb_stream_upload(s->transfer, &into, &s->outcome->bytes, err);
	if (!ok) {
		explain_broken_stream(s, sink, s->outcome->bytes, err);
		return false;
	}
	xb_openssh_enter(s, XB_PHASE_CONFIRM);
	close(s->in);
	s->in = -1;
	if (!await_end(s, sink, err))
		return false;
	xb_openssh_end(s);
	if (!check_exit(s, sink, err))
		return false;
	s->outcome->has_count = sink->has_count;
	s->outcome->counted = sink->count;
	if (sink->has_cpu)
		s->outcome->session_cpu_seconds = sink->cpu_seconds;
	return true;
}

/* A source that ended early has said why, perhaps. */
static bool
explain_broken_source(struct xb_openssh *s, const char *other, struct xb_err *err)
{
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	char why[sizeof(err->text)];
	const char *words;

	if (!s->ended)
		xb_openssh_wait(s, xb_clock_ns() + XB_NS_PER_SECOND, &ignored);
	words = last_words(s, other);
	if (words[0] == '\0' && !s->log.words_are_poor)
		return false;
	snprintf(why, sizeof(why), "%s", err->text);
	err->fault = XB_FAULT_NONE;
	return xb_fail(err, XB_FAULT_TRIAL, "%.380s; it said: %s", why,
	    words[0] != '\0' ? words : s->log.words);
}

/* What comes after the end is of no interest: ssh is killed by whoever closes it. */
static bool
download(struct xb_openssh *s, struct xb_exec_source *source, struct xb_err *err)
{
	struct xb_openssh_pipe pipe;
	struct xb_source from;
	bool ok;

	if (!await_ready(s, &source->ready, source->other, err))
		return false;
	s->on_output = NULL;
	xb_openssh_pipe_init(&pipe, s, s->out);
	from = xb_openssh_pipe_source(&pipe);
	ok = xb_write_all(s->in, XB_EXEC_SOURCE_GO, strlen(XB_EXEC_SOURCE_GO)) > 0;
	if (!ok)
		xb_fail_errno(err, XB_FAULT_TRIAL, "ssh reads no more");
	ok = ok && xb_stream_download(s->transfer, &from, 0, &s->outcome->bytes, err);
	if (ok)
		xb_openssh_end(s);
	else
		explain_broken_source(s, source->other, err);
	xb_openssh_pipe_free(&pipe);
	return ok;
}

bool
xb_openssh_exec(const struct xb_openssh_programs *programs, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	const bool is_upload = transfer->direction == XB_UPLOAD;
	struct far far = { 0 };
	struct xb_openssh s = {
		.transfer = transfer,
		.outcome = outcome,
		.program = "ssh",
		.on_output = is_upload ? feed_sink : feed_source,
		.output_ctx = &far,
	};
	struct xb_openssh_argv argv = { 0 };
	bool ok;

	if (is_upload)
		xb_exec_sink_init(&far.sink, transfer->count);
	else
		xb_exec_source_init(&far.source, transfer->remote_file);
	xb_openssh_argv_ssh(&argv, programs, transfer,
	    is_upload ? far.sink.command : far.source.command);
	ok = xb_openssh_start(&s, &argv, err) && xb_openssh_login(&s, err) &&
	    (is_upload ? upload(&s, &far.sink, err) : download(&s, &far.source, err));
	xb_openssh_close(&s);
	xb_openssh_argv_free(&argv);
	xb_exec_sink_free(&far.sink);
	xb_exec_source_free(&far.source);
	return ok;
}
