/*
 * What an SM may have outstanding, one under and exactly at each limit, on a bench whose memory
 * answers after 100 cycles (tests/support/sm_bench.h): how many requests leave before the first
 * answer, when the next one does, and in which cycles lanes let them go. Kernels load unique
 * segments of 128 bytes unless they say otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/sm_bench.h"
#include "util/rng.h"

/* rd1 = buffer + 64 KiB + 128 * thread; loads of one thread lie 128 KiB apart. */
#define ADDRESS                                                                                    \
    "mov.u32 %r8, %tid.x;\nmul.wide.u32 %rd1, %r8, 128;\nadd.u64 %rd1, %rd1, %rd0;\n"              \
    "bar.sync 0;\n"
#define LOAD(n, offset) "ld.global.u32 %r" #n ", [%rd1+" #offset "];\n"
#define USE(n) "st.volatile.shared.u32 [smem], %r" #n ";\n"

static struct bench b;

static void start(void)
{
    bench_defaults(&b);
    b.with_l1 = true;
    b.spec.lsu_queue_entries = 64;
}

static void run(const char *body, uint32_t threads)
{
    if (!bench_run(&b, body, 1, threads)) {
        fprintf(stderr, "%s\n", b.error < 0 ? error_text() : b.stall);
    }
    assert_int_equal(b.error, 0);
    assert_int_equal(b.ctas_ended, 1);
    assert_int_equal(b.requests_out, 0);
    assert_int_equal(b.stats.transactions, b.log_count);
}

/* Requests that left before the first answer. */
static uint32_t before_first_answer(void)
{
    uint32_t count = 0;
    while (count < b.log_count && b.log[count].cycle < b.log[0].cycle + b.memory_cycles) {
        count++;
    }
    return count;
}

static uint32_t most_outstanding(void)
{
    uint32_t most = 0;
    for (uint32_t i = 0, answered = 0; i < b.log_count; i++) {
        while (b.log[answered].cycle + b.memory_cycles <= b.log[i].cycle) {
            answered++;
        }
        most = i + 1 - answered > most ? i + 1 - answered : most;
    }
    return most;
}

static void a_table_of_instructions_holds_as_many_warps_as_it_has_entries(void **state)
{
    (void)state;
    for (uint32_t warps = 1; warps <= 6; warps++) {
        for (uint32_t lanes = 1; lanes <= 4; lanes += 3) {
            start();
            b.spec.lanes.parallel = 8;
            b.spec.pending = (struct pending_spec){.kind = PENDING_PRT, .entries = 5};
            char body[1024];
            snprintf(body, sizeof body,
                     "%sand.b32 %%r9, %%r8, 31;\nsetp.lt.u32 %%p1, %%r9, %u;\n"
                     "@%%p1 ld.global.u32 %%r1, [%%rd1];\n%s",
                     ADDRESS, lanes, USE(1));
            run(body, warps * 32);
            uint32_t fit = warps < 5 ? warps : 5;
            assert_int_equal(b.log_count, warps * lanes);
            assert_int_equal(before_first_answer(), fit * lanes);
            assert_int_equal(b.stats.pending_stalls, warps > 5);
            if (warps == 6) {
                /* The oldest instruction's last answer, and the next cycle is the sixth's. */
                uint64_t last = 0;
                for (uint32_t i = 0; i < 5 * lanes; i++) {
                    bool oldest = (b.log[i].address - (uintptr_t)b.out) / 4096 ==
                                  (b.log[0].address - (uintptr_t)b.out) / 4096;
                    last = oldest && b.log[i].cycle > last ? b.log[i].cycle : last;
                }
                assert_int_equal(b.log[5 * lanes].cycle, last + b.memory_cycles);
            }
            bench_free(&b);
        }
    }
}

static void a_limit_on_requests_counts_each_of_them(void **state)
{
    (void)state;
    for (uint32_t limit = 30; limit <= 66; limit++) {
        start();
        b.spec.lanes.parallel = 2;
        b.spec.pending = (struct pending_spec){.kind = PENDING_REQUEST_LIMIT, .entries = limit};
        run(ADDRESS LOAD(1, 0) USE(1), 64);
        assert_int_equal(b.log_count, 64);
        assert_int_equal(before_first_answer(), limit < 64 ? limit : 64);
        assert_int_equal(most_outstanding(), limit < 64 ? limit : 64);
        if (limit < 64) {
            assert_int_equal(b.log[limit].cycle, b.log[0].cycle + b.memory_cycles);
        }
        bench_free(&b);
    }
}

static void held_by_the_instruction_places_are_taken_and_given_together(void **state)
{
    (void)state;
    static const struct {
        uint32_t limit, at_once;
    } rows[] = {{31, 32}, {32, 32}, {63, 32}, {64, 64}, {65, 64}, {95, 64}, {96, 96}, {97, 96}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start();
        b.spec.lanes.parallel = 4;
        b.spec.pending = (struct pending_spec){
            .kind = PENDING_REQUEST_LIMIT, .entries = rows[i].limit, .hold_instruction = true};
        run(ADDRESS LOAD(1, 0) USE(1), 96);
        assert_int_equal(b.log_count, 96);
        assert_int_equal(before_first_answer(), rows[i].at_once);
        bench_free(&b);
    }
}

static void a_warp_has_as_many_loads_out_as_its_scoreboard_has_places(void **state)
{
    (void)state;
    for (uint32_t limit = 0; limit <= 5; limit++) {
        start();
        b.spec.loads_per_warp = limit;
        run(ADDRESS LOAD(1, 0) LOAD(2, 4096) LOAD(3, 8192) LOAD(4, 12288)
                LOAD(5, 16384) "ld.shared.u32 %r6, [smem+64];\n" USE(1) USE(2) USE(3) USE(4) USE(5)
                    USE(6),
            1);
        uint32_t at_once = limit && limit < 5 ? limit : 5;
        assert_int_equal(before_first_answer(), at_once);
        if (at_once < 5) {
            /* The place is free at the answer; the load issues with it and takes its own way. */
            uint64_t answer = b.log[0].cycle + b.memory_cycles;
            assert_int_equal(b.log[at_once].cycle, answer + b.spec.lsu_cycles);
        }
        bench_free(&b);
    }
}

static void stores_and_reductions_take_no_place_of_the_scoreboard(void **state)
{
    (void)state;
    start();
    b.spec.loads_per_warp = 1;
    run(ADDRESS LOAD(1, 0) "st.global.u32 [%rd1+4096], %r8;\n"
                           "red.global.add.u32 [%rd1+8192], %r8;\n" USE(1),
        1);
    assert_int_equal(before_first_answer(), 3);
    bench_free(&b);
    start();
    b.spec.loads_per_warp = 1;
    run(ADDRESS LOAD(1, 0) "atom.global.add.u32 %r2, [%rd1+4096], %r8;\n" USE(1) USE(2), 1);
    assert_int_equal(before_first_answer(), 1);
    bench_free(&b);
}

/* The warp of a request. */
static uint32_t warp_of(uint32_t i)
{
    return (uint32_t)((b.log[i].address - (uintptr_t)b.out) / 128 / 32);
}

static void requests_of_an_instruction_are_serialized_and_those_of_a_lane_each_are_not(void **state)
{
    (void)state;
    for (uint32_t parallel = 1; parallel <= 4; parallel++) {
        for (uint32_t interval = 1; interval <= 4; interval++) {
            start();
            b.spec.lanes = (struct lanes_spec){.parallel = parallel, .request_cycles = interval};
            b.memory_cycles = 2000;
            run(ADDRESS LOAD(1, 0) USE(1), 128);
            uint64_t first[4] = {0}, last[4] = {0}; /* in the order of their first requests */
            uint32_t count[4] = {0}, place[4], begun = 0;
            for (uint32_t i = 0; i < b.log_count; i++) {
                uint32_t warp = warp_of(i);
                if (count[warp]++) {
                    assert_int_equal(b.log[i].cycle, last[place[warp]] + interval);
                } else {
                    place[warp] = begun++;
                    first[place[warp]] = b.log[i].cycle;
                }
                last[place[warp]] = b.log[i].cycle;
            }
            for (uint32_t i = 0; i < 4; i++) {
                assert_int_equal(count[i], 32);
                /* One warp issues in a cycle; beyond the lanes, when the first lane is free. */
                uint64_t expected = i < parallel ? first[0] + i : last[i - parallel] + interval;
                assert_int_equal(first[i], expected);
            }
            bench_free(&b);
        }
    }
}

static void an_instruction_keeps_its_lane_for_the_least_time(void **state)
{
    (void)state;
    for (uint32_t least = 1; least <= 40; least += 13) {
        start();
        b.spec.lanes = (struct lanes_spec){.instruction_cycles = least};
        b.memory_cycles = 2000;
        /* One request a warp: all lanes read the same word. */
        run("bar.sync 0;\nld.global.u32 %r1, [%rd0+128];\n" USE(1), 128);
        assert_int_equal(b.log_count, 4);
        for (uint32_t i = 1; i < 4; i++) {
            assert_int_equal(b.log[i].cycle - b.log[i - 1].cycle, least);
        }
        bench_free(&b);
    }
}

static uint32_t stretch_of(uint32_t lanes, uint32_t writeback)
{
    char body[1024];
    start();
    b.spec.lanes = (struct lanes_spec){.writeback_cycles = writeback};
    snprintf(body, sizeof body,
             "%ssetp.lt.u32 %%p1, %%r8, %u;\nmov.u32 %%r20, %%clock;\n"
             "@%%p1 ld.global.u32 %%r1, [%%rd1];\n%smov.u32 %%r21, %%clock;\n"
             "sub.u32 %%r22, %%r21, %%r20;\nst.global.u32 [%%rd0], %%r22;\n",
             ADDRESS, lanes, USE(1));
    run(body, 32);
    uint32_t cycles = b.out[0];
    bench_free(&b);
    return cycles;
}

static void answers_of_an_instruction_are_written_back_one_after_the_other(void **state)
{
    (void)state;
    uint32_t alone = stretch_of(1, 0);
    for (uint32_t lanes = 1; lanes <= 32; lanes += lanes < 3 ? 1 : 29) {
        uint32_t unhindered = stretch_of(lanes, 0);
        assert_int_equal(unhindered, alone + lanes - 1);
        assert_int_equal(stretch_of(lanes, 1), unhindered); /* as they leave, one a cycle */
        for (uint32_t writeback = 2; writeback <= 5; writeback++) {
            assert_int_equal(stretch_of(lanes, writeback),
                             unhindered + (lanes - 1) * (writeback - 1));
        }
    }
}

static void who_replays_asks_again_in_steps(void **state)
{
    (void)state;
    for (uint32_t retry = 7; retry <= 60; retry += 53) {
        start();
        b.spec.pending =
            (struct pending_spec){.kind = PENDING_PRT, .entries = 1, .retry_cycles = retry};
        run("bar.sync 0;\nld.global.u32 %r1, [%rd0+128];\n" USE(1), 64);
        assert_int_equal(b.log_count, 2);
        uint64_t asked = b.log[0].cycle + 1, answer = b.log[0].cycle + b.memory_cycles;
        while (asked < answer) {
            asked += retry;
        }
        assert_int_equal(b.log[1].cycle, asked);
        bench_free(&b);
    }
}

/* A kernel that mixes all that goes out of an SM. */
static void mixed_body(char *out, size_t size, struct rng *rng)
{
    static const char *const pieces[] = {
        "ld.global.u32 %r1, [%rd1];\nadd.u32 %r9, %r9, %r1;\n",
        "ld.global.ca.u32 %r2, [%rd1+128];\n",
        "ld.global.cg.u32 %r3, [%rd1+4096];\nadd.u32 %r9, %r9, %r3;\n",
        "st.global.u32 [%rd1], %r9;\n",
        "atom.global.add.u32 %r4, [%rd2], 1;\n",
        "red.global.add.u32 [%rd2+4], 3;\n",
        "bar.sync 0;\n",
        "ld.global.nc.u32 %r5, [%rd3];\nadd.u32 %r9, %r9, %r5;\n",
        "ld.const.u32 %r6, [%rd3+64];\n",
        "membar.gl;\n",
        "st.local.u32 [%rd4], %r9;\nld.local.u32 %r7, [%rd4];\nadd.u32 %r9, %r9, %r7;\n",
    };
    size_t length = (size_t)snprintf(
        out, size,
        ".local .align 8 .b8 mine[16];\nmov.u64 %%rd4, mine;\nmov.u32 %%r8, %%tid.x;\n"
        "mul.wide.u32 %%rd1, %%r8, 132;\nadd.u64 %%rd1, %%rd1, %%rd0;\n"
        "add.u64 %%rd1, %%rd1, 65536;\nadd.u64 %%rd2, %%rd0, 4096;\nadd.u64 %%rd3, %%rd0, 8192;\n"
        "mov.u32 %%r9, %%r8;\n");
    for (uint32_t i = 0; i < 24; i++) {
        const char *piece = pieces[rng_below(rng, sizeof pieces / sizeof *pieces)];
        length += (size_t)snprintf(out + length, size - length, "%s", piece);
    }
    snprintf(out + length, size - length,
             "mad.wide.u32 %%rd5, %%r8, 4, %%rd0;\nst.global.u32 [%%rd5+262144], %%r9;\n");
}

static void draw_structure(struct rng *rng)
{
    b.with_texture = b.with_constant = true;
    b.spec.readonly = READONLY_TEXTURE;
    b.spec.lsu_queue_entries = 1 + (uint32_t)rng_below(rng, 4);
    b.spec.loads_per_warp = (uint32_t)rng_below(rng, 4);
    b.spec.lanes = (struct lanes_spec){.parallel = 1 + (uint32_t)rng_below(rng, 5),
                                       .request_cycles = 1 + (uint32_t)rng_below(rng, 3),
                                       .instruction_cycles = 1 + (uint32_t)rng_below(rng, 9),
                                       .writeback_cycles = (uint32_t)rng_below(rng, 4)};
    b.spec.pending = (struct pending_spec){
        .kind = rng_below(rng, 2) ? PENDING_PRT : PENDING_REQUEST_LIMIT,
        .entries = 1 + (uint32_t)rng_below(rng, 5),
        .retry_cycles = rng_below(rng, 2) ? 0 : 1 + (uint32_t)rng_below(rng, 30)};
    b.spec.pending.hold_instruction =
        b.spec.pending.kind == PENDING_REQUEST_LIMIT && rng_below(rng, 2);
    b.refuse_above = rng_below(rng, 2) ? 0 : 1 + (uint32_t)rng_below(rng, 8);
}

static uint64_t image_hash(void)
{
    uint64_t hash = 1469598103934665603u;
    for (uint32_t i = 0; i < BENCH_BUFFER_BYTES / 4; i++) {
        hash = (hash ^ b.out[i]) * 1099511628211u;
    }
    return hash;
}

/*
 * Tiny structures of every kind together: nothing waits for ever, every request is answered once
 * (the bench counts), memory ends as it does without any bound, and a second run is the same to
 * the cycle. Threads write to places of their own, so that the end does not depend on timing.
 */
static void full_structures_together_neither_deadlock_nor_lose_nor_vary(void **state)
{
    (void)state;
    static char body[1 << 14];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t hash[3], cycles[3];
        uint32_t requests[3];
        for (int pass = 0; pass < 3; pass++) {
            struct rng rng;
            rng_seed(&rng, seed);
            start();
            b.with_texture = b.with_constant = true;
            b.spec.readonly = READONLY_TEXTURE;
            mixed_body(body, sizeof body, &rng);
            uint32_t threads = 32 + (uint32_t)rng_below(&rng, 97);
            if (pass > 0) {
                draw_structure(&rng);
            }
            run(body, threads);
            hash[pass] = image_hash();
            cycles[pass] = b.cycles;
            requests[pass] = b.log_count;
            if (pass > 0 && b.spec.pending.kind == PENDING_REQUEST_LIMIT &&
                !b.spec.pending.hold_instruction && b.log_count < BENCH_LOG && !b.with_texture) {
                assert_true(most_outstanding() <= b.spec.pending.entries);
            }
            bench_free(&b);
        }
        assert_int_equal(hash[1], hash[0]);
        assert_int_equal(hash[2], hash[1]);
        assert_int_equal(requests[1], requests[0]);
        assert_int_equal(cycles[2], cycles[1]);
    }
}

static void a_fault_with_everything_under_way_leaves_nothing_behind(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        start();
        draw_structure(&rng);
        bool ok = bench_run(&b,
                            ADDRESS LOAD(1, 0)
                                LOAD(2, 4096) "setp.eq.u32 %p1, %r8, 70;\n@%p1 mov.u64 %rd1, 64;\n"
                                              "ld.global.u32 %r3, [%rd1];\n" USE(1),
                            1, 128);
        assert_false(ok);
        assert_int_equal(b.error, SONDE_EFAULT);
        assert_int_equal(b.requests_out, 0);
        bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_of_instructions_holds_as_many_warps_as_it_has_entries),
        cmocka_unit_test(a_limit_on_requests_counts_each_of_them),
        cmocka_unit_test(held_by_the_instruction_places_are_taken_and_given_together),
        cmocka_unit_test(a_warp_has_as_many_loads_out_as_its_scoreboard_has_places),
        cmocka_unit_test(stores_and_reductions_take_no_place_of_the_scoreboard),
        cmocka_unit_test(
            requests_of_an_instruction_are_serialized_and_those_of_a_lane_each_are_not),
        cmocka_unit_test(an_instruction_keeps_its_lane_for_the_least_time),
        cmocka_unit_test(answers_of_an_instruction_are_written_back_one_after_the_other),
        cmocka_unit_test(who_replays_asks_again_in_steps),
        cmocka_unit_test(full_structures_together_neither_deadlock_nor_lose_nor_vary),
        cmocka_unit_test(a_fault_with_everything_under_way_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
