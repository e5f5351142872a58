/*
 * Instructions in a row (run/quick.c): a launch that is stopped after any number of them has done
 * and counted what one instruction after the other does, whatever its lanes have parted and met at
 * in between. An observer that counts learns what one that is told of all does.
 */
#include "support/exec_device.h"

#include "exec/memory/direct.h"
#include "exec/observe.h"
#include "exec/ops.h"

#define OUT_BYTES 8192u
#define SHARED_BYTES 256u

/* Loops of other lengths for other lanes, a branch all take and one that none takes, predicates of
 * comparisons with and without a guard, words of shared and device memory (in rows, and scattered),
 * parameters of both widths. Each turn leaves its trace behind the last. */
static const char text[] = PTX_HEAD
    ".visible .entry k(.param .u64 out, .param .u32 most) {\n.reg .b64 %a<4>;\n"
    ".reg .b32 %r<16>;\n.reg .pred %p<6>;\n.shared .align 16 .b8 s[256];\n"
    "ld.param.u64 %a0, [out];\nld.param.u32 %r0, [most];\nmov.u32 %r1, %tid.x;\n"
    "mad.wide.u32 %a1, %r1, 4, %a0;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\n"
    "add.s32 %r2, %r2, %r3;\nst.shared.u32 [%r2], %r1;\nmov.u32 %r4, 0;\nmov.u32 %r5, 7;\n"
    "setp.gt.u32 %p3, %r0, 100;\n"
    "@%p3 bra END;\n"
    "LOOP:\nld.shared.u32 %r6, [%r2];\nmad.lo.s32 %r5, %r5, 5, %r6;\nand.b32 %r7, %r1, %r4;\n"
    "setp.eq.u32 %p1, %r7, 0;\nxor.b32 %r7, %r7, 1;\n@%p1 setp.lt.u32 %p2, %r4, 3;\n@!%p1 mov.pred "
    "%p2, %p1;\n"
    "@%p1 bra ODD;\nadd.s32 %r5, %r5, 1000;\nst.shared.u32 [%r2], %r5;\nbra.uni MET;\n"
    "ODD:\n@%p2 sub.s32 %r5, %r5, 3;\nst.shared.u32 [%r2+128], %r5;\n"
    "MET:\nand.b32 %r10, %r5, 8188;\nmul.wide.u32 %a2, %r10, 1;\nadd.s64 %a2, %a2, %a0;\n"
    "st.global.u32 [%a2], %r5;\nst.global.u32 [%a1], %r5;\nadd.s64 %a1, %a1, 128;\nadd.s32 %r4, "
    "%r4, 1;\n"
    "selp.b32 %r8, %r4, %r5, %p1;\nadd.s32 %r9, %r0, %r7;\nsetp.lt.u32 %p4, %r4, %r9;\n"
    "@%p4 bra LOOP;\n"
    "END:\n@%p1 add.s32 %r8, %r8, 100;\nst.global.u32 [%a1], %r5;\nst.global.u32 [%a1+128], "
    "%r8;\nret;\n}\n";

struct outcome {
    uint8_t out[OUT_BYTES];
    uint64_t insns, lanes;
    int rc;
};

static uint64_t open_kernel(struct device *dev, uint32_t threads)
{
    device_open(dev, text, "k");
    uint64_t out = device_alloc(dev, OUT_BYTES);
    device_arg_u64(dev, out);
    device_arg_u32(dev, 6);
    dev->launch.block[0] = threads;
    return out;
}

static void run_row(struct outcome *outcome, uint32_t threads, uint64_t most)
{
    struct device dev;
    uint64_t out = open_kernel(&dev, threads);
    dev.options.max_warp_insns = most;
    outcome->rc = exec_run_launch_with(&dev.launch, &dev.options);
    outcome->insns = dev.options.warp_insns;
    outcome->lanes = dev.options.thread_insns;
    memcpy(outcome->out, device_pointer(out), OUT_BYTES);
    device_close(&dev);
}

/* One after the other; outcome->rc: 0 when the warp has ended. */
static void run_steps(struct outcome *outcome, uint32_t threads, uint64_t most)
{
    struct device dev;
    uint64_t out = open_kernel(&dev, threads);
    static _Alignas(16) uint8_t shared[SHARED_BYTES];
    memset(shared, 0, sizeof shared);
    struct exec_env env = {0};
    struct exec_cta cta = {.shared = shared, .shared_bytes = SHARED_BYTES, .launch = &dev.launch};
    struct exec_warp warp = {0};
    struct exec_access access;
    assert_int_equal(exec_warp_init(&warp, &cta, 0, &env), 0);
    outcome->insns = outcome->lanes = 0;
    while (!warp.done && outcome->insns < most) {
        outcome->insns++;
        outcome->lanes += (uint32_t)__builtin_popcount(warp.active);
        access.done = false;
        if (exec_issue_apart(&warp, &access) == EXEC_ACCESS)
            assert_int_equal(exec_commit(&warp, &access), 0);
    }
    outcome->rc = !warp.done;
    exec_warp_free(&warp);
    memcpy(outcome->out, device_pointer(out), OUT_BYTES);
    device_close(&dev);
}

static void cut_anywhere(uint32_t threads)
{
    static struct outcome whole, row, steps;
    run_steps(&whole, threads, UINT64_MAX);
    assert_true(whole.insns > 150);
    for (uint64_t most = 1; most <= whole.insns + 1; most++) {
        run_row(&row, threads, most);
        run_steps(&steps, threads, most);
        assert_int_equal(row.insns, steps.insns);
        assert_int_equal(row.lanes, steps.lanes);
        assert_memory_equal(row.out, steps.out, OUT_BYTES);
        assert_int_equal(row.rc, most <= whole.insns ? SONDE_EFAULT : SONDE_OK);
    }
}

static void a_row_that_is_cut_anywhere_is_what_its_instructions_are(void **state)
{
    (void)state;
    cut_anywhere(32);
}

static void so_is_one_of_a_warp_that_is_not_full(void **state)
{
    (void)state;
    cut_anywhere(29);
}

/* ---- observers ---- */

#define PCS 128
#define LINES (OUT_BYTES / DIRECT_LINE_BYTES)

/* What an observer has learnt: how often each watched instruction was issued, each line of `out`
 * accessed, and shared memory. */
struct learnt {
    uint64_t heads[PCS], lines[LINES], shared, scattered;
    uint64_t out;
    uint32_t every; /* so many instructions one is watched */
    uint8_t watch[PCS];
    uint32_t straight[PCS], left[PCS];
    struct exec_counts counts;
};

static void *begins(void *ctx, const struct exec_launch *launch, const uint8_t **watch)
{
    struct learnt *l = ctx;
    uint32_t length = exec_program_length(launch->program), next = length;
    assert_in_range(length, 20, PCS);
    for (uint32_t pc = length; pc-- > 0;) {
        l->watch[pc] = pc % l->every == 0;
        l->straight[pc] = next - pc;
        next = l->watch[pc] ? pc : next;
        l->left[pc] = UINT32_MAX;
    }
    *watch = l->watch;
    return l;
}

static const struct exec_counts *counts(void *launch)
{
    struct learnt *l = launch;
    l->counts = (struct exec_counts){l->heads, l->straight, l->left};
    return &l->counts;
}

static void ends(void *launch)
{
    (void)launch;
}

static int cta_begins(void *launch, struct exec_cta *cta, struct exec_warp *const *warps,
                      uint32_t warp_count)
{
    (void)warps, (void)warp_count;
    cta->observed = launch;
    return 0;
}

static void cta_ends(void *launch, struct exec_cta *cta)
{
    (void)launch, (void)cta;
}

static void issues(struct exec_warp *warp, uint32_t mask)
{
    struct learnt *l = warp->cta->observed;
    (void)mask;
    l->heads[warp->pc]++;
}

static void accesses(struct exec_warp *warp, const struct exec_access *access)
{
    struct learnt *l = warp->cta->observed;
    l->shared += access->space == SPACE_SHARED;
    uint64_t before = UINT64_MAX;
    for (uint32_t rest = access->space == SPACE_GLOBAL ? access->mask : 0; rest; rest &= rest - 1) {
        uint64_t line = access->address[lowest_lane(rest)] / DIRECT_LINE_BYTES;
        l->lines[line - l->out / DIRECT_LINE_BYTES] += line != before;
        before = line;
    }
}

static void reaches(struct exec_warp *warp, bool stores, const struct direct_reach *reach)
{
    struct learnt *l = warp->cta->observed;
    assert_true(stores);
    const uint64_t from = l->out / DIRECT_LINE_BYTES;
    uint64_t before = UINT64_MAX;
    for (uint32_t i = 0; i < reach->spans; i++) {
        const struct direct_span *span = &reach->span[i];
        uint64_t last = (span->first + span->bytes - 1) / DIRECT_LINE_BYTES;
        for (uint64_t line = span->first / DIRECT_LINE_BYTES; line <= last; line++) {
            l->lines[line - from] += line != before;
            before = line;
        }
    }
    l->scattered += reach->spans == 0;
    for (uint32_t i = 0; i < (reach->spans ? 0 : reach->lines); i++)
        l->lines[reach->line[i] - from]++;
}

static void released(struct exec_warp *warp, uint64_t warps, bool by_exit)
{
    (void)warp, (void)warps, (void)by_exit;
}

static void learn(struct learnt *l, uint32_t threads, uint64_t most, uint32_t every, bool by_counts)
{
    struct device dev;
    const struct exec_observer observer = {.ctx = l,
                                           .begins = begins,
                                           .ends = ends,
                                           .counts = by_counts ? counts : NULL,
                                           .cta_begins = cta_begins,
                                           .cta_ends = cta_ends,
                                           .issues = by_counts ? NULL : issues,
                                           .accesses = accesses,
                                           .reaches = reaches,
                                           .released = released};
    memset(l, 0, sizeof *l);
    l->every = every;
    l->out = open_kernel(&dev, threads);
    dev.options.max_warp_insns = most;
    dev.launch.observer = &observer;
    (void)exec_run_launch_with(&dev.launch, &dev.options);
    for (uint32_t pc = 0; by_counts && pc < exec_program_length(dev.launch.program); pc++)
        l->shared += UINT32_MAX - l->left[pc];
    device_close(&dev);
}

static void one_that_counts_learns_what_one_that_is_told_does(void **state)
{
    static struct learnt told, counted;
    const uint32_t threads[] = {32, 29, 32}, every[] = {3, 3, 1};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (uint64_t most = 1; most <= 180; most++) {
            learn(&told, threads[i], most, every[i], false);
            learn(&counted, threads[i], most, every[i], true);
            assert_memory_equal(told.heads, counted.heads, sizeof told.heads);
            assert_memory_equal(told.lines, counted.lines, sizeof told.lines);
            assert_int_equal(told.shared, counted.shared);
        }
    assert_true(told.shared > 20 && counted.scattered > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_is_cut_anywhere_is_what_its_instructions_are),
        cmocka_unit_test(so_is_one_of_a_warp_that_is_not_full),
        cmocka_unit_test(one_that_counts_learns_what_one_that_is_told_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
