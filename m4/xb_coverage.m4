# XB_COVERAGE
# -----------
# --enable-coverage: gcov counters, for gcov or gcovr to read after `make check`.
AC_DEFUN([XB_COVERAGE], [
	AC_ARG_ENABLE([coverage],
	    [AS_HELP_STRING([--enable-coverage], [build with gcov counters])],
	    [], [enable_coverage=no])
	AS_IF([test "x$enable_coverage" = xyes], [XB_INSTRUMENT([--coverage])])
])
