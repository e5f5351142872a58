/* wmma.load and wmma.store with timing: ordinary accesses that a use of the fragment waits for. */
#include "gpu/gpu.h"
#include "support/rt_bench.h"

#define BUFFER_BYTES (1u << 20)
/* The buffer is words that count from 0, as halves: word w is w & 0xffff, w >> 16. */
#define MODEL "inherits: h200\nsm: {shared: {conflict_latency: 3 cycles}}\n"
#define FRAGMENT "{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}"
#define USE "add.u32 %r4, %r4, %r10;\n"
#define KERNEL(name, body)                                                                         \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b64 %d<4>;\n.reg .b32 %r<20>;\n"          \
    ".shared .align 1024 .b8 s[8192];\n"                                                           \
    "ld.param.u64 %d0, [out]; mov.u32 %r9, %tid.x; mul.wide.u32 %d1, %r9, 8;\n"                    \
    "add.u64 %d1, %d1, %d0; mov.u32 %r4, 0; mov.u32 %r10, 1; mov.u32 %r0, s;\n"                    \
    "bar.sync 0; mov.u32 %r2, %clock;\n" body "st.volatile.shared.u32 [%r0+8000], %r4;\n"          \
    "mov.u32 %r3, %clock; sub.u32 %r3, %r3, %r2;\n"                                                \
    "st.global.u32 [%d1], %r3; st.global.u32 [%d1+4], %r4;\nret;\n}\n"
#define LOAD(matrix, layout, space, address, stride)                                               \
    "wmma.load." matrix ".sync.aligned." layout ".m16n16k16." space ".f16 " FRAGMENT ", [" address \
    "], " stride ";\n"

static const char text[] = ".version 7.8\n.target sm_90\n.address_size 64\n" KERNEL("nothing", USE)
    KERNEL("word", "ld.global.u32 %r10, [%d0+65536];\n" USE)
        KERNEL("rows", LOAD("a", "row", "global", "%d0+65536", "1024") USE)
            KERNEL("columns", LOAD("a", "col", "global", "%d0+65536", "1024") USE)
                KERNEL("dense", LOAD("b", "col", "global", "%d0+65536", "16") USE)
                    KERNEL("unused", LOAD("a", "row", "global", "%d0+65536", "1024"))
                        KERNEL("apart", LOAD("a", "row", "shared", "%r0", "24") USE)
                            KERNEL("conflict", LOAD("a", "row", "shared", "%r0", "16") USE)
                                KERNEL("worst", LOAD("a", "row", "shared", "%r0", "64") USE);

struct measured {
    uint32_t cycles, value;
    struct gpu_stats stats;
};

static struct rt_bench bench;

/* Of one warp whose data no cache has. */
static struct measured run(const char *name)
{
    struct measured m;
    uint32_t words[4]; /* of lanes 0 and 1 */
    rt_bench_open(&bench, MODEL, text, BUFFER_BYTES);
    rt_bench_run(&bench, words, sizeof words, name, 1, 32);
    gpu_stats(rt_gpu(bench.rt), &m.stats);
    rt_bench_close(&bench);
    m.cycles = words[0];
    m.value = words[3];
    return m;
}

static int teardown(void **state)
{
    (void)state;
    rt_bench_close(&bench);
    return 0;
}

/* 16 rows of 32 bytes, 2048 bytes apart. Lane 1 has columns 2 and 3 of row 0: the halves of a word,
 * or, where columns are 2048 bytes apart, the first halves of two words. */
static void
a_fragment_from_global_memory_takes_as_long_as_a_load_and_counts_its_sectors(void **state)
{
    (void)state;
    struct measured nothing = run("nothing"), word = run("word"), rows = run("rows");
    assert_in_range(word.cycles, nothing.cycles + 200, UINT32_MAX);
    assert_in_range(rows.cycles, word.cycles, word.cycles + 200);
    assert_in_range(rows.stats.l2_reads, word.stats.l2_reads + 15, word.stats.l2_reads + 15 + 16);
    assert_int_equal(rows.value, 65536 / 4 + 1);
    struct measured columns = run("columns");
    assert_int_equal(columns.stats.transactions, rows.stats.transactions);
    assert_int_equal(columns.value, 0x46004400);
    assert_in_range(run("dense").stats.transactions, nothing.stats.transactions + 4,
                    rows.stats.transactions - 1);
}

static void only_a_use_waits_for_it(void **state)
{
    (void)state;
    assert_in_range(run("unused").cycles, 1, run("nothing").cycles + 60);
}

/* Rows of 12 words lie in different banks, those of 8 meet in pairs, those of 32 all. */
static void a_fragment_from_shared_memory_has_its_conflicts(void **state)
{
    (void)state;
    struct measured apart = run("apart"), conflict = run("conflict"), worst = run("worst");
    assert_int_equal(conflict.stats.shared_conflicts - apart.stats.shared_conflicts, 4);
    assert_int_equal(worst.stats.shared_conflicts - apart.stats.shared_conflicts, 4 * 7);
    assert_int_equal(conflict.cycles - apart.cycles, 4 * 3);
    assert_int_equal(apart.stats.shared_accesses, run("nothing").stats.shared_accesses + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(
            a_fragment_from_global_memory_takes_as_long_as_a_load_and_counts_its_sectors, teardown),
        cmocka_unit_test_teardown(only_a_use_waits_for_it, teardown),
        cmocka_unit_test_teardown(a_fragment_from_shared_memory_has_its_conflicts, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
