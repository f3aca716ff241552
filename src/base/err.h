#ifndef XB_BASE_ERR_H
#define XB_BASE_ERR_H

#include <stdbool.h>

/* Whose fault an error is; main.c turns it into the exit code. */
enum xb_fault {
	XB_FAULT_NONE,   /* nothing has failed */
	XB_FAULT_TRIAL,  /* one case or trial failed, the run goes on: exit 1 */
	XB_FAULT_USAGE,  /* the command line: exit 2 */
	XB_FAULT_TARGET, /* unreachable, login or host key refused: exit 3 */
	XB_FAULT_SYSTEM, /* this machine or this program: exit 4 */
	XB_FAULT_SIGNAL, /* a signal asked us to end: exit 128 + signal */
};

/* One error: a single line without a newline, printable, made where the facts are. */
struct xb_err {
	enum xb_fault fault;
	char text[600];
};

/*
 * Records an error in err and returns false, so that "return xb_fail(err, …)" ends a function.
 * The first error wins: a later one is dropped. Text that does not fit is cut. err may be NULL.
 */
bool xb_fail(struct xb_err *err, enum xb_fault fault, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Like xb_fail, and appends ": " and strerror(errno). */
bool xb_fail_errno(struct xb_err *err, enum xb_fault fault, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the text of an error that is set; nothing otherwise. */
void xb_err_prefix(struct xb_err *err, const char *prefix);

#endif
