#!/bin/sh
# Makes configure and its helpers. Needed once after a checkout; a release has them.
set -eu

cd "$(dirname "$0")"
# An early check, because without pkg.m4 autoreconf stops with a puzzling message.
if ! command -v pkg-config >/dev/null; then
	echo 'autogen.sh: pkg-config was not found (Debian: pkgconf)' >&2
	exit 1
fi
exec autoreconf --install --warnings=all
