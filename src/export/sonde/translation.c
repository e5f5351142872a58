/*
 * TLBs and the walker. A TLB's sets are pages modulo their number, where nothing else was found. Of
 * unequal sets as many pages fit as the smallest lets in, if they take pages in turn; where more
 * fit, those with about twice the entries get two residues, and so on, so that all fill up with the
 * same number of pages.
 */
#include <inttypes.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

#define MOST_RESIDUES 256 /* of the map of unequal sets */

static uint64_t entry_count(const json_t *list, size_t i)
{
    json_int_t count = json_integer_value(json_array_get(list, i));
    return count > 0 ? (uint64_t)count : 0;
}

static bool are_unequal(const json_t *list)
{
    for (size_t i = 1; i < json_array_size(list); i++) {
        if (entry_count(list, i) != entry_count(list, 0)) {
            return true;
        }
    }
    return false;
}

static bool are_ascending(const json_t *list)
{
    for (size_t i = 1; i < json_array_size(list); i++) {
        if (entry_count(list, i) < entry_count(list, i - 1)) {
            return false;
        }
    }
    return true;
}

/* The most pages that a first TLB held whole, or that were walked without a miss; 0: not told. */
static uint64_t pages_that_fit(const json_t *tlb)
{
    const json_t *first = json_array_get(json_object_get(tlb, "steps"), 0);
    uint64_t pages = saved_plain_u64(first, "pages", 0);
    return pages && saved_plain_u64(first, "missed", 0) ? pages - 1 : 0;
}

/*
 * Pages in turn fill sets alike, and the smallest overflows first: with the page that comes after
 * so many rows of them, in its place of a row. Where nothing tells how many fit, sets that are not
 * listed by their sizes are listed as pages come to them. False: sets are not in turn, or nothing
 * tells it.
 */
static bool in_turn(size_t *place, const json_t *list, size_t smallest, uint64_t fit)
{
    uint64_t sets = json_array_size(list), rows = entry_count(list, smallest) * sets;
    if (fit == 0) {
        *place = smallest;
        return !are_ascending(list);
    }
    *place = fit >= rows ? (size_t)(fit - rows) : 0;
    return fit >= rows && fit < rows + sets;
}

static size_t smallest_of(const json_t *list)
{
    size_t smallest = 0;
    for (size_t i = 1; i < json_array_size(list); i++) {
        smallest = entry_count(list, i) < entry_count(list, smallest) ? i : smallest;
    }
    return smallest;
}

/* Which set the pages of each place of a row come to. */
struct turn {
    size_t sets, set_at[MOST_RESIDUES];
    bool has_place[MOST_RESIDUES]; /* a set */
    bool is_taken[MOST_RESIDUES];  /* a place */
};

static void put_at(struct turn *turn, size_t place, size_t set)
{
    turn->set_at[place] = set;
    turn->is_taken[place] = turn->has_place[set] = true;
}

/* The first without a place that has so many entries; the number of sets: none. */
static size_t set_without_place(const struct turn *turn, const json_t *list, uint64_t entries)
{
    size_t set = 0;
    while (set < turn->sets && (turn->has_place[set] || entry_count(list, set) != entries)) {
        set++;
    }
    return set;
}

/* After the first, each set that overflows makes all of its pages miss, as LRU does: with the page
 * that comes after as many rows as it has entries. */
static void place_by_steps(struct turn *turn, const json_t *steps, const json_t *list)
{
    for (size_t i = 1; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i), *last = json_array_get(steps, i - 1);
        uint64_t rows = saved_plain_u64(last, "pages", 0) / turn->sets;
        size_t place = saved_plain_u64(last, "pages", 0) % turn->sets;
        uint64_t missed = saved_plain_u64(step, "missed", 0);
        uint64_t before = saved_plain_u64(last, "missed", 0);
        size_t set = set_without_place(turn, list, rows);
        if (missed <= before + 1) {
            continue; /* a page of a set that is too full, or of none */
        }
        if (saved_plain_u64(step, "pages", 0) != saved_plain_u64(last, "pages", 0) + 1 ||
            missed - before != rows + 1 || set == turn->sets || turn->is_taken[place]) {
            return;
        }
        put_at(turn, place, set);
    }
}

/* Each set once, the smallest in its place, those that overflow after it where they do, and the
 * others as they were told. */
static void map_in_turn(struct strbuf *map, const json_t *tlb, size_t smallest, size_t place)
{
    const json_t *list = json_object_get(tlb, "entries_per_set");
    struct turn turn = {.sets = json_array_size(list)};
    size_t next = 0;
    put_at(&turn, place, smallest);
    place_by_steps(&turn, json_object_get(tlb, "steps"), list);
    for (size_t residue = 0; residue < turn.sets; residue++) {
        while (!turn.is_taken[residue] && turn.has_place[next]) {
            next++;
        }
        strbuf_printf(map, "%s%zu", residue ? ", " : "",
                      turn.is_taken[residue] ? turn.set_at[residue] : next++);
    }
}

/* A set gets as many residues as it has entries more than the smallest. */
static void map_by_entries(struct strbuf *map, const json_t *list, uint64_t least)
{
    size_t residues = 0;
    for (size_t i = 0; i < json_array_size(list) && least > 0; i++) {
        uint64_t share = (entry_count(list, i) + least / 2) / least;
        for (uint64_t k = 0; k < share && residues < MOST_RESIDUES; k++) {
            strbuf_printf(map, "%s%zu", residues++ ? ", " : "", i);
        }
    }
}

static void unequal_lines(struct model_text *t, const json_t *tlb, const json_t *list,
                          const char *comment)
{
    size_t place, smallest = smallest_of(list);
    bool is_turn = json_array_size(list) <= MOST_RESIDUES &&
                   in_turn(&place, list, smallest, pages_that_fit(tlb));
    struct strbuf map = {0}, ways = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        strbuf_printf(&ways, "%s%" PRIu64, i ? ", " : "", entry_count(list, i));
    }
    if (is_turn) {
        map_in_turn(&map, tlb, smallest, place);
    } else {
        map_by_entries(&map, list, entry_count(list, smallest));
    }
    model_line(t, 1, comment, "sets: %zu", json_array_size(list));
    model_line(t, 1, comment, "ways_per_set: [%s]", strbuf_text(&ways));
    model_line(t, 1,
               !is_turn              ? "which pages share a set is a guess"
               : pages_that_fit(tlb) ? "pages in turn: so many fit"
                                     : "pages in turn, as the sets were listed",
               "index: {kind: map, map: [%s]}", strbuf_text(&map));
    strbuf_free(&map);
    strbuf_free(&ways);
}

static void equal_lines(struct model_text *t, const json_t *tlb, const char *comment,
                        const struct cache_spec *base)
{
    uint64_t entries, sets = 1;
    if (!saved_u64(&entries, tlb, "entries") || entries == 0) {
        return;
    }
    bool has_sets = saved_u64(&sets, tlb, "sets") && sets > 0 && entries % sets == 0;
    sets = has_sets ? sets : 1;
    for (uint64_t n = 2; !has_sets && entries / sets > MEM_MAX_WAYS && n <= entries; n++) {
        sets = entries % n == 0 ? n : sets;
    }
    if (entries / sets > MEM_MAX_WAYS) {
        model_line(t, 1, "",
                   "# %" PRIu64 " entries in %" PRIu64 " sets are more ways than a set has",
                   entries, sets);
        return;
    }
    model_line(t, 1, has_sets ? comment : "not measured: a guess", "sets: %" PRIu64, sets);
    model_line(t, 1, comment, "ways: %" PRIu64, entries / sets);
    model_line(t, 1, "", "ways_per_set: []");
    if (sets > 1 && base->sets == sets && base->index.kind != INDEX_MODULO) {
        model_line(t, 1, "", "# index: not measured, the base's");
    } else {
        model_line(t, 1, sets > 1 ? "not measured: a guess" : "", "index: {kind: modulo}");
    }
}

static const char *const scope_names[] = {
#define TLB_SCOPE(id, text, doc) [TLB_PER_##id] = (text),
#include "mem/tlb/scope.def"
#undef TLB_SCOPE
};

static enum tlb_scope scope_of(const json_t *tlb, enum tlb_scope otherwise)
{
    const char *scope = saved_text(tlb, "scope", "");
    for (size_t i = 0; i < sizeof(scope_names) / sizeof(scope_names[0]); i++) {
        if (strcmp(scope_names[i], scope) == 0) {
            return (enum tlb_scope)i;
        }
    }
    return otherwise;
}

/* Whether a level was looked for and shown not to exist. Nothing is shown by one that was refused,
 * nor where an earlier version told no reason. */
static bool shows_absent(const struct model_text *t, const char *id)
{
    const json_t *tlb = json_find_id(json_object_get(t->root, "tlbs"), id);
    return json_is_false(json_object_get(tlb, "present")) &&
           strcmp(saved_text(tlb, "status", ""), "absent") == 0;
}

/* Whom the first TLB serves: as it was told, else as the base's, or as the second, if that was told
 * to serve fewer. */
static enum tlb_scope scope_of_first(const struct model_text *t)
{
    enum tlb_scope base = t->base->tlb_l1.scope;
    enum tlb_scope most = scope_of(saved_tlb(t->root, "l2_tlb"), base);
    return scope_of(saved_tlb(t->root, "l1_tlb"), most < base ? most : base);
}

/* A second TLB serves no fewer SMs than the first, whatever was told of it or stands in the base.
 */
static void scope_line(struct model_text *t, const json_t *tlb)
{
    const json_t *first = saved_tlb(t->root, "l1_tlb");
    const char *scope = saved_text(tlb, "scope", "");
    enum tlb_scope least = scope_of_first(t);
    bool has_first = first || (!shows_absent(t, "l1_tlb") && t->base->tlb_l1.entries.enabled);
    if (has_first && tlb != first && scope_of(tlb, t->base->tlb_l2.scope) < least) {
        model_line(t, 1, "as the first: it serves no fewer", "scope: %s", scope_names[least]);
    } else if (*scope) {
        model_line(t, 1, "measured", "scope: %s", scope);
    } else if (tlb == first && least != t->base->tlb_l1.scope) {
        model_line(t, 1, "as the second: it serves no more", "scope: %s", scope_names[least]);
    }
}

/* Of the largest set; 0: not known. */
static uint64_t ways_of(const json_t *tlb)
{
    const json_t *list = json_object_get(tlb, "entries_per_set");
    uint64_t ways = 0, sets = 1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        ways = entry_count(list, i) > ways ? entry_count(list, i) : ways;
    }
    if (ways == 0 && saved_u64(&ways, tlb, "entries") && saved_u64(&sets, tlb, "sets") && sets) {
        ways /= sets;
    }
    return ways;
}

/* A second TLB's pages are made of the first's. */
static void page_of_entry(struct model_text *t, const json_t *tlb, const struct cache_spec *base)
{
    const json_t *first = saved_tlb(t->root, "l1_tlb");
    uint64_t page = base->line_bytes, whole = t->base->tlb_l1.entries.line_bytes;
    struct saved_value value;
    char comment[MODEL_COMMENT_BYTES] = "";
    bool is_told = saved_u64(&page, tlb, "page") && saved_value(&value, tlb, "page") && page > 0;
    saved_u64(&whole, first, "page");
    bool has_first = first || (!shows_absent(t, "l1_tlb") && t->base->tlb_l1.entries.enabled);
    if (tlb != first && has_first && whole > 0 && page % whole != 0) {
        model_line(t, 1, "as the first's, of which it is made", "page: %" PRIu64 " B", whole);
    } else if (is_told) {
        model_line(t, 1, model_measured(comment, &value), "page: %" PRIu64 " B", page);
    }
}

static void entry_lines(struct model_text *t, const json_t *tlb, const struct cache_spec *base)
{
    struct saved_value value;
    char comment[MODEL_COMMENT_BYTES] = "";
    page_of_entry(t, tlb, base);
    scope_line(t, tlb);
    if (saved_value(&value, tlb, "entries")) {
        model_measured(comment, &value);
    }
    const json_t *list = json_object_get(tlb, "entries_per_set");
    if (are_unequal(list)) {
        unequal_lines(t, tlb, list, comment);
    } else {
        equal_lines(t, tlb, comment, base);
    }
    model_replacement(t, tlb, ways_of(tlb), &base->replacement);
}

/* Whether a level was sought and not found; behind a first one that was not, no second is sought.
 */
static bool was_refused(const struct model_text *t, const char *id)
{
    const json_t *tlbs = json_object_get(t->root, "tlbs");
    return !saved_tlb(t->root, id) && json_array_size(tlbs) > 0 && !shows_absent(t, id) &&
           !shows_absent(t, "l1_tlb");
}

/* Whether the base's second TLB can stand behind the first that was found. */
static bool is_base_behind(const struct model_text *t)
{
    const struct tlb_spec *base = &t->base->tlb_l2;
    const json_t *first = saved_tlb(t->root, "l1_tlb");
    uint64_t span = base->entries.line_bytes, page = span;
    saved_u64(&page, first, "page");
    return page > 0 && span % page == 0 && scope_of(first, t->base->tlb_l1.scope) <= base->scope;
}

/* Whether the base's second TLB translates all of memory. */
static bool is_beyond_memory(const struct model_text *t)
{
    const struct tlb_spec *base = &t->base->tlb_l2;
    uint64_t entries = (uint64_t)base->entries.sets * base->entries.ways;
    for (uint32_t set = 0; set < base->entries.unequal_count; set++) {
        entries += base->entries.ways_per_set[set];
    }
    uint64_t memory = saved_plain_u64(json_object_get(t->root, "device"), "memory_bytes", 0);
    return memory > 0 && memory / base->entries.line_bytes < entries;
}

bool model_keeps_second_tlb(const struct model_text *t)
{
    return saved_tlb(t->root, "l1_tlb") && !saved_tlb(t->root, "l2_tlb") &&
           t->base->tlb_l2.entries.enabled && is_base_behind(t) &&
           (was_refused(t, "l2_tlb") || is_beyond_memory(t));
}

bool model_has_second_tlb(const struct model_text *t)
{
    bool is_absent = shows_absent(t, "l1_tlb") || shows_absent(t, "l2_tlb") ||
                     (was_refused(t, "l2_tlb") && !is_base_behind(t));
    return saved_tlb(t->root, "l2_tlb") || model_keeps_second_tlb(t) ||
           (!is_absent && t->base->tlb_l2.entries.enabled);
}

/* A level that was not found: shown to be absent, as is what would stand behind one that is; or
 * not measured, which leaves the base's, where that can stand behind the first. */
static void missing_lines(struct model_text *t, const char *name, const char *id)
{
    bool is_second = strcmp(id, "l2_tlb") == 0;
    bool is_kept = is_second && model_keeps_second_tlb(t);
    if (was_refused(t, id)) {
        bool fits = !is_second || !t->base->tlb_l2.entries.enabled || is_base_behind(t);
        model_line(t, 0, "", "# %s was not measured: %s", name,
                   fits ? "that of the base" : "the base's cannot stand behind the first");
        if (!fits) {
            model_line(t, 0, "", "%s:", name);
            model_line(t, 1, "not measured: a guess", "enabled: false");
        }
    } else if (!is_kept && (shows_absent(t, id) || shows_absent(t, "l1_tlb"))) {
        model_line(t, 0, "", "%s:", name);
        model_line(t, 1, "measured", "enabled: false");
    }
}

static bool section(struct model_text *t, const char *name, const char *id,
                    const struct cache_spec *base)
{
    const json_t *tlb = saved_tlb(t->root, id);
    if (!tlb) {
        missing_lines(t, name, id);
        return false;
    }
    model_line(t, 0, "", "%s:", name);
    model_line(t, 1, "", "enabled: true");
    entry_lines(t, tlb, base);
    return true;
}

static void penalty_comment(char *comment, const struct model_text *t, const char *id)
{
    struct saved_value value;
    *comment = '\0';
    if (saved_value(&value, saved_tlb(t->root, id), "miss_penalty")) {
        model_sum(comment, "with what lies around it", &value);
    }
}

/* Pages are at most what a first TLB's entry translates. */
static void page_line(struct model_text *t)
{
    uint64_t page, second, memory = t->base->vm.memory_bytes;
    if (!saved_u64(&page, saved_tlb(t->root, "l1_tlb"), "page") || page == 0) {
        return;
    }
    if (saved_u64(&second, saved_tlb(t->root, "l2_tlb"), "page") && second > 0 && second < page) {
        page = second;
    }
    bool is_base = t->base->vm.page_bytes < page && page % t->base->vm.page_bytes == 0;
    page = is_base ? t->base->vm.page_bytes : page;
    memory = saved_plain_u64(json_object_get(t->root, "device"), "memory_bytes", memory);
    model_line(t, 0, "", "vm:");
    model_line(t, 1,
               is_base ? "the base's; a TLB's entry translates more"
                       : "what a TLB's entry translates",
               "page: %" PRIu64 " B", page);
    model_line(t, 1, "the driver's word", "memory: %" PRIu64 " B", memory / page * page);
}

void model_translation(struct model_text *t, const struct latency_plan *plan)
{
    char comment[MODEL_COMMENT_BYTES];
    page_line(t);
    if (section(t, "tlb_l1", "l1_tlb", &t->base->tlb_l1.entries)) {
        model_line(t, 1, "of what a miss costs", "miss_latency: %" PRIu32 " cycles",
                   plan->tlb_l1_miss);
        model_line(t, 1, "of it, too", "fill_latency: %" PRIu32 " cycles", plan->tlb_l1_fill);
    }
    bool is_kept =
        model_keeps_second_tlb(t) && plan->tlb_l2_hit != t->base->tlb_l2.entries.hit_cycles;
    if (section(t, "tlb_l2", "l2_tlb", &t->base->tlb_l2.entries) || is_kept) {
        if (is_kept) {
            model_line(t, 0, "", "tlb_l2:");
        }
        penalty_comment(comment, t, "l1_tlb");
        model_line(t, 1, comment, "hit_latency: %" PRIu32 " cycles", plan->tlb_l2_hit);
    }
    if (saved_tlb(t->root, "l1_tlb")) {
        penalty_comment(comment, t, "l2_tlb");
        model_line(t, 0, "", "walker:");
        model_line(t, 1, comment, "latency: %" PRIu32 " cycles", plan->walker);
        model_line(t, 1, "", "levels: %" PRIu32, plan->walker_levels);
        for (uint32_t i = 0; i < plan->walker_levels; i++) {
            if (plan->walker_span[i]) {
                model_line(t, 1, "measured: so many new pages read from memory",
                           "level%" PRIu32 ": {span: %" PRIu64 " B}", i + 1, plan->walker_span[i]);
            }
        }
        model_line(t, 1, "from P6 and P5, where they were measured",
                   "switch_latency: %" PRIu32 " cycles", plan->window_switch);
    }
}
