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
#include "base/mem.h"
#include "canned.h"
#include "report/json.h"

#define CHACHA "chacha20-poly1305@openssh.com"

static json_t *
written(const struct xb_run *run)
{
	struct xb_err err = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);
	json_t *root;

	assert_true(xb_report_json.write(run, NULL, out, &err));
	xb_memstream_close(out);
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static json_t *
result(json_t *root, size_t number)
{
	json_t *value = json_array_get(json_object_get(root, "results"), number);

	assert_non_null(value);
	return value;
}

static json_t *
field(json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);

	if (value == NULL)
		fail_msg("there is no %s", name);
	return value;
}

static void
is_text(json_t *object, const char *name, const char *expected)
{
	assert_true(json_is_string(field(object, name)));
	assert_string_equal(json_string_value(field(object, name)), expected);
}

static void
is_null(json_t *object, const char *name)
{
	if (!json_is_null(field(object, name)))
		fail_msg("%s is not null", name);
}

static void
is_number(json_t *object, const char *name, double expected)
{
	assert_true(json_is_number(field(object, name)));
	canned_near(json_number_value(field(object, name)), expected, 1e-9 * fabs(expected));
}

static void
is_bool(json_t *object, const char *name, bool expected)
{
	assert_true(json_is_boolean(field(object, name)));
	assert_int_equal(json_is_true(field(object, name)), expected);
}

static void
each_target_is_told_with_its_kind(void **state)
{
	struct xb_run run;
	json_t *root, *targets, *target;

	(void)state;
	canned_private(&run);
	run.targets[0].server = xb_strdup("openssh");
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83")->absent =
	    xb_strdup("there is no dropbear here");
	canned_server(&run, "asyncssh", "/usr/bin/python3", "AsyncSSH_2.10.1")->stands_in = true;
	xb_case_refuse(&canned_ssh(&run, CHACHA, NULL)->c, XB_FAILED, "there is no dropbear here",
	    NULL);
	run.results[0].c.target = 1;
	root = written(&run);
	targets = field(root, "targets");
	assert_int_equal(json_array_size(targets), 3);
	target = json_array_get(targets, 0);
	is_text(target, "server", "openssh");
	is_null(target, "absent");
	is_bool(target, "stands_in", false);
	target = json_array_get(targets, 1);
	is_text(target, "absent", "there is no dropbear here");
	is_bool(json_array_get(targets, 2), "stands_in", true);
	is_number(result(root, 0), "target", 1);
	is_null(result(root, 0), "rate");
	is_text(result(root, 0), "reason", "there is no dropbear here");
	json_decref(root);
	xb_run_free(&run);
}

static void
a_case_is_told_with_all_its_dimensions(void **state)
{
	struct xb_run run;
	json_t *root, *one;

	(void)state;
	canned_private(&run);
	free(run.settings.payload);
	run.settings.payload = xb_strdup("text:50");
	run.settings.answer_client = xb_strdup("openssh");
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), 45);
	run.results[0].c.method = XB_METHOD_SFTP;
	run.results[0].c.direction = XB_DOWNLOAD;
	run.results[0].c.streams = 2;
	run.results[0].c.as_negotiated = true;
	run.results[0].c.suite.compression = xb_strdup("zlib@openssh.com");
	for (size_t i = 0; i < run.results[0].sample_count; i++) {
		run.results[0].samples[i].wire_bytes = run.results[0].samples[i].bytes / 2;
		run.results[0].samples[i].start_seconds = 0.004;
	}
	snprintf(run.results[0].samples[0].negotiated.compression, XB_NAME_MAX, "zlib@openssh.com");
	xb_series_add(&run.deflate, 45e6);
	root = written(&run);
	one = result(root, 0);
	is_text(one, "compression", "zlib@openssh.com");
	is_text(one, "method", "sftp");
	is_text(one, "direction", "download");
	is_number(one, "streams", 2);
	is_bool(one, "as_negotiated", true);
	is_bool(one, "reference", false);
	is_null(one, "warning");
	is_null(one, "scaling");
	is_null(one, "overhead");
	canned_near(json_number_value(field(one, "wire_ratio")), 0.5, 1e-6);
	is_number(field(field(one, "login"), "start"), "median", 0.004);
	is_number(field(field(one, "login"), "total"), "median", 0.051);
	one = json_array_get(field(one, "samples"), 0);
	is_number(one, "start_seconds", 0.004);
	is_number(one, "wire_bytes", (double)run.results[0].samples[0].wire_bytes);
	is_text(field(one, "negotiated"), "compression", "zlib@openssh.com");
	is_number(field(root, "deflate"), "median", 45e6);
	is_null(root, "inflate");
	is_text(field(root, "settings"), "answer_client", "openssh");
	is_null(field(root, "settings"), "handshakes");
	json_decref(root);
	xb_run_free(&run);
}

static void
groups_have_their_leaders_and_references_none(void **state)
{
	struct xb_run run;
	json_t *root;

	(void)state;
	canned_private(&run);
	canned_about(canned_reference(&run, "tcp", "plain TCP"), 5200);
	canned_about(canned_ssh(&run, CHACHA, NULL), 660);
	canned_about(canned_ssh(&run, "aes128-gcm@openssh.com", NULL), 1000);
	canned_about(canned_ssh(&run, CHACHA, NULL), 700);
	run.results[3].c.direction = XB_DOWNLOAD;
	root = written(&run);
	is_bool(result(root, 0), "reference", true);
	is_null(result(root, 0), "cipher");
	is_null(result(root, 0), "group");
	is_null(result(root, 0), "place");
	is_null(result(root, 0), "ratio");
	is_bool(result(root, 0), "leader", false);
	assert_true(json_is_object(field(result(root, 0), "rate")));
	is_number(result(root, 1), "group", 0);
	is_number(result(root, 1), "place", 2);
	is_bool(result(root, 1), "leader", false);
	canned_near(json_number_value(field(field(result(root, 1), "ratio"), "median")), 0.66,
	    1e-6);
	is_bool(result(root, 2), "leader", true);
	is_number(field(result(root, 2), "ratio"), "median", 1);
	is_number(result(root, 3), "group", 1);
	is_bool(result(root, 3), "leader", true);
	json_decref(root);
	xb_run_free(&run);
}

static void
a_scaling_factor_and_a_warning_are_told(void **state)
{
	struct xb_run run;
	json_t *root;

	(void)state;
	canned_private(&run);
	canned_about(canned_ssh(&run, CHACHA, NULL), 500);
	canned_about(canned_ssh(&run, CHACHA, NULL), 900);
	run.results[1].c.streams = 2;
	canned_about(canned_ssh(&run, CHACHA, NULL), 9000);
	run.results[2].c.suite.compression = xb_strdup("zlib@openssh.com");
	root = written(&run);
	canned_near(json_number_value(field(field(result(root, 1), "scaling"), "median")), 1.8,
	    1e-6);
	is_text(result(root, 2), "warning",
	    "zeros under compression say nothing: --payload text:50");
	is_null(result(root, 2), "place");
	is_bool(result(root, 2), "leader", false);
	is_bool(result(root, 1), "leader", true);
	json_decref(root);
	xb_run_free(&run);
}

static void
a_login_has_no_rate_and_its_seconds(void **state)
{
	static const double seconds[] = { 0.010, 0.011, 0.012 };
	struct xb_run run;
	json_t *root, *one;

	(void)state;
	canned_private(&run);
	run.settings.handshakes = 3;
	canned_logins(canned_login(&run, "curve25519-sha256", NULL), seconds, 3);
	xb_case_refuse(&canned_login(&run, "rsa1024-sha1", "ssh-rsa")->c, XB_NOT_OFFERED, "no",
	    NULL);
	root = written(&run);
	is_number(field(root, "settings"), "handshakes", 3);
	one = result(root, 0);
	is_text(one, "method", "login");
	is_text(one, "status", "measured");
	is_text(one, "kex", "curve25519-sha256");
	is_null(one, "hostkey");
	is_null(one, "cipher");
	is_null(one, "rate");
	is_number(field(field(one, "login"), "total"), "median", 0.011);
	is_number(field(field(one, "login"), "kex"), "median", 0.0066);
	is_null(field(one, "login"), "start");
	is_null(json_array_get(field(one, "samples"), 0), "wire_bytes");
	one = result(root, 1);
	is_text(one, "hostkey", "ssh-rsa");
	is_null(one, "login");
	is_text(one, "reason", "no");
	json_decref(root);
	xb_run_free(&run);
}

static void
an_empty_run_is_still_a_document(void **state)
{
	struct xb_run run = { 0 };
	json_t *root = written(&run);

	(void)state;
	assert_string_equal(xb_report_json.name, "json");
	is_text(field(root, "tool"), "name", "xferbench");
	assert_int_equal(json_array_size(field(root, "results")), 0);
	assert_int_equal(json_array_size(field(root, "targets")), 0);
	json_decref(root);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_run_is_still_a_document),
		cmocka_unit_test(each_target_is_told_with_its_kind),
		cmocka_unit_test(a_case_is_told_with_all_its_dimensions),
		cmocka_unit_test(groups_have_their_leaders_and_references_none),
		cmocka_unit_test(a_scaling_factor_and_a_warning_are_told),
		cmocka_unit_test(a_login_has_no_rate_and_its_seconds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
