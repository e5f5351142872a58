/*
 * Device memory as the driver sees it: virtual ranges, physical frames, the page table between
 * them. Ranges are given out first fit, frames lowest first, so that a program that allocates in
 * the same order gets the same addresses in every run, and a fresh device gives contiguous frames.
 * Real drivers scatter frames; that is not modelled.
 *
 * Where the model's walker reads a page table, the table has frames too: taken from the top of
 * memory when a page is first mapped for which no entry has a place yet, and kept. Large ranges
 * are aligned as the TLBs' sets like it: a range of n bytes begins at a multiple of the largest
 * power of two up to n, at most ALIGN_MAX_PAGES pages.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/state.h"
#include "util/error.h"

#define ALIGN_MAX_PAGES 256

static bool model_translates(const struct model *model)
{
    return model->tlb_l1.entries.enabled || model->tlb_l2.entries.enabled;
}

int vmem_create(struct vmem *vmem, const struct model *model, const struct exec_memory *memory)
{
    uint64_t page_bytes = model->vm.page_bytes;
    if (page_bytes < RT_ALIGN_BYTES || (page_bytes & (page_bytes - 1)) ||
        model->vm.memory_bytes / page_bytes >= RT_NO_FRAME) {
        return error_set(SONDE_EINPUT, "vm: the page size does not suit the memory");
    }
    vmem->base = exec_memory_base(memory);
    vmem->range_bytes = exec_memory_range_bytes(memory);
    vmem->page_bytes = page_bytes;
    vmem->frame_count = (uint32_t)(model->vm.memory_bytes / page_bytes);
    vmem->top_hint = vmem->frame_count;
    vmem->levels = model_translates(model) ? model->walker.levels : 0;
    memcpy(vmem->level, model->walker.level, sizeof vmem->level);
    vmem->frame_taken = calloc(vmem->frame_count / 64 + 1, sizeof(uint64_t));
    return vmem->frame_taken ? 0 : error_memory();
}

void vmem_destroy(struct vmem *vmem)
{
    free(vmem->frame_taken);
    vec_free(&vmem->ranges);
    vec_free(&vmem->pages);
    for (uint32_t i = 0; i < WALKER_MAX_LEVELS; i++) {
        vec_free(&vmem->tables[i]);
    }
}

static uint64_t alignment_of(const struct vmem *vmem, uint64_t bytes)
{
    if (bytes < vmem->page_bytes) {
        return RT_ALIGN_BYTES;
    }
    uint64_t align = vmem->page_bytes;
    while (align * 2 <= bytes && align < vmem->page_bytes * ALIGN_MAX_PAGES) {
        align *= 2;
    }
    return align;
}

/* The first gap of `bytes`; *at is where in `ranges` it is. */
static bool find_gap_from(const struct vmem *vmem, uint64_t from, uint64_t bytes,
                          uint64_t least_align, uint64_t *address, size_t *at)
{
    uint64_t align = alignment_of(vmem, bytes);
    align = align < least_align ? least_align : align;
    uint64_t end = vmem->base, zone = vmem->red_zone_bytes;
    for (size_t i = 0; i <= vmem->ranges.count; i++) {
        uint64_t least = end + zone < from ? from : end + zone;
        uint64_t start = (least + align - 1) / align * align;
        uint64_t limit =
            i < vmem->ranges.count ? vmem->ranges.data[i].address : vmem->base + vmem->range_bytes;
        if (start <= limit && limit - start >= bytes + zone) {
            *address = start;
            *at = i;
            return true;
        }
        if (i < vmem->ranges.count) {
            end = limit + vmem->ranges.data[i].bytes;
        }
    }
    return false;
}

static bool find_gap(const struct vmem *vmem, uint64_t bytes, uint64_t least_align,
                     uint64_t *address, size_t *at)
{
    bool fresh = vmem->red_zone_bytes > 0;
    return (fresh && find_gap_from(vmem, vmem->last_end, bytes, least_align, address, at)) ||
           find_gap_from(vmem, 0, bytes, least_align, address, at);
}

static uint32_t frame_take(struct vmem *vmem)
{
    uint32_t frame = vmem->frame_hint;
    while (vmem->frame_taken[frame / 64] >> frame % 64 & 1) {
        frame++;
    }
    vmem->frame_taken[frame / 64] |= 1ull << frame % 64;
    vmem->frame_hint = frame + 1;
    vmem->frames_used++;
    return frame;
}

/* The highest free one. */
static uint32_t frame_take_top(struct vmem *vmem)
{
    uint32_t frame = vmem->top_hint - 1;
    while (vmem->frame_taken[frame / 64] >> frame % 64 & 1) {
        frame--;
    }
    vmem->frame_taken[frame / 64] |= 1ull << frame % 64;
    vmem->top_hint = frame;
    vmem->frames_used++;
    return frame;
}

static void frame_give(struct vmem *vmem, uint32_t frame)
{
    vmem->frame_taken[frame / 64] &= ~(1ull << frame % 64);
    vmem->frame_hint = frame < vmem->frame_hint ? frame : vmem->frame_hint;
    vmem->frames_used--;
}

static void page_span(const struct vmem *vmem, uint64_t address, uint64_t bytes, uint64_t *first,
                      uint64_t *last)
{
    *first = (address - vmem->base) / vmem->page_bytes;
    *last = (address + bytes - 1 - vmem->base) / vmem->page_bytes;
}

/* Byte of the level's table at which the entry for an address lies. */
static uint64_t table_offset(const struct vmem *vmem, uint32_t level, uint64_t address)
{
    const struct walker_level_spec *spec = &vmem->level[level];
    return (address - vmem->base) / spec->span_bytes * spec->entry_bytes;
}

/* The table frames that a level needs, all together, when `address` is mapped. */
static uint64_t table_frames(const struct vmem *vmem, uint32_t level, uint64_t address)
{
    return table_offset(vmem, level, address) / vmem->page_bytes + 1;
}

static uint64_t tables_missing(const struct vmem *vmem, uint64_t last_address)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < vmem->levels; i++) {
        uint64_t needed = table_frames(vmem, i, last_address);
        missing += needed > vmem->tables[i].count ? needed - vmem->tables[i].count : 0;
    }
    return missing;
}

static int map_tables(struct vmem *vmem, uint64_t last_address)
{
    for (uint32_t i = 0; i < vmem->levels; i++) {
        while (vmem->tables[i].count < table_frames(vmem, i, last_address)) {
            if (vec_reserve(&vmem->tables[i], vmem->tables[i].count + 1) < 0) {
                return error_memory();
            }
            vmem->tables[i].data[vmem->tables[i].count++] = frame_take_top(vmem);
        }
    }
    return 0;
}

bool vmem_entry(const struct vmem *vmem, uint32_t level, uint64_t vaddr, uint64_t *paddr)
{
    if (vaddr < vmem->base || level >= vmem->levels) {
        return false;
    }
    uint64_t offset = table_offset(vmem, level, vaddr), frame = offset / vmem->page_bytes;
    if (frame >= vmem->tables[level].count) {
        return false;
    }
    *paddr = vmem->tables[level].data[frame] * vmem->page_bytes + offset % vmem->page_bytes;
    return true;
}

/* Every page of the range gets a frame, or none does. */
static int map_pages(struct vmem *vmem, uint64_t address, uint64_t bytes)
{
    uint64_t first, last, missing = 0;
    page_span(vmem, address, bytes, &first, &last);
    for (uint64_t page = first; page <= last; page++) {
        missing += page >= vmem->pages.count || vmem->pages.data[page].users == 0;
    }
    missing += tables_missing(vmem, address + bytes - 1);
    if (missing > vmem->frame_count - vmem->frames_used) {
        vmem->full = true;
        return error_set(SONDE_ENOMEM, "the device's memory is full");
    }
    while (vmem->pages.count <= last) {
        if (vec_push(&vmem->pages, (struct vmem_page){.frame = RT_NO_FRAME}) < 0) {
            return error_memory();
        }
    }
    int rc = map_tables(vmem, address + bytes - 1);
    for (uint64_t page = first; rc == 0 && page <= last; page++) {
        struct vmem_page *entry = &vmem->pages.data[page];
        if (entry->users++ == 0) {
            entry->frame = frame_take(vmem);
        }
    }
    return rc;
}

int vmem_take(struct vmem *vmem, uint64_t *address, uint64_t bytes)
{
    return vmem_take_aligned(vmem, address, bytes, 1);
}

int vmem_take_aligned(struct vmem *vmem, uint64_t *address, uint64_t bytes, uint64_t least_align)
{
    size_t at;
    vmem->full = false;
    if (bytes == 0) {
        return error_set(SONDE_EINPUT, "an allocation of no bytes");
    }
    if (bytes > (uint64_t)vmem->frame_count * vmem->page_bytes ||
        !find_gap(vmem, bytes, least_align, address, &at)) {
        vmem->full = true;
        return error_set(SONDE_ENOMEM, "%llu bytes are more than the device's memory",
                         (unsigned long long)bytes);
    }
    int rc = vec_reserve(&vmem->ranges, vmem->ranges.count + 1) < 0 ? error_memory() : 0;
    if (rc == 0) {
        rc = map_pages(vmem, *address, bytes);
    }
    if (rc < 0) {
        return rc;
    }
    struct vmem_range *ranges = vmem->ranges.data;
    for (size_t i = vmem->ranges.count++; i > at; i--) {
        ranges[i] = ranges[i - 1];
    }
    ranges[at] = (struct vmem_range){*address, bytes};
    vmem->last_end = *address + bytes;
    return 0;
}

const struct vmem_range *vmem_find(const struct vmem *vmem, uint64_t address)
{
    size_t low = 0, high = vmem->ranges.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (vmem->ranges.data[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < vmem->ranges.count && vmem->ranges.data[low].address == address
               ? &vmem->ranges.data[low]
               : NULL;
}

void vmem_give(struct vmem *vmem, const struct vmem_range *range)
{
    uint64_t first, last;
    page_span(vmem, range->address, range->bytes, &first, &last);
    for (uint64_t page = first; page <= last; page++) {
        struct vmem_page *entry = &vmem->pages.data[page];
        if (--entry->users == 0) {
            frame_give(vmem, entry->frame);
            entry->frame = RT_NO_FRAME;
        }
    }
    size_t at = (size_t)(range - vmem->ranges.data);
    vmem->ranges.count--;
    for (size_t i = at; i < vmem->ranges.count; i++) {
        vmem->ranges.data[i] = vmem->ranges.data[i + 1];
    }
}

bool vmem_physical(const struct vmem *vmem, uint64_t vaddr, uint64_t *paddr)
{
    uint64_t page = (vaddr - vmem->base) / vmem->page_bytes;
    if (vaddr < vmem->base || page >= vmem->pages.count ||
        vmem->pages.data[page].frame == RT_NO_FRAME) {
        return false;
    }
    *paddr = (uint64_t)vmem->pages.data[page].frame * vmem->page_bytes +
             (vaddr - vmem->base) % vmem->page_bytes;
    return true;
}
