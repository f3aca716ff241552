#include "target/ssh_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

/* A hundred identity files with long names, and all the rest. */
#define OUTPUT_MAX 262144

/* Lines whose value is kept as it is. */
static const struct {
	const char *key;
	size_t offset;
} texts[] = {
	{ "hostname", offsetof(struct xb_ssh_config, hostname) },
	{ "user", offsetof(struct xb_ssh_config, user) },
	{ "identityagent", offsetof(struct xb_ssh_config, identity_agent) },
	{ "hostkeyalias", offsetof(struct xb_ssh_config, hostkey_alias) },
	{ "revokedhostkeys", offsetof(struct xb_ssh_config, revoked_hostkeys) },
	{ "knownhostscommand", offsetof(struct xb_ssh_config, known_hosts_command) },
	{ "proxyjump", offsetof(struct xb_ssh_config, proxy_jump) },
	{ "proxycommand", offsetof(struct xb_ssh_config, proxy_command) },
	{ "bindaddress", offsetof(struct xb_ssh_config, bind_address) },
};

/* "none" is a value of its own for an agent alone: it forbids the one of the environment. */
static void
keep(struct xb_ssh_config *config, const char *key, const char *value)
{
	char **field;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(key, texts[i].key) != 0)
			continue;
		field = (char **)(void *)((char *)config + texts[i].offset);
		free(*field);
		*field = NULL;
		if (field == &config->identity_agent || strcmp(value, "none") != 0)
			*field = xb_strdup(value);
	}
}

/* ssh prints the files of one line with a blank between, without quotes. */
static void
split(struct xb_namelist *list, const char *value)
{
	size_t len;

	for (; *value != '\0'; value += len) {
		value += strspn(value, " \t");
		len = strcspn(value, " \t");
		if (len > 0 && (len != 4 || strncmp(value, "none", 4) != 0))
			xb_namelist_add(list, value, len);
	}
}

/* Digits alone, within max; else 0: ssh has checked what it prints. */
static unsigned
number(const char *value, unsigned long max)
{
	char *end;
	unsigned long n;

	if (value[strspn(value, "0123456789")] != '\0' || value[0] == '\0')
		return 0;
	n = strtoul(value, &end, 10);
	return n <= max ? (unsigned)n : 0;
}

static void
take(struct xb_ssh_config *config, const char *key, const char *value)
{
	keep(config, key, value);
	if (strcmp(key, "port") == 0)
		config->port = number(value, 65535);
	else if (strcmp(key, "connecttimeout") == 0)
		config->connect_timeout = number(value, 86400);
	else if (strcmp(key, "identityfile") == 0 && strcmp(value, "none") != 0)
		xb_namelist_add_once(&config->identities, value);
	else if (strcmp(key, "identitiesonly") == 0)
		config->identities_only = strcmp(value, "yes") == 0;
	else if (strcmp(key, "userknownhostsfile") == 0)
		split(&config->user_known_hosts, value);
	else if (strcmp(key, "globalknownhostsfile") == 0)
		split(&config->system_known_hosts, value);
	else if (strcmp(key, "addressfamily") == 0)
		config->family = strcmp(value, "inet") == 0 ? AF_INET
		    : strcmp(value, "inet6") == 0           ? AF_INET6
							    : AF_UNSPEC;
}

void
xb_ssh_config_parse(const char *text, struct xb_ssh_config *config)
{
	char *line, *value;
	size_t len;

	for (; *text != '\0'; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		line = xb_strndup(text, len);
		value = strchr(line, ' ');
		if (value != NULL && value[1] != '\0') {
			*value = '\0';
			take(config, line, value + 1);
		}
		free(line);
	}
}

/* The command line; ends with NULL. Words are borrowed, but for port's. What was typed as an option
 * of its own comes first, since of two values the first counts. */
static const char **
make_argv(const struct xb_ssh_question *q, const char *program, const char *port)
{
	const size_t options = q->options != NULL ? q->options->count : 0;
	const size_t keys = q->identities != NULL ? q->identities->count : 0;
	const char **argv = xb_calloc(13 + 2 * (options + keys), sizeof(*argv));
	const struct {
		const char *letter, *value;
	} single[] = { { "-F", q->file }, { "-p", port }, { "-l", q->user }, { "-J", q->jump } };
	size_t n = 0;

	argv[n++] = program;
	argv[n++] = "-G";
	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		if (single[i].value == NULL)
			continue;
		argv[n++] = single[i].letter;
		argv[n++] = single[i].value;
	}
	for (size_t i = 0; i < keys; i++) {
		argv[n++] = "-i";
		argv[n++] = q->identities->names[i];
	}
	for (size_t i = 0; i < options; i++) {
		argv[n++] = "-o";
		argv[n++] = q->options->names[i];
	}
	argv[n++] = "--";
	argv[n] = q->host;
	return argv;
}

/* All that it says, on one line: the last line tells that it ends, the others why. */
static bool
refuse(char *said, struct xb_err *err)
{
	char shown[480];
	size_t len = strlen(said);

	while (len > 0 && (said[len - 1] == '\n' || said[len - 1] == '\r'))
		said[--len] = '\0';
	for (char *c = said; *c != '\0'; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	xb_text_printable(shown, sizeof(shown), said, len);
	return xb_fail(err, XB_FAULT_USAGE, "ssh -G: %s",
	    shown[0] != '\0' ? shown : "it failed without a word");
}

bool
xb_ssh_config_ask(const struct xb_ssh_question *question, struct xb_ssh_config *config, bool *found,
    struct xb_err *err)
{
	char *program = xb_child_find_program("ssh"), *out, port[12];
	const char **argv;
	int status = 0;
	bool ok;

	*found = program != NULL;
	if (program == NULL)
		return true;
	out = xb_calloc(OUTPUT_MAX, 1);
	snprintf(port, sizeof(port), "%u", question->port);
	argv = make_argv(question, program, question->port != 0 ? port : NULL);
	ok = xb_child_capture(argv, question->timeout_ns, out, OUTPUT_MAX, &status, err);
	if (ok && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
		ok = refuse(out, err);
	if (ok)
		xb_ssh_config_parse(out, config);
	free(argv);
	free(out);
	free(program);
	return ok;
}

void
xb_ssh_config_free(struct xb_ssh_config *config)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(*(char **)(void *)((char *)config + texts[i].offset));
	xb_namelist_free(&config->identities);
	xb_namelist_free(&config->user_known_hosts);
	xb_namelist_free(&config->system_known_hosts);
	*config = (struct xb_ssh_config){ .port = 0 };
}
