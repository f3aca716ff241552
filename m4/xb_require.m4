# XB_REQUIRE(VARIABLE, MODULE-SPEC, DEBIAN-PACKAGE)
# -------------------------------------------------
# Finds a library that xferbench cannot do without and appends it to XB_LIBS_CFLAGS and
# XB_LIBS. The refusal names the package, because the name of a .pc file seldom does.
AC_DEFUN([XB_REQUIRE], [
	PKG_CHECK_MODULES([$1], [$2], [], [AC_MSG_ERROR([$2 was not found.
Debian calls the package $3; scripts/quickstart knows the names of other systems.
]m4_newline()$[]$1[]_PKG_ERRORS)])
	XB_LIBS_CFLAGS="$XB_LIBS_CFLAGS $$1_CFLAGS"
	XB_LIBS="$XB_LIBS $$1_LIBS"
])
