#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "model/namelist.h"
#include "target/known_hosts.h"
#include "target/revoked.h"
#include "target/target.h"

#define SSH_PORT 22

/* What the messages are made of, bounded so that each fits into one error. */
struct facts {
	const char *host;
	unsigned port;
	char type[64];
	char key[128];  /* "ssh-ed25519 SHA256:…" */
	char file[160]; /* of the deciding line; "" without one */
	unsigned line;
	char lookup[120];     /* "nas", or "'[nas]:2222'", as a shell has to be given it */
	char port_option[16]; /* "-p 2222 ", "" */
};

/* The port is part of the name in known_hosts, unless that has an alias. */
static bool
is_on_port(const struct xb_target *target)
{
	return target->port != SSH_PORT && target->hostkey_alias == NULL;
}

static char *
lookup_name(const struct xb_target *target)
{
	if (target->hostkey_alias != NULL)
		return xb_known_hosts_name(target->hostkey_alias, SSH_PORT);
	return xb_known_hosts_name(target->host, target->port);
}

/*
 * As ssh does, a key that is known for the host without a port is good for its other ports, when
 * nothing is known for that port itself. Addresses do not count, ssh's CheckHostIP being off by
 * default: the name is what the user asked for.
 */
static void
look_up(const struct xb_target *target, const char *lookup, const struct xb_hostkey *key,
    struct xb_known_found *found)
{
	struct xb_known_found plain;
	char *name;

	xb_known_hosts_lookup(&target->known_hosts, lookup, NULL, key, found);
	if (!is_on_port(target) || found->verdict == XB_KNOWN_MATCH ||
	    found->verdict == XB_KNOWN_OTHER || found->verdict == XB_KNOWN_REVOKED)
		return;
	name = xb_known_hosts_name(target->host, SSH_PORT);
	xb_known_hosts_lookup(&target->known_hosts, name, NULL, key, &plain);
	if (plain.verdict == XB_KNOWN_MATCH || plain.verdict == XB_KNOWN_REVOKED)
		*found = plain;
	free(name);
}

static void
gather(const struct xb_target *target, const char *lookup, const struct xb_hostkey *key,
    const struct xb_known_found *found, struct facts *facts)
{
	char fingerprint[64];

	memset(facts, 0, sizeof(*facts));
	facts->host = target->host;
	facts->port = target->port;
	if (!xb_hostkey_type(key, facts->type, sizeof(facts->type)))
		snprintf(facts->type, sizeof(facts->type), "of unknown type");
	xb_hostkey_fingerprint(key, fingerprint, sizeof(fingerprint));
	snprintf(facts->key, sizeof(facts->key), "%s %s", facts->type, fingerprint);
	if (found->file != NULL)
		xb_text_printable(facts->file, sizeof(facts->file), found->file,
		    strlen(found->file));
	facts->line = found->line;
	if (!is_on_port(target)) {
		snprintf(facts->lookup, sizeof(facts->lookup), "%.100s", lookup);
	} else {
		snprintf(facts->lookup, sizeof(facts->lookup), "'%.100s'", lookup);
		snprintf(facts->port_option, sizeof(facts->port_option), "-p %u ", target->port);
	}
}

/* What to ask ssh for, to be shown a key of the type: RSA keys sign with SHA-2 nowadays. */
static const char *
algorithm(const struct facts *facts)
{
	return strcmp(facts->type, "ssh-rsa") == 0 ? "rsa-sha2-512" : facts->type;
}

static bool
refuse_unknown(const struct facts *facts, enum xb_known_verdict verdict, struct xb_err *err)
{
	switch (verdict) {
	case XB_KNOWN_TYPE:
		return xb_fail(err, XB_FAULT_TARGET,
		    "%.80s port %u: host key %s is unknown, %s line %u has one of another type; "
		    "check it and add it with `ssh -o HostKeyAlgorithms=%s %s%.80s`, or use "
		    "--host-key-check accept-new",
		    facts->host, facts->port, facts->key, facts->file, facts->line,
		    algorithm(facts), facts->port_option, facts->host);
	case XB_KNOWN_CA:
		return xb_fail(err, XB_FAULT_TARGET,
		    "%.80s port %u: host key %s is unknown, and the certificate authority of %s "
		    "line %u cannot vouch for it, because host certificates are not read; use "
		    "--host-key-check accept-new",
		    facts->host, facts->port, facts->key, facts->file, facts->line);
	default:
		return xb_fail(err, XB_FAULT_TARGET,
		    "%.80s port %u: host key %s is unknown; check it and add it with "
		    "`ssh %s%.80s`, or use --host-key-check accept-new",
		    facts->host, facts->port, facts->key, facts->port_option, facts->host);
	}
}

static bool
refuse_changed(const struct facts *facts, struct xb_err *err)
{
	return xb_fail(err, XB_FAULT_TARGET,
	    "%.80s port %u: HOST KEY HAS CHANGED: it presents %s, but %s line %u has another; "
	    "if that is right: ssh-keygen -R %s -f %s",
	    facts->host, facts->port, facts->key, facts->file, facts->line, facts->lookup,
	    facts->file);
}

/*
 * A key that cannot be added is refused, where ssh goes on with a warning: each trial is a login of
 * its own, and without the line none of them would notice that the key is not the last one's.
 */
static bool
add(const struct xb_target *target, const char *lookup, const struct xb_hostkey *key,
    const struct facts *facts, struct xb_err *err)
{
	struct xb_err why = { .fault = XB_FAULT_NONE };

	if (target->known_hosts.count == 0)
		xb_fail(&why, XB_FAULT_TARGET, "there is no known_hosts file to add it to");
	else if (xb_known_hosts_add(target->known_hosts.names[0], lookup, key, &why))
		return true;
	return xb_fail(err, XB_FAULT_TARGET,
	    "%.80s port %u: host key %s is new: %.250s; --host-key-check off goes on without",
	    facts->host, facts->port, facts->key, why.text);
}

bool
xb_target_check_hostkey(const struct xb_target *target, const struct xb_hostkey *key,
    struct xb_err *err)
{
	struct xb_known_found found;
	struct facts facts;
	char *lookup;
	bool ok = false;

	/* As with ssh, whatever the policy. */
	if (target->revoked != NULL && !xb_revoked_check(target->revoked, key, err)) {
		xb_err_prefix(err, target->host);
		return false;
	}
	if (target->policy == XB_HOSTKEY_OFF)
		return true;
	lookup = lookup_name(target);
	look_up(target, lookup, key, &found);
	gather(target, lookup, key, &found, &facts);
	switch (found.verdict) {
	case XB_KNOWN_MATCH:
		ok = true;
		break;
	case XB_KNOWN_OTHER:
		ok = refuse_changed(&facts, err);
		break;
	case XB_KNOWN_REVOKED:
		ok = xb_fail(err, XB_FAULT_TARGET,
		    "%.80s port %u: host key %s is REVOKED by %s line %u", facts.host, facts.port,
		    facts.key, facts.file, facts.line);
		break;
	case XB_KNOWN_NONE:
	case XB_KNOWN_TYPE:
	case XB_KNOWN_CA:
		ok = target->policy == XB_HOSTKEY_ACCEPT_NEW
		    ? add(target, lookup, key, &facts, err)
		    : refuse_unknown(&facts, found.verdict, err);
		break;
	}
	free(lookup);
	return ok;
}

/* The algorithm, where the server offers it; a server whose offer is unknown may have anything. */
static void
add_offered(const struct xb_target *target, const char *algorithm, struct xb_namelist *types)
{
	if (target->offer.hostkeys.count == 0 ||
	    xb_namelist_has(&target->offer.hostkeys, algorithm))
		xb_namelist_add_once(types, algorithm);
}

void
xb_target_hostkey_types(const struct xb_target *target, struct xb_namelist *types)
{
	struct xb_namelist known = { 0 };
	char *lookup;
	size_t i;

	if (target->policy == XB_HOSTKEY_OFF)
		return;
	lookup = lookup_name(target);
	xb_known_hosts_types(&target->known_hosts, lookup, &known);
	free(lookup);
	if (known.count == 0 && is_on_port(target)) {
		lookup = xb_known_hosts_name(target->host, SSH_PORT);
		xb_known_hosts_types(&target->known_hosts, lookup, &known);
		free(lookup);
	}
	for (i = 0; i < known.count; i++) {
		/* One type of key, three algorithms: RFC 8332. */
		if (strcmp(known.names[i], "ssh-rsa") == 0) {
			add_offered(target, "rsa-sha2-512", types);
			add_offered(target, "rsa-sha2-256", types);
		}
		add_offered(target, known.names[i], types);
	}
	xb_namelist_free(&known);
}
