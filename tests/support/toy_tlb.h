/*
 * A GPU of which only the TLBs take time, as a source of traces: it answers the probe `chase`, and
 * `scope`. A launch reads a page of its own before it records, and the TLBs keep what they hold
 * from launch to launch. For one test program each, after cmocka.h.
 */
#ifndef SONDE_TESTS_SUPPORT_TOY_TLB_H
#define SONDE_TESTS_SUPPORT_TOY_TLB_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "infer/infer.h"
#include "support/toy_source.h"
#include "trace/source.h"
#include "util/error.h"
#include "util/rng.h"

enum { HIT = 200, FIRST = 30, SECOND = 300, MOST_WAYS = 256, MOST_SETS = 16, WINDOW = 4096 };
#define PAGE (UINT64_C(1) << 20)
#define NOTHING UINT64_MAX
#define OWN (1000003 * PAGE) /* an address that a launch reads itself */

enum rule { LRU, RANDOM, BIASED, FIFO, NRU, SRRIP, LRU_LATE };

struct tlb {
    uint32_t sets, ways; /* 0 sets: there is none */
    enum rule rule;
    uint32_t forgetful;      /* pages of a walk in which one is forgotten; 0: none ever is */
    const uint32_t *map;     /* residues to sets; NULL: modulo */
    uint32_t residues, less; /* ways that all sets but the first have less */
    uint64_t page_bytes;     /* 0: PAGE */
    uint64_t page[MOST_SETS][MOST_WAYS];
    uint64_t used[MOST_SETS][MOST_WAYS]; /* LRU, FIFO: when; NRU: a bit; SRRIP: prediction */
    uint64_t clock;
};

/* L2's data: so many lines, the one that came first goes first. 0: all. */
enum { LINE_BYTES = 128, MOST_HELD = 4096, DATA = 270 };
struct data {
    uint32_t lines, next;
    uint32_t sets;  /* instead, of long lines (two each): sets that hold two and one in turn */
    uint32_t rows;  /* what lines of every other 8 KiB take longer where they are missing, cycles */
    bool far_apart; /* lines of the first 16 MiB are all held */
    uint64_t held[MOST_HELD];
    bool here[(UINT64_C(1) << 33) / LINE_BYTES];
};

enum { SMS = 3 };

struct gpu {
    struct tlb level[2];
    struct tlb other[SMS];   /* first levels of the other SMs, where each has its own */
    bool own_first, refuses; /* refuses: whatever is asked */
    bool lone_first;         /* SM 0 has a first level of its own, the others share one */
    struct data *data;       /* NULL: all lines are held */
    uint32_t first;          /* what a miss of the first level costs, cycles; 0: FIRST */
    uint32_t far;            /* what lines whose number has odd parity take longer, cycles */
    double strays;           /* of the records: longer than any miss, for no reason */
    uint32_t busy;           /* in a block of loads of twelve: what each takes longer at most */
    uint64_t loads;          /* so far */
    uint32_t window;         /* records of a launch; 0: WINDOW */
    uint64_t memory;         /* bytes that are mapped at most; 0: 1 GiB */
    struct rng rng;
    struct traceset *set;
};

static uint32_t distant(uint64_t *prediction, uint32_t ways)
{
    for (;;) {
        for (uint32_t i = 0; i < ways; i++) {
            if (prediction[i] == 3) {
                return i;
            }
        }
        for (uint32_t i = 0; i < ways; i++) {
            prediction[i]++;
        }
    }
}

static uint32_t victim(struct gpu *gpu, struct tlb *tlb, uint32_t set, uint32_t ways)
{
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < ways; i++) {
        if (tlb->page[set][i] == NOTHING) {
            return i;
        }
        oldest = tlb->used[set][i] < tlb->used[set][oldest] ? i : oldest;
    }
    if (tlb->rule == SRRIP) {
        return distant(tlb->used[set], ways);
    }
    if (tlb->rule != RANDOM && tlb->rule != BIASED) {
        return oldest;
    }
    /* The first way three times as likely as each other. */
    uint32_t more = tlb->rule == BIASED ? 2 : 0;
    uint32_t drawn = (uint32_t)rng_below(&gpu->rng, ways + more);
    return drawn < more ? 0 : drawn - more;
}

static void use(struct tlb *tlb, uint64_t *used, uint32_t ways, uint32_t way, bool hit)
{
    bool all = true;
    if (tlb->rule == SRRIP) {
        used[way] = hit ? 0 : 2;
    } else if (tlb->rule == NRU) {
        used[way] = 1;
        for (uint32_t i = 0; i < ways; i++) {
            all = all && used[i];
        }
        for (uint32_t i = 0; all && i < ways; i++) {
            used[i] = i == way;
        }
    } else if (tlb->rule == LRU_LATE) { /* what is new goes first */
        used[way] = hit ? ++tlb->clock : 0;
    } else if (tlb->rule != FIFO || !hit) {
        used[way] = ++tlb->clock;
    }
}

static bool ask(struct gpu *gpu, struct tlb *tlb, uint64_t page)
{
    uint32_t set = (uint32_t)(tlb->map ? tlb->map[page % tlb->residues] : page % tlb->sets);
    uint32_t ways = tlb->ways - (set > 0 ? tlb->less : 0), way = 0;
    while (way < ways && tlb->page[set][way] != page) {
        way++;
    }
    bool hit = way < ways;
    way = hit ? way : victim(gpu, tlb, set, ways);
    tlb->page[set][way] = page;
    use(tlb, tlb->used[set], ways, way, hit);
    return hit;
}

static uint64_t page_of(const struct tlb *tlb, uint64_t address)
{
    return address / (tlb->page_bytes ? tlb->page_bytes : PAGE);
}

static bool holds_data(struct data *data, uint64_t line)
{
    if (data->sets) {
        uint32_t set = (uint32_t)(line / 2 % data->sets);
        uint64_t *held = &data->held[2 * set], last = held[0];
        held[0] = line / 2;
        bool second = last != line / 2 && set % 2 == 0 && held[1] == line / 2;
        held[1] = last != line / 2 ? last : held[1];
        return last == line / 2 || second;
    }
    assert_true(line < sizeof data->here);
    bool here = data->here[line] || (data->far_apart && line < (16u << 20) / LINE_BYTES);
    if (!here) {
        uint64_t *oldest = &data->held[data->next++ % data->lines];
        data->here[*oldest] = false;
        data->here[line] = true;
        *oldest = line;
    }
    return here;
}

static uint32_t load_of(struct gpu *gpu, uint64_t sm, uint64_t address)
{
    struct tlb *first = gpu->own_first && sm > 0    ? &gpu->other[sm]
                        : gpu->lone_first && sm > 0 ? &gpu->other[1]
                                                    : &gpu->level[0];
    struct tlb *second = &gpu->level[1];
    uint32_t cycles = HIT;
    if (first->sets && !ask(gpu, first, page_of(first, address))) {
        cycles += gpu->first ? gpu->first : FIRST;
        cycles += second->sets && !ask(gpu, second, page_of(second, address)) ? SECOND : 0;
    }
    cycles += __builtin_popcountll(address / LINE_BYTES) % 2 ? gpu->far : 0;
    bool told = gpu->data && address < OWN;
    if (told && !holds_data(gpu->data, address / LINE_BYTES)) {
        cycles += DATA + (address >> 13) % 2 * gpu->data->rows;
    }
    return cycles;
}

/* Other work goes on for a while, from the beginning on, and again and again. */
static uint32_t other_work(struct gpu *gpu)
{
    enum { BLOCK = 4096, OF_BLOCKS = 12 };
    bool busy = gpu->busy > 0 && gpu->loads++ / BLOCK % OF_BLOCKS == 0;
    return busy ? (uint32_t)rng_below(&gpu->rng, gpu->busy + 1) : 0;
}

static uint32_t load(struct gpu *gpu, uint64_t address)
{
    return load_of(gpu, 0, address) + other_work(gpu);
}

/* In a walk over 5 pages, or a few more, page 3 is never there. */
static void forget_page(struct tlb *tlb, const struct trace_request *request, uint64_t scale)
{
    uint64_t last = 0;
    for (size_t i = 0; tlb->forgetful && i < request->ring_count; i++) {
        uint64_t page = request->ring[i] * scale / PAGE;
        last = page > last ? page : last;
    }
    for (uint32_t i = 0; last >= 4 && last < tlb->forgetful && i < tlb->ways; i++) {
        tlb->page[0][i] = tlb->page[0][i] == 3 ? NOTHING : tlb->page[0][i];
    }
}

static int chase(struct gpu *gpu, struct trace *trace)
{
    const struct trace_request *request = &trace->request;
    size_t window = toy_number(request, "window", 0), windows = toy_number(request, "windows", 0);
    size_t count = request->ring_count;
    uint64_t scale = toy_number(request, "scale", 0), warm = toy_number(request, "warm", 0);
    struct toy_walk walk = toy_walk_begin(window, windows);
    for (size_t w = 0; w < windows; w++) {
        load(gpu, OWN); /* the launch's own */
        bool warms = w == 0 || !toy_number(request, "persist", 0);
        size_t from = w * window % count;
        uint64_t before = warms ? warm : 0;
        for (uint64_t i = 0; i < before; i++) {
            size_t at = (from + count - before % count + i) % count;
            load(gpu, request->ring[at] * scale);
        }
        walk.start[w] = request->ring[from];
        for (size_t i = 0; i < window; i++) {
            forget_page(&gpu->level[0], request, scale);
            bool stray = rng_double(&gpu->rng) < gpu->strays;
            walk.latency[w * window + i] = load(gpu, request->ring[(from + i) % count] * scale) +
                                           (stray ? 20 + (uint32_t)rng_below(&gpu->rng, 2000) : 0);
            walk.next[w * window + i] = request->ring[(from + i + 1) % count];
        }
    }
    return toy_walk_end(&walk, trace);
}

/* An SM walks the ring twice, another one its first pages, then the first is timed on these. */
static int scope(struct gpu *gpu, struct trace *trace)
{
    const struct trace_request *request = &trace->request;
    uint64_t scale = toy_number(request, "scale", 0), other = SMS, sms = SMS,
             sm = toy_number(request, "sm", 0);
    size_t again = toy_number(request, "again", 0);
    uint32_t latency[64];
    bool named = trace_request_u64(request, "other", &other);
    assert_true(again <= sizeof latency / sizeof *latency);
    if (named && other >= SMS) {
        trace->status = SONDE_EUNSUPPORTED;
        return 0;
    }
    for (size_t i = 0; i < 2 * request->ring_count; i++) {
        load_of(gpu, sm, request->ring[i % request->ring_count] * scale);
    }
    for (size_t i = 0; i < again && other < SMS; i++) {
        load_of(gpu, other, request->ring[i] * scale);
    }
    for (size_t i = 0; i < again; i++) {
        latency[i] = load_of(gpu, sm, request->ring[i] * scale);
    }
    int rc = trace_add_column(trace, "latency", TRACE_U32, latency, again);
    return rc ? rc : trace_add_column(trace, "sms", TRACE_U32, &(uint32_t){(uint32_t)sms}, 1);
}

static int answer(void *gpu, struct trace *trace)
{
    if (((struct gpu *)gpu)->refuses) {
        trace->status = SONDE_EUNSUPPORTED;
        snprintf(trace->reason, sizeof trace->reason, "nothing is walked here");
        return 0;
    }
    bool tells = ((struct gpu *)gpu)->own_first || ((struct gpu *)gpu)->lone_first;
    if (tells && strcmp(trace->request.probe, "scope") == 0) {
        return scope(gpu, trace);
    }
    if (strcmp(trace->request.probe, "chase") == 0) {
        return chase(gpu, trace);
    }
    trace->status = SONDE_EUNSUPPORTED;
    return 0;
}

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct gpu *gpu = ctx;
    return toy_get(gpu->set, answer, gpu, out, request);
}

static struct dissection found; /* large */

static const struct tlb_result *dissect(struct gpu *gpu, size_t level)
{
    struct infer_options options = {.seed = 1,
                                    .only = "tlbs",
                                    .max_window = gpu->window ? gpu->window : WINDOW,
                                    .max_footprint_bytes = UINT64_C(1) << 30,
                                    .max_mapped_bytes =
                                        gpu->memory ? gpu->memory : UINT64_C(1) << 30};
    struct trace_source source = {.get = get, .ctx = gpu};
    for (size_t k = 0; k < 2; k++) {
        memset(gpu->level[k].page, 0xff, sizeof gpu->level[k].page);
    }
    for (size_t sm = 0; sm < SMS; sm++) {
        gpu->other[sm] = gpu->level[0];
    }
    rng_seed(&gpu->rng, 7);
    assert_int_equal(traceset_create(&gpu->set), 0);
    assert_int_equal(infer_dissect(&found, &source, &options), 0);
    traceset_destroy(gpu->set);
    if (found.tlb_count <= level) {
        print_error("level 0: %s\n", found.tlbs[0].page.reason);
    }
    assert_true(found.tlb_count > level);
    return &found.tlbs[level];
}

static void assert_value(const struct attribute *attribute, double expected)
{
    if (attribute->status != ATTRIBUTE_MEASURED) {
        print_error("not measured: %s\n", attribute->reason);
    }
    assert_int_equal(attribute->status, ATTRIBUTE_MEASURED);
    assert_float_equal(attribute->value, expected, 0.5);
}

#endif
