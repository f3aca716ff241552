#ifndef XB_CLIENT_OPENSSH_LOG_H
#define XB_CLIENT_OPENSSH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"

/*
 * What ssh's debug output tells, line by line. A proxy that is an ssh may tell its own story
 * first.
 */
enum xb_openssh_event {
	XB_OPENSSH_CONNECTING, /* the address is known */
	XB_OPENSSH_PROXY,      /* a program connects in its stead */
	XB_OPENSSH_CONNECTED,  /* by TCP */
	XB_OPENSSH_VERSION,    /* the server has identified itself */
	XB_OPENSSH_PROPOSED,   /* the first key exchange has begun */
	XB_OPENSSH_KEYED,      /* and is done, the host key accepted */
	XB_OPENSSH_LOGGED_IN,
	XB_OPENSSH_SENT,        /* the command or the subsystem; what comes before is over */
	XB_OPENSSH_FILE_OUT,    /* scp, ours or the far side's, sends a file's header */
	XB_OPENSSH_FILE_IN,     /* scp, ours or the far side's, has got one */
	XB_OPENSSH_DATA_END,    /* our scp has moved the last byte of a file */
	XB_OPENSSH_INPUT_END,   /* our scp wants nothing more of the far side */
	XB_OPENSSH_EXIT_STATUS, /* the far side's program has ended */
};

/* Made all-zero but for on_event and ctx. */
struct xb_openssh_log {
	void (*on_event)(void *ctx, enum xb_openssh_event event);
	void *ctx;
	struct xb_negotiated negotiated; /* of the first key exchange, client to server */
	char cipher_down[XB_NAME_MAX];   /* and server to client */
	char mac_down[XB_NAME_MAX];
	char compression_down[XB_NAME_MAX];
	uint64_t file_bytes; /* as the last FILE_IN told */
	char words[200]; /* the last line that is no debug output: a reason; printable, "" none */
	int exit_status; /* of the far side's program, or what ssh makes of it; 0: not told yet */
	bool words_are_poor; /* it only says that something went wrong */
	uint64_t wire_sent,
	    wire_received; /* by the whole session, as ssh told at its end; 0: not yet */
	bool sent;         /* SENT was told */
	bool keyed;        /* KEYED was told since PROPOSED */
	bool has_file;     /* FILE_IN was told */
	char line[1024];
	size_t line_len;
};

/* Takes what came from stderr; bounded in memory, whatever comes. */
void xb_openssh_log_feed(struct xb_openssh_log *log, const char *bytes, size_t len);

/* Takes what is left without a line end, once nothing more comes. */
void xb_openssh_log_end(struct xb_openssh_log *log);

#endif
