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
#include "report/wrap.h"

static void
failures_disturbances_and_notes_are_told(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_fill(&run);
	canned_failure(&run.results[2], 6, "the server went away");
	canned_sample(&run.results[3], 6, 100)->marks = XB_MARK_FOREIGN | XB_MARK_SUPERSEDED;
	canned_sample(&run.results[3], 6, 510)->marks = XB_MARK_REPEAT;
	canned_sample(&run.results[3], 7, 100)->marks = XB_MARK_SLEPT | XB_MARK_SUPERSEDED;
	canned_sample(&run.results[3], 7, 510)->marks = XB_MARK_REPEAT | XB_MARK_STOPPED;
	xb_namelist_add(&run.notes, "the file is 512 MiB: no more room", 33);
	canned_expect_part(&run, style,
	    "\naes256-ctr hmac-sha2-256: 1 of 7 trials failed: the server went away\n"
	    "2 trials were disturbed (foreign CPU, the machine slept) and repeated\n"
	    "1 trial was disturbed (stopped) and counts all the same\n"
	    "the file is 512 MiB: no more room\n");
	xb_run_free(&run);
}

static void
one_round_gives_no_places_and_says_what_would(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 1);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 1);
	canned_expect_part(&run, style, "\nno places: 1 round; 6 are needed to tell rows apart\n");
	canned_expect_part(&run, style, "\naes128-ctr  hmac-sha2-256           510");
	canned_expect_no_part(&run, style, "+-");
	canned_expect_no_part(&run, style, "spread");
	xb_run_free(&run);
}

static void
a_row_without_a_place_says_why(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes192-ctr", "hmac-sha2-256"), canned_slow, 4);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	canned_expect_part(&run, style,
	    "\nno place for aes192-ctr hmac-sha2-256: 4 rounds with the leader; 6 are needed\n");
	xb_run_free(&run);
}

static void
verbose_adds_intervals_cost_and_versions(void **state)
{
	const struct xb_report_style style = { .width = 100, .verbose = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_fill(&run);
	run.null_rate = 25000e6;
	run.targets[0].count_check = xb_strdup("wc -c there counted 8388617 of 8388617 bytes");
	xb_namelist_add_once(&run.libraries, "xferbench 0.1.0");
	xb_namelist_add_once(&run.libraries, "libssh2 1.10.0");
	snprintf(run.results[2].samples[0].negotiated.kex, XB_NAME_MAX, "curve25519-sha256");
	snprintf(run.results[2].samples[0].negotiated.hostkey, XB_NAME_MAX, "ssh-ed25519");
	run.results[2].samples[3].marks = XB_MARK_FOREIGN | XB_MARK_REPEAT;
	canned_failure(&run.results[3], 4, "the server went away");
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
	    "spread: worst +-2%, 97% interval of the median of 6\n"
	    "[a] libssh2 1.10.0 has no AEAD cipher\n"
	    "aes192-ctr hmac-sha2-256: 1 of 7 trials failed: the server went away\n"
	    "1 trial was disturbed (foreign CPU) and counts all the same\n"
	    "\n"
	    "CIPHER      MAC            range MB/s  cover  c CPU  s CPU  c s/GB  s s/GB  login\n"
	    "aes192-ctr  hmac-sha2-256  497 to 522    97%    98%    71%    1.92    1.39  51 ms\n"
	    "aes128-ctr  hmac-sha2-256  498 to 520    97%    98%    71%    1.92    1.39  51 ms\n"
	    "aes256-ctr  hmac-sha2-256  480 to 495    97%    98%    71%       2    1.45  51 ms\n"
	    "cover = chance that the range holds the median. c, s = client, server. CPU = share of one core. s/GB\n"
	    "    = CPU seconds per 10^9 payload bytes. login = connect + key exchange + authentication\n"
	    "round 5, aes192-ctr hmac-sha2-256: failed: the server went away\n"
	    "round 4, aes256-ctr hmac-sha2-256: foreign-cpu, repeat\n"
	    "negotiated: key exchange curve25519-sha256, host key ssh-ed25519\n"
	    "harness alone (null client): 25,000 MB/s, 49 times the fastest row\n"
	    "wc -c there counted 8388617 of 8388617 bytes\n"
	    "server: OpenSSH_9.2p1 Debian-2+deb12u7, /usr/sbin/sshd\n"
	    "xferbench 0.1.0, libssh2 1.10.0\n"
	    "order of trials: --seed 42\n");
	xb_run_free(&run);
}

static void
no_line_is_wider_than_the_terminal(void **state)
{
	static const int widths[] = { 60, 80, 100, 120 };
	static const char host[] =
	    "a-very-long-host-name-that-goes-on-and-on-without-any-end-in-sight.example.org";
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_fill(&run);
	free(run.host.cpu_model);
	run.host.cpu_model = xb_strdup("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz");
	run.host.openssl_ia32cap = xb_strdup("~0x200000200000000:~0x0");
	free(run.settings.payload);
	run.settings.payload = xb_strdup("/srv/a/very/long/path/with/no/blank/in/it/at/all/and/so/"
					 "on/until/the/line/has/no/room/left/file.bin");
	run.settings.payload_bytes = 123456789;
	run.settings.size = 1 << 30;
	xb_case_refuse(&canned_case(&run,
			   "a-cipher-of-sixty-four-characters-that-nobody-knows@example.orgx",
			   "hmac-with-a-name-of-sixty-four-characters-in-all-etm@example.com")
			    ->c,
	    XB_UNSUPPORTED, "unknown to xferbench", "a hint that has some length to wrap as well");
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-512-96-etm@openssh.com"),
	    canned_slow, 6);
	canned_failure(&run.results[2], 3, "a failure with a reason that is not short at all");
	run.partial = true;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		struct xb_report_style style = { .width = widths[i],
			.terminal = true,
			.utf8 = true };

		canned_expect_within(&run, style);
		style.verbose = true;
		canned_expect_within(&run, style);
		run.settings.unit = XB_RATE_MBIT;
		canned_expect_within(&run, style);
		run.settings.unit = XB_RATE_MB;
		run.targets[0].is_local = run.targets[0].is_private = false;
		free(run.targets[0].name);
		run.targets[0].name = xb_strdup(host);
		canned_expect_within(&run, style);
		run.targets[0].is_local = run.targets[0].is_private = true;
	}
	xb_run_free(&run);
}

static void
a_long_name_is_broken_and_not_cut(void **state)
{
	const struct xb_report_style style = { .width = 60, .quiet = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	xb_case_refuse(
	    &canned_case(&run, "a-cipher-of-forty-characters@example.org", "hmac-sha2-256")->c,
	    XB_UNSUPPORTED, "unknown to xferbench", NULL);
	canned_expect_table(&run, style,
	    "CIPHER                           MAC            libssh2 MB/s\n"
	    "a-cipher-of-forty-characters@ex  hmac-sha2-256         - [a]\n"
	    "ample.org\n"
	    "[a] unknown to xferbench\n");
	xb_run_free(&run);
}

static void
each_client_has_a_column_and_each_suite_a_row(void **state)
{
	const struct xb_report_style style = { .width = 80, .quiet = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_fast, 6);
	canned_rates(canned_case(&run, "aes256-ctr", "hmac-sha2-256"), canned_slow, 6);
	canned_rates(canned_case(&run, "aes128-ctr", "hmac-sha2-256"), canned_slow, 6);
	run.results[2].c.client = "ssh";
	xb_case_refuse(&canned_case(&run, "aes256-ctr", "hmac-sha2-256")->c, XB_UNSUPPORTED,
	    "ssh lacks it", NULL);
	run.results[3].c.client = "ssh";
	canned_expect_table(&run, style,
	    "   CIPHER      MAC            libssh2 MB/s    +-  ssh MB/s    +-\n"
	    "1  aes128-ctr  hmac-sha2-256           510  +-2%       490  +-2%\n"
	    "2  aes256-ctr  hmac-sha2-256           490  +-2%     - [a]\n"
	    "[a] ssh lacks it\n");
	xb_run_free(&run);
}

static void
colours_are_only_where_wanted(void **state)
{
	struct xb_report_style style = { .width = 80, .terminal = true, .colour = true };
	struct xb_run run;

	(void)state;
	canned_private(&run);
	canned_fill(&run);
	canned_expect_part(&run, style, "\033[1mAnswer\033[0m");
	canned_expect_part(&run, style, "\033[1m1  aes128-ctr");
	style.colour = false;
	canned_expect_no_part(&run, style, "\033");
	xb_run_free(&run);
}

static void
foreign_text_reaches_no_terminal(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;

	(void)state;
	canned_remote(&run);
	free(run.targets[0].offer.banner);
	run.targets[0].offer.banner = xb_strdup("SSH-2.0-\033[2Jevil_1.0 \033[31m");
	free(run.targets[0].name);
	run.targets[0].name = xb_strdup("na\033s");
	canned_expect_part(&run, style, "na\\x1bs 192.168.1.20:22  \\x1b[2Jevil 1.0\n");
	xb_run_free(&run);
}

static void
a_run_without_results_is_a_header(void **state)
{
	const struct xb_report_style style = { .width = 80 };
	struct xb_run run;

	(void)state;
	canned_remote(&run);
	run.seconds = 0;
	run.logins = 0;
	run.rounds_done = 0;
	free(run.targets[0].address);
	run.targets[0].address = xb_strdup("::1");
	free(run.settings.pin_note);
	run.settings.pin_note = xb_strdup("one CPU only");
	canned_expect_table(&run, style,
	    "nas [::1]:22  dropbear 2022.83\n"
	    "zeros; 0 of 6 rounds of 1 s, not pinned: one CPU only; 0 logins, 0 s\n\n");
	xb_run_free(&run);
}

static void
text_is_wrapped_at_blanks(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = xb_memstream(&text, &size);

	(void)state;
	xb_wrap(out, 20, 0, 4, "twenty columns in it, then more");
	xb_wrap(out, 20, 5, 2,
	    "\u00b1\u00b1\u00b1\u00b1\u00b1 \u00b1\u00b1\u00b1\u00b1\u00b1\u00b1\u00b1\u00b1\u00b1 x");
	xb_wrap(out, 20, 0, 4, "averyverylongwordindeed,say");
	xb_wrap(out, 20, 0, 4, "a averyverylongwordindeed");
	xb_wrap(out, 0, 0, 4, "no limit at all, whatever the text");
	xb_wrap(out, 20, 0, 4, "");
	xb_memstream_close(out);
	canned_expect(text,
	    "twenty columns in\n    it, then more\n"
	    "\u00b1\u00b1\u00b1\u00b1\u00b1 \u00b1\u00b1\u00b1\u00b1\u00b1\u00b1\u00b1\u00b1\u00b1\n  x\n"
	    "averyverylongwordind\n    eed,say\n"
	    "a\n    averyverylongwor\n    dindeed\n"
	    "no limit at all, whatever the text\n"
	    "\n");
	free(text);
}

static void
footnote_marks_go_on_after_z(void **state)
{
	static const struct {
		size_t number;
		const char *mark;
	} rows[] = { { 0, "[a]" }, { 25, "[z]" }, { 26, "[aa]" }, { 51, "[az]" }, { 52, "[ba]" },
		{ 701, "[zz]" }, { 702, "[aaa]" } };
	char mark[16];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		xb_footnote_mark(mark, sizeof(mark), rows[i].number);
		assert_string_equal(mark, rows[i].mark);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_disturbances_and_notes_are_told),
		cmocka_unit_test(one_round_gives_no_places_and_says_what_would),
		cmocka_unit_test(a_row_without_a_place_says_why),
		cmocka_unit_test(verbose_adds_intervals_cost_and_versions),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(a_long_name_is_broken_and_not_cut),
		cmocka_unit_test(each_client_has_a_column_and_each_suite_a_row),
		cmocka_unit_test(colours_are_only_where_wanted),
		cmocka_unit_test(foreign_text_reaches_no_terminal),
		cmocka_unit_test(a_run_without_results_is_a_header),
		cmocka_unit_test(text_is_wrapped_at_blanks),
		cmocka_unit_test(footnote_marks_go_on_after_z),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
