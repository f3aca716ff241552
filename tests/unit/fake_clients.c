#include "fake_clients.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "canned.h"
#include "client/payload.h"
#include "scratch.h"

#define CALLS_MAX 512u

static struct calls {
	_Atomic size_t count;
	struct fake_call calls[CALLS_MAX];
} * calls;

bool (*fake_behaves)(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);
struct xb_negotiated fake_negotiates;
bool fake_is_sized, fake_reads_file;
const char *fake_cannot_exec;

int
fake_set_up(void **state)
{
	fake_behaves = NULL;
	fake_negotiates = (struct xb_negotiated){ .cipher = "cipher-a", .mac = "hmac-sha2-256" };
	fake_is_sized = fake_reads_file = false;
	fake_cannot_exec = NULL;
	calls =
	    mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return calls != MAP_FAILED ? scratch_set_up(state) : -1;
}

int
fake_tear_down(void **state)
{
	munmap(calls, sizeof(*calls));
	return scratch_tear_down(state);
}

size_t
fake_call_count(void)
{
	return atomic_load(&calls->count);
}

const struct fake_call *
fake_call(size_t index)
{
	assert_true(index < fake_call_count());
	return &calls->calls[index];
}

size_t
fake_calls_of(const char *client, int method)
{
	size_t i, count = 0;

	for (i = 0; i < fake_call_count(); i++)
		count += strcmp(calls->calls[i].client, client) == 0 &&
		    (method == XB_METHOD_COUNT || (int)calls->calls[i].method == method);
	return count;
}

static void
remember(const struct xb_client *client, const struct xb_transfer *transfer)
{
	size_t at = atomic_fetch_add(&calls->count, 1);
	struct fake_call *call = &calls->calls[at < CALLS_MAX ? at : CALLS_MAX - 1];

	snprintf(call->client, sizeof(call->client), "%s", client->name);
	snprintf(call->cipher, sizeof(call->cipher), "%s",
	    transfer->suite->cipher_name != NULL ? transfer->suite->cipher_name : "");
	snprintf(call->hint, sizeof(call->hint), "%s",
	    transfer->login_hint != NULL ? transfer->login_hint : "");
	snprintf(call->file, sizeof(call->file), "%s",
	    transfer->remote_file != NULL ? transfer->remote_file : "");
	call->method = transfer->method;
	call->direction = transfer->direction;
	call->size = transfer->size;
	call->remote_bytes = transfer->remote_bytes;
	call->time_ns = transfer->time_ns;
	call->count = transfer->count;
	call->has_target_cpu = transfer->server_cpu >= 0;
}

bool
fake_streams(const struct xb_transfer *transfer, double bytes_per_second,
    struct xb_outcome *outcome, struct xb_err *err)
{
	const struct xb_suite *suite = transfer->suite;

	outcome->connect_seconds = outcome->kex_seconds = outcome->auth_seconds = 0.001;
	outcome->negotiated = fake_negotiates;
	if (suite->cipher_name != NULL) {
		outcome->negotiated = (struct xb_negotiated){ .compression = "none" };
		snprintf(outcome->negotiated.cipher, XB_NAME_MAX, "%s", suite->cipher_name);
	}
	if (transfer->method == XB_METHOD_LOGIN)
		return true;
	if (!transfer->on_ready(transfer->ctx))
		return xb_fail(err, XB_FAULT_TRIAL, "another stream has failed");
	outcome->bytes = transfer->size > 0 ? transfer->size : 1000000;
	usleep(bytes_per_second > 0 ? (useconds_t)(1e6 * (double)outcome->bytes / bytes_per_second)
				    : 1000);
	transfer->on_end(transfer->ctx);
	return true;
}

bool
fake_fails_at(const struct xb_transfer *transfer, enum xb_phase phase, enum xb_fault fault,
    const char *why, struct xb_err *err)
{
	atomic_store(&transfer->live->phase, (int)phase);
	if (phase >= XB_PHASE_STREAM)
		atomic_store(&transfer->live->bytes, 4711);
	return xb_fail(err, fault, "%s", why);
}

static bool
call(const struct xb_client *client, const struct xb_transfer *transfer, struct xb_outcome *outcome,
    struct xb_err *err)
{
	remember(client, transfer);
	if (fake_behaves != NULL)
		return fake_behaves(client, transfer, outcome, err);
	return fake_streams(transfer, 0, outcome, err);
}

static bool
is_sized(enum xb_method method, enum xb_direction direction)
{
	(void)method;
	(void)direction;
	return fake_is_sized;
}

static bool
reads_file(enum xb_method method, enum xb_direction direction)
{
	(void)method;
	(void)direction;
	return fake_reads_file;
}

static const char *
cannot(enum xb_method method, enum xb_direction direction)
{
	(void)direction;
	return method == XB_METHOD_EXEC ? fake_cannot_exec : NULL;
}

static void
no_algorithms(struct xb_client_algorithms *algorithms)
{
	(void)algorithms;
}

static bool transfer_alpha(const struct xb_transfer *, struct xb_outcome *, struct xb_err *);
static bool transfer_beta(const struct xb_transfer *, struct xb_outcome *, struct xb_err *);
static bool transfer_plain(const struct xb_transfer *, struct xb_outcome *, struct xb_err *);

static const struct xb_client alpha = {
	.name = "alpha",
	.algorithms = no_algorithms,
	.cannot = cannot,
	.sized = is_sized,
	.reads_file = reads_file,
	.transfer = transfer_alpha,
	.ranked = true,
};

static const struct xb_client beta = {
	.name = "beta",
	.label = "B",
	.algorithms = no_algorithms,
	.cannot = cannot,
	.sized = is_sized,
	.reads_file = reads_file,
	.transfer = transfer_beta,
	.ranked = true,
};

static const struct xb_client plain = {
	.name = "plain",
	.transfer = transfer_plain,
};

const struct xb_client *const fake_clients[] = { &alpha, &beta, &plain, NULL };

static bool
transfer_alpha(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	return call(&alpha, transfer, outcome, err);
}

static bool
transfer_beta(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	return call(&beta, transfer, outcome, err);
}

static bool
transfer_plain(const struct xb_transfer *transfer, struct xb_outcome *outcome, struct xb_err *err)
{
	return call(&plain, transfer, outcome, err);
}

struct fake_bench *
fake_bench_new(const char *payload)
{
	struct fake_bench *bench = xb_calloc(1, sizeof(*bench));
	struct xb_payload_options options = { .what = payload, .bytes = 100000000 };
	struct xb_err err = { 0 };

	canned_private(&bench->run);
	bench->run.rounds_done = 0;
	bench->run.logins = 0;
	bench->run.settings.rounds = 2;
	bench->run.settings.time_ns = 10 * XB_NS_PER_MS;
	bench->run.settings.client_cpu = -1;
	bench->run.settings.server_cpu = -1;
	bench->dir = scratch_new_run();
	options.dir = bench->dir;
	bench->payload = xb_payload_new(&options, &err);
	if (bench->payload == NULL)
		fail_msg("%s", err.text);
	bench->rounds = (struct xb_rounds){
		.run = &bench->run,
		.targets = bench->targets,
		.clients = fake_clients,
		.payload = bench->payload,
		.stall_ns = 10 * XB_NS_PER_SECOND,
	};
	return bench;
}

void
fake_bench_free(struct fake_bench *bench)
{
	xb_payload_free(bench->payload);
	xb_rundir_free(bench->dir);
	xb_run_free(&bench->run);
	free(bench);
}

struct xb_case *
fake_case(struct fake_bench *bench, const char *client, const char *cipher, const char *mac)
{
	struct xb_case *c = &xb_run_add_result(&bench->run)->c;
	size_t i;

	for (i = 0; fake_clients[i + 1] != NULL && strcmp(fake_clients[i]->name, client) != 0; i++)
		continue;
	c->client = fake_clients[i]->name;
	c->client_label = fake_clients[i]->label;
	xb_suite_init(&c->suite, cipher, mac, NULL);
	c->as_negotiated = cipher == NULL;
	return c;
}

void
fake_bench_run(struct fake_bench *bench)
{
	struct xb_err err = { 0 };

	if (!xb_rounds_run(&bench->rounds, &err))
		fail_msg("%s", err.text);
	assert_int_equal(err.fault, XB_FAULT_NONE);
}

struct xb_result *
fake_result(struct fake_bench *bench, const char *client, const char *cipher)
{
	struct xb_result *found = NULL;

	for (size_t i = 0; i < bench->run.result_count; i++) {
		struct xb_result *result = &bench->run.results[i];
		const char *name = result->c.suite.cipher_name;

		if (strcmp(result->c.client, client) != 0 ||
		    strcmp(name != NULL ? name : "", cipher) != 0)
			continue;
		assert_null(found);
		found = result;
	}
	return found;
}

void
fake_expect(struct fake_bench *bench, const char *client, const char *cipher, enum xb_status status,
    const char *reason)
{
	const struct xb_result *result = fake_result(bench, client, cipher);

	assert_non_null(result);
	if (result->c.status != status)
		fail_msg("%s %s is %s: %s", client, cipher, xb_status_name(result->c.status),
		    result->c.reason);
	if (reason == NULL) {
		assert_null(result->c.reason);
		return;
	}
	assert_non_null(result->c.reason);
	if (strstr(result->c.reason, reason) == NULL)
		fail_msg("'%s' is not in: %s", reason, result->c.reason);
}
