#include <string.h>

#include "bench/plan.h"
#include "bench/plan_parts.h"
#include "model/kex.h"
#include "model/run.h"

#define CERTIFICATE "-cert-v01@openssh.com"

static bool
is_certificate(const char *name)
{
	size_t len = strlen(name), end = strlen(CERTIFICATE);

	return len > end && strcmp(name + len - end, CERTIFICATE) == 0;
}

static void
add_names(struct xb_namelist *to, const struct xb_namelist *from)
{
	for (size_t i = 0; i < from->count; i++)
		if (!xb_kex_is_marker(from->names[i]))
			xb_namelist_add_once(to, from->names[i]);
}

/* What an option can name: what the servers offer, and besides what a client or our table knows. */
static void
fill_pools(const struct xb_plan *plan, bool hostkeys, struct xb_namelist *offered,
    struct xb_namelist *known)
{
	const struct xb_keying *rows = hostkeys ? xb_hostkeys : xb_kexes;

	for (size_t i = 0; i < plan->run->target_count; i++) {
		const struct xb_offer *offer = &plan->run->targets[i].offer;

		add_names(offered, hostkeys ? &offer->hostkeys : &offer->kex);
	}
	for (size_t i = 0; i < plan->lists.client_count; i++) {
		const struct xb_client_algorithms *has = &plan->lists.clients[i].has;

		add_names(known, hostkeys ? &has->hostkeys : &has->kex);
	}
	for (size_t i = 0; i < (hostkeys ? xb_hostkey_count : xb_kex_count); i++)
		xb_namelist_add_once(known, rows[i].name);
}

/* "all" is what the servers offer but certificates: nobody vouches for one here. */
static bool
select_offered(const struct xb_plan *plan, bool hostkeys, struct xb_selection *out,
    struct xb_err *err)
{
	const char *list = hostkeys ? plan->request->hostkeys : plan->request->kex;
	struct xb_namelist offered = { 0 }, all = { 0 }, known = { 0 };
	const struct xb_select_pool pool = {
		.option = hostkeys ? "--host-key-algorithms" : "--kex",
		.what = hostkeys ? "host key algorithm" : "key exchange",
		.all = &all,
		.offered = &offered,
		.known = &known,
	};
	bool ok = true;

	fill_pools(plan, hostkeys, &offered, &known);
	for (size_t i = 0; i < offered.count; i++)
		if (!is_certificate(offered.names[i]))
			xb_namelist_add_once(&all, offered.names[i]);
	if (list != NULL)
		ok = xb_select_names(&pool, list, out, err);
	xb_namelist_free(&known);
	xb_namelist_free(&all);
	xb_namelist_free(&offered);
	return ok;
}

/* One item of a selection, NULL for the only one of an empty selection: left to the client. */
static const struct xb_selected *
item(const struct xb_selection *selection, size_t i)
{
	return selection->count > 0 ? &selection->items[i] : NULL;
}

static size_t
times(const struct xb_selection *selection)
{
	return selection->count > 0 ? selection->count : 1;
}

/*
 * What client and target make of it by themselves: what people get today. Beside named algorithms only
 * where one of those can be measured, and without a word where it cannot be: those rows have said it.
 */
static void
add_as_negotiated(struct xb_plan *plan, bool alone)
{
	const struct xb_plan_wish nothing = { 0 };
	struct xb_run *run = plan->run;
	size_t first = run->result_count, kept = first;

	if (!alone && !xb_plan_has_work(run))
		return;
	xb_plan_add(plan, &nothing);
	for (size_t i = first; i < run->result_count; i++) {
		run->results[i].c.as_negotiated = true;
		if (alone || run->results[i].c.status == XB_PLANNED)
			run->results[kept++] = run->results[i];
		else
			xb_case_free(&run->results[i].c);
	}
	run->result_count = kept;
}

bool
xb_plan_add_logins(struct xb_plan *plan, struct xb_err *err)
{
	struct xb_selection kex = { 0 }, hostkeys = { 0 };
	bool alone, ok;

	ok = select_offered(plan, false, &kex, err) && select_offered(plan, true, &hostkeys, err);

	alone = kex.count == 0 && hostkeys.count == 0;
	for (size_t i = 0; ok && !alone && i < times(&kex); i++)
		for (size_t j = 0; j < times(&hostkeys); j++) {
			const struct xb_plan_wish wish = {
				.kex = item(&kex, i),
				.hostkey = item(&hostkeys, j),
			};

			xb_plan_add(plan, &wish);
		}
	if (ok)
		add_as_negotiated(plan, alone);
	xb_selection_free(&kex);
	xb_selection_free(&hostkeys);
	return ok;
}
