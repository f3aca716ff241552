#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/run.h"
#include "report/json.h"

/* A case as the plan makes it; strings are not owned, so these runs are never freed. */
#define CASE(cipher, mac, ...) \
	.c = { .suite = { .cipher_name = (char[]){ cipher }, .mac_name = mac }, \
		.client = "libssh2", \
		.streams = 1, \
		__VA_ARGS__ }

static struct xb_sample
good_sample(unsigned round, uint64_t bytes, double seconds)
{
	return (struct xb_sample){
		.status = XB_MEASURED,
		.round = round,
		.order = 1,
		.bytes = bytes,
		.seconds = seconds,
		.connect_seconds = 0.001,
		.kex_seconds = 0.02,
		.auth_seconds = 0.03,
		.client_cpu_seconds = 0.9,
		.server_cpu_seconds = NAN,
		.server_core_share = NAN,
		.foreign_cpu_seconds = 0.05,
		.steal_seconds = 0,
		.peak_kib = 7000,
		.negotiated = { .cipher = "aes128-ctr",
		    .mac = "hmac-sha2-256",
		    .kex = "curve25519-sha256",
		    .hostkey = "ssh-ed25519" },
	};
}

static struct xb_sample
bad_sample(unsigned round, const char *reason)
{
	struct xb_sample sample = good_sample(round, 17, NAN);

	sample.status = XB_FAILED;
	sample.client_cpu_seconds = NAN;
	sample.peak_kib = 0;
	sample.negotiated = (struct xb_negotiated){ 0 };
	snprintf(sample.reason, sizeof(sample.reason), "%s", reason);
	return sample;
}

/* Two rounds on this machine. The arrays are given by the test. */
static struct xb_run
canned_run(struct xb_result *results, size_t count)
{
	static char tool[] = "xferbench 0.1.0";
	static char library[] = "libssh2 1.10.0";
	static char *libraries[] = { tool, library };
	static char started[] = "2026-01-31T12:34:56Z";
	static char name[] = "this machine";
	static char payload[] = "sparse";
	static struct xb_target_sheet target;

	target = (struct xb_target_sheet){
		.name = name,
		.port = 40022,
		.is_private = true,
		.is_local = true,
	};
	return (struct xb_run){
		.started = started,
		.seconds = 12.5,
		.libraries = { .count = 2, .names = libraries },
		.host = { .cpus = 2, .aes = true, .load1 = NAN },
		.target_count = 1,
		.targets = &target,
		.settings = { .time_ns = 250000000,
		    .rounds = 2,
		    .seed = UINT64_MAX,
		    .payload = payload,
		    .payload_bytes = 1024,
		    .client_cpu = -1,
		    .server_cpu = -1 },
		.result_count = count,
		.results = results,
		.rounds_done = 2,
		.null_rate = NAN,
	};
}

/* What the report writes, parsed by a strict reader: duplicates and invalid UTF-8 are refused. */
static json_t *
written(const struct xb_run *run)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct xb_err err = { 0 };
	json_t *root;

	assert_non_null(out);
	assert_true(xb_report_json.write(run, NULL, out, &err));
	assert_int_equal(fclose(out), 0);
	assert_int_equal(err.fault, XB_FAULT_NONE);
	assert_int_equal(text[size - 1], '\n');
	for (size_t i = 0; i < size; i++)
		assert_true(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '\x7f'));
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

/* The value at a path such as "results.0.rate"; fails when there is none. */
static json_t *
at(json_t *value, const char *path)
{
	char copy[200];
	char *rest = copy;
	const char *part;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((part = strsep(&rest, ".")) != NULL) {
		value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10))
					     : json_object_get(value, part);
		if (value == NULL)
			fail_msg("no %s in %s", part, path);
	}
	return value;
}

static void
assert_null_at(json_t *root, const char *path)
{
	if (!json_is_null(at(root, path)))
		fail_msg("%s is not null", path);
}

static void
assert_text_at(json_t *root, const char *path, const char *expected)
{
	json_t *value = at(root, path);

	if (!json_is_string(value))
		fail_msg("%s is no string", path);
	assert_string_equal(json_string_value(value), expected);
}

static void
assert_number_at(json_t *root, const char *path, double expected)
{
	json_t *value = at(root, path);

	if (!json_is_number(value))
		fail_msg("%s is no number", path);
	if (fabs(json_number_value(value) - expected) > 1e-9 * fabs(expected))
		fail_msg("%s is %.17g", path, json_number_value(value));
}

static void
rate_is_bytes_per_second_with_its_interval(void **state)
{
	struct xb_sample samples[] = { good_sample(0, 100000000, 1),
		good_sample(1, 90000000, 0.5) };
	struct xb_result results[] = {
		{ CASE("aes128-ctr", (char[]){ "hmac-sha2-256" }, .status = XB_MEASURED),
		    .sample_count = 2, .samples = samples }
	};
	struct xb_run run = canned_run(results, 1);
	json_t *root = written(&run);

	(void)state;
	assert_text_at(root, "schema", "xferbench/1");
	assert_text_at(root, "results.0.status", "measured");
	assert_null_at(root, "results.0.reason");
	assert_number_at(root, "results.0.rate.median", 140000000);
	assert_number_at(root, "results.0.rate.low", 100000000);
	assert_number_at(root, "results.0.rate.high", 180000000);
	assert_number_at(root, "results.0.rate.coverage", 0.5);
	assert_int_equal(json_object_size(at(root, "results.0.rate")), 4);
	assert_text_at(root, "results.0.method", "exec");
	assert_text_at(root, "results.0.direction", "upload");
	assert_number_at(root, "results.0.samples.1.bytes", 90000000);
	assert_number_at(root, "results.0.samples.1.seconds", 0.5);
	assert_number_at(root, "results.0.samples.1.round", 1);
	assert_text_at(root, "results.0.samples.1.negotiated.kex", "curve25519-sha256");
	json_decref(root);
}

static void
case_that_is_not_measured_has_no_rate_and_a_reason(void **state)
{
	/* Samples that say "measured" under a refused case must not turn into a rate. */
	struct xb_sample stray[] = { good_sample(0, 1000000000, 0.014), bad_sample(1, "cut off") };
	struct xb_result results[] = {
		{ CASE("3des-cbc", NULL, .status = XB_FAILED, .reason = (char[]){ "sshd died" }),
		    .sample_count = 2, .samples = stray },
		{ CASE("blowfish-cbc", NULL, .status = XB_NOT_OFFERED,
		    .reason = (char[]){ "not offered" }, .hint = (char[]){ "ask" }) },
		{ CASE("aes128-ctr", NULL, .status = XB_UNSUPPORTED) },
		{ CASE("aes256-ctr", NULL, .status = XB_PLANNED) },
	};
	struct xb_run run = canned_run(results, 4);
	json_t *root;

	(void)state;
	run.partial = true;
	run.partial_reason = (char[]){ "SIGINT" };
	root = written(&run);
	for (size_t i = 0; i < 4; i++) {
		json_t *result = json_array_get(at(root, "results"), i);

		assert_null_at(result, "rate");
		assert_null_at(result, "overhead");
		assert_null_at(result, "place");
		assert_true(json_is_string(at(result, "reason")));
	}
	assert_text_at(root, "results.0.reason", "sshd died");
	assert_text_at(root, "results.1.status", "not_offered");
	assert_text_at(root, "results.1.hint", "ask");
	assert_text_at(root, "results.2.status", "unsupported");
	assert_text_at(root, "results.0.samples.1.reason", "cut off");
	assert_text_at(root, "results.0.samples.1.status", "failed");
	assert_text_at(root, "partial_reason", "SIGINT");
	assert_true(json_is_true(at(root, "partial")));
	json_decref(root);
}

static void
unknown_figure_is_null_and_never_zero(void **state)
{
	struct xb_sample samples[] = { good_sample(0, 100, 1), bad_sample(1, "") };
	struct xb_result results[] = { { CASE("aes128-ctr", NULL, .status = XB_MEASURED),
	    .sample_count = 2, .samples = samples } };
	struct xb_run run = canned_run(results, 1);
	json_t *root = written(&run);

	(void)state;
	assert_null_at(root, "host.load1");
	assert_null_at(root, "host.kernel");
	assert_null_at(root, "null_rate");
	assert_null_at(root, "targets.0.address");
	assert_null_at(root, "targets.0.banner");
	assert_null_at(root, "targets.0.offer");
	assert_null_at(root, "settings.size");
	assert_null_at(root, "settings.pinning.client_cpu");
	assert_null_at(root, "results.0.mac");
	assert_null_at(root, "results.0.raw");
	assert_null_at(root, "results.0.samples.0.server_cpu_seconds");
	assert_null_at(root, "results.0.samples.1.seconds");
	assert_null_at(root, "results.0.samples.1.peak_kib");
	assert_null_at(root, "results.0.samples.1.negotiated.cipher");
	assert_true(json_is_string(at(root, "results.0.samples.1.reason")));
	assert_null_at(root, "partial_reason");
	json_decref(root);
}

static void
seed_keeps_all_its_digits(void **state)
{
	struct xb_run run = canned_run(NULL, 0);
	json_t *root;

	(void)state;
	run.settings.size = UINT64_C(1) << 40;
	run.settings.time_ns = 0;
	run.settings.pinned = true;
	run.settings.client_cpu = 0;
	run.settings.server_cpu = 3;
	root = written(&run);
	assert_text_at(root, "settings.seed", "18446744073709551615");
	assert_null_at(root, "settings.time_seconds");
	assert_int_equal(json_integer_value(at(root, "settings.size")), INT64_C(1) << 40);
	assert_number_at(root, "settings.pinning.client_cpu", 0);
	assert_number_at(root, "settings.pinning.server_cpu", 3);
	assert_text_at(root, "settings.unit", "MB/s");
	json_decref(root);
}

static void
any_bytes_in_a_string_give_valid_json(void **state)
{
	struct xb_run run = canned_run(NULL, 0);
	char all[256];
	json_t *root;

	(void)state;
	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	all[255] = '\0';
	run.settings.payload = all;
	run.targets[0].name = (char[]){ "caf\xc3\xa9 \"\\\n\x1b[2J\x7f" };
	run.partial = true;
	run.partial_reason = (char[]){ "\xff\xfe\xc0\x80\xed\xa0\x80" };
	root = written(&run);
	assert_text_at(root, "targets.0.name", "caf\xc3\xa9 \"\\\n\x1b[2J\x7f");
	assert_non_null(strstr(json_string_value(at(root, "settings.payload")), "~\\x7f\\x80"));
	assert_text_at(root, "partial_reason", "\\xff\\xfe\\xc0\\x80\\xed\\xa0\\x80");
	json_decref(root);
}

static void
name_without_its_end_is_bounded(void **state)
{
	struct xb_sample samples[] = { good_sample(0, 100, 1) };
	struct xb_result results[] = { { CASE("aes128-ctr", NULL, .status = XB_MEASURED),
	    .sample_count = 1, .samples = samples } };
	struct xb_run run = canned_run(results, 1);
	json_t *root;

	(void)state;
	memset(samples[0].negotiated.cipher, 'a', sizeof(samples[0].negotiated.cipher));
	root = written(&run);
	assert_int_equal(json_string_length(at(root, "results.0.samples.0.negotiated.cipher")),
	    XB_NAME_MAX);
	json_decref(root);
}

static void
marks_are_told_by_name(void **state)
{
	struct xb_sample samples[] = { good_sample(0, 100, 1), good_sample(0, 200, 1) };
	struct xb_result results[] = { { CASE("aes128-ctr", NULL, .status = XB_MEASURED),
	    .sample_count = 2, .samples = samples } };
	struct xb_run run = canned_run(results, 1);
	json_t *root;

	(void)state;
	samples[0].marks = XB_MARK_FOREIGN | XB_MARK_SUPERSEDED;
	samples[1].marks = XB_MARK_REPEAT;
	root = written(&run);
	assert_int_equal(json_array_size(at(root, "results.0.samples.0.marks")), 2);
	assert_text_at(root, "results.0.samples.0.marks.0", "foreign-cpu");
	assert_text_at(root, "results.0.samples.0.marks.1", "superseded");
	assert_text_at(root, "results.0.samples.1.marks.0", "repeat");
	assert_number_at(root, "results.0.rate.median", 200);
	json_decref(root);
}

static void
overhead_compares_with_the_slower_direction(void **state)
{
	struct xb_sample samples[] = { good_sample(0, 300000000, 1) };
	struct xb_result results[] = {
		{ CASE("aes128-ctr", (char[]){ "hmac-sha2-256" }, .status = XB_MEASURED),
		    .sample_count = 1, .samples = samples }
	};
	double encrypt[] = { 900e6, NAN };
	double decrypt[] = { 600e6, NAN };
	struct xb_primitive_result primitives[] = {
		{ .cipher_name = (char[]){ "aes128-ctr" },
		    .mac_name = (char[]){ "hmac-sha2-256" },
		    .encrypt = { .count = 2, .values = encrypt },
		    .decrypt = { .count = 2, .values = decrypt } },
		{ .cipher_name = (char[]){ "cast128-cbc" },
		    .reason = (char[]){ "no legacy provider" } },
	};
	struct xb_run run = canned_run(results, 1);
	json_t *root;

	(void)state;
	run.primitives = primitives;
	run.primitive_count = 2;
	root = written(&run);
	assert_number_at(root, "results.0.raw", 600e6);
	assert_number_at(root, "results.0.overhead", 0.5);
	assert_number_at(root, "primitives.0.speed.encrypt.median", 900e6);
	assert_number_at(root, "primitives.0.speed.encrypt.rounds.0", 900e6);
	assert_null_at(root, "primitives.0.speed.encrypt.rounds.1");
	assert_null_at(root, "primitives.0.speed.mac");
	assert_null_at(root, "primitives.0.reason");
	assert_text_at(root, "primitives.1.reason", "no legacy provider");
	assert_null_at(root, "primitives.1.speed");
	json_decref(root);
	run.targets[0].is_local = false;
	root = written(&run);
	assert_null_at(root, "results.0.overhead");
	json_decref(root);
}

static void
results_keep_the_order_of_the_plan(void **state)
{
	struct xb_sample slow[] = { good_sample(0, 100, 1) };
	struct xb_sample fast[] = { good_sample(0, 900, 1) };
	struct xb_result results[] = {
		{ CASE("aes128-ctr", NULL, .status = XB_MEASURED), .sample_count = 1,
		    .samples = slow },
		{ CASE("aes256-ctr", NULL, .status = XB_MEASURED), .sample_count = 1,
		    .samples = fast },
	};
	struct xb_run run = canned_run(results, 2);
	json_t *root = written(&run);

	(void)state;
	assert_text_at(root, "results.0.cipher", "aes128-ctr");
	assert_number_at(root, "results.0.rate.median", 100);
	assert_number_at(root, "results.1.rate.median", 900);
	json_decref(root);
}

static void
offer_and_versions_are_told(void **state)
{
	char *ciphers[] = { (char[]){ "aes128-ctr" }, (char[]){ "x\x1b@evil" } };
	struct xb_run run = canned_run(NULL, 0);
	json_t *root;

	(void)state;
	run.targets[0].offer.banner = (char[]){ "SSH-2.0-OpenSSH_9.2p1 Debian-2" };
	run.targets[0].offer.ciphers_up.count = 2;
	run.targets[0].offer.ciphers_up.names = ciphers;
	root = written(&run);
	assert_text_at(root, "targets.0.banner", "SSH-2.0-OpenSSH_9.2p1 Debian-2");
	assert_int_equal(json_array_size(at(root, "targets.0.offer.ciphers_up")), 2);
	assert_int_equal(json_array_size(at(root, "targets.0.offer.kex")), 0);
	assert_text_at(root, "tool.name", "xferbench");
	assert_text_at(root, "tool.version", "0.1.0");
	assert_int_equal(json_array_size(at(root, "libraries")), 1);
	assert_text_at(root, "libraries.0.name", "libssh2");
	assert_text_at(root, "libraries.0.version", "1.10.0");
	json_decref(root);
}

static void
file_between_rounds_is_partial(void **state)
{
	struct xb_sample samples[] = { good_sample(0, 100, 1) };
	struct xb_result results[] = { { CASE("aes128-ctr", NULL, .status = XB_MEASURED),
	    .sample_count = 1, .samples = samples } };
	struct xb_run run = canned_run(results, 1);
	json_t *root;

	(void)state;
	run.rounds_done = 1;
	root = written(&run);
	assert_true(json_is_true(at(root, "partial")));
	assert_text_at(root, "partial_reason", "the run goes on");
	json_decref(root);
	/* Nothing was to be measured: there are no rounds, and nothing is missing. */
	run.rounds_done = 0;
	results[0].sample_count = 0;
	results[0].c.status = XB_UNSUPPORTED;
	root = written(&run);
	assert_true(json_is_false(at(root, "partial")));
	json_decref(root);
}

static void
full_device_is_an_error(void **state)
{
	struct xb_run run = canned_run(NULL, 0);
	struct xb_err err = { 0 };
	FILE *out = fopen("/dev/full", "we");

	(void)state;
	assert_non_null(out);
	assert_int_equal(setvbuf(out, NULL, _IONBF, 0), 0);
	assert_false(xb_report_json.write(&run, NULL, out, &err));
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	assert_non_null(strstr(err.text, "No space left"));
	fclose(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_is_bytes_per_second_with_its_interval),
		cmocka_unit_test(case_that_is_not_measured_has_no_rate_and_a_reason),
		cmocka_unit_test(unknown_figure_is_null_and_never_zero),
		cmocka_unit_test(seed_keeps_all_its_digits),
		cmocka_unit_test(any_bytes_in_a_string_give_valid_json),
		cmocka_unit_test(name_without_its_end_is_bounded),
		cmocka_unit_test(marks_are_told_by_name),
		cmocka_unit_test(overhead_compares_with_the_slower_direction),
		cmocka_unit_test(results_keep_the_order_of_the_plan),
		cmocka_unit_test(offer_and_versions_are_told),
		cmocka_unit_test(file_between_rounds_is_partial),
		cmocka_unit_test(full_device_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
