#ifndef XB_MODEL_SELECT_H
#define XB_MODEL_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/namelist.h"

struct xb_err;

/*
 * What the user selected with --ciphers or another list of algorithms: SSH names in order, each once.
 * by_name tells which were named one by one: only these make the exit code 1 when they have no rate.
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

/* Algorithms that no table of ours describes: key exchanges and host key algorithms. */
struct xb_select_pool {
	const char *option;
	const char *what;                  /* "key exchange" */
	const struct xb_namelist *all;     /* what "all" selects */
	const struct xb_namelist *offered; /* what globs select from */
	const struct xb_namelist *known;   /* what a name can mean besides */
};

/* Likewise out of a pool; a refusal quotes what is offered. */
bool xb_select_names(const struct xb_select_pool *pool, const char *list, struct xb_selection *out,
    struct xb_err *err);

/* Adds a name unless the selection has it; named once is by_name. */
void xb_selection_add(struct xb_selection *selection, const char *name, bool by_name);

void xb_selection_free(struct xb_selection *selection);

/* Splits a typed list at commas; blanks around a part, and empty parts, are left out. */
void xb_select_split(const char *list, struct xb_namelist *parts);

/*
 * A list of words out of a fixed set, in any case: out has them as the set spells them, in the order
 * of the list, each once. False with err set (XB_FAULT_USAGE) for another word, or for none.
 */
bool xb_select_words(const char *option, const char *list, const struct xb_namelist *words,
    struct xb_namelist *out, struct xb_err *err);

/* The refusal of a word that is not in the set: names the set and the nearest of it. Always false. */
bool xb_select_refuse_word(const char *option, const char *typed, const struct xb_namelist *words,
    struct xb_err *err);

#endif
