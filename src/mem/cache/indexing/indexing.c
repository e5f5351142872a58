/* The table of index functions. */
#include "mem/cache/indexing/indexing.h"

#include <stddef.h>

#include "mem/mem.h"
#include "util/error.h"

static const struct indexing_ops *const kinds[INDEX_KIND_COUNT] = {
#define INDEXING(id, text, doc) [INDEX_##id] = &indexing_##id,
#include "mem/cache/indexing/indexing.def"
#undef INDEXING
};

uint32_t mem_index_set(const struct index_spec *index, uint32_t sets, uint32_t line_bytes,
                       uint64_t address)
{
    return kinds[index->kind]->set(index, sets, line_bytes, address);
}

int mem_index_check(const struct index_spec *index, uint32_t sets)
{
    if ((unsigned)index->kind >= INDEX_KIND_COUNT) {
        return error_set(SONDE_EINPUT, "index function: unknown kind %d", (int)index->kind);
    }
    if (sets == 0) {
        return error_set(SONDE_EINPUT, "index function: there must be at least one set");
    }
    return kinds[index->kind]->check(index, sets);
}
