#include "bench/plan.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/plan_parts.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/run.h"

#define DEFAULT_MAC "hmac-sha2-256"

/* True when "all" is among the names of a list. */
static bool
asks_for_all(const char *list)
{
	struct xb_namelist names = { 0 };
	bool all = false;

	xb_select_split(list, &names);
	for (size_t i = 0; i < names.count; i++)
		all = all || strcasecmp(names.names[i], "all") == 0;
	xb_namelist_free(&names);
	return all;
}

/* What the servers that were asked for offer, each name once. */
static void
offered_names(const struct xb_run *run, bool macs, struct xb_namelist *names)
{
	const struct xb_namelist *offered;

	for (size_t i = 0; i < run->target_count; i++) {
		if (!xb_plan_is_present(&run->targets[i]))
			continue;
		offered = macs ? &run->targets[i].offer.macs_up : &run->targets[i].offer.ciphers_up;
		for (size_t j = 0; j < offered->count; j++)
			xb_namelist_add_once(names, offered->names[j]);
	}
}

/* What a server offers and our tables lack: shown, though not measured. */
static void
add_unknown_ciphers(struct xb_plan *plan, const struct xb_namelist *offered)
{
	for (size_t i = 0; i < offered->count; i++)
		if (xb_cipher_by_name(offered->names[i]) == NULL)
			xb_selection_add(&plan->ciphers, offered->names[i], false);
}

static void
add_unknown_macs(struct xb_plan *plan, const struct xb_namelist *offered)
{
	for (size_t i = 0; i < offered->count; i++)
		if (xb_mac_by_name(offered->names[i]) == NULL)
			xb_selection_add(&plan->macs, offered->names[i], false);
}

static void
add_note(struct xb_plan *plan, char *note)
{
	xb_namelist_add(&plan->run->notes, note, strlen(note));
	free(note);
}

static bool
any_offers_cipher(const struct xb_run *run, const char *name)
{
	for (size_t i = 0; i < run->target_count; i++)
		if (xb_plan_is_present(&run->targets[i]) &&
		    xb_plan_offers_cipher(&run->targets[i], name))
			return true;
	return false;
}

/*
 * The default: every sound AEAD or CTR cipher that a target offers. An old server that has none is
 * measured with what it has: that is why somebody asks.
 */
static void
default_ciphers(struct xb_plan *plan)
{
	const struct xb_cipher *cipher;

	plan->ciphers.defaulted = true;
	for (size_t i = 0; i < xb_cipher_count; i++) {
		cipher = &xb_ciphers[i];
		if (cipher->rating == XB_RATING_SOUND &&
		    (xb_cipher_is_aead(cipher) || cipher->kind == XB_CIPHER_CTR) &&
		    any_offers_cipher(plan->run, cipher->name))
			xb_selection_add(&plan->ciphers, cipher->name, false);
	}
	if (plan->ciphers.count > 0)
		return;
	for (size_t i = 0; i < xb_cipher_count; i++)
		if (any_offers_cipher(plan->run, xb_ciphers[i].name))
			xb_selection_add(&plan->ciphers, xb_ciphers[i].name, false);
	add_note(plan,
	    xb_asprintf("%s offers no sound cipher that we know: all that it offers are shown",
		plan->run->targets[0].name));
}

/* True when some selected cipher needs a MAC beside it. */
static bool
takes_mac(const struct xb_plan *plan)
{
	const struct xb_cipher *cipher;

	for (size_t i = 0; i < plan->ciphers.count; i++) {
		cipher = xb_cipher_by_name(plan->ciphers.items[i].name);
		if (cipher != NULL && !xb_cipher_is_aead(cipher))
			return true;
	}
	return false;
}

/* The first target that does not have it, NULL: all do. One MAC for all rows, or they do not compare. */
static const struct xb_target_sheet *
target_without_mac(const struct xb_run *run, const char *name)
{
	for (size_t i = 0; i < run->target_count; i++)
		if (xb_plan_is_present(&run->targets[i]) &&
		    !xb_plan_offers_mac(&run->targets[i], name))
			return &run->targets[i];
	return NULL;
}

/* How many of the run's SSH clients have it. */
static size_t
clients_with_mac(const struct xb_plan *plan, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->lists.client_count; i++)
		count += xb_namelist_has(&plan->lists.clients[i].has.macs, name);
	return count;
}

/* The soundest that the targets have, and of equally sound ones what most clients have: the first of
 * our table. NULL when no client has any. */
static const char *
other_mac(const struct xb_plan *plan)
{
	const char *chosen = NULL;
	size_t most = 0, count;

	for (int rating = XB_RATING_SOUND; chosen == NULL && rating <= XB_RATING_BROKEN; rating++)
		for (size_t i = 0; i < xb_mac_count; i++) {
			if ((int)xb_macs[i].rating != rating ||
			    target_without_mac(plan->run, xb_macs[i].name) != NULL)
				continue;
			count = clients_with_mac(plan, xb_macs[i].name);
			if (count > most) {
				most = count;
				chosen = xb_macs[i].name;
			}
		}
	return chosen;
}

/*
 * One MAC for all clients and targets. The default where the targets and at least one client have it;
 * else another one that they have; the default again when there is none, so that the rows say what is
 * missing.
 */
static void
default_macs(struct xb_plan *plan)
{
	const struct xb_target_sheet *without = target_without_mac(plan->run, DEFAULT_MAC);
	const char *chosen = DEFAULT_MAC;
	char *name;

	plan->macs.defaulted = true;
	if (without != NULL || clients_with_mac(plan, DEFAULT_MAC) == 0)
		chosen = other_mac(plan);
	if (chosen == NULL)
		chosen = DEFAULT_MAC;
	xb_selection_add(&plan->macs, chosen, false);
	if (strcmp(chosen, DEFAULT_MAC) == 0 || !takes_mac(plan))
		return;
	if (without == NULL) {
		add_note(plan, xb_asprintf("no client has %s: %s is used", DEFAULT_MAC, chosen));
		return;
	}
	name = xb_plan_target_name(plan->run, without);
	add_note(plan, xb_asprintf("%s does not offer %s: %s is used", name, DEFAULT_MAC, chosen));
	free(name);
}

static bool
select_ciphers(struct xb_plan *plan, struct xb_err *err)
{
	const char *list = plan->request->ciphers;
	struct xb_namelist offered = { 0 };
	bool ok = true;

	offered_names(plan->run, false, &offered);
	if (list == NULL)
		default_ciphers(plan);
	else
		ok = xb_select_ciphers("--ciphers", list, &offered, &plan->ciphers, err);
	if (ok && (list == NULL || asks_for_all(list)))
		add_unknown_ciphers(plan, &offered);
	xb_namelist_free(&offered);
	return ok;
}

static bool
select_macs(struct xb_plan *plan, struct xb_err *err)
{
	const char *list = plan->request->macs;
	struct xb_namelist offered = { 0 };
	bool ok = true;

	offered_names(plan->run, true, &offered);
	if (list == NULL)
		default_macs(plan);
	else
		ok = xb_select_macs("--macs", list, &offered, &plan->macs, err);
	if (ok && list != NULL && asks_for_all(list))
		add_unknown_macs(plan, &offered);
	xb_namelist_free(&offered);
	return ok;
}

/* The cases of a cipher with a MAC, NULL: it takes none. */
static void
add_suites(struct xb_plan *plan, const struct xb_selected *cipher, const struct xb_selected *mac)
{
	struct xb_plan_wish wish = { .cipher = cipher, .mac = mac };

	for (size_t i = 0; i < plan->lists.compression.count; i++) {
		wish.compression = plan->lists.compression.names[i];
		xb_plan_add(plan, &wish);
	}
}

static void
cross(struct xb_plan *plan)
{
	const struct xb_cipher *cipher;

	for (size_t i = 0; i < plan->ciphers.count; i++) {
		cipher = xb_cipher_by_name(plan->ciphers.items[i].name);
		if (cipher == NULL || xb_cipher_is_aead(cipher)) {
			add_suites(plan, &plan->ciphers.items[i], NULL);
			continue;
		}
		for (size_t j = 0; j < plan->macs.count; j++)
			add_suites(plan, &plan->ciphers.items[i], &plan->macs.items[j]);
	}
}

/* What each client has, asked once. */
static void
ask_clients(struct xb_plan *plan)
{
	struct xb_plan_client *client;

	for (size_t i = 0; i < plan->lists.client_count; i++) {
		client = &plan->lists.clients[i];
		client->label = xb_client_label(client->client);
		if (client->client->algorithms != NULL)
			client->client->algorithms(&client->has);
	}
}

static bool
make_streams(struct xb_plan *plan, struct xb_err *err)
{
	if (!select_ciphers(plan, err) || !select_macs(plan, err))
		return false;
	cross(plan);
	xb_plan_add_references(plan);
	/* A comparison with nothing is not worth a login. */
	if (xb_plan_has_work(plan->run))
		xb_plan_add_as_negotiated(plan);
	return true;
}

bool
xb_plan_make(const struct xb_plan_request *request, struct xb_run *run, struct xb_err *err)
{
	struct xb_plan plan = { .request = request, .run = run };
	bool ok = xb_plan_lists_read(request, &plan.lists, err);

	if (ok) {
		ask_clients(&plan);
		ok = request->handshakes > 0 ? xb_plan_add_logins(&plan, err)
					     : make_streams(&plan, err);
	}
	xb_selection_free(&plan.ciphers);
	xb_selection_free(&plan.macs);
	xb_plan_lists_free(&plan.lists);
	return ok;
}

bool
xb_plan_check(const struct xb_plan_request *request, bool has_host, struct xb_err *err)
{
	struct xb_plan_lists lists;
	struct xb_selection names = { 0 };
	bool ok = xb_plan_lists_read(request, &lists, err);

	xb_plan_lists_free(&lists);
	if (ok && !has_host && request->ciphers != NULL)
		ok = xb_select_ciphers("--ciphers", request->ciphers, NULL, &names, err);
	xb_selection_free(&names);
	if (ok && !has_host && request->macs != NULL)
		ok = xb_select_macs("--macs", request->macs, NULL, &names, err);
	xb_selection_free(&names);
	return ok;
}

bool
xb_plan_wants_stand_in(const struct xb_plan_request *request, const struct xb_run *run)
{
	const struct xb_target_sheet *first = &run->targets[0];
	const struct xb_cipher *cipher;
	struct xb_selection names = { 0 };
	struct xb_err ignored = { 0 };
	bool wants = false;

	/* Several servers were chosen by the user: each shows what it has. */
	if (request->ciphers == NULL || request->handshakes > 0 || run->target_count != 1 ||
	    first->absent != NULL || first->server == NULL || strcmp(first->server, "openssh") != 0)
		return false;
	if (xb_select_ciphers("--ciphers", request->ciphers, &first->offer.ciphers_up, &names,
		&ignored))
		for (size_t i = 0; i < names.count; i++) {
			/* What is not sound is what asyncssh still has when OpenSSH has dropped it. */
			cipher = xb_cipher_by_name(names.items[i].name);
			wants |= cipher != NULL && cipher->rating != XB_RATING_SOUND &&
			    !xb_plan_offers_cipher(first, cipher->name);
		}
	xb_selection_free(&names);
	return wants;
}

bool
xb_plan_has_work(const struct xb_run *run)
{
	for (size_t i = 0; i < run->result_count; i++)
		if (run->results[i].c.status == XB_PLANNED)
			return true;
	return false;
}
