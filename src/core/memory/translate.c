/*
 * Virtual to physical addresses, for the requests that the SM sends: the GPU's answers, remembered
 * by page. No time passes here; TLBs and page walks are components of their own (mem/tlb).
 */
#include "core/state.h"

void translate_reset(struct sm *sm)
{
    for (uint32_t i = 0; i < TRANSLATION_ENTRIES; i++) {
        sm->translation.entry[i].page = UINT64_MAX;
    }
}

bool translate(struct sm *sm, uint64_t vaddr, uint64_t *paddr)
{
    uint64_t page = vaddr >> sm->translation.page_shift, offset = vaddr & (sm->host.page_bytes - 1);
    uint32_t entry = (uint32_t)(page % TRANSLATION_ENTRIES);
    if (sm->translation.entry[entry].page != page) {
        uint64_t frame;
        if (!sm->host.physical(sm->host.ctx, vaddr - offset, &frame)) {
            return false;
        }
        sm->translation.entry[entry].page = page;
        sm->translation.entry[entry].frame = frame;
    }
    *paddr = sm->translation.entry[entry].frame + offset;
    return true;
}
