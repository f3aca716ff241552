#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "canned.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "report/table.h"
#include "report/wrap.h"

const double canned_fast[CANNED_ROUNDS] = { 510, 512, 520, 498, 511, 508 };
const double canned_slow[CANNED_ROUNDS] = { 490, 488, 495, 480, 491, 492 };
const double canned_level[CANNED_ROUNDS] = { 511, 510, 522, 497, 512, 507 };

static void
canned_common(struct xb_run *run)
{
	*run = (struct xb_run){
		.seconds = 53.2,
		.host = {
			.cpu_model = xb_strdup("AMD EPYC"),
			.cpus = 2,
			.aes = true,
			.sha = true,
			.virtualisation = xb_strdup("KVM"),
		},
		.settings = {
			.time_ns = XB_NS_PER_SECOND,
			.rounds = 6,
			.seed = 42,
			.payload = xb_strdup("sparse"),
			.client_cpu = -1,
			.server_cpu = -1,
		},
		.rounds_done = 6,
		.logins = 54,
		.null_rate = NAN,
	};
}

void
canned_private(struct xb_run *run)
{
	canned_common(run);
	*xb_run_add_target(run) = (struct xb_target_sheet){
		.name = xb_strdup("this machine"),
		.address = xb_strdup("127.0.0.1"),
		.port = 40022,
		.is_private = true,
		.is_local = true,
		.server_program = xb_strdup("/usr/sbin/sshd"),
		.server_version = xb_strdup("OpenSSH_9.2p1 Debian-2+deb12u7"),
		.offer = { .banner = xb_strdup("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7") },
	};
	run->settings.pinned = true;
	run->settings.client_cpu = 0;
	run->settings.server_cpu = 1;
}

void
canned_remote(struct xb_run *run)
{
	canned_common(run);
	*xb_run_add_target(run) = (struct xb_target_sheet){
		.name = xb_strdup("nas"),
		.address = xb_strdup("192.168.1.20"),
		.port = 22,
		.offer = { .banner = xb_strdup("SSH-2.0-dropbear_2022.83") },
	};
	run->seconds = 108;
}

struct xb_result *
canned_case(struct xb_run *run, const char *cipher, const char *mac)
{
	struct xb_result *result;

	run->results = xb_grow(run->results, run->result_count, sizeof(*run->results));
	result = &run->results[run->result_count++];
	*result = (struct xb_result){
		.c = {
			.suite = {
				.cipher_name = cipher != NULL ? xb_strdup(cipher) : NULL,
				.mac_name = mac != NULL ? xb_strdup(mac) : NULL,
				.cipher = cipher != NULL ? xb_cipher_by_name(cipher) : NULL,
				.mac = mac != NULL ? xb_mac_by_name(mac) : NULL,
			},
			.client = "libssh2",
			.streams = 1,
		},
	};
	return result;
}

struct xb_result *
canned_ssh(struct xb_run *run, const char *cipher, const char *mac)
{
	struct xb_result *result = canned_case(run, cipher, mac);

	result->c.client = "openssh";
	result->c.client_label = "ssh";
	return result;
}

struct xb_result *
canned_reference(struct xb_run *run, const char *client, const char *label)
{
	struct xb_result *result = xb_run_add_result(run);

	result->c.client = client;
	result->c.client_label = label;
	result->c.reference = true;
	return result;
}

struct xb_result *
canned_login(struct xb_run *run, const char *kex, const char *hostkey)
{
	struct xb_result *result = xb_run_add_result(run);

	result->c.client = "openssh";
	result->c.client_label = "ssh";
	result->c.method = XB_METHOD_LOGIN;
	result->c.suite.kex = kex != NULL ? xb_strdup(kex) : NULL;
	result->c.suite.hostkey = hostkey != NULL ? xb_strdup(hostkey) : NULL;
	return result;
}

struct xb_target_sheet *
canned_server(struct xb_run *run, const char *kind, const char *program, const char *version)
{
	struct xb_target_sheet *target = xb_run_add_target(run);

	*target = (struct xb_target_sheet){
		.name = xb_strdup("this machine"),
		.server = xb_strdup(kind),
		.address = xb_strdup("127.0.0.1"),
		.port = 40023,
		.is_private = true,
		.is_local = true,
		.server_program = xb_strdup(program),
		.server_version = xb_strdup(version),
	};
	return target;
}

static struct xb_sample *
add_sample(struct xb_result *result, unsigned round)
{
	struct xb_sample *sample;

	result->samples = xb_grow(result->samples, result->sample_count, sizeof(*result->samples));
	sample = &result->samples[result->sample_count++];
	*sample = (struct xb_sample){
		.round = round,
		.seconds = NAN,
		.start_seconds = NAN,
		.connect_seconds = NAN,
		.kex_seconds = NAN,
		.auth_seconds = NAN,
		.client_cpu_seconds = NAN,
		.server_cpu_seconds = NAN,
		.server_core_share = NAN,
		.foreign_cpu_seconds = NAN,
		.steal_seconds = NAN,
	};
	return sample;
}

struct xb_sample *
canned_sample(struct xb_result *result, unsigned round, double mb_per_second)
{
	struct xb_sample *sample = add_sample(result, round);

	sample->status = XB_MEASURED;
	sample->bytes = (uint64_t)llround(mb_per_second * 1e6);
	sample->seconds = 1;
	sample->connect_seconds = 0.001;
	sample->kex_seconds = 0.02;
	sample->auth_seconds = 0.03;
	result->c.status = XB_MEASURED;
	return sample;
}

void
canned_rates(struct xb_result *result, const double *mb_per_second, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		canned_sample(result, i, mb_per_second[i]);
}

void
canned_about(struct xb_result *result, double mb_per_second)
{
	for (unsigned i = 0; i < CANNED_ROUNDS; i++)
		canned_sample(result, i, mb_per_second * canned_fast[i] / 510);
}

void
canned_logins(struct xb_result *result, const double *seconds, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct xb_sample *sample = add_sample(result, i);

		sample->status = XB_MEASURED;
		sample->connect_seconds = seconds[i] / 5;
		sample->kex_seconds = seconds[i] * 3 / 5;
		sample->auth_seconds = seconds[i] / 5;
	}
	result->c.status = XB_MEASURED;
}

struct xb_sample *
canned_failure(struct xb_result *result, unsigned round, const char *reason)
{
	struct xb_sample *sample = add_sample(result, round);

	sample->status = XB_FAILED;
	snprintf(sample->reason, sizeof(sample->reason), "%s", reason);
	return sample;
}

void
canned_raw(struct xb_run *run, const char *cipher, const char *mac, double encrypt, double decrypt)
{
	struct xb_primitive_result *p;

	run->primitives = xb_grow(run->primitives, run->primitive_count, sizeof(*run->primitives));
	p = &run->primitives[run->primitive_count++];
	*p = (struct xb_primitive_result){
		.cipher_name = xb_strdup(cipher),
		.mac_name = mac != NULL ? xb_strdup(mac) : NULL,
	};
	xb_series_add(&p->encrypt, encrypt * 1e6);
	xb_series_add(&p->decrypt, decrypt * 1e6);
}

char *
canned_table(const struct xb_run *run, struct xb_report_style style)
{
	struct xb_err err = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	assert_non_null(setlocale(LC_ALL, style.utf8 ? "C.UTF-8" : "C"));
	assert_true(xb_report_table.write(run, &style, out, &err));
	xb_memstream_close(out);
	return text;
}

int
canned_widest(const char *text)
{
	char *copy = xb_strdup(text);
	char *rest = copy;
	char *line;
	size_t widest = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (xb_text_columns(line) > widest)
			widest = xb_text_columns(line);
	}
	free(copy);
	return (int)widest;
}

void
canned_expect(const char *seen, const char *expected)
{
	if (strcmp(seen, expected) != 0)
		print_error("seen:\n%s\nexpected:\n%s\n", seen, expected);
	assert_string_equal(seen, expected);
}

void
canned_check_near(double seen, double expected, double tolerance, const char *file, int line)
{
	if (fabs(seen - expected) <= tolerance)
		return;
	print_error("seen %.17g, expected %.17g\n", seen, expected);
	_fail(file, line);
}

void
canned_fill(struct xb_run *run)
{
	xb_case_refuse(&canned_case(run, "chacha20-poly1305@openssh.com", NULL)->c, XB_UNSUPPORTED,
	    "libssh2 1.10.0 has no AEAD cipher", NULL);
	xb_case_refuse(&canned_case(run, "aes256-gcm@openssh.com", NULL)->c, XB_UNSUPPORTED,
	    "libssh2 1.10.0 has no AEAD cipher", NULL);
	canned_rates(canned_case(run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	canned_rates(canned_case(run, "aes192-ctr", "hmac-sha2-256"), canned_level, 6);
	canned_rates(canned_case(run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	for (size_t i = 0; i < run->result_count; i++) {
		for (size_t j = 0; j < run->results[i].sample_count; j++) {
			run->results[i].samples[j].client_cpu_seconds = 0.98;
			run->results[i].samples[j].server_cpu_seconds = 0.71;
		}
	}
	canned_raw(run, "chacha20-poly1305@openssh.com", NULL, 3000, 3010);
	canned_raw(run, "aes256-gcm@openssh.com", NULL, 4700, 4710);
	canned_raw(run, "aes256-ctr", "hmac-sha2-256", 1570, 1560);
	canned_raw(run, "aes192-ctr", "hmac-sha2-256", 1600, 1620);
	canned_raw(run, "aes128-ctr", "hmac-sha2-256", 1690, 1700);
}

void
canned_two_clients(struct xb_run *run)
{
	static const struct {
		const char *cipher;
		const char *mac;
		double raw;
		double ssh;
		double libssh2; /* 0: it cannot */
	} suites[] = {
		{ "chacha20-poly1305@openssh.com", NULL, 3000, 660, 0 },
		{ "aes128-gcm@openssh.com", NULL, 5540, 1000, 0 },
		{ "aes256-gcm@openssh.com", NULL, 4700, 1010, 0 },
		{ "aes128-ctr", "hmac-sha2-256", 1690, 860, 510 },
		{ "aes256-ctr", "hmac-sha2-256", 1560, 830, 490 },
	};
	struct xb_result *result;

	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		result = canned_ssh(run, suites[i].cipher, suites[i].mac);
		canned_about(result, suites[i].ssh);
		result->c.as_negotiated = i == 0;
		/* Level with the other AES-GCM: now above and now below. */
		if (i == 1)
			result->samples[2].bytes = UINT64_C(1100000000);
		result = canned_case(run, suites[i].cipher, suites[i].mac);
		if (suites[i].libssh2 > 0)
			canned_about(result, suites[i].libssh2);
		else
			xb_case_refuse(&result->c, XB_UNSUPPORTED,
			    "libssh2 1.10.0 has no AEAD cipher", NULL);
		canned_raw(run, suites[i].cipher, suites[i].mac, suites[i].raw, suites[i].raw);
	}
	canned_about(canned_reference(run, "tcp", "plain TCP"), 5200);
	for (size_t i = 0; i < run->result_count; i++)
		for (size_t j = 0; j < run->results[i].sample_count; j++) {
			run->results[i].samples[j].client_cpu_seconds = 0.6;
			run->results[i].samples[j].server_cpu_seconds = 0.97;
		}
	run->settings.answer_client = xb_strdup("openssh");
}

void
canned_pair(struct xb_run *run, enum xb_method method, enum xb_direction direction,
    double mb_per_second)
{
	size_t first = run->result_count;

	canned_about(canned_ssh(run, "aes128-ctr", "hmac-sha2-256"), mb_per_second);
	canned_about(canned_case(run, "aes128-ctr", "hmac-sha2-256"), mb_per_second * 0.6);
	canned_about(canned_ssh(run, "chacha20-poly1305@openssh.com", NULL), mb_per_second * 0.8);
	run->results[first + 2].c.as_negotiated = true;
	for (size_t i = first; i < run->result_count; i++) {
		run->results[i].c.method = method;
		run->results[i].c.direction = direction;
	}
}

void
canned_expect_table(const struct xb_run *run, struct xb_report_style style, const char *expected)
{
	char *seen = canned_table(run, style);

	canned_expect(seen, expected);
	free(seen);
}

void
canned_expect_within(const struct xb_run *run, struct xb_report_style style)
{
	char *seen = canned_table(run, style);

	if (canned_widest(seen) > style.width)
		print_error("wider than %d:\n%s\n", style.width, seen);
	assert_true(canned_widest(seen) <= style.width);
	free(seen);
}

void
canned_expect_part(const struct xb_run *run, struct xb_report_style style, const char *part)
{
	char *seen = canned_table(run, style);

	if (strstr(seen, part) == NULL)
		print_error("no \"%s\" in:\n%s\n", part, seen);
	assert_non_null(strstr(seen, part));
	free(seen);
}

void
canned_expect_no_part(const struct xb_run *run, struct xb_report_style style, const char *part)
{
	char *seen = canned_table(run, style);

	if (strstr(seen, part) != NULL)
		print_error("\"%s\" in:\n%s\n", part, seen);
	assert_null(strstr(seen, part));
	free(seen);
}
