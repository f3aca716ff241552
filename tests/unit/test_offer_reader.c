#include "target/offer_reader.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/signals.h"
#include "model/offer.h"

#define IDENT "SSH-2.0-test\r\n"
#define LONG_NS (30 * XB_NS_PER_SECOND)
#define SHORT_NS XB_NS_PER_SECOND

/* A whole offer: every list is "a", the languages are empty. */
#define LIST "\0\0\0\1a"
#define FOUR_LISTS LIST LIST LIST LIST
static const char offer_bytes[] = IDENT "\0\0\0\x4c\x05\x14"
					"0123456789abcdef" FOUR_LISTS FOUR_LISTS "\0\0\0\0\0\0\0\0"
					"\0\0\0\0\0"
					"\0\0\0\0\0";
#define OFFER_LEN (sizeof(offer_bytes) - 1)

/* What a server does with the one connection that it takes. */
struct script {
	const char *say;
	size_t len;
	bool listens_first; /* for our identification line */
	bool dribbles;      /* a byte at a time */
	bool closes;        /* at the end; else it waits until we leave */
};

/* A server in a process of its own, which ends with 0 when all was as it should be. */
struct server {
	unsigned port;
	pid_t pid;
};

static int
listen_somewhere(unsigned *port, int backlog)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	if (backlog >= 0)
		assert_int_equal(listen(fd, backlog), 0);
	*port = ntohs(addr.sin_port);
	return fd;
}

/* In the server's process: cmocka's checks have no place here. */
static int
serve(int listener, const struct script *script)
{
	static const char expected[] = "SSH-2.0-xferbench\r\n";
	const int one = 1;
	char heard[256];
	size_t heard_len = 0, step = script->dribbles ? 1 : script->len;
	ssize_t got = 1;
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return 2;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (script->listens_first && got > 0 && heard_len < strlen(expected)) {
		got = recv(fd, heard + heard_len, sizeof(heard) - heard_len, 0);
		heard_len += got > 0 ? (size_t)got : 0;
	}
	for (size_t done = 0; done < script->len; done += step) {
		if (send(fd, script->say + done, step, MSG_NOSIGNAL) != (ssize_t)step)
			return 3;
	}
	if (script->closes)
		shutdown(fd, SHUT_WR);
	while (got > 0 && heard_len < sizeof(heard)) {
		got = recv(fd, heard + heard_len, sizeof(heard) - heard_len, 0);
		heard_len += got > 0 ? (size_t)got : 0;
	}
	if (heard_len != strlen(expected) || memcmp(heard, expected, heard_len) != 0)
		return 4;
	/* There must not have been a second connection. */
	fcntl(listener, F_SETFL, O_NONBLOCK);
	return accept(listener, NULL, NULL) < 0 && errno == EAGAIN ? 0 : 5;
}

static struct server
start(const struct script *script)
{
	struct server server;
	int listener = listen_somewhere(&server.port, 8);

	server.pid = fork();
	assert_true(server.pid >= 0);
	if (server.pid == 0) {
		alarm(60);
		_exit(serve(listener, script));
	}
	close(listener);
	return server;
}

static void
finish(const struct server *server)
{
	int status = -1;

	assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
	assert_int_equal(status, 0);
}

static void
assert_unreadable(const struct script *script, int64_t timeout_ns, const char *why)
{
	struct server server = start(script);
	struct xb_offer offer = { .banner = NULL };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_peer peer;
	char place[64];

	snprintf(place, sizeof(place), "127.0.0.1 port %u: ", server.port);
	assert_false(xb_offer_read("127.0.0.1", server.port, timeout_ns, &peer, &offer, &err));
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_null(offer.banner);
	if (strncmp(err.text, place, strlen(place)) != 0 || strstr(err.text, why) == NULL)
		fail_msg("'%s' and '%s' are not in '%s'", place, why, err.text);
	finish(&server);
}

static void
assert_readable(const struct script *script)
{
	struct server server = start(script);
	struct xb_offer offer = { .banner = NULL };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_peer peer;

	if (!xb_offer_read("127.0.0.1", server.port, LONG_NS, &peer, &offer, &err))
		fail_msg("%s", err.text);
	assert_string_equal(offer.banner, "SSH-2.0-test");
	assert_int_equal(offer.ciphers_up.count, 1);
	assert_string_equal(offer.ciphers_up.names[0], "a");
	assert_string_equal(peer.address, "127.0.0.1");
	assert_true(peer.is_local);
	xb_offer_free(&offer);
	finish(&server);
}

static void
offer_is_read_in_one_connection(void **state)
{
	const struct script script = { .say = offer_bytes, .len = OFFER_LEN };

	(void)state;
	assert_readable(&script);
}

static void
offer_may_come_late_and_byte_by_byte(void **state)
{
	const struct script script = {
		.say = offer_bytes,
		.len = OFFER_LEN,
		.listens_first = true,
		.dribbles = true,
		.closes = true,
	};

	(void)state;
	assert_readable(&script);
}

static void
silent_server_is_told(void **state)
{
	const struct script script = { .len = 0 };

	(void)state;
	assert_unreadable(&script, SHORT_NS,
	    "connected, but nothing was said within 1 s; is it an SSH server?");
}

static void
server_that_closes_at_once_is_told(void **state)
{
	const struct script script = { .len = 0, .closes = true };

	(void)state;
	assert_unreadable(&script, LONG_NS,
	    "closed the connection before saying anything (MaxStartups, a firewall or "
	    "tcpwrappers?)");
}

static void
last_words_of_a_server_that_closes_are_shown(void **state)
{
	static const char words[] = "Not allowed at this time\r\n";
	const struct script script = { .say = words, .len = strlen(words), .closes = true };

	(void)state;
	assert_unreadable(&script, LONG_NS,
	    "it said 'Not allowed at this time', which is not SSH, and closed the connection");
}

static void
http_server_is_told(void **state)
{
	static const char words[] = "HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n";
	const struct script script = {
		.say = words,
		.len = strlen(words),
		.listens_first = true,
	};

	(void)state;
	assert_unreadable(&script, LONG_NS, "speaks HTTP, not SSH: 'HTTP/1.1 400 Bad Request'");
}

static void
mail_server_is_told(void **state)
{
	static const char words[] = "220 mail.example.org ESMTP\r\n";
	const struct script script = { .say = words, .len = strlen(words) };

	(void)state;
	assert_unreadable(&script, LONG_NS,
	    "speaks something else, not SSH: '220 mail.example.org ESMTP'");
}

static void
unknown_words_and_silence_are_told(void **state)
{
	static const char words[] = "login: ";
	const struct script script = { .say = words, .len = strlen(words) };

	(void)state;
	assert_unreadable(&script, SHORT_NS,
	    "it said 'login:', which is not SSH, and stopped for the rest of 1 s");
}

static void
identification_without_kexinit_is_told(void **state)
{
	struct script script = { .say = IDENT, .len = strlen(IDENT) };

	(void)state;
	assert_unreadable(&script, SHORT_NS,
	    "it identified itself as 'SSH-2.0-test', and stopped for the rest of 1 s instead "
	    "of its KEXINIT");
	script.closes = true;
	assert_unreadable(&script, LONG_NS, "and closed the connection instead of its KEXINIT");
}

static void
half_a_kexinit_is_told(void **state)
{
	struct script script = { .say = offer_bytes, .len = strlen(IDENT) + 20 };

	(void)state;
	assert_unreadable(&script, SHORT_NS, "in the middle of its KEXINIT, after 20 bytes of it");
	script.closes = true;
	assert_unreadable(&script, LONG_NS,
	    "closed the connection in the middle of its KEXINIT, after 20 bytes of it");
}

static void
lying_kexinit_is_told(void **state)
{
	static const char words[] = IDENT "\xff\xff\xff\xff\xff\xff";
	const struct script script = { .say = words, .len = sizeof(words) - 1 };

	(void)state;
	assert_unreadable(&script, LONG_NS, "its first packet says that it has 4294967295 bytes");
}

static void
flood_of_words_is_bounded(void **state)
{
	static char words[400000];
	struct server server;
	struct script script = { .say = words, .len = sizeof(words), .dribbles = false };
	struct xb_offer offer = { .banner = NULL };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_peer peer;
	int status;

	(void)state;
	memset(words, 'a', sizeof(words));
	server = start(&script);
	assert_false(xb_offer_read("127.0.0.1", server.port, LONG_NS, &peer, &offer, &err));
	assert_non_null(strstr(err.text, "says too much before any SSH identification"));
	/* It is left while it still speaks, so it has nothing good to say. */
	assert_int_equal(waitpid(server.pid, &status, 0), server.pid);
}

static void
refused_connection_is_told(void **state)
{
	struct xb_offer offer = { .banner = NULL };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_peer peer;
	unsigned port;
	int fd = listen_somewhere(&port, -1);

	(void)state;
	assert_false(xb_offer_read("127.0.0.1", port, LONG_NS, &peer, &offer, &err));
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text,
	    "cannot connect to 127.0.0.1: Connection refused; is an "
	    "SSH server listening there?"));
	close(fd);
}

static void
name_that_does_not_resolve_is_told(void **state)
{
	struct xb_offer offer = { .banner = NULL };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_peer peer;
	char host[80];

	(void)state;
	/* No name server needs to be asked for a label of 70 letters. */
	memset(host, 'x', 70);
	host[70] = '\0';
	assert_false(xb_offer_read(host, 22, LONG_NS, &peer, &offer, &err));
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text, host));
	assert_non_null(strstr(err.text, " does not resolve: "));
}

static struct xb_peer
loopback_peer(unsigned port)
{
	struct xb_peer peer = { .address = "127.0.0.1", .is_local = true };
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(&peer.addr, &addr, sizeof(addr));
	peer.addr_len = sizeof(addr);
	return peer;
}

static void
peer_is_connected_without_blocking_or_delay(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_peer peer;
	unsigned port;
	int listener = listen_somewhere(&port, 8), fd, value = 0;
	socklen_t len = sizeof(value);

	(void)state;
	peer = loopback_peer(port);
	fd = xb_peer_connect(&peer, LONG_NS, &err);
	assert_true(fd >= 0);
	assert_true((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &len), 0);
	assert_true(value != 0);
	close(fd);
	close(listener);
}

static void
peer_that_refuses_fails_the_trial(void **state)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_peer peer;
	unsigned port;
	int holder = listen_somewhere(&port, -1);
	char text[128];

	(void)state;
	peer = loopback_peer(port);
	assert_int_equal(xb_peer_connect(&peer, LONG_NS, &err), -1);
	assert_int_equal(err.fault, XB_FAULT_TRIAL);
	snprintf(text, sizeof(text), "cannot connect to 127.0.0.1 port %u: Connection refused",
	    port);
	assert_string_equal(err.text, text);
	close(holder);
}

/* A listener whose queue is full lets further clients wait, as a host that is not there does. */
static void
host_that_does_not_answer_is_told(void **state)
{
	struct xb_offer offer = { .banner = NULL };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_err trial_err = { .fault = XB_FAULT_NONE };
	struct xb_peer peer, answered;
	unsigned port;
	int listener = listen_somewhere(&port, 0);
	int fds[8];
	size_t queued = 0;

	(void)state;
	peer = loopback_peer(port);
	do {
		fds[queued] = xb_peer_connect(&peer, SHORT_NS, &trial_err);
	} while (fds[queued] >= 0 && ++queued < sizeof(fds) / sizeof(fds[0]));
	assert_in_range(queued, 1, 7);
	assert_int_equal(trial_err.fault, XB_FAULT_TRIAL);
	assert_non_null(strstr(trial_err.text, "timed out"));
	assert_false(xb_offer_read("127.0.0.1", port, SHORT_NS, &answered, &offer, &err));
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_non_null(strstr(err.text,
	    "127.0.0.1 did not answer within 1 s; is it up, and no firewall between?"));
	while (queued > 0)
		close(fds[--queued]);
	close(listener);
}

/* Comes last: the signal stays pending in this process. */
static void
signal_ends_the_reading(void **state)
{
	const struct script script = { .len = 0 };
	struct server server = start(&script);
	struct xb_offer offer = { .banner = NULL };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct xb_peer peer;
	int status;

	(void)state;
	xb_signals_init();
	raise(SIGTERM);
	assert_false(xb_offer_read("127.0.0.1", server.port, INT64_MAX, &peer, &offer, &err));
	assert_int_equal(err.fault, XB_FAULT_SIGNAL);
	/* Whether it got a connection is a matter of luck. */
	kill(server.pid, SIGKILL);
	assert_int_equal(waitpid(server.pid, &status, 0), server.pid);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offer_is_read_in_one_connection),
		cmocka_unit_test(offer_may_come_late_and_byte_by_byte),
		cmocka_unit_test(silent_server_is_told),
		cmocka_unit_test(server_that_closes_at_once_is_told),
		cmocka_unit_test(last_words_of_a_server_that_closes_are_shown),
		cmocka_unit_test(http_server_is_told),
		cmocka_unit_test(mail_server_is_told),
		cmocka_unit_test(unknown_words_and_silence_are_told),
		cmocka_unit_test(identification_without_kexinit_is_told),
		cmocka_unit_test(half_a_kexinit_is_told),
		cmocka_unit_test(lying_kexinit_is_told),
		cmocka_unit_test(flood_of_words_is_bounded),
		cmocka_unit_test(refused_connection_is_told),
		cmocka_unit_test(name_that_does_not_resolve_is_told),
		cmocka_unit_test(peer_is_connected_without_blocking_or_delay),
		cmocka_unit_test(peer_that_refuses_fails_the_trial),
		cmocka_unit_test(host_that_does_not_answer_is_told),
		cmocka_unit_test(signal_ends_the_reading),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
