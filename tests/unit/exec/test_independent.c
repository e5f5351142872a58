/*
 * Independent thread scheduling: programs whose lanes wait for each other end, with the results
 * that any order of lanes gives; on the SIMT stack they end only after a long wait.
 */
#include "support/exec_device.h"

#define LOCKS ".global .align 4 .b32 lock[4];\n.global .align 4 .b32 count[4];\n"
#define STORE32(r) "cvt.u64.u32 %l19, " r "; st.global.u64 [%out], %l19;\n"

/* Every lane takes the lock by itself, adds one without an atomic, and gives the lock back. */
static const char *const spin_lock =
    KERNEL(LOCKS, "mov.u64 %l0, lock; mov.u64 %l1, count;\n"
                  "LOCK: atom.global.cas.b32 %r1, [%l0], 0, 1; setp.ne.u32 %p0, %r1, 0;\n"
                  "@%p0 bra LOCK;\n"
                  "ld.volatile.global.u32 %r2, [%l1]; add.u32 %r2, %r2, 1;\n"
                  "st.volatile.global.u32 [%l1], %r2; membar.gl;\n"
                  "atom.global.exch.b32 %r3, [%l0], 0;\n" STORE32("%r2"));

static int try_run_for(struct device *dev, const char *text, uint32_t yield_after, uint64_t insns)
{
    device_open(dev, text, "k");
    dev->launch.yield_after = yield_after;
    dev->options.max_warp_insns = insns;
    uint64_t out = device_alloc(dev, 64 * 8);
    device_arg_u64(dev, out);
    return device_try_run(dev, 1, 64);
}

static int try_run(struct device *dev, const char *text, uint32_t yield_after)
{
    return try_run_for(dev, text, yield_after, 400000);
}

static uint64_t *results(const struct device *dev)
{
    return device_pointer(*(const uint64_t *)dev->params);
}

static void lanes_of_a_warp_pass_a_spin_lock_one_after_the_other(void **state)
{
    (void)state;
    static const uint32_t quanta[] = {1, 2, 7, 64};
    for (uint32_t i = 0; i < 4; i++) {
        struct device dev;
        bool seen[65] = {false};
        if (try_run(&dev, spin_lock, quanta[i]) != SONDE_OK)
            fail_msg("%s", error_text());
        for (uint32_t t = 0; t < 64; t++) {
            uint64_t count = results(&dev)[t];
            assert_in_range(count, 1, 64);
            assert_false(seen[count]);
            seen[count] = true;
        }
        device_close(&dev);
    }
}

/*
 * Those that wait for the lock sleep for 1 ms a time. The lane that has it must not wait for them:
 * before, a path gave way after so many branches backwards alone, and the last took 126 ms.
 */
static void a_lane_that_sleeps_lets_the_others_of_its_warp_run(void **state)
{
    (void)state;
    struct device dev;
    const char *text = KERNEL(
        LOCKS, "mov.u64 %l0, lock; mov.u64 %l2, %globaltimer; bra.uni LOCK;\n"
               "SLEEP: nanosleep.u32 1000000;\n"
               "LOCK: atom.global.cas.b32 %r1, [%l0], 0, 1; setp.ne.u32 %p0, %r1, 0;\n"
               "@%p0 bra SLEEP;\n"
               "atom.global.exch.b32 %r3, [%l0], 0;\n"
               "mov.u64 %l3, %globaltimer; sub.u64 %l2, %l3, %l2; st.global.u64 [%out], %l2;\n");
    if (try_run(&dev, text, 64) != SONDE_OK)
        fail_msg("%s", error_text());
    for (uint32_t t = 0; t < 64; t++)
        assert_in_range(results(&dev)[t], 0, 20000000);
    device_close(&dev);
}

/* Nobody is left to run: the time passes, once for all of them. */
static void when_all_lanes_sleep_the_warp_sleeps(void **state)
{
    (void)state;
    struct device dev;
    const char *text = KERNEL(
        "", "mov.u64 %l2, %globaltimer; setp.lt.u32 %p0, %t, 16; @%p0 bra A;\n"
            "nanosleep.u32 500000; bra.uni JOIN;\n"
            "A: nanosleep.u32 300000;\n"
            "JOIN: mov.u64 %l3, %globaltimer; sub.u64 %l2, %l3, %l2; st.global.u64 [%out], %l2;\n");
    device_open(&dev, text, "k");
    dev.launch.yield_after = 64;
    device_arg_u64(&dev, device_alloc(&dev, 64 * 8));
    if (device_try_run(&dev, 1, 32) != SONDE_OK)
        fail_msg("%s", error_text());
    for (uint32_t t = 0; t < 32; t++)
        assert_in_range(results(&dev)[t], 500000, 600000);
    device_close(&dev);
}

/* A GPU would hang; a program is to end, and the stack's order is kept for very long before. */
static void on_the_stack_the_same_lock_opens_after_a_long_wait(void **state)
{
    (void)state;
    struct device dev;
    uint64_t sum = 0;
    assert_int_equal(try_run_for(&dev, spin_lock, 0, 190000), SONDE_EFAULT);
    device_close(&dev);
    assert_int_equal(try_run_for(&dev, spin_lock, 0, 2000000), SONDE_OK);
    for (uint32_t t = 0; t < 64; t++)
        sum += results(&dev)[t];
    assert_int_equal(sum, 64 * 65 / 2);
    device_close(&dev);
}

/* A loop that is merely long: lanes that wait for another one's are not let go before it ends. */
static void on_the_stack_a_long_loop_inside_a_longer_one_keeps_its_order(void **state)
{
    (void)state;
    struct device dev;
    const char *text =
        KERNEL(LOCKS, "mov.u64 %l0, lock; mov.u32 %r1, 0; setp.ne.u32 %p0, %t, 0;\n"
                      "@%p0 bra JOIN;\n"
                      "OUTER: mov.u32 %r2, 0;\n"
                      "INNER: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 60000; @%p1 bra INNER;\n"
                      "add.u32 %r1, %r1, 1; setp.eq.u32 %p2, %r1, 1; @%p2 bra LATER;\n"
                      "setp.lt.u32 %p1, %r1, 3; @%p1 bra OUTER; bra STORE;\n"
                      "LATER: bra OUTER;\n"
                      "STORE: st.volatile.global.u32 [%l0], %r1;\n"
                      "JOIN: ld.volatile.global.u32 %r3, [%l0];\n" STORE32("%r3"));
    assert_int_equal(try_run_for(&dev, text, 0, 4000000), SONDE_OK);
    assert_int_equal(results(&dev)[1], 3);
    device_close(&dev);
}

/* The same inside a function, which lanes leave in two places. */
static void a_lock_inside_a_function_opens(void **state)
{
    (void)state;
    static const char *const loops[] = {"LOCK: atom.global.cas.b32 c, [a], 0, 1;\n"
                                        "setp.ne.u32 p, c, 0; @p bra LOCK;\n",
                                        "LOCK: atom.global.cas.b32 c, [a], 0, 1;\n"
                                        "setp.eq.u32 p, c, 0; @p bra IN; bra LOCK; IN:\n"};
    static const char *const ends[] = {"ret;\n", "and.b32 c, r, 1; setp.eq.u32 p, c, 0;\n"
                                                 "@p bra EVEN; ret; EVEN: ret;\n"};
    for (uint32_t i = 0; i < 4; i++) {
        struct device dev;
        bool seen[65] = {false};
        char text[4096];
        snprintf(text, sizeof text, "%s%s%s%s}\n",
                 KERNEL(LOCKS ".func (.reg .u32 r) next(.reg .u64 a, .reg .u64 n);\n",
                        "mov.u64 %l0, lock; mov.u64 %l1, count;\n"
                        "call (%r2), next, (%l0, %l1);\n" STORE32(
                            "%r2")) ".func (.reg .u32 r) next(.reg .u64 a, .reg .u64 n) {\n"
                                    ".reg .b32 c; .reg .pred p;\n",
                 loops[i & 1],
                 "ld.volatile.global.u32 r, [n]; add.u32 r, r, 1;\n"
                 "st.volatile.global.u32 [n], r; membar.gl;\n"
                 "atom.global.exch.b32 c, [a], 0;\n",
                 ends[i / 2]);
        if (try_run(&dev, text, 4) != SONDE_OK)
            fail_msg("form %u: %s", i, error_text());
        for (uint32_t t = 0; t < 64; t++) {
            uint64_t count = results(&dev)[t];
            assert_in_range(count, 1, 64);
            assert_false(seen[count]);
            seen[count] = true;
        }
        device_close(&dev);
    }
}

/* Each lane waits for its turn, which comes in an order that is not that of the lanes. */
static void lanes_hand_a_token_on_in_any_order(void **state)
{
    (void)state;
    static const uint32_t orders[] = {0, 31, 21};
    for (uint32_t i = 0; i < 3; i++) {
        struct device dev;
        char text[4096];
        snprintf(
            text, sizeof text, "%sxor.b32 %%r5, %%t, %u;\n%s",
            KERNEL_BEGIN(LOCKS) "mov.u64 %l0, lock;\n", orders[i],
            "WAIT: ld.volatile.global.u32 %r1, [%l0]; setp.ne.u32 %p0, %r1, %r5;\n"
            "@%p0 bra WAIT;\n"
            "add.u32 %r1, %r1, 1; st.volatile.global.u32 [%l0], %r1;\n" STORE32("%r1") "ret;\n}\n");
        device_open(&dev, text, "k");
        dev.launch.yield_after = 4;
        dev.options.max_warp_insns = 400000;
        device_arg_u64(&dev, device_alloc(&dev, 64 * 8));
        if (device_try_run(&dev, 1, 32) != SONDE_OK)
            fail_msg("%s", error_text());
        for (uint32_t t = 0; t < 32; t++)
            assert_int_equal(results(&dev)[t], (t ^ orders[i]) + 1);
        device_close(&dev);
    }
}

/* Both sides of a branch spin, each until the other has answered twice. */
static void both_sides_of_a_branch_make_progress(void **state)
{
    (void)state;
    struct device dev;
    const char *text =
        KERNEL(LOCKS, "mov.u64 %l0, lock; setp.lt.u32 %p0, %t, 16; mov.u32 %r2, 0;\n"
                      "@%p0 bra PING;\n"
                      "PONG: ld.volatile.global.u32 %r1, [%l0]; and.b32 %r3, %r1, 1;\n"
                      "setp.eq.u32 %p1, %r3, 0; @%p1 bra PONG;\n"
                      "add.u32 %r1, %r1, 1; st.volatile.global.u32 [%l0], %r1;\n"
                      "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra PONG; bra JOIN;\n"
                      "PING: ld.volatile.global.u32 %r1, [%l0]; and.b32 %r3, %r1, 1;\n"
                      "setp.ne.u32 %p1, %r3, 0; @%p1 bra PING;\n"
                      "add.u32 %r1, %r1, 1; st.volatile.global.u32 [%l0], %r1;\n"
                      "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra PING;\n"
                      "JOIN: activemask.b32 %r4; add.u32 %r4, %r4, %r2;\n" STORE32("%r4"));
    device_open(&dev, text, "k");
    dev.launch.yield_after = 8;
    dev.options.max_warp_insns = 400000;
    device_arg_u64(&dev, device_alloc(&dev, 64 * 8));
    if (device_try_run(&dev, 1, 32) != SONDE_OK)
        fail_msg("%s", error_text());
    /* They meet again: all lanes are active behind the branch. */
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal((uint32_t)results(&dev)[t], UINT32_MAX + 3u);
    device_close(&dev);
}

/* Waits until it is its turn among three, twelve times. */
#define TURNS(label, turn)                                                                         \
    "mov.u32 %r2, 0;\n" label ": ld.volatile.global.u32 %r1, [%l0]; rem.u32 %r3, %r1, 3;\n"        \
    "setp.ne.u32 %p1, %r3, " turn "; @%p1 bra " label ";\n"                                        \
    "add.u32 %r1, %r1, 1; st.volatile.global.u32 [%l0], %r1;\n"                                    \
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 12; @%p1 bra " label ";\n"

/* Two sides within one side of a branch, and the other side: none of the three is passed over. */
#define NESTED(first, second, third)                                                               \
    KERNEL(LOCKS, "mov.u64 %l0, lock; setp.lt.u32 %p2, %t, 11; @%p2 bra OUTER;\n"                  \
                  "setp.lt.u32 %p2, %t, 22; @%p2 bra INNER;\n" first "bra MEET;\nINNER: " second   \
                  "MEET: bra JOIN;\nOUTER: " third "JOIN: " STORE32("%r1"))

static void inner_and_outer_sides_of_branches_take_turns(void **state)
{
    (void)state;
    static const char *const texts[] = {
        NESTED(TURNS("A", "0"), TURNS("B", "1"), TURNS("C", "2")),
        NESTED(TURNS("A", "1"), TURNS("B", "0"), TURNS("C", "2")),
        NESTED(TURNS("A", "2"), TURNS("B", "0"), TURNS("C", "1")),
    };
    static const uint32_t quanta[] = {1, 3, 64}, last_of_outer[] = {36, 36, 35};
    for (uint32_t i = 0; i < 9; i++) {
        struct device dev;
        device_open(&dev, texts[i / 3], "k");
        dev.launch.yield_after = quanta[i % 3];
        dev.options.max_warp_insns = 400000;
        device_arg_u64(&dev, device_alloc(&dev, 64 * 8));
        if (device_try_run(&dev, 1, 32) != SONDE_OK)
            fail_msg("text %u, %u: %s", i / 3, quanta[i % 3], error_text());
        assert_int_equal((uint32_t)results(&dev)[0], last_of_outer[i / 3]);
        device_close(&dev);
    }
}

/*
 * After a spin lock the lanes are on their own; a shuffle, a vote and a sum over all of them bring
 * them together again.
 */
static void lanes_that_a_lock_has_parted_meet_where_a_mask_names_them(void **state)
{
    (void)state;
    static const uint32_t quanta[] = {1, 5, 64};
    const char *text =
        KERNEL(LOCKS, "mov.u64 %l0, lock; mov.u64 %l1, count;\n"
                      "LOCK: atom.global.cas.b32 %r1, [%l0], 0, 1; setp.ne.u32 %p0, %r1, 0;\n"
                      "@%p0 bra LOCK;\n"
                      "ld.volatile.global.u32 %r2, [%l1]; add.u32 %r2, %r2, 1;\n"
                      "st.volatile.global.u32 [%l1], %r2; membar.gl;\n"
                      "atom.global.exch.b32 %r3, [%l0], 0;\n"
                      "bar.warp.sync -1;\n"
                      "shfl.sync.bfly.b32 %r4, %t, 1, 31, -1;\n"
                      "vote.sync.ballot.b32 %r5, 1, -1;\n"
                      "redux.sync.add.u32 %r6, %r2, -1;\n"
                      "activemask.b32 %r7; and.b32 %r5, %r5, %r7; setp.ne.u32 %p1, %r5, -1;\n"
                      "@%p1 mov.u32 %r6, 0;\n"
                      "shl.b32 %r4, %r4, 16; or.b32 %r4, %r4, %r6;\n" STORE32("%r4"));
    for (uint32_t i = 0; i < 3; i++) {
        struct device dev;
        device_open(&dev, text, "k");
        dev.launch.yield_after = quanta[i];
        dev.options.max_warp_insns = 400000;
        device_arg_u64(&dev, device_alloc(&dev, 64 * 8));
        if (device_try_run(&dev, 1, 32) != SONDE_OK)
            fail_msg("%s", error_text());
        for (uint32_t t = 0; t < 32; t++)
            assert_int_equal((uint32_t)results(&dev)[t], (t ^ 1) << 16 | 32 * 33 / 2);
        device_close(&dev);
    }
}

/* The two halves reach the same shuffle by different ways and at different times. */
static void a_path_that_comes_first_waits_for_the_other(void **state)
{
    (void)state;
    struct device dev;
    const char *text =
        KERNEL("", "mov.u32 %r1, %t; setp.lt.u32 %p0, %t, 16; @%p0 bra HERE;\n"
                   "mov.u32 %r2, 0;\n"
                   "LATE: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra LATE;\n"
                   "add.u32 %r1, %r1, 100;\n"
                   "HERE: shfl.sync.idx.b32 %r4, %r1, 31, 31, -1;\n" STORE32("%r4"));
    device_open(&dev, text, "k");
    dev.launch.yield_after = 1;
    device_arg_u64(&dev, device_alloc(&dev, 64 * 8));
    device_run(&dev, 1, 32);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal((uint32_t)results(&dev)[t], 131);
    device_close(&dev);
}

/* A loop of different lengths without waiting: nobody gives way before yield_after, lanes meet. */
static void short_loops_converge_as_on_the_stack(void **state)
{
    (void)state;
    for (uint32_t yield_after = 0; yield_after <= 64; yield_after += 64) {
        struct device dev;
        const char *text = KERNEL("", "mov.u32 %r1, 0;\n"
                                      "AGAIN: add.u32 %r1, %r1, 1; setp.le.u32 %p0, %r1, %t;\n"
                                      "@%p0 bra AGAIN;\nactivemask.b32 %r4;\n" STORE32("%r4"));
        device_open(&dev, text, "k");
        dev.launch.yield_after = yield_after;
        device_arg_u64(&dev, device_alloc(&dev, 64 * 8));
        device_run(&dev, 1, 32);
        for (uint32_t t = 0; t < 32; t++)
            assert_int_equal((uint32_t)results(&dev)[t], UINT32_MAX);
        device_close(&dev);
    }
}

/* Four hundred loops one after the other, of one to three turns: all lanes are together behind
 * each, as no lane can be waited for in them. How many are there is added up. */
static void loops_that_cannot_wait_part_no_lanes_for_good(void **state)
{
    (void)state;
    struct device dev;
    const char *text = KERNEL(
        "", "rem.u32 %r4, %t, 3; mov.u32 %r1, 0; mov.u32 %r5, 0;\n"
            "OUTER: mov.u32 %r2, 0;\n"
            "INNER: add.u32 %r2, %r2, 1; setp.le.u32 %p0, %r2, %r4; @%p0 bra INNER;\n"
            "activemask.b32 %r3; popc.b32 %r3, %r3; add.u32 %r5, %r5, %r3;\n"
            "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 400; @%p1 bra OUTER;\n" STORE32("%r5"));
    if (try_run(&dev, text, 64) != SONDE_OK)
        fail_msg("%s", error_text());
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(results(&dev)[t], 400 * 32);
    device_close(&dev);
}

/* The lanes that had the lock first are at the barrier while others of their warp want it yet. */
static void a_barrier_of_the_block_waits_for_lanes_that_a_lock_has_parted(void **state)
{
    (void)state;
    static const uint32_t quanta[] = {1, 5, 64};
    const char *text =
        KERNEL(LOCKS, "mov.u64 %l0, lock; mov.u64 %l1, count;\n"
                      "LOCK: atom.global.cas.b32 %r1, [%l0], 0, 1; setp.ne.u32 %p0, %r1, 0;\n"
                      "@%p0 bra MEET;\n"
                      "ld.volatile.global.u32 %r2, [%l1]; add.u32 %r2, %r2, 1;\n"
                      "st.volatile.global.u32 [%l1], %r2; membar.gl;\n"
                      "atom.global.exch.b32 %r3, [%l0], 0;\n"
                      "MEET: @%p0 bra LOCK;\n"
                      "bar.sync 0;\nld.volatile.global.u32 %r2, [%l1];\n" STORE32("%r2"));
    for (uint32_t i = 0; i < 3; i++) {
        struct device dev;
        if (try_run(&dev, text, quanta[i]) != SONDE_OK)
            fail_msg("%s", error_text());
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(results(&dev)[t], 64);
        device_close(&dev);
    }
}

/* Each lane leaves its number before its side's barrier, and counts what all have left behind it;
 * twice, so that the sides may not overtake each other. Some lanes have exited before. */
static void both_sides_of_a_branch_come_to_one_barrier(void **state)
{
    (void)state;
    const char *text = KERNEL(
        LOCKS, "mov.u64 %l0, count; mov.u32 %r5, 0; and.b32 %r1, %t, 31;\n"
               "setp.ge.u32 %p2, %r1, 30; @%p2 exit;\n"
               "AGAIN: setp.lt.u32 %p0, %r1, 10; @%p0 bra LEFT;\n"
               "red.global.add.u32 [%l0], 1; barrier.sync 3; bra MEET;\n"
               "LEFT: red.global.add.u32 [%l0], 100; barrier.sync 3;\n"
               "MEET: ld.volatile.global.u32 %r4, [%l0]; barrier.sync 3;\n"
               "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 2; @%p1 bra AGAIN;\n" STORE32("%r4"));
    for (uint32_t yield_after = 1; yield_after <= 64; yield_after *= 4) {
        struct device dev;
        if (try_run(&dev, text, yield_after) != SONDE_OK)
            fail_msg("%s", error_text());
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(results(&dev)[t], t % 32 < 30 ? 2 * 2 * (20 + 10 * 100) : 0);
        device_close(&dev);
    }
}

/* A lane that waits for long, as for another block, lets the others of its warp go on; those meet
 * it at the call of a function that shuffles, and at that of one with a barrier. */
static void lanes_that_went_ahead_wait_at_a_call(void **state)
{
    (void)state;
    static const char *const text =
        KERNEL(".func (.reg .u32 r) total(.reg .u32 v);\n.func meet();\n",
               "mov.u32 %r1, 0; and.b32 %r2, %t, 31; setp.ne.u32 %p0, %r2, 0; @%p0 bra GO;\n"
               "WAIT: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 500; @%p1 bra WAIT;\n"
               "GO: call.uni meet, (); call.uni (%r3), total, (%t);\n" STORE32(
                   "%r3")) ".func meet() { barrier.sync 0; ret; }\n"
                           ".func (.reg .u32 r) total(.reg .u32 v) {\n.reg .u32 %o; mov.u32 r, v;\n"
                           "shfl.sync.bfly.b32 %o, r, 16, 31, -1; add.u32 r, r, %o;\n"
                           "shfl.sync.bfly.b32 %o, r, 8, 31, -1; add.u32 r, r, %o;\n"
                           "shfl.sync.bfly.b32 %o, r, 4, 31, -1; add.u32 r, r, %o;\n"
                           "shfl.sync.bfly.b32 %o, r, 2, 31, -1; add.u32 r, r, %o;\n"
                           "shfl.sync.bfly.b32 %o, r, 1, 31, -1; add.u32 r, r, %o; ret; }\n";
    static const uint32_t quanta[] = {1, 7, 64};
    for (uint32_t i = 0; i < 3; i++) {
        struct device dev;
        if (try_run(&dev, text, quanta[i]) != SONDE_OK)
            fail_msg("%s", error_text());
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal(results(&dev)[t], t < 32 ? 496 : 1520);
        device_close(&dev);
    }
}

/* Guarded off, it waits for nobody; with the two sides at two of them (undefined), for none either.
 */
static void two_sides_at_two_instructions_of_all_lanes_go_on(void **state)
{
    (void)state;
    static const char *const guards[] = {"@%p1 ", ""};
    for (uint32_t i = 0; i < 2; i++) {
        struct device dev;
        char text[4096];
        snprintf(text, sizeof text,
                 "%s.shared .align 16 .b8 s[1024]; mov.u32 %%r3, s; mov.u32 %%r4, 0;\n"
                 "setp.lt.u32 %%p0, %%t, 16; setp.gt.u32 %%p1, %%t, 64; @%%p0 bra A;\n"
                 "%sldmatrix.sync.aligned.m8n8.x1.shared.b16 {%%r1}, [%%r3];\n"
                 "add.u32 %%r4, %%r4, 2; bra.uni J;\n"
                 "A: %sldmatrix.sync.aligned.m8n8.x1.shared.b16 {%%r1}, [%%r3];\n"
                 "add.u32 %%r4, %%r4, 1;\nJ: "
                 "cvt.u64.u32 %%l19, %%r4;\nst.global.u64 [%%out], %%l19;\n" KERNEL_END,
                 KERNEL_BEGIN(""), guards[i], guards[i]);
        assert_int_equal(try_run(&dev, text, 64), SONDE_OK);
        for (uint32_t t = 0; t < 32; t++)
            assert_int_equal(results(&dev)[t], t < 16 ? 1 : 2);
        device_close(&dev);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_of_a_warp_pass_a_spin_lock_one_after_the_other),
        cmocka_unit_test(a_lane_that_sleeps_lets_the_others_of_its_warp_run),
        cmocka_unit_test(when_all_lanes_sleep_the_warp_sleeps),
        cmocka_unit_test(on_the_stack_the_same_lock_opens_after_a_long_wait),
        cmocka_unit_test(on_the_stack_a_long_loop_inside_a_longer_one_keeps_its_order),
        cmocka_unit_test(a_lock_inside_a_function_opens),
        cmocka_unit_test(lanes_hand_a_token_on_in_any_order),
        cmocka_unit_test(both_sides_of_a_branch_make_progress),
        cmocka_unit_test(inner_and_outer_sides_of_branches_take_turns),
        cmocka_unit_test(lanes_that_a_lock_has_parted_meet_where_a_mask_names_them),
        cmocka_unit_test(a_path_that_comes_first_waits_for_the_other),
        cmocka_unit_test(a_barrier_of_the_block_waits_for_lanes_that_a_lock_has_parted),
        cmocka_unit_test(both_sides_of_a_branch_come_to_one_barrier),
        cmocka_unit_test(lanes_that_went_ahead_wait_at_a_call),
        cmocka_unit_test(short_loops_converge_as_on_the_stack),
        cmocka_unit_test(loops_that_cannot_wait_part_no_lanes_for_good),
        cmocka_unit_test(two_sides_at_two_instructions_of_all_lanes_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
