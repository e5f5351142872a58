/* alloca, stacksave and stackrestore: each lane's own stack, in loops and in recursion. */
#include "bench.h"

static int host_fill(int n)
{
    unsigned char bytes[64];
    int sum = 0;
    for (int i = 0; i < n; i++)
        bytes[i] = (unsigned char)(i * n);
    for (int i = 0; i < n; i++)
        sum += bytes[(i * 7) % n];
    return sum;
}

static int host_deep(int n)
{
    return n <= 0 ? 0 : host_deep(n - 1) + host_fill(n) + n * 100 + n - 1;
}

static void lanes_take_different_sizes(bool functional)
{
    struct bench bench;
    int got[64];
    bench_open(&bench, "stack.ptx", functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    bench_run(&bench, "one", 1, 64, ARGS(&out));
    bench_get(&bench, got, out, sizeof got);
    for (int t = 0; t < 64; t++)
        assert_int_equal(got[t], host_fill(t + 1));
    bench_close(&bench);
}
IN_BOTH_MODES(lanes_take_different_sizes)

static void deeper_calls_leave_what_a_caller_took(bool functional)
{
    struct bench bench;
    int got[64];
    bench_open(&bench, "stack.ptx", functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    bench_run(&bench, "recursive", 1, 64, ARGS(&out));
    bench_get(&bench, got, out, sizeof got);
    for (int t = 0; t < 64; t++)
        assert_int_equal(got[t], host_deep(t % 13));
    bench_close(&bench);
}
IN_BOTH_MODES(deeper_calls_leave_what_a_caller_took)

static void a_stack_that_overflows_is_a_fault(bool functional)
{
    static const int sizes[] = {1 << 20, -1};
    for (int i = 0; i < 2; i++) {
        struct bench bench;
        bench_open(&bench, "stack.ptx", functional);
        uint64_t out = bench_alloc(&bench, 4);
        assert_int_equal(bench_try(&bench, "large", 1, 1, ARGS(&out, &sizes[i])), SONDE_EFAULT);
        assert_error_has("the stack overflows: alloca of ");
        assert_error_has("stack.ptx:");
        bench_close(&bench);
    }
}
IN_BOTH_MODES(a_stack_that_overflows_is_a_fault)

#define HEAD ".version 7.3\n.target sm_75\n.address_size 64\n"
/* Thread t goes t + 1 times through a loop that takes 4 KiB; %s is the end of a turn. */
#define LOOP(end)                                                                                  \
    HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<8>; .reg .b64 %l<8>; .reg .pred "    \
         "%p;\nld.param.u64 %l0, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %l0, %r0, 8, %l0;\n"     \
         "stacksave.u64 %l5; mul.lo.u32 %r0, %r0, 10;\n"                                           \
         "AGAIN: stacksave.u64 %l1; alloca.u64 %l2, 4096, 256; st.local.u32 [%l2+4092], %r0;\n"    \
         "ld.local.u32 %r1, [%l2+4092]; " end " sub.u32 %r0, %r0, 1;\n"                            \
         "setp.gt.s32 %p, %r0, -1; @%p bra AGAIN;\n"                                               \
         "stacksave.u64 %l3; sub.u64 %l3, %l3, %l5; st.global.u64 [%l0], %l3; ret;\n}\n"

static void what_is_restored_may_be_taken_again(bool functional)
{
    struct bench bench;
    uint64_t got[32];
    bench_open_text(&bench, LOOP("stackrestore.u64 %l1;"), functional);
    uint64_t out = bench_alloc(&bench, sizeof got);
    bench_run(&bench, "k", 1, 32, ARGS(&out));
    bench_get(&bench, got, out, sizeof got);
    for (int t = 0; t < 32; t++)
        assert_int_equal(got[t], 0);
    bench_close(&bench);
    bench_open_text(&bench, LOOP(""), functional);
    out = bench_alloc(&bench, sizeof got);
    assert_int_equal(bench_try(&bench, "k", 1, 32, ARGS(&out)), SONDE_EFAULT);
    assert_error_has("the stack overflows: alloca of 4096 bytes");
    bench_close(&bench);
    bench_open_text(&bench, LOOP("add.u64 %l1, %l2, 8192; stackrestore.u64 %l1;"), functional);
    out = bench_alloc(&bench, sizeof got);
    assert_int_equal(bench_try(&bench, "k", 1, 32, ARGS(&out)), SONDE_EFAULT);
    assert_error_has("which is not on this function's stack");
    bench_close(&bench);
}
IN_BOTH_MODES(what_is_restored_may_be_taken_again)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_MODES(lanes_take_different_sizes),
        BOTH_MODES(deeper_calls_leave_what_a_caller_took),
        BOTH_MODES(a_stack_that_overflows_is_a_fault),
        BOTH_MODES(what_is_restored_may_be_taken_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
