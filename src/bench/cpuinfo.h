#ifndef XB_BENCH_CPUINFO_H
#define XB_BENCH_CPUINFO_H

#include <stdbool.h>

#define XB_CPU_MODEL_MAX 160

/* What /proc/cpuinfo tells, on x86 and ARM. */
struct xb_cpuinfo {
	char model[XB_CPU_MODEL_MAX]; /* printable, "" unknown; "Cortex-A55 + Cortex-A76" */
	bool aes;
	bool sha;
	bool avx2;
	bool avx512;
	bool hypervisor; /* x86: the CPU says that it is virtual */
};

/* Reads the text of /proc/cpuinfo; any text is taken, what it does not tell stays false or "". */
void xb_cpuinfo_parse(const char *text, struct xb_cpuinfo *info);

#define XB_CPUID_VENDOR_SIZE 13

/*
 * The twelve letters by which the hypervisor names itself in CPUID leaf 0x40000000, written into
 * vendor and returned: "" where none shows itself. NULL where the architecture has no CPUID.
 */
const char *xb_cpuid_hypervisor(char vendor[XB_CPUID_VENDOR_SIZE]);

/* The hypervisor behind these letters, such as "KVM"; NULL when it is not known. */
const char *xb_hypervisor_of_cpuid(const char *vendor);

/* The hypervisor behind DMI's sys_vendor and product_name (each may be NULL); NULL: none seen. */
const char *xb_hypervisor_of_dmi(const char *vendor, const char *product);

#endif
