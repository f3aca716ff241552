#!/usr/bin/env bats
# Whatever ends a run and whenever: what was measured is shown, and no process and no file is left.
# `guard` sees to the processes, the end of each test to the files.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup() {
	setup_test
	json=$BATS_TEST_TMPDIR/json
}

teardown() {
	teardown_test
}

# number SIGNAL: what a shell makes of it.
number() {
	echo $((128 + $(kill -l "$1")))
}

# ends_by SIGNAL CONDITION: a run that would take long is ended by the signal once that holds.
ends_by() {
	echo "SIG$1 at $2"
	rm -f "$json"
	run --separate-stderr "$guard" --on "$2" "signal:$1" -- "$XFERBENCH" "${one[@]}" \
	    --time 20s --ciphers aes128-ctr,aes256-ctr --export-json "$json"
	ended "$(number "$1")"
	[ -z "$stderr" ]
	[ -z "$(ls -A "$TMPDIR")" ]
}

@test "a signal while the private server starts" {
	local signal
	for signal in INT TERM HUP PIPE; do
		ends_by "$signal" "path:$TMPDIR/xferbench-*"
		[ -z "$output" ]
	done
}

@test "a signal while the target is looked at" {
	local signal
	for signal in INT TERM HUP PIPE; do
		ends_by "$signal" child:sshd
	done
}

@test "a signal in the first trial" {
	local signal
	for signal in TERM HUP; do
		ends_by "$signal" child:cat
		valid "$json"
		holds "$json" ".partial and .partial_reason == \"ended by SIG$signal\"" \
		    '.results | length == 2 and all(.status == "failed" and .rate == null)'
	done
}

@test "a signal after a whole round: what is measured is printed and exported as partial" {
	local signal
	for signal in INT PIPE; do
		rm -f "$json"
		run --separate-stderr "$guard" --on "file:$json" "signal:$signal" -- "$XFERBENCH" \
		    --client libssh2 --time 20ms --rounds 500 --ciphers aes128-ctr,aes256-ctr --export-json "$json"
		ended "$(number "$signal")"
		[ -z "$stderr" ]
		valid "$json"
		holds "$json" ".partial and .partial_reason == \"ended by SIG$signal\"" \
		    '.rounds_done >= 1 and .rounds_done < 500' \
		    '.results | all(.status == "measured" and .rate.median > 0)'
		grep -Eq '^aes256-ctr +hmac-sha2-256 +[0-9.]+ +[0-9.]+ ' <<<"$output"
		says "ended by SIG$signal"
		[ -z "$(ls -A "$TMPDIR")" ]
	done
}

@test "a signal at any moment" {
	local moment
	for moment in 0.02 0.05 0.1 0.2 0.4 0.7 1.1; do
		run "$guard" --on "after:$moment" signal:INT -- "$XFERBENCH" --time 20ms \
		    --rounds 500 --ciphers aes128-ctr
		echo "after $moment s"
		ended 130
		[ -z "$(ls -A "$TMPDIR")" ]
	done
}

@test "Ctrl-C, which every process of the terminal gets, more than once" {
	run "$guard" --on child:cat group:INT+INT+INT+INT -- "$XFERBENCH" --time 20s \
	    --ciphers aes128-ctr --export-json "$json"
	ended 130
	holds "$json" '.partial_reason == "ended by SIGINT"'
}

@test "Ctrl-C while the private server starts, which every process of the terminal gets" {
	run "$guard" --on "path:$TMPDIR/xferbench-*" group:INT -- "$XFERBENCH" --time 20s
	ended 130
}

@test "a signal ends the other commands as well, and a table that has begun is shown" {
	run "$guard" --on "path:$TMPDIR/xferbench-*" signal:TERM -- "$XFERBENCH" list
	ended 143
	# A row takes seven figures of 20 ms and a little, so one at least is whole by then.
	run "$guard" --on cpu:1 signal:INT -- "$XFERBENCH" raw --time 20ms
	ended 130
	says chacha20-poly1305
	says_not "zlib"
}

@test "a server that was killed with us is ended by nobody: SIGKILL leaves no process" {
	local condition
	for condition in "path:$TMPDIR/xferbench-*/lock" child:sshd child:wc child:cat; do
		echo "SIGKILL at $condition"
		run "$guard" --on "$condition" signal:KILL -- "$XFERBENCH" --time 20s \
		    --ciphers aes128-ctr
		ended 137
		# The next one sweeps up.
		[ -n "$(ls -A "$TMPDIR")" ]
		run -0 bench list
		[ -z "$(ls -A "$TMPDIR")" ]
	done
}

@test "a run beside others sweeps none of them" {
	run -0 "$guard" --on child:cat "run:$XFERBENCH list" -- "$XFERBENCH" "${one[@]}" \
	    --time 500ms --ciphers aes128-ctr --export-json "$json"
	holds "$json" 'row("aes128-ctr").status == "measured"'
}

@test "a trial in which the program was stopped is marked and repeated once" {
	# The clock does not run before the client has seen that the sink is there.
	run -0 "$guard" --on child:cat run:true --on later:0.2 group:TSTP --on later:0.2 group:CONT \
	    -- "$XFERBENCH" "${one[@]}" --time 1s --ciphers aes128-ctr --export-json "$json"
	valid "$json"
	holds "$json" 'row("aes128-ctr").samples | length == 2 and
	    (.[0].marks | index("stopped") != null and index("superseded") != null) and
	    (.[1].marks | index("stopped") == null and index("repeat") != null)'
	says "stopped"
}

@test "with nohup a run goes on after SIGHUP" {
	# shellcheck disable=SC2016 # that shell expands it
	run "$guard" --on child:cat signal:HUP -- sh -c 'trap "" HUP; exec "$@"' sh "$XFERBENCH" \
	    "${tiny[@]}" --ciphers aes128-ctr --export-json "$json"
	ended 0
	holds "$json" '.partial == false'
}

@test "a reader that has left ends the run by SIGPIPE, and the result file is whole" {
	local codes
	bench "${tiny[@]}" --ciphers aes128-ctr --export-json "$json" | true &&
	    codes=("${PIPESTATUS[@]}")
	[ "${codes[0]}" -eq 141 ]
	valid "$json"
	holds "$json" 'row("aes128-ctr").status == "measured"'
}

@test "a reader of the first line alone gets that line" {
	run bash -c '"$@" | head -n 1' bash "$guard" -- "$XFERBENCH" "${tiny[@]}" \
	    --ciphers aes128-ctr
	ended 0
	[[ $output == "this machine  private sshd "* ]]
	[ "${#lines[@]}" -eq 1 ]
}
