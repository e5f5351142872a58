/* Choosing and searching the tables of lane loops. */
#include "exec/lane/lanes.h"

/* All that the targets of *_avx2.c name. lzcnt is not among them: where it is missing it is taken
 * for another instruction, and clang 14 cannot ask for it. */
bool lanes_have_avx2(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}

bool lanes_have_avx512(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return lanes_have_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

const struct lane_table *lanes_table(void)
{
    return lanes_avx512.count && lanes_have_avx512() ? &lanes_avx512 : lanes_timed_table();
}

const struct lane_table *lanes_timed_table(void)
{
    return lanes_avx2.count && lanes_have_avx2() ? &lanes_avx2 : &lanes_portable;
}

/* What runs for an entry of the table. */
static lane_fn *loop_of(const struct lane_table *table, const struct lane_entry *entry)
{
    for (const struct lane_entry *own = table->special; own && own->op != OP_COUNT; own++)
        if (own->op == entry->op && own->d == entry->d && own->s == entry->s)
            return own->fn;
    return entry->fn;
}

lane_fn *lanes_find(const struct lane_table *table, enum isa_op op, enum isa_type d,
                    enum isa_type s, const struct lane_entry **found)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->entries[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < table->count && table->entries[i].op == op; i++) {
        const struct lane_entry *entry = &table->entries[i];
        if ((d != TYPE_NONE && entry->d != d) || (s != TYPE_NONE && entry->s != s))
            continue;
        if (found)
            *found = entry;
        return loop_of(table, entry);
    }
    return NULL;
}

/* Bits compare as unsigned numbers; lo, ls, hi, hs are the unsigned spellings of lt, le, gt, ge. */
lane_compare *lanes_find_compare(const struct lane_table *table, enum isa_mod cmp,
                                 enum isa_type type)
{
    switch (cmp) {
    case MOD_CMP_lo:
        cmp = MOD_CMP_lt;
        break;
    case MOD_CMP_ls:
        cmp = MOD_CMP_le;
        break;
    case MOD_CMP_hi:
        cmp = MOD_CMP_gt;
        break;
    case MOD_CMP_hs:
        cmp = MOD_CMP_ge;
        break;
    default:
        break;
    }
    switch (type) {
    case TYPE_b16:
        type = TYPE_u16;
        break;
    case TYPE_b32:
        type = TYPE_u32;
        break;
    case TYPE_b64:
        type = TYPE_u64;
        break;
    default:
        break;
    }
    const struct lane_compare_entry *special = table->special_compares;
    for (; special && special->fn; special++)
        if (special->cmp == cmp && special->type == type)
            return special->fn;
    for (size_t i = 0; i < table->compare_count; i++) {
        const struct lane_compare_entry *entry = &table->compares[i];
        if (entry->cmp == cmp && entry->type == type)
            return entry->fn;
    }
    return NULL;
}
