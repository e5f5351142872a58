/* cp.async and ldmatrix with timing: copies are requests that their groups are waited for, or that
 * arrive at a barrier; matrices are accesses to banks. */
#include "support/rt_bench.h"

#define BUFFER_BYTES (1u << 20)
#define COPY_LATENCY 100
#define MATRIX_LATENCY 40
#define CONFLICT 3
#define MODEL(copies, matrix)                                                                      \
    "inherits: h200\nsm: {copies: {latency: " copies " cycles}, shared: {matrix_latency: " matrix  \
    " cycles, conflict_latency: 3 cycles}}\n"
/* d0: the buffer; l0: lane's 16 bytes of it; r0, r1: the same in s, and in its second half. What is
 * measured ends with an addition that needs r4. */
#define KERNEL(name, before, body)                                                                 \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b64 %d<4>, %l<4>;\n.reg .b32 %r<16>;\n"   \
    ".shared .align 1024 .b8 s[8192];\n"                                                           \
    "ld.param.u64 %d0, [out]; mov.u32 %r9, %tid.x; mul.wide.u32 %l0, %r9, 16;\n"                   \
    "add.u64 %l0, %l0, %d0; mov.u32 %r0, s; mad.lo.u32 %r0, %r9, 16, %r0;\n"                       \
    "add.u32 %r1, %r0, 4096; mad.lo.u32 %r10, %r9, 112, %r0; mov.u32 %r4, 0;\n" before             \
    "bar.sync 0; mov.u32 %r2, %clock;\n" body                                                      \
    "add.u32 %r5, %r4, 0; st.volatile.shared.u32 [%r1+2048], %r5;\n"                               \
    "mov.u32 %r3, %clock; sub.u32 %r3, %r3, %r2; bar.sync 0; ld.shared.u32 %r6, [%r0];\n"          \
    "st.global.u32 [%l0], %r3; st.global.u32 [%l0+4], %r6;\nret;\n}\n"
#define WARM "ld.global.cg.u32 %r5, [%l0+65536]; st.volatile.shared.u32 [%r1+2048], %r5;\n"
#define THERE "st.volatile.shared.u32 [%r1+2048], %r10;\n"
#define COPY "cp.async.cg.shared.global [%r0], [%l0+65536], 16;\n"
#define FAR "cp.async.cg.shared.global [%r1], [%l0+524288], 16;\n"
#define FAR_TOO "cp.async.cg.shared.global [%r1], [%l0+786432], 16;\n"
#define COMMIT "cp.async.commit_group;\n"
#define WAIT(n) "cp.async.wait_group " #n ";\n"
/* A barrier of all lanes at the end of s. */
#define BARRIER                                                                                    \
    WARM ".reg .pred %p<4>; .reg .b32 %bar; add.u32 %bar, %r0, 8000; mad.lo.u32 %bar, %r9, -16, "  \
         "%bar;\nsetp.eq.u32 %p0, %r9, 0; @%p0 mbarrier.init.shared.b64 [%bar], 32;\n"
#define ARRIVE "cp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\n"
#define ONE_MORE                                                                                   \
    "cp.async.mbarrier.arrive.shared.b64 [%bar]; mbarrier.arrive.shared.b64 %l1, [%bar];\n"
#define UNTIL                                                                                      \
    "TRY: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0; @!%p1 bra TRY;\n"                    \
    "ld.shared.u32 %r4, [%r0];\n"
#define MATRIX(x, registers, address)                                                              \
    "ldmatrix.sync.aligned.m8n8.x" #x ".shared.b16 " registers ", [" address "];\n"

static const char text[] = ".version 8.0\n.target sm_90a\n.address_size 64\n" KERNEL(
    "load", WARM, "ld.global.cg.u32 %r4, [%l0+65536];\n") KERNEL("copy", WARM, COPY COMMIT WAIT(0))
    KERNEL("all", WARM, COPY "cp.async.wait_all;\n") KERNEL("nobody", WARM, COPY COMMIT) KERNEL(
        "open", WARM, COMMIT COPY WAIT(0)) KERNEL("older", WARM, COPY COMMIT FAR COMMIT WAIT(1))
        KERNEL("both", WARM, COPY COMMIT FAR COMMIT WAIT(0))
            KERNEL("many", WARM, COPY COMMIT COPY COMMIT COPY COMMIT COPY COMMIT WAIT(0))
                KERNEL("arrive", BARRIER, COPY ARRIVE) KERNEL("until", BARRIER, COPY ARRIVE UNTIL)
                    KERNEL("until_older", BARRIER, COPY ARRIVE FAR UNTIL)
                        KERNEL("until_both", BARRIER, COPY FAR_TOO ARRIVE UNTIL)
                            KERNEL("one_more", BARRIER, COPY ONE_MORE UNTIL)
                                KERNEL("before", BARRIER, ARRIVE COPY UNTIL)
                                    KERNEL("one", "", MATRIX(1, "{%r4}", "%r0"))
                                        KERNEL("four", "", MATRIX(4, "{%r4, %r6, %r7, %r8}", "%r0"))
                                            KERNEL("conflict", THERE, MATRIX(1, "{%r4}", "%r10"));

static struct rt_bench bench;

static void open_model(const char *yaml)
{
    rt_bench_open(&bench, yaml, text, BUFFER_BYTES);
}

/* Of one warp; what lane 1 finds in shared memory must be what it has copied, if it has. */
static uint32_t cycles(const char *name, bool copies)
{
    uint32_t words[8];
    rt_bench_run(&bench, words, sizeof words, name, 1, 32);
    assert_int_equal(words[5], copies ? (65536 + 16) / 4 : 0);
    return words[0];
}

static int teardown(void **state)
{
    (void)state;
    rt_bench_close(&bench);
    return 0;
}

static void a_copy_takes_a_load_and_its_way_into_shared_memory(void **state)
{
    (void)state;
    open_model(MODEL("100", "0"));
    uint32_t load = cycles("load", false), copy = cycles("copy", true);
    assert_in_range(copy, load + COPY_LATENCY - 4, load + COPY_LATENCY + 8);
    assert_in_range(cycles("all", true), copy - 4, copy);
    assert_in_range(cycles("many", true), copy + 1, copy + 40);
}

static void a_wait_leaves_younger_groups_and_open_ones_alone(void **state)
{
    (void)state;
    open_model(MODEL("100", "0"));
    uint32_t copy = cycles("copy", true), both = cycles("both", true);
    assert_in_range(cycles("older", true), copy, copy + 16);
    assert_in_range(both, copy + 100, UINT32_MAX);
    assert_in_range(cycles("nobody", true), 1, 60);
    assert_in_range(cycles("open", true), 1, 60);
}

/* Each instruction, and the wait at the barrier, may take its own time besides. */
static void copies_arrive_when_they_are_over_beside_their_warp(void **state)
{
    (void)state;
    open_model(MODEL("100", "0"));
    uint32_t copy = cycles("copy", true), until = cycles("until", true);
    assert_in_range(cycles("arrive", true), 1, 60);
    assert_in_range(until, copy, copy + 120);
    assert_in_range(cycles("until_older", true), until, until + 16);
    assert_in_range(cycles("until_both", true), until + 100, UINT32_MAX);
    assert_in_range(cycles("one_more", true), until, until + 60);
    assert_in_range(cycles("before", true), 1, copy - 100);
}

static void without_a_latency_a_copy_is_over_when_it_issues(void **state)
{
    (void)state;
    open_model(MODEL("0", "0"));
    assert_in_range(cycles("copy", true), 1, 60);
    assert_in_range(cycles("both", true), 1, 60);
}

static void matrices_are_ways_of_a_conflict(void **state)
{
    (void)state;
    open_model(MODEL("0", "40"));
    uint32_t one = cycles("one", false);
    assert_in_range(one, MATRIX_LATENCY, MATRIX_LATENCY + 10);
    assert_int_equal(cycles("four", false), one + 3 * CONFLICT);
    assert_int_equal(cycles("conflict", false), one + 7 * CONFLICT);
}

static void without_a_latency_matrices_have_no_conflicts(void **state)
{
    (void)state;
    open_model(MODEL("0", "0"));
    assert_int_equal(cycles("conflict", false), cycles("one", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_copy_takes_a_load_and_its_way_into_shared_memory, teardown),
        cmocka_unit_test_teardown(a_wait_leaves_younger_groups_and_open_ones_alone, teardown),
        cmocka_unit_test_teardown(copies_arrive_when_they_are_over_beside_their_warp, teardown),
        cmocka_unit_test_teardown(without_a_latency_a_copy_is_over_when_it_issues, teardown),
        cmocka_unit_test_teardown(matrices_are_ways_of_a_conflict, teardown),
        cmocka_unit_test_teardown(without_a_latency_matrices_have_no_conflicts, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
