#!/usr/bin/env bats
# Where files cannot be written: the result file and the directory for temporary ones.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup() {
	setup_test
	mounted=()
}

teardown() {
	local place
	for place in "${mounted[@]}"; do
		umount "$place"
	done
	teardown_test
}

# small_fs DIRECTORY OPTIONS: a file system of its own on the directory.
small_fs() {
	is_root || skip "mounting needs root"
	mkdir "$1"
	mount -t tmpfs -o "$2" xferbench-test "$1" 2>/dev/null || skip "mounting is not permitted here"
	mounted+=("$1")
}

fill() {
	dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null || [ -s "$1/filler" ]
}

# refuses_to_start TEXT...: the last run ended before any trial, with one line on stderr.
refuses_to_start() {
	ended 4
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	says "xferbench: " "$@"
}

@test "a result file in a folder that is not there is refused before the first trial" {
	run --separate-stderr bench --ciphers aes128-ctr --export-json "$BATS_TEST_TMPDIR/no/json"
	refuses_to_start "$BATS_TEST_TMPDIR/no/json" "No such file or directory"
}

@test "a result file on a read-only file system is refused before the first trial" {
	small_fs "$BATS_TEST_TMPDIR/fs" ro
	run --separate-stderr bench --ciphers aes128-ctr --export-json "$BATS_TEST_TMPDIR/fs/json"
	refuses_to_start "$BATS_TEST_TMPDIR/fs/json" "Read-only file system"
}

@test "a full file system costs the result file, not the table; the old file stays whole" {
	small_fs "$BATS_TEST_TMPDIR/fs" size=64k
	echo '{"old": true}' >"$BATS_TEST_TMPDIR/fs/json"
	fill "$BATS_TEST_TMPDIR/fs"
	run --separate-stderr bench "${tiny[@]}" --ciphers aes128-ctr \
	    --export-json "$BATS_TEST_TMPDIR/fs/json"
	ended 4
	says "$BATS_TEST_TMPDIR/fs/json" "No space left on device"
	grep -q '^aes128-ctr .* [0-9]' <<<"$output"
	[ "$(cat "$BATS_TEST_TMPDIR/fs/json")" = '{"old": true}' ]
	[ "$(ls -A "$BATS_TEST_TMPDIR/fs")" = "filler
json" ]
}

@test "a device, a pipe and a directory are never replaced by a result file" {
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	run --separate-stderr bench --export-json "$BATS_TEST_TMPDIR/pipe"
	refuses_to_start "$BATS_TEST_TMPDIR/pipe" "a pipe"
	[ -p "$BATS_TEST_TMPDIR/pipe" ]
	run --separate-stderr bench --export-json "$BATS_TEST_TMPDIR"
	refuses_to_start "a directory"
	# A device of the test's own: should it ever be replaced, it is not everybody's /dev/null.
	is_root && mknod "$BATS_TEST_TMPDIR/null" c 1 3 2>/dev/null ||
	    skip "no right to make a device; pipe and directory are safe"
	run --separate-stderr bench --export-json "$BATS_TEST_TMPDIR/null"
	refuses_to_start "a device"
	[ -c "$BATS_TEST_TMPDIR/null" ]
}

@test "a result file is replaced as a whole, through a link, and keeps its mode" {
	echo old >"$BATS_TEST_TMPDIR/json"
	chmod 640 "$BATS_TEST_TMPDIR/json"
	ln -s json "$BATS_TEST_TMPDIR/link"
	run -0 bench "${byte[@]}" --ciphers aes128-ctr --export-json "$BATS_TEST_TMPDIR/link"
	[ -L "$BATS_TEST_TMPDIR/link" ]
	valid "$BATS_TEST_TMPDIR/json"
	[ "$(stat -c %a "$BATS_TEST_TMPDIR/json")" = 640 ]
	[ "$(ls -A "$BATS_TEST_TMPDIR")" = "json
link
tmp" ]
}

@test "a result file that may not be written stays as it is" {
	if is_root; then
		skip "root may write everything"
	fi
	echo old >"$BATS_TEST_TMPDIR/json"
	chmod 444 "$BATS_TEST_TMPDIR/json"
	run --separate-stderr bench --export-json "$BATS_TEST_TMPDIR/json"
	refuses_to_start "Permission denied"
	[ "$(cat "$BATS_TEST_TMPDIR/json")" = old ]
}

@test "a TMPDIR that is not there, or no directory, is named, with the way out" {
	TMPDIR=$BATS_TEST_TMPDIR/absent run --separate-stderr bench --ciphers aes128-ctr
	refuses_to_start "$BATS_TEST_TMPDIR/absent" "does not exist" "set TMPDIR"
	echo >"$BATS_TEST_TMPDIR/file"
	TMPDIR=$BATS_TEST_TMPDIR/file run --separate-stderr bench --ciphers aes128-ctr
	refuses_to_start "$BATS_TEST_TMPDIR/file" "not a directory" "set TMPDIR"
}

@test "a read-only TMPDIR is named, with the way out" {
	small_fs "$BATS_TEST_TMPDIR/fs" ro
	TMPDIR=$BATS_TEST_TMPDIR/fs run --separate-stderr bench --ciphers aes128-ctr
	refuses_to_start "$BATS_TEST_TMPDIR/fs" "read-only" "set TMPDIR"
}

@test "a full TMPDIR is named, with the way out, and nothing is left there" {
	small_fs "$BATS_TEST_TMPDIR/fs" size=64k
	fill "$BATS_TEST_TMPDIR/fs"
	TMPDIR=$BATS_TEST_TMPDIR/fs run --separate-stderr bench --ciphers aes128-ctr
	refuses_to_start "$BATS_TEST_TMPDIR/fs" "full" "set TMPDIR"
	[ "$(ls -A "$BATS_TEST_TMPDIR/fs")" = filler ]
}

@test "a TMPDIR with little room is enough for a sparse GiB" {
	small_fs "$BATS_TEST_TMPDIR/fs" size=256k
	TMPDIR=$BATS_TEST_TMPDIR/fs run -0 bench "${tiny[@]}" --ciphers aes128-ctr \
	    --export-json "$BATS_TEST_TMPDIR/json"
	holds "$BATS_TEST_TMPDIR/json" '.settings.payload_bytes == 1073741824'
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/fs")" ]
}

@test "a file system without holes is said, and not filled" {
	is_root || skip "mounting needs root"
	command -v mkfs.vfat >/dev/null || skip "no mkfs.vfat here"
	truncate -s 1M "$BATS_TEST_TMPDIR/image"
	mkfs.vfat "$BATS_TEST_TMPDIR/image" >/dev/null
	mkdir "$BATS_TEST_TMPDIR/fat"
	mount -o loop,umask=077 "$BATS_TEST_TMPDIR/image" "$BATS_TEST_TMPDIR/fat" 2>/dev/null ||
	    skip "vfat cannot be mounted here"
	mounted+=("$BATS_TEST_TMPDIR/fat")
	TMPDIR=$BATS_TEST_TMPDIR/fat run -0 bench "${tiny[@]}" --ciphers aes128-ctr
	says "keeps no holes" "no file was filled"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/fat")" ]
}

@test "a TMPDIR whose path has blanks and a quote works, or is named" {
	mkdir "$TMPDIR/a b'c"
	TMPDIR="$TMPDIR/a b'c" run -0 bench "${byte[@]}" --ciphers aes128-ctr
	rmdir "$TMPDIR/a b'c"
	mkdir "$TMPDIR/a\"b"
	TMPDIR="$TMPDIR/a\"b" run --separate-stderr bench "${byte[@]}" --ciphers aes128-ctr
	refuses_to_start "set TMPDIR to a plain path"
	rmdir "$TMPDIR/a\"b"
}

@test "what a killed run left in TMPDIR goes away with the next run, other things stay" {
	mkdir -m 700 "$TMPDIR/xferbench-aBc123" "$TMPDIR/xferbench-other-tool" "$TMPDIR/mine"
	touch "$TMPDIR/xferbench-aBc123/"{lock,user_key} "$TMPDIR/xferbench-file1"
	run -0 bench list
	[ "$(ls -A "$TMPDIR")" = "mine
xferbench-file1
xferbench-other-tool" ]
	rm -r "${TMPDIR:?}"/*
}
