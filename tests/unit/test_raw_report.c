#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/primitive.h"
#include "bench/raw.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/select.h"
#include "report/raw.h"

#define NO_LEGACY "libcrypto 3.0.0 has no BF-CBC: its legacy provider is not loaded"

static struct xb_raw_row
row(const char *label, const char *direction, const char *rating, double speed)
{
	struct xb_raw_row r = {
		.kind = direction[0] != '\0' ? XB_RAW_CIPHER : XB_RAW_MAC,
		.name = label,
		.label = label,
		.direction = direction,
		.rating = rating,
	};

	for (size_t i = 0; i < XB_RAW_SIZES; i++)
		r.speed[i] = speed;
	return r;
}

/* A canned table: two speeds, one algorithm that is missing in both directions, a MAC. */
static struct xb_raw_table
canned_table(void)
{
	struct xb_raw_table table = { .count = 5, .rows = calloc(5, sizeof(*table.rows)) };

	table.rows[0] = row("aes128-ctr", "encrypt", "sound", 4712.3e6);
	table.rows[1] = row("aes128-ctr", "decrypt", "sound", 0.1234e6);
	table.rows[2] = row("blowfish", "encrypt", "weak", NAN);
	table.rows[2].reason = strdup(NO_LEGACY);
	table.rows[3] = row("blowfish", "decrypt", "weak", NAN);
	table.rows[3].reason = strdup(NO_LEGACY);
	table.rows[4] = row("hmac-sha2-512-96-etm", "", "weak", 12345e6);
	return table;
}

static char *
rendered(const struct xb_raw_table *table, enum xb_rate_unit unit,
    const struct xb_report_style *style)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_true(xb_raw_write(table, unit, style, out));
	fclose(out);
	return text;
}

static void
table_has_figures_dashes_and_one_footnote_per_reason(void **state)
{
	const struct xb_report_style style = { .width = 120 };
	struct xb_raw_table table = canned_table();
	char *text = rendered(&table, XB_RATE_MB, &style);

	(void)state;
	assert_string_equal(text,
	    "MB/s = 10^6 payload bytes/s, in memory, one core. Columns: bytes per packet.\n"
	    "MB/s                              16     64    256   1024   8192  16384  32768  RATING\n"
	    "aes128-ctr            encrypt   4710   4710   4710   4710   4710   4710   4710  sound\n"
	    "aes128-ctr            decrypt  0.123  0.123  0.123  0.123  0.123  0.123  0.123  sound\n"
	    "blowfish [a]          encrypt      -      -      -      -      -      -      -  weak\n"
	    "blowfish [a]          decrypt      -      -      -      -      -      -      -  weak\n"
	    "hmac-sha2-512-96-etm           12300  12300  12300  12300  12300  12300  12300  weak\n"
	    "[a] " NO_LEGACY "\n");
	free(text);
	xb_raw_table_free(&table);
}

static size_t
longest_line(const char *text)
{
	size_t longest = 0, len;

	while (*text != '\0') {
		len = strcspn(text, "\n");
		longest = len > longest ? len : longest;
		text += len + 1;
	}
	return longest;
}

static void
narrow_table_moves_ratings_into_footnotes_and_keeps_its_width(void **state)
{
	const struct xb_report_style wide = { .width = 80 }, narrow = { .width = 60 };
	struct xb_raw_table table = canned_table();
	char *text = rendered(&table, XB_RATE_MB, &wide);

	(void)state;
	assert_true(longest_line(text) <= 80);
	assert_null(strstr(text, "RATING"));
	assert_non_null(strstr(text, " 64 "));
	assert_non_null(strstr(text, "weak: blowfish, hmac-sha2-512-96-etm\n"));
	assert_null(strstr(text, "broken"));
	free(text);
	text = rendered(&table, XB_RATE_MB, &narrow);
	assert_true(longest_line(text) <= 60);
	assert_null(strstr(text, " 64 "));
	assert_non_null(strstr(text, " 16 "));
	assert_non_null(strstr(text, "  32768\n"));
	free(text);
	xb_raw_table_free(&table);
}

static void
unit_is_in_the_header_even_when_quiet(void **state)
{
	const struct xb_report_style quiet = { .quiet = true };
	struct xb_raw_table table = canned_table();
	char *text = rendered(&table, XB_RATE_MIB, &quiet);

	(void)state;
	assert_int_equal(strncmp(text, "MiB/s  ", 7), 0);
	/* 4712.3 * 10^6 / 2^20 = 4494.0 */
	assert_non_null(strstr(text, "encrypt   4490"));
	free(text);
	text = rendered(&table, XB_RATE_MBIT, &quiet);
	assert_int_equal(strncmp(text, "Mbit/s  ", 8), 0);
	assert_non_null(strstr(text, "37700"));
	free(text);
	xb_raw_table_free(&table);
}

static void
plain_table_is_ascii_without_escapes_or_trailing_blanks(void **state)
{
	const struct xb_report_style pipe_style = { .width = 0 };
	struct xb_raw_table table = canned_table();
	char *text = rendered(&table, XB_RATE_MB, &pipe_style);

	(void)state;
	for (const char *p = text; *p != '\0'; p++)
		assert_true(*p == '\n' || (*p >= ' ' && *p <= '~'));
	assert_null(strstr(text, " \n"));
	free(text);
	xb_raw_table_free(&table);
}

static void
full_device_is_told(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_raw_table table = canned_table();
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(out);
	assert_false(xb_raw_write(&table, XB_RATE_MB, &style, out));
	fclose(out);
	xb_raw_table_free(&table);
}

static void
json_has_numbers_nulls_and_reasons(void **state)
{
	struct xb_raw_table table = canned_table();
	json_t *json = xb_raw_json(&table), *rows, *r;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(json, "schema")), "xferbench-raw/1");
	assert_string_equal(json_string_value(json_object_get(json, "version")), PACKAGE_VERSION);
	assert_int_equal(json_array_size(json_object_get(json, "sizes")), XB_RAW_SIZES);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(json, "sizes"), 6)),
	    32768);
	rows = json_object_get(json, "rows");
	assert_int_equal(json_array_size(rows), 5);
	r = json_array_get(rows, 0);
	assert_string_equal(json_string_value(json_object_get(r, "kind")), "cipher");
	assert_string_equal(json_string_value(json_object_get(r, "name")), "aes128-ctr");
	assert_string_equal(json_string_value(json_object_get(r, "direction")), "encrypt");
	assert_true(
	    fabs(json_real_value(json_array_get(json_object_get(r, "bytes_per_second"), 0)) -
		4712.3e6) < 1);
	assert_true(json_is_null(json_object_get(r, "reason")));
	r = json_array_get(rows, 3);
	assert_true(json_is_null(json_array_get(json_object_get(r, "bytes_per_second"), 6)));
	assert_string_equal(json_string_value(json_object_get(r, "reason")), NO_LEGACY);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 4), "kind")),
	    "mac");
	json_decref(json);
	xb_raw_table_free(&table);
}

/* Only what this system or this build lacks. */
static bool
may_lack(const struct xb_raw_row *r, bool legacy_loaded)
{
	if (r->kind == XB_RAW_CIPHER)
		return !legacy_loaded && xb_cipher_by_name(r->name)->legacy;
#ifndef HAVE_NETTLE
	if (r->kind == XB_RAW_MAC)
		return xb_mac_by_name(r->name)->kind == XB_MAC_UMAC;
#endif
	return false;
}

static void
every_algorithm_and_zlib_has_a_row_with_speeds_or_a_reason(void **state)
{
	const struct xb_raw_request all = { .time_ns = 10000, .zlib = true };
	const bool legacy_loaded = xb_primitive_load_legacy();
	struct xb_raw_table table;

	(void)state;
	xb_raw_measure(&all, NULL, NULL, &table);
	assert_int_equal(table.count, 2 * xb_cipher_count + xb_mac_count + 1);
	for (size_t i = 0; i < table.count; i++) {
		const struct xb_raw_row *r = &table.rows[i];

		assert_int_equal(r->reason != NULL, may_lack(r, legacy_loaded));
		for (size_t size = 0; size < XB_RAW_SIZES; size++)
			assert_true(r->reason == NULL ? r->speed[size] > 0 : isnan(r->speed[size]));
	}
	assert_string_equal(table.rows[0].direction, "encrypt");
	assert_string_equal(table.rows[1].direction, "decrypt");
	assert_string_equal(table.rows[table.count - 1].name, "zlib level 6");
	xb_raw_table_free(&table);
}

struct seen {
	size_t rows;
	size_t total;
	char last[64];
};

static void
note_progress(void *ctx, const struct xb_raw_row *r, size_t done, size_t total)
{
	struct seen *seen = ctx;

	assert_int_equal(done, seen->rows);
	seen->rows++;
	seen->total = total;
	snprintf(seen->last, sizeof(seen->last), "%s %s", r->name, r->direction);
}

static void
selection_bounds_the_table_and_unknown_names_have_a_reason(void **state)
{
	struct xb_namelist extra = { 0 };
	struct xb_selection ciphers, no_macs = { 0 };
	struct xb_raw_request request = { .ciphers = &ciphers, .macs = &no_macs, .time_ns = 10000 };
	struct xb_raw_table table;
	struct seen seen = { 0 };

	(void)state;
	xb_namelist_split(&extra, "aes512-ctr");
	assert_true(xb_select_ciphers("--ciphers", "3des,aes512-ctr", &extra, &ciphers, NULL));
	xb_raw_measure(&request, note_progress, &seen, &table);
	assert_int_equal(table.count, 4);
	assert_int_equal(seen.rows, 4);
	assert_int_equal(seen.total, 4);
	assert_string_equal(seen.last, "aes512-ctr decrypt");
	assert_string_equal(table.rows[0].label, "3des");
	assert_string_equal(table.rows[0].rating, "weak");
	assert_null(table.rows[0].reason);
	assert_string_equal(table.rows[2].name, "aes512-ctr");
	assert_string_equal(table.rows[2].reason, "xferbench does not know aes512-ctr");
	for (size_t size = 0; size < XB_RAW_SIZES; size++)
		assert_true(isnan(table.rows[2].speed[size]));
	xb_raw_table_free(&table);
	xb_selection_free(&ciphers);
	xb_namelist_free(&extra);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_has_figures_dashes_and_one_footnote_per_reason),
		cmocka_unit_test(narrow_table_moves_ratings_into_footnotes_and_keeps_its_width),
		cmocka_unit_test(unit_is_in_the_header_even_when_quiet),
		cmocka_unit_test(plain_table_is_ascii_without_escapes_or_trailing_blanks),
		cmocka_unit_test(full_device_is_told),
		cmocka_unit_test(json_has_numbers_nulls_and_reasons),
		cmocka_unit_test(every_algorithm_and_zlib_has_a_row_with_speeds_or_a_reason),
		cmocka_unit_test(selection_bounds_the_table_and_unknown_names_have_a_reason),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
