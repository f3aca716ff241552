#ifndef XB_BENCH_HOSTSHEET_H
#define XB_BENCH_HOSTSHEET_H

struct xb_host;

/* Fills an all-zero sheet from /proc, /sys, uname and the environment. What cannot be read stays
 * NULL or false; never fails. Free with xb_host_free. */
void xb_hostsheet_read(struct xb_host *host);

/*
 * The same with every file looked up below root ("" for this machine) and with cpuid_vendor as
 * xb_cpuid_hypervisor gives it, so that tests can describe any machine.
 */
void xb_hostsheet_read_root(struct xb_host *host, const char *root, const char *cpuid_vendor);

#endif
