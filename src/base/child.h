#ifndef XB_BASE_CHILD_H
#define XB_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct xb_err;

/* How to start a program: an argv array, never a shell. Descriptors: -1 is /dev/null. */
struct xb_child_spec {
	const char *const *argv; /* argv[0] is a path or is looked up in PATH; ends with NULL */
	const char *const *envp; /* NULL: this process's environment */
	int stdin_fd;
	int stdout_fd;
	int stderr_fd;
	int cpu;          /* the CPU to run on, -1: any */
	bool new_session; /* out of our process group, so that Ctrl-C does not reach it */
};

/*
 * Starts a program that the kernel kills when this process dies (Linux); all other descriptors are
 * closed on exec, signal handlers and mask are reset (an ignored SIGHUP stays ignored). Returns its
 * pid, which the caller waits for, or -1 with err set when it cannot be started (a missing program
 * is told here, not by an exit code).
 */
pid_t xb_child_spawn(const struct xb_child_spec *spec, struct xb_err *err);

/*
 * Runs a program to its end with no input; stdout and stderr together go into out (cut to size - 1,
 * terminated). status is the wait(2) status. Killed and an error after timeout_ns, or when a signal
 * asks us to end (XB_FAULT_SIGNAL). What it leaves running in its process group is killed too.
 */
bool xb_child_capture(const char *const *argv, int64_t timeout_ns, char *out, size_t size,
    int *status, struct xb_err *err);

/*
 * Forks a process that runs in our own code. In the child: returns 0, death of the parent kills it,
 * SIGINT, SIGHUP and SIGTERM are the parent's business and ignored. In the parent: the pid, or -1
 * with err set. The child ends with _exit().
 */
pid_t xb_child_fork(struct xb_err *err);

/* "exit status 3" or "signal 11 (Segmentation fault)" from a wait(2) status. */
void xb_child_status_text(char *out, size_t size, int status);

/* Finds an executable: as given when it has a slash, else in PATH and in /usr/sbin, /usr/local/sbin,
 * /sbin. Returns a fresh absolute path, or NULL. */
char *xb_child_find_program(const char *name);

/* Writes all or reads until len or end of file; retries EINTR. Return bytes moved, -1 with errno. */
ssize_t xb_write_all(int fd, const void *bytes, size_t len);
ssize_t xb_read_all(int fd, void *bytes, size_t len);

#endif
