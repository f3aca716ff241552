# shellcheck shell=sh
# Installs Debian packages so that nothing but the packages is left behind: a newly
# installed openssh-server neither runs nor is enabled. Needs packages.sh and say().

policy=/usr/sbin/policy-rc.d
policy_saved=$policy.before-xferbench
policy_mark='Temporary, by xferbench'

# The units that systemd 256 and later makes by itself, at the next boot, wherever it finds
# an sshd.
ssh_generated_units='sshd-unix-local.socket sshd-vsock.socket'
ssh_generator=/usr/lib/systemd/system-generators/systemd-ssh-generator

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

can_become_root() {
	[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null 2>&1
}

# invoke-rc.d and deb-systemd-invoke ask policy-rc.d before they start a service. The
# temporary one refuses ssh alone: other packages may have to restart what they upgrade.
# A policy of the administrator goes on answering for everything else.
policy_install() {
	if [ -x "$policy" ]; then
		answer=0
		"$policy" ssh start >/dev/null 2>&1 || answer=$?
		if [ "$answer" -eq 101 ]; then
			return 0
		fi
	fi
	if [ -e "$policy" ] || [ -L "$policy" ]; then
		as_root mv "$policy" "$policy_saved" || return 1
	fi
	as_root sh -c "umask 022; cat >$policy && chmod 755 $policy" <<-EOF
	#!/bin/sh
	# $policy_mark: keeps a newly installed sshd from being started.
	for arg; do
		case \$arg in
		ssh|sshd|ssh.*|sshd.*|ssh@*|sshd@*|sshd-*) exit 101 ;;
		esac
	done
	if [ -x $policy_saved ]; then
		exec $policy_saved "\$@"
	fi
	exit 0
	EOF
}

# Puts back what was there, byte for byte: a rename keeps the file itself.
policy_restore() {
	if grep -qs "$policy_mark" "$policy"; then
		as_root rm -f "$policy"
	fi
	if [ -e "$policy_saved" ] || [ -L "$policy_saved" ]; then
		as_root mv "$policy_saved" "$policy"
	fi
}

# Prints the links below /etc that make sshd start at boot, for systemd and System V init:
# there the package's scripts and the administrator alike store it.
ssh_boot_links() {
	for link in /etc/systemd/system/*.wants/ssh.service /etc/systemd/system/*.wants/ssh.socket \
	    /etc/systemd/system/sshd.service /etc/rc[2345].d/S[0-9][0-9]ssh; do
		if [ -L "$link" ]; then
			printf '%s ' "$link"
		fi
	done
}

# Takes back what the package's scripts enabled, as an administrator would have: upgrades
# then leave it disabled. The argument is what ssh_boot_links printed before.
disable_new_ssh() {
	for link in $(ssh_boot_links); do
		case " $1" in
		*" $link "*) continue ;;
		esac
		case $link in
		/etc/rc*) as_root update-rc.d ssh disable >/dev/null 2>&1 ;;
		*) as_root rm -f "$link" ;;
		esac
	done
	mask_generated_ssh
	if [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1; then
		as_root systemctl daemon-reload
	fi
}

mask_generated_ssh() {
	if [ ! -e "$ssh_generator" ]; then
		return
	fi
	for unit in $ssh_generated_units; do
		if [ -e "/etc/systemd/system/$unit" ] || [ -L "/etc/systemd/system/$unit" ]; then
			continue
		fi
		as_root mkdir -p /etc/systemd/system
		as_root ln -s /dev/null "/etc/systemd/system/$unit"
		say "masked $unit, which systemd opens wherever there is an sshd" \
		    "(undo: systemctl unmask $unit)"
	done
}

# Runs apt-get without a word, unless it fails.
apt_quietly() {
	if ! apt_output=$(as_root "$@" 2>&1 </dev/null); then
		printf '%s\n' "$apt_output" | tail -n 20 >&2
		return 1
	fi
}

# Another apt at work, such as an unattended upgrade, is waited for.
apt_get='env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300'

# The part of an installation that must not stop half-way: dpkg, finished later by hand,
# would start the daemon. So it runs in a session of its own, where no key reaches it, and
# a signal waits until sshd is disabled and the policy is what it was.
install_downloaded() {
	interrupted=
	for signal in HUP INT TERM; do
		# shellcheck disable=SC2064 # the signal's name is wanted now
		trap "interrupted=$signal" "$signal"
	done
	case " $* " in
	*' openssh-server '*) new_sshd=yes ;;
	*) new_sshd=no ;;
	esac
	boot_links=$(ssh_boot_links)
	status=0
	if [ "$new_sshd" = yes ]; then
		policy_install || status=1
	fi
	if [ "$status" -eq 0 ]; then
		# shellcheck disable=SC2086 # a command and its options
		(trap '' HUP INT TERM
		apt_quietly setsid --wait $apt_get install --no-install-recommends "$@") || status=1
	fi
	if [ "$new_sshd" = yes ]; then
		disable_new_ssh "$boot_links"
		policy_restore
	fi
	trap - HUP INT TERM
	if [ -n "$interrupted" ]; then
		kill -s "$interrupted" $$
	fi
	return $status
}

# After a run that was killed outright while it installed a new sshd. Its apt-get may be
# working still, or have left packages for dpkg to configure; the policy stays until then.
finish_killed_install() {
	if ! grep -qs "$policy_mark" "$policy" || ! can_become_root; then
		return
	fi
	say 'finishing the installation of a run that was killed'
	# shellcheck disable=SC2086 # a command and its options
	apt_quietly $apt_get install 2>/dev/null ||
	    apt_quietly env DEBIAN_FRONTEND=noninteractive dpkg --configure -a || true
	disable_new_ssh ''
	policy_restore
}

# Installs the named packages, without recommended ones.
install_packages() {
	# shellcheck disable=SC2086 # a command and its options
	{
		apt_quietly $apt_get update ||
		    say 'apt-get update failed; going on with the lists that are there'
		apt_quietly $apt_get install --no-install-recommends --download-only "$@" || return 1
	}
	install_downloaded "$@"
}

# Says which of the named packages are missing and installs them; exit status 2 where that
# is not possible. Does nothing, and needs no right, where all are there.
need_packages() {
	finish_killed_install
	missing=$(missing_packages "$@")
	missing=${missing% }
	if [ -z "$missing" ]; then
		return
	fi
	if ! can_become_root; then
		say "these packages are missing: $missing"
		say 'install them as root, or run this as root or with sudo'
		exit 2
	fi
	say "will install with apt-get: $missing"
	# shellcheck disable=SC2086 # a list of words
	if ! as_root true || ! install_packages $missing; then
		say 'the packages could not be installed'
		exit 2
	fi
	case " $missing " in
	*' openssh-server '*) say 'openssh-server is installed, but neither started nor enabled' ;;
	esac
}
