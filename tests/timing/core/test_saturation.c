/*
 * Each resource of an SM saturates at its configured width: with more to do than it can, it does as
 * much as the specification says and no more. A rate is what a long run does more than a short one,
 * by the cycles that it takes longer, so that start and end are left out. A bench of one SM
 * (support/sm_bench.h) whose memory takes any number of requests and answers after 100 cycles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/sm_bench.h"
#include "support/tolerance.h"

static struct bench b;

enum { SHORT_TURNS = 2, LONG_TURNS = 5 };

/* Of the text in a loop's body: many, so that the loop's own instructions do not count; fewer of
 * those that take long. */
static uint32_t repeats = 48;

/* What a row changes of the bench's specification. */
typedef void setup(struct sm_spec *spec, uint32_t value);

/* Many registers, so that no load waits for the one before. */
#define TO_MANY(load, address)                                                                     \
    load " %r4, " address ";\n" load " %r5, " address ";\n" load " %r6, " address ";\n" load       \
         " %r7, " address ";\n" load " %r8, " address ";\n" load " %r9, " address ";\n" load       \
         " %r10, " address ";\n" load " %r11, " address ";\n"

/* `text` repeated over a loop of `turns`, in a block of `threads`. */
static void run_loop(const char *head, const char *text, uint32_t turns, uint32_t threads)
{
    static char body[1 << 16];
    size_t n =
        (size_t)snprintf(body, sizeof body,
                         "mov.u32 %%r30, 0;\nmov.u32 %%r29, %%tid.x;\n%s\nbar.sync 0;\nL:\n", head);
    for (uint32_t i = 0; i < repeats; i++) {
        n += (size_t)snprintf(body + n, sizeof body - n, "%s", text);
    }
    snprintf(body + n, sizeof body - n,
             "add.u32 %%r30, %%r30, 1;\nsetp.lt.u32 %%p1, %%r30, %u;\n@%%p1 bra L;\n", turns);
    if (!bench_run(&b, body, 1, threads)) {
        fail_msg("%s\n%s", text, b.error < 0 ? error_text() : b.stall);
    }
    assert_int_equal(b.requests_out, 0);
    bench_free(&b);
}

static void start(setup *change, uint32_t value)
{
    bench_defaults(&b);
    b.with_l1 = b.with_texture = b.with_constant = true;
    b.texture_at = 1 << 16;
    b.texture_bytes = 1 << 16;
    b.spec.lsu_queue_entries = 64;
    b.spec.texture.queue_entries = 1024; /* the memory's latency is hidden */
    b.spec.constant.queue_entries = 64;
    if (change) {
        change(&b.spec, value);
    }
}

static void expect(const char *what, uint32_t value, double measured, double configured)
{
    if (measured < configured * (1 - TOLERANCE_SATURATION) ||
        measured > configured * (1 + TOLERANCE_SATURATION)) {
        fail_msg("%s, %u: %g a cycle, configured are %g", what, value, measured, configured);
    }
}

/* A counter's growth a cycle, from the short run to the long one. */
static double rate(setup *change, uint32_t value, const char *head, const char *text,
                   uint32_t threads, uint64_t (*counter)(const struct sm_stats *, uint32_t),
                   uint32_t which)
{
    uint64_t cycles[2], count[2];
    for (uint32_t i = 0; i < 2; i++) {
        start(change, value);
        run_loop(head, text, i ? LONG_TURNS : SHORT_TURNS, threads);
        cycles[i] = b.cycles;
        count[i] = counter(&b.stats, which);
    }
    return (double)(count[1] - count[0]) / (double)(cycles[1] - cycles[0]);
}

static uint64_t count_unit(const struct sm_stats *stats, uint32_t unit)
{
    return stats->unit_insns[unit] * WARP_LANES;
}

static uint64_t count_all(const struct sm_stats *stats, uint32_t which)
{
    uint64_t sum = 0;
    (void)which;
    for (uint32_t i = 0; i < ISA_UNIT_COUNT; i++) {
        sum += stats->unit_insns[i];
    }
    return sum;
}

static uint64_t count_transactions(const struct sm_stats *stats, uint32_t which)
{
    (void)which;
    return stats->transactions;
}

static uint64_t count_shared(const struct sm_stats *stats, uint32_t which)
{
    (void)which;
    return stats->shared_accesses;
}

/* ---- units ---- */

static uint32_t unit_under_test;

/* Many slots to issue from, so that the unit is what is short. */
static void set_unit(struct sm_spec *spec, uint32_t lanes)
{
    spec->schedulers = 4;
    spec->issue_per_scheduler = 2;
    for (uint32_t i = 0; i < ISA_UNIT_COUNT; i++) {
        spec->unit[i].lanes_per_cycle = 1024;
    }
    spec->unit[unit_under_test].lanes_per_cycle = lanes;
}

static void units_start_as_many_lanes_a_cycle_as_they_have(void **state)
{
    (void)state;
    static const struct {
        enum isa_unit unit;
        const char *text;
    } rows[] = {{UNIT_ALU, "xor.b32 %r1, %r29, %r30;\nor.b32 %r2, %r29, %r30;\n"},
                {UNIT_IMUL, "mul.lo.u32 %r1, %r29, %r29;\n"},
                {UNIT_IDIV, "div.u32 %r1, %r29, %r29;\n"},
                {UNIT_SHIFT, "shl.b32 %r1, %r29, 3;\n"},
                {UNIT_FP32, "add.f32 %r1, %r29, %r29;\n"},
                {UNIT_FP64, "add.f64 %rd1, %rd0, %rd0;\n"},
                {UNIT_FDIV, "div.rn.f32 %r1, %r29, %r29;\n"},
                {UNIT_SFU, "sin.approx.f32 %r1, %r29;\n"},
                {UNIT_CVT, "cvt.rn.f32.u32 %r1, %r29;\n"},
                {UNIT_SHUFFLE, "shfl.sync.idx.b32 %r1, %r29, 3, 31, -1;\n"},
                {UNIT_VOTE, "vote.sync.any.pred %p2, %p3, -1;\n"},
                {UNIT_SPECIAL, "mov.u32 %r1, %laneid;\n"},
                {UNIT_FENCE, "membar.cta;\n"}};
    static const uint32_t lanes[] = {4, 8, 12, 16, 32, 64};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unit_under_test = rows[i].unit;
        for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
            repeats = lanes[k] > 32 ? 160 : 48;
            double measured =
                rate(set_unit, lanes[k], "", rows[i].text, 1024, count_unit, unit_under_test);
            expect(isa_unit_text(rows[i].unit), lanes[k], measured, lanes[k]);
        }
    }
}

/* ---- issue ---- */

static void set_slots(struct sm_spec *spec, uint32_t slots)
{
    set_unit(spec, 1024);
    spec->schedulers = slots < 4 ? slots : 4;
    spec->issue_per_scheduler = slots / spec->schedulers;
}

static void set_interval(struct sm_spec *spec, uint32_t cycles)
{
    set_unit(spec, 1024);
    spec->schedulers = 2;
    spec->issue_per_scheduler = 1;
    spec->issue_interval = cycles;
}

static void schedulers_issue_in_every_slot(void **state)
{
    (void)state;
    repeats = 48;
    const char *text = "xor.b32 %r1, %r29, %r30;\nmul.lo.u32 %r2, %r29, %r29;\n"
                       "shl.b32 %r3, %r29, 3;\nadd.f32 %r4, %r29, %r29;\n"
                       "xor.b32 %r5, %r29, %r30;\nmul.lo.u32 %r6, %r29, %r29;\n"
                       "shl.b32 %r7, %r29, 3;\nadd.f32 %r8, %r29, %r29;\n";
    static const uint32_t slots[] = {1, 2, 3, 4, 8};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        uint32_t threads = slots[i] == 3 ? 960 : 1024; /* as many warps for each scheduler */
        expect("issue slots", slots[i], rate(set_slots, slots[i], "", text, threads, count_all, 0),
               slots[i]);
    }
    for (uint32_t cycles = 1; cycles <= 5; cycles++) {
        expect("issue interval", cycles, rate(set_interval, cycles, "", text, 1024, count_all, 0),
               2.0 / cycles);
    }
}

/* ---- shared memory ---- */

static void set_conflict(struct sm_spec *spec, uint32_t cycles)
{
    spec->shared.conflict_cycles = cycles;
    spec->issue_per_scheduler = 2;
}

/* A pass beyond the first adds three cycles to the latency, and keeps the unit for so many. */
static void set_conflict_interval(struct sm_spec *spec, uint32_t cycles)
{
    set_conflict(spec, 3);
    spec->shared.conflict_interval_cycles = cycles;
}

static void expect_passes(setup *set, uint32_t cycles, uint32_t ways)
{
    char head[160];
    snprintf(head, sizeof head,
             "mov.u32 %%r1, %%laneid;\nmul.lo.u32 %%r2, %%r1, %u;\n"
             "mov.u32 %%r3, smem;\nadd.u32 %%r2, %%r2, %%r3;\n",
             4 * ways);
    double passes = 1 + (double)(ways - 1) * cycles;
    expect("shared, ways", ways,
           rate(set, cycles, head, TO_MANY("ld.shared.u32", "[%r2]"), 1024, count_shared, 0),
           1 / passes);
}

static void shared_memory_serves_a_pass_at_a_time(void **state)
{
    (void)state;
    repeats = 48;
    for (uint32_t ways = 1; ways <= 32; ways *= 2) {
        for (uint32_t cycles = 1; cycles <= 3; cycles++) {
            expect_passes(set_conflict, cycles, ways);
        }
        expect_passes(set_conflict_interval, 1, ways);
        expect_passes(set_conflict_interval, 2, ways);
    }
}

/* ---- the load/store unit, the texture unit, constants ---- */

/* A warp's lanes lie in as many segments; %rd1 is a lane's own. */
#define SPREAD "mov.u32 %r1, %laneid;\nmul.wide.u32 %rd1, %r1, 128;\nadd.u64 %rd1, %rd1, %rd0;\n"

static void set_nothing(struct sm_spec *spec, uint32_t value)
{
    (void)spec;
    (void)value;
}

static void set_lanes(struct sm_spec *spec, uint32_t value)
{
    spec->lanes.parallel = value / 16;
    spec->lanes.request_cycles = value % 16;
}

static void set_instruction_interval(struct sm_spec *spec, uint32_t cycles)
{
    spec->lanes.parallel = 2;
    spec->lanes.instruction_cycles = cycles;
}

static void the_load_store_unit_sends_as_many_requests_as_it_may(void **state)
{
    (void)state;
    repeats = 24;
    const char *spread = TO_MANY("ld.global.u32", "[%rd1]");
    const char *same = TO_MANY("ld.global.u32", "[%rd0]");
    expect("requests of 32 segments", 1,
           rate(set_nothing, 0, SPREAD, spread, 128, count_transactions, 0), 1);
    expect("requests of one segment", 1,
           rate(set_nothing, 0, "", same, 1024, count_transactions, 0), 1);
    for (uint32_t parallel = 1; parallel <= 4; parallel++) {
        for (uint32_t interval = 1; interval <= 5; interval++) {
            expect("lanes and interval", parallel * 16 + interval,
                   rate(set_lanes, parallel * 16 + interval, SPREAD, spread, 128,
                        count_transactions, 0),
                   (double)parallel / interval);
        }
    }
    for (uint32_t cycles = 2; cycles <= 12; cycles += 5) {
        expect("instruction interval", cycles,
               rate(set_instruction_interval, cycles, "", same, 1024, count_transactions, 0),
               2.0 / cycles);
    }
}

static void set_request_limit(struct sm_spec *spec, uint32_t entries)
{
    spec->pending = (struct pending_spec){.kind = PENDING_REQUEST_LIMIT, .entries = entries};
}

static void set_prt(struct sm_spec *spec, uint32_t entries)
{
    spec->pending = (struct pending_spec){.kind = PENDING_PRT, .entries = entries};
}

/* Little's law: entries, each taken for the memory's 100 cycles. */
static void what_may_be_outstanding_bounds_the_rate(void **state)
{
    (void)state;
    repeats = 24;
    const char *same = TO_MANY("ld.global.u32", "[%rd0]");
    for (uint32_t entries = 1; entries <= 64; entries *= 4) {
        expect("request limit", entries,
               rate(set_request_limit, entries, SPREAD, TO_MANY("ld.global.u32", "[%rd1]"), 128,
                    count_transactions, 0),
               entries / 100.0);
        expect("pending request table", entries,
               rate(set_prt, entries, "", same, 512, count_transactions, 0), entries / 100.0);
    }
}

static void set_texture_queue(struct sm_spec *spec, uint32_t entries)
{
    spec->texture.queue_entries = entries;
    spec->texture.address_cycles = 1;
}

/* A texel a lane: neighbours of 4 bytes share four pieces of 32 bytes, those 32 apart nothing. */
static void the_texture_unit_looks_up_one_piece_a_cycle(void **state)
{
    (void)state;
    repeats = 48;
    const char *fetch = "tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, {%r1}];\n"
                        "tex.1d.v4.u32.s32 {%r8, %r9, %r10, %r11}, [%rd2, {%r1}];\n"
                        "tex.1d.v4.u32.s32 {%r12, %r13, %r14, %r15}, [%rd2, {%r1}];\n"
                        "tex.1d.v4.u32.s32 {%r16, %r17, %r18, %r19}, [%rd2, {%r1}];\n";
    static const struct {
        const char *head;
        uint32_t pieces;
    } rows[] = {{"mov.u64 %rd2, 0xfe00000000;\nmov.u32 %r1, 0;\n", 1},
                {"mov.u64 %rd2, 0xfe00000000;\nmov.u32 %r1, %laneid;\n", 4},
                {"mov.u64 %rd2, 0xfe00000000;\nmov.u32 %r1, %laneid;\nshl.b32 %r1, %r1, 3;\n", 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double pieces =
            rate(set_texture_queue, 1024, rows[i].head, fetch, 1024, count_transactions, 0);
        expect("texture pieces", rows[i].pieces, pieces, 1);
    }
    /* a FIFO of n fetches, each in it from its issue to its leaving: 1 + 100 cycles */
    for (uint32_t entries = 4; entries <= 64; entries *= 4) {
        expect("texture FIFO", entries,
               rate(set_texture_queue, entries, rows[0].head, fetch, 1024, count_transactions, 0),
               entries / 101.0);
    }
}

static void constants_pass_an_address_a_cycle(void **state)
{
    (void)state;
    repeats = 24;
    for (uint32_t addresses = 1; addresses <= 32; addresses *= 2) {
        char head[160];
        snprintf(head, sizeof head,
                 "mov.u32 %%r1, %%laneid;\nand.b32 %%r1, %%r1, %u;\n"
                 "mul.wide.u32 %%rd1, %%r1, 4;\nadd.u64 %%rd1, %%rd1, %%rd0;\n",
                 addresses - 1);
        expect("constant addresses", addresses,
               rate(set_nothing, 0, head, TO_MANY("ld.const.u32", "[%rd1]"), 1024,
                    count_transactions, 0),
               1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_start_as_many_lanes_a_cycle_as_they_have),
        cmocka_unit_test(schedulers_issue_in_every_slot),
        cmocka_unit_test(shared_memory_serves_a_pass_at_a_time),
        cmocka_unit_test(the_load_store_unit_sends_as_many_requests_as_it_may),
        cmocka_unit_test(what_may_be_outstanding_bounds_the_rate),
        cmocka_unit_test(the_texture_unit_looks_up_one_piece_a_cycle),
        cmocka_unit_test(constants_pass_an_address_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
