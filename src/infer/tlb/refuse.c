/* What was not measured of translation, and why. */
#include "infer/experiments.h"
#include "infer/tlb/base.h"

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
