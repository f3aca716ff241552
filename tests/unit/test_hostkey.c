#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <openssl/evp.h>

#include "base/err.h"
#include "base/mem.h"
#include "target/target.h"

/* Keys and fingerprints as ssh-keygen of OpenSSH 9.2p1 makes them. */
#define KEY "AAAAC3NzaC1lZDI1NTE5AAAAIBUOVD0Fw9RJ7hwcolkUWUUrUZeXEsjqK3+cWfK62Z7l"
#define ED25519 "ssh-ed25519 " KEY
#define PRINT "ssh-ed25519 SHA256:xU0tiV9oI1zz2nsnFLbAVnoz4Wl7cHQO+1Pb22qxNIw"
#define ED25519_OTHER \
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFdJ/xdCb2XY5V16VSUztA23JMDQGGf+Eu5cpXDbHwbn"
#define ECDSA \
	"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBDeCbGdYv91aUY25" \
	"mcFvjKpS6fnctDwGLpNjRQbRJIqECRvtIkUWKS172uJNgMkAiJ1mqZ+PhLmHE+73NLJI/rg="

/* A target that was never reached, with a known_hosts file of its own. */
struct fixture {
	char dir[64];
	char file[96];
	unsigned char blob[sizeof(KEY)];
	struct xb_hostkey key;
	struct xb_target target;
};

static int
set_up(void **state)
{
	struct fixture *f = xb_calloc(1, sizeof(*f));
	int len = EVP_DecodeBlock(f->blob, (const unsigned char *)KEY, (int)strlen(KEY));

	snprintf(f->dir, sizeof(f->dir), "/tmp/xb-hostkey-XXXXXX");
	if (len <= 0 || mkdtemp(f->dir) == NULL)
		return -1;
	snprintf(f->file, sizeof(f->file), "%s/known_hosts", f->dir);
	f->key = (struct xb_hostkey){ f->blob, (size_t)len };
	f->target.host = xb_strdup("nas");
	f->target.port = 22;
	xb_namelist_add_once(&f->target.known_hosts, f->file);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	(void)unlink(f->file);
	assert_int_equal(rmdir(f->dir), 0);
	xb_namelist_free(&f->target.known_hosts);
	free(f->target.host);
	free(f);
	return 0;
}

static void
know(const struct fixture *f, const char *text)
{
	FILE *file = fopen(f->file, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void
assert_accepted(const struct fixture *f)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	if (!xb_target_check_hostkey(&f->target, &f->key, &err))
		fail_msg("%s", err.text);
	assert_int_equal(err.fault, XB_FAULT_NONE);
}

static void
assert_refused(const struct fixture *f, const char *text)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };

	assert_false(xb_target_check_hostkey(&f->target, &f->key, &err));
	assert_int_equal(err.fault, XB_FAULT_TARGET);
	assert_string_equal(err.text, text);
}

static void
known_key_is_accepted_unless_it_is_revoked(void **state)
{
	struct fixture *f = *state;
	char text[300];

	know(f, "nas " ED25519 "\n");
	assert_accepted(f);
	f->target.policy = XB_HOSTKEY_ACCEPT_NEW;
	assert_accepted(f);
	know(f, "nas " ED25519 "\n@revoked * " ED25519 "\n");
	snprintf(text, sizeof(text), "nas port 22: host key " PRINT " is REVOKED by %s line 2",
	    f->file);
	assert_refused(f, text);
	f->target.policy = XB_HOSTKEY_STRICT;
	assert_refused(f, text);
}

static void
unknown_key_is_refused_with_its_fingerprint(void **state)
{
	struct fixture *f = *state;

	assert_refused(f,
	    "nas port 22: host key " PRINT " is unknown; check it and add it with `ssh nas`, or "
	    "use --host-key-check accept-new");
	f->target.port = 2222;
	assert_refused(f,
	    "nas port 2222: host key " PRINT
	    " is unknown; check it and add it with `ssh -p 2222 nas`, or use --host-key-check "
	    "accept-new");
}

static void
changed_key_is_refused_with_file_and_line(void **state)
{
	struct fixture *f = *state;
	char text[600];

	know(f, "# mine\n\nnas " ED25519_OTHER "\n");
	snprintf(text, sizeof(text),
	    "nas port 22: HOST KEY HAS CHANGED: it presents " PRINT
	    ", but %s line 3 has another; if that is right: ssh-keygen -R nas -f %s",
	    f->file, f->file);
	assert_refused(f, text);
	f->target.policy = XB_HOSTKEY_ACCEPT_NEW;
	assert_refused(f, text);
	f->target.port = 2222;
	know(f, "[nas]:2222 " ED25519_OTHER "\n");
	snprintf(text, sizeof(text),
	    "nas port 2222: HOST KEY HAS CHANGED: it presents " PRINT
	    ", but %s line 1 has another; if that is right: ssh-keygen -R '[nas]:2222' -f %s",
	    f->file, f->file);
	assert_refused(f, text);
}

static void
key_of_another_type_than_the_known_ones_is_unknown(void **state)
{
	struct fixture *f = *state;
	char text[600];

	know(f, "nas " ECDSA "\n");
	snprintf(text, sizeof(text),
	    "nas port 22: host key " PRINT
	    " is unknown, %s line 1 has one of another type; check it and add it with "
	    "`ssh -o HostKeyAlgorithms=ssh-ed25519 nas`, or use --host-key-check accept-new",
	    f->file);
	assert_refused(f, text);
	f->target.policy = XB_HOSTKEY_ACCEPT_NEW;
	assert_accepted(f);
	f->target.policy = XB_HOSTKEY_STRICT;
	assert_accepted(f);
}

static void
certificate_authority_does_not_vouch_for_a_plain_key(void **state)
{
	struct fixture *f = *state;
	struct xb_err err = { .fault = XB_FAULT_NONE };

	know(f, "@cert-authority * " ED25519 "\n");
	assert_false(xb_target_check_hostkey(&f->target, &f->key, &err));
	assert_non_null(strstr(err.text, "the certificate authority of "));
	assert_non_null(strstr(err.text, " line 1 cannot vouch for it"));
}

static void
accept_new_adds_an_unknown_key_once(void **state)
{
	struct fixture *f = *state;
	char line[200] = "";
	FILE *file;

	f->target.policy = XB_HOSTKEY_ACCEPT_NEW;
	f->target.port = 2222;
	assert_accepted(f);
	assert_accepted(f);
	f->target.policy = XB_HOSTKEY_STRICT;
	assert_accepted(f);
	file = fopen(f->file, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "[nas]:2222 " ED25519 "\n");
	assert_null(fgets(line, sizeof(line), file));
	fclose(file);
}

static void
accept_new_refuses_a_key_that_cannot_be_added(void **state)
{
	struct fixture *f = *state;
	char text[600];

	assert_int_equal(mkdir(f->file, 0700), 0);
	f->target.policy = XB_HOSTKEY_ACCEPT_NEW;
	snprintf(text, sizeof(text),
	    "nas port 22: host key " PRINT
	    " is new: cannot write the host key into %s: Is a directory; --host-key-check off "
	    "goes on without",
	    f->file);
	assert_refused(f, text);
	assert_int_equal(rmdir(f->file), 0);
	xb_namelist_free(&f->target.known_hosts);
	assert_refused(f,
	    "nas port 22: host key " PRINT
	    " is new: there is no known_hosts file to add it to; --host-key-check off goes on "
	    "without");
}

static void
off_takes_what_comes(void **state)
{
	struct fixture *f = *state;
	struct xb_namelist types = { .count = 0 };

	f->target.policy = XB_HOSTKEY_OFF;
	know(f, "nas " ED25519_OTHER "\n@revoked * " ED25519 "\n");
	assert_accepted(f);
	xb_target_hostkey_types(&f->target, &types);
	assert_int_equal(types.count, 0);
}

static void
key_of_the_plain_host_is_good_for_its_other_ports(void **state)
{
	struct fixture *f = *state;
	struct xb_namelist types = { .count = 0 };
	struct xb_err err = { .fault = XB_FAULT_NONE };

	f->target.port = 2222;
	know(f, "nas " ED25519 "\n");
	assert_accepted(f);
	xb_target_hostkey_types(&f->target, &types);
	assert_int_equal(types.count, 1);
	assert_string_equal(types.names[0], "ssh-ed25519");
	xb_namelist_free(&types);
	/* Another key on another port is no change, but unknown; the port's own key decides. */
	know(f, "nas " ED25519_OTHER "\n");
	assert_false(xb_target_check_hostkey(&f->target, &f->key, &err));
	assert_non_null(strstr(err.text, "is unknown; "));
	memset(&err, 0, sizeof(err));
	know(f, "nas " ED25519 "\n[nas]:2222 " ED25519_OTHER "\n");
	assert_false(xb_target_check_hostkey(&f->target, &f->key, &err));
	assert_non_null(strstr(err.text, "HAS CHANGED"));
}

static void
types_that_known_hosts_can_judge_are_asked_for(void **state)
{
	struct fixture *f = *state;
	struct xb_namelist types = { .count = 0 };

	xb_target_hostkey_types(&f->target, &types);
	assert_int_equal(types.count, 0);
	know(f, "nas " ECDSA "\nNAS " ED25519 "\nbox " ED25519 "\n");
	xb_target_hostkey_types(&f->target, &types);
	assert_int_equal(types.count, 2);
	assert_string_equal(types.names[0], "ecdsa-sha2-nistp256");
	xb_namelist_free(&types);
}

static void
longest_refusal_is_printable_and_fits(void **state)
{
	struct fixture *f = *state;
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char host[256];

	memset(host, 'h', sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	free(f->target.host);
	f->target.host = xb_strdup(host);
	f->target.port = 65535;
	know(f, "[*]:65535 " ECDSA "\n");
	assert_false(xb_target_check_hostkey(&f->target, &f->key, &err));
	assert_non_null(strstr(err.text, "--host-key-check accept-new"));
	memset(&err, 0, sizeof(err));
	know(f, "[*]:65535 " ED25519_OTHER "\n");
	assert_false(xb_target_check_hostkey(&f->target, &f->key, &err));
	assert_non_null(strstr(err.text, "ssh-keygen -R"));
	for (const char *c = err.text; *c != '\0'; c++)
		assert_true(*c >= 0x20 && *c < 0x7f);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(known_key_is_accepted_unless_it_is_revoked),
		IN_FOLDER(unknown_key_is_refused_with_its_fingerprint),
		IN_FOLDER(changed_key_is_refused_with_file_and_line),
		IN_FOLDER(key_of_another_type_than_the_known_ones_is_unknown),
		IN_FOLDER(certificate_authority_does_not_vouch_for_a_plain_key),
		IN_FOLDER(accept_new_adds_an_unknown_key_once),
		IN_FOLDER(accept_new_refuses_a_key_that_cannot_be_added),
		IN_FOLDER(off_takes_what_comes),
		IN_FOLDER(key_of_the_plain_host_is_good_for_its_other_ports),
		IN_FOLDER(types_that_known_hosts_can_judge_are_asked_for),
		IN_FOLDER(longest_refusal_is_printable_and_fits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
