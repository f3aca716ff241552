#ifndef XB_BASE_RUNDIR_H
#define XB_BASE_RUNDIR_H

#include <stdbool.h>
#include <sys/types.h>

struct xb_err;
struct xb_rundir;

/*
 * Creates this run's private directory (0700, xferbench-XXXXXX in $TMPDIR, else /tmp) and takes its
 * lock, which ends with the last process that inherited it. Then sweeps: directories of this user
 * (or of owner, where root works for somebody) whose run is dead are removed; links are never
 * followed. NULL with err set (XB_FAULT_SYSTEM) names the directory and what to do (TMPDIR=…).
 */
struct xb_rundir *xb_rundir_new(struct xb_err *err);

/* The absolute path, owned by the directory. */
const char *xb_rundir_path(const struct xb_rundir *dir);

/* "path/name", fresh. */
char *xb_rundir_file(const struct xb_rundir *dir, const char *name);

/* Gives the directory to a user, so that a server running as that user can read it; root only. */
bool xb_rundir_give(const struct xb_rundir *dir, uid_t uid, gid_t gid, struct xb_err *err);

/* Removes the directory with all that is in it and frees dir; NULL does nothing. */
void xb_rundir_free(struct xb_rundir *dir);

#endif
