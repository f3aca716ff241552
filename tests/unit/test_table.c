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

static void
a_terminal_of_80_columns_has_table_and_answer(void **state)
{
	const struct xb_report_style style = { .width = 80, .terminal = true, .utf8 = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_fill(&run);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload by exec, zeros; 6 rounds of 1 s, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "   CIPHER             MAC            raw MB/s  libssh2 MB/s    %    \u00b1\n"
	    "1  aes192-ctr         hmac-sha2-256      1600           510  32%  \u00b12%\n"
	    "1  aes128-ctr         hmac-sha2-256      1690           510  30%  \u00b12%\n"
	    "3  aes256-ctr         hmac-sha2-256      1560           490  31%  \u00b12%\n"
	    "-  chacha20-poly1305  built in           3000         - [a]\n"
	    "-  aes256-gcm         built in           4700         - [a]\n"
	    "MB/s = 10^6 payload bytes/s. raw = cipher + MAC alone, one core. % = SSH / raw\n"
	    "spread: worst \u00b12%, 97% interval of the median of 6, see --verbose\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n"
	    "\n"
	    "Limit    libssh2's CPU, 98% of one core.\n"
	    "Answer   aes192-ctr and aes128-ctr are equal within what 6 rounds can see;\n"
	    "         choose aes192-ctr, the stronger.\n");
	xb_run_free(&run);
}

static void
ascii_has_no_other_bytes(void **state)
{
	const struct xb_report_style style = { .width = 80, .terminal = true };
	struct xb_run run;
	char *seen;

	(void)state;
	canned_private(&run);
	canned_fill(&run);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload by exec, zeros; 6 rounds of 1 s, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "   CIPHER             MAC            raw MB/s  libssh2 MB/s    %    +-\n"
	    "1  aes192-ctr         hmac-sha2-256      1600           510  32%  +-2%\n"
	    "1  aes128-ctr         hmac-sha2-256      1690           510  30%  +-2%\n"
	    "3  aes256-ctr         hmac-sha2-256      1560           490  31%  +-2%\n"
	    "-  chacha20-poly1305  built in           3000         - [a]\n"
	    "-  aes256-gcm         built in           4700         - [a]\n"
	    "MB/s = 10^6 payload bytes/s. raw = cipher + MAC alone, one core. % = SSH / raw\n"
	    "spread: worst +-2%, 97% interval of the median of 6, see --verbose\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n"
	    "\n"
	    "Limit    libssh2's CPU, 98% of one core.\n"
	    "Answer   aes192-ctr and aes128-ctr are equal within what 6 rounds can see;\n"
	    "         choose aes192-ctr, the stronger.\n");
	seen = canned_table(&run, style);
	for (const char *p = seen; *p != '\0'; p++)
		assert_true(*p == '\n' || (*p >= 0x20 && *p < 0x7f));
	free(seen);
	xb_run_free(&run);
}

static void
a_terminal_of_120_columns_adds_range_cost_and_login(void **state)
{
	const struct xb_report_style style = { .width = 120, .utf8 = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_fill(&run);
	free(run.results[0].c.suite.cipher_name);
	run.results[0].c.suite.cipher_name = xb_strdup("aes128-gcm@openssh.com");
	run.results[0].c.suite.cipher = run.results[1].c.suite.cipher;
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload by exec, zeros; 6 rounds of 1 s, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "   CIPHER      MAC            raw MB/s  libssh2 MB/s    %    \u00b1  range MB/s  libssh2 s/GB  sshd s/GB  login\n"
	    "1  aes192-ctr  hmac-sha2-256      1600           510  32%  \u00b12%  497 to 522          1.92       1.39  51 ms\n"
	    "1  aes128-ctr  hmac-sha2-256      1690           510  30%  \u00b12%  498 to 520          1.92       1.39  51 ms\n"
	    "3  aes256-ctr  hmac-sha2-256      1560           490  31%  \u00b12%  480 to 495             2       1.45  51 ms\n"
	    "-  aes256-gcm  built in                        - [a]\n"
	    "-  aes256-gcm  built in           4700         - [a]\n"
	    "MB/s = 10^6 payload bytes/s. raw = cipher + MAC alone, one core. % = SSH / raw\n"
	    "s/GB = CPU seconds per 10^9 payload bytes. login = connect + key exchange + authentication\n"
	    "spread: worst \u00b12%, 97% interval of the median of 6, see --verbose\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n");
	xb_run_free(&run);
}

static void
a_narrow_terminal_loses_columns_and_no_name(void **state)
{
	const struct xb_report_style style = { .width = 60 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_fill(&run);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs,\n"
	    "    AES+SHA on, KVM\n"
	    "upload by exec, zeros; 6 rounds of 1 s, client on CPU 0,\n"
	    "    sshd on CPU 1; 53 s\n"
	    "\n"
	    "   CIPHER             MAC            libssh2 MB/s    %\n"
	    "1  aes192-ctr         hmac-sha2-256           510  32%\n"
	    "1  aes128-ctr         hmac-sha2-256           510  30%\n"
	    "3  aes256-ctr         hmac-sha2-256           490  31%\n"
	    "-  chacha20-poly1305  built in              - [a]\n"
	    "-  aes256-gcm         built in              - [a]\n"
	    "MB/s = 10^6 payload bytes/s. % = SSH / cipher + MAC alone\n"
	    "spread: worst +-2%, 97% interval of the median of 6, see\n"
	    "    --verbose\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n");
	xb_run_free(&run);
}

static void
a_pipe_has_the_same_rows_without_answer_and_blanks(void **state)
{
	const struct xb_report_style style = { .width = 0 };
	struct xb_run run;
	char *seen;

	(void)state;
	canned_private(&run);
	canned_fill(&run);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload by exec, zeros; 6 rounds of 1 s, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "   CIPHER             MAC            raw MB/s  libssh2 MB/s    %    +-  range MB/s  libssh2 s/GB  sshd s/GB  login\n"
	    "1  aes192-ctr         hmac-sha2-256      1600           510  32%  +-2%  497 to 522          1.92       1.39  51 ms\n"
	    "1  aes128-ctr         hmac-sha2-256      1690           510  30%  +-2%  498 to 520          1.92       1.39  51 ms\n"
	    "3  aes256-ctr         hmac-sha2-256      1560           490  31%  +-2%  480 to 495             2       1.45  51 ms\n"
	    "-  chacha20-poly1305  built in           3000         - [a]\n"
	    "-  aes256-gcm         built in           4700         - [a]\n"
	    "MB/s = 10^6 payload bytes/s. raw = cipher + MAC alone, one core. % = SSH / raw\n"
	    "s/GB = CPU seconds per 10^9 payload bytes. login = connect + key exchange + authentication\n"
	    "spread: worst +-2%, 97% interval of the median of 6, see --verbose\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n");
	seen = canned_table(&run, style);
	assert_null(strstr(seen, " \n"));
	assert_null(strchr(seen, '\033'));
	free(seen);
	xb_run_free(&run);
}

static void
another_host_has_its_cpu_and_no_raw(void **state)
{
	const struct xb_report_style style = { .width = 80, .terminal = true, .utf8 = true };
	struct xb_run run;

	(void)state;
	canned_remote(&run);
	canned_fill(&run);
	run.targets[0].hostkey_note = xb_strdup("host key not checked");
	for (size_t i = 0; i < run.result_count; i++) {
		for (size_t j = 0; j < run.results[i].sample_count; j++) {
			run.results[i].samples[j].client_cpu_seconds = 0.04;
			run.results[i].samples[j].server_core_share = 0.99;
		}
	}
	canned_expect_table(&run, style,
	    "nas 192.168.1.20:22  dropbear 2022.83; host key not checked\n"
	    "upload by exec, zeros; 6 rounds of 1 s; 54 logins, 108 s\n"
	    "\n"
	    "   CIPHER             MAC            libssh2 MB/s    \u00b1  nas CPU  range MB/s\n"
	    "1  aes192-ctr         hmac-sha2-256           510  \u00b12%      99%  497 to 522\n"
	    "1  aes128-ctr         hmac-sha2-256           510  \u00b12%      99%  498 to 520\n"
	    "3  aes256-ctr         hmac-sha2-256           490  \u00b12%      99%  480 to 495\n"
	    "-  chacha20-poly1305  built in              - [a]\n"
	    "-  aes256-gcm         built in              - [a]\n"
	    "MB/s = 10^6 payload bytes/s. nas CPU = share of one core\n"
	    "spread: worst \u00b12%, 97% interval of the median of 6, see --verbose\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n"
	    "\n"
	    "Limit    nas's CPU, 99% of one core.\n"
	    "Answer   aes192-ctr and aes128-ctr are equal within what 6 rounds can see;\n"
	    "         choose aes192-ctr, the stronger.\n");
	xb_run_free(&run);
}

static void
a_partial_run_says_so_at_the_top(void **state)
{
	const struct xb_report_style style = { .width = 80, .utf8 = true };
	const struct xb_report_style quiet = { .width = 80, .utf8 = true, .quiet = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 2);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 2);
	xb_case_refuse(&canned_case(&run, "aes192-ctr", "hmac-sha2-256")->c, XB_FAILED,
	    "ended by SIGINT", NULL);
	run.partial = true;
	run.partial_reason = xb_strdup("ended by SIGINT");
	run.rounds_done = 2;
	run.seconds = 8.25;
	canned_expect_table(&run, style,
	    "partial: ended by SIGINT after 2 of 6 rounds\n"
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload by exec, zeros; 2 of 6 rounds of 1 s, client on CPU 0, sshd on CPU 1; 8 s\n"
	    "\n"
	    "CIPHER      MAC            libssh2 MB/s      \u00b1  range MB/s  login\n"
	    "aes128-ctr  hmac-sha2-256           511  \u00b10.2%  510 to 512  51 ms\n"
	    "aes256-ctr  hmac-sha2-256           489  \u00b10.2%  488 to 490  51 ms\n"
	    "aes192-ctr  hmac-sha2-256         - [a]\n"
	    "MB/s = 10^6 payload bytes/s\n"
	    "spread: worst \u00b10.2%, lowest to highest of 2\n"
	    "[a] not measured: ended by SIGINT\n"
	    "no places: 2 rounds; 6 are needed to tell rows apart\n");
	canned_expect_table(&run, quiet,
	    "partial: ended by SIGINT after 2 of 6 rounds\n"
	    "CIPHER      MAC            libssh2 MB/s      \u00b1  range MB/s  login\n"
	    "aes128-ctr  hmac-sha2-256           511  \u00b10.2%  510 to 512  51 ms\n"
	    "aes256-ctr  hmac-sha2-256           489  \u00b10.2%  488 to 490  51 ms\n"
	    "aes192-ctr  hmac-sha2-256         - [a]\n"
	    "[a] not measured: ended by SIGINT\n");
	xb_run_free(&run);
}

static void
refused_rows_show_their_reason_once(void **state)
{
	const struct xb_report_style style = { .width = 80, .quiet = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	xb_case_refuse(&canned_case(&run, "blowfish-cbc", "hmac-sha1")->c, XB_NOT_OFFERED,
	    "not offered by this machine, which offers aes128-ctr, aes256-ctr and others",
	    "an older sshd has it: --sshd PATH");
	xb_case_refuse(&canned_case(&run, "cast128-cbc", "hmac-sha1")->c, XB_NOT_OFFERED,
	    "not offered by this machine, which offers aes128-ctr, aes256-ctr and others",
	    "an older sshd has it: --sshd PATH");
	xb_case_refuse(&canned_case(&run, "rijndael-cbc@lysator.liu.se", "hmac-sha1")->c,
	    XB_UNSUPPORTED, "unknown to xferbench", NULL);
	canned_failure(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 0, "killed");
	canned_failure(&run.results[3], 1, "the server went away");
	xb_case_refuse(&run.results[3].c, XB_FAILED, "killed", NULL);
	canned_case(&run, "aes256-ctr", "hmac-sha2-256");
	canned_expect_table(&run, style,
	    "CIPHER                       MAC            libssh2 MB/s\n"
	    "blowfish                     hmac-sha1             - [a]\n"
	    "cast128                      hmac-sha1             - [a]\n"
	    "rijndael-cbc@lysator.liu.se  hmac-sha1             - [b]\n"
	    "aes128-ctr                   hmac-sha2-256         - [c]\n"
	    "aes256-ctr                   hmac-sha2-256         - [d]\n"
	    "[a] not offered by this machine, which offers aes128-ctr, aes256-ctr and others;\n"
	    "    an older sshd has it: --sshd PATH\n"
	    "[b] unknown to xferbench\n"
	    "[c] 2 of 2 trials failed: killed\n"
	    "[d] not measured\n");
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_of_80_columns_has_table_and_answer),
		cmocka_unit_test(ascii_has_no_other_bytes),
		cmocka_unit_test(a_terminal_of_120_columns_adds_range_cost_and_login),
		cmocka_unit_test(a_narrow_terminal_loses_columns_and_no_name),
		cmocka_unit_test(a_pipe_has_the_same_rows_without_answer_and_blanks),
		cmocka_unit_test(another_host_has_its_cpu_and_no_raw),
		cmocka_unit_test(a_partial_run_says_so_at_the_top),
		cmocka_unit_test(refused_rows_show_their_reason_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
