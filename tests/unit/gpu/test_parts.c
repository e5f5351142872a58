/*
 * L2 in two parts: what lines at home, copies and misses of copies cost, equal to the sums of what
 * the model lists; that writes and atomics are done at home and end copies; that many copies under
 * way do not wait for each other in a circle. And clusters of unequal size with a second constant
 * cache each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"

#define COPY 7u
#define CROSSING 60u
#define NEAR_LINE "65536" /* bit 12 is the home: part 0, near to SM 0 */
#define FAR_LINE "69632"  /* part 1 */

#define TIMED(load, slot)                                                                          \
    "mov.u32 %r1, %clock;\n" load "st.volatile.shared.u32 [smem], %r2;\nmov.u32 %r3, %clock;\n"    \
    "sub.u32 %r4, %r3, %r1;\nst.global.u32 [%rd0+" #slot "], %r4;\n"
#define LOAD(at) "ld.global.cg.u32 %r2, [%rd0+" at "];\n"
/* Of a launch of a CTA an SM, only this SM's goes on. */
#define ONLY_SM(n) "mov.u32 %r9, %smid;\nsetp.ne.u32 %p7, %r9, " #n ";\n@%p7 bra END;\n"

static struct gpu_bench g;

static void load_two_parts(void)
{
    assert_true(gpu_bench_load(&g, "gtx780"));
    struct l2_parts_spec *parts = &g.model->l2_parts;
    g.model->sm.issue_per_scheduler = 1;
    g.model->copies_allocate_in_l2 = false;
    g.model->tlb_l1.entries.enabled = g.model->tlb_l2.entries.enabled = false;
    parts->count = 2;
    parts->index = (struct index_spec){.kind = INDEX_BITS, .mask_count = 1, .masks = {1 << 12}};
    parts->copy_cycles = COPY;
    parts->crossing_cycles = CROSSING;
}

static void build(void)
{
    load_two_parts();
    assert_true(gpu_bench_build(&g));
}

static uint32_t home_hit(void)
{
    assert_true(gpu_bench_run(
        &g, LOAD(NEAR_LINE) "add.u32 %r10, %r2, 1;\n" TIMED(LOAD(NEAR_LINE), 0), 1, 1));
    return g.buffer[0];
}

static uint32_t copy_miss(uint32_t hit)
{
    const struct cache_spec *l2 = &g.model->l2;
    return hit + COPY + l2->miss_cycles + 2 * CROSSING + l2->fill_cycles;
}

static void a_copy_is_near_and_its_miss_goes_to_the_home(void **state)
{
    (void)state;
    build();
    uint32_t hit = home_hit();
    assert_in_range(hit, 227, 235); /* as with one part */
    assert_true(
        gpu_bench_run(&g, LOAD(FAR_LINE) "add.u32 %r10, %r2, 1;\n" TIMED(LOAD(FAR_LINE), 0), 1, 1));
    assert_int_equal(g.buffer[0], hit + COPY);
    /* SM 6 is near the other part: what SM 0 has read of its lines is there, of others it is not.
     */
    assert_true(gpu_bench_run(&g,
                              ONLY_SM(6) TIMED(LOAD(FAR_LINE), 0) TIMED(LOAD(NEAR_LINE), 4)
                                  TIMED(LOAD(NEAR_LINE), 8) "END:\n",
                              12, 1));
    assert_int_equal(g.buffer[0], hit);
    assert_int_equal(g.buffer[1], copy_miss(hit));
    assert_int_equal(g.buffer[2], hit + COPY);
    gpu_bench_free(&g);
}

static void a_write_or_an_atomic_at_home_ends_the_copies(void **state)
{
    (void)state;
    static const char *const writes[] = {"st.global.u32 [%rd0+" FAR_LINE "], %r9;\n",
                                         "red.global.add.u32 [%rd0+" FAR_LINE "], 1;\n"};
    for (int i = 0; i < 2; i++) {
        for (int writer = 0; writer <= 6; writer += 6) { /* across, and from near the home */
            static char body[1024];
            build();
            uint32_t hit = home_hit();
            assert_true(gpu_bench_run(&g, LOAD(FAR_LINE), 1, 1));
            snprintf(body, sizeof body,
                     "mov.u32 %%r9, %%smid;\nsetp.ne.u32 %%p7, %%r9, %d;\n@%%p7 bra END;\n%sEND:\n",
                     writer, writes[i]);
            assert_true(gpu_bench_run(&g, body, 12, 1));
            assert_true(gpu_bench_run(
                &g, TIMED(LOAD(NEAR_LINE), 8) TIMED(LOAD(FAR_LINE), 0) TIMED(LOAD(FAR_LINE), 4), 1,
                1));
            assert_int_equal(g.buffer[0], copy_miss(hit));
            assert_int_equal(g.buffer[1], hit + COPY);
            gpu_bench_free(&g);
        }
    }
}

/* An atomic of each line, after one that has brought it. */
static void time_atomics(uint32_t more, uint32_t *near_cycles, uint32_t *far_cycles)
{
    static const char each[] = "atom.global.add.u32 %r2, [%rd0+" NEAR_LINE "], 1;\n"
                               "atom.global.add.u32 %r10, [%rd0+" FAR_LINE "], 1;\n"
                               "add.u32 %r10, %r10, %r2;\n";
    static const char near[] = TIMED("atom.global.add.u32 %r2, [%rd0+" NEAR_LINE "], 1;\n", 0),
                      far[] = TIMED("atom.global.add.u32 %r2, [%rd0+" FAR_LINE "], 1;\n", 4);
    char body[1024];
    load_two_parts();
    g.model->l2_parts.atomic_cycles = more;
    assert_true(gpu_bench_build(&g));
    snprintf(body, sizeof body, "%s%s%s", each, near, far);
    assert_true(gpu_bench_run(&g, body, 1, 1));
    *near_cycles = g.buffer[0];
    *far_cycles = g.buffer[1];
    gpu_bench_free(&g);
}

static void an_atomic_of_another_part_may_take_longer_to_go_there(void **state)
{
    (void)state;
    uint32_t near, far, near_again, far_later;
    time_atomics(0, &near, &far);
    assert_int_equal(far, near + COPY + 2 * CROSSING);
    time_atomics(50, &near_again, &far_later);
    assert_int_equal(near_again, near);
    assert_int_equal(far_later, far + 50);
}

static void slices_may_lie_farther_away(void **state)
{
    (void)state;
    build();
    uint32_t hit = home_hit();
    gpu_bench_free(&g);
    load_two_parts();
    g.model->l2_parts.slice_cycles = (struct number_list){.count = 3, .number = {5, 5, 5}};
    assert_true(gpu_bench_build(&g));
    assert_int_equal(home_hit(), hit + 5);
    gpu_bench_free(&g);
}

static uint32_t fence_behind(const char *accesses, uint32_t sm)
{
    static char body[1024];
    snprintf(body, sizeof body,
             "mov.u32 %%r9, %%smid;\nsetp.ne.u32 %%p7, %%r9, %u;\n@%%p7 bra END;\nmembar.gl;\n"
             "%smov.u32 %%r1, %%clock;\nmembar.gl;\nmov.u32 %%r3, %%clock;\n"
             "sub.u32 %%r4, %%r3, %%r1;\nst.global.u32 [%%rd0], %%r4;\nEND:\n",
             sm, accesses);
    assert_true(gpu_bench_run(&g, body, 12, 1));
    return g.buffer[0];
}

static void a_fence_takes_longer_behind_accesses_of_lines_at_home_far_away(void **state)
{
    (void)state;
    static const char near[] = LOAD(NEAR_LINE) "add.u32 %r10, %r2, 1;\n",
                      far[] = LOAD(FAR_LINE) "add.u32 %r10, %r2, 1;\n",
                      both[] = LOAD(FAR_LINE) LOAD(NEAR_LINE) "add.u32 %r10, %r2, 1;\n";
    load_two_parts();
    struct fence_spec *fence = &g.model->sm.fence;
    fence->others_cycles = 400;
    fence->access_cycles = 150;
    fence->far_cycles = 330;
    assert_true(gpu_bench_build(&g));
    uint32_t alone = fence_behind("", 0);
    assert_in_range(alone, 400, 410);
    assert_int_equal(fence_behind(near, 0), alone + 150);
    assert_int_equal(fence_behind(far, 0), alone + 330);
    assert_int_equal(fence_behind(both, 0), alone + 330);
    assert_int_equal(fence_behind(near, 6), alone + 330); /* near the other part */
    assert_int_equal(fence_behind(far, 6), alone + 150);
    gpu_bench_free(&g);
}

/* Each SM reads and writes 512 lines, most of them the other part's, with the least of entries. */
static void copies_do_not_wait_for_each_other_in_a_circle(void **state)
{
    (void)state;
    load_two_parts();
    g.model->l2.mshr_entries = 2;
    g.model->l2.mshr_mergers = 1;
    g.model->l2.queue_entries = 1;
    assert_true(gpu_bench_build(&g));
    assert_true(
        gpu_bench_run(&g,
                      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
                      "mul.lo.u32 %r3, %r1, 128;\nmad.lo.u32 %r3, %r2, 8192, %r3;\n"
                      "cvt.u64.u32 %rd1, %r3;\nadd.u64 %rd1, %rd1, %rd0;\n"
                      "ld.global.cg.u32 %r4, [%rd1+65536];\nst.global.u32 [%rd1+69632], %r4;\n"
                      "ld.global.cg.u32 %r4, [%rd1+73728];\nst.global.u32 [%rd1+4], %r4;\n",
                      24, 512));
    gpu_bench_free(&g);
}

/* ---- clusters ---- */

/* SM 11 alone in cluster 1, all others in cluster 0. */
static void load_two_clusters(void)
{
    assert_true(gpu_bench_load(&g, "gtx780"));
    g.model->sm.issue_per_scheduler = 1;
    g.model->tlb_l1.entries.enabled = g.model->tlb_l2.entries.enabled = false;
    g.model->clusters = 2;
    g.model->cluster_of.count = 12;
    g.model->cluster_of.number[11] = 1;
    g.model->constant_l15_scope = TLB_PER_CLUSTER;
    g.model->constant_l15_return_cycles = 20;
    g.model->constant_l15.invalidate_on_launch = false;
    assert_true(gpu_bench_build(&g));
}

static uint32_t constant_by(int sm)
{
    static char body[1024];
    snprintf(body, sizeof body,
             "mov.u32 %%r9, %%smid;\nsetp.ne.u32 %%p7, %%r9, %d;\n@%%p7 bra END;\n", sm);
    strcat(body, TIMED("ld.const.u32 %r2, [%rd0+65536];\n", 0) "END:\n");
    assert_true(gpu_bench_run(&g, body, 12, 1));
    return g.buffer[0];
}

static void a_cluster_of_any_size_shares_its_second_constant_cache(void **state)
{
    (void)state;
    load_two_clusters();
    const struct cache_spec *l1 = &g.model->constant_l1, *l15 = &g.model->constant_l15;
    uint32_t hit = g.model->sm.constant.address_cycles + l1->miss_cycles + l15->hit_cycles + 20 +
                   l1->fill_cycles + 2;
    uint32_t first = constant_by(0), other_cluster = constant_by(11);
    assert_true(first > hit + 100 && other_cluster > hit + 100);
    assert_int_equal(constant_by(3), hit); /* what SM 0 has brought */
    assert_int_equal(constant_by(10), hit);
    assert_int_equal(constant_by(11), hit); /* its own */
    gpu_bench_free(&g);
}

/* Time and memory are the same on one thread and on two. */
static void shared_caches_do_not_depend_on_host_threads(void **state)
{
    (void)state;
    uint64_t cycles[2];
    for (uint32_t threads = 1; threads <= 2; threads++) {
        load_two_clusters();
        assert_int_equal(gpu_set_threads(g.gpu, threads), 0);
        assert_true(gpu_bench_run(&g,
                                  "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
                                  "and.b32 %r3, %r1, 31;\nmad.lo.u32 %r3, %r2, 64, %r3;\n"
                                  "mul.lo.u32 %r3, %r3, 4;\ncvt.u64.u32 %rd1, %r3;\n"
                                  "add.u64 %rd1, %rd1, %rd0;\nld.const.u32 %r4, [%rd1+65536];\n"
                                  "ld.global.u32 %r5, [%rd1+131072];\nadd.u32 %r4, %r4, %r5;\n"
                                  "st.global.u32 [%rd1], %r4;\n",
                                  48, 128));
        cycles[threads - 1] = g.cycles;
        gpu_bench_free(&g);
    }
    assert_int_equal(cycles[0], cycles[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_near_and_its_miss_goes_to_the_home),
        cmocka_unit_test(a_write_or_an_atomic_at_home_ends_the_copies),
        cmocka_unit_test(an_atomic_of_another_part_may_take_longer_to_go_there),
        cmocka_unit_test(slices_may_lie_farther_away),
        cmocka_unit_test(a_fence_takes_longer_behind_accesses_of_lines_at_home_far_away),
        cmocka_unit_test(copies_do_not_wait_for_each_other_in_a_circle),
        cmocka_unit_test(a_cluster_of_any_size_shares_its_second_constant_cache),
        cmocka_unit_test(shared_caches_do_not_depend_on_host_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
