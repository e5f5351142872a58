/* What was not measured of translation, and why. */
#include "infer/experiments.h"
#include "infer/tlb/walk/base.h"

#include <stdio.h>

void tlb_refuse(struct dissection *out, const struct refusal *why)
{
    for (size_t i = 0; i < out->tlb_count; i++) {
        struct tlb_result *tlb = &out->tlbs[i];
        attribute_refuse_open(&tlb->page, "B", why);
        attribute_refuse_open(&tlb->coverage, "B", why);
        attribute_refuse_open(&tlb->entries, "entries", why);
        attribute_refuse_open(&tlb->sets, "1", why);
        attribute_refuse_open(&tlb->miss_penalty, "cycles", why);
        if (!tlb->present && !tlb->absence.reason[0]) {
            tlb->absence = *why;
        }
        if (!tlb->scope[0] && !tlb->scope_refusal.reason[0]) {
            tlb->scope_refusal = *why;
        }
        if (!tlb->policy.name[0] && !tlb->policy.refusal.reason[0]) {
            tlb->policy.refusal = *why;
        }
    }
}

int tlb_refuse_tables(struct tlb_lab *tl, const struct tlb_level *level)
{
    return lab_undecided(tl->lab,
                         "loads of more pages take %.0f cycles longer, a multiple of a miss of L2: "
                         "reads of page tables, or a level that costs as much",
                         level->penalty);
}

/*
 * Where L2 misses lines of the walk, some pages take a line's miss and that of a read of tables.
 * They are as many as L2 leaves, in no sets: a level that costs as much, and whose sets do not
 * show, is not told from that. Nor is one that costs just what reads of tables do that miss L2,
 * though drawn places of its pages miss, too: tables of several pages may be too many for a set of
 * L2, whose sets pages fill in turn as well.
 */
int tlb_withdraw_unconfirmed(struct tlb_lab *tl, struct tlb_result *out,
                             const struct tlb_level *level)
{
    bool tables = !tl->noisy && tlb_costs_as_tables(tl, level);
    bool shows = out->sets.status == ATTRIBUTE_MEASURED && !(tables && level->by_turns);
    if (shows || !(tables || tlb_costs_as_line_and_table(tl, level))) {
        return 0;
    }
    struct tlb_result none = {0};
    snprintf(none.id, sizeof none.id, "%s", out->id);
    *out = none;
    return lab_undecided(tl->lab,
                         "loads of more pages take %.0f cycles longer, %s, and "
                         "no set of pages shows: lines and reads of page tables, or a level",
                         level->penalty,
                         tables ? "as many as misses of L2" : "about two misses of L2");
}
