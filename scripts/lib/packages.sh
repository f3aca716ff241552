# shellcheck shell=sh
# What xferbench needs from each system, by the names of its packages.

# Everything that the build and a run against each private server need. libnss-wrapper gives
# dropbear a home for the run, python3-asyncssh speaks ciphers that OpenSSH has dropped.
debian_run_packages() {
	echo gcc libc6-dev make autoconf automake pkgconf \
	    libssh2-1-dev libssh-dev libssl-dev zlib1g-dev libpopt-dev libjansson-dev \
	    libsmartcols-dev nettle-dev openssh-server openssh-client \
	    dropbear-bin libnss-wrapper python3-asyncssh
}

# What the tests need on top: the test runners, the tools that they call, two compilers
# with the sanitizers' runtime, and the linters.
debian_check_packages() {
	debian_run_packages
	echo libcmocka-dev bats jq python3 python3-jsonschema \
	    clang libclang-rt-dev clang-format clang-tidy cppcheck shellcheck mandoc \
	    bash procps iproute2 util-linux mount openssl iperf3 \
	    busybox dosfstools fish ksh mksh tcsh zsh
}

# The same for systems that this script does not install on.
other_run_packages() {
	cat <<-'EOF'
	dnf     gcc make autoconf automake pkgconf-pkg-config libssh2-devel libssh-devel
	        openssl-devel zlib-devel popt-devel jansson-devel libsmartcols-devel nettle-devel
	        openssh-server openssh-clients dropbear nss_wrapper python3-asyncssh
	apk     build-base autoconf automake pkgconf libssh2-dev libssh-dev openssl-dev zlib-dev
	        popt-dev jansson-dev util-linux-dev nettle-dev openssh-server openssh-client
	        dropbear nss_wrapper py3-asyncssh
	pacman  gcc make autoconf automake pkgconf libssh2 libssh openssl zlib popt jansson
	        util-linux-libs nettle openssh dropbear nss_wrapper python-asyncssh
	zypper  gcc make autoconf automake pkgconf-pkg-config libssh2-devel libssh-devel
	        libopenssl-devel zlib-devel popt-devel jansson-devel libsmartcols-devel
	        libnettle-devel openssh-server openssh-clients dropbear nss_wrapper
	        python3-asyncssh
	EOF
}

# Prints those of the named Debian packages that are not installed.
missing_packages() {
	for package in "$@"; do
		status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
		if [ "$status" != installed ]; then
			printf '%s ' "$package"
		fi
	done
}

# On a system without dpkg the things themselves are looked for. Prints what is missing.
missing_tools() {
	for tool in cc make autoreconf automake pkg-config ssh; do
		command -v "$tool" >/dev/null 2>&1 || printf '%s ' "$tool"
	done
	if command -v pkg-config >/dev/null 2>&1; then
		for module in libssh2 libcrypto zlib popt jansson smartcols; do
			pkg-config --exists "$module" || printf '%s ' "$module.pc"
		done
	fi
	# sshd is often in a directory that an ordinary user's PATH lacks.
	(PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; command -v sshd >/dev/null 2>&1) ||
	    printf 'sshd '
}

is_debian_like() {
	command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1
}
