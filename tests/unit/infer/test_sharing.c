/*
 * Which paths go through one cache: from a toy whose local memory lies in the first level of plain
 * loads, and whose textures go their own way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/experiments.h"
#include "infer/level.h"
#include "support/toy_lab.h"

enum { HIT = 50, MISS = 80, THRESHOLD = 65, HUMP = 30, FITS = 256, STRIDE = 32, CACHES = 3 };

static const struct level_info infos[CACHES] = {
    {"l1_data", "sm", "ca", "", "cg", 0, 0, ""},
    {"texture_l1", "sm", "tex", "", "cg", 0, 0, ""},
    {"local_l1", "sm", "local", "", "cg", 0, 0, ""},
};

/* Lines of one of both paths, plain loads and local memory, are gone when the other one has read as
 * much as they are. */
struct toy {
    bool noisy; /* one record in eight is as slow as a miss, another one in each run */
    unsigned asked;
};

static int answer(void *ctx, struct trace *trace)
{
    struct toy *toy = ctx;
    const struct trace_request *r = &trace->request;
    const char *by = trace_request_text(r, "other");
    bool apart = !by || strcmp(by, "tex") == 0 || strcmp(by, "none") == 0;
    bool gone = !apart && toy_number(r, "other_bytes", 0) >= toy_number(r, "bytes", 0);
    struct toy_walk walk = toy_walk_of(r);
    for (uint64_t i = 0; i < walk.window * walk.windows; i++) {
        walk.latency[i] = (gone ? MISS : HIT) + (toy->noisy && (i + toy->asked) % 8 == 0) * HUMP;
    }
    toy->asked++;
    return toy_walk_end(&walk, trace);
}

/* With what of plain loads is known: how much fits, or that their cache is there; and with what is
 * known of local memory's. */
static struct cache_result share_known(struct toy *toy, bool known, bool present, uint32_t repeats,
                                       bool own)
{
    struct toy_lab bench;
    struct level_summary summaries[CACHES] = {0};
    toy_lab_open(&bench, answer, toy, 1 << 20);
    for (size_t i = 0; i < CACHES; i++) {
        summaries[i].info = &infos[i];
    }
    summaries[0].known = known;
    summaries[0].fit.count = known ? FITS : 0;
    summaries[0].fit.stride = STRIDE;
    summaries[0].timing.threshold = THRESHOLD;
    summaries[2] = (struct level_summary){.info = &infos[2],
                                          .known = own,
                                          .repeats = repeats,
                                          .timing.threshold = THRESHOLD,
                                          .fit = {.stride = 4, .count = own ? FITS : 0}};
    bench.lab.levels = summaries;
    bench.lab.level_count = CACHES;
    bench.out->cache_count = CACHES;
    bench.out->caches[0].present = present;
    bench.out->caches[2].present = true;
    for (size_t i = 0; i < CACHES; i++) {
        memcpy(bench.out->caches[i].id, infos[i].id, strlen(infos[i].id) + 1);
    }
    assert_int_equal(sharing_dissect(&bench.lab), 0);
    struct cache_result result = bench.out->caches[2];
    toy_lab_close(&bench);
    return result;
}

static struct cache_result share(struct toy *toy, bool known, bool present, uint32_t repeats)
{
    return share_known(toy, known, present, repeats, true);
}

static void a_path_shares_its_cache_with_one_of_which_nothing_is_known(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        struct toy toy = {.noisy = false};
        struct cache_result result = share(&toy, known, true, 0);
        assert_true(result.sharing_known);
        assert_int_equal(result.shared_count, 1);
        assert_string_equal(result.shared_with[0], "l1_data");
    }
}

static void a_path_of_which_little_is_known_shares_the_cache_whose_lines_it_drives_out(void **state)
{
    (void)state;
    struct toy toy = {.noisy = false};
    struct cache_result result = share_known(&toy, true, true, 0, false);
    assert_true(result.sharing_known);
    assert_int_equal(result.shared_count, 1);
    assert_string_equal(result.shared_with[0], "l1_data");
    assert_false(share_known(&toy, false, true, 0, false).sharing_known);
}

/* Such a path's loads may as well end in L2: nobody asks what they drive out. */
static void a_cache_that_is_not_there_is_shared_with_nobody(void **state)
{
    (void)state;
    struct toy toy = {.noisy = false};
    struct cache_result result = share(&toy, false, false, 0);
    assert_true(result.sharing_known);
    assert_int_equal(result.shared_count, 0);
}

static void what_noise_makes_slow_in_one_launch_is_not_gone(void **state)
{
    (void)state;
    struct toy toy = {.noisy = true};
    assert_false(share(&toy, true, true, 0).sharing_known);
    struct cache_result result = share(&toy, true, true, 3);
    assert_true(result.sharing_known);
    assert_int_equal(result.shared_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_shares_its_cache_with_one_of_which_nothing_is_known),
        cmocka_unit_test(
            a_path_of_which_little_is_known_shares_the_cache_whose_lines_it_drives_out),
        cmocka_unit_test(a_cache_that_is_not_there_is_shared_with_nobody),
        cmocka_unit_test(what_noise_makes_slow_in_one_launch_is_not_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
