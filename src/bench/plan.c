#include "bench/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/run.h"

#define DEFAULT_MAC "hmac-sha2-256"

/* How many bytes of an offer a reason quotes. */
#define OFFER_QUOTE 160

/* The plan while it is made. */
struct plan {
	const struct xb_plan_request *request;
	const struct xb_client *client;
	struct xb_run *run;
	struct xb_selection ciphers;
	struct xb_selection macs;
	struct xb_client_algorithms has; /* the client */
	char *client_label;              /* name and version */
	char *no_session;                /* why the two cannot even exchange keys; NULL: they can */
};

/* An algorithm has to be offered in both directions: one session has both. */
static bool
offered(const struct xb_namelist *up, const struct xb_namelist *down, const char *name)
{
	return xb_namelist_has(up, name) && xb_namelist_has(down, name);
}

static void
select_add(struct xb_selection *selection, const char *name, bool by_name)
{
	size_t i;

	for (i = 0; i < selection->count; i++)
		if (strcmp(selection->items[i].name, name) == 0)
			return;
	selection->items = xb_grow(selection->items, selection->count, sizeof(*selection->items));
	selection->items[selection->count++] = (struct xb_selected){
		.name = xb_strdup(name),
		.by_name = by_name,
	};
}

/* What the server offers and our table lacks: shown, though not measured. */
static void
add_unknown_ciphers(struct plan *plan)
{
	const struct xb_namelist *names = &plan->run->targets[0].offer.ciphers_up;
	size_t i;

	for (i = 0; i < names->count; i++)
		if (xb_cipher_by_name(names->names[i]) == NULL)
			select_add(&plan->ciphers, names->names[i], false);
}

static void
add_unknown_macs(struct plan *plan)
{
	const struct xb_namelist *names = &plan->run->targets[0].offer.macs_up;
	size_t i;

	for (i = 0; i < names->count; i++)
		if (xb_mac_by_name(names->names[i]) == NULL)
			select_add(&plan->macs, names->names[i], false);
}

/* True when "all" is among the names of a list. */
static bool
asks_for_all(const char *list)
{
	struct xb_namelist names = { 0 };
	bool all = false;
	size_t i;

	xb_namelist_split(&names, list);
	for (i = 0; i < names.count; i++)
		all = all || strcasecmp(names.names[i], "all") == 0;
	xb_namelist_free(&names);
	return all;
}

static void
add_note(struct plan *plan, char *note)
{
	xb_namelist_add(&plan->run->notes, note, strlen(note));
	free(note);
}

/*
 * The default: every sound AEAD or CTR cipher that the target offers. An old server that has none is
 * measured with what it has: that is why somebody asks.
 */
static void
default_ciphers(struct plan *plan)
{
	const struct xb_offer *offer = &plan->run->targets[0].offer;
	size_t i;

	plan->ciphers.defaulted = true;
	for (i = 0; i < xb_cipher_count; i++)
		if (xb_ciphers[i].rating == XB_RATING_SOUND &&
		    (xb_cipher_is_aead(&xb_ciphers[i]) || xb_ciphers[i].kind == XB_CIPHER_CTR) &&
		    offered(&offer->ciphers_up, &offer->ciphers_down, xb_ciphers[i].name))
			select_add(&plan->ciphers, xb_ciphers[i].name, false);
	if (plan->ciphers.count == 0) {
		for (i = 0; i < xb_cipher_count; i++)
			if (offered(&offer->ciphers_up, &offer->ciphers_down, xb_ciphers[i].name))
				select_add(&plan->ciphers, xb_ciphers[i].name, false);
		add_note(plan,
		    xb_asprintf("%s offers no sound cipher that we know: all that it offers are "
				"shown",
			plan->run->targets[0].name));
	}
	add_unknown_ciphers(plan);
}

/* True when some selected cipher needs a MAC beside it. */
static bool
takes_mac(const struct plan *plan)
{
	const struct xb_cipher *cipher;
	size_t i;

	for (i = 0; i < plan->ciphers.count; i++) {
		cipher = xb_cipher_by_name(plan->ciphers.items[i].name);
		if (cipher != NULL && !xb_cipher_is_aead(cipher))
			return true;
	}
	return false;
}

/*
 * The default MAC where the target and the client have it; else the first of our table, soundest
 * first, that both have; the default again when there is none, so that the rows say what is missing.
 */
static void
default_macs(struct plan *plan)
{
	const struct xb_offer *offer = &plan->run->targets[0].offer;
	const char *chosen = NULL;
	int rating;
	size_t i;

	plan->macs.defaulted = true;
	if (offered(&offer->macs_up, &offer->macs_down, DEFAULT_MAC))
		chosen = DEFAULT_MAC;
	for (rating = XB_RATING_SOUND; chosen == NULL && rating <= XB_RATING_BROKEN; rating++)
		for (i = 0; chosen == NULL && i < xb_mac_count; i++)
			if ((int)xb_macs[i].rating == rating &&
			    offered(&offer->macs_up, &offer->macs_down, xb_macs[i].name) &&
			    xb_namelist_has(&plan->has.macs, xb_macs[i].name))
				chosen = xb_macs[i].name;
	if (chosen == NULL)
		chosen = DEFAULT_MAC;
	if (strcmp(chosen, DEFAULT_MAC) != 0 && takes_mac(plan))
		add_note(plan,
		    xb_asprintf("%s does not offer %s: %s is used", plan->run->targets[0].name,
			DEFAULT_MAC, chosen));
	select_add(&plan->macs, chosen, false);
}

/* Reasons and hints do not repeat the row's own name: rows with the same one share a footnote. */
static void
refuse_offer(struct xb_case *c, const struct plan *plan, const struct xb_namelist *names)
{
	const struct xb_target_sheet *target = &plan->run->targets[0];
	char *list = xb_namelist_join(names, ", ", OFFER_QUOTE);
	char *reason = xb_asprintf("not offered by %s, which offers %s", target->name, list);

	xb_case_refuse(c, XB_NOT_OFFERED, reason,
	    target->is_private
		? "a server that still has it: --host HOST, or --sshd PATH for an older sshd"
		: "without a host, a private sshd on this machine may show it");
	free(list);
	free(reason);
}

static bool
has_aead(const struct xb_namelist *names)
{
	const struct xb_cipher *cipher;
	size_t i;

	for (i = 0; i < names->count; i++) {
		cipher = xb_cipher_by_name(names->names[i]);
		if (cipher != NULL && xb_cipher_is_aead(cipher))
			return true;
	}
	return false;
}

static void
refuse_cipher(struct xb_case *c, const struct plan *plan)
{
	const struct xb_cipher *cipher = c->suite.cipher;
	const char *what = "does not have this cipher";
	char *reason;

	if (xb_cipher_is_aead(cipher) && !has_aead(&plan->has.ciphers))
		what = "has no AEAD cipher";
	reason = xb_asprintf("%s %s", plan->client_label, what);
	xb_case_refuse(c, XB_UNSUPPORTED, reason,
	    cipher->legacy ? "it needs OpenSSL's legacy provider" : NULL);
	free(reason);
}

static void
refuse_mac(struct xb_case *c, const struct plan *plan)
{
	char *reason = xb_asprintf("%s does not have this MAC", plan->client_label);

	xb_case_refuse(c, XB_UNSUPPORTED, reason, NULL);
	free(reason);
}

/* Gives the case its status. The server's word comes first: no client can change it. */
static void
judge(const struct plan *plan, const struct xb_selected *cipher, const struct xb_selected *mac,
    struct xb_case *c)
{
	const struct xb_offer *offer = &plan->run->targets[0].offer;
	const struct xb_suite *suite = &c->suite;

	/* A refusal concerns the user as far as the refused name was typed. A MAC that was chosen for
	 * a cipher that was typed belongs to it. */
	c->by_name = cipher->by_name;
	if (!offered(&offer->ciphers_up, &offer->ciphers_down, suite->cipher_name))
		refuse_offer(c, plan, &offer->ciphers_up);
	else if (suite->cipher == NULL)
		xb_case_refuse(c, XB_UNSUPPORTED, "unknown to xferbench", NULL);
	else if (!xb_namelist_has(&plan->has.ciphers, suite->cipher_name))
		refuse_cipher(c, plan);
	else if (plan->no_session != NULL)
		xb_case_refuse(c, XB_UNSUPPORTED, plan->no_session, NULL);
	if (c->status != XB_PLANNED || mac == NULL)
		return;
	if (!plan->macs.defaulted)
		c->by_name = mac->by_name;
	if (!offered(&offer->macs_up, &offer->macs_down, suite->mac_name))
		refuse_offer(c, plan, &offer->macs_up);
	else if (suite->mac == NULL)
		xb_case_refuse(c, XB_UNSUPPORTED, "its MAC is unknown to xferbench", NULL);
	else if (!xb_namelist_has(&plan->has.macs, suite->mac_name))
		refuse_mac(c, plan);
}

static bool
in_common(const struct xb_namelist *ours, const struct xb_namelist *theirs)
{
	size_t i;

	for (i = 0; i < ours->count; i++)
		if (xb_namelist_has(theirs, ours->names[i]))
			return true;
	return false;
}

/* Why no session can begin at all; fresh, NULL when one can. */
static char *
why_no_session(const struct plan *plan)
{
	const struct xb_offer *offer = &plan->run->targets[0].offer;
	const struct xb_namelist *theirs = NULL;
	const char *what = "key exchange";
	char *list, *reason;

	if (plan->has.kex.count > 0 && !in_common(&plan->has.kex, &offer->kex)) {
		theirs = &offer->kex;
	} else if (plan->has.hostkeys.count > 0 &&
	    !in_common(&plan->has.hostkeys, &offer->hostkeys)) {
		theirs = &offer->hostkeys;
		what = "kind of host key";
	}
	if (theirs == NULL)
		return NULL;
	list = xb_namelist_join(theirs, ", ", OFFER_QUOTE);
	reason = xb_asprintf("%s has no %s in common with %s, which offers %s", plan->client_label,
	    what, plan->run->targets[0].name, list);
	free(list);
	return reason;
}

/* mac is NULL for a cipher that takes none. */
static void
add_case(struct plan *plan, const struct xb_selected *cipher, const struct xb_selected *mac)
{
	struct xb_result *result = xb_run_add_result(plan->run);

	xb_suite_init(&result->c.suite, cipher->name, mac != NULL ? mac->name : NULL, NULL);
	result->c.client = plan->client->name;
	judge(plan, cipher, mac, &result->c);
}

static void
cross(struct plan *plan)
{
	const struct xb_cipher *cipher;
	size_t i, j;

	for (i = 0; i < plan->ciphers.count; i++) {
		cipher = xb_cipher_by_name(plan->ciphers.items[i].name);
		if (cipher == NULL || xb_cipher_is_aead(cipher)) {
			add_case(plan, &plan->ciphers.items[i], NULL);
			continue;
		}
		for (j = 0; j < plan->macs.count; j++)
			add_case(plan, &plan->ciphers.items[i], &plan->macs.items[j]);
	}
}

bool
xb_plan_make(const struct xb_plan_request *request, struct xb_run *run, struct xb_err *err)
{
	const struct xb_offer *offer = &run->targets[0].offer;
	struct plan plan = { .request = request, .client = xb_clients[0], .run = run };
	bool ok = false;

	plan.client_label = xb_client_label(plan.client);
	if (plan.client->algorithms != NULL)
		plan.client->algorithms(&plan.has);
	plan.no_session = why_no_session(&plan);
	if (request->ciphers == NULL)
		default_ciphers(&plan);
	else if (!xb_select_ciphers("--ciphers", request->ciphers, &offer->ciphers_up,
		     &plan.ciphers, err))
		goto out;
	else if (asks_for_all(request->ciphers))
		add_unknown_ciphers(&plan);
	if (request->macs == NULL)
		default_macs(&plan);
	else if (!xb_select_macs("--macs", request->macs, &offer->macs_up, &plan.macs, err))
		goto out;
	else if (asks_for_all(request->macs))
		add_unknown_macs(&plan);
	cross(&plan);
	ok = true;
out:
	xb_selection_free(&plan.ciphers);
	xb_selection_free(&plan.macs);
	xb_client_algorithms_free(&plan.has);
	free(plan.client_label);
	free(plan.no_session);
	return ok;
}

bool
xb_plan_has_work(const struct xb_run *run)
{
	size_t i;

	for (i = 0; i < run->result_count; i++)
		if (run->results[i].c.status == XB_PLANNED)
			return true;
	return false;
}
