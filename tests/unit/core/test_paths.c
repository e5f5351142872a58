/*
 * The ways through an SM beside global memory, on a bench (tests/support/sm_bench.h): which port
 * gets which requests, and when results are usable. A measured stretch is clock, access, a volatile
 * store that waits for it, clock: 1 cycle before and 1 after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/sm_bench.h"

#define STRETCH(what, reg)                                                                         \
    "mov.u32 %r1, %clock;\n" what "st.volatile.shared.u32 [smem], " reg                            \
    ";\nmov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r1;\n"
#define RESULT(at) "st.global.u32 [%rd0+" #at "], %r4;\n"
#define LANE_ADDRESS(stride)                                                                       \
    "mov.u32 %r8, %tid.x;\nmul.wide.u32 %rd1, %r8, " #stride ";\nadd.u64 %rd1, %rd1, %rd0;\n"

static struct bench b;

static void start(void)
{
    bench_defaults(&b);
    b.with_l1 = b.with_texture = b.with_constant = true;
    b.spec.readonly = READONLY_TEXTURE;
}

static void run(const char *body, uint32_t threads)
{
    if (!bench_run(&b, body, 1, threads)) {
        fprintf(stderr, "%s\n", b.error < 0 ? error_text() : b.stall);
    }
    assert_int_equal(b.error, 0);
    assert_int_equal(b.ctas_ended, 1);
}

static uint32_t count_port(enum bench_port port, enum mem_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b.log_count; i++) {
        count += b.log[i].port == port && b.log[i].kind == kind;
    }
    return count;
}

static void a_constant_load_costs_its_address_path_and_the_cache(void **state)
{
    (void)state;
    for (uint32_t address = 0; address <= 9; address += 3) {
        start();
        b.spec.constant.address_cycles = address;
        run(STRETCH("ld.const.u32 %r2, [%rd0+64];\n", "%r2") RESULT(0), 1);
        /* A queue is looked at in the cycle after the issue at the earliest. */
        assert_int_equal(b.out[0], (address ? address : 1) + b.memory_cycles + 2);
        assert_int_equal(count_port(BENCH_CONSTANT, MEM_READ), 1);
        assert_int_equal(count_port(BENCH_L1, MEM_READ), 0);
        bench_free(&b);
    }
}

static void lanes_that_agree_share_a_constant_and_others_take_a_cycle_each(void **state)
{
    (void)state;
    static const struct {
        const char *lane_to_word;
        uint32_t addresses;
    } rows[] = {{"and.b32 %r9, %r8, 0;\n", 1},
                {"and.b32 %r9, %r8, 1;\n", 2},
                {"and.b32 %r9, %r8, 7;\n", 8},
                {"mov.u32 %r9, %r8;\n", 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[1024];
        snprintf(
            body, sizeof body,
            "mov.u32 %%r8, %%tid.x;\n%smul.wide.u32 %%rd1, %%r9, 4;\n"
            "add.u64 %%rd1, %%rd1, %%rd0;\nshl.b32 %%r11, %%r9, 2;\ncvt.u32.u64 %%r12, %%rd1;\n"
            "st.volatile.shared.u32 [smem+8], %%r12;\n%s%s",
            rows[i].lane_to_word, STRETCH("ld.const.u32 %r2, [%rd1+256];\n", "%r2"), RESULT(0));
        start();
        run(body, 32);
        assert_int_equal(count_port(BENCH_CONSTANT, MEM_READ), rows[i].addresses);
        assert_int_equal(b.out[0], b.spec.constant.address_cycles + b.memory_cycles +
                                       rows[i].addresses - 1 + 2);
        bench_free(&b);
    }
}

static void constants_without_a_cache_and_parameters_take_their_fixed_time(void **state)
{
    (void)state;
    for (int with_cache = 0; with_cache < 2; with_cache++) {
        start();
        b.with_constant = with_cache;
        run(STRETCH("ld.param.u64 %rd5, [out];\ncvt.u32.u64 %r2, %rd5;\n", "%r2") RESULT(0)
                STRETCH("ld.const.u32 %r2, [%rd0+64];\n", "%r2") RESULT(4),
            1);
        uint32_t convert = b.spec.unit[UNIT_CVT].latency_cycles;
        assert_int_equal(b.out[0], b.spec.const_hit_cycles + convert + 2);
        assert_int_equal(b.out[1],
                         with_cache ? 3 + b.memory_cycles + 2 : b.spec.const_hit_cycles + 2);
        bench_free(&b);
    }
}

static void the_model_says_which_cache_serves_read_only_loads(void **state)
{
    (void)state;
    static const struct {
        enum readonly_path path;
        bool l1_caches_global;
        enum bench_port port;
    } rows[] = {{READONLY_TEXTURE, false, BENCH_TEXTURE}, {READONLY_TEXTURE, true, BENCH_TEXTURE},
                {READONLY_L1, false, BENCH_L1},           {READONLY_L1, true, BENCH_L1},
                {READONLY_NONE, false, BENCH_NETWORK},    {READONLY_NONE, true, BENCH_L1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start();
        b.spec.readonly = rows[i].path;
        b.spec.l1_caches_global = rows[i].l1_caches_global;
        run("ld.global.nc.u32 %r2, [%rd0+64];\nst.global.u32 [%rd0], %r2;\n", 1);
        assert_int_equal(count_port(rows[i].port, MEM_READ), 1);
        assert_int_equal(b.log[0].kind, MEM_READ);
        assert_int_equal(b.log[0].port, rows[i].port);
        bench_free(&b);
    }
}

static void a_read_only_load_costs_address_cache_and_filter(void **state)
{
    (void)state;
    start();
    run(STRETCH("ld.global.nc.u32 %r2, [%rd0+64];\n", "%r2") RESULT(0), 1);
    assert_int_equal(b.out[0], b.spec.texture.address_cycles + b.memory_cycles +
                                   b.spec.texture.filter_cycles + 2);
    assert_int_equal(b.log[0].bytes, 32);
    bench_free(&b);
}

static void a_texture_result_does_not_overtake_an_earlier_one(void **state)
{
    (void)state;
    uint32_t fast[2];
    for (uint32_t i = 0; i < 2; i++) {
        start();
        b.slow_offset = 64;
        b.slow_cycles = i * 300;
        run(STRETCH("ld.global.nc.u32 %r2, [%rd0+64];\nld.global.nc.u32 %r5, [%rd0+256];\n", "%r5")
                RESULT(0) "st.global.u32 [%rd0+16], %r2;\n",
            1);
        fast[i] = b.out[0];
        bench_free(&b);
    }
    /* The second leaves the pipeline one cycle after the first, whatever its own data did. */
    assert_int_equal(fast[1], fast[0] + 300);
}

#define HANDLE "mov.u64 %rd6, 0xfe00000000;\n"

static void a_fetch_gives_the_texel_and_zeros(void **state)
{
    (void)state;
    start();
    b.texture_at = 1024;
    b.texture_bytes = 64;
    run(HANDLE "mov.u32 %r9, 0x1234;\nst.global.u32 [%rd0+1036], %r9;\nmov.u32 %r8, 3;\n"
               "membar.gl;\n"
               "tex.1d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%rd6, {%r8}];\n"
               "st.global.v4.u32 [%rd0], {%r10, %r11, %r12, %r13};\n",
        1);
    assert_int_equal(b.out[0], 0x1234);
    assert_int_equal(b.out[1], 0);
    assert_int_equal(b.out[2], 0);
    assert_int_equal(b.out[3], 0);
    assert_int_equal(count_port(BENCH_TEXTURE, MEM_READ), 1);
    bench_free(&b);
}

static void a_fetch_beside_the_texture_gives_zeros_and_reads_nothing(void **state)
{
    (void)state;
    static const char *const places[] = {"16", "-1", "2147483647", "-2147483648"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char body[1024];
        snprintf(body, sizeof body,
                 "%smov.s32 %%r8, %s;\nst.volatile.shared.u32 [smem+8], %%r8;\n%s%s"
                 "st.global.v4.u32 [%%rd0+16], {%%r10, %%r11, %%r12, %%r13};\n",
                 HANDLE, places[i],
                 STRETCH("tex.1d.v4.s32.s32 {%r10, %r11, %r12, %r13}, [%rd6, {%r8}];\n", "%r10"),
                 RESULT(0));
        start();
        b.texture_at = 1024;
        b.texture_bytes = 64;
        run(body, 1);
        for (uint32_t k = 4; k < 8; k++) {
            assert_int_equal(b.out[k], 0);
        }
        assert_int_equal(count_port(BENCH_TEXTURE, MEM_READ), 0);
        assert_int_equal(b.out[0], b.spec.texture.address_cycles + b.spec.texture.empty_cycles +
                                       b.spec.texture.filter_cycles + 2);
        bench_free(&b);
    }
}

static void a_number_that_is_no_handle_is_a_fault_that_says_so(void **state)
{
    (void)state;
    static const char *const handles[] = {"0", "0xfe00000001", "0xfdffffffff"};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "mov.u64 %%rd6, %s;\nmov.u32 %%r8, 0;\n"
                 "tex.1d.v4.f32.s32 {%%f1, %%f2, %%f3, %%f4}, [%%rd6, {%%r8}];\n",
                 handles[i]);
        char text[1024];
        snprintf(text, sizeof text, ".reg .f32 %%f<8>;\n%s", body);
        start();
        b.texture_at = 1024;
        b.texture_bytes = 64;
        assert_false(bench_run(&b, text, 1, 1));
        assert_int_equal(b.error, SONDE_EFAULT);
        assert_non_null(strstr(error_text(), "is no texture"));
        bench_free(&b);
    }
}

static void a_texture_unit_that_holds_one_access_serves_many_warps(void **state)
{
    (void)state;
    start();
    b.spec.texture.queue_entries = 1;
    b.refuse_above = 1;
    run(LANE_ADDRESS(64) "ld.global.nc.u32 %r2, [%rd1+8192];\nld.global.nc.u32 %r5, [%rd1];\n"
                         "add.u32 %r2, %r2, %r5;\nst.global.u32 [%rd1+64], %r2;\n",
        256);
    assert_int_equal(count_port(BENCH_TEXTURE, MEM_READ), 512);
    bench_free(&b);
}

/* ---- local memory ---- */

#define LOCAL ".local .align 16 .b8 own[64];\nmov.u64 %rd7, own;\n"
#define LOCAL_AT 0x100000

static void start_local(uint32_t thread_bytes)
{
    start();
    b.local_address = LOCAL_AT;
    b.local_bytes = thread_bytes;
}

static void local_memory_is_interleaved_by_words_and_goes_to_l1(void **state)
{
    (void)state;
    for (uint32_t word = 0; word < 16; word += 5) {
        char body[512];
        snprintf(body, sizeof body, "%sld.local.u32 %%r2, [%%rd7+%u];\n%s", LOCAL, word * 4,
                 "st.global.u32 [%rd0], %r2;\n");
        start_local(64);
        run(body, 64);
        assert_int_equal(count_port(BENCH_L1, MEM_READ), 2);  /* one line for each warp */
        uint32_t first = b.log[0].address > b.log[1].address; /* whichever warp went first */
        for (uint32_t warp = 0; warp < 2; warp++) {
            const struct bench_log *log = &b.log[warp ^ first];
            assert_int_equal(log->port, BENCH_L1);
            assert_int_equal(log->bytes, 128);
            assert_int_equal(log->address, LOCAL_AT + (warp * 16 + word) * 128);
        }
        bench_free(&b);
    }
}

static void a_lane_of_a_wide_element_takes_one_word_of_each_line(void **state)
{
    (void)state;
    start_local(64);
    run(LOCAL "ld.local.v4.u32 {%r10, %r11, %r12, %r13}, [%rd7+16];\n"
              "st.global.v4.u32 [%rd0], {%r10, %r11, %r12, %r13};\n",
        2);
    assert_int_equal(count_port(BENCH_L1, MEM_READ), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(b.log[i].address, LOCAL_AT + (4 + i) * 128);
        assert_int_equal(b.log[i].bytes, 32); /* two lanes' words lie in one sector */
    }
    bench_free(&b);
}

/* 64 bytes a thread: two of them in a line of 128, whatever the offset and the element. */
static void local_memory_may_be_one_piece_for_each_thread(void **state)
{
    static const char *const loads[] = {"ld.local.u32 %r2, [%rd7+20];\n",
                                        "ld.local.v4.u32 {%r10, %r11, %r12, %r13}, [%rd7+16];\n"};
    (void)state;
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
        char body[512];
        snprintf(body, sizeof body, "%s%sst.global.u32 [%%rd0], %%r2;\n", LOCAL, loads[k]);
        start_local(64);
        b.spec.local_contiguous = true;
        run(body, 32);
        assert_int_equal(count_port(BENCH_L1, MEM_READ), 16);
        for (uint32_t i = 0; i < 16; i++) {
            assert_in_range(b.log[i].address, LOCAL_AT + i * 128, LOCAL_AT + i * 128 + 127);
        }
        bench_free(&b);
    }
}

static void lanes_at_different_places_of_local_memory_do_not_share_lines(void **state)
{
    (void)state;
    start_local(256);
    run(".local .align 16 .b8 own[256];\nmov.u64 %rd7, own;\nmov.u32 %r8, %tid.x;\n"
        "mul.wide.u32 %rd8, %r8, 8;\nadd.u64 %rd7, %rd7, %rd8;\n"
        "ld.local.u64 %rd9, [%rd7];\nst.global.u64 [%rd0], %rd9;\n",
        32);
    assert_int_equal(count_port(BENCH_L1, MEM_READ), 64); /* two words for each lane */
    bench_free(&b);
}

static void a_local_load_costs_what_a_global_hit_costs(void **state)
{
    (void)state;
    start_local(64);
    run(LOCAL BENCH_WAIT_FOR("%rd7") STRETCH("ld.local.u32 %r2, [%rd7];\n", "%r2") RESULT(0), 1);
    assert_int_equal(b.out[0], b.spec.lsu_cycles + b.memory_cycles + 2);
    bench_free(&b);
}

static void local_memory_without_a_place_takes_its_fixed_time(void **state)
{
    (void)state;
    start_local(0);
    run(LOCAL BENCH_WAIT_FOR("%rd7") STRETCH("ld.local.u32 %r2, [%rd7];\n", "%r2") RESULT(0), 1);
    assert_int_equal(b.out[0], b.spec.local_hit_cycles + 2);
    assert_int_equal(count_port(BENCH_L1, MEM_READ), 0);
    bench_free(&b);
}

static void what_a_thread_stores_in_local_memory_it_finds_there(void **state)
{
    (void)state;
    start_local(64);
    run(LOCAL "mov.u32 %r8, %tid.x;\nmul.lo.u32 %r9, %r8, 7;\nst.local.u32 [%rd7+4], %r9;\n"
              "st.local.u8 [%rd7+5], %r8;\nld.local.u32 %r2, [%rd7+4];\n"
              "mul.wide.u32 %rd1, %r8, 4;\nadd.u64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1], %r2;\n",
        64);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(b.out[i], ((i * 7) & 0xffff00ff) | i << 8);
    }
    assert_int_equal(count_port(BENCH_L1, MEM_WRITE), 4 + 2);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_load_costs_its_address_path_and_the_cache),
        cmocka_unit_test(lanes_that_agree_share_a_constant_and_others_take_a_cycle_each),
        cmocka_unit_test(constants_without_a_cache_and_parameters_take_their_fixed_time),
        cmocka_unit_test(the_model_says_which_cache_serves_read_only_loads),
        cmocka_unit_test(a_read_only_load_costs_address_cache_and_filter),
        cmocka_unit_test(a_texture_result_does_not_overtake_an_earlier_one),
        cmocka_unit_test(a_fetch_gives_the_texel_and_zeros),
        cmocka_unit_test(a_fetch_beside_the_texture_gives_zeros_and_reads_nothing),
        cmocka_unit_test(a_number_that_is_no_handle_is_a_fault_that_says_so),
        cmocka_unit_test(a_texture_unit_that_holds_one_access_serves_many_warps),
        cmocka_unit_test(local_memory_is_interleaved_by_words_and_goes_to_l1),
        cmocka_unit_test(a_lane_of_a_wide_element_takes_one_word_of_each_line),
        cmocka_unit_test(local_memory_may_be_one_piece_for_each_thread),
        cmocka_unit_test(lanes_at_different_places_of_local_memory_do_not_share_lines),
        cmocka_unit_test(a_local_load_costs_what_a_global_hit_costs),
        cmocka_unit_test(local_memory_without_a_place_takes_its_fixed_time),
        cmocka_unit_test(what_a_thread_stores_in_local_memory_it_finds_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
