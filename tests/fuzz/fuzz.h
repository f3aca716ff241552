#ifndef XB_FUZZ_H
#define XB_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What libFuzzer and replay.c call: one input, any bytes. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for every input. Unlike assert(3) it is there in every build. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

#endif
