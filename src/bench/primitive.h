#ifndef XB_BENCH_PRIMITIVE_H
#define XB_BENCH_PRIMITIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xb_cipher;
struct xb_mac;
struct xb_err;

/* The payload of one SSH packet as bulk transfers use it: 32 KiB. */
#define XB_PACKET_BYTES 32768u

/* What is run: a pass over one packet. */
enum xb_primitive_op {
	XB_OP_CIPHER_ENCRYPT, /* the cipher alone; with AEAD: with its per-packet IV and tag */
	XB_OP_CIPHER_DECRYPT,
	XB_OP_MAC,     /* MAC over sequence number and packet */
	XB_OP_ENCRYPT, /* cipher and MAC one after the other, as a sender does it */
	XB_OP_DECRYPT, /* as a receiver does it, tag compared */
};
#define XB_OP_COUNT 5

/*
 * One suite's algorithms set up in memory, the way an SSH packet uses them: fresh IV or counter and
 * tag where the construction has them, MAC over sequence number and packet, both directions ready.
 */
struct xb_primitive;

/*
 * Sets up cipher (NULL: a MAC alone) and mac (NULL for AEAD, or for a cipher alone) with random
 * keys for packets of packet_bytes. NULL with err set (XB_FAULT_TRIAL) and the reason when
 * libcrypto or nettle has no such algorithm: it names what is missing, such as the legacy provider.
 * packet_bytes is rounded up to the cipher's block.
 */
struct xb_primitive *xb_primitive_new(const struct xb_cipher *cipher, const struct xb_mac *mac,
    size_t packet_bytes, struct xb_err *err);
void xb_primitive_free(struct xb_primitive *primitive);

/* True when the operation makes sense for the suite (no MAC operation without a MAC, …). */
bool xb_primitive_has(const struct xb_primitive *primitive, enum xb_primitive_op op);

/*
 * Runs the operation packet after packet for at least min_ns of wall time and gives its speed in
 * payload bytes per second; 0 when the operation failed (never happens after a good set-up).
 */
double xb_primitive_speed(struct xb_primitive *primitive, enum xb_primitive_op op, int64_t min_ns);

/*
 * Encrypts and MACs one packet of plain into wire and back, and compares: the proof, for tests,
 * that what is timed is the algorithm. wire has room for packet + 68 bytes (length field and the
 * longest tag). Starts the session over: what speed measurements left behind does not matter.
 */
bool xb_primitive_round_trip(struct xb_primitive *primitive, const void *plain, void *wire,
    size_t *wire_len, struct xb_err *err);

/*
 * Speed of zlib's deflate at a level, in input bytes per second: one stream over len bytes of
 * plain, again and again, flushed after each packet of packet_bytes as SSH does it. With len above
 * zlib's window of 32 KiB the repetition is not seen by it. 0 when zlib fails or len is below
 * packet_bytes.
 */
double xb_primitive_deflate_speed(const void *plain, size_t len, size_t packet_bytes, int level,
    int64_t min_ns);

/*
 * Likewise of zlib's inflate, in output bytes per second, on what deflate at that level makes of
 * plain. The whole packets of plain count, a rest is left out.
 */
double xb_primitive_inflate_speed(const void *plain, size_t len, size_t packet_bytes, int level,
    int64_t min_ns);

/*
 * Loads libcrypto's default and legacy providers for the life of the process, so that blowfish,
 * cast128 and arcfour work here and in every SSH library on the same libcrypto. Call it before any
 * SSH library starts. False where there is no legacy provider: nothing else is lost.
 */
bool xb_primitive_load_legacy(void);

#endif
