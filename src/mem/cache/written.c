/*
 * Which lines are dirty, in the order in which they became so, and which hold sectors known in
 * part. Found on an NVIDIA H200 (docs/h200-study.md): no more than a part of L2 stays dirty; older
 * lines are sent to memory and stay. A store of a part of a sector fetches nothing; stores that
 * complete a sector make it whole; of some lines only, and beyond these the rest is read and the
 * sector written at once.
 *
 * Left out: that a sector which is being completed cannot be read before its rest has come, and
 * whatever decides on the card how many of the completed sectors are written at once (nine of ten
 * in large arrays, two of three where few are too many); here all are.
 */
#include "mem/cache/written.h"

#include <stdlib.h>

#include "mem/cache/state.h"
#include "util/error.h"

/* ---- lists of slots ---- */

static int list_init(struct slot_list *list, uint32_t lines)
{
    list->lines = lines;
    list->links = malloc(((size_t)lines + 1) * sizeof *list->links);
    if (!list->links) {
        return error_memory();
    }
    for (uint32_t i = 0; i < lines; i++) {
        list->links[i].next = WRITTEN_OUT;
    }
    list->links[lines] = (struct slot_link){lines, lines};
    return 0;
}

static inline bool list_has(const struct slot_list *list, uint32_t slot)
{
    return list->links[slot].next != WRITTEN_OUT;
}

static void list_put(struct slot_list *list, uint32_t slot, bool in)
{
    if (!list->links || list_has(list, slot) == in) {
        return;
    }
    struct slot_link *links = list->links, *link = &links[slot], *end = &links[list->lines];
    if (in) {
        *link = (struct slot_link){.next = list->lines, .previous = end->previous};
        links[end->previous].next = slot;
        end->previous = slot;
        list->count++;
    } else {
        links[link->previous].next = link->next;
        links[link->next].previous = link->previous;
        link->next = WRITTEN_OUT;
        list->count--;
    }
}

static uint32_t list_oldest(const struct slot_list *list)
{
    return list->links[list->lines].next;
}

/* ---- construction ---- */

int written_check(const struct cache_spec *spec)
{
    uint32_t piece = spec->written_bytes;
    bool bounds = (spec->dirty_lines | spec->partial_lines) != 0;
    if ((bounds || piece) && spec->write != WRITE_BACK) {
        return error_set(SONDE_EINPUT, "written: a cache that writes through keeps nothing");
    }
    if (piece && (spec->sector_bytes % piece != 0 || spec->line_bytes / piece > TAGS_MAX_SECTORS)) {
        return error_set(SONDE_EINPUT,
                         "written.piece: %u bytes do not divide a sector of %u, or a line of %u "
                         "bytes has more than %d of them",
                         piece, spec->sector_bytes, spec->line_bytes, TAGS_MAX_SECTORS);
    }
    if (bounds && spec->data_bytes != 0 && spec->data_bytes != spec->size_bytes) {
        return error_set(SONDE_EINPUT,
                         "written: not with a data array smaller than the tags reach");
    }
    if (spec->partial_lines && spec->line_bytes != CHUNK_BYTES) {
        return error_set(SONDE_EINPUT, "written.partial_lines: lines are to be of %d bytes, not %u",
                         CHUNK_BYTES, spec->line_bytes);
    }
    return 0;
}

int written_init(struct written *written, const struct cache_spec *spec, uint32_t lines)
{
    *written =
        (struct written){.most_dirty = spec->dirty_lines, .most_partial = spec->partial_lines};
    int rc = spec->dirty_lines ? list_init(&written->dirty, lines) : 0;
    if (rc < 0 || !spec->partial_lines) {
        return rc;
    }
    written->bytes = calloc(lines, sizeof *written->bytes);
    return written->bytes ? list_init(&written->partial, lines) : error_memory();
}

void written_free(struct written *written)
{
    free(written->dirty.links);
    free(written->partial.links);
    free(written->bytes);
    *written = (struct written){0};
}

/* ---- what is written ---- */

/* It is in no list, and nothing is known of its sectors: one that is known in part is dirty. */
static inline bool is_clean(const struct written *written, uint32_t slot)
{
    return written->dirty.links && !list_has(&written->dirty, slot);
}

void written_forget(struct written *written, uint32_t slot)
{
    if (is_clean(written, slot)) {
        return;
    }
    list_put(&written->dirty, slot, false);
    list_put(&written->partial, slot, false);
    if (written->bytes) {
        written->bytes[slot][0] = written->bytes[slot][1] = 0;
    }
}

void written_store(struct mem_cache *cache, const struct mem_request *request,
                   const struct piece *piece)
{
    uint32_t sector_bytes = cache->tags.sector_bytes;
    struct tag_line *line = &cache->tags.slot[piece->slot];
    uint64_t *known = cache->written.bytes[piece->slot], now[2];
    chunk_written(now, request, piece->offset, piece->offset + piece->bytes);
    for (uint64_t left = piece->sectors; left; left &= left - 1) {
        uint32_t sector = (uint32_t)__builtin_ctzll(left), first = sector * sector_bytes;
        uint64_t bit = UINT64_C(1) << sector, all[2];
        chunk_range(all, first, first + sector_bytes);
        if (!((now[0] & all[0]) | (now[1] & all[1]))) {
            continue; /* between others that are written */
        }
        known[0] |= now[0] & all[0];
        known[1] |= now[1] & all[1];
        bool whole = (all[0] & ~known[0]) == 0 && (all[1] & ~known[1]) == 0;
        line->valid |= whole ? bit : 0;
        line->dirty |= bit;
    }
}

/* The oldest of a list is written back, whole or what is known of it in part, and stays. */
static void clean(struct mem_cache *cache, uint32_t slot, uint64_t sectors, bool send,
                  uint64_t leave_ps)
{
    struct tag_line *line = &cache->tags.slot[slot], leaving = *line;
    uint64_t physical = cache->tags.physical ? cache->tags.physical[slot] : 0;
    leaving.dirty &= sectors;
    line->valid |= leaving.dirty;
    line->dirty &= ~leaving.dirty;
    if (send) {
        own_write_back(cache, &leaving, physical, leave_ps);
    } else {
        cache->stats.writebacks += leaving.dirty != 0;
    }
}

/* The lists hold what they are to hold of a slot. */
static void note(struct mem_cache *cache, uint32_t slot)
{
    struct written *written = &cache->written;
    const struct tag_line *line = &cache->tags.slot[slot];
    if (line->dirty == 0 && is_clean(written, slot)) {
        return;
    }
    list_put(&written->dirty, slot, line->dirty != 0);
    list_put(&written->partial, slot, (line->dirty & ~line->valid) != 0);
    if (written->bytes && !(line->dirty & ~line->valid)) {
        written->bytes[slot][0] = written->bytes[slot][1] = 0;
    }
}

static void keep_bounds(struct mem_cache *cache, uint32_t slot, bool send, uint64_t leave_ps)
{
    struct written *written = &cache->written;
    if (!written_has_limits(written)) {
        return;
    }
    note(cache, slot);
    if (written->most_partial && written->partial.count > written->most_partial) {
        uint32_t oldest = list_oldest(&written->partial);
        const struct tag_line *line = &cache->tags.slot[oldest];
        clean(cache, oldest, line->dirty & ~line->valid, send, leave_ps);
        note(cache, oldest);
    }
    if (written->most_dirty && written->dirty.count > written->most_dirty) {
        uint32_t oldest = list_oldest(&written->dirty);
        clean(cache, oldest, UINT64_MAX, send, leave_ps);
        note(cache, oldest);
    }
}

void written_changed(struct mem_cache *cache, uint32_t slot, uint64_t leave_ps)
{
    keep_bounds(cache, slot, true, leave_ps);
}

void written_changed_at_once(struct mem_cache *cache, uint32_t slot)
{
    keep_bounds(cache, slot, false, 0);
}
