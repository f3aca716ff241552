#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 4, 0))) static bool
record(struct xb_err *err, enum xb_fault fault, const char *suffix, const char *fmt, va_list ap)
{
	size_t used;

	if (err == NULL || err->fault != XB_FAULT_NONE)
		return false;
	err->fault = fault;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	if (suffix != NULL) {
		used = strlen(err->text);
		snprintf(err->text + used, sizeof(err->text) - used, ": %s", suffix);
	}
	return false;
}

bool
xb_fail(struct xb_err *err, enum xb_fault fault, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	record(err, fault, NULL, fmt, ap);
	va_end(ap);
	return false;
}

bool
xb_fail_errno(struct xb_err *err, enum xb_fault fault, const char *fmt, ...)
{
	const char *why = strerror(errno);
	va_list ap;

	va_start(ap, fmt);
	record(err, fault, why, fmt, ap);
	va_end(ap);
	return false;
}

void
xb_err_prefix(struct xb_err *err, const char *prefix)
{
	struct xb_err longer;

	if (err == NULL || err->fault == XB_FAULT_NONE)
		return;
	longer.fault = err->fault;
	snprintf(longer.text, sizeof(longer.text), "%s: %.500s", prefix, err->text);
	*err = longer;
}
