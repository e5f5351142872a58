/*
 * Code for AVX2 leaves the upper halves of the vector registers clear behind it. Where it does not,
 * SSE instructions of whoever comes next wait for some hundred cycles; no result shows it. The
 * processor tells by XGETBV of register 1 whether they are in use; the compiler decides function by
 * function and by optimisation, so this runs in a release. Skipped where the host cannot tell.
 */
#include "support/exec_device.h"

#include "exec/lane/lanes.h"
#include "exec/memory/direct.h"
#include "exec/ops.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

#define IN_USE_AVX 4u /* bit of XINUSE: Intel's manual, volume 1, 13.6 */

static bool upper_halves_in_use(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    return low & IN_USE_AVX;
}

static void clear_upper_halves(void)
{
    __asm__ volatile("vzeroupper" ::: "memory");
}

/* Whether XGETBV tells it, and does follow what is done. */
static bool host_tells(void)
{
    uint32_t a = 0, b = 0, c = 0, d = 0;
    if (!lanes_have_avx2() || !__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 4)) {
        return false;
    }
    __asm__ volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0" ::: "xmm0");
    bool dirty = upper_halves_in_use();
    clear_upper_halves();
    return dirty && !upper_halves_in_use();
}
#else
static bool upper_halves_in_use(void)
{
    return false;
}

static void clear_upper_halves(void)
{
}

static bool host_tells(void)
{
    return false;
}
#endif

static void need_a_host_that_tells(void)
{
    if (!host_tells()) {
        print_message("this host does not tell whether upper halves are in use\n");
        skip();
    }
}

static const uint32_t masks[] = {UINT32_MAX, 0x55555555, 1};

static void entry_leaves_upper_halves_clear(const struct lane_entry *entry)
{
    static _Alignas(64) uint64_t operand[5][WARP_LANES];
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        clear_upper_halves();
        entry->fn(operand[0], operand[1], operand[2], operand[3], operand[4], masks[m]);
        if (upper_halves_in_use()) {
            fail_msg("operation %d, mask %08x", (int)entry->op, masks[m]);
        }
    }
}

static void table_leaves_upper_halves_clear(const struct lane_table *table)
{
    static _Alignas(64) uint64_t operand[5][WARP_LANES];
    for (size_t i = 0; i < table->count; i++) {
        entry_leaves_upper_halves_clear(&table->entries[i]);
    }
    for (const struct lane_entry *own = table->special; own->op != OP_COUNT; own++) {
        entry_leaves_upper_halves_clear(own);
    }
    for (size_t i = 0; i < table->compare_count; i++) {
        clear_upper_halves();
        table->compares[i].fn(operand[1], operand[2], UINT32_MAX);
        if (upper_halves_in_use()) {
            fail_msg("comparison %zu", i);
        }
    }
}

static void lane_loops_leave_upper_halves_clear(void **state)
{
    (void)state;
    need_a_host_that_tells();
    table_leaves_upper_halves_clear(&lanes_avx2);
    if (lanes_have_avx512()) {
        table_leaves_upper_halves_clear(&lanes_avx512);
    }
}

/* Lane i's element lies `factor` elements times i behind, modulo 32: all at one place, in a row,
 * scattered. */
static const uint32_t factors[] = {0, 1, 37};
static const struct {
    const char *type, *registers;
    uint32_t bytes;
} forms[] = {{"u32", "%a", 4},
             {"u64", "%x", 8},
             {"v2.u32", "{%a, %b}", 8},
             {"v4.u32", "{%a, %b, %c, %e}", 16}};

static void write_kernel(char *text, size_t size, const char *space, uint32_t factor, size_t form)
{
    snprintf(text, size,
             PTX_HEAD
             ".visible .entry k(.param .u64 data)\n{\n.reg .b32 %%a, %%b, %%c, %%e, %%i; .reg .b64 "
             "%%x, %%d, %%p;\n"
             ".shared .align 16 .b8 s[512];\nld.param.u64 %%d, [data];\nmov.u32 %%i, %%tid.x;\n%s"
             "mul.lo.u32 %%i, %%i, %u;\nand.b32 %%i, %%i, 31;\nmad.wide.u32 %%p, %%i, %u, %%d;\n"
             "mov.u32 %%a, 1;\nmov.u32 %%b, 2;\nmov.u32 %%c, 3;\nmov.u32 %%e, 4;\nmov.u64 %%x, 5;\n"
             "st.%s.%s [%%p], %s;\nld.%s.%s %s, [%%p];\nret;\n}\n",
             strcmp(space, "shared") == 0 ? "mov.u64 %d, s;\n" : "", factor, forms[form].bytes,
             space, forms[form].type, forms[form].registers, space, forms[form].type,
             forms[form].registers);
}

static void assert_clear_after(const char *what, const struct exec_warp *warp, const char *text)
{
    if (upper_halves_in_use()) {
        fail_msg("%s, before instruction %u of\n%s", what, warp->pc, text);
    }
}

/* One warp by hand, as with timing (`direct` NULL) or as in functional mode. */
static void run_warp(struct device *dev, direct_fn *direct, const char *text)
{
    static uint8_t shared[512];
    struct exec_env env = {.untimed = direct != NULL};
    struct exec_cta cta = {.shared = shared, .shared_bytes = sizeof shared, .launch = &dev->launch};
    struct exec_warp warp = {0};
    struct exec_access access = {0};
    enum exec_event event = EXEC_DONE;
    assert_int_equal(exec_warp_init(&warp, &cta, 0, &env), 0);
    while (event != EXEC_EXIT && event != EXEC_FAULT) {
        const struct uop *uop = &warp.state->uops[warp.pc];
        clear_upper_halves();
        if (direct && uop->run == run_memory && direct(&warp, uop, warp.active)) {
            assert_clear_after("access", &warp, text);
            continue;
        }
        event = exec_issue(&warp, &access);
        assert_clear_after("issue", &warp, text);
        if (event == EXEC_ACCESS) {
            assert_int_equal(exec_commit(&warp, &access), 0);
            assert_clear_after("commit", &warp, text);
        }
    }
    assert_int_equal(event, EXEC_EXIT);
    exec_warp_free(&warp);
}

static void loads_and_stores_leave_upper_halves_clear(void **state)
{
    (void)state;
    need_a_host_that_tells();
    for (size_t i = 0; i < 2 * 3 * 4; i++) {
        char text[1024];
        struct device dev;
        write_kernel(text, sizeof text, i % 2 ? "shared" : "global", factors[i / 2 % 3], i / 6);
        device_open(&dev, text, "k");
        device_arg_u64(&dev, device_alloc(&dev, 4096));
        run_warp(&dev, NULL, text);
        run_warp(&dev, direct_avx2, text);
        run_warp(&dev, direct_access(), text);
        device_close(&dev);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lane_loops_leave_upper_halves_clear),
        cmocka_unit_test(loads_and_stores_leave_upper_halves_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
