/*
 * The essentials of a dissection on one screen: which line says what, and that no line is wider
 * than 80 columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "util/error.h"

static struct dissection d;

static int clear(void **state)
{
    (void)state;
    memset(&d, 0, sizeof d);
    return 0;
}

static char *summary(void)
{
    static const struct trace_device device = {.name = "GPU", .sms = 2, .clock_hz = 1000000};
    static const struct report_subject subject = {
        .version = "v", .device_spec = "sim:x", .device = &device, .date = "today", .seconds = 1.5};
    static const struct report_style plain = {0};
    static char *text; /* a local one would be taken for what the result points to */
    assert_int_equal(report_summary(&text, &d, &subject, &plain), 0);
    return text;
}

static void expect_line(const char *text, const char *line)
{
    char whole[160];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (!strstr(text, whole)) {
        fail_msg("no line '%s' in:\n%s", line, text);
    }
}

static struct attribute measured(double value, const char *unit, double confidence)
{
    return (struct attribute){
        .status = ATTRIBUTE_MEASURED, .value = value, .unit = unit, .confidence = confidence};
}

static void a_line_of_a_cache_has_the_least_confidence_of_its_values(void **state)
{
    (void)state;
    struct cache_result *cache = &d.caches[0];
    d.cache_count = 3;
    strcpy(cache->id, "l2");
    strcpy(cache->scope, "gpu");
    strcpy(cache->policy.name, "lru");
    cache->present = true;
    cache->policy.confidence = 0.95;
    cache->size = measured(1572864, "B", 0.99);
    cache->line = measured(128, "B", 0.98);
    cache->sets = measured(768, "1", 0.97);
    cache->ways = measured(16, "1", 0.96);
    cache->hit_latency = measured(230, "cycles", 0.94);
    cache->miss_penalty = measured(142, "cycles", 0.93);
    strcpy(d.caches[1].id, "l1_data");
    d.caches[1].absence.status = ATTRIBUTE_ABSENT;
    strcpy(d.caches[2].id, "l1_other");
    d.caches[2].absence.status = ATTRIBUTE_NOT_ASKED;
    d.memory_latency = measured(372, "cycles", 0.5);
    char *text = summary();
    expect_line(text,
                "  l2           1.5 MiB   128 B 768 x 16    lru        230    142    0.93 gpu");
    expect_line(text, "  memory                                              372           0.50");
    expect_line(text, "  l1_data      not there");
    assert_null(strstr(text, "l1_other"));
    free(text);
    cache->policy.confidence = 0.25;
    cache->ways = (struct attribute){0};
    text = summary();
    expect_line(text,
                "  l2           1.5 MiB   128 B 768 x -     lru        230    142    0.25 gpu");
    free(text);
}

static void what_was_tried_and_gave_nothing_is_named_in_one_line(void **state)
{
    (void)state;
    d.cache_count = 2;
    strcpy(d.caches[0].id, "l2");
    d.caches[0].absence.status = ATTRIBUTE_NOT_MEASURED;
    strcpy(d.caches[1].id, "l1_other");
    d.caches[1].absence.status = ATTRIBUTE_NOT_ASKED;
    d.memory_latency.status = ATTRIBUTE_NOT_MEASURED;
    char *text = summary();
    expect_line(text, "  not measured l2, memory");
    free(text);
    d.caches[0].absence.status = d.memory_latency.status = ATTRIBUTE_NOT_ASKED;
    text = summary();
    assert_null(strstr(text, "not measured"));
    free(text);
}

/* So many kinds in all, each `width` wide and with a number of its own. */
static void check_lines(const char *text, size_t width)
{
    const size_t in_line = (79 - 15 + 2) / (width + 2);
    size_t seen = 0;
    const char *at = strstr(text, "  accesses     ");
    assert_non_null(at);
    while (seen < d.pattern_count) {
        size_t length = strcspn(at, "\n");
        size_t here = d.pattern_count - seen < in_line ? d.pattern_count - seen : in_line;
        bool last = seen + here == d.pattern_count;
        assert_int_equal(length, 15 + here * width + 2 * (here - 1) + !last);
        assert_true(seen == 0 || strncmp(at, "               cg", 17) == 0);
        for (size_t i = 0; i < here; i++) {
            char value[16];
            snprintf(value, sizeof value, " %zu", 100 + seen + i);
            assert_memory_equal(at + 15 + i * (width + 2) + width - 4, value, 4);
        }
        seen += here;
        at += length + 1;
    }
}

static void kinds_of_access_fill_lines_and_break_none(void **state)
{
    (void)state;
    for (size_t name = 0; name <= 12; name++) {
        memset(&d, 0, sizeof d);
        d.pattern_count = 16;
        for (size_t i = 0; i < d.pattern_count; i++) {
            struct latency_pattern *p = &d.patterns[i];
            strcpy(p->op, "cg");
            snprintf(p->name, sizeof p->name, "P%.*s", (int)name, "abcdefghijklmnop");
            p->latency = measured(100 + (double)i, "cycles", 0.5);
        }
        char *text = summary();
        check_lines(text, strlen("cg P") + name + strlen(" 100"));
        free(text);
    }
}

static void levels_of_translation_that_are_there_have_a_line(void **state)
{
    (void)state;
    d.tlb_count = 2;
    struct tlb_result *tlb = &d.tlbs[0];
    tlb->present = true;
    strcpy(tlb->id, "l1_tlb");
    strcpy(tlb->policy.name, "lru");
    strcpy(tlb->scope, "gpu");
    tlb->page = measured(2097152, "B", 0.5);
    tlb->coverage = measured(33554432, "B", 0.5);
    tlb->entries = measured(16, "entries", 0.5);
    tlb->sets = measured(1, "1", 0.5);
    tlb->miss_penalty = measured(6, "cycles", 0.5);
    strcpy(d.tlbs[1].id, "l2_tlb");
    char *text = summary();
    expect_line(text, "  l1_tlb       32 MiB of 2 MiB pages, 16 entries, 1 set, lru, +6, per gpu");
    assert_null(strstr(text, "l2_tlb"));
    free(text);
    tlb->policy.name[0] = tlb->scope[0] = '\0';
    tlb->sets = (struct attribute){0};
    text = summary();
    expect_line(text,
                "  l1_tlb       32 MiB of 2 MiB pages, 16 entries, sets unknown, policy unknown,");
    free(text);
}

/* As an H200 has them: no line is wider than a terminal, sizes are as people write them. */
static void long_values_stay_within_80_columns(void **state)
{
    (void)state;
    struct tlb_result *tlb = &d.tlbs[0];
    struct cache_result *cache = &d.caches[0];
    d.cache_count = d.tlb_count = 1;
    strcpy(cache->id, "constant_l15");
    strcpy(cache->scope, "cluster");
    cache->present = true;
    cache->size = measured(30122 * 1024, "B", 0.9);
    cache->hit_latency = measured(100, "cycles", 0.9);
    cache->miss_penalty = measured(295.5, "cycles", 0.88);
    strcpy(tlb->id, "l2_tlb");
    strcpy(tlb->scope, "cluster");
    tlb->present = true;
    tlb->page = measured(33554432, "B", 0.5);
    tlb->coverage = measured(68719476736, "B", 0.5);
    tlb->entries = measured(2048, "entries", 0.5);
    tlb->sets = measured(256, "1", 0.5);
    tlb->miss_penalty = measured(95, "cycles", 0.5);
    char *text = summary();
    expect_line(text, "  constant_l15 29.42 MiB -     -           -          100    295.5  0.88 "
                      "cluster");
    expect_line(text, "  l2_tlb       64 GiB of 32 MiB pages, 2048 entries, 256 sets, policy "
                      "unknown,");
    expect_line(text, "               +95, per cluster");
    free(text);
}

static void shared_memory_and_what_is_in_flight_have_a_line(void **state)
{
    (void)state;
    d.shared.banks = measured(32, "1", 0.5);
    d.shared.bank_width = measured(4, "B", 0.5);
    d.shared.latency = measured(47, "cycles", 0.5);
    d.outstanding.measured = true;
    strcpy(d.outstanding.structure, "prt");
    d.outstanding.confidence = 0.75;
    char *text = summary();
    expect_line(text, "  shared       32 banks of 4 B, latency 47 cycles");
    expect_line(text, "  in flight    prt (0.75)");
    free(text);
    d.outstanding.entries = measured(44, "entries", 0.5);
    text = summary();
    expect_line(text, "  in flight    prt (0.75) of 44 entries");
    free(text);
    d.outstanding.structure[0] = '\0';
    d.shared.banks = (struct attribute){0};
    text = summary();
    assert_null(strstr(text, "in flight"));
    assert_null(strstr(text, "banks"));
    free(text);
}

static void instructions_stand_three_beside_each_other(void **state)
{
    (void)state;
    static const char *const ops[] = {"iadd", "imad", "ffma", "barrier"};
    char *text = summary();
    assert_null(strstr(text, "iadd"));
    free(text);
    d.sm.asked = true;
    for (size_t i = 0; i < 4; i++) {
        d.sm.instructions[i] =
            (struct instruction_result){.op = ops[i],
                                        .latency = measured(4.04 + 20 * (double)i, "cycles", 0.5),
                                        .rate = measured(64, "1/cycle", 0.5)};
    }
    d.sm.instructions[3].rate = (struct attribute){.status = ATTRIBUTE_ABSENT};
    d.sm.instructions[4] = (struct instruction_result){.op = "hmma16"}; /* nothing is known of it */
    d.sm.instruction_count = 5;
    d.sm.sub_cores = measured(4, "1", 0.9);
    text = summary();
    expect_line(text,
                "  iadd          4.0    64  imad           24    64  ffma           44    64");
    expect_line(text, "  barrier        64     -");
    expect_line(text, "  sub-cores                    4 (0.90)");
    assert_null(strstr(text, "hmma16"));
    assert_null(strstr(text, "warps that fill"));
    free(text);
}

static void a_long_name_leaves_the_time_a_line_of_its_own(void **state)
{
    (void)state;
    const struct trace_device device = {.name = "NVIDIA A100-SXM4-40GB",
                                        .driver = "sonde 0.1.0",
                                        .sms = 108,
                                        .clock_hz = 1410000000};
    const struct report_subject subject = {
        .version = "v", .device_spec = "sim:x", .device = &device, .date = "today", .seconds = 3.1};
    const struct report_style plain = {0};
    char *text;
    assert_int_equal(report_summary(&text, &d, &subject, &plain), 0);
    expect_line(text, "  NVIDIA A100-SXM4-40GB, 108 SMs, 1.41 GHz, driver sonde 0.1.0");
    expect_line(text, "  dissected in 3.1 s");
    free(text);
}

/* The whole table tells sets of translations one by one where they differ, however few. */
static void sets_of_a_tlb_that_differ_are_told_one_by_one(void **state)
{
    (void)state;
    static const struct trace_device device = {.name = "GPU", .sms = 2, .clock_hz = 1000000};
    static const struct report_subject subject = {
        .version = "v", .device_spec = "sim:x", .device = &device, .date = "today"};
    static const struct report_style plain = {0};
    char *text;
    d.tlb_count = 1;
    strcpy(d.tlbs[0].id, "l2_tlb");
    d.tlbs[0].present = true;
    d.tlbs[0].set_count = 2;
    d.tlbs[0].entries_per_set[0] = d.tlbs[0].entries_per_set[1] = 8;
    assert_int_equal(report_table(&text, &d, &subject, &plain), 0);
    assert_null(strstr(text, "entries by set"));
    free(text);
    d.tlbs[0].entries_per_set[1] = 9;
    assert_int_equal(report_table(&text, &d, &subject, &plain), 0);
    assert_non_null(strstr(text, ", entries by set 8+9\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, clear)
        TEST(a_line_of_a_cache_has_the_least_confidence_of_its_values),
        TEST(what_was_tried_and_gave_nothing_is_named_in_one_line),
        TEST(kinds_of_access_fill_lines_and_break_none),
        TEST(levels_of_translation_that_are_there_have_a_line),
        TEST(long_values_stay_within_80_columns),
        TEST(a_long_name_leaves_the_time_a_line_of_its_own),
        TEST(shared_memory_and_what_is_in_flight_have_a_line),
        TEST(sets_of_a_tlb_that_differ_are_told_one_by_one),
        TEST(instructions_stand_three_beside_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
