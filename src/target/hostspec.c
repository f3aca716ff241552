#include "target/hostspec.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

/* No host name is longer (RFC 1035 section 2.3.4), and no login name that we know of. */
#define PART_MAX 255

/* What no host name has, but a shell, a list or a known_hosts file gives a meaning to. */
#define HOST_FORBIDDEN "\"'`$\\;&<>|(){}[]*?!,#/@"

/* A part of the text while it is taken apart. */
struct part {
	const char *at; /* NULL: not there */
	size_t len;
};

/* The parts as they stand in the text. */
struct parts {
	struct part user;
	struct part host;
	struct part port;
	bool bracketed;
};

static bool
refuse(struct xb_err *err, const char *option, const char *text, const char *why)
{
	char shown[120];

	xb_text_printable(shown, sizeof(shown), text, strlen(text));
	return xb_fail(err, XB_FAULT_USAGE,
	    "%s '%s': %s; give [USER@]HOST[:PORT], [ADDRESS]:PORT or ssh://[USER@]HOST[:PORT]",
	    option, shown, why);
}

/* "fe80::1%eth0" without its zone is what inet_pton knows. */
static bool
is_ipv6(const char *at, size_t len)
{
	char bare[INET6_ADDRSTRLEN];
	struct in6_addr addr;
	const char *zone = memchr(at, '%', len);
	size_t bare_len = zone != NULL ? (size_t)(zone - at) : len;

	if (bare_len >= sizeof(bare) || (zone != NULL && bare_len + 1 == len))
		return false;
	memcpy(bare, at, bare_len);
	bare[bare_len] = '\0';
	return inet_pton(AF_INET6, bare, &addr) == 1;
}

/* HOST[:PORT] or [ADDRESS][:PORT]. Returns what is wrong, NULL when nothing is. */
static const char *
split_host(const char *at, size_t len, struct parts *parts)
{
	const char *colon, *closing;

	if (len > 0 && at[0] == '[') {
		closing = memchr(at, ']', len);
		if (closing == NULL)
			return "the bracket is not closed";
		parts->bracketed = true;
		parts->host = (struct part){ at + 1, (size_t)(closing - at - 1) };
		at = closing + 1;
		len -= parts->host.len + 2;
		if (len > 0 && at[0] != ':')
			return "only a port may follow the bracket";
		colon = len > 0 ? at : NULL;
	} else {
		colon = memchr(at, ':', len);
		if (colon != NULL && memchr(colon + 1, ':', len - (size_t)(colon - at) - 1)) {
			if (!is_ipv6(at, len))
				return "several colons, but no IPv6 address";
			colon = NULL;
		}
		parts->host = (struct part){ at, colon != NULL ? (size_t)(colon - at) : len };
	}
	if (colon != NULL)
		parts->port = (struct part){ colon + 1, (size_t)(at + len - colon - 1) };
	return NULL;
}

static const char *
split(const char *text, bool is_url, struct parts *parts)
{
	const char *slash = is_url ? strchr(text, '/') : NULL;
	size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
	const char *at_sign = memrchr(text, '@', len);

	if (slash != NULL && slash[1] != '\0')
		return "a path has no use here";
	if (at_sign != NULL) {
		parts->user = (struct part){ text, (size_t)(at_sign - text) };
		if (is_url && memchr(text, ':', parts->user.len) != NULL)
			return "a password does not belong into a URL";
		len -= parts->user.len + 1;
		text = at_sign + 1;
	}
	return split_host(text, len, parts);
}

static int
hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c != '\0' ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

/* A fresh copy of a part; in a URL, %41 is "A" (RFC 3986 section 2.1). NULL: a bad or zero escape. */
static char *
take(const struct part *part, bool is_url)
{
	char *copy = xb_strndup(part->at, part->len);
	char *to = copy;
	int high, low;

	for (const char *from = copy; is_url && *from != '\0'; from++) {
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		high = hex_digit(from[1]);
		low = high >= 0 ? hex_digit(from[2]) : -1;
		if (low < 0 || high * 16 + low == 0) {
			free(copy);
			return NULL;
		}
		*to++ = (char)(high * 16 + low);
		from += 2;
	}
	if (is_url)
		*to = '\0';
	return copy;
}

static const char *
check_host(const char *host, bool bracketed)
{
	if (host[0] == '\0')
		return "the host is empty";
	if (host[0] == '-')
		return "a host does not begin with '-'";
	if (strlen(host) > PART_MAX)
		return "the host is too long";
	for (const char *c = host; *c != '\0'; c++) {
		if (!isgraph((unsigned char)*c) || strchr(HOST_FORBIDDEN, *c) != NULL)
			return "the host has a character that no host name has";
	}
	/* Only brackets let a colon come this far, or a URL that spells it %3A. */
	if (strchr(host, ':') != NULL && !is_ipv6(host, strlen(host)))
		return bracketed ? "no IPv6 address in the brackets" : "a colon in the host";
	return NULL;
}

static const char *
check_user(const char *user)
{
	if (user[0] == '\0')
		return "the user is empty";
	if (user[0] == '-')
		return "a user does not begin with '-'";
	if (strlen(user) > PART_MAX)
		return "the user is too long";
	for (const char *c = user; *c != '\0'; c++) {
		if (iscntrl((unsigned char)*c))
			return "the user has a control character";
	}
	return NULL;
}

static bool
parse_port(const char *option, const struct part *part, unsigned *port, struct xb_err *err)
{
	char *what = xb_asprintf("port in %s", option);
	char *digits = xb_strndup(part->at, part->len);
	uint64_t value = 0;
	bool ok = xb_count_parse(what, digits, 1, 65535, &value, err);

	*port = (unsigned)value;
	free(digits);
	free(what);
	return ok;
}

bool
xb_hostspec_parse(const char *option, const char *text, struct xb_hostspec *out, struct xb_err *err)
{
	const bool is_url = strncasecmp(text, "ssh://", 6) == 0;
	struct parts parts = { .user = { NULL, 0 } };
	const char *why;

	*out = (struct xb_hostspec){ .user = NULL };
	why = split(is_url ? text + 6 : text, is_url, &parts);
	if (why == NULL && parts.user.at != NULL) {
		out->user = take(&parts.user, is_url);
		why = out->user != NULL ? check_user(out->user) : "a bad % escape in the user";
	}
	if (why == NULL) {
		out->host = take(&parts.host, is_url);
		why = out->host != NULL ? check_host(out->host, parts.bracketed)
					: "a bad % escape in the host";
	}
	if (why != NULL) {
		refuse(err, option, text, why);
		goto fail;
	}
	if (parts.port.at != NULL && !parse_port(option, &parts.port, &out->port, err))
		goto fail;
	return true;
fail:
	xb_hostspec_free(out);
	return false;
}

void
xb_hostspec_free(struct xb_hostspec *spec)
{
	free(spec->user);
	free(spec->host);
	*spec = (struct xb_hostspec){ .user = NULL };
}
