#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "target/ssh_config.h"

static bool
refuse(const char *option, const char *text, const char *why, struct xb_err *err)
{
	char shown[200];

	xb_text_printable(shown, sizeof(shown), text, strlen(text));
	return xb_fail(err, XB_FAULT_USAGE, "%s '%s' of the ssh configuration: %s", option, shown,
	    why);
}

static const char *
or_empty(const char *text)
{
	return text != NULL ? text : "";
}

/* %C: SHA-1, in hexadecimal, of %l%h%p%r%j. */
static void
put_connection(FILE *out, const struct xb_ssh_tokens *t)
{
	char *text = xb_asprintf("%s%s%u%s%s", or_empty(t->local_host), t->host, t->port, t->user,
	    or_empty(t->jump));
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (EVP_Digest(text, strlen(text), digest, &len, EVP_sha1(), NULL) == 1)
		for (unsigned i = 0; i < len; i++)
			fprintf(out, "%02x", digest[i]);
	free(text);
}

/* False: there is no such token. */
static bool
put_token(FILE *out, char token, const struct xb_ssh_tokens *t)
{
	const char *local = or_empty(t->local_host);
	const struct {
		char token;
		const char *value;
	} words[] = {
		{ '%', "%" },
		{ 'd', or_empty(t->home) },
		{ 'h', t->host },
		{ 'j', or_empty(t->jump) },
		{ 'k', t->alias != NULL ? t->alias : t->typed },
		{ 'l', local },
		{ 'n', t->typed },
		{ 'r', t->user },
		{ 'u', or_empty(t->local_user) },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].token == token) {
			fputs(words[i].value, out);
			return true;
		}
	if (token == 'C')
		put_connection(out, t);
	else if (token == 'L')
		fprintf(out, "%.*s", (int)strcspn(local, "."), local);
	else if (token == 'i')
		fprintf(out, "%u", t->uid);
	else if (token == 'p')
		fprintf(out, "%u", t->port);
	else
		return false;
	return true;
}

/* "${NAME}" at the text: puts its value and returns what stands behind; NULL: there is no such one. */
static const char *
put_variable(FILE *out, const char *text)
{
	size_t len = strcspn(text + 2, "}");
	char *name = xb_strndup(text + 2, len);
	const char *value = getenv(name);

	free(name);
	if (text[2 + len] != '}' || value == NULL)
		return NULL;
	fputs(value, out);
	return text + 2 + len + 1;
}

/* Returns what is wrong; NULL when nothing is. */
static const char *
put_all(FILE *out, const char *at, const struct xb_ssh_tokens *tokens, bool path)
{
	if (path && at[0] == '~' && (at[1] == '/' || at[1] == '\0')) {
		if (tokens->home == NULL)
			return "there is no home directory here";
		fputs(tokens->home, out);
		at++;
	}
	while (*at != '\0') {
		if (*at == '%') {
			if (!put_token(out, at[1], tokens))
				return "there is no such token";
			at += 2;
		} else if (path && at[0] == '$' && at[1] == '{') {
			at = put_variable(out, at);
			if (at == NULL)
				return "there is no such variable in the environment";
		} else {
			fputc(*at++, out);
		}
	}
	return NULL;
}

char *
xb_ssh_expand(const char *option, const char *text, const struct xb_ssh_tokens *tokens, bool path,
    struct xb_err *err)
{
	char *expanded;
	size_t size;
	FILE *out = xb_memstream(&expanded, &size);
	const char *why = put_all(out, text, tokens, path);

	xb_memstream_close(out);
	if (why == NULL)
		return expanded;
	refuse(option, text, why, err);
	free(expanded);
	return NULL;
}

static bool
expand(const char *option, char **text, const struct xb_ssh_tokens *tokens, bool path,
    struct xb_err *err)
{
	char *expanded;

	if (*text == NULL)
		return true;
	expanded = xb_ssh_expand(option, *text, tokens, path, err);
	if (expanded == NULL)
		return false;
	free(*text);
	*text = expanded;
	return true;
}

static bool
expand_list(const char *option, struct xb_namelist *list, const struct xb_ssh_tokens *tokens,
    struct xb_err *err)
{
	bool ok = true;

	for (size_t i = 0; ok && i < list->count; i++)
		ok = expand(option, &list->names[i], tokens, true, err);
	return ok;
}

/* "$NAME" and SSH_AUTH_SOCK are variables of the environment, looked up where the agent is wanted. */
static bool
expand_agent(struct xb_ssh_config *config, const struct xb_ssh_tokens *tokens, struct xb_err *err)
{
	const char *agent = config->identity_agent;

	return agent == NULL || (agent[0] == '$' && agent[1] != '{') ||
	    expand("IdentityAgent", &config->identity_agent, tokens, true, err);
}

bool
xb_ssh_config_expand(struct xb_ssh_config *config, const struct xb_ssh_tokens *tokens,
    struct xb_err *err)
{
	return expand_list("IdentityFile", &config->identities, tokens, err) &&
	    expand_list("UserKnownHostsFile", &config->user_known_hosts, tokens, err) &&
	    expand_agent(config, tokens, err) &&
	    expand("RevokedHostKeys", &config->revoked_hostkeys, tokens, true, err) &&
	    expand("ProxyCommand", &config->proxy_command, tokens, false, err);
}
