#include "client/openssh_argv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/openssh_programs.h"
#include "target/target.h"

/* For all three programs, whatever the target. */
static const char *const common[] = {
	/* A live master would lend us its connection, with its cipher. */
	"ControlPath=none", "ControlMaster=no", "ControlPersist=no",
	/* What the log has to tell us is at this level. */
	"LogLevel=DEBUG1",
	/* Nothing but the one session. */
	"ClearAllForwardings=yes", "ExitOnForwardFailure=no", "ForwardAgent=no", "ForwardX11=no",
	"Tunnel=no", "RemoteCommand=none", "RequestTTY=no", "PermitLocalCommand=no",
	"EscapeChar=none",
	/* No questions, and nothing that is learnt from us. */
	"BatchMode=yes", "ConnectionAttempts=1", "VisualHostKey=no", "UpdateHostKeys=no",
	"AddKeysToAgent=no", NULL
};

/* For those whose ssh has them (8.7 and later). */
static const char *const newer[] = { "StdinNull=no", "ForkAfterAuthentication=no", NULL };

static const char *const private_target[] = { "IdentitiesOnly=yes", "IdentityAgent=none",
	"PreferredAuthentications=publickey", NULL };

static void
add_owned(struct xb_openssh_argv *argv, char *word)
{
	argv->words = xb_reallocarray(argv->words, argv->count + 2, sizeof(*argv->words));
	argv->words[argv->count++] = word;
	argv->words[argv->count] = NULL;
}

static void
add(struct xb_openssh_argv *argv, const char *word)
{
	add_owned(argv, xb_strdup(word));
}

static void
add_options(struct xb_openssh_argv *argv, const char *const *options)
{
	for (; *options != NULL; options++) {
		add(argv, "-o");
		add(argv, *options);
	}
}

static void
add_value(struct xb_openssh_argv *argv, const char *key, const char *value)
{
	add(argv, "-o");
	add_owned(argv, xb_asprintf("%s=%s", key, value));
}

/*
 * In quotes, where ssh_config(5) wants a backslash before a quote and a backslash. percent: the
 * value is one in which "%" begins a token. A "~" in front would be a home.
 */
static void
add_quoted(struct xb_openssh_argv *argv, const char *key, const char *value, bool percent)
{
	char *text;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	fputs(percent && value[0] == '~' ? "\"./" : "\"", out);
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		if (*value == '%' && percent)
			fputc('%', out);
		fputc(*value, out);
	}
	fputc('"', out);
	xb_memstream_close(out);
	add_value(argv, key, text);
	free(text);
}

/* As negotiated, nothing is said of cipher, MAC and compression. */
static void
add_suite(struct xb_openssh_argv *argv, const struct xb_suite *suite)
{
	if (suite->cipher_name != NULL) {
		add_value(argv, "Ciphers", suite->cipher_name);
		if (suite->mac_name != NULL)
			add_value(argv, "MACs", suite->mac_name);
		add_value(argv, "Compression", suite->compression != NULL ? "yes" : "no");
	}
	if (suite->kex != NULL)
		add_value(argv, "KexAlgorithms", suite->kex);
	if (suite->hostkey != NULL)
		add_value(argv, "HostKeyAlgorithms", suite->hostkey);
}

static void
add_known_hosts(struct xb_openssh_argv *argv, const struct xb_target *target)
{
	const char *check = "yes";

	if (target->policy == XB_HOSTKEY_ACCEPT_NEW)
		check = "accept-new";
	if (target->policy == XB_HOSTKEY_OFF)
		check = "no";
	add_value(argv, "StrictHostKeyChecking", check);
	if (target->policy == XB_HOSTKEY_OFF)
		add_value(argv, "UserKnownHostsFile", "/dev/null");
	else if (target->known_hosts.count > 0 &&
	    (target->server != NULL || target->known_hosts_given))
		add_quoted(argv, "UserKnownHostsFile", target->known_hosts.names[0], true);
	else
		return;
	add_value(argv, "GlobalKnownHostsFile", "/dev/null");
}

static void
add_target(struct xb_openssh_argv *argv, const struct xb_target *target)
{
	int64_t seconds = target->connect_timeout_ns / XB_NS_PER_SECOND +
	    (target->connect_timeout_ns % XB_NS_PER_SECOND != 0);
	char number[24];
	size_t i;

	snprintf(number, sizeof(number), "%lld",
	    (long long)(seconds < 1   ? 1
		    : seconds > 86400 ? 86400
				      : seconds));
	add_value(argv, "ConnectTimeout", number);
	snprintf(number, sizeof(number), "%u", target->port);
	add_value(argv, "Port", number);
	add_quoted(argv, "User", target->user, false);
	add_known_hosts(argv, target);
	for (i = 0; target->identities_given && i < target->identities.count; i++)
		add_quoted(argv, "IdentityFile", target->identities.names[i], true);
	if (target->server != NULL)
		add_options(argv, private_target);
}

/* What the user would say to ssh comes after what decides about the measurement: the first counts. */
static void
add_users(struct xb_openssh_argv *argv, const struct xb_target *target)
{
	if (target->jump != NULL) {
		add(argv, "-J");
		add(argv, target->jump);
	}
	for (size_t i = 0; i < target->ssh_options.count; i++) {
		add(argv, "-o");
		add(argv, target->ssh_options.names[i]);
	}
}

/* The name by which ssh finds the same configuration. */
static const char *
ssh_host(const struct xb_target *target)
{
	return target->ssh_host != NULL ? target->ssh_host : target->host;
}

/* What all three take in the same form. verbose: what the log says of these files, "none". */
static void
add_all(struct xb_openssh_argv *argv, const struct xb_openssh_programs *programs,
    const struct xb_transfer *transfer, const char *verbose)
{
	if (transfer->target->server != NULL) {
		add(argv, "-F");
		add(argv, "none");
	} else if (transfer->target->ssh_config != NULL) {
		add(argv, "-F");
		add(argv, transfer->target->ssh_config);
	}
	add_options(argv, common);
	if (programs->session_options) {
		add_options(argv, newer);
		add_value(argv, "LogVerbose", verbose);
	}
	add_suite(argv, transfer->suite);
	add_target(argv, transfer->target);
	add_users(argv, transfer->target);
}

void
xb_openssh_argv_ssh(struct xb_openssh_argv *argv, const struct xb_openssh_programs *programs,
    const struct xb_transfer *transfer, const char *command)
{
	add(argv, programs->ssh);
	add_all(argv, programs, transfer, "none");
	if (command == NULL)
		add(argv, "-N");
	else if (programs->session_options)
		add_value(argv, "SessionType", "default");
	add(argv, "--");
	add(argv, ssh_host(transfer->target));
	if (command != NULL)
		add(argv, command);
}

/* scp takes what is behind the first colon for a path, except in brackets. */
static char *
bracketed(const char *host)
{
	return strchr(host, ':') != NULL ? xb_asprintf("[%s]", host) : xb_strdup(host);
}

/*
 * The far side's shell reads a path of scp's own protocol, and scp holds the name that comes
 * against it as a pattern: in both a backslash makes the next letter stand for itself. A path that
 * begins with "-" would be an option there.
 */
static char *
escaped(const char *path)
{
	char *text;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	if (path[0] == '-')
		fputs("./", out);
	for (; *path != '\0'; path++) {
		if (!isalnum((unsigned char)*path) && strchr("/._-+,:@=%", *path) == NULL &&
		    (*path & 0x80) == 0)
			fputc('\\', out);
		fputc(*path, out);
	}
	xb_memstream_close(out);
	return text;
}

/* Never -p: for root it would change the mode of /dev/null. */
void
xb_openssh_argv_scp(struct xb_openssh_argv *argv, const struct xb_openssh_programs *programs,
    const struct xb_transfer *transfer, const char *file)
{
	char *host = bracketed(ssh_host(transfer->target)), *path;

	add(argv, programs->scp);
	/* It tells when the transfer begins and ends. */
	add(argv, "-v");
	if (programs->rcp_option)
		add(argv, "-O");
	add(argv, "-S");
	add(argv, programs->ssh);
	/* Where our scp has hung up: the moment after the far side's last answer. */
	add_all(argv, programs, transfer, "nchan.c:*:*");
	if (programs->session_options)
		add_value(argv, "SessionType", "default");
	add(argv, "--");
	if (transfer->direction == XB_UPLOAD) {
		add(argv, file);
		add_owned(argv, xb_asprintf("%s:/dev/null", host));
	} else {
		path = escaped(transfer->remote_file);
		add_owned(argv, xb_asprintf("%s:%s", host, path));
		free(path);
		add(argv, "/dev/null");
	}
	free(host);
}

/* It asks for its subsystem itself: a SessionType would contradict it. */
void
xb_openssh_argv_sftp(struct xb_openssh_argv *argv, const struct xb_openssh_programs *programs,
    const struct xb_transfer *transfer)
{
	add(argv, programs->sftp);
	add(argv, "-b");
	add(argv, "-");
	add(argv, "-S");
	add(argv, programs->ssh);
	add_all(argv, programs, transfer, "none");
	add(argv, "--");
	add_owned(argv, bracketed(ssh_host(transfer->target)));
}

void
xb_openssh_argv_free(struct xb_openssh_argv *argv)
{
	size_t i;

	for (i = 0; i < argv->count; i++)
		free(argv->words[i]);
	free(argv->words);
	*argv = (struct xb_openssh_argv){ 0 };
}

char *
xb_openssh_quote(const char *name)
{
	char *text;
	size_t size;
	FILE *out;

	if (strchr(name, '\n') != NULL)
		return NULL;
	out = xb_memstream(&text, &size);
	fputs(name[0] == '-' ? "\"./" : "\"", out);
	for (; *name != '\0'; name++) {
		if (*name == '"' || *name == '\\')
			fputc('\\', out);
		fputc(*name, out);
	}
	fputc('"', out);
	xb_memstream_close(out);
	return text;
}

/* Messages in English and ASCII; and nobody is at hand to answer a question. */
static bool
is_dropped(const char *entry)
{
	static const char *const names[] = { "LC_", "LANGUAGE=", "SSH_ASKPASS" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/*
 * Not less than that: proxy commands, ${} in the user's configuration, Kerberos and the settings of
 * OpenSSL all live in variables whose names are not known here.
 */
char **
xb_openssh_env(void)
{
	size_t count = 0, kept = 0;
	char **env;

	while (environ != NULL && environ[count] != NULL)
		count++;
	env = xb_calloc(count + 2, sizeof(*env));
	env[kept++] = xb_strdup("LC_ALL=C");
	for (size_t i = 0; i < count; i++)
		if (!is_dropped(environ[i]))
			env[kept++] = environ[i];
	return env;
}

void
xb_openssh_env_free(char **env)
{
	free(env[0]);
	free(env);
}
