#ifndef XB_CLIENT_OPENSSH_PARTS_H
#define XB_CLIENT_OPENSSH_PARTS_H

#include <stdbool.h>

struct xb_err;
struct xb_openssh_programs;
struct xb_outcome;
struct xb_transfer;

/* One transfer by one method each, as the hook transfer of struct xb_client. */
bool xb_openssh_exec(const struct xb_openssh_programs *programs, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);
bool xb_openssh_scp(const struct xb_openssh_programs *programs, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);
bool xb_openssh_sftp(const struct xb_openssh_programs *programs, const struct xb_transfer *transfer,
    struct xb_outcome *outcome, struct xb_err *err);

#endif
