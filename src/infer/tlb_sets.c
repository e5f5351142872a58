/*
 * The sets of a level of translation. One page more than fits makes one set overflow, and under a
 * policy that thrashes all of its pages miss, one more than it has entries. Page after page more
 * then makes set after set overflow; the pages that newly miss are the next set's. When the sets
 * found so add up to what fits, they are all there, equal or not. A page that falls into a set that
 * overflows already joins it alone.
 */
#include "infer/tlb.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define MAX_MORE 80 /* pages beyond those that fit */

struct sets {
    bool *missed; /* per page, so far; owned */
    size_t entries;
};

static int add_page(struct lab *lab, struct sets *sets, struct tlb_result *out,
                    const struct tlb_level *level, size_t pages)
{
    struct page_walk walk = {.stride = level->page, .pages = pages, .threshold = level->threshold};
    int rc = page_walk_run(lab, &walk);
    if (rc) {
        return rc;
    }
    size_t fresh = 0, quiet = 0;
    assert(sets->missed && walk.slow);
    for (size_t i = 0; i < pages; i++) {
        fresh += walk.slow[i] && !sets->missed[i];
        quiet += !walk.slow[i] && sets->missed[i];
        sets->missed[i] = sets->missed[i] || walk.slow[i];
    }
    page_walk_free(&walk);
    if (quiet) {
        return lab_undecided(lab, "pages that missed no longer do when there are more");
    }
    if (fresh > 1 && out->set_count < INFER_MAX_TLB_SETS) {
        out->entries_per_set[out->set_count++] = (uint32_t)(fresh - 1);
        sets->entries += fresh - 1;
    }
    return 0;
}

int tlb_sets(struct lab *lab, struct tlb_result *out, const struct tlb_level *level)
{
    struct sets sets = {.missed = calloc(level->fits + MAX_MORE + 1, sizeof(bool))};
    int rc = sets.missed ? 0 : error_memory();
    size_t limit = (size_t)(lab->options->max_footprint_bytes / level->page);
    size_t more = 1;
    for (; rc == 0 && more <= MAX_MORE && level->fits + more < limit && sets.entries < level->fits;
         more++) {
        rc = add_page(lab, &sets, out, level, level->fits + more);
    }
    free(sets.missed);
    out->set_count = rc ? 0 : out->set_count;
    if (rc) {
        return rc;
    }
    if (sets.entries != level->fits) {
        out->set_count = 0;
        return lab_undecided(lab, "the pages that miss together do not add up to those that fit");
    }
    char id[24], list[80] = "";
    for (size_t i = 0, at = 0; i < out->set_count && at < sizeof list - 8; i++) {
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%u", i ? ", " : "",
                               out->entries_per_set[i]);
    }
    lab_evidence(lab, id, out->id,
                 "chase op=cg: page after page beyond the %zu that fit, up to %zu more, sets of %s "
                 "entries begin to miss as a whole; together they are all entries",
                 level->fits, more - 1, list);
    attribute_set(&out->sets, (double)out->set_count, "1", 0.95, id);
    out->entries.confidence = 0.96;
    return 0;
}
