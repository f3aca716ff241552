#include "target/revoked.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "target/known_hosts.h"

/* PROTOCOL.krl of OpenSSH: its 64-bit magic number. */
#define KRL_MAGIC "SSHKRL\n"

/* Larger than any host key. */
#define KEY_MAX 16384

static bool
refuse(const char *file, const struct xb_hostkey *key, const char *why, struct xb_err *err)
{
	char shown[160], fingerprint[64];

	xb_text_printable(shown, sizeof(shown), file, strlen(file));
	xb_hostkey_fingerprint(key, fingerprint, sizeof(fingerprint));
	return xb_fail(err, XB_FAULT_TARGET, "host key %s %s %s", fingerprint, why, shown);
}

/* True when a line is that very key. A list has no host names: with one in front, a line is read as
 * one of known_hosts. */
static bool
list_has(FILE *in, const struct xb_hostkey *key)
{
	char *line = NULL, *entry;
	size_t size = 0;
	bool found = false;

	while (!found && getline(&line, &size, in) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		entry = xb_asprintf("* %s", line);
		found = xb_known_hosts_line(entry, strlen(entry), "host", NULL, key, NULL, 0) ==
		    XB_KNOWN_MATCH;
		free(entry);
	}
	free(line);
	return found;
}

/* A descriptor to read the public key's line from; -1 when there is none to be had. */
static int
key_file(const struct xb_hostkey *key)
{
	unsigned char base64[KEY_MAX / 3 * 4 + 8];
	char type[64], *line;
	int fd = memfd_create("key", MFD_CLOEXEC);

	if (fd < 0 || key->len > KEY_MAX || !xb_hostkey_type(key, type, sizeof(type)))
		goto fail;
	EVP_EncodeBlock(base64, key->blob, (int)key->len);
	line = xb_asprintf("%s %s\n", type, (const char *)base64);
	if (xb_write_all(fd, line, strlen(line)) < 0 || lseek(fd, 0, SEEK_SET) != 0) {
		free(line);
		goto fail;
	}
	free(line);
	return fd;
fail:
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The program's exit status is 0 for a key that is not in the KRL, and 1 for one that is. */
static bool
check_krl(const char *file, const struct xb_hostkey *key, struct xb_err *err)
{
	const char *argv[] = { "ssh-keygen", "-Q", "-f", file, "/dev/stdin", NULL };
	struct xb_child_spec spec = { .argv = argv, .stdout_fd = -1, .stderr_fd = -1, .cpu = -1 };
	int status = -1;
	pid_t pid = -1;

	spec.stdin_fd = key_file(key);
	if (spec.stdin_fd >= 0) {
		pid = xb_child_spawn(&spec, err);
		close(spec.stdin_fd);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1)
		return refuse(file, key, "is REVOKED by", err);
	return refuse(file, key, "cannot be looked up by ssh-keygen in the revoked keys of", err);
}

bool
xb_revoked_check(const char *file, const struct xb_hostkey *key, struct xb_err *err)
{
	char magic[sizeof(KRL_MAGIC)] = "";
	FILE *in = fopen(file, "re");
	bool is_krl, found, failed;

	if (in == NULL)
		return refuse(file, key, "is not trusted without its list of revoked keys,", err);
	is_krl = fread(magic, 1, sizeof(magic), in) == sizeof(magic) &&
	    memcmp(magic, KRL_MAGIC, sizeof(magic)) == 0;
	rewind(in);
	found = !is_krl && list_has(in, key);
	failed = ferror(in) != 0;
	fclose(in);
	if (failed)
		return refuse(file, key, "is not trusted without its list of revoked keys,", err);
	if (is_krl)
		return check_krl(file, key, err);
	return !found || refuse(file, key, "is REVOKED by", err);
}
