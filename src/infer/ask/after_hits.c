/*
 * Rings in a cache that keeps what was hit. Under lru_late the lines that a set's last hits used
 * stay, however many others come, until others are hit: a ring that would fit misses for good
 * beside lines of an earlier walk. So each element is read twice, in a walk of its own before the
 * one that is recorded: the second read hits, and the earlier lines are let go.
 *
 *     ring    a     b     c            recorded: a b c a b c ..
 *     before  a a'  b b'  c c'         ': the next word
 */
#include "infer/ask/walk.h"

#include <stdlib.h>

#include "util/error.h"
#include "util/sort.h"

enum { PASSES = 3 };

/* All elements and the words after them, in ascending order and each once. */
static size_t read_twice(uint32_t *out, const struct walk_shape *shape)
{
    size_t all = 0, count = 0;
    for (size_t i = 0; i < shape->count; i++) {
        out[all++] = (uint32_t)walk_offset(shape, i);
        out[all++] = (uint32_t)walk_offset(shape, i) + CHASE_WORD_BYTES;
    }
    sort_u32(out, all);
    for (size_t i = 0; i < all; i++) {
        if (count == 0 || out[count - 1] != out[i]) {
            out[count++] = out[i];
        }
    }
    return count;
}

int walk_hit_all(struct lab *lab, const struct walk_plan *plan)
{
    struct walk_plan before = *plan;
    uint32_t *twice = malloc((2 * plan->shape.count + 1) * sizeof *twice);
    struct walk walk;
    if (!twice) {
        return error_memory();
    }
    before.filler = NULL;
    before.run = plan->run + WALK_AFTER_HITS;
    before.shape = (struct walk_shape){.ring = twice, .count = read_twice(twice, &plan->shape)};
    before.warm = PASSES * before.shape.count;
    before.window = 1;
    before.windows = 1;
    int rc = walk_run(lab, &walk, &before);
    if (rc == 0) {
        walk_free(&walk);
    }
    free(twice);
    return rc;
}

static int run_after_hits(struct lab *lab, struct walk *out, const struct walk_plan *plan)
{
    struct walk_plan own = *plan;
    own.filler = NULL;
    own.run += WALK_AFTER_HITS;
    int rc = walk_hit_all(lab, plan);
    return rc ? rc : walk_run(lab, out, &own);
}

const struct walk_filler walk_after_hits = {.run = run_after_hits};
