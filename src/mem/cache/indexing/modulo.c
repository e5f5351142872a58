/* The number of the address's unit (by default its line) modulo the number of sets. */
#include "mem/cache/indexing/indexing.h"

static int modulo_check(const struct index_spec *index, uint32_t sets)
{
    (void)index;
    (void)sets;
    return 0;
}

static uint32_t modulo_set(const struct index_spec *index, uint32_t sets, uint32_t line_bytes,
                           uint64_t address)
{
    uint32_t unit_bytes = index->unit_bytes ? index->unit_bytes : line_bytes;
    return (uint32_t)(address / unit_bytes % sets);
}

const struct indexing_ops indexing_MODULO = {.check = modulo_check, .set = modulo_set};
