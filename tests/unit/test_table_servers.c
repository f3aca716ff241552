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

#define CHACHA "chacha20-poly1305@openssh.com"

static const struct xb_report_style quiet = { .width = 80, .quiet = true };

static void
each_server_is_named_where_there_are_several(void **state)
{
	const struct xb_report_style style = { .width = 80, .utf8 = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	run.targets[0].server = xb_strdup("openssh");
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83");
	canned_pair(&run, XB_METHOD_EXEC, XB_UPLOAD, 860);
	canned_pair(&run, XB_METHOD_EXEC, XB_UPLOAD, 200);
	for (size_t i = 3; i < 6; i++)
		run.results[i].c.target = 1;
	canned_raw(&run, "aes128-ctr", "hmac-sha2-256", 1690, 1700);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1, private dropbear 2022.83; AMD EPYC, 2\n"
	    "    CPUs, AES+SHA on, KVM\n"
	    "upload by exec, zeros; 6 rounds of 1 s, client on CPU 0, server on CPU 1; 53 s\n"
	    "\n"
	    "   CIPHER             MAC            SERVER    ssh MB/s    %  libssh2 MB/s    %\n"
	    "1  aes128-ctr         hmac-sha2-256  openssh       861   51%           517  31%\n"
	    "2  chacha20-poly1305  built in       openssh       689*\n"
	    "1  aes128-ctr         hmac-sha2-256  dropbear      200   12%           120   7%\n"
	    "2  chacha20-poly1305  built in       dropbear      160*\n"
	    "MB/s = 10^6 payload bytes/s. % = SSH / cipher + MAC alone\n"
	    "* = picked by this client itself (as negotiated)\n"
	    "spread: worst \u00b12%, 97% interval of the median of 6, see --verbose\n");
	xb_run_free(&run);
}

static void
a_server_that_is_absent_is_a_reason(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	run.targets[0].server = xb_strdup("openssh");
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83")->absent =
	    xb_strdup("there is no dropbear here");
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), 860);
	xb_case_refuse(&canned_ssh(&run, "aes128-ctr", "hmac-sha2-256")->c, XB_FAILED,
	    "there is no dropbear here", NULL);
	run.results[1].c.target = 1;
	canned_expect_part(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload by exec, zeros; 6 rounds of 1 s, client on CPU 0, sshd on CPU 1; 53 s\n");
	canned_expect_table(&run, quiet,
	    "CIPHER      MAC            SERVER    ssh MB/s    +-  range MB/s  login\n"
	    "aes128-ctr  hmac-sha2-256  openssh        861  +-2%  840 to 877  51 ms\n"
	    "aes128-ctr  hmac-sha2-256  dropbear     - [a]\n"
	    "[a] there is no dropbear here\n");
	xb_run_free(&run);
}

static void
a_server_that_stands_in_says_so_and_takes_no_place(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	run.targets[0].server = xb_strdup("openssh");
	canned_server(&run, "asyncssh", "/usr/bin/python3", "AsyncSSH_2.10.1")->stands_in = true;
	canned_about(canned_ssh(&run, "aes128-cbc", "hmac-sha2-256"), 700);
	canned_about(canned_case(&run, "aes128-cbc", "hmac-sha2-256"), 480);
	xb_case_refuse(&canned_ssh(&run, "blowfish-cbc", "hmac-sha2-256")->c, XB_UNSUPPORTED,
	    "ssh 9.2p1 does not have this cipher", NULL);
	canned_about(canned_case(&run, "blowfish-cbc", "hmac-sha2-256"), 124);
	canned_about(canned_case(&run, "arcfour128", "hmac-sha2-256"), 327);
	for (size_t i = 2; i < 5; i++)
		run.results[i].c.target = 1;
	canned_about(canned_ssh(&run, CHACHA, NULL), 660);
	run.results[5].c.as_negotiated = true;
	canned_expect_table(&run, quiet,
	    "   CIPHER             MAC            ssh MB/s    +-  libssh2 MB/s    +-\n"
	    "1  aes128-cbc         hmac-sha2-256      701   +-2%           480  +-2%\n"
	    "2  chacha20-poly1305  built in           661*  +-2%\n"
	    "   arcfour128 [a]     hmac-sha2-256                           327  +-2%\n"
	    "   blowfish [a]       hmac-sha2-256     - [b]                 124  +-2%\n"
	    "[a] AsyncSSH 2.10.1 stands in: OpenSSH 9.2p1 has no such cipher; no place among\n"
	    "    the others\n"
	    "[b] ssh 9.2p1 does not have this cipher\n");
	canned_expect_part(&run, (struct xb_report_style){ 0 },
	    "this machine  private sshd OpenSSH 9.2p1, private AsyncSSH 2.10.1 for old ciphers; ");
	/* Beside another server there is a column for it. */
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83");
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), 200);
	run.results[6].c.target = 2;
	canned_expect_part(&run, quiet, "\n   blowfish           hmac-sha2-256  asyncssh [a] ");
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_server_is_named_where_there_are_several),
		cmocka_unit_test(a_server_that_is_absent_is_a_reason),
		cmocka_unit_test(a_server_that_stands_in_says_so_and_takes_no_place),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
