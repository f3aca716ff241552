#include "target/known_hosts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/namelist.h"

#define SSH_PORT 22

/* A key is a few kilobytes at most (RSA of 16384 bits: 2.1 kB); a longer one is not believed. */
#define BASE64_MAX 16384

/* OpenSSH's bound: a longer pattern matches nothing. */
#define PATTERN_MAX 1023

/* What hashed names begin with; salt and hash, both of SHA-1's size, follow in base64. */
#define HASH_MAGIC "|1|"
#define HASH_BYTES 20

enum marker { MARKER_NONE, MARKER_REVOKED, MARKER_CA, MARKER_UNKNOWN };

/* A part of a line. */
struct span {
	const char *at;
	size_t len;
};

/* A line taken apart; the spans lie in the line. */
struct entry {
	enum marker marker;
	struct span names;
	struct span type;
	struct span key; /* base64 */
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool
span_is(const struct span *span, const char *text)
{
	return span->len == strlen(text) && memcmp(span->at, text, span->len) == 0;
}

static struct span
take_word(struct span *rest)
{
	struct span word;

	while (rest->len > 0 && is_blank(*rest->at)) {
		rest->at++;
		rest->len--;
	}
	word = (struct span){ rest->at, 0 };
	while (rest->len > 0 && !is_blank(*rest->at)) {
		rest->at++;
		rest->len--;
		word.len++;
	}
	return word;
}

/* False for comments, empty lines, lines of SSH 1 and all else that cannot be an entry. */
static bool
parse_entry(const char *line, size_t len, struct entry *entry)
{
	struct span rest = { line, len };

	while (rest.len > 0 && (rest.at[rest.len - 1] == '\n' || rest.at[rest.len - 1] == '\r'))
		rest.len--;
	*entry = (struct entry){ .marker = MARKER_NONE };
	entry->names = take_word(&rest);
	if (entry->names.len == 0 || entry->names.at[0] == '#')
		return false;
	if (entry->names.at[0] == '@') {
		entry->marker = MARKER_UNKNOWN;
		if (span_is(&entry->names, "@revoked"))
			entry->marker = MARKER_REVOKED;
		else if (span_is(&entry->names, "@cert-authority"))
			entry->marker = MARKER_CA;
		entry->names = take_word(&rest);
	}
	entry->type = take_word(&rest);
	entry->key = take_word(&rest);
	return entry->marker != MARKER_UNKNOWN && entry->names.len > 0 && entry->key.len > 0;
}

/*
 * Decodes exact base64, padded, without blanks; fresh, or NULL. EVP_DecodeBlock lets some trash
 * through and counts the padding as bytes, so both are seen to here.
 */
static unsigned char *
decode_base64(const struct span *text, size_t *len)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t padding = 0;
	unsigned char *out;

	if (text->len == 0 || text->len % 4 != 0 || text->len > BASE64_MAX)
		return NULL;
	while (padding < 2 && text->at[text->len - 1 - padding] == '=')
		padding++;
	for (size_t i = 0; i < text->len - padding; i++) {
		if (memchr(letters, text->at[i], sizeof(letters) - 1) == NULL)
			return NULL;
	}
	out = xb_calloc(text->len / 4, 3);
	if (EVP_DecodeBlock(out, (const unsigned char *)text->at, (int)text->len) < 0) {
		free(out);
		return NULL;
	}
	*len = text->len / 4 * 3 - padding;
	return out;
}

/* "|1|SALT|HASH": the hash is HMAC-SHA1 of the name with the salt as its key. */
static bool
matches_hashed(const struct span *names, const char *name)
{
	struct span salt = { names->at + strlen(HASH_MAGIC), 0 };
	struct span hash;
	unsigned char *salt_bytes = NULL, *hash_bytes = NULL;
	unsigned char made[EVP_MAX_MD_SIZE];
	unsigned int made_len = 0;
	size_t salt_len = 0, hash_len = 0;
	bool same = false;
	const char *bar = memchr(salt.at, '|', names->len - strlen(HASH_MAGIC));

	if (bar == NULL)
		return false;
	salt.len = (size_t)(bar - salt.at);
	hash = (struct span){ bar + 1, (size_t)(names->at + names->len - bar - 1) };
	salt_bytes = decode_base64(&salt, &salt_len);
	hash_bytes = decode_base64(&hash, &hash_len);
	if (salt_bytes == NULL || hash_bytes == NULL || salt_len != HASH_BYTES ||
	    hash_len != HASH_BYTES)
		goto out;
	if (HMAC(EVP_sha1(), salt_bytes, HASH_BYTES, (const unsigned char *)name, strlen(name),
		made, &made_len) == NULL)
		goto out;
	same = made_len == HASH_BYTES && memcmp(made, hash_bytes, HASH_BYTES) == 0;
out:
	free(salt_bytes);
	free(hash_bytes);
	return same;
}

static bool
matches_pattern(const struct span *pattern, const char *name)
{
	char lower[PATTERN_MAX + 1];

	if (pattern->len > PATTERN_MAX || memchr(pattern->at, '\0', pattern->len) != NULL)
		return false;
	for (size_t i = 0; i < pattern->len; i++)
		lower[i] = (char)tolower((unsigned char)pattern->at[i]);
	lower[pattern->len] = '\0';
	return xb_text_glob(lower, name);
}

/* A list of patterns matches when one does and no negated one does. */
static bool
matches_names(struct span names, const char *name)
{
	struct span part;
	const char *comma;
	bool found = false, negated;

	if (names.len > strlen(HASH_MAGIC) && memcmp(names.at, HASH_MAGIC, strlen(HASH_MAGIC)) == 0)
		return matches_hashed(&names, name);
	while (names.len > 0) {
		comma = memchr(names.at, ',', names.len);
		part = (struct span){ names.at,
			comma != NULL ? (size_t)(comma - names.at) : names.len };
		names.at += part.len + (comma != NULL);
		names.len -= part.len + (comma != NULL);
		negated = part.len > 0 && part.at[0] == '!';
		if (negated) {
			part.at++;
			part.len--;
		}
		if (part.len == 0 || !matches_pattern(&part, name))
			continue;
		if (negated)
			return false;
		found = true;
	}
	return found;
}

bool
xb_hostkey_type(const struct xb_hostkey *key, char *out, size_t size)
{
	const unsigned char *blob = key->blob;
	size_t len;

	if (size > 0)
		out[0] = '\0';
	if (blob == NULL || key->len < 4)
		return false;
	len = (size_t)blob[0] << 24 | (size_t)blob[1] << 16 | (size_t)blob[2] << 8 | blob[3];
	if (len == 0 || len > key->len - 4 || len >= size)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isgraph(blob[4 + i]) || blob[4 + i] >= 0x7f)
			return false;
	}
	memcpy(out, blob + 4, len);
	out[len] = '\0';
	return true;
}

void
xb_hostkey_fingerprint(const struct xb_hostkey *key, char *out, size_t size)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned char text[EVP_MAX_MD_SIZE * 2];
	unsigned int len = 0;

	if (EVP_Digest(key->blob, key->len, digest, &len, EVP_sha256(), NULL) != 1)
		len = 0;
	EVP_EncodeBlock(text, digest, (int)len);
	text[strcspn((char *)text, "=")] = '\0';
	snprintf(out, size, "SHA256:%s", (char *)text);
}

enum xb_known_verdict
xb_known_hosts_line(const char *line, size_t len, const char *lookup, const char *address,
    const struct xb_hostkey *key, char *type, size_t type_size)
{
	struct entry entry;
	struct xb_hostkey known = { NULL, 0 };
	unsigned char *blob;
	enum xb_known_verdict verdict = XB_KNOWN_NONE;
	char known_type[64], key_type[64];
	bool same;

	if (type != NULL && type_size > 0)
		type[0] = '\0';
	if (!parse_entry(line, len, &entry) ||
	    (!matches_names(entry.names, lookup) &&
		(address == NULL || !matches_names(entry.names, address))))
		return XB_KNOWN_NONE;
	blob = decode_base64(&entry.key, &known.len);
	known.blob = blob;
	/* A key that does not begin with the type that the line names is no key at all. */
	if (!xb_hostkey_type(&known, known_type, sizeof(known_type)) ||
	    !span_is(&entry.type, known_type))
		goto out;
	if (type != NULL)
		snprintf(type, type_size, "%s", known_type);
	same = known.len == key->len && memcmp(known.blob, key->blob, key->len) == 0;
	if (entry.marker == MARKER_CA)
		verdict = XB_KNOWN_CA;
	else if (entry.marker == MARKER_REVOKED)
		verdict = same ? XB_KNOWN_REVOKED : XB_KNOWN_NONE;
	else if (same)
		verdict = XB_KNOWN_MATCH;
	else if (xb_hostkey_type(key, key_type, sizeof(key_type)) &&
	    strcmp(known_type, key_type) == 0)
		verdict = XB_KNOWN_OTHER;
	else
		verdict = XB_KNOWN_TYPE;
out:
	free(blob);
	return verdict;
}

char *
xb_known_hosts_name(const char *host, unsigned port)
{
	char *name = port == SSH_PORT ? xb_strdup(host) : xb_asprintf("[%s]:%u", host, port);

	for (char *c = name; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	return name;
}

/* A file being read line by line. */
struct lines {
	FILE *file;
	char *line;
	size_t size;
	ssize_t len;
	unsigned number;
};

/* Anything but a regular file could block or never end. */
static bool
lines_open(struct lines *lines, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*lines = (struct lines){ .file = NULL };
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		lines->file = fdopen(fd, "r");
	if (lines->file == NULL)
		close(fd);
	return lines->file != NULL;
}

static bool
lines_next(struct lines *lines)
{
	lines->len = getline(&lines->line, &lines->size, lines->file);
	lines->number++;
	return lines->len >= 0;
}

static void
lines_close(struct lines *lines)
{
	free(lines->line);
	fclose(lines->file);
}

/* Which of two verdicts says more; the larger one decides. */
static int
weight(enum xb_known_verdict verdict)
{
	static const int weights[] = {
		[XB_KNOWN_NONE] = 0,
		[XB_KNOWN_CA] = 1,
		[XB_KNOWN_TYPE] = 2,
		[XB_KNOWN_OTHER] = 3,
		[XB_KNOWN_MATCH] = 4,
		[XB_KNOWN_REVOKED] = 5,
	};

	return weights[verdict];
}

void
xb_known_hosts_lookup(const struct xb_namelist *files, const char *lookup, const char *address,
    const struct xb_hostkey *key, struct xb_known_found *found)
{
	struct lines lines;
	enum xb_known_verdict verdict;

	*found = (struct xb_known_found){ .verdict = XB_KNOWN_NONE };
	for (size_t i = 0; i < files->count; i++) {
		if (!lines_open(&lines, files->names[i]))
			continue;
		while (lines_next(&lines)) {
			verdict = xb_known_hosts_line(lines.line, (size_t)lines.len, lookup,
			    address, key, NULL, 0);
			if (weight(verdict) <= weight(found->verdict))
				continue;
			*found = (struct xb_known_found){
				.verdict = verdict,
				.file = files->names[i],
				.line = lines.number,
			};
		}
		lines_close(&lines);
	}
}

void
xb_known_hosts_types(const struct xb_namelist *files, const char *lookup, struct xb_namelist *types)
{
	/* Not a key: every key of the host is another one. */
	const struct xb_hostkey none = { "", 0 };
	struct lines lines;
	enum xb_known_verdict verdict;
	char type[64];

	for (size_t i = 0; i < files->count; i++) {
		if (!lines_open(&lines, files->names[i]))
			continue;
		while (lines_next(&lines)) {
			verdict = xb_known_hosts_line(lines.line, (size_t)lines.len, lookup, NULL,
			    &none, type, sizeof(type));
			if (verdict == XB_KNOWN_TYPE)
				xb_namelist_add_once(types, type);
		}
		lines_close(&lines);
	}
}

/* A name that a line can hold as it is: no separator, no pattern, no marker or comment. */
static bool
is_plain_name(const char *lookup)
{
	for (const char *c = lookup; *c != '\0'; c++) {
		if (!isgraph((unsigned char)*c) || strchr(",*?!#|@", *c) != NULL)
			return false;
	}
	return lookup[0] != '\0';
}

static void
make_parent(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *dir;

	if (slash == NULL || slash == file)
		return;
	dir = xb_strndup(file, (size_t)(slash - file));
	/* Whether it worked is seen when the file is opened. */
	(void)mkdir(dir, 0700);
	free(dir);
}

/* "NAME TYPE KEY\n", fresh. */
static char *
format_line(const char *lookup, const char *type, const struct xb_hostkey *key)
{
	unsigned char *text = xb_calloc(key->len / 3 + 2, 4);
	char *line;

	EVP_EncodeBlock(text, key->blob, (int)key->len);
	line = xb_asprintf("%s %s %s\n", lookup, type, (char *)text);
	free(text);
	return line;
}

/* Writes the line at the end of the file, on a line of its own. Returns -1 with errno. */
static int
append_line(int fd, const char *line)
{
	struct stat st;
	char last = '\n';

	if (fstat(fd, &st) != 0 || (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) < 0))
		return -1;
	if (last != '\n' && xb_write_all(fd, "\n", 1) < 0)
		return -1;
	return xb_write_all(fd, line, strlen(line)) < 0 ? -1 : 0;
}

bool
xb_known_hosts_add(const char *file, const char *lookup, const struct xb_hostkey *key,
    struct xb_err *err)
{
	char shown[200], type[64];
	char *line;
	int fd, error;
	bool ok;

	xb_text_printable(shown, sizeof(shown), file, strlen(file));
	if (!is_plain_name(lookup) || key->len > (size_t)BASE64_MAX / 4 * 3 ||
	    !xb_hostkey_type(key, type, sizeof(type)))
		return xb_fail(err, XB_FAULT_SYSTEM,
		    "%s cannot hold this host name and key; add them by hand", shown);
	make_parent(file);
	fd = open(file, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd < 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write the host key into %s",
		    shown);
	line = format_line(lookup, type, key);
	ok = append_line(fd, line) == 0;
	error = errno;
	if (close(fd) != 0 && ok) {
		ok = false;
		error = errno;
	}
	free(line);
	errno = error;
	if (!ok)
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write the host key into %s", shown);
	return ok;
}
