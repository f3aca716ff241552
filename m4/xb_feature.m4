# XB_FEATURE(NAME, VARIABLE, MODULE-SPEC, PURPOSE)
# ------------------------------------------------
# A library that adds something: --with-NAME=auto uses it where it is found, yes fails
# without it, no never looks. Sets xb_with_NAME to what was decided.
AC_DEFUN([XB_FEATURE], [
	AC_ARG_WITH([$1],
	    [AS_HELP_STRING([--with-$1=yes|no|auto], [$4 @<:@auto@:>@])],
	    [], [with_$1=auto])
	AS_CASE([$with_$1], [yes|no|auto], [],
	    [AC_MSG_ERROR([--with-$1 takes yes, no or auto, not "$with_$1"])])
	xb_with_$1=no
	AS_IF([test "x$with_$1" != xno], [
		PKG_CHECK_MODULES([$2], [$3], [xb_with_$1=yes], [
			AS_IF([test "x$with_$1" = xyes],
			    [AC_MSG_ERROR([--with-$1 was asked for, but $3 was not found])])
		])
	])
])

# XB_PROGRAM(NAME, VARIABLE, PURPOSE)
# -----------------------------------
# The same three answers for a program that only the tests need.
AC_DEFUN([XB_PROGRAM], [
	AC_ARG_WITH([$1],
	    [AS_HELP_STRING([--with-$1=yes|no|auto], [$3 @<:@auto@:>@])],
	    [], [with_$1=auto])
	AS_CASE([$with_$1], [yes|no|auto], [],
	    [AC_MSG_ERROR([--with-$1 takes yes, no or auto, not "$with_$1"])])
	AC_ARG_VAR([$2], [the $1 program])
	xb_with_$1=no
	AS_IF([test "x$with_$1" != xno], [
		AC_PATH_PROG([$2], [$1])
		AS_IF([test -n "$$2"], [xb_with_$1=yes],
		    [test "x$with_$1" = xyes],
		    [AC_MSG_ERROR([--with-$1 was asked for, but there is no $1 in PATH])])
	])
])
