/*
 * The models of Lashgar et al., HEART 2015, against the paper's printed spikes: one block, barrier
 * to barrier around independent loads (Listing 1), data in L2. The latency jumps between the thread
 * count at which the structure is full and the next one, and nowhere else below by half as much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"
#include "util/rng.h"

#define CLOCKS_OFFSET "33554432"
#define LOAD_BYTES 131072 /* 1024 lines of 128 bytes */

static struct gpu_bench g;

/* Lanes from `lanes` on load nothing; `merge` neighbours share a line. */
static void write_kernel(char *body, size_t size, uint32_t loads, uint32_t merge, uint32_t lanes)
{
    size_t n = (size_t)snprintf(
        body, size,
        "mov.u32 %%r0, %%tid.x;\nand.b32 %%r1, %%r0, 31;\nsetp.lt.u32 %%p1, %%r1, %u;\n"
        "shr.u32 %%r1, %%r0, %u;\nmul.wide.u32 %%rd1, %%r1, 128;\nadd.u64 %%rd1, %%rd1, %%rd0;\n"
        "mov.u32 %%r20, 0;\nbar.sync 0;\nmov.u32 %%r21, %%clock;\n",
        lanes, (uint32_t)__builtin_ctz(merge));
    for (uint32_t i = 0; i < loads; i++) {
        n += (size_t)snprintf(body + n, size - n, "@%%p1 ld.global.ca.u32 %%r%u, [%%rd1+%u];\n",
                              2 + i, i * LOAD_BYTES);
    }
    for (uint32_t i = 0; i < loads; i++) {
        n += (size_t)snprintf(body + n, size - n, "add.u32 %%r20, %%r20, %%r%u;\n", 2 + i);
    }
    snprintf(body + n, size - n,
             "setp.eq.u32 %%p2, %%r20, 1;\n@%%p2 trap;\nbar.sync 0;\nmov.u32 %%r22, %%clock;\n"
             "sub.u32 %%r22, %%r22, %%r21;\nmul.wide.u32 %%rd2, %%r0, 4;\n"
             "add.u64 %%rd2, %%rd2, %%rd0;\nst.global.u32 [%%rd2+" CLOCKS_OFFSET "], %%r22;\n");
}

static uint32_t latency(const struct gpu_bench_kernel *kernel, uint32_t threads)
{
    assert_true(gpu_bench_launch(&g, kernel, 1, threads));
    const uint32_t *clocks = g.buffer + 33554432 / 4;
    uint32_t most = 0;
    for (uint32_t i = 0; i < threads; i++) {
        most = clocks[i] > most ? clocks[i] : most;
    }
    return most;
}

struct spike {
    const char *model;
    uint32_t loads, merge;
    uint32_t full; /* threads; 0: nowhere */
};

/* What comes between the first thread counts and the spike is serialization. */
static void expect_spike(const struct spike *spike)
{
    static char body[1 << 14];
    assert_true(gpu_bench_load(&g, spike->model));
    assert_true(gpu_bench_build(&g));
    write_kernel(body, sizeof body, spike->loads, spike->merge, 32);
    struct gpu_bench_kernel kernel;
    assert_true(gpu_bench_parse(&kernel, &g, body));
    uint32_t end = spike->full ? spike->full : 1022;
    gpu_host_copy(g.gpu, (uintptr_t)g.buffer, (uint64_t)spike->loads * LOAD_BYTES, true);
    (void)latency(&kernel, 32); /* translations */
    uint32_t before = latency(&kernel, 2), most = 0;
    for (uint32_t threads = 4; threads <= end; threads += 2) {
        uint32_t now = latency(&kernel, threads);
        most = now > before + most ? now - before : most;
        before = now;
    }
    if (spike->full) {
        uint32_t jump = latency(&kernel, end + 2) - before;
        if (jump < 2 * most || jump < 40) {
            fail_msg("%s, %u loads, merger%u: %u cycles more after %u threads, %u before",
                     spike->model, spike->loads, spike->merge, jump, spike->full, most);
        }
    } else {
        assert_in_range(most, 0, 60);
    }
    gpu_bench_forget(&kernel);
    gpu_bench_free(&g);
}

static void an_m2070_saturates_where_the_paper_prints_it(void **state)
{
    (void)state;
    static const struct spike spikes[] = {{"m2070", 1, 1, 128},
                                          {"m2070", 2, 1, 64},
                                          {"m2070", 1, 2, 256},
                                          {"m2070", 2, 4, 256},
                                          {"m2070", 4, 8, 256}};
    for (size_t i = 0; i < sizeof spikes / sizeof *spikes; i++) {
        expect_spike(&spikes[i]);
    }
}

static void an_m2070_shows_no_spike_where_the_paper_saw_none(void **state)
{
    (void)state;
    for (uint32_t loads = 1; loads <= 4; loads++) {
        expect_spike(&(struct spike){"m2070", loads, 16, 0});
        expect_spike(&(struct spike){"m2070", loads, 32, 0});
    }
}

static void a_k20_saturates_by_requests_and_its_readings_by_instructions(void **state)
{
    (void)state;
    static const struct spike spikes[] = {
        {"k20", 1, 1, 0},         {"k20", 2, 1, 680},       {"k20", 3, 1, 454},
        {"k20-prt44", 1, 1, 0},   {"k20-prt44", 2, 1, 704}, {"k20-prt44", 3, 1, 448},
        {"k20-prt45", 2, 1, 704}, {"k20-prt45", 3, 1, 480},
    };
    for (size_t i = 0; i < sizeof spikes / sizeof *spikes; i++) {
        expect_spike(&spikes[i]);
    }
}

/* One warp: with one load more than the scoreboard has places the first ones must be back. */
static void a_warp_has_four_loads_out_on_an_m2070_and_three_on_a_k20(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        uint32_t places;
    } rows[] = {{"m2070", 4}, {"k20", 3}};
    static char body[1 << 14];
    for (size_t i = 0; i < 2; i++) {
        assert_true(gpu_bench_load(&g, rows[i].model));
        assert_true(gpu_bench_build(&g));
        gpu_host_copy(g.gpu, (uintptr_t)g.buffer, 8 * LOAD_BYTES, true);
        uint32_t latencies[8];
        for (uint32_t loads = 1; loads <= 6; loads++) {
            write_kernel(body, sizeof body, loads, 1, 1);
            struct gpu_bench_kernel kernel;
            assert_true(gpu_bench_parse(&kernel, &g, body));
            (void)latency(&kernel, 1);
            latencies[loads] = latency(&kernel, 1);
            gpu_bench_forget(&kernel);
        }
        for (uint32_t loads = 2; loads <= 6; loads++) {
            uint32_t more = latencies[loads] - latencies[loads - 1];
            if (loads == rows[i].places + 1) {
                assert_true(more > latencies[1] / 2);
            } else {
                assert_true(more < latencies[1] / 8);
            }
        }
        gpu_bench_free(&g);
    }
}

/* Pieces of a kernel whose result does not depend on timing: each of 20 * 192 threads at most has
 * its own 132 bytes behind 1 MiB, and a word of results behind 8 MiB; all have two words at 64 KiB.
 */
#define RESULTS 8388608
static void mixed_kernel(char *out, size_t size, struct rng *rng)
{
    static const char *const pieces[] = {
        "ld.global.u32 %r1, [%rd1];\nadd.u32 %r9, %r9, %r1;\n",
        "ld.global.ca.u32 %r2, [%rd3];\nadd.u32 %r9, %r9, %r2;\n",
        "ld.global.cg.u32 %r3, [%rd3+4096];\nadd.u32 %r9, %r9, %r3;\n",
        "st.global.u32 [%rd1], %r9;\n",
        "atom.global.add.u32 %r4, [%rd2], 1;\n",
        "red.global.add.u32 [%rd2+4], 3;\n",
        "atom.global.add.u32 %r5, [%rd1], 5;\nadd.u32 %r9, %r9, %r5;\n",
        "bar.sync 0;\n",
        "ld.global.nc.u32 %r6, [%rd3+64];\nadd.u32 %r9, %r9, %r6;\n",
        "ld.const.u32 %r7, [%rd3];\nadd.u32 %r9, %r9, %r7;\n",
        "membar.gl;\n",
    };
    size_t n = (size_t)snprintf(
        out, size,
        "mov.u32 %%r8, %%ctaid.x;\nmov.u32 %%r10, %%ntid.x;\nmov.u32 %%r11, %%tid.x;\n"
        "mad.lo.u32 %%r8, %%r8, %%r10, %%r11;\nmul.wide.u32 %%rd1, %%r8, 132;\n"
        "add.u64 %%rd1, %%rd1, %%rd0;\nadd.u64 %%rd1, %%rd1, 1048576;\n"
        "mul.wide.u32 %%rd3, %%r8, 20;\nadd.u64 %%rd3, %%rd3, %%rd0;\n"
        "add.u64 %%rd2, %%rd0, 65536;\nadd.u64 %%rd3, %%rd3, 131072;\nmov.u32 %%r9, %%r8;\n");
    for (uint32_t i = 0; i < 16; i++) {
        const char *piece = pieces[rng_below(rng, sizeof pieces / sizeof *pieces)];
        n += (size_t)snprintf(out + n, size - n, "%s", piece);
    }
    snprintf(out + n, size - n,
             "mul.wide.u32 %%rd5, %%r8, 4;\nadd.u64 %%rd5, %%rd5, %%rd0;\n"
             "st.global.u32 [%%rd5+%u], %%r9;\n",
             RESULTS);
}

static void draw_structures(struct model *model, struct rng *rng)
{
    struct sm_spec *sm = &model->sm;
    sm->lsu_queue_entries = 1 + (uint32_t)rng_below(rng, 4);
    sm->loads_per_warp = (uint32_t)rng_below(rng, 3);
    sm->lanes = (struct lanes_spec){.parallel = 1 + (uint32_t)rng_below(rng, 6),
                                    .request_cycles = 1 + (uint32_t)rng_below(rng, 3),
                                    .instruction_cycles = 1 + (uint32_t)rng_below(rng, 9),
                                    .writeback_cycles = (uint32_t)rng_below(rng, 3)};
    sm->pending = (struct pending_spec){
        .kind = rng_below(rng, 2) ? PENDING_PRT : PENDING_REQUEST_LIMIT,
        .entries = 1 + (uint32_t)rng_below(rng, 4),
        .retry_cycles = rng_below(rng, 2) ? 0 : 1 + (uint32_t)rng_below(rng, 40)};
    sm->pending.hold_instruction =
        sm->pending.kind == PENDING_REQUEST_LIMIT && rng_below(rng, 2) != 0;
    model->l1_data.mshr_entries = 1 + (uint32_t)rng_below(rng, 3);
    model->l1_data.mshr_mergers = (uint32_t)rng_below(rng, 3);
    model->l1_data.merger = rng_below(rng, 2) ? MERGER_LANE : MERGER_REQUEST;
    model->l1_data.queue_entries = 1 + (uint32_t)rng_below(rng, 3);
    model->l2.mshr_entries = 1 + (uint32_t)rng_below(rng, 3);
    model->noc.queue_entries = 1 + (uint32_t)rng_below(rng, 3);
}

struct outcome {
    uint64_t hash, cycles;
};

static void hash_words(uint64_t *hash, const uint32_t *words, size_t bytes)
{
    for (size_t i = 0; i < bytes / 4; i++) {
        *hash = (*hash ^ words[i]) * 1099511628211u;
    }
}

static struct outcome run_mixed(const char *model, uint64_t seed, bool full)
{
    static char body[1 << 14];
    struct rng rng;
    struct outcome outcome = {.hash = 1469598103934665603u};
    rng_seed(&rng, seed);
    mixed_kernel(body, sizeof body, &rng);
    uint32_t ctas = 1 + (uint32_t)rng_below(&rng, 20), threads = 1 + (uint32_t)rng_below(&rng, 192);
    assert_true(gpu_bench_load(&g, model));
    if (full) {
        draw_structures(g.model, &rng);
    }
    assert_true(gpu_bench_build(&g));
    if (!gpu_bench_run(&g, body, ctas, threads)) {
        fail_msg("%s, seed %u: %s", model, (unsigned)seed, error_text());
    }
    hash_words(&outcome.hash, g.buffer, 2u << 20);
    hash_words(&outcome.hash, g.buffer + RESULTS / 4, 1u << 16);
    outcome.cycles = g.cycles;
    gpu_bench_free(&g);
    return outcome;
}

static void a_whole_gpu_of_full_structures_ends_the_same_as_without_and_every_time(void **state)
{
    (void)state;
    static const char *const models[] = {"m2070", "k20"};
    for (uint64_t seed = 1; seed <= 16; seed++) {
        const char *model = models[seed % 2];
        struct outcome unbounded = run_mixed(model, seed, false);
        struct outcome once = run_mixed(model, seed, true), again = run_mixed(model, seed, true);
        assert_int_equal(once.hash, unbounded.hash);
        assert_int_equal(again.hash, once.hash);
        assert_int_equal(again.cycles, once.cycles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_m2070_saturates_where_the_paper_prints_it),
        cmocka_unit_test(an_m2070_shows_no_spike_where_the_paper_saw_none),
        cmocka_unit_test(a_k20_saturates_by_requests_and_its_readings_by_instructions),
        cmocka_unit_test(a_warp_has_four_loads_out_on_an_m2070_and_three_on_a_k20),
        cmocka_unit_test(a_whole_gpu_of_full_structures_ends_the_same_as_without_and_every_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
