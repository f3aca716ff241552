#include "client/scp_peer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

/*
 * A mode that the owner may write with: another one would be set on /dev/null, and then set back.
 */
#define ANNOUNCE "C0644 %" PRIu64 " null\n"

void
xb_scp_peer_init_upload(struct xb_scp_peer *peer)
{
	memset(peer, 0, sizeof(*peer));
	peer->command = xb_strdup("scp -t /dev/null");
}

/*
 * A backslash before all but plain letters: sh, csh and fish take each of these characters
 * literally then, and an account that is restricted to scp sees its usual command. A line end alone
 * needs quotes.
 */
static char *
quoted(const char *file)
{
	char *text;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	for (const char *c = file; *c != '\0'; c++) {
		if (*c == '\n')
			fputs("'\n'", out);
		else if (isalnum((unsigned char)*c) || (*c & 0x80) != 0 ||
		    strchr("/._-", *c) != NULL)
			fputc(*c, out);
		else
			fprintf(out, "\\%c", *c);
	}
	xb_memstream_close(out);
	return text;
}

void
xb_scp_peer_init_download(struct xb_scp_peer *peer, const char *file)
{
	char *text = quoted(file);

	memset(peer, 0, sizeof(*peer));
	peer->sends = true;
	/* A leading dash is no option. */
	peer->command = xb_asprintf("scp -f %s%s", file[0] == '-' ? "./" : "", text);
	free(text);
}

void
xb_scp_peer_free(struct xb_scp_peer *peer)
{
	free(peer->command);
	peer->command = NULL;
}

char *
xb_scp_announce(uint64_t size)
{
	return xb_asprintf(ANNOUNCE, size);
}

/* "C0644 1000 name". */
static bool
take_file(struct xb_scp_peer *peer)
{
	char *end;

	if (!peer->sends || peer->line[0] != 'C' || strspn(peer->line + 1, "01234567") != 4 ||
	    peer->line[5] != ' ' || !isdigit((unsigned char)peer->line[6]))
		return false;
	peer->file_size = strtoull(peer->line + 6, &end, 10);
	peer->has_file = *end == ' ';
	return peer->has_file;
}

/* What came before a reply or up to a line end. */
static void
take_line(struct xb_scp_peer *peer)
{
	peer->line[peer->line_len] = '\0';
	if (peer->line[0] == '\1' || peer->line[0] == '\2') {
		/* The first one is the reason of those behind it. */
		if (!peer->refused)
			xb_text_printable(peer->said, sizeof(peer->said), peer->line + 1,
			    peer->line_len - 1);
		peer->refused = true;
	} else if (peer->line_len > 0 && !take_file(peer)) {
		if (peer->printed[0] == '\0')
			xb_text_printable(peer->printed, sizeof(peer->printed), peer->line,
			    peer->line_len);
	}
	peer->line_len = 0;
}

void
xb_scp_peer_feed(struct xb_scp_peer *peer, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len && !peer->refused; i++) {
		if (bytes[i] == '\0') {
			take_line(peer);
			peer->replies++;
		} else if (bytes[i] == '\n') {
			/* An empty line is in scp's way as well. */
			if (peer->line_len == 0 && peer->printed[0] == '\0')
				snprintf(peer->printed, sizeof(peer->printed), "\\n");
			take_line(peer);
		} else if (peer->line_len + 1 < sizeof(peer->line)) {
			peer->line[peer->line_len++] = bytes[i];
		}
	}
}

void
xb_scp_peer_complain(struct xb_scp_peer *peer, const char *bytes, size_t len)
{
	char last[sizeof(peer->said)];

	xb_last_line_add(&peer->complaint, bytes, len);
	xb_last_line_get(&peer->complaint, last, sizeof(last));
	if (last[0] != '\0' && !peer->refused)
		snprintf(peer->said, sizeof(peer->said), "%s", last);
}

bool
xb_scp_peer_check(const struct xb_scp_peer *peer, struct xb_err *err)
{
	if (peer->refused)
		return xb_fail(err, XB_FAULT_TRIAL, "the far side's scp failed%s%s",
		    peer->said[0] != '\0' ? ": " : "", peer->said);
	/* Text alone may be the farewell of an account without a shell: its end tells. */
	if (peer->printed[0] != '\0' && (peer->replies > 0 || peer->has_file))
		return xb_fail(err, XB_FAULT_TRIAL,
		    "the far side printed \"%s\" before scp answered, which breaks scp",
		    peer->printed);
	return true;
}

const char *
xb_scp_peer_words(const struct xb_scp_peer *peer)
{
	return peer->said[0] != '\0' ? peer->said : peer->printed;
}

bool
xb_scp_peer_ended(const struct xb_scp_peer *peer, struct xb_err *err)
{
	const char *words = xb_scp_peer_words(peer);

	if (!xb_scp_peer_check(peer, err))
		return false;
	return xb_fail(err, XB_FAULT_TRIAL, "scp on the far side %s%s%s",
	    peer->replies > 0 || peer->has_file ? "ended early" : "did not start",
	    words[0] != '\0' ? "; it said: " : "", words);
}
