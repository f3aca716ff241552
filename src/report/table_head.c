#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * The name and version in an SSH software version (RFC 4253 section 4.2), without its comment:
 * "OpenSSH_9.2p1 Debian-2" is "OpenSSH 9.2p1".
 */
static void
put_software(FILE *out, const char *version)
{
	char name[128];

	xb_text_printable(name, sizeof(name), version, strcspn(version, " "));
	for (char *p = name; *p != '\0'; p++) {
		if (*p == '_' && isdigit((unsigned char)p[1]))
			*p = ' ';
	}
	fputs(name, out);
}

/* What follows "SSH-2.0-" in an identification line. */
static const char *
banner_software(const char *banner)
{
	const char *dash = strchr(banner, '-');

	dash = dash != NULL ? strchr(dash + 1, '-') : NULL;
	return dash != NULL ? dash + 1 : banner;
}

static void
put_server(FILE *out, const struct xb_target_sheet *target)
{
	const char *banner = target->offer.banner;

	if (target->is_private) {
		const char *program =
		    target->server_program != NULL ? target->server_program : "server";
		const char *slash = strrchr(program, '/');

		fputs("private ", out);
		put_printable(out, slash != NULL ? slash + 1 : program);
		fputc(' ', out);
	}
	if (target->server_version != NULL)
		put_software(out, target->server_version);
	else if (banner != NULL)
		put_software(out, banner_software(banner));
	else
		fputs("server unknown", out);
}

static void
put_target(FILE *out, const struct xb_target_sheet *target)
{
	put_printable(out, target->name);
	if (!target->is_private && target->address != NULL) {
		bool v6 = strchr(target->address, ':') != NULL;

		fprintf(out, " %s%s%s:%u", v6 ? "[" : "", target->address, v6 ? "]" : "",
		    target->port);
	}
	fputs("  ", out);
	put_server(out, target);
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

	if (strcmp(settings->payload, "sparse") == 0) {
		fputs("zeros", out);
	} else if (strcmp(settings->payload, "random") == 0) {
		fputs("random data", out);
	} else {
		xb_size_format(bytes, sizeof(bytes), settings->payload_bytes);
		put_printable(out, settings->payload);
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

void
xb_table_head(const struct xb_table *table)
{
	const struct xb_run *run = table->run;
	struct xb_table line = *table;
	const struct xb_case *first = run->result_count > 0 ? &run->results[0].c : NULL;
	char *text = NULL;
	size_t size;

	line.out = xb_memstream(&text, &size);
	put_target(line.out, &run->targets[0]);
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
	if (first != NULL)
		fprintf(line.out, "%s by %s, ", xb_direction_name(first->direction),
		    xb_method_name(first->method));
	put_payload(line.out, &run->settings);
	fputs("; ", line.out);
	put_rounds(line.out, run);
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
