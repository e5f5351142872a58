/* Calls: arguments and results by .param and by register, divergence, recursion, pointers. */
#include "support/exec_device.h"

#define STORE32(r) "cvt.u64.u32 %l19, " r "; st.global.u64 [%out], %l19;\n"

static void check(const char *text, uint32_t (*want)(uint32_t t))
{
    struct device dev;
    uint64_t *out = device_results(&dev, text, 64);
    for (uint32_t t = 0; t < 64; t++)
        if ((uint32_t)out[t] != want(t))
            fail_msg("thread %u: %u, not %u", t, (uint32_t)out[t], want(t));
    device_close(&dev);
}

#define SQUARE_PLUS                                                                                \
    ".func (.param .b32 ret) square_plus (.param .b32 a, .param .b64 b)\n"                         \
    "{ .reg .b32 %r<9>; .reg .b64 %l<9>;\n"                                                        \
    "ld.param.u32 %r1, [a]; ld.param.u64 %l1, [b]; mul.lo.u32 %r2, %r1, %r1;\n"                    \
    "cvt.u32.u64 %r3, %l1; add.u32 %r2, %r2, %r3; st.param.b32 [ret], %r2; ret; }\n"

static uint32_t want_square(uint32_t t)
{
    return t * t + 1000 + t;
}

static void a_function_gets_its_arguments_and_gives_its_result(void **state)
{
    (void)state;
    check(KERNEL(SQUARE_PLUS, "mov.u32 %r1, 777; cvt.u64.u32 %l1, %t; add.u64 %l1, %l1, 1000;\n"
                              "{ .param .b32 x; .param .b64 y; .param .b32 z;\n"
                              "st.param.b32 [x], %t; st.param.b64 [y], %l1;\n"
                              "call (z), square_plus, (x, y); ld.param.b32 %r0, [z]; }\n"
                              "setp.ne.u32 %p0, %r1, 777; @%p0 mov.u32 %r0, 0;\n" STORE32("%r0")),
          want_square);
}

static uint32_t want_some(uint32_t t)
{
    return t % 3 ? 5 : t * t + 7;
}

static void only_the_lanes_that_call_are_called(void **state)
{
    (void)state;
    check(KERNEL(
              SQUARE_PLUS,
              "mov.u32 %r0, 5; rem.u32 %r1, %t, 3; setp.eq.u32 %p0, %r1, 0;\n"
              "{ .param .b32 x; .param .b64 y; .param .b32 z;\n"
              "st.param.b32 [x], %t; st.param.b64 [y], 7;\n"
              "@%p0 call (z), square_plus, (x, y); @%p0 ld.param.b32 %r0, [z]; }\n" STORE32("%r0")),
          want_some);
}

#define REGISTER_MAX                                                                               \
    ".func (.reg .u32 %m) larger (.reg .u32 %a, .reg .u32 %b)\n"                                   \
    "{ .reg .pred %p; setp.gt.u32 %p, %a, %b; @%p bra A; mov.u32 %m, %b; ret;\n"                   \
    "A: mov.u32 %m, %a; ret; }\n"

static uint32_t want_larger(uint32_t t)
{
    return t > 20 ? t : 20;
}

static void registers_pass_values_and_lanes_return_apart(void **state)
{
    (void)state;
    check(KERNEL(REGISTER_MAX, "call (%r0), larger, (%t, 20);\n" STORE32("%r0")), want_larger);
}

static uint32_t want_mix(uint32_t t)
{
    uint32_t first = (t << 16) + (t + 1) + (t % 3 == 0), second = (2u << 16) + 3 + t;
    return first ^ second << 3 ^ (t > 40 ? 0x80000000 : 0);
}

static void vector_registers_and_predicates_are_passed(void **state)
{
    (void)state;
    check(KERNEL(".func (.reg .v2 .b32 %m, .reg .pred %z) mix (.reg .v4 .b16 %a, .reg .pred %q,\n"
                 "  .reg .b64 %w)\n"
                 "{ .reg .b32 %x<9>; mov.b32 %x1, {%a.y, %a.x}; @%q add.u32 %x1, %x1, 1;\n"
                 "mov.b32 %x2, {%a.w, %a.z}; cvt.u32.u64 %x3, %w; add.u32 %x2, %x2, %x3;\n"
                 "mov.v2.b32 %m, {%x1, %x2}; setp.gt.u32 %z, %x3, 40; ret; }\n",
                 ".reg .v4 .b16 %v; .reg .v2 .b32 %s<2>; cvt.u16.u32 %v.x, %t;\n"
                 "add.u16 %v.y, %v.x, 1; mov.u16 %v.z, 2; mov.u16 %v.w, 3;\n"
                 "rem.u32 %r1, %t, 3; setp.eq.u32 %p0, %r1, 0; cvt.u64.u32 %l1, %t;\n"
                 "call (%s1, %p1), mix, (%v, %p0, %l1);\n"
                 "shl.b32 %r0, %s1.y, 3; xor.b32 %r0, %r0, %s1.x;\n"
                 "@%p1 xor.b32 %r0, %r0, 0x80000000;\n" STORE32("%r0")),
          want_mix);
}

static uint32_t want_kept(uint32_t t)
{
    return (t + 1) * 100 + 15;
}

/* The result is written first; what is computed after it must not lie in its place. */
static void a_result_in_a_register_lasts_until_the_function_returns(void **state)
{
    (void)state;
    check(KERNEL(".func (.reg .u32 %m, .reg .u32 %n) early (.reg .u32 %a)\n"
                 "{ .reg .u32 %x<9>; add.u32 %m, %a, 1; mov.u32 %x1, %laneid;\n"
                 "and.b32 %x2, %x1, 0; add.u32 %x3, %x2, 1; add.u32 %x4, %x3, %x3;\n"
                 "add.u32 %x5, %x4, %x4; add.u32 %x6, %x5, %x5; add.u32 %x7, %x3, %x4;\n"
                 "add.u32 %x7, %x7, %x5; add.u32 %n, %x7, %x6; ret; }\n",
                 "call (%r0, %r1), early, (%t); mad.lo.u32 %r0, %r0, 100, %r1;\n" STORE32("%r0")),
          want_kept);
}

/* fib(n) by recursion: lanes with different n go different ways down. */
#define FIB                                                                                        \
    ".func (.param .b32 ret) fib (.param .b32 n)\n"                                                \
    "{ .reg .b32 %r<9>; .reg .pred %p;\n"                                                          \
    "ld.param.u32 %r1, [n]; setp.lt.u32 %p, %r1, 2; @%p bra BASE;\n"                               \
    "sub.u32 %r2, %r1, 1; sub.u32 %r3, %r1, 2;\n"                                                  \
    "{ .param .b32 x; .param .b32 z; st.param.b32 [x], %r2; call (z), fib, (x);\n"                 \
    "ld.param.b32 %r4, [z]; }\n"                                                                   \
    "{ .param .b32 x; .param .b32 z; st.param.b32 [x], %r3; call (z), fib, (x);\n"                 \
    "ld.param.b32 %r5, [z]; }\n"                                                                   \
    "add.u32 %r1, %r4, %r5;\n"                                                                     \
    "BASE: st.param.b32 [ret], %r1; ret; }\n"

static uint32_t want_fib(uint32_t t)
{
    uint32_t a = 0, b = 1;
    for (uint32_t i = 0; i < t % 11; i++) {
        uint32_t c = a + b;
        a = b;
        b = c;
    }
    return a;
}

static void recursion_diverges_and_comes_back(void **state)
{
    (void)state;
    check(KERNEL(FIB, "rem.u32 %r1, %t, 11;\n"
                      "{ .param .b32 x; .param .b32 z; st.param.b32 [x], %r1; call (z), fib, (x);\n"
                      "ld.param.b32 %r0, [z]; }\n" STORE32("%r0")),
          want_fib);
}

/* Every call has local memory of its own. */
#define DEPTH                                                                                      \
    ".func (.param .b32 ret) sum (.param .b32 n)\n"                                                \
    "{ .reg .b32 %r<9>; .reg .b64 %l<9>; .reg .pred %p; .local .align 4 .b8 mine[24];\n"           \
    "ld.param.u32 %r1, [n]; mov.u64 %l1, mine; cvta.local.u64 %l2, %l1; st.u32 [%l2+8], %r1;\n"    \
    "mov.u32 %r4, 0; setp.eq.u32 %p, %r1, 0; @%p bra BASE; sub.u32 %r2, %r1, 1;\n"                 \
    "{ .param .b32 x; .param .b32 z; st.param.b32 [x], %r2; call (z), sum, (x);\n"                 \
    "ld.param.b32 %r4, [z]; }\n"                                                                   \
    "BASE: ld.local.u32 %r5, [mine+8]; add.u32 %r4, %r4, %r5; st.param.b32 [ret], %r4; ret; }\n"

static uint32_t want_sum(uint32_t t)
{
    return t * (t + 1) / 2;
}

static void local_variables_are_of_each_call(void **state)
{
    (void)state;
    check(KERNEL(DEPTH,
                 "{ .param .b32 x; .param .b32 z; st.param.b32 [x], %t; call (z), sum, (x);\n"
                 "ld.param.b32 %r0, [z]; }\n" STORE32("%r0")),
          want_sum);
}

#define PICK                                                                                       \
    ".func (.param .b32 ret) pick (.param .align 8 .b8 a[16], .param .align 4 .b8 b[12])\n"        \
    "{ .reg .b32 %r<5>; .reg .b64 %l<4>; mov.b64 %l1, a; mov.b64 %l2, b; ld.param.u32 %r1, [a];\n" \
    "mul.wide.u32 %l3, %r1, 4; add.u64 %l1, %l1, %l3; add.u64 %l2, %l2, %l3;\n"                    \
    "ld.local.u32 %r2, [%l1+4]; ld.local.u32 %r3, [%l2]; mad.lo.u32 %r4, %r3, 1000, %r2;\n"        \
    "st.param.b32 [ret], %r4; ret; }\n"

static uint32_t want_picked(uint32_t t)
{
    return (t + 20 + t % 3) * 1000 + 10 + t % 3;
}

/* Element t % 3 of each of two arrays: an index that is not constant needs an address. */
static void the_addresses_of_a_functions_parameters_reach_each_of_them(void **state)
{
    (void)state;
    check(KERNEL(PICK, "rem.u32 %r1, %t, 3; add.u32 %r2, %t, 20; add.u32 %r3, %t, 21;\n"
                       "add.u32 %r4, %t, 22;\n"
                       "{ .param .align 8 .b8 x[16]; .param .align 4 .b8 y[12]; .param .b32 z;\n"
                       "st.param.b32 [x], %r1; st.param.b32 [x+4], 10; st.param.b32 [x+8], 11;\n"
                       "st.param.b32 [x+12], 12; st.param.b32 [y], %r2;\n"
                       "st.param.b32 [y+4], %r3; st.param.b32 [y+8], %r4;\n"
                       "call (z), pick, (x, y); ld.param.b32 %r0, [z]; }\n" STORE32("%r0")),
          want_picked);
}

static void endless_recursion_is_a_fault(void **state)
{
    (void)state;
    struct device dev;
    device_kernel(&dev, KERNEL(".func deep () { call deep; ret; }\n", "call deep;\n"), 32);
    assert_int_equal(device_try_run(&dev, 1, 32), SONDE_EFAULT);
    assert_error_has("call stack overflow entering 'deep'");
    device_close(&dev);
}

#define TWO_FUNCTIONS                                                                              \
    ".func (.param .b32 ret) twice (.param .b32 a)\n"                                              \
    "{ .reg .b32 %r; ld.param.u32 %r, [a]; add.u32 %r, %r, %r; st.param.b32 [ret], %r; ret; }\n"   \
    ".func (.param .b32 ret) next (.param .b32 a)\n"                                               \
    "{ .reg .b32 %r; ld.param.u32 %r, [a]; add.u32 %r, %r, 1; st.param.b32 [ret], %r; ret; }\n"    \
    ".global .u64 table[2] = { twice, next };\n"

#define INDIRECT                                                                                   \
    "PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);\n"                                   \
    "{ .param .b32 x; .param .b32 z; st.param.b32 [x], %t;\n"                                      \
    "call (z), %l1, (x), PROTO; ld.param.b32 %r0, [z]; }\n"

static uint32_t want_pointer(uint32_t t)
{
    return t & 1 ? t + 1 : t * 2;
}

static void a_call_by_pointer_reaches_every_lanes_function(void **state)
{
    (void)state;
    check(KERNEL(
              TWO_FUNCTIONS,
              "and.b32 %r1, %t, 1; mov.u64 %l0, table;\n"
              "mad.wide.u32 %l0, %r1, 8, %l0; ld.global.u64 %l1, [%l0];\n" INDIRECT STORE32("%r0")),
          want_pointer);
}

static void a_call_by_a_wild_pointer_is_a_fault(void **state)
{
    (void)state;
    struct device dev;
    device_kernel(&dev, KERNEL(TWO_FUNCTIONS, "mov.u64 %l1, 12345;\n" INDIRECT), 32);
    assert_int_equal(device_try_run(&dev, 1, 32), SONDE_EFAULT);
    assert_error_has("call through 0x3039, which is not a function");
    device_close(&dev);
}

static uint32_t want_gone(uint32_t t)
{
    return t < 40 ? 1 : 2;
}

static void lanes_that_exit_in_a_function_do_not_come_back(void **state)
{
    (void)state;
    check(KERNEL(".func leave (.reg .u32 %a) { .reg .pred %p; setp.lt.u32 %p, %a, 40; @%p exit; "
                 "ret; }\n",
                 "mov.u32 %r0, 1;\n" STORE32("%r0") "call leave, (%t); mov.u32 %r0, 2;\n" STORE32(
                     "%r0")),
          want_gone);
}

static void a_function_without_a_body_is_refused(void **state)
{
    (void)state;
    struct device dev;
    assert_int_equal(
        device_try_open(&dev, KERNEL(".extern .func missing ();\n", "call missing;\n"), "k"),
        SONDE_EINPUT);
    assert_error_has("function 'missing' is called but not defined");
    device_close(&dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_gets_its_arguments_and_gives_its_result),
        cmocka_unit_test(only_the_lanes_that_call_are_called),
        cmocka_unit_test(registers_pass_values_and_lanes_return_apart),
        cmocka_unit_test(vector_registers_and_predicates_are_passed),
        cmocka_unit_test(a_result_in_a_register_lasts_until_the_function_returns),
        cmocka_unit_test(recursion_diverges_and_comes_back),
        cmocka_unit_test(local_variables_are_of_each_call),
        cmocka_unit_test(the_addresses_of_a_functions_parameters_reach_each_of_them),
        cmocka_unit_test(endless_recursion_is_a_fault),
        cmocka_unit_test(a_call_by_pointer_reaches_every_lanes_function),
        cmocka_unit_test(a_call_by_a_wild_pointer_is_a_fault),
        cmocka_unit_test(lanes_that_exit_in_a_function_do_not_come_back),
        cmocka_unit_test(a_function_without_a_body_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
