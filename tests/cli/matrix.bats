#!/usr/bin/env bats
# The dimensions of the matrix: clients, methods, directions, servers, suites, streams, logins.

# shellcheck disable=SC2154,SC2016 # bats and helpers.bash set variables, and jq has its own

load helpers

setup_file() {
	plain_environment
	make_host "$BATS_FILE_TMPDIR/host"
}

setup() {
	setup_test
	dir=$BATS_FILE_TMPDIR/host
	json=$BATS_TEST_TMPDIR/json
	login=(--identity "$dir/user_key" --known-hosts "$dir/known_hosts")
	short=(--rounds 1 --time 100ms --quiet --export-json "$json")
}

teardown() {
	teardown_test
}

# need_legacy: what old ciphers are measured against.
need_legacy() {
	/usr/bin/python3 -c 'import asyncssh' 2>/dev/null || skip "asyncssh is not installed"
}

# all_measured: every result has a rate.
all_measured() {
	valid "$json"
	holds "$json" '.results | length >= 1 and all(.status == "measured" and .rate.median > 0)'
}

@test "all clients: each measures what it has and says what it lacks, references have no place" {
	need_legacy
	run --separate-stderr bench "${short[@]}" --client all \
	    --ciphers aes128-ctr,aes128-gcm,chacha20-poly1305,blowfish
	[ "$status" -le 1 ]
	valid "$json"
	holds "$json" '[.results[].client] | unique == ["libssh", "libssh2", "null", "openssh", "tcp"]' \
	    '[row("openssh"; "aes128-ctr", "aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com")] |
	        all(.status == "measured")' \
	    '[row("libssh"; "aes128-ctr", "aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com")] |
	        all(.status == "measured" or (.reason | contains("no libssh")))' \
	    '[row("libssh2"; "aes128-ctr", "blowfish-cbc")] | all(.status == "measured")' \
	    '[row("openssh", "libssh"; "blowfish-cbc")] |
	        all(.status == "unsupported" and .rate == null and (.reason | length) > 0)' \
	    '[.results[] | select(.client == "tcp" or .client == "null")] |
	        length == 2 and all(.reference and .status == "measured" and .place == null)' \
	    '[.results[] | select(.as_negotiated) | .client] | sort ==
	        ["libssh", "libssh2", "openssh"]'
}

@test "four ciphers, three of them old, are streamed end to end on one machine" {
	need_legacy
	run --separate-stderr bench "${short[@]}" --client libssh2 \
	    --ciphers aes128-cbc,blowfish,cast128,arcfour
	ended 0
	all_measured
	holds "$json" '. as $run | [.results[] | select(.as_negotiated | not)] | length == 4 and
	    all(.samples | all(.bytes > 0)) and
	    all(.[] | select(.cipher != "aes128-cbc");
	        $run.targets[.target] | .server == "asyncssh" and .stands_in)'
	says "AsyncSSH" "stands in"
}

@test "every method and direction of the clients, each to its exact size" {
	run --separate-stderr bench --rounds 1 --size 300k --quiet --export-json "$json" \
	    --client openssh,libssh2,libssh --method exec,scp,sftp --direction both \
	    --ciphers aes128-ctr
	[ "$status" -le 1 ]
	valid "$json"
	holds "$json" '[.results[] | select(.cipher == "aes128-ctr" and .client != "libssh")] |
	        length == 12 and all(.status == "measured")' \
	    '[.results[] | select(.client == "libssh" and .cipher == "aes128-ctr")] | length == 6 and
	        all(.status == "measured" or .status == "unsupported")' \
	    '[.results[] | select(.client != "openssh") | .samples[]] | all(.bytes == 300000)'
	[ "$(stat -c %a /dev/null)" = 666 ]
}

@test "a time-box is kept by every method and direction of the libraries, round after round" {
	run --separate-stderr bench --rounds 3 --time 60ms --quiet --export-json "$json" \
	    --client libssh2,libssh --method exec,scp,sftp --direction both --ciphers aes128-ctr
	[ "$status" -le 1 ]
	valid "$json"
	holds "$json" '[.results[] | select(.cipher == "aes128-ctr" and .status != "unsupported")] |
	    length >= 6 and all(.status == "measured" and
	        (.samples | all(.status == "measured" and .bytes > 0)))'
}

@test "several servers stand beside each other, each with its own rows" {
	command -v dropbear >/dev/null || [ -x /usr/sbin/dropbear ] || skip "dropbear is not installed"
	run --separate-stderr bench "${short[@]}" --server openssh,dropbear \
	    --ciphers aes128-ctr,chacha20-poly1305
	[ "$status" -le 1 ]
	valid "$json"
	holds "$json" '[.targets[].server] == ["openssh", "dropbear"]' \
	    '[.results[] | select(.client == "openssh" and
	        (.cipher | test("aes128-ctr|chacha20")))] | [.[] | [.target, .cipher]] | unique | length == 4' \
	    '[.results[] | select(.client == "openssh")] | all(.status == "measured")' \
	    '[.results[] | select(.client == "libssh2" and .cipher == "aes128-ctr")] |
	        all(.status == "measured")'
	says dropbear
}

@test "a private server that is not installed is a reason, and the others go on" {
	if ! is_root || ! unshare --mount true 2>/dev/null; then
		skip "needs root and the right to mount"
	fi
	local path
	path=$(PATH=$PATH:/usr/sbin command -v dropbear) || skip "dropbear is not installed"
	# A file that nobody may execute stands in its place, for this process alone.
	touch "$BATS_TEST_TMPDIR/none"
	run --separate-stderr bench_in 'mount --bind "$1" "$2"' "$BATS_TEST_TMPDIR/none" "$path" -- \
	    "${short[@]}" --client libssh2 --server openssh,dropbear --ciphers aes128-ctr
	ended 1
	valid "$json"
	holds "$json" '.targets[1].absent | contains("dropbear")' \
	    '[.results[] | select(.target == 0)] | all(.status == "measured")' \
	    '[.results[] | select(.target == 1)] | all(.rate == null and (.reason | length) > 0)'
	says dropbear
}

@test "logins alone: each key exchange has its seconds, and no bulk data moves" {
	run --separate-stderr bench --client libssh2 --handshake 3 --quiet --export-json "$json" --kex all
	[ "$status" -le 1 ]
	valid "$json"
	holds "$json" '[.results[].method] | unique == ["login"]' \
	    '[.results[] | select(.kex != null and .status == "measured")] | length >= 3 and
	        all(.kex as $kex | .rate == null and .login.kex.median > 0 and
	            (.samples | length) >= 3 and
	            (.samples | all(.bytes == 0 and .negotiated.kex == $kex)))'
	says "curve25519-sha256" "kex"
}

@test "logins by host key types: each type is the one that was negotiated" {
	run --separate-stderr bench --client openssh --handshake 1 --quiet --export-json "$json" \
	    --host-key-algorithms ssh-ed25519,rsa-sha2-512
	ended 0
	valid "$json"
	holds "$json" '[.results[] | select(.hostkey != null)] | length == 2 and
	    all(.hostkey as $type | .status == "measured" and
	        (.samples | all(.negotiated.hostkey == $type)))'
}

@test "several MACs are several rows, and an AEAD cipher has one" {
	run --separate-stderr bench "${short[@]}" --client openssh --ciphers aes128-ctr,aes128-gcm \
	    --macs hmac-sha2-256,hmac-sha2-512
	ended 0
	all_measured
	holds "$json" '[.results[] | select(.cipher == "aes128-ctr" and (.as_negotiated | not)) | .mac] |
	        sort == ["hmac-sha2-256", "hmac-sha2-512"]' \
	    '[.results[] | select(.cipher == "aes128-gcm@openssh.com" and (.as_negotiated | not))] |
	        length == 1'
}

@test "streams at once: the sum of all, and how it scales" {
	run --separate-stderr bench "${short[@]}" --client openssh,libssh2 --streams 1,2 \
	    --ciphers aes128-ctr
	ended 0
	all_measured
	holds "$json" '[.results[] | select(.cipher == "aes128-ctr" and .mac == "hmac-sha2-256") | .streams] |
	        sort == [1, 1, 2, 2]' \
	    '[.results[] | select(.streams == 2)] | length >= 2 and all(.scaling.median > 0)'
}

@test "compression shows what is on the wire, and zeros carry a warning" {
	run --separate-stderr bench --rounds 1 --size 1M --export-json "$json" --client openssh,libssh2 \
	    --compress none,zlib --ciphers aes128-ctr
	ended 0
	all_measured
	holds "$json" '[.results[] | select(.compression != null)] | length >= 2 and
	        all(.wire_ratio < 0.1 and (.warning | length) > 0)' \
	    '[.results[] | select(.compression == null and .cipher == "aes128-ctr")] |
	        all(.warning == null)' \
	    '.deflate.rate > 0 or .deflate > 0'
}

@test "text compresses as far as it was asked to, in each client and both ways" {
	run --separate-stderr bench --rounds 1 --size 1M --quiet --export-json "$json" \
	    --client openssh,libssh2 --compress zlib --payload text:50 --ciphers aes128-ctr
	ended 0
	all_measured
	holds "$json" '[.results[] | select(.compression != null)] | length >= 2 and
	    all(.wire_ratio > 0.45 and .wire_ratio < 0.85 and .warning == null)'
}

@test "where sftp is forced, auto takes it and names it, and exec has its reason" {
	start_host "$dir" 'ForceCommand internal-sftp' 'Subsystem sftp internal-sftp'
	run --separate-stderr bench --rounds 1 --time 100ms --export-json "$json" "${login[@]}" \
	    --ciphers aes128-ctr "$host"
	ended 0
	says "upload by sftp"
	all_measured
	holds "$json" '[.results[].method] | unique == ["sftp"]'
	run --separate-stderr bench "${short[@]}" "${login[@]}" --ciphers aes128-ctr --client libssh2 \
	    --method exec,sftp "$host"
	ended 1
	holds "$json" '[.results[] | select(.method == "exec")] | length >= 1 and
	        all(.rate == null and (.reason | length) > 0)' \
	    '[.results[] | select(.method == "sftp")] | length >= 1 and all(.status == "measured")'
}

@test "as negotiated, each client and target choose by themselves, and it is told what" {
	start_host "$dir" 'Ciphers aes256-ctr,aes128-ctr'
	run --separate-stderr bench "${short[@]}" "${login[@]}" --ciphers aes128-ctr "$host"
	ended 0
	all_measured
	holds "$json" '[.results[] | select(.as_negotiated) | .client] | sort == ["libssh2", "openssh"]' \
	    '[.results[] | select(.as_negotiated)] | all(.samples | all((.negotiated.cipher | length) > 0))'
	grep -Eq '^aes.*[0-9]\*' <<<"$output"
}

@test "a full disk on the far side is a failure of every method, never a rate" {
	if ! is_root || ! unshare --mount true 2>/dev/null; then
		skip "needs root and the right to mount"
	fi
	# For the server alone: a program here that reads /dev/null would read without end.
	cat >"$BATS_TEST_TMPDIR/sshd" <<-END
		#!/bin/sh
		exec unshare --mount --propagation private \\
		    sh -c 'mount --bind /dev/full /dev/null && exec "\$0" "\$@"' $(find_sshd) "\$@"
	END
	chmod +x "$BATS_TEST_TMPDIR/sshd"
	run --separate-stderr bench --rounds 1 --size 300k --quiet --export-json "$json" \
	    --sshd "$BATS_TEST_TMPDIR/sshd" --client openssh,libssh2,libssh --method exec,scp,sftp \
	    --ciphers aes128-ctr
	[ "$status" -ne 0 ]
	valid "$json"
	holds "$json" '[.results[] | select(.reference | not)] | length >= 6 and
	    all(.rate == null and (.status == "unsupported" or
	        (.reason | test("No space left|[Ff]ailure"))))'
	[ "$(stat -c %a /dev/null)" = 666 ]
}

@test "keys that change in the middle of a stream harm no client, method or direction" {
	sshd_with "$BATS_TEST_TMPDIR/sshd" RekeyLimit=16M
	run --separate-stderr bench --rounds 1 --size 40M --quiet --export-json "$json" \
	    --sshd "$BATS_TEST_TMPDIR/sshd" --client libssh2,libssh --method exec,scp,sftp \
	    --direction both --ciphers aes128-ctr
	[ "$status" -le 1 ]
	valid "$json"
	holds "$json" '[.results[] | select(.cipher == "aes128-ctr" and .status != "unsupported")] |
	    length >= 6 and all(.status == "measured" and (.samples | all(.bytes == 40000000)))'
}

@test "a download from a real host reads the file that was named, and scp and sftp ask for one" {
	start_host "$dir" 'Subsystem sftp internal-sftp'
	head -c 200000 /dev/urandom >"$BATS_TEST_TMPDIR/remote"
	run --separate-stderr bench --rounds 1 --size 1M --quiet --export-json "$json" "${login[@]}" \
	    --direction download --method scp,sftp --client openssh,libssh2 --ciphers aes128-ctr \
	    --remote-file "$BATS_TEST_TMPDIR/remote" "$host"
	ended 0
	all_measured
	holds "$json" '[.results[] | select(.client == "libssh2") | .samples[]] |
	    all(.bytes == 200000)'
	run --separate-stderr bench --rounds 1 --size 1M --quiet "${login[@]}" \
	    --direction download --method sftp --client libssh2 --ciphers aes128-ctr "$host"
	[ "$status" -ne 0 ]
	says "--remote-file"
}

@test "a source that ends early is a failed sample with its count" {
	# In the place of dd is one that writes less than it is asked to.
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nexec /usr/bin/dd if=/dev/zero bs=1000 count=100\n' >"$BATS_TEST_TMPDIR/bin/dd"
	chmod +x "$BATS_TEST_TMPDIR/bin/dd"
	start_host "$dir" "SetEnv HOME=$dir/home PATH=$BATS_TEST_TMPDIR/bin:/usr/bin:/bin"
	run --separate-stderr bench --rounds 1 --time 300ms --quiet --export-json "$json" "${login[@]}" \
	    --direction download --client openssh,libssh2 --ciphers aes128-ctr "$host"
	[ "$status" -ne 0 ]
	[[ "$(cat "$json" 2>/dev/null)$stderr" == *100000* ]]
	if [ -s "$json" ]; then
		holds "$json" '.results | all(.rate == null)'
	fi
}

@test "Ctrl-C in the middle of scp, of streams and of logins leaves nothing" {
	run "$guard" --on child:scp group:INT -- "$XFERBENCH" --client openssh --method scp --size 1GiB \
	    --rounds 9 --ciphers aes128-ctr --quiet
	ended 130
	run "$guard" --on child:cat group:INT -- "$XFERBENCH" --client libssh2,openssh --streams 3 \
	    --time 20s --ciphers aes128-ctr --quiet
	ended 130
	run "$guard" --on after:2 group:INT -- "$XFERBENCH" --client libssh2,openssh --handshake 500 --quiet
	ended 130
}

@test "a sink that ends in mid-stream is seen at once, not by a time-out" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	# In the place of cat is one that reads a little, and of scp one that never reads the file.
	printf '#!/bin/sh\nexec /usr/bin/head -c 100000\n' >"$BATS_TEST_TMPDIR/bin/cat"
	printf '#!/bin/sh\nprintf "\\0\\0"; exec /usr/bin/head -c 100000 >/dev/null\n' \
	    >"$BATS_TEST_TMPDIR/bin/scp"
	chmod +x "$BATS_TEST_TMPDIR/bin"/*
	start_host "$dir" "SetEnv HOME=$dir/home PATH=$BATS_TEST_TMPDIR/bin:/usr/bin:/bin"
	SECONDS=0
	run --separate-stderr bench --rounds 1 --time 20s --quiet --export-json "$json" "${login[@]}" \
	    --stall-timeout 50s --client libssh2,libssh --ciphers aes128-ctr "$host"
	[ "$status" -ne 0 ]
	says "ended early"
	run --separate-stderr bench --rounds 1 --size 1G --quiet --export-json "$json" "${login[@]}" \
	    --stall-timeout 50s --method scp --client libssh2,libssh --ciphers aes128-ctr "$host"
	[ "$status" -ne 0 ]
	says "scp on the far side ended early"
	[ "$SECONDS" -lt 50 ]
}
