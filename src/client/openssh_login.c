#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "client/openssh_session.h"
#include "target/target.h"

/* ssh has the same time-out, and its own words are the better ones. */
#define GRACE_NS XB_NS_PER_SECOND

#define NOT_FOUND 127

void
xb_openssh_on_event(void *ctx, enum xb_openssh_event event)
{
	struct xb_openssh *s = ctx;
	const int64_t now = xb_clock_ns();

	s->seen |= 1u << event;
	switch (event) {
	case XB_OPENSSH_PROXY:
	case XB_OPENSSH_CONNECTING:
		s->proxied = s->proxied || event == XB_OPENSSH_PROXY;
		if (s->connecting_ns == 0)
			s->connecting_ns = now;
		xb_openssh_enter(s, XB_PHASE_CONNECT);
		break;
	case XB_OPENSSH_CONNECTED:
	case XB_OPENSSH_VERSION:
		/* Behind a proxy, the server's own first words are the only sign. */
		if (s->proxied != (event == XB_OPENSSH_VERSION))
			break;
		s->connected_ns = now;
		xb_openssh_enter(s, XB_PHASE_KEX);
		break;
	case XB_OPENSSH_KEYED:
		s->keyed_ns = now;
		xb_openssh_enter(s, XB_PHASE_AUTH);
		s->transfer->on_login(s->transfer->ctx);
		break;
	case XB_OPENSSH_LOGGED_IN:
		s->login_ns = now;
		xb_openssh_enter(s, XB_PHASE_EXEC);
		break;
	default:
		break;
	}
}

/*
 * What the log says of one kind of algorithm against what was asked for; NULL: anything is right.
 */
static bool
check(const char *wanted, const char *up, const char *down, const char *kind, struct xb_err *err)
{
	if (wanted == NULL || (strcmp(up, wanted) == 0 && strcmp(down, wanted) == 0))
		return true;
	if (strcmp(up, down) == 0)
		return xb_fail(err, XB_FAULT_TRIAL, "negotiated the %s %s instead of %s", kind,
		    up[0] != '\0' ? up : "(unknown)", wanted);
	return xb_fail(err, XB_FAULT_TRIAL, "negotiated the %s %s up and %s down instead of %s",
	    kind, up, down, wanted);
}

/* Reads back what the session negotiated: a trial of something else has no rate. */
static bool
check_negotiated(const struct xb_openssh *s, struct xb_err *err)
{
	const struct xb_suite *suite = s->transfer->suite;
	const struct xb_openssh_log *log = &s->log;
	const struct xb_negotiated *got = &log->negotiated;
	const char *compression = suite->compression;

	if (compression == NULL && suite->cipher_name != NULL)
		compression = "none";
	return check(suite->cipher_name, got->cipher, log->cipher_down, "cipher", err) &&
	    check(suite->mac_name, got->mac, log->mac_down, "MAC", err) &&
	    check(compression, got->compression, log->compression_down, "compression", err) &&
	    check(suite->kex, got->kex, got->kex, "key exchange", err) &&
	    check(suite->hostkey, got->hostkey, got->hostkey, "host key algorithm", err);
}

/* What comes after the login cannot be told from a case that cannot run; before it, these can. */
static enum xb_fault
fault_of_end(const struct xb_openssh *s)
{
	const char *words = s->log.words;

	if (WIFSIGNALED(s->status) || words[0] == '\0')
		return XB_FAULT_TRIAL;
	switch (s->phase) {
	case XB_PHASE_START:
	case XB_PHASE_CONNECT:
		return strncmp(words, "ssh: ", 5) == 0 ? XB_FAULT_TARGET : XB_FAULT_TRIAL;
	case XB_PHASE_KEX:
		return strncmp(words, "Unable to negotiate ", 20) != 0 &&
			strstr(words, "ost key") != NULL
		    ? XB_FAULT_TARGET
		    : XB_FAULT_TRIAL;
	case XB_PHASE_AUTH:
		return XB_FAULT_TARGET;
	default:
		return XB_FAULT_TRIAL;
	}
}

bool
xb_openssh_fail_ended(const struct xb_openssh *s, struct xb_err *err)
{
	const char *words = s->log.words, *phase = xb_phase_name(s->phase), *missing = "";
	const enum xb_fault fault = fault_of_end(s);
	char how[80];

	xb_child_status_text(how, sizeof(how), s->status);
	if (WIFSIGNALED(s->status))
		return xb_fail(err, fault, "%s died: %s, during %s%s%s", s->program, how, phase,
		    words[0] != '\0' ? "; it said: " : "", words);
	if (words[0] == '\0')
		return xb_fail(err, fault, "%s ended with %s during %s, without a word", s->program,
		    how, phase);
	/* Shells end so when there is no such program; of a subsystem, nothing else is heard. */
	if (s->log.exit_status == NOT_FOUND && s->log.words_are_poor)
		missing = "; on the far side there is no such program: exit status 127";
	if (strncmp(words, "ssh: ", 5) == 0 || strncmp(words, "scp: ", 5) == 0)
		return xb_fail(err, fault, "%s%s", words, missing);
	return xb_fail(err, fault, "%s: %s%s", s->program, words, missing);
}

static bool
fail_silent(const struct xb_openssh *s, int64_t patience_ns, const char *option, struct xb_err *err)
{
	char patience[32];

	xb_duration_format(patience, sizeof(patience), patience_ns);
	return xb_fail(err, XB_FAULT_TRIAL,
	    "%s made no progress during %s for %s (a longer wait: %s)%s%s", s->program,
	    xb_phase_name(s->phase), patience, option, s->log.words[0] != '\0' ? "; it said: " : "",
	    s->log.words);
}

static double
between(int64_t from_ns, int64_t to_ns, double unknown)
{
	return from_ns > 0 && to_ns >= from_ns ? xb_seconds(to_ns - from_ns) : unknown;
}

/* A proxy's own time is nobody's: it may have logged in elsewhere first. */
static void
fill_outcome(const struct xb_openssh *s)
{
	struct xb_outcome *outcome = s->outcome;

	outcome->negotiated = s->log.negotiated;
	outcome->start_seconds = between(s->start_ns, s->connecting_ns, outcome->start_seconds);
	if (!s->proxied)
		outcome->connect_seconds =
		    between(s->connecting_ns, s->connected_ns, outcome->connect_seconds);
	outcome->kex_seconds = between(s->connected_ns, s->keyed_ns, outcome->kex_seconds);
	outcome->auth_seconds = between(s->keyed_ns, s->login_ns, outcome->auth_seconds);
}

bool
xb_openssh_login(struct xb_openssh *s, struct xb_err *err)
{
	const struct xb_transfer *transfer = s->transfer;
	/*
	 * -N sends nothing. Else a proxy that is an ssh may be logged in first, with the same
	 * words.
	 */
	const enum xb_openssh_event last =
	    transfer->method == XB_METHOD_LOGIN ? XB_OPENSSH_LOGGED_IN : XB_OPENSSH_SENT;
	int64_t patience_ns;
	enum xb_io io;

	while (!xb_openssh_has(s, last)) {
		if (s->ended)
			return xb_openssh_fail_ended(s, err);
		patience_ns = s->phase == XB_PHASE_EXEC ? transfer->stall_ns
							: transfer->target->connect_timeout_ns;
		io = xb_openssh_wait(s, xb_openssh_later(s->phase_ns + GRACE_NS, patience_ns), err);
		if (io == XB_IO_FAILED)
			return false;
		if (io == XB_IO_AGAIN)
			return fail_silent(s, patience_ns,
			    s->phase == XB_PHASE_EXEC ? "--stall-timeout" : "--connect-timeout",
			    err);
	}
	fill_outcome(s);
	return check_negotiated(s, err);
}
