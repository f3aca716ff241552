#include "bench/speed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/affinity.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/worker.h"
#include "bench/primitive.h"
#include "client/payload.h"
#include "model/cipher.h"

/* Each figure of a round: long enough for a thousand packets of the slowest cipher here. */
#define FIGURE_NS (20 * XB_NS_PER_MS)

/* Far beyond what a round can take. */
#define ROUND_DEADLINE_NS (300 * XB_NS_PER_SECOND)

/* What zlib works on: the payload's beginning, far more than its window. */
#define PLAIN_BYTES (1024u * 1024)

/* As OpenSSH compresses: its level, flushed after each packet. */
#define ZLIB_LEVEL 6

/* deflate and inflate come after the suites' figures. */
#define ZLIB_FIGURES 2u

/* A suite and the operations that it has; set up anew in each worker, so that no trial carries the
 * memory of all of them. */
struct suite {
	const struct xb_cipher *cipher;
	const struct xb_mac *mac;
	bool has[XB_OP_COUNT];
};

struct xb_speed {
	struct xb_run *run;
	struct suite *suites; /* beside run->primitives */
	unsigned char *plain; /* for zlib, NULL: nothing compresses */
	int cpu;
};

static struct xb_series *
series_of(struct xb_primitive_result *result, enum xb_primitive_op op)
{
	switch (op) {
	case XB_OP_CIPHER_ENCRYPT:
		return &result->cipher_encrypt;
	case XB_OP_CIPHER_DECRYPT:
		return &result->cipher_decrypt;
	case XB_OP_MAC:
		return &result->mac;
	case XB_OP_ENCRYPT:
		return &result->encrypt;
	case XB_OP_DECRYPT:
		break;
	}
	return &result->decrypt;
}

static void
add_suite(struct xb_speed *speed, const struct xb_suite *suite)
{
	struct xb_run *run = speed->run;
	struct xb_primitive_result *result;
	struct xb_err err = { 0 };
	struct xb_primitive *primitive;
	struct suite *kept;
	int op;

	run->primitives = xb_grow(run->primitives, run->primitive_count, sizeof(*run->primitives));
	speed->suites = xb_grow(speed->suites, run->primitive_count, sizeof(*speed->suites));
	kept = &speed->suites[run->primitive_count];
	*kept = (struct suite){ .cipher = suite->cipher, .mac = suite->mac };
	primitive = xb_primitive_new(suite->cipher, suite->mac, XB_PACKET_BYTES, &err);
	for (op = 0; primitive != NULL && op < XB_OP_COUNT; op++)
		kept->has[op] = xb_primitive_has(primitive, (enum xb_primitive_op)op);
	result = &run->primitives[run->primitive_count++];
	*result = (struct xb_primitive_result){
		.cipher_name = xb_strdup(suite->cipher_name),
		.mac_name = suite->mac_name != NULL ? xb_strdup(suite->mac_name) : NULL,
		.reason = primitive == NULL ? xb_strdup(err.text) : NULL,
	};
	xb_primitive_free(primitive);
}

static bool
compresses(const struct xb_run *run)
{
	size_t i;

	for (i = 0; i < run->result_count; i++)
		if (run->results[i].c.status == XB_PLANNED &&
		    run->results[i].c.suite.compression != NULL)
			return true;
	return false;
}

/*
 * Copies the payload's beginning, again from its start where it is shorter; NULL: cannot be read.
 */
static unsigned char *
plain_of(const struct xb_payload *payload)
{
	struct xb_cursor *cursor = xb_cursor_new(payload);
	unsigned char *plain = xb_calloc(1, PLAIN_BYTES);
	const void *bytes;
	size_t at, len = 0;

	for (at = 0; at < PLAIN_BYTES; at += len) {
		if (!xb_cursor_peek(cursor, PLAIN_BYTES - at, &bytes, &len, NULL)) {
			free(plain);
			plain = NULL;
			break;
		}
		memcpy(plain + at, bytes, len);
		xb_cursor_advance(cursor, len);
	}
	xb_cursor_free(cursor);
	return plain;
}

struct xb_speed *
xb_speed_new(struct xb_run *run, const struct xb_payload *payload, int cpu)
{
	struct xb_speed *speed = xb_calloc(1, sizeof(*speed));
	const struct xb_suite *suite;
	size_t i;

	speed->run = run;
	speed->cpu = cpu;
	for (i = 0; i < run->result_count; i++) {
		suite = &run->results[i].c.suite;
		if (suite->cipher == NULL || (suite->mac_name != NULL && suite->mac == NULL) ||
		    xb_run_primitive(run, suite->cipher_name, suite->mac_name) != NULL)
			continue;
		add_suite(speed, suite);
	}
	if (compresses(run))
		speed->plain = plain_of(payload);
	return speed;
}

void
xb_speed_free(struct xb_speed *speed)
{
	if (speed == NULL)
		return;
	free(speed->suites);
	free(speed->plain);
	free(speed);
}

static size_t
figure_count(const struct xb_speed *speed)
{
	return speed->run->primitive_count * XB_OP_COUNT +
	    (speed->plain != NULL ? ZLIB_FIGURES : 0);
}

static double
figure_or_none(double speed)
{
	return speed > 0 ? speed : NAN;
}

static void
send_suite(int out_fd, const struct suite *suite)
{
	struct xb_primitive *primitive =
	    xb_primitive_new(suite->cipher, suite->mac, XB_PACKET_BYTES, NULL);
	double figure;
	int op;

	for (op = 0; op < XB_OP_COUNT; op++) {
		figure = NAN;
		if (primitive != NULL && suite->has[op])
			figure = xb_primitive_speed(primitive, (enum xb_primitive_op)op, FIGURE_NS);
		xb_write_all(out_fd, &figure, sizeof(figure));
	}
	xb_primitive_free(primitive);
}

/* In the worker: figure after figure, NAN where there is none, sent as they come. */
static void
work(int out_fd, void *ctx)
{
	const struct xb_speed *speed = ctx;
	double zlib[ZLIB_FIGURES];
	size_t i;

	xb_affinity_pin(speed->cpu);
	for (i = 0; i < speed->run->primitive_count; i++)
		send_suite(out_fd, &speed->suites[i]);
	if (speed->plain == NULL)
		return;
	zlib[0] = figure_or_none(xb_primitive_deflate_speed(speed->plain, PLAIN_BYTES,
	    XB_PACKET_BYTES, ZLIB_LEVEL, FIGURE_NS));
	zlib[1] = figure_or_none(xb_primitive_inflate_speed(speed->plain, PLAIN_BYTES,
	    XB_PACKET_BYTES, ZLIB_LEVEL, FIGURE_NS));
	xb_write_all(out_fd, zlib, sizeof(zlib));
}

static void
keep(struct xb_speed *speed, const double *figures)
{
	struct xb_run *run = speed->run;
	size_t i, count = run->primitive_count * XB_OP_COUNT;

	for (i = 0; i < count; i++)
		if (speed->suites[i / XB_OP_COUNT].has[i % XB_OP_COUNT])
			xb_series_add(series_of(&run->primitives[i / XB_OP_COUNT],
					  (enum xb_primitive_op)(i % XB_OP_COUNT)),
			    figures[i]);
	if (speed->plain == NULL)
		return;
	xb_series_add(&run->deflate, figures[count]);
	xb_series_add(&run->inflate, figures[count + 1]);
}

void
xb_speed_round(struct xb_speed *speed)
{
	size_t count = figure_count(speed);
	const struct xb_worker worker = {
		.work = work,
		.ctx = speed,
		.deadline_ns = xb_clock_ns() + ROUND_DEADLINE_NS,
	};
	double *figures = xb_calloc(count, sizeof(*figures));
	struct xb_worker_result result;

	if (count > 0)
		xb_worker_run(&worker, figures, count * sizeof(*figures), &result, NULL);
	if (count > 0 && result.end == XB_WORKER_DONE && result.len == count * sizeof(*figures))
		keep(speed, figures);
	free(figures);
}

double
xb_speed_round_seconds(const struct xb_speed *speed)
{
	size_t i, figures = speed->plain != NULL ? ZLIB_FIGURES : 0;
	int op;

	for (i = 0; i < speed->run->primitive_count; i++)
		for (op = 0; op < XB_OP_COUNT; op++)
			figures += speed->suites[i].has[op];
	return (double)figures * xb_seconds(FIGURE_NS);
}
