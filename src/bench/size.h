#ifndef XB_BENCH_SIZE_H
#define XB_BENCH_SIZE_H

#include <stdbool.h>

struct xb_course;
struct xb_err;
struct xb_result;
struct xb_trial;

/*
 * How much a trial transfers, and from which file. A size of the user's counts exactly. Else a
 * client that needs a size gets what it transfers in the time-box by its median so far (before the
 * first round by its check's), as a power of two of at least 1 MiB, so that few files exist; a file
 * is no longer than xb_payload_file_max. Files that programs here read are made and warm
 * afterwards.
 *
 * A download from a private server reads such a file, too, unless it is exec's and the payload is
 * zeros, which dd makes there; from another server the user's remote file, whose length is unknown.
 * False with err set: XB_FAULT_TRIAL where there is no such file, or it cannot be made; SIGNAL.
 */
bool xb_size_fill(const struct xb_course *course, const struct xb_result *result, bool check,
    struct xb_trial *trial, struct xb_err *err);

/* Notes what the user's size means for files that programs read. */
void xb_size_note(const struct xb_course *course);

#endif
