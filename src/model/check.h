/* What the checks of a model share: whom a mistake is about, and the rules for one cache. */
#ifndef SONDE_MODEL_CHECK_H
#define SONDE_MODEL_CHECK_H

#include "model/read.h"

/*
 * What a check is about: a cache's own parameters, or a carve-out choice, all of whose mistakes
 * stand at one place.
 */
struct subject {
    struct reader *reader;
    const char *prefix, *place;
    uint32_t choice;
};

struct words {
    char a[32], b[32], c[32];
};

/* Notes a mistake about the parameter `key` of the subject. */
void complain(const struct subject *subject, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
const char *bytes_text(char text[32], uint64_t bytes);

/* How many of the masks are independent; they are reduced on the way. */
uint32_t masks_rank(uint64_t *rows, uint32_t count);
bool index_is_linear(const struct index_spec *index);
/* The largest aligned block of addresses that all have the same number. */
uint64_t index_grain_bytes(const struct index_spec *index, uint32_t line_bytes);
/* `what` is numbered: "sets" or "slices". */
void check_index(const struct subject *subject, const struct index_spec *index, uint32_t sets,
                 uint32_t line_bytes, const char *what);
void normalise_index(struct index_spec *index);
uint64_t cache_lines(const struct cache_spec *cache);
void check_cache(const struct subject *subject, const struct cache_spec *cache);

#endif
