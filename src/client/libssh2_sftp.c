#include <inttypes.h>
#include <libssh2_sftp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "client/call_limit.h"
#include "client/libssh2_channel.h"

/*
 * An upload is confirmed write by write: libssh2_sftp_write(3) counts what the far side has
 * acknowledged with a status, not what was sent, and keeps in flight what it was offered beyond. So
 * it is offered a whole window each time, which moves on by what was acknowledged, and always in
 * whole packets of its own size; at the end what is in flight is waited for.
 */
#define PACKET_BYTES 30000u
#define WINDOW_BYTES (35 * PACKET_BYTES)

/* The window moves through so much memory before it is moved back to the beginning. */
#define UPLOAD_BYTES (4 * WINDOW_BYTES)

/* libssh2_sftp_read(3) asks for four times the buffer beforehand. */
#define DOWNLOAD_BYTES (1024u * 1024)

/*
 * What may still be under way after the last write, on the slowest of links: no longer than that.
 */
#define CONFIRM_MAX_NS (600 * XB_NS_PER_SECOND)

/*
 * A subsystem that has not answered by then may have ended, which libssh2_sftp_init does not tell.
 */
#define DOUBT_NS (500 * XB_NS_PER_MS)

struct far {
	struct xb_libssh2 *s;
	const struct xb_transfer *transfer;
	LIBSSH2_SFTP *sftp;
	LIBSSH2_SFTP_HANDLE *file;
	char *buffer;
	size_t start, end; /* of the bytes in it that are not acknowledged yet */
	uint64_t pass;     /* of a download: how far it is in the file */
	uint64_t length;   /* of the file to download; 0: it has none */
	struct xb_call_limit limit;
	char printed[200]; /* of a subsystem that is none: what came on stdout */
	struct xb_last_line said;
	char complaint[200]; /* and on stderr, in said as it came */
};

/* What the far side's last status means, draft-ietf-secsh-filexfer-02 section 7. */
static const char *
status_text(const struct far *far)
{
	switch (libssh2_sftp_last_error(far->sftp)) {
	case LIBSSH2_FX_NO_SUCH_FILE:
		return "no such file";
	case LIBSSH2_FX_PERMISSION_DENIED:
		return "permission denied";
	case LIBSSH2_FX_FAILURE:
		return "failure";
	case LIBSSH2_FX_OP_UNSUPPORTED:
		return "not supported";
	default:
		return NULL;
	}
}

/* An error of the library in the middle of something: the far side's status, where it is one. */
static bool
fail(struct far *far, const char *step, struct xb_err *err)
{
	const char *text = NULL;

	if (xb_call_limit_expired(&far->limit) && libssh2_channel_eof(far->s->channel))
		return xb_fail(err, XB_FAULT_TRIAL, "the far side's sftp server ended early");
	if (libssh2_session_last_errno(far->s->session) == LIBSSH2_ERROR_SFTP_PROTOCOL)
		text = status_text(far);
	else
		far->s->broken = true;
	if (text == NULL)
		return xb_libssh2_fail(far->s, step, err);
	return xb_fail(err, XB_FAULT_TRIAL, "%s: %s", step, text);
}

static void
take_printed(void *ctx, const char *bytes, size_t len)
{
	struct far *far = ctx;

	if (far->printed[0] == '\0')
		xb_text_printable(far->printed, sizeof(far->printed), bytes, len);
}

static void
take_complaint(void *ctx, const char *bytes, size_t len)
{
	struct far *far = ctx;

	xb_last_line_add(&far->said, bytes, len);
	xb_last_line_get(&far->said, far->complaint, sizeof(far->complaint));
}

/*
 * A subsystem of its own for the second channel. False without one: refused (err set), or no
 * opinion.
 */
static bool
start_second(struct xb_libssh2 *second, int64_t deadline, struct xb_err *err)
{
	bool again;
	int rc;

	do {
		second->channel = libssh2_channel_open_session(second->session);
		rc = second->channel != NULL ? 0 : libssh2_session_last_errno(second->session);
		if (!xb_libssh2_step(second, rc, "channel", deadline, &again, NULL))
			return false;
	} while (again);
	do {
		rc = libssh2_channel_subsystem(second->channel, "sftp");
		if (rc == LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED)
			return xb_fail(err, XB_FAULT_TRIAL, "the server has no sftp subsystem");
		if (!xb_libssh2_step(second, rc, "sftp", deadline, &again, NULL))
			return false;
	} while (again);
	return true;
}

/*
 * Listens to a second subsystem, which says nothing by itself when it is SFTP: the library throws
 * away what the one that it started said. Sets err when it is not SFTP; nothing when it may be.
 */
static void
listen_to_second(struct far *far, struct xb_err *err)
{
	struct xb_libssh2 second = *far->s;
	const char *said;
	int64_t deadline;

	if (!start_second(&second, xb_clock_ns() + far->transfer->stall_ns, err))
		return;
	deadline = xb_clock_ns() + DOUBT_NS;
	do {
		if (!xb_libssh2_drain(&second, SSH_EXTENDED_DATA_STDERR, take_complaint, far,
			NULL) ||
		    !xb_libssh2_drain(&second, 0, take_printed, far, NULL))
			return;
		if (libssh2_channel_eof(second.channel)) {
			said = far->printed[0] != '\0' ? far->printed : far->complaint;
			xb_fail(err, XB_FAULT_TRIAL,
			    "the server's sftp subsystem ended at once%s%s",
			    said[0] != '\0' ? "; it said: " : "", said);
			return;
		}
	} while (xb_libssh2_wait(&second, deadline, NULL) == XB_IO_DONE);
	if (far->printed[0] != '\0')
		xb_fail(err, XB_FAULT_TRIAL,
		    "the far side printed \"%s\" before sftp answered, which breaks sftp",
		    far->printed);
}

/* The library has given up: a better reason than its own, unless the connection is gone. */
static bool
refused(struct far *far, struct xb_err *err)
{
	struct xb_err own = { 0 };
	int rc = libssh2_session_last_errno(far->s->session);

	xb_libssh2_fail(far->s, "sftp", &own);
	if (rc != LIBSSH2_ERROR_SOCKET_SEND && rc != LIBSSH2_ERROR_SOCKET_RECV &&
	    rc != LIBSSH2_ERROR_SOCKET_DISCONNECT)
		listen_to_second(far, err);
	return xb_fail(err, XB_FAULT_TRIAL, "%s", own.text);
}

/*
 * True where libssh2_sftp_init waits for the far side's first word. Its message is all that tells:
 * until then the library's one place for the opening of a channel is taken.
 */
static bool
awaits_first_word(const struct far *far)
{
	char *text = NULL;

	libssh2_session_last_error(far->s->session, &text, NULL, 0);
	return text != NULL && strstr(text, "FXP_VERSION") != NULL;
}

static bool
no_answer(const char *step, int64_t stall_ns, struct xb_err *err)
{
	char patience[32];

	xb_duration_format(patience, sizeof(patience), stall_ns);
	return xb_fail(err, XB_FAULT_TRIAL, "%s: no answer for %s (a longer wait: --stall-timeout)",
	    step, patience);
}

static bool
start_sftp(struct far *far, struct xb_err *err)
{
	const int64_t stall_ns = far->transfer->stall_ns;
	int64_t deadline = xb_clock_ns() + stall_ns, until = xb_clock_ns() + DOUBT_NS;
	bool waits;
	enum xb_io io;

	while ((far->sftp = libssh2_sftp_init(far->s->session)) == NULL) {
		if (libssh2_session_last_errno(far->s->session) != LIBSSH2_ERROR_EAGAIN)
			return refused(far, err);
		waits = awaits_first_word(far);
		io = xb_libssh2_wait(far->s, until < deadline ? until : deadline, err);
		if (io == XB_IO_AGAIN && xb_clock_ns() >= deadline)
			return no_answer("sftp", stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
		if (io == XB_IO_AGAIN && waits) {
			listen_to_second(far, err);
			if (err->fault != XB_FAULT_NONE)
				return false;
			until = deadline;
		} else if (io == XB_IO_AGAIN) {
			until = xb_clock_ns() + DOUBT_NS;
		}
	}
	far->s->channel = libssh2_sftp_get_channel(far->sftp);
	return true;
}

/* Waits while payload moves. The library itself would wait for ever for a server that has ended. */
static enum xb_io
sftp_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	struct far *far = ctx;

	if (libssh2_channel_eof(far->s->channel)) {
		xb_fail(err, XB_FAULT_TRIAL, "the far side's sftp server ended early");
		return XB_IO_FAILED;
	}
	return xb_libssh2_wait_moving(far->s, stall_ns, err);
}

/* path is opened as it is: nothing is created, nothing cut off, and no mode is set. */
static bool
open_file(struct far *far, const char *path, unsigned long flags, struct xb_err *err)
{
	const int64_t stall_ns = far->transfer->stall_ns;
	char shown[200], step[240];
	enum xb_io io;

	xb_text_printable(shown, sizeof(shown), path, strlen(path));
	snprintf(step, sizeof(step), "sftp cannot open %s", shown);
	for (;;) {
		/* The library sends a mode in any case: /dev/null's own. */
		far->file = libssh2_sftp_open_ex(far->sftp, path, (unsigned)strlen(path), flags,
		    0666, LIBSSH2_SFTP_OPENFILE);
		if (far->file != NULL)
			return true;
		if (libssh2_session_last_errno(far->s->session) != LIBSSH2_ERROR_EAGAIN)
			return fail(far, step, err);
		io = sftp_wait(far, stall_ns, err);
		if (io == XB_IO_AGAIN)
			return no_answer(step, stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
	}
}

/* Offers the library all that is not acknowledged. DONE: some of it is now. */
static enum xb_io
push(struct far *far, struct xb_err *err)
{
	ssize_t n = 0;

	/* 0 is neither progress nor a reason to wait: it has more to send first. */
	for (int i = 0; i < 2 && n == 0; i++)
		n = libssh2_sftp_write(far->file, far->buffer + far->start, far->end - far->start);
	if (n > 0) {
		far->start += (size_t)n;
		return XB_IO_DONE;
	}
	if (n == 0 || n == LIBSSH2_ERROR_EAGAIN)
		return XB_IO_AGAIN;
	fail(far, "sftp write", err);
	return XB_IO_FAILED;
}

static enum xb_io
upload_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
{
	struct far *far = ctx;
	size_t room;
	enum xb_io io;

	if (far->end - far->start == WINDOW_BYTES) {
		io = push(far, err);
		if (io != XB_IO_DONE)
			return io;
	}
	if (far->end == UPLOAD_BYTES) {
		far->end -= far->start;
		memmove(far->buffer, far->buffer + far->start, far->end);
		far->start = 0;
	}
	room = WINDOW_BYTES - (far->end - far->start);
	if (room > UPLOAD_BYTES - far->end)
		room = UPLOAD_BYTES - far->end;
	*sent = len < room ? len : room;
	memcpy(far->buffer + far->end, bytes, *sent);
	far->end += *sent;
	return XB_IO_DONE;
}

/* Until the last write's status is in. */
static bool
confirm(struct far *far, struct xb_err *err)
{
	const int64_t stall_ns = far->transfer->stall_ns;
	int64_t deadline = xb_clock_ns() + CONFIRM_MAX_NS;
	enum xb_io io;

	xb_libssh2_enter(far->s, XB_PHASE_CONFIRM);
	while (far->start < far->end) {
		io = push(far, err);
		if (io == XB_IO_DONE)
			far->s->progress_ns = xb_clock_ns();
		else if (io == XB_IO_AGAIN)
			io = sftp_wait(far, stall_ns, err);
		if (io == XB_IO_AGAIN || xb_clock_ns() >= deadline)
			return no_answer("sftp write", stall_ns, err);
		if (io == XB_IO_FAILED)
			return false;
	}
	return true;
}

static bool
close_file(struct far *far, struct xb_err *err)
{
	int64_t deadline = xb_clock_ns() + far->transfer->stall_ns;
	bool again;
	int rc;

	xb_libssh2_enter(far->s, XB_PHASE_CLOSE);
	do {
		rc = libssh2_sftp_close_handle(far->file);
		if (rc == LIBSSH2_ERROR_SFTP_PROTOCOL)
			return fail(far, "sftp close", err);
		if (!xb_libssh2_step(far->s, rc, "sftp close", deadline, &again, err))
			return false;
	} while (again);
	return true;
}

static bool
upload(struct far *far, struct xb_outcome *outcome, struct xb_err *err)
{
	const struct xb_sink sink = { .send = upload_send, .wait = sftp_wait, .ctx = far };

	if (!open_file(far, "/dev/null", LIBSSH2_FXF_WRITE, err) ||
	    !xb_libssh2_ready(far->s, far->transfer, err))
		return false;
	if (!xb_stream_upload(far->transfer, &sink, &outcome->bytes, err) || !confirm(far, err)) {
		outcome->bytes -= far->end - far->start;
		xb_libssh2_explain(far->s, outcome->bytes, "", err);
		return false;
	}
	xb_libssh2_end(far->s, far->transfer, outcome);
	return close_file(far, err);
}

/* Its length, where it is a file and has one: a device has not. */
static bool
ask_length(struct far *far, struct xb_err *err)
{
	LIBSSH2_SFTP_ATTRIBUTES attributes = { .flags = 0 };
	int64_t deadline = xb_clock_ns() + far->transfer->stall_ns;
	bool again;
	int rc;

	far->length = far->transfer->remote_bytes;
	if (far->length > 0)
		return true;
	do {
		rc = libssh2_sftp_fstat(far->file, &attributes);
		if (rc == LIBSSH2_ERROR_SFTP_PROTOCOL)
			return fail(far, "sftp stat", err);
		if (!xb_libssh2_step(far->s, rc, "sftp stat", deadline, &again, err))
			return false;
	} while (again);
	if ((attributes.flags & LIBSSH2_SFTP_ATTR_PERMISSIONS) != 0 &&
	    (attributes.flags & LIBSSH2_SFTP_ATTR_SIZE) != 0 &&
	    LIBSSH2_SFTP_S_ISREG(attributes.permissions))
		far->length = attributes.filesize;
	return true;
}

/* The file has ended: DONE where the stream shall judge that, AGAIN where it begins again. */
static enum xb_io
take_end(struct far *far, struct xb_err *err)
{
	if (far->pass == 0) {
		xb_fail(err, XB_FAULT_TRIAL, "the remote file is empty");
		return XB_IO_FAILED;
	}
	if (far->transfer->size > 0)
		return XB_IO_DONE;
	if (far->length > 0 && far->pass != far->length) {
		xb_fail(err, XB_FAULT_TRIAL,
		    "the source ended after %" PRIu64 " bytes instead of %" PRIu64, far->pass,
		    far->length);
		return XB_IO_FAILED;
	}
	libssh2_sftp_seek64(far->file, 0);
	far->pass = 0;
	return XB_IO_AGAIN;
}

static enum xb_io
download_receive(void *ctx, size_t *received, struct xb_err *err)
{
	struct far *far = ctx;
	enum xb_io io;
	ssize_t n;

	*received = 0;
	/* Only here: a wait for the socket of an upload to a slow far side may well take longer. */
	xb_call_limit_reset(&far->limit, far->transfer->stall_ns);
	do {
		n = libssh2_sftp_read(far->file, far->buffer, DOWNLOAD_BYTES);
		io = n == 0 ? take_end(far, err) : XB_IO_DONE;
	} while (io == XB_IO_AGAIN);
	if (n == 0)
		return io;
	if (n > 0) {
		far->pass += (uint64_t)n;
		*received = (size_t)n;
		return XB_IO_DONE;
	}
	if (n == LIBSSH2_ERROR_EAGAIN)
		return XB_IO_AGAIN;
	fail(far, "sftp read", err);
	return XB_IO_FAILED;
}

static bool
download(struct far *far, struct xb_outcome *outcome, struct xb_err *err)
{
	const struct xb_source source = {
		.receive = download_receive,
		.wait = sftp_wait,
		.ctx = far,
	};

	if (!open_file(far, far->transfer->remote_file, LIBSSH2_FXF_READ, err) ||
	    !ask_length(far, err) || !xb_libssh2_ready(far->s, far->transfer, err))
		return false;
	if (!xb_stream_download(far->transfer, &source, far->length, &outcome->bytes, err)) {
		xb_libssh2_explain(far->s, outcome->bytes, "", err);
		return false;
	}
	xb_libssh2_end(far->s, far->transfer, outcome);
	return true;
}

bool
xb_libssh2_sftp(struct xb_libssh2 *s, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	struct far far = { .s = s, .transfer = transfer };
	bool ok = false;

	if (s->download && transfer->remote_file == NULL)
		return xb_fail(err, XB_FAULT_TRIAL, "sftp needs a file to download");
	xb_libssh2_enter(s, XB_PHASE_EXEC);
	if (!xb_call_limit_init(&far.limit, s->fd, err))
		return false;
	far.buffer = xb_calloc(1, s->download ? DOWNLOAD_BYTES : UPLOAD_BYTES);
	if (start_sftp(&far, err))
		ok = s->download ? download(&far, outcome, err) : upload(&far, outcome, err);
	free(far.buffer);
	xb_call_limit_free(&far.limit);
	return ok;
}
