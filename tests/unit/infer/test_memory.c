/* Memory under load and the copy kernel, from a toy memory: a latency, a bandwidth, an L2 that
 * keeps what is written and, for a copy, what was copied before. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "support/toy_source.h"
#include "util/error.h"

struct toy {
    double latency_cycles, bytes_per_cycle, hz, begin_ns; /* hz 0: no timer */
    uint64_t l2_bytes, flush_needed;
    uint64_t waiting_bytes; /* of stores that have left and are nowhere yet */
    uint32_t sms;
    bool tires;            /* with most lines under way only the first turns are fast */
    uint64_t most_threads; /* 0: no block is refused */
    bool dear;             /* loads are: of a simulated device */
    bool stays;            /* what L2 kept of stores is there when the next run begins */
    double dirty;          /* and is so much */
    double stores_pass;    /* share of the bandwidth that stores have, once they wait; 0: all */
    bool holds;            /* those that need not wait take no time */
    struct traceset *set;
};

static struct dissection result;
static double stored, reach; /* bytes; up to where */

static int answer_flight(struct toy *toy, struct trace *trace)
{
    const struct trace_request *r = &trace->request;
    if (toy->most_threads && toy_number(r, "threads", 32) > toy->most_threads) {
        trace->status = SONDE_EUNSUPPORTED;
        return 0;
    }
    uint64_t warps = toy_number(r, "blocks", toy->sms) * toy_number(r, "threads", 32) / 32;
    double turns = (double)toy_number(r, "turns", 16);
    double requests = (double)(warps * toy_number(r, "loads", 1)), bytes = requests * 128 * turns;
    double moved = bytes;
    if (strcmp(trace_request_text(r, "op"), "store") == 0) {
        double kept = (double)(toy->l2_bytes + toy->waiting_bytes);
        double written = bytes + toy->dirty;
        stored += bytes;
        reach = fmax(reach, (double)toy_number(r, "start", 0) + bytes);
        moved = written > kept ? written - kept : 0;
        toy->dirty = toy->stays ? fmin(written, (double)toy->l2_bytes) : 0;
    }
    bool is_tired = toy->tires && toy_number(r, "loads", 1) == 8 && turns > 3;
    double rate = toy->bytes_per_cycle * (is_tired ? 0.75 : 1);
    double wait = moved / rate, alone = toy->latency_cycles * turns, ahead = 0;
    if (toy->stores_pass > 0 && strcmp(trace_request_text(r, "op"), "store") == 0) {
        double at_once = fmin(bytes, (double)toy->waiting_bytes);
        double waited = toy->holds ? 0 : at_once;
        alone = toy->holds ? turns : alone;
        wait = (waited + (bytes - at_once) / toy->stores_pass) / rate;
        ahead = 0.1 * waited / rate; /* of the warp that had least before it */
    }
    double all = wait > alone ? wait : alone, cycles = (all - ahead) / turns;
    double ns = toy->hz > 0 ? all / toy->hz * 1e9 + toy->begin_ns : 0;
    int rc = trace_add_column(trace, "requests", TRACE_F64, &requests, 1);
    rc = rc ? rc : trace_add_column(trace, "bytes", TRACE_F64, &bytes, 1);
    rc = rc ? rc : trace_add_column(trace, "cycles", TRACE_F64, &cycles, 1);
    rc = rc ? rc : trace_add_column(trace, "slowest", TRACE_F64, &cycles, 1);
    return rc ? rc : trace_add_column(trace, "ns", TRACE_F64, &ns, 1);
}

static int answer_copy(struct toy *toy, struct trace *trace)
{
    uint64_t bytes = toy_number(&trace->request, "bytes", 0);
    uint64_t flush = toy_number(&trace->request, "flush_bytes", 0);
    bool there = bytes <= toy->l2_bytes && (flush == 0 || flush < toy->flush_needed);
    double cycles = there ? 300 : 900;
    return trace_add_column(trace, "cycles", TRACE_F64, &cycles, 1);
}

static int answer(void *toy, struct trace *trace)
{
    return *trace->request.probe == 'f' ? answer_flight(toy, trace) : answer_copy(toy, trace);
}

static int get(void *ctx, const struct trace **out, const struct trace_request *request)
{
    struct toy *toy = ctx;
    return toy_get(toy->set, answer, toy, out, request);
}

static const struct toy plain = {.latency_cycles = 600,
                                 .bytes_per_cycle = 400,
                                 .hz = 1e9,
                                 .begin_ns = 3000,
                                 .l2_bytes = 768 << 10,
                                 .flush_needed = 1 << 20,
                                 .sms = 16};

/* What is known of L2 beforehand stands in the result, as after the experiments on caches. */
enum l2_known { L2_UNKNOWN, L2_SIZE, L2_ABSENT };

static char reason[160]; /* where nothing is told */

static int run(const struct toy *config, int (*dissect)(struct lab *), enum l2_known l2_known)
{
    struct toy toy = *config;
    struct trace_source source = {.get = get, .ctx = &toy};
    struct infer_options options = {.max_footprint_bytes = UINT64_C(1) << 28,
                                    .max_cache_loads = toy.dear ? 16 << 20 : 0};
    struct lab lab = {.source = &source, .options = &options, .out = &result};
    memset(&result, 0, sizeof result);
    stored = reach = 0;
    if (l2_known == L2_ABSENT) {
        strcpy(result.caches[0].id, "l2");
        result.caches[0].size.status = ATTRIBUTE_ABSENT;
        result.cache_count = 1;
    } else if (l2_known == L2_SIZE) {
        strcpy(result.caches[0].id, "l2");
        attribute_set(&result.caches[0].size, (double)toy.l2_bytes, "B", 1, "x");
        result.cache_count = 1;
    }
    assert_int_equal(traceset_create(&toy.set), 0);
    int rc = dissect(&lab);
    traceset_destroy(toy.set);
    memcpy(reason, lab.why.reason, sizeof reason);
    return rc;
}

static void bandwidths_are_those_of_the_memory(void **state)
{
    (void)state;
    assert_int_equal(run(&plain, memory_dissect, L2_SIZE), 0);
    const struct memory_result *m = &result.memory;
    /* 400 bytes a cycle of 1 GHz, whatever a launch takes to begin and L2 keeps of stores. */
    assert_true(m->read_bandwidth.value > 399e9 && m->read_bandwidth.value < 401e9);
    assert_true(m->write_bandwidth.value > 399e9 && m->write_bandwidth.value < 401e9);
}

/* The first two runs of stores end before any of them waits; a longer one does not. */
static void stores_that_are_on_their_way_are_no_bandwidth(void **state)
{
    (void)state;
    struct toy toy = plain;
    for (unsigned mib = 12; mib <= 30; mib += 6) {
        toy.waiting_bytes = (uint64_t)mib << 20;
        assert_int_equal(run(&toy, memory_dissect, L2_SIZE), 0);
        double write = result.memory.write_bandwidth.value;
        assert_true(write > 380e9 && write < 421e9);
    }
}

/* Some stores pass as fast as loads, until what takes them is full: no warp is as slow as all. */
static void stores_that_pile_up_are_no_bandwidth(void **state)
{
    (void)state;
    struct toy toy = plain;
    toy.stores_pass = 0.5;
    for (unsigned mib = 12; mib <= 18; mib += 6) {
        toy.waiting_bytes = (uint64_t)mib << 20;
        assert_int_equal(run(&toy, memory_dissect, L2_SIZE), 0);
        double write = result.memory.write_bandwidth.value;
        assert_true(write > 195e9 && write < 211e9);
    }
}

/* Once L2 is full of them, and again for each shape; and in places that were written before. */
static void few_stores_do_where_they_are_dear(void **state)
{
    (void)state;
    struct toy toy = plain;
    toy.stays = toy.dear = true;
    toy.l2_bytes = 24 << 20;
    assert_int_equal(run(&toy, memory_dissect, L2_SIZE), 0);
    assert_true(fabs(result.memory.write_bandwidth.value / 400e9 - 1) < 0.01);
    assert_true(stored < 5.0 * 24 * (1 << 20));
    assert_true(reach < 5.0 * 24 * (1 << 20));
}

/* The first run would find an L2 without any, and the next ones an L2 full of them. */
static void runs_of_stores_begin_with_as_much_to_write_back(void **state)
{
    (void)state;
    struct toy toy = plain;
    toy.stays = true;
    toy.l2_bytes = 6 << 20;
    assert_int_equal(run(&toy, memory_dissect, L2_SIZE), 0);
    assert_true(fabs(result.memory.write_bandwidth.value / 400e9 - 1) < 0.01);
}

/* What lies before memory holds all of the first turns, and part of the next ones. */
static void stores_that_wait_before_memory_are_not_written(void **state)
{
    (void)state;
    struct toy toy = plain;
    toy.holds = toy.dear = true;
    toy.stores_pass = 0.5;
    toy.latency_cycles = 100;
    toy.waiting_bytes = 1 << 20;
    assert_int_equal(run(&toy, memory_dissect, L2_SIZE), 0);
    assert_true(fabs(result.memory.write_bandwidth.value / 200e9 - 1) < 0.01);
}

/* Few turns choose most lines, which do not last. */
static void the_most_of_all_that_begin_alike_is_told(void **state)
{
    (void)state;
    struct toy toy = plain;
    toy.tires = true;
    toy.latency_cycles = 100; /* a quarter of the lines fill the memory */
    assert_int_equal(run(&toy, memory_dissect, L2_SIZE), 0);
    const struct memory_result *m = &result.memory;
    assert_true(m->read_bandwidth.value > 399e9 && m->read_bandwidth.value < 401e9);
    assert_true(m->write_bandwidth.value > 399e9 && m->write_bandwidth.value < 401e9);
}

static void latency_grows_once_the_memory_is_busy(void **state)
{
    (void)state;
    assert_int_equal(run(&plain, memory_dissect, L2_SIZE), 0);
    const struct memory_result *m = &result.memory;
    assert_true(m->loaded_count >= 6);
    for (size_t i = 0; i < m->loaded_count; i++) {
        double busy = m->loaded[i].requests * 128 / 400;
        double expected = busy > 600 ? busy : 600;
        assert_true(m->loaded[i].cycles > expected - 1 && m->loaded[i].cycles < expected + 1);
    }
    assert_true(m->loaded[0].requests == 1);
    assert_true(m->loaded[m->loaded_count - 1].requests == 16 * 32 * 8);
}

static void without_a_timer_bytes_a_cycle_are_told(void **state)
{
    (void)state;
    struct toy toy = plain;
    toy.hz = 0;
    assert_int_equal(run(&toy, memory_dissect, L2_SIZE), 0);
    assert_int_equal(result.memory.read_bandwidth.status, ATTRIBUTE_NOT_MEASURED);
    assert_non_null(strstr(result.memory.read_bandwidth.reason, "400 bytes a cycle"));
}

static void a_refused_block_leaves_no_bandwidth(void **state)
{
    (void)state;
    struct toy toy = plain;
    toy.most_threads = 512;
    assert_int_equal(run(&toy, memory_dissect, L2_SIZE), INFER_UNDECIDED);
    memory_refuse(&result, &(struct refusal){.reason = "refused"});
    assert_true(result.memory.loaded_count > 0);
    assert_string_equal(result.memory.read_bandwidth.reason, "refused");
}

static void without_the_size_of_l2_bandwidth_is_not_measured(void **state)
{
    (void)state;
    assert_int_equal(run(&plain, memory_dissect, L2_UNKNOWN), INFER_UNDECIDED);
    memory_refuse(&result, &(struct refusal){.reason = "a reason"});
    assert_string_equal(result.memory.write_bandwidth.reason, "a reason");
}

static void without_an_l2_bandwidth_does_not_need_its_size(void **state)
{
    (void)state;
    assert_int_equal(run(&plain, memory_dissect, L2_UNKNOWN), INFER_UNDECIDED);
    assert_non_null(strstr(reason, "needs the size of L2"));
    assert_int_equal(run(&plain, memory_dissect, L2_ABSENT), INFER_UNDECIDED);
    assert_non_null(strstr(reason, "none shows"));
}

static void the_gap_of_copies_closes_at_the_size_of_l2(void **state)
{
    (void)state;
    assert_int_equal(run(&plain, copy_dissect, L2_UNKNOWN), 0);
    assert_int_equal(result.method_count, 1);
    assert_string_equal(result.methods[0].name, "lashgar");
    assert_true(result.methods[0].size.value == 768 << 10);
}

static void a_larger_flush_is_tried_where_a_small_one_displaces_nothing(void **state)
{
    (void)state;
    struct toy toy = plain;
    toy.l2_bytes = 40 << 20;
    toy.flush_needed = 64 << 20;
    assert_int_equal(run(&toy, copy_dissect, L2_UNKNOWN), 0);
    assert_true(result.methods[0].size.value == 40 << 20);
}

static void where_copies_displace_nothing_the_method_says_so(void **state)
{
    (void)state;
    struct toy toy = plain;
    toy.flush_needed = UINT64_MAX;
    assert_int_equal(run(&toy, copy_dissect, L2_UNKNOWN), INFER_UNDECIDED);
    copy_refuse(&result, &(struct refusal){.reason = "a reason"});
    copy_refuse(&result, &(struct refusal){.reason = "another"});
    assert_int_equal(result.method_count, 1);
    assert_string_equal(result.methods[0].size.reason, "a reason");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidths_are_those_of_the_memory),
        cmocka_unit_test(stores_that_are_on_their_way_are_no_bandwidth),
        cmocka_unit_test(stores_that_pile_up_are_no_bandwidth),
        cmocka_unit_test(runs_of_stores_begin_with_as_much_to_write_back),
        cmocka_unit_test(stores_that_wait_before_memory_are_not_written),
        cmocka_unit_test(few_stores_do_where_they_are_dear),
        cmocka_unit_test(the_most_of_all_that_begin_alike_is_told),
        cmocka_unit_test(latency_grows_once_the_memory_is_busy),
        cmocka_unit_test(without_a_timer_bytes_a_cycle_are_told),
        cmocka_unit_test(a_refused_block_leaves_no_bandwidth),
        cmocka_unit_test(without_the_size_of_l2_bandwidth_is_not_measured),
        cmocka_unit_test(without_an_l2_bandwidth_does_not_need_its_size),
        cmocka_unit_test(the_gap_of_copies_closes_at_the_size_of_l2),
        cmocka_unit_test(a_larger_flush_is_tried_where_a_small_one_displaces_nothing),
        cmocka_unit_test(where_copies_displace_nothing_the_method_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
