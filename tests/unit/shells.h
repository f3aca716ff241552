#ifndef TESTS_UNIT_SHELLS_H
#define TESTS_UNIT_SHELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The login shells that people have on the far side, those of them that this machine has. */
extern const char *const *const shells[]; /* argv without "-c"; ends with NULL */

/*
 * For cmocka_unit_test_setup_teardown: a scratch directory that is HOME too, with profiles for all
 * shells that read one for "-c": they print a line, then some text without a line end, on both
 * outputs, and sleep a little.
 */
int shells_set_up(void **state);
int shells_tear_down(void **state);

/* A command as it runs in a login shell, as sshd would start it. */
struct shell_run {
	pid_t pid;
	int in_fd;  /* its stdin */
	int out_fd; /* its stdout */
	int err_fd; /* its stderr */
};

/* False where this machine does not have the shell. What else goes wrong fails the test. */
bool shell_start(const char *const *shell, const char *command, struct shell_run *run);

/* Closes what is still open (not -1), waits for its end and returns the wait(2) status. */
int shell_finish(struct shell_run *run);

#endif
