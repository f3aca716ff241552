#include "client/openssh_programs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/namelist.h"

/* A program that only tells of itself is done in milliseconds. */
#define ASK_NS (5 * XB_NS_PER_SECOND)

#define NO_SSH "there is no ssh in PATH: install openssh-client"
#define NO_SCP "there is no scp in PATH: install openssh-client"
#define NO_SFTP "there is no sftp in PATH: install openssh-client"

/* Where SessionType and its like came in: OpenSSH 8.7. */
#define OPTIONS_MAJOR 8
#define OPTIONS_MINOR 7

bool
xb_openssh_parse_version(const char *answer, char *version, size_t size, bool *newer)
{
	static const char name[] = "OpenSSH_";
	const char *start = strstr(answer, name);
	unsigned long major, minor;
	char *end;

	version[0] = '\0';
	*newer = false;
	if (start == NULL)
		return false;
	start += strlen(name);
	xb_text_printable(version, size, start, strcspn(start, " ,\r\n"));
	major = strtoul(version, &end, 10);
	minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	*newer = major > OPTIONS_MAJOR || (major == OPTIONS_MAJOR && minor >= OPTIONS_MINOR);
	return version[0] != '\0';
}

bool
xb_openssh_parse_usage(const char *usage)
{
	const char *flags = strstr(usage, "scp [-");
	const char *option = flags != NULL ? strchr(flags, 'O') : NULL;

	return option != NULL && option < strchrnul(flags, ']');
}

/* What a program says of itself; "" when it cannot be asked. */
static void
ask(const char *const *argv, char *out, size_t size)
{
	struct xb_err ignored = { .fault = XB_FAULT_NONE };
	int status;

	if (!xb_child_capture(argv, ASK_NS, out, size, &status, &ignored))
		out[0] = '\0';
}

const struct xb_openssh_programs *
xb_openssh_programs(void)
{
	/* Written once, by whoever asks first; a forked trial has its parent's. */
	static struct xb_openssh_programs programs;
	static bool known;
	char answer[2000];

	if (known)
		return &programs;
	known = true;
	programs.ssh = xb_child_find_program("ssh");
	programs.scp = xb_child_find_program("scp");
	programs.sftp = xb_child_find_program("sftp");
	if (programs.ssh != NULL) {
		ask((const char *const[]){ programs.ssh, "-V", NULL }, answer, sizeof(answer));
		xb_openssh_parse_version(answer, programs.version, sizeof(programs.version),
		    &programs.session_options);
	}
	if (programs.scp != NULL) {
		ask((const char *const[]){ programs.scp, NULL }, answer, sizeof(answer));
		programs.rcp_option = xb_openssh_parse_usage(answer);
	}
	return &programs;
}

const char *
xb_openssh_missing(enum xb_method method)
{
	const struct xb_openssh_programs *programs = xb_openssh_programs();

	if (programs->ssh == NULL)
		return NO_SSH;
	if (method == XB_METHOD_SCP && programs->scp == NULL)
		return NO_SCP;
	if (method == XB_METHOD_SFTP && programs->sftp == NULL)
		return NO_SFTP;
	return NULL;
}

/* One name a line. False with err set when there is no answer, or one that is no list. */
static bool
query(const char *what, struct xb_namelist *names, struct xb_err *err)
{
	const char *const argv[] = { xb_openssh_programs()->ssh, "-Q", what, NULL };
	char answer[8192], said[160], how[80];
	const char *line;
	size_t len, printable;
	int status;

	if (!xb_child_capture(argv, ASK_NS, answer, sizeof(answer), &status, err))
		return false;
	if (status != 0) {
		xb_child_status_text(how, sizeof(how), status);
		xb_text_last_line(said, sizeof(said), answer, strlen(answer));
		return xb_fail(err, XB_FAULT_SYSTEM, "ssh -Q %s: %s%s%s", what, how,
		    said[0] != '\0' ? ": " : "", said);
	}
	for (line = answer; *line != '\0'; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		/* Names are letters, digits and signs, RFC 4250 section 4.6.1. */
		for (printable = 0; printable < len && isgraph((unsigned char)line[printable]);)
			printable++;
		if (len > 0 && printable == len)
			xb_namelist_add(names, line, len);
	}
	return names->count > 0 ||
	    xb_fail(err, XB_FAULT_SYSTEM, "ssh -Q %s: no answer; this is no OpenSSH", what);
}

void
xb_openssh_algorithms(struct xb_client_algorithms *has)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	if (xb_openssh_missing(XB_METHOD_LOGIN) != NULL) {
		has->absent = xb_strdup(xb_openssh_missing(XB_METHOD_LOGIN));
		return;
	}
	if (!query("kex", &has->kex, &err) || !query("HostKeyAlgorithms", &has->hostkeys, &err) ||
	    !query("cipher", &has->ciphers, &err) || !query("mac", &has->macs, &err) ||
	    !query("compression", &has->compression, &err))
		has->absent = xb_strdup(err.text);
}
