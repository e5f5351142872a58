/*
 * Launches without timing on several host threads: which programs may, and that nothing shows
 * which thread ran what: memory, counts, and the error of the CTA that one thread would have told.
 */
#include "support/buffer_texture.h"
#include "support/exec_device.h"

#include "exec/program.h"
#include "exec/run/run.h"
#include "util/team.h"

#define CTAS 600u
#define THREADS_MAX 4u

static void open_body(struct device *dev, const char *body)
{
    char text[4096];
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 p) {\n"
                      ".reg .u64 %%a, %%q, %%old;\n.reg .u32 %%r, %%s, %%i, %%n, %%u;\n"
                      ".reg .f32 %%f;\n.reg .pred %%g;\n.reg .b32 %%h<4>;\n"
                      ".shared .align 16 .b8 m[64];\n"
                      "ld.param.u64 %%a, [p];\n%s\nret;\n}\n",
             body);
    device_open(dev, text, "k");
    dev->options.max_warp_insns = 0;
}

#define FRAGMENT_IN(from)                                                                          \
    "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%h0, %h1, %h2, %h3}, [" from "];\n"
#define FRAGMENT_OUT(to)                                                                           \
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [" to "], {%h0, %h1, %h2, %h3};\n"
#define BULK_IN(from)                                                                              \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [m], [" from                \
    "], 32, [m+48];\n"
#define BULK_OUT(to) "cp.async.bulk.global.shared::cta.bulk_group [" to "], [m], 16;\n"

static bool apart(const char *body)
{
    struct device dev;
    open_body(&dev, body);
    bool is = exec_program_ctas_are_apart(dev.program);
    device_close(&dev);
    return is;
}

static void ctas_are_apart_that_have_no_order_to_tell_of(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "ld.global.u32 %r, [%a];\nst.global.u32 [%a], %r;",
        "bar.sync 0;",
        "membar.cta;",
        "fence.acq_rel.cta;",
        "atom.shared.add.u32 %r, [m], 1;\nst.global.u32 [%a], %r;",
        "atom.shared.add.f32 %f, [m], 1.0;",
        "ld.volatile.shared.u32 %r, [m];\nst.global.u32 [%a], %r;",
        "mov.u32 %r, %warpid;\nst.global.u32 [%a], %r;",
        "nanosleep.u32 5;",
        FRAGMENT_IN("%a"),
        FRAGMENT_OUT("%a"),
        "cp.async.ca.shared.global [m], [%a], 8;",
        BULK_IN("%a"),
        BULK_OUT("%a"),
        "tex.1d.v4.u32.s32 {%r, %s, %i, %n}, [%a, {%u}];",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        if (!apart(bodies[i]))
            fail_msg("are together: %s", bodies[i]);
}

static void ctas_are_together_that_ask_about_each_other(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "atom.global.add.u32 %r, [%a], 1;\nst.global.u32 [%a+8], %r;",
        "atom.add.u32 %r, [%a], 1;\nst.global.u32 [%a+8], %r;",
        "red.global.add.u32 [%a], 1;",
        "red.or.b32 [%a], 1;",
        "red.global.add.f32 [%a], 1.0;",
        "red.global.inc.u32 [%a], 5;",
        "atom.global.exch.b32 %r, [%a], 1;",
        "atom.global.cas.b32 %r, [%a], 1, 2;",
        "ld.volatile.global.u32 %r, [%a];\nst.global.u32 [%a+8], %r;",
        "ld.volatile.u32 %r, [%a];\nst.global.u32 [%a+8], %r;",
        "ld.relaxed.gpu.global.u32 %r, [%a];\nst.global.u32 [%a+8], %r;",
        "st.release.gpu.global.u32 [%a], 1;",
        "ld.global.cv.u32 %r, [%a];\nst.global.u32 [%a+8], %r;",
        "membar.gl;",
        "fence.sc.gpu;",
        "mov.u32 %r, %clock;\nst.global.u32 [%a], %r;",
        "mov.u64 %q, %globaltimer;\nst.global.u64 [%a], %q;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a], [m], 16;",
        "mbarrier.arrive.b64 %q, [%a];",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        if (apart(bodies[i]))
            fail_msg("are apart: %s", bodies[i]);
}

/* %i: the thread's number of all; %n: the CTA's. */
#define NUMBERS                                                                                    \
    "mov.u32 %n, %ctaid.x;\nmov.u32 %r, %ntid.x;\nmov.u32 %s, %tid.x;\nmad.lo.u32 %i, %n, %r, "    \
    "%s;\n"
/* As often round as the CTA's number says, up to 64 times. */
#define UNEVEN_LOOP                                                                                \
    "and.b32 %s, %n, 63;\nmov.u32 %r, %i;\nagain:\nmad.lo.u32 %r, %r, 1664525, 1013904223;\n"      \
    "sub.u32 %s, %s, 1;\nsetp.gt.s32 %g, %s, 0;\n@%g bra again;\n"

struct outcome {
    int rc;
    uint64_t warp_insns, thread_insns;
    bool shared;
    uint32_t word[CTAS * 64 + 2];
    char error[ERROR_TEXT_MAX];
};

/* On so many threads, a slice at a time. */
static void run_on(struct outcome *out, struct device *dev, uint64_t words, uint32_t threads,
                   uint64_t slice)
{
    struct team *team = NULL;
    struct exec_run *run;
    memset(out, 0, sizeof *out);
    memset(device_pointer(words), 0, sizeof out->word);
    if (threads > 1)
        assert_int_equal(team_create(&team, threads), SONDE_OK);
    dev->launch.grid[0] = CTAS;
    dev->launch.block[0] = 64;
    dev->options.team = team;
    dev->options.warp_insns = dev->options.thread_insns = 0;
    dev->options.stopped = false;
    assert_int_equal(exec_run_begin(&run, &dev->launch, &dev->options), SONDE_OK);
    while ((out->rc = exec_run_some(run, slice)) == EXEC_RUN_MORE) {
    }
    snprintf(out->error, sizeof out->error, "%s", out->rc < 0 ? error_text() : "");
    out->shared = run->shares != NULL;
    exec_run_end(run);
    team_destroy(team);
    out->warp_insns = dev->options.warp_insns;
    out->thread_insns = dev->options.thread_insns;
    memcpy(out->word, device_pointer(words), sizeof out->word);
}

static uint64_t open_with_words(struct device *dev, const char *body)
{
    open_body(dev, body);
    uint64_t words = device_alloc(dev, sizeof((struct outcome *)0)->word);
    device_arg_u64(dev, words);
    return words;
}

enum expected { ALONE, SHARED, EITHER };

static void same_on_all(struct device *dev, uint64_t words, enum expected expected)
{
    static struct outcome alone, beside;
    run_on(&alone, dev, words, 1, UINT64_MAX);
    assert_int_equal(alone.rc, SONDE_OK);
    assert_false(alone.shared);
    for (uint32_t threads = 2; threads <= THREADS_MAX; threads++) {
        run_on(&beside, dev, words, threads, threads == 3 ? 10000 : UINT64_MAX);
        assert_int_equal(beside.rc, SONDE_OK);
        if (expected != EITHER)
            assert_int_equal(beside.shared, expected == SHARED);
        assert_int_equal(beside.warp_insns, alone.warp_insns);
        assert_int_equal(beside.thread_insns, alone.thread_insns);
        assert_memory_equal(beside.word, alone.word, sizeof alone.word);
    }
}

static void check(const char *body, enum expected expected)
{
    struct device dev;
    uint64_t words = open_with_words(&dev, body);
    same_on_all(&dev, words, expected);
    device_close(&dev);
}

static void memory_and_counts_are_those_of_one_thread(void **state)
{
    (void)state;
    check(NUMBERS UNEVEN_LOOP "mad.wide.u32 %q, %i, 4, %a;\nst.global.u32 [%q], %r;", SHARED);
}

/* Warps of a CTA meet at barriers, and what they leave in shared memory shows their turns. */
static void turns_of_a_ctas_warps_are_those_of_one_thread(void **state)
{
    (void)state;
    check(NUMBERS UNEVEN_LOOP "st.shared.u32 [m], %i;\natom.shared.exch.b32 %s, [m+4], %i;\n"
                              "bar.sync 0;\nld.shared.u32 %n, [m];\nadd.u32 %r, %r, %n;\n"
                              "xor.b32 %r, %r, %s;\n"
                              "mad.wide.u32 %q, %i, 4, %a;\nst.global.u32 [%q], %r;",
          SHARED);
}

/* Each CTA doubles words of its own: it reads what it writes, as other CTAs might. */
static void a_launch_that_reads_what_it_writes_runs_again_alone(void **state)
{
    (void)state;
    struct device dev;
    uint64_t words = open_with_words(&dev, NUMBERS UNEVEN_LOOP
                                     "mad.wide.u32 %q, %i, 4, %a;\nst.global.u32 [%q], %r;\n"
                                     "ld.global.u32 %s, [%q];\nadd.u32 %s, %s, %s;\n"
                                     "st.global.u32 [%q], %s;");
    same_on_all(&dev, words, ALONE);
    assert_true(atomic_load(dev.program->was_refused));
    device_close(&dev);
}

/* The same in an allocation that the CTAs read through one pointer and write through another. */
static void a_launch_whose_ctas_read_from_others_runs_again_alone(void **state)
{
    (void)state;
    check(NUMBERS UNEVEN_LOOP "sub.u32 %s, %i, 64;\nmax.s32 %s, %s, 0;\n"
                              "mad.wide.u32 %q, %s, 4, %a;\nld.global.u32 %u, [%q];\n"
                              "add.u32 %r, %r, %u;\nand.b32 %s, %i, 0xfffffffe;\n"
                              "mad.wide.u32 %q, %s, 4, %a;\nst.global.u32 [%q+4], %r;",
          ALONE);
}

/* Threads store at odd places, whose numbers they store in a second allocation and read back. A
 * load that is refused leaves an even one in the register. */
static void nothing_is_stored_where_a_refused_load_would_have_told(void **state)
{
    (void)state;
    struct device dev;
    uint64_t words = open_with_words(&dev, NUMBERS UNEVEN_LOOP
                                     "mov.u32 %n, 1;\nor.b32 %s, %i, 1;\n"
                                     "mad.wide.u32 %q, %i, 4, %a;\nadd.u64 %q, %q, 159744;\n"
                                     "st.global.u32 [%q], %s;\nand.b32 %s, %i, 0xfffffffe;\n"
                                     "ld.global.u32 %s, [%q];\n"
                                     "mad.wide.u32 %q, %s, 4, %a;\nst.global.u32 [%q], %n;");
    assert_int_equal(device_alloc(&dev, CTAS * 64 * 4), words + 159744);
    same_on_all(&dev, words, ALONE);
    device_close(&dev);
}

/* Allocations in front of the others, between two slices. */
static void allocations_may_come_while_a_launch_is_shared_out(void **state)
{
    (void)state;
    static struct outcome alone;
    struct team *team;
    struct exec_run *run;
    struct device dev;
    uint64_t words = open_with_words(&dev, NUMBERS UNEVEN_LOOP
                                     "mad.wide.u32 %q, %i, 4, %a;\nst.global.u32 [%q], %r;");
    run_on(&alone, &dev, words, 1, UINT64_MAX);
    memset(device_pointer(words), 0, sizeof alone.word);
    assert_int_equal(team_create(&team, 2), SONDE_OK);
    dev.options.team = team;
    dev.options.warp_insns = dev.options.thread_insns = 0;
    assert_int_equal(exec_run_begin(&run, &dev.launch, &dev.options), SONDE_OK);
    assert_int_equal(exec_run_some(run, 10000), EXEC_RUN_MORE);
    assert_non_null(run->shares);
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(exec_memory_map(dev.memory, exec_memory_base(dev.memory) + i * 4096, 4096),
                         SONDE_OK);
    assert_int_equal(exec_run_some(run, UINT64_MAX), SONDE_OK);
    assert_null(run->shares); /* the marks are of the allocations before */
    assert_int_equal(dev.options.warp_insns, alone.warp_insns);
    assert_memory_equal(device_pointer(words), alone.word, sizeof alone.word);
    exec_run_end(run);
    team_destroy(team);
    device_close(&dev);
}

#ifndef __SANITIZE_THREAD__ /* which finds this program's race */
/* All store to the first word. One thread leaves the last CTA's. On a busy host one of them may do
 * it all. */
static void a_launch_that_writes_one_place_twice_runs_again_alone(void **state)
{
    (void)state;
    check(NUMBERS UNEVEN_LOOP "mad.wide.u32 %q, %i, 4, %a;\n"
                              "st.global.u32 [%q+4], %r;\nst.global.u32 [%a], %n;",
          EITHER);
}
#endif

/* Neighbours, the borders of CTAs within a byte of each other's words; vectors; bytes. */
static void stores_beside_each_other_do_not_meet(void **state)
{
    (void)state;
    static const char *const stores[] = {
        "mad.wide.u32 %q, %i, 4, %a;\nst.global.u32 [%q], %r;",
        "mad.wide.u32 %q, %i, 4, %a;\nst.u32 [%q], %r;",
        "and.b32 %s, %i, 31;\nsetp.lt.u32 %g, %s, 9;\nmad.wide.u32 %q, %i, 4, %a;\n"
        "@%g st.global.u32 [%q], %r;",
        "shr.u32 %s, %i, 1;\nmad.wide.u32 %q, %s, 8, %a;\nst.global.v2.u32 [%q], {%r, %r};",
        "cvt.u64.u32 %q, %i;\nadd.u64 %q, %q, %a;\nst.global.u8 [%q], %r;",
        "setp.eq.u32 %g, %i, 77;\n@%g st.global.u32 [%a], %r;",
    };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        char body[2048];
        snprintf(body, sizeof body, "%s%s", NUMBERS UNEVEN_LOOP, stores[i]);
        check(body, SHARED);
    }
}

/* %old: where a CTA writes 64 words; %q: what it reads, which nobody writes, or that. The texture's
 * texels are all that may be read. */
static void check_moves(const char *moves, bool reads_what_is_written)
{
    struct device dev;
    char body[3000];
    snprintf(body, sizeof body, "%s%s%d;\n%s", NUMBERS UNEVEN_LOOP,
             "mad.wide.u32 %old, %n, 256, %a;\nadd.u64 %q, %old, ",
             reads_what_is_written ? 0 : 159744, moves);
    uint64_t words = open_with_words(&dev, body), read = device_alloc(&dev, CTAS * 256 + 1024);
    assert_int_equal(read, words + 159744);
    for (uint32_t i = 0; i < CTAS * 64; i++)
        ((uint32_t *)device_pointer(read))[i] = i * 2654435761u;
    struct buffer_texture texture;
    buffer_texture_make(&texture, reads_what_is_written ? words : read, CTAS * 256);
    dev.launch.textures = &texture.texture;
    dev.launch.texture_count = 1;
    same_on_all(&dev, words, reads_what_is_written ? ALONE : SHARED);
    assert_int_equal(*(uint32_t *)device_pointer(words + 64 * 300 * 4 + 4) != 0,
                     !reads_what_is_written);
    device_close(&dev);
}

/* The first warp of every other CTA moves what is two CTAs'. */
#define FRAGMENTS                                                                                  \
    "mov.u32 %s, %tid.x;\nsetp.ge.u32 %g, %s, 32;\n@%g bra end;\nand.b32 %s, %n, 1;\n"             \
    "setp.ne.u32 %g, %s, 0;\n@%g bra end;\n" FRAGMENT_IN("%q") FRAGMENT_OUT("%old") "end:\n"
#define COPIES                                                                                     \
    "mov.u32 %s, %tid.x;\nsetp.lt.u32 %g, %s, 4;\nmad.wide.u32 %a, %s, 8, %q;\nmov.u32 %i, m;\n"   \
    "mad.lo.u32 %u, %s, 8, %i;\n@%g cp.async.ca.shared.global [%u], [%a], 8;\n"                    \
    "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r, [m+12];\n"                                 \
    "mad.wide.u32 %a, %s, 4, %old;\nst.global.u32 [%a], %r;"
#define BULK                                                                                       \
    "mov.u32 %s, %tid.x;\nsetp.ne.u32 %g, %s, 0;\n@!%g mbarrier.init.shared.b64 [m+48], 1;\n"      \
    "bar.sync 0;\n@%g bra wait;\nmbarrier.arrive.expect_tx.shared.b64 %a, [m+48], 32;\n" BULK_IN(  \
        "%q") "wait:\nmbarrier.try_wait.parity.shared.b64 %g, [m+48], 0;\n@!%g bra wait;\n"        \
              "bar.sync 0;\nld.shared.u32 %r, [m+20];\nsetp.ne.u32 %g, %s, 0;\n@%g bra "           \
              "rest;\n" BULK_OUT(                                                                  \
                  "%old") "rest:\nmad.wide.u32 %a, %s, 4, %old;\nsetp.ge.u32 %g, %s, 4;\n"         \
                          "@%g st.global.u32 [%a], %r;"

#define TEXELS                                                                                     \
    "mov.u64 %q, 0x00fe00000000;\ntex.1d.v4.u32.s32 {%r, %h1, %h2, %h3}, [%q, {%i}];\n"            \
    "mad.wide.u32 %a, %i, 4, %a;\nst.global.u32 [%a], %r;"

static void what_is_no_plain_access_is_watched(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        check_moves(FRAGMENTS, i > 0);
        check_moves(COPIES, i > 0);
        check_moves(BULK, i > 0);
        check_moves(TEXELS, i > 0);
    }
}

static void ctas_that_are_together_run_on_one_thread(void **state)
{
    (void)state;
    check(NUMBERS UNEVEN_LOOP "atom.global.add.u32 %s, [%a], 1;\nmad.wide.u32 %q, %i, 4, %a;\n"
                              "st.global.u32 [%q+4], %s;",
          ALONE);
}

static void clusters_stay_together(void **state)
{
    (void)state;
    struct device dev;
    uint64_t words = open_with_words(&dev, NUMBERS UNEVEN_LOOP
                                     "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
                                     "mov.u32 %s, %cluster_ctarank;\nadd.u32 %r, %r, %s;\n"
                                     "mad.wide.u32 %q, %i, 4, %a;\nst.global.u32 [%q], %r;");
    dev.launch.cluster[0] = 4;
    dev.launch.cluster[1] = dev.launch.cluster[2] = 1;
    same_on_all(&dev, words, SHARED);
    device_close(&dev);
}

/* CTA 400 faults after many instructions; those behind it do at once, as soon as they run. */
static void the_lowest_cta_that_faults_is_told(void **state)
{
    (void)state;
    static struct outcome alone, beside;
    struct device dev;
    uint64_t words =
        open_with_words(&dev, NUMBERS "setp.lt.u32 %g, %n, 400;\n@%g bra fine;\nmov.u32 %s, 1;\n"
                                      "setp.eq.u32 %g, %n, 400;\n@%g mov.u32 %s, 30000;\nlate:\n"
                                      "sub.u32 %s, %s, 1;\nsetp.gt.s32 %g, %s, 0;\n@%g bra late;\n"
                                      "mul.wide.u32 %a, %n, 3;\nst.global.u32 [%a], %r;\n"
                                      "fine:\n" UNEVEN_LOOP);
    run_on(&alone, &dev, words, 1, UINT64_MAX);
    assert_int_equal(alone.rc, SONDE_EFAULT);
    assert_non_null(strstr(alone.error, "(400,0,0)"));
    for (uint32_t round = 0; round < 10; round++) {
        run_on(&beside, &dev, words, 2 + round % 3, round % 2 ? 3000 : UINT64_MAX);
        assert_int_equal(beside.rc, SONDE_EFAULT);
        assert_true(beside.shared);
        assert_string_equal(beside.error, alone.error);
    }
    device_close(&dev);
}

static void a_deadlock_is_told_as_on_one_thread(void **state)
{
    (void)state;
    static struct outcome alone, beside;
    struct device dev;
    uint64_t words =
        open_with_words(&dev, NUMBERS UNEVEN_LOOP "setp.ne.u32 %g, %n, 500;\n@%g bra fine;\n"
                                                  "barrier.sync 1, 96;\nfine:\n");
    run_on(&alone, &dev, words, 1, UINT64_MAX);
    assert_int_equal(alone.rc, SONDE_EFAULT);
    assert_non_null(strstr(alone.error, "deadlock in CTA (500,0,0)"));
    run_on(&beside, &dev, words, 3, UINT64_MAX);
    assert_int_equal(beside.rc, SONDE_EFAULT);
    assert_string_equal(beside.error, alone.error);
    device_close(&dev);
}

/* From the hundredth on CTAs do not end; the interrupt comes between two slices. */
static void an_interrupt_stops_all_threads_and_tells_where_they_were(void **state)
{
    (void)state;
    volatile int interrupt = 0;
    struct team *team;
    struct exec_run *run;
    struct device dev;
    open_with_words(&dev, NUMBERS UNEVEN_LOOP "setp.lt.u32 %g, %n, 100;\n@%g bra fine;\n"
                                              "more:\nadd.u32 %r, %r, 1;\nbra more;\nfine:\n");
    assert_int_equal(team_create(&team, 3), SONDE_OK);
    dev.launch.grid[0] = CTAS;
    dev.options.team = team;
    dev.options.interrupt = &interrupt;
    dev.options.tells = true;
    assert_int_equal(exec_run_begin(&run, &dev.launch, &dev.options), SONDE_OK);
    assert_int_equal(exec_run_some(run, 200000), EXEC_RUN_MORE);
    assert_non_null(run->shares);
    assert_true(dev.options.warp_insns >= 200000);
    interrupt = 1;
    assert_int_equal(exec_run_some(run, 200000), SONDE_EINTERRUPTED);
    assert_true(dev.options.stopped);
    assert_non_null(strstr(error_text(), "is running"));
    exec_run_end(run);
    team_destroy(team);
    device_close(&dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_are_apart_that_have_no_order_to_tell_of),
        cmocka_unit_test(ctas_are_together_that_ask_about_each_other),
        cmocka_unit_test(memory_and_counts_are_those_of_one_thread),
        cmocka_unit_test(turns_of_a_ctas_warps_are_those_of_one_thread),
        cmocka_unit_test(a_launch_that_reads_what_it_writes_runs_again_alone),
        cmocka_unit_test(a_launch_whose_ctas_read_from_others_runs_again_alone),
        cmocka_unit_test(nothing_is_stored_where_a_refused_load_would_have_told),
        cmocka_unit_test(allocations_may_come_while_a_launch_is_shared_out),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(a_launch_that_writes_one_place_twice_runs_again_alone),
#endif
        cmocka_unit_test(stores_beside_each_other_do_not_meet),
        cmocka_unit_test(what_is_no_plain_access_is_watched),
        cmocka_unit_test(ctas_that_are_together_run_on_one_thread),
        cmocka_unit_test(clusters_stay_together),
        cmocka_unit_test(the_lowest_cta_that_faults_is_told),
        cmocka_unit_test(a_deadlock_is_told_as_on_one_thread),
        cmocka_unit_test(an_interrupt_stops_all_threads_and_tells_where_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
