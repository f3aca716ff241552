#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "model/run.h"
#include "report/table_parts.h"

#define INDENT 4

static void
put_printable(FILE *out, const char *text)
{
	char printable[512];

	xb_text_printable(printable, sizeof(printable), text, strlen(text));
	fputs(printable, out);
}

/* "private sshd OpenSSH 9.2p1", "private dropbear 2022.83": no name twice. */
static void
put_server(FILE *out, const struct xb_target_sheet *target)
{
	char program[128];
	char software[128];

	xb_table_software(target, software, sizeof(software));
	if (target->is_private) {
		xb_target_program(target, program, sizeof(program));
		fputs("private ", out);
		if (strncasecmp(software, program, strlen(program)) != 0)
			fprintf(out, "%s ", program);
	}
	fputs(software, out);
}

static void
put_target_name(FILE *out, const struct xb_target_sheet *target)
{
	put_printable(out, target->name);
	if (!target->is_private && target->address != NULL) {
		bool v6 = strchr(target->address, ':') != NULL;

		fprintf(out, " %s%s%s:%u", v6 ? "[" : "", target->address, v6 ? "]" : "",
		    target->port);
	}
}

/* Those that serve, the first with its name: private ones are all on this machine. */
static void
put_targets(FILE *out, const struct xb_run *run)
{
	const char *separator = "  ";

	put_target_name(out, &run->targets[0]);
	for (size_t i = 0; i < run->target_count; i++) {
		const struct xb_target_sheet *target = &run->targets[i];

		if (target->absent != NULL && run->target_count > 1)
			continue;
		fputs(separator, out);
		put_server(out, target);
		if (target->stands_in)
			fputs(" for old ciphers", out);
		separator = ", ";
	}
}

static void
put_machine(FILE *out, const struct xb_host *host)
{
	if (host->cpu_model != NULL)
		fprintf(out, "%s, ", host->cpu_model);
	if (host->cpus > 0)
		fprintf(out, "%d CPU%s, ", host->cpus, host->cpus == 1 ? "" : "s");
	if (host->aes)
		fputs(host->sha ? "AES+SHA on" : "AES on, no SHA", out);
	else
		fputs(host->sha ? "SHA on, no AES" : "no AES or SHA", out);
	if (host->virtualisation != NULL && strcmp(host->virtualisation, "none") != 0)
		fprintf(out, ", %s", host->virtualisation);
	if (host->cgroup_quota != NULL)
		fprintf(out, ", limited to %s", host->cgroup_quota);
	if (host->openssl_ia32cap != NULL) {
		fputs(", OPENSSL_ia32cap=", out);
		put_printable(out, host->openssl_ia32cap);
	}
	if (host->openssl_armcap != NULL) {
		fputs(", OPENSSL_armcap=", out);
		put_printable(out, host->openssl_armcap);
	}
}

static void
put_payload(FILE *out, const struct xb_settings *settings)
{
	char bytes[32];

	if (settings->payload == NULL)
		return;
	fputs(", ", out);
	if (strcmp(settings->payload, "sparse") == 0) {
		fputs("zeros", out);
	} else if (strcmp(settings->payload, "random") == 0) {
		fputs("random data", out);
	} else {
		xb_size_format(bytes, sizeof(bytes), settings->payload_bytes);
		put_printable(out, settings->payload);
		if (settings->payload_bytes > 0)
			fprintf(out, " (%s)", bytes);
	}
}

/* "6 rounds of 1 s or 1 GiB", "2 of 6 rounds of 1 s". */
static void
put_rounds(FILE *out, const struct xb_run *run)
{
	const struct xb_settings *settings = &run->settings;
	char time[32];
	char size[32];

	if (run->rounds_done < settings->rounds)
		fprintf(out, "%u of ", run->rounds_done);
	fprintf(out, "%u round%s of ", settings->rounds, settings->rounds == 1 ? "" : "s");
	xb_duration_format(time, sizeof(time), settings->time_ns);
	xb_size_format(size, sizeof(size), settings->size);
	if (settings->time_ns > 0)
		fputs(time, out);
	if (settings->time_ns > 0 && settings->size > 0)
		fputs(" or ", out);
	if (settings->size > 0)
		fputs(size, out);
}

static void
put_pinning(const struct xb_table *table)
{
	const struct xb_settings *settings = &table->run->settings;
	char name[256];

	if (settings->pinned) {
		fprintf(table->out, ", client on CPU %d", settings->client_cpu);
		if (settings->server_cpu >= 0)
			fprintf(table->out, ", %s on CPU %d",
			    xb_table_server(table, name, sizeof(name)), settings->server_cpu);
	} else if (settings->pin_note != NULL) {
		fputs(", not pinned: ", table->out);
		put_printable(table->out, settings->pin_note);
	}
}

static void
put_cost(FILE *out, const struct xb_run *run)
{
	char text[32];

	fputs("; ", out);
	if (!run->targets[0].is_private)
		fprintf(out, "%u login%s, ", run->logins, run->logins == 1 ? "" : "s");
	/* Parts of a second are noise in what a run takes. */
	xb_table_seconds(text, sizeof(text), run->seconds < 1 ? run->seconds : round(run->seconds));
	fputs(text, out);
}

/* The names that occur among the cases, in the order of the program: "exec, scp and sftp". */
static void
put_names(FILE *out, const char *const *names, const bool *occurs, size_t count)
{
	size_t left = 0;
	bool first = true;

	for (size_t i = 0; i < count; i++)
		left += occurs[i];
	for (size_t i = 0; i < count; i++) {
		if (!occurs[i])
			continue;
		left--;
		fprintf(out, "%s%s", first ? "" : left > 0 ? ", " : " and ", names[i]);
		first = false;
	}
}

/* "upload by exec", "upload and download by scp and sftp, 4 streams". */
static void
put_transfer(FILE *out, const struct xb_table *table)
{
	const char *methods[XB_METHOD_COUNT];
	const char *directions[XB_DIRECTION_COUNT];
	bool has_method[XB_METHOD_COUNT] = { 0 };
	bool has_direction[XB_DIRECTION_COUNT] = { 0 };
	bool any_method = false;
	const struct xb_case *first = table->client_count > 0 ? table->clients[0] : NULL;

	for (int i = 0; i < XB_METHOD_COUNT; i++)
		methods[i] = xb_method_name((enum xb_method)i);
	for (int i = 0; i < XB_DIRECTION_COUNT; i++)
		directions[i] = xb_direction_name((enum xb_direction)i);
	for (size_t i = 0; i < table->run->result_count; i++) {
		const struct xb_case *c = &table->run->results[i].c;

		has_direction[c->direction] = true;
		if (c->reference || !xb_table_knows_method(c))
			continue;
		has_method[c->method] = true;
		any_method = true;
	}
	put_names(out, directions, has_direction, XB_DIRECTION_COUNT);
	if (any_method)
		fputs(" by ", out);
	put_names(out, methods, has_method, XB_METHOD_COUNT);
	if (first == NULL)
		return;
	if (!table->varies.streams && first->streams > 1)
		fprintf(out, ", %u streams", first->streams);
	if (!table->varies.compression && xb_suite_compresses(&first->suite))
		fprintf(out, ", %s", first->suite.compression);
}

/* What was done, and how often. */
static void
put_work(FILE *out, const struct xb_table *table)
{
	const struct xb_run *run = table->run;
	char *text = NULL;
	size_t size;
	FILE *words;

	if (xb_table_is_handshake(table)) {
		fprintf(out, "logins alone, %u of each", run->settings.handshakes);
		return;
	}
	words = xb_memstream(&text, &size);
	if (run->result_count > 0)
		put_transfer(words, table);
	put_payload(words, &run->settings);
	xb_memstream_close(words);
	/* Without cases nothing stands before the payload. */
	fputs(strncmp(text, ", ", 2) == 0 ? text + 2 : text, out);
	free(text);
	fputs("; ", out);
	put_rounds(out, run);
}

void
xb_table_head(const struct xb_table *table)
{
	const struct xb_run *run = table->run;
	struct xb_table line = *table;
	char *text = NULL;
	size_t size;

	line.out = xb_memstream(&text, &size);
	put_targets(line.out, run);
	if (run->targets[0].is_local) {
		fputs("; ", line.out);
		put_machine(line.out, &run->host);
	}
	if (run->targets[0].hostkey_note != NULL) {
		fputs("; ", line.out);
		put_printable(line.out, run->targets[0].hostkey_note);
	}
	xb_memstream_close(line.out);
	xb_table_line(table, INDENT, "%s", text);
	free(text);

	line.out = xb_memstream(&text, &size);
	put_work(line.out, table);
	put_pinning(&line);
	put_cost(line.out, run);
	xb_memstream_close(line.out);
	xb_table_line(table, INDENT, "%s", text);
	free(text);
}

void
xb_table_partial(const struct xb_table *table)
{
	const struct xb_run *run = table->run;

	if (!run->partial)
		return;
	xb_table_line(table, INDENT, "partial: %s after %u of %u round%s",
	    run->partial_reason != NULL ? run->partial_reason : "ended", run->rounds_done,
	    run->settings.rounds, run->settings.rounds == 1 ? "" : "s");
}
