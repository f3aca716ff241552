#include "target/known_hosts.h"

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
#include "model/namelist.h"

/* Keys, fingerprints and hashed names as ssh-keygen of OpenSSH 9.2p1 makes them. */
#define ED25519 "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBUOVD0Fw9RJ7hwcolkUWUUrUZeXEsjqK3+cWfK62Z7l"
#define ED25519_OTHER \
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFdJ/xdCb2XY5V16VSUztA23JMDQGGf+Eu5cpXDbHwbn"
#define ECDSA \
	"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBDeCbGdYv91aUY25" \
	"mcFvjKpS6fnctDwGLpNjRQbRJIqECRvtIkUWKS172uJNgMkAiJ1mqZ+PhLmHE+73NLJI/rg="
#define HASHED_NAS "|1|pZTZ7WVe/MrFXNdJOspuVz6SBqE=|85rHUdWhWjlxoRzOgrTpNDLvYFQ="
#define HASHED_NAS_2222 "|1|yECdD/atuBFP2WQQlYi6713ToHo=|KIJ2vczfTkDbgUS7KZ30O4v3fwY="

/* A key out of a public key's text. */
struct key {
	unsigned char blob[256];
	struct xb_hostkey key;
};

static const struct xb_hostkey *
make_key(struct key *key, const char *text)
{
	const char *base64 = strchr(text, ' ') + 1;
	size_t padding = base64[strlen(base64) - 1] == '=' ? 1 : 0;
	int len = EVP_DecodeBlock(key->blob, (const unsigned char *)base64, (int)strlen(base64));

	assert_true(len > 0);
	key->key = (struct xb_hostkey){ key->blob, (size_t)len - padding };
	return &key->key;
}

static enum xb_known_verdict
judge(const char *line, const char *lookup, const char *key_text)
{
	struct key key;

	return xb_known_hosts_line(line, strlen(line), lookup, NULL, make_key(&key, key_text), NULL,
	    0);
}

static void
type_and_fingerprint_are_those_of_ssh_keygen(void **state)
{
	struct key key;
	char text[64];

	(void)state;
	assert_true(xb_hostkey_type(make_key(&key, ED25519), text, sizeof(text)));
	assert_string_equal(text, "ssh-ed25519");
	xb_hostkey_fingerprint(&key.key, text, sizeof(text));
	assert_string_equal(text, "SHA256:xU0tiV9oI1zz2nsnFLbAVnoz4Wl7cHQO+1Pb22qxNIw");
	assert_true(xb_hostkey_type(make_key(&key, ECDSA), text, sizeof(text)));
	assert_string_equal(text, "ecdsa-sha2-nistp256");
	xb_hostkey_fingerprint(&key.key, text, sizeof(text));
	assert_string_equal(text, "SHA256:UbIupAsli7fwX0RtmJnmPFnGIRt6I5o2LbUuVUKr0QY");
}

static void
blob_that_is_no_key_has_no_type(void **state)
{
	static const struct {
		const char *blob;
		size_t len;
	} blobs[] = {
		{ .blob = "", .len = 0 }, { .blob = "\0\0\0", .len = 3 },
		{ .blob = "\0\0\0\0", .len = 4 },
		{ .blob = "\0\0\0\x04"
			  "abc",
		    .len = 7 },
		{ .blob = "\xff\xff\xff\xff"
			  "abc",
		    .len = 7 },
		{ .blob = "\0\0\0\x03"
			  "a b",
		    .len = 7 },
		{ .blob = "\0\0\0\x03"
			  "a\xff"
			  "b",
		    .len = 7 },
		{ .blob = "\0\0\0\x08"
			  "12345678",
		    .len = 12 }, /* too long for the text */
	};
	struct xb_hostkey key;
	char text[8];

	(void)state;
	for (size_t i = 0; i < sizeof(blobs) / sizeof(blobs[0]); i++) {
		key = (struct xb_hostkey){ blobs[i].blob, blobs[i].len };
		assert_false(xb_hostkey_type(&key, text, sizeof(text)));
		assert_string_equal(text, "");
	}
}

static void
plain_names_match_whole_and_in_any_case(void **state)
{
	(void)state;
	assert_int_equal(judge("nas " ED25519, "nas", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge("NAS.Example " ED25519, "nas.example", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge("  nas\t" ED25519 " me@here", "nas", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge("nas " ED25519 "\r\n", "nas", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge("a,nas,b " ED25519, "nas", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge("nas2 " ED25519, "nas", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge("na " ED25519, "nas", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge("nas " ED25519, "[nas]:2222", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge("[nas]:2222 " ED25519, "[nas]:2222", ED25519), XB_KNOWN_MATCH);
}

static void
hashed_names_match(void **state)
{
	(void)state;
	assert_int_equal(judge(HASHED_NAS " " ED25519, "nas", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge(HASHED_NAS " " ED25519, "nas2", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge(HASHED_NAS_2222 " " ED25519, "[nas]:2222", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge(HASHED_NAS " " ED25519_OTHER, "nas", ED25519), XB_KNOWN_OTHER);
}

static void
broken_hashes_match_nothing(void **state)
{
	static const char *const names[] = { "|1|", "|1||",
		"|1|pZTZ7WVe/MrFXNdJOspuVz6SBqE=", "|1|pZTZ7WVe/MrFXNdJOspuVz6SBqE=|",
		"|1|pZTZ7WVe/MrFXNdJOspuVz6SBqE|85rH",
		"|1|pZTZ|85rHUdWhWjlxoRzOgrTpNDLvYFQ=", "|2|" };
	char line[200];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(line, sizeof(line), "%s %s", names[i], ED25519);
		assert_int_equal(judge(line, "nas", ED25519), XB_KNOWN_NONE);
	}
}

static void
wildcards_match_and_negation_excludes(void **state)
{
	(void)state;
	assert_int_equal(judge("*.lan " ED25519, "nas.lan", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge("na? " ED25519, "nas", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge("*,!nas " ED25519, "nas", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge("!nas,* " ED25519, "nas", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge("!box,* " ED25519, "nas", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge("!box " ED25519, "nas", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge("[*]:2222 " ED25519, "[nas]:2222", ED25519), XB_KNOWN_MATCH);
	assert_int_equal(judge(",, " ED25519, "nas", ED25519), XB_KNOWN_NONE);
}

static void
other_keys_are_told_from_other_types(void **state)
{
	struct key key;
	char type[64];

	(void)state;
	assert_int_equal(judge("nas " ED25519_OTHER, "nas", ED25519), XB_KNOWN_OTHER);
	assert_int_equal(judge("nas " ECDSA, "nas", ED25519), XB_KNOWN_TYPE);
	xb_known_hosts_line("nas " ECDSA, strlen("nas " ECDSA), "nas", NULL,
	    make_key(&key, ED25519), type, sizeof(type));
	assert_string_equal(type, "ecdsa-sha2-nistp256");
	xb_known_hosts_line("box " ECDSA, strlen("box " ECDSA), "nas", NULL,
	    make_key(&key, ED25519), type, sizeof(type));
	assert_string_equal(type, "");
}

static void
address_is_a_second_name(void **state)
{
	const char *line = "192.0.2.1 " ED25519;
	struct key key;

	(void)state;
	make_key(&key, ED25519);
	assert_int_equal(xb_known_hosts_line(line, strlen(line), "nas", "192.0.2.1", &key.key, NULL,
			     0),
	    XB_KNOWN_MATCH);
	assert_int_equal(xb_known_hosts_line(line, strlen(line), "nas", "192.0.2.2", &key.key, NULL,
			     0),
	    XB_KNOWN_NONE);
}

static void
markers_are_obeyed(void **state)
{
	(void)state;
	assert_int_equal(judge("@revoked nas " ED25519, "nas", ED25519), XB_KNOWN_REVOKED);
	assert_int_equal(judge("@revoked * " ED25519, "nas", ED25519), XB_KNOWN_REVOKED);
	assert_int_equal(judge("@revoked nas " ED25519_OTHER, "nas", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge("@revoked box " ED25519, "nas", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge("@cert-authority * " ED25519, "nas", ED25519), XB_KNOWN_CA);
	assert_int_equal(judge("@unheard-of nas " ED25519, "nas", ED25519), XB_KNOWN_NONE);
	assert_int_equal(judge("@revoked @revoked nas " ED25519, "nas", ED25519), XB_KNOWN_NONE);
}

static void
lines_that_are_no_entries_say_nothing(void **state)
{
	static const char *const lines[] = { "", " ", "\n", "nas", "nas ssh-ed25519",
		"nas ssh-ed25519 ", "nas ssh-ed25519 AAAA", "nas ssh-ed25519 !!!!",
		"nas ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBUOVD0Fw9RJ7hwcolkUWUUrUZeXEsjqK3+cWfK62Z7",
		"nas ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIBUOVD0Fw9RJ7hwcolkUWUUrUZeXEsjqK3+cWfK62Z7l",
		"nas 1024 35 1234567890", "@revoked",
		"nas ssh-ed25519 ====", "nas ssh-ed25519 A===", "nas ssh-ed25519 AA==AAAA" };

	(void)state;
	assert_int_equal(judge("# nas " ED25519, "nas", ED25519), XB_KNOWN_NONE);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(judge(lines[i], "nas", ED25519), XB_KNOWN_NONE);
}

static void
lines_of_any_length_and_bytes_are_survived(void **state)
{
	size_t len = 3000000;
	char *line = xb_calloc(len, 1);
	struct key key;

	(void)state;
	make_key(&key, ED25519);
	assert_int_equal(xb_known_hosts_line(line, len, "nas", NULL, &key.key, NULL, 0),
	    XB_KNOWN_NONE);
	memset(line, 'a', len);
	memcpy(line + len - strlen(" " ED25519), " " ED25519, strlen(" " ED25519));
	assert_int_equal(xb_known_hosts_line(line, len, "nas", NULL, &key.key, NULL, 0),
	    XB_KNOWN_NONE);
	/* A name after two megabytes of names still counts. */
	memset(line, ',', 2000000);
	memcpy(line + len - strlen(",nas " ED25519), ",nas " ED25519, strlen(",nas " ED25519));
	assert_int_equal(xb_known_hosts_line(line, len, "nas", NULL, &key.key, NULL, 0),
	    XB_KNOWN_MATCH);
	memcpy(line, "nas ssh-ed25519 ", 16);
	memset(line + 16, 'A', len - 16);
	assert_int_equal(xb_known_hosts_line(line, len, "nas", NULL, &key.key, NULL, 0),
	    XB_KNOWN_NONE);
	/* A NUL does not end a pattern early. */
	memcpy(line, "nas\0x " ED25519, sizeof("nas\0x " ED25519));
	assert_int_equal(xb_known_hosts_line(line, sizeof("nas\0x " ED25519) - 1, "nas", NULL,
			     &key.key, NULL, 0),
	    XB_KNOWN_NONE);
	free(line);
}

static void
lookup_name_has_a_port_only_when_it_is_not_22(void **state)
{
	char *name = xb_known_hosts_name("NAS.lan", 22);

	(void)state;
	assert_string_equal(name, "nas.lan");
	free(name);
	name = xb_known_hosts_name("NAS", 2222);
	assert_string_equal(name, "[nas]:2222");
	free(name);
	name = xb_known_hosts_name("FE80::1%eth0", 2222);
	assert_string_equal(name, "[fe80::1%eth0]:2222");
	free(name);
}

/* A directory for each test, with two files. */
struct folder {
	char path[64];
	struct xb_namelist files;
};

static int
set_up(void **state)
{
	struct folder *folder = xb_calloc(1, sizeof(*folder));
	char *file;

	snprintf(folder->path, sizeof(folder->path), "/tmp/xb-known-XXXXXX");
	if (mkdtemp(folder->path) == NULL)
		return -1;
	for (const char *name = "ab"; *name != '\0'; name++) {
		file = xb_asprintf("%s/%c", folder->path, *name);
		xb_namelist_add_once(&folder->files, file);
		free(file);
	}
	*state = folder;
	return 0;
}

static int
tear_down(void **state)
{
	struct folder *folder = *state;

	for (size_t i = 0; i < folder->files.count; i++)
		(void)unlink(folder->files.names[i]);
	xb_namelist_free(&folder->files);
	assert_int_equal(rmdir(folder->path), 0);
	free(folder);
	return 0;
}

static void
write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct xb_known_found
look(const struct folder *folder, const char *lookup, const char *key_text)
{
	struct xb_known_found found;
	struct key key;

	xb_known_hosts_lookup(&folder->files, lookup, NULL, make_key(&key, key_text), &found);
	return found;
}

static void
files_are_looked_through_together(void **state)
{
	struct folder *folder = *state;
	struct xb_known_found found = look(folder, "nas", ED25519);

	assert_int_equal(found.verdict, XB_KNOWN_NONE);
	assert_null(found.file);
	write_file(folder->files.names[0], "# mine\nnas " ED25519_OTHER "\nnas " ECDSA "\n");
	found = look(folder, "nas", ED25519);
	assert_int_equal(found.verdict, XB_KNOWN_OTHER);
	assert_string_equal(found.file, folder->files.names[0]);
	assert_int_equal(found.line, 2);
	/* Match beats other, though it comes later. */
	write_file(folder->files.names[1], "\n\nnas " ED25519);
	found = look(folder, "nas", ED25519);
	assert_int_equal(found.verdict, XB_KNOWN_MATCH);
	assert_string_equal(found.file, folder->files.names[1]);
	assert_int_equal(found.line, 3);
}

static void
revoked_beats_match_wherever_it_stands(void **state)
{
	struct folder *folder = *state;
	struct xb_known_found found;

	write_file(folder->files.names[0], "nas " ED25519 "\n");
	write_file(folder->files.names[1], "box " ECDSA "\n@revoked * " ED25519 "\n");
	found = look(folder, "nas", ED25519);
	assert_int_equal(found.verdict, XB_KNOWN_REVOKED);
	assert_string_equal(found.file, folder->files.names[1]);
	assert_int_equal(found.line, 2);
}

static void
files_that_are_no_files_are_passed_over(void **state)
{
	struct folder *folder = *state;
	struct xb_namelist files = { .count = 0 };
	struct xb_known_found found;
	struct key key;

	write_file(folder->files.names[1], "nas " ED25519 "\n");
	assert_int_equal(mkfifo(folder->files.names[0], 0600), 0);
	xb_namelist_add_once(&files, folder->path);
	xb_namelist_add_once(&files, "/dev/zero");
	xb_namelist_add_once(&files, folder->files.names[0]);
	xb_namelist_add_once(&files, folder->files.names[1]);
	xb_known_hosts_lookup(&files, "nas", NULL, make_key(&key, ED25519), &found);
	assert_int_equal(found.verdict, XB_KNOWN_MATCH);
	xb_namelist_free(&files);
}

static void
known_types_are_listed_once_without_marked_lines(void **state)
{
	struct folder *folder = *state;
	struct xb_namelist types = { .count = 0 };

	write_file(folder->files.names[0],
	    "@revoked nas " ED25519 "\nnas " ECDSA "\n@cert-authority * " ED25519 "\n");
	xb_known_hosts_types(&folder->files, "nas", &types);
	assert_int_equal(types.count, 1);
	assert_string_equal(types.names[0], "ecdsa-sha2-nistp256");
	xb_namelist_free(&types);
	write_file(folder->files.names[1],
	    HASHED_NAS " " ED25519 "\nnas " ED25519_OTHER "\nbox " ED25519 "\n");
	xb_known_hosts_types(&folder->files, "nas", &types);
	assert_int_equal(types.count, 2);
	assert_string_equal(types.names[1], "ssh-ed25519");
	xb_namelist_free(&types);
}

static void
added_key_is_found_again(void **state)
{
	struct folder *folder = *state;
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct key key;
	struct stat st;

	make_key(&key, ED25519);
	/* After a line without an end. */
	write_file(folder->files.names[0], "box " ECDSA);
	assert_true(xb_known_hosts_add(folder->files.names[0], "[nas]:2222", &key.key, &err));
	assert_int_equal(look(folder, "[nas]:2222", ED25519).line, 2);
	assert_int_equal(look(folder, "box", ECDSA).verdict, XB_KNOWN_MATCH);
	make_key(&key, ECDSA);
	assert_true(xb_known_hosts_add(folder->files.names[1], "nas", &key.key, &err));
	assert_int_equal(look(folder, "nas", ECDSA).verdict, XB_KNOWN_MATCH);
	assert_int_equal(stat(folder->files.names[1], &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void
directory_of_a_new_file_is_made_private(void **state)
{
	struct folder *folder = *state;
	char *dir = xb_asprintf("%s/.ssh", folder->path);
	char *file = xb_asprintf("%s/known_hosts", dir);
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct key key;
	struct stat st;

	assert_true(xb_known_hosts_add(file, "nas", make_key(&key, ED25519), &err));
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(dir), 0);
	free(file);
	free(dir);
}

static void
key_that_cannot_be_added_names_the_file(void **state)
{
	static const char *const names[] = { "", "a b", "a,b", "*", "#a", "@revoked", "|1|", "!a",
		"a\nb" };
	struct folder *folder = *state;
	char *file = xb_asprintf("%s/no/such/known_hosts", folder->path);
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct key key;

	make_key(&key, ED25519);
	assert_false(xb_known_hosts_add(file, "nas", &key.key, &err));
	assert_int_equal(err.fault, XB_FAULT_SYSTEM);
	assert_non_null(strstr(err.text, file));
	assert_non_null(strstr(err.text, "No such file or directory"));
	free(file);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(xb_known_hosts_add(folder->files.names[0], names[i], &key.key, NULL));
	assert_int_equal(access(folder->files.names[0], F_OK), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(type_and_fingerprint_are_those_of_ssh_keygen),
		cmocka_unit_test(blob_that_is_no_key_has_no_type),
		cmocka_unit_test(plain_names_match_whole_and_in_any_case),
		cmocka_unit_test(hashed_names_match),
		cmocka_unit_test(broken_hashes_match_nothing),
		cmocka_unit_test(wildcards_match_and_negation_excludes),
		cmocka_unit_test(other_keys_are_told_from_other_types),
		cmocka_unit_test(address_is_a_second_name),
		cmocka_unit_test(markers_are_obeyed),
		cmocka_unit_test(lines_that_are_no_entries_say_nothing),
		cmocka_unit_test(lines_of_any_length_and_bytes_are_survived),
		cmocka_unit_test(lookup_name_has_a_port_only_when_it_is_not_22),
		cmocka_unit_test_setup_teardown(files_are_looked_through_together, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(revoked_beats_match_wherever_it_stands, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(files_that_are_no_files_are_passed_over, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(known_types_are_listed_once_without_marked_lines,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(added_key_is_found_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(directory_of_a_new_file_is_made_private, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(key_that_cannot_be_added_names_the_file, set_up,
		    tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
