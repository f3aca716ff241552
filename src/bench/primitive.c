#include "bench/primitive.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"
#include "bench/primitive_ops.h"
#include "model/cipher.h"
#include "model/mac.h"

/* Reading the clock costs some 25 to 60 ns, and up to 1 us where it is a system call. */
#define BATCH_NS (2 * XB_NS_PER_MS)

/*
 * A packet starts 16 bytes into a cache line, where malloc puts large buffers and SSH programs so
 * have theirs: if vector code pays for lines that it has to read twice, it does here, too.
 */
#define CACHE_LINE 64u
#define MALLOC_OFFSET 16u

/* A load seems to depend on an older store whose address has the same low 12 bits. */
#define ALIAS_BYTES 4096u

/*
 * Packets go from one buffer to another, as OpenSSH does it: a sender from its plain to its output
 * buffer, a receiver from its input to its plain buffer. All of them stay hot in the cache, as they
 * do in an SSH program, which uses the same few buffers for every packet.
 */
struct xb_primitive {
	const struct xb_cipher *cipher;
	const struct xb_mac *mac;
	size_t bytes; /* of a body */
	struct xb_crypter *encrypter;
	struct xb_crypter *decrypter;
	struct xb_tagger *tagger;
	uint64_t seq;
	uint8_t *memory;
	uint8_t *plain;  /* frames */
	uint8_t *wire;   /* what a sender makes of plain */
	uint8_t *sealed; /* packet 0 of the session, for the receiver */
	uint8_t *opened;
};

static bool
is_aead(const struct xb_primitive *p)
{
	return p->cipher != NULL && xb_cipher_is_aead(p->cipher);
}

/* The length field stands outside of what is encrypted. */
static bool
has_clear_length(const struct xb_primitive *p)
{
	return is_aead(p) || (p->mac != NULL && p->mac->etm);
}

static size_t
tag_bytes(const struct xb_primitive *p)
{
	if (is_aead(p))
		return 16;
	return p->mac != NULL ? p->mac->tag_bytes : 0;
}

/* The MAC of a frame: over length field and ciphertext, or over the plain body. */
static bool
tag_frame(struct xb_primitive *p, uint64_t seq, const uint8_t *frame, uint8_t *tag)
{
	if (p->mac->etm)
		return xb_tagger_run(p->tagger, seq, frame, XB_LENGTH_BYTES + p->bytes, tag);
	return xb_tagger_run(p->tagger, seq, frame + XB_LENGTH_BYTES, p->bytes, tag);
}

bool
xb_primitive_seal(struct xb_primitive *p, uint64_t seq, const uint8_t *in, uint8_t *out)
{
	uint8_t *tag = out + XB_LENGTH_BYTES + p->bytes;

	if (p->tagger != NULL && p->mac->etm)
		memcpy(out, in, XB_LENGTH_BYTES);
	if (p->tagger != NULL && !p->mac->etm && !tag_frame(p, seq, in, tag))
		return false;
	if (xb_crypter_run(p->encrypter, seq, in, out, p->bytes) != XB_OPENED)
		return false;
	return p->tagger == NULL || !p->mac->etm || tag_frame(p, seq, out, tag);
}

enum xb_opened
xb_primitive_open(struct xb_primitive *p, uint64_t seq, const uint8_t *in, uint8_t *out)
{
	const uint8_t *sent = in + XB_LENGTH_BYTES + p->bytes;
	uint8_t tag[XB_TAG_MAX];
	enum xb_opened opened;

	if (p->tagger == NULL)
		return xb_crypter_run(p->decrypter, seq, in, out, p->bytes);
	if (p->mac->etm) {
		if (!tag_frame(p, seq, in, tag))
			return XB_OPEN_FAILED;
		if (CRYPTO_memcmp(tag, sent, p->mac->tag_bytes) != 0)
			return XB_OPEN_FORGED;
		memcpy(out, in, XB_LENGTH_BYTES);
		return xb_crypter_run(p->decrypter, seq, in, out, p->bytes);
	}
	opened = xb_crypter_run(p->decrypter, seq, in, out, p->bytes);
	if (opened != XB_OPENED || !tag_frame(p, seq, out, tag))
		return XB_OPEN_FAILED;
	return CRYPTO_memcmp(tag, sent, p->mac->tag_bytes) == 0 ? XB_OPENED : XB_OPEN_FORGED;
}

bool
xb_primitive_restart(struct xb_primitive *p)
{
	p->seq = 0;
	return (p->encrypter == NULL || xb_crypter_restart(p->encrypter)) &&
	    (p->decrypter == NULL || xb_crypter_restart(p->decrypter));
}

static void
allocate_frames(struct xb_primitive *p)
{
	const size_t room = CACHE_LINE + XB_LENGTH_BYTES + p->bytes + XB_TAG_MAX;
	/* From input to output it is half of that distance, the farthest from a false dependency. */
	const size_t stride = room / ALIAS_BYTES * ALIAS_BYTES + ALIAS_BYTES + ALIAS_BYTES / 2;
	uint8_t *packet;

	p->memory = xb_calloc(4, stride + CACHE_LINE);
	packet = p->memory + CACHE_LINE - (uintptr_t)p->memory % CACHE_LINE + MALLOC_OFFSET;
	p->plain = has_clear_length(p) ? packet : packet - XB_LENGTH_BYTES;
	p->wire = p->plain + stride;
	p->sealed = p->wire + stride;
	p->opened = p->sealed + stride;
}

static bool
set_up(struct xb_primitive *p, const struct xb_primitive_keys *keys, struct xb_err *err)
{
	const uint32_t length = (uint32_t)p->bytes;

	if (p->mac != NULL && (p->tagger = xb_tagger_new(p->mac, keys, err)) == NULL)
		return false;
	for (unsigned i = 0; i < XB_LENGTH_BYTES; i++)
		p->plain[i] = (uint8_t)(length >> (24 - 8 * i));
	if (RAND_bytes(p->plain + XB_LENGTH_BYTES, (int)p->bytes) != 1)
		return xb_fail(err, XB_FAULT_SYSTEM, "libcrypto has no random bytes");
	if (p->cipher == NULL)
		return true;
	if ((p->encrypter = xb_crypter_new(p->cipher, keys, true, err)) == NULL ||
	    (p->decrypter = xb_crypter_new(p->cipher, keys, false, err)) == NULL)
		return false;
	if (!xb_primitive_seal(p, 0, p->plain, p->sealed) || !xb_primitive_restart(p))
		return xb_fail(err, XB_FAULT_TRIAL, "libcrypto fails to encrypt with %s",
		    p->cipher->name);
	return true;
}

struct xb_primitive *
xb_primitive_new_keyed(const struct xb_cipher *cipher, const struct xb_mac *mac,
    size_t packet_bytes, const struct xb_primitive_keys *keys, struct xb_err *err)
{
	const size_t block = cipher != NULL ? cipher->block_bytes : 1;
	struct xb_primitive *p = xb_calloc(1, sizeof(*p));

	p->cipher = cipher;
	p->mac = cipher != NULL && xb_cipher_is_aead(cipher) ? NULL : mac;
	p->bytes = (packet_bytes + block - 1) / block * block;
	allocate_frames(p);
	if (set_up(p, keys, err))
		return p;
	xb_primitive_free(p);
	return NULL;
}

struct xb_primitive *
xb_primitive_new(const struct xb_cipher *cipher, const struct xb_mac *mac, size_t packet_bytes,
    struct xb_err *err)
{
	struct xb_primitive_keys keys;

	if (RAND_bytes((unsigned char *)&keys, sizeof(keys)) != 1) {
		xb_fail(err, XB_FAULT_SYSTEM, "libcrypto has no random bytes");
		return NULL;
	}
	return xb_primitive_new_keyed(cipher, mac, packet_bytes, &keys, err);
}

void
xb_primitive_free(struct xb_primitive *p)
{
	if (p == NULL)
		return;
	xb_crypter_free(p->encrypter);
	xb_crypter_free(p->decrypter);
	xb_tagger_free(p->tagger);
	free(p->memory);
	free(p);
}

bool
xb_primitive_has(const struct xb_primitive *p, enum xb_primitive_op op)
{
	switch (op) {
	case XB_OP_CIPHER_ENCRYPT:
	case XB_OP_CIPHER_DECRYPT:
		return p->cipher != NULL;
	case XB_OP_MAC:
		return p->mac != NULL;
	case XB_OP_ENCRYPT:
	case XB_OP_DECRYPT:
		return p->cipher != NULL && (is_aead(p) || p->mac != NULL);
	}
	return false;
}

static bool
pass_cipher_encrypt(void *ctx)
{
	struct xb_primitive *p = ctx;

	return xb_crypter_run(p->encrypter, p->seq++, p->plain, p->wire, p->bytes) == XB_OPENED;
}

static bool
pass_cipher_decrypt(void *ctx)
{
	struct xb_primitive *p = ctx;

	return xb_crypter_run(p->decrypter, 0, p->sealed, p->opened, p->bytes) == XB_OPENED;
}

static bool
pass_mac(void *ctx)
{
	struct xb_primitive *p = ctx;
	uint8_t tag[XB_TAG_MAX];

	return tag_frame(p, p->seq++, p->plain, tag);
}

static bool
pass_encrypt(void *ctx)
{
	struct xb_primitive *p = ctx;

	return xb_primitive_seal(p, p->seq++, p->plain, p->wire);
}

/*
 * The same packet 0 is decrypted again and again. With AEAD and encrypt-then-MAC its tag is right
 * each time. With encrypt-and-MAC the cipher's state has moved on after the first time, the plain
 * text is another, and the tag differs: it is computed and compared at the same cost all the same.
 */
static bool
pass_decrypt(void *ctx)
{
	struct xb_primitive *p = ctx;
	enum xb_opened opened = xb_primitive_open(p, 0, p->sealed, p->opened);

	return opened == XB_OPENED || (opened == XB_OPEN_FORGED && !has_clear_length(p));
}

double
xb_primitive_time(bool (*pass)(void *ctx), void *ctx, size_t bytes, int64_t min_ns)
{
	const int64_t batch_ns = min_ns / 8 < BATCH_NS ? min_ns / 8 : BATCH_NS;
	uint64_t batch = 0, passes = 0;
	int64_t begin, took;
	bool ok = true;

	do {
		batch = batch > 0 ? batch * 2 : 1;
		begin = xb_clock_ns();
		for (uint64_t i = 0; ok && i < batch; i++)
			ok = pass(ctx);
		took = xb_clock_ns() - begin;
	} while (ok && took < batch_ns);

	begin = xb_clock_ns();
	do {
		for (uint64_t i = 0; ok && i < batch; i++)
			ok = pass(ctx);
		passes += batch;
		took = xb_clock_ns() - begin;
		/* Somebody who wants us to end is not kept waiting for a long figure. */
	} while (ok && took < min_ns && xb_signals_pending() == 0);
	return ok && took > 0 ? (double)bytes * (double)passes / xb_seconds(took) : 0;
}

double
xb_primitive_speed(struct xb_primitive *p, enum xb_primitive_op op, int64_t min_ns)
{
	static bool (*const passes[XB_OP_COUNT])(void *) = {
		[XB_OP_CIPHER_ENCRYPT] = pass_cipher_encrypt,
		[XB_OP_CIPHER_DECRYPT] = pass_cipher_decrypt,
		[XB_OP_MAC] = pass_mac,
		[XB_OP_ENCRYPT] = pass_encrypt,
		[XB_OP_DECRYPT] = pass_decrypt,
	};

	if (!xb_primitive_has(p, op))
		return 0;
	return xb_primitive_time(passes[op], p, p->bytes, min_ns);
}

bool
xb_primitive_round_trip(struct xb_primitive *p, const void *plain, void *wire, size_t *wire_len,
    struct xb_err *err)
{
	const size_t skip = has_clear_length(p) ? 0 : XB_LENGTH_BYTES;
	const char *name = p->cipher != NULL ? p->cipher->name : "a MAC alone";

	*wire_len = 0;
	if (p->cipher == NULL)
		return xb_fail(err, XB_FAULT_TRIAL, "%s encrypts nothing", name);
	memcpy(p->opened + XB_LENGTH_BYTES, plain, p->bytes);
	memcpy(p->opened, p->plain, XB_LENGTH_BYTES);
	if (!xb_primitive_restart(p) || !xb_primitive_seal(p, 0, p->opened, p->wire))
		return xb_fail(err, XB_FAULT_TRIAL, "libcrypto fails to encrypt with %s", name);
	*wire_len = XB_LENGTH_BYTES - skip + p->bytes + tag_bytes(p);
	memcpy(wire, p->wire + skip, *wire_len);
	memset(p->opened, 0, XB_LENGTH_BYTES + p->bytes);
	if (xb_primitive_open(p, 0, p->wire, p->opened) != XB_OPENED)
		return xb_fail(err, XB_FAULT_TRIAL, "%s does not decrypt what it encrypted", name);
	if (memcmp(p->opened + XB_LENGTH_BYTES, plain, p->bytes) != 0)
		return xb_fail(err, XB_FAULT_TRIAL, "%s decrypts to another text", name);
	return true;
}
