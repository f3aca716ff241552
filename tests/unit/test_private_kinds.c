#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/rundir.h"
#include "fake_server.h"
#include "scratch.h"
#include "ssh_peer.h"
#include "target/private.h"

/*
 * What holds for every kind of private server: each test goes over all that are installed. They serve at
 * once, from one run directory, as in a run.
 */

struct fleet {
	struct xb_rundir *dir;
	size_t count;
	struct ssh_peer peers[8];
	char *home_before; /* what look_at_home saw */
};

#define ODD_NAME "it's $HOME; \xc3\xbc\xff"

#define STREAM_BYTES 3000000

/* One line for what lies in ~/.ssh, times of changes among it. */
static char *
look_at_home(void)
{
	const struct passwd *pw = getpwuid(geteuid());
	char *path = xb_asprintf("%s/.ssh", pw->pw_dir);
	char *text;
	size_t size;
	FILE *out = xb_memstream(&text, &size);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	struct stat st;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, "..") == 0 ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		fprintf(out, "%s %lld.%09ld; ", entry->d_name, (long long)st.st_mtim.tv_sec,
		    st.st_mtim.tv_nsec);
	}
	if (dir != NULL)
		closedir(dir);
	xb_memstream_close(out);
	free(path);
	return text;
}

static int
start_all(void **state)
{
	struct fleet *fleet = xb_calloc(1, sizeof(*fleet));
	struct xb_private_options options = { .server_cpu = -1 };
	struct xb_err err = { .fault = XB_FAULT_NONE };
	struct ssh_peer *peer;
	mode_t mask;

	if (ssh_peer_set_up_group(state) != 0 || scratch_set_up(state) != 0)
		return -1;
	fleet->home_before = look_at_home();
	/* Neither of these may get to them, nor loosen their files. */
	setenv("XB_SECRET", "tell nobody", 1);
	mask = umask(0);
	/* What a path may hold, none of which is a server's to interpret. */
	scratch_make_dir(scratch_path(ODD_NAME), 0700);
	setenv("TMPDIR", scratch_path(ODD_NAME), 1);
	fleet->dir = scratch_new_run();
	setenv("TMPDIR", scratch_dir(), 1);
	options.dir = fleet->dir;
	for (size_t i = 0; xb_private_servers[i] != NULL; i++) {
		if (ssh_peer_absent(xb_private_servers[i]) != NULL)
			continue;
		peer = &fleet->peers[fleet->count++];
		peer->kind = xb_private_servers[i];
		peer->dir = fleet->dir;
		peer->server = xb_private_new(peer->kind, &options, &err);
		if (peer->server == NULL) {
			printf("# %s: %s\n", peer->kind->name, err.text);
			return -1;
		}
		peer->login = xb_private_login(peer->server);
	}
	umask(mask);
	unsetenv("XB_SECRET");
	*state = fleet;
	return 0;
}

static int
stop_all(void **state)
{
	struct fleet *fleet = *state;
	bool clean;

	for (size_t i = 0; i < fleet->count; i++)
		xb_private_free(fleet->peers[i].server);
	xb_rundir_free(fleet->dir);
	clean = count_descendants() == 0 && rmdir(scratch_path(ODD_NAME)) == 0;
	free(fleet->home_before);
	free(fleet);
	return scratch_tear_down(state) == 0 && clean ? 0 : -1;
}

/* The loop of a test. Which one fails is not seen from where it fails, so it is printed. */
static struct ssh_peer *
next_peer(struct fleet *fleet, size_t i)
{
	if (i >= fleet->count)
		return NULL;
	printf("# %s\n", fleet->peers[i].kind->name);
	ssh_peer_drain(&fleet->peers[i]);
	return &fleet->peers[i];
}

#define FOR_EACH(peer, state) for (size_t i_ = 0; ((peer) = next_peer(*(state), i_)) != NULL; i_++)

static void
every_kind_is_found_by_its_name(void **state)
{
	(void)state;
	assert_ptr_equal(xb_private_find("openssh"), &xb_private_openssh);
	assert_ptr_equal(xb_private_find("dropbear"), &xb_private_dropbear);
	assert_ptr_equal(xb_private_find("asyncssh"), &xb_private_asyncssh);
	assert_null(xb_private_find("tinyssh"));
	for (size_t i = 0; xb_private_servers[i] != NULL; i++) {
		assert_non_null(xb_private_servers[i]->program);
		assert_non_null(strstr(xb_private_servers[i]->missing, "install "));
		assert_non_null(xb_private_servers[i]->prepare);
	}
}

static void
ssh_and_libssh2_log_in_and_stream(void **state)
{
	const struct ssh_peer *peer;
	char out[4096];

	FOR_EACH(peer, state)
	{
		struct xb_private_usage usage;

		assert_int_equal(ssh_peer_ssh(peer, NULL, "echo out; echo err >&2; exit 7", out,
				     sizeof(out)),
		    7);
		assert_non_null(strstr(out, "out\n"));
		assert_non_null(strstr(out, "err\n"));
		assert_int_equal(ssh_peer_drain(peer).started, 1);
		assert_int_equal(
		    ssh_peer_send(peer, "aes128-ctr", "hmac-sha2-256", NULL, STREAM_BYTES).counted,
		    STREAM_BYTES);
		usage = ssh_peer_drain(peer);
		assert_int_equal(usage.started, 1);
		assert_true(usage.cpu_ns > 0);
		assert_false(usage.killed);
		/* Nothing went wrong, so there is nothing to tell. */
		assert_string_equal(usage.log, "");
	}
}

static void
cpu_time_of_the_sink_is_counted(void **state)
{
	const struct ssh_peer *peer;
	static const char burn[] = "i=0; while [ $i -lt 800000 ]; do i=$((i+1)); done";
	char out[4096];

	FOR_EACH(peer, state)
	{
		int64_t idle_ns;

		assert_int_equal(ssh_peer_ssh(peer, NULL, "true", out, sizeof(out)), 0);
		idle_ns = ssh_peer_drain(peer).cpu_ns;
		assert_int_equal(ssh_peer_ssh(peer, NULL, burn, out, sizeof(out)), 0);
		/* To start Python for a connection takes less than that loop. */
		assert_true(ssh_peer_drain(peer).cpu_ns > idle_ns + idle_ns / 3);
	}
}

static void
session_has_a_home_of_its_own_and_nothing_of_our_environment(void **state)
{
	const struct ssh_peer *peer;
	char out[8192], *home;

	FOR_EACH(peer, state)
	{
		home = xb_asprintf("\nHOME=%s", xb_rundir_path(peer->dir));
		assert_int_equal(ssh_peer_ssh(peer, NULL, "echo; env", out, sizeof(out)), 0);
		assert_non_null(strstr(out, home));
		assert_null(strstr(out, "XB_SECRET"));
		assert_null(strstr(out, "LD_PRELOAD"));
		assert_null(strstr(out, "NSS_WRAPPER"));
		free(home);
	}
}

static void
real_home_is_left_alone(void **state)
{
	const struct fleet *fleet = *state;
	char *now = look_at_home();

	assert_string_equal(now, fleet->home_before);
	free(now);
}

static void
check_is_private(int dir_fd)
{
	DIR *dir = fdopendir(dir_fd);
	const struct dirent *entry;
	struct stat st;
	size_t count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, "..") == 0)
			continue;
		assert_int_equal(fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW), 0);
		if (S_ISLNK(st.st_mode))
			continue;
		if ((st.st_mode & 077) != 0)
			fail_msg("%s has the mode %o", entry->d_name, (unsigned)st.st_mode);
		if (S_ISDIR(st.st_mode) && entry->d_name[0] != '.')
			check_is_private(openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY));
		count++;
	}
	assert_true(count > 0);
	closedir(dir);
}

static void
files_are_for_nobody_else(void **state)
{
	const struct fleet *fleet = *state;

	check_is_private(open(xb_rundir_path(fleet->dir), O_RDONLY | O_DIRECTORY));
}

static void
nobody_else_comes_in(void **state)
{
	const struct ssh_peer *peer;
	char *strange = scratch_path("strange_key");
	const char *const keygen[] = { "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", strange,
		NULL };
	const char *const other_user[] = { "-l", "nobody", NULL };
	const char *const no_key[] = { "-o", "PubkeyAuthentication=no", NULL };
	struct xb_private_login login;
	struct ssh_peer stranger;
	struct xb_err err = { .fault = XB_FAULT_NONE };
	char out[4096];
	int status;

	assert_true(xb_child_capture(keygen, HANG_NS, out, sizeof(out), &status, &err));
	FOR_EACH(peer, state)
	{
		assert_int_equal(ssh_peer_ssh(peer, other_user, "true", out, sizeof(out)), 255);
		assert_non_null(strstr(out, "Permission denied"));
		login = *peer->login;
		login.identity = strange;
		stranger = (struct ssh_peer){ .login = &login };
		assert_int_equal(ssh_peer_ssh(&stranger, NULL, "true", out, sizeof(out)), 255);
		assert_non_null(strstr(out, "Permission denied"));
		/* No passwords either. */
		assert_int_equal(ssh_peer_ssh(peer, no_key, "true", out, sizeof(out)), 255);
		assert_non_null(strstr(out, "Permission denied (publickey)"));
	}
}

static void
nothing_is_forwarded(void **state)
{
	const struct ssh_peer *peer;
	char out[4096];

	FOR_EACH(peer, state)
	{
		char *there = xb_asprintf("127.0.0.1:%u", peer->login->port);
		const char *const forward[] = { "-W", there, NULL };
		const char *const host[] = { "127.0.0.1", NULL };

		assert_int_equal(ssh_peer_program(peer, "ssh", forward, host, out, sizeof(out)),
		    255);
		assert_null(strstr(out, "SSH-2.0-"));
		free(there);
	}
}

/* An account that can log in and is not root's; NULL when there is none. */
static const struct passwd *
somebody_else(void)
{
	const struct passwd *pw;

	setpwent();
	do
		pw = getpwent();
	while (pw != NULL &&
	    (pw->pw_uid == 0 || strstr(pw->pw_shell, "/bin/") == NULL ||
		strstr(pw->pw_shell, "sh") == NULL || access(pw->pw_shell, X_OK) != 0));
	endpwent();
	return pw;
}

static void
whoever_called_sudo_is_served(void **state)
{
	const struct passwd *pw = geteuid() == 0 ? somebody_else() : NULL;
	const struct ssh_peer *peer;
	char name[64], uid[16], out[4096];

	if (pw == NULL) {
		puts("# SKIP: this is not root, or there is no account but root's");
		return;
	}
	snprintf(name, sizeof(name), "%s", pw->pw_name);
	snprintf(uid, sizeof(uid), "%u", (unsigned)pw->pw_uid);
	assert_int_equal(chmod(scratch_dir(), 0711), 0);
	FOR_EACH(peer, state)
	{
		struct ssh_peer other;

		setenv("SUDO_USER", name, 1);
		setenv("SUDO_UID", uid, 1);
		other = ssh_peer_start(peer->kind, NULL);
		unsetenv("SUDO_USER");
		unsetenv("SUDO_UID");
		assert_string_equal(other.login->user, name);
		assert_int_equal(ssh_peer_ssh(&other, NULL, "id -u", out, sizeof(out)), 0);
		assert_int_equal(strtol(out, NULL, 10), strtol(uid, NULL, 10));
		xb_private_free(other.server);
		xb_rundir_free(other.dir);
	}
}

/* How many lines of the known_hosts file name a type that begins so. */
static unsigned
count_pins(const struct ssh_peer *peer, const char *type)
{
	FILE *in = fopen(peer->login->known_hosts, "re");
	char line[8192];
	unsigned count = 0;

	assert_non_null(in);
	while (fgets(line, sizeof(line), in) != NULL) {
		const char *blank = strchr(line, ' ');

		assert_non_null(blank);
		count += strncmp(blank + 1, type, strlen(type)) == 0;
	}
	fclose(in);
	return count;
}

static void
one_host_key_by_default_and_every_type_on_request(void **state)
{
	static const char *const types[] = { "ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-256" };
	const struct xb_private_options every = { .every_hostkey = true };
	const struct ssh_peer *peer;
	char out[4096], asked[64];

	FOR_EACH(peer, state)
	{
		struct ssh_peer other = ssh_peer_start(peer->kind, &every);

		assert_int_equal(count_pins(peer, ""), 1);
		assert_int_equal(count_pins(&other, ""), 3);
		assert_int_equal(count_pins(&other, "ssh-rsa "), 1);
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
			const char *const more[] = { "-o", asked, NULL };

			snprintf(asked, sizeof(asked), "HostKeyAlgorithms=%s", types[i]);
			assert_int_equal(ssh_peer_ssh(&other, more, "true", out, sizeof(out)), 0);
		}
		xb_private_free(other.server);
		xb_rundir_free(other.dir);
	}
}

static void
server_killed_in_a_session_does_not_stop_the_next(void **state)
{
	const struct ssh_peer *peer;
	/* The parent of the command's shell is the server's process for the session. */
	static const char deadly[] = "echo here; kill -KILL $PPID; sleep 1";
	char out[4096];

	FOR_EACH(peer, state)
	{
		assert_int_equal(ssh_peer_ssh(peer, NULL, deadly, out, sizeof(out)), 255);
		ssh_peer_drain(peer);
		assert_int_equal(ssh_peer_ssh(peer, NULL, "true", out, sizeof(out)), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_found_by_its_name),
		cmocka_unit_test(ssh_and_libssh2_log_in_and_stream),
		cmocka_unit_test(cpu_time_of_the_sink_is_counted),
		cmocka_unit_test(session_has_a_home_of_its_own_and_nothing_of_our_environment),
		cmocka_unit_test(files_are_for_nobody_else),
		cmocka_unit_test(nobody_else_comes_in),
		cmocka_unit_test(nothing_is_forwarded),
		cmocka_unit_test(one_host_key_by_default_and_every_type_on_request),
		cmocka_unit_test(whoever_called_sudo_is_served),
		cmocka_unit_test(server_killed_in_a_session_does_not_stop_the_next),
		/* The last one, for it looks at what all the others left. */
		cmocka_unit_test(real_home_is_left_alone),
	};

	for (size_t i = 0; xb_private_servers[i] != NULL; i++) {
		const char *absent = ssh_peer_absent(xb_private_servers[i]);

		if (absent != NULL)
			printf("# SKIP %s: %s\n", xb_private_servers[i]->name, absent);
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start_all, stop_all);
}
