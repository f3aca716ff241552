#ifndef XB_MODEL_RAW_H
#define XB_MODEL_RAW_H

#include <stddef.h>

/* The block sizes of the raw table, in bytes: those that openssl speed uses, and 32 KiB. */
#define XB_RAW_SIZES 7
extern const unsigned xb_raw_sizes[XB_RAW_SIZES];

enum xb_raw_kind { XB_RAW_CIPHER, XB_RAW_MAC, XB_RAW_ZLIB };

/* "cipher", "mac", "zlib". */
const char *xb_raw_kind_name(enum xb_raw_kind kind);

/* One row of the raw table: an algorithm in one direction over all sizes. */
struct xb_raw_row {
	enum xb_raw_kind kind;
	const char *name;           /* SSH name, or "zlib level 6"; borrowed */
	const char *label;          /* short name; borrowed */
	const char *direction;      /* "encrypt", "decrypt", or "" for a MAC and zlib */
	const char *rating;         /* "sound", "weak", "broken"; "" where there is none */
	double speed[XB_RAW_SIZES]; /* bytes per second; NAN where there is none */
	char *reason;               /* why there is none; NULL when measured */
};

struct xb_raw_table {
	size_t count;
	struct xb_raw_row *rows;
	char *partial_reason; /* why rows are missing; NULL when none is */
};

/* Releases what the table owns, not the struct; an all-zero table is valid. */
void xb_raw_table_free(struct xb_raw_table *table);

#endif
