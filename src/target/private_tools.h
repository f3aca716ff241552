#ifndef XB_TARGET_PRIVATE_TOOLS_H
#define XB_TARGET_PRIVATE_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

struct xb_err;
struct xb_private_files;
struct xb_private_options;

/* What the kinds of private servers share: other programs, and keys. */

/* More than this of a tool's output tells nothing new. */
#define XB_TOOL_OUTPUT 8192

/*
 * Runs a tool to its end, its output goes into out (XB_TOOL_OUTPUT bytes). XB_FAULT_TARGET with what it
 * said when it does not end with status 0.
 */
bool xb_tool_run(const char *const *argv, char *out, struct xb_err *err);

/*
 * A program in one of the directories, which end with NULL and are relative to where the server really
 * lies: a link to it may lie anywhere. Fresh, NULL when there is none.
 */
char *xb_tool_beside(const char *server, const char *const *dirs, const char *name);

/* The same in ../bin and beside the server itself, then in PATH. */
char *xb_tool_find(const char *server, const char *name);

/* Appends a copy of text to strings that end with NULL; NULL at first. */
void xb_tool_append(char ***strings, const char *text);
void xb_tool_free_strings(char **strings);

/*
 * Names the files that every kind has: identity, known_hosts and log, as "KIND-user_key" and so on
 * in the run directory.
 */
void xb_tool_name_files(struct xb_private_files *files, const struct xb_private_options *options,
    const char *kind);

/* One kind of key pair: how ssh-keygen and dropbearkey call it, and its bits, NULL: as they like. */
struct xb_key_type {
	const char *name;
	const char *bits;
};

/* Best first: Ed25519, ECDSA (where FIPS rules forbid that), RSA with 3072 bits. */
extern const struct xb_key_type xb_key_types[];
extern const size_t xb_key_type_count;

/* Makes files->identity and its .pub by ssh-keygen, without a passphrase. */
bool xb_tool_make_identity(const struct xb_private_files *files, const char *server,
    struct xb_err *err);

/*
 * Makes host keys by ssh-keygen, "KIND-host_key_TYPE" with their .pub in files->hostkeys: the best
 * type that works, or with options->every_hostkey all that work.
 */
bool xb_tool_make_hostkeys(struct xb_private_files *files, const struct xb_private_options *options,
    const char *kind, const char *server, struct xb_err *err);

/* The private key file that belongs to a public one, "KEY.pub". Fresh. */
char *xb_tool_private_key(const char *public_key);

#endif
