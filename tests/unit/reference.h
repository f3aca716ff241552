#ifndef XB_TESTS_REFERENCE_H
#define XB_TESTS_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* Algorithms written from their specifications, slow and plain, to check the fast ones against. */

/* Turns hexadecimal digits into bytes, returns how many. */
size_t reference_unhex(uint8_t *out, const char *digits);

/* len bytes of RC4's keystream from offset on. */
void reference_rc4_keystream(const uint8_t *key, size_t key_len, size_t offset, uint8_t *out,
    size_t len);

/* The tag of AES-128-GCM with a 12-byte IV, from single AES blocks; under 8 KiB of text. */
void reference_gcm_tag(const uint8_t *key, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
    const uint8_t *ciphertext, size_t len, uint8_t *tag);

/* ChaCha20 as Bernstein has it: a 64-bit counter, a 64-bit nonce. XORs len bytes. */
void reference_chacha20(const uint8_t *key, uint64_t counter, const uint8_t *nonce, uint8_t *bytes,
    size_t len);

/* Poly1305 of RFC 8439 section 2.5, with big numbers. */
void reference_poly1305(const uint8_t *key, const uint8_t *bytes, size_t len, uint8_t *tag);

#endif
