#include "analysis/answer_limit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/run.h"

#define FULL_CORE 0.9 /* a busy share from which on a core is called full */

/* "sshd", "the server" or "nas": who the other end is. */
static void
server_name(const struct xb_target_sheet *target, char *out, size_t size)
{
	if (target->is_private)
		xb_target_program(target, out, size);
	else if (target->is_local)
		snprintf(out, size, "the server");
	else
		xb_text_printable(out, size, target->name, strlen(target->name));
}

/* Only a core that was seen full is a limit; else the figures stand for themselves. */
char *
xb_answer_limit(const struct xb_run *run, const struct xb_row *row)
{
	const char *client = xb_case_client_label(&row->result->c);
	double client_core = row->client_share;
	double server_core = row->server_share;
	bool client_full = client_core >= FULL_CORE;
	bool server_full = server_core >= FULL_CORE;
	char server[256];

	server_name(xb_run_target(run, &row->result->c), server, sizeof(server));
	if (client_full && server_full) {
		bool server_first = server_core > client_core;

		return xb_asprintf("%s's CPU, %.0f%% of one core; %s's is nearly as busy, %.0f%%.",
		    server_first ? server : client,
		    100 * (server_first ? server_core : client_core),
		    server_first ? client : server,
		    100 * (server_first ? client_core : server_core));
	}
	if (client_full || server_full)
		return xb_asprintf("%s's CPU, %.0f%% of one core.", server_full ? server : client,
		    100 * (server_full ? server_core : client_core));
	if (isfinite(client_core) && isfinite(server_core))
		return xb_asprintf("unclear: %s %.0f%%, %s %.0f%% of a core.", client,
		    100 * client_core, server, 100 * server_core);
	if (isfinite(client_core))
		return xb_asprintf("unclear: %s %.0f%% of a core, %s's CPU unknown.", client,
		    100 * client_core, server);
	if (isfinite(server_core))
		return xb_asprintf("unclear: %s %.0f%% of a core, %s's CPU unknown.", server,
		    100 * server_core, client);
	return NULL;
}
