#!/usr/bin/env bats
# Servers that are not there, are none, lie, freeze or die.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup_file() {
	plain_environment
	make_host "$BATS_FILE_TMPDIR/host"
}

setup() {
	setup_test
	dir=$BATS_FILE_TMPDIR/host
	login=(--identity "$dir/user_key" --known-hosts "$dir/known_hosts")
	json=$BATS_TEST_TMPDIR/json
}

teardown() {
	teardown_test
}

# unreachable TEXT...: the last run found no target, said so in one line, and printed no table.
unreachable() {
	ended 3
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	says "xferbench: 127.0.0.1" "$port" "$@"
}

# failed_and_went_on TEXT: one trial of the first cases failed for that reason, others were measured.
failed_and_went_on() {
	ended 1
	valid "$json"
	holds "$json" '[.results[].samples[] | select(.status == "failed")] | length >= 1' \
	    '[.results[].samples[] | select(.status == "measured")] | length >= 2' \
	    '[.results[].samples[] | select(.status == "failed").reason] |
	        all(test("'"$1"'"))' \
	    '.partial == false'
	grep -Eq "trials? failed" <<<"$output"
}

@test "where nothing listens, address and port are named" {
	closed_port
	run --separate-stderr bench "127.0.0.1:$port"
	unreachable "refused"
}

@test "a name that does not resolve is told as that" {
	SECONDS=0
	run --separate-stderr bench --connect-timeout 5s no-such-host.invalid
	ended 3
	[ -z "$output" ]
	says "no-such-host.invalid" "resolve"
	[ "$SECONDS" -lt 20 ]
}

@test "a server that accepts and never speaks is left after the time-out" {
	serve silent
	SECONDS=0
	run --separate-stderr bench --connect-timeout 500ms "127.0.0.1:$port"
	unreachable "nothing was said within 500 ms"
	[ "$SECONDS" -lt 8 ]
}

@test "a server that hangs up at once is told as that" {
	serve hangup
	run --separate-stderr bench "127.0.0.1:$port"
	unreachable "closed the connection"
}

@test "a web server is told as that" {
	serve http
	run --separate-stderr bench "127.0.0.1:$port"
	unreachable "speaks HTTP, not SSH"
}

@test "a KEXINIT whose lengths lie is refused" {
	serve lies
	run --separate-stderr bench "127.0.0.1:$port"
	unreachable "KEXINIT" "2147483632"
	stop_servers
	serve huge
	run --separate-stderr bench "127.0.0.1:$port"
	unreachable "4294967280"
}

@test "a cipher that only the server knows is shown as unknown to xferbench, with exit code 0" {
	serve kexinit kuznyechik@example.org
	run -0 bench --export-json "$json" "127.0.0.1:$port"
	valid "$json"
	holds "$json" '[.results[].client] | sort == ["libssh2", "openssh"]' \
	    '.results | all(.cipher == "kuznyechik@example.org" and .status == "unsupported" and
	    .reason == "unknown to xferbench" and .rate == null)'
	says "kuznyechik@example.org" "unknown to xferbench"
}

@test "a server that falls silent in the key exchange fails the case and keeps nobody waiting" {
	serve kexinit aes128-ctr
	SECONDS=0
	run bench "${one[@]}" --connect-timeout 200ms --ciphers aes128-ctr --export-json "$json" "127.0.0.1:$port"
	ended 1
	valid "$json"
	holds "$json" 'row("aes128-ctr") | .status == "failed" and .rate == null and
	    (.reason | test("key exchange"))'
	[ "$SECONDS" -lt 15 ]
}

@test "a server that dies half-way fails that trial alone" {
	# The check of the target reads with wc, the trials with cat.
	run "$guard" --on child:cat child:sshd:KILL -- "$XFERBENCH" "${one[@]}" --size 8MiB \
	    --ciphers 'aes*-ctr' --export-json "$json"
	failed_and_went_on "connection broke|socket|Socket|ended before its"
}

@test "a sink that stops reading ends the trial after the stall time-out" {
	SECONDS=0
	run "$guard" --on child:cat child:cat:STOP -- "$XFERBENCH" "${one[@]}" --size 16MiB \
	    --stall-timeout 1s --ciphers 'aes*-ctr' --export-json "$json"
	failed_and_went_on "1 s"
	[ "$SECONDS" -lt 30 ]
}

@test "a server that freezes ends the trial after the stall time-out" {
	run "$guard" --on child:cat child:sshd:STOP -- "$XFERBENCH" "${one[@]}" --size 16MiB \
	    --stall-timeout 1s --ciphers 'aes*-ctr' --export-json "$json"
	failed_and_went_on "1 s"
}

@test "a client process that is killed is one failed trial, with its phase and signal" {
	run "$guard" --on child:cat mate:xferbench:KILL -- "$XFERBENCH" "${one[@]}" --size 8MiB \
	    --ciphers 'aes*-ctr' --export-json "$json"
	failed_and_went_on "the client died during (stream|confirmation): signal 9"
}

@test "a client process that hangs is ended" {
	run "$guard" --on child:cat mate:xferbench:STOP -- "$XFERBENCH" "${one[@]}" --size 8MiB \
	    --stall-timeout 100ms --connect-timeout 500ms --ciphers 'aes*-ctr' \
	    --export-json "$json"
	failed_and_went_on "the client hung during (stream|confirmation)"
}

@test "a far side that never confirms ends the trial after the stall time-out" {
	# It reads all, and its end line does not come before this test is over.
	cat >"$BATS_TEST_TMPDIR/cat" <<-END
		#!/bin/sh
		$(command -v cat) >/dev/null
		while [ -d "$BATS_TEST_TMPDIR" ]; do sleep 0.1; done
	END
	cat >"$BATS_TEST_TMPDIR/login" <<-END
		#!/bin/sh
		PATH=$BATS_TEST_TMPDIR:\$PATH
		eval "\$SSH_ORIGINAL_COMMAND"
	END
	printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/wc"
	chmod +x "$BATS_TEST_TMPDIR"/{cat,login,wc}
	# Its keepalives come more often than the time-out: signs of life are no progress.
	start_host "$dir" "ForceCommand $BATS_TEST_TMPDIR/login" 'ClientAliveInterval 1' \
	    'ClientAliveCountMax 100'
	run bench "${login[@]}" "${one[@]}" --method exec --size 100000 --stall-timeout 1500ms \
	    --ciphers aes128-ctr --export-json "$json" "$host"
	ended 1
	holds "$json" 'row("aes128-ctr") | .status == "failed" and .rate == null and
	    (.reason | test("no end line.*1.5 s"))'
}

@test "a slow sink that goes on is not taken for a stall" {
	# The sink takes a channel window at a time, and the stream lasts four times the time-out.
	cat >"$BATS_TEST_TMPDIR/cat" <<-'END'
		#!/bin/sh
		while [ -n "$(head -c 2097152 | tail -c 1 | od -An -tx1)" ]; do sleep 0.1; done
	END
	cat >"$BATS_TEST_TMPDIR/login" <<-END
		#!/bin/sh
		PATH=$BATS_TEST_TMPDIR:\$PATH
		eval "\$SSH_ORIGINAL_COMMAND"
	END
	printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/wc"
	chmod +x "$BATS_TEST_TMPDIR"/{cat,login,wc}
	start_host "$dir" "ForceCommand $BATS_TEST_TMPDIR/login"
	run bench "${login[@]}" "${one[@]}" --time 6s --stall-timeout 1500ms --ciphers aes128-ctr \
	    --export-json "$json" "$host"
	ended 0
	holds "$json" 'row("aes128-ctr") | .status == "measured" and .samples[0].seconds >= 6'
}

@test "a far side that never begins is left after the stall time-out, keepalives or not" {
	printf '#!/bin/sh\nwhile [ -d "%s" ]; do sleep 0.1; done\n' "$BATS_TEST_TMPDIR" \
	    >"$BATS_TEST_TMPDIR/login"
	chmod +x "$BATS_TEST_TMPDIR/login"
	start_host "$dir" "ForceCommand $BATS_TEST_TMPDIR/login" 'ClientAliveInterval 1' \
	    'ClientAliveCountMax 100'
	run bench "${login[@]}" "${one[@]}" --method exec --size 100000 --stall-timeout 1500ms \
	    --ciphers aes128-ctr --export-json "$json" "$host"
	ended 1
	holds "$json" 'row("aes128-ctr") | .status == "failed" and .rate == null and
	    (.reason | test("no ready line.*1.5 s"))'
}
