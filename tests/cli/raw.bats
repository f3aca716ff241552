#!/usr/bin/env bats
# xferbench raw: the primitives alone.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup() {
	setup_test
	json=$BATS_TEST_TMPDIR/json
}

teardown() {
	teardown_test
}

@test "raw has a row for every cipher and direction, every MAC, and zlib, over seven sizes" {
	run -0 --separate-stderr bench raw --time 1ms --export-json "$json"
	[ -z "$stderr" ]
	local ciphers macs
	ciphers=$(grep -c '^	 *\.name = "' "$top/src/model/cipher.c")
	macs=$(grep -c '^	 *\.name = "' "$top/src/model/mac.c")
	[ "$ciphers" -gt 10 ] && [ "$macs" -gt 10 ]
	holds "$json" '.schema == "xferbench-raw/1"' \
	    '.sizes == [16, 64, 256, 1024, 8192, 16384, 32768]' \
	    "[.rows[] | select(.kind == \"cipher\")] | length == 2 * $ciphers" \
	    "[.rows[] | select(.kind == \"mac\")] | length == $macs" \
	    '[.rows[] | select(.kind == "zlib")] | length == 1' \
	    '.rows | all((.bytes_per_second | length) == 7)'
	says aes128-ctr hmac-sha2-256 "zlib level 6" 16384 32768 "MB/s"
	# Each figure is positive, or its row has a reason.
	holds "$json" '.rows | all(if .reason == null then (.bytes_per_second | all(. > 0))
	    else (.bytes_per_second | any(. == null)) and (.reason | length) > 10 end)' \
	    '[.rows[] | select(.name == "aes128-ctr" and .reason == null)] | length == 2' \
	    '[.rows[] | select(.name == "hmac-sha2-256" and .reason == null)] | length == 1'
}

@test "raw measures what is named, and nothing else" {
	run -0 --separate-stderr bench raw --time 1ms --ciphers aes128-ctr,AES128-CTR,3des \
	    --macs hmac-sha1 --export-json -
	echo "$output" >"$json"
	holds "$json" '[.rows[] | [.name, .direction]] == [["aes128-ctr", "encrypt"],
	    ["aes128-ctr", "decrypt"], ["3des-cbc", "encrypt"], ["3des-cbc", "decrypt"],
	    ["hmac-sha1", ""]]'
	grep -q aes128-ctr <<<"$stderr"
	run -0 --separate-stderr bench raw --time 1ms --macs 'hmac-sha2-*' --export-json -
	echo "$output" >"$json"
	holds "$json" '.rows | length >= 4 and all(.kind == "mac")'
}

@test "raw shows the unit asked for" {
	run -0 --separate-stderr bench raw --time 1ms --ciphers aes128-ctr --units Mbit
	says "Mbit/s"
	says_not "MB/s"
}

@test "blowfish has its speed where OpenSSL has its legacy provider, and says what is missing else" {
	run bench raw --time 1ms --ciphers blowfish --export-json "$json"
	if [ "$status" -eq 0 ]; then
		holds "$json" '.rows | all(.bytes_per_second | all(. > 0))'
	fi
	# A folder without modules hides it.
	OPENSSL_MODULES=$BATS_TEST_TMPDIR run bench raw --time 1ms --ciphers blowfish,aes128-ctr \
	    --export-json "$json"
	ended 1
	holds "$json" '.rows[0] | .name == "blowfish-cbc" and .reason != null and
	    (.bytes_per_second | all(. == null))' '.rows[2].bytes_per_second | all(. > 0)'
	says "legacy provider"
}

# fastest ARGUMENT...: the first row's speed at 32 KiB, the best of three times, as others may be at work.
fastest() {
	for _ in 1 2 3; do
		"$guard" -- "$XFERBENCH" raw --time 2ms --export-json - "$@" 2>/dev/null
	done | jq -s 'map(.rows[0].bytes_per_second[6]) | max'
}

@test "raw without AES instructions is much slower at AES, and both are shown as they are" {
	if ! grep -qw aes /proc/cpuinfo || [ "$(uname -m)" != x86_64 ]; then
		skip "no x86 AES instructions here"
	fi
	local with without
	with=$(fastest --ciphers aes128-gcm)
	without=$(OPENSSL_ia32cap='~0x200000200000000:~0x60000000000' fastest --ciphers aes128-gcm)
	echo "$with with, $without without"
	jq -en "$with > 2 * $without"
}

@test "large blocks are faster than small ones" {
	bench raw --time 20ms --ciphers aes256-ctr --export-json - 2>/dev/null >"$json"
	holds "$json" '.rows | any(.bytes_per_second[6] > 2 * .bytes_per_second[0])'
}

@test "raw writes no result over what is no file" {
	mkdir "$BATS_TEST_TMPDIR/folder"
	run bench raw --time 1ms --ciphers aes128-ctr --export-json "$BATS_TEST_TMPDIR/folder"
	ended 4
	says "a directory"
}

@test "a signal ends raw soon, in the middle of a long figure too" {
	SECONDS=0
	run "$guard" --on cpu:0.1 signal:INT -- "$XFERBENCH" raw --time 20s --ciphers aes128-ctr
	ended 130
	[ "$SECONDS" -lt 15 ]
}
