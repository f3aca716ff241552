/* What a user types: sizes, durations, numbers, units, hosts, lists of ciphers and MACs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"
#include "fuzz.h"
#include "model/namelist.h"
#include "model/select.h"
#include "target/hostspec.h"

/* A value is taken without an error, or refused with a line that can be shown. */
static void
check_verdict(bool taken, struct xb_err *err)
{
	CHECK(taken == (err->fault == XB_FAULT_NONE));
	CHECK(taken || err->fault == XB_FAULT_USAGE);
	CHECK(taken == (err->text[0] == '\0'));
	for (const char *c = err->text; *c != '\0'; c++)
		CHECK(*c >= 0x20 && *c < 0x7f);
	memset(err, 0, sizeof(*err));
}

static void
try_numbers(const char *text)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	enum xb_rate_unit unit = XB_RATE_MB;
	uint64_t value = 0;
	int64_t ns = 0;
	char shown[64];
	bool taken;

	taken = xb_size_parse("--size", text, &value, &err);
	check_verdict(taken, &err);
	xb_size_format(shown, sizeof(shown), value);
	taken = xb_duration_parse("--time", text, &ns, &err);
	check_verdict(taken, &err);
	CHECK(!taken || ns > 0);
	xb_duration_format(shown, sizeof(shown), ns);
	taken = xb_count_parse("--rounds", text, 3, 1000, &value, &err);
	check_verdict(taken, &err);
	CHECK(!taken || (value >= 3 && value <= 1000));
	taken = xb_rate_unit_parse("--units", text, &unit, &err);
	check_verdict(taken, &err);
	CHECK(xb_rate_unit_label(unit)[0] != '\0');
}

static void
try_host(const char *text)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_hostspec spec;
	bool taken = xb_hostspec_parse("HOST", text, &spec, &err);

	check_verdict(taken, &err);
	if (!taken) {
		CHECK(spec.host == NULL && spec.user == NULL);
		return;
	}
	CHECK(spec.host[0] != '\0' && spec.host[0] != '-' && strlen(spec.host) <= 255);
	CHECK(strpbrk(spec.host, " \t\r\n,*?!|#@/'\"`$;&<>()[]{}\\") == NULL);
	CHECK(spec.port <= 65535);
	CHECK(spec.user == NULL || (spec.user[0] != '\0' && spec.user[0] != '-'));
	xb_hostspec_free(&spec);
}

static void
check_selection(bool taken, struct xb_selection *selection, struct xb_err *err)
{
	check_verdict(taken, err);
	if (taken)
		CHECK(selection->count > 0);
	for (size_t i = 0; taken && i < selection->count; i++) {
		CHECK(selection->items[i].name[0] != '\0');
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(selection->items[i].name, selection->items[j].name) != 0);
	}
	xb_selection_free(selection);
}

static void
try_lists(const char *text)
{
	struct xb_namelist offered = { .count = 0 };
	struct xb_selection selection = { .count = 0 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	bool taken;

	xb_namelist_split(&offered, "aes128-ctr,made-up@example.org");
	taken = xb_select_ciphers("--ciphers", text, &offered, &selection, &err);
	check_selection(taken, &selection, &err);
	selection = (struct xb_selection){ .count = 0 };
	taken = xb_select_macs("--macs", text, NULL, &selection, &err);
	check_selection(taken, &selection, &err);
	xb_namelist_free(&offered);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	CHECK(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	try_numbers(text);
	try_host(text);
	/* No name begins with a digit but 3des, and finding the nearest name is the slow part. */
	if (text[0] < '0' || text[0] > '9' || text[0] == '3')
		try_lists(text);
	free(text);
	return 0;
}
