#include "ssh_peer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <libssh2.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "bench/primitive.h"
#include "fake_server.h"
#include "scratch.h"

#define ARGS_MAX 40

int
ssh_peer_set_up_group(void **state)
{
	/* Before libssh2 makes its first session; what is missing then is told by the tests. */
	xb_primitive_load_legacy();
	assert_int_equal(libssh2_init(0), 0);
	return fake_server_set_up_group(state);
}

static bool
is_installed(const char *program)
{
	char *found = xb_child_find_program(program);

	free(found);
	return found != NULL;
}

/* True when a program ends with status 0 and says nothing. */
static bool
runs_quietly(const char *const *argv)
{
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char out[4096];
	int status = 0;

	return xb_child_capture(argv, HANG_NS, out, sizeof(out), &status, &err) && status == 0 &&
	    out[0] == '\0';
}

const char *
ssh_peer_absent(const struct xb_private_kind *kind)
{
	const char *const import[] = { "/usr/bin/python3", "-W", "ignore", "-c", "import asyncssh",
		NULL };
	const char *const wrap[] = { "env", "LD_PRELOAD=libnss_wrapper.so", "true", NULL };

	if (!is_installed("ssh") || !is_installed("ssh-keygen"))
		return "no ssh is installed";
	if (!is_installed(kind->program))
		return kind->missing;
	if (kind == &xb_private_asyncssh && !runs_quietly(import))
		return "python3-asyncssh is not installed";
	if (kind == &xb_private_dropbear && !runs_quietly(wrap))
		return "libnss-wrapper is not installed";
	return NULL;
}

static struct xb_private_options
complete(const struct xb_private_options *options, const struct xb_rundir *dir)
{
	struct xb_private_options all = { .dir = NULL };

	if (options != NULL)
		all = *options;
	all.dir = dir;
	all.server_cpu = -1;
	return all;
}

struct ssh_peer
ssh_peer_start(const struct xb_private_kind *kind, const struct xb_private_options *options)
{
	struct ssh_peer peer = { .kind = kind, .dir = scratch_new_run() };
	const struct xb_private_options all = complete(options, peer.dir);
	struct xb_err err = { .fault = XB_FAULT_NONE };

	peer.server = xb_private_new(kind, &all, &err);
	assert_string_equal(err.text, "");
	assert_non_null(peer.server);
	peer.login = xb_private_login(peer.server);
	return peer;
}

void
ssh_peer_stop(struct ssh_peer *peer)
{
	xb_private_free(peer->server);
	assert_int_equal(count_descendants(), 0);
	xb_rundir_free(peer->dir);
	assert_int_equal(scratch_count(), 0);
}

struct xb_err
ssh_peer_refusal(const struct xb_private_kind *kind, const struct xb_private_options *options)
{
	struct xb_rundir *dir = scratch_new_run();
	const struct xb_private_options all = complete(options, dir);
	struct xb_err err = { .fault = XB_FAULT_NONE };

	assert_null(xb_private_new(kind, &all, &err));
	assert_int_equal(count_descendants(), 0);
	xb_rundir_free(dir);
	return err;
}

int
ssh_peer_program(const struct ssh_peer *peer, const char *program, const char *const *options,
    const char *const *rest, char *out, size_t size)
{
	char *known = xb_asprintf("UserKnownHostsFile=\"%s\"", peer->login->known_hosts);
	char *port = xb_asprintf("Port=%u", peer->login->port);
	char *user = xb_asprintf("User=%s", peer->login->user);
	const char *const common[] = { "-F", "none", "-o", known, "-o", "GlobalKnownHostsFile=none",
		"-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes", "-o",
		"IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", port, "-o", user, "-i",
		peer->login->identity, NULL };
	const char *const *const parts[] = { options, common, rest };
	const char *argv[ARGS_MAX] = { program };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	size_t count = 1;
	int status;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (const char *const *part = parts[i]; part != NULL && *part != NULL; part++) {
			assert_true(count < ARGS_MAX - 1);
			argv[count++] = *part;
		}
	assert_true(xb_child_capture(argv, HANG_NS, out, size, &status, &err));
	free(user);
	free(port);
	free(known);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

int
ssh_peer_ssh(const struct ssh_peer *peer, const char *const *options, const char *command,
    char *out, size_t size)
{
	const char *const rest[] = { "127.0.0.1", command, NULL };

	return ssh_peer_program(peer, "ssh", options, rest, out, size);
}

static int
connect_to(const struct ssh_peer *peer)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((in_port_t)peer->login->port),
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* The key that the server showed must be in its known_hosts file. */
static void
check_hostkey(const struct ssh_peer *peer, LIBSSH2_SESSION *session)
{
	LIBSSH2_KNOWNHOSTS *known = libssh2_knownhost_init(session);
	const char *key;
	size_t len;
	int type;

	assert_non_null(known);
	assert_true(libssh2_knownhost_readfile(known, peer->login->known_hosts,
			LIBSSH2_KNOWNHOST_FILE_OPENSSH) > 0);
	key = libssh2_session_hostkey(session, &len, &type);
	assert_non_null(key);
	assert_int_equal(libssh2_knownhost_checkp(known, "127.0.0.1", (int)peer->login->port, key,
			     len, LIBSSH2_KNOWNHOST_TYPE_PLAIN | LIBSSH2_KNOWNHOST_KEYENC_RAW,
			     NULL),
	    LIBSSH2_KNOWNHOST_CHECK_MATCH);
	libssh2_knownhost_free(known);
}

/* A session that is logged in. */
static LIBSSH2_SESSION *
log_in(const struct ssh_peer *peer, int fd, const char *cipher, const char *mac)
{
	LIBSSH2_SESSION *session = libssh2_session_init();

	assert_non_null(session);
	libssh2_session_set_timeout(session, (long)(HANG_NS / XB_NS_PER_MS));
	/* Else libssh2 asks for types that known_hosts has nothing of. */
	libssh2_session_method_pref(session, LIBSSH2_METHOD_HOSTKEY,
	    "ssh-ed25519,ecdsa-sha2-nistp256");
	if (cipher != NULL)
		assert_int_equal(libssh2_session_method_pref(session, LIBSSH2_METHOD_CRYPT_CS,
				     cipher),
		    0);
	if (mac != NULL)
		assert_int_equal(libssh2_session_method_pref(session, LIBSSH2_METHOD_MAC_CS, mac),
		    0);
	assert_int_equal(libssh2_session_handshake(session, fd), 0);
	check_hostkey(peer, session);
	assert_int_equal(libssh2_userauth_publickey_fromfile(session, peer->login->user, NULL,
			     peer->login->identity, NULL),
	    0);
	return session;
}

static void
send_zeros(LIBSSH2_CHANNEL *channel, size_t bytes)
{
	const size_t block_len = 32768;
	char *block = xb_calloc(block_len, 1);
	ssize_t put;

	while (bytes > 0) {
		put = libssh2_channel_write(channel, block, bytes < block_len ? bytes : block_len);
		assert_true(put > 0);
		bytes -= (size_t)put;
	}
	free(block);
	assert_int_equal(libssh2_channel_send_eof(channel), 0);
}

struct ssh_peer_stream
ssh_peer_send(const struct ssh_peer *peer, const char *cipher, const char *mac, const char *sink,
    size_t bytes)
{
	const int fd = connect_to(peer);
	LIBSSH2_SESSION *session = log_in(peer, fd, cipher, mac);
	LIBSSH2_CHANNEL *channel = libssh2_channel_open_session(session);
	struct ssh_peer_stream stream = { .counted = 0 };
	char said[64] = "";
	size_t used = 0;
	ssize_t got;

	snprintf(stream.cipher, sizeof(stream.cipher), "%s",
	    libssh2_session_methods(session, LIBSSH2_METHOD_CRYPT_CS));
	snprintf(stream.hostkey, sizeof(stream.hostkey), "%s",
	    libssh2_session_methods(session, LIBSSH2_METHOD_HOSTKEY));
	assert_non_null(channel);
	libssh2_channel_window_write_ex(channel, &stream.window);
	assert_int_equal(libssh2_channel_exec(channel, sink != NULL ? sink : "wc -c"), 0);
	send_zeros(channel, bytes);
	while (used < sizeof(said) - 1 &&
	    (got = libssh2_channel_read(channel, said + used, sizeof(said) - 1 - used)) > 0)
		used += (size_t)got;
	stream.counted = strtoull(said, NULL, 10);
	libssh2_channel_free(channel);
	libssh2_session_disconnect(session, "done");
	libssh2_session_free(session);
	close(fd);
	return stream;
}

void
ssh_peer_abandon(const struct ssh_peer *peer, const char *command)
{
	const int fd = connect_to(peer);
	LIBSSH2_SESSION *session = log_in(peer, fd, NULL, NULL);
	LIBSSH2_CHANNEL *channel = libssh2_channel_open_session(session);

	assert_non_null(channel);
	assert_int_equal(libssh2_channel_exec(channel, command), 0);
	assert_int_equal(shutdown(fd, SHUT_RDWR), 0);
	libssh2_session_free(session);
	close(fd);
}

struct xb_private_usage
ssh_peer_drain(const struct ssh_peer *peer)
{
	struct xb_private_usage usage;

	assert_true(xb_private_drain(peer->server, HANG_NS, &usage));
	return usage;
}
