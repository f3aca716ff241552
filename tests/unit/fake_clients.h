#ifndef TESTS_UNIT_FAKE_CLIENTS_H
#define TESTS_UNIT_FAKE_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/rounds.h"
#include "client/client.h"
#include "model/run.h"

/*
 * Rounds with clients that do what a test says and remember how they were called, across the
 * processes that they run in. What goes wrong here fails the test.
 */

/* "alpha" and "beta" (shown as "B"); and "plain", which speaks no SSH. */
extern const struct xb_client *const fake_clients[];

/* One call of a client. */
struct fake_call {
	char client[16];
	char cipher[XB_NAME_MAX]; /* "" as negotiated */
	char hint[32];
	char file[256]; /* the remote file, "" none */
	enum xb_method method;
	enum xb_direction direction;
	uint64_t size, remote_bytes;
	int64_t time_ns;
	bool count;
	bool has_target_cpu; /* a CPU was named for a sink */
};

/* The calls so far, in the order in which they came. */
size_t fake_call_count(void);
const struct fake_call *fake_call(size_t index);

/* How many calls a client had; with a method, or XB_METHOD_COUNT for any. */
size_t fake_calls_of(const char *client, int method);

/* What the clients do, set by the test before it runs the rounds; NULL: all goes well. */
extern bool (*fake_behaves)(const struct xb_client *client, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);

/*
 * What goes well: ready, so many bytes (the size, or a million) at so many a second, end. 0: as
 * fast as that goes. Fills what there is of steps and names: the suite that was asked for, or
 * fake_negotiates, at first cipher-a with hmac-sha2-256.
 */
bool fake_streams(const struct xb_transfer *transfer, double bytes_per_second,
    struct xb_outcome *outcome, struct xb_err *err);

/* What fails in a phase; 4711 bytes have flowed when it is that of the stream or a later one. */
bool fake_fails_at(const struct xb_transfer *transfer, enum xb_phase phase, enum xb_fault fault,
    const char *why, struct xb_err *err);
extern struct xb_negotiated fake_negotiates;

/* What the hooks of all clients say. */
extern bool fake_is_sized, fake_reads_file;
extern const char *fake_cannot_exec;

/* A run of one private target with two rounds of 10 ms, and its rounds. */
struct fake_bench {
	struct xb_run run;
	struct xb_rundir *dir;
	struct xb_payload *payload;
	struct xb_rounds rounds;
	struct xb_target *targets[2];
};

struct fake_bench *fake_bench_new(const char *payload);
void fake_bench_free(struct fake_bench *bench);

/* Adds a planned case by exec upload with a suite; as negotiated where cipher is NULL. Names that
 * no table has save the time of raw speeds. */
struct xb_case *fake_case(struct fake_bench *bench, const char *client, const char *cipher,
    const char *mac);

/* Runs the rounds, which must go well. */
void fake_bench_run(struct fake_bench *bench);

/* The only case of a client with a cipher; NULL: there is none. */
struct xb_result *fake_result(struct fake_bench *bench, const char *client, const char *cipher);

/* The status and the reason of a case. */
void fake_expect(struct fake_bench *bench, const char *client, const char *cipher,
    enum xb_status status, const char *reason);

/* For cmocka_unit_test_setup_teardown. */
int fake_set_up(void **state);
int fake_tear_down(void **state);

#endif
