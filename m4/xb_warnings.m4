# XB_CC_FLAGS(VARIABLE, FLAG...)
# ------------------------------
# Appends each of the blank-separated flags that this compiler takes without a word.
# -Werror makes clang refuse the warnings that it does not know.
AC_DEFUN([XB_CC_FLAGS], [
	xb_saved_cflags=$CFLAGS
	for xb_flag in $2; do
		AC_MSG_CHECKING([whether $CC takes $xb_flag])
		CFLAGS="$xb_saved_cflags -Werror $xb_flag"
		AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
		    [AC_MSG_RESULT([yes]); AS_VAR_APPEND([$1], [" $xb_flag"])],
		    [AC_MSG_RESULT([no])])
	done
	CFLAGS=$xb_saved_cflags
])

# XB_WARNINGS
# -----------
# The warnings of this project in XB_CFLAGS; --enable-werror makes them errors in the
# build alone, never in configure's own checks.
AC_DEFUN([XB_WARNINGS], [
	XB_CC_FLAGS([XB_CFLAGS], [m4_normalize([
	    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
	    -Wwrite-strings -Wpointer-arith -Wformat=2 -Wundef -Wvla -Wcast-qual
	    -Wimplicit-fallthrough -Wlogical-op -Wduplicated-cond])])
	AC_ARG_ENABLE([werror],
	    [AS_HELP_STRING([--enable-werror], [let no compiler warning pass])],
	    [], [enable_werror=no])
	AS_IF([test "x$enable_werror" = xyes], [XB_CFLAGS="$XB_CFLAGS -Werror"])
])
