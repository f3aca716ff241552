#!/usr/bin/env bats
# The main job: ciphers through a private sshd, the table and the result file.

# shellcheck disable=SC2154,SC2016 # bats and helpers.bash set variables, and jq has its own

load helpers

# One run that many tests look at: what is measured, what this client lacks, what this server lacks.
setup_file() {
	plain_environment
	export TMPDIR=$BATS_FILE_TMPDIR
	sshd_with "$BATS_FILE_TMPDIR/sshd" Ciphers=aes128-ctr,3des-cbc,aes128-gcm@openssh.com
	bench --client libssh2 --sshd "$BATS_FILE_TMPDIR/sshd" --rounds 2 --time 50ms \
	    --ciphers aes128-ctr,3des,aes192-ctr,aes128-gcm,3des-cbc,AES128-CTR \
	    --export-json "$BATS_FILE_TMPDIR/json" >"$BATS_FILE_TMPDIR/out" \
	    2>"$BATS_FILE_TMPDIR/err" && echo 0 >"$BATS_FILE_TMPDIR/status" ||
	    echo $? >"$BATS_FILE_TMPDIR/status"
}

setup() {
	setup_test
	json=$BATS_FILE_TMPDIR/json
	out=$BATS_FILE_TMPDIR/out
	mine=$BATS_TEST_TMPDIR/json
}

teardown() {
	teardown_test
}

# names_once NAME...: each begins one line of the table, and only one.
names_once() {
	local name
	for name in "$@"; do
		[ "$(grep -c "^$name " "$out")" -eq 1 ] || {
			echo "not one row of $name:"
			cat "$out"
			return 1
		}
	done
}

# no_wider COLUMNS: no line of the last run's output is.
no_wider() {
	local line
	while IFS= read -r line; do
		if [ "${#line}" -gt "$1" ]; then
			echo "${#line} columns: $line"
			return 1
		fi
	done <<<"$output"
}

@test "a named cipher without a rate makes the exit code 1, which is no error message" {
	cat "$out" "$BATS_FILE_TMPDIR/err"
	[ "$(cat "$BATS_FILE_TMPDIR/status")" -eq 1 ]
	[ ! -s "$BATS_FILE_TMPDIR/err" ]
}

@test "every cipher that was asked for is in table and result once, in the order asked for" {
	holds "$json" '[.results[].cipher] ==
	    ["aes128-ctr", "3des-cbc", "aes192-ctr", "aes128-gcm@openssh.com"]'
	names_once aes128-ctr 3des aes192-ctr aes128-gcm
}

@test "the result file is valid" {
	valid "$json"
}

@test "a cipher that is not offered has no rate, and names what is offered and a way to see it" {
	holds "$json" 'row("aes192-ctr") | .status == "not_offered" and .rate == null and
	    .samples == [] and
	    (.reason | test("not offered by this machine, which offers .*aes128-ctr")) and
	    (.hint | test("--host HOST.*--sshd PATH"))'
	grep -Eq '^aes192-ctr +hmac-sha2-256 .* - \[[a-z]\]$' "$out"
	grep -q 'not offered by this machine, which offers' "$out"
}

@test "a cipher that the client lacks has no rate, and names library and version" {
	if [ "$(jq -r "$jq_words"'row("aes128-gcm@openssh.com").status' "$json")" = measured ]; then
		skip "this libssh2 has aes128-gcm"
	fi
	holds "$json" '. as $run | row("aes128-gcm@openssh.com") | .status == "unsupported" and .rate == null and
	    (.reason | contains("libssh2 " +
	        ($run.libraries[] | select(.name == "libssh2").version) + " has no"))'
	grep -Eq '^aes128-gcm +built in .* - \[[a-z]\]$' "$out"
}

@test "measured ciphers have their rate, their raw speed and an overhead" {
	holds "$json" '[row("aes128-ctr", "3des-cbc")] | all(.status == "measured" and .rate.median > 0 and
	    .raw > 0 and .overhead < 1 and .reason == null and (.samples | length) >= 2)'
	grep -Eq '^3des +hmac-sha2-256 +[0-9.]+ +[0-9.]+ +' "$out"
}

@test "the table shows the medians of the result file" {
	local shown
	shown=$(awk '$1 == "aes128-ctr" { print $4 }' "$out")
	holds "$json" "row(\"aes128-ctr\").rate.median / 1e6 / ${shown%\*} | . > 0.99 and . < 1.01"
}

@test "connecting, key exchange and login are apart, and the stream lasts as long as asked" {
	holds "$json" '[row("aes128-ctr", "3des-cbc").samples[]] | all(.connect_seconds > 0 and
	    .kex_seconds > 0 and .auth_seconds > 0 and .seconds >= 0.05 and .bytes > 0)'
}

@test "what was negotiated is read back from the session" {
	holds "$json" '[row("aes128-ctr", "3des-cbc")] | all(.cipher as $cipher | .mac as $mac | .samples |
	    all(.negotiated | .cipher == $cipher and .mac == $mac and
	        (.kex | length) > 0 and (.hostkey | length) > 0))'
}

@test "the CPU time of both ends is known" {
	holds "$json" '[row("aes128-ctr", "3des-cbc").samples[]] | all(.client_cpu_seconds > 0 and
	    .server_cpu_seconds > 0)'
}

@test "the far side has counted what was sent" {
	holds "$json" '.targets[0].count_check | capture("counted (?<got>[0-9]+) of (?<sent>[0-9]+)") |
	    .got == .sent and (.sent | tonumber) > 1e6'
}

@test "the ends are pinned to different CPUs, in header and result" {
	if [ "$(nproc)" -lt 2 ]; then
		skip "one CPU alone"
	fi
	holds "$json" '.settings.pinning | .pinned and .client_cpu != .server_cpu'
	local client server
	client=$(jq .settings.pinning.client_cpu "$json")
	server=$(jq .settings.pinning.server_cpu "$json")
	grep -q "client on CPU $client, sshd on CPU $server" "$out"
}

@test "a pipe gets no escape sequences, no answer and no progress, and ASCII where the locale is" {
	[ "$(LC_ALL=C tr -d '\n\040-\176' <"$out" | wc -c)" -eq 0 ]
	run ! grep -E '^(Limit|Answer)' "$out"
}

@test "with - the result alone is on stdout and the table on stderr" {
	run --separate-stderr bench "${tiny[@]}" --ciphers aes128-ctr --export-json -
	ended 0
	echo "$output" >"$mine"
	valid "$mine"
	grep -q '^aes128-ctr ' <<<"$stderr"
}

@test "a seed gives the same orders again" {
	for _ in 1 2; do
		run -0 bench --client libssh2 --seed 7 --size 1 --rounds 2 --ciphers 'aes*-ctr' --no-pin \
		    --export-json "$mine"
		jq -c '.settings.seed, ([.results[] | .cipher as $cipher | .samples[] |
		    select(.marks | index("repeat") | not) | [.round, .order, $cipher]] | sort)' \
		    "$mine" >>"$BATS_TEST_TMPDIR/orders"
	done
	cat "$BATS_TEST_TMPDIR/orders"
	mapfile -t lines <"$BATS_TEST_TMPDIR/orders"
	[ "${lines[0]}" = '"7"' ]
	[ "${lines[1]}" = "${lines[3]}" ]
}

@test "without pinning the result says why not" {
	run -0 bench "${byte[@]}" --ciphers aes128-ctr --no-pin --export-json "$mine"
	holds "$mine" '.settings.pinning | .pinned == false and .note == "--no-pin" and
	    .client_cpu == null'
	says "not pinned"
}

@test "a size is sent exactly, in each trial, and shown in the unit asked for" {
	run -0 bench --client libssh2 --size 1234567 --rounds 2 --ciphers aes128-ctr --units MiB \
	    --export-json "$mine"
	holds "$mine" 'row("aes128-ctr").samples | length >= 2 and all(.bytes == 1234567)' \
	    '.settings.time_seconds == null'
	says "libssh2 MiB/s" "MiB/s = 2^20 payload bytes/s"
	local shown
	shown=$(awk '$1 == "aes128-ctr" { print $4 }' <<<"$output")
	holds "$mine" "row(\"aes128-ctr\").rate.median / 1048576 / ${shown%\*} | . > 0.99 and . < 1.01"
}

@test "of time and size whichever ends first counts" {
	SECONDS=0
	run -0 bench --client libssh2 --size 70000 --time 50s --rounds 1 --ciphers aes128-ctr \
	    --export-json "$mine"
	holds "$mine" 'row("aes128-ctr").samples | all(.bytes == 70000)'
	[ "$SECONDS" -lt 25 ]
}

@test "a trial of a sparse TiB ends with its time, and stays under 16 MiB of memory" {
	run -0 bench "${tiny[@]}" --size 1TiB --ciphers aes128-ctr --export-json "$mine"
	holds "$mine" '.settings.size == 1099511627776' \
	    'row("aes128-ctr").samples | all(.bytes < 1e11 and .seconds >= 0.05)'
	# What the file system allows is the file's length, and said when it is less.
	holds "$mine" '.settings.payload_bytes == 1099511627776 or
	    (.notes | any(test("largest that the file system allows")))'
	if ! is_sanitized; then
		holds "$mine" 'row("aes128-ctr").samples | all(.peak_kib > 0 and .peak_kib < 16384)'
	fi
}

@test "a small file is sent again and again until the time is over" {
	head -c 1000 /dev/urandom >"$BATS_TEST_TMPDIR/file"
	run -0 bench "${tiny[@]}" --ciphers aes128-ctr --payload "$BATS_TEST_TMPDIR/file" \
	    --units Mbit --export-json "$mine"
	holds "$mine" '.settings.payload_bytes == 1000' \
	    'row("aes128-ctr").samples | all(.bytes > 100000 and .seconds >= 0.05)'
	says "Mbit/s" "$BATS_TEST_TMPDIR/file"
}

@test "random bytes are sent as well" {
	run -0 bench --client libssh2 --size 300001 --rounds 1 --ciphers aes128-ctr --payload random \
	    --export-json "$mine"
	holds "$mine" '.settings.payload == "random"' \
	    'row("aes128-ctr").samples | all(.bytes == 300001)'
	says "random"
}

@test "narrow terminals lose columns, never a row or a line's end" {
	for COLUMNS in 80 60; do
		export COLUMNS
		run bench "${tiny[@]}" --sshd "$BATS_FILE_TMPDIR/sshd" \
		    --ciphers aes128-ctr,aes192-ctr
		ended 1
		no_wider "$COLUMNS"
		says aes128-ctr aes192-ctr "MB/s" "not offered"
		says_not "login"
	done
}

@test "the first trial of a run is not slower than later ones of the same case" {
	# Others on this machine can slow one run's first trial, but not each time.
	local attempt ratio fair=no
	for attempt in 1 2 3 4 5 6; do
		run -0 bench --client libssh2 --size 16MiB --rounds 4 --ciphers aes128-ctr --export-json "$mine"
		ratio=$(jq "$jq_words"'row("aes128-ctr").samples | map(.bytes / .seconds) |
		    .[0] as $first | .[1:] | sort | .[length / 2 | floor] / $first' "$mine")
		echo "attempt $attempt: later ones are $ratio times as fast"
		if jq -en "$ratio < 2" >/dev/null; then
			fair=yes
			break
		fi
	done
	[ "$fair" = yes ]
}

@test "what was not named one by one and is not there does not count" {
	run -0 bench "${tiny[@]}" --sshd "$BATS_FILE_TMPDIR/sshd" --ciphers 'aes192-ct*'
	says aes192-ctr "not offered"
}

@test "the time of a whole run is bounded, and the result partial then" {
	run bench "${tiny[@]}" --rounds 1000 --max-time 1s --ciphers aes128-ctr --export-json "$mine"
	ended 0
	valid "$mine"
	holds "$mine" '.partial and (.partial_reason | test("--max-time")) and
	    .rounds_done >= 1 and .rounds_done < 1000 and row("aes128-ctr").status == "measured"'
	says "--max-time"
}

@test "a terminal gets progress on stderr, and the answer; --quiet gets the table alone" {
	local command
	command=$(printf '%q ' "$XFERBENCH" "${tiny[@]}" --ciphers aes128-ctr,aes256-ctr)
	TERM=xterm run -0 script -qec "$command" /dev/null
	says "Answer" "round 1 of 1" "left"
	TERM=xterm run -0 script -qec "$command --quiet" /dev/null
	says aes128-ctr
	says_not "round 1 of 1"
	says_not "private sshd"
}

@test "verbose shows the harness alone, the seed, and what was negotiated" {
	run -0 bench "${tiny[@]}" --ciphers aes128-ctr --verbose --seed 11 --export-json "$mine"
	says "null client" "--seed 11" "negotiated:" "libssh2 " "wc -c there counted"
	# The harness is not the limit: many times the fastest.
	holds "$mine" '.null_rate > 10 * row("aes128-ctr").rate.median'
}

@test "a busy machine is noticed: the trial is marked and repeated once" {
	local hogs=()
	while [ ${#hogs[@]} -lt 2 ]; do
		(while :; do :; done) 3>&- &
		hogs+=($!)
	done
	run bench "${tiny[@]}" --time 200ms --ciphers aes128-ctr --export-json "$mine"
	kill "${hogs[@]}"
	wait "${hogs[@]}" 2>/dev/null || true
	ended 0
	valid "$mine"
	holds "$mine" 'row("aes128-ctr").samples | length == 2 and
	    (.[0].marks | index("foreign-cpu") and index("superseded")) and
	    (.[1].marks | index("repeat"))'
	says "disturbed"
}
