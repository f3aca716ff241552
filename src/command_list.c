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
#include "model/mac.h"
#include "options.h"
#include "progress.h"
#include "report/list.h"
#include "report/report.h"
#include "target/target.h"

/* The list while it grows. */
struct list {
	const struct xb_offer *offer; /* NULL: no server to ask */
	const struct xb_client *client;
	struct xb_client_algorithms has; /* the client */
	struct xb_namelist notes;        /* keeps the reasons that rows borrow */
	struct xb_list_row *rows;
	size_t count;
};

static const struct xb_namelist nothing = { 0 };

/* Whether libcrypto or nettle has it here; the reason when not. */
static void
ask_primitive(struct list *list, const struct xb_cipher *cipher, const struct xb_mac *mac,
    struct xb_list_row *row)
{
	struct xb_err err = { 0 };
	struct xb_primitive *primitive;

	if (cipher == NULL && mac == NULL) {
		row->primitive = "no";
		return;
	}
	primitive = xb_primitive_new(cipher, mac, XB_PACKET_BYTES, &err);
	row->primitive = primitive != NULL ? "yes" : "no";
	if (primitive == NULL) {
		xb_namelist_add(&list->notes, err.text, strlen(err.text));
		row->primitive_note = list->notes.names[list->notes.count - 1];
	}
	xb_primitive_free(primitive);
}

static struct xb_list_row *
add_row(struct list *list, const char *kind, const char *name, const struct xb_namelist *offered,
    const struct xb_namelist *client)
{
	struct xb_list_row *row;

	list->rows = xb_grow(list->rows, list->count, sizeof(*list->rows));
	row = &list->rows[list->count++];
	*row = (struct xb_list_row){
		.kind = kind,
		.name = name,
		.offered = list->offer == NULL       ? "?"
		    : xb_namelist_has(offered, name) ? "yes"
						     : "no",
		.client = xb_namelist_has(client, name) ? "yes" : "no",
		.rating = "unknown",
	};
	return row;
}

static void
add_ciphers(struct list *list)
{
	const struct xb_namelist *offered =
	    list->offer != NULL ? &list->offer->ciphers_up : &nothing;
	struct xb_list_row *row;
	size_t i;

	for (i = 0; i < xb_cipher_count; i++) {
		row = add_row(list, "cipher", xb_ciphers[i].name, offered, &list->has.ciphers);
		row->rating = xb_rating_name(xb_ciphers[i].rating);
		row->rating_source = xb_ciphers[i].rating_source;
		ask_primitive(list, &xb_ciphers[i], NULL, row);
	}
	for (i = 0; i < offered->count; i++)
		if (xb_cipher_by_name(offered->names[i]) == NULL) {
			row =
			    add_row(list, "cipher", offered->names[i], offered, &list->has.ciphers);
			ask_primitive(list, NULL, NULL, row);
		}
}

static void
add_macs(struct list *list)
{
	const struct xb_namelist *offered = list->offer != NULL ? &list->offer->macs_up : &nothing;
	struct xb_list_row *row;
	size_t i;

	for (i = 0; i < xb_mac_count; i++) {
		row = add_row(list, "MAC", xb_macs[i].name, offered, &list->has.macs);
		row->rating = xb_rating_name(xb_macs[i].rating);
		row->rating_source = xb_macs[i].rating_source;
		ask_primitive(list, NULL, &xb_macs[i], row);
	}
	for (i = 0; i < offered->count; i++)
		if (xb_mac_by_name(offered->names[i]) == NULL) {
			row = add_row(list, "MAC", offered->names[i], offered, &list->has.macs);
			ask_primitive(list, NULL, NULL, row);
		}
}

static bool
write_list(struct list *list, const struct xb_options *options, const char *heading,
    struct xb_err *err)
{
	struct xb_report_style style = xb_report_style_of(stdout);
	char *label = xb_client_label(list->client);
	bool ok;

	style.verbose = options->verbose;
	style.quiet = options->quiet;
	ok = xb_list_write(list->rows, list->count, options->quiet ? NULL : heading, label, &style,
	    stdout);
	free(label);
	return ok || xb_fail(err, XB_FAULT_SYSTEM, "cannot write the list");
}

/*
 * Opens the target; heading says who was asked. Without a host and without an sshd here the list
 * still tells what client and primitives have. False with err set when a named host does not answer.
 */
static bool
open_target(const struct xb_options *options, const struct xb_rundir *dir,
    struct xb_target **target, char **heading, struct xb_err *err)
{
	const struct xb_target_options wanted = xb_options_target(options, -1);

	*target = xb_target_new(&wanted, dir, err);
	if (*target != NULL) {
		*heading = xb_asprintf("%s  %s port %u, %s", (*target)->name,
		    (*target)->peer.address, (*target)->port, (*target)->offer.banner);
		return true;
	}
	if (options->host != NULL || options->sshd != NULL || err->fault != XB_FAULT_TARGET)
		return false;
	*heading = xb_asprintf("no server was asked: %s", err->text);
	*err = (struct xb_err){ 0 };
	return true;
}

bool
xb_command_list(const struct xb_options *options, int *code, struct xb_err *err)
{
	struct list list = { .client = xb_clients[0] };
	struct xb_target *target = NULL;
	struct xb_rundir *dir;
	struct xb_progress progress;
	char *heading = NULL;
	bool ok = false;

	*code = 0;
	xb_progress_init(&progress, options->quiet);
	xb_progress_show(&progress, "reading the offer");
	dir = xb_rundir_new(err);
	if (dir != NULL && open_target(options, dir, &target, &heading, err)) {
		list.offer = target != NULL ? &target->offer : NULL;
		list.client->algorithms(&list.has);
		add_ciphers(&list);
		add_macs(&list);
		xb_progress_clear(&progress);
		ok = write_list(&list, options, heading, err);
	}
	xb_progress_clear(&progress);
	xb_target_free(target);
	xb_rundir_free(dir);
	xb_client_algorithms_free(&list.has);
	xb_namelist_free(&list.notes);
	free(heading);
	free(list.rows);
	return ok;
}
