/*
 * What xferbench's openssh client is held against: a program fed with zeros through its stdin, by the
 * same means, without our session, counters or process around it.
 *
 *   feed BYTES PROGRAM [ARGUMENT...]         through a pipe
 *   feed FILE PROGRAM [ARGUMENT...]          FILE (its name has a slash) is its stdin
 *
 * The program prints one line when it is ready to read. Prints the wall seconds from that line to the
 * program's end, and the CPU seconds of the program and of this one over the same span.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (256 * 1024)
#define PIPE_BYTES (1024 * 1024)

static double
now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
die(const char *what)
{
	fprintf(stderr, "feed: %s: %s\n", what, strerror(errno));
	exit(1);
}

static pid_t
start(char **argv, int in, int out)
{
	pid_t pid = fork();

	if (pid == 0) {
		dup2(in, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		execvp(argv[0], argv);
		die(argv[0]);
	}
	return pid;
}

static void
await_line(int fd)
{
	char c = '\0';

	while (c != '\n')
		if (read(fd, &c, 1) != 1)
			die("the program was never ready");
}

/* CPU seconds of a live process without threads: proc(5), schedstat. */
static double
cpu_of(pid_t pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)pid);
	file = fopen(path, "re");
	if (file == NULL || fscanf(file, "%llu", &ns) != 1)
		die(path);
	fclose(file);
	return (double)ns / 1e9;
}

/* The pages are constant, so the pipe can hold them as they are. */
static void
feed(int fd, unsigned long long bytes)
{
	char *zeros =
	    mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec piece;
	ssize_t n;

	if (zeros == MAP_FAILED)
		die("mmap");
	memset(zeros, 1, BUFFER_BYTES);
	memset(zeros, 0, BUFFER_BYTES);
	while (bytes > 0) {
		piece.iov_base = zeros;
		piece.iov_len = bytes < BUFFER_BYTES ? (size_t)bytes : BUFFER_BYTES;
		n = vmsplice(fd, &piece, 1, 0);
		if (n < 0)
			die("vmsplice");
		bytes -= (unsigned long long)n;
	}
}

static double
seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

int
main(int argc, char **argv)
{
	int in[2], out[2], status, file = -1;
	double wall, cpu, own;
	struct rusage usage;
	char rest[4096];
	pid_t pid;

	if (argc < 3)
		die("BYTES|FILE PROGRAM [ARGUMENT...]");
	signal(SIGPIPE, SIG_IGN);
	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		die("pipe");
	fcntl(in[1], F_SETPIPE_SZ, PIPE_BYTES);
	if (strchr(argv[1], '/') != NULL && (file = open(argv[1], O_RDONLY | O_CLOEXEC)) < 0)
		die(argv[1]);
	pid = start(argv + 2, file >= 0 ? file : in[0], out[1]);
	close(in[0]);
	close(out[1]);
	await_line(out[0]);
	cpu = cpu_of(pid);
	own = now(CLOCK_PROCESS_CPUTIME_ID);
	wall = now(CLOCK_MONOTONIC);
	if (file < 0)
		feed(in[1], strtoull(argv[1], NULL, 10));
	close(in[1]);
	while (read(out[0], rest, sizeof(rest)) > 0)
		;
	wall = now(CLOCK_MONOTONIC) - wall;
	own = now(CLOCK_PROCESS_CPUTIME_ID) - own;
	if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die("the program failed");
	cpu = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime) - cpu;
	printf("%.6f %.6f\n", wall, cpu + own);
	return 0;
}
