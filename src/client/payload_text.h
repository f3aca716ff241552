#ifndef XB_CLIENT_PAYLOAD_TEXT_H
#define XB_CLIENT_PAYLOAD_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Fills len bytes of which percent are text and the others random, in turns of 512 bytes spread as
 * evenly as can be: every SSH packet of 32 KiB, and every window of zlib, has its share. The text
 * has the common words and the letters of English in sentences and lines; the rest of its words are
 * made up. Follows the seed, the same on every machine.
 *
 * zlib's level 6, flushed each 32 KiB, makes of 2 MiB of it (its output ÷ its input): 1.00 at 0
 * percent, 0.77 at 50, 0.38 at 100.
 */
void xb_payload_text_fill(void *out, size_t len, unsigned percent, uint64_t seed);

#endif
