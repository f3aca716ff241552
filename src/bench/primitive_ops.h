#ifndef XB_BENCH_PRIMITIVE_OPS_H
#define XB_BENCH_PRIMITIVE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/primitive.h"

/*
 * The parts of a primitive, for src/bench/primitive*.c and for tests with known keys.
 *
 * A frame is one packet in memory: XB_LENGTH_BYTES of length field, the body, the tag. Suites with
 * the length field outside of what they encrypt (AEAD, encrypt-then-MAC) use it; the others start
 * at the body, whose first bytes are then the length field of RFC 4253 section 6.
 */
#define XB_LENGTH_BYTES 4u
#define XB_TAG_MAX 64u
#define XB_KEY_MAX 64u
#define XB_IV_MAX 16u

/* The keys of one direction of one session; what an algorithm does not need is not looked at. */
struct xb_primitive_keys {
	uint8_t cipher[XB_KEY_MAX];
	uint8_t iv[XB_IV_MAX]; /* GCM takes the first 12 bytes, chacha20-poly1305 none */
	uint8_t mac[XB_KEY_MAX];
};

/* What became of a packet that was to be decrypted. */
enum xb_opened { XB_OPENED, XB_OPEN_FORGED, XB_OPEN_FAILED };

/* A cipher in one direction, keyed, with the state that it carries from packet to packet. */
struct xb_crypter;

/* NULL with err set when libcrypto has no such cipher. Keys are copied. */
struct xb_crypter *xb_crypter_new(const struct xb_cipher *cipher,
    const struct xb_primitive_keys *keys, bool encrypt, struct xb_err *err);
void xb_crypter_free(struct xb_crypter *crypter);

/* Back to the state before the first packet. */
bool xb_crypter_restart(struct xb_crypter *crypter);

/*
 * One packet with len bytes of body, from one frame into another. AEAD: length field and tag are
 * part of it, seq is the packet's sequence number; encrypting GCM counts by itself. The others
 * touch the body alone and are never forged.
 */
enum xb_opened xb_crypter_run(struct xb_crypter *crypter, uint64_t seq, const uint8_t *in,
    uint8_t *out, size_t len);

/* A keyed MAC. */
struct xb_tagger;

struct xb_tagger *xb_tagger_new(const struct xb_mac *mac, const struct xb_primitive_keys *keys,
    struct xb_err *err);
void xb_tagger_free(struct xb_tagger *tagger);

/*
 * The MAC over len bytes, truncated as the row says. HMAC takes the low 32 bits of the sequence
 * number in front of them (RFC 4253 section 6.4), UMAC all 64 as its nonce.
 */
bool xb_tagger_run(struct xb_tagger *tagger, uint64_t seq, const uint8_t *bytes, size_t len,
    uint8_t *tag);

/* xb_primitive_new with known keys. */
struct xb_primitive *xb_primitive_new_keyed(const struct xb_cipher *cipher,
    const struct xb_mac *mac, size_t packet_bytes, const struct xb_primitive_keys *keys,
    struct xb_err *err);

/* The whole suite over one frame, as a sender and as a receiver do it. False: libcrypto failed. */
bool xb_primitive_seal(struct xb_primitive *primitive, uint64_t seq, const uint8_t *in,
    uint8_t *out);
enum xb_opened xb_primitive_open(struct xb_primitive *primitive, uint64_t seq, const uint8_t *in,
    uint8_t *out);

/* Both directions back to the state before the first packet. */
bool xb_primitive_restart(struct xb_primitive *primitive);

/*
 * Calls pass again and again for at least min_ns and gives bytes times calls per second, 0 when a
 * call failed. The clock is read once a batch; batches are long enough that reading it costs less
 * than a thousandth. Calls made to find the batch's length warm up and are not counted.
 */
double xb_primitive_time(bool (*pass)(void *ctx), void *ctx, size_t bytes, int64_t min_ns);

#endif
