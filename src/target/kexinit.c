#include "target/kexinit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/offer.h"

/* RFC 4253 section 12. */
#define MSG_DISCONNECT 1
#define MSG_KEXINIT 20

/* RFC 4253 section 6: a packet has at least 16 bytes, 4 of padding among them, and is padded to 8. */
#define PACKET_MIN 16
#define PADDING_MIN 4
#define PACKET_UNIT 8

/* RFC 4253 section 7.1: the message number and the cookie come before the lists. */
#define COOKIE_BYTES 16

/* RFC 4251 section 6. */
#define ALGORITHM_NAME_MAX 64

/* How other services begin to speak, sometimes only after our identification line. */
static const struct foreign {
	const char *begin; /* of the first line, any case */
	const char *protocol;
} foreigners[] = {
	{ .begin = "HTTP/", .protocol = "HTTP" }, { .begin = "<html", .protocol = "HTTP" },
	{ .begin = "<!doctype", .protocol = "HTTP" }, { .begin = "\x15\x03", .protocol = "TLS" },
	{ .begin = "RFB 0", .protocol = "VNC" },
	{ .begin = "220 ", .protocol = "something else" }, /* SMTP, FTP */
	{ .begin = "220-", .protocol = "something else" },
	{ .begin = "+OK", .protocol = "something else" },  /* POP3 */
	{ .begin = "* OK", .protocol = "something else" }, /* IMAP */
	{ .begin = "-ERR", .protocol = "something else" }, /* Redis */
};

/* What is left to read of the bytes. */
struct reader {
	const unsigned char *at;
	size_t left;
};

static enum xb_kexinit_state
bad_line(struct xb_err *err, const char *what, const struct reader *line)
{
	char shown[120];

	xb_text_printable(shown, sizeof(shown), line->at, line->left);
	xb_fail(err, XB_FAULT_TARGET, "%s: '%s'", what, shown);
	return XB_KEXINIT_BAD;
}

static bool
take(struct reader *from, size_t len, struct reader *taken)
{
	if (len > from->left)
		return false;
	*taken = (struct reader){ from->at, len };
	from->at += len;
	from->left -= len;
	return true;
}

static bool
take_u32(struct reader *from, uint32_t *value)
{
	struct reader four;

	if (!take(from, 4, &four))
		return false;
	*value = (uint32_t)four.at[0] << 24 | (uint32_t)four.at[1] << 16 |
	    (uint32_t)four.at[2] << 8 | four.at[3];
	return true;
}

static bool
begins(const struct reader *line, const char *text)
{
	size_t len = strlen(text);

	return line->left >= len && strncasecmp((const char *)line->at, text, len) == 0;
}

/* The first line of a server that does not speak SSH is worth more than its silence later. */
static const char *
foreign_protocol(const struct reader *line)
{
	for (size_t i = 0; i < sizeof(foreigners) / sizeof(foreigners[0]); i++) {
		if (begins(line, foreigners[i].begin))
			return foreigners[i].protocol;
	}
	return NULL;
}

/* One whole line or what there is of it; complete tells which. The line end is taken as well. */
static struct reader
take_line(struct reader *from, bool *complete)
{
	const unsigned char *end = from->left > 0 ? memchr(from->at, '\n', from->left) : NULL;
	struct reader line = { from->at, from->left };

	*complete = end != NULL;
	if (end != NULL)
		take(from, (size_t)(end - from->at) + 1, &line);
	return line;
}

static enum xb_kexinit_state
check_ident(const struct reader *line, bool complete, struct xb_err *err)
{
	if (line->left > XB_IDENT_MAX || (!complete && line->left == XB_IDENT_MAX))
		return bad_line(err, "its identification line is longer than SSH allows", line);
	if (memchr(line->at, '\0', line->left) != NULL)
		return bad_line(err, "its identification line has a NUL byte", line);
	if (!complete)
		return XB_KEXINIT_MORE;
	if (begins(line, "SSH-2.0-") || begins(line, "SSH-1.99-"))
		return XB_KEXINIT_DONE;
	if (begins(line, "SSH-1."))
		return bad_line(err, "speaks SSH 1 only, which nothing here can use", line);
	return bad_line(err, "speaks an unknown version of SSH", line);
}

/* Passes over the lines before the identification, then takes that (RFC 4253 section 4.2). */
static enum xb_kexinit_state
take_ident(struct reader *from, struct reader *ident, struct xb_err *err)
{
	const unsigned char *start = from->at;
	const char *protocol;
	char what[64];
	bool complete;

	for (unsigned lines = 0; lines <= XB_IDENT_LINES_MAX; lines++) {
		*ident = take_line(from, &complete);
		if (ident->left >= 4 && memcmp(ident->at, "SSH-", 4) == 0)
			return check_ident(ident, complete, err);
		protocol = lines == 0 ? foreign_protocol(ident) : NULL;
		/* Worth to wait for the whole line, which is shown; binary ones have no end. */
		if (protocol != NULL && (complete || memchr(ident->at, '\0', ident->left))) {
			snprintf(what, sizeof(what), "speaks %s, not SSH", protocol);
			return bad_line(err, what, ident);
		}
		if (ident->left > 0 && memchr(ident->at, '\0', ident->left) != NULL)
			return bad_line(err, "speaks something binary, not SSH", ident);
		if ((size_t)(ident->at - start) + ident->left > XB_IDENT_BYTES_MAX)
			break;
		if (!complete)
			return XB_KEXINIT_MORE;
	}
	return bad_line(err, "says too much before any SSH identification, at last", ident);
}

/* SSH_MSG_DISCONNECT in place of KEXINIT, RFC 4253 section 11.1: its description is for people. */
static enum xb_kexinit_state
bad_disconnect(struct reader *payload, struct xb_err *err)
{
	struct reader text = { payload->at, 0 };
	uint32_t code, len;

	if (take_u32(payload, &code) && take_u32(payload, &len))
		take(payload, len, &text);
	return bad_line(err, "disconnected before key exchange", &text);
}

/*
 * The first binary packet, RFC 4253 section 6: length, padding length, payload, padding; no MAC yet.
 * Each field is judged as soon as it is there, so that a lie is not waited for.
 */
static enum xb_kexinit_state
take_packet(struct reader *from, struct reader *payload, struct xb_err *err)
{
	uint32_t length;
	unsigned padding, message;

	if (!take_u32(from, &length))
		return XB_KEXINIT_MORE;
	if (length > XB_KEXINIT_MAX - 4 || length + 4 < PACKET_MIN ||
	    (length + 4) % PACKET_UNIT != 0) {
		xb_fail(err, XB_FAULT_TARGET,
		    "its first packet says that it has %u bytes, which no KEXINIT has", length);
		return XB_KEXINIT_BAD;
	}
	if (from->left < 1)
		return XB_KEXINIT_MORE;
	padding = from->at[0];
	if (padding < PADDING_MIN || padding + 2 > length) {
		xb_fail(err, XB_FAULT_TARGET,
		    "its first packet of %u bytes says that %u of them are padding", length,
		    padding);
		return XB_KEXINIT_BAD;
	}
	if (from->left < 2)
		return XB_KEXINIT_MORE;
	message = from->at[1];
	if (message != MSG_KEXINIT && message != MSG_DISCONNECT) {
		xb_fail(err, XB_FAULT_TARGET,
		    "its first packet is message %u, where KEXINIT (%d) has to come", message,
		    MSG_KEXINIT);
		return XB_KEXINIT_BAD;
	}
	if (from->left < length)
		return XB_KEXINIT_MORE;
	*payload = (struct reader){ from->at + 2, length - padding - 2 };
	return message == MSG_KEXINIT ? XB_KEXINIT_DONE : bad_disconnect(payload, err);
}

static bool
is_name(const struct reader *name)
{
	for (size_t i = 0; i < name->left; i++) {
		if (name->at[i] <= 0x20 || name->at[i] >= 0x7f)
			return false;
	}
	return name->left <= ALGORITHM_NAME_MAX;
}

/* Splits a name-list (RFC 4251 section 5) at its commas. Empty names, which some servers send, are
 * passed over, as ssh does. */
static bool
split_names(const char *what, struct reader text, struct xb_namelist *list, size_t *total,
    struct xb_err *err)
{
	struct reader name = { NULL, 0 };
	const unsigned char *comma;
	char shown[80];

	while (text.left > 0) {
		comma = memchr(text.at, ',', text.left);
		take(&text, comma != NULL ? (size_t)(comma - text.at) : text.left, &name);
		if (comma != NULL)
			take(&text, 1, &(struct reader){ NULL, 0 });
		if (name.left == 0)
			continue;
		if (!is_name(&name)) {
			xb_text_printable(shown, sizeof(shown), name.at, name.left);
			return xb_fail(err, XB_FAULT_TARGET,
			    "its KEXINIT: '%s' among the %s is no algorithm name", shown, what);
		}
		if (++*total > XB_KEXINIT_NAMES_MAX)
			return xb_fail(err, XB_FAULT_TARGET, "its KEXINIT has more than %d names",
			    XB_KEXINIT_NAMES_MAX);
		xb_namelist_add(list, (const char *)name.at, name.left);
	}
	return true;
}

/* The payload after the message number, RFC 4253 section 7.1. */
static bool
parse_kexinit(struct reader payload, struct xb_offer *offer, struct xb_err *err)
{
	const struct {
		const char *what;
		struct xb_namelist *list; /* NULL: of no interest, the languages */
	} lists[] = {
		{ .what = "key exchange methods", .list = &offer->kex },
		{ .what = "host key types", .list = &offer->hostkeys },
		{ .what = "ciphers to the server", .list = &offer->ciphers_up },
		{ .what = "ciphers from the server", .list = &offer->ciphers_down },
		{ .what = "MACs to the server", .list = &offer->macs_up },
		{ .what = "MACs from the server", .list = &offer->macs_down },
		{ .what = "compressions to the server", .list = &offer->compression_up },
		{ .what = "compressions from the server", .list = &offer->compression_down },
		{ .what = "languages to the server", .list = NULL },
		{ .what = "languages from the server", .list = NULL },
	};
	struct reader text, rest;
	size_t total = 0;
	uint32_t len;

	if (!take(&payload, COOKIE_BYTES, &rest))
		return xb_fail(err, XB_FAULT_TARGET, "its KEXINIT ends within the cookie");
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (!take_u32(&payload, &len))
			return xb_fail(err, XB_FAULT_TARGET, "its KEXINIT ends before the %s",
			    lists[i].what);
		if (!take(&payload, len, &text))
			return xb_fail(err, XB_FAULT_TARGET,
			    "its KEXINIT says %u bytes of %s, but only %zu are left", len,
			    lists[i].what, payload.left);
		if (lists[i].list != NULL &&
		    !split_names(lists[i].what, text, lists[i].list, &total, err))
			return false;
	}
	/* first_kex_packet_follows, and a number that is reserved. */
	if (!take(&payload, 1 + 4, &rest))
		return xb_fail(err, XB_FAULT_TARGET, "its KEXINIT ends after the lists");
	if (payload.left > 0)
		return xb_fail(err, XB_FAULT_TARGET, "its KEXINIT has %zu bytes after its end",
		    payload.left);
	return true;
}

enum xb_kexinit_state
xb_kexinit_parse(const void *bytes, size_t len, struct xb_offer *offer, struct xb_err *err)
{
	struct reader from = { bytes, len };
	struct reader ident, payload;
	enum xb_kexinit_state state;
	char banner[XB_IDENT_MAX * 4 + 1]; /* every byte can become \xNN */

	state = take_ident(&from, &ident, err);
	if (state != XB_KEXINIT_DONE)
		return state;
	state = take_packet(&from, &payload, err);
	if (state != XB_KEXINIT_DONE)
		return state;
	if (!parse_kexinit(payload, offer, err)) {
		xb_offer_free(offer);
		*offer = (struct xb_offer){ .banner = NULL };
		return XB_KEXINIT_BAD;
	}
	xb_text_printable(banner, sizeof(banner), ident.at, ident.left);
	offer->banner = xb_strdup(banner);
	return XB_KEXINIT_DONE;
}
