/* Lines that keep the cache in front busy: that they do, and disturb nothing that is asked about.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/behind/filler.h"
#include "infer/policy/policy.h"

enum {
    LINE = 64,
    FETCH = 32,
    FRONT_SETS = 8,
    FRONT_WAYS = 2,
    PERIOD = 32, /* of the index behind */
    REACH = 65536,
    HIT = 100,
    MOST_RING = 4096
};

/* Behind a cache of 8 sets of 2 ways a set is examined of which the lines of two residues, 0 and 1,
 * are known. */
struct bench {
    struct level_summary front;
    struct dissection *dissection;
    struct infer_options options;
    struct lab lab;
    struct level level;
    struct trace_source source;
    struct traceset *set;
    uint32_t ring[MOST_RING]; /* that was walked last */
    size_t count;
};

static const struct level_info info = {"constant_l15", "sm", "const", "constant_l1",
                                       "cg",           0,    1024,    ""};

static void add(struct trace *trace, const char *name, const uint32_t *values, size_t count)
{
    assert_int_equal(trace_add_column(trace, name, TRACE_U32, values, count), 0);
}

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct bench *b = ctx;
    struct trace trace;
    uint64_t window = 0;
    uint32_t start = 0, latency[1024], next[1024];
    assert_true(trace_request_u64(request, "window", &window));
    assert_true(window <= 1024 && request->ring_count > 0 && request->ring_count <= MOST_RING);
    b->count = request->ring_count;
    memcpy(b->ring, request->ring, b->count * sizeof *b->ring);
    start = b->ring[0];
    for (uint64_t i = 0; i < window; i++) {
        latency[i] = HIT;
        next[i] = b->ring[(i + 1) % b->count];
    }
    assert_int_equal(trace_init(&trace, request), 0);
    add(&trace, "latency", latency, window);
    add(&trace, "next", next, window);
    add(&trace, "start", &start, 1);
    return traceset_add(b->set, &trace, out);
}

static struct bench *bench_create(const char *policy)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->dissection = calloc(1, sizeof *b->dissection);
    assert_non_null(b->dissection);
    b->front = (struct level_summary){.timing.fetch_bytes = FETCH,
                                      .line.bytes = LINE,
                                      .fit.stride = LINE,
                                      .fit.count = FRONT_SETS * FRONT_WAYS,
                                      .ways = FRONT_WAYS,
                                      .timing.threshold = 50,
                                      .map = {.sets = FRONT_SETS, .period = FRONT_SETS}};
    strcpy(b->front.policy, policy);
    for (uint16_t i = 0; i < FRONT_SETS; i++) {
        b->front.map.class_of[i] = i;
        b->front.map.ways[i] = FRONT_WAYS;
    }
    b->options.max_footprint_bytes = REACH;
    b->source = (struct trace_source){.get = get, .ctx = b};
    b->lab = (struct lab){.source = &b->source, .options = &b->options, .out = b->dissection};
    b->level = (struct level){.lab = &b->lab,
                              .info = &info,
                              .result = &b->dissection->caches[0],
                              .front = &b->front,
                              .timing.fetch_bytes = FETCH,
                              .line.bytes = LINE,
                              .timing.threshold = 200,
                              .timing.ceiling = 1000,
                              .max_window = 1024,
                              .map = {.sets = 1, .period = PERIOD}};
    for (uint16_t i = 2; i < PERIOD; i++) {
        b->level.map.class_of[i] = UINT16_MAX;
    }
    assert_int_equal(traceset_create(&b->set), 0);
    assert_int_equal(filler_create(&b->level, NULL, 0), 0);
    return b;
}

static void bench_destroy(struct bench *b)
{
    filler_free(b->level.filler);
    traceset_destroy(b->set);
    free(b->dissection);
    free(b);
}

static uint32_t front_set(uint32_t offset)
{
    return offset / LINE % FRONT_SETS;
}

static void filler_accesses_share_the_set_in_front_and_not_the_one_behind(void **state)
{
    (void)state;
    struct bench *b = bench_create("fifo");
    uint32_t line = 0, *out;
    size_t count = 0;
    assert_int_equal(filler_room(&out, b->level.filler), 0);
    struct walk_shape ring = {.ring = &line, .count = 1};
    assert_int_equal(filler_find(b->level.filler, out, &count, &ring, 1, 1), 0);
    assert_int_equal(count, FRONT_WAYS);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(front_set(out[i]), front_set(line));
        assert_true(out[i] / LINE % PERIOD > 1);
    }
    free(out);
    bench_destroy(b);
}

static void turns_begin_with_other_residues(void **state)
{
    (void)state;
    struct bench *b = bench_create("fifo");
    uint32_t line = 0, *out, residues = 0;
    assert_int_equal(filler_room(&out, b->level.filler), 0);
    struct walk_shape ring = {.ring = &line, .count = 1};
    for (unsigned turn = 0; turn < FILLER_TURNS; turn++) {
        size_t count = 0;
        filler_turn(b->level.filler, turn);
        assert_int_equal(filler_find(b->level.filler, out, &count, &ring, 1, 1), 0);
        assert_int_equal(count, FRONT_WAYS);
        /* Those of a residue come together. */
        assert_int_equal(out[0] / LINE % PERIOD, out[1] / LINE % PERIOD);
        residues |= 1u << out[0] / LINE % PERIOD;
    }
    assert_int_equal(residues & 3, 0);
    assert_true(__builtin_popcount(residues) >= 2);
    free(out);
    bench_destroy(b);
}

/* Of sets of one way a hash leaves more without a line than of sets of four. What fits in a row is
 * far less than what they hold. */
static void of_hashed_sets_in_front_few_are_left_with_fewer_lines_than_ways(void **state)
{
    (void)state;
    enum { LINES = 16, HASHES = 200 };
    for (uint32_t ways = 1; ways <= 4; ways *= 2) {
        struct bench *b = bench_create("fifo");
        uint32_t line = 0, *out, sets = LINES / ways, shorter = 0;
        size_t count = 0;
        struct rng rng;
        rng_seed(&rng, 5);
        b->front.map.sets = 0;
        b->front.fit.count = 4;
        b->front.size_bytes = LINES * LINE;
        b->front.ways = ways;
        assert_int_equal(filler_room(&out, b->level.filler), 0);
        struct walk_shape ring = {.ring = &line, .count = 1};
        assert_int_equal(filler_find(b->level.filler, out, &count, &ring, 1, 1), 0);
        for (unsigned k = 0; k < HASHES; k++) {
            uint32_t there = 0; /* in the set of the ring's line */
            for (size_t i = 0; i < count; i++) {
                there += rng_below(&rng, sets) == 0;
            }
            shorter += there < ways;
        }
        assert_true(shorter <= HASHES / 20);
        free(out);
        bench_destroy(b);
    }
}

static bool is_visit(const struct policy_pool *pool, uint32_t offset)
{
    for (size_t i = 0; i < pool->count; i++) {
        if (pool->line[i] / LINE == offset / LINE) {
            return true;
        }
    }
    return false;
}

static void check_order(const struct bench *b, const struct policy_pool *pool)
{
    size_t visits = 0;
    for (size_t i = 0; i < b->count; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(b->ring[i], b->ring[k]);
        }
        visits += is_visit(pool, b->ring[i]);
        for (size_t k = 1; k <= FRONT_WAYS && is_visit(pool, b->ring[i]); k++) {
            assert_true(i + k < b->count && !is_visit(pool, b->ring[i + k]));
            assert_int_equal(front_set(b->ring[i + k]), front_set(b->ring[i]));
        }
    }
    assert_int_equal(visits, pool->count * pool->words);
}

/* Lines that drive each other out when they are walked in turn do not when their order is drawn. */
static void each_visit_of_an_order_is_followed_by_what_drives_it_out(void **state)
{
    (void)state;
    static const uint32_t one_set[] = {0, PERIOD * LINE, 2 * PERIOD * LINE, 3 * PERIOD * LINE},
                          two_sets[] = {0, LINE, PERIOD * LINE, (PERIOD + 1) * LINE};
    const uint32_t *const lines[] = {one_set, two_sets};
    for (size_t i = 0; i < 2; i++) {
        struct bench *b = bench_create("fifo");
        struct policy_pool pool = {.words = FETCH / 4, .line = lines[i], .count = 4};
        struct policy_order order = {0};
        struct rng rng;
        rng_seed(&rng, 1);
        assert_int_equal(policy_filler_order(&b->level, &order, &pool, &rng), 0);
        assert_int_equal(order.count, b->count);
        check_order(b, &pool);
        policy_order_free(&order);
        bench_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filler_accesses_share_the_set_in_front_and_not_the_one_behind),
        cmocka_unit_test(turns_begin_with_other_residues),
        cmocka_unit_test(of_hashed_sets_in_front_few_are_left_with_fewer_lines_than_ways),
        cmocka_unit_test(each_visit_of_an_order_is_followed_by_what_drives_it_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
