#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rundir.h"
#include "bench/primitive.h"
#include "client/client.h"
#include "commands.h"
#include "model/cipher.h"
#include "model/kex.h"
#include "model/mac.h"
#include "model/run.h"
#include "options.h"
#include "progress.h"
#include "report/list.h"
#include "report/report.h"
#include "targets.h"

/* A column is a bit of a row's sets. */
#define MOST_COLUMNS (8 * sizeof(unsigned))

/* A client and what it has. */
struct asked_client {
	const struct xb_client *client;
	struct xb_client_algorithms has;
};

/* The list while it grows. */
struct list {
	size_t server_count;
	const struct xb_offer *offers[MOST_COLUMNS];
	const char *servers[MOST_COLUMNS];
	size_t client_count;
	struct asked_client clients[MOST_COLUMNS];
	struct xb_namelist notes; /* keeps the reasons that rows borrow */
	struct xb_list_row *rows;
	size_t count;
};

/* One of the lists of an offer, and that of a client. */
struct kind {
	const char *name;
	const struct xb_namelist *(*offered)(const struct xb_offer *offer);
	const struct xb_namelist *(*has)(const struct xb_client_algorithms *algorithms);
};

static const struct xb_namelist *
offered_ciphers(const struct xb_offer *offer)
{
	return &offer->ciphers_up;
}

static const struct xb_namelist *
offered_macs(const struct xb_offer *offer)
{
	return &offer->macs_up;
}

static const struct xb_namelist *
offered_kexes(const struct xb_offer *offer)
{
	return &offer->kex;
}

static const struct xb_namelist *
offered_hostkeys(const struct xb_offer *offer)
{
	return &offer->hostkeys;
}

static const struct xb_namelist *
own_ciphers(const struct xb_client_algorithms *algorithms)
{
	return &algorithms->ciphers;
}

static const struct xb_namelist *
own_macs(const struct xb_client_algorithms *algorithms)
{
	return &algorithms->macs;
}

static const struct xb_namelist *
own_kexes(const struct xb_client_algorithms *algorithms)
{
	return &algorithms->kex;
}

static const struct xb_namelist *
own_hostkeys(const struct xb_client_algorithms *algorithms)
{
	return &algorithms->hostkeys;
}

static const struct kind ciphers = { "cipher", offered_ciphers, own_ciphers };
static const struct kind macs = { "MAC", offered_macs, own_macs };
static const struct kind kexes = { "kex", offered_kexes, own_kexes };
static const struct kind hostkeys = { "hostkey", offered_hostkeys, own_hostkeys };

/* Whether libcrypto or nettle has it here; the reason when not. */
static void
ask_primitive(struct list *list, const struct xb_cipher *cipher, const struct xb_mac *mac,
    struct xb_list_row *row)
{
	struct xb_err err = { 0 };
	struct xb_primitive *primitive = xb_primitive_new(cipher, mac, XB_PACKET_BYTES, &err);

	row->primitive = primitive != NULL ? "yes" : "no";
	if (primitive == NULL) {
		xb_namelist_add(&list->notes, err.text, strlen(err.text));
		row->primitive_note = list->notes.names[list->notes.count - 1];
	}
	xb_primitive_free(primitive);
}

static struct xb_list_row *
add_row(struct list *list, const struct kind *kind, const char *name)
{
	struct xb_list_row *row;

	list->rows = xb_grow(list->rows, list->count, sizeof(*list->rows));
	row = &list->rows[list->count++];
	*row = (struct xb_list_row){
		.kind = kind->name,
		.name = name,
		.primitive = "-",
		.rating = "unknown",
	};
	for (size_t i = 0; i < list->server_count; i++)
		if (xb_namelist_has(kind->offered(list->offers[i]), name))
			row->offered |= 1u << i;
	for (size_t i = 0; i < list->client_count; i++)
		if (xb_namelist_has(kind->has(&list->clients[i].has), name))
			row->has |= 1u << i;
	return row;
}

static bool
has_row(const struct list *list, const struct kind *kind, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->rows[i].kind == kind->name && strcmp(list->rows[i].name, name) == 0)
			return true;
	return false;
}

/* What the servers offer and our tables lack. */
static void
add_unknown(struct list *list, const struct kind *kind)
{
	for (size_t i = 0; i < list->server_count; i++) {
		const struct xb_namelist *offered = kind->offered(list->offers[i]);

		for (size_t j = 0; j < offered->count; j++)
			if (!has_row(list, kind, offered->names[j]) &&
			    !xb_kex_is_marker(offered->names[j]))
				add_row(list, kind, offered->names[j]);
	}
}

static void
add_ciphers(struct list *list)
{
	for (size_t i = 0; i < xb_cipher_count; i++) {
		struct xb_list_row *row = add_row(list, &ciphers, xb_ciphers[i].name);

		row->rating = xb_rating_name(xb_ciphers[i].rating);
		row->rating_source = xb_ciphers[i].rating_source;
		ask_primitive(list, &xb_ciphers[i], NULL, row);
	}
	add_unknown(list, &ciphers);
}

static void
add_macs(struct list *list)
{
	for (size_t i = 0; i < xb_mac_count; i++) {
		struct xb_list_row *row = add_row(list, &macs, xb_macs[i].name);

		row->rating = xb_rating_name(xb_macs[i].rating);
		row->rating_source = xb_macs[i].rating_source;
		ask_primitive(list, NULL, &xb_macs[i], row);
	}
	add_unknown(list, &macs);
}

static void
add_keying(struct list *list, const struct kind *kind, const struct xb_keying *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct xb_list_row *row = add_row(list, kind, table[i].name);

		row->rating = xb_rating_name(table[i].rating);
		row->rating_source = table[i].rating_source;
	}
	add_unknown(list, kind);
}

/* The clients that speak SSH: those that the user named, else all of this build. */
static void
ask_clients(struct list *list, const struct xb_options *options)
{
	struct xb_namelist names = { 0 };

	if (options->clients != NULL)
		xb_namelist_split(&names, options->clients);
	for (size_t i = 0; xb_clients[i] != NULL && list->client_count < MOST_COLUMNS; i++) {
		struct asked_client *asked = &list->clients[list->client_count];

		if (xb_clients[i]->algorithms == NULL ||
		    (names.count > 0 && !xb_namelist_has(&names, "all") &&
			!xb_namelist_has(&names, xb_clients[i]->name)))
			continue;
		*asked = (struct asked_client){ .client = xb_clients[i] };
		asked->client->algorithms(&asked->has);
		list->client_count++;
	}
	xb_namelist_free(&names);
}

/* The servers that answered; one alone needs no name over its column. */
static void
take_offers(struct list *list, const struct xb_run *run)
{
	for (size_t i = 0; i < run->target_count && list->server_count < MOST_COLUMNS; i++) {
		const struct xb_target_sheet *target = &run->targets[i];

		if (target->absent != NULL)
			continue;
		list->offers[list->server_count] = &target->offer;
		list->servers[list->server_count++] =
		    target->server != NULL ? target->server : target->name;
	}
	if (list->server_count == 1)
		list->servers[0] = "offered";
}

/* Who was asked: the servers, and the clients with their versions. */
static char *
heading_text(const struct list *list, const struct xb_run *run, const char *nobody)
{
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	if (nobody != NULL)
		fprintf(out, "no server was asked: %s\n", nobody);
	for (size_t i = 0; nobody == NULL && i < run->target_count; i++) {
		const struct xb_target_sheet *target = &run->targets[i];

		if (target->absent != NULL)
			fprintf(out, "no %s: %s\n", target->server, target->absent);
		else
			fprintf(out, "%s  %s port %u, %s\n", target->name,
			    target->address != NULL ? target->address : "by its proxy",
			    target->port, target->offer.banner);
	}
	fputs("clients: ", out);
	for (size_t i = 0; i < list->client_count; i++) {
		char *label = xb_client_label(list->clients[i].client);

		fprintf(out, "%s%s", i > 0 ? ", " : "", label);
		free(label);
	}
	xb_memstream_close(out);
	return text;
}

static bool
write_list(const struct list *list, const struct xb_options *options, const char *heading,
    struct xb_err *err)
{
	struct xb_report_style style = xb_report_style_of(stdout);
	struct xb_list_client clients[MOST_COLUMNS];
	const struct xb_list report = {
		.server_count = list->server_count,
		.servers = list->servers,
		.client_count = list->client_count,
		.clients = clients,
		.row_count = list->count,
		.rows = list->rows,
	};

	for (size_t i = 0; i < list->client_count; i++) {
		const struct xb_client *client = list->clients[i].client;

		clients[i] = (struct xb_list_client){
			.label = client->label != NULL ? client->label : client->name,
			.absent = list->clients[i].has.absent,
		};
	}
	style.verbose = options->verbose;
	style.quiet = options->quiet;
	return xb_list_write(&report, heading, &style, stdout) ||
	    xb_fail(err, XB_FAULT_SYSTEM, "cannot write the list");
}

/*
 * Opens the targets. Without a host and without an sshd here the list still tells what clients and
 * primitives have; nobody says why. False with err set when a named host does not answer.
 */
static bool
open_targets(const struct xb_options *options, const struct xb_rundir *dir,
    struct xb_targets *targets, struct xb_run *run, char **nobody, struct xb_err *err)
{
	if (xb_targets_open(targets, options, dir, -1, run, err))
		return true;
	if (options->host != NULL || options->sshd != NULL || err->fault != XB_FAULT_TARGET)
		return false;
	*nobody = xb_strdup(err->text);
	*err = (struct xb_err){ 0 };
	return true;
}

bool
xb_command_list(const struct xb_options *options, int *code, struct xb_err *err)
{
	struct list list = { 0 };
	struct xb_targets targets = { 0 };
	struct xb_run run = { 0 };
	struct xb_rundir *dir;
	struct xb_progress progress;
	char *nobody = NULL;
	char *heading = NULL;
	bool ok = false;

	*code = 0;
	xb_progress_init(&progress, options->quiet);
	xb_progress_show(&progress, "reading the offer");
	dir = xb_rundir_new(err);
	if (dir != NULL && open_targets(options, dir, &targets, &run, &nobody, err)) {
		take_offers(&list, &run);
		ask_clients(&list, options);
		add_ciphers(&list);
		add_macs(&list);
		add_keying(&list, &kexes, xb_kexes, xb_kex_count);
		add_keying(&list, &hostkeys, xb_hostkeys, xb_hostkey_count);
		heading = heading_text(&list, &run, nobody);
		xb_progress_clear(&progress);
		ok = write_list(&list, options, heading, err);
	}
	xb_progress_clear(&progress);
	xb_targets_free(&targets);
	xb_rundir_free(dir);
	for (size_t i = 0; i < list.client_count; i++)
		xb_client_algorithms_free(&list.clients[i].has);
	xb_namelist_free(&list.notes);
	xb_run_free(&run);
	free(nobody);
	free(heading);
	free(list.rows);
	return ok;
}
