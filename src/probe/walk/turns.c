/*
 * A ring that passes each offset twice, once in each half, in another order. The words of one
 * thread's local memory lie in lines of their own, so a word holds both of its successors:
 *
 *     31        18 17 16 15          2 1 0
 *      offset / 4   0  f  offset / 4   0 f      in the second turn, in the first
 *
 * `f` says that the successor is the first of the other turn. The kernel keeps which turn it is.
 */
#include <stdlib.h>

#include "probe/live.h"
#include "util/error.h"
#include "util/sort.h"

enum { TURN_BITS = 16, OTHER_TURN = 1, OFFSET_MASK = 0xfffc };

/* Where the walk goes, as half a word says it. */
static uint32_t half_word(const struct walk *walk, uint64_t position)
{
    bool begins = position % (walk->count / 2) == 0;
    return (uint32_t)walk_offset(walk, position) | (begins ? OTHER_TURN : 0);
}

static bool is_second(const struct walk *walk, uint64_t position)
{
    return position % walk->count >= walk->count / 2;
}

uint32_t turns_start(const struct walk *walk, uint64_t position)
{
    return (uint32_t)walk_offset(walk, position) | (is_second(walk, position) ? OTHER_TURN : 0);
}

uint32_t turns_next(const struct walk *walk, uint64_t position, uint32_t word)
{
    return word >> (is_second(walk, position) ? TURN_BITS : 0) & OFFSET_MASK;
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return order_u64(*x, *y);
}

/* The positions of one half in the order of their offsets: an offset above its position. */
static void sort_half(uint64_t *out, const struct walk *walk, uint64_t first)
{
    uint64_t half = walk->count / 2;
    for (uint64_t i = 0; i < half; i++) {
        out[i] = walk_offset(walk, first + i) << 32 | (first + i);
    }
    qsort(out, half, sizeof(*out), compare_words);
}

/* The positions of each offset, in both halves; owned by the caller. */
static int sort_halves(uint64_t **out, const struct walk *walk)
{
    *out = malloc((walk->count + 1) * sizeof(**out));
    if (!*out) {
        return error_memory();
    }
    sort_half(*out, walk, 0);
    sort_half(*out + walk->count / 2, walk, walk->count / 2);
    return SONDE_OK;
}

int turns_check(const struct walk *walk)
{
    uint64_t half = walk->count / 2, *sorted = NULL;
    bool alike = walk->ring && walk->count > 0 && walk->count % 2 == 0 &&
                 walk_extent(walk) <= UINT64_C(1) << TURN_BITS;
    int rc = alike ? sort_halves(&sorted, walk) : SONDE_OK;
    for (uint64_t i = 0; rc == 0 && i < half && alike; i++) {
        uint64_t offset = sorted[i] >> 32;
        alike = offset % walk->width == 0 && offset == sorted[half + i] >> 32 &&
                (i == 0 || offset != sorted[i - 1] >> 32);
    }
    free(sorted);
    return rc || alike ? rc
                       : error_set(SONDE_EUSAGE,
                                   "turns=2 needs a ring whose halves have the same offsets, each "
                                   "once, multiples of %u below 65536",
                                   walk->width);
}

/* The words in the order of the first turn, behind where the walk begins. */
static void fill_words(uint32_t *words, const struct walk *walk, const uint64_t *sorted)
{
    uint64_t half = walk->count / 2;
    words[0] = (uint32_t)walk_offset(walk, 0);
    for (uint64_t i = 0; i < half; i++) {
        uint64_t at = (uint32_t)sorted[i], again = (uint32_t)sorted[half + i];
        words[at + 1] = half_word(walk, at + 1) | half_word(walk, again + 1) << TURN_BITS;
    }
}

int turns_stage(struct probe_live *live, const struct walk *walk)
{
    uint64_t count = walk->count / 2 + 1, *sorted = NULL;
    uint32_t *words = malloc(count * sizeof(*words));
    if (!words) {
        return error_memory();
    }
    int rc = sort_halves(&sorted, walk);
    if (rc == 0) {
        fill_words(words, walk, sorted);
        rc = buffer_reserve(live, &live->staging, count * 4, 4096);
    }
    rc = rc < 0 ? rc : device_copy_to(live->device, live->staging.address, words, count * 4);
    free(sorted);
    free(words);
    return rc;
}
