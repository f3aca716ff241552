#include "client/tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/stream.h"

/* One read or write of either side. */
#define PIECE_BYTES (1024u * 1024)

/* A connection within one machine is made at once, or something is wrong. */
#define CONNECT_SECONDS 10

/* What the far side tells: once when it is ready, and once at its end. */
struct word {
	uint64_t bytes; /* that it has read or written */
	int64_t cpu_ns; /* that it has used */
	int error;      /* errno of a failure, 0: it came to the end */
};

/* One transfer: our socket, and a process at the other end of it. */
struct link {
	int fd;  /* ours */
	int far; /* the other end, until the process has it */
	int words;
	pid_t pid;
	char *buffer; /* PIECE_BYTES, of a download */
	int64_t stall_ns;
};

static bool
set_time_limit(int fd, int64_t ns)
{
	const int64_t us = ns / 1000 > 0 ? ns / 1000 : 1;
	const struct timeval limit = {
		.tv_sec = (time_t)(us / 1000000),
		.tv_usec = (suseconds_t)(us % 1000000),
	};

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0;
}

/* Takes connections until one is our own socket's: a stranger may have come first. */
static int
accept_own(int listener, const struct sockaddr_in *own)
{
	struct sockaddr_in peer;
	socklen_t len;
	int fd;

	for (;;) {
		len = sizeof(peer);
		memset(&peer, 0, sizeof(peer));
		fd = accept4(listener, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC);
		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0 ||
		    (peer.sin_port == own->sin_port &&
			peer.sin_addr.s_addr == own->sin_addr.s_addr))
			return fd;
		close(fd);
	}
}

/* Both ends of one connection over loopback. The listener is gone when this returns. */
static bool
make_link(struct link *link, struct xb_err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET }, own;
	socklen_t len = sizeof(address), own_len = sizeof(own);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memset(&own, 0, sizeof(own));
	link->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ok = listener >= 0 && link->fd >= 0 &&
	    set_time_limit(listener, CONNECT_SECONDS * XB_NS_PER_SECOND) &&
	    set_time_limit(link->fd, CONNECT_SECONDS * XB_NS_PER_SECOND) &&
	    bind(listener, (struct sockaddr *)&address, len) == 0 && listen(listener, 16) == 0 &&
	    getsockname(listener, (struct sockaddr *)&address, &len) == 0 &&
	    connect(link->fd, (struct sockaddr *)&address, len) == 0 &&
	    getsockname(link->fd, (struct sockaddr *)&own, &own_len) == 0 &&
	    (link->far = accept_own(listener, &own)) >= 0;
	if (!ok)
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot connect to ourselves on 127.0.0.1");
	if (listener >= 0)
		close(listener);
	return ok;
}

/* In the far process: reads to the end of file. */
static void
take_all(int fd, char *buffer, struct word *word)
{
	ssize_t n;

	for (;;) {
		n = recv(fd, buffer, PIECE_BYTES, 0);
		if (n == 0)
			return;
		if (n > 0) {
			word->bytes += (uint64_t)n;
		} else if (errno != EINTR) {
			word->error = errno;
			return;
		}
	}
}

/* In the far process: zeros, once a byte has asked for them, until nobody wants any more. */
static void
give_all(int fd, const char *buffer, struct word *word)
{
	char go;
	ssize_t n;

	do
		n = recv(fd, &go, 1, 0);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return;
	for (;;) {
		n = send(fd, buffer, PIECE_BYTES, MSG_NOSIGNAL);
		if (n > 0) {
			word->bytes += (uint64_t)n;
		} else if (errno != EINTR) {
			word->error = errno;
			return;
		}
	}
}

/* The far process from its beginning to its end. */
static void
be_far(const struct link *link, int words, const struct xb_transfer *transfer)
{
	struct word word = { 0 };
	char *buffer = xb_calloc(1, PIECE_BYTES);

	close(link->fd);
	xb_affinity_pin(transfer->server_cpu);
	/* Written to, so that its pages are there and not all the same one. */
	memset(buffer, 1, PIECE_BYTES);
	memset(buffer, 0, PIECE_BYTES);
	word.cpu_ns = xb_clock_cpu_ns();
	xb_write_all(words, &word, sizeof(word));
	if (transfer->direction == XB_UPLOAD)
		take_all(link->far, buffer, &word);
	else
		give_all(link->far, buffer, &word);
	word.cpu_ns = xb_clock_cpu_ns();
	xb_write_all(words, &word, sizeof(word));
	_exit(0);
}

static bool
start_far(struct link *link, const struct xb_transfer *transfer, struct xb_err *err)
{
	int words[2];

	if (pipe2(words, O_CLOEXEC) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "pipe");
	link->words = words[0];
	link->pid = xb_child_fork(err);
	if (link->pid == 0) {
		close(words[0]);
		be_far(link, words[1], transfer);
	}
	close(words[1]);
	close(link->far);
	link->far = -1;
	return link->pid > 0;
}

/* The far process's next word, within stall_ns. */
static bool
hear(const struct link *link, struct word *word, struct xb_err *err)
{
	const int64_t deadline = xb_clock_ns() + link->stall_ns;
	struct pollfd pfd = { .fd = link->words, .events = POLLIN };
	int n;

	do
		n = poll(&pfd, 1, xb_clock_poll_ms(deadline));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return xb_fail(err, XB_FAULT_TRIAL,
		    "no word from the process at the other end (a longer wait: --stall-timeout)");
	if (n < 0 || xb_read_all(link->words, word, sizeof(*word)) != (ssize_t)sizeof(*word))
		return xb_fail(err, XB_FAULT_TRIAL, "the process at the other end died");
	return true;
}

/* A socket with a time limit: AGAIN is the limit. */
static enum xb_io
judge(ssize_t n, size_t *moved, const char *what, struct xb_err *err)
{
	*moved = n > 0 ? (size_t)n : 0;
	if (n >= 0)
		return XB_IO_DONE;
	if (errno == EAGAIN)
		return XB_IO_AGAIN;
	xb_fail_errno(err, XB_FAULT_TRIAL, "%s", what);
	return XB_IO_FAILED;
}

static enum xb_io
tcp_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
{
	const struct link *link = ctx;
	ssize_t n;

	/* No signal handler restarts a call with a time limit. */
	do
		n = send(link->fd, bytes, len < PIECE_BYTES ? len : PIECE_BYTES, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return judge(n, sent, "write", err);
}

static enum xb_io
tcp_receive(void *ctx, size_t *received, struct xb_err *err)
{
	const struct link *link = ctx;
	ssize_t n;

	do
		n = recv(link->fd, link->buffer, PIECE_BYTES, 0);
	while (n < 0 && errno == EINTR);
	return judge(n, received, "read", err);
}

/* The kernel has waited already, as long as it may: SO_SNDTIMEO and SO_RCVTIMEO. */
static enum xb_io
tcp_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	(void)ctx;
	(void)stall_ns;
	(void)err;
	return XB_IO_AGAIN;
}

static bool
upload(struct link *link, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct word *last, struct xb_err *err)
{
	const struct xb_sink sink = { .send = tcp_send, .wait = tcp_wait, .ctx = link };

	if (!xb_stream_upload(transfer, &sink, &outcome->bytes, err))
		return false;
	atomic_store_explicit(&transfer->live->phase, (int)XB_PHASE_CONFIRM, memory_order_relaxed);
	if (shutdown(link->fd, SHUT_WR) != 0)
		return xb_fail_errno(err, XB_FAULT_TRIAL, "end of file");
	if (!hear(link, last, err))
		return false;
	transfer->on_end(transfer->ctx);
	if (last->error == 0 && last->bytes == outcome->bytes)
		return true;
	return xb_fail(err, XB_FAULT_TRIAL,
	    "the process at the other end read %" PRIu64 " of %" PRIu64 " bytes%s%s", last->bytes,
	    outcome->bytes, last->error != 0 ? ": " : "",
	    last->error != 0 ? strerror(last->error) : "");
}

static bool
download(struct link *link, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct word *last, struct xb_err *err)
{
	const struct xb_source source = {
		.receive = tcp_receive,
		.wait = tcp_wait,
		.ctx = link,
	};

	if (send(link->fd, "", 1, MSG_NOSIGNAL) != 1)
		return xb_fail_errno(err, XB_FAULT_TRIAL, "go");
	if (!xb_stream_download(transfer, &source, 0, &outcome->bytes, err))
		return false;
	transfer->on_end(transfer->ctx);
	/* Its next write fails, and it tells what it has used. */
	shutdown(link->fd, SHUT_RDWR);
	close(link->fd);
	link->fd = -1;
	return hear(link, last, err);
}

static bool
stream(struct link *link, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	struct word first = { 0 }, last = { 0 };
	bool ok;

	if (!hear(link, &first, err))
		return false;
	atomic_store_explicit(&transfer->live->phase, (int)XB_PHASE_STREAM, memory_order_relaxed);
	if (!transfer->on_ready(transfer->ctx))
		return xb_fail(err, XB_FAULT_TRIAL, "another stream has failed");
	ok = transfer->direction == XB_UPLOAD ? upload(link, transfer, outcome, &last, err)
					      : download(link, transfer, outcome, &last, err);
	if (!ok)
		return false;
	outcome->sink_cpu_seconds = xb_seconds(last.cpu_ns - first.cpu_ns);
	/* Nothing frames the bytes. */
	outcome->wire_bytes = outcome->bytes;
	return true;
}

static void
end_link(struct link *link)
{
	if (link->pid > 0) {
		kill(link->pid, SIGKILL);
		while (waitpid(link->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	if (link->fd >= 0)
		close(link->fd);
	if (link->far >= 0)
		close(link->far);
	if (link->words >= 0)
		close(link->words);
	free(link->buffer);
}

static bool
tcp_transfer(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	struct link link = { .fd = -1, .far = -1, .words = -1, .stall_ns = transfer->stall_ns };
	int64_t start = xb_clock_ns();
	bool ok;

	if (transfer->direction == XB_DOWNLOAD) {
		link.buffer = xb_calloc(1, PIECE_BYTES);
		memset(link.buffer, 1, PIECE_BYTES);
	}
	atomic_store_explicit(&transfer->live->phase, (int)XB_PHASE_CONNECT, memory_order_relaxed);
	ok = make_link(&link, err);
	outcome->connect_seconds = xb_seconds(xb_clock_ns() - start);
	if (ok && !set_time_limit(link.fd, transfer->stall_ns))
		ok = xb_fail_errno(err, XB_FAULT_TRIAL, "socket");
	ok = ok && start_far(&link, transfer, err) && stream(&link, transfer, outcome, err);
	atomic_store_explicit(&transfer->live->phase, (int)XB_PHASE_CLOSE, memory_order_relaxed);
	end_link(&link);
	return ok;
}

static const char *
tcp_version(void)
{
	return "";
}

static const char *
tcp_cannot(enum xb_method method, enum xb_direction direction)
{
	(void)direction;
	switch (method) {
	case XB_METHOD_EXEC:
		return NULL;
	case XB_METHOD_SCP:
		return "plain TCP has no scp";
	case XB_METHOD_SFTP:
		return "plain TCP has no sftp";
	case XB_METHOD_LOGIN:
		break;
	}
	return "plain TCP has no login";
}

const struct xb_client xb_client_tcp = {
	.name = "tcp",
	.label = "plain TCP",
	.version = tcp_version,
	.cannot = tcp_cannot,
	.transfer = tcp_transfer,
};
