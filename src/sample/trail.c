/*
 * Stamps and what is needed to take a launch back. A word for each line of the whole range, of
 * which the host's kernel provides what is used:
 *
 *     31                        3   2        1       0
 *     | stamp of the last block | steers | dirty | saved |
 *
 * A block has one stamp; lines of one block keep no order. `saved`: the launch on its way has
 * written the line, and what was there is kept. `steers`: what lies in the line steers the
 * launch, which is being written down (again.h).
 *
 * Left out: textures' texels, which only count as accesses; what instructions do without an access
 * or a call of touches(), for which the caller does not ask.
 */
#include "sample/trail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exec/memory/direct.h"
#include "exec/memory/memory.h"
#include "exec/ops.h"
#include "exec/program.h"
#include "sample/again.h"
#include "sample/code.h"
#include "sample/inside.h"
#include "sample/terms.h"
#include "util/container/vec.h"
#include "util/error.h"

#define LINE_SHIFT 7
_Static_assert(TRAIL_LINE_BYTES == 1 << LINE_SHIFT && DIRECT_LINE_BYTES == TRAIL_LINE_BYTES,
               "lines are told by their numbers");
#define SAVED 1u
#define DIRTY 2u
#define STEERS 4u
#define STAMP_SHIFT 3
#define LINES_WORTH 4

static const struct {
    uint32_t stamp_most;    /* of 29 bits */
    uint64_t recent_shares; /* lines that are remembered, in parts of what the cache holds */
} limits = {.stamp_most = (1u << 29) - 2, .recent_shares = LINES_WORTH};

struct touched {
    uint64_t line;
    uint32_t before;
};

/* A launch that was kept. */
struct epoch {
    uint32_t stamp;
    uint64_t lines; /* touched before it, by all */
};

struct trail {
    struct exec_observer observer;
    const struct exec_memory *memory;
    uint64_t base, line_count, cache_lines;
    uint32_t *line;
    uint32_t stamp, first, warmed; /* of this block; this launch's; when the caches were right */
    uint32_t gone;                 /* what was touched before is out of the cache */
    size_t oldest;                 /* the epoch with that stamp */
    VEC(struct epoch) epochs;
    uint64_t all_lines;
    VEC(struct touched) touched;
    VEC(uint64_t) saved; /* lines, whose bytes lie in the same order in: */
    uint8_t *bytes;
    size_t bytes_capacity;
    VEC(uint64_t) recent;
    struct trail_counts counts;
    VEC(struct code *) codes; /* of all kernels so far */
    struct code *code;        /* of this launch */
    bool each_wanted;
    uint64_t insns_before; /* this block of threads */
    double passes_before;
    struct trail_counts before; /* likewise */
    VEC(struct inside_block) each;
    bool failed;
    struct again_all again;
    struct again *next, *written; /* what the next launch, and this one, is written down as */
    struct again *repeated;       /* what this one does again; it is not executed */
    bool results;                 /* whose results are to be kept */
    bool outside;                 /* it has touched memory of the host */
    bool unfit;                   /* what steers this one is not known */
};

static struct trail *trail_of(const struct exec_warp *warp)
{
    return warp->cta->observed;
}

/* ---- lines ---- */

static void save(struct trail *t, uint64_t line)
{
    size_t count = t->saved.count;
    if (vec_push(&t->saved, line) < 0 ||
        vec_grow((void **)&t->bytes, &t->bytes_capacity, count + 1, TRAIL_LINE_BYTES) < 0) {
        t->failed = true;
        return;
    }
    memcpy(t->bytes + count * TRAIL_LINE_BYTES,
           (const uint8_t *)(uintptr_t)(t->base + (line << LINE_SHIFT)), TRAIL_LINE_BYTES);
}

/* The block has not touched the line yet, or the launch has not written it. */
static void touch_anew(struct trail *t, uint64_t line, bool writes)
{
    uint32_t entry = t->line[line], stamp = entry >> STAMP_SHIFT;
    if (stamp != t->stamp) {
        t->counts.visits++;
    }
    if (stamp < t->first) {
        t->counts.missing += stamp < t->gone;
        if (vec_push(&t->touched, (struct touched){line, entry}) < 0) {
            t->failed = true;
        }
        /* What has left the cache since is clean; what it holds it knows to be dirty. */
        entry = stamp > t->warmed && stamp >= t->gone ? entry & DIRTY : 0;
    }
    if (writes && !(entry & SAVED)) {
        save(t, line);
        entry |= SAVED | DIRTY;
    }
    t->line[line] = t->stamp << STAMP_SHIFT | (entry & (SAVED | DIRTY | STEERS));
}

static inline void touch(struct trail *t, uint64_t line, bool writes)
{
    if (line >= t->line_count) {
        t->outside = true; /* of the host's */
        return;
    }
    uint32_t entry = t->line[line];
    if (entry >> STAMP_SHIFT != t->stamp || (writes && !(entry & SAVED))) {
        touch_anew(t, line, writes);
    }
}

static void touch_range(struct trail *t, uint64_t address, uint64_t bytes, bool writes)
{
    uint64_t last = (address + bytes - 1 - t->base) >> LINE_SHIFT;
    for (uint64_t line = (address - t->base) >> LINE_SHIFT; line <= last; line++) {
        touch(t, line, writes);
    }
}

/* ---- what steers ---- */

static inline bool is_steered_by(const struct trail *t, uint32_t pc)
{
    return t->written && t->code->steering.loads[pc];
}

/* The line has been touched. */
static void steers(struct trail *t, uint64_t line)
{
    if (line >= t->line_count || (t->line[line] & SAVED)) {
        t->unfit = true;
    } else if (!(t->line[line] & STEERS)) {
        t->failed |= again_read(t->written, line, t->base) < 0;
        t->line[line] |= STEERS;
    }
}

static void range_steers(struct trail *t, uint64_t address, uint64_t bytes)
{
    uint64_t last = (address + bytes - 1 - t->base) >> LINE_SHIFT;
    for (uint64_t line = (address - t->base) >> LINE_SHIFT; line <= last; line++) {
        steers(t, line);
    }
}

static void access_steers(struct trail *t, const struct exec_access *access, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        range_steers(t, access->address[lowest_lane(rest)], (uint64_t)access->bytes * access->vec);
    }
}

static void reach_steers(struct trail *t, const struct direct_reach *reach)
{
    for (uint32_t i = 0; i < reach->spans; i++) {
        range_steers(t, reach->span[i].first, reach->span[i].bytes);
    }
    for (uint32_t i = 0; !reach->spans && i < reach->lines; i++) {
        steers(t, reach->line[i] - (t->base >> LINE_SHIFT));
    }
}

/* ---- what is observed ---- */

/* Lanes each at an address of its own. */
static void scattered(struct trail *t, const uint64_t address[WARP_LANES], uint32_t mask,
                      uint64_t bytes, bool writes)
{
    uint64_t line_before = UINT64_MAX, sector_before = UINT64_MAX;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t at = address[lowest_lane(rest)];
        uint64_t line = (at - t->base) >> LINE_SHIFT, sector = at / DIRECT_SECTOR_BYTES;
        t->counts.sectors += sector != sector_before;
        sector_before = sector;
        if (line != line_before) {
            line_before = line;
            touch(t, line, writes);
        }
        if ((at & (TRAIL_LINE_BYTES - 1)) + bytes > TRAIL_LINE_BYTES) {
            touch(t, line + 1, writes);
        }
    }
}

static void global_access(struct trail *t, const struct exec_access *access, uint32_t mask)
{
    bool writes = access->kind == ACCESS_STORE || access->kind == ACCESS_ATOMIC ||
                  access->kind == ACCESS_REDUCTION;
    uint64_t bytes = (uint64_t)access->bytes * access->vec;
    t->counts.accesses++;
    if (access->contiguous) {
        uint64_t first = access->address[0], end = access->address[WARP_LANES - 1] + bytes;
        t->counts.sectors += (end - 1) / DIRECT_SECTOR_BYTES - first / DIRECT_SECTOR_BYTES + 1;
        touch_range(t, first, end - first, writes);
    } else {
        scattered(t, access->address, mask, bytes, writes);
    }
    if (is_steered_by(t, access->pc)) {
        access_steers(t, access, mask);
    }
}

static void reaches(struct exec_warp *warp, bool stores, const struct direct_reach *reach)
{
    struct trail *t = trail_of(warp);
    uint64_t before = UINT64_MAX;
    t->counts.accesses++;
    for (uint32_t i = 0; i < reach->spans; i++) {
        const struct direct_span *span = &reach->span[i];
        uint64_t first = span->first / DIRECT_SECTOR_BYTES,
                 last = (span->first + span->bytes - 1) / DIRECT_SECTOR_BYTES;
        t->counts.sectors += last - first + (first != before);
        before = last;
        touch_range(t, span->first, span->bytes, stores);
    }
    if (!reach->spans) {
        t->counts.sectors += reach->sectors;
        for (uint32_t i = 0; i < reach->lines; i++) {
            touch(t, reach->line[i] - (t->base >> LINE_SHIFT), stores);
        }
    }
    if (is_steered_by(t, warp->pc)) {
        reach_steers(t, reach);
    }
}

static void accesses(struct exec_warp *warp, const struct exec_access *access)
{
    struct trail *t = trail_of(warp);
    if (access->kind > ACCESS_REDUCTION && access->kind != ACCESS_COPY) {
        t->counts.accesses += access->kind == ACCESS_TEXTURE;
        return;
    }
    if (access->space == SPACE_GLOBAL || access->space == SPACE_CONST) {
        global_access(t, access, access->mask);
    } else if (access->space == SPACE_SHARED) {
        t->failed |= passes_look(&t->code->passes, access->pc, access) < 0;
    } else if (access->space == SPACE_NONE) {
        uint32_t mask = 0;
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            if (access->lane_space[lowest_lane(rest)] == SPACE_GLOBAL) {
                mask |= rest & -rest;
            }
        }
        if (mask) {
            global_access(t, access, mask);
        }
    }
}

static void touches(struct exec_warp *warp, uint32_t lane, uint64_t address, uint64_t bytes,
                    bool writes)
{
    (void)lane;
    if (generic_space(address) == SPACE_GLOBAL) {
        touch_range(trail_of(warp), address, bytes, writes);
    }
}

static void refused(struct exec_warp *warp, const struct exec_access *access, uint32_t lane,
                    enum isa_space space, uint64_t bytes)
{
    (void)access;
    (void)lane;
    (void)space;
    (void)bytes;
    trail_of(warp)->failed = true;
}

/* NULL: no memory for it. */
static struct code *code_of(struct trail *t, const struct exec_program *program)
{
    for (size_t i = 0; i < t->codes.count; i++) {
        if (code_is_of(t->codes.data[i], program)) {
            return t->codes.data[i];
        }
    }
    struct code *code;
    if (code_create(&code, program) < 0 || vec_push(&t->codes, code) < 0) {
        code_destroy(code);
        return NULL;
    }
    return code;
}

static void *begins(void *ctx, const struct exec_launch *launch, const uint8_t **watch)
{
    struct trail *t = ctx;
    t->code = code_of(t, launch->program);
    if (!t->code) {
        return NULL;
    }
    code_begin(t->code);
    *watch = t->code->watch;
    return t;
}

static const struct exec_counts *counts(void *launch)
{
    const struct trail *t = launch;
    return &t->code->counts;
}

static void ends(void *launch)
{
    (void)launch;
}

static int cta_begins(void *launch, struct exec_cta *cta, struct exec_warp *const *warps,
                      uint32_t warp_count)
{
    struct trail *t = launch;
    (void)warps;
    (void)warp_count;
    cta->observed = t;
    t->counts.ctas++;
    if (t->stamp < limits.stamp_most) {
        t->stamp++;
    } else {
        t->failed = true;
    }
    return 0;
}

/* Of blocks in flight together the counts are mixed; nobody asks for them. */
static void cta_ends(void *launch, struct exec_cta *cta)
{
    struct trail *t = launch;
    struct inside_block block;
    double term[TERM_COUNT];
    (void)cta;
    if (!t->each_wanted) {
        return;
    }
    uint64_t insns = code_insns(t->code);
    double passes = passes_sum(&t->code->passes);
    terms_weigh(term, insns - t->insns_before, t->counts.sectors - t->before.sectors,
                t->counts.missing - t->before.missing,
                (uint64_t)fmax(passes - t->passes_before + 0.5, 0));
    for (int i = 0; i < TERM_COUNT; i++) {
        block.term[i] = (float)term[i];
    }
    t->before = t->counts;
    t->insns_before = insns;
    t->passes_before = passes;
    if (vec_push(&t->each, block) < 0) {
        t->failed = true;
    }
}

static void arrives(struct exec_warp *warp)
{
    (void)warp;
}

static void released(struct exec_warp *warp, uint64_t warps, bool by_exit)
{
    (void)warp;
    (void)warps;
    (void)by_exit;
}

/* ---- a launch ---- */

static void begin(struct trail *t)
{
    vec_clear(&t->touched);
    vec_clear(&t->saved);
    vec_clear(&t->each);
    t->counts = t->before = (struct trail_counts){0};
    t->insns_before = 0;
    t->passes_before = 0;
    t->failed = false;
    t->first = t->stamp + 1;
    uint64_t kept = t->all_lines > t->cache_lines ? t->all_lines - t->cache_lines : 0;
    while (t->oldest + 1 < t->epochs.count && t->epochs.data[t->oldest + 1].lines <= kept) {
        t->oldest++;
    }
    t->gone = kept > 0 && t->epochs.count > 0 ? t->epochs.data[t->oldest].stamp : 1;
    t->repeated = NULL;
    t->unfit = t->outside = false;
}

const struct exec_observer *trail_begin(struct trail *t)
{
    begin(t);
    t->written = t->next;
    t->next = NULL;
    return &t->observer;
}

bool trail_failed(const struct trail *t)
{
    return t->failed;
}

uint64_t trail_ctas(const struct trail *t)
{
    return t->counts.ctas;
}

void trail_counts(const struct trail *t, struct trail_counts *out)
{
    if (t->repeated) {
        *out = t->repeated->counts;
        out->missing = t->counts.missing;
        return;
    }
    *out = t->counts;
    out->passes = (uint64_t)(passes_sum(&t->code->passes) + 0.5);
    out->lines = t->touched.count;
    out->blocks = t->code->blocks;
    out->length = t->code->length;
    out->each = t->each.data;
}

static void forget_flags(struct trail *t)
{
    for (size_t i = 0; i < t->saved.count; i++) {
        t->line[t->saved.data[i]] &= ~SAVED;
    }
    if (!t->written) {
        return;
    }
    for (size_t i = 0; i < t->written->read.count; i++) {
        t->line[t->written->read.data[i]] &= ~STEERS;
    }
    if (!t->written->known) {
        again_clear(&t->again, t->written);
    }
    t->written = NULL;
}

/* ---- launches that do again what one before did ---- */

/* The line is touched as the launch did then; the blocks of this one have stamps from `first` on.
 */
static void touch_again(struct trail *t, const struct again_line *line)
{
    uint32_t entry = t->line[line->line], stamp = entry >> STAMP_SHIFT;
    t->counts.missing += stamp < t->gone;
    t->touched.data[t->touched.count++] = (struct touched){line->line, entry};
    uint32_t dirty = stamp > t->warmed && stamp >= t->gone ? entry & DIRTY : 0;
    t->line[line->line] =
        (t->first - 1 + line->block) << STAMP_SHIFT | dirty | (line->wrote ? DIRTY : 0);
}

static void repeat(struct trail *t, struct again *again)
{
    begin(t);
    for (size_t i = 0; i < again->lines.count; i++) {
        touch_again(t, &again->lines.data[i]);
    }
    t->stamp += (uint32_t)again->counts.ctas;
    t->repeated = again;
}

bool trail_again(struct trail *t, const struct exec_launch *launch, uint64_t kernel,
                 uint64_t *warp_insns, uint64_t *thread_insns)
{
    struct code *code = code_of(t, launch->program);
    t->next = NULL;
    if (!code || !code->steering.known || t->each_wanted || launch->cooperative ||
        launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1) {
        return false;
    }
    struct again *again = again_of(&t->again, launch, kernel, &code->steering);
    if (!again) {
        return false;
    }
    if (again_is_same(again, t->base) && again->counts.ctas < limits.stamp_most - t->stamp &&
        vec_reserve(&t->touched, again->lines.count) == 0) {
        repeat(t, again);
        *warp_insns = again->warp_insns;
        *thread_insns = again->thread_insns;
        return true;
    }
    if (again_is_wanted(&t->again, again)) {
        again_clear(&t->again, again);
        t->next = again;
    }
    return false;
}

bool trail_redo(struct trail *t, const struct exec_launch *launch)
{
    bool done = again_redo(t->repeated, launch);
    t->results = !done && again_results_begin(&t->again, t->repeated, launch);
    return done;
}

void trail_redone(struct trail *t, const struct exec_launch *launch)
{
    if (t->results) {
        again_results_end(t->repeated, launch);
    }
}

static int write_lines(const struct trail *t, struct again *again)
{
    int rc = vec_reserve(&again->lines, t->touched.count);
    for (size_t i = 0; rc == 0 && i < t->touched.count; i++) {
        uint64_t line = t->touched.data[i].line;
        uint32_t entry = t->line[line], block = (entry >> STAMP_SHIFT) - t->first + 1;
        again->lines.data[again->lines.count++] =
            (struct again_line){.line = line, .block = block, .wrote = entry & SAVED};
    }
    return rc;
}

void trail_write_down(struct trail *t, uint64_t warp_insns, uint64_t thread_insns)
{
    struct again *again = t->written;
    if (!again) {
        return;
    }
    if (t->unfit) {
        t->code->steering.known = false;
        return;
    }
    struct trail_counts counts;
    trail_counts(t, &counts);
    uint64_t *blocks = malloc((counts.length + 1) * sizeof *blocks);
    if (!blocks || write_lines(t, again) < 0) {
        free(blocks);
        return;
    }
    memcpy(blocks, counts.blocks, counts.length * sizeof *blocks);
    counts.blocks = blocks;
    again->counts = counts;
    again->warp_insns = warp_insns;
    again->thread_insns = thread_insns;
    again->closed = !t->outside && !t->code->steering.reads_constants;
    again_keep(&t->again, again);
}

static int by_stamp(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Of what is remembered, only what was touched last. */
static void forget_old(struct trail *t)
{
    size_t most = (size_t)(t->cache_lines * limits.recent_shares), kept = 0;
    if (t->recent.count <= 2 * most) {
        return;
    }
    uint32_t *stamps = malloc(t->recent.count * sizeof *stamps);
    if (!stamps) {
        return;
    }
    for (size_t i = 0; i < t->recent.count; i++) {
        stamps[i] = t->line[t->recent.data[i]] >> STAMP_SHIFT;
    }
    qsort(stamps, t->recent.count, sizeof *stamps, by_stamp);
    uint32_t least = stamps[t->recent.count - most];
    free(stamps);
    for (size_t i = 0; i < t->recent.count; i++) {
        if (t->line[t->recent.data[i]] >> STAMP_SHIFT >= least) {
            t->recent.data[kept++] = t->recent.data[i];
        }
    }
    t->recent.count = kept;
}

static void note_epoch(struct trail *t)
{
    if (vec_push(&t->epochs, (struct epoch){t->first, t->all_lines}) < 0) {
        t->epochs.count = t->oldest = 0;
    }
    t->all_lines += t->touched.count;
}

void trail_keep(struct trail *t)
{
    forget_flags(t);
    note_epoch(t);
    for (size_t i = 0; i < t->touched.count; i++) {
        /* What is remembered already has an entry. */
        if (t->touched.data[i].before >> STAMP_SHIFT <= t->warmed &&
            vec_push(&t->recent, t->touched.data[i].line) < 0) {
            vec_clear(&t->recent);
        }
    }
    forget_old(t);
}

/* ---- caches ---- */

struct recent_line {
    uint64_t line;
    uint32_t entry;
};

static int by_time(const void *a, const void *b)
{
    const struct recent_line *x = a, *y = b;
    if (x->entry >> STAMP_SHIFT != y->entry >> STAMP_SHIFT) {
        return x->entry < y->entry ? -1 : 1;
    }
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Lines that launches without timing have touched since the caches were right. */
static void warm(struct trail *t, trail_touch *touch_line, void *ctx)
{
    size_t count = 0;
    struct recent_line *list = malloc((t->recent.count + 1) * sizeof *list);
    for (size_t i = 0; list && i < t->recent.count; i++) {
        uint64_t line = t->recent.data[i];
        if (t->line[line] >> STAMP_SHIFT > t->warmed) {
            list[count++] = (struct recent_line){line, t->line[line]};
        }
    }
    if (list && count > 0) {
        qsort(list, count, sizeof *list, by_time);
    }
    size_t most = (size_t)(2 * t->cache_lines), from = count > most ? count - most : 0;
    for (size_t i = from; i < count; i++) {
        touch_line(ctx, t->base + (list[i].line << LINE_SHIFT), list[i].entry & DIRTY);
    }
    free(list);
    vec_clear(&t->recent);
}

void trail_warm(struct trail *t, trail_touch *touch_line, void *ctx)
{
    warm(t, touch_line, ctx);
    t->warmed = t->stamp;
}

static void swap_entries(struct trail *t)
{
    for (size_t i = 0; i < t->touched.count; i++) {
        struct touched *touched = &t->touched.data[i];
        uint32_t now = t->line[touched->line];
        t->line[touched->line] = touched->before;
        touched->before = now;
    }
}

void trail_take_back(struct trail *t, trail_touch *touch_line, void *ctx)
{
    forget_flags(t);
    for (size_t i = 0; i < t->saved.count; i++) {
        memcpy((uint8_t *)(uintptr_t)(t->base + (t->saved.data[i] << LINE_SHIFT)),
               t->bytes + i * TRAIL_LINE_BYTES, TRAIL_LINE_BYTES);
    }
    swap_entries(t);
    warm(t, touch_line, ctx);
    swap_entries(t);
    t->warmed = t->stamp;
    note_epoch(t);
}

/* ---- as an object ---- */

int trail_create(struct trail **out, const struct exec_memory *memory, uint64_t cache_bytes,
                 bool each)
{
    struct trail *t = calloc(1, sizeof *t);
    *out = t;
    if (!t) {
        return error_memory();
    }
    t->memory = memory;
    t->each_wanted = each;
    t->base = exec_memory_base(memory);
    t->line_count = exec_memory_range_bytes(memory) >> LINE_SHIFT;
    t->cache_lines = cache_bytes / TRAIL_LINE_BYTES + 1;
    t->observer = (struct exec_observer){.ctx = t,
                                         .begins = begins,
                                         .ends = ends,
                                         .cta_begins = cta_begins,
                                         .cta_ends = cta_ends,
                                         .counts = counts,
                                         .accesses = accesses,
                                         .reaches = reaches,
                                         .refused = refused,
                                         .touches = touches,
                                         .arrives = arrives,
                                         .released = released};
    void *range = mmap(NULL, t->line_count * sizeof *t->line, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    t->line = range == MAP_FAILED ? NULL : range;
    if (!t->line) {
        trail_destroy(t);
        *out = NULL;
        return error_memory();
    }
    return 0;
}

void trail_destroy(struct trail *t)
{
    if (!t) {
        return;
    }
    if (t->line) {
        munmap(t->line, t->line_count * sizeof *t->line);
    }
    vec_free(&t->epochs);
    vec_free(&t->touched);
    vec_free(&t->saved);
    vec_free(&t->recent);
    free(t->bytes);
    for (size_t i = 0; i < t->codes.count; i++) {
        code_destroy(t->codes.data[i]);
    }
    again_free(&t->again);
    vec_free(&t->codes);
    vec_free(&t->each);
    free(t);
}
