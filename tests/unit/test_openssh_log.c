#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "client/openssh_log.h"

#define EVENTS_MAX 64

/* What a log told. */
struct heard {
	struct xb_openssh_log log;
	enum xb_openssh_event events[EVENTS_MAX];
	size_t count;
};

static void
on_event(void *ctx, enum xb_openssh_event event)
{
	struct heard *heard = ctx;

	assert_true(heard->count < EVENTS_MAX);
	heard->events[heard->count++] = event;
}

static void
begin(struct heard *heard)
{
	memset(heard, 0, sizeof(*heard));
	heard->log.on_event = on_event;
	heard->log.ctx = heard;
}

static void
feed(struct heard *heard, const char *text)
{
	xb_openssh_log_feed(&heard->log, text, strlen(text));
}

static void
expect_events(const struct heard *heard, const enum xb_openssh_event *events, size_t count)
{
	assert_int_equal(heard->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(heard->events[i], events[i]);
}

#define KEX(cipher, mac) \
	"debug1: kex: algorithm: curve25519-sha256\r\n" \
	"debug1: kex: host key algorithm: ssh-ed25519\r\n" \
	"debug1: kex: server->client cipher: " cipher " MAC: " mac " compression: none\r\n" \
	"debug1: kex: client->server cipher: " cipher " MAC: " mac " compression: none\r\n" \
	"debug1: SSH2_MSG_NEWKEYS sent\r\n" \
	"debug1: SSH2_MSG_NEWKEYS received\r\n"

/* As OpenSSH 9.2 prints it, lines of no interest left out. */
static const char session[] =
    "OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026\r\n"
    "debug1: Connecting to 127.0.0.1 [127.0.0.1] port 2299.\r\n"
    "debug1: Connection established.\r\n"
    "debug1: Remote protocol version 2.0, remote software version OpenSSH_9.2p1\r\n"
    "debug1: kex: algorithm: curve25519-sha256\r\n"
    "debug1: kex: host key algorithm: ssh-ed25519\r\n"
    "debug1: kex: server->client cipher: aes128-ctr MAC: hmac-sha2-256 compression: none\r\n"
    "debug1: kex: client->server cipher: aes128-ctr MAC: hmac-sha2-256 compression: none\r\n"
    "debug1: SSH2_MSG_NEWKEYS sent\r\n"
    "debug1: SSH2_MSG_NEWKEYS received\r\n"
    "Authenticated to 127.0.0.1 ([127.0.0.1]:2299) using \"publickey\".\r\n"
    "debug1: Entering interactive session.\r\n"
    "debug1: Sending command: cat\r\n";

static const enum xb_openssh_event session_events[] = { XB_OPENSSH_CONNECTING, XB_OPENSSH_CONNECTED,
	XB_OPENSSH_VERSION, XB_OPENSSH_PROPOSED, XB_OPENSSH_KEYED, XB_OPENSSH_LOGGED_IN,
	XB_OPENSSH_SENT };

#define SESSION_EVENTS (sizeof(session_events) / sizeof(session_events[0]))

static void
session_is_told_step_by_step_with_what_it_negotiated(void **state)
{
	struct heard heard;

	(void)state;
	begin(&heard);
	feed(&heard, session);
	expect_events(&heard, session_events, SESSION_EVENTS);
	assert_string_equal(heard.log.negotiated.kex, "curve25519-sha256");
	assert_string_equal(heard.log.negotiated.hostkey, "ssh-ed25519");
	assert_string_equal(heard.log.negotiated.cipher, "aes128-ctr");
	assert_string_equal(heard.log.negotiated.mac, "hmac-sha2-256");
	assert_string_equal(heard.log.negotiated.compression, "none");
	assert_string_equal(heard.log.cipher_down, "aes128-ctr");
	assert_string_equal(heard.log.mac_down, "hmac-sha2-256");
	assert_string_equal(heard.log.compression_down, "none");
	assert_string_equal(heard.log.words, "");
}

static void
bytes_may_come_one_by_one(void **state)
{
	struct heard heard;

	(void)state;
	begin(&heard);
	for (const char *byte = session; *byte != '\0'; byte++)
		xb_openssh_log_feed(&heard.log, byte, 1);
	expect_events(&heard, session_events, SESSION_EVENTS);
	assert_string_equal(heard.log.negotiated.cipher, "aes128-ctr");
}

static void
mac_of_an_aead_cipher_is_none(void **state)
{
	struct heard heard;

	(void)state;
	begin(&heard);
	feed(&heard, KEX("aes128-gcm@openssh.com", "<implicit>"));
	assert_string_equal(heard.log.negotiated.cipher, "aes128-gcm@openssh.com");
	assert_string_equal(heard.log.negotiated.mac, "");
	assert_string_equal(heard.log.mac_down, "");
}

static void
rekeying_changes_nothing_and_is_no_event(void **state)
{
	struct heard heard;

	(void)state;
	begin(&heard);
	feed(&heard, session);
	feed(&heard, KEX("3des-cbc", "hmac-md5"));
	expect_events(&heard, session_events, SESSION_EVENTS);
	assert_string_equal(heard.log.negotiated.cipher, "aes128-ctr");
}

/* ssh -v passes -v on to the ssh that is its proxy. */
static void
proxy_that_is_an_ssh_tells_its_own_story_first(void **state)
{
	static const enum xb_openssh_event tail[] = { XB_OPENSSH_VERSION, XB_OPENSSH_PROPOSED,
		XB_OPENSSH_KEYED, XB_OPENSSH_LOGGED_IN, XB_OPENSSH_SENT };
	struct heard heard;

	(void)state;
	begin(&heard);
	feed(&heard,
	    "debug1: Executing proxy command: exec ssh -v -W '[nas]:22' jump\r\n"
	    "debug1: Connecting to jump [10.0.0.1] port 22.\r\n"
	    "debug1: Connection established.\r\n"
	    "debug1: Remote protocol version 2.0\r\n");
	feed(&heard, KEX("3des-cbc", "hmac-md5"));
	feed(&heard,
	    "Authenticated to jump ([10.0.0.1]:22) using \"publickey\".\r\n"
	    "debug1: Remote protocol version 2.0\r\n");
	feed(&heard, KEX("aes128-ctr", "hmac-sha2-256"));
	feed(&heard,
	    "Authenticated to nas (via proxy) using \"publickey\".\r\n"
	    "debug1: Sending command: scp -v -t /dev/null\r\n");
	assert_int_equal(heard.events[0], XB_OPENSSH_PROXY);
	assert_true(heard.count > 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(heard.events[heard.count - 5 + i], tail[i]);
	assert_string_equal(heard.log.negotiated.cipher, "aes128-ctr");
	assert_string_equal(heard.log.cipher_down, "aes128-ctr");
}

/* With lines of the far side's scp, which is as verbose, among them. */
static void
scp_tells_when_its_file_begins_and_ends(void **state)
{
	static const enum xb_openssh_event upload[] = { XB_OPENSSH_FILE_OUT, XB_OPENSSH_FILE_IN,
		XB_OPENSSH_DATA_END, XB_OPENSSH_INPUT_END, XB_OPENSSH_EXIT_STATUS };
	static const enum xb_openssh_event download[] = { XB_OPENSSH_FILE_OUT, XB_OPENSSH_FILE_IN,
		XB_OPENSSH_DATA_END, XB_OPENSSH_EXIT_STATUS };
	struct heard heard;

	(void)state;
	begin(&heard);
	feed(&heard, session);
	heard.count = 0;
	feed(&heard,
	    "scp: debug1: fd 3 clearing O_NONBLOCK\r\n"
	    "Sending file modes: C0644 3000000 f\r\n"
	    "Sink: C0644 3000000 f\r\n"
	    "scp: debug1: fd 4 clearing O_NONBLOCK\r\n"
	    "scp: debug1: fd 0 clearing O_NONBLOCK\r\n"
	    "debug2: nchan.c:chan_read_failed():115 (pid=1): channel 0: read failed\r\n"
	    "debug2: nchan.c:chan_set_istate():97 (pid=1): channel 0: input open -> drain\r\n"
	    "debug1: client_input_channel_req: channel 0 rtype exit-status reply 0\r\n");
	expect_events(&heard, upload, sizeof(upload) / sizeof(upload[0]));

	begin(&heard);
	feed(&heard, session);
	heard.count = 0;
	feed(&heard,
	    "scp: debug1: fd 3 clearing O_NONBLOCK\r\n"
	    "Sending file modes: C0644 3000000 a b\r\n"
	    "Sink: C0644 3000000 a b\r\n"
	    "scp: debug1: fd 1 clearing O_NONBLOCK\r\n"
	    "scp: debug1: fd 4 clearing O_NONBLOCK\r\n"
	    "debug1: client_input_channel_req: channel 0 rtype exit-status reply 0\r\n");
	expect_events(&heard, download, sizeof(download) / sizeof(download[0]));
	assert_int_equal(heard.log.file_bytes, 3000000);
	feed(&heard,
	    "Transferred: sent 3488, received 3003344 bytes, in 0.6 seconds\r\n"
	    "debug1: Exit status 3\r\n");
	assert_int_equal(heard.log.wire_sent, 3488);
	assert_int_equal(heard.log.wire_received, 3003344);
	assert_int_equal(heard.log.exit_status, 3);
	assert_string_equal(heard.log.words, "");
}

static void
expect_words(const char *text, const char *words)
{
	struct heard heard;

	begin(&heard);
	feed(&heard, text);
	xb_openssh_log_end(&heard.log);
	assert_string_equal(heard.log.words, words);
}

static void
reason_is_the_last_line_that_says_something(void **state)
{
	(void)state;
	expect_words("", "");
	expect_words("\r\n\n\n", "");
	expect_words("debug1: x\r\nssh: connect to host a port 1: Connection refused\r\n",
	    "ssh: connect to host a port 1: Connection refused");
	expect_words("root@a: Permission denied (publickey).\r\ndebug1: Exit status 255\r\n",
	    "root@a: Permission denied (publickey).");
	expect_words("one\ntwo", "two");
	expect_words("Warning: Permanently added 'a' (ED25519) to the list of known hosts.\r\n",
	    "");
	expect_words("remote fsetstat: Bad message\n", "");
	expect_words("** WARNING: connection is not using a post-quantum key exchange.\n", "");
	expect_words("bad \033[31mred\033[0m\001\xff\n", "bad \\x1b[31mred\\x1b[0m\\x01\\xff");
}

static void
line_that_follows_upon_a_reason_is_none(void **state)
{
	(void)state;
	expect_words(
	    "No ED25519 host key is known for a and you have requested strict checking.\r\n"
	    "Host key verification failed.\r\nlost connection\r\n",
	    "No ED25519 host key is known for a and you have requested strict checking.");
	expect_words("lost connection\n", "lost connection");
	expect_words("lost connection\nsh: scp: not found\n", "sh: scp: not found");
	expect_words("Connection closed\nscp: Connection closed\n", "scp: Connection closed");
}

static void
banner_is_no_reason_for_what_comes_after_the_login(void **state)
{
	struct heard heard;

	(void)state;
	begin(&heard);
	feed(&heard, "Unauthorized use is forbidden\n");
	assert_string_equal(heard.log.words, "Unauthorized use is forbidden");
	feed(&heard, session);
	assert_string_equal(heard.log.words, "");
}

static void
odd_lines_tell_nothing_and_do_no_harm(void **state)
{
	static const char *const lines[] = { "debug1: kex: ", "debug1: kex: algorithm: ",
		"debug1: kex: client->server ", "debug1: kex: client->server cipher:",
		"debug1: kex: client->server cipher:  MAC:  compression: ",
		"debug1: kex: server->client MAC: x cipher: y", "Sink: C", "Sink: C0644",
		"Sink: C0644 99999999999999999999999999 x", "Sink: C0644 -1 x", "scp: debug1: fd ",
		"scp: debug1: fd 4", "scp: debug1: fd x clearing O_NONBLOCK",
		"debug2: nchan.c:", "Authenticated to", "debug1: Connecting to", "\r", "\r\r\r" };
	struct heard heard;
	char long_name[600];

	(void)state;
	begin(&heard);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		feed(&heard, lines[i]);
		feed(&heard, "\n");
	}
	for (size_t i = 0; i < heard.count; i++)
		assert_int_equal(heard.events[i], XB_OPENSSH_PROPOSED);
	/* A name that is longer than any is cut. */
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	feed(&heard, "debug1: kex: client->server cipher: ");
	feed(&heard, long_name);
	feed(&heard, "\n");
	assert_true(strlen(heard.log.negotiated.cipher) < XB_NAME_MAX);
}

/* As one line without an end, as many lines, and as bytes of every value. */
static void
ten_megabytes_are_taken_in_bounded_memory(void **state)
{
	const size_t size = 10 * 1000 * 1000;
	char *flood = xb_calloc(1, size);
	struct heard heard;

	(void)state;
	begin(&heard);
	memset(flood, 'x', size);
	xb_openssh_log_feed(&heard.log, flood, size);
	assert_true(heard.log.line_len < sizeof(heard.log.line));
	feed(&heard, "\n");
	assert_true(strlen(heard.log.words) < sizeof(heard.log.words));
	for (size_t i = 79; i < size; i += 80)
		flood[i] = '\n';
	xb_openssh_log_feed(&heard.log, flood, size);
	for (size_t i = 0; i < size; i++)
		flood[i] = (char)(i * 31 + i / 255);
	xb_openssh_log_feed(&heard.log, flood, size);
	feed(&heard, "\n");
	assert_int_equal(heard.count, 0);
	/* And it still hears. */
	feed(&heard, session);
	expect_events(&heard, session_events, SESSION_EVENTS);
	free(flood);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(session_is_told_step_by_step_with_what_it_negotiated),
		cmocka_unit_test(bytes_may_come_one_by_one),
		cmocka_unit_test(mac_of_an_aead_cipher_is_none),
		cmocka_unit_test(rekeying_changes_nothing_and_is_no_event),
		cmocka_unit_test(proxy_that_is_an_ssh_tells_its_own_story_first),
		cmocka_unit_test(scp_tells_when_its_file_begins_and_ends),
		cmocka_unit_test(reason_is_the_last_line_that_says_something),
		cmocka_unit_test(line_that_follows_upon_a_reason_is_none),
		cmocka_unit_test(banner_is_no_reason_for_what_comes_after_the_login),
		cmocka_unit_test(odd_lines_tell_nothing_and_do_no_harm),
		cmocka_unit_test(ten_megabytes_are_taken_in_bounded_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
