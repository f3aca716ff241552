#include "client/wire.h"

/* Not netinet/tcp.h: glibc's struct tcp_info ends before the byte counts, and the two clash. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* False when the kernel's answer ends before the byte counts. */
static bool
read_info(int fd, struct tcp_info *info)
{
	const size_t needed =
	    offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(info->tcpi_bytes_received);
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len) == 0 && len >= needed;
}

uint64_t
xb_wire_sent(int fd)
{
	struct tcp_info info;

	return read_info(fd, &info) ? info.tcpi_bytes_acked : 0;
}

uint64_t
xb_wire_received(int fd)
{
	struct tcp_info info;

	return read_info(fd, &info) ? info.tcpi_bytes_received : 0;
}
