/* The live source over a fake device: what is launched, what is recorded, what becomes of refusals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/probe.h"
#include "support/fake_device.h"

struct bench {
    struct fake *fake;
    struct traceset *set;
    struct probe_live *live;
    struct trace_source source;
};

static int bench_up(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    bench->fake = fake_open();
    assert_int_equal(traceset_create(&bench->set), 0);
    assert_int_equal(probe_live_create(&bench->live, &bench->fake->device, bench->set), 0);
    bench->source = probe_live_source(bench->live);
    *state = bench;
    return 0;
}

static int bench_down(void **state)
{
    struct bench *bench = *state;
    probe_live_destroy(bench->live);
    traceset_destroy(bench->set);
    fake_close(bench->fake);
    free(bench);
    return 0;
}

/* "chase bytes=1024 op=cg": a request from its text. */
static struct trace_request parse(const char *text)
{
    struct trace_request request;
    char copy[400], *rest = NULL;
    snprintf(copy, sizeof(copy), "%s", text);
    trace_request_init(&request, strtok_r(copy, " ", &rest));
    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        assert_int_equal(trace_request_set_text(&request, word, equals + 1), 0);
    }
    return request;
}

static const struct trace *ask(struct bench *bench, const char *text)
{
    struct trace_request request = parse(text);
    const struct trace *trace = NULL;
    int rc = trace_get(&bench->source, &trace, &request);
    if (rc < 0) {
        fail_msg("%s: %s", text, error_text());
    }
    return trace;
}

static const struct fake_call *last_call(const struct bench *bench)
{
    return &bench->fake->calls[(bench->fake->call_count - 1) % FAKE_CALLS];
}

static uint32_t u32_at(const struct trace *trace, const char *name, size_t i)
{
    size_t count;
    const uint32_t *values = trace_u32(trace, name, &count);
    assert_non_null(values);
    assert_true(i < count);
    return values[i];
}

static size_t u32_count(const struct trace *trace, const char *name)
{
    size_t count;
    trace_u32(trace, name, &count);
    return count;
}

static void chase_records_latency_and_next_of_every_load(void **state)
{
    struct bench *bench = *state;
    const struct trace *trace = ask(bench, "chase bytes=1000 stride=128 window=20");
    assert_int_equal(trace->status, 0);
    assert_int_equal(u32_count(trace, "latency"), 20);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(u32_at(trace, "latency", i), fake_latency(i % 8 * 128));
        assert_int_equal(u32_at(trace, "next", i), (i + 1) % 8 * 128);
    }
    assert_int_equal(u32_at(trace, "start", 0), 0);
    assert_int_equal(u32_at(trace, "smid", 0), 7);
    assert_string_equal(last_call(bench)->load, "ld.global.ca");
    assert_int_equal(last_call(bench)->threads, 32);
    /* One pass of warm-up, its last two loads through the recording loop. */
    assert_int_equal(last_call(bench)->args[5], 6);
    assert_int_equal(last_call(bench)->args[6], 2);
}

static void windows_follow_each_other_along_the_ring(void **state)
{
    struct bench *bench = *state;
    const struct trace *trace = ask(bench, "chase bytes=1408 stride=128 window=4 windows=4 warm=5");
    static const uint32_t starts[] = {0, 512, 1024, 128};
    for (size_t w = 0; w < 4; w++) {
        assert_int_equal(u32_at(trace, "start", w), starts[w]);
        assert_int_equal(u32_at(trace, "next", w * 4), (starts[w] + 128) % 1408);
    }
    /* The last launch began five loads before its start. */
    assert_int_equal(last_call(bench)->args[4], (128 + 1408 - 5 * 128) % 1408);
    assert_int_equal(last_call(bench)->args[5] + last_call(bench)->args[6], 5);
}

static void spread_windows_start_evenly_over_the_ring(void **state)
{
    const struct trace *trace =
        ask(*state, "chase bytes=1024 stride=128 window=3 windows=4 spread=1");
    for (size_t w = 0; w < 4; w++) {
        assert_int_equal(u32_at(trace, "start", w), w * 256);
    }
}

static void persistent_windows_warm_only_once_and_go_on_where_the_walk_stopped(void **state)
{
    struct bench *bench = *state;
    const struct trace *trace =
        ask(bench, "chase bytes=1408 stride=128 window=3 windows=3 persist=1");
    assert_int_equal(u32_count(trace, "latency"), 9);
    assert_int_equal(u32_at(trace, "start", 2), 768);
    assert_int_equal(u32_at(trace, "next", 6), 896);
    assert_int_equal(last_call(bench)->args[4], 768);
    assert_int_equal(last_call(bench)->args[5] + last_call(bench)->args[6], 0);
}

static void other_cache_operators_are_loaded_as_variants(void **state)
{
    struct bench *bench = *state;
    ask(bench, "chase op=cg window=4");
    assert_string_equal(last_call(bench)->load, "ld.global.cg");
    ask(bench, "average op=cv");
    assert_string_equal(last_call(bench)->load, "ld.global.cv");
    bool seen = false;
    for (size_t i = 0; i < traceset_kernel_count(bench->set); i++) {
        seen |= strcmp(traceset_kernel_at(bench->set, i)->name, "chase.cg") == 0;
    }
    assert_true(seen);
}

static void a_sweep_reuses_the_chain_and_moves_only_its_end(void **state)
{
    struct bench *bench = *state;
    static const int sizes[] = {4096, 8192, 2048, 8192, 8320, 128};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char text[80];
        snprintf(text, sizeof(text), "chase bytes=%d stride=128 window=100 run=%zu", sizes[i], i);
        const struct trace *trace = ask(bench, text);
        assert_int_equal(trace->status, 0);
        for (uint32_t k = 0; k < 100; k++) {
            assert_int_equal(u32_at(trace, "next", k), (k + 1) * 128 % (uint32_t)sizes[i]);
        }
    }
    size_t builds = 0;
    for (size_t i = 0; i < bench->fake->call_count; i++) {
        builds += strcmp(bench->fake->calls[i].kernel, "chain_offsets") == 0;
    }
    assert_int_equal(builds, 3);
    /* Other strides and bases are other chains. */
    assert_int_equal(ask(bench, "chase bytes=4096 stride=64 window=64")->status, 0);
    assert_int_equal(ask(bench, "chase bytes=4096 stride=64 base=32 window=64")->status, 0);
}

static void a_ring_is_walked_in_its_order(void **state)
{
    struct bench *bench = *state;
    static const uint32_t ring[] = {512, 0, 4096, 128};
    struct trace_request request = parse("chase window=6 warm=1");
    const struct trace *trace;
    request.ring = ring;
    request.ring_count = 4;
    assert_int_equal(trace_get(&bench->source, &trace, &request), 0);
    assert_int_equal(trace->status, 0);
    static const uint32_t next[] = {0, 4096, 128, 512, 0, 4096};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(u32_at(trace, "next", i), next[i]);
    }
    assert_int_equal(u32_at(trace, "start", 0), 512);
    /* The chain of before is built anew. */
    assert_int_equal(ask(bench, "chase bytes=8192 stride=128 window=64")->status, 0);
    /* 64-bit elements. */
    struct trace_request average = parse("average loads=100");
    average.ring = ring;
    average.ring_count = 4;
    assert_int_equal(trace_get(&bench->source, &trace, &average), 0);
    assert_int_equal(trace->status, 0);
}

static void touch_uses_the_whole_block_and_reads_the_footprint(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(ask(bench, "chase bytes=65536 stride=4096 touch=1 window=4")->status, 0);
    assert_int_equal(last_call(bench)->threads, 1024);
    assert_int_equal(last_call(bench)->args[2], 65536);
    assert_int_equal(last_call(bench)->args[3], 32);
    assert_int_equal(last_call(bench)->args[5] + last_call(bench)->args[6], 4);
}

static void cold_flushes_before_every_window_and_does_not_warm(void **state)
{
    struct bench *bench = *state;
    ask(bench, "chase bytes=8192 stride=128 cold=1 window=8 windows=2 flush_bytes=65536");
    size_t n = bench->fake->call_count;
    assert_string_equal(bench->fake->calls[n - 4].kernel, "flush");
    assert_string_equal(bench->fake->calls[n - 2].kernel, "flush");
    assert_int_equal(bench->fake->calls[n - 2].args[1], 65536);
    assert_int_equal(last_call(bench)->args[5] + last_call(bench)->args[6], 0);
}

static void ask_along(struct bench *bench, const char *text, const char *load)
{
    const struct trace *trace = ask(bench, text);
    assert_string_equal(trace->reason, "");
    assert_string_equal(last_call(bench)->load, load);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(u32_at(trace, "next", i), (i + 1) % 16 * 64);
    }
}

static void every_path_walks_the_same_ring(void **state)
{
    struct bench *bench = *state;
    ask_along(bench, "chase op=nc bytes=1024 stride=64 window=40 base=256", "ld.global.nc");
    ask_along(bench, "chase op=tex bytes=1024 stride=64 window=40 base=256", "tex.1d.v4.u32.s32");
    ask_along(bench, "chase op=const bytes=1024 stride=64 window=40 base=256", "ld.const.u32");
    ask_along(bench, "chase op=local bytes=1024 stride=64 window=40 base=256", "ld.local.ca");
    ask_along(bench, "chase op=const bytes=1024 stride=64 window=40 base=64512", "ld.const.u32");
    ask_along(bench, "chase op=tex pages=mapped bytes=1024 stride=64 window=40",
              "tex.1d.v4.u32.s32");
    /* Orders other than the chain's, too. */
    static const uint32_t ring[] = {512, 0, 4096, 128}, next[] = {0, 4096, 128, 512, 0};
    static const char *const paths[] = {"chase op=tex window=5", "chase op=const window=5",
                                        "chase op=local window=5", "chase op=nc window=5"};
    for (size_t i = 0; i < 4; i++) {
        struct trace_request request = parse(paths[i]);
        const struct trace *trace;
        request.ring = ring;
        request.ring_count = 4;
        assert_int_equal(trace_get(&bench->source, &trace, &request), 0);
        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(u32_at(trace, "next", k), next[k]);
        }
    }
}

static void paths_that_the_device_lacks_are_refusals(void **state)
{
    struct bench *bench = *state;
    bench->fake->refuse_paths = true;
    assert_int_equal(ask(bench, "chase op=tex")->status, SONDE_EUNSUPPORTED);
    assert_int_equal(ask(bench, "chase op=const")->status, SONDE_EUNSUPPORTED);
    assert_int_equal(ask(bench, "chase pages=mapped")->status, SONDE_EUNSUPPORTED);
    assert_int_equal(ask(bench, "shared mode=8")->status, SONDE_EUNSUPPORTED);
    assert_int_equal(ask(bench, "shared")->status, 0);
    assert_int_equal(ask(bench, "chase")->status, 0);
}

static void read_only_loads_need_a_gpu_that_has_them(void **state)
{
    struct bench *bench = *state;
    bench->fake->device.info.compute_major = 3;
    bench->fake->device.info.compute_minor = 0;
    assert_int_equal(ask(bench, "chase op=nc")->status, SONDE_EUNSUPPORTED);
    bench->fake->device.info.compute_minor = 5;
    assert_int_equal(ask(bench, "chase op=nc run=1")->status, 0);
}

static void values_count_units_of_the_scale(void **state)
{
    struct bench *bench = *state;
    const struct trace *trace =
        ask(bench, "chase bytes=2097152 stride=524288 scale=4096 window=6 base=128");
    assert_string_equal(trace->reason, "");
    static const uint32_t next[] = {128, 256, 384, 0, 128, 256};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(u32_at(trace, "next", i), next[i]);
    }
    /* The same places, other values. */
    trace = ask(bench, "chase bytes=2097152 stride=524288 scale=512 window=6 base=128");
    assert_int_equal(u32_at(trace, "next", 0), 1024);
    /* Non-uniform strides, in units. */
    static const uint32_t ring[] = {0, 1, 300, 2, 511};
    struct trace_request request = parse("chase scale=4096 pages=mapped window=5 windows=2 warm=5");
    request.ring = ring;
    request.ring_count = 5;
    assert_int_equal(trace_get(&bench->source, &trace, &request), 0);
    assert_string_equal(trace->reason, "");
    assert_int_equal(u32_at(trace, "next", 1), 300);
    assert_int_equal(u32_at(trace, "next", 4), 0);
    assert_int_equal(u32_at(trace, "start", 1), 0);
}

static void mapped_memory_is_another_buffer_and_tells_its_page(void **state)
{
    struct bench *bench = *state;
    size_t count;
    assert_int_equal(ask(bench, "chase bytes=65536 stride=4096 window=16")->status, 0);
    const struct trace *mapped = ask(bench, "chase bytes=65536 stride=4096 window=16 pages=mapped");
    assert_int_equal(mapped->status, 0);
    assert_int_equal(bench->fake->mapped, 1);
    assert_true(trace_f64(mapped, "page_bytes", &count)[0] == 4096);
    assert_int_equal(count, 1);
    /* It grows, and its chain with it; the plain one is where it was. */
    assert_int_equal(ask(bench, "chase bytes=262144 stride=4096 window=64 pages=mapped")->status,
                     0);
    assert_int_equal(bench->fake->mapped, 1);
    size_t calls = bench->fake->call_count;
    assert_int_equal(ask(bench, "chase bytes=65536 stride=4096 window=15")->status, 0);
    assert_int_equal(bench->fake->call_count, calls + 1);
}

/* Walks are of one buffer or the other: where not both have room, the one that is not walked goes.
 */
static void a_buffer_that_is_not_walked_makes_room_for_one_that_is(void **state)
{
    struct bench *bench = *state;
    const char *plain = "chase bytes=65536 stride=4096 window=16";
    const char *mapped = "chase bytes=65536 stride=4096 window=16 pages=mapped";
    assert_int_equal(ask(bench, mapped)->status, 0);
    bench->fake->memory_total = fake_memory_used(bench->fake) + 61440;
    assert_int_equal(ask(bench, plain)->status, 0);
    assert_int_equal(bench->fake->mapped, 0);
    bench->fake->memory_total = fake_memory_used(bench->fake) + 61440;
    assert_int_equal(ask(bench, "chase bytes=65536 stride=2048 window=16 pages=mapped")->status, 0);
    assert_int_equal(bench->fake->mapped, 1);
    /* What neither leaves room for is refused. */
    assert_int_equal(ask(bench, "chase bytes=1048576 stride=4096 window=16")->status, SONDE_EINPUT);
}

/* What shared a set of a hashed cache would share none on other frames. */
static void a_walk_that_reaches_farther_is_of_the_same_buffer(void **state)
{
    struct bench *bench = *state;
    bench->fake->device.info.memory_bytes = UINT64_C(8) << 30;
    assert_int_equal(ask(bench, "chase bytes=65536 stride=4096 window=16")->status, 0);
    uint64_t used = fake_memory_used(bench->fake);
    assert_int_equal(ask(bench, "chase bytes=268435456 stride=16777216 window=16")->status, 0);
    assert_int_equal(fake_memory_used(bench->fake), used);
    assert_int_equal(ask(bench, "chase bytes=1610612736 stride=134217728 window=12")->status, 0);
    assert_int_equal(fake_memory_used(bench->fake), used);
}

/* A texture is made for the walk, or for what is read beside it: none is left, and one that stays
 * is a refusal. */
static void a_texture_that_cannot_be_destroyed_is_a_refusal(void **state)
{
    struct bench *bench = *state;
    static const char *const texts[] = {
        "chase bytes=1024 op=tex window=8",
        "chase bytes=1024 op=cg other=tex other_bytes=4096 window=8"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(ask(bench, texts[i])->status, 0);
        assert_int_equal(bench->fake->textures, 0);
        assert_int_equal(last_call(bench)->arg_count, i == 0 ? 10 : 12);
        char text[100];
        snprintf(text, sizeof text, "%s run=1", texts[i]);
        bench->fake->refuse_texture_end = true;
        assert_int_equal(ask(bench, text)->status, SONDE_EDEVICE);
        bench->fake->refuse_texture_end = false;
    }
}

static void a_window_tells_what_it_took(void **state)
{
    size_t count;
    const struct trace *trace = ask(*state, "chase bytes=1024 window=8 windows=2");
    assert_true(trace_f64(trace, "cycles", &count)[1] == 4294972296.0);
    assert_int_equal(count, 2);
    assert_true(trace_f64(trace, "ns", &count)[1] == 2500);
}

static void flush_does_not_ask_the_driver_how_large_l2_is(void **state)
{
    struct bench *bench = *state;
    bench->fake->device.info.memory_bytes = UINT64_C(256) << 20;
    bench->fake->device.info.l2_bytes_reported = UINT64_C(1) << 40;
    ask(bench, "chase bytes=8192 stride=128 cold=1 window=8");
    size_t n = bench->fake->call_count;
    assert_int_equal(bench->fake->calls[n - 2].args[1], 4 << 20);
}

static void shared_times_whole_turns_of_its_loop(void **state)
{
    struct bench *bench = *state;
    size_t count;
    const struct trace *trace = ask(bench, "shared stride=3 word=8 mode=8 accesses=70 repeats=2");
    assert_string_equal(last_call(bench)->load, "ld.shared.b64");
    assert_int_equal(bench->fake->bank_bytes, 8);
    assert_true(trace_f64(trace, "loads", &count)[1] == 128);
    assert_true(trace_f64(trace, "cycles", &count)[1] == 128 * (24 + 50));
    assert_int_equal(count, 2);
    ask(bench, "shared stride=0");
    assert_string_equal(last_call(bench)->load, "ld.shared.b32");
    assert_int_equal(bench->fake->bank_bytes, 0);
    assert_int_equal(ask(bench, "shared stride=64 word=8")->status, 0);
}

static void average_counts_whole_turns_of_its_loop(void **state)
{
    struct bench *bench = *state;
    const struct trace *trace = ask(bench, "average bytes=4096 stride=64 loads=100 repeats=2");
    size_t count;
    const double *loads = trace_f64(trace, "loads", &count), *cycles;
    assert_int_equal(count, 2);
    assert_true(loads[1] == 112);
    cycles = trace_f64(trace, "cycles", &count);
    assert_true(cycles[1] == 112 * 33 + 5);
}

static void overhead_survives_the_wrap_of_the_clock(void **state)
{
    const struct trace *trace = ask(*state, "overhead window=9");
    assert_int_equal(u32_count(trace, "latency"), 9);
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(u32_at(trace, "latency", i), 20 + i);
    }
}

static void clock_returns_cycles_and_nanoseconds(void **state)
{
    const struct trace *trace = ask(*state, "clock spin=1000 repeats=2");
    size_t count;
    assert_true(trace_f64(trace, "ns", &count)[1] == 2200);
    assert_true(trace_f64(trace, "cycles", &count)[1] == 1100);
}

static void the_same_request_is_answered_from_the_set(void **state)
{
    struct bench *bench = *state;
    const struct trace *first = ask(bench, "chase bytes=1024 window=8");
    size_t calls = bench->fake->call_count;
    assert_ptr_equal(ask(bench, "chase window=8 bytes=1024"), first);
    assert_int_equal(bench->fake->call_count, calls);
    assert_ptr_not_equal(ask(bench, "chase window=8 bytes=1024 run=1"), first);
    assert_int_equal(traceset_count(bench->set), 2);
}

static void a_refusal_of_the_device_is_a_trace_and_measuring_goes_on(void **state)
{
    struct bench *bench = *state;
    bench->fake->refuse_launch = true;
    const struct trace *trace = ask(bench, "chase bytes=1024");
    assert_int_equal(trace->status, SONDE_EDEVICE);
    assert_non_null(strstr(trace->reason, "too much shared memory"));
    assert_int_equal(trace->column_count, 0);
    bench->fake->refuse_launch = false;
    assert_int_equal(ask(bench, "chase bytes=1024 run=1")->status, 0);
}

static void too_little_memory_is_a_refusal_too(void **state)
{
    struct bench *bench = *state;
    bench->fake->memory_limit = 100000;
    assert_int_equal(ask(bench, "chase bytes=65536")->status, 0);
    const struct trace *trace = ask(bench, "chase bytes=1048576");
    assert_int_equal(trace->status, SONDE_EINPUT);
    assert_string_equal(trace->reason, "1048576 bytes of device memory: the fake has no more");
    assert_int_equal(ask(bench, "chase bytes=65536 run=1")->status, 0);
}

static void what_was_not_laid_out_is_noticed(void **state)
{
    struct bench *bench = *state;
    bench->fake->lie = true;
    const struct trace *trace = ask(bench, "chase bytes=1024 window=8");
    assert_int_equal(trace->status, SONDE_EDEVICE);
    assert_string_equal(trace->reason,
                        "window 0, record 3: offset 516 came back where 512 was stored");
}

static void carve_out_holds_the_window_unless_asked_otherwise(void **state)
{
    struct bench *bench = *state;
    ask(bench, "chase bytes=1024 window=100");
    assert_int_equal(bench->fake->carveout, 1200);
    ask(bench, "chase bytes=1024 window=100 shared=16384");
    assert_int_equal(bench->fake->carveout, 16384);
    bench->fake->refuse_carveout = true;
    assert_int_equal(ask(bench, "chase bytes=1024 window=90")->status, 0);
    assert_int_equal(ask(bench, "chase bytes=1024 window=90 shared=8192")->status,
                     SONDE_EUNSUPPORTED);
}

static void interruption_ends_measuring_without_a_trace(void **state)
{
    struct bench *bench = *state;
    volatile int cancel = 1;
    struct trace_request request = parse("chase bytes=1024");
    const struct trace *trace;
    bench->fake->device.cancel = &cancel;
    assert_int_equal(trace_get(&bench->source, &trace, &request), SONDE_EINTERRUPTED);
    assert_int_equal(traceset_count(bench->set), 0);
    bench->fake->device.cancel = NULL;
    assert_int_equal(trace_get(&bench->source, &trace, &request), 0);
}

static void requests_that_make_no_sense_are_usage_errors(void **state)
{
    struct bench *bench = *state;
    static const char *const bad[] = {
        "chas",
        "chase byte=1",
        "chase op=cx",
        "chase op=c",
        "chase bytes=0",
        "chase bytes=4294967424",
        "chase bytes=1099511627777",
        "chase stride=128 scale=3",
        "chase op=tex touch=1",
        "chase op=tex scale=4",
        "chase op=const bytes=65540 stride=4",
        "chase op=const base=65536 bytes=4",
        "chase op=const pages=mapped",
        "chase op=local bytes=16388 stride=4",
        "chase op=local cold=1",
        "chase op=local persist=1",
        "shared stride=65",
        "shared word=16",
        "chase bytes=auto",
        "chase stride=6",
        "chase base=2",
        "chase touch=1 touch_stride=5",
        "chase cold=1 warm=1",
        "chase cold=1 touch=1",
        "chase cold=1 persist=1",
        "chase persist=1 spread=1",
        "chase window=1048576 windows=4096",
        "chase window=100 shared=64",
        "average stride=12",
        "average bytes=4",
        "clock spin=1",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct trace_request request = parse(bad[i]);
        const struct trace *trace;
        assert_int_equal(trace_get(&bench->source, &trace, &request), SONDE_EUSAGE);
        assert_true(error_text()[0] != '\0');
    }
    assert_int_equal(traceset_count(bench->set), 0);
}

static void rings_that_are_none_are_usage_errors(void **state)
{
    struct bench *bench = *state;
    static const uint32_t twice[] = {0, 128, 0}, odd[] = {0, 2}, good[] = {0, 128};
    static const uint32_t apart[] = {0, 128, 256, 0}, falling[] = {512, 384, 256, 128, 512};
    static const struct {
        const char *text;
        const uint32_t *ring;
        size_t count;
    } bad[] = {
        {"chase", twice, 3},          {"chase", odd, 2},           {"chase", good, 0},
        {"chase bytes=256", good, 2}, {"chase stride=4", good, 2}, {"chase touch=1", good, 2},
        {"overhead", good, 2},        {"chase", apart, 4},         {"chase", falling, 5},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct trace_request request = parse(bad[i].text);
        const struct trace *trace;
        request.ring = bad[i].ring;
        request.ring_count = bad[i].count;
        assert_int_equal(trace_get(&bench->source, &trace, &request), SONDE_EUSAGE);
    }
}

static void a_recorded_request_is_found_by_what_it_means(void **state)
{
    struct bench *bench = *state;
    const struct trace *trace = ask(bench, "chase bytes=16384 window=8"), *found;
    struct trace_request request = parse("chase window=8 op=ca");
    assert_int_equal(probe_find_recorded(&found, bench->set, &request), 0);
    assert_ptr_equal(found, trace);
    request = parse("chase window=9");
    assert_int_equal(probe_find_recorded(&found, bench->set, &request), SONDE_ENOTRECORDED);
    request = parse("nothing");
    assert_int_equal(probe_find_recorded(&found, bench->set, &request), SONDE_EUSAGE);
}

static void defaults_are_noted_with_the_recording(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(traceset_note_count(bench->set), probe_count());
    assert_string_equal(traceset_note_at(bench->set, 0)->name, "defaults.chase");
    assert_non_null(
        strstr(traceset_note_at(bench->set, 0)->text, "chase base=0 bytes=16384 cold=0"));
}

static void limits_follow_the_hardware_and_stay_sensible(void **state)
{
    (void)state;
    assert_int_equal(probe_window_limit(48 << 10), 4096);
    assert_int_equal(probe_window_limit(12 * 19 + 11), 19);
    assert_int_equal(probe_window_limit(0), 16);
    assert_int_equal(probe_footprint_limit(UINT64_C(3) << 30), UINT64_C(768) << 20);
    assert_int_equal(probe_footprint_limit(0), 1 << 20);
    assert_int_equal(probe_mapped_limit(UINT64_C(16) << 30), UINT64_C(15) << 30);
    assert_int_equal(probe_mapped_limit(UINT64_C(3) << 30), UINT64_C(2560) << 20);
    assert_int_equal(probe_mapped_limit(UINT64_C(8) << 20), UINT64_C(4) << 20);
    assert_int_equal(probe_footprint_limit(UINT64_MAX), UINT64_C(2) << 30);
}

static void a_device_that_cannot_launch_is_refused(void **state)
{
    (void)state;
    static const struct device_ops none = {0};
    struct device device = {.ops = &none};
    struct traceset *set;
    struct probe_live *live;
    assert_int_equal(traceset_create(&set), 0);
    assert_int_equal(probe_live_create(&live, &device, set), SONDE_EUNSUPPORTED);
    assert_null(live);
    traceset_destroy(set);
}

#define ON_BENCH(test) cmocka_unit_test_setup_teardown(test, bench_up, bench_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BENCH(chase_records_latency_and_next_of_every_load),
        ON_BENCH(windows_follow_each_other_along_the_ring),
        ON_BENCH(spread_windows_start_evenly_over_the_ring),
        ON_BENCH(persistent_windows_warm_only_once_and_go_on_where_the_walk_stopped),
        ON_BENCH(other_cache_operators_are_loaded_as_variants),
        ON_BENCH(a_sweep_reuses_the_chain_and_moves_only_its_end),
        ON_BENCH(a_ring_is_walked_in_its_order),
        ON_BENCH(touch_uses_the_whole_block_and_reads_the_footprint),
        ON_BENCH(cold_flushes_before_every_window_and_does_not_warm),
        ON_BENCH(every_path_walks_the_same_ring),
        ON_BENCH(paths_that_the_device_lacks_are_refusals),
        ON_BENCH(read_only_loads_need_a_gpu_that_has_them),
        ON_BENCH(values_count_units_of_the_scale),
        ON_BENCH(mapped_memory_is_another_buffer_and_tells_its_page),
        ON_BENCH(a_buffer_that_is_not_walked_makes_room_for_one_that_is),
        ON_BENCH(a_walk_that_reaches_farther_is_of_the_same_buffer),
        ON_BENCH(a_texture_that_cannot_be_destroyed_is_a_refusal),
        ON_BENCH(a_window_tells_what_it_took),
        ON_BENCH(flush_does_not_ask_the_driver_how_large_l2_is),
        ON_BENCH(shared_times_whole_turns_of_its_loop),
        ON_BENCH(average_counts_whole_turns_of_its_loop),
        ON_BENCH(overhead_survives_the_wrap_of_the_clock),
        ON_BENCH(clock_returns_cycles_and_nanoseconds),
        ON_BENCH(the_same_request_is_answered_from_the_set),
        ON_BENCH(a_refusal_of_the_device_is_a_trace_and_measuring_goes_on),
        ON_BENCH(too_little_memory_is_a_refusal_too),
        ON_BENCH(what_was_not_laid_out_is_noticed),
        ON_BENCH(carve_out_holds_the_window_unless_asked_otherwise),
        ON_BENCH(interruption_ends_measuring_without_a_trace),
        ON_BENCH(requests_that_make_no_sense_are_usage_errors),
        ON_BENCH(rings_that_are_none_are_usage_errors),
        ON_BENCH(a_recorded_request_is_found_by_what_it_means),
        ON_BENCH(defaults_are_noted_with_the_recording),
        cmocka_unit_test(limits_follow_the_hardware_and_stay_sensible),
        cmocka_unit_test(a_device_that_cannot_launch_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
