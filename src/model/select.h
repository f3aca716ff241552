#ifndef XB_MODEL_SELECT_H
#define XB_MODEL_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/namelist.h"

struct xb_err;

/*
 * What the user selected with --ciphers or --macs: SSH names in order, each once. explicit tells
 * which were named one by one: only these make the exit code 1 when they have no rate.
 */
struct xb_selection {
	size_t count;
	struct xb_selected {
		char *name;   /* the SSH name */
		bool by_name; /* named by the user itself, not by a glob, "all" or a default */
	} * items;
	bool defaulted; /* no list was given: the plan chooses from the offer */
};

/*
 * Parses a list of SSH names, short names, globs and "all" (every name of our table). Globs also
 * match names of extra (what a server offers; may be NULL), so that a name unknown to our table can
 * be selected. An unknown name, a glob that matches nothing and an empty list are usage errors that
 * suggest the nearest name; option names the option. Duplicates and aliases count once; a name that
 * is given both ways is by_name.
 */
bool xb_select_ciphers(const char *option, const char *list, const struct xb_namelist *extra,
    struct xb_selection *out, struct xb_err *err);
bool xb_select_macs(const char *option, const char *list, const struct xb_namelist *extra,
    struct xb_selection *out, struct xb_err *err);

void xb_selection_free(struct xb_selection *selection);

#endif
