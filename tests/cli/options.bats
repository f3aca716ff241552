#!/usr/bin/env bats
# The command line: what is refused and how, and that parser, help, manual and completions agree.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup() {
	setup_test
}

teardown() {
	teardown_test
}

# refused OPTION VALUE [TEXT...]: a usage error in one line that names both, and says the texts. Of a
# list it has to name the bad part alone.
refused() {
	run --separate-stderr direct "$1" "$2"
	ended 2
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ] || {
		show
		return 1
	}
	says "xferbench: " "${@:3}"
	if [[ $1 == --* ]]; then
		says "$1"
	fi
	if [[ $2 != *,* ]]; then
		says "$2"
	fi
}

# The options that the parser has, as "NAME LETTER" lines; the letter is missing where there is none.
parsed_options() {
	grep -o 'ROW("[a-z-]*", .[^,]*' "$top/src/options_table.c" |
	    sed -E "s/ROW\(\"([a-z-]*)\", '(.*)'/\1 \2/; s/ \\\\0//" | sort
}

# agrees FILE...: the "NAME LETTER" lines on standard input are those of the parser.
agrees() {
	local found
	found=$(sort)
	diff <(parsed_options) <(echo "$found")
}

@test "a bad time is refused, with the option, the value, and what would do" {
	local option value
	for option in --time --max-time --connect-timeout --stall-timeout; do
		for value in 0 -1s +1s 1x 1:30 soon 99999999999999h 9000h '1 s' 0x10; do
			refused "$option" "$value"
		done
	done
	refused --time 1x 250ms
}

@test "a bad size is refused, with the option, the value, and what would do" {
	local value
	for value in 0 0k -5 +5 1Q 0.5 1e9 99999999999T 18446744073709551616 ' 1' 1kiB2; do
		refused --size "$value"
	done
	refused --size 1Q 1GiB
}

@test "a bad number is refused, with the option, the value, and the bounds" {
	local value
	for value in 0 -1 10001 six 1.5 99999999999999999999 0x2; do
		refused --rounds "$value" "1 to 10000"
	done
	for value in 0 65536 -22 ssh 22x; do
		refused --port "$value" "1 to 65535"
	done
	for value in -1 18446744073709551616 x; do
		refused --seed "$value" 18446744073709551615
	done
	for value in 0 65 -1 two 1.5 1,65 2,x; do
		refused --streams "$value" "1 to 64"
	done
	for value in 0 10001 -1 many; do
		refused --handshake "$value" "1 to 10000"
	done
}

@test "a bad share of text is refused, with the bounds" {
	local value
	for value in text: text:101 text:-1 text:x text:5%; do
		run direct --payload "$value"
		ended 2
		says "--payload text:PERCENT" "${value#text:}" "0 to 100"
	done
}

@test "a word out of a set is refused with the set" {
	refused --units kB MB MiB Mbit
	refused --host-key-check maybe strict accept-new off
	refused --client telnet openssh libssh2 all
	refused --method ftp auto exec scp sftp
	refused --method login auto exec scp sftp
	refused --direction sideways upload download both
	refused --compress gzip none zlib
	refused --server telnetd openssh
}

@test "an unknown word of a list suggests the nearest, and names the bad one alone" {
	refused --client opensshh "did you mean openssh?"
	refused --client openssh,libssh22 "'libssh22'" "did you mean libssh2?"
	refused --method exec,sfpt "'sfpt'" "did you mean sftp?"
	refused --direction uplaod "did you mean upload?"
	refused --compress zib "did you mean zlib?"
	refused --server opnessh "did you mean openssh?"
}

@test "a client that this build is without is told from one that nobody knows" {
	if "$XFERBENCH" --version | grep -Eq '(^|  )libssh [0-9]'; then
		skip "this build has libssh"
	fi
	refused --client libssh "built without libssh"
}

@test "an unknown cipher or MAC suggests the nearest, before any server is started" {
	refused --ciphers blofish "did you mean blowfish?" "unknown cipher"
	refused --ciphers aes128-ctr,aes129-ctr,3des "did you mean aes128-ctr?" "aes129-ctr"
	refused --macs hmac-sha2-257 "did you mean hmac-sha2-256?" "unknown MAC"
}

@test "a list that names nothing is refused" {
	refused --ciphers 'zz*' "xferbench list"
	refused --ciphers ,, "empty"
	refused --ciphers ''
	refused --macs '' "empty"
	local option
	for option in --client --method --direction --compress --streams --server; do
		refused "$option" ''
		refused "$option" ,,
	done
}

@test "an unknown key exchange is told once the server's are known, with the nearest" {
	run bench --handshake 1 --kex curve25519-sha265
	ended 2
	says "--kex: unknown key exchange" "did you mean curve25519-sha256?"
	run bench --handshake 1 --host-key-algorithms 'zz*'
	ended 2
	says "--host-key-algorithms: no host key algorithm matches" "offered: "
}

@test "an unknown option suggests the nearest" {
	run direct --cipher aes128-ctr
	ended 2
	says "unknown option --cipher" "did you mean --ciphers?"
	run direct --exportjson x
	ended 2
	says "did you mean --export-json?"
	run direct --completely-different
	ended 2
	says "--completely-different" "xferbench --help"
	run direct -Z
	ended 2
	says "-Z"
}

@test "an option without its value, or with one that it does not take, is refused" {
	run direct --time
	ended 2
	says "--time" "missing argument"
	run direct --no-pin=3
	ended 2
	says "--no-pin=3"
	refused --user ''
	refused --export-json ''
}

@test "values with control characters reach no terminal as they are" {
	run --separate-stderr direct --ciphers $'\e[31mred\a'
	ended 2
	[[ $stderr != *$'\e'* && $stderr != *$'\a'* ]]
	run --separate-stderr direct $'--\e[31m'
	ended 2
	[[ $stderr != *$'\e'* ]]
}

@test "a payload that is no file to read is refused" {
	refused --payload "$BATS_TEST_TMPDIR/absent" "neither 'sparse' nor 'random'"
	refused --payload /dev/zero "not a regular file"
	refused --payload "$BATS_TEST_TMPDIR" "not a regular file"
	: >"$BATS_TEST_TMPDIR/empty"
	refused --payload "$BATS_TEST_TMPDIR/empty" "empty"
}

@test "a host that is none is refused before anything is looked up" {
	local host
	for host in @nas nas:0 nas:65536 nas:x '[::1' '[::1]x' ssh://nas/path ssh:// 'a b'; do
		run direct -- "$host"
		ended 2
		says HOST
	done
	run direct -- ''
	ended 2
	says "host is empty"
	run direct --user -oProxyCommand=x localhost
	ended 2
	says "--user"
}

@test "what only a HOST has a use for is refused without one, and --sshd with one" {
	local option
	for option in --port=22 --user=x --identity=/x --host-key-check=off --known-hosts=/x; do
		run direct "$option"
		ended 2
		says "${option%%=*} has no use without a HOST"
	done
	for option in --sshd=/usr/sbin/sshd --server=openssh --dropbear-window=1M; do
		run direct "$option" nas
		ended 2
		says "${option%%=*} has no use with a HOST"
	done
}

@test "an option of one private server is refused without that server" {
	run direct --dropbear-window 1M
	ended 2
	says "--dropbear-window has no use without --server dropbear"
	refused --dropbear-window 0
	refused --dropbear-window 11MiB "10MiB"
	run direct --server dropbear --sshd /usr/sbin/sshd
	ended 2
	says "--sshd has no use without --server openssh"
}

@test "logins alone refuse what moves bytes, and their lists nothing but logins" {
	local option
	for option in --time=1s --size=1M --rounds=2 --payload=random --streams=2 --method=scp \
	    --direction=both --compress=zlib --macs=all --ciphers=all --remote-file=/f; do
		run direct --handshake 2 "$option"
		ended 2
		says "has no use for ${option%%=*}"
	done
	for option in --kex=all --host-key-algorithms=all; do
		run direct "$option"
		ended 2
		says "${option%%=*}" "--handshake N"
	done
	run direct --handshake 2 --client tcp
	ended 2
	says "--handshake has no use for --client"
}

@test "a file to download is refused for uploads, and where it could be an option" {
	run direct --remote-file /f
	ended 2
	says "--remote-file has no use with uploads alone" "--direction download"
	run direct --direction download --remote-file -oProxyCommand=x
	ended 2
	says "--remote-file" "-oProxyCommand=x" "begins with '-'"
	run direct --direction download --remote-file $'a\nb'
	ended 2
	says "--remote-file" "control character"
}

@test "what a client without SSH would ignore is refused" {
	run direct --client null --ciphers aes128-ctr
	ended 2
	says "--ciphers has no use with --client null"
	run direct --client null --method scp
	ended 2
	says "--method has no use with --client null"
}

@test "there is one host at most" {
	run direct one two
	ended 2
	says one
	run direct --host one two
	ended 2
	says two
	run direct raw one
	ended 2
	says "raw" one
}

@test "an option that a command has no use for is refused" {
	local option
	for option in --rounds=2 --size=1M --payload=random --seed=1 --host=nas --sshd=/x \
	    --port=22 --user=x --stall-timeout=1s --max-time=1s --client=all --method=exec \
	    --direction=both --compress=zlib --streams=2 --server=openssh --dropbear-window=1M \
	    --handshake=2 --kex=all --host-key-algorithms=all --remote-file=/f; do
		run direct raw "$option"
		ended 2
		says "raw has no use for ${option%%=*}"
	done
	for option in --ciphers=all --macs=all --time=1s --rounds=2 --export-json=x --units=MiB \
	    --method=exec --direction=both --compress=zlib --streams=2 --dropbear-window=1M \
	    --handshake=2 --kex=all --host-key-algorithms=all --remote-file=/f; do
		run direct list "$option"
		ended 2
		says "list has no use for ${option%%=*}"
	done
}

@test "a key file that is not there is a usage error" {
	run direct --identity "$BATS_TEST_TMPDIR/absent" localhost
	ended 2
	says "$BATS_TEST_TMPDIR/absent"
}

@test "help goes to stdout within 80 columns" {
	run --separate-stderr direct --help
	ended 0
	[ -z "$stderr" ]
	local line
	for line in "${lines[@]}"; do
		[ "${#line}" -le 80 ] || {
			echo "$line"
			return 1
		}
	done
	says "Target:" "Output:" "Exit codes"
	[ "$("$XFERBENCH" -h)" = "$output" ]
}

@test "help has every option of the parser, with letter and text" {
	[ "$(parsed_options | wc -l)" -gt 20 ]
	"$XFERBENCH" --help | sed -nE 's/^ +(-(.), )?--([a-z-]+)(=[A-Z]+)? +[^ ].*/\3 \2/p' |
	    sed 's/ $//' | agrees
}

@test "the manual has every option of the parser, with its letter" {
	sed -nE 's/^\.It Fl ((.) , Fl )?-([a-z-]+).*/\3 \2/p' "$top/doc/xferbench.1" |
	    sed 's/ $//' | agrees
}

@test "options have the same kind of argument in help and manual" {
	diff <("$XFERBENCH" --help | sed -nE 's/^ +(-., )?--([a-z-]+)(=[A-Z]+)? .*/\2 \3/p' |
	    sed -E 's/=[A-Z]+/argument/' | sort) \
	    <(sed -nE 's/^\.It Fl (. , Fl )?-([a-z-]+)( Ar .*)?/\2 \3/p' "$top/doc/xferbench.1" |
	    sed -E 's/ Ar .*/argument/' | sort)
}

@test "the completion for bash has every option of the parser, with its letter" {
	grep -v '#' "$top/completions/bash/xferbench" |
	    grep -oE -- "(^|[ '	])(--[a-z-]+|-[A-Za-z])\b" | tr -d " '	" | sort -u \
	    >"$BATS_TEST_TMPDIR/found"
	local name letter
	while read -r name letter; do
		grep -qx -- "--$name" "$BATS_TEST_TMPDIR/found"
		[ -z "$letter" ] || grep -qx -- "-$letter" "$BATS_TEST_TMPDIR/found"
	done < <(parsed_options)
	# And none that the parser lacks.
	diff <(grep -- '^--' "$BATS_TEST_TMPDIR/found") \
	    <(parsed_options | sed 's/ .*//; s/^/--/' | sort)
}

@test "the completion for zsh has every option of the parser, with its letter" {
	sed -nE "s/.*\{-([A-Za-z])\+?,--([a-z-]+)=?\}'\[.*/\2 \1/p
	    s/^    '--([a-z-]+)=?\[.*/\1/p" "$top/completions/zsh/_xferbench" | agrees
}

@test "the completion for fish has every option of the parser, with its letter" {
	sed -nE 's/^complete -c xferbench (-s (.) )?-l ([a-z-]+) .*/\3 \2/p' \
	    "$top/completions/fish/xferbench.fish" | sed 's/ $//' | agrees
}

@test "the completions are read by their shells" {
	bash -n "$top/completions/bash/xferbench"
	if command -v zsh >/dev/null; then
		zsh -n "$top/completions/zsh/_xferbench"
	fi
	if command -v fish >/dev/null; then
		fish --no-execute "$top/completions/fish/xferbench.fish"
	fi
	command -v zsh >/dev/null && command -v fish >/dev/null || skip "not both zsh and fish here"
}

# completes WORD...: what the completion for bash makes of the last word of a command line, a line each.
completes() {
	# shellcheck disable=SC2016 # that shell expands it
	run -0 bash -c '. "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); _xferbench
		printf "%s\n" "${COMPREPLY[@]}"' bash "$top/completions/bash/xferbench" "$@"
}

@test "the completion for bash completes options, the last name of a list, and words" {
	completes xferbench --host-key-c
	[ "$output" = "--host-key-check" ]
	completes xferbench --ciphers all,aes128-c
	says "all,aes128-ctr"
	completes xferbench --units Mi
	[ "$output" = MiB ]
	completes xferbench --client openssh,t
	[ "$output" = openssh,tcp ]
	completes xferbench --method s
	[ "$output" = $'scp\nsftp' ]
	completes xferbench --direction d
	[ "$output" = download ]
	completes xferbench --server openssh,d
	[ "$output" = openssh,dropbear ]
	completes xferbench --compress none,zlib@
	[ "$output" = none,zlib@openssh.com ]
	completes xferbench --kex a
	says "all"
}

@test "the version lists the libraries that run and the optional features" {
	run -0 --separate-stderr direct --version
	[ -z "$stderr" ]
	[[ ${lines[0]} == "xferbench "[0-9]* ]]
	says "libssh2 1." "OpenSSL 3." "zlib 1." "jansson 2." "libsmartcols 2." "legacy ciphers" "UMAC"
}

@test "closed standard descriptors become no file of the run" {
	# shellcheck disable=SC2016 # that shell expands it
	run bash -c '"$@" <&- >&- 2>&-' bash "$guard" -- "$XFERBENCH" --size 1 --rounds 1 \
	    --ciphers aes128-ctr
	ended 4
}

# example LINE: runs one line of the documentation with the smallest load, or, where it wants a host
# on the network, sees that the options are right.
example() {
	local line=$1 more='--time 20ms --rounds 1 --max-time 200ms' code=0
	case $line in
	*@* | *--host* | *ssh://* | *nas* | *example.*) more=--version ;;
	*xferbench\ list* | *--version* | *--help*) more= ;;
	*xferbench\ raw*) more='--time 1ms' ;;
	*--handshake*) more='--max-time 200ms' ;;
	esac
	cat >"$BATS_TEST_TMPDIR/xferbench" <<-END
		#!/bin/sh
		exec "$XFERBENCH" "\$@" $more
	END
	chmod +x "$BATS_TEST_TMPDIR/xferbench"
	echo "$line"
	(cd "$BATS_TEST_TMPDIR" && PATH=$PWD:$PATH "$guard" -- bash -o pipefail -c "$line") \
	    >"$BATS_TEST_TMPDIR/shown" 2>&1 || code=$?
	# A cipher that no server has is an example too, and so small a load does not reach all.
	if [ ! -s "$BATS_TEST_TMPDIR/shown" ] || [ "$code" -gt 1 ] || { [ "$code" -eq 1 ] &&
	    ! grep -qE 'not offered|--max-time' "$BATS_TEST_TMPDIR/shown"; }; then
		echo "status $code:"
		cat "$BATS_TEST_TMPDIR/shown"
		return 1
	fi
}

# examples EXPRESSION FILE: runs the lines that this expression of sed -E takes out of the file.
examples() {
	local line count=0
	while IFS= read -r line; do
		example "$line"
		count=$((count + 1))
	done < <(sed -nE "$1" "$2" | sort -u)
	[ "$count" -ge 5 ]
}

@test "the examples of the manual work" {
	examples "/^\.Sh EXAMPLES/,/^\.Sh DIAG/{
	    s/\\\\\(aq/'/g
	    s/^\.Dl +(.*xferbench.*)/\1/p
	    }" "$top/doc/xferbench.1"
}

@test "the examples of the README work" {
	examples 's/^    (\$ )?((\.\/)?xferbench( .*)?)$/\2/p' "$top/README.md"
}
