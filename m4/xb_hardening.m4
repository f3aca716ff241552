# XB_HARDENING
# ------------
# Stack protector and glibc's checked string functions. _FORTIFY_SOURCE is decided by the
# preprocessor instead of here: without optimisation glibc warns about it, distributions
# preset it, the sanitizers do the same job better, and CFLAGS may change after configure.
AC_DEFUN([XB_HARDENING], [
	XB_CC_FLAGS([XB_CFLAGS], [-fstack-protector-strong])
	AH_BOTTOM([
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XB_SANITIZED_BUILD 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define XB_SANITIZED_BUILD 1
#endif
#if defined(__OPTIMIZE__) && !defined(_FORTIFY_SOURCE) && !defined(XB_SANITIZED_BUILD)
#define _FORTIFY_SOURCE 2
#endif])
])
