/*
 * A dissection as JSON: each value stands under the name that docs/dissection.schema.json gives it.
 * What is expected is written here by hand, with ' for ".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "report/report.h"
#include "util/error.h"

static struct dissection d;

static int clear(void **state)
{
    (void)state;
    memset(&d, 0, sizeof d);
    return 0;
}

static json_t *reported(void)
{
    static const struct trace_device device = {.name = "GPU",
                                               .driver = "drv",
                                               .kind = "sim",
                                               .sms = 2,
                                               .compute_major = 3,
                                               .compute_minor = 5,
                                               .clock_hz = 11,
                                               .memory_bytes = 12,
                                               .l2_bytes_reported = 13,
                                               .shared_per_sm_bytes = 14,
                                               .shared_per_block_bytes = 15,
                                               .memory_bandwidth_reported = 16};
    static const struct report_subject subject = {
        .version = "v", .device_spec = "sim:x", .device = &device, .date = "today", .seconds = 1.5};
    char *text = NULL;
    assert_int_equal(report_json(&text, &d, &subject), 0);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

/* The value at a path of keys and places with points between is what the text says. */
static void expect(const json_t *root, const char *path, const char *text)
{
    char words[64], quoted[2048], *rest = NULL;
    const json_t *at = root;
    snprintf(words, sizeof words, "%s", path);
    for (char *word = strtok_r(words, ".", &rest); word; word = strtok_r(NULL, ".", &rest)) {
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(word)) : json_object_get(at, word);
    }
    snprintf(quoted, sizeof quoted, "%s", text);
    for (char *c = quoted; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_error_t error;
    json_t *expected = json_loads(quoted, JSON_DECODE_ANY, &error);
    if (!expected) {
        fail_msg("%s: %s", path, error.text);
    }
    if (!at || !json_equal(at, expected)) {
        char *got = at ? json_dumps(at, JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
        print_error("%s: %s\ninstead of %s\n", path, got ? got : "nothing", quoted);
        free(got);
        fail();
    }
    json_decref(expected);
}

static struct attribute measured(double value, const char *unit)
{
    struct attribute a = {
        .status = ATTRIBUTE_MEASURED, .value = value, .unit = unit, .confidence = 0.5};
    strcpy(a.evidence, "e.1");
    return a;
}

static struct attribute refused(enum attribute_status status, const char *reason)
{
    struct attribute a = {.status = status};
    snprintf(a.reason, sizeof a.reason, "%s", reason);
    return a;
}

#define CYCLES(value) "{'value': " value ", 'unit': 'cycles', 'confidence': 0.5, 'evidence': 'e.1'}"
#define NOT_YET "{'status': 'not measured', 'reason': 'no experiment measures this yet'}"

static void the_device_and_the_run_are_named(void **state)
{
    (void)state;
    json_t *root = reported();
    expect(root, "schema", "'sonde.dissection/1'");
    expect(root, "sonde", "'v'");
    expect(root, "date", "'today'");
    expect(root, "seconds", "1.5");
    expect(root, "device",
           "{'spec': 'sim:x', 'name': 'GPU', 'kind': 'sim', 'driver': 'drv', 'sms': 2, "
           "'clock_hz': 11, 'compute_major': 3, 'compute_minor': 5, 'memory_bytes': 12, "
           "'l2_bytes_reported': 13, 'shared_per_sm_bytes': 14, 'shared_per_block_bytes': 15, "
           "'memory_bandwidth_reported': 16}");
    json_decref(root);
}

static void an_attribute_has_a_value_or_one_of_four_reasons(void **state)
{
    (void)state;
    d.memory_latency = measured(372.25, "cycles");
    d.memory_latency.low = 300;
    d.memory_latency.high = 400.5;
    d.memory.read_bandwidth = refused(ATTRIBUTE_ABSENT, "a");
    d.memory.write_bandwidth = refused(ATTRIBUTE_NOT_ASKED, "b");
    d.shared.banks = refused(ATTRIBUTE_NOT_RECORDED, "c");
    d.shared.bank_width = refused(ATTRIBUTE_NOT_MEASURED, "d");
    json_t *root = reported();
    expect(root, "memory",
           "{'latency': {'value': 372.25, 'unit': 'cycles', 'low': 300, 'high': 400.5, "
           "'confidence': 0.5, 'evidence': 'e.1'}, "
           "'read_bandwidth': {'status': 'absent', 'reason': 'a'}, "
           "'write_bandwidth': {'status': 'not asked', 'reason': 'b'}}");
    expect(root, "shared_memory",
           "{'banks': {'status': 'not recorded', 'reason': 'c'}, "
           "'bank_width': {'status': 'not measured', 'reason': 'd'}, 'latency': " NOT_YET "}");
    expect(root, "latency_patterns", "[]");
    expect(root, "latency_patterns_status", "'not measured'");
    expect(root, "latency_patterns_reason", "'no experiment measures this yet'");
    json_decref(root);
}

static void shared_memory_has_its_conflicts_and_modes(void **state)
{
    (void)state;
    d.shared.banks = measured(32, "1");
    d.shared.conflicts[0] = (struct conflict_latency){2, 80.5};
    d.shared.conflicts[1] = (struct conflict_latency){32, 900};
    d.shared.conflict_count = 2;
    d.shared.modes[0] = 4;
    d.shared.modes[1] = 8;
    d.shared.mode_count = 2;
    json_t *root = reported();
    expect(root, "shared_memory.banks.value", "32");
    expect(root, "shared_memory.conflict_latency", "{'2': 80.5, '32': 900.0}");
    expect(root, "shared_memory.modes", "[4, 8]");
    json_decref(root);
}

static void an_index_is_masks_a_modulus_or_a_map(void **state)
{
    (void)state;
    struct index_result *index = &d.caches[0].index;
    d.cache_count = 2;
    strcpy(index->kind, "map");
    strcpy(index->evidence, "i.2");
    index->masks[0] = 0x80;
    index->masks[1] = UINT64_C(0x1200000000);
    index->mask_count = 2;
    index->modulus = 6;
    index->map[0] = 3;
    index->map[2] = 1;
    index->map_count = 3;
    index->bit_limit = 21;
    index->confidence = 0.75;
    strcpy(d.caches[1].index.refusal.reason, "why");
    d.caches[1].index.refusal.status = ATTRIBUTE_ABSENT;
    json_t *root = reported();
    expect(root, "caches.0.set_index",
           "{'kind': 'map', 'masks': ['0x80', '0x1200000000'], 'modulus': 6, 'map': [3, 0, 1], "
           "'bits_below': 21, 'confidence': 0.75, 'evidence': 'i.2'}");
    expect(root, "caches.1.set_index", "{'kind': 'unknown', 'status': 'absent', 'reason': 'why'}");
    strcpy(d.caches[1].index.kind, "bits");
    json_decref(root);
    root = reported();
    expect(root, "caches.1.set_index",
           "{'kind': 'bits', 'masks': [], 'confidence': 0.0, 'evidence': ''}");
    json_decref(root);
}

static void a_policy_has_its_equals_and_its_probabilities(void **state)
{
    (void)state;
    struct policy_result *policy = &d.caches[0].policy;
    d.cache_count = 1;
    strcpy(policy->name, "biased");
    strcpy(policy->equivalent[0], "fifo");
    policy->equivalent_count = 1;
    policy->confidence = 0.25;
    strcpy(policy->evidence, "p.3");
    json_t *root = reported();
    expect(root, "caches.0.policy",
           "{'name': 'biased', 'equivalent_to': ['fifo'], 'confidence': 0.25, 'evidence': 'p.3'}");
    json_decref(root);
    policy->probability[0] = 0.125;
    policy->probability[1] = 0.875;
    policy->error[1] = 0.5;
    policy->probability_count = 2;
    policy->victims = 77;
    policy->serial = SERIAL_YES;
    root = reported();
    expect(root, "caches.0.policy",
           "{'name': 'biased', 'equivalent_to': ['fifo'], 'victim_probability': [0.125, 0.875], "
           "'victim_probability_error': [0.0, 0.5], 'victims': 77, 'serial': true, "
           "'confidence': 0.25, 'evidence': 'p.3'}");
    json_decref(root);
    policy->name[0] = '\0';
    root = reported();
    expect(root, "caches.0.policy",
           "{'name': 'unknown', 'status': 'not measured', "
           "'reason': 'no experiment measures this yet'}");
    json_decref(root);
}

static void a_cache_has_what_was_found_of_it(void **state)
{
    (void)state;
    struct cache_result *cache = &d.caches[0];
    d.cache_count = 2;
    strcpy(cache->id, "l2");
    strcpy(cache->scope, "gpu");
    cache->present = true;
    cache->path_interleave = 4;
#define ATTRIBUTE(field, unit) cache->field = measured((double)__COUNTER__, "cycles");
#include "infer/attributes.def"
    cache->sharing_known = true;
    strcpy(cache->shared_with[0], "l1_data");
    cache->shared_count = 1;
    cache->ways_per_set[0] = 3;
    cache->ways_per_set[1] = 5;
    cache->ways_per_set_count = 2;
    cache->latencies[0] = (struct latency_class){200, 199.5, 203, 0.5};
    cache->latency_count = 1;
    cache->steps[0] = (struct capacity_step){4096, 230.5, 0.25};
    cache->step_count = 1;
    strcpy(d.caches[1].absence.reason, "none");
    d.caches[1].absence.status = ATTRIBUTE_ABSENT;
    json_t *root = reported();
    expect(root, "caches.0.id", "'l2'");
    expect(root, "caches.0.scope", "'gpu'");
    expect(root, "caches.0.present", "true");
    expect(root, "caches.0.path_interleave", "4");
    expect(root, "caches.0.shared_with", "['l1_data']");
    expect(root, "caches.0.ways_per_set", "[3, 5]");
    expect(root, "caches.0.hit_latencies",
           "[{'cycles': 200, 'low': 199.5, 'high': 203, 'share': 0.5}]");
    expect(root, "caches.0.steps", "[{'bytes': 4096, 'median_cycles': 230.5, 'miss_share': 0.25}]");
    double next = 0;
#define ATTRIBUTE(field, unit)                                                                     \
    assert_true(json_number_value(json_object_get(                                                 \
                    json_object_get(json_array_get(json_object_get(root, "caches"), 0), #field),   \
                    "value")) == next++);
#include "infer/attributes.def"
    expect(root, "caches.1.present", "false");
    expect(root, "caches.1.status", "'absent'");
    expect(root, "caches.1.reason", "'none'");
    expect(root, "caches.1.shared_with", NOT_YET);
    json_decref(root);
}

static void a_tlb_has_what_was_found_of_it(void **state)
{
    (void)state;
    struct tlb_result *tlb = &d.tlbs[0];
    d.tlb_count = 1;
    strcpy(tlb->id, "l2_tlb");
    tlb->present = true;
    tlb->page = measured(1, "cycles");
    tlb->coverage = measured(2, "cycles");
    tlb->entries = measured(3, "cycles");
    tlb->sets = measured(4, "cycles");
    tlb->miss_penalty = measured(5, "cycles");
    tlb->scope_refusal.status = ATTRIBUTE_NOT_ASKED;
    strcpy(tlb->scope_refusal.reason, "r");
    strcpy(tlb->policy.name, "lru");
    json_t *root = reported();
    const char *const policy =
        "{'name': 'lru', 'equivalent_to': [], 'confidence': 0.0, 'evidence': ''}";
    expect(root, "tlbs.0.policy", policy);
    expect(root, "tlbs.0.scope", "{'status': 'not asked', 'reason': 'r'}");
    assert_int_equal(json_object_size(json_array_get(json_object_get(root, "tlbs"), 0)), 9);
    json_decref(root);
    tlb->entries_per_set[0] = 17;
    tlb->entries_per_set[1] = 8;
    tlb->set_count = 2;
    tlb->steps[0] = (struct tlb_step){66, 17};
    tlb->step_count = 1;
    strcpy(tlb->scope, "sm");
    strcpy(tlb->scope_evidence, "s.1");
    root = reported();
    expect(root, "tlbs.0.id", "'l2_tlb'");
    expect(root, "tlbs.0.present", "true");
    expect(root, "tlbs.0.scope", "'sm'");
    expect(root, "tlbs.0.scope_evidence", "'s.1'");
    expect(root, "tlbs.0.page", CYCLES("1"));
    expect(root, "tlbs.0.coverage", CYCLES("2"));
    expect(root, "tlbs.0.entries", CYCLES("3"));
    expect(root, "tlbs.0.sets", CYCLES("4"));
    expect(root, "tlbs.0.miss_penalty", CYCLES("5"));
    expect(root, "tlbs.0.entries_per_set", "[17, 8]");
    expect(root, "tlbs.0.steps", "[{'pages': 66, 'missed': 17}]");
    expect(root, "tlbs.0.policy", policy);
    assert_int_equal(json_object_size(json_array_get(json_object_get(root, "tlbs"), 0)), 12);
    json_decref(root);
}

/* Of a size a line more or less, of an estimate what lies within its bounds, is the same. */
static void a_method_that_contradicts_the_dissection_is_marked(void **state)
{
    (void)state;
    struct cache_result *l1 = &d.caches[0], *l2 = &d.caches[1];
    d.cache_count = d.method_count = 2;
    *l1 = (struct cache_result){.id = "l1_data", .scope = "sm", .present = true};
    *l2 = (struct cache_result){.id = "l2", .scope = "gpu", .present = true};
    l1->size = measured(16384, "B");
    l1->line = measured(128, "B");
    l1->sets = measured(32, "1");
    l2->size = measured(3000, "B");
    l2->size.low = 2900;
    l2->size.high = 3100;
    d.methods[0] = (struct method_result){.name = "mei",
                                          .cache = "l1_data",
                                          .size = measured(16512, "B"),
                                          .line = measured(32, "B"),
                                          .sets = measured(32, "1"),
                                          .ways = measured(4, "1")};
    d.methods[1] = (struct method_result){
        .name = "lashgar", .cache = "l2", .size = measured(3100, "B"), .ways = measured(4, "1")};
    json_t *root = reported();
    expect(root, "methods.0.line",
           "{'value': 32, 'unit': 'B', 'confidence': 0.5, 'evidence': 'e.1', 'contradicts': 128}");
    static const char *const same[] = {"size", "sets", "ways"};
    for (size_t i = 0; i < 3; i++) {
        json_t *method = json_array_get(json_object_get(root, "methods"), 0);
        assert_null(json_object_get(json_object_get(method, same[i]), "contradicts"));
    }
    expect(root, "methods.1.size",
           "{'value': 3100, 'unit': 'B', 'confidence': 0.5, 'evidence': 'e.1'}");
    json_decref(root);
    l2->size.high = 3099;
    d.methods[0].size = measured(16640, "B");
    root = reported();
    expect(root, "methods.0.size",
           "{'value': 16640, 'unit': 'B', 'confidence': 0.5, 'evidence': 'e.1', "
           "'contradicts': 16384}");
    expect(root, "methods.1.size",
           "{'value': 3100, 'unit': 'B', 'confidence': 0.5, 'evidence': 'e.1', "
           "'contradicts': 3000}");
    json_decref(root);
}

static void kinds_of_access_methods_classes_and_evidence_are_lists(void **state)
{
    (void)state;
    d.pattern_count = d.method_count = d.class_count = d.evidence_count = 1;
    d.patterns[0] = (struct latency_pattern){.name = "P3",
                                             .op = "cg",
                                             .cache = "l2",
                                             .l1_tlb = "miss",
                                             .l2_tlb = "hit",
                                             .jump = true,
                                             .loads = 9,
                                             .latency = measured(295, "cycles")};
    d.methods[0] = (struct method_result){.name = "mei", .cache = "l2", .size = measured(7, "B")};
    d.classes[0] = (struct latency_class){230, 229, 231, 0.125};
    strcpy(d.evidence[0].id, "e.1");
    strcpy(d.evidence[0].text, "seen");
    json_t *root = reported();
    expect(root, "latency_patterns",
           "[{'pattern': 'P3', 'op': 'cg', 'cache': 'l2', 'l1_tlb': 'miss', 'l2_tlb': 'hit', "
           "'page_table': null, 'far_jump': true, 'loads': 9, 'latency': " CYCLES("295") "}]");
    expect(root, "methods",
           "[{'method': 'mei', 'cache': 'l2', 'size': {'value': 7, 'unit': 'B', 'confidence': 0.5, "
           "'evidence': 'e.1'}, 'line': " NOT_YET ", 'sets': " NOT_YET ", 'ways': " NOT_YET
           ", 'periodic': " NOT_YET "}]");
    expect(root, "latency_classes", "[{'cycles': 230, 'low': 229, 'high': 231, 'share': 0.125}]");
    expect(root, "evidence", "{'e.1': 'seen'}");
    assert_null(json_object_get(root, "latency_patterns_status"));
    json_decref(root);
}

static void expect_outstanding_sizes(void)
{
    json_t *root = reported();
    expect(root, "outstanding.structure", "'mshr'");
    expect(root, "outstanding.confidence", "0.75");
    expect(root, "outstanding.evidence", "'o.1'");
    expect(root, "outstanding.entries", CYCLES("1"));
    expect(root, "outstanding.mergers", CYCLES("2"));
    expect(root, "outstanding.loads_per_warp", CYCLES("3"));
    expect(root, "outstanding.max_requests_per_sm", CYCLES("4"));
    expect(root, "outstanding.at_least",
           "{'entries': 11, 'mergers': 12, 'loads_per_warp': 13, 'max_requests_per_sm': 14, "
           "'instructions': 1}");
    expect(root, "outstanding.lanes_count_as_mergers", "true");
    expect(root, "outstanding.one_load_cycles", "400.5");
    expect(root, "outstanding.request_cycles", "0.5");
    expect(root, "outstanding.spikes",
           "[{'threads': 1, 'loads': 2, 'more': 3, 'lanes': 4, 'merge': 5, 'share': 6, "
           "'instructions': 7, 'requests': 8, 'before_cycles': 9.5, 'after_cycles': 10.5}]");
    assert_int_equal(json_object_size(json_object_get(root, "outstanding")), 12);
    json_decref(root);
}

static void what_may_be_in_flight_has_sizes_or_bounds(void **state)
{
    (void)state;
    struct outstanding_result *o = &d.outstanding;
    json_t *root = reported();
    expect(root, "outstanding",
           "{'structure': 'unknown', 'status': 'not measured', 'reason': 'no experiment measures "
           "this yet', 'entries': " NOT_YET ", 'mergers': " NOT_YET ", 'loads_per_warp': " NOT_YET
           ", 'max_requests_per_sm': " NOT_YET "}");
    json_decref(root);
    *o = (struct outstanding_result){.measured = true,
                                     .structure = "mshr",
                                     .confidence = 0.75,
                                     .evidence = "o.1",
                                     .entries = measured(1, "cycles"),
                                     .mergers = measured(2, "cycles"),
                                     .loads_per_warp = measured(3, "cycles"),
                                     .max_requests = measured(4, "cycles"),
                                     .entries_least = 11,
                                     .mergers_least = 12,
                                     .loads_per_warp_least = 13,
                                     .max_requests_least = 14,
                                     .instructions_least = 1,
                                     .lanes_merge_known = true,
                                     .lanes_merge_in_table = true,
                                     .one_cycles = 400.5,
                                     .request_cycles = 0.5,
                                     .spikes = {{.threads = 1,
                                                 .loads = 2,
                                                 .more = 3,
                                                 .lanes = 4,
                                                 .merge = 5,
                                                 .share = 6,
                                                 .instructions = 7,
                                                 .requests = 8,
                                                 .before_cycles = 9.5,
                                                 .after_cycles = 10.5}},
                                     .spike_count = 1};
    expect_outstanding_sizes();
    o->spike_count = 0;
    o->request_cycles = o->entries_least = 0;
    o->lanes_merge_known = false;
    root = reported();
    expect(root, "outstanding.at_least",
           "{'mergers': 12, 'loads_per_warp': 13, 'max_requests_per_sm': 14, 'instructions': 1}");
    expect(root, "outstanding.spikes", "[]");
    const json_t *outstanding = json_object_get(root, "outstanding");
    assert_null(json_object_get(outstanding, "lanes_count_as_mergers"));
    assert_null(json_object_get(outstanding, "request_cycles"));
    json_decref(root);
}

static void memory_under_load_has_bytes_per_second_where_there_is_a_timer(void **state)
{
    (void)state;
    d.memory.loaded_count = 2;
    d.memory.loaded[0] = (struct loaded_latency){8, 372.5, 1.25, 0};
    d.memory.loaded[1] = (struct loaded_latency){16, 380.5, 2.5, 1e9};
    json_t *root = reported();
    expect(root, "loaded_latency",
           "[{'requests': 8, 'cycles': 372.5, 'bytes_per_cycle': 1.25}, "
           "{'requests': 16, 'cycles': 380.5, 'bytes_per_cycle': 2.5, "
           "'bytes_per_second': 1000000000.0}]");
    json_decref(root);
}

static void an_sm_is_there_only_where_it_was_asked_for(void **state)
{
    (void)state;
    json_t *root = reported();
    assert_null(json_object_get(root, "sm"));
    json_decref(root);
    d.sm.asked = true;
    d.sm.sub_cores = measured(4, "1");
    d.sm.issue = measured(2.5, "1/cycle");
    d.sm.shared_bandwidth = measured(128, "B/cycle");
    d.sm.divergence = measured(45.5, "cycles");
    d.sm.instructions[0] = (struct instruction_result){
        "ffma", "FP32", "multiply-add", measured(4.5, "cycles"), measured(128, "1/cycle")};
    d.sm.instructions[1] =
        (struct instruction_result){"stg4", "STORE", "store", refused(ATTRIBUTE_ABSENT, "no wait"),
                                    refused(ATTRIBUTE_NOT_RECORDED, "not there")};
    d.sm.instruction_count = 2;
    d.sm.curves[0] = (struct sm_curve){"barrier", "warps", {{1, 26}, {2, 28.5}}, 2, "e.2"};
    d.sm.curve_count = 1;
    root = reported();
    expect(root, "sm.sub_cores.value", "4");
    expect(root, "sm.issue.value", "2.5");
    expect(root, "sm.shared_bandwidth.value", "128");
    expect(root, "sm.divergence", CYCLES("45.5"));
    expect(root, "sm.instructions.ffma.latency", CYCLES("4.5"));
    expect(root, "sm.instructions.ffma.lanes_per_cycle.value", "128");
    expect(root, "sm.instructions.ffma.doc", "'multiply-add'");
    expect(root, "sm.instructions.stg4.latency", "{'status': 'absent', 'reason': 'no wait'}");
    expect(root, "sm.instructions.stg4.lanes_per_cycle.status", "'not recorded'");
    expect(root, "sm.curves.barrier",
           "{'over': 'warps', 'evidence': 'e.2', "
           "'points': [{'at': 1, 'cycles': 26.0}, {'at': 2, 'cycles': 28.5}]}");
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, clear)
        TEST(the_device_and_the_run_are_named),
        TEST(an_attribute_has_a_value_or_one_of_four_reasons),
        TEST(shared_memory_has_its_conflicts_and_modes),
        TEST(an_index_is_masks_a_modulus_or_a_map),
        TEST(a_policy_has_its_equals_and_its_probabilities),
        TEST(a_cache_has_what_was_found_of_it),
        TEST(a_tlb_has_what_was_found_of_it),
        TEST(a_method_that_contradicts_the_dissection_is_marked),
        TEST(kinds_of_access_methods_classes_and_evidence_are_lists),
        TEST(what_may_be_in_flight_has_sizes_or_bounds),
        TEST(an_sm_is_there_only_where_it_was_asked_for),
        TEST(memory_under_load_has_bytes_per_second_where_there_is_a_timer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
