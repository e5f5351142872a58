/*
 * Who gets the next CTA: the order in which an H200 has given CTAs to its clusters (`%smid`,
 * 30 November 2026; docs/h200.md), grid after grid as the card ran them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/gpu_bench.h"

enum { SMS = 132, MOST_CTAS = 528 };

static struct gpu_bench g;
static uint32_t sm_of[MOST_CTAS], placed;

static void note_place(void *ctx, uint64_t cta, uint32_t sm, uint64_t cycle, bool ends)
{
    (void)ctx;
    (void)cycle;
    if (!ends) {
        sm_of[cta] = sm;
        placed++;
    }
}

static void begin(const char *model)
{
    assert_true(gpu_bench_load(&g, model));
    assert_true(gpu_bench_build(&g));
    /* Of shared memory there is enough for all blocks. */
    assert_int_equal(gpu_set_carveout(g.gpu, g.model->carveout.count - 1), 0);
    gpu_set_placed(g.gpu, note_place, NULL);
}

static void deal(uint32_t ctas, uint32_t threads)
{
    placed = 0;
    assert_true(gpu_bench_run(&g, "", ctas, threads));
    assert_int_equal(placed, ctas);
}

/* Clusters as gh100.yaml lists them; 8: the SMs apart. */
static uint32_t group_of(uint32_t sm)
{
    return sm >= 124 ? 8 : g.model->cluster_of.number[sm];
}

/* The runs of one group's SMs, as "8:8 0:4 1:8". */
static const char *runs(uint32_t ctas)
{
    static char text[8 * MOST_CTAS];
    size_t length = 0;
    for (uint32_t i = 0, first = 0; i < ctas; i++) {
        if (i + 1 == ctas || group_of(sm_of[i + 1]) != group_of(sm_of[i])) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%u:%u",
                                       length ? " " : "", group_of(sm_of[i]), i + 1 - first);
            first = i + 1;
        }
    }
    return text;
}

static void check_runs(uint32_t ctas, uint32_t threads, const char *expected)
{
    deal(ctas, threads);
    assert_string_equal(runs(ctas), expected);
}

static void grids_are_dealt_as_on_the_card(void **state)
{
    (void)state;
    begin("h200");
    const char *all = "8:8 0:8 1:16 2:16 3:16 4:16 5:16 6:18 7:18";
    check_runs(64, 1024, "8:8 0:4 1:8 2:8 3:8 4:7 5:7 6:7 7:7");
    check_runs(132, 1024, all);
    check_runs(132, 1024, all);
    check_runs(264, 1024,
               "8:8 0:8 1:16 2:16 3:16 4:16 8:8 5:16 6:18 7:18 0:8 1:16 2:16 3:16 4:16 5:16 6:18 "
               "7:18");
    /* After another grid the next cluster was 5. */
    check_runs(13, 256, "8:8 0:1 1:1 2:1 3:1 4:1");
    const char *later = "8:8 5:16 6:18 7:18 0:8 1:16 2:16 3:16 4:16";
    check_runs(132, 256, later);
    check_runs(132, 32, later);
    check_runs(528, 256,
               "8:8 5:16 6:18 7:18 0:8 1:16 8:8 2:16 3:16 4:16 5:16 6:18 7:18 8:8 0:8 1:16 2:16 "
               "3:16 4:16 5:16 8:8 6:18 7:18 0:8 1:16 2:16 3:16 4:16 5:16 6:18 7:18 0:8 1:16 2:16 "
               "3:16 4:16");
    check_runs(132, 128, later);
    check_runs(20, 128, "8:8 5:1 6:1 7:1 0:2 1:2 2:2 3:2 4:1");
    check_runs(132, 64, later);
    check_runs(300, 512,
               "8:8 5:16 6:18 7:18 0:8 1:16 8:8 2:16 3:16 4:16 5:16 6:18 7:18 0:8 1:16 2:16 3:16 "
               "4:16 8:8 5:3 6:3 7:3 0:4 1:4 2:4 3:4 4:3");
    gpu_bench_free(&g);
}

static void few_ctas_go_to_one_sm_of_each_tpc(void **state)
{
    (void)state;
    static const uint32_t card[] = {124, 125, 126, 127, 128, 129, 130, 131, 0,  16,
                                    32,  48,  2,   18,  34,  50,  64,  78,  92, 106,
                                    4,   20,  36,  52,  66,  80,  94,  108, 6,  22};
    begin("h200");
    deal(64, 1024);
    assert_memory_equal(sm_of, card, sizeof card);
    gpu_bench_free(&g);
}

static void grids_that_fill_the_gpu_fill_each_sm(void **state)
{
    (void)state;
    begin("h200");
    deal(400, 1024); /* later CTAs take places that have become free: the turn stays */
    uint32_t first[SMS] = {0};
    for (uint32_t i = 0; i < 2 * SMS; i++) {
        first[sm_of[i]]++;
    }
    for (uint32_t sm = 0; sm < SMS; sm++) {
        assert_int_equal(first[sm], 2);
    }
    check_runs(13, 256, "8:8 0:1 1:1 2:1 3:1 4:1");
    gpu_bench_free(&g);
}

static void where_fewer_sms_are_than_lie_apart_none_does(void **state)
{
    (void)state;
    assert_true(gpu_bench_load(&g, "gtx780"));
    g.model->sms = g.model->clusters = 4;
    g.model->cluster_of.count = 0;
    g.model->cta_deal =
        (struct cta_deal_spec){.by_cluster = true, .apart_sms = 5, .apart_every = 1, .tpc_sms = 1};
    assert_true(gpu_bench_build(&g));
    gpu_set_placed(g.gpu, note_place, NULL);
    static const uint32_t first[] = {0, 1, 2, 3, 0, 1}, second[] = {2, 3, 0, 1, 0, 1};
    deal(6, 32);
    assert_memory_equal(sm_of, first, sizeof first);
    deal(6, 32);
    assert_memory_equal(sm_of, second, sizeof second);
    gpu_bench_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_are_dealt_as_on_the_card),
        cmocka_unit_test(few_ctas_go_to_one_sm_of_each_tpc),
        cmocka_unit_test(grids_that_fill_the_gpu_fill_each_sm),
        cmocka_unit_test(where_fewer_sms_are_than_lie_apart_none_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
