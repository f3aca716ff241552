#include "ssh_transfer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/rundir.h"
#include "client/payload.h"
#include "scratch.h"
#include "target/private.h"
#include "target/target.h"

#define PATIENCE_NS (10 * XB_NS_PER_SECOND)

/* What crosses the pipe, and when the moments were. */
struct running {
	struct ssh_transfer_result result;
	int64_t ready_ns;
};

static void
make_script(const char *path, const char *body)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", body);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

char *
ssh_transfer_bin(const struct ssh_transfer_server *server, const char *name, const char *program,
    const char *body)
{
	char *dir = xb_rundir_file(server->dir, name);
	char *path = xb_asprintf("%s/%s", dir, program);

	assert_true(mkdir(dir, 0755) == 0 || access(dir, W_OK) == 0);
	make_script(path, body);
	free(path);
	return dir;
}

static void
make_file(const char *path)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	for (uint64_t i = 0; i < SSH_TRANSFER_SIZE; i++)
		putc((int)(i * 7 + i / 251) & 0xff, file);
	assert_int_equal(fclose(file), 0);
}

struct ssh_transfer_server
ssh_transfer_start(const char *options)
{
	const struct xb_payload_options payload = { .what = "random", .seed = 1 };
	struct xb_target_options wanted = {
		.server_cpu = -1,
		.connect_timeout_ns = PATIENCE_NS,
	};
	struct ssh_transfer_server server = { .dir = scratch_new_run() };
	struct xb_payload_options in_dir = payload;
	char *wrapper = xb_rundir_file(server.dir, "wrapper");
	char *sshd = xb_child_find_program("sshd");
	struct xb_err err = { 0 };

	assert_non_null(sshd);
	if (options != NULL) {
		char *body = xb_asprintf("exec %s %s \"$@\"", sshd, options);

		make_script(wrapper, body);
		free(body);
		wanted.sshd = wrapper;
	}
	server.target = xb_target_new(&wanted, server.dir, &err);
	if (server.target == NULL)
		fail_msg("%s", err.text);
	in_dir.dir = server.dir;
	server.payload = xb_payload_new(&in_dir, &err);
	assert_non_null(server.payload);
	server.file = xb_rundir_file(server.dir, "it's 100% *a* \"file\" \\ [x]$y;z");
	make_file(server.file);
	free(sshd);
	free(wrapper);
	return server;
}

void
ssh_transfer_stop(struct ssh_transfer_server *server)
{
	free(server->file);
	xb_payload_free(server->payload);
	xb_target_free(server->target);
	xb_rundir_free(server->dir);
	memset(server, 0, sizeof(*server));
}

static void
on_login(void *ctx)
{
	struct running *running = ctx;

	running->result.logins++;
}

static bool
on_ready(void *ctx)
{
	struct running *running = ctx;

	running->result.readies++;
	running->ready_ns = xb_clock_ns();
	return true;
}

static void
on_end(void *ctx)
{
	struct running *running = ctx;

	running->result.ends++;
	running->result.seconds_ns = xb_clock_ns() - running->ready_ns;
}

struct xb_transfer
ssh_transfer_of(const struct ssh_transfer_server *server, enum xb_method method,
    enum xb_direction direction, const struct xb_suite *suite)
{
	const bool has_file = direction == XB_DOWNLOAD && method != XB_METHOD_EXEC;

	return (struct xb_transfer){
		.target = server->target,
		.suite = suite,
		.method = method,
		.direction = direction,
		.payload = server->payload,
		.remote_file = has_file ? server->file : NULL,
		.remote_bytes = has_file ? SSH_TRANSFER_SIZE : 0,
		.server_cpu = -1,
		.size = SSH_TRANSFER_SIZE,
		.stall_ns = PATIENCE_NS,
		.on_login = on_login,
		.on_ready = on_ready,
		.on_end = on_end,
	};
}

/* What a client may leave behind is adopted by this process, or by init, which ends it not. */
static void
expect_nothing_left(const pid_t *before, size_t count)
{
	const struct timespec pause = { .tv_nsec = 10 * XB_NS_PER_MS };
	int64_t deadline = xb_clock_ns() + PATIENCE_NS;
	pid_t now[256];
	char name[64] = "";
	size_t left, found;

	do {
		found = xb_proc_descendants(getpid(), now, sizeof(now) / sizeof(now[0]));
		left = 0;
		for (size_t i = 0; i < found; i++) {
			bool known = false;

			for (size_t k = 0; k < count; k++)
				known = known || before[k] == now[i];
			/* What serves is the listener's to end, and it has been asked to. */
			if (!known && xb_proc_name(now[i], name, sizeof(name)) &&
			    strncmp(name, "sshd", 4) != 0)
				left++;
		}
		if (left > 0)
			nanosleep(&pause, NULL);
	} while (left > 0 && xb_clock_ns() < deadline);
	if (left > 0)
		fail_msg("%zu processes are left, one of them %s", left, name);
}

struct ssh_transfer_result
ssh_transfer_run(const struct xb_client *client, const struct xb_transfer *wanted, const char *path)
{
	struct running running = { .ready_ns = 0 };
	struct xb_transfer transfer = *wanted;
	struct xb_private_usage usage;
	pid_t before[256];
	size_t count = xb_proc_descendants(getpid(), before, sizeof(before) / sizeof(before[0]));
	struct xb_err err = { 0 };
	int fds[2], status;
	pid_t pid;

	transfer.live = mmap(NULL, sizeof(*transfer.live), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(transfer.live, MAP_FAILED);
	if (transfer.ctx == NULL)
		transfer.ctx = &running;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = xb_child_fork(&err);
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(60);
		if (path != NULL)
			setenv("PATH", path, 1);
		running.result.outcome.programs_cpu_seconds = NAN;
		running.result.outcome.start_seconds = NAN;
		running.result.outcome.connect_seconds = NAN;
		running.result.ok =
		    client->transfer(&transfer, &running.result.outcome, &running.result.err);
		xb_write_all(fds[1], &running.result, sizeof(running.result));
		_exit(0);
	}
	close(fds[1]);
	if (xb_read_all(fds[0], &running.result, sizeof(running.result)) != sizeof(running.result))
		fail_msg("the client died or hung during %s",
		    xb_phase_name(atomic_load(&transfer.live->phase)));
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	running.result.phase = atomic_load(&transfer.live->phase);
	if (running.result.ok)
		assert_int_equal(atomic_load(&transfer.live->bytes), running.result.outcome.bytes);
	munmap(transfer.live, sizeof(*transfer.live));
	if (transfer.target->server != NULL)
		assert_true(xb_private_drain(transfer.target->server, 300 * XB_NS_PER_MS, &usage));
	expect_nothing_left(before, count);
	return running.result;
}

void
ssh_transfer_expect(const struct ssh_transfer_result *result, uint64_t bytes)
{
	if (!result->ok)
		fail_msg("%s: %s", xb_phase_name(result->phase), result->err.text);
	assert_int_equal(result->outcome.bytes, bytes);
	assert_int_equal(result->logins, 1);
	assert_int_equal(result->readies, 1);
	assert_int_equal(result->ends, 1);
	assert_true(result->seconds_ns > 0);
}

void
ssh_transfer_expect_failure(const struct ssh_transfer_result *result, enum xb_fault fault,
    const char *reason)
{
	if (result->ok)
		fail_msg("it went well, where this was expected: %s", reason);
	if (strstr(result->err.text, reason) == NULL)
		fail_msg("'%s' is not in: %s", reason, result->err.text);
	assert_int_equal(result->err.fault, fault);
}
