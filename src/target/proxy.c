#include "target/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "model/namelist.h"
#include "target/ssh_config.h"

/* How long it may take to notice that its connection is closed. */
#define END_NS (XB_NS_PER_SECOND / 2)
#define LOOK_NS (2 * XB_NS_PER_MS)

/* Of what it said, as much as can hold a last line. */
#define WORDS_MAX 4096

static void
add(struct xb_namelist *argv, const char *word)
{
	xb_namelist_add(argv, word, strlen(word));
}

/* The last hop is the one that connects to the target; those before it are its own business. */
static void
jump(const char *hops, const char *host, unsigned port, const char *file, struct xb_namelist *argv)
{
	const char *comma = strrchr(hops, ',');
	const char *last = comma != NULL ? comma + 1 : hops;
	char *text;

	add(argv, "ssh");
	if (file != NULL) {
		add(argv, "-F");
		add(argv, file);
	}
	add(argv, "-oBatchMode=yes");
	add(argv, "-oClearAllForwardings=yes");
	if (comma != NULL) {
		text = xb_strndup(hops, (size_t)(comma - hops));
		add(argv, "-J");
		add(argv, text);
		free(text);
	}
	add(argv, "-W");
	text = xb_asprintf("[%s]:%u", host, port);
	add(argv, text);
	free(text);
	/* [user@]host[:port] has to be said as a URL. */
	text = xb_asprintf("%s%s", strncmp(last, "ssh://", 6) == 0 ? "" : "ssh://", last);
	add(argv, "--");
	add(argv, text);
	free(text);
}

void
xb_proxy_command(const struct xb_ssh_config *config, const char *host, unsigned port,
    const char *file, struct xb_namelist *argv)
{
	char *command;

	if (config->proxy_jump != NULL) {
		jump(config->proxy_jump, host, port, file, argv);
	} else if (config->proxy_command != NULL) {
		command = xb_asprintf("exec %s", config->proxy_command);
		add(argv, "/bin/sh");
		add(argv, "-c");
		add(argv, command);
		free(command);
	}
}

int
xb_proxy_log(struct xb_err *err)
{
	int fd = memfd_create("proxy", MFD_CLOEXEC);

	if (fd < 0)
		xb_fail_errno(err, XB_FAULT_SYSTEM, "no memory for what a proxy says");
	return fd;
}

int
xb_proxy_start(const struct xb_namelist *argv, int log_fd, struct xb_proxy *proxy,
    struct xb_err *err)
{
	const char **words = xb_calloc(argv->count + 1, sizeof(*words));
	struct xb_child_spec spec = { .argv = words, .cpu = -1, .new_session = true };
	int ends[2] = { -1, -1 };

	memcpy(words, argv->names, argv->count * sizeof(*words));
	*proxy = (struct xb_proxy){ .log_fd = -1 };
	if (log_fd < 0)
		proxy->log_fd = log_fd = xb_proxy_log(err);
	if (log_fd < 0)
		goto fail;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
	    fcntl(ends[0], F_SETFL, O_RDWR | O_NONBLOCK) != 0) {
		xb_fail_errno(err, XB_FAULT_SYSTEM, "no socket pair for a proxy");
		goto fail;
	}
	spec.stdin_fd = spec.stdout_fd = ends[1];
	spec.stderr_fd = log_fd;
	proxy->pid = xb_child_spawn(&spec, err);
	if (proxy->pid > 0) {
		close(ends[1]);
		free(words);
		return ends[0];
	}
fail:
	if (ends[0] >= 0) {
		close(ends[0]);
		close(ends[1]);
	}
	if (proxy->log_fd >= 0)
		close(proxy->log_fd);
	*proxy = (struct xb_proxy){ .pid = 0 };
	free(words);
	return -1;
}

void
xb_proxy_add_words(int log_fd, struct xb_err *err)
{
	struct xb_err seen = *err;
	char said[WORDS_MAX], line[200];
	off_t end = lseek(log_fd, 0, SEEK_END);
	ssize_t got = 0;

	if (end > 0)
		got = pread(log_fd, said, sizeof(said),
		    end > (off_t)sizeof(said) ? end - (off_t)sizeof(said) : 0);
	xb_text_last_line(line, sizeof(line), said, got > 0 ? (size_t)got : 0);
	if (line[0] == '\0' || seen.fault == XB_FAULT_NONE || seen.fault == XB_FAULT_SIGNAL)
		return;
	*err = (struct xb_err){ .fault = XB_FAULT_NONE };
	xb_fail(err, seen.fault, "%.380s; the proxy said: %s", seen.text, line);
}

void
xb_proxy_end(struct xb_proxy *proxy, struct xb_err *err)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	const int64_t deadline = xb_clock_ns() + END_NS;
	pid_t got = 0;

	if (proxy->pid <= 0)
		return;
	while ((got = waitpid(proxy->pid, NULL, WNOHANG)) == 0 && xb_clock_ns() < deadline)
		nanosleep(&pause, NULL);
	if (got == 0) {
		xb_proc_kill_descendants(proxy->pid);
		kill(proxy->pid, SIGKILL);
		while (waitpid(proxy->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	if (proxy->log_fd >= 0) {
		if (err != NULL)
			xb_proxy_add_words(proxy->log_fd, err);
		close(proxy->log_fd);
	}
	*proxy = (struct xb_proxy){ .pid = 0 };
}
