/* The first bytes of a server: any bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fuzz.h"
#include "model/offer.h"
#include "target/kexinit.h"

static void
check_printable(const char *text)
{
	for (; *text != '\0'; text++)
		CHECK(*text >= 0x20 && *text < 0x7f);
}

static size_t
check_names(const struct xb_namelist *list)
{
	for (size_t i = 0; i < list->count; i++) {
		CHECK(list->names[i][0] != '\0');
		CHECK(strpbrk(list->names[i], " ,") == NULL);
		check_printable(list->names[i]);
	}
	return list->count;
}

static void
check_offer(const struct xb_offer *offer)
{
	size_t total = check_names(&offer->kex) + check_names(&offer->hostkeys) +
	    check_names(&offer->ciphers_up) + check_names(&offer->ciphers_down) +
	    check_names(&offer->macs_up) + check_names(&offer->macs_down) +
	    check_names(&offer->compression_up) + check_names(&offer->compression_down);

	CHECK(total <= XB_KEXINIT_NAMES_MAX);
	CHECK(strncmp(offer->banner, "SSH-", 4) == 0);
	check_printable(offer->banner);
}

/* Parses an exact copy, so that a byte read beyond the end is seen. */
static enum xb_kexinit_state
parse(const uint8_t *data, size_t size)
{
	static const struct xb_offer empty;
	struct xb_offer offer = empty;
	struct xb_err err = { .fault = XB_FAULT_NONE };
	uint8_t *copy = malloc(size > 0 ? size : 1);
	enum xb_kexinit_state state;

	CHECK(copy != NULL);
	if (size > 0)
		memcpy(copy, data, size);
	state = xb_kexinit_parse(copy, size, &offer, &err);
	free(copy);
	CHECK((state == XB_KEXINIT_BAD) == (err.fault == XB_FAULT_TARGET));
	CHECK((state == XB_KEXINIT_BAD) == (err.text[0] != '\0'));
	if (state == XB_KEXINIT_DONE)
		check_offer(&offer);
	else
		CHECK(memcmp(&offer, &empty, sizeof(offer)) == 0);
	check_printable(err.text);
	xb_offer_free(&offer);
	return state;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum xb_kexinit_state whole = parse(data, size);
	enum xb_kexinit_state part, previous = XB_KEXINIT_MORE;
	size_t step = size / 16 + 1;

	/* As the bytes come in, a verdict is never taken back. */
	for (size_t len = 0; len <= size; len += step) {
		part = parse(data, len);
		CHECK(previous == XB_KEXINIT_MORE || part == previous);
		CHECK(part == XB_KEXINIT_MORE || part == whole);
		previous = part;
	}
	return 0;
}
