#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/cpuinfo.h"
#include "bench/hostsheet.h"
#include "model/host.h"

/* A directory that stands for the root of some machine. */
static char root[4096];

static int
new_root(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(root, sizeof(root), "%s/xb-hostsheet-XXXXXX", tmp != NULL ? tmp : "/tmp");
	return mkdtemp(root) == NULL ? -1 : 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int
drop_root(void **state)
{
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void
put_bytes(const char *path, const char *bytes, size_t len)
{
	char *full = xb_asprintf("%s%s", root, path);
	FILE *file;

	for (char *slash = full + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		assert_true(mkdir(full, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	free(full);
}

static void
put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static struct xb_host
sheet(const char *cpuid_vendor)
{
	struct xb_host host = { 0 };

	xb_hostsheet_read_root(&host, root, cpuid_vendor);
	return host;
}

static void
assert_quota(const char *expected)
{
	struct xb_host host = sheet("");

	if (expected == NULL)
		assert_null(host.cgroup_quota);
	else
		assert_string_equal(host.cgroup_quota, expected);
	xb_host_free(&host);
}

static void
assert_virtualisation(const char *cpuid_vendor, const char *expected)
{
	struct xb_host host = sheet(cpuid_vendor);

	if (expected == NULL)
		assert_null(host.virtualisation);
	else
		assert_string_equal(host.virtualisation, expected);
	xb_host_free(&host);
}

static void
x86_flags_are_whole_words(void **state)
{
	struct xb_cpuinfo info;

	(void)state;
	xb_cpuinfo_parse("processor\t: 0\nmodel name\t: Intel(R) Xeon(R) E5-2650 0 @ 2.00GHz\n"
			 "flags\t\t: fpu vaes aeskle sha512 avx avx512vl hypervisor2\n",
	    &info);
	assert_string_equal(info.model, "Intel(R) Xeon(R) E5-2650 0 @ 2.00GHz");
	assert_false(info.aes);
	assert_false(info.sha);
	assert_false(info.avx2);
	assert_false(info.avx512);
	assert_false(info.hypervisor);
	xb_cpuinfo_parse("flags\t\t: fpu aes sha_ni avx2 avx512f hypervisor\n", &info);
	assert_true(info.aes);
	assert_true(info.sha);
	assert_true(info.avx2);
	assert_true(info.avx512);
	assert_true(info.hypervisor);
	assert_string_equal(info.model, "");
}

static void
arm64_is_named_by_its_cores(void **state)
{
	struct xb_cpuinfo info;

	(void)state;
	xb_cpuinfo_parse("processor\t: 0\nBogoMIPS\t: 48.00\n"
			 "Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32\n"
			 "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd05\n\n"
			 "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n"
			 "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n",
	    &info);
	assert_string_equal(info.model, "Cortex-A55 + Cortex-A76");
	assert_true(info.aes);
	assert_true(info.sha);
	assert_false(info.avx2);
	assert_false(info.hypervisor);
}

static void
armv7_without_aes_says_so(void **state)
{
	struct xb_cpuinfo info;

	(void)state;
	xb_cpuinfo_parse("processor\t: 0\nmodel name\t: ARMv7 Processor rev 1 (v7l)\n"
			 "Features\t: half thumb fastmult vfp edsp neon vfpv3 tls\n"
			 "CPU implementer\t: 0x41\nCPU part\t: 0xc09\n"
			 "Hardware\t: Marvell Armada 380/385 (Device Tree)\n",
	    &info);
	assert_string_equal(info.model, "Cortex-A9");
	assert_false(info.aes);
	assert_false(info.sha);
}

static void
unknown_core_is_given_by_its_numbers(void **state)
{
	struct xb_cpuinfo info;

	(void)state;
	xb_cpuinfo_parse("CPU implementer\t: 0x7e\nCPU part\t: 0x00d\n", &info);
	assert_string_equal(info.model, "ARM implementer 0x7e part 0x00d");
	xb_cpuinfo_parse("system type\t: MT7621\ncpu model\t: MIPS 1004Kc V2.15\n", &info);
	assert_string_equal(info.model, "MIPS 1004Kc V2.15");
}

static void
any_cpuinfo_text_is_survived(void **state)
{
	static const char *const texts[] = { "", "\n\n", ":", ":\n:", "flags",
		"flags:", "CPU part:", "CPU part: zz", "model name\t: \x1b[31mred\xff",
		"\t : x\nmodel name :" };
	struct xb_cpuinfo info;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		xb_cpuinfo_parse(texts[i], &info);
		for (const char *c = info.model; *c != '\0'; c++)
			assert_in_range((unsigned char)*c, ' ', '~');
		assert_false(info.aes);
	}
}

static void
long_model_is_cut(void **state)
{
	char text[1000] = "model name\t: ";
	struct xb_cpuinfo info;

	(void)state;
	memset(text + strlen(text), 'x', sizeof(text) - strlen(text) - 1);
	xb_cpuinfo_parse(text, &info);
	assert_in_range(strlen(info.model), 100, sizeof(info.model) - 1);
}

static void
cpuid_letters_name_the_hypervisor(void **state)
{
	(void)state;
	assert_string_equal(xb_hypervisor_of_cpuid("KVMKVMKVM"), "KVM");
	assert_string_equal(xb_hypervisor_of_cpuid("VMwareVMware"), "VMware");
	assert_string_equal(xb_hypervisor_of_cpuid("XenVMMXenVMM"), "Xen");
	assert_string_equal(xb_hypervisor_of_cpuid("Microsoft Hv"), "Hyper-V");
	assert_null(xb_hypervisor_of_cpuid("SomethingNew"));
	assert_null(xb_hypervisor_of_cpuid(""));
}

static void
bare_cloud_machine_is_no_guest(void **state)
{
	(void)state;
	assert_string_equal(xb_hypervisor_of_dmi("Amazon EC2", "m6g.large"), "Amazon EC2");
	assert_null(xb_hypervisor_of_dmi("Amazon EC2", "m6g.metal"));
	assert_null(xb_hypervisor_of_dmi("Microsoft Corporation", "Surface Pro"));
	assert_string_equal(xb_hypervisor_of_dmi("Microsoft Corporation", "Virtual Machine"),
	    "Hyper-V");
	assert_null(xb_hypervisor_of_dmi("Dell Inc.", NULL));
	assert_null(xb_hypervisor_of_dmi(NULL, NULL));
}

static void
virtualisation_is_unknown_rather_than_none(void **state)
{
	(void)state;
	/* No CPUID, as on ARM: silence says nothing. */
	assert_virtualisation(NULL, NULL);
	assert_virtualisation("", "none");
	assert_virtualisation("KVMKVMKVM", "KVM");
	assert_virtualisation("New\x01 Thing", "hypervisor \"New\\x01 Thing\"");
	put("/proc/cpuinfo", "flags : fpu hypervisor\n");
	assert_virtualisation("", "unknown hypervisor");
	put("/sys/class/dmi/id/sys_vendor", "QEMU\n");
	put("/sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
	assert_virtualisation(NULL, "QEMU");
	put("/sys/hypervisor/type", "xen\n");
	assert_virtualisation("", "Xen");
}

static void
device_tree_names_board_and_hypervisor(void **state)
{
	static const char compatible[] = "linux,kvm";
	struct xb_host host;

	(void)state;
	put("/proc/cpuinfo", "Features : fp\nCPU implementer : 0x41\nCPU part : 0xd08\n");
	put_bytes("/proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.1", 31);
	put_bytes("/proc/device-tree/hypervisor/compatible", compatible, sizeof(compatible));
	host = sheet(NULL);
	assert_string_equal(host.cpu_model, "Cortex-A72 (Raspberry Pi 4 Model B Rev 1.1)");
	assert_string_equal(host.virtualisation, "KVM");
	xb_host_free(&host);
}

static void
docker_image_as_a_disk_is_no_container(void **state)
{
	(void)state;
	put("/.dockerenv", "");
	put("/proc/self/mountinfo",
	    "21 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
	    "22 21 0:20 / /merged rw - overlay overlay rw\n");
	assert_virtualisation("KVMKVMKVM", "KVM");
	put("/proc/self/mountinfo",
	    "21 1 254:0 / / rw,relatime - rootfs rootfs rw\n"
	    "22 21 0:20 / / rw,relatime shared:1 - overlay overlay rw\n");
	assert_virtualisation("KVMKVMKVM", "KVM, docker container");
	assert_virtualisation("", "docker container");
	put("/run/systemd/container", "lxc\n");
	assert_virtualisation(NULL, "lxc container");
}

static void
cgroup2_limit_of_a_parent_counts(void **state)
{
	(void)state;
	assert_quota(NULL);
	put("/proc/self/cgroup", "0::/user.slice/run.scope\n");
	put("/sys/fs/cgroup/user.slice/run.scope/cpu.max", "max 100000\n");
	assert_quota(NULL);
	put("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
	assert_quota("1.5 CPUs");
	put("/sys/fs/cgroup/user.slice/run.scope/cpu.max", "400000 100000\n");
	assert_quota("1.5 CPUs");
	put("/sys/fs/cgroup/user.slice/run.scope/cpu.max", "50000 50000\n");
	assert_quota("1 CPU");
}

static void
cgroup1_limit_is_found_inside_a_container(void **state)
{
	(void)state;
	/* The path is the host's: below our mount there is only our own group. */
	put("/proc/self/cgroup", "5:memory:/docker/0a1b\n4:cpu,cpuacct:/docker/0a1b\n0::/\n");
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	assert_quota(NULL);
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "25000\n");
	assert_quota("0.25 CPUs");
}

static void
other_controllers_and_trash_are_no_limit(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "3:cpuset:/a\n2:cpuacct:/a\ntrash\n1:\n0::/../b\n");
	put("/sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "1000\n");
	put("/sys/fs/cgroup/cpuset/cpu.cfs_period_us", "100000\n");
	put("/sys/fs/b/cpu.max", "1000 100000\n");
	put("/sys/fs/cgroup/cpu.max", "10 0\n");
	assert_quota(NULL);
	put("/sys/fs/cgroup/cpu.max", "-5 100000\n");
	assert_quota(NULL);
}

static void
sheet_of_an_empty_root_is_empty(void **state)
{
	struct xb_host host = sheet(NULL);

	(void)state;
	assert_null(host.cpu_model);
	assert_null(host.governor);
	assert_null(host.congestion);
	assert_null(host.tcp_rmem);
	assert_null(host.tcp_wmem);
	assert_true(isnan(host.load1));
	/* uname and sysconf have no root. */
	assert_true(strncmp(host.kernel, "Linux ", 6) == 0);
	assert_non_null(host.architecture);
	assert_true(host.cpus >= 1);
	xb_host_free(&host);
}

static void
values_are_read_and_tidied(void **state)
{
	struct xb_host host;

	(void)state;
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	put("/proc/loadavg", "12.07 0.52 0.10 2/345 6789\n");
	put("/proc/sys/net/ipv4/tcp_congestion_control", "cubic\n");
	put("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
	put("/proc/sys/net/ipv4/tcp_wmem", "4096\t16384\t4194304\n");
	assert_int_equal(setenv("OPENSSL_ia32cap", "~0x200000200000000:~0x0", 1), 0);
	assert_int_equal(setenv("OPENSSL_armcap", "0x0\n\x1b[2J", 1), 0);
	host = sheet("");
	assert_string_equal(host.governor, "powersave");
	assert_true(host.load1 > 12.069 && host.load1 < 12.071);
	assert_string_equal(host.congestion, "cubic");
	assert_string_equal(host.tcp_rmem, "4096 131072 6291456");
	assert_string_equal(host.tcp_wmem, "4096 16384 4194304");
	assert_string_equal(host.openssl_ia32cap, "~0x200000200000000:~0x0");
	assert_null(strchr(host.openssl_armcap, '\x1b'));
	assert_null(strchr(host.openssl_armcap, '\n'));
	xb_host_free(&host);
	assert_int_equal(unsetenv("OPENSSL_ia32cap"), 0);
	assert_int_equal(unsetenv("OPENSSL_armcap"), 0);
	host = sheet("");
	assert_null(host.openssl_ia32cap);
	assert_null(host.openssl_armcap);
	xb_host_free(&host);
}

static void
this_machine_has_a_sheet(void **state)
{
	struct xb_host host = { 0 };

	(void)state;
	xb_hostsheet_read(&host);
	assert_non_null(host.kernel);
	assert_true(host.load1 >= 0);
#if defined(__x86_64__)
	assert_non_null(host.cpu_model);
	assert_non_null(host.virtualisation);
#endif
	xb_host_free(&host);
	assert_null(host.kernel);
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, new_root, drop_root)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_flags_are_whole_words),
		cmocka_unit_test(arm64_is_named_by_its_cores),
		cmocka_unit_test(armv7_without_aes_says_so),
		cmocka_unit_test(unknown_core_is_given_by_its_numbers),
		cmocka_unit_test(any_cpuinfo_text_is_survived),
		cmocka_unit_test(long_model_is_cut),
		cmocka_unit_test(cpuid_letters_name_the_hypervisor),
		cmocka_unit_test(bare_cloud_machine_is_no_guest),
		WITH_ROOT(virtualisation_is_unknown_rather_than_none),
		WITH_ROOT(device_tree_names_board_and_hypervisor),
		WITH_ROOT(docker_image_as_a_disk_is_no_container),
		WITH_ROOT(cgroup2_limit_of_a_parent_counts),
		WITH_ROOT(cgroup1_limit_is_found_inside_a_container),
		WITH_ROOT(other_controllers_and_trash_are_no_limit),
		WITH_ROOT(sheet_of_an_empty_root_is_empty),
		WITH_ROOT(values_are_read_and_tidied),
		cmocka_unit_test(this_machine_has_a_sheet),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
