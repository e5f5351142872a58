/*
 * What misses of the outermost cache look like where loads are dear, without an array that it does
 * not hold: memory that no walk has read is in no cache. Blocks of it, far enough apart that they
 * are at home in all parts and banks, are walked word by word, once.
 *
 * How much fits is another question: of ever longer arrays all lines are touched, and a stretch of
 * them is walked line by line. An array so long that this is dear itself is taken for the first
 * that does not fit; what goes by that tells it from measurements of its own (large/).
 */
#include "infer/presence/unread.h"

#include <math.h>
#include <stdlib.h>

#include "util/error.h"

/* Thresholds. Fixed by: blind trials (tests/blind --draw wide), where a member names nothing else.
 */
static const struct {
    unsigned blocks, block_words, stride, records;
    double missed;
    uint64_t begin, apart, least_bytes, longest_bytes, cold_bytes;
} limits = {
    .blocks = 16,                     /* windows: home parts and banks by chance */
    .block_words = 512,               /* words of a window: fetch units up to 2 KiB show. Chosen */
    .begin = UINT64_C(37) << 20,      /* bytes: nobody has walked so far. Chosen */
    .apart = UINT64_C(17) << 12,      /* bytes from block to block: no power of two */
    .least_bytes = UINT64_C(4) << 20, /* bytes: a longer array is dear to lay out word by word;
                                         shorter ones show what other parts hold, too */
    .stride = 128,                    /* bytes from load to load of what was touched */
    .records = 4096,                  /* loads of the window there. Chosen */
    .longest_bytes = UINT64_C(16) << 20, /* bytes: a longer one is not touched. Chosen */
    .missed = 0.35,                      /* share of its loads: as reference.c has it */
    .cold_bytes = 4096,                  /* bytes: the least that a cold walk reads before */
};

bool unread_applies(const struct level *level, uint64_t bytes)
{
    uint64_t end = limits.begin + limits.blocks * limits.apart;
    return level->outermost && level->lab->options->max_cache_loads && bytes > limits.least_bytes &&
           level->max_window >= limits.block_words &&
           level->lab->options->max_footprint_bytes >= end;
}

int unread_walk(struct level *level, struct unread *out)
{
    size_t count = (size_t)limits.blocks * limits.block_words;
    *out = (struct unread){.ring = malloc(count * sizeof *out->ring)};
    if (!out->ring) {
        return error_memory();
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t block = i / limits.block_words, word = i % limits.block_words;
        out->ring[i] = (uint32_t)(limits.begin + block * limits.apart + word * CHASE_WORD_BYTES);
    }
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.ring = out->ring, .count = count});
    plan.window = limits.block_words;
    plan.windows = limits.blocks;
    plan.cold_bytes = limits.cold_bytes;
    int rc = walk_run(level->lab, &out->walk, &plan);
    if (rc) {
        free(out->ring);
        out->ring = NULL;
    }
    return rc;
}

void unread_free(struct unread *unread)
{
    walk_free(&unread->walk);
    free(unread->ring);
}

int unread_array(struct level *level, enum unread_array *out, uint64_t bytes)
{
    *out = UNREAD_DEAR;
    if (bytes > limits.longest_bytes) {
        return 0;
    }
    struct walk_plan plan =
        level_plan(level, (struct walk_shape){.stride = limits.stride,
                                              .count = (size_t)(bytes / limits.stride)});
    plan.touch = true;
    plan.touch_stride = limits.stride;
    plan.window = level->max_window < limits.records ? level->max_window : limits.records;
    struct sample walked;
    int rc = walk_sample(level->lab, &walked, &plan);
    if (rc == 0) {
        double missed = sample_share(&walked, level->timing.threshold, INFINITY);
        *out = missed < limits.missed ? UNREAD_FITS : UNREAD_MISSES;
        sample_free(&walked);
    }
    *out = rc ? UNREAD_REFUSED : *out;
    return lab_soft(rc) ? 0 : rc;
}
