#ifndef XB_BENCH_RAW_H
#define XB_BENCH_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/raw.h"

struct xb_selection;

/* What to measure. An empty selection measures nothing of its kind. */
struct xb_raw_request {
	const struct xb_selection *ciphers; /* NULL: all */
	const struct xb_selection *macs;    /* NULL: all */
	int64_t time_ns;                    /* for each figure */
	bool zlib;
};

/*
 * Measures; stops early when a signal is pending, then the rows so far are valid and whole.
 * progress (may be NULL) is called before each row with its place. Names in the table may be those
 * of the selections, which have to outlive it.
 */
void xb_raw_measure(const struct xb_raw_request *request,
    void (*progress)(void *ctx, const struct xb_raw_row *row, size_t done, size_t total), void *ctx,
    struct xb_raw_table *table);

#endif
