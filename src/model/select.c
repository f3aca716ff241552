#include "model/select.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/cipher.h"
#include "model/mac.h"

/* How many bytes of a list a refusal quotes. */
#define QUOTE 160

/* What selecting needs of one row of an algorithm table. */
struct entry {
	const char *name;
	const char *label;
	const char *const *aliases;
};

/* One table as a list of entries, and what the server offers beyond it. */
struct catalog {
	const char *option;
	const char *what; /* "cipher" or "MAC" */
	const struct entry *entries;
	size_t count;
	const struct xb_namelist *extra; /* names and globs may mean these; NULL: none */
	const struct xb_namelist *known; /* names alone may; NULL: none */
	const struct xb_namelist *all;   /* what "all" means; NULL: the entries */
	const char *see;                 /* where the names are to be seen */
};

#define SEE_LIST "\"xferbench list\" shows all names"

void
xb_selection_add(struct xb_selection *out, const char *name, bool by_name)
{
	for (size_t i = 0; i < out->count; i++) {
		if (strcmp(out->items[i].name, name) == 0) {
			out->items[i].by_name |= by_name;
			return;
		}
	}
	out->items = xb_grow(out->items, out->count, sizeof(*out->items));
	out->items[out->count++] = (struct xb_selected){ xb_strdup(name), by_name };
}

/* A pattern is a glob, or a name in any case. */
static bool
matches(const char *pattern, const char *name)
{
	return xb_text_is_glob(pattern) ? xb_text_glob(pattern, name)
					: strcasecmp(pattern, name) == 0;
}

static bool
entry_matches(const struct entry *entry, const char *pattern)
{
	if (matches(pattern, entry->name) || matches(pattern, entry->label))
		return true;
	for (const char *const *alias = entry->aliases; alias != NULL && *alias != NULL; alias++)
		if (matches(pattern, *alias))
			return true;
	return false;
}

static bool
in_table(const struct catalog *catalog, const char *name)
{
	for (size_t i = 0; i < catalog->count; i++)
		if (entry_matches(&catalog->entries[i], name))
			return true;
	return false;
}

static bool
take_matches(const struct catalog *catalog, const char *pattern, struct xb_selection *out)
{
	bool by_name = !xb_text_is_glob(pattern), any = false;

	for (size_t i = 0; i < catalog->count; i++) {
		if (!entry_matches(&catalog->entries[i], pattern))
			continue;
		xb_selection_add(out, catalog->entries[i].name, by_name);
		any = true;
	}
	for (size_t i = 0; catalog->extra != NULL && i < catalog->extra->count; i++) {
		const char *name = catalog->extra->names[i];

		if (!matches(pattern, name) || in_table(catalog, name))
			continue;
		xb_selection_add(out, name, by_name);
		any = true;
	}
	for (size_t i = 0; by_name && !any && catalog->known != NULL && i < catalog->known->count;
	     i++) {
		any = matches(pattern, catalog->known->names[i]);
		if (any)
			xb_selection_add(out, catalog->known->names[i], true);
	}
	return any;
}

static void
add_all(struct xb_namelist *pool, const struct xb_namelist *names)
{
	for (size_t i = 0; names != NULL && i < names->count; i++)
		xb_namelist_add_once(pool, names->names[i]);
}

/* The name nearest to what was typed, among all that could have been meant; NULL when none is. */
static const char *
nearest(const struct catalog *catalog, const char *typed, struct xb_namelist *pool)
{
	for (size_t i = 0; i < catalog->count; i++) {
		const struct entry *entry = &catalog->entries[i];

		xb_namelist_add_once(pool, entry->label);
		xb_namelist_add_once(pool, entry->name);
		for (const char *const *a = entry->aliases; a != NULL && *a != NULL; a++)
			xb_namelist_add_once(pool, *a);
	}
	add_all(pool, catalog->extra);
	add_all(pool, catalog->known);
	xb_namelist_add_once(pool, "all");
	return xb_text_nearest(typed, (const char *const *)pool->names, pool->count);
}

static bool
refuse(const struct catalog *catalog, const char *typed, struct xb_err *err)
{
	struct xb_namelist pool = { 0 };
	const char *guess;
	char shown[80];

	xb_text_printable(shown, sizeof(shown), typed, strlen(typed));
	if (xb_text_is_glob(typed)) {
		xb_fail(err, XB_FAULT_USAGE, "%s: no %s matches \"%s\"; %s", catalog->option,
		    catalog->what, shown, catalog->see);
	} else if ((guess = nearest(catalog, typed, &pool)) != NULL) {
		xb_fail(err, XB_FAULT_USAGE, "%s: unknown %s \"%s\"; did you mean %s?",
		    catalog->option, catalog->what, shown, guess);
	} else {
		xb_fail(err, XB_FAULT_USAGE, "%s: unknown %s \"%s\"; %s", catalog->option,
		    catalog->what, shown, catalog->see);
	}
	xb_namelist_free(&pool);
	return false;
}

static bool
select_part(const struct catalog *catalog, const char *part, struct xb_selection *out,
    struct xb_err *err)
{
	if (strcasecmp(part, "all") != 0)
		return take_matches(catalog, part, out) || refuse(catalog, part, err);
	for (size_t i = 0; catalog->all != NULL && i < catalog->all->count; i++)
		xb_selection_add(out, catalog->all->names[i], false);
	for (size_t i = 0; i < catalog->count; i++)
		xb_selection_add(out, catalog->entries[i].name, false);
	return true;
}

/* Blanks around a name are no part of it: --ciphers 'aes128-ctr, 3des'. */
static char *
trimmed(const char *part)
{
	size_t len;

	part += strspn(part, " \t");
	len = strlen(part);
	while (len > 0 && strchr(" \t", part[len - 1]) != NULL)
		len--;
	return xb_strndup(part, len);
}

void
xb_select_split(const char *list, struct xb_namelist *parts)
{
	struct xb_namelist raw = { 0 };
	char *part;

	xb_namelist_split(&raw, list);
	for (size_t i = 0; i < raw.count; i++) {
		part = trimmed(raw.names[i]);
		if (part[0] != '\0')
			xb_namelist_add(parts, part, strlen(part));
		free(part);
	}
	xb_namelist_free(&raw);
}

static bool
select_list(const struct catalog *catalog, const char *list, struct xb_selection *out,
    struct xb_err *err)
{
	struct xb_namelist parts = { 0 };
	bool ok = true;

	*out = (struct xb_selection){ 0 };
	xb_select_split(list, &parts);
	for (size_t i = 0; ok && i < parts.count; i++)
		ok = select_part(catalog, parts.names[i], out, err);
	if (ok && out->count == 0)
		ok = xb_fail(err, XB_FAULT_USAGE,
		    "%s: the list is empty; name a %s, a glob, or \"all\"", catalog->option,
		    catalog->what);
	if (!ok)
		xb_selection_free(out);
	xb_namelist_free(&parts);
	return ok;
}

bool
xb_select_ciphers(const char *option, const char *list, const struct xb_namelist *extra,
    struct xb_selection *out, struct xb_err *err)
{
	struct entry *entries = xb_calloc(xb_cipher_count, sizeof(*entries));
	const struct catalog catalog = {
		.option = option,
		.what = "cipher",
		.entries = entries,
		.count = xb_cipher_count,
		.extra = extra,
		.see = SEE_LIST,
	};
	bool ok;

	for (size_t i = 0; i < xb_cipher_count; i++)
		entries[i] = (struct entry){ xb_ciphers[i].name, xb_ciphers[i].label,
			xb_ciphers[i].aliases };
	ok = select_list(&catalog, list, out, err);
	free(entries);
	return ok;
}

bool
xb_select_macs(const char *option, const char *list, const struct xb_namelist *extra,
    struct xb_selection *out, struct xb_err *err)
{
	struct entry *entries = xb_calloc(xb_mac_count, sizeof(*entries));
	const struct catalog catalog = {
		.option = option,
		.what = "MAC",
		.entries = entries,
		.count = xb_mac_count,
		.extra = extra,
		.see = SEE_LIST,
	};
	bool ok;

	for (size_t i = 0; i < xb_mac_count; i++)
		entries[i] =
		    (struct entry){ xb_macs[i].name, xb_macs[i].label, xb_macs[i].aliases };
	ok = select_list(&catalog, list, out, err);
	free(entries);
	return ok;
}

bool
xb_select_names(const struct xb_select_pool *pool, const char *list, struct xb_selection *out,
    struct xb_err *err)
{
	char *offered = xb_namelist_join(pool->offered, ", ", QUOTE);
	char *see = xb_asprintf("offered: %s", offered[0] != '\0' ? offered : "none");
	const struct catalog catalog = {
		.option = pool->option,
		.what = pool->what,
		.extra = pool->offered,
		.known = pool->known,
		.all = pool->all,
		.see = see,
	};
	bool ok = select_list(&catalog, list, out, err);

	free(see);
	free(offered);
	return ok;
}

bool
xb_select_refuse_word(const char *option, const char *typed, const struct xb_namelist *words,
    struct xb_err *err)
{
	char *set = xb_namelist_join(words, ", ", QUOTE);
	const char *near = xb_text_nearest(typed, (const char *const *)words->names, words->count);
	char shown[80];

	xb_text_printable(shown, sizeof(shown), typed, strlen(typed));
	xb_fail(err, XB_FAULT_USAGE, "%s: '%s' is not one of %s%s%s%s", option, shown, set,
	    near != NULL ? "; did you mean " : "", near != NULL ? near : "",
	    near != NULL ? "?" : "");
	free(set);
	return false;
}

static const char *
find_word(const struct xb_namelist *words, const char *typed)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcasecmp(words->names[i], typed) == 0)
			return words->names[i];
	return NULL;
}

bool
xb_select_words(const char *option, const char *list, const struct xb_namelist *words,
    struct xb_namelist *out, struct xb_err *err)
{
	struct xb_namelist parts = { 0 };
	const char *word;
	char *set;
	bool ok = true;

	xb_select_split(list, &parts);
	if (parts.count == 0) {
		set = xb_namelist_join(words, ", ", QUOTE);
		ok =
		    xb_fail(err, XB_FAULT_USAGE, "%s: the list is empty; it takes %s", option, set);
		free(set);
	}
	for (size_t i = 0; ok && i < parts.count; i++) {
		word = find_word(words, parts.names[i]);
		if (word != NULL)
			xb_namelist_add_once(out, word);
		else
			ok = xb_select_refuse_word(option, parts.names[i], words, err);
	}
	xb_namelist_free(&parts);
	return ok;
}

void
xb_selection_free(struct xb_selection *selection)
{
	for (size_t i = 0; i < selection->count; i++)
		free(selection->items[i].name);
	free(selection->items);
	*selection = (struct xb_selection){ 0 };
}
