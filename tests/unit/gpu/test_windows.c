/*
 * SMs that run apart from memory, on several host threads: nothing of a launch may depend on their
 * number, and where nothing is full, nothing may take another time than in one piece.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"
#include "util/team.h"

/* r1 = the thread's number in the grid, rd1 = buffer + 4 * r1 */
#define THREAD                                                                                     \
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"                        \
    "mad.lo.u32 %r1, %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"

struct program {
    const char *name, *text;
    uint32_t ctas, threads;
};

static const struct program programs[] = {
    {"racing stores, read back while they race",
     THREAD "add.u32 %r4, %r1, 1;\nmov.u32 %r5, 0;\nLOOP:\n"
            "and.b32 %r6, %r1, 15;\nmul.wide.u32 %rd2, %r6, 4;\nadd.u64 %rd2, %rd2, %rd0;\n"
            "st.global.u32 [%rd2], %r4;\nld.global.u32 %r7, [%rd2];\nadd.u32 %r4, %r4, %r7;\n"
            "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 8;\n@%p1 bra LOOP;\n"
            "st.global.u32 [%rd1+65536], %r4;\n",
     60, 96},
    {"messages passed with fences",
     "mov.u32 %r1, %ctaid.x;\nand.b32 %r9, %r1, 7;\nmul.wide.u32 %rd3, %r9, 256;\n"
     "add.u64 %rd3, %rd3, %rd0;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra READ;\n"
     "add.u32 %r2, %r1, 4711;\nst.global.u32 [%rd3+65536], %r2;\nmembar.gl;\nmov.u32 %r2, 1;\n"
     "st.volatile.global.u32 [%rd3], %r2;\nbra DONE;\n"
     "READ:\nld.volatile.global.u32 %r3, [%rd3];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra READ;\n"
     "membar.gl;\nld.global.cg.u32 %r4, [%rd3+65536];\nmul.wide.u32 %rd1, %r1, 4;\n"
     "add.u64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1+131072], %r4;\nDONE:\n",
     60, 1},
    {"a spin lock between blocks",
     "mov.u32 %r9, 0;\nAGAIN:\nLOCK:\natom.global.cas.b32 %r1, [%rd0], 0, 1;\n"
     "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOCK;\nmembar.gl;\n"
     "ld.volatile.global.u32 %r2, [%rd0+128];\nadd.u32 %r2, %r2, 1;\n"
     "st.volatile.global.u32 [%rd0+128], %r2;\nmembar.gl;\n"
     "atom.global.exch.b32 %r3, [%rd0], 0;\n"
     "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 3;\n@%p1 bra AGAIN;\n",
     20, 1},
    {"atomics of all kinds of order, tickets",
     THREAD "atom.global.add.u32 %r4, [%rd0+262144], 1;\nst.global.u32 [%rd1], %r4;\n"
            "and.b32 %r5, %r4, 63;\nmul.wide.u32 %rd2, %r5, 4;\nadd.u64 %rd2, %rd2, %rd0;\n"
            "atom.global.exch.b32 %r6, [%rd2+524288], %r1;\n"
            "atom.global.max.u32 %r7, [%rd2+786432], %r6;\nld.global.u32 %r8, [%rd2+524288];\n"
            "add.u32 %r7, %r7, %r8;\nst.global.u32 [%rd1+1048576], %r7;\n",
     100, 128},
    {"more stores than a port takes, and divergence",
     THREAD "mul.lo.u32 %r4, %r1, 1664525;\nand.b32 %r4, %r4, 0xFFFFC;\ncvt.u64.u32 %rd2, %r4;\n"
            "add.u64 %rd2, %rd2, %rd0;\nmov.u32 %r5, 0;\nLOOP:\nld.global.u32 %r6, [%rd2];\n"
            "and.b32 %r7, %r6, 3;\nadd.u32 %r7, %r7, %r3;\nand.b32 %r7, %r7, 1;\n"
            "setp.eq.u32 %p1, %r7, 0;\n@%p1 bra EVEN;\natom.global.add.u32 %r8, [%rd0], 1;\n"
            "st.global.u32 [%rd2], %r8;\nst.global.u8 [%rd2+3], %r5;\n"
            "EVEN:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 4;\n@%p1 bra LOOP;\n",
     64, 192},
    {"fragments of matrices, read back transposed",
     THREAD "shr.u32 %r4, %r1, 5;\nmul.wide.u32 %rd2, %r4, 512;\nadd.u64 %rd2, %rd2, %rd0;\n"
            "mad.lo.u32 %r10, %r1, 131074, 65536;\nadd.u32 %r11, %r10, 7;\n"
            "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd2], {%r10, %r11, %r10, %r11};\n"
            "wmma.load.c.sync.aligned.col.m16n16k16.global.f16 {%r14, %r15, %r16, %r17}, [%rd2];\n"
            "st.global.u32 [%rd1+1048576], %r14;\n",
     40, 64},
};
#define PROGRAMS (sizeof programs / sizeof programs[0])

struct outcome {
    struct gpu_stats stats;
    uint64_t cycles, ended, places; /* a sum over where and when CTAs began and ended */
    uint32_t memory[1 << 20];
};

static void note_place(void *ctx, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends)
{
    struct outcome *out = ctx;
    out->ended += ends;
    uint64_t place = cta ^ (uint64_t)sm << 20 ^ cycle << 30 ^ (uint64_t)ends << 63;
    out->places += place * UINT64_C(0x9e3779b97f4a7c15) >> 16; /* in any order */
}

/* All SMs share a second cache of constants, which soon hits and whose answers are known so long
 * before they come; 0: none do. */
static uint32_t constants_return_cycles;

static void share_constants(struct model *model)
{
    if (constants_return_cycles) {
        model->constant_l15_scope = TLB_PER_CLUSTER;
        model->constant_l15_return_cycles = constants_return_cycles;
        model->constant_l15.hit_cycles = 4;
    }
}

/* `before`: another launch that has filled TLBs and L2; NULL: none. */
static bool run_as(struct outcome *out, const char *model, const struct program *program,
                   uint32_t threads, const struct program *before)
{
    static struct gpu_bench g;
    memset(out, 0, sizeof *out);
    assert_true(gpu_bench_load(&g, model));
    share_constants(g.model);
    assert_true(gpu_bench_build(&g));
    assert_int_equal(gpu_set_threads(g.gpu, threads), 0);
    bool ran = !before || gpu_bench_run(&g, before->text, before->ctas, before->threads);
    struct gpu_stats then;
    gpu_stats(g.gpu, &then);
    gpu_set_placed(g.gpu, note_place, out);
    ran = ran && gpu_bench_run(&g, program->text, program->ctas, program->threads);
    gpu_stats(g.gpu, &out->stats);
    gpu_stats_since(&out->stats, &then);
    out->cycles = g.cycles;
    memcpy(out->memory, g.buffer, sizeof out->memory);
    gpu_bench_free(&g);
    return ran;
}

static bool run(struct outcome *out, const char *model, const struct program *program,
                uint32_t threads)
{
    return run_as(out, model, program, threads, NULL);
}

static void nothing_depends_on_the_number_of_threads(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__ /* twenty times as slow */
    static const char *const models[] = {"gtx780"};
    static const uint32_t threads[] = {2, 4};
#else
    static const char *const models[] = {"gtx780", "gtx560ti", "bakhoda2009"};
    static const uint32_t threads[] = {1, 2, 4, 2};
#endif
    static struct outcome first, other;
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        for (size_t p = 0; p < PROGRAMS; p++) {
            assert_true(run(&first, models[m], &programs[p], 1));
            assert_int_equal(first.ended, programs[p].ctas);
            for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
                assert_true(run(&other, models[m], &programs[p], threads[t]));
                if (memcmp(&first, &other, sizeof first) != 0) {
                    fail_msg("%s: '%s' differs on %u threads: %llu cycles, not %llu", models[m],
                             programs[p].name, threads[t], (unsigned long long)other.cycles,
                             (unsigned long long)first.cycles);
                }
            }
        }
    }
}

static void litmus_programs_end_as_they_must(void **state)
{
    (void)state;
    static struct outcome out;
    assert_true(run(&out, "gtx780", &programs[0], 2));
    assert_int_not_equal(out.memory[0], 0);
    assert_true(run(&out, "gtx780", &programs[1], 2));
    for (uint32_t i = 8; i < 60; i++) {
        assert_int_equal(out.memory[32768 + i], 4711 + i % 8);
    }
    assert_true(run(&out, "gtx780", &programs[2], 2));
    assert_int_equal(out.memory[32], 60);
    /* Every ticket was drawn once. */
    assert_true(run(&out, "gtx780", &programs[3], 2));
    assert_int_equal(out.memory[65536], 12800);
    static uint8_t drawn[12800];
    memset(drawn, 0, sizeof drawn);
    for (uint32_t i = 0; i < 12800; i++) {
        assert_in_range(out.memory[i], 0, 12799);
        assert_int_equal(drawn[out.memory[i]]++, 0);
    }
}

/* Lane 4 g + t loads columns 2 t and 2 t + 1 of row g, which lane 8 t + g / 2 and the fourth behind
 * it have stored as columns. */
static void a_warp_reads_the_fragment_that_it_has_just_stored(void **state)
{
    (void)state;
    static struct outcome out;
    assert_true(run(&out, "gtx780", &programs[PROGRAMS - 1], 2));
    for (uint32_t i = 0; i < 40 * 64; i++) {
        uint32_t low = i / 32 * 64 + i % 4 * 16 + i % 32 / 4;
        assert_int_equal(out.memory[262144 + i], low | (low + 8) << 16);
    }
}

/* A thread sees its own stores at once, of any width and overlapping, also before memory has them.
 */
static void a_thread_reads_what_it_has_just_stored(void **state)
{
    (void)state;
    static struct outcome out;
    static const struct program program = {
        "own stores",
        THREAD "shl.b32 %r4, %r1, 6;\ncvt.u64.u32 %rd2, %r4;\nadd.u64 %rd2, %rd2, %rd0;\n"
               "mov.u64 %rd4, 0x8877665544332211;\nst.global.u64 [%rd2], %rd4;\n"
               "mov.u32 %r5, 0xaa;\nst.global.u8 [%rd2+3], %r5;\n"
               "ld.global.u32 %r6, [%rd2];\nst.global.u32 [%rd2+16], %r6;\n"
               "ld.global.v2.u32 {%r7, %r8}, [%rd2];\n"
               "st.global.v4.u32 [%rd2+32], {%r7, %r8, %r6, %r1};\n"
               "ld.global.u16 %r9, [%rd2+38];\nst.global.u32 [%rd2+20], %r9;\n"
               "ld.global.u32 %r9, [%rd2+44];\nst.global.u32 [%rd2+24], %r9;\n",
        24, 64};
    assert_true(run(&out, "gtx780", &program, 2));
    for (uint32_t i = 0; i < 24 * 64; i++) {
        const uint32_t *m = &out.memory[i * 16];
        assert_int_equal(m[0], 0xaa332211);
        assert_int_equal(m[1], 0x88776655);
        assert_int_equal(m[4], 0xaa332211);
        assert_int_equal(m[5], 0x8877);
        assert_int_equal(m[6], i);
        assert_int_equal(m[10], 0xaa332211);
    }
}

/*
 * A call of the device's runtime that no thread reaches makes a launch run in one piece (exec.h,
 * exec_program_calls_runtime); everything else is the same.
 */
#define NEVER(instruction) "setp.ne.u32 %p7, %r1, %r1;\n@!%p7 bra DONE;\n" instruction "\nDONE:\n"
#define RUNTIME                                                                                    \
    "{ .param .b32 code;\ncall.uni (code), __cudaCDP2GetLastError, ();\n"                          \
    "ld.param.b32 %r10, [code+0]; }"
#define PAGES                                                                                      \
    THREAD "mul.wide.u32 %rd2, %r1, 131072;\nadd.u64 %rd2, %rd2, %rd0;\n"                          \
           "ld.global.u32 %r4, [%rd2+131008];\nst.global.u32 [%rd0+4194300], %r4;\n"
#define LATER "st.global.v4.u32 [%rd0], {%r10, %r11, %r12, %r13};"

static void where_nothing_is_full_windows_change_no_time(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        THREAD
        "ld.global.u32 %r4, [%rd1+65536];\nadd.u32 %r4, %r4, 3;\nst.global.u32 [%rd1], %r4;\n"
        "ld.global.u32 %r5, [%rd1+262144];\nadd.u32 %r4, %r4, %r5;\n"
        "st.global.u32 [%rd1+524288], %r4;\n",
        THREAD "mul.wide.u32 %rd2, %r1, 128;\nadd.u64 %rd2, %rd2, %rd0;\n"
               "atom.global.add.u32 %r4, [%rd2], %r1;\nld.global.u32 %r5, [%rd2+64];\n"
               "add.u32 %r4, %r4, %r5;\nst.global.u32 [%rd1+1048576], %r4;\n",
    };
    static struct outcome parted, whole;
    static char text[2][8192];
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        snprintf(text[0], sizeof text[0], "%s%s", bodies[i], NEVER(LATER));
        snprintf(text[1], sizeof text[1], "%s%s", bodies[i], NEVER(RUNTIME));
        struct program with = {"parted", text[0], 36, 32}, without = {"whole", text[1], 36, 32};
        /* From L2, then from DRAM by way of pages that TLBs know; the second one fills queues
         * there. */
        const struct program pages = {"pages", PAGES, 1, 32};
        for (int lines = 1; lines >= (i == 0 ? 0 : 1); lines--) {
            assert_true(run_as(&parted, "gtx780", &with, 2, lines ? &with : &pages));
            assert_true(run_as(&whole, "gtx780", &without, 2, lines ? &without : &pages));
            assert_int_equal(parted.stats.dram_reads >= 36, !lines);
            assert_int_equal(parted.cycles, whole.cycles);
            assert_int_equal(parted.places, whole.places);
            assert_memory_equal(parted.stats.sm.latency, whole.stats.sm.latency,
                                sizeof whole.stats.sm.latency);
            assert_memory_equal(parted.memory, whole.memory, sizeof whole.memory);
        }
    }
}

/* Blocks ask for constants while others wait for the network, whose answers are known longer before
 * they come; first L2 has them, then the cache that SMs share. A second warp counts, so that no SM
 * stands still meanwhile. */
static void constants_past_the_network_come_when_they_must(void **state)
{
    (void)state;
    static struct outcome parted, whole;
    static char text[2][8192];
    static const char *const body =
        "mov.u32 %r2, %ctaid.x;\nmul.wide.u32 %rd2, %r2, 4096;\nadd.u64 %rd2, %rd2, %rd0;\n" THREAD
        "ld.global.u32 %r5, [%rd2+1048576];\nmov.u32 %r6, 0;\nsetp.gt.u32 %p2, %r3, 31;\n"
        "@%p2 bra COUNT;\nLOOP:\nand.b32 %r8, %r6, 31;\nmul.wide.u32 %rd3, %r8, 128;\n"
        "add.u64 %rd3, %rd3, %rd2;\nld.const.u32 %r4, [%rd3];\nadd.u32 %r5, %r5, %r4;\n"
        "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 64;\n@%p1 bra LOOP;\n"
        "ld.global.u32 %r7, [%rd2+2097152];\nadd.u32 %r5, %r5, %r7;\nbra STORE;\n"
        "COUNT:\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 600;\n@%p1 bra COUNT;\nSTORE:\n"
        "st.global.u32 [%rd1+524288], %r5;\n";
    snprintf(text[0], sizeof text[0], "%s%s", body, NEVER(LATER));
    snprintf(text[1], sizeof text[1], "%s%s", body, NEVER(RUNTIME));
    struct program with = {"parted", text[0], 12, 64}, without = {"whole", text[1], 12, 64};
    static const uint32_t cycles[] = {8, 20, 48, 200};
    for (size_t i = 0; i < sizeof cycles / sizeof cycles[0]; i++) {
        constants_return_cycles = cycles[i];
        assert_true(run_as(&parted, "gtx780", &with, 2, &with));
        assert_true(run_as(&whole, "gtx780", &without, 2, &without));
        assert_int_equal(parted.cycles, whole.cycles);
        assert_int_equal(parted.places, whole.places);
    }
    constants_return_cycles = 0;
}

/* DRAM's replies are known for a shorter time than those of the network, but not so short that it
 * would be part of memory. */
static void memory_waits_for_what_dram_answers_soon(void **state)
{
    (void)state;
    static const char body[] = THREAD
        "mul.wide.u32 %rd2, %r1, 128;\nadd.u64 %rd2, %rd2, %rd0;\nld.global.u32 %r4, [%rd2];\n"
        "add.u32 %r4, %r4, 1;\nst.global.u32 [%rd2], %r4;\n";
    static struct gpu_bench g;
    uint64_t cycles[2];
    for (uint32_t threads = 1; threads <= 2; threads++) {
        assert_true(gpu_bench_load(&g, "gtx780"));
        g.model->dram.fixed_cycles -= 75;
        assert_true(gpu_bench_build(&g));
        assert_int_equal(gpu_set_threads(g.gpu, threads), 0);
        assert_true(gpu_bench_run(&g, body, 40, 32));
        assert_int_equal(g.buffer[32], 1);
        cycles[threads - 1] = g.cycles;
        gpu_bench_free(&g);
    }
    assert_int_equal(cycles[0], cycles[1]);
}

static void the_first_fault_is_told_on_any_number_of_threads(void **state)
{
    (void)state;
    static struct outcome out;
    static const struct program program = {
        "faults",
        THREAD "setp.lt.u32 %p1, %r1, 640;\nmov.u64 %rd2, 16;\n@%p1 bra FINE;\n"
               "ld.global.u32 %r5, [%rd1];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd1], %r5;\n"
               "ld.global.u32 %r5, [%rd2];\nFINE:\nld.global.nc.u32 %r6, [%rd1+4096];\n"
               "ld.global.nc.u32 %r7, [%rd1+1048576];\nst.global.u32 [%rd1], %r1;\n",
        64, 128};
    char text[3][512];
    uint64_t insns[3];
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(run(&out, "gtx780", &program, 1u << i));
        snprintf(text[i], sizeof text[i], "%s", error_text());
        insns[i] = out.stats.warp_insns;
    }
    assert_non_null(strstr(text[0], "test.ptx:"));
    assert_string_equal(text[0], text[1]);
    assert_string_equal(text[0], text[2]);
    assert_int_equal(insns[0], insns[1]);
    assert_int_equal(insns[0], insns[2]);
}

static void threads_are_counted_from_one(void **state)
{
    (void)state;
    static struct gpu_bench g;
    assert_true(gpu_bench_load(&g, "gtx780"));
    assert_true(gpu_bench_build(&g));
    assert_int_equal(gpu_set_threads(g.gpu, 0), SONDE_EINPUT);
    assert_int_equal(gpu_set_threads(g.gpu, TEAM_THREADS_MAX + 1), SONDE_EINPUT);
    /* Another number between launches. */
    for (uint32_t threads = 1; threads < 4; threads++) {
        assert_int_equal(gpu_set_threads(g.gpu, threads), 0);
        assert_true(gpu_bench_run(&g, THREAD "st.global.u32 [%rd1], %r1;\n", 40, 64));
        assert_int_equal(g.buffer[2559], 2559);
    }
    gpu_bench_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_depends_on_the_number_of_threads),
        cmocka_unit_test(litmus_programs_end_as_they_must),
        cmocka_unit_test(a_warp_reads_the_fragment_that_it_has_just_stored),
        cmocka_unit_test(a_thread_reads_what_it_has_just_stored),
        cmocka_unit_test(where_nothing_is_full_windows_change_no_time),
        cmocka_unit_test(constants_past_the_network_come_when_they_must),
        cmocka_unit_test(memory_waits_for_what_dram_answers_soon),
        cmocka_unit_test(the_first_fault_is_told_on_any_number_of_threads),
        cmocka_unit_test(threads_are_counted_from_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
