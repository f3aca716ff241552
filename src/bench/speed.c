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
#include "model/cipher.h"

/* Each figure of a round: long enough for a thousand packets of the slowest cipher here. */
#define FIGURE_NS (20 * XB_NS_PER_MS)

/* Far beyond what a round can take. */
#define ROUND_DEADLINE_NS (300 * XB_NS_PER_SECOND)

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

struct xb_speed *
xb_speed_new(struct xb_run *run, int cpu)
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
	return speed;
}

void
xb_speed_free(struct xb_speed *speed)
{
	if (speed == NULL)
		return;
	free(speed->suites);
	free(speed);
}

/* In the worker: figure after figure, NAN where there is none, sent as they come. */
static void
work(int out_fd, void *ctx)
{
	const struct xb_speed *speed = ctx;
	const struct suite *suite;
	struct xb_primitive *primitive;
	double figure;
	size_t i;
	int op;

	xb_affinity_pin(speed->cpu);
	for (i = 0; i < speed->run->primitive_count; i++) {
		suite = &speed->suites[i];
		primitive = xb_primitive_new(suite->cipher, suite->mac, XB_PACKET_BYTES, NULL);
		for (op = 0; op < XB_OP_COUNT; op++) {
			figure = NAN;
			if (primitive != NULL && suite->has[op])
				figure = xb_primitive_speed(primitive, (enum xb_primitive_op)op,
				    FIGURE_NS);
			xb_write_all(out_fd, &figure, sizeof(figure));
		}
		xb_primitive_free(primitive);
	}
}

void
xb_speed_round(struct xb_speed *speed)
{
	size_t i, count = speed->run->primitive_count * XB_OP_COUNT;
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
		for (i = 0; i < count; i++)
			if (speed->suites[i / XB_OP_COUNT].has[i % XB_OP_COUNT])
				xb_series_add(series_of(&speed->run->primitives[i / XB_OP_COUNT],
						  (enum xb_primitive_op)(i % XB_OP_COUNT)),
				    figures[i]);
	free(figures);
}

double
xb_speed_round_seconds(const struct xb_speed *speed)
{
	size_t i, figures = 0;
	int op;

	for (i = 0; i < speed->run->primitive_count; i++)
		for (op = 0; op < XB_OP_COUNT; op++)
			figures += speed->suites[i].has[op];
	return (double)figures * xb_seconds(FIGURE_NS);
}
