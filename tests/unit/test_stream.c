#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "client/client.h"
#include "client/payload.h"
#include "client/stream.h"
#include "scratch.h"

/* A sink that does what a test wants of it, and remembers. */
struct fake {
	size_t take;          /* at most so many bytes at once */
	unsigned again_every; /* each so manieth send takes nothing first; 0: never */
	unsigned fail_at;     /* the send that fails, from 1; 0: none */
	bool deaf;            /* never takes anything */
	bool zero;            /* says DONE and takes nothing */
	enum xb_io wait_says;
	int64_t slow_ns; /* how long each send takes */
	unsigned sends, waits, bad_retries;
	uint64_t got;
	bool half_taken; /* the last send was AGAIN: the same bytes have to come again */
	size_t half_len;
	unsigned char half_first;
	int64_t stall_ns; /* what the last wait was told */
};

static enum xb_io
fake_send(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err)
{
	struct fake *fake = ctx;
	unsigned char first = *(const unsigned char *)bytes;

	assert_true(len > 0);
	fake->sends++;
	if (fake->half_taken && (len != fake->half_len || first != fake->half_first))
		fake->bad_retries++;
	if (fake->sends == fake->fail_at) {
		xb_fail(err, XB_FAULT_TRIAL, "the sink is broken");
		return XB_IO_FAILED;
	}
	if (fake->zero)
		return XB_IO_DONE;
	if (fake->deaf ||
	    (fake->again_every > 0 && !fake->half_taken && fake->sends % fake->again_every == 0)) {
		fake->half_taken = true;
		fake->half_len = len;
		fake->half_first = first;
		return XB_IO_AGAIN;
	}
	fake->half_taken = false;
	if (fake->slow_ns > 0)
		usleep((useconds_t)(fake->slow_ns / 1000));
	*sent = len < fake->take ? len : fake->take;
	fake->got += *sent;
	return XB_IO_DONE;
}

static enum xb_io
fake_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	struct fake *fake = ctx;

	fake->waits++;
	fake->stall_ns = stall_ns;
	if (fake->wait_says == XB_IO_FAILED)
		xb_fail(err, XB_FAULT_TRIAL, "the wait is broken");
	return fake->wait_says;
}

/* One upload into the fake, of random bytes. */
static bool
upload(struct fake *fake, int64_t time_ns, uint64_t size, uint64_t *bytes, struct xb_err *err)
{
	const struct xb_payload_options options = { .what = "random", .seed = 1 };
	const struct xb_sink sink = { .send = fake_send, .wait = fake_wait, .ctx = fake };
	struct xb_payload *payload = xb_payload_new(&options, NULL);
	struct xb_live live;
	const struct xb_transfer transfer = {
		.payload = payload,
		.time_ns = time_ns,
		.size = size,
		.stall_ns = 3 * XB_NS_PER_SECOND,
		.live = &live,
	};
	bool ok;

	memset(&live, 0, sizeof(live));
	memset(err, 0, sizeof(*err));
	ok = xb_stream_upload(&transfer, &sink, bytes, err);
	/* The parent sees as much as the caller. */
	assert_int_equal(atomic_load(&live.bytes), *bytes);
	assert_int_equal(fake->got, *bytes);
	xb_payload_free(payload);
	return ok;
}

static void
size_is_sent_exactly_whatever_the_sink_takes_at_once(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 32768, 32769, 1000003 };
	static const size_t takes[] = { 7, 32700, SIZE_MAX };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t j = 0; j < sizeof(takes) / sizeof(takes[0]); j++) {
			struct fake fake = { .take = takes[j] };

			assert_true(upload(&fake, 0, sizes[i], &bytes, &err));
			assert_int_equal(bytes, sizes[i]);
			assert_int_equal(fake.waits, 0);
		}
}

static void
time_box_ends_the_stream_and_the_clock_is_looked_at_between_pieces(void **state)
{
	struct fake fake = { .take = 1000, .slow_ns = XB_NS_PER_MS };
	int64_t start = xb_clock_ns(), took;
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_true(upload(&fake, 100 * XB_NS_PER_MS, 0, &bytes, &err));
	took = xb_clock_ns() - start;
	assert_true(took >= 100 * XB_NS_PER_MS);
	assert_true(took < 5 * XB_NS_PER_SECOND);
	/* At most one piece each millisecond. */
	assert_in_range(bytes, 1, 100 * 1000 + 1000);
}

static void
of_time_and_size_the_first_ends_it(void **state)
{
	struct fake fast = { .take = SIZE_MAX }, slow = { .take = 10, .slow_ns = XB_NS_PER_MS };
	int64_t start = xb_clock_ns();
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_true(upload(&fast, 3600 * XB_NS_PER_SECOND, 5000000, &bytes, &err));
	assert_int_equal(bytes, 5000000);
	assert_true(upload(&slow, 30 * XB_NS_PER_MS, UINT64_MAX, &bytes, &err));
	assert_in_range(bytes, 1, 1000);
	assert_true(xb_clock_ns() - start < 60 * XB_NS_PER_SECOND);
}

static void
half_taken_bytes_come_again_unchanged(void **state)
{
	struct fake fake = { .take = 5000, .again_every = 3, .wait_says = XB_IO_DONE };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_true(upload(&fake, 0, 1000003, &bytes, &err));
	assert_int_equal(bytes, 1000003);
	assert_int_equal(fake.bad_retries, 0);
	assert_true(fake.waits > 50);
	assert_int_equal(fake.stall_ns, 3 * XB_NS_PER_SECOND);
}

/* Leaving it would leave half a packet on the wire. */
static void
what_is_half_taken_when_the_time_is_over_is_finished(void **state)
{
	struct fake fake = { .take = 100, .again_every = 1, .wait_says = XB_IO_DONE };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	/* Each send is half-taken first, and the time is over before the first one ends. */
	assert_true(upload(&fake, 1, 0, &bytes, &err));
	assert_int_equal(bytes, 100);
	assert_false(fake.half_taken);
	assert_int_equal(fake.bad_retries, 0);
}

static void
stall_is_an_error_that_names_how_far_it_came_and_how_long_it_waited(void **state)
{
	struct fake fake = { .take = 1000, .again_every = 6, .wait_says = XB_IO_AGAIN };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_false(upload(&fake, 0, 1000000, &bytes, &err));
	assert_int_equal(bytes, 5000);
	assert_int_equal(err.fault, XB_FAULT_TRIAL);
	assert_non_null(strstr(err.text, "3 s"));
	assert_non_null(strstr(err.text, "5 kB"));
	assert_non_null(strstr(err.text, "--stall-timeout"));
}

static void
sink_that_says_done_and_takes_nothing_is_waited_for(void **state)
{
	struct fake fake = { .zero = true, .wait_says = XB_IO_AGAIN };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_false(upload(&fake, 0, 10, &bytes, &err));
	assert_int_equal(fake.sends, 1);
	assert_int_equal(fake.waits, 1);
	assert_int_equal(bytes, 0);
}

static void
failures_of_send_and_wait_keep_their_own_words(void **state)
{
	struct fake broken = { .take = 1000, .fail_at = 4 };
	struct fake lost = { .deaf = true, .wait_says = XB_IO_FAILED };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_false(upload(&broken, 0, 1000000, &bytes, &err));
	assert_string_equal(err.text, "the sink is broken");
	assert_int_equal(bytes, 3000);
	assert_false(upload(&lost, 0, 1000000, &bytes, &err));
	assert_string_equal(err.text, "the wait is broken");
	assert_int_equal(bytes, 0);
}

static void
failure_of_the_payload_ends_the_stream(void **state)
{
	const struct xb_payload_options options = { .what = scratch_path("file") };
	struct fake fake = { .take = SIZE_MAX };
	const struct xb_sink sink = { .send = fake_send, .wait = fake_wait, .ctx = &fake };
	struct xb_err err = { 0 };
	struct xb_payload *payload;
	struct xb_live live;
	struct xb_transfer transfer = { .size = 1000000, .stall_ns = 1, .live = &live };
	uint64_t bytes;

	(void)state;
	memset(&live, 0, sizeof(live));
	scratch_make_file(options.what);
	assert_int_equal(truncate(options.what, 1000000), 0);
	payload = xb_payload_new(&options, &err);
	assert_non_null(payload);
	assert_int_equal(truncate(options.what, 1000), 0);
	transfer.payload = payload;
	assert_false(xb_stream_upload(&transfer, &sink, &bytes, &err));
	assert_non_null(strstr(err.text, "shorter"));
	xb_payload_free(payload);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_is_sent_exactly_whatever_the_sink_takes_at_once),
		cmocka_unit_test(
		    time_box_ends_the_stream_and_the_clock_is_looked_at_between_pieces),
		cmocka_unit_test(of_time_and_size_the_first_ends_it),
		cmocka_unit_test(half_taken_bytes_come_again_unchanged),
		cmocka_unit_test(what_is_half_taken_when_the_time_is_over_is_finished),
		cmocka_unit_test(
		    stall_is_an_error_that_names_how_far_it_came_and_how_long_it_waited),
		cmocka_unit_test(sink_that_says_done_and_takes_nothing_is_waited_for),
		cmocka_unit_test(failures_of_send_and_wait_keep_their_own_words),
		cmocka_unit_test_setup_teardown(failure_of_the_payload_ends_the_stream,
		    scratch_set_up, scratch_tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
