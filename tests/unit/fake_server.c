#include "fake_server.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc.h"
#include "base/rundir.h"
#include "scratch.h"

/* What the server of the next test does: a shell script whose stdin and stdout are the socket. */
static const char *script;

static bool
fake_prepare(const struct xb_private_options *options, const char *program, const char *user,
    struct xb_private_files *files, struct xb_err *err)
{
	char *public_key = xb_rundir_file(options->dir, "host_key.pub");
	FILE *key;

	(void)user;
	if (script == NULL) {
		free(public_key);
		return xb_fail(err, XB_FAULT_TARGET, "it is not prepared for us");
	}
	files->argv = xb_calloc(4, sizeof(*files->argv));
	files->argv[0] = xb_strdup(program);
	files->argv[1] = xb_strdup("-c");
	files->argv[2] = xb_strdup(script);
	files->identity = xb_rundir_file(options->dir, "key");
	files->known_hosts = xb_rundir_file(options->dir, "known_hosts");
	xb_namelist_add_once(&files->hostkeys, public_key);
	files->log = xb_rundir_file(options->dir, "log");
	key = fopen(public_key, "we");
	assert_non_null(key);
	fputs("ssh-fake AAAAfake a comment\n", key);
	fclose(key);
	free(public_key);
	return true;
}

static void
fake_before_start(struct xb_private_files *files)
{
	const char *path = scratch_path("outside");

	if (mkdir(path, 0700) == 0 && files->made == NULL)
		files->made = xb_strdup(path);
}

static void
fake_after_all(struct xb_private_files *files)
{
	if (files->made != NULL)
		rmdir(files->made);
}

static const char *const fake_noise[] = { "hello *", NULL };

const struct xb_private_kind fake_kind = {
	.name = "fake",
	.program = "sh",
	.missing = "nobody has installed a fake",
	.prepare = fake_prepare,
	.before_start = fake_before_start,
	.after_all = fake_after_all,
	.log_noise = fake_noise,
};

struct fake_server
fake_server_start(const char *what)
{
	struct fake_server fake = { .dir = scratch_new_run() };
	const struct xb_private_options options = { .dir = fake.dir, .server_cpu = -1 };
	struct xb_err err = { .fault = XB_FAULT_NONE };

	script = what;
	fake.server = xb_private_new(&fake_kind, &options, &err);
	assert_string_equal(err.text, "");
	assert_non_null(fake.server);
	fake.login = xb_private_login(fake.server);
	return fake;
}

void
fake_server_stop(struct fake_server *fake)
{
	xb_private_free(fake->server);
	xb_rundir_free(fake->dir);
}

struct xb_err
fake_server_refusal(const char *what, const struct xb_private_kind *kind, const char *program)
{
	struct xb_rundir *dir = scratch_new_run();
	const struct xb_private_options options = {
		.dir = dir,
		.program = program,
		.server_cpu = -1,
	};
	struct xb_err err = { .fault = XB_FAULT_NONE };
	pid_t pids[1];

	script = what;
	assert_null(xb_private_new(kind, &options, &err));
	assert_int_equal(xb_proc_descendants(getpid(), pids, 1), 0);
	xb_rundir_free(dir);
	assert_int_equal(scratch_count(), 0);
	return err;
}

void
fake_server_read_line(int fd, char *line, size_t size)
{
	size_t used = 0;

	while (used < size - 1 && read(fd, line + used, 1) == 1 && line[used] != '\n')
		used++;
	line[used] = '\0';
}

void
fake_server_say(int fd, const char *word)
{
	assert_true(dprintf(fd, "%s\n", word) > 0);
}

int
fake_server_connect(const struct fake_server *fake)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((in_port_t)fake->login->port),
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char line[128];

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	fake_server_read_line(fd, line, sizeof(line));
	return fd;
}

struct xb_private_usage
fake_server_drain(const struct fake_server *fake, int64_t timeout_ns)
{
	struct xb_private_usage usage;

	assert_true(xb_private_drain(fake->server, timeout_ns, &usage));
	return usage;
}

int64_t
fake_server_cpu(const struct fake_server *fake)
{
	int64_t ns;

	assert_true(xb_private_cpu_ns(fake->server, &ns));
	return ns;
}

size_t
count_descendants(void)
{
	pid_t pids[64];

	return xb_proc_descendants(getpid(), pids, 64);
}

void
wait_for_descendants(size_t count)
{
	const int64_t deadline = xb_clock_ns() + HANG_NS;
	const struct timespec pause = { .tv_nsec = 2 * XB_NS_PER_MS };

	while (count_descendants() != count) {
		assert_true(xb_clock_ns() < deadline);
		nanosleep(&pause, NULL);
	}
}

int
fake_server_set_up_group(void **state)
{
	(void)state;
	/* Whoever runs the tests through sudo would have servers of another user. */
	unsetenv("SUDO_UID");
	unsetenv("SUDO_USER");
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}
