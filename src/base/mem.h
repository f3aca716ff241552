#ifndef XB_BASE_MEM_H
#define XB_BASE_MEM_H

#include <stddef.h>
#include <stdio.h>

/*
 * Allocation that cannot fail: running out of memory prints one line and ends the program with
 * exit code 4. Everything returned is released with free().
 */

/* count objects of size bytes, zeroed. */
void *xb_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* Grows or shrinks to count objects of size bytes; new space is not zeroed. */
void *xb_reallocarray(void *old, size_t count, size_t size) __attribute__((returns_nonnull));

char *xb_strdup(const char *text) __attribute__((malloc, returns_nonnull, nonnull));
char *xb_strndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull, nonnull));

/* printf into a fresh string. */
char *xb_asprintf(const char *fmt, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/*
 * The capacity to give an array of count elements so that one more fits: doubles at powers of two.
 * Usage: array = xb_grow(array, count, sizeof(*array)); array[count++] = …;
 */
void *xb_grow(void *array, size_t count, size_t size) __attribute__((returns_nonnull));

/* A stream that writes into fresh memory; text and size are valid once it is closed. */
FILE *xb_memstream(char **text, size_t *size) __attribute__((returns_nonnull));
void xb_memstream_close(FILE *stream);

#endif
