# shellcheck shell=sh
# Builds from a copy of the source tree: configure and its helpers are made in the copy, so
# that the checkout stays as it is, may be read-only, and may hold a build of its own.

# copy_source FROM TO: copies the source without what a build in place or another script
# leaves. File times are kept, so make sees what changed when TO is an earlier copy.
copy_source() {
	mkdir -p "$2"
	tar -C "$1" -cf - \
	    --exclude=./.git --exclude='./build*' --exclude=./xferbench \
	    --exclude=./autom4te.cache --exclude=./aclocal.m4 --exclude=./configure \
	    --exclude='./config.*' --exclude=./stamp-h1 \
	    --exclude=./Makefile --exclude=./Makefile.in \
	    --exclude='*.o' --exclude='*.a' --exclude='*.log' --exclude='*.trs' \
	    --exclude=.deps --exclude=.dirstamp . | tar -C "$2" -xf -
}
