/*
 * What a load costs on a whole GPU, from L1, L2 and DRAM: equal to the sum of the parts that the
 * model lists. A timed load is: clock, load, volatile store of what was loaded to shared memory,
 * clock; the issue of one instruction a cycle adds 1 cycle before and 1 after it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"

#define TIMED_LOAD(op, offset, slot)                                                               \
    "mov.u32 %r1, %clock;\n" op " %r2, [%rd0+" #offset "];\n"                                      \
    "st.volatile.shared.u32 [smem], %r2;\nmov.u32 %r3, %clock;\n"                                  \
    "sub.u32 %r4, %r3, %r1;\nst.global.u32 [%rd0+" #slot "], %r4;\n"

static struct gpu_bench g;

static void build(const char *model)
{
    assert_true(gpu_bench_load(&g, model));
    g.model->sm.issue_per_scheduler = 1;
    g.model->copies_allocate_in_l2 = false;
    assert_true(gpu_bench_build(&g));
}

static uint32_t serialization_cycles(uint32_t bytes, uint32_t width)
{
    return width && bytes > width ? (bytes + width - 1) / width - 1 : 0;
}

/* To L2 and back, without L2's own time: a read is a header up, header and data down. */
static uint32_t network_cycles(uint32_t bytes)
{
    const struct noc_spec *noc = &g.model->noc;
    return noc->request_cycles + noc->reply_cycles +
           serialization_cycles(noc->header_bytes, noc->request_bytes_per_cycle) +
           serialization_cycles(noc->header_bytes + bytes, noc->reply_bytes_per_cycle);
}

static uint32_t l2_hit_cycles(uint32_t bytes)
{
    return g.model->sm.lsu_cycles + network_cycles(bytes) + g.model->l2.hit_cycles +
           serialization_cycles(bytes, g.model->l2.data_bytes_per_cycle);
}

static void an_l1_hit_costs_the_address_path_and_the_lookup(void **state)
{
    (void)state;
    build("gtx560ti");
    assert_true(gpu_bench_run(
        &g, TIMED_LOAD("ld.global.ca.u32", 65536, 0) TIMED_LOAD("ld.global.ca.u32", 65540, 4), 1,
        1));
    assert_int_equal(g.buffer[1],
                     g.model->sm.lsu_cycles + g.model->l1_data.hit_cycles + 2 +
                         serialization_cycles(32, g.model->l1_data.data_bytes_per_cycle));
    assert_in_range(g.buffer[1], 113, 119); /* Mei 2014, Table 3: 116 */
    gpu_bench_free(&g);
}

static void an_l2_hit_adds_the_network_and_l2(void **state)
{
    (void)state;
    build("gtx780");
    assert_true(gpu_bench_run(
        &g, TIMED_LOAD("ld.global.u32", 65536, 0) TIMED_LOAD("ld.global.u32", 65540, 4), 1, 1));
    assert_int_equal(g.buffer[1], l2_hit_cycles(32) + 2);
    assert_in_range(g.buffer[1], 227, 233); /* Mei 2014, Table 3: 230 */
    gpu_bench_free(&g);
}

static void a_bypass_of_l1_costs_what_l2_costs(void **state)
{
    (void)state;
    build("gtx560ti");
    assert_true(gpu_bench_run(
        &g, TIMED_LOAD("ld.global.cg.u32", 65536, 0) TIMED_LOAD("ld.global.cg.u32", 65540, 4), 1,
        1));
    assert_int_equal(g.buffer[1], l2_hit_cycles(32) + 2);
    assert_in_range(g.buffer[1], 368, 374); /* Mei 2014, Table 3: 371 */
    gpu_bench_free(&g);
}

static void dram_adds_its_own_time(void **state)
{
    (void)state;
    static const struct {
        const char *model, *op;
        uint32_t printed;
    } rows[] = {{"gtx560ti", "cg", 639}, {"gtx780", "cg", 371}};
    for (int i = 0; i < 2; i++) {
        build(rows[i].model);
        assert_true(
            gpu_bench_run(&g,
                          "ld.global.cg.u32 %r9, [%rd0+65536];\n" /* for the TLBs */
                          "add.u32 %r9, %r9, 1;\n" TIMED_LOAD("ld.global.cg.u32", 131072, 0),
                          1, 1));
        assert_in_range(g.buffer[0], rows[i].printed - 10, rows[i].printed + 10);
        gpu_bench_free(&g);
    }
}

/* Wong et al., ISPASS 2010: 441 cycles global, 38 shared, 261 texture, 8 and 81 constant. What
 * issues every 4 cycles is recorded in steps of 4: the clock, the load and the store on either
 * side. */
static void a_gtx280_takes_what_was_measured_on_one(void **state)
{
    (void)state;
    static const struct {
        const char *load;
        uint32_t printed;
    } rows[] = {{"ld.global.u32 %r2, [%rd0+131072];\n", 441},
                {"ld.shared.u32 %r2, [smem+64];\n", 38},
                {"tex.1d.v4.u32.s32 {%r2, %r20, %r21, %r22}, [%rd6, {%r9}];\n", 261},
                {"ld.const.u32 %r2, [%rd0+65536];\n", 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static char body[1024];
        assert_true(gpu_bench_load(&g, "gtx280"));
        assert_true(gpu_bench_build(&g));
        buffer_texture_make(&g.texture, (uintptr_t)g.buffer, 4096);
        snprintf(body, sizeof body,
                 "mov.u64 %%rd6, 0xfe00000000;\nmov.u32 %%r9, 3;\nmov.u32 %%r8, 0;\nL:\n"
                 "bar.sync 0;\nmov.u32 %%r1, %%clock;\n%s"
                 "st.volatile.shared.u32 [smem], %%r2;\nmov.u32 %%r3, %%clock;\n"
                 "sub.u32 %%r4, %%r3, %%r1;\nst.global.u32 [%%rd0], %%r4;\n"
                 "add.u32 %%r8, %%r8, 1;\nsetp.lt.u32 %%p1, %%r8, 2;\n@%%p1 bra L;\n",
                 rows[i].load);
        assert_true(gpu_bench_run(&g, body, 1, 1));
        assert_in_range(g.buffer[0], rows[i].printed + 5, rows[i].printed + 11);
        gpu_bench_free(&g);
    }
}

/* The same threads' accesses as requests, by its rules of coalescing (guide 2.3, 5.1.2.1). */
static void a_gtx280_coalesces_half_warps(void **state)
{
    (void)state;
    static const struct {
        uint32_t stride, requests;
    } rows[] = {{4, 2}, {8, 2}, {16, 4}, {64, 16}, {128, 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static char body[256];
        struct gpu_stats stats;
        assert_true(gpu_bench_load(&g, "gtx280"));
        assert_true(gpu_bench_build(&g));
        snprintf(body, sizeof body,
                 "mov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd1, %%r1, %u;\n"
                 "add.u64 %%rd1, %%rd1, %%rd0;\nld.global.u32 %%r2, [%%rd1];\n"
                 "st.volatile.shared.u32 [smem], %%r2;\n",
                 rows[i].stride);
        assert_true(gpu_bench_run(&g, body, 1, 32));
        gpu_stats(g.gpu, &stats);
        assert_int_equal(stats.transactions, rows[i].requests);
        gpu_bench_free(&g);
    }
}

static void l1_keeps_its_lines_within_a_launch_and_loses_them_at_the_next(void **state)
{
    (void)state;
    build("gtx560ti");
    assert_true(g.model->l1_data.invalidate_on_launch);
    assert_true(gpu_bench_run(
        &g, TIMED_LOAD("ld.global.ca.u32", 65536, 0) TIMED_LOAD("ld.global.ca.u32", 65536, 4), 1,
        1));
    uint32_t hit = g.buffer[1];
    assert_true(gpu_bench_run(&g, TIMED_LOAD("ld.global.ca.u32", 65536, 0), 1, 1));
    assert_true(g.buffer[0] > hit + 100);
    assert_true(g.buffer[0] < 500); /* but L2 still has it */
    gpu_bench_free(&g);
}

static void host_copies_leave_their_lines_in_l2_where_the_model_says_so(void **state)
{
    (void)state;
    uint32_t latency[2];
    for (int i = 0; i < 2; i++) {
        assert_true(gpu_bench_load(&g, "gtx780"));
        g.model->copies_allocate_in_l2 = i == 1;
        assert_true(gpu_bench_build(&g));
        gpu_host_copy(g.gpu, (uintptr_t)g.buffer + 65536, 4096, true);
        assert_true(gpu_bench_run(&g, TIMED_LOAD("ld.global.u32", 65600, 0), 1, 1));
        latency[i] = g.buffer[0];
        gpu_bench_free(&g);
    }
    assert_true(latency[0] > latency[1] + 100);
}

static void a_carve_out_changes_the_size_of_l1(void **state)
{
    (void)state;
    /* Read 32 KB twice; count the hits of the second pass. */
    static const char *const body =
        "mov.u32 %r9, 0;\nPASS:\nmov.u32 %r5, 0;\nLOOP:\nmul.wide.u32 %rd1, %r5, 128;\n"
        "add.u64 %rd1, %rd1, %rd0;\nld.global.ca.u32 %r6, [%rd1+65536];\nadd.u32 %r5, %r5, 1;\n"
        "setp.lt.u32 %p1, %r5, 256;\n@%p1 bra LOOP;\nadd.u32 %r9, %r9, 1;\n"
        "setp.lt.u32 %p1, %r9, 2;\n@%p1 bra PASS;\n";
    uint64_t hits[2];
    for (uint32_t choice = 0; choice < 2; choice++) {
        build("gtx560ti");
        assert_int_equal(gpu_set_carveout(g.gpu, choice), 0);
        assert_true(gpu_bench_run(&g, body, 1, 1));
        struct gpu_stats stats;
        gpu_stats(g.gpu, &stats);
        hits[choice] = stats.l1_hits;
        gpu_bench_free(&g);
    }
    assert_int_equal(hits[1], 256); /* 48 KB hold it all */
    assert_true(hits[0] < 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_l1_hit_costs_the_address_path_and_the_lookup),
        cmocka_unit_test(an_l2_hit_adds_the_network_and_l2),
        cmocka_unit_test(a_bypass_of_l1_costs_what_l2_costs),
        cmocka_unit_test(dram_adds_its_own_time),
        cmocka_unit_test(l1_keeps_its_lines_within_a_launch_and_loses_them_at_the_next),
        cmocka_unit_test(a_gtx280_takes_what_was_measured_on_one),
        cmocka_unit_test(a_gtx280_coalesces_half_warps),
        cmocka_unit_test(host_copies_leave_their_lines_in_l2_where_the_model_says_so),
        cmocka_unit_test(a_carve_out_changes_the_size_of_l1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
