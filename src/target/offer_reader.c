#include "target/offer_reader.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/units.h"
#include "base/worker.h"
#include "model/offer.h"
#include "target/connect.h"
#include "target/kexinit.h"
#include "target/proxy.h"

#define IDENT "SSH-2.0-xferbench\r\n"

/* Names with more addresses than this are not tried to their end. */
#define ADDRESSES_MAX 16

/* All that the parser can ever want, and a little more, so that it is the one that refuses. */
#define SAID_MAX (XB_IDENT_BYTES_MAX + XB_IDENT_MAX + XB_KEXINIT_MAX + 1024)

/* What the worker reports before the bytes that the server says. */
enum event_kind {
	EVENT_UNRESOLVED, /* code: getaddrinfo's, error: errno with EAI_SYSTEM */
	EVENT_TRYING,
	EVENT_REFUSED,   /* error: errno */
	EVENT_CONNECTED, /* the last event: what follows is what the server says */
};

struct event {
	enum event_kind kind;
	int code;
	int error;
	struct xb_peer peer;
};

#define EVENTS_MAX (ADDRESSES_MAX * 2 + 1)

/* What the worker is to do. */
struct job {
	const char *host;
	unsigned port;
	const struct xb_route *route;
	int64_t deadline_ns;
	int log_fd; /* what the proxy says, in memory; -1: no proxy */
};

/* What the worker reported, as far as it came. */
struct report {
	bool unresolved;
	int code;
	int error;
	unsigned refused;
	char refusals[240]; /* "192.0.2.1: Connection refused, …" */
	const char *hint;
	char trying[80]; /* the address that did not answer; "": none was tried */
	bool connected;
	struct xb_peer peer;
	const unsigned char *said;
	size_t said_len;
};

static void
fill_peer(struct xb_peer *peer, const struct addrinfo *info)
{
	memset(peer, 0, sizeof(*peer));
	memcpy(&peer->addr, info->ai_addr, info->ai_addrlen);
	peer->addr_len = info->ai_addrlen;
	if (getnameinfo(info->ai_addr, info->ai_addrlen, peer->address, sizeof(peer->address), NULL,
		0, NI_NUMERICHOST) != 0)
		snprintf(peer->address, sizeof(peer->address), "?");
}

/* Nobody is there to hear of a pipe that is broken: the parent has ended. */
static void
tell(int out_fd, const struct event *event)
{
	if (xb_write_all(out_fd, event, sizeof(*event)) < 0)
		_exit(1);
}

/* Binds our end where the user wants it; what is bound is told with the peer. */
static int
connect_to(const struct job *job, const struct addrinfo *to, struct xb_peer *peer, int64_t limit)
{
	const struct addrinfo hints = {
		.ai_family = to->ai_family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE,
	};
	struct addrinfo *own = NULL;
	const void *from = &peer->from;

	if (job->route->bind_address != NULL) {
		if (getaddrinfo(job->route->bind_address, NULL, &hints, &own) != 0) {
			errno = EADDRNOTAVAIL;
			return -1;
		}
		memcpy(&peer->from, own->ai_addr, own->ai_addrlen);
		peer->from_len = own->ai_addrlen;
		freeaddrinfo(own);
	}
	return xb_connect_from(from, peer->from_len, to->ai_addr, to->ai_addrlen, limit);
}

/*
 * Tries the addresses in turn. One that does not answer gets its share of the time that is left;
 * the last one has no limit here, because the parent ends us at the deadline.
 */
static int
connect_to_any(const struct job *job, int out_fd, const struct addrinfo *list)
{
	struct event event;
	int64_t now, limit;
	size_t left = 0;
	int fd = -1;

	memset(&event, 0, sizeof(event));
	for (const struct addrinfo *at = list; at != NULL && left < ADDRESSES_MAX; at = at->ai_next)
		left++;
	for (; left > 0; left--, list = list->ai_next) {
		event.kind = EVENT_TRYING;
		fill_peer(&event.peer, list);
		tell(out_fd, &event);
		now = xb_clock_ns();
		limit = INT64_MAX;
		if (left > 1)
			limit = now + (job->deadline_ns - now) / (int64_t)left;
		fd = connect_to(job, list, &event.peer, limit);
		if (fd >= 0)
			break;
		event.kind = EVENT_REFUSED;
		event.error = errno;
		tell(out_fd, &event);
	}
	if (fd >= 0) {
		event.kind = EVENT_CONNECTED;
		event.peer.is_local = xb_connect_is_local(fd, list->ai_addr);
		tell(out_fd, &event);
	}
	return fd;
}

/* Passes on what the server says until the parser has enough or the server ends the connection. */
static void
relay(int fd, int out_fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	unsigned char *said = xb_calloc(SAID_MAX, 1);
	struct xb_offer offer = { .banner = NULL };
	size_t len = 0;
	ssize_t got;

	/* A server that has closed already may have said something all the same. */
	(void)!send(fd, IDENT, strlen(IDENT), MSG_NOSIGNAL);
	while (len < SAID_MAX) {
		got = recv(fd, said + len, SAID_MAX - len, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
			xb_signals_poll(&pfd, 1, INT64_MAX);
			continue;
		}
		if (got <= 0 || xb_write_all(out_fd, said + len, (size_t)got) < 0)
			break;
		len += (size_t)got;
		if (xb_kexinit_parse(said, len, &offer, NULL) != XB_KEXINIT_MORE)
			break;
	}
	xb_offer_free(&offer);
	free(said);
}

/* The proxy's last line goes to where the parent reads it once we have ended. */
static void
work_proxied(int out_fd, const struct job *job)
{
	struct event event;
	struct xb_proxy proxy = { .pid = 0 };
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	int fd = xb_proxy_start(job->route->proxy, job->log_fd, &proxy, &ignored);

	if (fd < 0)
		return;
	memset(&event, 0, sizeof(event));
	event.kind = EVENT_CONNECTED;
	tell(out_fd, &event);
	relay(fd, out_fd);
	close(fd);
	xb_proxy_end(&proxy, NULL);
}

static void
work(int out_fd, void *ctx)
{
	const struct job *job = ctx;
	const struct addrinfo hints = {
		.ai_family = job->route->family,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *list = NULL;
	struct event event;
	char port[16];
	int fd, code;

	if (job->route->proxy != NULL) {
		work_proxied(out_fd, job);
		return;
	}
	snprintf(port, sizeof(port), "%u", job->port);
	code = getaddrinfo(job->host, port, &hints, &list);
	if (code != 0) {
		memset(&event, 0, sizeof(event));
		event.kind = EVENT_UNRESOLVED;
		event.code = code;
		event.error = errno;
		tell(out_fd, &event);
		return;
	}
	fd = connect_to_any(job, out_fd, list);
	freeaddrinfo(list);
	if (fd < 0)
		return;
	relay(fd, out_fd);
	close(fd);
}

static const char *
hint_for(int error)
{
	switch (error) {
	case ECONNREFUSED:
		return "; is an SSH server listening there?";
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return "; is it up, and no firewall between?";
	default:
		return "";
	}
}

static void
note_refusal(struct report *report, const struct event *event)
{
	size_t used = strlen(report->refusals);

	snprintf(report->refusals + used, sizeof(report->refusals) - used, "%s%s: %s",
	    used > 0 ? ", " : "", event->peer.address, strerror(event->error));
	report->refused++;
	report->trying[0] = '\0';
	report->hint = hint_for(event->error);
}

static void
read_report(const unsigned char *out, size_t len, struct report *report)
{
	struct event event;

	memset(report, 0, sizeof(*report));
	report->hint = "";
	while (!report->connected && len >= sizeof(event)) {
		memcpy(&event, out, sizeof(event));
		out += sizeof(event);
		len -= sizeof(event);
		switch (event.kind) {
		case EVENT_UNRESOLVED:
			report->unresolved = true;
			report->code = event.code;
			report->error = event.error;
			break;
		case EVENT_TRYING:
			snprintf(report->trying, sizeof(report->trying), "%s", event.peer.address);
			break;
		case EVENT_REFUSED:
			note_refusal(report, &event);
			break;
		case EVENT_CONNECTED:
			report->connected = true;
			report->peer = event.peer;
			break;
		}
	}
	report->said = out;
	report->said_len = report->connected ? len : 0;
}

/* The identification line within what was said, NULL when there is none. */
static const unsigned char *
find_ident(const struct report *report)
{
	const unsigned char *found;

	if (report->said_len >= 4 && memcmp(report->said, "SSH-", 4) == 0)
		return report->said;
	found = memmem(report->said, report->said_len, "\nSSH-", 5);
	return found != NULL ? found + 1 : NULL;
}

/*
 * The server said what may be the beginning of an offer, and then no more; how is "closed the
 * connection" or "said nothing more within 10 s".
 */
static void
explain_silence(const struct report *report, const char *where, const char *how, struct xb_err *err)
{
	const unsigned char *ident = find_ident(report);
	const unsigned char *end = report->said + report->said_len;
	const unsigned char *line_end;
	char shown[120];

	if (ident == NULL) {
		xb_text_last_line(shown, sizeof(shown), (const char *)report->said,
		    report->said_len);
		xb_fail(err, XB_FAULT_TARGET, "%s: it said '%s', which is not SSH, and %s", where,
		    shown, how);
		return;
	}
	line_end = memchr(ident, '\n', (size_t)(end - ident));
	xb_text_printable(shown, sizeof(shown), ident,
	    (size_t)((line_end != NULL ? line_end : end) - ident));
	if (line_end == NULL || line_end + 1 == end)
		xb_fail(err, XB_FAULT_TARGET,
		    "%s: it identified itself as '%s', and %s instead of its KEXINIT", where, shown,
		    how);
	else
		xb_fail(err, XB_FAULT_TARGET,
		    "%s: it identified itself as '%s', and %s in the middle of its KEXINIT, after "
		    "%zu bytes of it",
		    where, shown, how, (size_t)(end - line_end - 1));
}

/* Connected, but no offer came: the parser wants more. */
static void
explain_no_offer(const struct report *report, const char *where, enum xb_worker_end end,
    const char *within, struct xb_err *err)
{
	char how[96];

	if (report->said_len == 0 && end == XB_WORKER_DEADLINE) {
		xb_fail(err, XB_FAULT_TARGET,
		    "%s: connected, but nothing was said within %s; is it an SSH server?", where,
		    within);
		return;
	}
	if (report->said_len == 0) {
		xb_fail(err, XB_FAULT_TARGET,
		    "%s: it closed the connection before saying anything (MaxStartups, a firewall "
		    "or tcpwrappers?)",
		    where);
		return;
	}
	if (end == XB_WORKER_DEADLINE)
		snprintf(how, sizeof(how), "stopped for the rest of %s", within);
	else
		snprintf(how, sizeof(how), "closed the connection");
	explain_silence(report, where, how, err);
}

/* No connection was made. */
static void
explain_no_connection(const struct report *report, const struct job *job, enum xb_worker_end end,
    const char *within, struct xb_err *err)
{
	const char *earlier = report->refused > 0 ? "; before that " : "";

	if (report->unresolved)
		xb_fail(err, XB_FAULT_TARGET, "%s does not resolve: %s", job->host,
		    report->code == EAI_SYSTEM ? strerror(report->error)
					       : gai_strerror(report->code));
	else if (end == XB_WORKER_DEADLINE && report->trying[0] != '\0')
		xb_fail(err, XB_FAULT_TARGET,
		    "%s port %u: %s did not answer within %s%s%s; is it up, and no firewall "
		    "between?",
		    job->host, job->port, report->trying, within, earlier, report->refusals);
	else if (end == XB_WORKER_DEADLINE)
		xb_fail(err, XB_FAULT_TARGET,
		    "%s does not resolve: the name server did not answer within %s", job->host,
		    within);
	else
		xb_fail(err, XB_FAULT_TARGET, "%s port %u: cannot connect to %s%s", job->host,
		    job->port, report->refusals, report->hint);
}

/* The ends that say nothing about the server. */
static bool
is_our_fault(const struct xb_worker_result *result, struct xb_err *err)
{
	char status[64];

	switch (result->end) {
	case XB_WORKER_ERROR:
		return true;
	case XB_WORKER_SIGNAL:
		xb_fail(err, XB_FAULT_SIGNAL, "a signal ended the reading of the offer");
		return true;
	case XB_WORKER_DIED:
	case XB_WORKER_HUNG:
		xb_child_status_text(status, sizeof(status), result->status);
		xb_fail(err, XB_FAULT_SYSTEM, "the process that read the offer died: %s", status);
		return true;
	case XB_WORKER_DONE:
	case XB_WORKER_DEADLINE:
		break;
	}
	return false;
}

/* Names host, port and, where it is another one, address. */
static void
name_place(char *out, size_t size, const struct job *job, const struct report *report)
{
	if (job->route->proxy != NULL)
		snprintf(out, size, "%.100s port %u (by its proxy)", job->host, job->port);
	else if (!report->connected || strcmp(job->host, report->peer.address) == 0)
		snprintf(out, size, "%.100s port %u", job->host, job->port);
	else
		snprintf(out, size, "%.100s port %u (%s)", job->host, job->port,
		    report->peer.address);
}

bool
xb_offer_read(const char *host, unsigned port, int64_t timeout_ns, struct xb_peer *peer,
    struct xb_offer *offer, struct xb_err *err)
{
	const struct xb_route route = { .host = host, .port = port, .family = AF_UNSPEC };

	return xb_offer_read_by(&route, timeout_ns, peer, offer, err);
}

bool
xb_offer_read_by(const struct xb_route *route, int64_t timeout_ns, struct xb_peer *peer,
    struct xb_offer *offer, struct xb_err *err)
{
	const int64_t now = xb_clock_ns();
	struct job job = {
		.host = route->host,
		.port = route->port,
		.route = route,
		.deadline_ns = INT64_MAX,
		.log_fd = -1,
	};
	struct xb_worker worker = { .work = work, .ctx = &job };
	struct xb_worker_result result;
	struct report report;
	enum xb_kexinit_state state = XB_KEXINIT_BAD;
	const size_t size = EVENTS_MAX * sizeof(struct event) + SAID_MAX;
	unsigned char *out = xb_calloc(size, 1);
	char within[32], where[200];

	if (timeout_ns < INT64_MAX - now)
		job.deadline_ns = now + timeout_ns;
	worker.deadline_ns = job.deadline_ns;
	if (route->proxy != NULL && (job.log_fd = xb_proxy_log(err)) < 0)
		goto out;
	xb_duration_format(within, sizeof(within), timeout_ns);
	xb_worker_run(&worker, out, size, &result, err);
	if (is_our_fault(&result, err))
		goto out;
	read_report(out, result.len, &report);
	if (!report.connected) {
		explain_no_connection(&report, &job, result.end, within, err);
		goto out;
	}
	*peer = report.peer;
	name_place(where, sizeof(where), &job, &report);
	state = xb_kexinit_parse(report.said, report.said_len, offer, err);
	if (state == XB_KEXINIT_BAD)
		xb_err_prefix(err, where);
	else if (state == XB_KEXINIT_MORE)
		explain_no_offer(&report, where, result.end, within, err);
out:
	if (job.log_fd >= 0) {
		if (state != XB_KEXINIT_DONE)
			xb_proxy_add_words(job.log_fd, err);
		close(job.log_fd);
	}
	free(out);
	return state == XB_KEXINIT_DONE;
}
