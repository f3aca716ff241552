#ifndef XB_BASE_RNG_H
#define XB_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/*
 * A small reproducible generator for orders and payloads, never for secrets: SplitMix64 (Steele, Lea,
 * Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
 */
struct xb_rng {
	uint64_t state;
};

uint64_t xb_rng_next(struct xb_rng *rng);

/* Uniform in 0..bound-1, without modulo bias; bound at least 1. */
uint64_t xb_rng_below(struct xb_rng *rng, uint64_t bound);

/* A uniformly random order of 0..count-1 (Fisher and Yates). */
void xb_rng_shuffle(struct xb_rng *rng, size_t *order, size_t count);

/* Fills len bytes. */
void xb_rng_fill(struct xb_rng *rng, void *bytes, size_t len);

/* A seed from the kernel. */
uint64_t xb_rng_seed(void);

#endif
