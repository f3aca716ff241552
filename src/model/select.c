#include "model/select.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/cipher.h"
#include "model/mac.h"

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
	const struct xb_namelist *extra; /* NULL: none */
};

static void
take(struct xb_selection *out, const char *name, bool by_name)
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
		take(out, catalog->entries[i].name, by_name);
		any = true;
	}
	for (size_t i = 0; catalog->extra != NULL && i < catalog->extra->count; i++) {
		const char *name = catalog->extra->names[i];

		if (!matches(pattern, name) || in_table(catalog, name))
			continue;
		take(out, name, by_name);
		any = true;
	}
	return any;
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
	for (size_t i = 0; catalog->extra != NULL && i < catalog->extra->count; i++)
		xb_namelist_add_once(pool, catalog->extra->names[i]);
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
		xb_fail(err, XB_FAULT_USAGE,
		    "%s: no %s matches \"%s\"; \"xferbench list\" shows all names", catalog->option,
		    catalog->what, shown);
	} else if ((guess = nearest(catalog, typed, &pool)) != NULL) {
		xb_fail(err, XB_FAULT_USAGE, "%s: unknown %s \"%s\"; did you mean %s?",
		    catalog->option, catalog->what, shown, guess);
	} else {
		xb_fail(err, XB_FAULT_USAGE,
		    "%s: unknown %s \"%s\"; \"xferbench list\" shows all names", catalog->option,
		    catalog->what, shown);
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
	for (size_t i = 0; i < catalog->count; i++)
		take(out, catalog->entries[i].name, false);
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

static bool
select_list(const struct catalog *catalog, const char *list, struct xb_selection *out,
    struct xb_err *err)
{
	struct xb_namelist parts = { 0 };
	bool ok = true;
	char *part;

	*out = (struct xb_selection){ 0 };
	xb_namelist_split(&parts, list);
	for (size_t i = 0; ok && i < parts.count; i++) {
		part = trimmed(parts.names[i]);
		if (part[0] != '\0')
			ok = select_part(catalog, part, out, err);
		free(part);
	}
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
	const struct catalog catalog = { option, "cipher", entries, xb_cipher_count, extra };
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
	const struct catalog catalog = { option, "MAC", entries, xb_mac_count, extra };
	bool ok;

	for (size_t i = 0; i < xb_mac_count; i++)
		entries[i] =
		    (struct entry){ xb_macs[i].name, xb_macs[i].label, xb_macs[i].aliases };
	ok = select_list(&catalog, list, out, err);
	free(entries);
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
