/*
 * Programs that call the driver, or reach device memory when they issue, on several host threads:
 * what they print and store, and all that is counted, is the same on any number of them. Where
 * nothing is full, SMs that stand still before such an instruction lose no time by it.
 */
#include "support/rt_bench.h"

#include <stdio.h>

#include "core/profile.h"
#include "gpu/gpu.h"

#define BUFFER_BYTES (1u << 20)
#define TEXT_BYTES (1u << 18)
#define LINES 128 /* instructions of a program that is profiled */

/* d0: the buffer; r0: the thread in its block, r1: the block, r2: the thread in the grid; d1: the
 * buffer at word r2; r3: shared memory. `never` is not come to. */
#define KERNEL(name, body, never)                                                                  \
    ".visible .entry " name "(.param .u64 out)\n{\n.reg .b64 %d<16>;\n.reg .b32 %r<24>;\n"         \
    ".reg .pred %p<8>;\n.local .align 8 .b8 list[16];\n.shared .align 128 .b8 s[8192];\n"          \
    ".shared .align 8 .b64 bar;\nld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\n"                 \
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmad.lo.u32 %r2, %r1, %r2, %r0;\n"              \
    "mul.wide.u32 %d1, %r2, 4;\nadd.u64 %d1, %d1, %d0;\nmov.u32 %r3, s;\n" body                    \
    "\nsetp.ne.u32 %p7, %r0, %r0;\n@!%p7 bra END;\n" never "\nEND:\nret;\n}\n"
#define PRINT                                                                                      \
    "{ .param .b64 f; .param .b64 a; .param .b32 n;\nst.param.b64 [f+0], %d4;\n"                   \
    "st.param.b64 [a+0], %d5;\ncall.uni (n), vprintf, (f, a);\nld.param.b32 %r9, [n+0]; }\n"
#define LIST                                                                                       \
    "mov.u64 %d4, format; cvta.global.u64 %d4, %d4;\nmov.u64 %d5, list; cvta.local.u64 %d5, "      \
    "%d5;\n"
#define TAKE                                                                                       \
    "{ .param .b64 b; .param .b64 a;\nst.param.b64 [b+0], %d6;\ncall.uni (a), malloc, (b);\n"      \
    "ld.param.b64 %d7, [a+0]; }\n"
#define GIVE "{ .param .b64 a;\nst.param.b64 [a+0], %d7;\ncall.uni free, (a); }\n"
/* With it a launch runs in one piece. */
#define ASK                                                                                        \
    "{ .param .b32 e;\ncall.uni (e), __cudaCDP2GetLastError, ();\nld.param.b32 %r9, [e+0]; }\n"
#define LATER "mov.u32 %r9, 0;\n"

/* Lanes in a different order in each warp, behind loads that miss; what it prints it reads first.
 */
#define PRINTS                                                                                     \
    LIST "mul.lo.u32 %r4, %r2, 40503; and.b32 %r4, %r4, 0x1fffc;\ncvt.u64.u32 %d2, %r4;\n"         \
         "add.u64 %d2, %d2, %d0;\nmov.u32 %r6, 0;\nAGAIN:\nld.global.u32 %r5, [%d2+131072];\n"     \
         "st.global.u32 [%d1+524288], %r5;\nld.global.u32 %r5, [%d1+524288];\n"                    \
         "st.local.u32 [list], %r2;\nst.local.u32 [list+4], %r5;\nand.b32 %r7, %r5, 7;\n"          \
         "setp.eq.u32 %p1, %r7, %r6;\n@!%p1 bra SKIP;\n" PRINT "SKIP:\nadd.u32 %r6, %r6, 3;\n"     \
         "setp.lt.u32 %p1, %r6, 9;\n@%p1 bra AGAIN;\nst.global.u32 [%d1], %r9;\n"
#define TAKES                                                                                      \
    "and.b32 %r4, %r2, 7; mad.lo.u32 %r4, %r4, 16, 8; cvt.u64.u32 %d6, %r4;\nmov.u32 %r6, 0;\n"    \
    "AGAIN:\n" TAKE "setp.eq.u64 %p1, %d7, 0;\n@%p1 bra NONE;\nst.u32 [%d7], %r2;\n"               \
    "ld.u32 %r5, [%d7];\nsub.u64 %d8, %d7, %d0;\ncvt.u32.u64 %r7, %d8;\nxor.b32 %r5, %r5, %r7;\n"  \
    "st.global.u32 [%d1], %r5;\nadd.u64 %d1, %d1, 65536;\nand.b32 %r8, %r2, 3;\n"                  \
    "setp.eq.u32 %p2, %r8, %r6;\n@!%p2 bra NONE;\n" GIVE "NONE:\nadd.u32 %r6, %r6, 1;\n"           \
    "setp.lt.u32 %p1, %r6, 3;\n@%p1 bra AGAIN;\n"
/* Each reads what it has just stored, and what others store at the same time. */
#define COPIES                                                                                     \
    "mul.wide.u32 %d2, %r2, 16; add.u64 %d2, %d2, %d0;\nshl.b32 %r4, %r0, 5; add.u32 %r4, %r4, "   \
    "%r3;\nst.global.v4.u32 [%d2+262144], {%r0, %r1, %r2, %r3};\n"                                 \
    "cp.async.ca.shared.global [%r4], [%d2+262144], 16;\n"                                         \
    "xor.b32 %r5, %r2, 1024; mul.wide.u32 %d3, %r5, 16; add.u64 %d3, %d3, %d0;\n"                  \
    "cp.async.ca.shared.global [%r4+16], [%d3+262144], 16;\ncp.async.wait_all;\n"                  \
    "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];\nmad.lo.u32 %r5, %r5, 5, %r6;\n"                \
    "mad.lo.u32 %r5, %r5, 7, %r7;\nld.shared.u32 %r6, [%r4+24];\n"                                 \
    "st.global.u32 [%d1+786432], %r5;\nst.global.u32 [%d1+851968], %r6;\n"

/* Blocks begin apart from each other, by less than what they take. */
#define STAGGERED                                                                                  \
    "mul.lo.u32 %r10, %r1, 7;\nSPIN:\nsub.u32 %r10, %r10, 1;\nsetp.gt.s32 %p1, %r10, 0;\n"         \
    "@%p1 bra SPIN;\n"

/* Blocks print, and the first one faults, the later the more threads they have. */
#define FAULTS                                                                                     \
    LIST "mov.u32 %r11, %ntid.x;\nsetp.eq.u32 %p0, %r1, 0;\nselp.u32 %r10, %r11, %r1, "            \
         "%p0;\nSPIN:\n"                                                                           \
         "sub.u32 %r10, %r10, 1;\nsetp.gt.s32 %p1, %r10, 0;\n@%p1 bra SPIN;\n@%p0 trap;\n"         \
         "st.local.u32 [list], %r1;\nst.local.u32 [list+4], %r1;\n" PRINT

static const char driver_text[] =
    ".version 8.6\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 b);\n"
    ".extern .func free (.param .b64 a);\n"
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError ();\n"
    ".global .align 1 .b8 format[7] = {37, 100, 32, 37, 100, 10, 0};\n" KERNEL(
        "prints", PRINTS, LATER) KERNEL("takes", TAKES, LATER) KERNEL("copies", COPIES, LATER)
        KERNEL("prints_apart", STAGGERED PRINTS, LATER)
            KERNEL("prints_whole", STAGGERED PRINTS, ASK)
                KERNEL("takes_apart", STAGGERED TAKES, LATER)
                    KERNEL("takes_whole", STAGGERED TAKES, ASK)
                        KERNEL("faults_apart", FAULTS, LATER) KERNEL("faults_whole", FAULTS, ASK);

/* 512 bytes of the block: stored, brought back, written elsewhere, and added up by all. Meanwhile
 * the other warps look at what the neighbour writes. */
#define BULK                                                                                       \
    "xor.b32 %r6, %r1, 1; mul.wide.u32 %d4, %r6, 512; add.u64 %d4, %d4, %d0;\n"                    \
    "setp.eq.u32 %p0, %r0, 0;\nmov.u32 %r4, bar;\n@%p0 mbarrier.init.shared.b64 [%r4], 1;\n"       \
    "mul.wide.u32 %d2, %r1, 512; add.u64 %d2, %d2, %d0;\nmul.wide.u32 %d3, %r0, 4;\n"              \
    "add.u64 %d3, %d3, %d2;\nmad.lo.u32 %r5, %r2, 3, 1;\nst.global.u32 [%d3+65536], %r5;\n"        \
    "fence.proxy.async;\nbar.sync 0;\n@!%p0 bra WAIT;\n"                                           \
    "mbarrier.arrive.expect_tx.shared.b64 %d5, [%r4], 1024;\n"                                     \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d2+65536], 512, "  \
    "[%r4];\n"                                                                                     \
    "add.u32 %r7, %r3, 512;\n"                                                                     \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%d4+65536], 512, "  \
    "[%r4];\nWAIT:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r4], 0;\n@!%p1 bra WAIT;\n"         \
    "fence.proxy.async;\nbar.sync 0;\n"                                                            \
    "setp.ge.u32 %p3, %r0, 32;\n@%p3 bra LOOK;\n@!%p0 bra DONE;\n"                                 \
    "mad.lo.u32 %r10, %r1, 5, 250;\nSPIN:\nsub.u32 %r10, %r10, 1;\n"                               \
    "setp.gt.s32 %p2, %r10, 0;\n@%p2 bra SPIN;\n"                                                  \
    "cp.async.bulk.global.shared::cta.bulk_group [%d2+131072], [%r3], 512;\n"                      \
    "cp.async.bulk.global.shared::cta.bulk_group [%d2+262144], [%r7], 512;\n"                      \
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [%r3], 512;\n"              \
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nbra DONE;\n"                        \
    "LOOK:\nmov.u32 %r9, 0; mov.u32 %r10, 0;\nAGAIN:\nmul.wide.u32 %d6, %r10, 8; add.u64 %d6, "    \
    "%d6, %d4;\n"                                                                                  \
    "ld.global.cg.u32 %r8, [%d6+131072];\nadd.u32 %r9, %r9, %r8;\nadd.u32 %r10, %r10, 1;\n"        \
    "setp.lt.u32 %p2, %r10, 60;\n@%p2 bra AGAIN;\nst.global.u32 [%d1+655360], %r9;\n"              \
    "DONE:\nbar.sync 0;\n"                                                                         \
    "ld.global.cg.u32 %r8, [%d3+131072];\nst.global.u32 [%d3+524288], %r8;\n"

static const char bulk_text[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n" KERNEL("bulk", BULK, LATER);

struct program {
    const char *text, *kernel;
    uint32_t ctas, threads;
    bool faults, profiled;
};

struct outcome {
    struct gpu_stats stats;
    uint64_t cycles;
    size_t printed;
    char text[TEXT_BYTES];
    uint32_t memory[BUFFER_BYTES / 4];
    struct profile_line lines[LINES]; /* where the program is profiled */
    uint64_t resident;
};

static struct outcome first, other;

static void note_text(void *ctx, const char *text, size_t bytes)
{
    struct outcome *out = ctx;
    assert_true(bytes <= TEXT_BYTES - out->printed);
    memcpy(out->text + out->printed, text, bytes);
    out->printed += bytes;
}

static void take_profile(struct outcome *out, struct gpu *gpu, const struct rt_kernel *kernel)
{
    const struct exec_program *program = rt_kernel_program(kernel);
    assert_true(exec_program_length(program) <= LINES);
    gpu_profile_take(gpu, program, out->lines, &out->resident);
}

static void run(struct outcome *out, const char *yaml, const struct program *program,
                uint32_t threads)
{
    struct rt_bench bench;
    struct rt_kernel *kernel;
    memset(out, 0, sizeof *out);
    rt_bench_open(&bench, yaml, program->text, BUFFER_BYTES);
    rt_set_print(bench.rt, note_text, out);
    assert_int_equal(rt_set_threads(bench.rt, threads), 0);
    assert_int_equal(rt_set_limit(bench.rt, RT_LIMIT_MALLOC_HEAP, 1u << 18), 0);
    const void *args[] = {&bench.out};
    struct rt_launch request = {.grid = {program->ctas, 1, 1},
                                .block = {program->threads, 1, 1},
                                .args = args,
                                .arg_count = 1};
    assert_int_equal(rt_kernel_get(bench.module, &kernel, program->kernel), 0);
    assert_int_equal(program->profiled ? gpu_profile_enable(rt_gpu(bench.rt)) : 0, 0);
    int rc = rt_launch(bench.rt, kernel, &request, &out->cycles);
    if ((rc < 0) != program->faults)
        fail_msg("%s: %s", program->kernel, rc < 0 ? error_text() : "no fault");
    gpu_stats(rt_gpu(bench.rt), &out->stats);
    if (program->profiled)
        take_profile(out, rt_gpu(bench.rt), kernel);
    if (!program->faults)
        assert_int_equal(rt_copy_from_device(bench.rt, out->memory, bench.out, BUFFER_BYTES), 0);
    rt_bench_close(&bench);
}

static void same_on_any_number_of_threads(const char *yaml, const struct program *program)
{
    static const uint32_t threads[] = {2, 3, 4};
    run(&first, yaml, program, 1);
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        run(&other, yaml, program, threads[t]);
        if (first.printed != other.printed || memcmp(first.text, other.text, first.printed) != 0)
            fail_msg("%s, %s: %u threads print something else", yaml, program->kernel, threads[t]);
        if (memcmp(&first, &other, sizeof first) != 0)
            fail_msg("%s, %s: differs on %u threads: %llu cycles, not %llu", yaml, program->kernel,
                     threads[t], (unsigned long long)other.cycles,
                     (unsigned long long)first.cycles);
    }
}

/* The thread sanitizer has no room for the memory of the large ones. */
#define SMALL "vm: {memory: 1 GiB}\n"
#define H200 "inherits: h200\n" SMALL
static const char *const models[] = {"inherits: gtx780\n", H200, "inherits: gtx560ti\n"};
#ifdef __SANITIZE_THREAD__ /* twenty times as slow */
enum { MODELS = 1 };
#else
enum { MODELS = 3 };
#endif

static void output_is_that_of_one_thread(void **state)
{
    (void)state;
    static const struct program program = {driver_text, "prints", 40, 96, false, false};
    for (int m = 0; m < MODELS; m++) {
        same_on_any_number_of_threads(models[m], &program);
        size_t lines = 0;
        for (size_t i = 0; i < first.printed; i++)
            lines += first.text[i] == '\n';
        assert_int_equal(lines, 40 * 96 * 3 / 8);
    }
}

static void allocations_are_those_of_one_thread(void **state)
{
    (void)state;
    static const struct program program = {driver_text, "takes", 36, 64, false, false};
    for (int m = 0; m < MODELS; m++)
        same_on_any_number_of_threads(models[m], &program);
}

static void copies_are_those_of_one_thread(void **state)
{
    (void)state;
    static const struct program program = {driver_text, "copies", 64, 128, false, false};
    static const char *const timed[] = {H200, "inherits: a100\n" SMALL};
    for (int m = 0; m < 2; m++) {
        same_on_any_number_of_threads(timed[m], &program);
        for (uint32_t i = 0; i < 64 * 128; i++)
            assert_int_equal(first.memory[196608 + i], (i % 128 * 5 + i / 128) * 7 + i);
    }
}

static void bulk_copies_are_those_of_one_thread(void **state)
{
    (void)state;
    static const struct program program = {bulk_text, "bulk", 48, 128, false, false};
    same_on_any_number_of_threads(H200, &program);
    for (uint32_t i = 0; i < 48 * 128; i++) {
        assert_int_equal(first.memory[32768 + i], 3 * i + 1);
        assert_int_equal(first.memory[131072 + i], 3 * i + 1);
    }
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(first.memory[i], i + 3 * (48 * i + 128 * (47 * 48 / 2)) + 48);
}

static uint64_t stalled(const struct outcome *out, int reason)
{
    uint64_t cycles = 0;
    for (uint32_t line = 0; line < LINES; line++)
        cycles += out->lines[line].stall[reason];
    return cycles;
}

/* In each cycle a resident warp does one thing. */
static void profile_is_that_of_one_thread(void **state)
{
    (void)state;
    static const struct program programs[] = {{driver_text, "prints", 40, 96, false, true},
                                              {driver_text, "takes", 36, 64, false, true}};
    for (int i = 0; i < 2; i++) {
        same_on_any_number_of_threads(models[0], &programs[i]);
        uint64_t cycles = 0;
        for (int reason = 0; reason < STALL_COUNT; reason++)
            cycles += stalled(&first, reason);
        assert_true(first.resident > 0);
        assert_int_equal(cycles, first.resident);
    }
}

/* A CTA an SM, and few, so that no two SMs ask for the same at the same time. Its warps have waited
 * for nothing else, either, where it was stopped in the middle of a cycle. */
static void who_stands_still_loses_no_time(void **state)
{
    (void)state;
    static const struct program parted[] = {{driver_text, "prints_apart", 8, 128, false, true},
                                            {driver_text, "takes_apart", 12, 32, false, true}},
                                whole[] = {{driver_text, "prints_whole", 8, 128, false, true},
                                           {driver_text, "takes_whole", 12, 32, false, true}};
    for (int i = 0; i < 2; i++) {
        run(&first, models[0], &parted[i], 2);
        run(&other, models[0], &whole[i], 2);
        assert_int_equal(first.cycles, other.cycles);
        assert_int_equal(first.printed, other.printed);
        assert_memory_equal(first.text, other.text, first.printed);
        assert_memory_equal(first.memory, other.memory, sizeof first.memory);
        for (int reason = 0; reason < STALL_COUNT; reason++)
            assert_int_equal(stalled(&first, reason), stalled(&other, reason));
    }
}

/* What is printed ends with the fault, in one piece and apart. */
static void nobody_takes_a_turn_behind_a_fault(void **state)
{
    (void)state;
    uint32_t before = 0, behind = 0; /* launches whose fault came so to what they print */
    for (uint32_t threads = 8; threads <= 32; threads++) {
        const struct program apart = {driver_text, "faults_apart", 8, threads, true, false},
                             whole = {driver_text, "faults_whole", 8, threads, true, false};
        run(&first, models[0], &apart, 1);
        run(&other, models[0], &whole, 1);
        assert_int_equal(first.printed, other.printed);
        assert_memory_equal(first.text, other.text, first.printed);
        before += first.printed == 0;
        behind += first.printed > 0;
    }
    assert_true(before > 0 && behind > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_that_of_one_thread),
        cmocka_unit_test(allocations_are_those_of_one_thread),
        cmocka_unit_test(copies_are_those_of_one_thread),
        cmocka_unit_test(bulk_copies_are_those_of_one_thread),
        cmocka_unit_test(profile_is_that_of_one_thread),
        cmocka_unit_test(who_stands_still_loses_no_time),
        cmocka_unit_test(nobody_takes_a_turn_behind_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
