#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

/*
 * A main function for a fuzzer without libFuzzer: runs it once over every file of a corpus and prints
 * TAP. usage: fuzz_NAME [DIRECTORY]; without one, tests/fuzz/corpus/NAME in $XB_TOP_SRCDIR.
 */

#define INPUT_MAX (1 << 20)

static int
is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* An exact allocation, so that a sanitizer sees every byte read beyond the input. */
static uint8_t *
read_input(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	uint8_t *data = NULL;

	if (file == NULL)
		return NULL;
	if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= INPUT_MAX) {
		*size = (size_t)st.st_size;
		data = malloc(*size > 0 ? *size : 1);
	}
	if (data != NULL && fread(data, 1, *size, file) != *size) {
		free(data);
		data = NULL;
	}
	fclose(file);
	return data;
}

static int
replay(const char *path)
{
	size_t size = 0;
	uint8_t *data = read_input(path, &size);

	if (data == NULL)
		return -1;
	/* A fuzzer ends the program when it finds a fault: the plan then tells what is missing. */
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

/* "…/fuzz_NAME" to the corpus of NAME. */
static void
default_dir(char *out, size_t size, const char *program)
{
	const char *top = getenv("XB_TOP_SRCDIR");
	const char *slash = strrchr(program, '/');
	const char *base = slash != NULL ? slash + 1 : program;
	const char *underscore = strchr(base, '_');

	snprintf(out, size, "%s/tests/fuzz/corpus/%s", top != NULL ? top : ".",
	    underscore != NULL ? underscore + 1 : base);
}

int
main(int argc, char **argv)
{
	struct dirent **entries = NULL;
	char dir[4096];
	int count, failed = 0;

	if (argc > 1)
		snprintf(dir, sizeof(dir), "%s", argv[1]);
	else
		default_dir(dir, sizeof(dir), argv[0]);
	count = chdir(dir) == 0 ? scandir(".", &entries, is_visible, alphasort) : -1;
	if (count <= 0) {
		printf("Bail out! no corpus in %s: %s\n", dir,
		    count < 0 ? strerror(errno) : "it is empty");
		return 1;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		fflush(stdout);
		if (replay(entries[i]->d_name) != 0) {
			failed++;
			printf("not ok %d - %s cannot be read\n", i + 1, entries[i]->d_name);
		} else {
			printf("ok %d - %s\n", i + 1, entries[i]->d_name);
		}
		free(entries[i]);
	}
	free(entries);
	return failed > 0;
}
