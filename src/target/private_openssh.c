#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <shadow.h>
#endif

#include "base/err.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/rundir.h"
#include "model/cipher.h"
#include "model/kex.h"
#include "model/mac.h"
#include "target/private.h"
#include "target/private_openssh_config.h"
#include "target/private_tools.h"

#define KIND "openssh"

/*
 * sshd moves a channel's buffer to larger memory with each packet until it has seen the whole window, up to
 * 2.4 MiB. glibc's malloc takes fresh pages for each of these moves and gives the old ones back: where
 * page faults are dear, the first 5 MB of a session take a second, which a bulk transfer pays once and a
 * short trial would take for the rate. With these thresholds the pages stay and are used again; the stream
 * itself allocates nothing.
 */
#define STEADY_MALLOC \
	"GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=268435456"

/* Where sshd wants to find an empty directory when it starts as root, on Debian and its kin. */
#define PRIVSEP_DIR "/run/sshd"

/*
 * The same for everybody. What an old sshd does not know is of no use to us either, except where it
 * says who may come in. Compression is allowed, for clients that ask for it; by default none does.
 */
static const struct {
	const char *text;
	bool optional;
} fixed_lines[] = {
	{ "PubkeyAuthentication yes", false },
	{ "PasswordAuthentication no", false },
	{ "PermitRootLogin prohibit-password", false },
	/* The run directory is private by itself; what lies above it is not judged. */
	{ "StrictModes no", false },
	{ "KbdInteractiveAuthentication no", true },
	{ "HostbasedAuthentication no", true },
	{ "PermitUserEnvironment no", true },
	{ "PermitUserRC no", true },
	{ "PermitTTY no", true },
	{ "AllowTcpForwarding no", true },
	{ "AllowAgentForwarding no", true },
	{ "AllowStreamLocalForwarding no", true },
	{ "X11Forwarding no", true },
	{ "PermitTunnel no", true },
	{ "UseDNS no", true },
	{ "PrintMotd no", true },
	{ "PrintLastLog no", true },
	{ "Compression yes", true },
	{ "Subsystem sftp internal-sftp", true },
	{ "LogLevel INFO", true },
	{ "PidFile none", true },
	{ "MaxAuthTries 6", true },
	{ "LoginGraceTime 30", true },
};

/* Where the parts of sshd 9.8 and newer are installed, seen from sshd itself. */
static const char *const part_dirs[] = { "../lib/openssh", "../libexec", "../libexec/openssh",
	"../lib/ssh", ".", NULL };

static const char *const log_noise[] = {
	"Accepted *",
	"Connection closed by *",
	"Connection from *",
	"Disconnected from *",
	"Received disconnect from *",
	"Starting session: *",
	NULL,
};

/* True when the account's password is locked, which sshd without PAM takes for a locked account. */
static bool
is_locked(const char *user)
{
#ifdef __linux__
	const struct spwd *shadow;

	/* Nobody but root can see it: others' servers cannot, and let the user in. */
	shadow = geteuid() == 0 ? getspnam(user) : NULL;
	return shadow != NULL && shadow->sp_pwdp != NULL && shadow->sp_pwdp[0] == '!';
#else
	(void)user;
	return false;
#endif
}

/* The user as a pattern for AllowUsers, in which "@" and others have a meaning: "?" is any of them. */
static char *
user_pattern(const char *user)
{
	char *pattern = xb_strdup(user);

	for (char *c = pattern; *c != '\0'; c++) {
		if (!isalnum((unsigned char)*c) && strchr("._-", *c) == NULL)
			*c = '?';
	}
	return pattern;
}

/* Where sshd finds its parts when it is not where it was built for. */
static void
add_parts(struct xb_sshd_config *config, const char *sshd)
{
	char *session = xb_tool_beside(sshd, part_dirs, "sshd-session");
	char *auth = xb_tool_beside(sshd, part_dirs, "sshd-auth");

	if (session != NULL)
		xb_sshd_config_add(config, xb_asprintf("SshdSessionPath \"%s\"", session), true);
	if (auth != NULL)
		xb_sshd_config_add(config, xb_asprintf("SshdAuthPath \"%s\"", auth), true);
	free(session);
	free(auth);
}

static void
add_lines(struct xb_sshd_config *config, const char *sshd, const char *user,
    const struct xb_private_files *files, const char *home, bool use_pam)
{
	char *pattern = user_pattern(user);
	char *key;

	for (size_t i = 0; i < files->hostkeys.count; i++) {
		key = xb_tool_private_key(files->hostkeys.names[i]);
		xb_sshd_config_add(config, xb_asprintf("HostKey \"%s\"", key), false);
		free(key);
	}
	xb_sshd_config_add(config, xb_asprintf("AuthorizedKeysFile \"%s.pub\"", files->identity),
	    false);
	xb_sshd_config_add(config, xb_asprintf("AllowUsers %s", pattern), false);
	/* The profile that the user's shell would read belongs to no measurement: it can take longer
	 * than the login, and may print. */
	xb_sshd_config_add(config, xb_asprintf("SetEnv \"HOME=%s\"", home), true);
	xb_sshd_config_add(config, xb_asprintf("UsePAM %s", use_pam ? "yes" : "no"), !use_pam);
	for (size_t i = 0; i < sizeof(fixed_lines) / sizeof(fixed_lines[0]); i++)
		xb_sshd_config_add(config, xb_strdup(fixed_lines[i].text), fixed_lines[i].optional);
	add_parts(config, sshd);
	free(pattern);
}

/* One line for each algorithm that we know: sshd checks them all. Its own choice of key exchanges is
 * left alone, but where they are what is measured. */
static void
add_candidates(struct xb_sshd_config *config, bool every_hostkey)
{
	for (size_t i = 0; i < xb_cipher_count; i++)
		xb_sshd_config_offer(config, "Ciphers", xb_ciphers[i].name);
	for (size_t i = 0; i < xb_mac_count; i++)
		xb_sshd_config_offer(config, "MACs", xb_macs[i].name);
	if (!every_hostkey)
		return;
	for (size_t i = 0; i < xb_kex_count; i++)
		xb_sshd_config_offer(config, "KexAlgorithms", xb_kexes[i].name);
	for (size_t i = 0; i < xb_hostkey_count; i++)
		xb_sshd_config_offer(config, "HostKeyAlgorithms", xb_hostkeys[i].name);
}

/* Finds out what this sshd knows and takes, and writes its configuration. */
static bool
configure(struct xb_sshd_config *config, const char *sshd, const char *user, bool locked,
    bool every_hostkey, struct xb_err *err)
{
	static const char *const options[] = { "Ciphers", "MACs", "KexAlgorithms",
		"HostKeyAlgorithms" };
	char output[XB_TOOL_OUTPUT];

	add_candidates(config, every_hostkey);
	if (!xb_sshd_config_settle(config, sshd, output, err))
		return false;
	/* It says so, and goes on without. */
	if (locked && strstr(output, "nsupported option UsePAM") != NULL)
		return xb_fail(err, XB_FAULT_TARGET,
		    "account '%s' cannot log in: its password is locked (see passwd -S %s), and %s has "
		    "no PAM to look past that; run as an ordinary user, or through sudo from one",
		    user, user, sshd);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		xb_sshd_config_join(config, options[i]);
	return xb_sshd_config_settle(config, sshd, output, err);
}

/* A path that sshd's configuration file can hold: no quotes, no line ends, no "%h" and the like. */
static bool
check_path(const char *path, struct xb_err *err)
{
	for (const char *c = path; *c != '\0'; c++) {
		if (strchr("\"\\%", *c) != NULL || iscntrl((unsigned char)*c))
			return xb_fail(err, XB_FAULT_SYSTEM,
			    "sshd cannot be told of the run directory: its path has a quote, a "
			    "backslash, a percent sign or a control character; set TMPDIR to a plain "
			    "path");
	}
	return true;
}

static void
make_argv(struct xb_private_files *files, const char *sshd, const char *config)
{
	const char *const argv[] = { sshd, "-i", "-f", config, "-E", files->log };

	for (size_t i = 0; i < sizeof(argv) / sizeof(argv[0]); i++)
		xb_tool_append(&files->argv, argv[i]);
}

static bool
prepare(const struct xb_private_options *options, const char *program, const char *user,
    struct xb_private_files *files, struct xb_err *err)
{
	const char *home = xb_rundir_path(options->dir);
	const bool locked = is_locked(user);
	struct xb_sshd_config config;
	bool ok;

	xb_sshd_config_init(&config, xb_rundir_file(options->dir, KIND "-sshd_config"));
	xb_tool_name_files(files, options, KIND);
	xb_tool_append(&files->env, STEADY_MALLOC);
	make_argv(files, program, config.path);
	ok = check_path(home, err) && xb_tool_make_hostkeys(files, options, KIND, program, err) &&
	    xb_tool_make_identity(files, program, err);
	if (ok) {
		add_lines(&config, program, user, files, home, locked);
		ok = configure(&config, program, user, locked, options->every_hostkey, err);
	}
	xb_sshd_config_free(&config);
	return ok;
}

/* Tells by its time that the directory is one of ours, also to a run beside or after this one. */
static const struct timespec made_by_us = { .tv_sec = 1 };

/* sshd wants the directory only when it is started by root. */
static void
before_start(struct xb_private_files *files)
{
	const struct timespec times[2] = { made_by_us, made_by_us };
	struct stat st;

	if (geteuid() != 0)
		return;
	/* Where it cannot be made, sshd tells which one it misses: other builds want another. */
	if (mkdir(PRIVSEP_DIR, 0755) == 0) {
		chmod(PRIVSEP_DIR, 0755);
		utimensat(AT_FDCWD, PRIVSEP_DIR, times, 0);
	}
	if (files->made == NULL && lstat(PRIVSEP_DIR, &st) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_mtim.tv_sec == made_by_us.tv_sec && st.st_mtim.tv_nsec == made_by_us.tv_nsec)
		files->made = xb_strdup(PRIVSEP_DIR);
}

/* True when any sshd runs on this machine. */
static bool
sshd_runs(void)
{
	const struct dirent *entry;
	bool found = false;
	char name[32];
	DIR *dir;

	dir = opendir("/proc");
	while (dir != NULL && !found && (entry = readdir(dir)) != NULL) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    xb_proc_name((pid_t)strtoimax(entry->d_name, NULL, 10), name, sizeof(name)))
			found = strncmp(name, "sshd", 4) == 0;
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

/* Ours are gone by now. Another, which was started meanwhile, needs the directory at each login. */
static void
after_all(struct xb_private_files *files)
{
	if (files->made != NULL && !sshd_runs())
		rmdir(files->made);
}

const struct xb_private_kind xb_private_openssh = {
	.name = KIND,
	.program = "sshd",
	.missing =
	    "no sshd is installed to measure against on this machine; install openssh-server, "
	    "name one by --sshd PATH, or give a HOST",
	.prepare = prepare,
	.before_start = before_start,
	.after_all = after_all,
	.log_noise = log_noise,
};
