#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "client/openssh_argv.h"
#include "client/openssh_copy.h"
#include "client/openssh_parts.h"
#include "client/openssh_session.h"

/* How sftp shows a command before it runs it, and what it answers to pwd. */
#define ECHO "sftp> "
#define ANSWER "Remote working directory: "

/* Its commands come through a pipe, so that the transfer begins when the clock does. */
struct sftp {
	struct xb_openssh s;
	char *first; /* a command that the far side has to answer */
	char *copy;  /* put or get, and a last command: it is shown when the copy is done */
	bool answered;
	unsigned shown; /* commands so far */
	uint64_t listed;
	char line[1024];
	size_t len;
};

static void
take_line(struct sftp *sftp)
{
	sftp->line[sftp->len] = '\0';
	if (strncmp(sftp->line, ECHO, strlen(ECHO)) == 0)
		sftp->shown++;
	else if (strncmp(sftp->line, ANSWER, strlen(ANSWER)) == 0)
		sftp->answered = true;
	else if (sftp->shown == 3 && sftp->listed == 0)
		sftp->listed = xb_openssh_listed_size(sftp->line);
}

static void
feed(void *ctx, const char *bytes, size_t len)
{
	struct sftp *sftp = ctx;

	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n') {
			take_line(sftp);
			sftp->len = 0;
		} else if (sftp->len + 1 < sizeof(sftp->line)) {
			sftp->line[sftp->len++] = bytes[i];
		}
	}
}

/* Never with -p. What is listed tells whether the file still has its length. */
static bool
make_commands(struct sftp *sftp, const char *file, struct xb_err *err)
{
	char *name = xb_openssh_quote(file);

	if (name == NULL)
		return xb_fail(err, XB_FAULT_TRIAL,
		    "sftp cannot name a file with a line end in its name");
	sftp->first = xb_strdup("pwd\n");
	if (sftp->s.transfer->direction == XB_UPLOAD)
		sftp->copy = xb_asprintf("put %s /dev/null\npwd\n", name);
	else
		sftp->copy = xb_asprintf("get %s /dev/null\nls -ln %s\n", name, name);
	free(name);
	return true;
}

/* The pipe holds more than any command. */
static bool
say(struct sftp *sftp, const char *commands, struct xb_err *err)
{
	if (xb_write_all(sftp->s.in, commands, strlen(commands)) >= 0)
		return true;
	/* It is about to end, and will tell why. */
	return xb_openssh_await_exit(&sftp->s, err) && xb_openssh_fail_ended(&sftp->s, err);
}

static bool
has_answered(void *ctx)
{
	const struct sftp *sftp = ctx;

	return sftp->answered;
}

/* The third command: it is shown behind the last status of the copy, and before its own. */
static bool
is_over(void *ctx)
{
	const struct sftp *sftp = ctx;

	return sftp->shown >= 3;
}

/* What the far side says that its file has, and no more than has been written here. */
static uint64_t
received(const struct sftp *sftp, uint64_t written)
{
	return written > 0 && written < sftp->listed ? written : sftp->listed;
}

static bool
run(struct sftp *sftp, uint64_t size, struct xb_err *err)
{
	struct xb_openssh *s = &sftp->s;
	uint64_t written;

	xb_openssh_enter(s, XB_PHASE_EXEC);
	if (!say(sftp, sftp->first, err) ||
	    !xb_openssh_await(s, has_answered, sftp, "no answer from the far side's sftp-server",
		err) ||
	    !xb_openssh_ready(s, err) || !say(sftp, sftp->copy, err) ||
	    !xb_openssh_copy(s, is_over, sftp, size, err))
		return false;
	/* While it lives: afterwards only root may ask. */
	written = xb_openssh_watch_copied(&s->watch, XB_DOWNLOAD);
	close(s->in);
	s->in = -1;
	if (!xb_openssh_await_exit(s, err))
		return false;
	return xb_openssh_copied(s, size,
	    s->transfer->direction == XB_DOWNLOAD ? received(sftp, written) : 0, err);
}

bool
xb_openssh_sftp(const struct xb_openssh_programs *programs, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	struct sftp sftp = { .s = { .transfer = transfer,
				 .outcome = outcome,
				 .program = "sftp",
				 .on_output = feed,
				 .output_ctx = &sftp } };
	struct xb_openssh_argv argv = { 0 };
	const char *file = transfer->remote_file;
	uint64_t size = transfer->remote_bytes;
	bool ok;

	if (transfer->direction == XB_UPLOAD)
		file = xb_openssh_file(transfer, &size, err);
	else if (file == NULL)
		xb_fail(err, XB_FAULT_TRIAL, "sftp has no file to download");
	if (file == NULL)
		return false;
	xb_openssh_argv_sftp(&argv, programs, transfer);
	ok = make_commands(&sftp, file, err) && xb_openssh_start(&sftp.s, &argv, err) &&
	    xb_openssh_login(&sftp.s, err) && run(&sftp, size, err);
	xb_openssh_close(&sftp.s);
	xb_openssh_argv_free(&argv);
	free(sftp.first);
	free(sftp.copy);
	return ok;
}
