#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "bench/plan.h"
#include "bench/plan_parts.h"

/* What the figures are about that people ask for: the program they have, and the usual library. */
static const char *const default_clients[] = { "openssh", "libssh2" };

/* Clients that a build may be without. */
static const char *const optional_clients[] = { "libssh" };

static const enum xb_method transfer_methods[] = { XB_METHOD_EXEC, XB_METHOD_SCP, XB_METHOD_SFTP };

/* How many bytes of a set a refusal quotes. */
#define SET_QUOTE 160

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct xb_client *const *
all_clients(const struct xb_plan_request *request)
{
	return request->all_clients != NULL ? request->all_clients : xb_clients;
}

static void
add_client(struct xb_plan_lists *lists, const struct xb_client *client, bool named)
{
	for (size_t i = 0; i < lists->client_count; i++)
		if (lists->clients[i].client == client) {
			lists->clients[i].named |= named;
			return;
		}
	lists->clients = xb_grow(lists->clients, lists->client_count, sizeof(*lists->clients));
	lists->clients[lists->client_count++] =
	    (struct xb_plan_client){ .client = client, .named = named };
}

/* By name, or by what the tables call it. */
static const struct xb_client *
find_client(const struct xb_client *const *all, const char *typed)
{
	for (; *all != NULL; all++)
		if (strcasecmp((*all)->name, typed) == 0 ||
		    ((*all)->label != NULL && strcasecmp((*all)->label, typed) == 0))
			return *all;
	return NULL;
}

static bool
refuse_client(const struct xb_client *const *all, const char *typed, struct xb_err *err)
{
	struct xb_namelist words = { 0 };
	bool is_optional = false;
	char *set;

	for (; *all != NULL; all++)
		xb_namelist_add_once(&words, (*all)->name);
	xb_namelist_add_once(&words, "all");
	for (size_t i = 0; i < COUNT_OF(optional_clients); i++)
		is_optional |= strcasecmp(optional_clients[i], typed) == 0;
	if (is_optional) {
		set = xb_namelist_join(&words, ", ", SET_QUOTE);
		xb_fail(err, XB_FAULT_USAGE,
		    "--client: this xferbench is built without %s; it takes %s", typed, set);
		free(set);
	} else {
		xb_select_refuse_word("--client", typed, &words, err);
	}
	xb_namelist_free(&words);
	return false;
}

/* Logins say nothing of a client that makes none: named it is refused, "all" is without it. */
static bool
add_named(const struct xb_plan_request *request, struct xb_plan_lists *lists, const char *typed,
    struct xb_err *err)
{
	const struct xb_client *const *all = all_clients(request);
	const struct xb_client *client;

	if (strcasecmp(typed, "all") == 0) {
		for (; *all != NULL; all++)
			if ((*all)->ranked || request->handshakes == 0)
				add_client(lists, *all, false);
		return true;
	}
	client = find_client(all, typed);
	if (client == NULL)
		return refuse_client(all, typed, err);
	if (!client->ranked && request->handshakes > 0)
		return xb_fail(err, XB_FAULT_USAGE,
		    "--handshake has no use for --client %s, which makes no SSH login",
		    client->name);
	add_client(lists, client, true);
	return true;
}

/* The usual two, as far as this build has them. */
static void
add_defaults(const struct xb_plan_request *request, struct xb_plan_lists *lists)
{
	const struct xb_client *client;

	for (size_t i = 0; i < COUNT_OF(default_clients); i++) {
		client = find_client(all_clients(request), default_clients[i]);
		if (client != NULL)
			add_client(lists, client, false);
	}
}

static bool
has_ranked(const struct xb_plan_lists *lists)
{
	for (size_t i = 0; i < lists->client_count; i++)
		if (lists->clients[i].client->ranked)
			return true;
	return false;
}

/* What would be ignored is refused: silence would be a lie. */
static bool
check_references_alone(const struct xb_plan_request *request, struct xb_err *err)
{
	const struct {
		const char *option, *value;
	} of_sessions[] = {
		{ "--ciphers", request->ciphers },
		{ "--macs", request->macs },
		{ "--compress", request->compression },
		{ "--method", request->methods },
	};

	for (size_t i = 0; i < COUNT_OF(of_sessions); i++)
		if (of_sessions[i].value != NULL)
			return xb_fail(err, XB_FAULT_USAGE,
			    "%s has no use with --client %s, which speaks no SSH; name one that does, "
			    "too",
			    of_sessions[i].option, request->clients);
	return true;
}

static bool
read_clients(const struct xb_plan_request *request, struct xb_plan_lists *lists, struct xb_err *err)
{
	struct xb_namelist parts = { 0 };
	bool ok = true;

	if (request->clients == NULL) {
		add_defaults(request, lists);
		return true;
	}
	xb_select_split(request->clients, &parts);
	if (parts.count == 0)
		ok = refuse_client(all_clients(request), "", err);
	for (size_t i = 0; ok && i < parts.count; i++)
		ok = add_named(request, lists, parts.names[i], err);
	xb_namelist_free(&parts);
	return ok && (has_ranked(lists) || check_references_alone(request, err));
}

static bool
read_words(const char *option, const char *list, const char *set, struct xb_namelist *words,
    struct xb_err *err)
{
	struct xb_namelist known = { 0 };
	bool ok;

	xb_namelist_split(&known, set);
	ok = xb_select_words(option, list, &known, words, err);
	xb_namelist_free(&known);
	return ok;
}

static bool
read_methods(const struct xb_plan_request *request, struct xb_plan_lists *lists, struct xb_err *err)
{
	struct xb_namelist words = { 0 };
	bool ok = true;

	if (request->handshakes > 0) {
		lists->methods[lists->method_count++] = XB_METHOD_LOGIN;
		return true;
	}
	if (request->methods != NULL)
		ok = read_words("--method", request->methods, "auto,exec,scp,sftp", &words, err);
	lists->method_auto = words.count == 0 || xb_namelist_has(&words, "auto");
	lists->methods_named = !lists->method_auto;
	if (ok && lists->method_auto && words.count > 1)
		ok = xb_fail(err, XB_FAULT_USAGE,
		    "--method: auto is one method, the first that works; it has no others beside it");
	if (lists->method_auto) {
		memcpy(lists->methods, transfer_methods, sizeof(transfer_methods));
		lists->method_count = COUNT_OF(transfer_methods);
	}
	for (size_t i = 0; ok && !lists->method_auto && i < words.count; i++)
		xb_method_find(words.names[i], &lists->methods[lists->method_count++]);
	xb_namelist_free(&words);
	return ok;
}

static void
add_direction(struct xb_plan_lists *lists, enum xb_direction direction)
{
	for (size_t i = 0; i < lists->direction_count; i++)
		if (lists->directions[i] == direction)
			return;
	lists->directions[lists->direction_count++] = direction;
}

static bool
read_directions(const struct xb_plan_request *request, struct xb_plan_lists *lists,
    struct xb_err *err)
{
	const char *typed = request->directions != NULL ? request->directions : "upload";
	struct xb_namelist words = { 0 };
	bool ok = read_words("--direction", typed, "upload,download,both", &words, err);

	lists->directions_named = request->directions != NULL;
	for (size_t i = 0; ok && i < words.count; i++) {
		if (strcmp(words.names[i], "download") != 0)
			add_direction(lists, XB_UPLOAD);
		if (strcmp(words.names[i], "upload") != 0)
			add_direction(lists, XB_DOWNLOAD);
	}
	xb_namelist_free(&words);
	return ok;
}

static bool
read_streams(const struct xb_plan_request *request, struct xb_plan_lists *lists, struct xb_err *err)
{
	struct xb_namelist parts = { 0 };
	uint64_t count = 0;
	bool ok = true, again;

	xb_select_split(request->streams != NULL ? request->streams : "1", &parts);
	if (parts.count == 0)
		ok = xb_fail(err, XB_FAULT_USAGE,
		    "--streams: the list is empty; it takes numbers from 1 to %d",
		    XB_PLAN_STREAMS_MAX);
	for (size_t i = 0; ok && i < parts.count; i++) {
		ok = xb_count_parse("--streams", parts.names[i], 1, XB_PLAN_STREAMS_MAX, &count,
		    err);
		again = false;
		for (size_t j = 0; j < lists->stream_count; j++)
			again |= lists->streams[j] == count;
		/* Numbers that are different fit: there are no more of them than places. */
		if (ok && !again)
			lists->streams[lists->stream_count++] = (unsigned)count;
	}
	xb_namelist_free(&parts);
	return ok;
}

static bool
read_compression(const struct xb_plan_request *request, struct xb_plan_lists *lists,
    struct xb_err *err)
{
	lists->compression_named = request->compression != NULL;
	return read_words("--compress",
	    request->compression != NULL ? request->compression : "none",
	    "none,zlib,zlib@openssh.com", &lists->compression, err);
}

static bool
check_remote_file(const struct xb_plan_request *request, const struct xb_plan_lists *lists,
    struct xb_err *err)
{
	for (size_t i = 0; i < lists->direction_count; i++)
		if (lists->directions[i] == XB_DOWNLOAD)
			return true;
	return !request->has_remote_file ||
	    xb_fail(err, XB_FAULT_USAGE,
		"--remote-file has no use with uploads alone; add --direction download or both");
}

bool
xb_plan_lists_read(const struct xb_plan_request *request, struct xb_plan_lists *lists,
    struct xb_err *err)
{
	*lists = (struct xb_plan_lists){ 0 };
	return read_clients(request, lists, err) && read_methods(request, lists, err) &&
	    read_directions(request, lists, err) && read_streams(request, lists, err) &&
	    read_compression(request, lists, err) && check_remote_file(request, lists, err);
}

void
xb_plan_lists_free(struct xb_plan_lists *lists)
{
	for (size_t i = 0; i < lists->client_count; i++) {
		free(lists->clients[i].label);
		xb_client_algorithms_free(&lists->clients[i].has);
	}
	free(lists->clients);
	xb_namelist_free(&lists->compression);
	*lists = (struct xb_plan_lists){ 0 };
}
