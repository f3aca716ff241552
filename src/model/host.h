#ifndef XB_MODEL_HOST_H
#define XB_MODEL_HOST_H

#include <stdbool.h>

/* What of this machine colours a result. Strings are owned and printable, NULL when unknown. */
struct xb_host {
	char *kernel;       /* "Linux 6.1.0" */
	char *architecture; /* "x86_64" */
	char *cpu_model;    /* "AMD EPYC" */
	int cpus;           /* online */
	bool aes;           /* AES instructions visible */
	bool sha;           /* SHA-1/SHA-256 instructions visible */
	bool avx2;
	bool avx512;
	char *virtualisation; /* "KVM", "none"; NULL unknown */
	char *governor;       /* cpufreq governor of CPU 0 */
	char *cgroup_quota;   /* "1.5 CPUs" when limited, else NULL */
	double load1;         /* one-minute load average at the start */
	char *congestion;     /* net.ipv4.tcp_congestion_control */
	char *tcp_rmem;       /* "4096 131072 6291456" */
	char *tcp_wmem;
	char *openssl_ia32cap; /* the environment's value when set, else NULL */
	char *openssl_armcap;
};

/* Releases what the sheet owns, not the struct. */
void xb_host_free(struct xb_host *host);

#endif
