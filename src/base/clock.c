#include "base/clock.h"

#include <limits.h>
#include <time.h>

static int64_t
read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * XB_NS_PER_SECOND + ts.tv_nsec;
}

int64_t
xb_clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t
xb_clock_boot_ns(void)
{
#ifdef CLOCK_BOOTTIME
	return read_clock(CLOCK_BOOTTIME);
#else
	return read_clock(CLOCK_MONOTONIC);
#endif
}

int64_t
xb_clock_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double
xb_seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

void
xb_clock_date(char *out, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

int
xb_clock_poll_ms(int64_t deadline_ns)
{
	int64_t left;

	if (deadline_ns == INT64_MAX)
		return -1;
	left = deadline_ns - xb_clock_ns();
	if (left <= 0)
		return 0;
	left = (left + XB_NS_PER_MS - 1) / XB_NS_PER_MS;
	return left > INT_MAX ? INT_MAX : (int)left;
}
