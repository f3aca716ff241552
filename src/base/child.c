#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/affinity.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/units.h"

/* Where services are installed, which is not in everybody's PATH. */
static const char *const extra_dirs[] = { "/usr/sbin", "/usr/local/sbin", "/sbin" };

/* How far a new child came; sent up the error pipe when it cannot go on. */
enum step {
	STEP_DESCRIPTORS,
	STEP_PIN,
	STEP_EXEC,
};

struct failure {
	enum step step;
	int error;
};

/* Everything that the child needs, made before the fork: after it only system calls are safe. */
struct plan {
	const char *path;
	const struct xb_child_spec *spec;
	bool own_group;
	pid_t parent;
	int report_fd;
};

static void __attribute__((noreturn)) child_fail(const struct plan *plan, enum step step)
{
	const struct failure failure = { .step = step, .error = errno };

	(void)!write(plan->report_fd, &failure, sizeof(failure));
	_exit(127);
}

/* Ends this new process with its parent; the parent may have died before we could ask for it. */
static void
die_with_parent(pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(127);
}

static void
close_rest_on_exec(void)
{
	struct rlimit limit;
	int last = 1024;

#ifdef CLOSE_RANGE_CLOEXEC
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return;
#endif
	/* All that we open is close-on-exec already; this is for what we were started with. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536)
		last = (int)limit.rlim_cur;
	for (int fd = 3; fd < last; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/*
 * Moves the three descriptors to 0, 1 and 2. All are copied out of the way first, since any of them
 * can be one of those three, or the same one twice.
 */
static void
place_descriptors(const struct plan *plan)
{
	const int wanted[3] = { plan->spec->stdin_fd, plan->spec->stdout_fd,
		plan->spec->stderr_fd };
	int moved[3];
	int from;

	for (int i = 0; i < 3; i++) {
		from = wanted[i] >= 0 ? wanted[i] : open("/dev/null", O_RDWR | O_CLOEXEC);
		moved[i] = from >= 0 ? fcntl(from, F_DUPFD_CLOEXEC, 3) : -1;
		if (moved[i] < 0)
			child_fail(plan, STEP_DESCRIPTORS);
	}
	for (int i = 0; i < 3; i++) {
		if (dup2(moved[i], i) < 0)
			child_fail(plan, STEP_DESCRIPTORS);
	}
}

/*
 * exec turns handlers into the default by itself and keeps what is ignored: that is undone, but for
 * SIGHUP, whose being ignored is how nohup(1) works.
 */
static void
reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	sigemptyset(&action.sa_mask);
	for (int signo = 1; signo < NSIG; signo++) {
		if (signo != SIGHUP)
			sigaction(signo, &action, NULL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn)) child_main(struct plan *plan)
{
	const struct xb_child_spec *spec = plan->spec;
	/* exec writes to no string; its prototype is older than const. */
	char *const *argv = (char *const *)(uintptr_t)spec->argv;
	char *const *envp = (char *const *)(uintptr_t)spec->envp;
	int fd;

	die_with_parent(plan->parent);
	if (spec->new_session)
		setsid();
	else if (plan->own_group)
		setpgid(0, 0);
	fd = plan->report_fd < 3 ? fcntl(plan->report_fd, F_DUPFD_CLOEXEC, 3) : plan->report_fd;
	if (fd < 0)
		child_fail(plan, STEP_DESCRIPTORS);
	plan->report_fd = fd;
	place_descriptors(plan);
	close_rest_on_exec();
	if (!xb_affinity_pin(spec->cpu))
		child_fail(plan, STEP_PIN);
	reset_signals();
	execve(plan->path, argv, envp != NULL ? envp : environ);
	child_fail(plan, STEP_EXEC);
}

/* fork with all signals blocked, so that no handler of ours ever runs in the child. */
static pid_t
fork_blocked(sigset_t *old)
{
	sigset_t all;
	pid_t pid;
	int error;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, old);
	pid = fork();
	error = errno;
	if (pid != 0)
		sigprocmask(SIG_SETMASK, old, NULL);
	errno = error;
	return pid;
}

static const char *
exec_advice(int error)
{
	switch (error) {
	case ENOENT:
		return "give the path of a program that exists (a script's interpreter must too)";
	case EACCES:
		return "it must be executable for this user, on a file system without noexec";
	default:
		return "it must be a program for this machine";
	}
}

static void
explain(const struct failure *failure, const struct xb_child_spec *spec, const char *name,
    struct xb_err *err)
{
	const char *why = strerror(failure->error);

	switch (failure->step) {
	case STEP_DESCRIPTORS:
		xb_fail(err, XB_FAULT_SYSTEM,
		    "cannot set up '%s': %s (see ulimit -n, and whether /dev/null is there)", name,
		    why);
		break;
	case STEP_PIN:
		xb_fail(err, XB_FAULT_SYSTEM,
		    "cannot run '%s' on CPU %d: %s; --no-pin leaves the choice to the system", name,
		    spec->cpu, why);
		break;
	case STEP_EXEC:
		xb_fail(err, XB_FAULT_SYSTEM, "cannot run '%s': %s; %s", name, why,
		    exec_advice(failure->error));
		break;
	}
}

static pid_t
start(const struct xb_child_spec *spec, bool own_group, struct xb_err *err)
{
	struct plan plan = { .spec = spec, .own_group = own_group, .parent = getpid() };
	struct failure failure;
	sigset_t old;
	pid_t pid = -1;
	int report[2] = { -1, -1 };
	char *found = NULL;
	char name[128];

	xb_text_printable(name, sizeof(name), spec->argv[0], strlen(spec->argv[0]));
	plan.path = spec->argv[0];
	if (strchr(spec->argv[0], '/') == NULL) {
		found = xb_child_find_program(spec->argv[0]);
		if (found == NULL) {
			xb_fail(err, XB_FAULT_SYSTEM,
			    "cannot run '%s': not found in PATH, /usr/sbin, /usr/local/sbin or "
			    "/sbin; install it, or give its path",
			    name);
			goto out;
		}
		plan.path = found;
	}
	if (pipe2(report, O_CLOEXEC) != 0) {
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot start '%s': no pipe", name);
		goto out;
	}
	plan.report_fd = report[1];
	pid = fork_blocked(&old);
	if (pid == 0)
		child_main(&plan);
	if (pid < 0) {
		xb_fail_errno(err, XB_FAULT_SYSTEM,
		    "cannot start '%s': no new process (see ulimit -u)", name);
		goto out;
	}
	close(report[1]);
	report[1] = -1;
	/* A successful exec closes the pipe without a word. */
	if (xb_read_all(report[0], &failure, sizeof(failure)) == (ssize_t)sizeof(failure)) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		pid = -1;
		explain(&failure, spec, name, err);
	}
out:
	if (report[0] >= 0)
		close(report[0]);
	if (report[1] >= 0)
		close(report[1]);
	free(found);
	return pid;
}

pid_t
xb_child_spawn(const struct xb_child_spec *spec, struct xb_err *err)
{
	return start(spec, false, err);
}

pid_t
xb_child_fork(struct xb_err *err)
{
	const pid_t parent = getpid();
	sigset_t old;
	pid_t pid = fork_blocked(&old);

	if (pid < 0)
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot start a process (see ulimit -u)");
	if (pid == 0) {
		die_with_parent(parent);
		xb_signals_worker();
	}
	return pid;
}

/* What capture knows about a program that runs. */
struct capture {
	pid_t pid;
	int fd; /* non-blocking; -1 after end of file */
	char *out;
	size_t size;
	size_t used;
};

/*
 * Takes what is there; what does not fit is read all the same, or the program would wait for ever.
 * One pipeful at a time, so that a program that never stops writing cannot hold up the deadline.
 */
static void
capture_drain(struct capture *capture)
{
	char block[4096];
	size_t room, take;
	ssize_t got;

	for (int i = 0; i < 16 && capture->fd >= 0; i++) {
		got = read(capture->fd, block, sizeof(block));
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got <= 0) {
			close(capture->fd);
			capture->fd = -1;
			return;
		}
		room = capture->size > 0 ? capture->size - 1 - capture->used : 0;
		take = (size_t)got < room ? (size_t)got : room;
		if (take > 0)
			memcpy(capture->out + capture->used, block, take);
		capture->used += take;
	}
}

/* True when the program has ended; it stays a zombie, so that its group's number is not reused. */
static bool
has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid == pid;
}

/* Waits for the end; false with err when the time is over or a signal asks us to end. */
static bool
capture_wait(struct capture *capture, const char *name, int64_t timeout_ns, struct xb_err *err)
{
	const int64_t start_ns = xb_clock_ns();
	const int64_t deadline =
	    timeout_ns < INT64_MAX - start_ns ? start_ns + timeout_ns : INT64_MAX;
	struct pollfd watch;
	int64_t slice;
	char time_text[32];

	while (!has_ended(capture->pid)) {
		if (xb_signals_pending() != 0)
			return xb_fail(err, XB_FAULT_SIGNAL, "a signal ended the run of '%s'",
			    name);
		if (xb_clock_ns() >= deadline) {
			xb_duration_format(time_text, sizeof(time_text), timeout_ns);
			return xb_fail(err, XB_FAULT_SYSTEM,
			    "'%s' did not end within %s and was killed; run it by hand to see why",
			    name, time_text);
		}
		/* SIGCHLD ends the poll where its handler is installed; the slices are for where
		 * it is not, and for a program that leaves its output to somebody else. */
		slice = xb_clock_ns() + (capture->fd < 0 ? 5 : 50) * XB_NS_PER_MS;
		watch = (struct pollfd){ .fd = capture->fd, .events = POLLIN };
		xb_signals_poll(&watch, 1, slice < deadline ? slice : deadline);
		capture_drain(capture);
	}
	return true;
}

bool
xb_child_capture(const char *const *argv, int64_t timeout_ns, char *out, size_t size, int *status,
    struct xb_err *err)
{
	struct capture capture = { .pid = -1, .fd = -1, .out = out, .size = size };
	struct xb_child_spec spec = { .argv = argv, .stdin_fd = -1, .cpu = -1 };
	int fds[2];
	char name[128];
	bool ok;

	if (size > 0)
		out[0] = '\0';
	if (pipe2(fds, O_CLOEXEC) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot make a pipe");
	spec.stdout_fd = fds[1];
	spec.stderr_fd = fds[1];
	capture.fd = fds[0];
	capture.pid = start(&spec, true, err);
	close(fds[1]);
	if (capture.pid < 0) {
		close(fds[0]);
		return false;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	xb_text_printable(name, sizeof(name), argv[0], strlen(argv[0]));
	ok = capture_wait(&capture, name, timeout_ns, err);
	/* What it left running in its group goes as well, in every ending. */
	kill(-capture.pid, SIGKILL);
	while (waitpid(capture.pid, status, 0) < 0 && errno == EINTR)
		;
	capture_drain(&capture);
	if (capture.fd >= 0)
		close(capture.fd);
	if (size > 0)
		out[capture.used] = '\0';
	return ok;
}

void
xb_child_status_text(char *out, size_t size, int status)
{
	if (WIFEXITED(status))
		snprintf(out, size, "exit status %d", WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		snprintf(out, size, "signal %d (%s)", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else
		snprintf(out, size, "wait status %d", status);
}

/* The path as a fresh absolute one when it is a program that we may run, else NULL. */
static char *
if_executable(const char *path)
{
	struct stat st;
	char *cwd, *whole;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
	    faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
		return NULL;
	if (path[0] == '/')
		return xb_strdup(path);
	cwd = getcwd(NULL, 0);
	whole = cwd != NULL ? xb_asprintf("%s/%s", cwd, path) : NULL;
	free(cwd);
	return whole;
}

static char *
find_in_dir(const char *dir, size_t dir_len, const char *name)
{
	/* An empty part of PATH is the current directory. */
	char *path =
	    dir_len > 0 ? xb_asprintf("%.*s/%s", (int)dir_len, dir, name) : xb_strdup(name);
	char *found = if_executable(path);

	free(path);
	return found;
}

char *
xb_child_find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *found = NULL;

	if (name[0] == '\0')
		return NULL;
	if (strchr(name, '/') != NULL)
		return if_executable(name);
	while (found == NULL && path != NULL && *path != '\0') {
		const size_t len = strcspn(path, ":");

		found = find_in_dir(path, len, name);
		path += path[len] == ':' ? len + 1 : len;
	}
	for (size_t i = 0; found == NULL && i < sizeof(extra_dirs) / sizeof(extra_dirs[0]); i++)
		found = find_in_dir(extra_dirs[i], strlen(extra_dirs[i]), name);
	return found;
}

ssize_t
xb_write_all(int fd, const void *bytes, size_t len)
{
	size_t done = 0;
	ssize_t put;

	while (done < len) {
		put = write(fd, (const char *)bytes + done, len - done);
		if (put < 0 && errno != EINTR)
			return -1;
		done += put > 0 ? (size_t)put : 0;
	}
	return (ssize_t)done;
}

ssize_t
xb_read_all(int fd, void *bytes, size_t len)
{
	size_t done = 0;
	ssize_t got;

	while (done < len) {
		got = read(fd, (char *)bytes + done, len - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}
