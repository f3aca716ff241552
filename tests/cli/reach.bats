#!/usr/bin/env bats
# Hosts as ssh_config(5) describes them: aliases, jumps, proxies, and who vouches for their keys.

# shellcheck disable=SC2154 # bats and helpers.bash set variables

load helpers

setup_file() {
	plain_environment
	make_host "$BATS_FILE_TMPDIR/far"
	make_host "$BATS_FILE_TMPDIR/gate"
	# No shell, and so no profile.
	echo "Subsystem sftp internal-sftp" >>"$BATS_FILE_TMPDIR/far/sshd_config"
}

setup() {
	setup_test
	far=$BATS_FILE_TMPDIR/far
	gate=$BATS_FILE_TMPDIR/gate
	json=$BATS_TEST_TMPDIR/json
	cfg=$BATS_TEST_TMPDIR/config
	clients=openssh,libssh2
	if "$XFERBENCH" --version | grep -q 'libssh '; then
		clients+=,libssh
	fi
	load=(-F "$cfg" --ciphers aes128-ctr --rounds 1 --size 1 --client "$clients"
	    --method sftp --export-json "$json")
}

teardown() {
	teardown_test
}

# alias NAME DIRECTORY [LINE...]: of the host that start_host has just started.
alias_host() {
	local name=$1 dir=$2
	shift 2
	printf '%s\n' "Host $name" "HostName 127.0.0.1" "Port $port" "User $(id -un)" \
	    "IdentityFile $dir/user_key" "UserKnownHostsFile $BATS_TEST_TMPDIR/known_$name" \
	    "GlobalKnownHostsFile /dev/null" "$@" >>"$cfg"
	cp "$dir/known_hosts" "$BATS_TEST_TMPDIR/known_$name"
}

all_measured() {
	valid "$json"
	holds "$json" '[.results[] | select(.cipher == "aes128-ctr")] | length >= 2 and
	    all(.status == "measured")'
}

# behind: a proxied target has no address, and nobody's connect time.
behind() {
	all_measured
	holds "$json" '.targets[0].address == null' '.targets[0].local == false' \
	    '[.results[].samples[].connect_seconds] | all(. == null)'
}

@test "an alias is resolved as ssh does, for every client" {
	start_host "$far"
	alias_host nas "$far"
	run -0 bench "${load[@]}" nas
	all_measured
	holds "$json" ".targets[0] | .name == \"nas\" and .port == $port and
	    .address == \"127.0.0.1\""
	[ "$(grep -c 'Accepted publickey' "$host_log")" -eq "$(jq .logins "$json")" ]
}

@test "what the user types is stronger than the configuration" {
	start_host "$far"
	alias_host nas "$far"
	sed -i -e 's/^Port .*/Port 1/' -e 's/^User .*/User nobody-at-all/' "$cfg"
	run -0 bench "${load[@]}" -p "$port" -l "$(id -un)" nas
	all_measured
	run -0 bench "${load[@]}" --client libssh2 -o "Port=$port" -o "User=$(id -un)" nas
}

@test "a mistake in the configuration is told in ssh's words" {
	echo "NoSuchOption yes" >"$cfg"
	run direct "${load[@]}" nas
	ended 2
	says "ssh -G" "nosuchoption"
	run direct -F "$BATS_TEST_TMPDIR/absent" nas
	ended 2
	says absent
}

@test "a target behind one jump is reached by every client" {
	start_host "$far"
	alias_host nas "$far" "ProxyJump gate"
	start_host "$gate" "AllowTcpForwarding yes"
	alias_host gate "$gate"
	run -0 bench "${load[@]}" nas
	behind
	run -0 bench list -F "$cfg" nas
	says "by its proxy"
}

@test "a target behind two jumps is reached by every client" {
	start_host "$far"
	alias_host nas "$far"
	start_host "$gate" "AllowTcpForwarding yes"
	alias_host gate1 "$gate"
	start_host "$gate" "AllowTcpForwarding yes"
	alias_host gate2 "$gate"
	run -0 bench "${load[@]}" -J gate1,gate2 nas
	behind
}

@test "a ProxyCommand carries the connection, and its last words are in the error" {
	start_host "$far"
	alias_host nas "$far" "ProxyCommand python3 $BATS_TEST_TMPDIR/pipe.py %h %p"
	cat >"$BATS_TEST_TMPDIR/pipe.py" <<-'END'
		import os, select, socket, sys
		s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
		while True:
		    for r in select.select([0, s], [], [])[0]:
		        data = os.read(0, 65536) if r == 0 else s.recv(65536)
		        if not data:
		            sys.exit()
		        if r == 0:
		            s.sendall(data)
		        else:
		            while data:
		                data = data[os.write(1, data):]
	END
	run -0 bench "${load[@]}" nas
	behind
	run bench "${load[@]}" -o "ProxyCommand=echo no way to %h >&2; false" nas
	ended 3
	says "the proxy said: no way to 127.0.0.1"
}

@test "a host key is looked up by its alias, hashed, whatever the port" {
	start_host "$far"
	alias_host nas "$far" "HostKeyAlias Cluster"
	run bench "${load[@]}" nas
	ended 3
	says "is unknown"
	awk '{ print "cluster", $1, $2 }' "$far/host_key.pub" >"$BATS_TEST_TMPDIR/known_nas"
	ssh-keygen -q -H -f "$BATS_TEST_TMPDIR/known_nas" 2>/dev/null
	run -0 bench "${load[@]}" nas
	all_measured
}

@test "a revoked host key is refused, by a list and by a KRL, whatever the policy" {
	start_host "$far"
	alias_host nas "$far" "RevokedHostKeys $BATS_TEST_TMPDIR/revoked"
	cp "$gate/host_key.pub" "$BATS_TEST_TMPDIR/revoked"
	run -0 bench "${load[@]}" --client libssh2 nas
	ssh-keygen -q -k -f "$BATS_TEST_TMPDIR/revoked" "$gate/host_key.pub"
	run -0 bench "${load[@]}" --client libssh2 nas
	cp "$far/host_key.pub" "$BATS_TEST_TMPDIR/revoked"
	run bench "${load[@]}" --client libssh2 --host-key-check off nas
	ended 3
	says "REVOKED"
	ssh-keygen -q -k -f "$BATS_TEST_TMPDIR/revoked" "$far/host_key.pub"
	run bench "${load[@]}" nas
	ended 3
	says "REVOKED"
}
