#ifndef XB_MODEL_NAMELIST_H
#define XB_MODEL_NAMELIST_H

#include <stdbool.h>
#include <stddef.h>

/* A list of names in order, owned. An all-zero list is empty and valid. */
struct xb_namelist {
	size_t count;
	char **names;
};

/* Appends a copy of the first len bytes of name. */
void xb_namelist_add(struct xb_namelist *list, const char *name, size_t len);

/* Appends a copy unless the list has it. */
void xb_namelist_add_once(struct xb_namelist *list, const char *name);

/* Splits at commas; empty parts are kept out. */
void xb_namelist_split(struct xb_namelist *list, const char *text);

bool xb_namelist_has(const struct xb_namelist *list, const char *name);

/* Joined by ", ", fresh; at most max bytes with "..." at the end when cut. "" for none. */
char *xb_namelist_join(const struct xb_namelist *list, const char *separator, size_t max);

void xb_namelist_free(struct xb_namelist *list);

#endif
