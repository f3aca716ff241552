#include "client/openssh_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* How a line begins, and what it tells: of the time before the command is sent. */
static const struct mark {
	const char *prefix;
	enum xb_openssh_event event;
} login_marks[] = {
	{ "debug1: Connecting to ", XB_OPENSSH_CONNECTING },
	{ "debug1: Executing proxy command: ", XB_OPENSSH_PROXY },
	{ "debug1: Executing proxy dialer command: ", XB_OPENSSH_PROXY },
	{ "debug1: Connection established.", XB_OPENSSH_CONNECTED },
	{ "debug1: Remote protocol version ", XB_OPENSSH_VERSION },
	{ "debug1: SSH2_MSG_NEWKEYS received", XB_OPENSSH_KEYED },
	{ "Authenticated to ", XB_OPENSSH_LOGGED_IN },
	{ "debug1: Sending command: ", XB_OPENSSH_SENT },
	{ "debug1: Sending subsystem: ", XB_OPENSSH_SENT },
};

/* And afterwards. */
static const struct mark transfer_marks[] = {
	{ "Sending file modes: C", XB_OPENSSH_FILE_OUT },
	{ "Sink: C", XB_OPENSSH_FILE_IN },
	{ "debug1: client_input_channel_req: channel 0 rtype exit-status ",
	    XB_OPENSSH_EXIT_STATUS },
};

/* How lines begin that are no reason for anything. */
static const char *const chatter[] = { "debug1: ", "debug2: ", "debug3: ", "scp: debug", "OpenSSH_",
	"Authenticated to ", "Transferred: ", "Bytes per second: ", "Executing: ", "Sink: ",
	"Sending file modes: ", "Warning: Permanently added ", "remote fsetstat: Bad message",
	"** " };

/* Whole lines that follow upon a reason: they are one only where there is no other. */
static const char *const poor[] = { "lost connection", "Connection closed", "Connection closed.",
	"scp: Connection closed", "Host key verification failed.", "Broken pipe",
	"client_loop: send disconnect: Broken pipe",
	"Couldn't read packet: Connection reset by peer" };

static bool
begins(const char *line, const char *prefix)
{
	return strncmp(line, prefix, strlen(prefix)) == 0;
}

static void
tell(struct xb_openssh_log *log, enum xb_openssh_event event)
{
	log->on_event(log->ctx, event);
}

/* Copies the word behind a label of the line; "" when it is not there. */
static void
copy_word(char *out, const char *line, const char *label)
{
	const char *word = strstr(line, label);

	out[0] = '\0';
	if (word == NULL)
		return;
	word += strlen(label);
	xb_text_printable(out, XB_NAME_MAX, word, strcspn(word, " "));
}

/* "debug1: kex: server->client cipher: X MAC: Y compression: Z", Y being <implicit> with AEAD. */
static void
take_suite(const char *line, char *cipher, char *mac, char *compression)
{
	copy_word(cipher, line, "cipher: ");
	copy_word(mac, line, " MAC: ");
	copy_word(compression, line, " compression: ");
	if (strcmp(mac, "<implicit>") == 0)
		mac[0] = '\0';
}

/* Rekeying says the same again: what counts is what the session began with. */
static void
take_kex(struct xb_openssh_log *log, const char *rest)
{
	struct xb_negotiated *up = &log->negotiated;

	if (begins(rest, "algorithm: ")) {
		log->keyed = false;
		copy_word(up->kex, rest, "algorithm: ");
		tell(log, XB_OPENSSH_PROPOSED);
	} else if (begins(rest, "host key algorithm: ")) {
		copy_word(up->hostkey, rest, "host key algorithm: ");
	} else if (begins(rest, "client->server ")) {
		take_suite(rest, up->cipher, up->mac, up->compression);
	} else if (begins(rest, "server->client ")) {
		take_suite(rest, log->cipher_down, log->mac_down, log->compression_down);
	}
}

static void
take_words(struct xb_openssh_log *log, const char *line)
{
	bool is_poor = false;
	size_t i;

	for (i = 0; i < sizeof(chatter) / sizeof(chatter[0]); i++)
		if (begins(line, chatter[i]))
			return;
	for (i = 0; i < sizeof(poor) / sizeof(poor[0]); i++)
		is_poor = is_poor || strcmp(line, poor[i]) == 0;
	if (line[0] == '\0' || (is_poor && log->words[0] != '\0' && !log->words_are_poor))
		return;
	xb_text_printable(log->words, sizeof(log->words), line, strlen(line));
	log->words_are_poor = is_poor;
}

static void
take_marks(struct xb_openssh_log *log, const char *line, const struct mark *marks, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!begins(line, marks[i].prefix))
			continue;
		/* What was said before, such as a banner, explains nothing that comes after. */
		if (marks[i].event == XB_OPENSSH_LOGGED_IN)
			log->words[0] = '\0';
		log->sent = log->sent || marks[i].event == XB_OPENSSH_SENT;
		/* Only the first: rekeying has it too. */
		if (marks[i].event == XB_OPENSSH_KEYED && log->keyed)
			continue;
		log->keyed = log->keyed || marks[i].event == XB_OPENSSH_KEYED;
		tell(log, marks[i].event);
	}
}

/* "Transferred: sent 3488, received 3344 bytes, in 0.6 seconds". */
static void
take_totals(struct xb_openssh_log *log, const char *line)
{
	static const char begin[] = "Transferred: sent ", middle[] = ", received ";
	char *after;

	if (!begins(line, begin))
		return;
	log->wire_sent = strtoull(line + strlen(begin), &after, 10);
	if (begins(after, middle))
		log->wire_received = strtoull(after + strlen(middle), NULL, 10);
}

/*
 * Of scp -v: "scp: debug1: fd 4 clearing O_NONBLOCK", said behind the last byte of a file. The far
 * side's scp says it too, of its descriptors 0 and 1 then, and of another one before it begins.
 */
static bool
is_data_end(const char *line)
{
	static const char begin[] = "scp: debug1: fd ", end[] = " clearing O_NONBLOCK";
	char *after;

	return begins(line, begin) && strtol(line + strlen(begin), &after, 10) > 2 &&
	    strcmp(after, end) == 0;
}

static void
take_line(struct xb_openssh_log *log)
{
	static const char kex[] = "debug1: kex: ", sink[] = "Sink: C",
			  status[] = "debug1: Exit status ";
	const char *line = log->line, *size;

	while (log->line_len > 0 && log->line[log->line_len - 1] == '\r')
		log->line_len--;
	log->line[log->line_len] = '\0';
	take_words(log, line);
	if (!log->sent) {
		if (begins(line, kex))
			take_kex(log, line + strlen(kex));
		else
			take_marks(log, line, login_marks,
			    sizeof(login_marks) / sizeof(login_marks[0]));
		return;
	}
	/* scp's protocol: the letter C, a mode, the length, a name. */
	if (begins(line, sink) && (size = strchr(line + strlen(sink), ' ')) != NULL) {
		log->file_bytes = strtoull(size, NULL, 10);
		log->has_file = true;
	}
	take_totals(log, line);
	if (begins(line, status))
		log->exit_status = (int)strtol(line + strlen(status), NULL, 10);
	take_marks(log, line, transfer_marks, sizeof(transfer_marks) / sizeof(transfer_marks[0]));
	if (log->has_file && is_data_end(line))
		tell(log, XB_OPENSSH_DATA_END);
	if (begins(line, "debug2: nchan.c:") && strstr(line, ": input open -> drain") != NULL)
		tell(log, XB_OPENSSH_INPUT_END);
}

void
xb_openssh_log_feed(struct xb_openssh_log *log, const char *bytes, size_t len)
{
	const char *end = bytes + len, *line_end;
	size_t part, room;

	for (; bytes < end; bytes = line_end + 1) {
		line_end = memchr(bytes, '\n', (size_t)(end - bytes));
		part = (size_t)((line_end != NULL ? line_end : end) - bytes);
		room = sizeof(log->line) - 1 - log->line_len;
		memcpy(log->line + log->line_len, bytes, part < room ? part : room);
		log->line_len += part < room ? part : room;
		if (line_end == NULL)
			return;
		take_line(log);
		log->line_len = 0;
	}
}

void
xb_openssh_log_end(struct xb_openssh_log *log)
{
	if (log->line_len > 0)
		take_line(log);
	log->line_len = 0;
}
