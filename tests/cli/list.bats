#!/usr/bin/env bats
# xferbench list: every algorithm, and who has it.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup() {
	setup_test
}

teardown() {
	teardown_test
}

# row NAME: its rows.
row() {
	awk -v name="$1" '$2 == name' <<<"$output"
}

# cell NAME COLUMN: the first word of a row's cell, "" where there is no such column.
cell() {
	awk -v name="$1" -v column="$2" '
	/^KIND / { at = index($0, " " column " ") }
	at && $2 == name { split(substr($0, at + 1), words, " "); print words[1] }' <<<"$output"
}

@test "list shows every algorithm of the tables, once" {
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
	    "$top/src/model/mac.c" "$top/src/model/kex.c")
	[ "$count" -gt 60 ]
}

@test "list tells what the private server offers, what each client has, and how sound it is" {
	run -0 bench list
	[ "$(cell aes128-ctr offered)" = yes ]
	[ "$(cell aes128-ctr libssh2)" = yes ]
	[ "$(cell aes128-ctr raw)" = yes ]
	[ "$(cell aes128-ctr rating)" = sound ]
	[[ $(row hmac-sha2-256) == MAC* ]]
	[ "$(cell hmac-sha2-256 offered)" = yes ]
	# No OpenSSH of the last years has it.
	[ "$(cell blowfish-cbc offered)" = no ]
	[[ $(cell blowfish-cbc rating) == weak || $(cell blowfish-cbc rating) == broken ]]
	[ "$(cell arcfour rating)" = broken ]
	local version
	version=$("$XFERBENCH" --version | grep -o 'libssh2 [0-9.]*')
	says "$version" "offered" "rating" "RFC"
}

@test "list has key exchanges and host keys, and no marker among them" {
	run -0 bench list
	[[ $(row curve25519-sha256) == "kex "* ]]
	[ "$(cell curve25519-sha256 offered)" = yes ]
	[ "$(cell curve25519-sha256 libssh2)" = yes ]
	[ "$(cell curve25519-sha256 raw)" = - ]
	[[ $(row ssh-ed25519) == "hostkey "* ]]
	[ "$(cell ssh-rsa rating)" = weak ]
	[ "$(cell diffie-hellman-group14-sha1 rating)" = weak ]
	says_not "kex-strict"
	says_not "ext-info"
}

@test "list shows the clients that were named alone" {
	run -0 bench list --client libssh2
	[ "$(cell aes128-ctr libssh2)" = yes ]
	[ -z "$(cell aes128-ctr ssh)" ]
	run -0 bench list --client all
	[ "$(cell aes128-ctr libssh2)" = yes ]
	# What does not speak SSH has no algorithms.
	[ -z "$(cell aes128-ctr null)" ]
	[ -z "$(cell aes128-ctr tcp)" ]
}

@test "list and run agree on who has what; with all, what is not there does not count" {
	run -0 bench --client libssh2 --time 10ms --rounds 1 --ciphers all \
	    --export-json "$BATS_TEST_TMPDIR/json"
	valid "$BATS_TEST_TMPDIR/json"
	holds "$BATS_TEST_TMPDIR/json" '[.results[].status] | index("measured") != null and
	    index("unsupported") != null and index("failed") == null'
	run -0 bench list
	local name target status
	while read -r name target status; do
		# What another server stands in for, this one does not offer.
		case $target/$status in
		0/measured) [ "$(cell "$name" offered) $(cell "$name" libssh2)" = "yes yes" ] ;;
		0/unsupported) [ "$(cell "$name" offered) $(cell "$name" libssh2)" = "yes no" ] ;;
		0/not_offered) [ "$(cell "$name" offered)" = no ] ;;
		*/measured) [ "$(cell "$name" offered) $(cell "$name" libssh2)" = "no yes" ] ;;
		*/unsupported) [ "$(cell "$name" offered) $(cell "$name" libssh2)" = "no no" ] ;;
		*/not_offered) [ "$(cell "$name" offered)" = no ] ;;
		esac
	done < <(jq -r '.results[] | select(.cipher != null) |
	    "\(.cipher) \(.target) \(.status)"' "$BATS_TEST_TMPDIR/json")
}

@test "list reads the offer of a host without a login, names unknown here too" {
	serve kexinit aes128-ctr,kuznyechik@example.org
	run -0 bench list --user nobody "127.0.0.1:$port"
	[ "$(cell aes128-ctr offered)" = yes ]
	[ "$(cell aes256-ctr offered)" = no ]
	[[ $(row kuznyechik@example.org) == "cipher "* ]]
	[ "$(cell kuznyechik@example.org offered)" = yes ]
	[ "$(cell kuznyechik@example.org libssh2)" = no ]
	[ "$(cell kuznyechik@example.org rating)" = unknown ]
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
