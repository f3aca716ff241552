#include "target/identity.h"

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

#include "base/mem.h"
#include "base/rng.h"

/*
 * The first lines of files that ssh-keygen of OpenSSH 9.2p1 wrote. The secret parts are cut away:
 * what is to be known stands before them.
 */
static const char openssh_plain[] =
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n"
    "QyNTUxOQAAACAVDlQ9BcPUSe4cHKJZFFlFK1GXlxLI6it/nFnyutme5QAAAIgq/s+OKv7P\n";

static const char openssh_encrypted[] =
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    "b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABDsC0maZi\n"
    "OHI34Shh8kg127AAAAAQAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIA5iTHitvp8LjM03\n"
    "tJdaUGNGCJfIJERSxIyG8nibo+oFAAAAkJ0ENzymhPeQyqxR9guDZU75kQRuyZ29G2m0LO\n";

static const char pem_rsa[] = "-----BEGIN RSA PRIVATE KEY-----\n"
			      "MIICXgIBAAKBgQCzicNBE2Fr4/nE8kmkL/6tmdYcmD3OSiko/gK1jkeqyfRrcgrt\n";

static const char pem_ec_encrypted[] = "-----BEGIN EC PRIVATE KEY-----\n"
				       "Proc-Type: 4,ENCRYPTED\n"
				       "DEK-Info: AES-128-CBC,F0FCC50BF53672180F5C293D66F19486\n"
				       "\n";

static const char pkcs8_plain[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5KKHPVpmqcLwjv0Y\n";

static const char pkcs8_encrypted[] =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhiPGsWx/PwlQICCAAw\n";

static const char ecdsa_public[] =
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBDe"
    "CbGdYv91aUY25mcFvjKpS6fnctDwGLpNjRQbRJIqECRvtIkUWKS172uJNgMkAiJ1mqZ+PhLmHE+73NLJI/rg= joe@nas\n";

/* A directory with a key file. */
struct folder {
	char path[64];
	char key[96];
};

static void
write_file(const char *path, const char *suffix, const void *bytes, size_t len)
{
	char *name = xb_asprintf("%s%s", path, suffix);
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	free(name);
}

static int
set_up(void **state)
{
	struct folder *folder = xb_calloc(1, sizeof(*folder));

	snprintf(folder->path, sizeof(folder->path), "/tmp/xb-identity-XXXXXX");
	if (mkdtemp(folder->path) == NULL)
		return -1;
	snprintf(folder->key, sizeof(folder->key), "%s/key", folder->path);
	*state = folder;
	return 0;
}

static int
tear_down(void **state)
{
	static const char *const suffixes[] = { "", ".pub", "-cert.pub" };
	struct folder *folder = *state;
	char *name;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		name = xb_asprintf("%s%s", folder->key, suffixes[i]);
		(void)unlink(name);
		free(name);
	}
	assert_int_equal(rmdir(folder->path), 0);
	free(folder);
	return 0;
}

static struct xb_identity
inspect(const struct folder *folder, const char *text)
{
	struct xb_identity identity;

	write_file(folder->key, "", text, strlen(text));
	memset(&identity, 0xff, sizeof(identity));
	xb_identity_inspect(folder->key, &identity);
	return identity;
}

static void
assert_key(const struct xb_identity *identity, bool encrypted, const char *type)
{
	assert_true(identity->exists);
	assert_true(identity->is_key);
	assert_int_equal(identity->encrypted, encrypted);
	assert_string_equal(identity->type, type);
	assert_false(identity->has_cert);
}

static void
openssh_keys_tell_type_and_encryption(void **state)
{
	struct xb_identity identity = inspect(*state, openssh_plain);

	assert_key(&identity, false, "ssh-ed25519");
	identity = inspect(*state, openssh_encrypted);
	assert_key(&identity, true, "ssh-ed25519");
}

static void
pem_and_pkcs8_keys_tell_what_they_can(void **state)
{
	struct xb_identity identity = inspect(*state, pem_rsa);

	assert_key(&identity, false, "ssh-rsa");
	identity = inspect(*state, pem_ec_encrypted);
	assert_key(&identity, true, "");
	identity = inspect(*state, pkcs8_plain);
	assert_key(&identity, false, "");
	identity = inspect(*state, pkcs8_encrypted);
	assert_key(&identity, true, "");
}

static void
public_half_gives_the_type_that_the_key_does_not_tell(void **state)
{
	struct folder *folder = *state;
	struct xb_identity identity;

	write_file(folder->key, ".pub", ecdsa_public, strlen(ecdsa_public));
	identity = inspect(folder, pem_ec_encrypted);
	assert_key(&identity, true, "ecdsa-sha2-nistp256");
	/* The key itself is believed before the file beside it. */
	identity = inspect(folder, openssh_plain);
	assert_key(&identity, false, "ssh-ed25519");
}

static void
public_half_that_contradicts_itself_is_not_believed(void **state)
{
	static const char *const texts[] = { "", "ssh-rsa", "ssh-rsa \n", "ssh-rsa AAAA\n",
		"ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIBUOVD0Fw9RJ7hwcolkUWUUrUZeXEsjqK3+cWfK62Z7l\n" };
	struct folder *folder = *state;
	struct xb_identity identity;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_file(folder->key, ".pub", texts[i], strlen(texts[i]));
		identity = inspect(folder, pkcs8_plain);
		assert_key(&identity, false, "");
	}
}

static void
certificate_beside_the_key_is_seen(void **state)
{
	struct folder *folder = *state;

	write_file(folder->key, "-cert.pub", "x", 1);
	assert_true(inspect(folder, openssh_plain).has_cert);
}

static void
other_files_are_no_keys(void **state)
{
	static const char *const texts[] = { "", "hello", "-----BEGIN ",
		"-----BEGIN CERTIFICATE-----\n", "-----BEGIN OPENSSH PRIVATE KEY-----",
		"-----BEGIN OPENSSH PRIVATE KEY-----\n!!!!\n",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
		"PuTTY-User-Key-File-3: ssh-ed25519\n" };
	struct xb_identity identity;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		identity = inspect(*state, texts[i]);
		assert_true(identity.exists);
		assert_false(identity.is_key);
		assert_false(identity.encrypted);
		assert_string_equal(identity.type, "");
	}
}

static void
key_damaged_anywhere_is_survived(void **state)
{
	struct folder *folder = *state;
	struct xb_rng rng = { .state = 1 };
	struct xb_identity identity;
	char text[sizeof(openssh_encrypted)];

	for (size_t len = 0; len < strlen(openssh_encrypted); len++) {
		memcpy(text, openssh_encrypted, len);
		text[len] = '\0';
		identity = inspect(folder, text);
		assert_true(identity.type[0] == '\0' || strcmp(identity.type, "ssh-ed25519") == 0);
	}
	for (unsigned i = 0; i < 500; i++) {
		memcpy(text, openssh_encrypted, sizeof(text));
		text[40 + xb_rng_below(&rng, 200)] = (char)xb_rng_below(&rng, 256);
		write_file(folder->key, "", text, sizeof(text));
		xb_identity_inspect(folder->key, &identity);
		assert_true(identity.exists);
		assert_true(strlen(identity.type) < sizeof(identity.type));
	}
}

static void
what_is_no_regular_file_does_not_exist(void **state)
{
	struct folder *folder = *state;
	struct xb_identity identity;

	xb_identity_inspect(folder->key, &identity);
	assert_false(identity.exists);
	xb_identity_inspect(folder->path, &identity);
	assert_false(identity.exists);
	xb_identity_inspect("/dev/zero", &identity);
	assert_false(identity.exists);
	assert_int_equal(mkfifo(folder->key, 0600), 0);
	xb_identity_inspect(folder->key, &identity);
	assert_false(identity.exists);
	assert_false(identity.is_key);
}

static void
endless_key_file_is_read_in_part_alone(void **state)
{
	struct folder *folder = *state;
	struct xb_identity identity;

	write_file(folder->key, "", openssh_plain, strlen(openssh_plain));
	assert_int_equal(truncate(folder->key, (off_t)1 << 40), 0);
	xb_identity_inspect(folder->key, &identity);
	assert_key(&identity, false, "ssh-ed25519");
}

static void
default_files_are_those_that_exist_in_the_order_of_ssh(void **state)
{
	static const char *const names[] = { "id_ed25519", "id_rsa", "id_ecdsa.pub", "id_dsa" };
	struct folder *folder = *state;
	struct xb_namelist files = { .count = 0 };
	char *dir = xb_asprintf("%s/.ssh", folder->path);
	char *path;

	xb_identity_defaults(folder->path, &files);
	assert_int_equal(files.count, 0);
	assert_int_equal(mkdir(dir, 0700), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path = xb_asprintf("%s/%s", dir, names[i]);
		write_file(path, "", "x", 1);
		free(path);
	}
	xb_identity_defaults(folder->path, &files);
	assert_int_equal(files.count, 2);
	assert_string_equal(strrchr(files.names[0], '/'), "/id_rsa");
	assert_string_equal(strrchr(files.names[1], '/'), "/id_ed25519");
	xb_namelist_free(&files);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path = xb_asprintf("%s/%s", dir, names[i]);
		assert_int_equal(unlink(path), 0);
		free(path);
	}
	assert_int_equal(rmdir(dir), 0);
	free(dir);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(openssh_keys_tell_type_and_encryption),
		IN_FOLDER(pem_and_pkcs8_keys_tell_what_they_can),
		IN_FOLDER(public_half_gives_the_type_that_the_key_does_not_tell),
		IN_FOLDER(public_half_that_contradicts_itself_is_not_believed),
		IN_FOLDER(certificate_beside_the_key_is_seen),
		IN_FOLDER(other_files_are_no_keys),
		IN_FOLDER(key_damaged_anywhere_is_survived),
		IN_FOLDER(what_is_no_regular_file_does_not_exist),
		IN_FOLDER(endless_key_file_is_read_in_part_alone),
		IN_FOLDER(default_files_are_those_that_exist_in_the_order_of_ssh),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
