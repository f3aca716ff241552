# XB_SANITIZE
# -----------
# --enable-sanitize: AddressSanitizer and UndefinedBehaviorSanitizer, where every finding
# ends the program, so that no test passes over one.
AC_DEFUN([XB_SANITIZE], [
	AC_ARG_ENABLE([sanitize],
	    [AS_HELP_STRING([--enable-sanitize], [build with ASan and UBSan])],
	    [], [enable_sanitize=no])
	AS_IF([test "x$enable_sanitize" = xyes], [
		XB_INSTRUMENT([-fsanitize=address,undefined])
		XB_CFLAGS="$XB_CFLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer"
	])
])

# XB_INSTRUMENT(FLAGS)
# --------------------
# Adds flags that both compiler and linker must get, or says that the toolchain has no
# runtime library for them: found out here, the linker's message would come at the end.
AC_DEFUN([XB_INSTRUMENT], [
	AC_MSG_CHECKING([whether $CC links with $1])
	xb_saved_cflags=$CFLAGS
	CFLAGS="$CFLAGS $1"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
	    [AC_MSG_RESULT([no])
	    AC_MSG_ERROR([$CC cannot link with $1; is its runtime library installed?])])
	CFLAGS=$xb_saved_cflags
	XB_CFLAGS="$XB_CFLAGS $1"
	XB_LDFLAGS="$XB_LDFLAGS $1"
])
