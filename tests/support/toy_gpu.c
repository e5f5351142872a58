/*
 * See toy_gpu.h. A cache has a tag, a sector mask and a word of policy state for each way, in
 * arrays of their own, for most of the time goes by in searching them; a request is answered by
 * walking it. Fills of a cold set take its ways in order.
 */
#include "support/toy_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/toy_source.h"
#include "support/unchecked.h"
#include "util/error.h"
#include "util/rng.h"

struct set {
    uint64_t *tag, *age, *sectors; /* of each way; of the first `used` they mean something */
    uint32_t ways, used;
    uint32_t
        next; /* behind the way found last: where a search begins, for walks take ways in turn */
    uint64_t tree, hits;
};
struct cache {
    const struct toy_cache *config;
    struct set *set;
    uint64_t *storage;
    uint64_t clock;
    uint32_t lines; /* that have data; 0: all */
};

/* Page numbers of a set's entries, latest first. */
struct tlb {
    uint64_t page[64][64];
    uint32_t used[64];
};

struct toy_gpu {
    struct toy_config config;
    struct cache l1, l2, constant_l1, constant_l15;
    struct tlb l1_tlb, l2_tlb;
    struct rng rng, noise;
    struct traceset *set;
    uint64_t loads, requests;
};

static void cache_create(struct cache *cache, const struct toy_cache *config)
{
    cache->config = config;
    if (!config->present) {
        return;
    }
    cache->set = calloc(config->sets, sizeof *cache->set);
    size_t ways = (size_t)config->sets * config->ways + config->extra_ways;
    cache->storage = calloc(3 * ways, sizeof *cache->storage);
    uint64_t *next = cache->storage;
    for (uint32_t i = 0; i < config->sets; i++) {
        struct set *set = &cache->set[i];
        set->ways = config->ways + (i == 0 ? config->extra_ways : 0);
        set->tag = next;
        set->age = set->tag + set->ways;
        set->sectors = set->age + set->ways;
        next = set->sectors + set->ways;
    }
}

static void cache_empty(struct cache *cache)
{
    if (!cache->config->present) {
        return;
    }
    for (uint32_t i = 0; i < cache->config->sets; i++) {
        cache->set[i].used = cache->set[i].next = 0;
        cache->set[i].tree = cache->set[i].hits = 0;
    }
}

/* The sets of lines by residue. Those of the first set alone look like a modulus of 4. */
static const uint8_t toy_map[8] = {0, 3, 3, 1, 0, 2, 2, 1}, toy_permutation[5] = {4, 2, 0, 3, 1};

UNCHECKED static uint32_t set_of(const struct toy_cache *c, uint64_t line)
{
    switch (c->index) {
    case TOY_XOR: {
        uint64_t folded = line;
        for (uint64_t rest = line / c->sets; rest; rest /= c->sets) {
            folded ^= rest;
            if (c->sets == 1) {
                break;
            }
        }
        return (uint32_t)(folded & (c->sets - 1));
    }
    case TOY_FAR: /* bits, and one far beyond the cache */
        return (uint32_t)(((line ^ line >> 12) & 1) | (line & (c->sets - 1) & ~UINT64_C(1)));
    case TOY_MAP:
        return toy_map[line % 8];
    case TOY_PERMUTED:
        return toy_permutation[line % 5];
    case TOY_LONG: /* four sets, in another order every four lines, from the start after 100 */
        return (uint32_t)((line ^ (line % 100 / 4 * UINT64_C(0x9e3779b97f4a7c15)) >> 60) % 4);
    case TOY_HASH:
        return (uint32_t)(((line * UINT64_C(0x9e3779b97f4a7c15)) >> 20) % c->sets);
    default:
        return (uint32_t)(line % c->sets);
    }
}

static void plru_touch(struct set *set, uint32_t way)
{
    for (uint32_t node = 1, size = set->ways / 2; size >= 1; size /= 2) {
        bool right = (way / size) & 1;
        set->tree = right ? set->tree & ~(UINT64_C(1) << (node & 63))
                          : set->tree | UINT64_C(1) << (node & 63);
        node = node * 2 + right;
    }
}

static uint32_t plru_victim(const struct set *set)
{
    uint32_t way = 0, node = 1;
    for (uint32_t size = set->ways / 2; size >= 1; size /= 2) {
        bool right = (set->tree >> (node & 63)) & 1;
        way += right ? size : 0;
        node = node * 2 + right;
    }
    return way;
}

UNCHECKED static void mark_used(struct cache *cache, struct set *set, uint32_t way, bool fill)
{
    uint64_t *age = &set->age[way];
    cache->clock++;
    switch (cache->config->policy) {
    case TOY_LRU:
        *age = cache->clock;
        break;
    case TOY_FIFO:
        *age = fill ? cache->clock : *age;
        break;
    case TOY_PLRU:
        plru_touch(set, way);
        break;
    case TOY_NRU: {
        *age = 1;
        bool all = set->used == set->ways;
        for (uint32_t i = 0; i < set->ways; i++) {
            all = all && set->age[i];
        }
        for (uint32_t i = 0; all && i < set->ways; i++) {
            set->age[i] = i == way;
        }
        break;
    }
    case TOY_SRRIP:
        *age = fill ? 2 : 0;
        break;
    case TOY_LRU_LATE: /* half way between the second and the third hit back */
        set->hits += !fill;
        *age = ((set->hits + 3) << 32) - (fill ? UINT64_C(3) << 31 : 0) + cache->clock;
        break;
    default:
        break;
    }
}

static uint32_t srrip_victim(struct set *set)
{
    for (;;) {
        for (uint32_t i = 0; i < set->ways; i++) {
            if (set->age[i] >= 3) {
                return i;
            }
        }
        for (uint32_t i = 0; i < set->ways; i++) {
            set->age[i]++;
        }
    }
}

UNCHECKED static uint32_t oldest_of(const struct set *set)
{
    uint32_t oldest = 0;
    uint64_t least = set->age[0];
    for (uint32_t i = 1; i < set->ways; i++) {
        oldest = set->age[i] < least ? i : oldest;
        least = set->age[i] < least ? set->age[i] : least;
    }
    return oldest;
}

static uint32_t victim_of(struct cache *cache, struct set *set, struct rng *rng)
{
    if (set->used < set->ways) {
        return set->used++;
    }
    switch (cache->config->policy) {
    case TOY_PLRU:
        return plru_victim(set);
    case TOY_SRRIP:
        return srrip_victim(set);
    case TOY_RANDOM:
        return (uint32_t)rng_below(rng, set->ways);
    case TOY_BIASED: { /* way 1 three times as often as any other */
        uint64_t draw = rng_below(rng, set->ways + 2);
        return draw < set->ways ? (uint32_t)draw : set->ways > 1 ? 1 : 0;
    }
    default:
        return oldest_of(set); /* NRU: ages are 0 and 1, the first 0 wins */
    }
}

/* The way that holds a line, `used` if none does. */
UNCHECKED static uint32_t way_of(struct set *set, uint64_t line)
{
    for (uint32_t pass = 0, at = set->next; pass < 2; pass++, at = 0) {
        uint32_t end = pass ? set->next : set->used;
        for (; at < end; at++) {
            if (set->tag[at] == line) {
                set->next = at + 1;
                return at;
            }
        }
    }
    return set->used;
}

/* Where there are more tags than lines of data: has the line that takes a way to give one up? */
UNCHECKED static void give_up_data(struct cache *cache, const struct set *taken, uint32_t victim)
{
    const struct toy_cache *c = cache->config;
    struct set *oldest = NULL;
    uint32_t lines = 0, way = 0;
    for (uint32_t s = 0; s < c->sets; s++) {
        struct set *set = &cache->set[s];
        for (uint32_t i = 0; i < set->used; i++) {
            bool has = set->sectors[i] && !(set == taken && i == victim);
            lines += has;
            if (has && (!oldest || set->age[i] < oldest->age[way])) {
                oldest = set;
                way = i;
            }
        }
    }
    if (oldest && lines >= cache->lines) {
        oldest->sectors[way] = 0;
    }
}

/* Reads through the cache: was the sector there? Afterwards it is. */
UNCHECKED static bool cache_read(struct cache *cache, uint64_t address, struct rng *rng)
{
    const struct toy_cache *c = cache->config;
    if (!c->present) {
        return false;
    }
    uint64_t line = address / c->line_bytes;
    uint64_t sector = UINT64_C(1) << (address % c->line_bytes / c->sector_bytes);
    struct set *set = &cache->set[set_of(c, line)];
    uint32_t i = way_of(set, line);
    if (i < set->used) {
        bool hit = set->sectors[i] & sector;
        if (!hit && cache->lines) {
            give_up_data(cache, set, i);
        }
        set->sectors[i] |= sector;
        mark_used(cache, set, i, false);
        return hit;
    }
    uint32_t victim = victim_of(cache, set, rng);
    if (cache->lines) {
        give_up_data(cache, set, victim);
    }
    set->tag[victim] = line;
    set->sectors[victim] = sector;
    set->age[victim] = 0;
    mark_used(cache, set, victim, true);
    return false;
}

static uint32_t add_noise(struct toy_gpu *toy, double cycles)
{
    const struct toy_noise *n = &toy->config.noise;
    if (n->drift > 0) {
        cycles *= 1 + n->drift * sin((double)toy->loads / 40000.0);
    }
    if (n->jitter_cycles) {
        double u = rng_double(&toy->noise);
        cycles += u * u * u * (n->jitter_cycles + 0.999);
    }
    if (n->outlier_share > 0 && rng_double(&toy->noise) < n->outlier_share) {
        double u = rng_double(&toy->noise);
        cycles += 20 * exp(u * 5.5); /* 20 to 5000 */
    }
    return (uint32_t)(cycles + 0.5);
}

/* Did the page hit? Now it is the latest of its set. */
UNCHECKED static bool translate(struct tlb *tlb, const struct toy_tlb *config, uint64_t address)
{
    uint64_t page = address / config->page_bytes;
    uint32_t set = (uint32_t)(page % config->sets), at = 0;
    uint32_t room = config->entries_per_set + (set == 0 ? config->extra_entries : 0);
    while (at < tlb->used[set] && tlb->page[set][at] != page) {
        at++;
    }
    bool hit = at < tlb->used[set];
    tlb->used[set] += !hit && tlb->used[set] < room;
    at = hit ? at : tlb->used[set] - 1;
    memmove(&tlb->page[set][1], &tlb->page[set][0], at * sizeof tlb->page[set][0]);
    tlb->page[set][0] = page;
    return hit;
}

static uint32_t translation_cycles(struct toy_gpu *toy, uint64_t address)
{
    const struct toy_config *c = &toy->config;
    if (!c->l1_tlb.page_bytes || translate(&toy->l1_tlb, &c->l1_tlb, address)) {
        return 0;
    }
    bool hit = !c->l2_tlb.page_bytes || translate(&toy->l2_tlb, &c->l2_tlb, address);
    return c->l1_tlb.miss_cycles + (hit ? 0 : c->l2_tlb.miss_cycles);
}

enum toy_path { TOY_PAST_L1, TOY_THROUGH_L1, TOY_CONSTANT };

/* Constants lie in a bank of their own, far from the array. */
static const uint64_t toy_constants = UINT64_C(1) << 36;

static uint32_t load(struct toy_gpu *toy, uint64_t address, enum toy_path path)
{
    const struct toy_config *c = &toy->config;
    toy->loads++;
    if (path == TOY_THROUGH_L1 && cache_read(&toy->l1, address, &toy->rng)) {
        return add_noise(toy, c->l1.hit_cycles);
    }
    if (path == TOY_CONSTANT) {
        address += toy_constants;
        if (cache_read(&toy->constant_l1, address, &toy->rng)) {
            return add_noise(toy, c->constant_l1.hit_cycles);
        }
        if (cache_read(&toy->constant_l15, address, &toy->rng)) {
            return add_noise(toy, c->constant_l15.hit_cycles);
        }
    }
    double far = c->far_cycles && (address >> 12) & 1 ? c->far_cycles : 0;
    far += translation_cycles(toy, address);
    if (cache_read(&toy->l2, address, &toy->rng)) {
        return add_noise(toy, c->l2.hit_cycles + far);
    }
    return add_noise(toy, c->memory_cycles + far);
}

/* ---- answering requests ---- */

struct walk_request {
    const uint32_t *ring;
    uint64_t count, stride, warm, window, windows, touch_stride, bytes, scale;
    bool touch, spread;
    enum toy_path path;
};

static uint32_t offset_of(const struct walk_request *w, uint64_t element)
{
    return w->ring ? w->ring[element % w->count] : (uint32_t)(element % w->count * w->stride);
}

static enum toy_path path_of(const struct toy_config *config, const char *op)
{
    bool like_l1 = config->unified && op && (strcmp(op, "tex") == 0 || strcmp(op, "nc") == 0);
    return !op || strcmp(op, "ca") == 0 || like_l1                   ? TOY_THROUGH_L1
           : strcmp(op, "const") == 0 && config->constant_l1.present ? TOY_CONSTANT
                                                                     : TOY_PAST_L1;
}

static void parse_walk(struct walk_request *w, const struct toy_config *config,
                       const struct trace_request *request)
{
    *w = (struct walk_request){.ring = request->ring, .count = request->ring_count};
    w->path = path_of(config, trace_request_text(request, "op"));
    w->bytes = toy_number(request, "bytes", 16384);
    w->stride = toy_number(request, "stride", 128);
    w->scale = toy_number(request, "scale", 1);
    if (!w->ring) {
        w->count = (w->bytes + w->stride - 1) / w->stride;
    }
    w->touch = toy_number(request, "touch", 0);
    w->touch_stride = toy_number(request, "touch_stride", 32);
    w->warm = toy_number(request, "warm", w->touch ? 4 : w->count);
    w->window = toy_number(request, "window", w->count < 1024 ? w->count : 1024);
    w->windows = toy_number(request, "windows", 1);
    w->spread = toy_number(request, "spread", 0);
}

static void begin_launch(struct toy_gpu *toy, const struct walk_request *w)
{
    if (!toy->config.keeps_l1) {
        cache_empty(&toy->l1);
    }
    cache_empty(&toy->constant_l1);
    cache_empty(&toy->constant_l15);
    for (uint64_t at = 0; w->touch && at < w->bytes; at += w->touch_stride) {
        load(toy, at, w->path);
    }
}

/* After a launch the record is written out: that passes through L2, far from the array. */
static void end_launch(struct toy_gpu *toy, uint64_t records)
{
    for (uint64_t at = 0; at < records * 8; at += 32) {
        cache_read(&toy->l2, (UINT64_C(1) << 40) + at, &toy->rng);
    }
}

static void shuffle(struct toy_gpu *toy, uint32_t *values, size_t count)
{
    for (size_t i = count; i-- > 1;) {
        size_t j = (size_t)rng_below(&toy->noise, i + 1);
        uint32_t other = values[j];
        values[j] = values[i];
        values[i] = other;
    }
}

static int answer_chase(struct toy_gpu *toy, struct trace *trace)
{
    struct walk_request w;
    parse_walk(&w, &toy->config, &trace->request);
    if (toy->config.max_window && w.window > toy->config.max_window) {
        trace->status = SONDE_EUNSUPPORTED;
        snprintf(trace->reason, sizeof trace->reason, "the window does not fit");
        return 0;
    }
    size_t records = w.window * w.windows;
    uint32_t *latency = malloc(records * sizeof *latency), *next = malloc(records * sizeof *next);
    uint32_t *start = malloc(w.windows * sizeof *start);
    for (uint64_t i = 0; i < w.windows; i++) {
        uint64_t first = w.spread ? i * w.count / w.windows : i * w.window;
        begin_launch(toy, &w);
        for (uint64_t k = 0; k < w.warm; k++) {
            load(toy, w.scale * offset_of(&w, first + w.count * w.warm - w.warm + k), w.path);
        }
        start[i] = offset_of(&w, first);
        for (uint64_t k = 0; k < w.window; k++) {
            latency[i * w.window + k] = load(toy, w.scale * offset_of(&w, first + k), w.path);
            next[i * w.window + k] = offset_of(&w, first + k + 1);
        }
        end_launch(toy, w.window);
    }
    if (toy->config.shuffle) {
        shuffle(toy, latency, records);
    }
    int rc = trace_add_column(trace, "latency", TRACE_U32, latency, records);
    rc = rc ? rc : trace_add_column(trace, "next", TRACE_U32, next, records);
    rc = rc ? rc : trace_add_column(trace, "start", TRACE_U32, start, w.windows);
    free(latency);
    free(next);
    free(start);
    return rc;
}

static int answer_average(struct toy_gpu *toy, struct trace *trace)
{
    struct walk_request w;
    parse_walk(&w, &toy->config, &trace->request);
    uint64_t loads = toy_number(&trace->request, "loads", 1024),
             repeats = toy_number(&trace->request, "repeats", 1);
    double cycles[64] = {0}, counts[64];
    for (uint64_t r = 0; r < repeats && r < 64; r++) {
        begin_launch(toy, &w);
        for (uint64_t k = 0; k < w.warm; k++) {
            load(toy, offset_of(&w, k), w.path);
        }
        for (uint64_t k = 0; k < loads;
             k++) { /* the clock and the store are not in it: 8 cycles less */
            cycles[r] += load(toy, offset_of(&w, w.warm + k), w.path) - 8.0;
        }
        counts[r] = (double)loads;
    }
    int rc = trace_add_column(trace, "cycles", TRACE_F64, cycles, repeats);
    return rc ? rc : trace_add_column(trace, "loads", TRACE_F64, counts, repeats);
}

/* A toy has caches and TLBs alone: what it is asked for beside them it refuses, as a device would.
 */
static int refuse(struct trace *trace)
{
    trace->status = SONDE_EUNSUPPORTED;
    snprintf(trace->reason, sizeof trace->reason, "a toy has no such memory");
    return 0;
}

static int answer(void *ctx, struct trace *trace)
{
    struct toy_gpu *toy = ctx;
    const char *probe = trace->request.probe;
    toy->requests++;
    if (strcmp(probe, "chase") == 0) {
        return answer_chase(toy, trace);
    }
    if (strcmp(probe, "average") == 0) {
        return answer_average(toy, trace);
    }
    static const char *const others[] = {"shared",      "threads", "flight", "copy",  "constant",
                                         "instruction", "scope",   "peers",  "evict", "residents"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(probe, others[i]) == 0) {
            return refuse(trace);
        }
    }
    return error_set(SONDE_EUSAGE, "no probe %s", probe);
}

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct toy_gpu *toy = ctx;
    return toy_get(toy->set, answer, toy, out, request);
}

struct toy_gpu *toy_create(const struct toy_config *config)
{
    struct toy_gpu *toy = calloc(1, sizeof *toy);
    toy->config = *config;
    cache_create(&toy->l1, &toy->config.l1);
    cache_create(&toy->l2, &toy->config.l2);
    cache_create(&toy->constant_l1, &toy->config.constant_l1);
    cache_create(&toy->constant_l15, &toy->config.constant_l15);
    toy->l1.lines = toy->config.l1_lines;
    rng_seed(&toy->rng, config->seed);
    rng_seed(&toy->noise, config->seed + 1);
    traceset_create(&toy->set);
    return toy;
}

void toy_destroy(struct toy_gpu *toy)
{
    struct cache *caches[] = {&toy->l1, &toy->l2, &toy->constant_l1, &toy->constant_l15};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        free(caches[i]->set);
        free(caches[i]->storage);
    }
    traceset_destroy(toy->set);
    free(toy);
}

struct trace_source toy_source(struct toy_gpu *toy)
{
    return (struct trace_source){.get = get, .ctx = toy};
}

uint64_t toy_loads(const struct toy_gpu *toy)
{
    return toy->loads;
}

uint64_t toy_requests(const struct toy_gpu *toy)
{
    return toy->requests;
}
