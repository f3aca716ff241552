/* A known_hosts line, and a host key: the input is the key, a newline, and the line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "target/known_hosts.h"

/* The key that the corpus's lines are about; the input's own key is tried as well. */
static const char usual_key[] = "\0\0\0\x0bssh-ed25519\0\0\0\x20"
				"0123456789abcdef0123456789abcdef";

static void
judge(const char *line, size_t len, const struct xb_hostkey *key)
{
	char type[64] = "x";
	char small[4];
	enum xb_known_verdict verdict, again;

	verdict = xb_known_hosts_line(line, len, "nas", "192.0.2.1", key, type, sizeof(type));
	CHECK(verdict <= XB_KNOWN_CA);
	if (verdict != XB_KNOWN_NONE)
		CHECK(type[0] != '\0');
	for (const char *c = type; *c != '\0'; c++)
		CHECK(*c > 0x20 && *c < 0x7f);
	again = xb_known_hosts_line(line, len, "nas", "192.0.2.1", key, small, sizeof(small));
	CHECK(again == verdict);
	/* Without the address there is less to match. */
	again = xb_known_hosts_line(line, len, "nas", NULL, key, NULL, 0);
	CHECK(again == verdict || again == XB_KNOWN_NONE);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct xb_hostkey usual = { usual_key, sizeof(usual_key) - 1 };
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t key_len = newline != NULL ? (size_t)(newline - data) : 0;
	size_t line_len = newline != NULL ? size - key_len - 1 : size;
	struct xb_hostkey key = { data, key_len };
	char *line = malloc(line_len > 0 ? line_len : 1);
	char type[64], fingerprint[64];

	CHECK(line != NULL);
	if (line_len > 0)
		memcpy(line, data + size - line_len, line_len);
	if (!xb_hostkey_type(&key, type, sizeof(type)))
		CHECK(type[0] == '\0');
	xb_hostkey_fingerprint(&key, fingerprint, sizeof(fingerprint));
	CHECK(strlen(fingerprint) == 50);
	judge(line, line_len, &key);
	judge(line, line_len, &usual);
	free(line);
	return 0;
}
