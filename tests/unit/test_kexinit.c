#include "target/kexinit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "model/offer.h"

/* What an sshd of OpenSSH 9.2p1 said, byte by byte. */
static const char real[] =
    "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10\r\n"
    "\x00\x00\x04\x3c\x09\x14" /* packet length, padding length, KEXINIT */
    "\x1c\x74\xc3\xad\x02\x9e\x78\x29\x95\x16\x13\x1c\x40\x44\xc3\x8b"
    "\x00\x00\x01\x3d"
    "sntrup761x25519-sha512,sntrup761x25519-sha512@openssh.com,curve25519-sha256,"
    "curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"
    "ecdh-sha2-nistp521,diffie-hellman-group-exchange-sha256,"
    "diffie-hellman-group16-sha512,diffie-hellman-group18-sha512,"
    "diffie-hellman-group14-sha256,kex-strict-s-v00@openssh.com"
    "\x00\x00\x00\x0b"
    "ssh-ed25519"
    "\x00\x00\x00\x6c"
    "chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr,"
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com"
    "\x00\x00\x00\x6c"
    "chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr,"
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com"
    "\x00\x00\x00\xd5"
    "umac-64-etm@openssh.com,umac-128-etm@openssh.com,hmac-sha2-256-etm@openssh.com,"
    "hmac-sha2-512-etm@openssh.com,hmac-sha1-etm@openssh.com,umac-64@openssh.com,"
    "umac-128@openssh.com,hmac-sha2-256,hmac-sha2-512,hmac-sha1"
    "\x00\x00\x00\xd5"
    "umac-64-etm@openssh.com,umac-128-etm@openssh.com,hmac-sha2-256-etm@openssh.com,"
    "hmac-sha2-512-etm@openssh.com,hmac-sha1-etm@openssh.com,umac-64@openssh.com,"
    "umac-128@openssh.com,hmac-sha2-256,hmac-sha2-512,hmac-sha1"
    "\x00\x00\x00\x15"
    "none,zlib@openssh.com"
    "\x00\x00\x00\x15"
    "none,zlib@openssh.com"
    "\x00\x00\x00\x00"
    "\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00" /* no guess follows, reserved */
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00";

#define REAL_LEN (sizeof(real) - 1)
#define REAL_IDENT_LEN (sizeof("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10\r\n") - 1)

/* A server's words under construction. */
struct words {
	unsigned char bytes[200000];
	size_t len;
	size_t packet; /* where the packet begins */
};

static void
put(struct words *w, const void *bytes, size_t len)
{
	assert_true(w->len + len <= sizeof(w->bytes));
	memcpy(w->bytes + w->len, bytes, len);
	w->len += len;
}

static void
put_text(struct words *w, const char *text)
{
	put(w, text, strlen(text));
}

static void
put_u32(struct words *w, uint32_t value)
{
	const unsigned char four[] = { (unsigned char)(value >> 24), (unsigned char)(value >> 16),
		(unsigned char)(value >> 8), (unsigned char)value };

	put(w, four, sizeof(four));
}

static void
put_string(struct words *w, const void *bytes, size_t len)
{
	put_u32(w, (uint32_t)len);
	put(w, bytes, len);
}

static void
begin_packet(struct words *w, const char *ident, unsigned char message)
{
	const unsigned char head[] = { 0, 0, 0, 0, 0, message };

	w->len = 0;
	put_text(w, ident);
	w->packet = w->len;
	put(w, head, sizeof(head));
}

/* Pads the packet and writes its lengths. */
static void
end_packet(struct words *w)
{
	static const char zeros[16];
	size_t padding = 8 - (w->len - w->packet) % 8;
	size_t length;

	if (padding < 4)
		padding += 8;
	put(w, zeros, padding);
	length = w->len - w->packet - 4;
	w->bytes[w->packet] = (unsigned char)(length >> 24);
	w->bytes[w->packet + 1] = (unsigned char)(length >> 16);
	w->bytes[w->packet + 2] = (unsigned char)(length >> 8);
	w->bytes[w->packet + 3] = (unsigned char)length;
	w->bytes[w->packet + 4] = (unsigned char)padding;
}

/* A KEXINIT whose cipher list to the server is as given, with bytes after its end. */
static void
make_kexinit(struct words *w, const char *ident, const void *ciphers, size_t len, size_t trash)
{
	static const char zeros[16];

	begin_packet(w, ident, 20);
	put(w, zeros, 16);
	for (int i = 0; i < 10; i++) {
		if (i == 2)
			put_string(w, ciphers, len);
		else
			put_string(w, "x", i < 8 ? 1 : 0);
	}
	put(w, zeros, 5 + trash);
	end_packet(w);
}

static enum xb_kexinit_state
parse(const void *bytes, size_t len, struct xb_err *err)
{
	struct xb_offer offer = { .banner = NULL };
	enum xb_kexinit_state state;

	memset(err, 0, sizeof(*err));
	state = xb_kexinit_parse(bytes, len, &offer, err);
	if (state == XB_KEXINIT_DONE)
		assert_non_null(offer.banner);
	else
		assert_null(offer.banner);
	if (state != XB_KEXINIT_DONE)
		assert_int_equal(offer.kex.count + offer.ciphers_up.count, 0);
	assert_int_equal(err->fault, state == XB_KEXINIT_BAD ? XB_FAULT_TARGET : XB_FAULT_NONE);
	xb_offer_free(&offer);
	return state;
}

static void
assert_bad(const void *bytes, size_t len, const char *why)
{
	struct xb_err err;

	assert_int_equal(parse(bytes, len, &err), XB_KEXINIT_BAD);
	if (strstr(err.text, why) == NULL)
		fail_msg("'%s' is not in '%s'", why, err.text);
}

static void
assert_bad_text(const char *text, const char *why)
{
	assert_bad(text, strlen(text), why);
}

static void
assert_state(const void *bytes, size_t len, enum xb_kexinit_state state)
{
	struct xb_err err;
	enum xb_kexinit_state seen = parse(bytes, len, &err);

	if (seen != state)
		fail_msg("state %d, not %d, after %zu bytes: %s", (int)seen, (int)state, len,
		    err.text);
}

static void
offer_of_a_real_server_is_read(void **state)
{
	struct xb_offer offer = { .banner = NULL };
	struct xb_err err = { .fault = XB_FAULT_NONE };

	(void)state;
	assert_int_equal(xb_kexinit_parse(real, REAL_LEN, &offer, &err), XB_KEXINIT_DONE);
	assert_string_equal(offer.banner, "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10");
	assert_int_equal(offer.kex.count, 12);
	assert_string_equal(offer.kex.names[0], "sntrup761x25519-sha512");
	assert_string_equal(offer.kex.names[11], "kex-strict-s-v00@openssh.com");
	assert_int_equal(offer.hostkeys.count, 1);
	assert_string_equal(offer.hostkeys.names[0], "ssh-ed25519");
	assert_int_equal(offer.ciphers_up.count, 6);
	assert_string_equal(offer.ciphers_up.names[0], "chacha20-poly1305@openssh.com");
	assert_string_equal(offer.ciphers_down.names[5], "aes256-gcm@openssh.com");
	assert_int_equal(offer.macs_up.count, 10);
	assert_string_equal(offer.macs_up.names[0], "umac-64-etm@openssh.com");
	assert_string_equal(offer.macs_down.names[9], "hmac-sha1");
	assert_int_equal(offer.compression_up.count, 2);
	assert_string_equal(offer.compression_down.names[1], "zlib@openssh.com");
	xb_offer_free(&offer);
}

static void
truncation_at_every_byte_wants_more(void **state)
{
	(void)state;
	for (size_t len = 0; len < REAL_LEN; len++)
		assert_state(real, len, XB_KEXINIT_MORE);
	assert_state(real, REAL_LEN, XB_KEXINIT_DONE);
}

static void
bytes_after_the_packet_are_not_looked_at(void **state)
{
	static struct words w;

	(void)state;
	w.len = 0;
	put(&w, real, REAL_LEN);
	put_text(&w, "the packet of a wrong guess");
	assert_state(w.bytes, w.len, XB_KEXINIT_DONE);
}

static void
bytes_after_the_end_of_the_kexinit_are_refused(void **state)
{
	static struct words w;

	(void)state;
	make_kexinit(&w, "SSH-2.0-x\n", "a,b", 3, 0);
	assert_state(w.bytes, w.len, XB_KEXINIT_DONE);
	make_kexinit(&w, "SSH-2.0-x\n", "a,b", 3, 1);
	assert_bad(w.bytes, w.len, "1 bytes after its end");
}

static void
guessed_packet_is_allowed_to_follow(void **state)
{
	static struct words w;

	(void)state;
	w.len = 0;
	put(&w, real, REAL_LEN);
	w.bytes[w.len - 9 - 5] = 1;
	assert_state(w.bytes, w.len, XB_KEXINIT_DONE);
}

/* Where the length of a list stands in the real offer. */
static size_t
list_offset(unsigned list)
{
	size_t at = REAL_IDENT_LEN + 6 + 16;

	for (; list > 0; list--)
		at += 4 + ((size_t)(unsigned char)real[at + 2] << 8 | (unsigned char)real[at + 3]);
	return at;
}

static void
lying_list_length_is_refused_at_every_list(void **state)
{
	static const uint32_t lies[] = { 0xffffffff, 0x80000000, 0x7fffffff, 35001, 1100 };
	static struct words w;
	struct xb_err err;
	size_t at;

	(void)state;
	for (unsigned list = 0; list < 10; list++) {
		at = list_offset(list);
		for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			w.len = 0;
			put(&w, real, at);
			put_u32(&w, lies[i]);
			put(&w, real + at + 4, REAL_LEN - at - 4);
			assert_bad(w.bytes, w.len, "but only");
		}
		/* One more or less: the next field is read from the wrong place. */
		for (int step = -1; step <= 1; step += 2) {
			w.len = 0;
			put(&w, real, REAL_LEN);
			w.bytes[at + 3] = (unsigned char)(w.bytes[at + 3] + step);
			assert_int_equal(parse(w.bytes, w.len, &err), XB_KEXINIT_BAD);
		}
	}
}

static void
lying_packet_length_is_refused_at_once(void **state)
{
	static const uint32_t lies[] = { 0, 1, 11, 13, 35000, 0x10000, 0x7ffffffc, 0xfffffffc,
		0xffffffff };
	static struct words w;

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		w.len = 0;
		put(&w, real, REAL_IDENT_LEN);
		put_u32(&w, lies[i]);
		assert_bad(w.bytes, w.len, "which no KEXINIT has");
	}
}

static void
packet_shorter_than_its_lists_is_refused(void **state)
{
	static struct words w;

	(void)state;
	for (size_t cut = 8; cut < 1080; cut += 8) {
		w.len = 0;
		put(&w, real, REAL_IDENT_LEN);
		put_u32(&w, (uint32_t)(0x43c - cut));
		put(&w, real + REAL_IDENT_LEN + 4, REAL_LEN - REAL_IDENT_LEN - 4);
		assert_bad(w.bytes, w.len, "its KEXINIT");
	}
}

static void
lying_padding_is_refused_at_once(void **state)
{
	static const unsigned char lies[] = { 0, 3, 11, 12, 255 };
	static struct words w;

	(void)state;
	for (size_t i = 0; i < sizeof(lies); i++) {
		w.len = 0;
		put_text(&w, "SSH-2.0-x\r\n");
		put_u32(&w, 12);
		put(&w, &lies[i], 1);
		assert_bad(w.bytes, w.len, "are padding");
	}
}

static void
kexinit_must_be_the_first_message(void **state)
{
	static struct words w;

	(void)state;
	begin_packet(&w, "SSH-2.0-x\r\n", 21);
	end_packet(&w);
	assert_bad(w.bytes, w.len, "message 21");
	/* Told from its first byte. */
	assert_bad(w.bytes, w.packet + 6, "message 21");
}

static void
reason_of_a_disconnect_is_shown(void **state)
{
	static const char reason[] = "Too many\nconnections";
	static struct words w;

	(void)state;
	begin_packet(&w, "SSH-2.0-x\r\n", 1);
	put_u32(&w, 12);
	put_string(&w, reason, strlen(reason));
	put_string(&w, "", 0);
	end_packet(&w);
	assert_bad(w.bytes, w.len, "disconnected before key exchange: 'Too many connections'");
	begin_packet(&w, "SSH-2.0-x\r\n", 1);
	put_u32(&w, 12);
	put_u32(&w, 0xffffffff);
	end_packet(&w);
	assert_bad(w.bytes, w.len, "disconnected before key exchange: ''");
}

static void
names_that_are_not_printable_are_refused(void **state)
{
	static const char *const names[] = { "a b", "a\tb", "aes\x1b[31m", "\x7f", "caf\xc3\xa9" };
	static struct words w;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		make_kexinit(&w, "SSH-2.0-x\n", names[i], strlen(names[i]), 0);
		assert_bad(w.bytes, w.len, "is no algorithm name");
	}
	make_kexinit(&w, "SSH-2.0-x\n", "a\0b", 3, 0);
	assert_bad(w.bytes, w.len, "'a\\x00b' among the ciphers to the server");
}

static void
names_are_bounded_in_length(void **state)
{
	static struct words w;
	char name[65];

	(void)state;
	memset(name, 'a', sizeof(name));
	make_kexinit(&w, "SSH-2.0-x\n", name, 64, 0);
	assert_state(w.bytes, w.len, XB_KEXINIT_DONE);
	make_kexinit(&w, "SSH-2.0-x\n", name, 65, 0);
	assert_bad(w.bytes, w.len, "is no algorithm name");
}

static void
names_are_bounded_in_number(void **state)
{
	static struct words w;
	static char names[34000];
	size_t allowed = XB_KEXINIT_NAMES_MAX - 7; /* of the other lists */

	(void)state;
	for (size_t i = 0; i < sizeof(names); i++)
		names[i] = i % 2 == 0 ? 'a' : ',';
	make_kexinit(&w, "SSH-2.0-x\n", names, allowed * 2 - 1, 0);
	assert_state(w.bytes, w.len, XB_KEXINIT_DONE);
	make_kexinit(&w, "SSH-2.0-x\n", names, allowed * 2 + 1, 0);
	assert_bad(w.bytes, w.len, "more than 2048 names");
	make_kexinit(&w, "SSH-2.0-x\n", names, sizeof(names), 0);
	assert_bad(w.bytes, w.len, "more than 2048 names");
}

static void
empty_names_are_passed_over(void **state)
{
	static struct words w;
	struct xb_offer offer = { .banner = NULL };

	(void)state;
	make_kexinit(&w, "SSH-2.0-x\n", ",a,,b,", 6, 0);
	assert_int_equal(xb_kexinit_parse(w.bytes, w.len, &offer, NULL), XB_KEXINIT_DONE);
	assert_int_equal(offer.ciphers_up.count, 2);
	assert_string_equal(offer.ciphers_up.names[0], "a");
	assert_string_equal(offer.ciphers_up.names[1], "b");
	xb_offer_free(&offer);
}

static void
identification_may_have_two_versions_and_line_ends(void **state)
{
	static const char *const idents[] = { "SSH-2.0-x\r\n", "SSH-2.0-x\n", "SSH-1.99-x y\r\n",
		"a banner\r\nanother\n\nSSH-2.0-x\r\n" };
	static struct words w;

	(void)state;
	for (size_t i = 0; i < sizeof(idents) / sizeof(idents[0]); i++) {
		make_kexinit(&w, idents[i], "a", 1, 0);
		assert_state(w.bytes, w.len, XB_KEXINIT_DONE);
	}
}

static void
identification_is_made_printable(void **state)
{
	static struct words w;
	struct xb_offer offer = { .banner = NULL };

	(void)state;
	make_kexinit(&w, "SSH-2.0-\x1b[31mred\r\n", "a", 1, 0);
	assert_int_equal(xb_kexinit_parse(w.bytes, w.len, &offer, NULL), XB_KEXINIT_DONE);
	assert_string_equal(offer.banner, "SSH-2.0-\\x1b[31mred");
	xb_offer_free(&offer);
}

static void
other_versions_of_ssh_are_named(void **state)
{
	(void)state;
	assert_bad_text("SSH-1.5-old\n", "speaks SSH 1 only");
	assert_bad_text("SSH-1.5-old\n", "'SSH-1.5-old'");
	assert_bad_text("SSH-3.0-new\r\n", "unknown version of SSH");
	assert_bad_text("SSH-20\r\n", "unknown version of SSH");
}

static void
nul_bytes_are_refused(void **state)
{
	(void)state;
	assert_bad("SSH-2.0-a\0b\r\n", 13, "NUL byte");
	/* Before the line is whole. */
	assert_bad("SSH-2.0-a\0", 10, "NUL byte");
	assert_bad("hello\n\x01\0", 8, "binary");
}

static void
other_protocols_are_named(void **state)
{
	(void)state;
	assert_bad_text("HTTP/1.1 400 Bad Request\r\n", "speaks HTTP, not SSH");
	assert_bad_text("<html>\r\n<head>", "speaks HTTP, not SSH");
	assert_bad_text("220 mail ESMTP\r\n", "speaks something else, not SSH: '220 mail ESMTP'");
	assert_bad_text("220-ftp\r\n220 ready\r\n", "'220-ftp'");
	assert_bad("\x15\x03\x01\x00\x02\x02\x0a", 7, "speaks TLS, not SSH");
	assert_state("HTTP/1.1 40", 11, XB_KEXINIT_MORE);
}

static void
identification_is_bounded_in_length(void **state)
{
	char line[XB_IDENT_MAX + 2];

	(void)state;
	memset(line, 'x', sizeof(line));
	memcpy(line, "SSH-2.0-", 8);
	line[XB_IDENT_MAX - 1] = '\n';
	assert_state(line, XB_IDENT_MAX, XB_KEXINIT_MORE);
	line[XB_IDENT_MAX - 1] = 'x';
	assert_state(line, XB_IDENT_MAX - 1, XB_KEXINIT_MORE);
	assert_bad(line, XB_IDENT_MAX, "longer than SSH allows");
	line[XB_IDENT_MAX] = '\n';
	assert_bad(line, XB_IDENT_MAX + 1, "longer than SSH allows");
}

static void
lines_before_the_identification_are_bounded(void **state)
{
	static struct words w;

	(void)state;
	w.len = 0;
	for (unsigned i = 0; i < XB_IDENT_LINES_MAX; i++)
		put_text(&w, "l\n");
	put(&w, real, REAL_LEN);
	assert_state(w.bytes, w.len, XB_KEXINIT_DONE);
	w.len = 0;
	for (unsigned i = 0; i <= XB_IDENT_LINES_MAX; i++)
		put_text(&w, "l\n");
	assert_bad(w.bytes, w.len, "too much before");
	memset(w.bytes, 'l', XB_IDENT_BYTES_MAX + 1);
	assert_state(w.bytes, XB_IDENT_BYTES_MAX, XB_KEXINIT_MORE);
	assert_bad(w.bytes, XB_IDENT_BYTES_MAX + 1, "too much before");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offer_of_a_real_server_is_read),
		cmocka_unit_test(truncation_at_every_byte_wants_more),
		cmocka_unit_test(bytes_after_the_packet_are_not_looked_at),
		cmocka_unit_test(bytes_after_the_end_of_the_kexinit_are_refused),
		cmocka_unit_test(guessed_packet_is_allowed_to_follow),
		cmocka_unit_test(lying_list_length_is_refused_at_every_list),
		cmocka_unit_test(lying_packet_length_is_refused_at_once),
		cmocka_unit_test(packet_shorter_than_its_lists_is_refused),
		cmocka_unit_test(lying_padding_is_refused_at_once),
		cmocka_unit_test(kexinit_must_be_the_first_message),
		cmocka_unit_test(reason_of_a_disconnect_is_shown),
		cmocka_unit_test(names_that_are_not_printable_are_refused),
		cmocka_unit_test(names_are_bounded_in_length),
		cmocka_unit_test(names_are_bounded_in_number),
		cmocka_unit_test(empty_names_are_passed_over),
		cmocka_unit_test(identification_may_have_two_versions_and_line_ends),
		cmocka_unit_test(identification_is_made_printable),
		cmocka_unit_test(other_versions_of_ssh_are_named),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(other_protocols_are_named),
		cmocka_unit_test(identification_is_bounded_in_length),
		cmocka_unit_test(lines_before_the_identification_are_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
