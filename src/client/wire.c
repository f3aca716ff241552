#include "client/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* The library wants its own calls' manner: the error with its sign, and EAGAIN alone for "later". */
static ssize_t
result_of(ssize_t n)
{
	if (n >= 0)
		return n;
	return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

/* LIBSSH2_CALLBACK_SEND, libssh2_session_callback_set(3). */
static ssize_t
count_send(libssh2_socket_t fd, const void *bytes, size_t len, int flags, void **abstract)
{
	struct xb_wire *wire = *abstract;
	ssize_t n = send(fd, bytes, len, flags);

	if (n > 0)
		wire->sent += (uint64_t)n;
	return result_of(n);
}

/* LIBSSH2_CALLBACK_RECV, likewise. */
static ssize_t
count_receive(libssh2_socket_t fd, void *bytes, size_t len, int flags, void **abstract)
{
	struct xb_wire *wire = *abstract;
	ssize_t n = recv(fd, bytes, len, flags);

	if (n > 0)
		wire->received += (uint64_t)n;
	return result_of(n);
}

/* 1.11.1 has a call that takes a function, where the older one takes an object's pointer. */
static void
set(LIBSSH2_SESSION *session, int which, void (*function)(void))
{
#if LIBSSH2_VERSION_NUM >= 0x010b01
	libssh2_session_callback_set2(session, which, (libssh2_cb_generic *)function);
#else
	void *pointer;

	_Static_assert(sizeof(pointer) == sizeof(function), "POSIX, dlsym");
	memcpy(&pointer, &function, sizeof(pointer));
	libssh2_session_callback_set(session, which, pointer);
#endif
}

void
xb_wire_count(LIBSSH2_SESSION *session)
{
	set(session, LIBSSH2_CALLBACK_SEND, (void (*)(void))count_send);
	set(session, LIBSSH2_CALLBACK_RECV, (void (*)(void))count_receive);
}
