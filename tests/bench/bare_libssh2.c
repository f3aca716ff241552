/*
 * What xferbench's libssh2 client is held against: the shortest program that streams zeros over
 * libssh2 with the same settings, without our loop, payload, live counters or process around it.
 *
 *   bare_libssh2 PORT USER KEYFILE CIPHER MAC SECONDS
 *
 * Streams to 127.0.0.1 and prints the payload bytes and the CPU seconds between the start of the
 * remote cat and its end of file.
 */
#include <libssh2.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define BUFFER_BYTES (256 * 1024)

static double
now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
die(const char *what)
{
	fprintf(stderr, "bare_libssh2: %s\n", what);
	exit(1);
}

static LIBSSH2_SESSION *
log_in(int fd, char **argv)
{
	LIBSSH2_SESSION *session = libssh2_session_init();

	libssh2_session_method_pref(session, LIBSSH2_METHOD_CRYPT_CS, argv[4]);
	libssh2_session_method_pref(session, LIBSSH2_METHOD_CRYPT_SC, argv[4]);
	libssh2_session_method_pref(session, LIBSSH2_METHOD_MAC_CS, argv[5]);
	libssh2_session_method_pref(session, LIBSSH2_METHOD_MAC_SC, argv[5]);
	if (libssh2_session_handshake(session, fd) != 0)
		die("handshake");
	if (libssh2_userauth_publickey_fromfile_ex(session, argv[2], (unsigned)strlen(argv[2]),
		NULL, argv[3], "") != 0)
		die("login");
	return session;
}

static int
connect_to(const char *port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	addr.sin_port = htons((unsigned short)strtoul(port, NULL, 10));
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static unsigned long long
pump(LIBSSH2_SESSION *session, LIBSSH2_CHANNEL *channel, int fd, double seconds)
{
	static char buffer[BUFFER_BYTES];
	double end = now(CLOCK_MONOTONIC) + seconds;
	unsigned long long bytes = 0;
	struct pollfd pfd = { .fd = fd };
	ssize_t n = 0;
	int wanted;

	memset(buffer, 1, sizeof(buffer));
	memset(buffer, 0, sizeof(buffer));
	while (n == LIBSSH2_ERROR_EAGAIN || now(CLOCK_MONOTONIC) < end) {
		n = libssh2_channel_write(channel, buffer, sizeof(buffer));
		if (n >= 0) {
			bytes += (unsigned long long)n;
			continue;
		}
		if (n != LIBSSH2_ERROR_EAGAIN)
			die("write");
		wanted = libssh2_session_block_directions(session);
		pfd.events = (short)((wanted & LIBSSH2_SESSION_BLOCK_INBOUND ? POLLIN : 0) |
		    (wanted & LIBSSH2_SESSION_BLOCK_OUTBOUND ? POLLOUT : 0));
		poll(&pfd, 1, -1);
	}
	return bytes;
}

int
main(int argc, char **argv)
{
	LIBSSH2_SESSION *session;
	LIBSSH2_CHANNEL *channel;
	unsigned long long bytes;
	double cpu;
	int fd;

	if (argc != 7)
		die("PORT USER KEYFILE CIPHER MAC SECONDS");
	fd = connect_to(argv[1]);
	session = log_in(fd, argv);
	channel = libssh2_channel_open_session(session);
	if (channel == NULL || libssh2_channel_exec(channel, "cat >/dev/null") != 0)
		die("exec");
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	libssh2_session_set_blocking(session, 0);
	bytes = pump(session, channel, fd, strtod(argv[6], NULL));
	libssh2_session_set_blocking(session, 1);
	if (libssh2_channel_send_eof(channel) != 0 || libssh2_channel_wait_eof(channel) != 0)
		die("end of file");
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("%llu %.6f\n", bytes, cpu);
	return 0;
}
