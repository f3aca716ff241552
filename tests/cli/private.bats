#!/usr/bin/env bats
# The private sshd of a run without HOST: whom it serves, what it offers, and that nothing of it stays.

setup() {
	export TMPDIR="$BATS_TEST_TMPDIR"
	quick=(--client libssh2 --ciphers aes128-ctr --time 0.1s --rounds 1 --quiet)
	shared=
	# Whoever runs the tests through sudo cannot reach the directory of a test.
	unset SUDO_UID SUDO_USER
}

teardown() {
	[ -z "$shared" ] || rm -rf "$shared"
}

# Makes TMPDIR a directory that other users can reach as well.
share_tmpdir() {
	shared=$(mktemp -d /tmp/xb-test-XXXXXX)
	chmod 1777 "$shared"
	export TMPDIR="$shared"
}

need_sshd() {
	[ -x "$(PATH="$PATH:/usr/sbin:/usr/local/sbin:/sbin" command -v sshd)" ] || skip "no sshd is installed"
}

# Some tests put a file of their own over one in /etc, for one process alone.
need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	unshare --mount true 2>/dev/null || skip "needs the right to mount"
}

# with FILE OWN COMMAND...: the command sees OWN in the place of FILE.
with() {
	# shellcheck disable=SC2016 # that shell expands it
	unshare --mount --propagation private sh -euc '
		mount --bind "$2" "$1"
		shift 2
		exec "$@"' sh "$@"
}

# An account with a shell that is not root's, as "name uid gid".
ordinary_user() {
	getent passwd | awk -F: '$3 >= 1000 && $7 ~ /\/(ba|da|z|k|a)?sh$/ { print $1, $3, $4; exit }'
}

# descendants PID: all processes below it, and when each was started, which tells a number used again.
descendants() {
	local child
	for child in $(pgrep -P "$1"); do
		echo "$child $(started "$child")"
		descendants "$child"
	done
}

# When a process was started; empty when it is gone or a zombie.
started() {
	sed -n 's/^.*) [^ZX] //p' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 19
}

# Waits until none of the processes in $below lives.
all_gone() {
	local one since deadline=$((SECONDS + 20))
	while read -r one since; do
		# One that was a zombie, or had just ended, has no time.
		while [ -n "$since" ] && [ "$(started "$one")" = "$since" ]; do
			[ "$SECONDS" -lt "$deadline" ] || return 1
			sleep 0.02
		done
	done <<<"$below"
}

# start_run TIME: starts trials that long and waits until a sink reads: $pid is the run, $below all
# below it.
start_run() {
	local deadline=$((SECONDS + 30))
	"$XFERBENCH" --client libssh2 --ciphers aes128-ctr --time "$1" --rounds 2 --quiet >"$TMPDIR/out" 2>&1 3>&- &
	pid=$!
	while below=$(descendants "$pid") && ! grep -qx cat <<<"$(names)"; do
		[ "$SECONDS" -lt "$deadline" ]
		sleep 0.05
	done
}

# The names of the processes in $below.
names() {
	local one rest
	while read -r one rest; do
		cat "/proc/$one/comm" 2>/dev/null || true
	done <<<"$below"
}

@test "what is no sshd is refused in its own words" {
	printf '#!/bin/sh\necho "my host key has melted" >&2\nexit 255\n' >"$TMPDIR/sshd"
	chmod +x "$TMPDIR/sshd"
	run "$XFERBENCH" "${quick[@]}" --sshd "$TMPDIR/sshd"
	[ "$status" -eq 3 ]
	[[ "$output" == *"my host key has melted"* ]]
	run "$XFERBENCH" "${quick[@]}" --sshd "$TMPDIR/no-such-sshd"
	[ "$status" -eq 3 ]
	[[ "$output" == *"$TMPDIR/no-such-sshd"* ]]
	rm "$TMPDIR/sshd"
	[ -z "$(ls "$TMPDIR")" ]
}

@test "a machine without sshd is told what to install" {
	need_root
	mkdir "$TMPDIR/empty"
	program="$XFERBENCH"
	PATH=/usr/bin:/bin with /usr/sbin "$TMPDIR/empty" "$program" "${quick[@]}" 2>"$TMPDIR/err" && return 1
	grep openssh-server "$TMPDIR/err"
}

@test "all that this sshd can do is offered" {
	need_sshd
	"$XFERBENCH" "${quick[@]}" --export-json "$TMPDIR/result.json" >/dev/null
	command -v ssh >/dev/null || skip "no ssh is installed to ask"
	python3 -c '
import json, subprocess, sys
offer = json.load(open(sys.argv[1]))["targets"][0]["offer"]
for what, query in (("ciphers_up", "cipher"), ("macs_up", "mac")):
    known = subprocess.check_output(["ssh", "-Q", query], text=True).split()
    assert sorted(known) == sorted(offer[what]), (known, offer[what])
' "$TMPDIR/result.json"
}

@test "a run leaves no file and no process" {
	need_sshd
	mkdir "$TMPDIR/tmp"
	TMPDIR="$TMPDIR/tmp" "$XFERBENCH" "${quick[@]}" >/dev/null
	[ -z "$(ls -A "$TMPDIR/tmp")" ]
	start_run 60s
	grep -qE "^sshd" <<<"$(names)"
	kill -TERM "$pid"
	wait "$pid" || [ "$?" -eq 143 ]
	all_gone
	[ -z "$(find "$TMPDIR" -name 'xferbench-*')" ]
}

@test "a killed run takes its sshd along, and the next one its directory" {
	need_sshd
	start_run 60s
	kill -KILL "$pid"
	wait "$pid" || true
	all_gone
	[ -n "$(find "$TMPDIR" -name 'xferbench-*')" ]
	"$XFERBENCH" "${quick[@]}" >/dev/null
	[ -z "$(find "$TMPDIR" -name 'xferbench-*')" ]
}

@test "a killed listener fails the trials that come, and nothing stays" {
	need_sshd
	start_run 3s
	# Among the children of the run, it is the one that has an sshd for a child.
	for child in $(pgrep -P "$pid"); do
		if pgrep "^sshd" -P "$child" >/dev/null; then
			kill -KILL "$child"
		fi
	done
	rc=0
	wait "$pid" || rc=$?
	cat "$TMPDIR/out"
	[ "$rc" -eq 1 ]
	all_gone
	[ -z "$(find "$TMPDIR" -name 'xferbench-*')" ]
}

@test "an ordinary user has a private sshd of his own" {
	need_sshd
	if [ "$(id -u)" -eq 0 ]; then
		read -r name uid gid <<<"$(ordinary_user)"
		[ -n "$name" ] || skip "no ordinary account on this machine"
		as=(setpriv "--reuid=$uid" "--regid=$gid" --init-groups)
		share_tmpdir
		"${as[@]}" test -x "$XFERBENCH" || skip "$name cannot reach $XFERBENCH"
	else
		name=$(id -un)
		as=()
	fi
	"${as[@]}" "$XFERBENCH" "${quick[@]}" --export-json - >"$TMPDIR/result.json" 2>/dev/null
	python3 -c '
import json, sys
result = json.load(open(sys.argv[1]))
assert result["targets"][0]["user"] == sys.argv[2]
for sample in result["results"][0]["samples"]:
    assert sample["status"] == "measured" and sample["server_cpu_seconds"] > 0, sample
' "$TMPDIR/result.json" "$name"
}

@test "through sudo the private sshd serves whoever called it" {
	need_sshd
	need_root
	read -r name uid gid <<<"$(ordinary_user)"
	[ -n "$name" ] || skip "no ordinary account on this machine"
	share_tmpdir
	SUDO_UID=$uid SUDO_USER=$name "$XFERBENCH" "${quick[@]}" --export-json "$TMPDIR/result.json" >/dev/null
	python3 -c '
import json, sys
result = json.load(open(sys.argv[1]))
assert result["targets"][0]["user"] == sys.argv[2]
assert result["results"][0]["status"] == "measured"
' "$TMPDIR/result.json" "$name"
	[ -z "$(find "$TMPDIR" -name 'xferbench-*')" ]
}

@test "an account without a login shell is refused by name" {
	need_sshd
	need_root
	sed 's#^\(root:.*\):[^:]*$#\1:/usr/sbin/nologin#' /etc/passwd >"$TMPDIR/passwd"
	chmod 644 "$TMPDIR/passwd"
	run with /etc/passwd "$TMPDIR/passwd" "$XFERBENCH" "${quick[@]}"
	[ "$status" -eq 3 ]
	[[ "$output" == *"account 'root' cannot log in: its shell is /usr/sbin/nologin"* ]]
}

@test "root with a locked password is measured all the same" {
	need_sshd
	need_root
	sed 's#^root:[^:]*:#root:!:#' /etc/shadow >"$TMPDIR/shadow"
	chmod 600 "$TMPDIR/shadow"
	with /etc/shadow "$TMPDIR/shadow" "$XFERBENCH" "${quick[@]}" >"$TMPDIR/out"
	grep aes128-ctr "$TMPDIR/out"
}
