/*
 * Whether lines that fit in order are those of a single set, and what is told of a cache that only
 * looks like one: sets that more lines share than it has room for.
 */
#include "infer/experiments.h"
#include "infer/fit/fit.h"
#include "infer/geometry/geometry.h"

static const struct {
    unsigned few_ways;
    uint64_t page_bytes;
} limits = {
    .few_ways = 32,                  /* which no bound on the whole cache hides. Chosen */
    .page_bytes = UINT64_C(2) << 20, /* bytes in which bits of an offset are those of the address */
};

bool level_may_be_bound(const struct level *level, size_t lines)
{
    return !level->front && lines >= limits.few_ways && path_find(level->info->op)->interleave <= 1;
}

/*
 * Do as many lines fit two, four, eight .. lines apart? Of several sets some are not met then, or
 * not by as many, and of one that is bounded by something else than its ways drawn lines do not
 * tell that. As far as offsets are addresses, and not of few ways, which no bound hides.
 */
int level_is_one_set(struct level *level, bool *is, size_t lines)
{
    uint64_t reach = level->lab->options->max_footprint_bytes;
    enum fit_verdict verdict = FIT_YES;
    int rc = 0;
    *is = true;
    if (!level_may_be_bound(level, lines)) {
        return 0;
    }
    reach = reach < limits.page_bytes ? reach : limits.page_bytes;
    for (uint64_t apart = 2 * level->line.bytes; rc == 0 && *is && apart * lines <= reach;
         apart *= 2) {
        rc = fit_verdict(level, &verdict, &(struct walk_shape){.stride = apart, .count = lines});
        *is = rc || verdict != FIT_NO;
    }
    return lab_soft(rc) ? 0 : rc;
}

/*
 * One set holds as many lines wherever they lie. Where so many in order fit, and so many drawn ones
 * do not, there are more sets, and something else than these bounds the cache: then its size is the
 * longest array that fits, and of its sets nothing is known.
 */
int level_several_sets(struct level *level)
{
    struct cache_result *r = level->result;
    int rc = level_find_edge(level, level->line.bytes, 1);
    if (rc) {
        return rc;
    }
    char id[24];
    level->size_bytes = level->fit.count * level->line.bytes;
    lab_evidence(level->lab, id, level->info->id,
                 "chase op=%s: an array of %zu lines of %llu B fits, one more does not; as many "
                 "lines drawn at random do not fit: more sets than one",
                 level->info->op, level->fit.count, (unsigned long long)level->line.bytes);
    attribute_set(&r->size, (double)level->size_bytes, "B", level->fit.certain ? 0.9 : 0.7, id);
    lab_undecided(level->lab,
                  "as many lines as fit in order do not fit where they are drawn or farther "
                  "apart: there are more sets than one, which something else bounds");
    const struct refusal why = lab_refusal(level->lab);
    r->sets = r->ways = (struct attribute){0};
    attribute_refuse_open(&r->sets, "1", &why);
    attribute_refuse_open(&r->ways, "1", &why);
    r->index = (struct index_result){.refusal = why};
    return 0;
}
