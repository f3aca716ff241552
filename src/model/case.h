#ifndef XB_MODEL_CASE_H
#define XB_MODEL_CASE_H

#include <stdbool.h>

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

/* How bytes travel inside the session. */
enum xb_method { XB_METHOD_EXEC };

enum xb_direction { XB_UPLOAD };

/* What one SSH session negotiates. Names are what goes on the wire; the table rows describe them. */
struct xb_suite {
	char *cipher_name;
	char *mac_name;                 /* NULL with AEAD */
	const struct xb_cipher *cipher; /* NULL when our table lacks the name */
	const struct xb_mac *mac;       /* NULL with AEAD, or when our table lacks the name */
};

/* One row of the matrix: suite, client, method and direction against the run's target. */
struct xb_case {
	struct xb_suite suite;
	const char *client; /* the client's name, static */
	enum xb_method method;
	enum xb_direction direction;
	bool by_name; /* the user typed what decides about this case: no rate means exit 1 */
	enum xb_status status;
	char *reason; /* NULL while planned or measured without a failure */
	char *hint;   /* what the user could do about the reason, or NULL */
};

/* "planned", "measured", "not_offered", "unsupported", "failed". */
const char *xb_status_name(enum xb_status status);
const char *xb_method_name(enum xb_method method);
const char *xb_direction_name(enum xb_direction direction);

/* The short names that tables and sentences show: the label, or the SSH name where our table lacks
 * it; "built in" for AEAD, "-" where it is not known whether there is a MAC. Borrowed. */
const char *xb_suite_cipher_label(const struct xb_suite *suite);
const char *xb_suite_mac_label(const struct xb_suite *suite);

/* Sets status and reason (copied text); the first reason stays. */
void xb_case_refuse(struct xb_case *c, enum xb_status status, const char *reason, const char *hint);

/* Releases what the case owns, not the struct. */
void xb_case_free(struct xb_case *c);

#endif
