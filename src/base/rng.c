#include "base/rng.h"

#include <string.h>
#include <sys/random.h>

#include "base/clock.h"

uint64_t
xb_rng_next(struct xb_rng *rng)
{
	uint64_t z;

	rng->state += UINT64_C(0x9e3779b97f4a7c15);
	z = rng->state;
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t
xb_rng_below(struct xb_rng *rng, uint64_t bound)
{
	/* 2^64 mod bound values at the bottom are thrown away, so that every rest is equally likely. */
	uint64_t skip = -bound % bound;
	uint64_t value;

	do
		value = xb_rng_next(rng);
	while (value < skip);
	return value % bound;
}

void
xb_rng_shuffle(struct xb_rng *rng, size_t *order, size_t count)
{
	size_t i, j, swap;

	for (i = 0; i < count; i++)
		order[i] = i;
	for (i = count; i > 1; i--) {
		j = (size_t)xb_rng_below(rng, i);
		swap = order[i - 1];
		order[i - 1] = order[j];
		order[j] = swap;
	}
}

void
xb_rng_fill(struct xb_rng *rng, void *bytes, size_t len)
{
	unsigned char *out = bytes;
	uint64_t word;
	size_t part;

	while (len > 0) {
		word = xb_rng_next(rng);
		part = len < sizeof(word) ? len : sizeof(word);
		memcpy(out, &word, part);
		out += part;
		len -= part;
	}
}

uint64_t
xb_rng_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) == (ssize_t)sizeof(seed))
		return seed;
	return (uint64_t)xb_clock_ns();
}
