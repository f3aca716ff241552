#ifndef XB_TARGET_PRIVATE_OPENSSH_CONFIG_H
#define XB_TARGET_PRIVATE_OPENSSH_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct xb_err;

/*
 * The configuration file of a private sshd, cut down to what that sshd knows: a name that it does not
 * know would make it refuse the whole file, so it is asked (sshd -t).
 */
struct xb_sshd_config {
	char *path;
	size_t count;
	struct xb_sshd_line *lines;
};

/* Takes path over. */
void xb_sshd_config_init(struct xb_sshd_config *config, char *path);
void xb_sshd_config_free(struct xb_sshd_config *config);

/* Adds a line, and takes text over; an optional one goes when this sshd does not know it. */
void xb_sshd_config_add(struct xb_sshd_config *config, char *text, bool optional);

/* Adds a line that has the option offer one algorithm more. Both strings are borrowed. */
void xb_sshd_config_offer(struct xb_sshd_config *config, const char *option, const char *name);

/*
 * Makes sshd accept the file by dropping what it does not know, and writes it. output
 * (XB_TOOL_OUTPUT bytes) is what sshd said at last. XB_FAULT_TARGET when sshd refuses it all the same.
 */
bool xb_sshd_config_settle(struct xb_sshd_config *config, const char *program, char *output,
    struct xb_err *err);

/* Puts one line in the place of those that offer an algorithm each: sshd believes the first alone. To
 * be settled once more. */
void xb_sshd_config_join(struct xb_sshd_config *config, const char *option);

#endif
