/*
 * Does a path lead through a cache that another path has shown already? This path reads some lines.
 * Then the other path reads four times what its cache holds. Then this path looks for the lines.
 * Where most are gone the cache is the same one: its geometry, set index and policy are taken over.
 * The path's latencies and fetch unit are measured.
 *
 * A path of short reach, as of constants, cannot evict the lines of a large cache. Then the path is
 * examined for itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/presence/presence.h"
#include "infer/device/sharing.h"
#include "util/error.h"

/* Thresholds. Fixed by: an H200 (100, 100 and 97 % of the lines gone), where a member does not say
 * that it was chosen. */
static const struct {
    unsigned lines, apart, times;
    double gone;
    uint64_t most_bytes;
} limits = {
    .lines = 16,   /* lines that are looked for. Chosen */
    .apart = 4224, /* bytes: more than a line, and other sets. Chosen */
    .gone =
        0.6, /* share of the lines: two are read again before the record, and chance keeps some */
    .times = 4,                      /* times what fits, read by the other path */
    .most_bytes = UINT64_C(8) << 20, /* bytes that the other path may read. Chosen */
};

/* Does the path of `by` drive out lines that this path has read? */
static int drives_out(struct level *level, bool *gone, const struct level_summary *by)
{
    const struct path_info *own = path_find(level->info->op), *other = path_find(by->info->op);
    uint64_t bytes = limits.times * by->fit.count * by->fit.stride;
    struct walk_shape shape = {.stride = limits.apart / own->interleave / 4 * 4,
                               .count = limits.lines};
    double kept = 1, missing = 0;
    *gone = false;
    if (bytes > limits.most_bytes || (other->reach_bytes && bytes > other->reach_bytes)) {
        return 0;
    }
    const struct sharing_path of = {level->info, &level->timing, level->repeats};
    int rc = sharing_look(level->lab, &kept, &of, &shape, NULL, 0);
    if (rc == 0 && kept == 0) {
        rc = sharing_look(level->lab, &missing, &of, &shape, other, bytes);
    }
    *gone = rc == 0 && missing >= limits.gone;
    return lab_soft(rc) ? 0 : rc;
}

static void adopt_attribute(struct attribute *own, const struct attribute *from, const char *id)
{
    *own = *from;
    if (own->status == ATTRIBUTE_MEASURED) {
        own->confidence *= 0.97;
        snprintf(own->evidence, sizeof own->evidence, "%s", id);
    }
}

/* Takes over what the other path has shown. */
static int adopt(struct level *level, const struct level_summary *of,
                 const struct cache_result *from)
{
    struct cache_result *r = level->result;
    const struct path_info *own = path_find(level->info->op);
    char id[24];
    lab_evidence(
        level->lab, id, level->info->id,
        "chase op=%s: when op=%s has read four times what fits into %s, the lines are gone: it "
        "is that cache, whose geometry is taken from there",
        level->info->op, of->info->op, of->info->id);
    adopt_attribute(&r->size, &from->size, id);
    adopt_attribute(&r->line, &from->line, id);
    adopt_attribute(&r->sets, &from->sets, id);
    adopt_attribute(&r->ways, &from->ways, id);
    r->policy = from->policy;
    r->index = from->index;
    memcpy(r->ways_per_set, from->ways_per_set, sizeof r->ways_per_set);
    r->ways_per_set_count = from->ways_per_set_count;
    if (level->info->shared_bytes) {
        attribute_set(&r->carveout_shared, level->info->shared_bytes, "B", 1, id);
    }
    level->same_as = of->info->id;
    level->line.bytes = of->line.bytes;
    level->fit.stride = own->interleave > 1 ? level->timing.fetch_bytes : of->fit.stride;
    level->fit.count = own->interleave > 1
                           ? (size_t)(from->size.value / (double)(own->interleave * 4))
                           : of->fit.count;
    if (own->interleave > 1 || !of->conflict.count) {
        return 0;
    }
    level->conflict.offsets = malloc(of->conflict.count * sizeof *level->conflict.offsets);
    if (!level->conflict.offsets) {
        return error_memory();
    }
    memcpy(level->conflict.offsets, of->conflict.offsets,
           of->conflict.count * sizeof *level->conflict.offsets);
    level->conflict.count = of->conflict.count;
    return 0;
}

int level_find_same(struct level *level)
{
    const struct lab *lab = level->lab;
    for (size_t i = 0; i < lab->level_count; i++) {
        const struct level_summary *of = &lab->levels[i];
        const struct cache_result *from = &lab->out->caches[i];
        bool gone = false,
             whole = from->sets.status == ATTRIBUTE_MEASURED || from->ways_per_set_count;
        if (!of->known || !of->fit.count || of->info->behind[0] || !whole ||
            from->line.status != ATTRIBUTE_MEASURED || path_find(of->info->op)->interleave > 1 ||
            strcmp(of->info->op, level->info->op) == 0) {
            continue;
        }
        int rc = drives_out(level, &gone, of);
        if (rc || gone) {
            return rc ? rc : adopt(level, of, from);
        }
    }
    return 0;
}
