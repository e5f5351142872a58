/*
 * Rings over more pages than a GPU translates at once. Then what hits takes as long as a miss, for
 * its translation. So ahead of each element that lies in another page than the one before goes a
 * read of that page, which is not recorded, and the element finds it translated:
 *
 *     ring      a            b            c           in pages A, B, C
 *     walked    t a          t b          t c         t: a line of the same page, half a page away
 *     recorded    a            b            c
 *
 * What is read ahead takes room in the cache: one line a page, at other words each time, that lies
 * apart from all elements where these leave room, or else is a line of theirs. In a cache of many
 * sets it is hardly ever in the set that is asked.
 */
#include "infer/ask/walk.h"

#include <stdlib.h>

#include "util/container/map.h"
#include "util/error.h"
#include "util/sort.h"

/* Thresholds. Chosen. */
static const struct {
    uint32_t page, apart, step, line, turns;
} limits = {
    .page = 4096, /* bytes: the least page of translation */
    .apart = 256, /* bytes between what is read ahead and any element: no line is longer */
    .step = 128,  /* bytes: from a line that is too near to the next one */
    .line = 32,   /* bytes: no line is shorter */
    .turns = 8,   /* places in a page */
};

/* A ring with what is read ahead. */
struct ahead {
    const struct walk_plan *plan;
    uint32_t *offset, *element; /* of all that is walked: where, and which of the plan's; owned */
    uint32_t *sorted;           /* offsets of the elements, ascending; owned */
    struct u64_map used;        /* words that are read ahead */
    size_t count, elements;
    int rc; /* of noting these */
};

static void ahead_free(struct ahead *a)
{
    free(a->offset);
    free(a->sorted);
    free(a->element);
    u64_map_free(&a->used);
}

static uint32_t page_of(const struct walk_plan *plan, size_t element)
{
    return (uint32_t)walk_offset(&plan->shape, element) / limits.page;
}

/* false: no memory. */
static bool ahead_create(struct ahead *a, const struct walk_plan *plan)
{
    const struct walk_shape *shape = &plan->shape;
    *a = (struct ahead){.plan = plan, .elements = shape->count};
    a->offset = malloc((2 * shape->count + 1) * sizeof *a->offset);
    a->element = malloc((2 * shape->count + 1) * sizeof *a->element);
    a->sorted = malloc((shape->count + 1) * sizeof *a->sorted);
    if (!a->offset || !a->element || !a->sorted) {
        return false;
    }
    for (size_t i = 0; i < shape->count; i++) {
        a->sorted[i] = (uint32_t)walk_offset(shape, i);
    }
    sort_u32(a->sorted, shape->count);
    return true;
}

/* Does an element lie less than `apart` bytes away? */
static bool is_near(const struct ahead *a, uint32_t offset, uint32_t apart)
{
    size_t i = first_from_u32(a->sorted, a->elements, offset >= apart ? offset - apart + 1 : 0);
    return i < a->elements && a->sorted[i] < offset + apart;
}

/* Takes the word at `offset`, unless it was taken, or is an element's. */
static bool take_word(struct ahead *a, uint32_t offset)
{
    bool takes = !is_near(a, offset, CHASE_WORD_BYTES) && !u64_map_find(&a->used, offset);
    if (takes) {
        a->rc = u64_map_put(&a->used, offset, 1);
    }
    return takes;
}

/* A word of the line that leads the page. */
static bool find_lead(struct ahead *a, uint32_t *out, uint32_t page)
{
    const struct walk_leads *leads = a->plan->leads;
    uint32_t begin = page * limits.page;
    size_t i = leads ? first_from_u32(leads->line, leads->count, begin) : 0;
    if (!leads || leads->turn || i == leads->count || leads->line[i] >= begin + limits.page) {
        return false;
    }
    bool found = false;
    for (uint32_t word = 0; word < limits.line && !found; word += CHASE_WORD_BYTES) {
        *out = leads->line[i] + word;
        found = take_word(a, *out);
    }
    return found;
}

/* A word of a line, unless an element is so near. */
static bool find_in_line(struct ahead *a, uint32_t *out, uint32_t line, uint32_t apart)
{
    bool found = false;
    for (uint32_t word = 0; word < limits.step && !found; word += CHASE_WORD_BYTES) {
        *out = line + word;
        found = !is_near(a, *out, apart) && take_word(a, *out);
    }
    return found;
}

/* A word of the page, half of it away from its first element, or elsewhere. */
static bool find_word(struct ahead *a, uint32_t *out, uint32_t page)
{
    uint32_t bytes = limits.page, begin = page * bytes;
    uint32_t first = a->sorted[first_from_u32(a->sorted, a->elements, begin)];
    uint32_t turn = a->plan->leads ? a->plan->leads->turn : 0;
    uint32_t from = (first - begin + bytes / 2 + turn * bytes / limits.turns) / limits.step;
    bool found = find_lead(a, out, page);
    for (uint32_t apart = limits.apart; apart > 0 && !found; apart /= 2) {
        for (uint32_t at = 0; at < bytes && !found; at += limits.step) {
            found = find_in_line(a, out, begin + (from * limits.step + at) % bytes, apart);
        }
    }
    return found;
}

static int fill(struct ahead *a)
{
    const struct walk_plan *plan = a->plan;
    size_t count = plan->shape.count;
    for (size_t i = 0; i < count && a->rc == 0; i++) {
        uint32_t page = page_of(plan, i), word = 0;
        bool same = count > 1 && page == page_of(plan, (i ? i : count) - 1);
        if (!same && find_word(a, &word, page)) {
            a->element[a->count] = WALK_FILLER;
            a->offset[a->count++] = word;
        }
        a->element[a->count] = (uint32_t)i;
        a->offset[a->count++] = (uint32_t)walk_offset(&plan->shape, i);
    }
    return a->rc;
}

/* As many records of elements as were asked for, or all of each pass; of one window no more than
 * one has. */
static void stretch(struct walk_plan *plan, size_t own, size_t all)
{
    assert(own > 0 && all >= own);
    uint64_t most = plan->most_window > plan->window ? plan->most_window : plan->window;
    most = most ? most : 1;
    uint64_t passes = plan->window / own, whole = most / all < passes ? most / all : passes;
    bool whole_passes = plan->window % own == 0;
    plan->warm = plan->warm / own * all + plan->warm % own * all / own;
    if (whole_passes && whole) {
        plan->windows =
            plan->windows > 1 ? (uint32_t)((plan->windows * passes + whole - 1) / whole) : 1;
        plan->window = (uint32_t)(whole * all);
        return;
    }
    uint64_t records = (uint64_t)plan->window * plan->windows * all / own;
    if (plan->windows > 1 || whole_passes) {
        plan->windows = (uint32_t)(records / most + 1);
        records += 2 * (uint64_t)plan->windows; /* one may begin and end with what is not kept */
    }
    records = records / plan->windows + 1;
    plan->window = (uint32_t)(records < most ? records : most);
}

/* The records of elements, of one window as many as were asked for; else the walk is freed. */
static int keep_own(struct lab *lab, struct walk *walk, const struct ahead *a,
                    const struct walk_plan *plan)
{
    bool one = plan->windows <= 1 && walk->windows <= 1;
    int rc = walk_keep(lab, walk, a->element, &plan->shape, one ? plan->window : walk->window);
    if (rc) {
        walk_free(walk);
    }
    return rc;
}

static int run_in_pages(struct lab *lab, struct walk *out, const struct walk_plan *plan,
                        const struct walk_filler *then)
{
    struct walk_plan own = *plan;
    struct ahead ahead;
    own.filler = then;
    if (plan->shape.count == 0 || plan->touch || plan->scale > 1 || plan->turns > 1) {
        return walk_run(lab, out, &own);
    }
    int rc = ahead_create(&ahead, plan) ? fill(&ahead) : error_memory();
    if (rc == 0) {
        own.shape = (struct walk_shape){.ring = ahead.offset, .count = ahead.count};
        stretch(&own, ahead.elements, ahead.count);
        rc = walk_run(lab, out, &own);
        rc = rc ? rc : keep_own(lab, out, &ahead, plan);
    }
    ahead_free(&ahead);
    return rc;
}

static int run_plain(struct lab *lab, struct walk *out, const struct walk_plan *plan)
{
    return run_in_pages(lab, out, plan, NULL);
}

static int run_after_hits(struct lab *lab, struct walk *out, const struct walk_plan *plan)
{
    return run_in_pages(lab, out, plan, &walk_after_hits);
}

const struct walk_filler walk_in_pages = {.run = run_plain};
const struct walk_filler walk_in_pages_after_hits = {.run = run_after_hits};
