/*
 * What the parameters of TLBs and of the page walker mean together.
 */
#include <stdio.h>
#include <string.h>

#include "mem/tlb/tlb.h"
#include "model/param.h"
#include "model/read.h"
#include "util/error.h"

static void normalise_tlb(struct reader *reader, const char *prefix, struct tlb_spec *tlb)
{
    struct cache_spec *entries = &tlb->entries;
    char path[64];
    snprintf(path, sizeof(path), "%s.ways", prefix);
    if (entries->unequal_count > 0 && !given(reader, path)) {
        entries->ways = 0;
        for (uint32_t i = 0; i < entries->unequal_count; i++) {
            uint16_t ways = entries->ways_per_set[i];
            entries->ways = ways > entries->ways ? ways : entries->ways;
        }
    }
    mem_tlb_complete(tlb);
    normalise_cache(entries);
}

void normalise_vm(struct reader *reader)
{
    normalise_tlb(reader, "tlb_l1", &reader->model->tlb_l1);
    normalise_tlb(reader, "tlb_l2", &reader->model->tlb_l2);
}

static void check_power(struct reader *reader, const char *path, uint64_t bytes)
{
    char text[32];
    if (!is_power_of_two(bytes)) {
        problem(reader, path, "%s is not a power of two",
                units_format(text, sizeof(text), bytes, UNIT_BYTES));
    }
}

static void check_tlb(struct reader *reader, const char *prefix, const struct tlb_spec *tlb)
{
    char path[64];
    snprintf(path, sizeof(path), "%s.page", prefix);
    check_power(reader, path, tlb->entries.line_bytes);
    check_cache_at(reader, prefix, &tlb->entries);
}

static void check_walker(struct reader *reader)
{
    const struct model *model = reader->model;
    const struct walker_spec *walker = &model->walker;
    char path[64];
    for (uint32_t i = 0; i < walker->levels; i++) {
        snprintf(path, sizeof(path), "walker.level%u.span", i + 1);
        check_power(reader, path, walker->level[i].span_bytes);
        snprintf(path, sizeof(path), "walker.level%u.entry", i + 1);
        check_power(reader, path, walker->level[i].entry_bytes);
        if (walker->level[i].entry_bytes > model->vm.page_bytes) {
            problem(reader, path, "an entry is larger than a page");
        }
    }
    check_power(reader, "walker.read", walker->read_bytes);
    if (model->l2.enabled && walker->levels > 0 && walker->read_bytes > model->l2.line_bytes) {
        problem(reader, "walker.read", "%u B are more than a line of L2", walker->read_bytes);
    }
    if (walker->window_bytes) {
        check_power(reader, "walker.window", walker->window_bytes);
    }
    if (reader->problem_count == 0 && mem_walker_check(walker) < 0) {
        problem(reader, "walker.levels", "%s", error_text());
    }
}

void check_vm(struct reader *reader)
{
    const struct model *model = reader->model;
    const struct tlb_spec *l1 = &model->tlb_l1, *l2 = &model->tlb_l2;
    if (l1->entries.enabled) {
        check_tlb(reader, "tlb_l1", l1);
    }
    if (l2->entries.enabled) {
        check_tlb(reader, "tlb_l2", l2);
    }
    if (l1->entries.enabled && l2->entries.enabled) {
        if (l2->entries.line_bytes % l1->entries.line_bytes != 0) {
            problem(reader, "tlb_l2.page", "is not a multiple of tlb_l1.page");
        }
        if (l2->scope < l1->scope) {
            problem(reader, "tlb_l2.scope", "is narrower than tlb_l1.scope");
        }
    }
    if (l1->entries.enabled || l2->entries.enabled) {
        check_walker(reader);
    }
}
