#ifndef XB_CLIENT_OPENSSH_PIPE_H
#define XB_CLIENT_OPENSSH_PIPE_H

#include <stddef.h>
#include <stdint.h>

#include "client/openssh_session.h"
#include "client/stream.h"

/*
 * The pipes to ssh's stdin and from its stdout, as sink and source of the stream loops. An ssh
 * that reads or writes 32 KiB at a time would wake us each time, which costs as much as a third of
 * what ssh itself needs; so we look after naps, as long as the pipe surely neither runs dry nor
 * fills up meanwhile.
 */
struct xb_openssh_pipe {
	struct xb_openssh *s;
	int fd;
	size_t size;   /* what it holds */
	bool can_lend; /* the kernel takes our pages instead of copying them */
	char *buffer;  /* of a source: what is read, and thrown away */
};

/* Widens s->in or s->out to XB_OPENSSH_PIPE_BYTES, or as far as the system lets us. */
void xb_openssh_pipe_init(struct xb_openssh_pipe *pipe, struct xb_openssh *s, int fd);
void xb_openssh_pipe_free(struct xb_openssh_pipe *pipe);

/* ctx of both is the pipe. */
struct xb_sink xb_openssh_pipe_sink(struct xb_openssh_pipe *pipe);
struct xb_source xb_openssh_pipe_source(struct xb_openssh_pipe *pipe);

#endif
