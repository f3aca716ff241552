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
	grep -o 'ROW("[a-z-]*", .[^,]*' "$top/src/options.c" |
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
}

@test "a word out of a set is refused with the set" {
	refused --units kB MB MiB Mbit
	refused --host-key-check maybe strict accept-new off
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
	run direct --sshd /usr/sbin/sshd nas
	ended 2
	says "--sshd has no use with a HOST"
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
	    --port=22 --user=x --stall-timeout=1s --max-time=1s; do
		run direct raw "$option"
		ended 2
		says "raw has no use for ${option%%=*}"
	done
	for option in --ciphers=all --macs=all --time=1s --rounds=2 --export-json=x --units=MiB; do
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

@test "the completion for bash completes options, the last name of a list, and units" {
	# shellcheck disable=SC2016 # that shell expands it
	run -0 bash -c '. "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); _xferbench
		printf "%s\n" "${COMPREPLY[@]}"' bash "$top/completions/bash/xferbench" \
	    xferbench --host-k
	[ "$output" = "--host-key-check" ]
	# shellcheck disable=SC2016 # that shell expands it
	run -0 bash -c '. "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); _xferbench
		printf "%s\n" "${COMPREPLY[@]}"' bash "$top/completions/bash/xferbench" \
	    xferbench --ciphers all,aes128-c
	says "all,aes128-ctr"
	# shellcheck disable=SC2016 # that shell expands it
	run -0 bash -c '. "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); _xferbench
		printf "%s\n" "${COMPREPLY[@]}"' bash "$top/completions/bash/xferbench" \
	    xferbench --units Mi
	[ "$output" = MiB ]
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
