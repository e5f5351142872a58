/*
 * An arena: memory that is allocated piece by piece while something is built and freed all at once.
 * Modules, models, launches each own one. Pointers stay valid until arena_destroy().
 */
#ifndef SONDE_UTIL_ARENA_H
#define SONDE_UTIL_ARENA_H

#include <stddef.h>

struct arena;

/* NULL when memory is out. */
struct arena *arena_create(void);
void arena_destroy(struct arena *arena); /* NULL is allowed */

/* Zeroed, aligned to 16 bytes; never NULL for size 0. NULL when memory is out. */
void *arena_alloc(struct arena *arena, size_t size_bytes);

/* The same for `count` elements; NULL also when the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t element_bytes);

/* Copies with a terminating zero. arena_strndup stops at a zero byte within `length`. */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Bytes handed out so far, alignment included. */
size_t arena_used(const struct arena *arena);

#endif
