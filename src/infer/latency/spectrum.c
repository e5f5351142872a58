/*
 * The latency-spectrum walk: uneven strides that make every kind of access in one run (Mei et al.,
 * NPC 2014, section 3.2). It begins with cold caches and reads each word once. A line is read again
 * at its next word, a page at another line. So the distance since the last load of the same line
 * and page decides what a load hits:
 *
 *      new pages, one after another         nothing
 *      new pages, from both ends in turn    nothing, and page tables far apart
 *      new lines of one page, each twice    its translation; then the line too
 *      the first pages again                the line, and no translation: more pages than fit
 *      the last of them again               the line, and the second level's translation
 *      new lines in these, then in all      the second level's translation, or the page table alone
 *      both ends in turn again              as the first pages again, page tables far apart
 *
 * Through an L1, lines of one page come in between, two to four times as many as L1 holds. Then the
 * lines of the other pages are in L2 alone.
 *
 * The distances, and the sizes of caches and TLBs that were measured before, predict what a load
 * hits. Distances near what fits predict nothing: a load counts only where the margin is a quarter
 * at least. For LRU the prediction is exact, for other policies likely.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/ask/walk.h"
#include "infer/latency/patterns.h"
#include "util/error.h"

/* Sizes of the walk. Chosen; Table 3 of Mei et al. comes out with them (roundtrip.published). */
static const struct {
    unsigned line_bytes, first_slot, jumps, new_lines;
    uint64_t least_page, default_page;
} limits = {
    .line_bytes = 128, /* bytes, where no line was measured */
    .first_slot = 5,   /* lines of a page that are left to page tables, which begin there */
    .jumps = 8,        /* new pages at each end */
    .new_lines = 32,   /* lines */
    .least_page = UINT64_C(64) << 10,  /* bytes */
    .default_page = UINT64_C(2) << 20, /* bytes, where no page was measured */
};

struct maker {
    struct spectrum *spectrum;
    const struct spectrum_plan *plan;
    uint64_t page, line;
    uint32_t slots;  /* lines of a page that can be read */
    size_t many;     /* pages, more than any TLB holds; 0 */
    size_t some;     /* pages, more than the first level holds and less than the second; 0 */
    size_t swept;    /* lines, more than L1 holds; 0: it is not swept */
    size_t distinct; /* pages that are visited */
    int rc;
};

/* The next word of a page's line that no load read before. */
static void visit(struct maker *m, size_t page, size_t slot)
{
    struct spectrum *spectrum = m->spectrum;
    uint64_t line = page * m->page + (limits.first_slot + slot % m->slots) * m->line, at = line;
    for (size_t i = 0; i < spectrum->count; i++) {
        at += spectrum->load[i].offset / m->line == line / m->line ? CHASE_WORD_BYTES : 0;
    }
    if (m->rc || at - line >= m->plan->fetch_bytes) {
        return; /* its first fetch holds no further word */
    }
    if (spectrum->count == spectrum->room) {
        m->rc = INFER_UNDECIDED;
        return;
    }
    spectrum->load[spectrum->count++] =
        (struct spectrum_load){.offset = (uint32_t)at, .page = (uint32_t)page};
}

/* A page's own line: other pages have theirs in other sets. */
static void visit_home(struct maker *m, size_t page)
{
    visit(m, page, page % 97);
}

static void visit_new(struct maker *m, size_t page, size_t which)
{
    visit(m, page, 128 + (page % 97) * 2 + which * 256);
}

static void sweep(struct maker *m)
{
    for (size_t i = 0; i < m->swept; i++) {
        visit(m, m->many ? m->many - 1 : 0, 1024 + i);
    }
}

static void both_ends(struct maker *m)
{
    size_t near = m->many, far = m->spectrum->pages - limits.jumps;
    m->distinct = m->many + (near + limits.jumps <= far ? 2 * limits.jumps : 0);
    for (size_t i = 0; near + limits.jumps <= far && i < limits.jumps; i++) {
        visit_home(m, near + i);
        visit_home(m, far + i);
    }
}

static void make(struct maker *m)
{
    size_t last = m->many ? m->many - 1 : 0;
    for (size_t i = 0; i < m->many; i++) {
        visit_home(m, i);
    }
    both_ends(m);
    for (size_t i = 0; i < limits.new_lines; i++) {
        visit(m, last, 256 + 8 * i);
        visit(m, last, 256 + 8 * i);
    }
    sweep(m);
    for (size_t i = 0; i < m->many; i++) {
        visit_home(m, i);
    }
    sweep(m);
    for (size_t i = m->many - m->some; i < m->many; i++) {
        visit_home(m, i);
    }
    for (size_t i = m->many - m->some; i < m->many; i++) {
        visit_new(m, i, 0);
    }
    for (size_t i = 0; i < m->many; i++) {
        visit_new(m, i, 1);
    }
    both_ends(m);
}

/* ---- what is expected ---- */

/* Distance 0: not read before in this walk; `first` is what that means. */
static enum outcome by_distance(uint64_t distance, uint64_t fits, enum outcome first)
{
    return !distance                  ? first
           : 4 * distance >= 5 * fits ? OUTCOME_MISS
           : 4 * distance <= 3 * fits ? OUTCOME_HIT
                                      : OUTCOME_OPEN;
}

/* For each load the next one of the same unit (a line, a page) that is not left out; owned. */
static size_t *find_next(const struct spectrum *spectrum, uint64_t unit, const bool *left_out)
{
    size_t *next = malloc((spectrum->count + 1) * sizeof *next);
    for (size_t i = 0; next && i < spectrum->count; i++) {
        next[i] = i + 1;
        while (next[i] < spectrum->count &&
               ((left_out && left_out[next[i]]) ||
                spectrum->load[next[i]].offset / unit != spectrum->load[i].offset / unit)) {
            next[i]++;
        }
    }
    return next;
}

/* Different units that were read since the one of load `i`, itself included; 0: never before. */
static uint64_t distance_back(const size_t *next, size_t i, const bool *left_out)
{
    size_t last = i;
    while (last-- > 0 && (next[last] != i || (left_out && left_out[last]))) {
    }
    uint64_t distance = last == SIZE_MAX ? 0 : 1;
    for (size_t k = last + 1; distance && k < i; k++) {
        distance += next[k] > i && !(left_out && left_out[k]);
    }
    return distance;
}

/* Distances of 0: not read before. */
static void expect(const struct maker *m, size_t i, uint64_t lines, uint64_t pages)
{
    const struct spectrum_plan *plan = m->plan;
    struct spectrum_load *load = &m->spectrum->load[i];
    load->l2 = by_distance(lines * m->line, plan->l2_bytes, OUTCOME_MISS);
    load->told = true;
    bool walks = true;
    for (size_t t = 0; t < 2; t++) {
        bool asked = walks && plan->tlb_pages[t];
        /* The pages were written in this order: those that are too many have left the TLB. */
        bool too_many = 4 * m->distinct >= 5 * plan->tlb_pages[t];
        enum outcome first = too_many ? OUTCOME_MISS : OUTCOME_OPEN;
        load->tlb[t] = asked ? by_distance(pages, plan->tlb_pages[t], first) : OUTCOME_OPEN;
        load->told = load->told && (!asked || load->tlb[t] != OUTCOME_OPEN);
        walks = walks && (!asked || load->tlb[t] == OUTCOME_MISS);
    }
    walks = walks && plan->tlb_pages[0];
    load->page_table = !walks ? OUTCOME_OPEN : pages ? OUTCOME_HIT : OUTCOME_MISS;
    uint64_t before = i ? m->spectrum->load[i - 1].page : load->page, own = load->page;
    load->jump = 2 * (own > before ? own - before : before - own) >= m->spectrum->pages;
}

static int expect_all(const struct maker *m)
{
    size_t *lines = find_next(m->spectrum, m->line, NULL),
           *pages = find_next(m->spectrum, m->page, NULL);
    for (size_t i = 0; lines && pages && i < m->spectrum->count; i++) {
        expect(m, i, distance_back(lines, i, NULL), distance_back(pages, i, NULL));
    }
    int rc = lines && pages ? 0 : error_memory();
    free(lines);
    free(pages);
    return rc;
}

/* ---- sizes ---- */

/*
 * How many pages: more than the last level that the buffer can exceed holds, and a number between
 * the two levels. No more, for their page tables must stay in L2.
 */
static void choose_pages(struct maker *m)
{
    const size_t *fits = m->plan->tlb_pages;
    size_t most = m->spectrum->pages;
    for (size_t t = 2; t-- > 0 && !m->many;) {
        size_t want = fits[t] + fits[t] / 4 + 1;
        m->many = fits[t] && want <= most ? want : 0;
        m->some = m->many && t == 1 && 2 * fits[0] <= fits[1] ? 3 * fits[1] / 4 : 0;
    }
    m->some = m->some > 3 * fits[0] ? 3 * fits[0] : m->some;
}

int spectrum_create(struct spectrum *out, struct lab *lab, const struct spectrum_plan *plan)
{
    struct maker m = {.spectrum = out,
                      .plan = plan,
                      .page = plan->page_bytes ? plan->page_bytes : limits.default_page,
                      .line =
                          plan->l2_line > limits.line_bytes ? plan->l2_line : limits.line_bytes};
    m.line = plan->l1_line > m.line ? plan->l1_line : m.line;
    *out = (struct spectrum){.room = plan->most_records,
                             .pages = (uint32_t)(plan->footprint_bytes / m.page)};
    if (m.page < limits.least_page || out->pages < 2 * limits.jumps) {
        return lab_undecided(lab, "pages of %llu B: too small or too large for a walk of lines",
                             (unsigned long long)m.page);
    }
    out->load = calloc(out->room, sizeof *out->load);
    if (!out->load) {
        return error_memory();
    }
    m.slots = (uint32_t)(m.page / m.line) - limits.first_slot;
    choose_pages(&m);
    uint64_t lines = plan->l1_bytes / m.line;
    for (uint64_t times = 4; times >= 2 && !m.swept; times -= 2) { /* some policies keep long */
        bool fits = 2 * times * lines + 1200 < out->room && times * lines + 1024 < m.slots;
        m.swept = fits ? (size_t)(times * lines) : 0;
    }
    make(&m);
    if (m.rc || out->count < limits.new_lines) {
        spectrum_free(out);
        return lab_undecided(lab, "a window of %u records, or a fetch of %u B, is too small for it",
                             plan->most_records, (unsigned)plan->fetch_bytes);
    }
    int rc = expect_all(&m);
    if (rc) {
        spectrum_free(out);
    }
    return rc;
}

int spectrum_settle(struct spectrum *spectrum, const struct spectrum_plan *plan, const bool *in_l1)
{
    uint64_t page = plan->page_bytes ? plan->page_bytes : limits.default_page;
    size_t *next = find_next(spectrum, page, in_l1);
    if (!next) {
        return error_memory();
    }
    for (size_t i = 0; i < spectrum->count; i++) {
        struct spectrum_load *load = &spectrum->load[i];
        uint64_t distance = in_l1[i] ? 0 : distance_back(next, i, in_l1);
        for (size_t t = 0; !in_l1[i] && t < 2; t++) {
            bool asked = load->tlb[t] != OUTCOME_OPEN;
            enum outcome now = by_distance(distance, plan->tlb_pages[t], load->tlb[t]);
            load->told = load->told && (!asked || now == load->tlb[t]);
        }
    }
    free(next);
    return 0;
}

void spectrum_free(struct spectrum *spectrum)
{
    free(spectrum->load);
    *spectrum = (struct spectrum){.load = NULL};
}
