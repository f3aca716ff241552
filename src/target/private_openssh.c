#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <shadow.h>
#endif

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/rundir.h"
#include "base/text.h"
#include "model/cipher.h"
#include "model/mac.h"
#include "model/namelist.h"
#include "target/private.h"

/* Time for each run of ssh-keygen and sshd -t. */
#define TOOL_TIMEOUT_NS (10 * XB_NS_PER_SECOND)

/* More than this of a tool's output tells nothing new. */
#define TOOL_OUTPUT 8192

/* Longer than all names of our tables together. */
#define JOINED_MAX 4096

/* Where sshd wants to find an empty directory when it starts as root, on Debian and its kin. */
#define PRIVSEP_DIR "/run/sshd"

/* One line of the configuration. Its number is what sshd complains by, so none is ever removed. */
struct line {
	char *text;
	bool optional; /* may be dropped when this sshd does not know it */
	bool dropped;
	const char *name; /* of the algorithm that it asks for, NULL: none; static */
};

struct config {
	char *path;
	size_t count;
	struct line *lines;
};

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

static const char *const tool_dirs[] = { "../bin", ".", NULL };

static const char *const log_noise[] = {
	"Accepted ",
	"Connection closed by ",
	"Connection from ",
	"Disconnected from ",
	"Received disconnect from ",
	"Starting session: ",
	NULL,
};

static void
config_free(struct config *config)
{
	for (size_t i = 0; i < config->count; i++)
		free(config->lines[i].text);
	free(config->lines);
	free(config->path);
	*config = (struct config){ 0 };
}

/* Takes text over. */
static void
config_add(struct config *config, char *text, bool optional, const char *name)
{
	config->lines = xb_grow(config->lines, config->count, sizeof(*config->lines));
	config->lines[config->count++] = (struct line){
		.text = text,
		.optional = optional,
		.name = name,
	};
}

static bool
config_write(const struct config *config, struct xb_err *err)
{
	FILE *out = fopen(config->path, "we");
	bool ok = out != NULL;

	for (size_t i = 0; ok && i < config->count; i++)
		ok = fprintf(out, "%s%s\n", config->lines[i].dropped ? "# " : "",
			 config->lines[i].text) > 0;
	if (out != NULL && fclose(out) != 0)
		ok = false;
	return ok || xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", config->path);
}

/* Drops the optional lines that sshd complains about, "FILE line 7: …" or "FILE: line 7: …". Returns
 * how many. */
static unsigned
config_drop(struct config *config, const char *output)
{
	unsigned dropped = 0;
	uintmax_t number;

	for (const char *at = output; (at = strstr(at, "line ")) != NULL;) {
		at += strlen("line ");
		number = strtoumax(at, NULL, 10);
		if (number < 1 || number > config->count)
			continue;
		if (config->lines[number - 1].optional && !config->lines[number - 1].dropped) {
			config->lines[number - 1].dropped = true;
			dropped++;
		}
	}
	return dropped;
}

/* Asks sshd what it thinks of the file. output has TOOL_OUTPUT bytes. */
static bool
config_test(const struct config *config, const char *program, char *output, bool *accepted,
    struct xb_err *err)
{
	const char *const argv[] = { program, "-t", "-f", config->path, NULL };
	int status;

	if (!config_write(config, err) ||
	    !xb_child_capture(argv, TOOL_TIMEOUT_NS, output, TOOL_OUTPUT, &status, err))
		return false;
	*accepted = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return true;
}

/*
 * Makes sshd accept the file by dropping what it does not know. Of unknown options it lists all at
 * once, of unknown algorithms the first: each costs one start.
 */
static bool
config_settle(struct config *config, const char *program, char *output, struct xb_err *err)
{
	char reason[400];
	bool accepted;

	for (;;) {
		if (!config_test(config, program, output, &accepted, err))
			return false;
		if (accepted)
			return true;
		if (config_drop(config, output) == 0)
			break;
	}
	xb_text_printable(reason, sizeof(reason), output, strlen(output));
	return xb_fail(err, XB_FAULT_TARGET, "%s refuses to start: %s", program,
	    reason[0] != '\0' ? reason : "it gives no reason");
}

/* A program in one of the directories, which are relative to where sshd really lies: a link to it may
 * lie anywhere. Fresh, NULL when there is none. */
static char *
find_beside(const char *sshd, const char *const *dirs, const char *name)
{
	char *real = realpath(sshd, NULL);
	char *found = NULL;
	char *path, *slash, *program;

	slash = real != NULL ? strrchr(real, '/') : NULL;
	if (slash != NULL)
		*slash = '\0';
	for (; slash != NULL && found == NULL && *dirs != NULL; dirs++) {
		path = xb_asprintf("%s/%s/%s", real, *dirs, name);
		program = xb_child_find_program(path);
		if (program != NULL)
			found = realpath(program, NULL);
		free(program);
		free(path);
	}
	free(real);
	return found;
}

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

/* Makes a key pair without a passphrase: Ed25519, or ECDSA where FIPS rules forbid that. */
static bool
make_key(const char *keygen, const char *path, struct xb_err *err)
{
	static const char *const types[] = { "ed25519", "ecdsa" };
	char output[TOOL_OUTPUT], reason[300];
	int status;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const char *const argv[] = { keygen, "-q", "-t", types[i], "-N", "", "-C",
			"xferbench", "-f", path, NULL };

		if (!xb_child_capture(argv, TOOL_TIMEOUT_NS, output, sizeof(output), &status, err))
			return false;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			return true;
	}
	xb_text_printable(reason, sizeof(reason), output, strlen(output));
	return xb_fail(err, XB_FAULT_TARGET, "%s makes no key: %s", keygen,
	    reason[0] != '\0' ? reason : "it gives no reason");
}

static bool
make_keys(const char *sshd, const struct xb_private_files *files, const char *hostkey,
    struct xb_err *err)
{
	char *keygen = find_beside(sshd, tool_dirs, "ssh-keygen");
	bool ok;

	if (keygen == NULL)
		keygen = xb_child_find_program("ssh-keygen");
	if (keygen == NULL)
		return xb_fail(err, XB_FAULT_TARGET,
		    "a private SSH server needs ssh-keygen, which is neither beside %s nor in PATH; "
		    "install openssh-client",
		    sshd);
	ok = make_key(keygen, hostkey, err) && make_key(keygen, files->identity, err);
	free(keygen);
	return ok;
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
add_parts(struct config *config, const char *sshd)
{
	char *session = find_beside(sshd, part_dirs, "sshd-session");
	char *auth = find_beside(sshd, part_dirs, "sshd-auth");

	if (session != NULL)
		config_add(config, xb_asprintf("SshdSessionPath \"%s\"", session), true, NULL);
	if (auth != NULL)
		config_add(config, xb_asprintf("SshdAuthPath \"%s\"", auth), true, NULL);
	free(session);
	free(auth);
}

static void
add_lines(struct config *config, const char *sshd, const char *user, const char *hostkey,
    const char *identity, const char *home, bool use_pam)
{
	char *pattern = user_pattern(user);

	config_add(config, xb_asprintf("HostKey \"%s\"", hostkey), false, NULL);
	config_add(config, xb_asprintf("AuthorizedKeysFile \"%s.pub\"", identity), false, NULL);
	config_add(config, xb_asprintf("AllowUsers %s", pattern), false, NULL);
	/* The profile that the user's shell would read belongs to no measurement: it can take longer
	 * than the login, and may print. */
	config_add(config, xb_asprintf("SetEnv \"HOME=%s\"", home), true, NULL);
	config_add(config, xb_asprintf("UsePAM %s", use_pam ? "yes" : "no"), !use_pam, NULL);
	for (size_t i = 0; i < sizeof(fixed_lines) / sizeof(fixed_lines[0]); i++)
		config_add(config, xb_strdup(fixed_lines[i].text), fixed_lines[i].optional, NULL);
	add_parts(config, sshd);
	free(pattern);
}

/* One line for each algorithm that we know: sshd believes the first and checks them all. */
static void
add_candidates(struct config *config)
{
	for (size_t i = 0; i < xb_cipher_count; i++)
		config_add(config, xb_asprintf("Ciphers +%s", xb_ciphers[i].name), true,
		    xb_ciphers[i].name);
	for (size_t i = 0; i < xb_mac_count; i++)
		config_add(config, xb_asprintf("MACs +%s", xb_macs[i].name), true, xb_macs[i].name);
}

/* Puts one line in the place of those that named one algorithm each. "+" adds to sshd's own list, so
 * that its preference stays what it is without us. */
static void
join_candidates(struct config *config, size_t first, const char *option)
{
	const size_t len = strlen(option);
	struct xb_namelist taken = { 0 };
	char *joined;

	for (size_t i = first; i < config->count; i++) {
		struct line *line = &config->lines[i];

		if (line->name == NULL || strncmp(line->text, option, len) != 0)
			continue;
		if (!line->dropped)
			xb_namelist_add_once(&taken, line->name);
		line->dropped = true;
	}
	joined = xb_namelist_join(&taken, ",", JOINED_MAX);
	if (taken.count > 0)
		config_add(config, xb_asprintf("%s +%s", option, joined), false, NULL);
	free(joined);
	xb_namelist_free(&taken);
}

/* Finds out what this sshd knows and takes, and writes its configuration. */
static bool
configure(struct config *config, const char *sshd, const char *user, bool locked,
    struct xb_err *err)
{
	const size_t first = config->count;
	char output[TOOL_OUTPUT];

	add_candidates(config);
	if (!config_settle(config, sshd, output, err))
		return false;
	/* It says so, and goes on without. */
	if (locked && strstr(output, "nsupported option UsePAM") != NULL)
		return xb_fail(err, XB_FAULT_TARGET,
		    "account '%s' cannot log in: its password is locked (see passwd -S %s), and %s has "
		    "no PAM to look past that; run as an ordinary user, or through sudo from one",
		    user, user, sshd);
	join_candidates(config, first, "Ciphers");
	join_candidates(config, first, "MACs");
	return config_settle(config, sshd, output, err);
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
	const size_t count = sizeof(argv) / sizeof(argv[0]);

	files->argv = xb_calloc(count + 1, sizeof(*files->argv));
	for (size_t i = 0; i < count; i++)
		files->argv[i] = xb_strdup(argv[i]);
}

static bool
prepare(const struct xb_private_options *options, const char *program, const char *user,
    struct xb_private_files *files, struct xb_err *err)
{
	struct config config = { .path = xb_rundir_file(options->dir, "sshd_config") };
	char *hostkey = xb_rundir_file(options->dir, "host_key");
	const bool locked = is_locked(user);
	bool ok;

	files->identity = xb_rundir_file(options->dir, "user_key");
	files->known_hosts = xb_rundir_file(options->dir, "known_hosts");
	files->hostkey_pub = xb_rundir_file(options->dir, "host_key.pub");
	files->log = xb_rundir_file(options->dir, "sshd.log");
	make_argv(files, program, config.path);
	ok = check_path(xb_rundir_path(options->dir), err) &&
	    make_keys(program, files, hostkey, err);
	if (ok) {
		add_lines(&config, program, user, hostkey, files->identity,
		    xb_rundir_path(options->dir), locked);
		ok = configure(&config, program, user, locked, err);
	}
	config_free(&config);
	free(hostkey);
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
	.name = "openssh",
	.program = "sshd",
	.missing =
	    "no sshd is installed to measure against on this machine; install openssh-server, "
	    "name one by --sshd PATH, or give a HOST",
	.prepare = prepare,
	.before_start = before_start,
	.after_all = after_all,
	.log_noise = log_noise,
};
