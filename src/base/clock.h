#ifndef XB_BASE_CLOCK_H
#define XB_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define XB_NS_PER_SECOND INT64_C(1000000000)
#define XB_NS_PER_MS INT64_C(1000000)

/* Monotonic nanoseconds: the one clock for every duration. Stands still while the machine sleeps. */
int64_t xb_clock_ns(void);

/* Like xb_clock_ns, but runs on while the machine sleeps: the difference is time asleep. */
int64_t xb_clock_boot_ns(void);

/* CPU nanoseconds, user and system, that this process has used. */
int64_t xb_clock_cpu_ns(void);

/* Nanoseconds to seconds. */
double xb_seconds(int64_t ns);

/* The wall-clock date as ISO 8601 in UTC, for the result file: "2026-01-31T12:34:56Z". */
void xb_clock_date(char *out, size_t size);

/*
 * The poll(2) timeout in whole milliseconds, rounded up, until the monotonic deadline; 0 once it is
 * past. INT64_MAX means no deadline and gives -1.
 */
int xb_clock_poll_ms(int64_t deadline_ns);

#endif
