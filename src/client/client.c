#include "client/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/libssh.h"
#include "client/libssh2.h"
#include "client/null.h"
#include "client/openssh.h"
#include "client/tcp.h"

const struct xb_client *const xb_clients[] = {
	&xb_client_openssh,
	&xb_client_libssh2,
	&xb_client_libssh,
	&xb_client_tcp,
	&xb_client_null,
	NULL,
};

const struct xb_client *
xb_client_find(const char *name)
{
	size_t i;

	for (i = 0; xb_clients[i] != NULL; i++)
		if (strcmp(xb_clients[i]->name, name) == 0)
			return xb_clients[i];
	return NULL;
}

char *
xb_client_label(const struct xb_client *client)
{
	const char *version = client->version();

	return xb_asprintf("%s%s%s", client->label != NULL ? client->label : client->name,
	    version[0] != '\0' ? " " : "", version);
}

void
xb_client_algorithms_free(struct xb_client_algorithms *algorithms)
{
	xb_namelist_free(&algorithms->kex);
	xb_namelist_free(&algorithms->hostkeys);
	xb_namelist_free(&algorithms->ciphers);
	xb_namelist_free(&algorithms->macs);
	xb_namelist_free(&algorithms->compression);
	free(algorithms->absent);
}

const char *
xb_phase_name(int phase)
{
	static const char *const names[] = {
		[XB_PHASE_START] = "start",
		[XB_PHASE_CONNECT] = "connect",
		[XB_PHASE_KEX] = "key exchange",
		[XB_PHASE_AUTH] = "login",
		[XB_PHASE_EXEC] = "start of the remote command",
		[XB_PHASE_STREAM] = "stream",
		[XB_PHASE_CONFIRM] = "confirmation",
		[XB_PHASE_CLOSE] = "close",
	};

	if (phase < 0 || (size_t)phase >= sizeof(names) / sizeof(names[0]))
		return "?";
	return names[phase];
}
