#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct xb_rundir;

/*
 * A temporary directory for each test, which TMPDIR names meanwhile, and small things to do in it.
 * What goes wrong here fails the test.
 */

/* For cmocka_unit_test_setup_teardown. */
int scratch_set_up(void **state);
int scratch_tear_down(void **state);

/* The directory itself. */
const char *scratch_dir(void);

/* The path of a name in it; good until three more have been asked for. */
char *scratch_path(const char *name);

/* How many names are in it. */
size_t scratch_count(void);

/* True when there is something at a path, be it a link that leads nowhere. */
bool scratch_exists(const char *path);

void scratch_make_dir(const char *path, mode_t mode);
void scratch_make_file(const char *path);

/* Lets a path look as if nothing had happened to it for two minutes. */
void scratch_make_old(const char *path);

/* A run's directory in it. */
struct xb_rundir *scratch_new_run(void);

#endif
