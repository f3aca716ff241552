#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "client/openssh_argv.h"
#include "client/openssh_copy.h"
#include "client/openssh_parts.h"
#include "client/openssh_session.h"

/* How long the far side's scp may take to say that it has begun, before ours goes on without it. */
#define HOLD_NS XB_NS_PER_SECOND

#define NO_ANSWER "no answer from the far side's scp"

/* scp's stdout has its meter, which no terminal wants. */
static void
ignore(void *ctx, const char *bytes, size_t len)
{
	(void)ctx;
	(void)bytes;
	(void)len;
}

/*
 * The latest moments with only payload before them. Upload: scp hangs up once it has the far
 * side's answer to the last byte. Download: scp has written the last byte. An ssh or scp that does
 * not say so tells its exit status, one exchange later.
 */
static bool
is_over(void *ctx)
{
	const struct xb_openssh *s = ctx;
	const bool is_upload = s->transfer->direction == XB_UPLOAD;

	return xb_openssh_has(s, is_upload ? XB_OPENSSH_INPUT_END : XB_OPENSSH_DATA_END) ||
	    xb_openssh_has(s, XB_OPENSSH_EXIT_STATUS);
}

/* The header of a file, on its way out or in. */
static bool
has_sent(void *ctx)
{
	return xb_openssh_has(ctx, XB_OPENSSH_FILE_OUT);
}

static bool
has_got(void *ctx)
{
	return xb_openssh_has(ctx, XB_OPENSSH_FILE_IN);
}

/*
 * Nothing must flow before the clock runs, however long on_ready takes, so scp is stopped
 * meanwhile: in an upload when it has sent the header, which it must have an answer to.
 */
static bool
begin_upload(struct xb_openssh *s, struct xb_err *err)
{
	bool ok;

	if (!xb_openssh_await(s, has_sent, s, NO_ANSWER, err))
		return false;
	kill(s->pid, SIGSTOP);
	ok = xb_openssh_ready(s, err);
	kill(s->pid, SIGCONT);
	return ok;
}

/*
 * In a download before it can have got the header, whose answer lets the data flow: the far side's
 * scp tells when it sends it. Where that one says nothing, ours tells when it is there.
 */
static bool
begin_download(struct xb_openssh *s, struct xb_err *err)
{
	const int64_t deadline = xb_clock_ns() + HOLD_NS;
	bool ok = true;

	kill(s->pid, SIGSTOP);
	while (ok && !has_sent(s) && !has_got(s) && !s->ended) {
		switch (xb_openssh_wait(s, deadline, err)) {
		case XB_IO_DONE:
			break;
		case XB_IO_AGAIN:
			kill(s->pid, SIGCONT);
			ok = xb_openssh_await(s, has_got, s, NO_ANSWER, err);
			break;
		case XB_IO_FAILED:
			ok = false;
			break;
		}
	}
	ok = ok && xb_openssh_ready(s, err);
	kill(s->pid, SIGCONT);
	return ok;
}

static bool
run(struct xb_openssh *s, uint64_t size, struct xb_err *err)
{
	const bool is_upload = s->transfer->direction == XB_UPLOAD;

	xb_openssh_enter(s, XB_PHASE_EXEC);
	return (is_upload ? begin_upload(s, err) : begin_download(s, err)) &&
	    xb_openssh_copy(s, is_over, s, size, err) &&
	    xb_openssh_copied(s, size, s->log.file_bytes, err);
}

bool
xb_openssh_scp(const struct xb_openssh_programs *programs, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	struct xb_openssh s = {
		.transfer = transfer,
		.outcome = outcome,
		.program = "scp",
		.on_output = ignore,
	};
	struct xb_openssh_argv argv = { 0 };
	uint64_t size = transfer->remote_bytes;
	const char *file = NULL;
	bool ok;

	if (transfer->direction == XB_UPLOAD) {
		file = xb_openssh_file(transfer, &size, err);
		if (file == NULL)
			return false;
	} else if (transfer->remote_file == NULL) {
		return xb_fail(err, XB_FAULT_TRIAL, "scp has no file to download");
	}
	xb_openssh_argv_scp(&argv, programs, transfer, file);
	ok = xb_openssh_start(&s, &argv, err) && xb_openssh_login(&s, err) && run(&s, size, err);
	xb_openssh_close(&s);
	xb_openssh_argv_free(&argv);
	return ok;
}
