#ifndef XB_TARGET_KEXINIT_H
#define XB_TARGET_KEXINIT_H

#include <stdbool.h>
#include <stddef.h>

struct xb_err;
struct xb_offer;

/* Bounds of what is believed: a longer identification, more lines before it, a larger packet or more
 * names than these are refused. RFC 4253 sections 4.2 and 6.1. */
#define XB_IDENT_MAX 255
#define XB_IDENT_LINES_MAX 1024
#define XB_IDENT_BYTES_MAX 65536
#define XB_KEXINIT_MAX 35000
#define XB_KEXINIT_NAMES_MAX 2048

/*
 * Where the parse of a server's first bytes stands. Feed grows a buffer; the parser is pure and works
 * on what is there.
 */
enum xb_kexinit_state { XB_KEXINIT_MORE, XB_KEXINIT_DONE, XB_KEXINIT_BAD };

/*
 * Parses the first bytes of a server: lines before the identification, the identification line, and
 * the first binary packet, which must be KEXINIT. MORE: complete so far, needs more bytes. DONE: offer
 * is filled (it must be all-zero before). BAD: err (XB_FAULT_TARGET) names what is wrong: "speaks
 * HTTP, not SSH", "SSH 1 only", a length that lies, a name that is not printable ASCII, ….
 */
enum xb_kexinit_state xb_kexinit_parse(const void *bytes, size_t len, struct xb_offer *offer,
    struct xb_err *err);

#endif
