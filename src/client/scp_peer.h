#ifndef XB_CLIENT_SCP_PEER_H
#define XB_CLIENT_SCP_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct xb_err;

/*
 * The far side of method scp, as its words come over the channel: scp's old protocol of replies (a
 * zero byte, or 1 or 2 and a line of text) and of the line that announces a file ("C0644 1000
 * name"). The commands never have -p (as root it changes the mode of /dev/null). Nothing here moves
 * bytes.
 *
 * An upload, scp -t: reply; xb_scp_announce's line; reply, the ready line; the bytes and a zero
 * byte; reply, the end line. A download, scp -f: our zero byte; the file's line, the ready line;
 * our zero byte; the bytes, the end line; the reply to come behind them tells of errors.
 */
struct xb_scp_peer {
	char *command;      /* to execute */
	bool sends;         /* scp -f: the far side has the file */
	unsigned replies;   /* good ones so far */
	bool has_file;      /* the file's line was seen: */
	uint64_t file_size; /* its length */
	bool refused;       /* a reply was an error; said is its text */
	char said[200];     /* an error, or the last line of stderr, printable: a reason */
	char printed[200];  /* what came first and is no protocol, printable; "": nothing */
	struct xb_last_line complaint; /* of its stderr */
	char line[512];
	size_t line_len;
};

/* For an upload to /dev/null. Free with _free. */
void xb_scp_peer_init_upload(struct xb_scp_peer *peer);

/* For a download of a file of any name. */
void xb_scp_peer_init_download(struct xb_scp_peer *peer, const char *file);
void xb_scp_peer_free(struct xb_scp_peer *peer);

/* The line that announces an upload of so many bytes, "C0644 1000 null\n"; fresh. */
char *xb_scp_announce(uint64_t size);

/* Takes what came from its stdout, but for the file's bytes. */
void xb_scp_peer_feed(struct xb_scp_peer *peer, const char *bytes, size_t len);

/* Takes what came from its stderr: only kept as a reason. */
void xb_scp_peer_complain(struct xb_scp_peer *peer, const char *bytes, size_t len);

/* What it said that may be a reason, "" for nothing; borrowed. */
const char *xb_scp_peer_words(const struct xb_scp_peer *peer);

/*
 * True while nothing speaks against it. False with err set (XB_FAULT_TRIAL): the far side refused,
 * or its profile prints before scp speaks, which breaks scp for everybody.
 */
bool xb_scp_peer_check(const struct xb_scp_peer *peer, struct xb_err *err);

/*
 * The far side has ended although it had more to say: did it ever start? Always false, with err
 * set.
 */
bool xb_scp_peer_ended(const struct xb_scp_peer *peer, struct xb_err *err);

#endif
