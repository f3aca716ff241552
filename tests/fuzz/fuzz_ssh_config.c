/* What `ssh -G` prints, and the tokens in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"
#include "target/proxy.h"
#include "target/ssh_config.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct xb_ssh_tokens tokens = {
		.typed = "nas",
		.host = "nas.example.org",
		.port = 22,
		.user = "joe",
		.home = "/home/joe",
	};
	struct xb_ssh_config config = { .port = 0 };
	struct xb_namelist argv = { 0 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char *text = xb_strndup(size > 0 ? (const char *)data : "", size);
	bool ok;

	xb_ssh_config_parse(text, &config);
	CHECK(config.port <= 65535 && config.connect_timeout <= 86400);
	ok = xb_ssh_config_expand(&config, &tokens, &err);
	CHECK(ok == (err.fault == XB_FAULT_NONE));
	for (const char *c = err.text; *c != '\0'; c++)
		CHECK(*c >= 0x20 && *c < 0x7f);
	xb_proxy_command(&config, tokens.host, tokens.port, NULL, &argv);
	CHECK((argv.count > 0) == (config.proxy_jump != NULL || config.proxy_command != NULL));
	xb_namelist_free(&argv);
	xb_ssh_config_free(&config);
	free(text);
	return 0;
}
