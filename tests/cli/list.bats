#!/usr/bin/env bats
# xferbench list: every cipher and MAC, and who has it.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup() {
	setup_test
}

teardown() {
	teardown_test
}

# row NAME: the columns of its row: kind, name, offered, client, raw, rating.
row() {
	awk -v name="$1" '$2 == name { print $1, $2, $3, $4, $5, $6 }' <<<"$output"
}

@test "list shows every cipher and MAC of the tables, once" {
	run -0 --separate-stderr bench list
	[ -z "$stderr" ]
	local name count=0
	while read -r name; do
		[ "$(row "$name" | wc -l)" -eq 1 ] || {
			echo "not one row of $name:"
			show
			return 1
		}
		count=$((count + 1))
	done < <(sed -n 's/^\t *\.name = "\(.*\)",$/\1/p' "$top/src/model/cipher.c" \
	    "$top/src/model/mac.c")
	[ "$count" -gt 30 ]
}

@test "list tells what the private server offers, what the client has, and how sound it is" {
	run -0 bench list
	[[ $(row aes128-ctr) == "cipher aes128-ctr yes yes yes sound" ]]
	[[ $(row hmac-sha2-256) == "MAC hmac-sha2-256 yes yes yes sound" ]]
	# No OpenSSH of the last years has it.
	[[ $(row blowfish-cbc) == "cipher blowfish-cbc no "*" weak" ||
	    $(row blowfish-cbc) == "cipher blowfish-cbc no "*" broken" ]]
	[[ $(row arcfour) == *" broken" ]]
	local version
	version=$("$XFERBENCH" --version | grep -o 'libssh2 [0-9.]*')
	says "$version" "offered" "rating" "RFC"
}

@test "list and run agree on who has what; with all, what is not there does not count" {
	run -0 bench --time 10ms --rounds 1 --ciphers all --export-json "$BATS_TEST_TMPDIR/json"
	valid "$BATS_TEST_TMPDIR/json"
	holds "$BATS_TEST_TMPDIR/json" '[.results[].status] | index("measured") != null and
	    index("not_offered") != null and index("failed") == null'
	run -0 bench list
	local name status
	while read -r name status; do
		case $status in
		measured) [[ $(row "$name") == "cipher $name yes yes "* ]] ;;
		unsupported) [[ $(row "$name") == "cipher $name yes no "* ]] ;;
		not_offered) [[ $(row "$name") == "cipher $name no "* ]] ;;
		esac
	done < <(jq -r '.results[] | .cipher + " " + .status' "$BATS_TEST_TMPDIR/json")
}

@test "list reads the offer of a host without a login, names unknown here too" {
	serve kexinit aes128-ctr,kuznyechik@example.org
	run -0 bench list --user nobody "127.0.0.1:$port"
	[[ $(row aes128-ctr) == "cipher aes128-ctr yes "* ]]
	[[ $(row aes256-ctr) == "cipher aes256-ctr no "* ]]
	[[ $(row kuznyechik@example.org) == "cipher kuznyechik@example.org yes no no unknown" ]]
	says "127.0.0.1" "fake_1.0"
}

@test "a list into a pipe has no escape sequences and keeps to ASCII" {
	bench list >"$BATS_TEST_TMPDIR/out"
	[ "$(LC_ALL=C tr -d '\n\040-\176' <"$BATS_TEST_TMPDIR/out" | wc -c)" -eq 0 ]
}

@test "a list of a host that is not there says so" {
	closed_port
	run --separate-stderr bench list "127.0.0.1:$port"
	ended 3
	[ -z "$output" ]
	says "127.0.0.1" "$port" "refused"
}
