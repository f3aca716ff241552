#include "bench/cpuinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/namelist.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

struct part {
	unsigned implementer;
	unsigned part;
	const char *name;
};

/* Main ID register values of cores that run Linux: Linux, arch/arm64/include/asm/cputype.h and
 * arch/arm/include/asm/cputype.h. */
static const struct part parts[] = {
	{ 0x41, 0x926, "ARM926EJ-S" },
	{ 0x41, 0xb76, "ARM1176" },
	{ 0x41, 0xc05, "Cortex-A5" },
	{ 0x41, 0xc07, "Cortex-A7" },
	{ 0x41, 0xc08, "Cortex-A8" },
	{ 0x41, 0xc09, "Cortex-A9" },
	{ 0x41, 0xc0d, "Cortex-A12" },
	{ 0x41, 0xc0e, "Cortex-A17" },
	{ 0x41, 0xc0f, "Cortex-A15" },
	{ 0x41, 0xd01, "Cortex-A32" },
	{ 0x41, 0xd03, "Cortex-A53" },
	{ 0x41, 0xd04, "Cortex-A35" },
	{ 0x41, 0xd05, "Cortex-A55" },
	{ 0x41, 0xd07, "Cortex-A57" },
	{ 0x41, 0xd08, "Cortex-A72" },
	{ 0x41, 0xd09, "Cortex-A73" },
	{ 0x41, 0xd0a, "Cortex-A75" },
	{ 0x41, 0xd0b, "Cortex-A76" },
	{ 0x41, 0xd0c, "Neoverse-N1" },
	{ 0x41, 0xd0d, "Cortex-A77" },
	{ 0x41, 0xd40, "Neoverse-V1" },
	{ 0x41, 0xd41, "Cortex-A78" },
	{ 0x41, 0xd44, "Cortex-X1" },
	{ 0x41, 0xd46, "Cortex-A510" },
	{ 0x41, 0xd47, "Cortex-A710" },
	{ 0x41, 0xd48, "Cortex-X2" },
	{ 0x41, 0xd49, "Neoverse-N2" },
	{ 0x41, 0xd4b, "Cortex-A78C" },
	{ 0x41, 0xd4d, "Cortex-A715" },
	{ 0x41, 0xd4e, "Cortex-X3" },
	{ 0x41, 0xd4f, "Neoverse-V2" },
	{ 0x41, 0xd80, "Cortex-A520" },
	{ 0x41, 0xd81, "Cortex-A720" },
	{ 0x41, 0xd82, "Cortex-X4" },
	{ 0x41, 0xd84, "Neoverse-V3" },
	{ 0x41, 0xd8e, "Neoverse-N3" },
	{ 0x43, 0x0a1, "ThunderX" },
	{ 0x43, 0x0af, "ThunderX2" },
	{ 0x48, 0xd01, "HiSilicon TSV110" },
	{ 0x56, 0x131, "Marvell Feroceon 88FR131" },
	{ 0x56, 0x581, "Marvell PJ4" },
	{ 0x61, 0x022, "Apple M1 Icestorm" },
	{ 0x61, 0x023, "Apple M1 Firestorm" },
	{ 0x61, 0x032, "Apple M2 Blizzard" },
	{ 0x61, 0x033, "Apple M2 Avalanche" },
	{ 0xc0, 0xac3, "Ampere-1" },
};

struct sign {
	const char *text;
	const char *name;
};

/* Each hypervisor documents its own vendor string; Linux collects them in
 * arch/x86/kernel/cpu/ and arch/x86/include/asm. */
static const struct sign cpuid_signs[] = {
	{ "KVMKVMKVM", "KVM" },
	{ "Linux KVM Hv", "KVM" },
	{ "TCGTCGTCGTCG", "QEMU without KVM" },
	{ "VMwareVMware", "VMware" },
	{ "VBoxVBoxVBox", "VirtualBox" },
	{ "XenVMMXenVMM", "Xen" },
	{ "Microsoft Hv", "Hyper-V" },
	{ "bhyve bhyve ", "bhyve" },
	{ "prl hyperv  ", "Parallels" },
	{ " lrpepyh  vr", "Parallels" },
	{ "ACRNACRNACRN", "ACRN" },
	{ "___ NVMM ___", "NVMM" },
	{ "OpenBSDVMM58", "OpenBSD vmm" },
};

/* Found inside the DMI vendor or product. */
static const struct sign dmi_signs[] = {
	{ "QEMU", "QEMU" },
	{ "KVM", "KVM" },
	{ "VMware", "VMware" },
	{ "VirtualBox", "VirtualBox" },
	{ "innotek GmbH", "VirtualBox" },
	{ "Xen", "Xen" },
	{ "BHYVE", "bhyve" },
	{ "Parallels", "Parallels" },
	{ "Apple Virtualization", "Apple Virtualization" },
	{ "OpenStack", "OpenStack" },
	{ "Google Compute Engine", "KVM" },
	{ "Amazon EC2", "Amazon EC2" },
};

/* True when a blank-separated list has the word. */
static bool
has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list != '\0') {
		size_t span = strcspn(list, " \t");

		if (span == len && memcmp(list, word, len) == 0)
			return true;
		list += span;
		list += strspn(list, " \t");
	}
	return false;
}

static void
parse_flags(const char *flags, struct xb_cpuinfo *info)
{
	info->aes = has_word(flags, "aes");
	info->sha = has_word(flags, "sha_ni") || has_word(flags, "sha1") || has_word(flags, "sha2");
	info->avx2 = has_word(flags, "avx2");
	info->avx512 = has_word(flags, "avx512f");
	info->hypervisor = has_word(flags, "hypervisor");
}

static const char *
part_name(unsigned long implementer, unsigned long part)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].implementer == implementer && parts[i].part == part)
			return parts[i].name;
	return NULL;
}

/* What the lines of /proc/cpuinfo have told so far. */
struct cpuinfo_state {
	bool flags_seen;
	unsigned long implementer;
	char stated[XB_CPU_MODEL_MAX];  /* the first "model name" or its like */
	char unknown[XB_CPU_MODEL_MAX]; /* an ARM core that the table lacks, by its numbers */
	struct xb_namelist cores;
};

static void
parse_cpuinfo_line(struct cpuinfo_state *state, const char *key, const char *value,
    struct xb_cpuinfo *info)
{
	if ((strcmp(key, "flags") == 0 || strcmp(key, "Features") == 0) && !state->flags_seen) {
		parse_flags(value, info);
		state->flags_seen = true;
	} else if (strcmp(key, "model name") == 0 || strcmp(key, "cpu model") == 0 ||
	    strcmp(key, "uarch") == 0 || strcmp(key, "cpu") == 0) {
		if (state->stated[0] == '\0')
			snprintf(state->stated, sizeof(state->stated), "%s", value);
	} else if (strcmp(key, "CPU implementer") == 0) {
		state->implementer = strtoul(value, NULL, 16);
	} else if (strcmp(key, "CPU part") == 0) {
		unsigned long part = strtoul(value, NULL, 16);
		const char *name = part_name(state->implementer, part);

		if (name != NULL)
			xb_namelist_add_once(&state->cores, name);
		else
			snprintf(state->unknown, sizeof(state->unknown),
			    "ARM implementer 0x%02lx part 0x%03lx", state->implementer, part);
	}
}

void
xb_cpuinfo_parse(const char *text, struct xb_cpuinfo *info)
{
	struct cpuinfo_state state = { 0 };
	char *copy = xb_strdup(text);
	char *rest = copy;
	char *line;

	*info = (struct xb_cpuinfo){ 0 };
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *value = strchr(line, ':');
		size_t len;

		if (value == NULL)
			continue;
		*value++ = '\0';
		for (len = strlen(line); len > 0 && strchr(" \t", line[len - 1]) != NULL; len--)
			line[len - 1] = '\0';
		parse_cpuinfo_line(&state, line, value + strspn(value, " \t"), info);
	}
	/* 32-bit ARM also has a "model name", which tells no more than the architecture. */
	if (state.cores.count > 0) {
		char *joined = xb_namelist_join(&state.cores, " + ", sizeof(info->model) - 1);

		snprintf(info->model, sizeof(info->model), "%s", joined);
		free(joined);
	} else {
		const char *told = state.stated[0] != '\0' ? state.stated : state.unknown;

		xb_text_printable(info->model, sizeof(info->model), told, strlen(told));
	}
	xb_namelist_free(&state.cores);
	free(copy);
}

const char *
xb_hypervisor_of_cpuid(const char *vendor)
{
	for (size_t i = 0; i < sizeof(cpuid_signs) / sizeof(cpuid_signs[0]); i++)
		if (strcmp(cpuid_signs[i].text, vendor) == 0)
			return cpuid_signs[i].name;
	return NULL;
}

const char *
xb_hypervisor_of_dmi(const char *vendor, const char *product)
{
	vendor = vendor != NULL ? vendor : "";
	product = product != NULL ? product : "";
	/* The cloud's bare machines: "c5.metal". */
	if (strstr(product, ".metal") != NULL)
		return NULL;
	if (strcmp(vendor, "Microsoft Corporation") == 0 && strcmp(product, "Virtual Machine") == 0)
		return "Hyper-V";
	for (size_t i = 0; i < sizeof(dmi_signs) / sizeof(dmi_signs[0]); i++)
		if (strstr(vendor, dmi_signs[i].text) != NULL ||
		    strstr(product, dmi_signs[i].text) != NULL)
			return dmi_signs[i].name;
	return NULL;
}

const char *
xb_cpuid_hypervisor(char vendor[XB_CPUID_VENDOR_SIZE])
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned eax;
	unsigned ebx;
	unsigned ecx;
	unsigned edx;

	memset(vendor, 0, XB_CPUID_VENDOR_SIZE);
	if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 1 && (ecx >> 31 & 1) == 1) {
		__cpuid(0x40000000, eax, ebx, ecx, edx);
		memcpy(vendor, &ebx, 4);
		memcpy(vendor + 4, &ecx, 4);
		memcpy(vendor + 8, &edx, 4);
	}
	return vendor;
#else
	vendor[0] = '\0';
	return NULL;
#endif
}
