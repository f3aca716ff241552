#include "client/openssh.h"

#include <math.h>
#include <signal.h>

#include "base/clock.h"
#include "base/err.h"
#include "client/openssh_argv.h"
#include "client/openssh_parts.h"
#include "client/openssh_programs.h"
#include "client/openssh_session.h"

/* A login that has come in is taken back in an orderly way, which takes so long at the most. */
#define GOODBYE_NS XB_NS_PER_SECOND

static void
ignore(void *ctx, const char *bytes, size_t len)
{
	(void)ctx;
	(void)bytes;
	(void)len;
}

/* ssh -N: nothing is asked for that an account might refuse. */
static bool
login(const struct xb_openssh_programs *programs, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err)
{
	struct xb_openssh s = {
		.transfer = transfer,
		.outcome = outcome,
		.program = "ssh",
		.on_output = ignore,
	};
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	struct xb_openssh_argv argv = { 0 };
	int64_t deadline;
	bool ok;

	xb_openssh_argv_ssh(&argv, programs, transfer, NULL);
	ok = xb_openssh_start(&s, &argv, err) && xb_openssh_login(&s, err);
	if (ok) {
		xb_openssh_enter(&s, XB_PHASE_CLOSE);
		kill(s.pid, SIGTERM);
		deadline = xb_clock_ns() + GOODBYE_NS;
		while (!s.ended && xb_openssh_wait(&s, deadline, &ignored) == XB_IO_DONE)
			continue;
	}
	xb_openssh_close(&s);
	xb_openssh_argv_free(&argv);
	return ok;
}

static bool
transfer(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	const char *missing = xb_openssh_missing(transfer->method);
	const struct xb_openssh_programs *programs = xb_openssh_programs();

	outcome->session_cpu_seconds = NAN;
	if (missing != NULL)
		return xb_fail(err, XB_FAULT_TRIAL, "%s", missing);
	switch (transfer->method) {
	case XB_METHOD_EXEC:
		return xb_openssh_exec(programs, transfer, outcome, err);
	case XB_METHOD_SCP:
		return xb_openssh_scp(programs, transfer, outcome, err);
	case XB_METHOD_SFTP:
		return xb_openssh_sftp(programs, transfer, outcome, err);
	case XB_METHOD_LOGIN:
		return login(programs, transfer, outcome, err);
	}
	return xb_fail(err, XB_FAULT_TRIAL, "ssh has no such method");
}

static const char *
version(void)
{
	return xb_openssh_programs()->version;
}

static const char *
cannot(enum xb_method method, enum xb_direction direction)
{
	(void)direction;
	return xb_openssh_missing(method);
}

/* scp and sftp end with their file. */
static bool
sized(enum xb_method method, enum xb_direction direction)
{
	(void)direction;
	return method == XB_METHOD_SCP || method == XB_METHOD_SFTP;
}

static bool
reads_file(enum xb_method method, enum xb_direction direction)
{
	return direction == XB_UPLOAD && sized(method, direction);
}

const struct xb_client xb_client_openssh = {
	.name = "openssh",
	.label = "ssh",
	.version = version,
	.algorithms = xb_openssh_algorithms,
	.cannot = cannot,
	.sized = sized,
	.reads_file = reads_file,
	.transfer = transfer,
	.ranked = true,
};
