/*
 * Lookup compares the low halves of line numbers first: they lie side by side, so that 128 ways
 * are a few vector compares, and they are equal for lines of one set that are not 2^32 lines
 * apart.
 */
#include "mem/cache/tags.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "mem/mem.h"
#include "util/error.h"

enum { HOST_LINE_BYTES = 64 };

static uint32_t spec_ways(const struct cache_spec *spec, uint32_t set)
{
    return spec->unequal_count ? spec->ways_per_set[set] : spec->ways;
}

static int check_ways(uint64_t *lines, uint32_t *most, const struct cache_spec *spec)
{
    if (spec->unequal_count != 0 &&
        (spec->unequal_count != spec->sets || spec->unequal_count > MEM_MAX_MAP)) {
        return error_set(SONDE_EINPUT, "ways_per_set: %u numbers for %u sets", spec->unequal_count,
                         spec->sets);
    }
    *lines = (uint64_t)spec->sets * spec->ways;
    *most = spec->ways;
    if (spec->unequal_count) {
        *lines = *most = 0;
    }
    for (uint32_t set = 0; set < (spec->unequal_count ? spec->sets : 1); set++) {
        uint32_t ways = spec_ways(spec, set);
        if (ways == 0 || ways > MEM_MAX_WAYS) {
            return error_set(SONDE_EINPUT, "ways: 1 to %d are possible, not %u", MEM_MAX_WAYS,
                             ways);
        }
        if (spec->unequal_count) {
            *lines += ways;
            *most = ways > *most ? ways : *most;
        }
    }
    return 0;
}

int tags_check(const struct cache_spec *spec)
{
    if (spec->line_bytes == 0 || spec->sector_bytes == 0 ||
        spec->line_bytes % spec->sector_bytes != 0 ||
        spec->line_bytes / spec->sector_bytes > TAGS_MAX_SECTORS) {
        return error_set(SONDE_EINPUT, "line: %u bytes are not 1 to %d sectors of %u bytes",
                         spec->line_bytes, TAGS_MAX_SECTORS, spec->sector_bytes);
    }
    if (spec->sets == 0 || spec->sets > TAGS_MAX_LINES) {
        return error_set(SONDE_EINPUT, "sets: 1 to %u are possible, not %u", TAGS_MAX_LINES,
                         spec->sets);
    }
    uint64_t lines = 0;
    uint32_t most = 0;
    int rc = check_ways(&lines, &most, spec);
    if (rc < 0) {
        return rc;
    }
    if (lines > TAGS_MAX_LINES) {
        return error_set(SONDE_EINPUT, "sets, ways: %llu lines are more than the %u possible",
                         (unsigned long long)lines, TAGS_MAX_LINES);
    }
    if (spec->size_bytes != lines * spec->line_bytes) {
        return error_set(SONDE_EINPUT, "size: %llu bytes are not %llu lines of %u bytes",
                         (unsigned long long)spec->size_bytes, (unsigned long long)lines,
                         spec->line_bytes);
    }
    if (spec->data_bytes > spec->size_bytes || spec->data_bytes % spec->line_bytes != 0) {
        return error_set(SONDE_EINPUT, "data: %llu bytes are not whole lines of at most %llu bytes",
                         (unsigned long long)spec->data_bytes,
                         (unsigned long long)spec->size_bytes);
    }
    rc = mem_index_check(&spec->index, spec->sets);
    return rc < 0 ? rc : replacement_check(&spec->replacement, most);
}

/* Parities of address bits that lie close together are looked up, four address bits at a time. */
static void tags_plan_parities(struct tags *tags)
{
    const struct index_spec *index = &tags->spec->index;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < index->mask_count; i++) {
        bits |= index->masks[i];
    }
    uint32_t shift = bits ? (uint32_t)__builtin_ctzll(bits) : 0;
    if (bits == 0 || index->mask_count > 16 || bits >> shift >> 4 * TAGS_INDEX_PARTS != 0) {
        return;
    }
    tags->index_shift = shift;
    for (uint32_t part = 0; bits >> shift >> 4 * part != 0; part++) {
        for (uint64_t value = 0; value < 16; value++) {
            tags->index_part[part][value] = (uint16_t)mem_index_set(
                index, tags->sets, tags->spec->line_bytes, value << 4 * part << shift);
        }
        tags->index_parts = part + 1;
    }
}

/* Index bits that adjoin in ascending order are taken with one shift. */
static void tags_plan_index(struct tags *tags)
{
    const struct index_spec *index = &tags->spec->index;
    tags->index_plain = index->kind == INDEX_BITS;
    for (uint32_t i = 1; i < index->mask_count; i++) {
        tags->index_plain = tags->index_plain && index->masks[i] == index->masks[i - 1] << 1;
    }
    if (tags->index_plain && index->mask_count > 0) {
        while (index->masks[0] >> tags->index_shift != 1) {
            tags->index_shift++;
        }
    }
    tags->index_mask = tags->sets - 1;
    if (index->kind == INDEX_XOR) {
        tags_plan_parities(tags);
    }
}

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* `most`: ways of a set. A set that fits does not lie across two lines of the host's cache. */
static bool lay_out_sets(struct tags *tags, uint32_t most)
{
    tags->filled_at = most * sizeof(uint32_t);
    tags->state_at = round_up(tags->filled_at + sizeof(uint32_t), 8);
    size_t bytes = tags->state_at + tags->replacement.ops->state_bytes(most), stride = 16;
    while (stride < bytes && stride < HOST_LINE_BYTES) {
        stride *= 2;
    }
    tags->set_stride = round_up(bytes, stride);
    size_t all = round_up(tags->sets * tags->set_stride, HOST_LINE_BYTES);
    tags->sets_asked = aligned_alloc(HOST_LINE_BYTES, all);
    if (tags->sets_asked) {
        memset(tags->sets_asked, 0, all);
    }
    tags->touched = calloc(tags->sets / 64 + 1, sizeof *tags->touched);
    return tags->sets_asked && tags->touched;
}

static int tags_allocate_arrays(struct tags *tags)
{
    uint32_t most = 0;
    tags->first = calloc((size_t)tags->sets + 1, sizeof *tags->first);
    if (!tags->first) {
        return error_memory();
    }
    for (uint32_t set = 0; set < tags->sets; set++) {
        uint32_t ways = spec_ways(tags->spec, set);
        tags->first[set + 1] = tags->first[set] + ways;
        most = ways > most ? ways : most;
    }
    tags->ways = tags->spec->unequal_count ? 0 : most;
    tags->lines = tags->first[tags->sets];
    assert(tags->sets > 0 && tags->lines > 0); /* the specification was checked */
    uint64_t data_bytes = tags->spec->data_bytes;
    tags->data_lines = data_bytes ? (uint32_t)(data_bytes / tags->spec->line_bytes) : tags->lines;
    tags->slot = calloc(tags->lines, sizeof *tags->slot);
    bool needs_physical = tags->spec->address == ADDRESS_VIRTUAL;
    if (needs_physical) {
        tags->physical = calloc(tags->lines, sizeof *tags->physical);
    }
    if (!tags->slot || (needs_physical && !tags->physical) || !lay_out_sets(tags, most)) {
        return error_memory();
    }
    return 0;
}

static inline uint32_t *set_tags(const struct tags *tags, uint32_t set)
{
    return (uint32_t *)(void *)(tags->sets_asked + set * tags->set_stride);
}

static inline void *set_state(const struct tags *tags, uint32_t set)
{
    return tags->sets_asked + set * tags->set_stride + tags->state_at;
}

int tags_init(struct tags *tags, const struct cache_spec *spec)
{
    *tags = (struct tags){.spec = spec, .sets = spec->sets, .line_shift = -1};
    bool finer = spec->write == WRITE_BACK && spec->written_bytes > 0;
    tags->sector_bytes = finer ? spec->written_bytes : spec->sector_bytes;
    for (int shift = 0; shift < 32; shift++) {
        if (spec->line_bytes == UINT32_C(1) << shift) {
            tags->line_shift = shift;
        }
    }
    tags_plan_index(tags);
    replacement_init(&tags->replacement, &spec->replacement);
    int rc = tags_allocate_arrays(tags);
    if (rc < 0) {
        tags_free(tags);
        return rc;
    }
    for (uint32_t set = 0; set < tags->sets; set++) {
        tags->replacement.ops->init(set_state(tags, set), spec_ways(spec, set));
    }
    return 0;
}

void tags_free(struct tags *tags)
{
    free(tags->first);
    free(tags->slot);
    free(tags->physical);
    free(tags->sets_asked);
    free(tags->touched);
    *tags = (struct tags){0};
}

uint32_t tags_set(const struct tags *tags, uint64_t address)
{
    if (tags->index_plain) {
        return (uint32_t)(address >> tags->index_shift) & tags->index_mask;
    }
    if (tags->index_parts == 0) {
        return mem_index_set(&tags->spec->index, tags->sets, tags->spec->line_bytes, address);
    }
    uint64_t bits = address >> tags->index_shift;
    uint32_t set = 0;
    for (uint32_t part = 0; part < tags->index_parts; part++, bits >>= 4) {
        set ^= tags->index_part[part][bits & 15];
    }
    return set;
}

static inline bool slot_holds(const struct tags *tags, uint32_t slot, uint64_t line)
{
    return tags->slot[slot].line == line && tag_line_is_there(&tags->slot[slot]);
}

/* Many ways are asked for a match first, and found by a bit each only where there is one. */
enum { MANY = 32, BLOCK = 16, VECTOR = 4 };
typedef uint32_t tag_vector __attribute__((vector_size(VECTOR * sizeof(uint32_t))));

/* Whether one of MANY tags is the wanted one: a loop without an exit, for vector instructions. */
static inline bool many_have(const uint32_t *tag, uint32_t wanted)
{
    uint32_t equal = 0;
    for (size_t i = 0; i < MANY; i++) {
        equal |= tag[i] == wanted ? UINT32_MAX : 0;
    }
    return equal != 0;
}

/* Which of BLOCK tags are the wanted one, bit by bit. Compilers unroll a loop of 16 before they
 * would make vectors of it. */
static inline uint32_t block_matches(const uint32_t *tag, uint32_t wanted)
{
    const tag_vector all = {wanted, wanted, wanted, wanted};
    tag_vector bit = {1, 2, 4, 8}, found = {0};
    for (size_t i = 0; i < BLOCK; i += VECTOR) {
        tag_vector tags;
        memcpy(&tags, tag + i, sizeof tags);
        found |= (tag_vector)(tags == all) & bit;
        bit <<= VECTOR;
    }
    return found[0] | found[1] | found[2] | found[3];
}

/* Of BLOCK ways, the first of which has slot `first`. */
static inline uint32_t find_in_block(const struct tags *tags, const uint32_t *tag, uint32_t first,
                                     uint64_t line)
{
    uint32_t matches = block_matches(tag, (uint32_t)line);
    for (; matches; matches &= matches - 1) {
        uint32_t at = first + (uint32_t)__builtin_ctz(matches);
        if (slot_holds(tags, at, line)) {
            return at;
        }
    }
    return TAGS_NONE;
}

uint32_t tags_find(const struct tags *tags, uint32_t set, uint64_t line)
{
    const uint32_t *tag = set_tags(tags, set), wanted = (uint32_t)line;
    uint32_t first = tags_first(tags, set), ways = tags_ways(tags, set), way = 0;
    while (ways - way >= BLOCK) {
        if (ways - way >= MANY && !many_have(tag + way, wanted)) {
            way += MANY;
            continue;
        }
        uint32_t found = find_in_block(tags, tag + way, first + way, line);
        if (found != TAGS_NONE) {
            return found;
        }
        way += BLOCK;
    }
    for (; way < ways; way++) {
        if (tag[way] == wanted && slot_holds(tags, first + way, line)) {
            return first + way;
        }
    }
    return TAGS_NONE;
}

void tags_expect(const struct tags *tags, uint64_t address)
{
    enum { MANY_LINES = 4096 }; /* fewer lie in the host's caches anyway */
    if (tags->lines < MANY_LINES) {
        return;
    }
    uint64_t line = tags_line(tags, address);
    uint32_t set = tags_set(tags, line * tags->spec->line_bytes);
    const unsigned char *asked = tags->sets_asked + set * tags->set_stride;
    for (size_t i = 0; i < tags->set_stride; i += HOST_LINE_BYTES) {
        __builtin_prefetch(asked + i, 1);
    }
}

void tags_use(struct tags *tags, uint32_t set, uint32_t slot)
{
    tags->replacement.ops->on_hit(set_state(tags, set), tags_ways(tags, set),
                                  slot - tags_first(tags, set));
}

/*
 * A way that holds a line, of a set that may have empty ones. A policy that names an empty way is
 * told that it was filled and asked again, so that the empty ones come to rank behind; one that
 * still names none has its first line taken.
 */
static uint32_t victim_of_part(struct tags *tags, uint32_t set)
{
    const struct replacement_ops *ops = tags->replacement.ops;
    uint32_t ways = tags_ways(tags, set), first = tags_first(tags, set), way = 0;
    for (uint32_t i = 0; i < ways; i++) {
        way = ops->victim(&tags->replacement, set_state(tags, set), ways);
        if (tag_line_is_there(&tags->slot[first + way])) {
            return way;
        }
        ops->on_fill(set_state(tags, set), ways, way);
    }
    for (way = 0; !tag_line_is_there(&tags->slot[first + way]);) {
        way++;
    }
    return way;
}

/* The next set that holds a line, in turn. */
static uint32_t next_holder(struct tags *tags)
{
    uint32_t set;
    do {
        set = tags->hand;
        tags->hand = set + 1 == tags->sets ? 0 : set + 1;
    } while (*tags_filled(tags, set) == 0);
    return set;
}

/*
 * A way for a line of a set that has empty ones. Where the data array is full, a line leaves for
 * it: one of this set, whose way it gives too, or else one of another.
 */
static uint32_t take_empty(struct tags *tags, uint32_t set, struct tag_line *evicted,
                           uint64_t *evicted_physical)
{
    uint32_t first = tags_first(tags, set), way = 0;
    if (tags->held == tags->data_lines) {
        uint32_t giver = *tags_filled(tags, set) ? set : next_holder(tags);
        uint32_t given = victim_of_part(tags, giver), slot = tags_first(tags, giver) + given;
        *evicted_physical = tags->physical ? tags->physical[slot] : 0;
        *evicted = tags_drop(tags, giver, slot);
        way = giver == set ? given : 0;
    }
    while (tag_line_is_there(&tags->slot[first + way])) {
        way++;
    }
    if (++*tags_filled(tags, set) == 1) {
        tags->touched[set / 64] |= UINT64_C(1) << set % 64;
    }
    tags->held++;
    return way;
}

uint32_t tags_allocate(struct tags *tags, uint32_t set, uint64_t line, uint64_t physical,
                       struct tag_line *evicted, uint64_t *evicted_physical)
{
    uint32_t ways = tags_ways(tags, set), first = tags_first(tags, set), way;
    *evicted = (struct tag_line){0};
    *evicted_physical = 0;
    if (*tags_filled(tags, set) < ways) {
        way = take_empty(tags, set, evicted, evicted_physical);
    } else {
        way = tags->replacement.ops->victim(&tags->replacement, set_state(tags, set), ways);
        *evicted = tags->slot[first + way];
        *evicted_physical = tags->physical ? tags->physical[first + way] : 0;
    }
    uint32_t slot = first + way;
    if (tags->physical) {
        tags->physical[slot] = physical;
    }
    tags->slot[slot] = (struct tag_line){.line = line};
    set_tags(tags, set)[way] = (uint32_t)line;
    tags->replacement.ops->on_fill(set_state(tags, set), ways, way);
    return slot;
}

uint32_t tags_next_touched(struct tags *tags, uint32_t set)
{
    for (uint32_t at = set; at < tags->sets; at += 64 - at % 64) {
        uint64_t *word = &tags->touched[at / 64], left = *word >> at % 64 << at % 64;
        if (left) {
            *word &= ~(left & -left);
            return at - at % 64 + (uint32_t)__builtin_ctzll(left);
        }
    }
    return tags->sets;
}

struct tag_line tags_drop(struct tags *tags, uint32_t set, uint32_t slot)
{
    struct tag_line dropped = tags->slot[slot];
    tags->slot[slot] = (struct tag_line){0};
    --*tags_filled(tags, set);
    tags->held--;
    return dropped;
}

/* Bits [first, end) of at most 64. */
static uint64_t sector_range(uint32_t first, uint32_t end)
{
    if (first >= end) {
        return 0;
    }
    return (UINT64_MAX >> (64 - (end - first))) << first;
}

uint64_t tags_sectors_touched(const struct tags *tags, uint32_t offset, uint32_t bytes)
{
    uint32_t sector_bytes = tags->sector_bytes;
    if (sector_bytes == tags->spec->line_bytes) {
        return 1;
    }
    return sector_range(offset / sector_bytes, (offset + bytes - 1) / sector_bytes + 1);
}

uint64_t tags_sectors_covered(const struct tags *tags, uint32_t offset, uint32_t bytes)
{
    uint32_t sector_bytes = tags->sector_bytes;
    return sector_range((offset + sector_bytes - 1) / sector_bytes,
                        (offset + bytes) / sector_bytes);
}
