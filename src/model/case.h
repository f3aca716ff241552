#ifndef XB_MODEL_CASE_H
#define XB_MODEL_CASE_H

#include <stdbool.h>
#include <stddef.h>

struct xb_cipher;
struct xb_mac;

/* What became of a case or of one trial. Only `measured` has a rate; all others have a reason. */
enum xb_status {
	XB_PLANNED, /* to be measured; never in a finished result */
	XB_MEASURED,
	XB_NOT_OFFERED, /* by the server */
	XB_UNSUPPORTED, /* by this client build */
	XB_FAILED,
};

/* How bytes travel inside the session; login: none do, connect, key exchange and login alone. */
enum xb_method { XB_METHOD_EXEC, XB_METHOD_SCP, XB_METHOD_SFTP, XB_METHOD_LOGIN };
#define XB_METHOD_COUNT 4

enum xb_direction { XB_UPLOAD, XB_DOWNLOAD };
#define XB_DIRECTION_COUNT 2

/*
 * What one SSH session negotiates. Names are what goes on the wire; the table rows describe them.
 * Without a cipher's name, cipher, MAC and compression are all left to the client, which then chooses
 * by itself, as its user's configuration says: "as negotiated".
 */
struct xb_suite {
	char *cipher_name;
	char *mac_name;                 /* NULL with AEAD, too */
	const struct xb_cipher *cipher; /* NULL when our table lacks the name */
	const struct xb_mac *mac;       /* NULL with AEAD, or when our table lacks the name */
	char
	    *compression; /* "zlib@openssh.com" or "zlib"; NULL: none, which is asked for as well */
	char *kex;        /* NULL but for method login */
	char *hostkey;    /* the host key's signature algorithm; NULL but for method login */
};

/* One row of the matrix: suite, client, method and direction against one of the run's targets. */
struct xb_case {
	struct xb_suite suite;
	const char *client; /* the client's name, static */
	const char
	    *client_label; /* what tables call it ("ssh" for openssh), static; NULL: the name */
	enum xb_method method;
	enum xb_direction direction;
	size_t target;      /* index into the run's targets */
	unsigned streams;   /* sessions at once, at least 1 */
	bool reference;     /* not SSH (plain TCP): beside the others, never ranked; has no suite */
	bool as_negotiated; /* the suite that this client and this target choose by themselves */
	bool method_auto;   /* the method is the first one that works, and not found yet */
	bool by_name;       /* the user typed what decides about this case: no rate means exit 1 */
	enum xb_status status;
	char *reason; /* NULL while planned or measured without a failure */
	char *hint;   /* what the user could do about the reason, or NULL */
};

/* "planned", "measured", "not_offered", "unsupported", "failed". */
const char *xb_status_name(enum xb_status status);
const char *xb_method_name(enum xb_method method);
const char *xb_direction_name(enum xb_direction direction);

/* By name, exact; false when there is none. */
bool xb_method_find(const char *name, enum xb_method *method);

/* Fills a suite with copies of the names, and what our tables know of them; any may be NULL. */
void xb_suite_init(struct xb_suite *suite, const char *cipher_name, const char *mac_name,
    const char *compression);

/* True when both ask for the same names. */
bool xb_suite_equal(const struct xb_suite *a, const struct xb_suite *b);

/* Releases what the suite owns, not the struct. */
void xb_suite_free(struct xb_suite *suite);

/* The short names that tables and sentences show: the label, or the SSH name where our table lacks
 * it; "built in" for AEAD, "-" where it is not known whether there is a MAC. Borrowed. */
const char *xb_suite_cipher_label(const struct xb_suite *suite);
const char *xb_suite_mac_label(const struct xb_suite *suite);

/* Sets status and reason (copied text); the first reason stays. */
void xb_case_refuse(struct xb_case *c, enum xb_status status, const char *reason, const char *hint);

/* Releases what the case owns, not the struct. */
void xb_case_free(struct xb_case *c);

#endif
