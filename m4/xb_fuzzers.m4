# XB_FUZZERS
# ----------
# --enable-fuzzers: the programs of tests/fuzz with libFuzzer, which is clang's alone. The
# library gets the counters without libFuzzer's main function, so that xferbench and the
# unit tests still link beside the fuzzers.
AC_DEFUN([XB_FUZZERS], [
	AC_ARG_ENABLE([fuzzers],
	    [AS_HELP_STRING([--enable-fuzzers], [build the fuzzers (needs CC=clang)])],
	    [], [enable_fuzzers=no])
	AS_IF([test "x$enable_fuzzers" = xyes], [
		AC_MSG_CHECKING([whether $CC has libFuzzer])
		xb_saved_cflags=$CFLAGS
		CFLAGS="$CFLAGS -fsanitize=fuzzer,address,undefined"
		AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return data == NULL && size > 0; }
]])], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])
			AC_MSG_ERROR([--enable-fuzzers needs CC=clang and its runtime library])])
		CFLAGS=$xb_saved_cflags
		XB_CFLAGS="$XB_CFLAGS -fsanitize=fuzzer-no-link,address,undefined"
		XB_CFLAGS="$XB_CFLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer"
		XB_LDFLAGS="$XB_LDFLAGS -fsanitize=address,undefined"
	])
	AM_CONDITIONAL([ENABLE_FUZZERS], [test "x$enable_fuzzers" = xyes])
])
