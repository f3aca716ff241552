#include "plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "client/client.h"

static const char *
version(void)
{
	return "1.0";
}

static const char *
no_version(void)
{
	return "";
}

static void
plain_algorithms(struct xb_client_algorithms *algorithms)
{
	xb_namelist_split(&algorithms->kex, "curve25519-sha256");
	xb_namelist_split(&algorithms->hostkeys, "ssh-ed25519,rsa-sha2-512");
	xb_namelist_split(&algorithms->ciphers, "aes128-ctr,aes256-ctr,aes128-cbc,3des-cbc");
	xb_namelist_split(&algorithms->macs, "hmac-sha1,hmac-sha2-256,hmac-sha2-512");
	xb_namelist_split(&algorithms->compression, "zlib@openssh.com,zlib,none");
}

static const struct xb_client plain = {
	.name = "plain",
	.version = version,
	.algorithms = plain_algorithms,
	.ranked = true,
};

const struct xb_client *const plans_plain[] = { &plain, NULL };

static void
openssh_algorithms(struct xb_client_algorithms *algorithms)
{
	xb_namelist_split(&algorithms->kex,
	    "sntrup761x25519-sha512@openssh.com,curve25519-sha256,ecdh-sha2-nistp256");
	xb_namelist_split(&algorithms->hostkeys,
	    "ssh-ed25519,ssh-ed25519-cert-v01@openssh.com,rsa-sha2-512");
	xb_namelist_split(&algorithms->ciphers,
	    "aes128-ctr,aes256-ctr,aes128-cbc,3des-cbc,aes128-gcm@openssh.com,"
	    "chacha20-poly1305@openssh.com");
	xb_namelist_split(&algorithms->macs,
	    "hmac-sha1,hmac-sha2-256,hmac-sha2-512,umac-64@openssh.com");
	xb_namelist_split(&algorithms->compression, "none,zlib@openssh.com");
}

static const char *
openssh_cannot(enum xb_method method, enum xb_direction direction)
{
	return method == XB_METHOD_SCP && direction == XB_DOWNLOAD ? "this ssh has no scp download"
								   : NULL;
}

static const struct xb_client openssh = {
	.name = "openssh",
	.label = "ssh",
	.version = version,
	.algorithms = openssh_algorithms,
	.cannot = openssh_cannot,
	.ranked = true,
};

static void
libssh2_algorithms(struct xb_client_algorithms *algorithms)
{
	xb_namelist_split(&algorithms->kex, "curve25519-sha256");
	xb_namelist_split(&algorithms->hostkeys, "ssh-ed25519");
	xb_namelist_split(&algorithms->ciphers,
	    "aes128-ctr,aes256-ctr,aes128-cbc,3des-cbc,blowfish-cbc");
	xb_namelist_split(&algorithms->macs, "hmac-sha1,hmac-sha2-256");
}

static const struct xb_client libssh2 = {
	.name = "libssh2",
	.version = version,
	.algorithms = libssh2_algorithms,
	.ranked = true,
};

static void
gone_algorithms(struct xb_client_algorithms *algorithms)
{
	algorithms->absent = xb_strdup("there is no program gone");
}

static const struct xb_client gone = {
	.name = "gone",
	.version = version,
	.algorithms = gone_algorithms,
	.ranked = true,
};

static const struct xb_client tcp = { .name = "tcp", .version = no_version };

static const char *
null_cannot(enum xb_method method, enum xb_direction direction)
{
	(void)method;
	return direction == XB_DOWNLOAD ? "nothing has no bytes to give" : NULL;
}

static const struct xb_client null_client = {
	.name = "null",
	.version = no_version,
	.cannot = null_cannot,
};

const struct xb_client *const plans_all[] = { &openssh, &libssh2, &gone, &tcp, &null_client, NULL };

void
plans_set(struct xb_namelist *list, const char *names)
{
	xb_namelist_free(list);
	xb_namelist_split(list, names);
}

static struct xb_target_sheet *
add_target(struct xb_run *run, const char *name, const char *ciphers, const char *macs)
{
	struct xb_target_sheet *target = xb_run_add_target(run);
	struct xb_offer *offer = &target->offer;

	target->name = xb_strdup(name);
	xb_namelist_split(&offer->kex, "sntrup761x25519-sha512@openssh.com,curve25519-sha256");
	xb_namelist_split(&offer->hostkeys, "rsa-sha2-512,ssh-ed25519");
	xb_namelist_split(&offer->ciphers_up, ciphers);
	xb_namelist_split(&offer->ciphers_down, ciphers);
	xb_namelist_split(&offer->macs_up, macs);
	xb_namelist_split(&offer->macs_down, macs);
	xb_namelist_split(&offer->compression_up, "none,zlib@openssh.com");
	xb_namelist_split(&offer->compression_down, "none,zlib@openssh.com");
	return target;
}

struct xb_run
plans_host(const char *ciphers, const char *macs)
{
	struct xb_run run = { .target_count = 0 };

	add_target(&run, "nas", ciphers, macs);
	return run;
}

struct xb_target_sheet *
plans_add_private(struct xb_run *run, const char *kind, const char *ciphers, const char *macs)
{
	struct xb_target_sheet *target = add_target(run, "this machine", ciphers, macs);

	target->server = xb_strdup(kind);
	target->is_private = true;
	target->is_local = true;
	return target;
}

void
plans_make(struct xb_run *run, const struct xb_plan_request *request)
{
	struct xb_err err = { 0 };

	if (!xb_plan_make(request, run, &err))
		fail_msg("%s", err.text);
	assert_int_equal(err.fault, XB_FAULT_NONE);
	for (size_t i = 0; i < run->result_count; i++) {
		const struct xb_case *c = &run->results[i].c;

		assert_true((c->reason == NULL) == (c->status == XB_PLANNED));
		assert_non_null(c->client);
		assert_true(c->streams >= 1);
		assert_true(c->target < run->target_count);
	}
}

void
plans_refused(struct xb_run *run, const struct xb_plan_request *request, const char *part)
{
	struct xb_err err = { 0 };

	assert_false(xb_plan_make(request, run, &err));
	assert_int_equal(err.fault, XB_FAULT_USAGE);
	if (strstr(err.text, part) == NULL)
		fail_msg("'%s' is not in: %s", part, err.text);
	assert_int_equal(run->result_count, 0);
}

static const char *
or_dash(const char *name)
{
	return name != NULL ? name : "-";
}

static void
put_case(FILE *out, const struct xb_case *c)
{
	fprintf(out, "%s%s", c->reference ? "ref " : c->as_negotiated ? "neg " : "", c->client);
	if (c->method == XB_METHOD_LOGIN)
		fprintf(out, " kex %s hostkey %s", or_dash(c->suite.kex),
		    or_dash(c->suite.hostkey));
	else if (!c->reference && !c->as_negotiated)
		fprintf(out, " %s %s", or_dash(c->suite.cipher_name), or_dash(c->suite.mac_name));
	if (c->method_auto && c->method != XB_METHOD_EXEC)
		fputs(" auto", out);
	if (c->method == XB_METHOD_SCP || c->method == XB_METHOD_SFTP)
		fprintf(out, " %s", xb_method_name(c->method));
	if (c->direction != XB_UPLOAD)
		fprintf(out, " %s", xb_direction_name(c->direction));
	if (c->streams > 1)
		fprintf(out, " x%u", c->streams);
	if (c->target > 0)
		fprintf(out, " @%zu", c->target);
	if (c->suite.compression != NULL)
		fprintf(out, " +%s", c->suite.compression);
	fprintf(out, " %s%s", xb_status_name(c->status), c->by_name ? "!" : "");
}

void
plans_expect(const struct xb_run *run, bool negotiated, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);
	const char *separator = "";

	for (size_t i = 0; i < run->result_count; i++) {
		const struct xb_case *c = &run->results[i].c;

		if (c->as_negotiated && !negotiated)
			continue;
		fputs(separator, out);
		put_case(out, c);
		separator = "; ";
	}
	xb_memstream_close(out);
	assert_string_equal(text, expected);
	free(text);
}

void
plans_expect_reason(const struct xb_run *run, size_t row, const char *part)
{
	assert_true(row < run->result_count);
	assert_non_null(run->results[row].c.reason);
	if (strstr(run->results[row].c.reason, part) == NULL)
		fail_msg("'%s' is not in: %s", part, run->results[row].c.reason);
}
