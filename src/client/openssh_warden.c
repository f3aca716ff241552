#include "client/openssh_warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/child.h"
#include "base/err.h"

/*
 * All but the pipe, which becomes 0: whoever waits for the end of another one must not wait for
 * us.
 */
static void
keep_only(int fd)
{
	struct rlimit limit;
	int last = 1024;

	dup2(fd, 0);
#ifdef CLOSE_RANGE_CLOEXEC
	if (close_range(1, ~0U, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536)
		last = (int)limit.rlim_cur;
	for (int other = 1; other < last; other++)
		close(other);
}

/* Only system calls: this is a copy of the process in the middle of its work. */
static void __attribute__((noreturn)) guard(int fd)
{
	pid_t group = 0;
	char end;

#ifdef __linux__
	/* It is there for what comes after that death. */
	prctl(PR_SET_PDEATHSIG, 0);
#endif
	keep_only(fd);
	if (xb_read_all(0, &group, sizeof(group)) == (ssize_t)sizeof(group) && group > 1) {
		/* Nothing more is ever said: the pipe ends with the one who holds it. */
		xb_read_all(0, &end, 1);
		kill(-group, SIGKILL);
	}
	_exit(0);
}

bool
xb_openssh_warden_start(struct xb_openssh_warden *warden, struct xb_err *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "pipe");
	warden->pid = xb_child_fork(err);
	if (warden->pid == 0) {
		close(fds[1]);
		guard(fds[0]);
	}
	close(fds[0]);
	warden->fd = fds[1];
	if (warden->pid > 0)
		return true;
	warden->pid = 0;
	close(fds[1]);
	return false;
}

void
xb_openssh_warden_watch(const struct xb_openssh_warden *warden, pid_t group)
{
	xb_write_all(warden->fd, &group, sizeof(group));
}

void
xb_openssh_warden_end(struct xb_openssh_warden *warden)
{
	if (warden->pid == 0)
		return;
	kill(warden->pid, SIGKILL);
	while (waitpid(warden->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	close(warden->fd);
	warden->pid = 0;
}
