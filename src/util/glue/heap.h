/*
 * A program's heap, of which the C library's allocator cuts blocks. It is the program's: the
 * command and the benchmarks ask, a library in somebody else's program does not.
 */
#ifndef SONDE_UTIL_HEAP_H
#define SONDE_UTIL_HEAP_H

/* At the start of a program, before threads: what is to lie on the heap takes fewer pages. Nothing
 * changes where the system or a sanitizer does not have it so. */
void heap_in_huge_pages(void);

#endif
