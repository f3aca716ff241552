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
two_clients_fit_into_80_columns(void **state)
{
	const struct xb_report_style style = { .width = 80, .terminal = true, .utf8 = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_two_clients(&run);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload by exec, zeros; 6 rounds of 1 s, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "   CIPHER             MAC            raw MB/s  ssh MB/s    %  libssh2 MB/s    %\n"
	    "1  aes256-gcm         built in           4700     1010   22%         - [a]\n"
	    "1  aes128-gcm         built in           5540     1000   18%         - [a]\n"
	    "3  aes128-ctr         hmac-sha2-256      1690      861   51%           510  30%\n"
	    "4  aes256-ctr         hmac-sha2-256      1560      831   53%           490  31%\n"
	    "5  chacha20-poly1305  built in           3000      661*  22%         - [a]\n"
	    "   (plain TCP)                                    5210\n"
	    "MB/s = 10^6 payload bytes/s. raw = cipher + MAC alone, one core. % = SSH / raw\n"
	    "* = picked by this client itself (as negotiated)\n"
	    "spread: worst \u00b16%, 97% interval of the median of 6, see --verbose\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n"
	    "\n"
	    "Limit    sshd's CPU, 97% of one core.\n"
	    "Answer   Ciphers ^aes256-gcm@openssh.com     in ~/.ssh/config\n"
	    "         1.53 times (1.53 to 1.53) the 661 MB/s that ssh picks by itself.\n");
	xb_run_free(&run);
}

static void
wider_and_narrower_terminals_have_more_and_fewer_columns(void **state)
{
	struct xb_report_style style = { .width = 120, .quiet = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_two_clients(&run);
	canned_expect_table(&run, style,
	    "   CIPHER             MAC            raw MB/s  ssh MB/s    %    +-  libssh2 MB/s    %    +-    ssh range  libssh2 range\n"
	    "1  aes256-gcm         built in           4700     1010   22%  +-2%         - [a]             986 to 1030\n"
	    "1  aes128-gcm         built in           5540     1000   18%  +-6%         - [a]             976 to 1100\n"
	    "3  aes128-ctr         hmac-sha2-256      1690      861   51%  +-2%           510  30%  +-2%   840 to 877     498 to 520\n"
	    "4  aes256-ctr         hmac-sha2-256      1560      831   53%  +-2%           490  31%  +-2%   810 to 846     478 to 500\n"
	    "5  chacha20-poly1305  built in           3000      661*  22%  +-2%         - [a]              644 to 673\n"
	    "   (plain TCP)                                    5210\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n");
	style.width = 70;
	canned_expect_table(&run, style,
	    "   CIPHER             MAC            ssh MB/s    %  libssh2 MB/s    %\n"
	    "1  aes256-gcm         built in          1010   22%         - [a]\n"
	    "1  aes128-gcm         built in          1000   18%         - [a]\n"
	    "3  aes128-ctr         hmac-sha2-256      861   51%           510  30%\n"
	    "4  aes256-ctr         hmac-sha2-256      831   53%           490  31%\n"
	    "5  chacha20-poly1305  built in           661*  22%         - [a]\n"
	    "   (plain TCP)                          5210\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n");
	xb_run_free(&run);
}

static void
methods_and_directions_are_columns_where_they_vary(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_pair(&run, XB_METHOD_EXEC, XB_UPLOAD, 860);
	canned_pair(&run, XB_METHOD_SFTP, XB_UPLOAD, 600);
	canned_pair(&run, XB_METHOD_EXEC, XB_DOWNLOAD, 900);
	canned_pair(&run, XB_METHOD_SFTP, XB_DOWNLOAD, 500);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload and download by exec and sftp, zeros; 6 rounds of 1 s, client on CPU 0,\n"
	    "    sshd on CPU 1; 53 s\n"
	    "\n"
	    "   CIPHER             MAC            METHOD  DIRECTION  ssh MB/s  libssh2 MB/s\n"
	    "1  aes128-ctr         hmac-sha2-256  exec    upload         861            517\n"
	    "2  chacha20-poly1305  built in       exec    upload         689*\n"
	    "3  aes128-ctr         hmac-sha2-256  sftp    upload         601            360\n"
	    "4  chacha20-poly1305  built in       sftp    upload         480*\n"
	    "1  aes128-ctr         hmac-sha2-256  exec    download       901            541\n"
	    "2  chacha20-poly1305  built in       exec    download       721*\n"
	    "3  aes128-ctr         hmac-sha2-256  sftp    download       500            300\n"
	    "4  chacha20-poly1305  built in       sftp    download       400*\n"
	    "MB/s = 10^6 payload bytes/s\n"
	    "* = picked by this client itself (as negotiated)\n"
	    "spread: worst +-2%, 97% interval of the median of 6, see --verbose\n");
	xb_run_free(&run);
}

static void
what_is_the_same_everywhere_is_told_once_above(void **state)
{
	const struct xb_report_style style = { .width = 0 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_pair(&run, XB_METHOD_SCP, XB_DOWNLOAD, 860);
	for (size_t i = 0; i < run.result_count; i++)
		run.results[i].c.streams = 4;
	canned_expect_part(&run, style, "\ndownload by scp, 4 streams, zeros; 6 rounds of 1 s, ");
	canned_expect_no_part(&run, style, "METHOD");
	canned_expect_no_part(&run, style, "DIRECTION");
	canned_expect_no_part(&run, style, "STREAMS");
	canned_expect_no_part(&run, style, "SERVER");
	canned_expect_no_part(&run, style, "COMPRESSION");
	canned_expect_no_part(&run, style, "wire");
	xb_run_free(&run);
}

static void
a_method_that_was_not_found_joins_the_one_that_was(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), 860);
	canned_about(canned_ssh(&run, CHACHA, NULL), 660);
	xb_case_refuse(&canned_case(&run, CHACHA, NULL)->c, XB_UNSUPPORTED,
	    "libssh2 1.10.0 has no AEAD cipher", NULL);
	for (size_t i = 0; i < run.result_count; i++)
		run.results[i].c.method_auto = true;
	run.results[0].c.method = XB_METHOD_SFTP;
	run.results[1].c.method = XB_METHOD_SFTP;
	canned_expect_table(&run, quiet,
	    "   CIPHER             MAC            ssh MB/s    +-  libssh2 MB/s   ssh range\n"
	    "1  aes128-ctr         hmac-sha2-256       861  +-2%                840 to 877\n"
	    "2  chacha20-poly1305  built in            661  +-2%         - [a]  644 to 673\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n");
	canned_expect_part(&run, (struct xb_report_style){ 0 }, "\nupload by sftp, zeros; ");
	xb_run_free(&run);
}

static void
streams_show_how_they_scale(void **state)
{
	struct xb_run run;
	struct xb_report_style style = { .width = 80, .utf8 = true };

	(void)state;
	canned_private(&run);
	for (unsigned streams = 1; streams <= 4; streams *= 2) {
		canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"),
		    860 * (0.2 + 0.8 * streams));
		canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 510.0 * streams);
		run.results[run.result_count - 1].c.streams = streams;
		run.results[run.result_count - 2].c.streams = streams;
	}
	canned_raw(&run, "aes128-ctr", "hmac-sha2-256", 1690, 1700);
	canned_expect_part(&run, style,
	    "   CIPHER      MAC            STREAMS  ssh MB/s     \u00d7  libssh2 MB/s     \u00d7\n"
	    "1  aes128-ctr  hmac-sha2-256        4      2930  \u00d73.4          2040  \u00d74.0\n"
	    "2  aes128-ctr  hmac-sha2-256        2      1550  \u00d71.8          1020  \u00d72.0\n"
	    "3  aes128-ctr  hmac-sha2-256        1       861                 510\n"
	    "MB/s = 10^6 payload bytes/s. \u00d7 = times one stream\n");
	xb_run_free(&run);
}

static void
compress(struct xb_run *run, double wire)
{
	canned_about(canned_ssh(run, "aes128-ctr", "hmac-sha2-256"), 860);
	canned_about(canned_ssh(run, "aes128-ctr", "hmac-sha2-256"), 45);
	run->results[1].c.suite.compression = xb_strdup("zlib@openssh.com");
	for (size_t i = 0; i < run->results[1].sample_count; i++)
		run->results[1].samples[i].wire_bytes =
		    (uint64_t)(wire * (double)run->results[1].samples[i].bytes);
	xb_series_add(&run->deflate, 44e6);
	xb_series_add(&run->deflate, 46e6);
	xb_series_add(&run->inflate, 300e6);
	canned_raw(run, "aes128-ctr", "hmac-sha2-256", 1690, 1700);
}

static void
compression_shows_its_wire_ratio_and_zlib_alone(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	free(run.settings.payload);
	run.settings.payload = xb_strdup("text:50");
	compress(&run, 0.62);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload by exec, text:50; 6 rounds of 1 s, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "   CIPHER      MAC            COMPRESSION       raw MB/s  ssh MB/s    %  wire\n"
	    "1  aes128-ctr  hmac-sha2-256  none                  1690       861  51%\n"
	    "2  aes128-ctr  hmac-sha2-256  zlib@openssh.com      1690        45        62%\n"
	    "MB/s = 10^6 payload bytes/s. raw = cipher + MAC alone, one core. % = SSH / raw.\n"
	    "    wire = bytes on the wire / payload\n"
	    "zlib alone on these bytes: 45 MB/s deflate, 300 MB/s inflate, one core\n"
	    "spread: worst +-2%, 97% interval of the median of 6, see --verbose\n");
	xb_run_free(&run);
}

static void
zeros_under_compression_carry_a_warning_and_no_place(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	compress(&run, 0.003);
	canned_expect_table(&run, quiet,
	    "CIPHER      MAC            COMPRESSION       raw MB/s  ssh MB/s    %    +-  wire\n"
	    "aes128-ctr  hmac-sha2-256  none                  1690       861  51%  +-2%\n"
	    "aes128-ctr  hmac-sha2-256  zlib@openssh.com      1690    45 [a]       +-2%  0.3%\n"
	    "[a] warning: zeros under compression say nothing: --payload text:50\n");
	xb_run_free(&run);
}

static void
a_choice_that_could_not_be_found_out_says_so(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_about(canned_ssh(&run, "aes128-ctr", "hmac-sha2-256"), 860);
	canned_about(canned_ssh(&run, NULL, NULL), 660);
	run.results[1].c.as_negotiated = true;
	xb_case_refuse(&canned_case(&run, NULL, NULL)->c, XB_FAILED, "no login came through", NULL);
	run.results[2].c.as_negotiated = true;
	canned_expect_table(&run, quiet,
	    "   CIPHER         MAC            ssh MB/s    +-  libssh2 MB/s   ssh range\n"
	    "1  aes128-ctr     hmac-sha2-256      861   +-2%                840 to 877\n"
	    "2  as negotiated  -                  661*  +-2%         - [a]  644 to 673\n"
	    "[a] no login came through\n");
	xb_run_free(&run);
}

static void
the_twin_of_a_row_as_negotiated_has_a_line_of_its_own(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_about(canned_ssh(&run, CHACHA, NULL), 660);
	canned_about(canned_ssh(&run, CHACHA, NULL), 650);
	run.results[1].c.as_negotiated = true;
	canned_expect_part(&run, quiet,
	    "1  chacha20-poly1305  built in      661   +-2%  644 to 673  51 ms\n"
	    "2  chacha20-poly1305  built in      651*  +-2%  635 to 663  51 ms\n");
	xb_run_free(&run);
}

static void
references_alone_have_a_column(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_about(canned_reference(&run, "tcp", "plain TCP"), 5200);
	xb_case_refuse(&canned_reference(&run, "null", "harness alone")->c, XB_FAILED, "it crashed",
	    NULL);
	canned_expect_table(&run, style,
	    "this machine  private sshd OpenSSH 9.2p1; AMD EPYC, 2 CPUs, AES+SHA on, KVM\n"
	    "upload, zeros; 6 rounds of 1 s, client on CPU 0, sshd on CPU 1; 53 s\n"
	    "\n"
	    "CIPHER            MB/s\n"
	    "(plain TCP)       5210\n"
	    "(harness alone)  - [a]\n"
	    "MB/s = 10^6 payload bytes/s\n"
	    "[a] it crashed\n");
	xb_run_free(&run);
}

static void
rows_are_named_by_all_that_tells_them_apart(void **state)
{
	const struct xb_report_style style = { .width = 0, .verbose = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	run.targets[0].server = xb_strdup("openssh");
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83");
	canned_pair(&run, XB_METHOD_EXEC, XB_UPLOAD, 860);
	canned_pair(&run, XB_METHOD_SFTP, XB_DOWNLOAD, 860);
	for (size_t i = 3; i < 6; i++)
		run.results[i].c.target = 1;
	run.results[4].c.streams = 2;
	run.results[4].c.suite.compression = xb_strdup("zlib");
	canned_failure(&run.results[4], 6, "no");
	canned_expect_part(&run, style,
	    "\naes128-ctr hmac-sha2-256 zlib by sftp download of 2 streams on dropbear with "
	    "libssh2: 1 of 7 trials failed: no\n");
	canned_expect_part(&run, style,
	    "\nCIPHER             MAC            COMPRESSION  METHOD  DIRECTION  SERVER    STREAMS  "
	    "CLIENT   range MB/s  cover");
	xb_run_free(&run);
}

static void
groups_that_are_unclear_alike_say_so_once(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;
	char *seen;

	(void)state;
	canned_private(&run);
	for (size_t i = 0; i < 4; i++) {
		canned_rates(canned_ssh(&run, i % 2 == 0 ? CHACHA : "aes128-gcm@openssh.com", NULL),
		    canned_fast, 2);
		run.results[i].c.direction = i < 2 ? XB_UPLOAD : XB_DOWNLOAD;
	}
	seen = canned_table(&run, style);
	assert_non_null(strstr(seen, "\nno places: 2 rounds; 6 are needed to tell rows apart\n"));
	assert_null(strstr(strstr(seen, "no places") + 1, "no places"));
	free(seen);
	xb_run_free(&run);
}

/* With and without --verbose. */
static void
expect_within(const struct xb_run *run, int width)
{
	struct xb_report_style style = { .width = width, .terminal = true, .utf8 = true };

	canned_expect_within(run, style);
	style.verbose = true;
	canned_expect_within(run, style);
}

static void
the_matrix_is_no_wider_than_the_terminal(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	run.targets[0].server = xb_strdup("openssh");
	canned_server(&run, "dropbear", "/usr/sbin/dropbear", "dropbear_2022.83");
	canned_two_clients(&run);
	expect_within(&run, 60);
	canned_pair(&run, XB_METHOD_SFTP, XB_DOWNLOAD, 500);
	expect_within(&run, 80);
	run.results[run.result_count - 2].c.target = 1;
	expect_within(&run, 80);
	/* All dimensions at once, and a third client: the names alone take more than 80. */
	run.results[run.result_count - 1].c.streams = 16;
	run.results[run.result_count - 3].c.suite.compression = xb_strdup("zlib@openssh.com");
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 700);
	run.results[run.result_count - 1].c.client = "libssh";
	expect_within(&run, 110);
	xb_run_free(&run);
}

static void
three_clients_fit_into_80_columns(void **state)
{
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_two_clients(&run);
	canned_about(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), 700);
	run.results[run.result_count - 1].c.client = "libssh";
	expect_within(&run, 80);
	canned_expect_part(&run, quiet,
	    "   CIPHER             MAC            ssh MB/s  libssh2 MB/s  libssh MB/s\n");
	xb_run_free(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_clients_fit_into_80_columns),
		cmocka_unit_test(wider_and_narrower_terminals_have_more_and_fewer_columns),
		cmocka_unit_test(methods_and_directions_are_columns_where_they_vary),
		cmocka_unit_test(what_is_the_same_everywhere_is_told_once_above),
		cmocka_unit_test(a_method_that_was_not_found_joins_the_one_that_was),
		cmocka_unit_test(streams_show_how_they_scale),
		cmocka_unit_test(compression_shows_its_wire_ratio_and_zlib_alone),
		cmocka_unit_test(zeros_under_compression_carry_a_warning_and_no_place),
		cmocka_unit_test(a_choice_that_could_not_be_found_out_says_so),
		cmocka_unit_test(the_twin_of_a_row_as_negotiated_has_a_line_of_its_own),
		cmocka_unit_test(references_alone_have_a_column),
		cmocka_unit_test(rows_are_named_by_all_that_tells_them_apart),
		cmocka_unit_test(groups_that_are_unclear_alike_say_so_once),
		cmocka_unit_test(the_matrix_is_no_wider_than_the_terminal),
		cmocka_unit_test(three_clients_fit_into_80_columns),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
