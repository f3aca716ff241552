#include "far_side.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "scratch.h"

/* In the scratch directory, which the user who serves has to reach: as root that is root. */
#define OPTIONS "far-options"
#define SCRIPT "far-script"
#define BIN "far-bin"
#define CAT "far-bin/cat"

static void
write_file(const char *name, mode_t mode, const char *text)
{
	const char *path = scratch_path(name);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

struct ssh_transfer_server
far_side_start(void)
{
	struct ssh_transfer_server server;
	char *options;

	scratch_make_dir(scratch_path(BIN), 0755);
	far_side_options("");
	options = xb_asprintf("$(/bin/cat %s)", scratch_path(OPTIONS));
	server = ssh_transfer_start(options);
	free(options);
	return server;
}

void
far_side_stop(struct ssh_transfer_server *server)
{
	ssh_transfer_stop(server);
}

void
far_side_options(const char *options)
{
	write_file(OPTIONS, 0644, options);
}

void
far_side_script(const char *script)
{
	char *options = xb_asprintf("-o ForceCommand=%s", scratch_path(SCRIPT));
	char *text = xb_asprintf("#!/bin/sh\n%s\n", script);

	write_file(SCRIPT, 0755, text);
	far_side_options(options);
	free(text);
	free(options);
}

void
far_side_cat(const char *script)
{
	char *text = xb_asprintf("#!/bin/sh\n%s\n", script);
	char *far;

	write_file(CAT, 0755, text);
	far = xb_asprintf("PATH=%s:$PATH; export PATH; exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
	    scratch_path(BIN));
	far_side_script(far);
	free(far);
	free(text);
}
