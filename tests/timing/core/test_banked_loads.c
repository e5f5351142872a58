/*
 * When a load's requests leave where L1's tags lie in banks: one a bank in a cycle, and the next
 * load's only when the banks of L1's data have served this one, whatever other warps' atomics do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/sm_bench.h"

enum { WARPS = 4, TURNS = 6, LOADS = WARPS * TURNS, LINES = 32 };

static struct bench b;

/* The first warps load, `apart` bytes from lane to lane; `reducing` others reduce, all one word. */
static void run(uint32_t apart, uint32_t reducing)
{
    char body[2048];
    snprintf(body, sizeof body,
             "mov.u32 %%r29, %%tid.x;\nand.b32 %%r28, %%r29, 31;\nmul.lo.u32 %%r28, %%r28, %u;\n"
             "cvt.u64.u32 %%rd2, %%r28;\nadd.u64 %%rd1, %%rd0, %%rd2;\nmov.u32 %%r20, 0;\n"
             "setp.ge.u32 %%p1, %%r29, %u;\n@%%p1 bra OTHERS;\nL:\nld.global.u32 %%r1, [%%rd1];\n"
             "add.u32 %%r20, %%r20, 1;\nsetp.lt.u32 %%p2, %%r20, %u;\n@%%p2 bra L;\nret;\n"
             "OTHERS:\nred.global.add.u32 [%%rd0+524288], 1;\n"
             "add.u32 %%r20, %%r20, 1;\nsetp.lt.u32 %%p2, %%r20, 12;\n@%%p2 bra OTHERS;\n",
             apart, WARPS * WARP_LANES, TURNS);
    bench_defaults(&b);
    b.with_l1 = true;
    b.spec.lsu_tag_banks = 4;
    b.spec.lsu_queue_entries = 64;
    if (!bench_run(&b, body, 1, (WARPS + reducing) * WARP_LANES)) {
        fail_msg("%s", b.error < 0 ? error_text() : b.stall);
    }
}

/* The cycle in which load `index` sends its first request, of so many; and its last. */
static void sent(uint64_t *first, uint64_t *last, uint32_t index, uint32_t requests)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < b.log_count; i++) {
        if (b.log[i].kind == MEM_READ) {
            *first = seen == index * requests ? b.log[i].cycle : *first;
            *last = seen == (index + 1) * requests - 1 ? b.log[i].cycle : *last;
            seen++;
        }
    }
    assert_int_equal(seen, LOADS * requests);
}

static void expect(uint32_t apart, uint32_t reducing, uint32_t requests, uint64_t turns,
                   uint64_t passes)
{
    uint64_t first = 0, last = 0, before = 0;
    run(apart, reducing);
    for (uint32_t i = 0; i < LOADS; i++) {
        sent(&first, &last, i, requests);
        assert_int_equal(last - first, turns - 1);
        assert_true(i == 0 || first - before >= passes);
        if (i > 0 && i < WARPS && reducing == 0) {
            assert_int_equal(first - before, passes);
        }
        before = first;
    }
    bench_free(&b);
}

static void lines_leave_one_a_bank_in_a_cycle(void **state)
{
    (void)state;
    expect(132, 0, LINES, 8, 8); /* each lane in a bank of data of its own */
    expect(128, 0, LINES, 8, 32);
    expect(512, 0, LINES, 32, 32);
}

static void atomics_of_other_warps_do_not_free_the_banks(void **state)
{
    (void)state;
    expect(128, 8, LINES, 8, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_leave_one_a_bank_in_a_cycle),
        cmocka_unit_test(atomics_of_other_warps_do_not_free_the_banks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
