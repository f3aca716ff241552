#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/run.h"
#include "report/table_parts.h"

bool
xb_table_is_handshake(const struct xb_table *table)
{
	return table->run->result_count > 0 && table->run->results[0].c.method == XB_METHOD_LOGIN;
}

bool
xb_table_knows_method(const struct xb_case *c)
{
	return !c->method_auto || c->status == XB_MEASURED;
}

static void
add_client(struct xb_table *table, const struct xb_case *c)
{
	for (size_t i = 0; i < table->client_count; i++)
		if (strcmp(table->clients[i]->client, c->client) == 0)
			return;
	table->clients =
	    xb_grow(table->clients, table->client_count, sizeof(const struct xb_case *));
	table->clients[table->client_count++] = c;
}

/* Each dimension is compared with the first case that tells of it. */
void
xb_table_find_dimensions(struct xb_table *table)
{
	const struct xb_run *run = table->run;
	struct xb_dimensions *varies = &table->varies;
	const struct xb_case *first = NULL;
	const struct xb_case *first_method = NULL;
	const struct xb_case *first_server = NULL;

	for (size_t i = 0; i < run->result_count; i++) {
		const struct xb_case *c = &run->results[i].c;

		if (c->reference)
			continue;
		add_client(table, c);
		if (first == NULL)
			first = c;
		if (first_method == NULL && xb_table_knows_method(c))
			first_method = c;
		if (first_server == NULL && !xb_run_target(run, c)->stands_in)
			first_server = c;
		varies->direction |= c->direction != first->direction;
		varies->streams |= c->streams != first->streams;
		varies->compression |= strcmp(xb_table_compression(&c->suite),
					   xb_table_compression(&first->suite)) != 0;
		varies->any_compression |= xb_suite_compresses(&c->suite);
		if (first_method != NULL && xb_table_knows_method(c))
			varies->method |= c->method != first_method->method;
		if (first_server != NULL && !xb_run_target(run, c)->stands_in)
			varies->server |= c->target != first_server->target;
	}
}

size_t
xb_table_client(const struct xb_table *table, const struct xb_case *c)
{
	size_t i = 0;

	while (strcmp(table->clients[i]->client, c->client) != 0)
		i++;
	return i;
}

void
xb_table_target(const struct xb_target_sheet *target, char *out, size_t size)
{
	const char *name = target->server != NULL ? target->server : target->name;

	xb_text_printable(out, size, name, strlen(name));
}

/* What follows "SSH-2.0-" in an identification line. */
static const char *
banner_software(const char *banner)
{
	const char *dash = strchr(banner, '-');

	dash = dash != NULL ? strchr(dash + 1, '-') : NULL;
	return dash != NULL ? dash + 1 : banner;
}

/*
 * The name and version in an SSH software version (RFC 4253 section 4.2), without its comment:
 * "OpenSSH_9.2p1 Debian-2" is "OpenSSH 9.2p1".
 */
void
xb_table_software(const struct xb_target_sheet *target, char *out, size_t size)
{
	const char *version = target->server_version;

	if (version == NULL && target->offer.banner != NULL)
		version = banner_software(target->offer.banner);
	if (version == NULL) {
		snprintf(out, size, "server unknown");
		return;
	}
	xb_text_printable(out, size, version, strcspn(version, " "));
	for (char *p = out; *p != '\0'; p++)
		if (*p == '_' && isdigit((unsigned char)p[1]))
			*p = ' ';
}

const char *
xb_table_compression(const struct xb_suite *suite)
{
	return suite->compression != NULL ? suite->compression : "none";
}

static void
put_login_name(FILE *out, const struct xb_row *row)
{
	const char *kex = xb_row_kex(row);
	const char *hostkey = xb_row_hostkey(row);

	fputs(kex != NULL ? kex : "as negotiated", out);
	if (hostkey != NULL)
		fprintf(out, " %s", hostkey);
}

static void
put_suite_name(FILE *out, const struct xb_table *table, const struct xb_case *c)
{
	if (c->reference) {
		fputs(xb_case_client_label(c), out);
		return;
	}
	fputs(xb_suite_cipher_label(&c->suite), out);
	if (c->suite.mac_name != NULL)
		fprintf(out, " %s", xb_suite_mac_label(&c->suite));
	if (table->varies.compression && xb_suite_compresses(&c->suite))
		fprintf(out, " %s", c->suite.compression);
}

char *
xb_table_row_name(const struct xb_table *table, const struct xb_row *row)
{
	const struct xb_case *c = &row->result->c;
	const struct xb_dimensions *varies = &table->varies;
	char name[256];
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	if (c->method == XB_METHOD_LOGIN)
		put_login_name(out, row);
	else
		put_suite_name(out, table, c);
	if (varies->method && !c->reference)
		fprintf(out, " by %s", xb_method_name(c->method));
	if (varies->direction)
		fprintf(out, " %s", xb_direction_name(c->direction));
	if (varies->streams && !c->reference)
		fprintf(out, " of %u stream%s", c->streams, c->streams == 1 ? "" : "s");
	if (varies->server && !c->reference) {
		xb_table_target(xb_run_target(table->run, c), name, sizeof(name));
		fprintf(out, " on %s", name);
	}
	if (table->client_count > 1 && !c->reference)
		fprintf(out, " with %s", xb_case_client_label(c));
	xb_memstream_close(out);
	return text;
}
