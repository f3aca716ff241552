#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "report/json.h"
#include "report/table.h"

#define USUAL_WIDTH 80
#define LEAST_WIDTH 20
#define MOST_WIDTH 1000

const struct xb_report *const xb_reports[] = {
	&xb_report_table,
	&xb_report_json,
	NULL,
};

const struct xb_report *
xb_report_find(const char *name)
{
	for (size_t i = 0; xb_reports[i] != NULL; i++) {
		if (strcmp(xb_reports[i]->name, name) == 0)
			return xb_reports[i];
	}
	return NULL;
}

/* COLUMNS goes first, whatever the output is; then the terminal's own width. */
static int
width_of(int fd, bool terminal)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t width;

	if (columns != NULL &&
	    xb_count_parse("COLUMNS", columns, LEAST_WIDTH, MOST_WIDTH, &width, NULL))
		return (int)width;
	if (!terminal)
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST_WIDTH)
		return size.ws_col;
	return USUAL_WIDTH;
}

/* https://no-color.org: any value but an empty one means no colours. */
static bool
wants_colour(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return (no_color == NULL || no_color[0] == '\0') && term != NULL && term[0] != '\0' &&
	    strcmp(term, "dumb") != 0;
}

struct xb_report_style
xb_report_style_of(FILE *out)
{
	int fd = fileno(out);
	bool terminal = fd >= 0 && isatty(fd) == 1;

	return (struct xb_report_style){
		.width = width_of(fd, terminal),
		.terminal = terminal,
		.colour = terminal && wants_colour(),
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
}

static const char *
kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a directory";
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return "a device";
	if (S_ISFIFO(mode))
		return "a pipe";
	if (S_ISSOCK(mode))
		return "a socket";
	return "not a regular file";
}

/*
 * Where the file is to be put, fresh: links are followed, so that the rename replaces the file and
 * not the link. NULL with err set unless that place is empty or has a regular file that may be
 * written: the rename alone would replace a write-protected file or a device.
 */
static char *
resolve(const char *path, struct xb_err *err)
{
	struct stat st;
	char *real;

	if (path[0] == '\0') {
		xb_fail(err, XB_FAULT_SYSTEM, "cannot write a file without a name");
		return NULL;
	}
	if (lstat(path, &st) != 0) {
		if (errno == ENOENT && path[strlen(path) - 1] != '/')
			return xb_strdup(path);
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", path);
		return NULL;
	}
	if (stat(path, &st) != 0) {
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s, a link", path);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		xb_fail(err, XB_FAULT_SYSTEM,
		    "cannot write %s: it is %s; name a regular file, or - for standard output",
		    path, kind_of(st.st_mode));
		return NULL;
	}
	real = realpath(path, NULL);
	if (real == NULL || faccessat(AT_FDCWD, real, W_OK, AT_EACCESS) != 0) {
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", path);
		free(real);
		return NULL;
	}
	return real;
}

/* Creates an empty file beside place; its name goes to temp, fresh. -1 with err set. */
static int
create_beside(const char *place, const char *path, char **temp, struct xb_err *err)
{
	const char *slash = strrchr(place, '/');
	int dir_len = slash != NULL ? (int)(slash - place) + 1 : 0;
	int fd;

	*temp = xb_asprintf("%.*s.xferbench-XXXXXX", dir_len, place);
	fd = mkostemp(*temp, O_CLOEXEC);
	if (fd < 0) {
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s: no new file beside it", path);
		free(*temp);
		*temp = NULL;
	}
	return fd;
}

/* As public as a shell's redirection would leave it: a file that exists keeps its mode. */
static bool
set_mode(int fd, const char *place)
{
	struct stat st;
	mode_t mask;

	if (stat(place, &st) == 0)
		return fchmod(fd, st.st_mode & 0777) == 0;
	mask = umask(0);
	umask(mask);
	return fchmod(fd, 0666 & ~mask) == 0;
}

/* The whole text at place, which the user calls path, or nothing changed. */
static bool
replace(const char *place, const char *path, const char *text, size_t size, struct xb_err *err)
{
	char *temp;
	int fd = create_beside(place, path, &temp, err);
	bool ok;

	if (fd < 0)
		return false;
	ok = set_mode(fd, place) && xb_write_all(fd, text, size) == (ssize_t)size;
	if (!ok)
		xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", path);
	/* Some file systems tell only now that there was no room. */
	if (close(fd) != 0)
		ok = xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", path);
	if (ok && rename(temp, place) != 0)
		ok = xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write %s", path);
	if (!ok)
		unlink(temp);
	free(temp);
	return ok;
}

bool
xb_report_save_text(const char *text, size_t size, const char *path, struct xb_err *err)
{
	char *place;
	bool ok;

	if (strcmp(path, "-") == 0) {
		if (fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0)
			return true;
		return xb_fail_errno(err, XB_FAULT_SYSTEM, "cannot write to standard output");
	}
	place = resolve(path, err);
	if (place == NULL)
		return false;
	ok = replace(place, path, text, size, err);
	free(place);
	return ok;
}

bool
xb_report_save(const struct xb_report *report, const struct xb_run *run,
    const struct xb_report_style *style, const char *path, struct xb_err *err)
{
	char *text = NULL;
	size_t size;
	FILE *memory = xb_memstream(&text, &size);
	bool ok = report->write(run, style, memory, err);

	xb_memstream_close(memory);
	ok = ok && xb_report_save_text(text, size, path, err);
	free(text);
	return ok;
}

bool
xb_report_check_path(const char *path, struct xb_err *err)
{
	char *place;
	char *temp = NULL;
	int fd;

	if (strcmp(path, "-") == 0)
		return true;
	place = resolve(path, err);
	if (place == NULL)
		return false;
	fd = create_beside(place, path, &temp, err);
	if (fd >= 0) {
		close(fd);
		unlink(temp);
	}
	free(temp);
	free(place);
	return fd >= 0;
}
