/*
 * Random programs with and without timing must leave the same memory. Each thread works on 64 bytes
 * of its own, in global and in shared memory, with loads, stores and atomics that meet on the same
 * words, loops of different lengths, guards and divergence: whatever order the timing model gives
 * to accesses, a thread must see its own in program order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "util/error.h"
#include "util/rng.h"
#include "util/container/strbuf.h"

#define THREADS 96
#define BLOCKS 5
#define BYTES (THREADS * BLOCKS * 64)
#define PROGRAMS 40

static struct rng rng;

static unsigned reg(void)
{
    return 10 + (unsigned)rng_below(&rng, 8);
}

static unsigned word(void)
{
    return 4 * (unsigned)rng_below(&rng, 16);
}

static void statement(struct strbuf *text, int depth, int *label);

static void statements(struct strbuf *text, int depth, int *label)
{
    for (uint64_t n = 1 + rng_below(&rng, depth ? 6 : 9); n > 0; n--) {
        statement(text, depth, label);
    }
}

/* if (reg & 1), with an else or without, or a loop of 1 to 4 rounds that differ from lane to lane
 */
static void block(struct strbuf *text, int depth, int *label)
{
    int here = (*label)++;
    if (rng_below(&rng, 2)) {
        strbuf_printf(text, "and.b32 %%r2, %%r%u, 1;\nsetp.eq.u32 %%p1, %%r2, 0;\n@%%p1 bra L%d;\n",
                      reg(), here);
        statements(text, depth + 1, label);
        if (rng_below(&rng, 2)) {
            int end = (*label)++;
            strbuf_printf(text, "bra L%d;\nL%d:\n", end, here);
            statements(text, depth + 1, label);
            here = end;
        }
        strbuf_printf(text, "L%d:\n", here);
    } else {
        strbuf_printf(text, "and.b32 %%r%d, %%r%u, 3;\nL%d:\n", 20 + depth, reg(), here);
        statements(text, depth + 1, label);
        strbuf_printf(text,
                      "sub.s32 %%r%d, %%r%d, 1;\nsetp.ge.s32 %%p1, %%r%d, 0;\n@%%p1 bra L%d;\n",
                      20 + depth, 20 + depth, 20 + depth, here);
    }
}

static void statement(struct strbuf *text, int depth, int *label)
{
    static const char *const arithmetic[] = {"add.u32", "xor.b32", "mul.lo.u32", "min.u32",
                                             "sub.u32"};
    switch (rng_below(&rng, depth < 3 ? 14 : 13)) {
    case 0:
    case 1:
    case 2:
        strbuf_printf(text, "%s %%r%u, %%r%u, %%r%u;\n", arithmetic[rng_below(&rng, 5)], reg(),
                      reg(), reg());
        break;
    case 3:
        strbuf_printf(text, "ld.global.u32 %%r%u, [%%rd1+%u];\n", reg(), word());
        break;
    case 4:
        strbuf_printf(text, "st.global.u32 [%%rd1+%u], %%r%u;\n", word(), reg());
        break;
    case 5:
        strbuf_printf(text, "atom.global.add.u32 %%r%u, [%%rd1+%u], %%r%u;\n", reg(), word(),
                      reg());
        break;
    case 6:
        strbuf_printf(text, "red.global.xor.b32 [%%rd1+%u], %%r%u;\n", word(), reg());
        break;
    case 7:
        strbuf_printf(text, "ld.shared.u32 %%r%u, [%%r1+%u];\n", reg(), word());
        break;
    case 8:
        strbuf_printf(text, "st.shared.u32 [%%r1+%u], %%r%u;\n", word(), reg());
        break;
    case 9:
        strbuf_printf(
            text, "setp.lt.u32 %%p2, %%r%u, %%r%u;\n@%%p2 st.global.cg.u32 [%%rd1+%u], %%r%u;\n",
            reg(), reg(), word(), reg());
        break;
    case 10: /* the same words, behind another register or without a state space */
        strbuf_printf(text, "ld%s.u32 %%r%u, [%%rd%u+%u];\n", rng_below(&rng, 2) ? "" : ".global",
                      reg(), 2 + (unsigned)rng_below(&rng, 2), word());
        break;
    case 11:
        strbuf_printf(text, "st%s.u8 [%%rd%u+%u], %%r%u;\n", rng_below(&rng, 2) ? "" : ".global",
                      2 + (unsigned)rng_below(&rng, 2), word() + (unsigned)rng_below(&rng, 4),
                      reg());
        break;
    case 12:
        strbuf_printf(text, "add.cc.u32 %%r%u, %%r%u, %%r%u;\naddc.u32 %%r%u, %%r%u, %%r%u;\n",
                      reg(), reg(), reg(), reg(), reg(), reg());
        break;
    default:
        block(text, depth, label);
    }
}

static char *program(uint64_t seed)
{
    struct strbuf text = {0};
    int label = 0;
    rng_seed(&rng, seed);
    strbuf_printf(
        &text,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
        ".reg .b32 %%r<32>; .reg .b64 %%rd<4>; .reg .pred %%p<4>;\n"
        ".shared .align 4 .b8 mine[%d];\nld.param.u64 %%rd0, [out]; mov.u32 %%r3, %%tid.x;\n"
        "mov.u32 %%r1, mine; mad.lo.u32 %%r1, %%r3, 64, %%r1; mov.u32 %%r4, %%ctaid.x;\n"
        "mad.lo.u32 %%r3, %%r4, %d, %%r3; mul.wide.u32 %%rd1, %%r3, 64; add.u64 %%rd1, %%rd1, "
        "%%rd0; mov.u64 %%rd2, %%rd1; add.u64 %%rd3, %%rd1, 0;\n",
        THREADS * 64, THREADS);
    for (int i = 10; i < 18; i++) {
        strbuf_printf(&text, "mad.lo.u32 %%r%d, %%r3, %d, %d;\n", i, i * 7 + 1, i * 31);
    }
    for (int i = 0; i < 8; i++) {
        statements(&text, 0, &label);
        strbuf_printf(&text, "bar.sync 0;\n");
    }
    for (int i = 0; i < 8; i++) {
        strbuf_printf(&text, "st.global.u32 [%%rd1+%d], %%r%d;\n", 4 * i, 10 + i);
    }
    strbuf_printf(&text, "ret;\n}\n");
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
    if (rc == 0) {
        rc = rt_kernel_get(module, &kernel, "k");
    }
    if (rc < 0) {
        print_error("%s\n%s", error_text(), text);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(rt_mem_alloc(rt, &out, BYTES), 0);
    assert_int_equal(rt_memset(rt, out, 0x11, BYTES), 0);
    const void *args[] = {&out};
    struct rt_launch launch = {.grid = {BLOCKS, 1, 1},
                               .block = {THREADS, 1, 1},
                               .args = args,
                               .arg_count = 1,
                               .functional = functional};
    assert_int_equal(rt_launch(rt, kernel, &launch, NULL), 0);
    assert_int_equal(rt_copy_from_device(rt, result, out, BYTES), 0);
    rt_destroy(rt);
}

static struct model *shipped(const char *name)
{
    struct model *model;
    assert_int_equal(model_load(&model, name), 0);
    return model;
}

static void compare_on(struct model *model)
{
    static uint32_t timed[BYTES / 4], functional[BYTES / 4];
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        char *text = program(seed);
        run(timed, model, text, false);
        run(functional, model, text, true);
        if (memcmp(timed, functional, BYTES) != 0) {
            print_error("seed %llu differs:\n%s", (unsigned long long)seed, text);
        }
        assert_memory_equal(timed, functional, BYTES);
        free(text);
    }
    model_destroy(model);
}

static void fermi_computes_what_functional_mode_computes(void **state)
{
    (void)state;
    compare_on(shipped("gtx560ti"));
}

static void kepler_computes_what_functional_mode_computes(void **state)
{
    (void)state;
    compare_on(shipped("gtx780"));
}

/* Instructions in another order, with timing and without, against the order of the PTX. */
static void what_is_reordered_computes_the_same(void **state)
{
    (void)state;
    static uint32_t reordered[BYTES / 4], timed[BYTES / 4], plain[BYTES / 4];
    struct model *model = shipped("gtx780"), *other = shipped("gtx780");
    other->sm.lowering = LOWERING_HOPPER;
    other->sm.reorder = true;
    for (uint64_t seed = 1; seed <= 3 * PROGRAMS; seed++) {
        char *text = program(seed);
        run(plain, model, text, true);
        run(reordered, other, text, true);
        if (memcmp(plain, reordered, BYTES) != 0) {
            print_error("seed %llu differs:\n%s", (unsigned long long)seed, text);
        }
        assert_memory_equal(plain, reordered, BYTES);
        if (seed % 8 == 0) {
            run(timed, other, text, false);
            assert_memory_equal(plain, timed, BYTES);
        }
        free(text);
    }
    model_destroy(model);
    model_destroy(other);
}

static void starve(struct cache_spec *cache)
{
    cache->queue_entries = 1;
    cache->mshr_entries = 1;
    cache->mshr_mergers = 0;
    cache->data_bytes_per_cycle = 4;
}

static void nothing_is_lost_where_every_queue_holds_one(void **state)
{
    (void)state;
    struct model *model = shipped("gtx560ti");
    starve(&model->l1_data);
    starve(&model->l2);
    model->noc.queue_entries = 1;
    model->noc.request_bytes_per_cycle = model->noc.reply_bytes_per_cycle = 1;
    model->dram.queue_entries = 1;
    model->sm.lsu_queue_entries = 1;
    model->sms = 2;
    compare_on(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fermi_computes_what_functional_mode_computes),
        cmocka_unit_test(kepler_computes_what_functional_mode_computes),
        cmocka_unit_test(what_is_reordered_computes_the_same),
        cmocka_unit_test(nothing_is_lost_where_every_queue_holds_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
