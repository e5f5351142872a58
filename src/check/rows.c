/* The loops of rows.h, written once and compiled for the vectors of several processors. */
#include "check/rows.h"

#include "exec/lane/lanes.h"

#define BODY __attribute__((always_inline)) static inline

BODY bool read_words(const struct watched_cta *cta, uint32_t *word, uint32_t count)
{
    uint32_t tag = cta->launch->tag, block = cta->number & BLOCK_MASK, slow = 0;
    uint32_t mine = tag << TAG_SHIFT | READ | ALL_BYTES | block;
    uint32_t several = tag << TAG_SHIFT | READ_BY_SEVERAL | ALL_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = word[i] & KIND_MASK, fresh = word[i] >> TAG_SHIFT != tag || !kind;
        slow |= (fresh ^ 1) & (kind > READ_BY_SEVERAL) & ((word[i] & BLOCK_MASK) != block);
    }
    if (slow)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = word[i], kind = before & KIND_MASK;
        uint32_t fresh = before >> TAG_SHIFT != tag || !kind;
        uint32_t other = kind == READ && (before & BLOCK_MASK) != block;
        uint32_t next = other ? several : before | ALL_BYTES;
        word[i] = fresh ? mine : next;
    }
    return true;
}

BODY bool write_words(const struct watched_cta *cta, uint32_t *word, uint32_t count)
{
    uint32_t tag = cta->launch->tag, block = cta->number & BLOCK_MASK, slow = 0;
    uint32_t mine = tag << TAG_SHIFT | WRITTEN | ALL_BYTES | block;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = word[i] & KIND_MASK, fresh = word[i] >> TAG_SHIFT != tag || !kind;
        uint32_t several = (kind == READ_BY_SEVERAL) | (kind == ATOMIC_BY_SEVERAL);
        slow |= (fresh ^ 1) & (several | ((word[i] & BLOCK_MASK) != block));
    }
    if (slow)
        return false;
    for (uint32_t i = 0; i < count; i++)
        word[i] = mine;
    return true;
}

BODY bool load_granules(const struct watched_cta *cta, uint32_t first, const struct calm *c,
                        uint32_t pc)
{
    const uint32_t *restrict writes = cta->writes + first, *restrict atomics = cta->atomics + first;
    uint32_t *restrict reads = cta->reads + first, *restrict pcs = cta->read_pcs + first;
    uint32_t limit = c->limit, begin = cta->begin, me = c->me, bad = 0;
    uint32_t count = WARP_LANES * c->each;
    int lane_shift = __builtin_ctz(c->each); /* elements are of 1, 2, 4... granules */
    for (uint32_t i = 0; i < count; i++)
        bad |= (writes[i] > limit) | (atomics[i] > limit) |
               ((writes[i] < begin) & (atomics[i] < begin)) |
               ((reads[i] > limit) & ((reads[i] ^ me) >> WARP_SHIFT != 0));
    if (bad)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        reads[i] = me | i >> lane_shift;
        pcs[i] = pc;
    }
    return true;
}

BODY bool store_granules(const struct watched_cta *cta, uint32_t first, const struct calm *calm,
                         uint32_t pc)
{
    const struct calm c = *calm;
    uint32_t bad = 0, count = WARP_LANES * c.each;
    uint32_t *restrict writes = cta->writes + first, *restrict pcs = cta->write_pcs + first;
    const uint32_t *restrict atomics = cta->atomics + first, *restrict reads = cta->reads + first,
                             *restrict more = cta->more_reads + first;
    int lane_shift = __builtin_ctz(c.each);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = i >> lane_shift;
        bad |= 1 ^ (is_calm(&c, writes[i], lane) & is_calm(&c, atomics[i], lane) &
                    is_calm(&c, reads[i], lane) & is_calm(&c, more[i], lane));
    }
    if (bad)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        writes[i] = c.me | i >> lane_shift;
        pcs[i] = pc;
    }
    return true;
}

/* note_read() of shared.c for a row, without a branch. */
BODY bool load_settled_granules(const struct watched_cta *cta, uint32_t first, uint32_t count,
                                uint32_t several, const struct calm *c, uint32_t pc)
{
    const uint32_t *restrict writes = cta->writes + first, *restrict atomics = cta->atomics + first;
    uint32_t *restrict reads = cta->reads + first, *restrict more = cta->more_reads + first;
    uint32_t *restrict pcs = cta->read_pcs + first;
    uint32_t limit = c->limit, begin = cta->begin, me = c->me | several, bad = 0;
    for (uint32_t i = 0; i < count; i++)
        bad |= (writes[i] < begin) | (writes[i] > limit) | (atomics[i] > limit);
    if (bad)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t read = reads[i], other = more[i], mine = me | i;
        uint32_t own = -(uint32_t)((warp_of(read) == warp_of(me)) | (read <= limit));
        uint32_t second = -(uint32_t)((warp_of(other) == warp_of(me)) | (other <= limit)) & ~own;
        uint32_t met = ((read ^ me) >> WARP_SHIFT == 0) & (read != mine);
        uint32_t met_other = ((other ^ me) >> WARP_SHIFT == 0) & (other != mine);
        reads[i] = (own & (mine | met * SEVERAL)) | (~own & read);
        pcs[i] = (own & pc) | (~own & pcs[i]);
        more[i] = (second & (mine | met_other * SEVERAL)) | (~second & other);
    }
    return true;
}

/* The same for granules anywhere: what they become is worked out for all of them first. */
BODY bool load_listed_granules(const struct watched_cta *cta, const struct row_list *list,
                               const struct calm *c, uint32_t pc)
{
    uint32_t now[WARP_LANES], now_pc[WARP_LANES], now_more[WARP_LANES];
    const uint32_t *writes = cta->writes, *atomics = cta->atomics, *granule = list->granule;
    const uint32_t *reads = cta->reads, *more = cta->more_reads, *pcs = cta->read_pcs;
    uint32_t limit = c->limit, begin = cta->begin, me = c->me, count = list->count, bad = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t write = writes[granule[i]];
        bad |= (write < begin) | (write > limit) | (atomics[granule[i]] > limit);
    }
    if (bad)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t read = reads[granule[i]], other = more[granule[i]], mine = list->record[i];
        uint32_t own = -(uint32_t)((warp_of(read) == warp_of(me)) | (read <= limit));
        uint32_t second = -(uint32_t)((warp_of(other) == warp_of(me)) | (other <= limit)) & ~own;
        uint32_t met = ((read ^ me) >> WARP_SHIFT == 0) & (read != mine);
        uint32_t met_other = ((other ^ me) >> WARP_SHIFT == 0) & (other != mine);
        now[i] = (own & (mine | met * SEVERAL)) | (~own & read);
        now_pc[i] = (own & pc) | (~own & pcs[granule[i]]);
        now_more[i] = (second & (mine | met_other * SEVERAL)) | (~second & other);
    }
    for (uint32_t i = 0; i < count; i++) {
        cta->reads[granule[i]] = now[i];
        cta->read_pcs[granule[i]] = now_pc[i];
        cta->more_reads[granule[i]] = now_more[i];
    }
    return true;
}

BODY bool store_listed_granules(const struct watched_cta *cta, const struct row_list *list,
                                const struct calm *calm, uint32_t pc)
{
    const struct calm c = *calm;
    const uint32_t *writes = cta->writes, *atomics = cta->atomics, *reads = cta->reads,
                   *more = cta->more_reads, *granule = list->granule;
    uint32_t count = list->count, bad = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t g = granule[i], lane = list->record[i];
        bad |= 1 ^ (is_calm(&c, writes[g], lane) & is_calm(&c, atomics[g], lane) &
                    is_calm(&c, reads[g], lane) & is_calm(&c, more[g], lane));
    }
    if (bad)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        cta->writes[granule[i]] = list->record[i];
        cta->write_pcs[granule[i]] = pc;
    }
    return true;
}

/* The table NAME of all of them, compiled for TARGET. */
#define ROWS_FOR(NAME, TARGET)                                                                     \
    TARGET static bool NAME##_read(const struct watched_cta *cta, uint32_t *word, uint32_t count)  \
    {                                                                                              \
        return read_words(cta, word, count);                                                       \
    }                                                                                              \
    TARGET static bool NAME##_write(const struct watched_cta *cta, uint32_t *word, uint32_t count) \
    {                                                                                              \
        return write_words(cta, word, count);                                                      \
    }                                                                                              \
    TARGET static bool NAME##_load(const struct watched_cta *cta, uint32_t first,                  \
                                   const struct calm *c, uint32_t pc)                              \
    {                                                                                              \
        return load_granules(cta, first, c, pc);                                                   \
    }                                                                                              \
    TARGET static bool NAME##_store(const struct watched_cta *cta, uint32_t first,                 \
                                    const struct calm *c, uint32_t pc)                             \
    {                                                                                              \
        return store_granules(cta, first, c, pc);                                                  \
    }                                                                                              \
    TARGET static bool NAME##_settled(const struct watched_cta *cta, uint32_t first,               \
                                      uint32_t count, uint32_t several, const struct calm *c,      \
                                      uint32_t pc)                                                 \
    {                                                                                              \
        return load_settled_granules(cta, first, count, several, c, pc);                           \
    }                                                                                              \
    TARGET static bool NAME##_listed(const struct watched_cta *cta, const struct row_list *list,   \
                                     const struct calm *c, uint32_t pc)                            \
    {                                                                                              \
        return load_listed_granules(cta, list, c, pc);                                             \
    }                                                                                              \
    TARGET static bool NAME##_put(const struct watched_cta *cta, const struct row_list *list,      \
                                  const struct calm *c, uint32_t pc)                               \
    {                                                                                              \
        return store_listed_granules(cta, list, c, pc);                                            \
    }                                                                                              \
    static const struct row_table NAME = {                                                         \
        NAME##_read,    NAME##_write,  NAME##_load, NAME##_store,                                  \
        NAME##_settled, NAME##_listed, NAME##_put};

ROWS_FOR(rows_portable, )

#if defined(__x86_64__) && defined(__GNUC__)
#define FEATURES_AVX2 "avx2,bmi,bmi2,popcnt"
#define FEATURES_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt"

ROWS_FOR(rows_avx2, __attribute__((target(FEATURES_AVX2))))
ROWS_FOR(rows_avx512, __attribute__((target(FEATURES_AVX512))))

const struct row_table *rows_at(uint32_t index)
{
    const struct row_table *const tables[] = {&rows_portable, lanes_have_avx2() ? &rows_avx2 : NULL,
                                              lanes_have_avx512() ? &rows_avx512 : NULL};
    return index < sizeof tables / sizeof *tables ? tables[index] : NULL;
}
#else
const struct row_table *rows_at(uint32_t index)
{
    return index == 0 ? &rows_portable : NULL;
}
#endif

const struct row_table *rows_best(void)
{
    const struct row_table *best = rows_at(0);
    for (uint32_t i = 1; rows_at(i); i++)
        best = rows_at(i);
    return best;
}
