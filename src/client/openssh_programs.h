#ifndef XB_CLIENT_OPENSSH_PROGRAMS_H
#define XB_CLIENT_OPENSSH_PROGRAMS_H

#include <stdbool.h>

#include "client/client.h"

struct xb_err;

/* What is installed: the first in PATH of each name, and what that ssh is. */
struct xb_openssh_programs {
	char *ssh; /* absolute paths; NULL: not there */
	char *scp;
	char *sftp;
	char version[40]; /* "9.2p1"; "" where ssh does not tell */
	/* ssh knows SessionType, StdinNull, ForkAfterAuthentication and LogVerbose. */
	bool session_options;
	bool rcp_option; /* scp needs -O to speak its own protocol, and has it */
};

/* Looked for once, and kept for the life of the process. */
const struct xb_openssh_programs *xb_openssh_programs(void);

/* Why a method cannot be run, static; NULL: its programs are there. */
const char *xb_openssh_missing(enum xb_method method);

/* Asks ssh -Q for all that this build has; absent says why it could not be asked. */
void xb_openssh_algorithms(struct xb_client_algorithms *has);

/*
 * Cuts "9.2p1" out of ssh -V's answer; false, and "", where it is no OpenSSH's. newer: 8.7 or
 * later.
 */
bool xb_openssh_parse_version(const char *answer, char *version, size_t size, bool *newer);

/* True where the usage text of scp names the option -O. */
bool xb_openssh_parse_usage(const char *usage);

#endif
