#ifndef XB_TARGET_PRIVATE_ASYNCSSH_H
#define XB_TARGET_PRIVATE_ASYNCSSH_H

/* The lines of private_asyncssh.py, each with its end; NULL after the last. Made by the Makefile. */
extern const char *const xb_asyncssh_program[];

#endif
