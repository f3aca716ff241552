#include "bench/hostsheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "bench/cpuinfo.h"
#include "model/host.h"
#include "model/namelist.h"

/* No file here is longer but for /proc/cpuinfo with hundreds of CPUs, which repeats itself. */
#define FILE_MAX_BYTES 131072
#define VALUE_MAX 160

/* The text of a file below root, fresh; NULL when it cannot be read or is empty. */
static char *
slurp(const char *root, const char *path)
{
	char *full = xb_asprintf("%s%s", root, path);
	FILE *file = fopen(full, "re");
	char *text = NULL;
	size_t len;

	free(full);
	if (file == NULL)
		return NULL;
	text = xb_calloc(FILE_MAX_BYTES, 1);
	len = fread(text, 1, FILE_MAX_BYTES - 1, file);
	fclose(file);
	if (len == 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Printable, with each run of blanks and tabs as one blank; NULL for nothing. */
static char *
tidy(const char *text)
{
	char spaced[VALUE_MAX];
	char out[VALUE_MAX];
	size_t len = 0;
	char last = ' ';

	for (; text != NULL && *text != '\0' && len < sizeof(spaced); text++) {
		char c = *text == '\t' ? ' ' : *text;

		if (c != ' ' || last != ' ')
			spaced[len++] = c;
		last = c;
	}
	xb_text_printable(out, sizeof(out), spaced, len);
	return out[0] != '\0' ? xb_strdup(out) : NULL;
}

/* The tidy content of a file that has one value; NULL unknown. */
static char *
value_of(const char *root, const char *path)
{
	char *text = slurp(root, path);
	char *value = tidy(text);

	free(text);
	return value;
}

/* The hypervisor as the files of the firmware and the kernel name it, static; NULL none seen. */
static const char *
hypervisor_of_files(const char *root)
{
	char *type = value_of(root, "/sys/hypervisor/type");
	char *vendor = value_of(root, "/sys/class/dmi/id/sys_vendor");
	char *product = value_of(root, "/sys/class/dmi/id/product_name");
	char *tree = value_of(root, "/proc/device-tree/hypervisor/compatible");
	char *board = value_of(root, "/proc/device-tree/model");
	const char *name = NULL;

	if ((type != NULL && strcmp(type, "xen") == 0) ||
	    (tree != NULL && strstr(tree, "xen") != NULL))
		name = "Xen";
	else if (tree != NULL && strstr(tree, "kvm") != NULL)
		name = "KVM";
	else
		name = xb_hypervisor_of_dmi(vendor, product);
	if (name == NULL && board != NULL && strstr(board, "dummy-virt") != NULL)
		name = "QEMU";
	free(type);
	free(vendor);
	free(product);
	free(tree);
	free(board);
	return name;
}

/* True when the root file system is an overlay, as container engines make it. */
static bool
root_is_overlay(const char *root)
{
	char *text = slurp(root, "/proc/self/mountinfo");
	char *rest = text;
	const char *line;
	bool overlay = false;

	/* Fields: id, parent, device, root, mount point, options, …, "-", type; proc(5). */
	while ((line = strsep(&rest, "\n")) != NULL) {
		char point[VALUE_MAX];
		const char *type = strstr(line, " - ");

		if (sscanf(line, "%*s %*s %*s %*s %159s", point) == 1 && type != NULL &&
		    strcmp(point, "/") == 0)
			overlay = strncmp(type, " - overlay ", 11) == 0;
		/* A later mount on the same point hides the earlier one. */
	}
	free(text);
	return overlay;
}

/* The kind of container around us, fresh; NULL when none shows itself. */
static char *
container(const char *root)
{
	char *kind = value_of(root, "/run/systemd/container");
	char *mark = xb_asprintf("%s/run/.containerenv", root);

	if (kind == NULL && access(mark, F_OK) == 0)
		kind = xb_strdup("podman");
	free(mark);
	/* A virtual machine whose disk was made from a Docker image has the file, but no overlay. */
	mark = xb_asprintf("%s/.dockerenv", root);
	if (kind == NULL && access(mark, F_OK) == 0 && root_is_overlay(root))
		kind = xb_strdup("docker");
	free(mark);
	return kind;
}

static char *
virtualisation(const char *root, const char *cpuid_vendor, bool hypervisor_flag)
{
	const char *vendor = cpuid_vendor != NULL ? cpuid_vendor : "";
	const char *name = xb_hypervisor_of_cpuid(vendor);
	char *inside = container(root);
	char *base = NULL;
	char *text;

	if (name == NULL)
		name = hypervisor_of_files(root);
	if (name != NULL) {
		base = xb_strdup(name);
	} else if (vendor[0] != '\0') {
		char printable[64];

		xb_text_printable(printable, sizeof(printable), vendor, strlen(vendor));
		base = xb_asprintf("hypervisor \"%s\"", printable);
	} else if (hypervisor_flag) {
		base = xb_strdup("unknown hypervisor");
	} else if (cpuid_vendor != NULL && inside == NULL) {
		/* Only x86 has a flag whose absence says something. */
		base = xb_strdup("none");
	}
	if (inside == NULL)
		return base;
	text = base != NULL ? xb_asprintf("%s, %s container", base, inside)
			    : xb_asprintf("%s container", inside);
	free(base);
	free(inside);
	return text;
}

/* The limit in CPUs that one cgroup directory sets itself, INFINITY for none. */
static double
directory_quota(const char *root, const char *dir)
{
	char *max = xb_asprintf("%s/cpu.max", dir);
	char *quota = xb_asprintf("%s/cpu.cfs_quota_us", dir);
	char *period = xb_asprintf("%s/cpu.cfs_period_us", dir);
	char *v2 = value_of(root, max);
	char *v1_quota = value_of(root, quota);
	char *v1_period = value_of(root, period);
	long long used = 0;
	long long of = 0;
	char *end;

	/* "150000 100000"; no limit is "max 100000" here and -1 in version 1. */
	if (v2 != NULL) {
		used = strtoll(v2, &end, 10);
		of = strtoll(end, NULL, 10);
	} else if (v1_quota != NULL && v1_period != NULL) {
		used = strtoll(v1_quota, NULL, 10);
		of = strtoll(v1_period, NULL, 10);
	}
	free(max);
	free(quota);
	free(period);
	free(v2);
	free(v1_quota);
	free(v1_period);
	return used > 0 && of > 0 ? (double)used / (double)of : INFINITY;
}

/*
 * The smallest limit from a cgroup up to the root of its mount. Inside a container the path is
 * often the host's and does not exist below the mount; then only the mount's root, our own group,
 * is found.
 */
static double
path_quota(const char *root, const char *mount, const char *path)
{
	char *dir = xb_asprintf("%s%s", mount, strstr(path, "/..") != NULL ? "" : path);
	double least = INFINITY;

	for (;;) {
		least = fmin(least, directory_quota(root, dir));
		if (strlen(dir) <= strlen(mount))
			break;
		*strrchr(dir, '/') = '\0';
	}
	free(dir);
	return least;
}

/* "1.5 CPUs", fresh, NULL without a limit. Versions 1 and 2 of cgroups may stand together. */
static char *
cgroup_quota(const char *root)
{
	char *text = slurp(root, "/proc/self/cgroup");
	char *rest = text;
	char *line;
	char figure[32];
	double least = INFINITY;

	while ((line = strsep(&rest, "\n")) != NULL) {
		char *controllers = strchr(line, ':');
		char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
		struct xb_namelist names = { 0 };

		if (path == NULL)
			continue;
		*path++ = '\0';
		controllers++;
		xb_namelist_split(&names, controllers);
		if (controllers[0] == '\0') {
			least = fmin(least, path_quota(root, "/sys/fs/cgroup", path));
			least = fmin(least, path_quota(root, "/sys/fs/cgroup/unified", path));
		} else if (xb_namelist_has(&names, "cpu")) {
			char *mount = xb_asprintf("/sys/fs/cgroup/%s", controllers);

			least = fmin(least, path_quota(root, "/sys/fs/cgroup/cpu", path));
			least = fmin(least, path_quota(root, mount, path));
			free(mount);
		}
		xb_namelist_free(&names);
	}
	free(text);
	if (!isfinite(least))
		return NULL;
	xb_figure_format(figure, sizeof(figure), least);
	return xb_asprintf("%s %s", figure, strcmp(figure, "1") == 0 ? "CPU" : "CPUs");
}

/* Always with two decimals, proc(5); strtod would want the locale's decimal sign. */
static double
load_average(const char *root)
{
	char *text = slurp(root, "/proc/loadavg");
	double load = NAN;
	char *point;

	if (text != NULL) {
		unsigned long whole = strtoul(text, &point, 10);

		if (point != text && *point == '.')
			load = (double)whole + (double)strtoul(point + 1, NULL, 10) / 100;
	}
	free(text);
	return load;
}

static char *
environment(const char *name)
{
	return tidy(getenv(name));
}

static void
read_cpu(struct xb_host *host, const char *root, const char *cpuid_vendor)
{
	char *text = slurp(root, "/proc/cpuinfo");
	char *board = value_of(root, "/proc/device-tree/model");
	struct xb_cpuinfo info = { 0 };

	if (text != NULL)
		xb_cpuinfo_parse(text, &info);
	host->aes = info.aes;
	host->sha = info.sha;
	host->avx2 = info.avx2;
	host->avx512 = info.avx512;
	if (info.model[0] != '\0' && board != NULL)
		host->cpu_model = xb_asprintf("%s (%s)", info.model, board);
	else if (info.model[0] != '\0' || board != NULL)
		host->cpu_model = xb_strdup(board != NULL ? board : info.model);
	host->virtualisation = virtualisation(root, cpuid_vendor, info.hypervisor);
	free(text);
	free(board);
}

void
xb_hostsheet_read_root(struct xb_host *host, const char *root, const char *cpuid_vendor)
{
	struct utsname uts;

	if (uname(&uts) == 0) {
		char *kernel = xb_asprintf("%s %s", uts.sysname, uts.release);

		host->kernel = tidy(kernel);
		host->architecture = tidy(uts.machine);
		free(kernel);
	}
	host->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	read_cpu(host, root, cpuid_vendor);
	host->governor = value_of(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	host->cgroup_quota = cgroup_quota(root);
	host->load1 = load_average(root);
	host->congestion = value_of(root, "/proc/sys/net/ipv4/tcp_congestion_control");
	host->tcp_rmem = value_of(root, "/proc/sys/net/ipv4/tcp_rmem");
	host->tcp_wmem = value_of(root, "/proc/sys/net/ipv4/tcp_wmem");
	host->openssl_ia32cap = environment("OPENSSL_ia32cap");
	host->openssl_armcap = environment("OPENSSL_armcap");
}

void
xb_hostsheet_read(struct xb_host *host)
{
	char vendor[XB_CPUID_VENDOR_SIZE];

	xb_hostsheet_read_root(host, "", xb_cpuid_hypervisor(vendor));
}
