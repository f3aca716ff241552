#include <stdlib.h>
#include <string.h>
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

static bool
deflater_init(struct deflater *d, const void *plain, size_t len, size_t packet_bytes, int level)
{
	*d = (struct deflater){ .plain = plain, .len = len, .packet_bytes = packet_bytes };
	if (packet_bytes == 0 || packet_bytes > len || deflateInit(&d->z, level) != Z_OK)
		return false;
	d->out_len = deflateBound(&d->z, (uLong)packet_bytes) + ROOM_FOR_FLUSH;
	d->out = xb_calloc(1, d->out_len);
	return true;
}

static void
deflater_end(struct deflater *d)
{
	deflateEnd(&d->z);
	free(d->out);
}

double
xb_primitive_deflate_speed(const void *plain, size_t len, size_t packet_bytes, int level,
    int64_t min_ns)
{
	struct deflater d;
	double speed;

	if (!deflater_init(&d, plain, len, packet_bytes, level))
		return 0;
	speed = xb_primitive_time(deflate_packet, &d, packet_bytes, min_ns);
	deflater_end(&d);
	return speed;
}

/* The packets of one stream, compressed, which is read again from its beginning at its end. */
struct inflater {
	z_stream z;
	size_t packet_bytes;
	size_t count, at;
	struct packed {
		uint8_t *bytes;
		size_t len;
	} * packets;
	uint8_t *out;
};

static bool
inflate_packet(void *ctx)
{
	struct inflater *f = ctx;
	const struct packed *packet;

	if (f->at == f->count) {
		f->at = 0;
		if (inflateReset(&f->z) != Z_OK)
			return false;
	}
	packet = &f->packets[f->at++];
	f->z.next_in = packet->bytes;
	f->z.avail_in = (uInt)packet->len;
	f->z.next_out = f->out;
	/* One more than comes: without room, the flush at the packet's end would be left unread. */
	f->z.avail_out = (uInt)f->packet_bytes + 1;
	return inflate(&f->z, Z_SYNC_FLUSH) == Z_OK && f->z.avail_in == 0 && f->z.avail_out == 1;
}

/* Compresses whole packets until plain is used up. */
static bool
pack(struct inflater *f, struct deflater *d)
{
	size_t total = d->len / d->packet_bytes, len;

	f->packets = xb_calloc(total, sizeof(*f->packets));
	while (f->count < total && deflate_packet(d)) {
		len = d->out_len - d->z.avail_out;
		f->packets[f->count].bytes = xb_calloc(1, len);
		f->packets[f->count].len = len;
		memcpy(f->packets[f->count++].bytes, d->out, len);
	}
	return f->count == total;
}

double
xb_primitive_inflate_speed(const void *plain, size_t len, size_t packet_bytes, int level,
    int64_t min_ns)
{
	struct inflater f = { .packet_bytes = packet_bytes };
	struct deflater d;
	double speed = 0;
	size_t i;

	if (!deflater_init(&d, plain, len, packet_bytes, level))
		return 0;
	f.out = xb_calloc(1, packet_bytes + 1);
	if (pack(&f, &d) && inflateInit(&f.z) == Z_OK) {
		speed = xb_primitive_time(inflate_packet, &f, packet_bytes, min_ns);
		inflateEnd(&f.z);
	}
	for (i = 0; i < f.count; i++)
		free(f.packets[i].bytes);
	free(f.packets);
	free(f.out);
	deflater_end(&d);
	return speed;
}
