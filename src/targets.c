#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/namelist.h"
#include "model/run.h"
#include "options.h"
#include "target/private.h"
#include "target/target.h"

#define DEFAULT_SERVER "openssh"

/* It still speaks ciphers that OpenSSH has dropped. */
#define STAND_IN_SERVER "asyncssh"

static void
copy_names(struct xb_namelist *to, const struct xb_namelist *from)
{
	for (size_t i = 0; i < from->count; i++)
		xb_namelist_add(to, from->names[i], strlen(from->names[i]));
}

static void
copy_offer(struct xb_offer *to, const struct xb_offer *from)
{
	to->banner = xb_strdup(from->banner);
	copy_names(&to->kex, &from->kex);
	copy_names(&to->hostkeys, &from->hostkeys);
	copy_names(&to->ciphers_up, &from->ciphers_up);
	copy_names(&to->ciphers_down, &from->ciphers_down);
	copy_names(&to->macs_up, &from->macs_up);
	copy_names(&to->macs_down, &from->macs_down);
	copy_names(&to->compression_up, &from->compression_up);
	copy_names(&to->compression_down, &from->compression_down);
}

static void
fill_sheet(struct xb_target_sheet *sheet, const struct xb_target *target, const char *server)
{
	const struct xb_private_login *login;

	sheet->name = xb_strdup(target->name);
	if (target->proxy.count == 0)
		sheet->address = xb_strdup(target->peer.address);
	sheet->port = target->port;
	sheet->user = xb_strdup(target->user);
	sheet->is_private = target->server != NULL;
	sheet->is_local = target->peer.is_local;
	copy_offer(&sheet->offer, &target->offer);
	if (target->server != NULL) {
		login = xb_private_login(target->server);
		sheet->server = xb_strdup(server);
		sheet->server_program = xb_strdup(login->program);
		if (login->version != NULL)
			sheet->server_version = xb_strdup(login->version);
	}
	if (target->policy == XB_HOSTKEY_OFF)
		sheet->hostkey_note = xb_strdup("the host key was not checked: any machine may "
						"have answered");
}

static void
fill_absent(struct xb_target_sheet *sheet, const char *server, const struct xb_err *err)
{
	sheet->name = xb_strdup("this machine");
	sheet->server = xb_strdup(server);
	sheet->is_private = true;
	sheet->is_local = true;
	sheet->absent = xb_strdup(err->text);
}

/* Opens one; where a private server is absent is kept as its reason, which is no error. */
static bool
add(struct xb_targets *targets, const struct xb_target_options *options,
    const struct xb_rundir *dir, struct xb_run *run, struct xb_err *why, struct xb_err *err)
{
	struct xb_target *target;
	struct xb_err failure = { 0 };

	target = xb_target_new(options, dir, &failure);
	if (target == NULL && (options->host != NULL || failure.fault != XB_FAULT_TARGET))
		return xb_fail(err, failure.fault, "%s", failure.text);
	targets->targets = xb_grow(targets->targets, targets->count, sizeof(*targets->targets));
	targets->targets[targets->count++] = target;
	if (target != NULL)
		fill_sheet(xb_run_add_target(run), target, options->server);
	if (target != NULL && target->note != NULL)
		xb_namelist_add_once(&run->notes, target->note);
	if (target == NULL)
		fill_absent(xb_run_add_target(run), options->server, &failure);
	if (target == NULL && why != NULL && why->fault == XB_FAULT_NONE)
		*why = failure;
	return true;
}

static bool
serves_any(const struct xb_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		if (targets->targets[i] != NULL)
			return true;
	return false;
}

bool
xb_targets_open(struct xb_targets *targets, const struct xb_options *options,
    const struct xb_rundir *dir, int server_cpu, struct xb_run *run, struct xb_err *err)
{
	struct xb_target_options wanted;
	struct xb_namelist kinds = { 0 }, split = { 0 };
	struct xb_err why = { 0 };
	bool ok = true;

	xb_namelist_split(&split, options->servers != NULL ? options->servers : DEFAULT_SERVER);
	for (size_t i = 0; i < split.count; i++)
		xb_namelist_add_once(&kinds, split.names[i]);
	if (options->host != NULL) {
		wanted = xb_options_target(options, NULL, server_cpu);
		ok = add(targets, &wanted, dir, run, NULL, err);
	}
	for (size_t i = 0; ok && options->host == NULL && i < kinds.count; i++) {
		wanted = xb_options_target(options, kinds.names[i], server_cpu);
		ok = add(targets, &wanted, dir, run, &why, err);
	}
	if (ok && !serves_any(targets))
		ok = xb_fail(err, why.fault, "%s", why.text);
	xb_namelist_free(&kinds);
	xb_namelist_free(&split);
	return ok;
}

bool
xb_targets_stand_in(struct xb_targets *targets, const struct xb_options *options,
    const struct xb_rundir *dir, int server_cpu, struct xb_run *run, struct xb_err *err)
{
	const struct xb_target_options wanted =
	    xb_options_target(options, STAND_IN_SERVER, server_cpu);

	if (!add(targets, &wanted, dir, run, NULL, err))
		return false;
	run->targets[run->target_count - 1].stands_in = true;
	return true;
}

void
xb_targets_free(struct xb_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		xb_target_free(targets->targets[i]);
	free(targets->targets);
}
