#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"
#include "bench/primitive_ops.h"

/* Far above what deflate adds to a packet: a few bytes a block and the flush. */
#define ROOM_FOR_FLUSH 1024u

/* One compressed stream that walks over plain, packet after packet, and starts over at its end. */
struct deflater {
	z_stream z;
	const uint8_t *plain;
	size_t len;
	size_t at;
	size_t packet_bytes;
	uint8_t *out;
	size_t out_len;
};

/* SSH flushes at each packet's end so that the peer can inflate it (RFC 4253 section 6.2). */
static bool
deflate_packet(void *ctx)
{
	struct deflater *d = ctx;

	if (d->len - d->at < d->packet_bytes)
		d->at = 0;
	d->z.next_in = (Bytef *)(uintptr_t)(d->plain + d->at);
	d->z.avail_in = (uInt)d->packet_bytes;
	d->z.next_out = d->out;
	d->z.avail_out = (uInt)d->out_len;
	d->at += d->packet_bytes;
	return deflate(&d->z, Z_PARTIAL_FLUSH) == Z_OK && d->z.avail_in == 0 && d->z.avail_out > 0;
}

double
xb_primitive_deflate_speed(const void *plain, size_t len, size_t packet_bytes, int level,
    int64_t min_ns)
{
	struct deflater d = { .plain = plain, .len = len, .packet_bytes = packet_bytes };
	double speed;

	if (packet_bytes == 0 || packet_bytes > len || deflateInit(&d.z, level) != Z_OK)
		return 0;
	d.out_len = deflateBound(&d.z, (uLong)packet_bytes) + ROOM_FOR_FLUSH;
	d.out = xb_calloc(1, d.out_len);
	speed = xb_primitive_time(deflate_packet, &d, packet_bytes, min_ns);
	deflateEnd(&d.z);
	free(d.out);
	return speed;
}
