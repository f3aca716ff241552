#ifndef XB_CLIENT_OPENSSH_ARGV_H
#define XB_CLIENT_OPENSSH_ARGV_H

#include <stddef.h>

struct xb_openssh_programs;
struct xb_transfer;

/*
 * The command lines of ssh, scp and sftp for one transfer. What decides about the measurement is
 * said with -o, which comes before what the user's configuration says; what is the user's own
 * business (keys, proxies, RekeyLimit) is left to it, and for a private server there is no
 * configuration.
 */
struct xb_openssh_argv {
	char **words; /* owned; ends with NULL */
	size_t count;
};

/* command: for the far side's shell; NULL: none, a login alone. Fills an all-zero struct. */
void xb_openssh_argv_ssh(struct xb_openssh_argv *argv, const struct xb_openssh_programs *programs,
    const struct xb_transfer *transfer, const char *command);

/* file: the local one of an upload. */
void xb_openssh_argv_scp(struct xb_openssh_argv *argv, const struct xb_openssh_programs *programs,
    const struct xb_transfer *transfer, const char *file);

/* Its commands come through stdin. */
void xb_openssh_argv_sftp(struct xb_openssh_argv *argv, const struct xb_openssh_programs *programs,
    const struct xb_transfer *transfer);

void xb_openssh_argv_free(struct xb_openssh_argv *argv);

/*
 * A name as a word of sftp's commands, in quotes, where no letter is a wildcard; fresh. NULL for
 * one with a line end, which no command can name.
 */
char *xb_openssh_quote(const char *name);

/*
 * The environment: this process's, but for what makes ssh speak another language, or ask; fresh,
 * ends with NULL; only the array and its first string are owned: free with _env_free.
 */
char **xb_openssh_env(void);
void xb_openssh_env_free(char **env);

#endif
