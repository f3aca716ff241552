#include "client/openssh_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

/* What Linux gives a pipe that is not widened, pipe(7). */
#define PIPE_BYTES (64u * 1024)

/* As in memory as a program's own buffer, and still in its cache. */
#define READ_BYTES (256u * 1024)

/* No ssh moves more than that in a second: the time in which half a pipe is surely not used up. */
#define FASTEST_BYTES_PER_SECOND INT64_C(1000000000)

/* A nap is never longer, so that the end of a time-box is not missed. */
#define NAP_MAX_NS (10 * XB_NS_PER_MS)

/* How often a wait without progress looks at ssh itself. */
#define LOOK_NS (250 * XB_NS_PER_MS)

void
xb_openssh_pipe_init(struct xb_openssh_pipe *pipe, struct xb_openssh *s, int fd)
{
	int size = -1;

	*pipe = (struct xb_openssh_pipe){ .s = s, .fd = fd, .size = PIPE_BYTES };
#ifdef F_SETPIPE_SZ
	/* Refused to a user who has too many already, see pipe(7). */
	if (fcntl(fd, F_SETPIPE_SZ, XB_OPENSSH_PIPE_BYTES) < 0)
		errno = 0;
	size = fcntl(fd, F_GETPIPE_SZ);
	pipe->can_lend = true;
#endif
	if (size > 0)
		pipe->size = (size_t)size;
}

void
xb_openssh_pipe_free(struct xb_openssh_pipe *pipe)
{
	free(pipe->buffer);
	pipe->buffer = NULL;
}

/* Bytes in the pipe now. */
static size_t
level(const struct xb_openssh_pipe *pipe)
{
	int queued = 0;

	return ioctl(pipe->fd, FIONREAD, &queued) == 0 && queued > 0 ? (size_t)queued : 0;
}

/*
 * vmsplice(2) lends the payload's pages. That is safe although they are still in the pipe when the
 * cursor moves on: its buffer is never written to, and a window of a file that is unmapped keeps
 * its pages.
 */
static ssize_t
put(struct xb_openssh_pipe *pipe, const void *bytes, size_t len)
{
#ifdef F_SETPIPE_SZ
	struct iovec piece = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = len };
	ssize_t n;

	if (pipe->can_lend) {
		n = vmsplice(pipe->fd, &piece, 1, SPLICE_F_NONBLOCK);
		if (n >= 0 || errno == EAGAIN || errno == EINTR || errno == EPIPE)
			return n;
		pipe->can_lend = false;
	}
#endif
	return write(pipe->fd, bytes, len);
}

static enum xb_io
pipe_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
{
	struct xb_openssh_pipe *pipe = ctx;
	ssize_t n = put(pipe, bytes, len);

	if (n >= 0) {
		*sent = (size_t)n;
		return XB_IO_DONE;
	}
	if (errno == EAGAIN || errno == EINTR)
		return XB_IO_AGAIN;
	xb_fail_errno(err, XB_FAULT_TRIAL, "ssh reads no more");
	return XB_IO_FAILED;
}

/* With its end of the pipe still open, in somebody else's hands. */
static enum xb_io
has_ended(struct xb_err *err)
{
	xb_fail(err, XB_FAULT_TRIAL, "ssh has ended");
	return XB_IO_FAILED;
}

/* The first nap: half a pipe at the fastest. */
static int64_t
first_nap_ns(const struct xb_openssh_pipe *pipe)
{
	return (int64_t)pipe->size / 2 * XB_NS_PER_SECOND / FASTEST_BYTES_PER_SECOND;
}

/*
 * Until the pipe is half empty. When it is not so after some time, the other half lasts as long
 * again: each nap may be as long as all before it. In the end some room is enough.
 */
static enum xb_io
wait_for_room(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	struct xb_openssh_pipe *pipe = ctx;
	struct xb_openssh *s = pipe->s;
	int64_t begin = xb_clock_ns(), looked = begin, now, nap = first_nap_ns(pipe);
	size_t before = level(pipe), queued;

	if (s->ended)
		return has_ended(err);
	s->watch.progress_ns = begin;
	for (;;) {
		xb_openssh_nap(s, nap < NAP_MAX_NS ? nap : NAP_MAX_NS);
		queued = level(pipe);
		now = xb_clock_ns();
		if (s->ended || queued <= pipe->size / 2 ||
		    (now - begin >= NAP_MAX_NS && queued + PIPE_BYTES <= pipe->size))
			return XB_IO_DONE;
		nap = now - begin;
		if (queued < before)
			s->watch.progress_ns = now;
		before = queued;
		if (now - looked < LOOK_NS)
			continue;
		looked = now;
		if (xb_openssh_watch_moved(&s->watch))
			atomic_fetch_add_explicit(&s->transfer->live->beats, 1,
			    memory_order_relaxed);
		else if (now - s->watch.progress_ns >= stall_ns)
			return XB_IO_AGAIN;
	}
}

static enum xb_io
pipe_receive(void *ctx, size_t *received, struct xb_err *err)
{
	struct xb_openssh_pipe *pipe = ctx;
	ssize_t n = read(pipe->fd, pipe->buffer, READ_BYTES);

	if (n >= 0) {
		*received = (size_t)n;
		return XB_IO_DONE;
	}
	if (errno == EAGAIN || errno == EINTR)
		return XB_IO_AGAIN;
	xb_fail_errno(err, XB_FAULT_TRIAL, "cannot read from ssh");
	return XB_IO_FAILED;
}

/* Until the pipe is half full, likewise, or something is in it at last, or ssh has ended. */
static enum xb_io
wait_for_data(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	struct xb_openssh_pipe *pipe = ctx;
	struct xb_openssh *s = pipe->s;
	int64_t begin = xb_clock_ns(), now, nap = first_nap_ns(pipe);
	size_t queued;

	if (s->ended)
		return has_ended(err);
	for (;;) {
		xb_openssh_nap(s, nap < NAP_MAX_NS ? nap : NAP_MAX_NS);
		queued = level(pipe);
		now = xb_clock_ns();
		if (s->ended || queued >= pipe->size / 2 ||
		    (now - begin >= NAP_MAX_NS && queued > 0))
			return XB_IO_DONE;
		if (now - begin >= stall_ns)
			return XB_IO_AGAIN;
		nap = now - begin;
	}
}

struct xb_sink
xb_openssh_pipe_sink(struct xb_openssh_pipe *pipe)
{
	return (struct xb_sink){ .send = pipe_send, .wait = wait_for_room, .ctx = pipe };
}

struct xb_source
xb_openssh_pipe_source(struct xb_openssh_pipe *pipe)
{
	if (pipe->buffer == NULL)
		pipe->buffer = xb_calloc(1, READ_BYTES);
	return (struct xb_source){ .receive = pipe_receive, .wait = wait_for_data, .ctx = pipe };
}
