/* The table of miss structures. */
#include "mem/cache/miss/miss.h"

#include <stddef.h>

static const struct miss_ops *const kinds[MISS_KIND_COUNT] = {
#define MISS(id, text, doc) [MISS_##id] = &miss_##id,
#include "mem/cache/miss/miss.def"
#undef MISS
};

const struct miss_ops *miss_ops_of(enum miss_kind kind)
{
    return (unsigned)kind < MISS_KIND_COUNT ? kinds[kind] : NULL;
}
