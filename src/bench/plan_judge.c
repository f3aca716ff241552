#include <openssl/provider.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/plan.h"
#include "bench/plan_parts.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/run.h"

/* How many bytes of an offer a reason quotes. */
#define OFFER_QUOTE 160

#define HINT_SSHD "a server that still has it: --host HOST, or --sshd PATH for an older sshd"
#define HINT_PRIVATE "a server that has it: another --server, or --host HOST"
#define HINT_LEGACY "it needs OpenSSL's legacy provider, which is not loaded"
#define HINT_HOST "without a host, a private sshd on this machine may show it"

bool
xb_plan_is_present(const struct xb_target_sheet *target)
{
	return target->absent == NULL && !target->stands_in;
}

static bool
offered(const struct xb_namelist *up, const struct xb_namelist *down, const char *name)
{
	return xb_namelist_has(up, name) && xb_namelist_has(down, name);
}

bool
xb_plan_offers_cipher(const struct xb_target_sheet *target, const char *name)
{
	return offered(&target->offer.ciphers_up, &target->offer.ciphers_down, name);
}

bool
xb_plan_offers_mac(const struct xb_target_sheet *target, const char *name)
{
	return offered(&target->offer.macs_up, &target->offer.macs_down, name);
}

static bool
offers_compression(const struct xb_target_sheet *target, const char *name)
{
	return offered(&target->offer.compression_up, &target->offer.compression_down, name);
}

/* People who say zlib mean compression: the delayed kind where there is a choice, as ssh chooses. */
const char *
xb_plan_wire_compression(const struct xb_target_sheet *target, const char *word)
{
	if (strcmp(word, "none") == 0)
		return NULL;
	if (strcmp(word, "zlib") == 0 &&
	    (offers_compression(target, "zlib@openssh.com") || !offers_compression(target, "zlib")))
		return "zlib@openssh.com";
	return word;
}

const struct xb_target_sheet *
xb_plan_stand_in(const struct xb_run *run)
{
	for (size_t i = 0; i < run->target_count; i++)
		if (run->targets[i].stands_in)
			return &run->targets[i];
	return NULL;
}

/* All private servers are this machine: where there are several, which one is said. */
char *
xb_plan_target_name(const struct xb_run *run, const struct xb_target_sheet *target)
{
	if (run->target_count > 1 && target->server != NULL)
		return xb_asprintf("%s's %s", target->name, target->server);
	return xb_strdup(target->name);
}

/* What the user could do about a name that is not offered; fresh. */
static char *
offer_hint(const struct xb_plan *plan, const struct xb_target_sheet *target,
    const struct xb_cipher *cipher)
{
	const struct xb_target_sheet *stand_in = xb_plan_stand_in(plan->run);

	if (!target->is_private)
		return xb_strdup(HINT_HOST);
	if (stand_in != NULL && cipher != NULL && cipher->rating != XB_RATING_SOUND) {
		if (stand_in->absent != NULL)
			return xb_asprintf("%s cannot stand in: %s", stand_in->server,
			    stand_in->absent);
		if (cipher->legacy)
			return xb_asprintf("%s, which stands in, lacks it without OpenSSL's legacy "
					   "provider",
			    stand_in->server);
	}
	if (target->server != NULL && strcmp(target->server, "openssh") != 0)
		return xb_strdup(HINT_PRIVATE);
	return xb_strdup(HINT_SSHD);
}

/* Reasons and hints do not repeat the row's own name: rows with the same one share a footnote. */
static bool
refuse_offer(const struct xb_plan *plan, const char *what, const struct xb_namelist *names,
    struct xb_case *c)
{
	const struct xb_target_sheet *target = xb_run_target(plan->run, c);
	char *name = xb_plan_target_name(plan->run, target);
	char *list = xb_namelist_join(names, ", ", OFFER_QUOTE);
	char *reason = xb_asprintf("%snot offered by %s, which offers %s", what, name,
	    names->count > 0 ? list : "nothing");
	char *hint = offer_hint(plan, target, c->suite.cipher);

	xb_case_refuse(c, XB_NOT_OFFERED, reason, hint);
	free(hint);
	free(list);
	free(reason);
	free(name);
	return true;
}

static bool
refuse_client(const struct xb_plan_client *client, const char *what, const char *hint,
    struct xb_case *c)
{
	char *reason = xb_asprintf("%s %s", client->label, what);

	xb_case_refuse(c, XB_UNSUPPORTED, reason, hint);
	free(reason);
	return true;
}

/* True when what the case is about was typed. */
static bool
asked_by_name(const struct xb_plan_wish *wish)
{
	return (wish->cipher != NULL && wish->cipher->by_name) ||
	    (wish->kex != NULL && wish->kex->by_name) ||
	    (wish->hostkey != NULL && wish->hostkey->by_name);
}

/* A MAC that was chosen for a cipher that was typed belongs to it. */
static bool
mac_by_name(const struct xb_plan *plan, const struct xb_plan_wish *wish)
{
	return plan->macs.defaulted ? asked_by_name(wish) : wish->mac->by_name;
}

static bool
way_by_name(const struct xb_plan *plan)
{
	return plan->lists.methods_named || plan->lists.directions_named;
}

/* A server that offers nothing but compression, though it has to, cannot do without. */
static bool
lacks_compression(const struct xb_target_sheet *target, const char *name)
{
	if (name == NULL)
		return target->offer.compression_up.count > 0 &&
		    !offers_compression(target, "none");
	return !offers_compression(target, name);
}

/* True when the server's word is against it. A refusal concerns the user as far as the refused name
 * was typed. */
static bool
server_refuses(const struct xb_plan *plan, const struct xb_plan_wish *wish, struct xb_case *c)
{
	const struct xb_target_sheet *target = xb_run_target(plan->run, c);
	const struct xb_offer *offer = &target->offer;
	const struct xb_suite *suite = &c->suite;

	c->by_name = true;
	if (target->absent != NULL) {
		xb_case_refuse(c, XB_FAILED, target->absent, NULL);
		return true;
	}
	if (wish->cipher != NULL && !xb_plan_offers_cipher(target, suite->cipher_name)) {
		c->by_name = wish->cipher->by_name;
		return refuse_offer(plan, "", &offer->ciphers_up, c);
	}
	if (wish->mac != NULL && !xb_plan_offers_mac(target, suite->mac_name)) {
		c->by_name = mac_by_name(plan, wish);
		return refuse_offer(plan, "", &offer->macs_up, c);
	}
	if (wish->kex != NULL && !xb_namelist_has(&offer->kex, suite->kex)) {
		c->by_name = wish->kex->by_name;
		return refuse_offer(plan, "", &offer->kex, c);
	}
	if (wish->hostkey != NULL && !xb_namelist_has(&offer->hostkeys, suite->hostkey)) {
		c->by_name = wish->hostkey->by_name;
		return refuse_offer(plan, "", &offer->hostkeys, c);
	}
	if (wish->compression != NULL && lacks_compression(target, suite->compression)) {
		c->by_name = plan->lists.compression_named;
		return refuse_offer(plan, "this compression is ", &offer->compression_up, c);
	}
	return false;
}

static bool
has_aead(const struct xb_namelist *names)
{
	const struct xb_cipher *cipher;

	for (size_t i = 0; i < names->count; i++) {
		cipher = xb_cipher_by_name(names->names[i]);
		if (cipher != NULL && xb_cipher_is_aead(cipher))
			return true;
	}
	return false;
}

static bool
cipher_refused(const struct xb_plan_client *client, struct xb_case *c)
{
	const struct xb_cipher *cipher = c->suite.cipher;

	if (cipher == NULL) {
		xb_case_refuse(c, XB_UNSUPPORTED, "unknown to xferbench", NULL);
		return true;
	}
	if (xb_namelist_has(&client->has.ciphers, c->suite.cipher_name))
		return false;
	if (xb_cipher_is_aead(cipher) && !has_aead(&client->has.ciphers))
		return refuse_client(client, "has no AEAD cipher", NULL, c);
	/* A library that has old ciphers has them with that provider alone. */
	return refuse_client(client, "does not have this cipher",
	    cipher->legacy && OSSL_PROVIDER_available(NULL, "legacy") != 1 ? HINT_LEGACY : NULL, c);
}

static bool
mac_refused(const struct xb_plan_client *client, struct xb_case *c)
{
	if (c->suite.mac == NULL) {
		xb_case_refuse(c, XB_UNSUPPORTED, "its MAC is unknown to xferbench", NULL);
		return true;
	}
	return !xb_namelist_has(&client->has.macs, c->suite.mac_name) &&
	    refuse_client(client, "does not have this MAC", NULL, c);
}

static bool
in_common(const struct xb_namelist *ours, const struct xb_namelist *theirs)
{
	for (size_t i = 0; i < ours->count; i++)
		if (xb_namelist_has(theirs, ours->names[i]))
			return true;
	return false;
}

/* True when no session can begin at all. */
static bool
session_refused(const struct xb_plan *plan, const struct xb_plan_client *client, struct xb_case *c)
{
	const struct xb_target_sheet *target = xb_run_target(plan->run, c);
	const struct xb_offer *offer = &target->offer;
	const struct xb_namelist *theirs = NULL;
	const char *what = "key exchange";
	char *name, *list, *reason;

	if (client->has.kex.count > 0 && !in_common(&client->has.kex, &offer->kex)) {
		theirs = &offer->kex;
	} else if (client->has.hostkeys.count > 0 &&
	    !in_common(&client->has.hostkeys, &offer->hostkeys)) {
		theirs = &offer->hostkeys;
		what = "kind of host key";
	}
	if (theirs == NULL)
		return false;
	name = xb_plan_target_name(plan->run, target);
	list = xb_namelist_join(theirs, ", ", OFFER_QUOTE);
	reason = xb_asprintf("%s has no %s in common with %s, which offers %s", client->label, what,
	    name, list);
	xb_case_refuse(c, XB_UNSUPPORTED, reason, NULL);
	free(reason);
	free(list);
	free(name);
	return true;
}

/* True when this client build is against it. */
static bool
client_refuses(const struct xb_plan *plan, const struct xb_plan_wish *wish,
    const struct xb_plan_client *client, struct xb_case *c)
{
	const struct xb_suite *suite = &c->suite;
	const struct xb_client_algorithms *has = &client->has;

	if (has->absent != NULL) {
		c->by_name = client->named || asked_by_name(wish);
		xb_case_refuse(c, XB_UNSUPPORTED, has->absent, NULL);
		return true;
	}
	c->by_name = asked_by_name(wish);
	if (wish->cipher != NULL && cipher_refused(client, c))
		return true;
	if (wish->kex != NULL && !xb_namelist_has(&has->kex, suite->kex)) {
		c->by_name = wish->kex->by_name;
		return refuse_client(client, "does not have this key exchange", NULL, c);
	}
	if (wish->hostkey != NULL && !xb_namelist_has(&has->hostkeys, suite->hostkey)) {
		c->by_name = wish->hostkey->by_name;
		return refuse_client(client, "does not have this host key algorithm", NULL, c);
	}
	if (session_refused(plan, client, c)) {
		c->by_name |= client->named;
		return true;
	}
	if (wish->mac != NULL) {
		c->by_name = mac_by_name(plan, wish);
		if (mac_refused(client, c))
			return true;
	}
	if (suite->compression == NULL || xb_namelist_has(&has->compression, suite->compression))
		return false;
	c->by_name = plan->lists.compression_named;
	return refuse_client(client, "does not have this compression", NULL, c);
}

/* True when the bytes cannot travel so. */
static bool
way_refuses(const struct xb_plan *plan, const struct xb_plan_client *client, struct xb_case *c)
{
	const struct xb_target_sheet *target = xb_run_target(plan->run, c);
	const char *cannot = NULL;

	if (client->client->cannot != NULL)
		cannot = client->client->cannot(c->method, c->direction);
	if (cannot != NULL) {
		xb_case_refuse(c, XB_UNSUPPORTED, cannot, NULL);
		return true;
	}
	if (c->direction != XB_DOWNLOAD || c->method == XB_METHOD_EXEC ||
	    c->method == XB_METHOD_LOGIN || target->is_private || plan->request->has_remote_file)
		return false;
	xb_case_refuse(c, XB_UNSUPPORTED, "needs a file there to download: --remote-file PATH",
	    NULL);
	return true;
}

void
xb_plan_judge(const struct xb_plan *plan, const struct xb_plan_wish *wish,
    const struct xb_plan_client *client, struct xb_case *c)
{
	if (server_refuses(plan, wish, c) || client_refuses(plan, wish, client, c))
		return;
	if (way_refuses(plan, client, c))
		c->by_name = way_by_name(plan);
	else
		c->by_name |= way_by_name(plan);
}

enum xb_method
xb_plan_first_method(const struct xb_plan_lists *lists, const struct xb_client *client,
    enum xb_direction direction)
{
	for (size_t i = 0; i < lists->method_count; i++)
		if (client->cannot == NULL || client->cannot(lists->methods[i], direction) == NULL)
			return lists->methods[i];
	return lists->methods[0];
}
