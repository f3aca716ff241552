#ifndef XB_TARGET_HOSTSPEC_H
#define XB_TARGET_HOSTSPEC_H

#include <stdbool.h>

struct xb_err;

/* A host as the user typed it, taken apart. Strings are owned. */
struct xb_hostspec {
	char *user;    /* NULL: not given */
	char *host;    /* name or address, without brackets; never empty */
	unsigned port; /* 0: not given */
};

/*
 * Parses [USER@]HOST[:PORT], [ADDR]:PORT, a bare IPv6 address (with a zone), and
 * ssh://[USER@]HOST[:PORT][/]. option names the option in a refusal (XB_FAULT_USAGE): an empty part, a
 * port out of 1..65535, a host that begins with '-' or has blanks or control characters, a path or a
 * password in the URL.
 */
bool xb_hostspec_parse(const char *option, const char *text, struct xb_hostspec *out,
    struct xb_err *err);
void xb_hostspec_free(struct xb_hostspec *spec);

#endif
