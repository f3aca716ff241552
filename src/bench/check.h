#ifndef XB_BENCH_CHECK_H
#define XB_BENCH_CHECK_H

#include <stdbool.h>

struct xb_course;
struct xb_err;

/*
 * The check phase, before all rounds: a short trial for each client at each target with each method
 * and direction, as negotiated where that is planned. What does not work is found here, once, and
 * is then the reason of all cases that it concerns; a method that is left open becomes the first
 * that works. A case may be at fault itself, so several are tried before all are judged. Learns the
 * key that comes in and the rate to scale sizes with, lets the far side count, and reads the suite
 * that client and target choose by themselves, whose case joins an equal one.
 *
 * False with err set when no client can log in anywhere (XB_FAULT_TARGET), when the far side loses
 * data (likewise), or when this machine is at fault (XB_FAULT_SYSTEM). A signal and the time bound
 * make the run partial.
 */
bool xb_check_run(struct xb_course *course, struct xb_err *err);

#endif
