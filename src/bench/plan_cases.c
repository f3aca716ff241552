#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/plan.h"
#include "bench/plan_parts.h"
#include "model/run.h"

/* Where and how a wish is tried. */
struct way {
	size_t target;
	enum xb_method method; /* meaningless where it is found by trying */
	enum xb_direction direction;
	unsigned streams;
};

static struct xb_case
case_of(const struct xb_plan *plan, const struct xb_client *client, const struct way *way)
{
	const struct xb_plan_lists *lists = &plan->lists;

	return (struct xb_case){
		.client = client->name,
		.client_label = client->label,
		.target = way->target,
		.direction = way->direction,
		.streams = way->streams,
		.method_auto = lists->method_auto,
		.method = lists->method_auto ? xb_plan_first_method(lists, client, way->direction)
					     : way->method,
	};
}

static char *
copy_of(const struct xb_selected *selected)
{
	return selected != NULL ? xb_strdup(selected->name) : NULL;
}

static void
fill_suite(const struct xb_plan *plan, const struct xb_plan_wish *wish, struct xb_case *c)
{
	const char *compression = NULL;

	if (wish->compression != NULL)
		compression =
		    xb_plan_wire_compression(xb_run_target(plan->run, c), wish->compression);
	xb_suite_init(&c->suite, wish->cipher != NULL ? wish->cipher->name : NULL,
	    wish->mac != NULL ? wish->mac->name : NULL, compression);
	c->suite.kex = copy_of(wish->kex);
	c->suite.hostkey = copy_of(wish->hostkey);
}

/*
 * A name that was typed has been shown once some client has a rate for it: that a client which nobody
 * named has none does not count. Where no client can, each tells, and it counts.
 */
static void
excuse_unnamed(struct xb_plan *plan, size_t first)
{
	struct xb_run *run = plan->run;
	bool any = false;
	size_t i, next = first;

	for (i = first; i < run->result_count; i++)
		any |= run->results[i].c.status == XB_PLANNED;
	for (i = 0; any && i < plan->lists.client_count; i++) {
		if (!plan->lists.clients[i].client->ranked)
			continue;
		if (!plan->lists.clients[i].named && run->results[next].c.status != XB_PLANNED)
			run->results[next].c.by_name = false;
		next++;
	}
}

static void
add_clients(struct xb_plan *plan, const struct xb_plan_wish *wish, const struct way *way)
{
	size_t first = plan->run->result_count;
	const struct xb_plan_client *client;
	struct xb_case *c;

	for (size_t i = 0; i < plan->lists.client_count; i++) {
		client = &plan->lists.clients[i];
		if (!client->client->ranked)
			continue;
		c = &xb_run_add_result(plan->run)->c;
		*c = case_of(plan, client->client, way);
		fill_suite(plan, wish, c);
		xb_plan_judge(plan, wish, client, c);
	}
	excuse_unnamed(plan, first);
}

/* One method where it is found by trying: the first that works for each client. */
static size_t
method_count(const struct xb_plan *plan)
{
	return plan->lists.method_auto ? 1 : plan->lists.method_count;
}

static void
add_ways(struct xb_plan *plan, const struct xb_plan_wish *wish, size_t target)
{
	const struct xb_plan_lists *lists = &plan->lists;
	struct way way = { .target = target };

	for (size_t m = 0; m < method_count(plan); m++)
		for (size_t d = 0; d < lists->direction_count; d++)
			for (size_t s = 0; s < lists->stream_count; s++) {
				way.method = lists->methods[m];
				way.direction = lists->directions[d];
				way.streams = lists->streams[s];
				add_clients(plan, wish, &way);
			}
}

/* What only the server that stands in can take goes there, all else to those that were asked for. */
static bool
goes_to(const struct xb_plan *plan, const struct xb_plan_wish *wish,
    const struct xb_target_sheet *target)
{
	const struct xb_target_sheet *stand_in = xb_plan_stand_in(plan->run);
	bool moves = stand_in != NULL && stand_in->absent == NULL && wish->cipher != NULL &&
	    !xb_plan_offers_cipher(&plan->run->targets[0], wish->cipher->name) &&
	    xb_plan_offers_cipher(stand_in, wish->cipher->name);

	return target->stands_in == moves;
}

static bool
same_name(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* True when an earlier word of --compress means the same to this target. */
static bool
is_repeated(const struct xb_plan *plan, const struct xb_plan_wish *wish,
    const struct xb_target_sheet *target)
{
	const struct xb_namelist *words = &plan->lists.compression;
	const char *wire;

	if (wish->compression == NULL)
		return false;
	wire = xb_plan_wire_compression(target, wish->compression);
	for (size_t i = 0; strcmp(words->names[i], wish->compression) != 0; i++)
		if (same_name(xb_plan_wire_compression(target, words->names[i]), wire))
			return true;
	return false;
}

void
xb_plan_add(struct xb_plan *plan, const struct xb_plan_wish *wish)
{
	const struct xb_run *run = plan->run;

	for (size_t i = 0; i < run->target_count; i++)
		if (goes_to(plan, wish, &run->targets[i]) &&
		    !is_repeated(plan, wish, &run->targets[i]))
			add_ways(plan, wish, i);
}

static const char *
why_not(const struct xb_client *client, enum xb_direction direction)
{
	return client->cannot != NULL ? client->cannot(XB_METHOD_EXEC, direction) : NULL;
}

static void
add_reference(struct xb_plan *plan, const struct xb_plan_client *client,
    enum xb_direction direction)
{
	const struct way way = {
		.method = XB_METHOD_EXEC,
		.direction = direction,
		.streams = plan->lists.streams[0],
	};
	struct xb_case *c = &xb_run_add_result(plan->run)->c;
	const char *cannot = why_not(client->client, direction);

	*c = case_of(plan, client->client, &way);
	c->method = XB_METHOD_EXEC;
	c->method_auto = false;
	c->reference = true;
	c->by_name = client->named;
	if (client->has.absent != NULL)
		xb_case_refuse(c, XB_UNSUPPORTED, client->has.absent, NULL);
	else if (cannot != NULL)
		xb_case_refuse(c, XB_UNSUPPORTED, cannot, NULL);
	else if (!plan->run->targets[0].is_local)
		xb_case_refuse(c, XB_UNSUPPORTED, "measured without SSH on this machine only",
		    NULL);
}

/* A direction that it cannot says nothing, unless it can none of those that were asked for. */
void
xb_plan_add_references(struct xb_plan *plan)
{
	const struct xb_plan_lists *lists = &plan->lists;

	for (size_t i = 0; i < lists->client_count; i++) {
		const struct xb_client *client = lists->clients[i].client;
		size_t added = 0;

		for (size_t d = 0; !client->ranked && d < lists->direction_count; d++)
			if (why_not(client, lists->directions[d]) == NULL) {
				add_reference(plan, &lists->clients[i], lists->directions[d]);
				added++;
			}
		if (!client->ranked && added == 0)
			add_reference(plan, &lists->clients[i], lists->directions[0]);
	}
}

/* Where no session can begin there is none: the other rows tell why. */
static void
add_as_negotiated(struct xb_plan *plan, const struct xb_plan_client *client, const struct way *way)
{
	const struct xb_plan_wish nothing = { .cipher = NULL };
	struct xb_case c = case_of(plan, client->client, way);

	c.as_negotiated = true;
	xb_plan_judge(plan, &nothing, client, &c);
	c.by_name = false;
	if (c.status == XB_PLANNED)
		xb_run_add_result(plan->run)->c = c;
	else
		xb_case_free(&c);
}

void
xb_plan_add_as_negotiated(struct xb_plan *plan)
{
	const struct xb_plan_lists *lists = &plan->lists;
	struct way way = { .streams = lists->streams[0] };

	for (size_t m = 0; m < method_count(plan); m++)
		for (size_t d = 0; d < lists->direction_count; d++)
			for (size_t i = 0; i < lists->client_count; i++) {
				way.method = lists->methods[m];
				way.direction = lists->directions[d];
				if (lists->clients[i].client->ranked)
					add_as_negotiated(plan, &lists->clients[i], &way);
			}
}
