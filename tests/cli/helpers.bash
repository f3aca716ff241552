#!/usr/bin/env bash
# What the command-line tests share. Each test has a TMPDIR of its own, and whatever it was about,
# nothing may be left in there and no process may be left at all.

# shellcheck disable=SC2034,SC2154 # variables of the tests, and of bats

bats_require_minimum_version 1.5.0

top=$(CDPATH='' cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
guard=$BATS_TEST_DIRNAME/guard
XFERBENCH=${XFERBENCH:-$top/xferbench}

# The smallest loads that are still a run, by one client: few tests are about which one.
one=(--client libssh2 --rounds 1)
tiny=("${one[@]}" --time 50ms)
byte=("${one[@]}" --size 1)

# Whatever the user's own environment says must not change what is tested.
plain_environment() {
	export LC_ALL=C TERM=dumb
	unset COLUMNS NO_COLOR SSH_AUTH_SOCK SUDO_USER SUDO_UID SUDO_GID
	unset OPENSSL_ia32cap OPENSSL_armcap OPENSSL_CONF
}

setup_test() {
	plain_environment
	servers=()
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR"
}

teardown_test() {
	stop_servers
	local left
	left=$(ls -A "$TMPDIR")
	if [ -n "$left" ]; then
		echo "left in TMPDIR: $left"
		return 1
	fi
}

# bench ARGUMENT...: xferbench, watched.
bench() {
	"$guard" -- "$XFERBENCH" "$@"
}

# bench_in COMMAND [WORD...] -- ARGUMENT...: xferbench, watched, in a mount namespace of its own, after
# the shell command with these words as $1 and so on.
bench_in() {
	local command=$1 words=()
	shift
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	"$guard" -- unshare --mount --propagation private \
	    sh -euc "$command; shift ${#words[@]};"' exec "$@"' sh "${words[@]}" "$XFERBENCH" "$@"
}

# direct ARGUMENT...: xferbench where it has no time to start anything.
direct() {
	timeout 60 "$XFERBENCH" "$@"
}

# says TEXT...: each is in what the last run printed; says_not TEXT: it is not.
says() {
	local text
	for text in "$@"; do
		if [[ "$output${stderr-}" != *"$text"* ]]; then
			echo "this is missing: $text"
			show
			return 1
		fi
	done
}

says_not() {
	if [[ "$output${stderr-}" == *"$1"* ]]; then
		echo "this is there: $1"
		show
		return 1
	fi
}

# ended STATUS: the last run ended with it.
ended() {
	if [ "$status" -ne "$1" ]; then
		echo "the exit status is $status, not $1"
		show
		return 1
	fi
}

show() {
	echo "--- status $status, stdout:"
	echo "$output"
	echo "--- stderr:"
	echo "${stderr-}"
}

# What jq expressions may use besides jq's own: the result of a cipher, of a client where there are
# several. What is as negotiated may add one more result to any run: an equal one is not meant.
jq_words='
def row(cipher): [.results[] | select(.cipher == cipher)] | sort_by(.as_negotiated) | .[0];
def row(client; cipher): .results |= map(select(.client == client)) | row(cipher);
'

# holds FILE EXPRESSION...: each jq expression is true of the JSON file.
holds() {
	local file=$1 expression
	shift
	for expression in "$@"; do
		if ! jq -e "$jq_words $expression" "$file" >/dev/null; then
			echo "not so: $expression"
			jq -c 'del(.host, .targets[].offer, .primitives)' "$file"
			return 1
		fi
	done
}

# valid FILE: the file is a true result, as schema and sums go.
valid() {
	"$top/tests/validate-json" "$1"
}

is_sanitized() {
	[ "${XB_SANITIZED:-no}" = yes ]
}

is_root() {
	[ "$(id -u)" -eq 0 ]
}

# serve MODE...: starts a fake server; its port is in $port.
serve() {
	local fd
	exec {fd}< <(exec "$BATS_TEST_DIRNAME/fake-server" "$@" 2>/dev/null 3>&-)
	servers+=($!)
	read -r port <&"$fd"
	exec {fd}<&-
}

stop_servers() {
	if [ ${#servers[@]} -gt 0 ]; then
		kill "${servers[@]}"
		wait "${servers[@]}" 2>/dev/null || true
	fi
	servers=()
}

# A port of 127.0.0.1 where nothing listens: the kernel does not give out one so soon again.
closed_port() {
	serve silent
	stop_servers
}

find_sshd() {
	PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v sshd
}

# sshd_with FILE OPTION...: makes the file an sshd with these options, before those that it is given:
# of two values the first counts.
sshd_with() {
	local file=$1 option
	shift
	{
		printf '#!/bin/sh\nexec %q' "$(find_sshd)"
		for option in "$@"; do
			printf ' -o %q' "$option"
		done
		printf ' "$@"\n'
	} >"$file"
	chmod +x "$file"
}

# make_host DIRECTORY: keys and configuration of a real SSH server for the current user. Its shells find
# an empty home, because the user's own profile may take a second; an account's other files are not
# needed. A SetEnv line of a test comes first and has to name HOME as well.
make_host() {
	local dir=$1 pam=no
	mkdir -p "$dir/home"
	ssh-keygen -q -t ed25519 -N '' -C host -f "$dir/host_key"
	ssh-keygen -q -t ed25519 -N '' -C user -f "$dir/user_key"
	cp "$dir/user_key.pub" "$dir/authorized_keys"
	# sshd without PAM lets nobody in whose password is locked.
	if is_root && [[ $(getent shadow root) == root:!* ]]; then
		pam=yes
	fi
	cat >"$dir/sshd_config" <<-END
		HostKey $dir/host_key
		AuthorizedKeysFile $dir/authorized_keys
		PasswordAuthentication no
		KbdInteractiveAuthentication no
		PermitRootLogin prohibit-password
		StrictModes no
		PidFile none
		PrintMotd no
		SetEnv HOME=$dir/home
		LogLevel DEBUG1
		UsePAM $pam
	END
}

# start_host DIRECTORY [LINE...]: serves it, with more lines in the configuration, which come first
# and so win; the port is in $port, the host in $host, the server's log in $host_log. The directory gets
# a known_hosts file.
start_host() {
	local dir=$1 config
	shift
	config=$(mktemp "$dir/config.XXXXXX")
	host_log=$config.log
	printf '%s\n' "$@" >"$config"
	cat "$dir/sshd_config" >>"$config"
	# shellcheck disable=SC2016 # the server's own shell expands it
	serve run sh -c 'if [ "$(id -u)" -eq 0 ]; then mkdir -p -m 755 /run/sshd; fi
		exec "$@"' sh "$(find_sshd)" -i -f "$config" -E "$host_log"
	host=$(id -un)@127.0.0.1:$port
	awk -v port="$port" '{ print "[127.0.0.1]:" port, $1, $2 }' "$dir/host_key.pub" \
	    >"$dir/known_hosts"
}
