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

/* A source that does what a test wants of it. */
struct spring {
	size_t give;          /* so many bytes at once */
	uint64_t length;      /* in all; 0: without end */
	unsigned again_every; /* each so manieth receive gives nothing first; 0: never */
	unsigned fail_at;     /* the receive that fails, from 1; 0: none */
	enum xb_io wait_says;
	int64_t slow_ns; /* how long each wait takes */
	unsigned receives, waits;
	uint64_t given;
	int64_t stall_ns; /* what the last wait was told */
};

static enum xb_io
spring_receive(void *ctx, size_t *received, struct xb_err *err)
{
	struct spring *spring = ctx;

	spring->receives++;
	if (spring->receives == spring->fail_at) {
		xb_fail(err, XB_FAULT_TRIAL, "the source is broken");
		return XB_IO_FAILED;
	}
	if (spring->again_every > 0 && spring->receives % spring->again_every == 0)
		return XB_IO_AGAIN;
	*received = spring->give;
	if (spring->length > 0 && *received > spring->length - spring->given)
		*received = (size_t)(spring->length - spring->given);
	spring->given += *received;
	return XB_IO_DONE;
}

static enum xb_io
spring_wait(void *ctx, int64_t stall_ns, struct xb_err *err)
{
	struct spring *spring = ctx;

	spring->waits++;
	spring->stall_ns = stall_ns;
	if (spring->slow_ns > 0)
		usleep((useconds_t)(spring->slow_ns / 1000));
	if (spring->wait_says == XB_IO_FAILED)
		xb_fail(err, XB_FAULT_TRIAL, "the wait is broken");
	return spring->wait_says;
}

/* time_ns, size and expected as the contract has them. */
static bool
download(struct spring *spring, int64_t time_ns, uint64_t size, uint64_t expected, uint64_t *bytes,
    struct xb_err *err)
{
	const struct xb_source source = {
		.receive = spring_receive,
		.wait = spring_wait,
		.ctx = spring,
	};
	struct xb_live live;
	const struct xb_transfer transfer = {
		.time_ns = time_ns,
		.size = size,
		.stall_ns = 3 * XB_NS_PER_SECOND,
		.live = &live,
	};
	bool ok;

	memset(&live, 0, sizeof(live));
	memset(err, 0, sizeof(*err));
	ok = xb_stream_download(&transfer, &source, expected, bytes, err);
	assert_int_equal(atomic_load(&live.bytes), *bytes);
	return ok;
}

static void
download_counts_the_size_exactly_whatever_comes_at_once(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 32768, 1000003 };
	static const size_t gives[] = { 7, 32768, 5000000 };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t j = 0; j < sizeof(gives) / sizeof(gives[0]); j++) {
			struct spring spring = { .give = gives[j] };

			assert_true(download(&spring, 0, sizes[i], 0, &bytes, &err));
			assert_int_equal(bytes, sizes[i]);
			/* What comes behind it is left where it is. */
			assert_true(spring.given < bytes + spring.give);
			assert_int_equal(spring.waits, 0);
		}
}

static void
time_box_ends_a_download_and_its_first_bytes_are_waited_for(void **state)
{
	struct spring steady = { .give = 1000, .again_every = 2, .slow_ns = XB_NS_PER_MS };
	struct spring late = { .give = 1000, .again_every = 1, .slow_ns = XB_NS_PER_MS };
	int64_t start = xb_clock_ns(), took;
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_true(download(&steady, 100 * XB_NS_PER_MS, 0, 0, &bytes, &err));
	took = xb_clock_ns() - start;
	assert_true(took >= 100 * XB_NS_PER_MS);
	assert_in_range(bytes, 1, 100 * 1000 + 1000);
	/* Nothing but AGAIN: the time-box is long over when the source gives up. */
	late.fail_at = 20;
	assert_false(download(&late, 1, 0, 0, &bytes, &err));
	assert_int_equal(late.receives, 20);
	assert_int_equal(bytes, 0);
}

static void
source_that_ends_before_the_size_is_an_error_with_its_count(void **state)
{
	struct spring spring = { .give = 1000, .length = 34567 };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_false(download(&spring, 0, 1000000, 0, &bytes, &err));
	assert_int_equal(bytes, 34567);
	assert_int_equal(err.fault, XB_FAULT_TRIAL);
	assert_non_null(strstr(err.text, "34567"));
}

static void
source_that_ends_before_the_time_box_is_an_error_with_its_count(void **state)
{
	struct spring spring = { .give = 1000, .length = 34567 }, nothing = { .give = 0 };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_false(download(&spring, 3600 * XB_NS_PER_SECOND, 0, 0, &bytes, &err));
	assert_int_equal(bytes, 34567);
	assert_non_null(strstr(err.text, "34567"));
	assert_false(download(&nothing, 1, 0, 0, &bytes, &err));
	assert_int_equal(bytes, 0);
	assert_non_null(strstr(err.text, "0 bytes"));
}

static void
source_ends_well_with_the_expected_length_and_no_other(void **state)
{
	struct spring whole = { .give = 1000, .length = 34567 };
	struct spring shorter = { .give = 1000, .length = 34566 };
	struct spring longer = { .give = 1000, .length = 34568 };
	struct spring large = { .give = 1000, .length = 34567 };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_true(download(&whole, 3600 * XB_NS_PER_SECOND, 0, 34567, &bytes, &err));
	assert_int_equal(bytes, 34567);
	assert_false(download(&shorter, 0, 0, 34567, &bytes, &err));
	assert_int_equal(bytes, 34566);
	assert_non_null(strstr(err.text, "34566 bytes instead of 34567"));
	assert_false(download(&longer, 0, 0, 34567, &bytes, &err));
	assert_non_null(strstr(err.text, "34568 bytes instead of 34567"));
	/* The size is a limit, not a promise of the source. */
	assert_true(download(&large, 0, 1000000, 34567, &bytes, &err));
	assert_int_equal(bytes, 34567);
}

static void
download_that_stalls_or_breaks_says_so_in_its_own_words(void **state)
{
	struct spring silent = { .give = 1000, .again_every = 6, .wait_says = XB_IO_AGAIN };
	struct spring broken = { .give = 1000, .fail_at = 4 };
	struct spring lost = { .give = 1000, .again_every = 2, .wait_says = XB_IO_FAILED };
	struct xb_err err;
	uint64_t bytes;

	(void)state;
	assert_false(download(&silent, 0, 0, 0, &bytes, &err));
	assert_int_equal(bytes, 5000);
	assert_non_null(strstr(err.text, "no data for 3 s"));
	assert_non_null(strstr(err.text, "5 kB"));
	assert_int_equal(silent.stall_ns, 3 * XB_NS_PER_SECOND);
	assert_false(download(&broken, 0, 0, 0, &bytes, &err));
	assert_string_equal(err.text, "the source is broken");
	assert_int_equal(bytes, 3000);
	assert_false(download(&lost, 0, 0, 0, &bytes, &err));
	assert_string_equal(err.text, "the wait is broken");
	assert_int_equal(bytes, 1000);
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
		cmocka_unit_test(download_counts_the_size_exactly_whatever_comes_at_once),
		cmocka_unit_test(time_box_ends_a_download_and_its_first_bytes_are_waited_for),
		cmocka_unit_test(source_that_ends_before_the_size_is_an_error_with_its_count),
		cmocka_unit_test(source_that_ends_before_the_time_box_is_an_error_with_its_count),
		cmocka_unit_test(source_ends_well_with_the_expected_length_and_no_other),
		cmocka_unit_test(download_that_stalls_or_breaks_says_so_in_its_own_words),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
