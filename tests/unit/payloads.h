#ifndef TESTS_UNIT_PAYLOADS_H
#define TESTS_UNIT_PAYLOADS_H

#include <stddef.h>
#include <stdint.h>

struct xb_cursor;
struct xb_payload;
struct xb_rundir;

/* Payloads in a run directory of the test's own. What goes wrong here fails the test. */

/* A payload and a cursor on it. */
struct payload_reader {
	struct xb_rundir *dir;
	struct xb_payload *payload;
	struct xb_cursor *cursor;
};

struct payload_reader payload_open(const char *what, uint64_t bytes, uint64_t seed);
void payload_close(struct payload_reader *reader);

/* The next len bytes, fresh, taken in pieces that are cut short now and then, as a sink does. */
unsigned char *payload_take(const struct payload_reader *reader, size_t len);

/* Makes a file of len random bytes at path; its content, fresh. */
unsigned char *payload_random_file(const char *path, size_t len);

/* There is no such payload: a usage error with this text. */
void payload_expect_refused(const char *what, const char *text);

#endif
