#ifndef XB_COMMANDS_H
#define XB_COMMANDS_H

#include <stdbool.h>

struct xb_err;
struct xb_options;

/*
 * The three commands. Each prints its result on stdout and leaves nothing behind; true when it came
 * to its end, and then *code is the exit code, 0 or 1. False with err set; what had been measured is
 * printed and saved all the same.
 */
bool xb_command_run(const struct xb_options *options, int *code, struct xb_err *err);
bool xb_command_raw(const struct xb_options *options, int *code, struct xb_err *err);
bool xb_command_list(const struct xb_options *options, int *code, struct xb_err *err);

#endif
