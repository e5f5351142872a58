/* Names as a linker has them. */
#ifndef SONDE_UTIL_SYMBOL_H
#define SONDE_UTIL_SYMBOL_H

/*
 * The name as C++ writes it where the process holds the C++ runtime, which reads it; else, or where
 * it is no such name, the name itself. free() it; NULL: no memory.
 */
char *symbol_readable(const char *name);

#endif
