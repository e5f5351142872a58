/*
 * Texture, read-only, constant and local memory on whole GPUs: latencies as the sums of what the
 * models list and as Mei et al. 2014, Table 5, print them, and the structure of the caches, seen by
 * what a fetch costs. A timed load adds 1 cycle before and 1 after (one instruction issues a
 * cycle).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"

#define TEXTURE_AT (4u << 20)
#define TEXTURE_BYTES (1u << 20)
#define LOCAL_AT (32u << 20)

#define TIMED(load, slot)                                                                          \
    "st.volatile.shared.u32 [smem+64], %r8;\nmov.u32 %r1, %clock;\n" load                          \
    "st.volatile.shared.u32 [smem], %r2;\nmov.u32 %r3, %clock;\n"                                  \
    "sub.u32 %r4, %r3, %r1;\nst.global.u32 [%rd0+" #slot "], %r4;\n"
#define FETCH "tex.1d.v4.u32.s32 {%r2, %r5, %r6, %r7}, [%rd6, {%r8}];\n"
#define HANDLE "mov.u64 %rd6, 0xfe00000000;\n"

static struct gpu_bench g;

static void build(const char *model)
{
    assert_true(gpu_bench_load(&g, model));
    g.model->sm.issue_per_scheduler = 1;
    g.model->copies_allocate_in_l2 = false;
    g.model->tlb_l1.entries.enabled = g.model->tlb_l2.entries.enabled = false;
    assert_true(gpu_bench_build(&g));
    buffer_texture_make(&g.texture, (uintptr_t)g.buffer + TEXTURE_AT, TEXTURE_BYTES);
    gpu_set_local(g.gpu, (uintptr_t)g.buffer + LOCAL_AT, 1u << 20);
}

static uint32_t serialization_cycles(uint32_t bytes, uint32_t width)
{
    return width && bytes > width ? (bytes + width - 1) / width - 1 : 0;
}

/* From a cache of the SM to L2, which hits, and back. */
static uint32_t l2_cycles(uint32_t bytes)
{
    const struct noc_spec *noc = &g.model->noc;
    return noc->request_cycles + noc->reply_cycles + g.model->l2.hit_cycles +
           serialization_cycles(noc->header_bytes, noc->request_bytes_per_cycle) +
           serialization_cycles(noc->header_bytes + bytes, noc->reply_bytes_per_cycle) +
           serialization_cycles(bytes, g.model->l2.data_bytes_per_cycle);
}

static void a_texture_fetch_costs_what_table_5_prints(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        uint32_t hit, miss;
    } rows[] = {{"gtx560ti", 240, 470}, {"gtx780", 110, 220}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        build(rows[i].model);
        const struct texture_spec *unit = &g.model->sm.texture;
        const struct cache_spec *cache = &g.model->texture_l1;
        /* The first brings L2's line, the second another sector of it to L2; then both are there.
         */
        assert_true(
            gpu_bench_run(&g, HANDLE "mov.u32 %r8, 128;\n" TIMED(FETCH, 0) TIMED(FETCH, 4), 1, 1));
        uint32_t hit = g.buffer[1];
        assert_true(gpu_bench_run(&g, HANDLE "mov.u32 %r8, 128;\n" TIMED(FETCH, 0), 1, 1));
        assert_int_equal(hit, unit->address_cycles + cache->hit_cycles + unit->filter_cycles + 2);
        assert_int_equal(g.buffer[0], unit->address_cycles + cache->miss_cycles + l2_cycles(32) +
                                          cache->fill_cycles + unit->filter_cycles + 2);
        assert_in_range(hit, rows[i].hit - 3, rows[i].hit + 3);
        assert_in_range(g.buffer[0], rows[i].miss - 3, rows[i].miss + 3);
        gpu_bench_free(&g);
    }
}

/* Reads `count` lines `stride` apart twice, then times the first of them again. */
static uint32_t again_after(const char *model, uint32_t count, uint32_t stride_bytes)
{
    char body[2048];
    snprintf(body, sizeof body,
             "%smov.u32 %%r9, 0;\nPASS:\nmov.u32 %%r8, 0;\nmov.u32 %%r10, 0;\nNEXT:\n%s"
             "add.u32 %%r8, %%r8, %u;\nadd.u32 %%r10, %%r10, 1;\n"
             "setp.lt.u32 %%p1, %%r10, %u;\n@%%p1 bra NEXT;\nadd.u32 %%r9, %%r9, 1;\n"
             "setp.lt.u32 %%p1, %%r9, 2;\n@%%p1 bra PASS;\nmov.u32 %%r8, 0;\n%s",
             HANDLE, FETCH "st.volatile.shared.u32 [smem], %r2;\n", stride_bytes / 4, count,
             TIMED(FETCH, 0));
    build(model);
    assert_true(gpu_bench_run(&g, body, 1, 1));
    uint32_t cycles = g.buffer[0];
    gpu_bench_free(&g);
    return cycles;
}

static void texture_sets_are_chosen_by_bits_7_and_8_and_hold_96_lines(void **state)
{
    (void)state;
    static const char *const models[] = {"gtx560ti", "gtx780"};
    for (int i = 0; i < 2; i++) {
        uint32_t hit = i == 0 ? 240 : 110, miss = i == 0 ? 470 : 220;
        /* 512 B apart: one set. LRU: of 97 lines the oldest is the one that went. */
        assert_in_range(again_after(models[i], 96, 512), hit - 3, hit + 3);
        assert_in_range(again_after(models[i], 97, 512), miss - 3, miss + 3);
        /* 256 B apart: bit 8 changes, two sets. */
        assert_in_range(again_after(models[i], 192, 256), hit - 3, hit + 3);
        assert_in_range(again_after(models[i], 193, 256), miss - 3, miss + 3);
        /* 128 B apart: all four. */
        assert_in_range(again_after(models[i], 384, 128), hit - 3, hit + 3);
        assert_in_range(again_after(models[i], 385, 128), miss - 3, miss + 3);
        /* Lines in a row: all 12 KB; four lines share a set. */
        assert_in_range(again_after(models[i], 384, 32), hit - 3, hit + 3);
        assert_in_range(again_after(models[i], 385, 32), miss - 3, miss + 3);
    }
}

static void keplers_read_only_loads_share_the_texture_cache(void **state)
{
    (void)state;
    build("gtx780");
    assert_true(gpu_bench_run(&g,
                              HANDLE "mov.u32 %r8, 0;\n" TIMED(FETCH, 0)
                                  TIMED("ld.global.nc.u32 %r2, [%rd0+4194304];\n", 4)
                                      TIMED("ld.global.u32 %r2, [%rd0+4194304];\n", 8),
                              1, 1));
    assert_in_range(g.buffer[1], 107, 113); /* the fetch had brought it */
    assert_in_range(g.buffer[2], 227, 233); /* an ordinary load does not see it: L2 */
    gpu_bench_free(&g);
}

/* Its texels lie in global memory; the program sees a space of their own. */
static void a_fetch_is_counted_as_an_access_of_texture_memory(void **state)
{
    struct gpu_stats stats;
    (void)state;
    build("gtx780");
    assert_true(gpu_bench_run(&g, HANDLE "mov.u32 %r8, 0;\n" FETCH FETCH, 1, 32));
    gpu_stats(g.gpu, &stats);
    assert_int_equal(stats.sm.space[SPACE_TEX], 2);
    assert_int_equal(stats.sm.space_lanes[SPACE_TEX], 64);
    assert_int_equal(stats.sm.space[SPACE_GLOBAL], 0);
    gpu_bench_free(&g);
}

static void fermis_read_only_loads_are_global_loads(void **state)
{
    (void)state;
    build("gtx560ti");
    assert_true(gpu_bench_run(&g,
                              TIMED("ld.global.nc.u32 %r2, [%rd0+4194304];\n", 0)
                                  TIMED("ld.global.nc.u32 %r2, [%rd0+4194304];\n", 4),
                              1, 1));
    assert_in_range(g.buffer[1], 113, 119);
    struct gpu_stats stats;
    gpu_stats(g.gpu, &stats);
    assert_int_equal(stats.texture_reads, 0);
    gpu_bench_free(&g);
}

static void a_constant_comes_from_l1_from_l15_or_from_l2(void **state)
{
    (void)state;
    static const char *const models[] = {"gtx560ti", "gtx780"};
    for (int i = 0; i < 2; i++) {
        build(models[i]);
        const struct cache_spec *l1 = &g.model->constant_l1, *l15 = &g.model->constant_l15;
        uint32_t address = g.model->sm.constant.address_cycles;
        /* 5 lines of one L1 set (its sets repeat every 512 B), each in a line of L1.5 of its own.
         */
        assert_true(gpu_bench_run(
            &g,
            "ld.const.u32 %r2, [%rd0+65536];\nst.volatile.shared.u32 [smem], %r2;\n"
            "ld.const.u32 %r2, [%rd0+66048];\nst.volatile.shared.u32 [smem], %r2;\n"
            "ld.const.u32 %r2, [%rd0+66560];\nst.volatile.shared.u32 [smem], %r2;\n"
            "ld.const.u32 %r2, [%rd0+67072];\nst.volatile.shared.u32 [smem], %r2;\n" TIMED(
                "ld.const.u32 %r2, [%rd0+65540];\n",
                0) "ld.const.u32 %r2, [%rd0+67584];\nst.volatile.shared.u32 [smem], %r2;\n"
                   "ld.const.u32 %r2, [%rd0+68096];\nst.volatile.shared.u32 [smem], %r2;\n"
                   "ld.const.u32 %r2, [%rd0+68608];\nst.volatile.shared.u32 [smem], %r2;\n"
                   "ld.const.u32 %r2, [%rd0+69120];\nst.volatile.shared.u32 [smem], %r2;\n" TIMED(
                       "ld.const.u32 %r2, [%rd0+65540];\n", 4),
            1, 1));
        assert_int_equal(g.buffer[0], address + l1->hit_cycles + 2);
        assert_int_equal(g.buffer[1],
                         address + l1->miss_cycles + l15->hit_cycles + l1->fill_cycles + 2);
        assert_true(gpu_bench_run(
            &g, "cvt.u32.u64 %r8, %rd0;\n" TIMED("ld.const.u32 %r2, [%rd0+65536];\n", 0), 1, 1));
        /* A launch begins with both empty, but L2 has the line. */
        assert_int_equal(g.buffer[0], address + l1->miss_cycles + l15->miss_cycles + l2_cycles(64) +
                                          l15->fill_cycles + l1->fill_cycles + 2);
        gpu_bench_free(&g);
    }
}

/* One thread's words lie 128 B apart: a line of L1 each. Two loads of each word, the second timed
 * at the last. */
static void keplers_l1_serves_local_memory_alone(void **state)
{
    (void)state;
    build("gtx780");
    assert_true(gpu_bench_run(&g,
                              ".local .align 16 .b8 own[64];\nmov.u64 %rd7, own;\n"
                              "cvt.u32.u64 %r8, %rd7;\n" TIMED("ld.local.u32 %r2, [%rd7];\n", 0)
                                  TIMED("ld.local.u32 %r2, [%rd7];\n", 4)
                                      TIMED("ld.global.u32 %r2, [%rd0+65536];\n", 8)
                                          TIMED("ld.global.u32 %r2, [%rd0+65536];\n", 12),
                              1, 1));
    assert_int_equal(g.buffer[1], g.model->sm.lsu_cycles + g.model->l1_data.hit_cycles + 2);
    assert_in_range(g.buffer[3], 227, 233);
    struct gpu_stats stats;
    gpu_stats(g.gpu, &stats);
    assert_int_equal(stats.l1_reads, 2);
    assert_int_equal(stats.l1_hits, 1);
    gpu_bench_free(&g);
}

static void local_memory_that_was_given_too_little_room_takes_a_fixed_time(void **state)
{
    (void)state;
    build("gtx780");
    gpu_set_local(g.gpu, (uintptr_t)g.buffer + LOCAL_AT, 64 * 32 - 1);
    assert_true(gpu_bench_run(&g,
                              ".local .align 16 .b8 own[64];\nmov.u64 %rd7, own;\n"
                              "cvt.u32.u64 %r8, %rd7;\n" TIMED("ld.local.u32 %r2, [%rd7];\n", 0),
                              1, 1));
    assert_int_equal(g.buffer[0], g.model->sm.local_hit_cycles + 2);
    gpu_bench_free(&g);
}

/* Two addresses of a warp, one look-up after the other. */
static void a_warps_constant_addresses_go_one_by_one(void **state)
{
    (void)state;
    uint32_t cycles[2];
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(gpu_bench_load(&g, "gtx560ti"));
        g.model->sm.issue_per_scheduler = 1;
        g.model->sm.constant.interval_cycles = i == 0 ? 1 : 11;
        g.model->tlb_l1.entries.enabled = g.model->tlb_l2.entries.enabled = false;
        assert_true(gpu_bench_build(&g));
        assert_true(
            gpu_bench_run(&g,
                          "mov.u32 %r8, %tid.x;\nand.b32 %r8, %r8, 3;\nshl.b32 %r8, %r8, 2;\n"
                          "cvt.u64.u32 %rd6, %r8;\nadd.u64 %rd6, %rd6, %rd0;\n"
                          "ld.const.u32 %r9, [%rd6+65536];\nadd.u32 %r9, %r9, 1;\n" TIMED(
                              "ld.const.u32 %r2, [%rd6+65536];\n", 0),
                          1, 32));
        cycles[i] = g.buffer[0];
        gpu_bench_free(&g);
    }
    assert_int_equal(cycles[1], cycles[0] + 3 * 10); /* four addresses */
}

/* The issue adds 1 cycle before and 1 after; each path has an address path of its own. */
static void local_and_read_only_loads_may_take_longer_or_shorter_to_l1(void **state)
{
    (void)state;
    assert_true(gpu_bench_load(&g, "gtx560ti"));
    g.model->sm.issue_per_scheduler = 1;
    g.model->sm.readonly = READONLY_L1;
    g.model->sm.lsu_local_cycles = g.model->sm.lsu_cycles - 2;
    g.model->sm.lsu_readonly_cycles = g.model->sm.lsu_cycles + 3;
    g.model->tlb_l1.entries.enabled = g.model->tlb_l2.entries.enabled = false;
    assert_true(gpu_bench_build(&g));
    gpu_set_local(g.gpu, (uintptr_t)g.buffer + LOCAL_AT, 1u << 20);
    assert_true(gpu_bench_run(&g,
                              ".local .align 16 .b8 own[64];\nmov.u64 %rd7, own;\n"
                              "cvt.u32.u64 %r8, %rd7;\n" TIMED("ld.local.u32 %r2, [%rd7];\n", 0)
                                  TIMED("ld.local.u32 %r2, [%rd7];\n", 0)
                                      TIMED("ld.global.u32 %r2, [%rd0+65536];\n", 4)
                                          TIMED("ld.global.u32 %r2, [%rd0+65536];\n", 4)
                                              TIMED("ld.global.nc.u32 %r2, [%rd0+65536];\n", 8),
                              1, 1));
    uint32_t hit = g.model->sm.lsu_cycles + g.model->l1_data.hit_cycles + 2;
    assert_int_equal(g.buffer[0], hit - 2);
    assert_int_equal(g.buffer[1], hit);
    assert_int_equal(g.buffer[2], hit + 3);
    gpu_bench_free(&g);
}

/* A fetch finds what a load has brought, and the other way round. */
static void a_texture_unit_may_look_in_l1(void **state)
{
    (void)state;
    assert_true(gpu_bench_load(&g, "gtx560ti"));
    g.model->sm.issue_per_scheduler = 1;
    g.model->texture_l1.enabled = false;
    g.model->sm.texture.by_l1 = true;
    g.model->tlb_l1.entries.enabled = g.model->tlb_l2.entries.enabled = false;
    assert_true(gpu_bench_build(&g));
    buffer_texture_make(&g.texture, (uintptr_t)g.buffer + TEXTURE_AT, TEXTURE_BYTES);
    assert_true(gpu_bench_run(
        &g,
        HANDLE "mov.u32 %r8, 0;\nld.global.u32 %r9, [%rd0+4194304];\n"
               "add.u32 %r9, %r9, 1;\n" TIMED(FETCH, 0) "mov.u32 %r8, 1024;\n" TIMED(FETCH, 4)
                   TIMED("ld.global.u32 %r2, [%rd0+4198400];\n", 8),
        1, 1));
    const struct texture_spec *unit = &g.model->sm.texture;
    uint32_t hit = unit->address_cycles + g.model->l1_data.hit_cycles + unit->filter_cycles + 2;
    assert_int_equal(g.buffer[0], hit);
    assert_true(g.buffer[1] > hit + 100);
    assert_int_equal(g.buffer[2], g.model->sm.lsu_cycles + g.model->l1_data.hit_cycles + 2);
    gpu_bench_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fetch_is_counted_as_an_access_of_texture_memory),
        cmocka_unit_test(a_texture_fetch_costs_what_table_5_prints),
        cmocka_unit_test(texture_sets_are_chosen_by_bits_7_and_8_and_hold_96_lines),
        cmocka_unit_test(keplers_read_only_loads_share_the_texture_cache),
        cmocka_unit_test(fermis_read_only_loads_are_global_loads),
        cmocka_unit_test(a_constant_comes_from_l1_from_l15_or_from_l2),
        cmocka_unit_test(keplers_l1_serves_local_memory_alone),
        cmocka_unit_test(local_and_read_only_loads_may_take_longer_or_shorter_to_l1),
        cmocka_unit_test(a_warps_constant_addresses_go_one_by_one),
        cmocka_unit_test(a_texture_unit_may_look_in_l1),
        cmocka_unit_test(local_memory_that_was_given_too_little_room_takes_a_fixed_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
