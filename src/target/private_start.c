#include "target/private_start.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "base/signals.h"
#include "base/text.h"
#include "target/private_account.h"
#include "target/private_listener.h"
#include "target/private_log.h"
#include "target/private_tools.h"

#define SPEAK_TIMEOUT_NS (10 * XB_NS_PER_SECOND)

/* What a server may say until its identification is over. */
#define BANNER_BYTES 1024

/* What the server needs of our environment; the rest is none of its business. */
static const char *const kept_variables[] = { "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG",
	"TZ", "LD_LIBRARY_PATH" };

/* And what decides how fast its cryptography is. */
#define KEPT_PREFIX "OPENSSL_"

/* Leaves the program's terminal, process group and way to die. */
static void
stand_alone(void)
{
	const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	/* A reader of the program's output must not wait for us. */
	if (null_fd >= 0) {
		dup2(null_fd, STDIN_FILENO);
		dup2(null_fd, STDOUT_FILENO);
		if (null_fd > STDERR_FILENO)
			close(null_fd);
	}
	/* Else it would stay ignored, in us and in all that we start. */
	signal(SIGHUP, SIG_DFL);
	xb_signals_init();
#ifdef __linux__
	prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
}

/* The program's death ends us in an orderly way. To be said again after a change of user. */
static void
end_with_program(void)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
}

static bool
is_kept(const char *assignment, size_t name_len)
{
	if (strncmp(assignment, KEPT_PREFIX, strlen(KEPT_PREFIX)) == 0)
		return true;
	for (size_t i = 0; i < sizeof(kept_variables) / sizeof(kept_variables[0]); i++) {
		if (strlen(kept_variables[i]) == name_len &&
		    strncmp(assignment, kept_variables[i], name_len) == 0)
			return true;
	}
	return false;
}

static void
reduce_environment(void)
{
	size_t kept = 0;

	for (size_t i = 0; environ != NULL && environ[i] != NULL; i++) {
		if (is_kept(environ[i], strcspn(environ[i], "=")))
			environ[kept++] = environ[i];
	}
	if (environ != NULL)
		environ[kept] = NULL;
}

/* Our environment with some assignments on top; NULL where there are none. */
static const char **
make_environment(char *const *own)
{
	const char **envp = NULL;
	size_t count = 0;

	for (; own != NULL && environ != NULL && environ[count] != NULL; count++) {
		envp = xb_grow(envp, count, sizeof(*envp));
		envp[count] = environ[count];
	}
	for (; own != NULL && *own != NULL; own++) {
		envp = xb_grow(envp, count, sizeof(*envp));
		envp[count++] = *own;
	}
	if (envp != NULL) {
		envp = xb_grow(envp, count, sizeof(*envp));
		envp[count] = NULL;
	}
	return envp;
}

/* Becomes the account that is served. */
static bool
take_account(struct xb_listener *listener, struct xb_err *err)
{
	const char *dir = xb_rundir_path(listener->options->dir);
	struct xb_account account = { 0 };
	char name[128];
	bool ok = false;

	if (!xb_account_choose(&account, err) || !xb_account_check(&account, err))
		goto out;
	if (account.other &&
	    (!xb_rundir_give(listener->options->dir, account.uid, account.gid, err) ||
		!xb_account_become(&account, err)))
		goto out;
	if (access(dir, R_OK | W_OK | X_OK) != 0) {
		xb_text_printable(name, sizeof(name), account.name, strlen(account.name));
		xb_fail_errno(err, XB_FAULT_SYSTEM,
		    "the private server runs as '%s', who cannot use %s (set TMPDIR to a "
		    "directory that everybody can reach)",
		    name, dir);
		goto out;
	}
	listener->user = xb_strdup(account.name);
	ok = true;
out:
	xb_account_free(&account);
	return ok;
}

static bool
find_server(struct xb_listener *listener, struct xb_err *err)
{
	const char *wanted = listener->options->program;
	char shown[256];

	listener->program =
	    xb_child_find_program(wanted != NULL ? wanted : listener->kind->program);
	if (listener->program != NULL)
		return true;
	if (wanted == NULL)
		return xb_fail(err, XB_FAULT_TARGET, "%s", listener->kind->missing);
	xb_text_printable(shown, sizeof(shown), wanted, strlen(wanted));
	return xb_fail(err, XB_FAULT_TARGET,
	    "cannot start '%s' as a private SSH server: there is no such program, or '%s' may not "
	    "run it",
	    shown, listener->user);
}

/* Listens on a port of the kernel's choice, for this machine alone. */
static bool
open_port(struct xb_listener *listener, struct xb_err *err)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(address);
	const int one = 1;

	listener->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* What it accepts has it too: Dropbear's daemon sets it by itself, but not with -i. */
	if (listener->socket < 0 ||
	    setsockopt(listener->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0 ||
	    bind(listener->socket, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener->socket, SOMAXCONN) != 0 ||
	    getsockname(listener->socket, (struct sockaddr *)&address, &len) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM,
		    "cannot listen on 127.0.0.1 for the private server");
	listener->port = ntohs(address.sin_port);
	return true;
}

/* Adds the line for one host key to the known_hosts file; sshd(8). */
static bool
pin_hostkey(const struct xb_listener *listener, const char *public_key, FILE *out,
    struct xb_err *err)
{
	char type[64], key[8192];
	FILE *in = fopen(public_key, "re");
	bool ok;

	if (in == NULL)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot read %s", public_key);
	ok = fscanf(in, "%63s %8191s", type, key) == 2;
	fclose(in);
	if (!ok)
		return xb_fail(err, XB_FAULT_SYSTEM, "%s holds no public key", public_key);
	if (fprintf(out, "[127.0.0.1]:%u %s %s\n", listener->port, type, key) > 0)
		return true;
	return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", listener->files.known_hosts);
}

static bool
pin_hostkeys(const struct xb_listener *listener, struct xb_err *err)
{
	const struct xb_private_files *files = &listener->files;
	FILE *out = fopen(files->known_hosts, "we");
	bool ok = true;

	if (out == NULL)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", files->known_hosts);
	for (size_t i = 0; ok && i < files->hostkeys.count; i++)
		ok = pin_hostkey(listener, files->hostkeys.names[i], out, err);
	if (fclose(out) != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", files->known_hosts);
	return ok;
}

/* Reads up to the end of the identification line. False at the end of file or of time. */
static bool
read_banner(int fd, char *version, size_t size)
{
	const int64_t deadline = xb_clock_ns() + SPEAK_TIMEOUT_NS;
	struct pollfd watch = { .fd = fd, .events = POLLIN };
	char text[BANNER_BYTES];
	const char *line, *end, *dash;
	size_t used = 0;
	ssize_t got;

	while (used < sizeof(text) - 1 && xb_clock_ns() < deadline && xb_signals_pending() == 0) {
		if (xb_signals_poll(&watch, 1, deadline) <= 0)
			continue;
		got = recv(fd, text + used, sizeof(text) - 1 - used, MSG_DONTWAIT);
		if (got <= 0)
			return false;
		used += (size_t)got;
		text[used] = '\0';
		/* "SSH-2.0-software comments", RFC 4253 section 4.2; other lines may come first. */
		line = strncmp(text, "SSH-", 4) == 0 ? text : strstr(text, "\nSSH-");
		if (line == NULL)
			continue;
		line += strcspn(line, "S");
		end = strchr(line, '\n');
		if (end == NULL)
			continue;
		dash = strchr(line + 4, '-');
		line = dash != NULL && dash < end ? dash + 1 : line;
		xb_text_printable(version, size, line, (size_t)(end - line));
		return true;
	}
	return false;
}

/* Connects like a client does and sees a server start and speak: what it says is its version. */
static bool
see_it_speak(struct xb_listener *listener, char *version, size_t size, struct xb_err *err)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((in_port_t)listener->port),
	};
	struct pollfd watch = { .fd = listener->socket, .events = POLLIN };
	const int64_t deadline = xb_clock_ns() + SPEAK_TIMEOUT_NS;
	char log[400];
	bool ok = false;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 ||
	    (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
		errno != EINPROGRESS)) {
		xb_fail_errno(err, XB_FAULT_SYSTEM,
		    "cannot connect to 127.0.0.1 port %u, where the private server listens (is the "
		    "loopback interface up?)",
		    listener->port);
		goto out;
	}
	while (xb_clock_ns() < deadline && xb_signals_pending() == 0 &&
	    xb_signals_poll(&watch, 1, deadline) <= 0)
		;
	ok = xb_listener_accept(listener) && read_banner(fd, version, size);
	if (!ok) {
		xb_private_log_tail(log, sizeof(log), listener->log_fd, 0, listener->kind);
		xb_fail(err, XB_FAULT_TARGET, "%s does not speak SSH when started: %s",
		    listener->program, log[0] != '\0' ? log : "it gives no reason");
	}
out:
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Copies a string; false when it does not fit. */
static bool
copy(char *out, size_t size, const char *text)
{
	return snprintf(out, size, "%s", text) < (int)size;
}

static bool
fill_ready(const struct xb_listener *listener, struct xb_private_ready *ready, struct xb_err *err)
{
	const struct xb_private_files *files = &listener->files;

	ready->port = listener->port;
	snprintf(ready->lacks, sizeof(ready->lacks), "%s",
	    files->lacks != NULL ? files->lacks : "");
	if (!copy(ready->user, sizeof(ready->user), listener->user) ||
	    !copy(ready->program, sizeof(ready->program), listener->program) ||
	    !copy(ready->identity, sizeof(ready->identity), files->identity) ||
	    !copy(ready->known_hosts, sizeof(ready->known_hosts), files->known_hosts) ||
	    !copy(ready->made, sizeof(ready->made), files->made != NULL ? files->made : ""))
		return xb_fail(err, XB_FAULT_SYSTEM,
		    "a name of the private server is too long (set TMPDIR to a shorter path)");
	return true;
}

bool
xb_listener_start(struct xb_listener *listener, struct xb_private_ready *ready, struct xb_err *err)
{
	const struct xb_private_kind *kind = listener->kind;

	stand_alone();
	if (!take_account(listener, err))
		return false;
	end_with_program();
	reduce_environment();
	if (!find_server(listener, err))
		return false;
	/* Whatever the program's directory is, we do not keep it busy. */
	if (chdir("/") != 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot change to /");
	umask(077);
	if (kind->before_start != NULL)
		kind->before_start(&listener->files);
	if (!kind->prepare(listener->options, listener->program, listener->user, &listener->files,
		err))
		return false;
	listener->envp = make_environment(listener->files.env);
	listener->log_fd = open(listener->files.log, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (listener->log_fd < 0)
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", listener->files.log);
	return open_port(listener, err) && pin_hostkeys(listener, err) &&
	    see_it_speak(listener, ready->version, sizeof(ready->version), err) &&
	    fill_ready(listener, ready, err);
}

bool
xb_listener_accept(struct xb_listener *listener)
{
	struct xb_child_spec spec = {
		.argv = (const char *const *)listener->files.argv,
		.envp = listener->envp,
		.stderr_fd = listener->log_fd,
		.cpu = listener->options->server_cpu,
		.new_session = true,
	};
	struct xb_err err = { 0 };
	int fd;

	fd = accept4(listener->socket, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0) {
		/* It waits on; without a pause this would be a busy loop. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			xb_signals_poll(NULL, 0, xb_clock_ns() + 10 * XB_NS_PER_MS);
		return false;
	}
	if (listener->kind->before_start != NULL)
		listener->kind->before_start(&listener->files);
	spec.stdin_fd = fd;
	spec.stdout_fd = fd;
	if (xb_child_spawn(&spec, &err) > 0)
		listener->started++;
	else
		dprintf(listener->log_fd, "%s\n", err.text);
	close(fd);
	return err.fault == XB_FAULT_NONE;
}

void
xb_listener_release(struct xb_listener *listener)
{
	struct xb_private_files *files = &listener->files;

	xb_private_cpu_free(&listener->cpu);
	if (listener->kind->after_all != NULL)
		listener->kind->after_all(files);
	xb_tool_free_strings(files->argv);
	xb_tool_free_strings(files->env);
	free(files->identity);
	free(files->known_hosts);
	xb_namelist_free(&files->hostkeys);
	free(files->log);
	free(files->lacks);
	free(files->made);
	free(listener->envp);
	free(listener->program);
	free(listener->user);
	if (listener->log_fd >= 0)
		close(listener->log_fd);
	if (listener->socket >= 0)
		close(listener->socket);
	close(listener->control);
}
