#include <libssh/sftp.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/call_limit.h"
#include "client/libssh_channel.h"
#include "client/libssh_session.h"
#include "client/stream.h"

/* 0.11 has requests in flight both ways, 0.10 for reads alone: its writes are stop and wait. */
#if LIBSSH_VERSION_INT >= SSH_VERSION_INT(0, 11, 0)
#define HAS_AIO 1
#else
#define HAS_AIO 0
#endif

/* Requests in flight, where there are such. */
#define IN_FLIGHT 16

/*
 * One write. sftp-server of OpenSSH takes messages of at most 256 KiB and ends at a longer one;
 * this leaves room for the header, and fills eight channel packets of 32 KiB.
 */
#define WRITE_BYTES (254u * 1024)

/* One read: all in flight together fit into the library's receive window of 1,280,000 bytes. */
#define READ_BYTES (64u * 1024)

/* The file on the far side, and what is under way. */
struct far {
	struct xb_libssh *s;
	struct xb_call_limit limit;
	int64_t stall_ns;
	sftp_session sftp;
	sftp_file file;
	char *buffer;                  /* READ_BYTES, of a download */
	uint64_t length;               /* of the file to download; 0: it has none */
	uint64_t asked;                /* where the next request begins in it */
	uint64_t pass;                 /* bytes of it that have come, this time round */
	uint64_t wanted;               /* bytes still to ask for */
	bool again;                    /* at its end it begins again */
	bool ended;                    /* a file without a length did */
	struct xb_last_line complaint; /* of the subsystem's stderr */
	char said[200];                /* the same, printable */
	unsigned first, count;         /* a ring: count of the requests from first on */
	struct {
#if HAS_AIO
		sftp_aio aio;
#else
		uint32_t id;
#endif
		uint32_t len;
	} requests[IN_FLIGHT];
};

/* The library's sftp functions wait without end: each call has stall_ns. */
static void
begin_call(struct far *far)
{
	xb_call_limit_reset(&far->limit, far->stall_ns);
}

/* Words for the library's error: the time that was up, what the server said, or how it ended. */
static bool
failed(struct far *far, const char *step, struct xb_err *err)
{
	if (xb_call_limit_expired(&far->limit))
		return xb_fail(err, XB_FAULT_TRIAL,
		    "%s: no answer in time (a longer wait: --stall-timeout)", step);
	return xb_libssh_fail(far->s, step, err);
}

static void
hear_out(void *ctx, const char *bytes, size_t len)
{
	(void)ctx;
	(void)bytes;
	(void)len;
}

static void
hear_err(void *ctx, const char *bytes, size_t len)
{
	struct far *far = ctx;

	xb_last_line_add(&far->complaint, bytes, len);
	xb_last_line_get(&far->complaint, far->said, sizeof(far->said));
}

/* The subsystem has not answered as one does: why, as far as it said so itself. */
static bool
no_server(struct far *far, struct xb_err *err)
{
	const struct xb_libssh_ears ears = { hear_out, hear_err, far };
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	const char *raw = ssh_get_error(far->s->session);
	char text[200];
	bool ended;

	xb_text_printable(text, sizeof(text), raw, strlen(raw));
	if (xb_call_limit_expired(&far->limit) || !ssh_is_connected(far->s->session))
		return failed(far, "sftp subsystem", err);
	ssh_set_blocking(far->s->session, 0);
	xb_libssh_hear(far->s, &ears, &ended, &ignored);
	if (sftp_get_error(far->sftp) == SSH_FX_EOF)
		return xb_fail(err, XB_FAULT_TRIAL, "the server's sftp subsystem ended at once%s%s",
		    far->said[0] != '\0' ? "; it said: " : "", far->said);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "what the server's sftp subsystem says is not SFTP; does a profile print? (%s)", text);
}

static bool
start_subsystem(struct xb_libssh *s, int64_t deadline, struct xb_err *err)
{
	bool again;
	int rc;

	if (!xb_libssh_open_channel(s, deadline, err))
		return false;
	do {
		rc = ssh_channel_request_sftp(s->channel);
		if (rc == SSH_ERROR && ssh_get_error_code(s->session) == SSH_REQUEST_DENIED)
			return xb_fail(err, XB_FAULT_TRIAL, "the server has no sftp subsystem");
		if (!xb_libssh_step(s, rc, "sftp", deadline, &again, err))
			return false;
	} while (again);
	return true;
}

static bool
open_file(struct far *far, const char *path, int flags, struct xb_err *err)
{
	char step[300] = "sftp open of ";

	if (!start_subsystem(far->s, xb_clock_ns() + far->stall_ns, err))
		return false;
	far->sftp = sftp_new_channel(far->s->session, far->s->channel);
	if (far->sftp == NULL)
		return xb_libssh_fail(far->s, "sftp", err);
	ssh_set_blocking(far->s->session, 1);
	begin_call(far);
	if (sftp_init(far->sftp) != 0)
		return no_server(far, err);
	begin_call(far);
	/* No O_CREAT: a mode goes along, which no server has a use for then. */
	far->file = sftp_open(far->sftp, path, flags, 0);
	if (far->file != NULL)
		return true;
	xb_text_printable(step + strlen(step), sizeof(step) - strlen(step), path, strlen(path));
	return failed(far, step, err);
}

/* The place of a request that begins. */
static size_t
next_place(const struct far *far)
{
	return (far->first + far->count) % IN_FLIGHT;
}

/* The oldest request is done. */
static void
drop_first(struct far *far)
{
	far->first = (far->first + 1) % IN_FLIGHT;
	far->count--;
}

#if HAS_AIO

static bool
take_status(struct far *far)
{
	ssize_t n = sftp_aio_wait_write(&far->requests[far->first].aio);

	drop_first(far);
	return n >= 0;
}

static ssize_t
write_some(struct far *far, const void *bytes, size_t len)
{
	ssize_t n;

	if (far->count == IN_FLIGHT && !take_status(far))
		return -1;
	n = sftp_aio_begin_write(far->file, bytes, len, &far->requests[next_place(far)].aio);
	if (n > 0)
		far->count++;
	return n;
}

/* Says for how many bytes it asked: the server may have a limit. */
static ssize_t
begin_read(struct far *far, uint32_t len)
{
	return sftp_aio_begin_read(far->file, len, &far->requests[next_place(far)].aio);
}

static ssize_t
end_read(struct far *far)
{
	return sftp_aio_wait_read(&far->requests[far->first].aio, far->buffer, READ_BYTES);
}

static void
drop_requests(struct far *far)
{
	for (; far->count > 0; drop_first(far))
		sftp_aio_free(far->requests[far->first].aio);
}

#else

/* Never called: each write has had its status. */
static bool
take_status(struct far *far)
{
	drop_first(far);
	return true;
}

static ssize_t
write_some(struct far *far, const void *bytes, size_t len)
{
	return sftp_write(far->file, bytes, len);
}

static ssize_t
begin_read(struct far *far, uint32_t len)
{
	int id = sftp_async_read_begin(far->file, len);

	far->requests[next_place(far)].id = (uint32_t)id;
	return id < 0 ? -1 : (ssize_t)len;
}

static ssize_t
end_read(struct far *far)
{
	return sftp_async_read(far->file, far->buffer, far->requests[far->first].len,
	    far->requests[far->first].id);
}

static void
drop_requests(struct far *far)
{
	far->count = 0;
}

#endif

static enum xb_io
sftp_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
{
	struct far *far = ctx;
	ssize_t n;

	begin_call(far);
	n = write_some(far, bytes, len < WRITE_BYTES ? len : WRITE_BYTES);
	if (n > 0) {
		*sent = (size_t)n;
		return XB_IO_DONE;
	}
	failed(far, "sftp write", err);
	return XB_IO_FAILED;
}

/* For how many bytes to ask next, 0 for none; a file that begins again does so here. */
static uint32_t
next_length(struct far *far)
{
	uint64_t len = far->wanted < READ_BYTES ? far->wanted : READ_BYTES;

	if (far->ended || far->count == IN_FLIGHT)
		return 0;
	if (far->length == 0)
		return (uint32_t)len;
	if (far->asked == far->length && far->again) {
		sftp_seek64(far->file, 0);
		far->asked = 0;
	}
	if (far->length - far->asked < len)
		len = far->length - far->asked;
	return (uint32_t)len;
}

static bool
ask(struct far *far)
{
	uint32_t len;
	ssize_t n;

	while ((len = next_length(far)) > 0) {
		n = begin_read(far, len);
		if (n <= 0)
			return false;
		far->requests[next_place(far)].len = (uint32_t)n;
		far->count++;
		far->asked += (uint64_t)n;
		far->wanted -= (uint64_t)n;
	}
	return true;
}

/* What comes short has others behind it that were asked for too far on: the file has ended. */
static enum xb_io
take_short(struct far *far, struct xb_err *err)
{
	if (far->length > 0) {
		xb_fail(err, XB_FAULT_TRIAL,
		    "the source ended after %" PRIu64 " bytes instead of %" PRIu64, far->pass,
		    far->length);
		return XB_IO_FAILED;
	}
	far->ended = true;
	drop_requests(far);
	return XB_IO_DONE;
}

static enum xb_io
sftp_receive(void *ctx, size_t *received, struct xb_err *err)
{
	struct far *far = ctx;
	uint32_t len;
	ssize_t n;

	*received = 0;
	begin_call(far);
	if (!ask(far)) {
		failed(far, "sftp read", err);
		return XB_IO_FAILED;
	}
	if (far->count == 0)
		return XB_IO_DONE;
	len = far->requests[far->first].len;
	n = end_read(far);
	drop_first(far);
	if (n < 0) {
		failed(far, "sftp read", err);
		return XB_IO_FAILED;
	}
	*received = (size_t)n;
	far->pass += (uint64_t)n;
	if (n < (ssize_t)len)
		return take_short(far, err);
	if (far->pass == far->length)
		far->pass = 0;
	return XB_IO_DONE;
}

/* Never reached: neither of the two says AGAIN. */
static enum xb_io
no_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	(void)ctx;
	(void)stall_ns;
	xb_fail(err, XB_FAULT_TRIAL, "sftp: nothing to wait for");
	return XB_IO_FAILED;
}

static bool
upload(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_sink sink = { .send = sftp_send, .wait = no_wait, .ctx = far };
	sftp_file file;

	if (!open_file(far, "/dev/null", O_WRONLY, err) ||
	    !xb_libssh_ready(far->s, transfer, err) ||
	    !xb_stream_upload(transfer, &sink, &outcome->bytes, err))
		return false;
	xb_libssh_enter(far->s, XB_PHASE_CONFIRM);
	while (far->count > 0) {
		begin_call(far);
		if (!take_status(far))
			return failed(far, "sftp write", err);
	}
	xb_libssh_end(far->s, transfer, outcome);
	begin_call(far);
	file = far->file;
	far->file = NULL;
	return sftp_close(file) == SSH_OK || failed(far, "sftp close", err);
}

/* Its length, where it has one: a device has not. */
static bool
ask_length(struct far *far, struct xb_err *err)
{
	sftp_attributes attributes;
	bool empty;

	begin_call(far);
	attributes = sftp_fstat(far->file);
	if (attributes == NULL)
		return failed(far, "sftp stat", err);
	if (attributes->type == SSH_FILEXFER_TYPE_REGULAR)
		far->length = attributes->size;
	empty = attributes->type == SSH_FILEXFER_TYPE_REGULAR && attributes->size == 0;
	sftp_attributes_free(attributes);
	return !empty || xb_fail(err, XB_FAULT_TRIAL, "the file to download is empty");
}

static bool
download(struct far *far, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	const struct xb_source source = {
		.receive = sftp_receive,
		.wait = no_wait,
		.ctx = far,
	};
	uint64_t expected;

	if (!open_file(far, transfer->remote_file, O_RDONLY, err) || !ask_length(far, err))
		return false;
	/* A size is a part of the file; a time-box is filled with it again and again. */
	far->wanted = transfer->size > 0 ? transfer->size : UINT64_MAX;
	far->again = transfer->size == 0 && transfer->time_ns > 0;
	expected = transfer->remote_bytes > 0 ? transfer->remote_bytes : far->length;
	if (!xb_libssh_ready(far->s, transfer, err) ||
	    !xb_stream_download(transfer, &source, expected, &outcome->bytes, err))
		return false;
	xb_libssh_end(far->s, transfer, outcome);
	return true;
}

bool
xb_libssh_sftp(struct xb_libssh *s, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	struct far far = { .s = s, .stall_ns = transfer->stall_ns };
	bool ok = false;

	if (!xb_call_limit_init(&far.limit, s->fd, err))
		return false;
	if (transfer->direction == XB_UPLOAD) {
		ok = upload(&far, transfer, outcome, err);
	} else {
		far.buffer = xb_calloc(1, READ_BYTES);
		ok = download(&far, transfer, outcome, err);
		free(far.buffer);
	}
	drop_requests(&far);
	xb_call_limit_free(&far.limit);
	/* File and session end with the process: a farewell would wait for answers. */
	return ok;
}
