# XB_COMPLETION_DIR(SHELL, DEFAULT)
# ---------------------------------
# Where the completion of one shell goes. The default lies inside the prefix, also where
# the shell's own .pc file names a system directory: an install under ~/.local must not
# write elsewhere.
AC_DEFUN([XB_COMPLETION_DIR], [
	AC_ARG_WITH([$1-completion-dir],
	    [AS_HELP_STRING([--with-$1-completion-dir=DIR], [$1 completion @<:@$2@:>@])],
	    [], [with_$1_completion_dir='$2'])
	AS_CASE([$with_$1_completion_dir],
	    [yes], [with_$1_completion_dir='$2'],
	    [no], [with_$1_completion_dir=])
	AC_SUBST([$1completiondir], [$with_$1_completion_dir])
	AM_CONDITIONAL(m4_toupper([install_$1_completion]),
	    [test -n "$with_$1_completion_dir"])
])
