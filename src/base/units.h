#ifndef XB_BASE_UNITS_H
#define XB_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xb_err;

/* The units a rate can be shown in. */
enum xb_rate_unit { XB_RATE_MB, XB_RATE_MIB, XB_RATE_MBIT };

/*
 * The one parser for sizes: digits, an optional fraction, an optional suffix. k M G T are powers of
 * 1000, Ki Mi Gi Ti of 1024, each may be followed by B; letters in any case. what names the option
 * in a refusal. Signs, blanks, trash, a part of a byte and overflow are refused (XB_FAULT_USAGE);
 * 0 is a size, and the caller's to refuse. Nothing is rounded.
 */
bool xb_size_parse(const char *what, const char *text, uint64_t *bytes, struct xb_err *err);

/*
 * The one parser for durations: digits, an optional fraction, and ns, us, ms, s, m or min, h, all
 * in lower case: "1s", "250ms", "1.5m", "2h"; without a suffix, seconds. Zero, a part of a nanosecond
 * and overflow are refused like trash.
 */
bool xb_duration_parse(const char *what, const char *text, int64_t *ns, struct xb_err *err);

/* A whole number from min to max, decimal. */
bool xb_count_parse(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value,
    struct xb_err *err);

/* "MB", "MiB", "Mbit" in any case. */
bool xb_rate_unit_parse(const char *what, const char *text, enum xb_rate_unit *unit,
    struct xb_err *err);

/* "MB/s", "MiB/s", "Mbit/s". */
const char *xb_rate_unit_label(enum xb_rate_unit unit);

/* "10^6 payload bytes/s" and so on: what the label means. */
const char *xb_rate_unit_meaning(enum xb_rate_unit unit);

/* Bytes per second in the unit. */
double xb_rate_in(enum xb_rate_unit unit, double bytes_per_second);

/*
 * A figure with at most three significant digits and no exponent: 4712.3 is "4710", 0.1234 "0.123",
 * 8.9 "8.9". "-" for what is no number, infinite, or does not fit.
 */
void xb_figure_format(char *out, size_t size, double value);

/*
 * Bytes for people, exact where three decimal places are enough, else three significant digits:
 * "1 GiB", "1.5 MB", "17 bytes".
 */
void xb_size_format(char *out, size_t size, uint64_t bytes);

/* Nanoseconds for people: "250 ms", "1 s", "108 s", "2 min 5 s", "3 h 20 min". */
void xb_duration_format(char *out, size_t size, int64_t ns);

#endif
