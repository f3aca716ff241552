#ifndef TESTS_UNIT_FAR_SIDE_H
#define TESTS_UNIT_FAR_SIDE_H

#include "ssh_transfer.h"

/*
 * A private sshd whose far side is made of scripts, and changes from one login to the next. Needs
 * scratch_set_up. What goes wrong here fails the test.
 */

struct ssh_transfer_server far_side_start(void);
void far_side_stop(struct ssh_transfer_server *server);

/* For the logins to come, sshd has these options more; "": it is as usual. */
void far_side_options(const char *options);

/* For the logins to come, this script runs in place of each remote command and of sftp. */
void far_side_script(const char *script);

/* Likewise in place of the cat that reads an upload by exec. */
void far_side_cat(const char *script);

#endif
