#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "canned.h"

#define SNTRUP "sntrup761x25519-sha512@openssh.com"

static const double quick[] = { 0.0120, 0.0124, 0.0118, 0.0121, 0.0122, 0.0119 };
static const double slow[] = { 0.0240, 0.0250, 0.0236, 0.0243, 0.0242, 0.0240 };

static struct xb_result *
by_libssh2(struct xb_result *result)
{
	result->c.client = "libssh2";
	result->c.client_label = NULL;
	return result;
}

/* Three key exchanges; libssh2 lacks the one that ssh picks by itself. */
static void
begin(struct xb_run *run)
{
	canned_private(run);
	run->settings.handshakes = 6;
	run->settings.answer_client = xb_strdup("openssh");
	canned_logins(canned_login(run, SNTRUP, "ssh-ed25519"), slow, 6);
	run->results[0].c.as_negotiated = true;
	xb_case_refuse(&by_libssh2(canned_login(run, SNTRUP, NULL))->c, XB_UNSUPPORTED,
	    "libssh2 1.10.0 does not have this key exchange", NULL);
	canned_logins(canned_login(run, "curve25519-sha256", "ssh-ed25519"), quick, 6);
	canned_logins(by_libssh2(canned_login(run, "curve25519-sha256", "ssh-ed25519")), slow, 6);
	run->results[2].samples[0].start_seconds = 0.004;
	/* Not the fastest by ssh, though it is by libssh2. */
	canned_logins(canned_login(run, "ecdh-sha2-nistp256", "ssh-ed25519"), slow, 6);
	canned_logins(by_libssh2(canned_login(run, "ecdh-sha2-nistp256", "ssh-ed25519")), quick, 6);
	xb_case_refuse(&canned_login(run, "rsa1024-sha1", NULL)->c, XB_NOT_OFFERED,
	    "not offered by this machine", NULL);
	xb_case_refuse(&by_libssh2(canned_login(run, "rsa1024-sha1", NULL))->c, XB_NOT_OFFERED,
	    "not offered by this machine", NULL);
}

static void
logins_have_a_table_of_their_own(void **state)
{
	const struct xb_report_style style = { .width = 80, .terminal = true, .utf8 = true };
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "logins alone, 6 of each, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "KEY EXCHANGE                        HOST KEY       ssh ms    \u00b1  libssh2 ms    \u00b1\n"
	    "curve25519-sha256                   ssh-ed25519     12.1   \u00b12%        24.1  \u00b13%\n"
	    "ecdh-sha2-nistp256                  ssh-ed25519     24.1   \u00b13%        12.1  \u00b12%\n"
	    "sntrup761x25519-sha512@openssh.com  ssh-ed25519     24.1*  \u00b13%       - [a]\n"
	    "rsa1024-sha1                        as negotiated   - [b]            - [b]\n"
	    "ms = connect + key exchange + authentication, median\n"
	    "* = picked by this client itself (as negotiated)\n"
	    "spread: worst \u00b13%, 97% interval of the median of 6, see --verbose\n"
	    "[a] libssh2 1.10.0 does not have this key exchange\n"
	    "[b] not offered by this machine\n"
	    "\n"
	    "Answer   curve25519-sha256 with ssh-ed25519 is the fastest login for ssh: 12.1\n"
	    "         ms.\n"
	    "         ssh picks sntrup761x25519-sha512@openssh.com with ssh-ed25519 by\n"
	    "         itself: 24.1 ms, 2.00 times (1.98 to 2.02) as long.\n");
	xb_run_free(&run);
}

static void
a_wide_table_has_the_parts_of_each_login(void **state)
{
	const struct xb_report_style style = { .width = 0, .quiet = true };
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_expect_table(&run, style,
	    "KEY EXCHANGE                        HOST KEY       ssh ms    +-  libssh2 ms    +-  ssh connect  ssh kex  ssh auth  ssh start  libssh2 connect  libssh2 kex  libssh2 auth\n"
	    "curve25519-sha256                   ssh-ed25519     12.1   +-2%        24.1  +-3%         2.41     7.23      2.41          4             4.82         14.5          4.82\n"
	    "ecdh-sha2-nistp256                  ssh-ed25519     24.1   +-3%        12.1  +-2%         4.82     14.5      4.82                        2.41         7.23          2.41\n"
	    "sntrup761x25519-sha512@openssh.com  ssh-ed25519     24.1*  +-3%       - [a]               4.82     14.5      4.82\n"
	    "rsa1024-sha1                        as negotiated   - [b]             - [b]\n"
	    "[a] libssh2 1.10.0 does not have this key exchange\n"
	    "[b] not offered by this machine\n");
	xb_run_free(&run);
}

static void
verbose_has_the_parts_a_line_each(void **state)
{
	const struct xb_report_style style = { .width = 100, .verbose = true };
	struct xb_run run;

	(void)state;
	begin(&run);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "logins alone, 6 of each, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "KEY EXCHANGE                        HOST KEY       ssh ms    +-  libssh2 ms    +-\n"
	    "curve25519-sha256                   ssh-ed25519     12.1   +-2%        24.1  +-3%\n"
	    "ecdh-sha2-nistp256                  ssh-ed25519     24.1   +-3%        12.1  +-2%\n"
	    "sntrup761x25519-sha512@openssh.com  ssh-ed25519     24.1*  +-3%       - [a]\n"
	    "rsa1024-sha1                        as negotiated   - [b]             - [b]\n"
	    "ms = connect + key exchange + authentication, median\n"
	    "* = picked by this client itself (as negotiated)\n"
	    "spread: worst +-3%, 97% interval of the median of 6\n"
	    "[a] libssh2 1.10.0 does not have this key exchange\n"
	    "[b] not offered by this machine\n"
	    "\n"
	    "KEY EXCHANGE                        HOST KEY     CLIENT       range ms  connect   kex  auth  start\n"
	    "curve25519-sha256                   ssh-ed25519  ssh      11.8 to 12.4     2.41  7.23  2.41      4\n"
	    "ecdh-sha2-nistp256                  ssh-ed25519  libssh2  11.8 to 12.4     2.41  7.23  2.41\n"
	    "sntrup761x25519-sha512@openssh.com  ssh-ed25519  ssh        23.6 to 25     4.82  14.5  4.82\n"
	    "curve25519-sha256                   ssh-ed25519  libssh2    23.6 to 25     4.82  14.5  4.82\n"
	    "ecdh-sha2-nistp256                  ssh-ed25519  ssh        23.6 to 25     4.82  14.5  4.82\n"
	    "all in ms. start = of a program, until it connects; not in its total\n"
	    "server: OpenSSH_9.2p1 Debian-2+deb12u7, /usr/sbin/sshd\n"
	    "order of trials: --seed 42\n");
	xb_run_free(&run);
}

static void
one_client_alone_needs_no_name_over_its_parts(void **state)
{
	const struct xb_report_style style = { .width = 100 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	run.settings.handshakes = 6;
	canned_logins(canned_login(&run, "curve25519-sha256", "ssh-ed25519"), quick, 6);
	run.results[0].samples[0].start_seconds = 0.004;
	canned_failure(&run.results[0], 6, "refused");
	xb_case_refuse(&canned_login(&run, NULL, NULL)->c, XB_FAILED, "no login came through",
	    NULL);
	run.results[1].c.as_negotiated = true;
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "logins alone, 6 of each, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "KEY EXCHANGE       HOST KEY       ssh ms    +-  connect   kex  auth  start\n"
	    "curve25519-sha256  ssh-ed25519      12.1  +-2%     2.41  7.23  2.41      4\n"
	    "as negotiated      as negotiated   - [a]\n"
	    "ms = connect + key exchange + authentication, median. kex = key exchange, all parts in ms. start =\n"
	    "    of a program, until it connects; not in its total\n"
	    "spread: worst +-2%, 97% interval of the median of 6, see --verbose\n"
	    "[a] no login came through\n"
	    "curve25519-sha256 ssh-ed25519: 1 of 7 trials failed: refused\n");
	xb_run_free(&run);
}

static void
no_line_of_logins_is_wider_than_the_terminal(void **state)
{
	static const int widths[] = { 60, 80, 100, 120 };
	struct xb_run run;

	(void)state;
	begin(&run);
	run.targets[0].server = xb_strdup("openssh");
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83");
	canned_logins(canned_login(&run, "diffie-hellman-group-exchange-sha256",
			  "ecdsa-sha2-nistp521"),
	    slow, 6);
	run.results[run.result_count - 1].c.target = 1;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		struct xb_report_style style = {
			.width = widths[i],
			.terminal = true,
			.utf8 = true,
		};

		canned_expect_within(&run, style);
		style.verbose = true;
		canned_expect_within(&run, style);
	}
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logins_have_a_table_of_their_own),
		cmocka_unit_test(a_wide_table_has_the_parts_of_each_login),
		cmocka_unit_test(verbose_has_the_parts_a_line_each),
		cmocka_unit_test(one_client_alone_needs_no_name_over_its_parts),
		cmocka_unit_test(no_line_of_logins_is_wider_than_the_terminal),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
