#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

struct unit {
	const char *name;
	uint64_t scale;
};

/* Rising in each family; the formatter counts on it. */
static const struct unit decimal_sizes[] = {
	{ .name = "k", .scale = UINT64_C(1000) },
	{ .name = "M", .scale = UINT64_C(1000000) },
	{ .name = "G", .scale = UINT64_C(1000000000) },
	{ .name = "T", .scale = UINT64_C(1000000000000) },
};

static const struct unit binary_sizes[] = {
	{ .name = "Ki", .scale = UINT64_C(1) << 10 },
	{ .name = "Mi", .scale = UINT64_C(1) << 20 },
	{ .name = "Gi", .scale = UINT64_C(1) << 30 },
	{ .name = "Ti", .scale = UINT64_C(1) << 40 },
};

static const struct unit durations[] = {
	{ .name = "", .scale = UINT64_C(1000000000) },
	{ .name = "ns", .scale = UINT64_C(1) },
	{ .name = "us", .scale = UINT64_C(1000) },
	{ .name = "ms", .scale = UINT64_C(1000000) },
	{ .name = "s", .scale = UINT64_C(1000000000) },
	{ .name = "m", .scale = UINT64_C(60) * 1000000000 },
	{ .name = "min", .scale = UINT64_C(60) * 1000000000 },
	{ .name = "h", .scale = UINT64_C(3600) * 1000000000 },
};

static const struct {
	const char *name;
	const char *label;
	const char *meaning;
	double bytes; /* a second, in one of the unit */
} rate_units[] = {
	[XB_RATE_MB] = {
		.name = "MB",
		.label = "MB/s",
		.meaning = "10^6 payload bytes/s",
		.bytes = 1e6,
	},
	[XB_RATE_MIB] = {
		.name = "MiB",
		.label = "MiB/s",
		.meaning = "2^20 payload bytes/s",
		.bytes = 1048576,
	},
	[XB_RATE_MBIT] = {
		.name = "Mbit",
		.label = "Mbit/s",
		.meaning = "10^6 payload bits/s",
		.bytes = 1e6 / 8,
	},
};

/* A decimal number as it was written: digits times 10 to the power of -places. */
struct number {
	uint64_t digits;
	unsigned int places;
	const char *rest; /* what follows it */
};

enum outcome {
	OUTCOME_OK,
	OUTCOME_TRASH,
	OUTCOME_TOO_LARGE,
	OUTCOME_TOO_FINE,
	OUTCOME_TOO_LONG,
};

/* Appends decimal digits to a number; false when it overflows. */
static bool
append_digits(uint64_t *number, const char *text, size_t len)
{
	uint64_t digit;

	for (size_t i = 0; i < len; i++) {
		digit = (uint64_t)(text[i] - '0');
		if (*number > (UINT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return true;
}

static enum outcome
read_number(const char *text, struct number *number)
{
	static const char digits[] = "0123456789";
	const size_t whole = strspn(text, digits);
	const char *fraction = text + whole;
	size_t places = 0;

	*number = (struct number){ .rest = fraction };
	if (whole == 0)
		return OUTCOME_TRASH;
	if (*fraction == '.') {
		places = strspn(++fraction, digits);
		if (places == 0)
			return OUTCOME_TRASH;
		number->rest = fraction + places;
		while (places > 0 && fraction[places - 1] == '0')
			places--;
	}
	if (!append_digits(&number->digits, text, whole))
		return OUTCOME_TOO_LARGE;
	if (!append_digits(&number->digits, fraction, places))
		return OUTCOME_TOO_LONG;
	number->places = (unsigned int)places;
	return OUTCOME_OK;
}

/* Divides the first of two factors that can be divided by a prime; false when neither can. */
static bool
cancel(uint64_t *factor, uint64_t *other, uint64_t prime)
{
	uint64_t *divided = *factor % prime == 0 ? factor : other;

	if (*divided % prime != 0)
		return false;
	*divided /= prime;
	return true;
}

/* The number times scale, in whole numbers alone: floating point would round. */
static enum outcome
scale_number(struct number number, uint64_t scale, uint64_t *value)
{
	for (unsigned int i = 0; i < number.places; i++) {
		if (!cancel(&scale, &number.digits, 2) || !cancel(&scale, &number.digits, 5))
			return OUTCOME_TOO_FINE;
	}
	if (number.digits > UINT64_MAX / scale)
		return OUTCOME_TOO_LARGE;
	*value = number.digits * scale;
	return OUTCOME_OK;
}

/* The scale of a size suffix in any case, with or without a B behind; 0 when there is no such. */
static uint64_t
size_scale(const char *suffix)
{
	size_t len = strlen(suffix);

	if (len > 0 && toupper((unsigned char)suffix[len - 1]) == 'B')
		len--;
	if (len == 0)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(decimal_sizes); i++) {
		if (strlen(decimal_sizes[i].name) == len &&
		    strncasecmp(decimal_sizes[i].name, suffix, len) == 0)
			return decimal_sizes[i].scale;
	}
	for (size_t i = 0; i < ARRAY_LEN(binary_sizes); i++) {
		if (strlen(binary_sizes[i].name) == len &&
		    strncasecmp(binary_sizes[i].name, suffix, len) == 0)
			return binary_sizes[i].scale;
	}
	return 0;
}

static uint64_t
duration_scale(const char *suffix)
{
	for (size_t i = 0; i < ARRAY_LEN(durations); i++) {
		if (strcmp(durations[i].name, suffix) == 0)
			return durations[i].scale;
	}
	return 0;
}

static enum outcome
parse_scaled(const char *text, uint64_t (*scale_of)(const char *), uint64_t *value)
{
	struct number number;
	enum outcome outcome = read_number(text, &number);
	uint64_t scale;

	if (outcome == OUTCOME_TRASH)
		return outcome;
	scale = scale_of(number.rest);
	if (scale == 0)
		return OUTCOME_TRASH;
	return outcome == OUTCOME_OK ? scale_number(number, scale, value) : outcome;
}

/* The value of a refused option as it can be shown. */
struct shown {
	char text[48];
};

static struct shown
show(const char *text)
{
	struct shown shown = { .text = "" };

	xb_text_printable(shown.text, sizeof(shown.text), text, strlen(text));
	return shown;
}

bool
xb_size_parse(const char *what, const char *text, uint64_t *bytes, struct xb_err *err)
{
	const struct shown shown = show(text);

	switch (parse_scaled(text, size_scale, bytes)) {
	case OUTCOME_OK:
		return true;
	case OUTCOME_TOO_LARGE:
		return xb_fail(err, XB_FAULT_USAGE,
		    "%s: '%s' is too large; it must be below 16777216TiB", what, shown.text);
	case OUTCOME_TOO_FINE:
		return xb_fail(err, XB_FAULT_USAGE,
		    "%s: '%s' is not a whole number of bytes; 1.5KiB is one, for example", what,
		    shown.text);
	case OUTCOME_TOO_LONG:
		return xb_fail(err, XB_FAULT_USAGE,
		    "%s: '%s' has more digits than can be read exactly; use a smaller unit", what,
		    shown.text);
	case OUTCOME_TRASH:
		break;
	}
	return xb_fail(err, XB_FAULT_USAGE,
	    "%s: '%s' is not a size; use digits with k, M, G, T (powers of 1000) or "
	    "Ki, Mi, Gi, Ti (1024), for example 1GiB",
	    what, shown.text);
}

bool
xb_duration_parse(const char *what, const char *text, int64_t *ns, struct xb_err *err)
{
	const struct shown shown = show(text);
	uint64_t value = 0;
	enum outcome outcome = parse_scaled(text, duration_scale, &value);

	if (outcome == OUTCOME_TRASH)
		return xb_fail(err, XB_FAULT_USAGE,
		    "%s: '%s' is not a duration; use digits with ns, us, ms, s, min or h, "
		    "for example 250ms",
		    what, shown.text);
	if (outcome == OUTCOME_TOO_FINE || outcome == OUTCOME_TOO_LONG)
		return xb_fail(err, XB_FAULT_USAGE,
		    "%s: '%s' is finer than can be told; whole nanoseconds are possible", what,
		    shown.text);
	if (outcome == OUTCOME_TOO_LARGE || value > INT64_MAX)
		return xb_fail(err, XB_FAULT_USAGE,
		    "%s: '%s' is too long; it must be below 2562047h", what, shown.text);
	if (value == 0)
		return xb_fail(err, XB_FAULT_USAGE,
		    "%s: '%s' is no time at all; it must be above 0", what, shown.text);
	*ns = (int64_t)value;
	return true;
}

bool
xb_count_parse(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value,
    struct xb_err *err)
{
	const struct shown shown = show(text);
	struct number number;

	if (read_number(text, &number) == OUTCOME_OK && strchr(text, '.') == NULL &&
	    *number.rest == '\0' && number.digits >= min && number.digits <= max) {
		*value = number.digits;
		return true;
	}
	return xb_fail(err, XB_FAULT_USAGE,
	    "%s: '%s' is not a whole number from %" PRIu64 " to %" PRIu64, what, shown.text, min,
	    max);
}

bool
xb_rate_unit_parse(const char *what, const char *text, enum xb_rate_unit *unit, struct xb_err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(rate_units); i++) {
		if (strcasecmp(rate_units[i].name, text) == 0) {
			*unit = (enum xb_rate_unit)i;
			return true;
		}
	}
	return xb_fail(err, XB_FAULT_USAGE, "%s: '%s' is not a unit; use MB, MiB or Mbit", what,
	    show(text).text);
}

const char *
xb_rate_unit_label(enum xb_rate_unit unit)
{
	return rate_units[unit].label;
}

const char *
xb_rate_unit_meaning(enum xb_rate_unit unit)
{
	return rate_units[unit].meaning;
}

double
xb_rate_in(enum xb_rate_unit unit, double bytes_per_second)
{
	return bytes_per_second / rate_units[unit].bytes;
}

void
xb_figure_format(char *out, size_t size, double value)
{
	/* The longest are DBL_MAX with 309 digits and DBL_MIN with some 310 places. */
	char text[400];
	char rounded[32];
	size_t len;
	int exponent;

	/* Rounded once, in the notation that counts significant digits; what is printed below is
	 * this, so that 999.6 has become 1000 before its places are chosen. */
	snprintf(rounded, sizeof(rounded), "%.2e", value);
	value = strtod(rounded, NULL);
	if (!isfinite(value) || value == 0) {
		snprintf(out, size, "%s", value == 0 ? "0" : "-");
		return;
	}
	exponent = (int)strtol(strchr(rounded, 'e') + 1, NULL, 10);
	len = (size_t)snprintf(text, sizeof(text), "%.*f", exponent < 2 ? 2 - exponent : 0, value);
	if (exponent < 2) {
		while (text[len - 1] == '0')
			text[--len] = '\0';
		if (text[len - 1] == '.')
			text[--len] = '\0';
	}
	/* A number that is cut would be another number. */
	snprintf(out, size, "%s", len < size ? text : "-");
}

/* The largest unit that is not above bytes, NULL when all are. */
static const struct unit *
largest_unit(const struct unit *units, size_t count, uint64_t bytes)
{
	const struct unit *largest = NULL;

	for (size_t i = 0; i < count && units[i].scale <= bytes; i++)
		largest = &units[i];
	return largest;
}

/* Writes bytes in a unit if that takes exactly so many decimal places. */
static bool
format_exact(char *out, size_t size, uint64_t bytes, const struct unit *unit, int places)
{
	uint64_t part;

	if (unit == NULL)
		return false;
	part = bytes % unit->scale;
	for (int i = 0; i < places; i++)
		part *= 10;
	if (part % unit->scale != 0)
		return false;
	if (places == 0)
		snprintf(out, size, "%" PRIu64 " %sB", bytes / unit->scale, unit->name);
	else
		snprintf(out, size, "%" PRIu64 ".%0*" PRIu64 " %sB", bytes / unit->scale, places,
		    part / unit->scale, unit->name);
	return true;
}

void
xb_size_format(char *out, size_t size, uint64_t bytes)
{
	const struct unit *decimal = largest_unit(decimal_sizes, ARRAY_LEN(decimal_sizes), bytes);
	const struct unit *binary = largest_unit(binary_sizes, ARRAY_LEN(binary_sizes), bytes);
	char figure[32];

	if (decimal == NULL) {
		snprintf(out, size, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return;
	}
	for (int places = 0; places <= 3; places++) {
		if (format_exact(out, size, bytes, binary, places) ||
		    format_exact(out, size, bytes, decimal, places))
			return;
	}
	/* From here three digits would round to 1000 of the unit. */
	if ((double)bytes / (double)decimal->scale >= 999.5 &&
	    decimal != &decimal_sizes[ARRAY_LEN(decimal_sizes) - 1])
		decimal++;
	xb_figure_format(figure, sizeof(figure), (double)bytes / (double)decimal->scale);
	snprintf(out, size, "%s %sB", figure, decimal->name);
}

/* Two whole parts such as "2 min 5 s", the second one left out when it is 0. */
static void
format_pair(char *out, size_t size, const char *sign, uint64_t small, const char *large_name,
    const char *small_name)
{
	if (small % 60 == 0)
		snprintf(out, size, "%s%" PRIu64 " %s", sign, small / 60, large_name);
	else
		snprintf(out, size, "%s%" PRIu64 " %s %" PRIu64 " %s", sign, small / 60, large_name,
		    small % 60, small_name);
}

void
xb_duration_format(char *out, size_t size, int64_t ns)
{
	/* Each is used up to where its three digits would round up to one of the next. */
	static const struct {
		const char *name;
		double scale;
		uint64_t below;
	} steps[] = {
		{ .name = "ns", .scale = 1, .below = UINT64_C(1000) },
		{ .name = "us", .scale = 1e3, .below = UINT64_C(999500) },
		{ .name = "ms", .scale = 1e6, .below = UINT64_C(999500000) },
		{ .name = "s", .scale = 1e9, .below = UINT64_C(119500000000) },
	};
	const uint64_t second = XB_NS_PER_SECOND;
	const uint64_t left = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	const char *sign = ns < 0 ? "-" : "";
	const uint64_t seconds = (left + second / 2) / second;
	char figure[32];

	if (ns == 0) {
		snprintf(out, size, "0 s");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		if (left < steps[i].below) {
			xb_figure_format(figure, sizeof(figure), (double)left / steps[i].scale);
			snprintf(out, size, "%s%s %s", sign, figure, steps[i].name);
			return;
		}
	}
	if (seconds < 3600)
		format_pair(out, size, sign, seconds, "min", "s");
	else
		format_pair(out, size, sign, (left + 30 * second) / (60 * second), "h", "min");
}
