#!/usr/bin/env bats
# The installed ssh, scp and sftp as a client: what they are told, and what becomes of their faults.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup_file() {
	plain_environment
	make_host "$BATS_FILE_TMPDIR/host"
}

setup() {
	setup_test
	dir=$BATS_FILE_TMPDIR/host
	json=$BATS_TEST_TMPDIR/json
	bin=$BATS_TEST_TMPDIR/bin
	mkdir "$bin"
	real_ssh=$(command -v ssh)
	small=(--client openssh --rounds 1 --size 300k --ciphers aes128-ctr --quiet
		--export-json "$json")
	login=(--identity "$dir/user_key" --known-hosts "$dir/known_hosts")
}

teardown() {
	teardown_test
}

# script NAME BODY: the program NAME, first in PATH.
script() {
	printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
	chmod 755 "$bin/$1"
	PATH=$bin:$PATH
}

# fake_ssh BODY: an ssh that answers what it is, and else does what BODY says.
fake_ssh() {
	# shellcheck disable=SC2016 # for the script
	script ssh 'case $1 in -V|-Q) exec '"$real_ssh"' "$@";; esac
		'"$1"
}

# sshd_with OPTION...: a private server of these options, which win; sets $sshd.
sshd_with() {
	sshd=$BATS_TEST_TMPDIR/sshd
	{
		printf '#!/bin/sh\nexec %s' "$(find_sshd)"
		printf ' %q' "$@"
		# shellcheck disable=SC2016 # for the script
		printf ' "$@"\n'
	} >"$sshd"
	chmod 755 "$sshd" "$BATS_TEST_TMPDIR"
}

# measured COUNT: so many rows of the cipher have a rate, and each trial was under it and its MAC.
measured() {
	valid "$json"
	holds "$json" '[.results[] | select(.cipher == "aes128-ctr")] | length == '"$1" \
	    '[.results[] | select(.cipher == "aes128-ctr")] | all(.status == "measured")' \
	    '[.results[] | select(.cipher == "aes128-ctr") | .samples[]] |
	        all(.status == "measured" and .bytes >= 300000 and
	            .negotiated.cipher == "aes128-ctr" and
	            .negotiated.mac == "hmac-sha2-256" and .negotiated.compression == "none")'
}

# failed TEXT: no trial came to anything, for that reason.
failed() {
	valid "$json"
	holds "$json" '[.results[].samples[]] | length >= 1' \
	    '[.results[].samples[]] | all(.status == "failed" and (.reason | contains("'"$1"'")))'
}

@test "ssh, scp and sftp are measured both ways, and /dev/null stays what it is" {
	run --separate-stderr bench "${small[@]}" --method exec,scp,sftp --direction both
	ended 0
	measured 6
	holds "$json" '[.results[].samples[]] |
	    all(.start_seconds > 0 and .kex_seconds > 0 and .client_cpu_seconds > 0 and
	        .wire_bytes >= 300000)'
	[ "$(stat -c %a /dev/null)" = 666 ]
}

@test "keys that change in the middle of a stream are no harm" {
	sshd_with -o RekeyLimit=16M
	small+=(--size 20M)
	run --separate-stderr bench "${small[@]}" --sshd "$sshd" --direction both
	ended 0
	measured 2
	holds "$json" '[.results[].samples[]] | all(.bytes == 20000000)'
}

@test "without ssh the client says which package it is in, and the run goes on" {
	# All that is needed but ssh.
	local program
	for program in sh cat dd sshd ssh-keygen; do
		ln -s "$(PATH=$PATH:/usr/sbin:/sbin command -v "$program")" "$bin/$program"
	done
	run --separate-stderr timeout 100 "$(command -v env)" PATH="$bin" "$XFERBENCH" --client openssh,libssh2 \
	    --rounds 1 --size 300k --ciphers aes128-ctr --quiet --export-json "$json"
	valid "$json"
	holds "$json" '[.results[] | select(.client == "openssh")] |
	        length >= 1 and all(.status == "unsupported" and
	            (.reason | contains("install openssh-client")))' \
	    '[.results[] | select(.client == "libssh2" and .status == "measured")] | length >= 1'
}

@test "an ssh that hangs is ended, and the step named" {
	fake_ssh 'echo "debug1: Connecting to x" >&2; exec sleep 1000'
	run --separate-stderr bench "${small[@]}" --connect-timeout 1s
	[ "$status" -ne 0 ]
	failed "ssh made no progress during connect for 1 s"
}

@test "an ssh that dies by a signal is told so" {
	fake_ssh 'kill -SEGV $$'
	run --separate-stderr bench "${small[@]}"
	[ "$status" -ne 0 ]
	failed "ssh died: signal 11"
}

@test "ten megabytes on stderr do no harm" {
	fake_ssh 'head -c 10000000 /dev/zero | tr "\0" x >&2; exec '"$real_ssh"' "$@"'
	run --separate-stderr bench "${small[@]}"
	ended 0
	measured 1
}

@test "what the user's configuration says does not change what is measured" {
	start_host "$dir"
	cat >"$BATS_TEST_TMPDIR/config" <<-END
		Ciphers aes256-ctr
		MACs hmac-sha2-512
		Compression yes
		RemoteCommand echo nasty
		RequestTTY force
		ForkAfterAuthentication yes
		StdinNull yes
		SessionType none
		LocalForward 127.0.0.1:$port 127.0.0.1:1
		ExitOnForwardFailure yes
		PermitLocalCommand yes
		LocalCommand touch $TMPDIR/local-command
		LogLevel QUIET
		RekeyLimit 1M
	END
	fake_ssh 'exec '"$real_ssh -F $BATS_TEST_TMPDIR/config"' "$@"'
	run --separate-stderr bench "${small[@]}" "${login[@]}" "$host"
	ended 0
	measured 1
	# As negotiated, it is what that says.
	holds "$json" '[.results[] | select(.as_negotiated) | .samples[]] |
	    length >= 1 and all(.negotiated.cipher == "aes256-ctr" and
	        .negotiated.compression == "zlib@openssh.com")'
}

@test "a live master for the same host under another cipher is left alone" {
	start_host "$dir"
	cat >"$BATS_TEST_TMPDIR/config" <<-END
		ControlMaster auto
		ControlPath $BATS_TEST_TMPDIR/control
		Ciphers aes256-ctr
		IdentityFile $dir/user_key
		UserKnownHostsFile $dir/known_hosts
	END
	"$real_ssh" -F "$BATS_TEST_TMPDIR/config" -M -N -f -p "$port" "${host%:*}" 3>&-
	fake_ssh 'exec '"$real_ssh -F $BATS_TEST_TMPDIR/config"' "$@"'
	run --separate-stderr bench "${small[@]}" "${login[@]}" "$host"
	# It lived all the while, and ends now.
	"$real_ssh" -F "$BATS_TEST_TMPDIR/config" -O exit -p "$port" "${host%:*}" 3>&-
	ended 0
	measured 1
}

@test "an sftp-server that is missing is a reason" {
	sshd_with -o 'Subsystem=sftp /nonexistent/sftp-server'
	run --separate-stderr bench "${small[@]}" --sshd "$sshd" --method sftp
	[ "$status" -ne 0 ]
	grep -q "no such program" "$json"
	holds "$json" '[.results[].samples[] | select(.status == "measured")] == []'
}

@test "an scp that is missing on the far side is a reason" {
	sshd_with -o 'SetEnv=HOME=/nonexistent PATH=/nonexistent'
	run --separate-stderr bench "${small[@]}" --sshd "$sshd" --method scp
	[ "$status" -ne 0 ]
	grep -q "scp: .*not found" "$json"
	holds "$json" '[.results[].samples[] | select(.status == "measured")] == []'
}

@test "a login that is refused ends the run in the words of ssh" {
	start_host "$dir" "AuthorizedKeysFile /dev/null"
	run --separate-stderr bench "${small[@]}" "${login[@]}" "$host"
	ended 3
	says "Permission denied (publickey)"
}
