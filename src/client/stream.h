#ifndef XB_CLIENT_STREAM_H
#define XB_CLIENT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xb_err;
struct xb_transfer;

/* Three ways a step can end: they are not errno. */
enum xb_io { XB_IO_DONE, XB_IO_AGAIN, XB_IO_FAILED };

/* Where a stream goes. */
struct xb_sink {
	/* Takes some of the bytes and says how many. AGAIN: nothing now; the same bytes come again
	 * after wait. FAILED: err is set. */
	enum xb_io (
	    *send)(void *ctx, const void *bytes, size_t len, size_t *sent, struct xb_err *err);
	/*
	 * Waits until a retry makes sense. AGAIN: nothing moved for stall_ns. FAILED: err is set.
	 */
	enum xb_io (*wait)(void *ctx, int64_t stall_ns, struct xb_err *err);
	void *ctx;
};

/* Where a download comes from. */
struct xb_source {
	/* Receives some bytes and says how many; 0 with DONE: the end of the source. AGAIN: nothing
	 * now. FAILED: err is set. The bytes may be thrown away. */
	enum xb_io (*receive)(void *ctx, size_t *received, struct xb_err *err);
	/*
	 * Waits until a retry makes sense. AGAIN: nothing moved for stall_ns. FAILED: err is set.
	 */
	enum xb_io (*wait)(void *ctx, int64_t stall_ns, struct xb_err *err);
	void *ctx;
};

/*
 * The loop of every in-process download: takes from the source until the time-box or the size is
 * used up, whichever is first, counting what came: at least one byte. Of the piece in which the
 * size is reached no more than the size counts. A source that ends before both is an error that
 * names its count; with expected (the source's length, 0: it has none) its end at exactly that many
 * bytes is the end of the transfer. A source that gives nothing for stall_ns is an error as well.
 */
bool xb_stream_download(const struct xb_transfer *transfer, const struct xb_source *source,
    uint64_t expected, uint64_t *bytes, struct xb_err *err);

/*
 * The loop of every in-process upload: payload into the sink until the time-box or the size is used
 * up, whichever is first, counting what the sink took: at least one piece. Bytes that the sink has
 * half-taken (AGAIN) are always finished. A sink that takes nothing for stall_ns is an error that
 * names how far it came.
 */
bool xb_stream_upload(const struct xb_transfer *transfer, const struct xb_sink *sink,
    uint64_t *bytes, struct xb_err *err);

#endif
