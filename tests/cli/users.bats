#!/usr/bin/env bats
# Ordinary users, sudo, and accounts that no server lets in: with an account made up for these tests,
# which exists in a mount namespace of theirs alone.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup_file() {
	if ! is_root || ! unshare --mount true 2>/dev/null; then
		return
	fi
	cp "$XFERBENCH" "$BATS_FILE_TMPDIR/xferbench"
}

setup() {
	setup_test
	shared=
	is_root || skip "needs root, to make up an account"
	[ -x "$BATS_FILE_TMPDIR/xferbench" ] || skip "no right to mount here"
	# What the namespace has as /mnt; others may reach it there, but not where it really is.
	shared=$BATS_TEST_TMPDIR/shared
	mkdir -m 755 "$shared" "$shared/home"
	mkdir -m 1777 "$shared/tmp"
	cp "$BATS_FILE_TMPDIR/xferbench" "$shared/xferbench"
	chmod 755 "$shared/xferbench"
	chown 61234:61234 "$shared/home"
	account /bin/sh
}

teardown() {
	local left=
	if [ -n "$shared" ]; then
		left=$(ls -A "$shared/tmp")
	fi
	if [ -n "$left" ]; then
		echo "left behind: $left"
		return 1
	fi
	teardown_test
}

# account SHELL: what /etc/passwd says of the user.
account() {
	cp /etc/passwd "$BATS_TEST_TMPDIR/passwd"
	echo "bencher:x:61234:61234::/mnt/home:$1" >>"$BATS_TEST_TMPDIR/passwd"
	chmod 644 "$BATS_TEST_TMPDIR/passwd"
}

# with_account COMMAND...: as root, where the account exists.
with_account() {
	# shellcheck disable=SC2016 # that shell expands it
	unshare --mount --propagation private sh -euc '
		mount --bind "$1" /etc/passwd
		mount --bind "$2" /mnt
		shift 2
		cd /mnt
		exec "$@"' sh "$BATS_TEST_TMPDIR/passwd" "$shared" "$@"
}

# as UID ARGUMENT...: xferbench as that user.
as() {
	local uid=$1
	shift
	with_account "$guard" -- setpriv "--reuid=$uid" "--regid=$uid" --clear-groups \
	    env -i "PATH=$PATH" HOME=/mnt/home LC_ALL=C TMPDIR=/mnt/tmp /mnt/xferbench "$@"
}

# through_sudo ARGUMENT...: xferbench as root, the way sudo starts it for the user.
through_sudo() {
	SUDO_USER=bencher SUDO_UID=61234 SUDO_GID=61234 TMPDIR=${sudo_tmpdir:-/mnt/tmp} \
	    with_account "$guard" -- /mnt/xferbench "$@"
}

@test "an ordinary user has a private server, and the CPU time of both ends" {
	run -0 as 61234 "${tiny[@]}" --ciphers aes128-ctr --export-json /mnt/home/json
	valid "$shared/home/json"
	holds "$shared/home/json" '.targets[0].user == "bencher" and .targets[0].private' \
	    'row("aes128-ctr") | .status == "measured" and (.samples |
	        all(.client_cpu_seconds > 0 and .server_cpu_seconds > 0))'
	[ "$(stat -c %u "$shared/home/json")" -eq 61234 ]
}

@test "under sudo the private server serves whoever called sudo, as that user" {
	run -0 through_sudo "${byte[@]}" --ciphers aes128-ctr --export-json /mnt/tmp/json
	holds "$shared/tmp/json" '.targets[0].user == "bencher"' \
	    'row("aes128-ctr") | .status == "measured" and (.samples | all(.server_cpu_seconds > 0))'
	rm "$shared/tmp/json"
}

@test "under sudo a TMPDIR that the user cannot reach is named" {
	mkdir -m 700 "$shared/closed"
	sudo_tmpdir=/mnt/closed run through_sudo "${tiny[@]}" --ciphers aes128-ctr
	ended 4
	says "bencher" "/mnt/closed" "set TMPDIR"
	[ -z "$(ls -A "$shared/closed")" ]
}

@test "what a shell's profile computes before the remote command is not billed to the server" {
	# It burns half a second, in a process that has ended when the command begins.
	cat >"$shared/shell" <<-'END'
		#!/bin/sh
		timeout 0.5 sh -c 'while :; do :; done'
		exec /bin/sh "$@"
	END
	chmod 755 "$shared/shell"
	account /mnt/shell
	run -0 as 61234 "${byte[@]}" --ciphers aes128-ctr --export-json /mnt/home/json
	holds "$shared/home/json" 'row("aes128-ctr").samples | all(.seconds < 0.4 and
	    .server_cpu_seconds < 0.2)'
}

@test "a user without an account is told so" {
	run as 61235 "${tiny[@]}" --ciphers aes128-ctr
	ended 3
	says "61235" "no account"
}

@test "an account whose shell turns users away, or is not there, is named with its shell" {
	local shell
	for shell in /usr/sbin/nologin /bin/false /mnt/absent; do
		account "$shell"
		run as 61234 "${tiny[@]}" --ciphers aes128-ctr
		ended 3
		says "account 'bencher' cannot log in" "$shell" "sudo"
	done
}

@test "a TMPDIR that this user may not write is named" {
	chmod 755 "$shared/tmp"
	run as 61234 "${tiny[@]}" --ciphers aes128-ctr
	ended 4
	says "/mnt/tmp" "cannot be written by this user" "set TMPDIR"
}

@test "a result file that this user may not write stays as it is" {
	echo old >"$shared/json"
	run as 61234 "${tiny[@]}" --ciphers aes128-ctr --export-json /mnt/json
	ended 4
	says "/mnt/json" "Permission denied"
	[ "$(cat "$shared/json")" = old ]
	# Also where the folder would let it be replaced.
	echo old >"$shared/home/json"
	chmod 444 "$shared/home/json"
	run as 61234 "${tiny[@]}" --ciphers aes128-ctr --export-json /mnt/home/json
	ended 4
	[ "$(cat "$shared/home/json")" = old ]
}

# gives_rights: skips where the files of these tests cannot give rights away.
gives_rights() {
	case ,$(findmnt -n -o OPTIONS -T "$shared"), in
	*,nosuid,*) skip "the temporary directory is mounted nosuid" ;;
	esac
}

# refuses_as_installed: the program, whose file gives rights away, runs for nobody.
refuses_as_installed() {
	run as 61234 --version
	ended 2
	says "refuses to run setuid, setgid or with file capabilities"
}

@test "a program that is installed setuid or setgid refuses to run" {
	gives_rights
	chmod 4755 "$shared/xferbench"
	refuses_as_installed
	chmod 2755 "$shared/xferbench"
	refuses_as_installed
	chmod 755 "$shared/xferbench"
	run -0 as 61234 --version
}

@test "a program that is installed with file capabilities refuses to run" {
	gives_rights
	command -v setcap >/dev/null || skip "no setcap"
	setcap cap_chown=ep "$shared/xferbench" || skip "no right to give a file capabilities"
	refuses_as_installed
}
