#include "target/private_openssh_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/namelist.h"
#include "target/private_tools.h"

/* Time for each run of sshd -t. */
#define TEST_TIMEOUT_NS (10 * XB_NS_PER_SECOND)

/* Longer than all names of our tables together. */
#define JOINED_MAX 4096

/* One line of the file. Its number is what sshd complains by, so none is ever removed. */
struct xb_sshd_line {
	char *text;
	bool optional; /* may be dropped when this sshd does not know it */
	bool dropped;
	/* What it offers, as xb_sshd_config_offer has it; NULL: it offers nothing. */
	const char *option;
	const char *name;
};

void
xb_sshd_config_init(struct xb_sshd_config *config, char *path)
{
	*config = (struct xb_sshd_config){ .path = path };
}

void
xb_sshd_config_free(struct xb_sshd_config *config)
{
	for (size_t i = 0; i < config->count; i++)
		free(config->lines[i].text);
	free(config->lines);
	free(config->path);
	*config = (struct xb_sshd_config){ 0 };
}

static struct xb_sshd_line *
add_line(struct xb_sshd_config *config)
{
	config->lines = xb_grow(config->lines, config->count, sizeof(*config->lines));
	return &config->lines[config->count++];
}

void
xb_sshd_config_add(struct xb_sshd_config *config, char *text, bool optional)
{
	*add_line(config) = (struct xb_sshd_line){ .text = text, .optional = optional };
}

void
xb_sshd_config_offer(struct xb_sshd_config *config, const char *option, const char *name)
{
	/* "+" adds to sshd's own list, so that its preference stays what it is without us. */
	*add_line(config) = (struct xb_sshd_line){
		.text = xb_asprintf("%s +%s", option, name),
		.optional = true,
		.option = option,
		.name = name,
	};
}

static bool
write_file(const struct xb_sshd_config *config, struct xb_err *err)
{
	FILE *out = fopen(config->path, "we");
	bool ok = out != NULL;

	for (size_t i = 0; ok && i < config->count; i++)
		ok = fprintf(out, "%s%s\n", config->lines[i].dropped ? "# " : "",
			 config->lines[i].text) > 0;
	if (out != NULL && fclose(out) != 0)
		ok = false;
	return ok || xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", config->path);
}

/* Drops the optional lines that sshd complains about, "FILE line 7: …" or "FILE: line 7: …". Returns
 * how many. */
static unsigned
drop_lines(struct xb_sshd_config *config, const char *output)
{
	unsigned dropped = 0;
	uintmax_t number;

	for (const char *at = output; (at = strstr(at, "line ")) != NULL;) {
		at += strlen("line ");
		number = strtoumax(at, NULL, 10);
		if (number < 1 || number > config->count)
			continue;
		if (config->lines[number - 1].optional && !config->lines[number - 1].dropped) {
			config->lines[number - 1].dropped = true;
			dropped++;
		}
	}
	return dropped;
}

/* Asks sshd what it thinks of the file. */
static bool
test_file(const struct xb_sshd_config *config, const char *program, char *output, bool *accepted,
    struct xb_err *err)
{
	const char *const argv[] = { program, "-t", "-f", config->path, NULL };
	int status;

	if (!write_file(config, err) ||
	    !xb_child_capture(argv, TEST_TIMEOUT_NS, output, XB_TOOL_OUTPUT, &status, err))
		return false;
	*accepted = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return true;
}

bool
xb_sshd_config_settle(struct xb_sshd_config *config, const char *program, char *output,
    struct xb_err *err)
{
	char reason[400];
	bool accepted;

	/* Of unknown options it lists all at once, of unknown algorithms the first: each costs one
	 * start. */
	for (;;) {
		if (!test_file(config, program, output, &accepted, err))
			return false;
		if (accepted)
			return true;
		if (drop_lines(config, output) == 0)
			break;
	}
	xb_text_printable(reason, sizeof(reason), output, strlen(output));
	return xb_fail(err, XB_FAULT_TARGET, "%s refuses to start: %s", program,
	    reason[0] != '\0' ? reason : "it gives no reason");
}

void
xb_sshd_config_join(struct xb_sshd_config *config, const char *option)
{
	const size_t count = config->count;
	struct xb_namelist taken = { 0 };
	char *joined;

	for (size_t i = 0; i < count; i++) {
		struct xb_sshd_line *line = &config->lines[i];

		if (line->option == NULL || strcmp(line->option, option) != 0)
			continue;
		if (!line->dropped)
			xb_namelist_add_once(&taken, line->name);
		line->dropped = true;
	}
	joined = xb_namelist_join(&taken, ",", JOINED_MAX);
	if (taken.count > 0)
		xb_sshd_config_add(config, xb_asprintf("%s +%s", option, joined), false);
	free(joined);
	xb_namelist_free(&taken);
}
