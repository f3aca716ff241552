#ifndef XB_CLIENT_WIRE_H
#define XB_CLIENT_WIRE_H

#include <stdint.h>

/*
 * Bytes of a TCP connection as its own end counts them, headers of TCP and below left out: those
 * that the other end has acknowledged, and those that came from it. 0: unknown (not TCP, or the
 * system does not tell). Only differences mean something: the handshake's bytes are in.
 */
uint64_t xb_wire_sent(int fd);
uint64_t xb_wire_received(int fd);

#endif
