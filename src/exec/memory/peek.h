/* Reading a thread's memory by generic address outside of loads: what system calls are handed. */
#ifndef SONDE_EXEC_PEEK_H
#define SONDE_EXEC_PEEK_H

#include "exec/exec.h"
#include "util/container/strbuf.h"

/* False if not all of the bytes can be read by that lane's thread. */
bool peek_bytes(const struct exec_warp *warp, uint32_t lane, uint64_t address, void *to,
                uint32_t bytes);

/* The same for writing; of what is not the thread's to write, kernel parameters too. */
bool poke_bytes(const struct exec_warp *warp, uint32_t lane, uint64_t address, const void *from,
                uint32_t bytes);

enum peek_result { PEEK_DONE, PEEK_UNREADABLE, PEEK_TOO_LONG, PEEK_NO_MEMORY };

/*
 * Appends a text of units of 1, 2 or 4 bytes that ends with a zero, or after `units_max` units.
 * Units beyond ASCII of wide texts become '?'. PEEK_TOO_LONG: more than `limit` units.
 */
enum peek_result peek_text(struct strbuf *out, const struct exec_warp *warp, uint32_t lane,
                           uint64_t address, uint32_t unit_bytes, uint64_t units_max,
                           uint64_t limit);

#endif
