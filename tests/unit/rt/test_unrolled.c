/*
 * Loops that count, as they are written and unrolled: random bodies, counters of both widths,
 * signed and unsigned, up and down, whose turns differ from lane to lane. Both must leave the same
 * memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "util/error.h"
#include "util/rng.h"
#include "util/container/strbuf.h"

#define THREADS 64
#define BYTES (THREADS * 64)
#define PROGRAMS 120
#define LOOPS 3

static struct rng rng;

static unsigned any(unsigned count)
{
    return (unsigned)rng_below(&rng, count);
}

static unsigned reg(void)
{
    return 10 + any(6);
}

/* %rd4 goes through the thread's words, the counter is in %r20. */
static void statement(struct strbuf *text, bool wide)
{
    static const char *const arithmetic[] = {"add.u32", "xor.b32", "mul.lo.u32", "sub.u32"};
    switch (any(7)) {
    case 0:
        strbuf_printf(text, "ld.global.u32 %%r%u, [%%rd4];\n", reg());
        break;
    case 1:
        strbuf_printf(text, "st.global.u32 [%%rd1+%u], %%r%u;\n", 4 * any(16), reg());
        break;
    case 2:
        strbuf_printf(text, "ld.global.v2.u32 {%%r%u, %%r%u}, [%%rd1+%u];\n", 10 + any(3),
                      13 + any(3), 8 * any(8));
        break;
    case 3:
        strbuf_printf(text, wide ? "cvt.u32.u64 %%r%u, %%rd6;\n" : "mov.u32 %%r%u, %%r20;\n",
                      reg());
        break;
    case 4:
        strbuf_printf(text,
                      "setp.lt.u32 %%p2, %%r%u, %%r%u;\nselp.u32 %%r%u, %%r%u, %%r%u, %%p2;\n",
                      reg(), reg(), reg(), reg(), reg());
        break;
    default:
        strbuf_printf(text, "%s %%r%u, %%r%u, %%r%u;\n", arithmetic[any(4)], reg(), reg(), reg());
    }
}

/* One to 15 turns: by the lane's number, or more than its half. */
static void loop(struct strbuf *text, int number)
{
    static const char *const up[] = {"lt", "le", "lt", "ne"}, *const down[] = {"gt", "ge", "gt",
                                                                               "ne"};
    bool wide = any(4) == 0, falls = any(2);
    const char *sign = any(2) ? "s" : "u", *counter = wide ? "%rd6" : "%r20";
    const char *compare = (falls ? down : up)[any(4)];
    int bits = wide ? 64 : 32, step = 1 + (int)any(5);
    int64_t bound = *sign == 's' ? (int64_t)any(60) - 30 : 4096;
    int64_t by = falls ? -step : step;
    strbuf_printf(
        text,
        "and.b32 %%r21, %%r3, %u;\nadd.u32 %%r21, %%r21, 1;\nmul.lo.u32 %%r21, %%r21, %d;\n"
        "sub.u32 %%r20, %" PRId64 ", %%r21;\ncvt.s64.s32 %%rd6, %%r20;\n"
        "mov.u64 %%rd4, %%rd1;\nmov.u%d %s, %" PRId64 ";\nL%d:\n",
        any(2) ? 7 : 14, (int)by, bound, bits, wide ? "%rd7" : "%r22", bound, number);
    for (unsigned n = 2 + any(8); n > 0; n--)
        statement(text, wide);
    bool early = any(4) == 0;
    for (int pass = 0; pass < 2; pass++)
        if (pass == (early ? 0 : 1))
            strbuf_printf(text, "add.s%d %s, %s, %" PRId64 ";\n", bits, counter, counter, by);
        else
            statement(text, wide);
    /* Two steps of the second one leave 64 bits. */
    strbuf_printf(text,
                  "add.s64 %%rd4, %%rd4, 4;\n"
                  "xor.b64 %%rd3, %%rd3, %%rd5; add.s64 %%rd5, %%rd5, -7046029254386353131;\n");
    if (any(3))
        strbuf_printf(text, "setp.%s.%s%d %%p%d, %s, %s;\n", compare, sign, bits, 4 + number,
                      counter, wide ? "%rd7" : "%r22");
    else
        strbuf_printf(text, "setp.%s.%s%d %%p%d, %s, %" PRId64 ";\n", compare, sign, bits,
                      4 + number, counter, bound);
    strbuf_printf(text, "@%%p%d bra L%d;\n", 4 + number, number);
}

static char *program(uint64_t seed)
{
    struct strbuf text = {0};
    rng_seed(&rng, seed);
    strbuf_printf(&text, ".version 7.0\n.target sm_70\n.address_size 64\n"
                         ".visible .entry k(.param .u64 out)\n{\n"
                         ".reg .b32 %%r<32>; .reg .b64 %%rd<8>; .reg .pred %%p<8>;\n"
                         "ld.param.u64 %%rd0, [out]; mov.u32 %%r3, %%tid.x;\n"
                         "mul.wide.u32 %%rd1, %%r3, 64; add.u64 %%rd1, %%rd1, %%rd0;\n"
                         "mov.u64 %%rd3, 0; mov.u64 %%rd5, 1;\n");
    for (int i = 10; i < 16; i++)
        strbuf_printf(&text, "mad.lo.u32 %%r%d, %%r3, %d, %d;\n", i, i * 7 + 1, i * 31);
    for (int i = 0; i < LOOPS; i++)
        loop(&text, i);
    for (int i = 0; i < 6; i++)
        strbuf_printf(&text, "st.global.u32 [%%rd1+%d], %%r%d;\n", 4 * i, 10 + i);
    strbuf_printf(&text,
                  "st.global.u32 [%%rd1+24], %%r20;\nst.global.u64 [%%rd1+32], %%rd6;\n"
                  "st.global.u64 [%%rd1+48], %%rd3;\nst.global.u64 [%%rd1+56], %%rd5;\n"
                  "sub.u64 %%rd4, %%rd4, %%rd1;\nst.global.u64 [%%rd1+40], %%rd4;\nret;\n}\n");
    return strbuf_take(&text);
}

static void run(uint32_t *result, const struct model *model, const char *text, bool functional)
{
    struct rt *rt;
    struct rt_module *module;
    struct rt_kernel *kernel;
    uint64_t out;
    assert_int_equal(rt_create(&rt, model), 0);
    int rc = rt_module_load(rt, &module, "random.ptx", text, strlen(text));
    rc = rc < 0 ? rc : rt_kernel_get(module, &kernel, "k");
    if (rc < 0)
        fail_msg("%s\n%s", error_text(), text);
    assert_int_equal(rt_mem_alloc(rt, &out, BYTES), 0);
    assert_int_equal(rt_memset(rt, out, 0x11, BYTES), 0);
    const void *args[] = {&out};
    struct rt_launch launch = {.grid = {1, 1, 1},
                               .block = {THREADS, 1, 1},
                               .args = args,
                               .arg_count = 1,
                               .max_cycles = 10000000,
                               .functional = functional};
    assert_int_equal(rt_launch(rt, kernel, &launch, NULL), 0);
    assert_int_equal(rt_copy_from_device(rt, result, out, BYTES), 0);
    rt_destroy(rt);
}

static void an_unrolled_loop_computes_what_the_loop_does(void **state)
{
    (void)state;
    static uint32_t plain[BYTES / 4], unrolled[BYTES / 4];
    struct model *model = NULL, *other = NULL;
    assert_int_equal(model_load(&model, "gtx780"), 0);
    assert_int_equal(model_load(&other, "gtx780"), 0);
    other->sm.lowering = LOWERING_HOPPER;
    other->sm.reorder = true;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        char *text = program(seed);
        run(plain, model, text, true);
        run(unrolled, other, text, seed % 8 != 0);
        if (memcmp(plain, unrolled, BYTES) != 0)
            fail_msg("seed %" PRIu64 " differs:\n%s", seed, text);
        free(text);
    }
    model_destroy(model);
    model_destroy(other);
}

/* The counter passes the bound, wraps around and comes back to it after some 131 000 turns. */
static void a_counter_that_wraps_around_counts_on(void **state)
{
    (void)state;
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k(.param .u64 out)\n{\n"
        ".reg .b32 %r<32>; .reg .b64 %rd<8>; .reg .pred %p<8>;\n"
        "ld.param.u64 %rd0, [out]; mov.u32 %r3, %tid.x; ld.global.u32 %r4, [%rd0+2048];\n"
        "mul.wide.u32 %rd1, %r3, 4; add.u64 %rd1, %rd1, %rd0;\n"
        "mov.u32 %r10, 0; mov.u32 %r12, 0;\n"
        "add.s32 %r22, %r4, 1861122494; add.s32 %r20, %r4, 1861021428;\n" /* %r4: 0x11111111 */
        "L: ld.global.u32 %r11, [%rd1+1024]; add.u32 %r10, %r10, 1; add.u32 %r12, %r12, %r11;\n"
        "add.s32 %r20, %r20, 32767; setp.lt.s32 %p0, %r20, %r22;\n"
        "@%p0 bra L;\n"
        "st.global.u32 [%rd1], %r10; st.global.u32 [%rd1+512], %r20;\n"
        "st.global.u32 [%rd1+1536], %r12;\nret;\n}\n";
    static uint32_t plain[BYTES / 4], unrolled[BYTES / 4];
    struct model *model = NULL, *other = NULL;
    assert_int_equal(model_load(&model, "gtx780"), 0);
    assert_int_equal(model_load(&other, "gtx780"), 0);
    other->sm.lowering = LOWERING_HOPPER;
    other->sm.reorder = true;
    run(plain, model, text, true);
    run(unrolled, other, text, true);
    assert_in_range(plain[0], 100000, 200000);
    assert_memory_equal(plain, unrolled, BYTES);
    model_destroy(model);
    model_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unrolled_loop_computes_what_the_loop_does),
        cmocka_unit_test(a_counter_that_wraps_around_counts_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
