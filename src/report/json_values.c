#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/json_parts.h"

json_t *
xb_json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *
xb_json_count(uint64_t value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

json_t *
xb_json_text_part(const char *text, size_t len)
{
	json_t *value;
	char *printable;
	size_t size;

	if (text == NULL)
		return json_null();
	value = json_stringn(text, len);
	if (value != NULL)
		return value;
	/* Not UTF-8. */
	size = 4 * len + 1;
	printable = xb_calloc(size, 1);
	xb_text_printable(printable, size, text, len);
	value = json_string(printable);
	free(printable);
	return value;
}

json_t *
xb_json_text(const char *text)
{
	return xb_json_text_part(text, text != NULL ? strlen(text) : 0);
}

json_t *
xb_json_text_array(const char *array, size_t size)
{
	size_t len = strnlen(array, size);

	return len > 0 ? xb_json_text_part(array, len) : json_null();
}

json_t *
xb_json_append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) == 0)
		return array;
	json_decref(array);
	return NULL;
}

json_t *
xb_json_names(const struct xb_namelist *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		array = xb_json_append(array, xb_json_text(list->names[i]));
	return array;
}
