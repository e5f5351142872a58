/*
 * The banks of L1's tags: successive segments, its lines on an H200, lie in successive banks, and a
 * load looks up one in each of them in a cycle. An H200 takes one cycle for three lines side by
 * side, two for five, and 10.6 for 32 drawn from 512, of which the fullest of four banks gets 10.6
 * (docs/h200.md, "What a load of L1 takes").
 */
#ifndef SONDE_CORE_MEMORY_TAG_BANKS_H
#define SONDE_CORE_MEMORY_TAG_BANKS_H

#include "core/memory/coalesce.h"

/*
 * Puts `count` transactions into an order in which those that are looked up in one cycle, each in
 * a bank of its own, follow each other: the first of every bank, then the second ones, and so on.
 * `banks`, up to 32, and `segment_bytes` are powers of two.
 */
void tag_banks_order(struct transaction *list, uint32_t count, uint32_t segment_bytes,
                     uint32_t banks);

static inline uint32_t tag_bank(const struct transaction *t, uint32_t segment_bytes, uint32_t banks)
{
    return (uint32_t)(t->address / segment_bytes) & (banks - 1);
}

#endif
