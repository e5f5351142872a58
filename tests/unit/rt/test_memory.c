/* Device memory through the runtime: addresses, frames, copies and their bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "rt/state.h"
#include "util/error.h"

static struct model *model;
static struct rt *rt;

static int setup(void **state)
{
    (void)state;
    if (model_load(&model, "gtx780") < 0) {
        return -1;
    }
    model->vm.memory_bytes = 64u << 20;
    return rt_create(&rt, model);
}

static int teardown(void **state)
{
    (void)state;
    rt_destroy(rt);
    model_destroy(model);
    return 0;
}

static uint64_t take(uint64_t bytes)
{
    uint64_t address;
    assert_int_equal(rt_mem_alloc(rt, &address, bytes), 0);
    assert_int_equal(address % 256, 0);
    return address;
}

static uint64_t frame_of(uint64_t address)
{
    uint64_t paddr = 0;
    assert_true(vmem_physical(&rt->vmem, address, &paddr));
    return paddr / model->vm.page_bytes;
}

static void what_is_copied_in_comes_back_out(void **state)
{
    (void)state;
    uint64_t address = take(1000);
    char in[1000], out[1000];
    for (int i = 0; i < 1000; i++) {
        in[i] = (char)(i * 7);
    }
    assert_int_equal(rt_copy_to_device(rt, address, in, 1000), 0);
    assert_int_equal(rt_copy_from_device(rt, out, address, 1000), 0);
    assert_memory_equal(in, out, 1000);
    assert_int_equal(rt_memset(rt, address + 10, 0x5A, 20), 0);
    assert_int_equal(rt_copy_from_device(rt, out, address, 1000), 0);
    assert_int_equal(out[9], in[9]);
    assert_int_equal(out[10], 0x5A);
    assert_int_equal(out[29], 0x5A);
    assert_int_equal(out[30], in[30]);
}

static void a_copy_past_the_end_is_refused(void **state)
{
    (void)state;
    uint64_t address = take(1000);
    char bytes[1001] = {0};
    assert_int_equal(rt_copy_to_device(rt, address, bytes, 1001), SONDE_EINPUT);
    assert_int_equal(rt_copy_from_device(rt, bytes, address + 1, 1000), SONDE_EINPUT);
    assert_int_equal(rt_copy_from_device(rt, bytes, 64, 4), SONDE_EINPUT);
    assert_int_equal(rt_memset(rt, address, 0, UINT64_MAX), SONDE_EINPUT);
    assert_int_equal(rt_copy_to_device(rt, address + 5000, bytes, 0), 0);
}

static void frames_are_contiguous_in_the_order_of_allocation(void **state)
{
    (void)state;
    uint64_t page = model->vm.page_bytes;
    uint64_t a = take(3 * page), c = take(2 * page);
    assert_int_equal(frame_of(a), 0);
    assert_int_equal(frame_of(a + 2 * page), 2);
    assert_int_equal(frame_of(c), 3);
    assert_int_equal(frame_of(c + page), 4);
}

static void small_allocations_share_a_page_until_the_last_is_freed(void **state)
{
    (void)state;
    uint64_t a = take(100), c = take(100);
    assert_int_equal(c, a + 256);
    assert_int_equal(frame_of(a), frame_of(c));
    assert_int_equal(rt_mem_free(rt, a), 0);
    assert_int_equal(frame_of(c), 0);
    assert_int_equal(rt_mem_free(rt, c), 0);
    uint64_t paddr;
    assert_false(vmem_physical(&rt->vmem, c, &paddr));
}

static void freed_memory_is_given_out_again(void **state)
{
    (void)state;
    enum { PAGES = 30 }; /* of 32: each level of the page table has one */
    assert_int_equal(model->walker.levels, 2);
    uint64_t page = model->vm.page_bytes, blocks[PAGES];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PAGES; i++) {
            blocks[i] = take(page);
        }
        uint64_t more;
        assert_int_equal(rt_mem_alloc(rt, &more, 1), SONDE_ENOMEM);
        assert_true(rt_memory_full(rt));
        for (int i = 0; i < PAGES; i++) {
            assert_int_equal(rt_mem_free(rt, blocks[(i * 7 + round) % PAGES]), 0);
        }
    }
    uint64_t whole = take(PAGES * page);
    assert_int_equal(frame_of(whole + (PAGES - 1) * page), PAGES - 1);
}

static void each_page_has_its_entries_in_frames_that_hold_no_data(void **state)
{
    (void)state;
    uint64_t page = model->vm.page_bytes, block = take(29 * page), before[2] = {0}, entry;
    for (uint64_t i = 0; i < 29; i++) {
        for (uint32_t level = 0; level < 2; level++) {
            const struct walker_level_spec *spec = &model->walker.level[level];
            assert_true(vmem_entry(&rt->vmem, level, block + i * page, &entry));
            assert_int_equal(entry / page, 31 - level);
            if (i > 0) {
                assert_int_equal(entry - before[level],
                                 page / spec->span_bytes * spec->entry_bytes);
            }
            before[level] = entry;
        }
        assert_true(frame_of(block + i * page) < 30);
    }
    assert_false(vmem_entry(&rt->vmem, 2, block, &entry));
    assert_false(vmem_entry(&rt->vmem, 0, block - page * 4096, &entry));
}

enum { MANY_FRAMES = 300, TABLE_LEVELS = 2 };

/* Who has a frame. 0: nobody; TABLE_LEVELS + 1: a page; else a table, by its level + 1. */
static unsigned char owner[MANY_FRAMES];

/* Notes the frames of `pages` pages at `address`, and of the entries that stand for them. */
static void own(const struct rt *device, uint64_t page, uint64_t address, uint64_t pages)
{
    for (uint64_t at = address; at < address + pages * page; at += page) {
        uint64_t paddr;
        assert_true(vmem_physical(&device->vmem, at, &paddr));
        assert_in_range(paddr / page, 0, MANY_FRAMES - 1);
        assert_int_equal(owner[paddr / page], 0);
        owner[paddr / page] = TABLE_LEVELS + 1;
        for (uint32_t level = 0; level < TABLE_LEVELS; level++) {
            assert_true(vmem_entry(&device->vmem, level, at, &paddr));
            assert_in_range(paddr / page, 0, MANY_FRAMES - 1);
            unsigned char *table = &owner[paddr / page];
            assert_true(*table == 0 || *table == level + 1);
            *table = (unsigned char)(level + 1);
        }
    }
}

static uint32_t owned(void)
{
    uint32_t frames = 0;
    for (uint32_t frame = 0; frame < MANY_FRAMES; frame++) {
        frames += owner[frame] != 0;
    }
    return frames;
}

/* Pages take frames from the bottom, tables from the top, until they meet; then what was freed. */
static void no_frame_is_given_out_twice(void **state)
{
    (void)state;
    struct model *many;
    struct rt *device;
    assert_int_equal(model_load(&many, "gtx780"), 0);
    uint64_t page = many->vm.page_bytes, address[MANY_FRAMES / 2], block, paddr;
    many->vm.memory_bytes = MANY_FRAMES * page;
    many->walker.levels = TABLE_LEVELS;
    for (uint32_t level = 0; level < TABLE_LEVELS; level++) {
        many->walker.level[level].span_bytes = page;
        many->walker.level[level].entry_bytes = (uint32_t)(page / 2); /* a frame for two pages */
    }
    assert_int_equal(rt_create(&device, many), 0);
    memset(owner, 0, sizeof owner);
    for (uint32_t i = 0; i < MANY_FRAMES / 2; i++) {
        assert_int_equal(rt_mem_alloc(device, &address[i], page), 0);
        own(device, page, address[i], 1);
    }
    assert_int_equal(owned(), MANY_FRAMES);
    assert_int_equal(device->vmem.frames_used, MANY_FRAMES);
    assert_int_equal(rt_mem_alloc(device, &block, page), SONDE_ENOMEM);
    /* Every other page of the first; three in a row then lie at new addresses, with new tables. */
    for (uint32_t i = 0; i < 16; i += 2) {
        assert_true(vmem_physical(&device->vmem, address[i], &paddr));
        owner[paddr / page] = 0;
        assert_int_equal(rt_mem_free(device, address[i]), 0);
    }
    assert_int_equal(rt_mem_alloc(device, &block, 3 * page), 0);
    own(device, page, block, 3);
    assert_int_equal(owned(), MANY_FRAMES - 8 + 7);
    assert_int_equal(device->vmem.frames_used, owned());
    rt_destroy(device);
    model_destroy(many);
}

static void large_ranges_begin_where_the_tlbs_sets_repeat(void **state)
{
    (void)state;
    uint64_t page = model->vm.page_bytes;
    take(256);
    assert_int_equal(take(3 * page) % (2 * page), 0);
    assert_int_equal(take(17 * page) % (16 * page), 0);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    uint64_t address = take(4096), other;
    assert_int_equal(rt_mem_alloc(rt, &other, 0), SONDE_EINPUT);
    assert_int_equal(rt_mem_alloc(rt, &other, UINT64_MAX), SONDE_ENOMEM);
    assert_int_equal(rt_mem_alloc(rt, &other, (64u << 20) + 1), SONDE_ENOMEM);
    assert_int_equal(rt_mem_free(rt, address + 256), SONDE_EINPUT);
    assert_int_equal(rt_mem_free(rt, address), 0);
    assert_int_equal(rt_mem_free(rt, address), SONDE_EINPUT);
    assert_int_equal(rt_mem_free(rt, 0), 0);
}

static void two_devices_do_not_share_memory(void **state)
{
    (void)state;
    struct rt *second;
    assert_int_equal(rt_create(&second, model), 0);
    uint64_t a = take(16), c;
    assert_int_equal(rt_mem_alloc(second, &c, 16), 0);
    assert_int_equal(rt_memset(rt, a, 1, 16), 0);
    assert_int_equal(rt_memset(second, c, 2, 16), 0);
    uint8_t out[16];
    assert_int_equal(rt_copy_from_device(rt, out, a, 16), 0);
    assert_int_equal(out[0], 1);
    assert_int_equal(rt_copy_from_device(rt, out, c, 16), SONDE_EINPUT);
    rt_destroy(second);
}

static void addresses_are_the_same_in_every_run(void **state)
{
    (void)state;
    uint64_t first = take(5000);
    rt_destroy(rt);
    assert_int_equal(rt_create(&rt, model), 0);
    assert_int_equal(take(5000), first);
}

static void a_carve_out_is_the_nearest_that_holds_what_is_asked(void **state)
{
    (void)state;
    struct model *fermi;
    struct rt *device;
    assert_int_equal(model_load(&fermi, "gtx560ti"), 0);
    fermi->carveout.follows_preference = true;
    assert_int_equal(rt_create(&device, fermi), 0);
    uint64_t l1_bytes;
    assert_int_equal(rt_set_carveout(device, 16 << 10, &l1_bytes), 0);
    assert_int_equal(l1_bytes, 48 << 10);
    assert_int_equal(rt_set_carveout(device, (16 << 10) + 1, &l1_bytes), 0);
    assert_int_equal(l1_bytes, 16 << 10);
    assert_int_equal(rt_set_carveout(device, 0, &l1_bytes), 0);
    assert_int_equal(l1_bytes, 48 << 10);
    assert_int_equal(rt_set_carveout(device, 49 << 10, &l1_bytes), SONDE_EINPUT);
    rt_destroy(device);
    model_destroy(fermi);
}

static void what_was_printed_and_overwritten_takes_no_memory(void **state)
{
    (void)state;
    assert_int_equal(rt_set_limit(rt, RT_LIMIT_PRINTF_FIFO, 1024), 0);
    for (int i = 0; i < 1 << 18; i++) {
        assert_true(rt->services.print(rt->services.ctx, "", 0, 16));
    }
    assert_true(rt->print.calls.count < 1 << 17);
    assert_int_equal(rt_print_lost(rt), (1 << 18) - 1024 / 16);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_copied_in_comes_back_out),
        TEST(a_copy_past_the_end_is_refused),
        TEST(frames_are_contiguous_in_the_order_of_allocation),
        TEST(small_allocations_share_a_page_until_the_last_is_freed),
        TEST(freed_memory_is_given_out_again),
        TEST(each_page_has_its_entries_in_frames_that_hold_no_data),
        TEST(no_frame_is_given_out_twice),
        TEST(large_ranges_begin_where_the_tlbs_sets_repeat),
        TEST(nonsense_is_refused),
        TEST(what_was_printed_and_overwritten_takes_no_memory),
        TEST(two_devices_do_not_share_memory),
        TEST(addresses_are_the_same_in_every_run),
        TEST(a_carve_out_is_the_nearest_that_holds_what_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
