/*
 * Direct loads and stores do what issue and commit do, for every width, vector, space, address
 * pattern and mask, on any processor, with AVX2 and with AVX-512; and leave alone what is not
 * allowed.
 */
#include "support/exec_device.h"

#include "exec/memory/direct.h"
#include "exec/ops.h"

#define DATA_BYTES 4096

/* What a lane's slot number is: one for all, one after the other, scattered, two and 16 lanes a
 * slot. */
static const struct {
    const char *name;
    uint32_t factor, divide;
} patterns[] = {{"uniform", 0, 1},
                {"consecutive", 1, 1},
                {"scattered", 37, 1},
                {"pairs", 1, 2},
                {"halves", 1, 16}};
static const uint32_t masks[] = {UINT32_MAX, 0,          1,          0x80000001,
                                 0x55555555, 0x00ffff00, 0xfffffffe, 0x7fff0000};
/* Shared memory by addresses of 64 and of 32 bits. */
static const struct {
    const char *name, *base;
} spaces[] = {{".global", "%a"}, {"", "%a"}, {".shared", "%a"}, {".shared", "%n"}};

struct shape {
    uint32_t bytes, vec, pattern, space, mask;
};

struct outcome {
    uint8_t data[DATA_BYTES], shared[DATA_BYTES];
    uint64_t out[WARP_LANES * 4];
    uint32_t direct; /* accesses done directly */
    enum exec_event event;
};

static void write_vector(char *text, size_t size, const struct shape *shape, char letter)
{
    size_t at = 0;
    const char *open = shape->vec > 1 ? "{" : "", *close = shape->vec > 1 ? "}" : "";
    at += (size_t)snprintf(text, size, "%s", open);
    for (uint32_t k = 0; k < shape->vec; k++)
        at += (size_t)snprintf(text + at, size - at, "%s%%%c%u", k ? ", " : "", letter, k);
    snprintf(text + at, size - at, "%s", close);
}

/*
 * Lane i stores numbers made of i to its slot, loads it again, and writes that out.
 */
static void write_kernel(char *text, size_t size, const struct shape *shape)
{
    char stored[64], loaded[64], vec[16] = "", dump[512] = "", make[512] = "";
    uint32_t bits = shape->bytes * 8, total = shape->bytes * shape->vec;
    write_vector(stored, sizeof stored, shape, 'v');
    write_vector(loaded, sizeof loaded, shape, 'w');
    if (shape->vec > 1)
        snprintf(vec, sizeof vec, ".v%u", shape->vec);
    for (uint32_t k = 0; k < shape->vec; k++) {
        snprintf(make + strlen(make), sizeof make - strlen(make),
                 "mad.lo.u32 %%t, %%i, 257, %u;\ncvt.u%u.u32 %%v%u, %%t;\n", 1000 * (k + 1), bits,
                 k);
        snprintf(dump + strlen(dump), sizeof dump - strlen(dump),
                 "st.global.u%u [%%o+%u], %%w%u;\n", bits, k * 8, k);
    }
    const char *space = spaces[shape->space].name, *at = spaces[shape->space].base;
    const char *base = strcmp(space, ".shared") == 0 ? "mov.u64 %d, s;\n" : "";
    snprintf(text, size,
             PTX_HEAD ".visible .entry k(.param .u64 data, .param .u64 out, .param .u32 mask)\n"
                      "{\n.reg .b%u %%v<4>, %%w<4>;\n.reg .b32 %%i, %%j, %%t, %%n;\n"
                      ".reg .b64 %%d, %%a, %%o;\n.reg .pred %%p;\n.shared .align 16 .b8 s[%u];\n"
                      "ld.param.u64 %%d, [data];\nld.param.u64 %%o, [out];\n"
                      "ld.param.u32 %%t, [mask];\nmov.u32 %%i, %%tid.x;\n%s"
                      "shr.u32 %%t, %%t, %%i;\nand.b32 %%t, %%t, 1;\nsetp.ne.u32 %%p, %%t, 0;\n"
                      "mul.lo.u32 %%j, %%i, %u;\nand.b32 %%j, %%j, 31;\ndiv.u32 %%j, %%j, %u;\n"
                      "mad.wide.u32 %%a, %%j, %u, %%d;\nmad.wide.u32 %%o, %%i, 32, %%o;\n%s"
                      "cvt.u32.u64 %%n, %%a;\n"
                      "@%%p st%s%s.u%u [%s], %s;\n@%%p ld%s%s.u%u %s, [%s];\n%sret;\n}\n",
             bits, DATA_BYTES, base, patterns[shape->pattern].factor,
             patterns[shape->pattern].divide, total, make, space, vec, bits, at, stored, space, vec,
             bits, loaded, at, dump);
}

/* Issued and done at once; it says in which bits the addresses differ. */
static bool run_shared(struct exec_warp *warp, const struct uop *uop, uint32_t mask,
                       struct exec_access *access, direct_shared_fn *shared)
{
    if (!shared || uop->run != run_memory || uop->memory->space != SPACE_SHARED ||
        mask != UINT32_MAX || !shared(warp, uop, access))
        return false;
    uint64_t apart = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        apart |= access->address[i] ^ access->address[0];
    assert_true(access->done);
    assert_true(access->apart == apart);
    assert_int_equal(access->kind, uop->memory->kind);
    assert_int_equal(access->mask, UINT32_MAX);
    assert_int_equal(exec_commit(warp, access), 0);
    return true;
}

/* One warp by hand: `direct` NULL issues and commits everything, but for what `shared` does. */
static void run_warp(struct outcome *outcome, struct device *dev, direct_fn *direct,
                     direct_shared_fn *shared)
{
    struct exec_env env = {0};
    struct exec_cta cta = {
        .shared = outcome->shared, .shared_bytes = DATA_BYTES, .launch = &dev->launch};
    struct exec_warp warp = {0};
    struct exec_access access;
    assert_int_equal(exec_warp_init(&warp, &cta, 0, &env), 0);
    do {
        const struct uop *uop = &warp.state->uops[warp.pc];
        uint32_t mask = warp.active & (warp.state->preds[uop->guard] ^ uop->guard_flip);
        if ((direct && uop->run == run_memory && direct(&warp, uop, mask)) ||
            run_shared(&warp, uop, mask, &access, shared)) {
            outcome->direct++;
            outcome->event = EXEC_DONE;
            continue;
        }
        access.done = false;
        outcome->event = uop->run(&warp, uop, mask, &access);
        if (outcome->event == EXEC_ACCESS)
            assert_int_equal(exec_commit(&warp, &access), 0);
    } while (outcome->event != EXEC_EXIT && outcome->event != EXEC_FAULT);
    exec_warp_free(&warp);
}

static void run_kernel(struct outcome *outcome, const char *text, uint32_t mask, direct_fn *direct,
                       direct_shared_fn *shared)
{
    struct device dev;
    memset(outcome, 0, sizeof *outcome);
    device_open(&dev, text, "k");
    uint64_t data = device_alloc(&dev, DATA_BYTES);
    uint64_t out = device_alloc(&dev, sizeof outcome->out);
    device_arg_u64(&dev, data);
    device_arg_u64(&dev, out);
    device_arg_u32(&dev, mask);
    run_warp(outcome, &dev, direct, shared);
    memcpy(outcome->data, device_pointer(data), DATA_BYTES);
    memcpy(outcome->out, device_pointer(out), sizeof outcome->out);
    device_close(&dev);
}

static void compare(const struct shape *shape, direct_fn *direct, direct_shared_fn *shared)
{
    static struct outcome ordinary, quick;
    char text[4096];
    write_kernel(text, sizeof text, shape);
    run_kernel(&ordinary, text, shape->mask, NULL, NULL);
    run_kernel(&quick, text, shape->mask, direct, shared);
    assert_int_equal(ordinary.event, EXEC_EXIT);
    assert_int_equal(quick.event, EXEC_EXIT);
    /* The parameters, the store, the load, what is written out; with timing the store and the load.
     */
    bool all_shared =
        strcmp(spaces[shape->space].name, ".shared") == 0 && shape->mask == UINT32_MAX;
    assert_true(quick.direct >= (direct ? 3 + 2 + shape->vec : all_shared ? 2 : 0));
    if (memcmp(ordinary.data, quick.data, DATA_BYTES) != 0 ||
        memcmp(ordinary.shared, quick.shared, DATA_BYTES) != 0 ||
        memcmp(ordinary.out, quick.out, sizeof ordinary.out) != 0)
        fail_msg("differs: %u bytes x %u, %s, space '%s', mask %08x", shape->bytes, shape->vec,
                 patterns[shape->pattern].name, spaces[shape->space].name, shape->mask);
}

static void compare_all(direct_fn *direct, direct_shared_fn *shared)
{
    struct shape shape;
    for (shape.bytes = 4; shape.bytes <= 8; shape.bytes *= 2)
        for (shape.vec = 1; shape.vec * shape.bytes <= 16; shape.vec *= 2)
            for (shape.pattern = 0; shape.pattern < sizeof patterns / sizeof *patterns;
                 shape.pattern++)
                for (shape.space = 0; shape.space < sizeof spaces / sizeof *spaces; shape.space++)
                    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
                        shape.mask = masks[i];
                        compare(&shape, direct, shared);
                    }
}

static void direct_accesses_give_what_issue_and_commit_give(void **state)
{
    (void)state;
    compare_all(direct_portable, NULL);
}

static void shared_accesses_with_timing_give_it_too(void **state)
{
    (void)state;
    compare_all(NULL, direct_shared_portable);
    compare_all(NULL, direct_shared());
}

static void so_they_do_with_avx2(void **state)
{
    (void)state;
    if (!direct_avx2 || !lanes_have_avx2())
        skip();
    compare_all(direct_avx2, NULL);
    compare_all(NULL, direct_shared_avx2);
}

static void so_they_do_with_avx512(void **state)
{
    (void)state;
    if (!direct_avx512 || !lanes_have_avx512())
        skip();
    compare_all(direct_avx512, NULL);
}

#define FAULT_KERNEL(address)                                                                      \
    PTX_HEAD ".visible .entry k(.param .u64 data, .param .u64 out, .param .u32 mask)\n"            \
             "{\n.reg .b32 %i, %m;\n.reg .b64 %d, %a;\n.reg .pred %p;\n"                           \
             "ld.param.u64 %d, [data];\nld.param.u32 %m, [mask];\nmov.u32 %i, %tid.x;\n"           \
             "shr.u32 %m, %m, %i;\nand.b32 %m, %m, 1;\nsetp.ne.u32 %p, %m, 0;\n" address           \
             "@%p st.global.u32 [%a], %i;\nret;\n}\n"

static void a_bad_address_in_one_lane_is_a_fault_and_nothing_is_written(void **state)
{
    (void)state;
    static const char *const kernels[] = {
        FAULT_KERNEL("mad.wide.u32 %a, %i, 136, %d;\n"), /* the last lane's is beyond the end */
        FAULT_KERNEL("mad.wide.u32 %a, %i, 6, %d;\n"),
        FAULT_KERNEL("mad.wide.u32 %a, %i, 4, 4;\n"),
    };
    static const uint32_t sets[] = {UINT32_MAX, 0xfffffffe};
    static struct outcome outcome;
    static const uint8_t zeros[DATA_BYTES];
    for (int i = 0; i < 6; i++) {
        run_kernel(&outcome, kernels[i / 2], sets[i % 2], direct_access(), NULL);
        assert_int_equal(outcome.event, EXEC_FAULT);
        assert_memory_equal(outcome.data, zeros, DATA_BYTES);
    }
}

/* The same in shared memory by addresses of 32 bits: beyond its end anyhow, no multiple of 4, in a
 * row of which a half is beyond the end, all at one place that is. */
static void so_is_one_in_shared_memory(void **state)
{
    (void)state;
    static const struct {
        uint32_t step, start;
    } places[] = {{136, 0}, {6, 0}, {4, DATA_BYTES - 64}, {0, DATA_BYTES}};
    static struct outcome outcome;
    static const uint8_t zeros[DATA_BYTES];
    for (size_t i = 0; i < 2 * sizeof places / sizeof *places; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 PTX_HEAD ".visible .entry k(.param .u64 data, .param .u64 out, .param .u32 mask)\n"
                          "{\n.reg .b32 %%i, %%m, %%a;\n.reg .pred %%p;\n"
                          ".shared .align 16 .b8 s[%u];\nld.param.u32 %%m, [mask];\n"
                          "mov.u32 %%i, %%tid.x;\nshr.u32 %%m, %%m, %%i;\nand.b32 %%m, %%m, 1;\n"
                          "setp.ne.u32 %%p, %%m, 0;\nmov.u32 %%a, s;\n"
                          "mad.lo.u32 %%a, %%i, %u, %%a;\nadd.u32 %%a, %%a, %u;\n"
                          "@%%p st.shared.u32 [%%a], %%i;\nret;\n}\n",
                 DATA_BYTES, places[i / 2].step, places[i / 2].start);
        run_kernel(&outcome, text, i % 2 ? 0xfffffffe : UINT32_MAX, direct_access(), NULL);
        assert_int_equal(outcome.event, EXEC_FAULT);
        assert_memory_equal(outcome.shared, zeros, DATA_BYTES);
    }
}

static void lanes_that_do_not_access_may_hold_any_address(void **state)
{
    (void)state;
    static struct outcome outcome;
    run_kernel(&outcome, FAULT_KERNEL("mad.wide.u32 %a, %i, 136, %d;\n"), 0x7fffffff,
               direct_access(), NULL);
    assert_int_equal(outcome.event, EXEC_EXIT);
    assert_int_equal(outcome.data[30 * 136], 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(direct_accesses_give_what_issue_and_commit_give),
        cmocka_unit_test(shared_accesses_with_timing_give_it_too),
        cmocka_unit_test(so_they_do_with_avx2),
        cmocka_unit_test(so_they_do_with_avx512),
        cmocka_unit_test(a_bad_address_in_one_lane_is_a_fault_and_nothing_is_written),
        cmocka_unit_test(so_is_one_in_shared_memory),
        cmocka_unit_test(lanes_that_do_not_access_may_hold_any_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
