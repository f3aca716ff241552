#ifndef TESTS_UNIT_CANNED_H
#define TESTS_UNIT_CANNED_H

#include "model/run.h"
#include "report/report.h"

/* Made-up runs: what the pure parts of the program say of them is known beforehand. */

#define CANNED_ROUNDS 6

/* MB/s of six rounds: level is now above fast and now below it, slow is below in each. */
extern const double canned_fast[CANNED_ROUNDS];
extern const double canned_slow[CANNED_ROUNDS];
extern const double canned_level[CANNED_ROUNDS];

/* A private sshd on this machine, six planned rounds of 1 s, pinned; no results yet. */
void canned_private(struct xb_run *run);

/* The host nas on the network; no results yet. */
void canned_remote(struct xb_run *run);

/* Adds a planned case of client libssh2; mac may be NULL. Valid until the next call. */
struct xb_result *canned_case(struct xb_run *run, const char *cipher, const char *mac);

/* The same of client openssh, which is called ssh. */
struct xb_result *canned_ssh(struct xb_run *run, const char *cipher, const char *mac);

/* A planned reference case: not SSH, without a suite. */
struct xb_result *canned_reference(struct xb_run *run, const char *client, const char *label);

/* A planned case of method login; kex and hostkey may be NULL. */
struct xb_result *canned_login(struct xb_run *run, const char *kex, const char *hostkey);

/* Adds logins of the given seconds, one a round from 0 on: a fifth each for connect and auth. */
void canned_logins(struct xb_result *result, const double *seconds, unsigned count);

/* Adds a private server of another kind on this machine. */
struct xb_target_sheet *canned_server(struct xb_run *run, const char *kind, const char *program,
    const char *version);

/* Adds a sample of the given MB/s over 1 s to the result, and makes it measured. */
struct xb_sample *canned_sample(struct xb_result *result, unsigned round, double mb_per_second);

/* One sample a round from round 0 on. */
void canned_rates(struct xb_result *result, const double *mb_per_second, unsigned count);

/* Six rounds about the given MB/s, with the small ups and downs of canned_fast. */
void canned_about(struct xb_result *result, double mb_per_second);

/* Adds a failed trial. */
struct xb_sample *canned_failure(struct xb_result *result, unsigned round, const char *reason);

/* Adds primitive speeds in MB/s. */
void canned_raw(struct xb_run *run, const char *cipher, const char *mac, double encrypt,
    double decrypt);

/* Adds three CTR cases with raw speed and CPU, and two AEAD cases that the client lacks: numbers 0
 * and 1. */
void canned_fill(struct xb_run *run);

/* Adds what ssh and libssh2 reach with five suites on this machine, with what ssh picks by itself and
 * plain TCP beside. */
void canned_two_clients(struct xb_run *run);

/* Adds aes128-ctr by ssh and by libssh2 at 0.6 of it, and chacha20-poly1305 by ssh as negotiated. */
void canned_pair(struct xb_run *run, enum xb_method method, enum xb_direction direction,
    double mb_per_second);

/* The table report as text, fresh; in the C.UTF-8 locale when the style has UTF-8. */
char *canned_table(const struct xb_run *run, struct xb_report_style style);

/* The widest line in characters. */
int canned_widest(const char *text);

/* Fails the test unless the texts are equal, and shows both as they are. */
void canned_expect(const char *seen, const char *expected);

/* The table is this, has this part, has it not, is no wider than the style's width. */
void canned_expect_table(const struct xb_run *run, struct xb_report_style style,
    const char *expected);
void canned_expect_part(const struct xb_run *run, struct xb_report_style style, const char *part);
void canned_expect_no_part(const struct xb_run *run, struct xb_report_style style,
    const char *part);
void canned_expect_within(const struct xb_run *run, struct xb_report_style style);

/* Fails the test unless seen is within tolerance of expected; NAN never is. */
#define canned_near(seen, expected, tolerance) \
	canned_check_near((seen), (expected), (tolerance), __FILE__, __LINE__)
void canned_check_near(double seen, double expected, double tolerance, const char *file, int line);

#endif
