#include "model/namelist.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
xb_namelist_add(struct xb_namelist *list, const char *name, size_t len)
{
	list->names = xb_grow(list->names, list->count, sizeof(*list->names));
	list->names[list->count++] = xb_strndup(name, len);
}

void
xb_namelist_add_once(struct xb_namelist *list, const char *name)
{
	if (!xb_namelist_has(list, name))
		xb_namelist_add(list, name, strlen(name));
}

void
xb_namelist_split(struct xb_namelist *list, const char *text)
{
	size_t len;

	for (;;) {
		len = strcspn(text, ",");
		if (len > 0)
			xb_namelist_add(list, text, len);
		if (text[len] == '\0')
			return;
		text += len + 1;
	}
}

bool
xb_namelist_has(const struct xb_namelist *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->names[i], name) == 0)
			return true;
	return false;
}

/* How many names fit into max bytes; when not all do, with room for the separator and dots. */
static size_t
names_that_fit(const struct xb_namelist *list, size_t separator_len, size_t max)
{
	size_t used = 0, fit = 0;

	for (size_t i = 0; i < list->count; i++) {
		used += (i > 0 ? separator_len : 0) + strlen(list->names[i]);
		if (used + separator_len + strlen("...") <= max)
			fit = i + 1;
	}
	return used <= max ? list->count : fit;
}

char *
xb_namelist_join(const struct xb_namelist *list, const char *separator, size_t max)
{
	size_t separator_len = strlen(separator);
	size_t fit = names_that_fit(list, separator_len, max);
	char *joined = xb_strdup(""), *longer;

	for (size_t i = 0; i < fit; i++) {
		longer = xb_asprintf("%s%s%s", joined, i > 0 ? separator : "", list->names[i]);
		free(joined);
		joined = longer;
	}
	if (fit < list->count) {
		longer = xb_asprintf("%s%s...", joined, fit > 0 ? separator : "");
		free(joined);
		joined = longer;
		if (strlen(joined) > max)
			joined[max] = '\0';
	}
	return joined;
}

void
xb_namelist_free(struct xb_namelist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct xb_namelist){ 0 };
}
