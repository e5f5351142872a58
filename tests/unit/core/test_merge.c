/* Reads of different warps for the same bytes (core/memory/merge.h), on a bench of one SM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/sm_bench.h"
#include "util/rng.h"

static struct bench b;

static void start(uint32_t entries)
{
    bench_defaults(&b);
    b.with_l1 = true;
    b.spec.coalesce.inter_warp_entries = entries;
}

static void run(const char *body, uint32_t threads)
{
    if (!bench_run(&b, body, 1, threads)) {
        fail_msg("%s", b.error < 0 ? error_text() : b.stall);
    }
    assert_int_equal(b.requests_out, 0);
    assert_int_equal(b.stats.transactions, b.log_count);
}

static uint32_t count(enum mem_kind kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b.log_count; i++) {
        n += b.log[i].kind == kind;
    }
    return n;
}

static void warps_that_read_the_same_send_one_request(void **state)
{
    (void)state;
    for (uint32_t warps = 1; warps <= 16; warps *= 2) {
        for (uint32_t entries = 0; entries <= 4; entries += 4) {
            start(entries);
            run("ld.global.u32 %r1, [%rd0+256];\nadd.u32 %r2, %r1, 1;\n", warps * 32);
            assert_int_equal(count(MEM_READ), entries ? 1 : warps);
            assert_int_equal(b.stats.merged_requests, entries ? warps - 1 : 0);
            bench_free(&b);
        }
    }
}

/* Values that nobody uses would share a register, and each load wait for the one before. */
#define USE "add.u32 %r1, %r1, %r2;\nst.volatile.shared.u32 [smem], %r1;\n"

/* The second warp's value is there with the first's, not a memory's latency after its own turn. */
static void a_joined_read_is_answered_with_the_one_it_joined(void **state)
{
    (void)state;
    static const char body[] = "mov.u32 %r8, %tid.x;\nshr.u32 %r8, %r8, 5;\n"
                               "setp.eq.u32 %p1, %r8, 0;\nmov.u32 %r10, 0;\n@%p1 bra GO;\n"
                               "W:\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p2, %r10, 2;\n"
                               "@%p2 bra W;\nGO:\nld.global.u32 %r1, [%rd0+256];\n"
                               "st.volatile.shared.u32 [smem], %r1;\nmov.u32 %r2, %clock;\n"
                               "mul.wide.u32 %rd1, %r8, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"
                               "st.global.u32 [%rd1], %r2;\n";
    uint32_t apart[2];
    for (uint32_t i = 0; i < 2; i++) {
        start(i * 4);
        b.memory_cycles = 300;
        run(body, 64);
        apart[i] = b.out[1] - b.out[0];
        bench_free(&b);
    }
    assert_in_range(apart[0], 30, 200);
    assert_in_range(apart[1], 0, 4);
}

static void only_bytes_that_are_on_their_way_can_be_joined(void **state)
{
    (void)state;
    /* half of a pending segment joins; the whole does not join a pending half */
    static const struct {
        const char *body;
        uint32_t reads;
    } rows[] = {{"mov.u32 %r8, %tid.x;\nmul.wide.u32 %rd1, %r8, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"
                 "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd0+64];\n" USE,
                 1},
                {"mov.u32 %r8, %tid.x;\nmul.wide.u32 %rd1, %r8, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"
                 "ld.global.u32 %r1, [%rd0+64];\nld.global.u32 %r2, [%rd1];\n" USE,
                 2},
                {"ld.global.u32 %r1, [%rd0+64];\nld.global.u32 %r2, [%rd0+96];\n" USE, 2},
                {"ld.global.u32 %r1, [%rd0+64];\nst.volatile.shared.u32 [smem], %r1;\n"
                 "ld.global.u32 %r2, [%rd0+64];\n" USE,
                 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start(8);
        run(rows[i].body, 32);
        assert_int_equal(count(MEM_READ), rows[i].reads);
        assert_int_equal(b.stats.merged_requests, 2 - rows[i].reads);
        bench_free(&b);
    }
}

static void a_full_table_remembers_no_more(void **state)
{
    (void)state;
    start(1);
    run("ld.global.u32 %r1, [%rd0];\nld.global.u32 %r2, [%rd0+128];\n"
        "ld.global.u32 %r3, [%rd0];\nld.global.u32 %r4, [%rd0+128];\n" USE
        "st.volatile.shared.u32 [smem], %r3;\nst.volatile.shared.u32 [smem], %r4;\n",
        32);
    assert_int_equal(count(MEM_READ), 3);
    assert_int_equal(b.stats.merged_requests, 1);
    bench_free(&b);
}

static void volatile_reads_stores_and_atomics_go_by_themselves(void **state)
{
    (void)state;
    start(8);
    run("ld.volatile.global.u32 %r1, [%rd0];\nst.global.u32 [%rd0], %r8;\n"
        "atom.global.add.u32 %r2, [%rd0], 1;\nld.acquire.gpu.global.u32 %r3, [%rd0];\n",
        64);
    assert_int_equal(b.log_count, 8);
    assert_int_equal(b.stats.merged_requests, 0);
    bench_free(&b);
}

/* Random loads, stores and atomics of many warps to few places that none else writes. */
static void draw_body(char *body, size_t size, struct rng *rng)
{
    static const char *const loads[] = {"ld.global.u32", "ld.global.cg.u32",
                                        "ld.volatile.global.u32", "ld.global.nc.u32"};
    size_t n = (size_t)snprintf(body, size,
                                "mov.u32 %%r8, %%tid.x;\nmul.wide.u32 %%rd1, %%r8, 4;\n"
                                "add.u64 %%rd1, %%rd1, %%rd0;\nmov.u32 %%r9, 0;\n");
    for (uint32_t i = 0; i < 24; i++) {
        const char *load = loads[rng_below(rng, 4)];
        const char *base = rng_below(rng, 2) ? "%rd0" : "%rd1";
        n += (size_t)snprintf(body + n, size - n, "%s %%r%u, [%s+%u];\n", load, 10 + i % 8, base,
                              4 * (uint32_t)rng_below(rng, 64));
        if (i % 3 == 2) {
            n += (size_t)snprintf(body + n, size - n, "add.u32 %%r9, %%r9, %%r%u;\n", 10 + i % 8);
        }
        if (rng_below(rng, 4) == 0) {
            n += (size_t)snprintf(body + n, size - n, "st.global.u32 [%%rd1+65536], %%r9;\n");
        }
        if (rng_below(rng, 6) == 0) {
            n += (size_t)snprintf(body + n, size - n, "red.global.add.u32 [%%rd1+131072], %%r9;\n");
        }
    }
}

static void merging_saves_requests_and_changes_no_result(void **state)
{
    (void)state;
    static char body[1 << 13];
    for (uint64_t seed = 1; seed <= 30; seed++) {
        uint64_t sent[2], hash[2], merged = 0;
        for (uint32_t i = 0; i < 2; i++) {
            struct rng rng;
            rng_seed(&rng, seed);
            draw_body(body, sizeof body, &rng);
            start(i * (1 + (uint32_t)rng_below(&rng, 16)));
            b.refuse_above = (uint32_t)rng_below(&rng, 6);
            b.memory_cycles = 20 + rng_below(&rng, 300);
            run(body, 32 * (1 + (uint32_t)rng_below(&rng, 16)));
            sent[i] = b.stats.transactions;
            merged = b.stats.merged_requests;
            hash[i] = 1;
            for (uint32_t k = 0; k < BENCH_BUFFER_BYTES / 4; k++) {
                hash[i] = (hash[i] ^ b.out[k]) * 1099511628211u;
            }
            bench_free(&b);
        }
        assert_int_equal(hash[0], hash[1]);
        assert_int_equal(sent[0], sent[1] + merged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_that_read_the_same_send_one_request),
        cmocka_unit_test(a_joined_read_is_answered_with_the_one_it_joined),
        cmocka_unit_test(only_bytes_that_are_on_their_way_can_be_joined),
        cmocka_unit_test(a_full_table_remembers_no_more),
        cmocka_unit_test(volatile_reads_stores_and_atomics_go_by_themselves),
        cmocka_unit_test(merging_saves_requests_and_changes_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
