#include "versions.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <jansson.h>
#include <libsmartcols.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef HAVE_NETTLE
#include <nettle/version.h>
#endif

#include "base/mem.h"
#include "client/client.h"

static void
add(struct xb_namelist *names, const char *what, const char *version)
{
	char *text = xb_asprintf("%s %s", what, version);

	xb_namelist_add(names, text, strlen(text));
	free(text);
}

void
xb_versions(struct xb_namelist *names)
{
	const char *smartcols = NULL;
	size_t i;

	add(names, "xferbench", PACKAGE_VERSION);
	for (i = 0; xb_clients[i] != NULL; i++)
		if (xb_clients[i]->ranked)
			add(names, xb_clients[i]->name, xb_clients[i]->version());
	add(names, "OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING));
	add(names, "zlib", zlibVersion());
#ifdef HAVE_NETTLE
	add(names, "nettle",
	    (char[]){ (char)('0' + nettle_version_major()), '.',
		(char)('0' + nettle_version_minor()), '\0' });
#endif
	add(names, "jansson", jansson_version_str());
	scols_get_library_version(&smartcols);
	add(names, "libsmartcols", smartcols != NULL ? smartcols : "?");
}

void
xb_features(struct xb_namelist *names)
{
	add(names, "legacy ciphers (blowfish, cast128, arcfour):",
	    OSSL_PROVIDER_available(NULL, "legacy") ? "yes"
						    : "no, OpenSSL's legacy provider is missing");
#ifdef HAVE_NETTLE
	add(names, "UMAC (nettle):", "yes");
#else
	add(names, "UMAC (nettle):", "no, built without");
#endif
}
