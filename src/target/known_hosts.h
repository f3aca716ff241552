#ifndef XB_TARGET_KNOWN_HOSTS_H
#define XB_TARGET_KNOWN_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct xb_err;
struct xb_namelist;

/* What a known_hosts line says of one host and key. sshd(8), SSH_KNOWN_HOSTS FILE FORMAT. */
enum xb_known_verdict {
	XB_KNOWN_NONE,    /* the line is about other hosts, or no entry at all */
	XB_KNOWN_MATCH,   /* same host, same key */
	XB_KNOWN_OTHER,   /* same host, same key type, another key: changed */
	XB_KNOWN_REVOKED, /* this very key is marked @revoked */
	XB_KNOWN_TYPE,    /* same host, but only keys of other types are known */
	XB_KNOWN_CA,      /* a @cert-authority line for this host: of no use for plain keys */
};

/* A host key as a server presents it: the SSH wire format blob, which begins with the type's name. */
struct xb_hostkey {
	const void *blob;
	size_t len;
};

/* Copies the type's name ("ssh-ed25519") out of a blob; false when it is no key. */
bool xb_hostkey_type(const struct xb_hostkey *key, char *out, size_t size);

/* "SHA256:…" as OpenSSH prints it; out has at least 64 bytes. */
void xb_hostkey_fingerprint(const struct xb_hostkey *key, char *out, size_t size);

/*
 * Judges one line (without its newline) for lookup, the name as known_hosts has it: "host", or
 * "[host]:port" when port is not 22. Plain, hashed (|1|…), wildcard, negated and marked lines, of any
 * length and content; address is tried as a second name, may be NULL. Pure. When type is not NULL and
 * the line is about the host, its key type is copied there ("" otherwise).
 */
enum xb_known_verdict xb_known_hosts_line(const char *line, size_t len, const char *lookup,
    const char *address, const struct xb_hostkey *key, char *type, size_t type_size);

/* The lookup name of a host and port, fresh. Lower case. */
char *xb_known_hosts_name(const char *host, unsigned port);

/* What all files say together: revoked beats match, match beats other. */
struct xb_known_found {
	enum xb_known_verdict verdict;
	char *file; /* of the deciding line, borrowed from files; NULL when NONE */
	unsigned line;
};

/* Looks through the files in order; a file that is absent or unreadable is passed over. */
void xb_known_hosts_lookup(const struct xb_namelist *files, const char *lookup, const char *address,
    const struct xb_hostkey *key, struct xb_known_found *found);

/* The key types known for the host (not revoked, no CA), each once, into types: to ask a server for
 * the key that we can check. */
void xb_known_hosts_types(const struct xb_namelist *files, const char *lookup,
    struct xb_namelist *types);

/* Appends a line for the host to file, creating it 0600 (and its directory 0700) when absent. */
bool xb_known_hosts_add(const char *file, const char *lookup, const struct xb_hostkey *key,
    struct xb_err *err);

#endif
