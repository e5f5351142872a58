/* Reads that an L1 does not serve: whether they found nothing, or what others had asked for. */
#include "support/cache_rig.h"

static void an_l1_tells_which_reads_found_their_line_on_its_way(void **state)
{
    (void)state;
    struct cache_rig f;
    cache_rig_open(&f, 50);
    f.spec.sector_bytes = 32;
    cache_rig_start(&f, MEM_AT_L1);
    static const struct {
        uint64_t address;
        bool joined;
    } reads[] = {{0x1000, false}, {0x1010, true}, {0x1020, false}, {0x1024, true}};
    struct probe probe[4], hit;
    for (uint32_t i = 0; i < 4; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, reads[i].address, 4);
        assert_true(probe_send(&probe[i], f.port));
    }
    engine_run(f.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(probe[i].request.joined, reads[i].joined);
    }
    probe_init(&hit, f.engine, MEM_READ, 0x1004, 4);
    assert_true(probe_send(&hit, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_false(hit.request.joined);
    assert_int_equal(mem_cache_stats(f.cache)->read_pending_hits, 2);
    assert_int_equal(mem_cache_stats(f.cache)->read_hits, 1);
    cache_rig_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_l1_tells_which_reads_found_their_line_on_its_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
