#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
checked(void *p)
{
	if (p == NULL) {
		fputs("xferbench: out of memory\n", stderr);
		exit(4);
	}
	return p;
}

void *
xb_calloc(size_t count, size_t size)
{
	return checked(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *
xb_reallocarray(void *old, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size)
		return checked(NULL);
	return checked(realloc(old, count * size > 0 ? count * size : 1));
}

char *
xb_strdup(const char *text)
{
	return checked(strdup(text));
}

char *
xb_strndup(const char *text, size_t len)
{
	return checked(strndup(text, len));
}

char *
xb_asprintf(const char *fmt, ...)
{
	va_list ap;
	char *text = NULL;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	return checked(len < 0 ? NULL : text);
}

void *
xb_grow(void *array, size_t count, size_t size)
{
	if (array != NULL && count > 0 && (count & (count - 1)) != 0)
		return array;
	return xb_reallocarray(array, count > 0 ? count * 2 : 1, size);
}

FILE *
xb_memstream(char **text, size_t *size)
{
	return checked(open_memstream(text, size));
}

void
xb_memstream_close(FILE *stream)
{
	/* Memory is all that such a stream can run out of. */
	int broken = ferror(stream);

	if (fclose(stream) != 0 || broken)
		checked(NULL);
}
