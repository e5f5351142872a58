/* Barriers among warps, and what the lanes of one warp tell each other. */
#include "support/exec_device.h"

#include "exec/program.h"

#define STORE32(r) "cvt.u64.u32 %l19, " r "; st.global.u64 [%out], %l19;\n"

static void check(const char *text, uint32_t threads, uint32_t (*want)(uint32_t t))
{
    struct device dev;
    uint64_t *out = device_results(&dev, text, threads);
    for (uint32_t t = 0; t < threads; t++)
        if ((uint32_t)out[t] != want(t))
            fail_msg("thread %u: %x, not %x", t, (uint32_t)out[t], want(t));
    device_close(&dev);
}

static uint32_t want_tree(uint32_t t)
{
    (void)t;
    return 256 * 255 / 2;
}

static void a_tree_reduction_over_eight_warps_adds_up(void **state)
{
    (void)state;
    check(
        KERNEL("",
               ".shared .align 4 .b32 s[256];\n"
               "mov.u32 %r9, s; mad.lo.u32 %r8, %t, 4, %r9; st.shared.u32 [%r8], %t; bar.sync 0;\n"
               "mov.u32 %r0, 128;\n"
               "LOOP: setp.ge.u32 %p0, %t, %r0; @%p0 bra SKIP; mad.lo.u32 %r1, %r0, 4, %r8;\n"
               "ld.shared.u32 %r2, [%r1]; ld.shared.u32 %r3, [%r8]; add.u32 %r2, %r2, %r3;\n"
               "st.shared.u32 [%r8], %r2;\n"
               "SKIP: bar.sync 0; shr.u32 %r0, %r0, 1; setp.ne.u32 %p1, %r0, 0; @%p1 bra LOOP;\n"
               "ld.shared.u32 %r4, [s];\n" STORE32("%r4")),
        256, want_tree);
}

static uint32_t want_handover(uint32_t t)
{
    return t < 64 ? 1 : 100 + t - 64;
}

static void producers_arrive_and_consumers_wait_at_a_counted_barrier(void **state)
{
    (void)state;
    /* warps 0 and 1 produce and go on; warps 2 and 3 wait for all four at barrier 3 */
    check(KERNEL("", ".shared .align 4 .b32 s[64];\n"
                     "mov.u32 %r9, s; setp.ge.u32 %p0, %t, 64; @%p0 bra CONSUME;\n"
                     "mad.lo.u32 %r8, %t, 4, %r9; add.u32 %r0, %t, 100; st.shared.u32 [%r8], %r0;\n"
                     "bar.arrive 3, 128; mov.u32 %r1, 1; bra JOIN;\n"
                     "CONSUME: sub.u32 %r2, %t, 64; mad.lo.u32 %r8, %r2, 4, %r9; bar.sync 3, 128;\n"
                     "ld.shared.u32 %r1, [%r8];\n"
                     "JOIN:\n" STORE32("%r1")),
          128, want_handover);
}

static uint32_t want_barred(uint32_t t)
{
    (void)t;
    return 33 * 4 + 2;
}

static void barrier_reductions_count_and_combine_predicates(void **state)
{
    (void)state;
    check(KERNEL("",
                 "setp.lt.u32 %p0, %t, 33; bar.red.popc.u32 %r0, 0, %p0;\n"
                 "bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, %p0;\n"
                 "selp.b32 %r1, 1, 0, %p1; selp.b32 %r2, 2, 0, %p2; mad.lo.u32 %r0, %r0, 4, %r1;\n"
                 "add.u32 %r0, %r0, %r2;\n" STORE32("%r0")),
          96, want_barred);
}

static uint32_t want_survivors(uint32_t t)
{
    return t < 32 ? 0 : 7;
}

static void a_warp_that_has_exited_is_not_waited_for(void **state)
{
    (void)state;
    check(KERNEL("",
                 "mov.u32 %r0, 0;\n" STORE32("%r0") "setp.lt.u32 %p0, %t, 32; @%p0 exit; bar.sync "
                                                    "0; mov.u32 %r0, 7;\n" STORE32("%r0")),
          128, want_survivors);
}

static void warps_that_wait_for_nobody_are_a_deadlock(void **state)
{
    (void)state;
    struct device dev;
    device_kernel(&dev,
                  KERNEL("", "setp.lt.u32 %p0, %t, 32; @%p0 bra A; bar.sync 1; bra JOIN;\n"
                             "A: bar.sync 2; JOIN: mov.u32 %r0, 1;\n"),
                  64);
    assert_int_equal(device_try_run(&dev, 1, 64), SONDE_EFAULT);
    assert_error_has("deadlock in CTA (0,0,0)");
    assert_error_has("warp 0 at barrier 2");
    device_close(&dev);
}

static void barriers_that_do_not_exist_are_faults(void **state)
{
    (void)state;
    struct device dev;
    device_kernel(&dev, KERNEL("", "mov.u32 %r0, 16; bar.sync %r0;\n"), 64);
    assert_int_equal(device_try_run(&dev, 1, 64), SONDE_EFAULT);
    assert_error_has("barrier 16 does not exist");
    device_close(&dev);
}

static uint32_t want_vote(uint32_t t)
{
    uint32_t warp = t / 32, ballot = warp == 0 ? 0x3ff : warp == 1 ? 0 : 0xffffffff;
    return ballot ^ (warp == 0 ? 2u : warp == 1 ? 4u : 7u) << 12;
}

static void votes_see_all_lanes(void **state)
{
    (void)state;
    /* warp 0: lanes 0-9 agree; warp 1: nobody; warp 2: everybody */
    check(KERNEL("", "setp.lt.u32 %p0, %t, 10; setp.ge.u32 %p1, %t, 64; or.pred %p0, %p0, %p1;\n"
                     "vote.sync.ballot.b32 %r0, %p0, 0xffffffff; vote.sync.all.pred %p2, %p0, -1;\n"
                     "vote.sync.any.pred %p3, %p0, -1; vote.sync.uni.pred %p4, %p0, -1;\n"
                     "selp.b32 %r1, 0x1000, 0, %p2; selp.b32 %r2, 0x2000, 0, %p3;\n"
                     "selp.b32 %r3, 0x4000, 0, %p4; xor.b32 %r0, %r0, %r1; xor.b32 %r0, %r0, %r2;\n"
                     "xor.b32 %r0, %r0, %r3;\n" STORE32("%r0")),
          96, want_vote);
}

static uint32_t want_down(uint32_t t)
{
    uint32_t lane = t % 32, inside = lane % 16 + 3 <= 15;
    return (inside ? t + 3 : t) * 2 + inside;
}
static uint32_t want_up(uint32_t t)
{
    return (t % 32 >= 1 ? t - 1 : t) * 2 + (t % 32 >= 1);
}
static uint32_t want_bfly(uint32_t t)
{
    return (t ^ 5) * 2 + 1;
}
static uint32_t want_idx(uint32_t t)
{
    return (t / 8 * 8 + 2) * 2 + 1;
}

static void shuffles_move_values_within_segments(void **state)
{
    (void)state;
    check(KERNEL("", "shfl.sync.down.b32 %r0|%p0, %t, 3, 0x100f, -1; selp.b32 %r1, 1, 0, %p0;\n"
                     "mad.lo.u32 %r0, %r0, 2, %r1;\n" STORE32("%r0")),
          64, want_down);
    check(KERNEL("", "shfl.sync.up.b32 %r0|%p0, %t, 1, 0, -1; selp.b32 %r1, 1, 0, %p0;\n"
                     "mad.lo.u32 %r0, %r0, 2, %r1;\n" STORE32("%r0")),
          64, want_up);
    check(KERNEL("", "shfl.sync.bfly.b32 %r0|%p0, %t, 5, 31, -1; selp.b32 %r1, 1, 0, %p0;\n"
                     "mad.lo.u32 %r0, %r0, 2, %r1;\n" STORE32("%r0")),
          64, want_bfly);
    check(KERNEL("", "shfl.sync.idx.b32 %r0|%p0, %t, 2, 0x181f, -1; selp.b32 %r1, 1, 0, %p0;\n"
                     "mad.lo.u32 %r0, %r0, 2, %r1;\n" STORE32("%r0")),
          64, want_idx);
}

static uint32_t want_apart(uint32_t t)
{
    uint32_t lane = t % 32, members = lane < 5 ? 0x1fu : ~0x1fu;
    uint32_t from = lane < 5 ? lane + 3 : (lane ^ 8) < 5 ? 99 : lane ^ 8;
    uint32_t got = lane < 5 ? (from < 5 ? t + 3 : 99) : from == 99 ? 99 : t - lane + from;
    return (members & 0x55555555u) ^ got << 8;
}

/* Lanes 0 to 4 go one way, the others the other; neither asks for a lane of the other half. */
static void votes_and_shuffles_without_sync_are_among_the_active_lanes(void **state)
{
    (void)state;
    for (uint32_t yield_after = 0; yield_after <= 4; yield_after += 4) {
        struct device dev;
        uint64_t *out = device_kernel(
            &dev,
            ".version 5.0\n.target sm_30\n.address_size 64\n" KERNEL_TEXT(
                "") "rem.u32 %r5, %t, 32; setp.lt.u32 %p1, %r5, 5; and.b32 %r6, %t, 1;\n"
                    "setp.eq.u32 %p2, %r6, 0; @%p1 bra LOW;\n"
                    "vote.ballot.b32 %r0, %p2; shfl.bfly.b32 %r1, %t, 8, 31; xor.b32 %r2, %r5, 8;\n"
                    "setp.lt.u32 %p3, %r2, 5; @%p3 mov.u32 %r1, 99; vote.all.pred %p4, %p1;\n"
                    "@%p4 mov.u32 %r0, 0; bra DONE;\n"
                    "LOW: vote.ballot.b32 %r0, %p2; shfl.down.b32 %r1, %t, 3, 31;\n"
                    "setp.ge.u32 %p3, %r5, 2; @%p3 mov.u32 %r1, 99; vote.any.pred %p4, !%p1;\n"
                    "@%p4 mov.u32 %r0, 0; vote.uni.pred %p4, %p1; @!%p4 mov.u32 %r0, 0;\n"
                    "DONE: shl.b32 %r1, %r1, 8; xor.b32 %r0, %r0, %r1;\n" STORE32("%r0") KERNEL_END,
            64);
        dev.launch.yield_after = yield_after;
        device_run(&dev, 1, 64);
        for (uint32_t t = 0; t < 64; t++)
            assert_int_equal((uint32_t)out[t], want_apart(t));
        device_close(&dev);
    }
}

static uint32_t want_match(uint32_t t)
{
    return 0x11111111u << t % 4;
}

static void match_finds_the_lanes_with_the_same_value(void **state)
{
    (void)state;
    check(KERNEL("", "and.b32 %r0, %t, 3; match.any.sync.b32 %r1, %r0, -1;\n" STORE32("%r1")), 64,
          want_match);
}

static uint32_t want_active(uint32_t t)
{
    return t < 5 ? 0x1f : 0xffffffe0;
}

static void activemask_is_of_the_lanes_that_run_together(void **state)
{
    (void)state;
    check(KERNEL("", "setp.lt.u32 %p0, %t, 5; @%p0 bra A; activemask.b32 %r0; bra JOIN;\n"
                     "A: activemask.b32 %r0;\nJOIN:\n" STORE32("%r0")),
          32, want_active);
}

static void a_partial_last_warp_has_only_its_threads(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_kernel(&dev, KERNEL("", "activemask.b32 %r0;\n" STORE32("%r0")), 64);
    device_run(&dev, 1, 37);
    assert_int_equal(out[31], 0xffffffff);
    assert_int_equal(out[36], 0x1f);
    assert_int_equal(out[37], 0);
    assert_int_equal(dev.options.thread_insns % 37, 0);
    device_close(&dev);
}

static void impossible_launches_are_refused(void **state)
{
    (void)state;
    struct device dev;
    device_kernel(&dev, KERNEL("", ""), 64);
    assert_int_equal(device_try_run(&dev, 0, 32), SONDE_EINPUT);
    assert_int_equal(device_try_run(&dev, 1, 0), SONDE_EINPUT);
    assert_int_equal(device_try_run(&dev, 1, 1025), SONDE_EINPUT);
    dev.launch.block[1] = 2;
    assert_int_equal(device_try_run(&dev, 1, 1024), SONDE_EINPUT);
    device_close(&dev);
}

/* Issue and commit apart: registers and memory change at commit, not before. */
static void a_load_writes_its_register_when_it_is_committed(void **state)
{
    (void)state;
    struct device dev;
    uint64_t *out = device_kernel(&dev,
                                  KERNEL("", "ld.global.u64 %l0, [%out]; mov.u32 %r5, 1;\n"
                                             "add.u64 %l0, %l0, 1; st.global.u64 [%out], %l0;\n"),
                                  32);
    struct exec_env env = {0};
    struct exec_cta cta = {.launch = &dev.launch};
    struct exec_warp warp = {0};
    struct exec_access load, store;
    for (int t = 0; t < 32; t++)
        out[t] = 100;
    assert_int_equal(exec_warp_init(&warp, &cta, 0, &env), 0);
    assert_int_equal(exec_issue(&warp, &load), EXEC_DONE);
    assert_int_equal(exec_issue(&warp, &load), EXEC_ACCESS);
    assert_int_equal(load.space, SPACE_PARAM);
    assert_int_equal(exec_commit(&warp, &load), 0);
    assert_int_equal(exec_issue(&warp, &load), EXEC_DONE);
    assert_int_equal(exec_issue(&warp, &load), EXEC_ACCESS);
    assert_int_equal(load.kind, ACCESS_LOAD);
    assert_int_equal(load.space, SPACE_GLOBAL);
    assert_int_equal(load.mask, UINT32_MAX);
    assert_int_equal(load.bytes, 8);
    for (uint64_t t = 0; t < 32; t++)
        assert_int_equal(load.address[t], (uint64_t)(uintptr_t)out + t * 8);
    out[3] = 555; /* still seen: nothing has been read yet */
    assert_int_equal(exec_issue(&warp, &store), EXEC_DONE);
    assert_int_equal(exec_commit(&warp, &load), 0);
    assert_int_equal(exec_issue(&warp, &store), EXEC_DONE);
    assert_int_equal(exec_issue(&warp, &store), EXEC_ACCESS);
    assert_int_equal(store.kind, ACCESS_STORE);
    assert_int_equal(store.data[3][0], 556);
    assert_int_equal(out[3], 555);
    assert_int_equal(exec_commit(&warp, &store), 0);
    assert_int_equal(out[3], 556);
    assert_int_equal(out[4], 101);
    assert_int_equal(exec_issue(&warp, &store), EXEC_EXIT);
    assert_true(warp.done);
    exec_warp_free(&warp);
    device_close(&dev);
}

static void the_scoreboard_is_told_what_is_read_and_written(void **state)
{
    (void)state;
    struct device dev;
    device_kernel(&dev,
                  KERNEL("", "ld.global.u64 %l0, [%out]; setp.eq.u64 %p0, %l0, 0;\n"
                             "@%p0 st.global.u64 [%out], %l0; mov.u32 %r0, %clock;\n"
                             "st.global.u32 [%out], %r0; bar.sync 0;\n"),
                  32);
    const struct exec_uop_info *load = exec_uop_info(dev.program, 3);
    assert_true(load->is_load);
    assert_int_equal(load->unit, UNIT_LSU);
    assert_int_equal(load->space, SPACE_GLOBAL);
    assert_int_equal(load->src_count, 2);
    assert_int_equal(load->dst_count, 2);
    assert_int_equal(load->dst[0] % 2, 0);
    assert_int_equal(load->dst[1], load->dst[0] + 1);
    const struct exec_uop_info *compare = exec_uop_info(dev.program, 4);
    assert_int_equal(compare->src_count, 2);
    assert_int_equal(compare->src[0], load->dst[0]);
    assert_int_equal(compare->dst_pred_count, 1);
    const struct exec_uop_info *store = exec_uop_info(dev.program, 5);
    assert_true(store->is_store);
    assert_int_equal(store->src_pred_count, 1);
    assert_int_equal(store->src_pred[0], compare->dst_pred[0]);
    assert_int_equal(store->src_count, 4);
    assert_int_equal(store->dst_count, 0);
    uint32_t preds = exec_program_slot_count(dev.program);
    assert_int_equal(compare->place_count, 3);
    assert_int_equal(compare->result_count, 1);
    assert_int_equal(compare->place[0], load->dst[0]);
    assert_int_equal(compare->place[2], preds + compare->dst_pred[0]);
    assert_int_equal(store->place_count, 5);
    assert_int_equal(store->result_count, 0);
    assert_int_equal(store->place[4], preds + compare->dst_pred[0]);
    assert_true(exec_uop_info(dev.program, 6)->reads_clock);
    assert_int_equal(exec_uop_info(dev.program, 6)->unit, UNIT_SPECIAL);
    assert_true(exec_uop_info(dev.program, 8)->is_barrier);
    assert_true(exec_uop_info(dev.program, 9)->is_exit);
    device_close(&dev);
}

/* With timing loops are never those of AVX-512; without it they are the best, guarded or not. */
static void loops_are_chosen_for_what_runs_them(void **state)
{
    (void)state;
    struct device dev;
    device_open(&dev,
                PTX_HEAD ".visible .entry k()\n{\n.reg .b32 %a; .reg .b64 %x; .reg .pred %p;\n"
                         "add.s32 %a, %a, %a;\nsetp.lt.s32 %p, %a, 1;\n"
                         "@%p cvta.shared.u64 %x, %x;\nret;\n}\n",
                "k");
    const struct uop *timed = dev.program->uops, *untimed = dev.program->untimed_uops;
    const struct lane_table *tables[] = {lanes_timed_table(), lanes_table()};
    assert_ptr_not_equal(tables[0], &lanes_avx512);
    for (int i = 0; i < 2; i++) {
        const struct uop *uops = i ? untimed : timed;
        assert_true(uops[0].lanes == lanes_find(tables[i], OP_ADD, TYPE_s32, TYPE_s32, NULL));
        assert_true(uops[1].compare == lanes_find_compare(tables[i], MOD_CMP_lt, TYPE_s32));
        assert_true(uops[2].lanes == lanes_find(tables[i], OP_ADD, TYPE_s64, TYPE_s64, NULL));
        assert_true(uops[2].guard == timed[2].guard && uops[2].run == timed[2].run);
    }
    device_close(&dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_reduction_over_eight_warps_adds_up),
        cmocka_unit_test(producers_arrive_and_consumers_wait_at_a_counted_barrier),
        cmocka_unit_test(barrier_reductions_count_and_combine_predicates),
        cmocka_unit_test(a_warp_that_has_exited_is_not_waited_for),
        cmocka_unit_test(warps_that_wait_for_nobody_are_a_deadlock),
        cmocka_unit_test(barriers_that_do_not_exist_are_faults),
        cmocka_unit_test(votes_see_all_lanes),
        cmocka_unit_test(shuffles_move_values_within_segments),
        cmocka_unit_test(votes_and_shuffles_without_sync_are_among_the_active_lanes),
        cmocka_unit_test(match_finds_the_lanes_with_the_same_value),
        cmocka_unit_test(activemask_is_of_the_lanes_that_run_together),
        cmocka_unit_test(a_partial_last_warp_has_only_its_threads),
        cmocka_unit_test(impossible_launches_are_refused),
        cmocka_unit_test(a_load_writes_its_register_when_it_is_committed),
        cmocka_unit_test(the_scoreboard_is_told_what_is_read_and_written),
        cmocka_unit_test(loops_are_chosen_for_what_runs_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
