/*
 * Levels of address translation, from a source of traces that answers the probe `chase` as a GPU
 * would of which only the TLBs take time. A launch reads a page of its own before it records, and
 * the TLBs keep what they hold from launch to launch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/infer.h"
#include "support/toy_source.h"
#include "trace/source.h"
#include "util/error.h"
#include "util/rng.h"

enum { HIT = 200, FIRST = 30, SECOND = 300, MOST_WAYS = 64, MOST_SETS = 16, WINDOW = 4096 };
#define PAGE (UINT64_C(1) << 20)
#define NOTHING UINT64_MAX

enum rule { LRU, RANDOM, BIASED, FIFO, NRU, SRRIP };

struct tlb {
    uint32_t sets, ways; /* 0 sets: there is none */
    enum rule rule;
    const uint32_t *map;     /* residues to sets; NULL: modulo */
    uint32_t residues, less; /* ways that all sets but the first have less */
    uint64_t page[MOST_SETS][MOST_WAYS];
    uint64_t used[MOST_SETS][MOST_WAYS]; /* LRU, FIFO: when; NRU: a bit; SRRIP: prediction */
    uint64_t clock;
};

struct gpu {
    struct tlb level[2];
    double strays; /* of the records: longer than any miss, for no reason */
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

static uint32_t load(struct gpu *gpu, uint64_t page)
{
    uint32_t cycles = HIT;
    if (!ask(gpu, &gpu->level[0], page)) {
        cycles += FIRST;
        cycles += gpu->level[1].sets && !ask(gpu, &gpu->level[1], page) ? SECOND : 0;
    }
    return cycles;
}

static uint64_t number(const struct trace_request *request, const char *name)
{
    uint64_t value = 0;
    trace_request_u64(request, name, &value);
    return value;
}

static int chase(struct gpu *gpu, struct trace *trace)
{
    const struct trace_request *request = &trace->request;
    size_t window = number(request, "window"), windows = number(request, "windows");
    size_t count = request->ring_count;
    uint64_t scale = number(request, "scale"), warm = number(request, "warm");
    struct toy_walk walk = toy_walk_begin(window, windows);
    for (size_t w = 0; w < windows; w++) {
        load(gpu, 1000003); /* the launch's own */
        bool warms = w == 0 || !number(request, "persist");
        size_t from = w * window % count;
        uint64_t before = warms ? warm : 0;
        for (uint64_t i = 0; i < before; i++) {
            size_t at = (from + count - before % count + i) % count;
            load(gpu, request->ring[at] * scale / PAGE);
        }
        walk.start[w] = request->ring[from];
        for (size_t i = 0; i < window; i++) {
            bool stray = rng_double(&gpu->rng) < gpu->strays;
            walk.latency[w * window + i] =
                load(gpu, request->ring[(from + i) % count] * scale / PAGE) +
                (stray ? 20 + (uint32_t)rng_below(&gpu->rng, 2000) : 0);
            walk.next[w * window + i] = request->ring[(from + i + 1) % count];
        }
    }
    return toy_walk_end(&walk, trace);
}

static int answer(void *gpu, struct trace *trace)
{
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
                                    .max_window = WINDOW,
                                    .max_footprint_bytes = UINT64_C(1) << 30,
                                    .max_mapped_bytes = UINT64_C(1) << 30};
    struct trace_source source = {.get = get, .ctx = gpu};
    for (size_t k = 0; k < 2; k++) {
        memset(gpu->level[k].page, 0xff, sizeof gpu->level[k].page);
    }
    rng_seed(&gpu->rng, 7);
    assert_int_equal(traceset_create(&gpu->set), 0);
    assert_int_equal(infer_dissect(&found, &source, &options), 0);
    traceset_destroy(gpu->set);
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

static void assert_whole(const struct tlb_result *tlb, uint32_t sets, uint32_t ways,
                         const char *policy)
{
    assert_true(tlb->present);
    assert_value(&tlb->page, (double)PAGE);
    assert_value(&tlb->entries, sets * ways);
    assert_value(&tlb->sets, sets);
    for (uint32_t i = 0; i < sets; i++) {
        assert_int_equal(tlb->entries_per_set[i], ways);
    }
    if (strcmp(tlb->policy.name, policy) != 0) {
        print_error("policy '%s', reason '%s'\n", tlb->policy.name, tlb->policy.reason);
    }
    assert_string_equal(tlb->policy.name, policy);
}

static void a_level_that_draws_its_victims_is_found_whole(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 4, .ways = 6, .rule = RANDOM}}};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_whole(tlb, 4, 6, "random");
    assert_int_equal(tlb->policy.probability_count, 6);
    assert_value(&tlb->miss_penalty, FIRST);
    assert_false(found.tlbs[1].present);
}

static void a_bias_shows_in_the_shares(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 1, .ways = 10, .rule = BIASED}}};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_whole(tlb, 1, 10, "biased");
    assert_float_equal(tlb->policy.probability[0], 3.0 / 12, 0.03);
}

static void behind_a_level_that_draws_a_rule_shows(void **state)
{
    (void)state;
    struct gpu gpu = {
        .level = {{.sets = 1, .ways = 8, .rule = RANDOM}, {.sets = 8, .ways = 5, .rule = LRU}}};
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_whole(&found.tlbs[0], 1, 8, "random");
    assert_whole(tlb, 8, 5, "lru");
    assert_value(&tlb->miss_penalty, SECOND);
}

static void strays_do_not_pass_for_misses(void **state)
{
    (void)state;
    struct gpu gpu = {
        .level = {{.sets = 1, .ways = 9, .rule = LRU}, {.sets = 4, .ways = 12, .rule = RANDOM}},
        .strays = 0.0015};
    const struct tlb_result *tlb = dissect(&gpu, 1);
    assert_whole(&found.tlbs[0], 1, 9, "lru");
    assert_whole(tlb, 4, 12, "random");
}

/* One of them by one of 3 ways, one by many: both are told though the first level hides accesses.
 */
static void rules_show_from_a_state_that_is_known(void **state)
{
    (void)state;
    static const struct {
        enum rule rule;
        const char *name;
    } rules[] = {{LRU, "lru"}, {FIFO, "fifo"}, {NRU, "nru"}, {SRRIP, "srrip"}};
    static const struct {
        uint32_t front, sets, ways;
    } shapes[] = {{6, 5, 3}, {7, 3, 11}, {9, 1, 37}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            for (int noisy = 0; noisy < 2; noisy++) {
                struct gpu gpu = {.level = {{.sets = 1, .ways = shapes[k].front, .rule = LRU},
                                            {.sets = shapes[k].sets,
                                             .ways = shapes[k].ways,
                                             .rule = rules[i].rule}},
                                  .strays = noisy ? 0.001 : 0};
                const struct tlb_result *tlb = dissect(&gpu, 1);
                assert_whole(tlb, shapes[k].sets, shapes[k].ways, rules[i].name);
                assert_int_equal(tlb->policy.equivalent_count, 0);
                assert_true(tlb->policy.confidence > 0.9);
            }
        }
    }
}

/* Of two entries LRU and NRU do the same. */
static void rules_of_two_entries_are_one(void **state)
{
    (void)state;
    struct gpu gpu = {.level = {{.sets = 4, .ways = 2, .rule = NRU}}};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_whole(tlb, 4, 2, "lru");
    assert_int_equal(tlb->policy.equivalent_count, 2);
}

/* Half of 20 sets of one would overflow as 22 of these pages do, and all of them as 40. */
static void a_set_larger_than_others_is_no_set_alike(void **state)
{
    (void)state;
    static const uint32_t map[] = {12, 10, 0,  5, 0, 4, 9, 15, 6,  0,
                                   7,  14, 11, 3, 8, 0, 2, 1,  13, 0};
    struct gpu gpu = {.level = {{.sets = 16, .ways = 5, .less = 4, .map = map, .residues = 20}},
                      .strays = 0.0015};
    const struct tlb_result *tlb = dissect(&gpu, 0);
    assert_value(&tlb->entries, 20);
    assert_value(&tlb->sets, 16);
    assert_string_equal(tlb->policy.name, "lru");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_that_draws_its_victims_is_found_whole),
        cmocka_unit_test(a_bias_shows_in_the_shares),
        cmocka_unit_test(behind_a_level_that_draws_a_rule_shows),
        cmocka_unit_test(strays_do_not_pass_for_misses),
        cmocka_unit_test(rules_show_from_a_state_that_is_known),
        cmocka_unit_test(rules_of_two_entries_are_one),
        cmocka_unit_test(a_set_larger_than_others_is_no_set_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
