/* Names as a linker has them. */
#ifndef SONDE_UTIL_SYMBOL_H
#define SONDE_UTIL_SYMBOL_H

#include <stddef.h>

/*
 * The name as C++ writes it where the process holds the C++ runtime, which reads it; else, or where
 * it is no such name, the name itself. free() it; NULL: no memory.
 */
char *symbol_readable(const char *name);

/* Takes `name` over, as symbol_readable() has it, and gives it without its parameters and what it
 * returns: "named<64>". free() it; NULL: as name. */
char *symbol_bare(char *name);

/*
 * Takes `name` over, as symbol_readable() has it, and gives one of at most `most` bytes for a line
 * on a terminal: a longer one loses first its parameters and what it returns, then the end of its
 * template arguments ("sort<int, thrust...>"), and last its own end. free() it; NULL: as name, or
 * no memory. `most` is at least 8.
 */
char *symbol_brief(char *name, size_t most);

#endif
