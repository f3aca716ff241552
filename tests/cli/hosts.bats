#!/usr/bin/env bats
# A real SSH server, on loopback and for these tests alone, that xferbench knows only as a HOST:
# login, host key, and what arrives there.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup_file() {
	plain_environment
	make_host "$BATS_FILE_TMPDIR/host"
	# What stands in for the server's login: the test decides what programs the command finds.
	cat >"$BATS_FILE_TMPDIR/login" <<-'END'
		#!/bin/sh
		printf '%s' "$SSH_ORIGINAL_COMMAND" >"$1/command"
		PATH=$1:$PATH
		if [ -e "$1/profile" ]; then . "$1/profile"; fi
		eval "$SSH_ORIGINAL_COMMAND"
	END
	chmod +x "$BATS_FILE_TMPDIR/login"
	# The remote command, as the server's login shell gets it.
	servers=()
	mkdir "$BATS_FILE_TMPDIR/seen"
	start_host "$BATS_FILE_TMPDIR/host" \
	    "ForceCommand $BATS_FILE_TMPDIR/login $BATS_FILE_TMPDIR/seen"
	TMPDIR=$BATS_FILE_TMPDIR bench --identity "$BATS_FILE_TMPDIR/host/user_key" \
	    --known-hosts "$BATS_FILE_TMPDIR/host/known_hosts" "${byte[@]}" \
	    --ciphers aes128-ctr "$host" >"$BATS_FILE_TMPDIR/seen/out" 2>&1
	stop_servers
}

setup() {
	setup_test
	dir=$BATS_FILE_TMPDIR/host
	far=$BATS_TEST_TMPDIR/far
	mkdir "$far"
	json=$BATS_TEST_TMPDIR/json
	login=(--identity "$dir/user_key" --known-hosts "$dir/known_hosts")
}

teardown() {
	teardown_test
}

# far_program NAME: standard input becomes a program that the remote command finds first.
far_program() {
	cat >"$far/$1"
	chmod +x "$far/$1"
}

# start_far: the server whose commands run as the test has prepared it in $far.
start_far() {
	start_host "$dir" "ForceCommand $BATS_FILE_TMPDIR/login $far"
}

fingerprint() {
	ssh-keygen -lf "$dir/host_key.pub" | awk '{ print $2 }'
}

@test "a named cipher that a real server lacks has its reason and a hint, and the exit code 1" {
	start_host "$dir"
	run bench "${login[@]}" "${tiny[@]}" --host "$host" --ciphers aes128-ctr,blowfish \
	    --export-json "$json"
	ended 1
	valid "$json"
	holds "$json" '.targets[0] | .private == false and .address == "127.0.0.1"' \
	    'row("aes128-ctr") | .status == "measured" and .rate.median > 0' \
	    'row("blowfish-cbc") | .status == "not_offered" and .rate == null and
	        (.reason | test("not offered by .*127.0.0.1.*, which offers")) and
	        (.hint | test("private sshd"))'
	says blowfish "not offered by $host"
	[ "$(grep -c 'Accepted publickey' "$host_log")" -eq "$(jq .logins "$json")" ]
}

@test "no login is made where no case can succeed" {
	start_host "$dir" "Ciphers aes128-ctr"
	run bench "${login[@]}" "${tiny[@]}" "$host" --ciphers aes256-ctr,3des
	ended 1
	says aes256-ctr 3des "not offered"
	[ "$(grep -c 'Connection from' "$host_log")" -eq 1 ]
	run ! grep 'Accepted' "$host_log"
}

@test "the default leaves out what is not sound, and what is missing does not count" {
	start_host "$dir" "Ciphers aes128-ctr,aes256-cbc,aes128-gcm@openssh.com"
	run -0 bench "${login[@]}" "${tiny[@]}" "$host" --export-json "$json"
	holds "$json" '[.results[].cipher] | sort == ["aes128-ctr", "aes128-gcm@openssh.com"]' \
	    '.results | all(.status == "measured" or .status == "unsupported")'
}

@test "where hmac-sha2-256 is not offered another MAC is used, and said" {
	start_host "$dir" "MACs hmac-sha1,hmac-sha2-512"
	run -0 bench "${login[@]}" "${tiny[@]}" "$host" --ciphers aes128-ctr --export-json "$json"
	holds "$json" 'row("aes128-ctr").mac == "hmac-sha2-512"' '.notes | any(test("hmac-sha2-512"))' \
	    'row("aes128-ctr").samples | all(.negotiated.mac == "hmac-sha2-512")'
	says "does not offer hmac-sha2-256"
}

@test "the session's share of a core there is known" {
	start_host "$dir"
	run -0 bench "${login[@]}" "${one[@]}" --size 32MiB "$host" --ciphers aes128-ctr \
	    --export-json "$json"
	holds "$json" 'row("aes128-ctr").samples[0] | .server_core_share > 0 and .server_core_share < 1.5'
}

@test "every byte arrives, in order: a small file again and again, to the exact size" {
	far_program cat <<-END
		#!/bin/sh
		exec $(command -v cat) >"$far/got"
	END
	far_program wc </dev/null
	head -c 100003 /dev/urandom >"$far/file"
	start_far
	run -0 bench "${login[@]}" "$host" --ciphers aes128-ctr "${one[@]}" --size 1000003 \
	    --payload "$far/file" --export-json "$json"
	holds "$json" 'row("aes128-ctr").samples | all(.bytes == 1000003)' \
	    '.targets[0].count_check | test("not counted")'
	cmp "$far/got" <(for _ in 1 2 3 4 5 6 7 8 9 10; do cat "$far/file"; done | head -c 1000003)
}

@test "every byte arrives, in order: a file with holes, larger than a trial" {
	far_program cat <<-END
		#!/bin/sh
		exec $(command -v cat) >"$far/got"
	END
	far_program wc </dev/null
	head -c 300000 /dev/urandom >"$far/file"
	truncate -s 5000000 "$far/file"
	head -c 300001 /dev/urandom >>"$far/file"
	start_far
	run -0 bench "${login[@]}" "$host" --ciphers aes128-ctr "${one[@]}" --size 6MB \
	    --payload "$far/file"
	cmp "$far/got" <(cat "$far/file" "$far/file" | head -c 6000000)
}

@test "random payload does not compress, zeros do" {
	far_program cat <<-END
		#!/bin/sh
		exec $(command -v cat) >"$far/got"
	END
	far_program wc </dev/null
	start_far
	run -0 bench "${login[@]}" "$host" --ciphers aes128-ctr "${one[@]}" --size 1MiB \
	    --payload random
	[ "$(gzip -c "$far/got" | wc -c)" -gt 1000000 ]
	run -0 bench "${login[@]}" "$host" --ciphers aes128-ctr "${one[@]}" --size 1MiB
	[ "$(gzip -c "$far/got" | wc -c)" -lt 10000 ]
}

@test "a profile that prints and takes its time is not billed to the first bytes" {
	cat >"$far/profile" <<-'END'
		echo "Welcome! 100% of 12345 users like it"
		echo 17
		printf 'no newline here: '
		sleep 0.7
	END
	start_far
	run -0 bench "${login[@]}" "$host" --ciphers aes128-ctr "${one[@]}" --size 100000 \
	    --export-json "$json"
	holds "$json" 'row("aes128-ctr").samples | all(.seconds < 0.6 and .bytes == 100000)'
}

@test "a far side that has lost data ends the run" {
	far_program wc <<-END
		#!/bin/sh
		if [ "\$1" = --version ]; then echo "wc (GNU coreutils) 9.1"; exit; fi
		$(command -v wc) -c >/dev/null
		echo 8388608
	END
	start_far
	run bench "${login[@]}" "${tiny[@]}" "$host" --ciphers aes128-ctr
	ended 3
	says "the far side lost data" "counted 8388608 of"
}

@test "a sink that ends early, even with status 0, has no rate" {
	far_program cat <<-'END'
		#!/bin/sh
		exec head -c 100000
	END
	far_program wc </dev/null
	start_far
	run bench "${login[@]}" "$host" --ciphers aes128-ctr "${one[@]}" --method exec --size 50MB \
	    --stall-timeout 5s --export-json "$json"
	ended 1
	valid "$json"
	holds "$json" 'row("aes128-ctr") | .status == "failed" and .rate == null and
	    (.reason | test("sink ended early|connection broke"))'
}

@test "a sink that fails has no rate, and its own words are the reason" {
	far_program cat <<-END
		#!/bin/sh
		echo "cat: /dev/null: Permission denied" >&2
		$(command -v cat) >/dev/null
		exit 3
	END
	far_program wc </dev/null
	start_far
	run bench "${login[@]}" "$host" --ciphers aes128-ctr "${one[@]}" --method exec --size 1MB \
	    --export-json "$json"
	ended 1
	holds "$json" 'row("aes128-ctr") | .status == "failed" and .rate == null and
	    (.reason | test("status 3") and test("Permission denied"))'
}

@test "a far side that runs no command has its words shown at once, whatever stream they come by" {
	local stream
	for stream in 1 2; do
		start_host "$dir" "ForceCommand echo This account is for backups only. >&$stream"
		SECONDS=0
		run bench "${login[@]}" "${tiny[@]}" "$host" --ciphers aes128-ctr \
		    --method exec --stall-timeout 9s --export-json "$json"
		ended 1
		holds "$json" 'row("aes128-ctr") | .status == "failed" and
		    (.reason | test("ready line") and test("for backups only"))'
		[ "$SECONDS" -lt 8 ]
		stop_servers
	done
}

@test "an unknown host key is refused with its fingerprint, before any login" {
	start_host "$dir"
	: >"$BATS_TEST_TMPDIR/known"
	run bench --identity "$dir/user_key" --known-hosts "$BATS_TEST_TMPDIR/known" "${tiny[@]}" \
	    --ciphers aes128-ctr "$host"
	ended 3
	says "$(fingerprint)" "unknown" "ssh-ed25519" "--host-key-check accept-new"
	[ ! -s "$BATS_TEST_TMPDIR/known" ]
	grep 'Connection from' "$host_log"
	run ! grep 'Accepted' "$host_log"
}

@test "a changed host key is refused with its fingerprint, file and line, whatever the policy is" {
	start_host "$dir"
	ssh-keygen -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/other"
	{
		echo "# a comment"
		echo "[127.0.0.1]:$port $(cut -d ' ' -f 1-2 "$BATS_TEST_TMPDIR/other.pub")"
	} >"$BATS_TEST_TMPDIR/known"
	local before policy
	before=$(cat "$BATS_TEST_TMPDIR/known")
	for policy in strict accept-new; do
		run bench --identity "$dir/user_key" --known-hosts "$BATS_TEST_TMPDIR/known" \
		    --host-key-check "$policy" "${tiny[@]}" --ciphers aes128-ctr "$host"
		ended 3
		says "CHANGED" "$(fingerprint)" "$BATS_TEST_TMPDIR/known line 2"
	done
	[ "$(cat "$BATS_TEST_TMPDIR/known")" = "$before" ]
}

@test "a host that is known by an RSA key alone is refused for its key, not for its ciphers" {
	start_host "$dir"
	ssh-keygen -q -t rsa -b 2048 -N '' -f "$BATS_TEST_TMPDIR/rsa"
	echo "[127.0.0.1]:$port $(cut -d ' ' -f 1-2 "$BATS_TEST_TMPDIR/rsa.pub")" \
	    >"$BATS_TEST_TMPDIR/known"
	run bench --identity "$dir/user_key" --known-hosts "$BATS_TEST_TMPDIR/known" "${tiny[@]}" \
	    --ciphers aes128-ctr "$host"
	ended 3
	says "$(fingerprint)" "$BATS_TEST_TMPDIR/known line 1"
}

@test "a server without a key exchange in common is told as that, without a login" {
	start_host "$dir" 'KexAlgorithms sntrup761x25519-sha512@openssh.com'
	run bench "${login[@]}" "${tiny[@]}" --ciphers aes128-ctr,aes256-ctr --export-json "$json" \
	    "$host"
	ended 1
	holds "$json" '.logins == 0 and (.results | length == 2 and all(.status == "unsupported" and
	    (.reason | test("no key exchange in common.*sntrup761x25519-sha512@openssh.com"))))'
}

@test "a server that has nothing sound is measured with what it has" {
	start_host "$dir" 'Ciphers aes128-cbc,3des-cbc' 'MACs hmac-sha1'
	run bench "${login[@]}" "${tiny[@]}" --export-json "$json" "$host"
	ended 0
	holds "$json" '[.results[] | .cipher] == ["aes128-cbc", "3des-cbc"]' \
	    '.results | all(.status == "measured" and .mac == "hmac-sha1")' \
	    '.notes | any(test("no sound cipher")) and any(test("hmac-sha1 is used"))'
}

@test "accept-new adds an unknown key once, and from then on it is known" {
	start_host "$dir"
	local known=$BATS_TEST_TMPDIR/new/known_hosts
	run -0 bench --identity "$dir/user_key" --known-hosts "$known" --host-key-check accept-new \
	    "${byte[@]}" --ciphers aes128-ctr "$host"
	[ "$(wc -l <"$known")" -eq 1 ]
	ssh-keygen -F "[127.0.0.1]:$port" -f "$known" | grep -qF "$(cut -d ' ' -f 2 "$dir/host_key.pub")"
	# A hashed line is as good.
	ssh-keygen -q -H -f "$known" 2>/dev/null >&2
	grep -q '^|1|' "$known"
	run -0 bench --identity "$dir/user_key" --known-hosts "$known" "${byte[@]}" \
	    --ciphers aes128-ctr "ssh://$host"
}

@test "without a check the result says that any machine may have answered" {
	start_host "$dir"
	run -0 bench --identity "$dir/user_key" --known-hosts "$BATS_TEST_TMPDIR/absent" \
	    --host-key-check off "${byte[@]}" --ciphers aes128-ctr "$host" \
	    --export-json "$json"
	holds "$json" '.targets[0].hostkey_note | test("not checked")'
	says "not checked"
	[ ! -e "$BATS_TEST_TMPDIR/absent" ]
}

@test "a revoked host key is refused" {
	start_host "$dir"
	{
		cat "$dir/known_hosts"
		echo "@revoked * $(cut -d ' ' -f 1-2 "$dir/host_key.pub")"
	} >"$BATS_TEST_TMPDIR/known"
	run bench --identity "$dir/user_key" --known-hosts "$BATS_TEST_TMPDIR/known" "${tiny[@]}" \
	    --ciphers aes128-ctr "$host"
	ended 3
	says "REVOKED" "line 2"
}

@test "a wrong key is refused once, with what was tried and what the server takes" {
	start_host "$dir"
	ssh-keygen -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/wrong"
	run --separate-stderr bench --identity "$BATS_TEST_TMPDIR/wrong" \
	    --known-hosts "$dir/known_hosts" \
	    "${one[@]}" --rounds 6 --ciphers aes128-ctr,aes256-ctr "$host"
	ended 3
	[ -z "$output" ]
	says "login as $(id -un) refused" "the server takes publickey" \
	    "tried: $BATS_TEST_TMPDIR/wrong (ssh-ed25519)"
	[ "${#stderr_lines[@]}" -eq 1 ]
	# One to read the offer, one to try the key.
	[ "$(grep -c 'Connection from' "$host_log")" -eq 2 ]
}

@test "an encrypted key is named, and the agent as the way" {
	start_host "$dir"
	ssh-keygen -q -t ed25519 -N 'a passphrase' -f "$BATS_TEST_TMPDIR/locked"
	run bench --identity "$BATS_TEST_TMPDIR/locked" --known-hosts "$dir/known_hosts" \
	    --ciphers aes128-ctr "${tiny[@]}" "$host"
	ended 3
	says "$BATS_TEST_TMPDIR/locked" "encrypted" "ssh-add"
}

@test "an RSA key logs in, or library and key type are named" {
	ssh-keygen -q -t rsa -b 2048 -N '' -f "$BATS_TEST_TMPDIR/rsa"
	cat "$BATS_TEST_TMPDIR/rsa.pub" >"$BATS_TEST_TMPDIR/authorized_keys"
	start_host "$dir" "AuthorizedKeysFile $BATS_TEST_TMPDIR/authorized_keys"
	run bench --identity "$BATS_TEST_TMPDIR/rsa" --known-hosts "$dir/known_hosts" "${byte[@]}" \
	    --ciphers aes128-ctr "$host"
	if [[ $("$XFERBENCH" --version) == *"libssh2 1.10."* ]]; then
		ended 3
		says "libssh2 1.10" "ssh-rsa" "cannot sign with RSA and SHA-2" \
		    "$BATS_TEST_TMPDIR/rsa"
	else
		ended 0
	fi
}

@test "other keys are tried after a wrong one, an encrypted one and an RSA one" {
	start_host "$dir"
	ssh-keygen -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/wrong"
	ssh-keygen -q -t ed25519 -N 'a passphrase' -f "$BATS_TEST_TMPDIR/encrypted"
	ssh-keygen -q -t rsa -b 2048 -N '' -f "$BATS_TEST_TMPDIR/rsa"
	run -0 bench "--identity=$BATS_TEST_TMPDIR/"{wrong,encrypted,rsa} "${login[@]}" "${byte[@]}" \
	    --ciphers aes128-ctr "$host"
}

@test "a key in ssh-agent logs in" {
	start_host "$dir"
	local agent
	ssh-agent -D -a "$BATS_TEST_TMPDIR/agent" >/dev/null 2>&1 3>&- &
	agent=$!
	servers+=("$agent")
	# The agent has no other way to tell that it listens.
	for _ in {1..500}; do
		[ ! -S "$BATS_TEST_TMPDIR/agent" ] || break
		sleep 0.01
	done
	export SSH_AUTH_SOCK=$BATS_TEST_TMPDIR/agent
	ssh-add -q "$dir/user_key"
	run -0 bench --known-hosts "$dir/known_hosts" "${byte[@]}" --ciphers aes128-ctr \
	    --export-json "$json" "$host"
	holds "$json" 'row("aes128-ctr").status == "measured"'
}

@test "port and user options are stronger than the ones in HOST" {
	start_host "$dir"
	run -0 bench "${login[@]}" "${byte[@]}" --ciphers aes128-ctr --port "$port" \
	    --user "$(id -un)" "nobody@127.0.0.1:1"
}

# through SHELL ARGUMENT...: that shell is given the remote command as a login shell is; its far
# side counts what it gets.
through() {
	if ! command -v "$1" >/dev/null; then
		skip "no $1 here"
	fi
	local command
	command=$(cat "$BATS_FILE_TMPDIR/seen/command")
	head -c 100003 /dev/zero | HOME=$far "$@" -c "$command" >"$far/out"
	cat "$far/out"
	[ "$(wc -l <"$far/out")" -eq 2 ]
	sed -n 1p "$far/out" | grep -Eq '^xb[0-9a-f]{16}-ready '
	sed -n 2p "$far/out" | grep -Eq '^xb[0-9a-f]{16}-end 0 '
	[ "$(cut -d - -f 1 "$far/out" | sort -u | wc -l)" -eq 1 ]
}

@test "the remote command runs under sh" { through sh; }
@test "the remote command runs under bash" { through bash; }
@test "the remote command runs under dash" { through dash; }
@test "the remote command runs under zsh" { through zsh; }
@test "the remote command runs under fish" { through fish; }
@test "the remote command runs under tcsh" { through tcsh; }
@test "the remote command runs under csh" { through csh; }
@test "the remote command runs under ksh" { through ksh; }
@test "the remote command runs under mksh" { through mksh; }
@test "the remote command runs under BusyBox" { through busybox sh; }
