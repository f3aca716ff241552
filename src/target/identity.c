#include "target/identity.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/mem.h"
#include "target/known_hosts.h"

/* More than the largest key that anybody uses (RSA of 16384 bits, PEM: 13 kB). */
#define FILE_MAX_BYTES 65536

/* Enough to hold all that stands before the secret part and the name of the key type: OpenSSH's
 * PROTOCOL.key puts magic, cipher, key derivation and its options (43 to 90 bytes) there. */
#define HEAD_BASE64 512
#define HEAD_BYTES (HEAD_BASE64 / 4 * 3)

#define OPENSSH_MAGIC "openssh-key-v1"

/* What the first line of a private key file can be. */
static const struct container {
	const char *begin;
	const char *type; /* NULL: it does not tell */
	enum { PLAIN, ENCRYPTED, BY_HEADER, OPENSSH } protection;
} containers[] = {
	{ .begin = "-----BEGIN OPENSSH PRIVATE KEY-----", .type = NULL, .protection = OPENSSH },
	{ .begin = "-----BEGIN RSA PRIVATE KEY-----", .type = "ssh-rsa", .protection = BY_HEADER },
	{ .begin = "-----BEGIN DSA PRIVATE KEY-----", .type = "ssh-dss", .protection = BY_HEADER },
	{ .begin = "-----BEGIN EC PRIVATE KEY-----", .type = NULL, .protection = BY_HEADER },
	{ .begin = "-----BEGIN PRIVATE KEY-----", .type = NULL, .protection = PLAIN },
	{ .begin = "-----BEGIN ENCRYPTED PRIVATE KEY-----", .type = NULL, .protection = ENCRYPTED },
};

/* Reads a regular file into a fresh, terminated buffer; NULL when there is none to read. */
static char *
read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *bytes = NULL;
	ssize_t got;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		goto out;
	bytes = xb_calloc(FILE_MAX_BYTES + 1, 1);
	got = xb_read_all(fd, bytes, FILE_MAX_BYTES);
	*len = got > 0 ? (size_t)got : 0;
	if (got < 0) {
		free(bytes);
		bytes = NULL;
	}
out:
	close(fd);
	return bytes;
}

/*
 * Decodes what base64 there is at the beginning of the text, line ends passed over, up to
 * HEAD_BYTES. Returns how many bytes came out.
 */
static size_t
decode_head(const char *text, unsigned char out[HEAD_BYTES])
{
	unsigned char letters[HEAD_BASE64] = { 0 };
	size_t count = 0, padding = 0;

	for (; *text != '\0' && count < sizeof(letters); text++) {
		if (*text == '\n' || *text == '\r')
			continue;
		if (strchr("=+/", *text) == NULL &&
		    !((*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z') ||
			(*text >= '0' && *text <= '9')))
			break;
		letters[count++] = (unsigned char)*text;
	}
	count -= count % 4;
	while (padding < 2 && padding < count && letters[count - 1 - padding] == '=')
		padding++;
	if (count == 0 || EVP_DecodeBlock(out, letters, (int)count) < 0)
		count = 0;
	OPENSSL_cleanse(letters, sizeof(letters));
	return count / 4 * 3 - (count > 0 ? padding : 0);
}

/* The bytes not yet looked at of an OpenSSH key. */
struct reader {
	const unsigned char *at;
	size_t left;
};

/* A string in SSH's format: its length in four bytes, then itself. */
static bool
take_string(struct reader *from, struct reader *string)
{
	size_t len;

	if (from->left < 4)
		return false;
	len = (size_t)from->at[0] << 24 | (size_t)from->at[1] << 16 | (size_t)from->at[2] << 8 |
	    from->at[3];
	if (len > from->left - 4)
		return false;
	*string = (struct reader){ from->at + 4, len };
	from->at += 4 + len;
	from->left -= 4 + len;
	return true;
}

/* PROTOCOL.key of OpenSSH: magic, cipher, kdf, kdf options, number of keys, first public key. */
static void
inspect_openssh(const char *base64, struct xb_identity *identity)
{
	unsigned char head[HEAD_BYTES];
	struct reader from = { head, decode_head(base64, head) };
	struct reader cipher, skipped;
	struct xb_hostkey public_key;

	if (from.left < sizeof(OPENSSH_MAGIC) ||
	    memcmp(head, OPENSSH_MAGIC, sizeof(OPENSSH_MAGIC)) != 0)
		goto out;
	from.at += sizeof(OPENSSH_MAGIC);
	from.left -= sizeof(OPENSSH_MAGIC);
	if (!take_string(&from, &cipher) || !take_string(&from, &skipped) ||
	    !take_string(&from, &skipped) || from.left < 4 + 4)
		goto out;
	identity->is_key = true;
	identity->encrypted = cipher.left != strlen("none") || memcmp(cipher.at, "none", 4) != 0;
	/* The public key's own length may reach beyond the head; its first string does not. */
	public_key = (struct xb_hostkey){ from.at + 8, from.left - 8 };
	xb_hostkey_type(&public_key, identity->type, sizeof(identity->type));
out:
	OPENSSL_cleanse(head, sizeof(head));
}

static void
inspect_private(const char *text, struct xb_identity *identity)
{
	const struct container *container = NULL;
	const char *begin = strstr(text, "-----BEGIN ");

	for (size_t i = 0; begin != NULL && i < sizeof(containers) / sizeof(containers[0]); i++) {
		if (strncmp(begin, containers[i].begin, strlen(containers[i].begin)) == 0)
			container = &containers[i];
	}
	if (container == NULL)
		return;
	begin += strlen(container->begin);
	if (container->protection == OPENSSH) {
		inspect_openssh(begin, identity);
		return;
	}
	identity->is_key = true;
	/* RFC 1421 section 4.6.1.1, as OpenSSL writes it. */
	identity->encrypted = container->protection == ENCRYPTED ||
	    (container->protection == BY_HEADER && strstr(begin, "Proc-Type: 4,ENCRYPTED") != NULL);
	if (container->type != NULL)
		snprintf(identity->type, sizeof(identity->type), "%s", container->type);
}

/* "TYPE BASE64 …": believed when the key itself begins with the same type. */
static void
inspect_public(const char *path, struct xb_identity *identity)
{
	char *name = xb_asprintf("%s.pub", path);
	unsigned char head[HEAD_BYTES];
	struct xb_hostkey key = { head, 0 };
	size_t len = 0, type_len;
	char *text = read_file(name, &len);

	if (text == NULL)
		goto out;
	type_len = strcspn(text, " \t\r\n");
	if (text[type_len] != ' ' && text[type_len] != '\t')
		goto out;
	key.len = decode_head(text + type_len + 1, head);
	if (!xb_hostkey_type(&key, identity->type, sizeof(identity->type)) ||
	    strlen(identity->type) != type_len || memcmp(identity->type, text, type_len) != 0)
		identity->type[0] = '\0';
out:
	free(text);
	free(name);
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

void
xb_identity_inspect(const char *path, struct xb_identity *identity)
{
	size_t len = 0;
	char *text = read_file(path, &len);
	char *cert;

	*identity = (struct xb_identity){ .exists = text != NULL };
	if (text == NULL)
		return;
	inspect_private(text, identity);
	OPENSSL_cleanse(text, len);
	free(text);
	if (identity->is_key && identity->type[0] == '\0')
		inspect_public(path, identity);
	cert = xb_asprintf("%s-cert.pub", path);
	identity->has_cert = is_file(cert);
	free(cert);
}

void
xb_identity_defaults(const char *home, struct xb_namelist *files)
{
	static const char *const names[] = { "id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519",
		"id_ed25519_sk" };
	const struct passwd *pw = home == NULL ? getpwuid(geteuid()) : NULL;
	char *path;

	if (pw != NULL)
		home = pw->pw_dir;
	for (size_t i = 0; home != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		path = xb_asprintf("%s/.ssh/%s", home, names[i]);
		if (is_file(path))
			xb_namelist_add(files, path, strlen(path));
		free(path);
	}
}
