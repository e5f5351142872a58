/* What cannot be: geometries, index functions, carve-outs and machines that do not hold together.
 */
#include "support/model_text.h"

static void the_size_must_be_what_the_geometry_makes(void **state)
{
    (void)state;
    refuse_text(
        "l1_data: {size: 24 KiB}\n",
        "m.yaml:1:17: l1_data.size: is 24 KiB, but 32 sets of 4 ways of 128 B lines make 16 KiB");
    refuse_text(
        "l1_data: {sets: 31}\n",
        "m.yaml: l1_data.size: is 16 KiB, but 31 sets of 4 ways of 128 B lines make 15.5 KiB");
}

static void sectors_must_divide_the_line(void **state)
{
    (void)state;
    refuse_text("l1_data: {sector: 48 B}\n",
                "m.yaml:1:19: l1_data.sector: 48 B does not divide the line, 128 B");
    refuse_text("l2: {line: 512 B, sector: 4 B, size: 1 MiB}\n",
                "m.yaml:1:27: l2.sector: a line has 128 sectors; 64 are the most");
}

static void unequal_sets_must_be_complete(void **state)
{
    (void)state;
    refuse_text("l1_data: {sets: 3, ways: 4, ways_per_set: [4, 2], size: 768 B}\n",
                "m.yaml:1:43: l1_data.ways_per_set: has 2 items for 3 sets");
    refuse_text("l1_data: {sets: 2, ways: 5, ways_per_set: [4, 2], size: 768 B}\n",
                "m.yaml:1:26: l1_data.ways: is 5, but the largest of ways_per_set is 4");
    refuse_text("l1_data: {sets: 2, ways: 4, ways_per_set: [4, 2], size: 1 KiB}\n",
                "m.yaml:1:57: l1_data.size: is 1 KiB, but 6 lines of 128 B make 768 B");
    struct model *model =
        accept_text("l1_data: {sets: 2, ways: 4, ways_per_set: [4, 2], size: 768 B}\n");
    assert_int_equal(model->l1_data.unequal_count, 2);
    assert_int_equal(model->l1_data.ways_per_set[1], 2);
    model_destroy(model);
}

static void index_bits_must_number_the_sets(void **state)
{
    (void)state;
    refuse_text("l1_data: {index: {kind: bits, bits: [7, 8, 9]}}\n",
                "m.yaml:1:37: l1_data.index.bits: index function: 3 address bits or masks cannot "
                "number 32 sets");
    refuse_text("l1_data: {index: {kind: bits, bits: [7, 8, 9, 10, 7]}}\n",
                "m.yaml:1:37: l1_data.index.bits: the masks are not independent of each other: "
                "some of 32 sets "
                "are never used");
    refuse_text("l1_data: {index: {kind: xor, masks: [0x80, 0x100, 0x200, 0x400, 0x180]}}\n",
                "m.yaml:1:37: l1_data.index.masks: the masks are not independent of each other: "
                "some of 32 sets "
                "are never used");
    refuse_text(
        "l1_data: {index: {kind: bits, bits: [6, 8, 9, 10, 11]}}\n",
        "m.yaml:1:37: l1_data.index.bits: changes every 64 B, which tears lines of 128 B apart");
}

static void maps_must_reach_every_set_and_no_other(void **state)
{
    (void)state;
    refuse_text(
        "l1_data: {sets: 2, ways: 64, index: {kind: map, map: [0, 1, 2]}}\n",
        "m.yaml:1:54: l1_data.index.map: index function: map entry 2 is set 2 of only 2 sets");
    refuse_text("l1_data: {sets: 2, ways: 64, index: {kind: map, map: [1, 1]}}\n",
                "m.yaml:1:54: l1_data.index.map: only 1 of 2 sets are ever used");
    refuse_text(
        "l1_data: {sets: 2, ways: 64, index: {kind: map, map: []}}\n",
        "m.yaml:1:54: l1_data.index.map: index function: a map has 1 to 4096 entries, not 0");
    refuse_text(
        "l1_data: {index: {kind: modulo, unit: 192 B}}\n",
        "m.yaml:1:39: l1_data.index.unit: changes every 192 B, which tears lines of 128 B apart");
}

static void lists_of_another_kind_are_refused(void **state)
{
    (void)state;
    struct model *model;
    static const char text[] = "l1_data: {index: {kind: modulo, bits: [7, 8]}}\n";
    static const char begin[] =
        "m.yaml:1:39: l1_data.index.bits: does not belong to this kind: see 'bits: ";
    assert_int_equal(model_parse(&model, "m.yaml", text, strlen(text)), SONDE_EINPUT);
    assert_memory_equal(error_text(), begin, sizeof(begin) - 1);
}

static void probabilities_are_one_a_way_and_sum_to_one(void **state)
{
    (void)state;
    refuse_text("l1_data: {replacement: {policy: biased}}\n",
                "m.yaml: l1_data.replacement.victim_probability: has 0 items for 4 ways");
    refuse_text(
        "l1_data: {replacement: {policy: biased, victim_probability: [1/4, 1/4, 1/4, 1/8]}}\n",
        "m.yaml:1:61: l1_data.replacement.victim_probability: the sum is 0.875, not 1");
}

static void slices_and_sets_must_use_each_other_up(void **state)
{
    (void)state;
    /* Every sixth line sees only half of the values of the lowest line bits. */
    refuse_text("l2:\n  slices: 6\n  index: {kind: bits, bits: [7, 8, 9, 10, 11, 12, 13]}\n",
                "m.yaml:3:17: l2.index.kind: together with l2.slice_index it leaves sets of some "
                "slices unused");
    refuse_text("l2:\n  slices: 4\n  slice_index: {kind: bits, bits: [7, 8]}\n"
                "  index: {kind: bits, bits: [8, 9, 10, 11, 12, 13, 14]}\n",
                "m.yaml:4:17: l2.index.kind: together with l2.slice_index it leaves sets of some "
                "slices unused");
    model_destroy(accept_text("l2:\n  slices: 6\n  index: {kind: modulo, unit: 768 B}\n"));
    model_destroy(accept_text("l2:\n  slices: 4\n  slice_index: {kind: bits, bits: [7, 8]}\n"
                              "  index: {kind: bits, bits: [9, 10, 11, 12, 13, 14, 15]}\n"));
    refuse_text("l2: {slices: 2, slice_index: {kind: modulo, unit: 128 B}}\n"
                "l1_data: {line: 256 B, ways: 2}\n",
                "m.yaml:1:37: l2.slice_index.kind: the slice changes every 128 B, within a request "
                "of 256 B");
}

#define CHOICES(a, b) "carveout:\n  choices:\n    - {" a "}\n    - {" b "}\n"
#define CHOICE_16 "shared: 48 KiB, l1: 16 KiB, sets: 32, ways: 4"
#define CHOICE_48 "shared: 16 KiB, l1: 48 KiB, sets: 64, ways: 6"

static void the_initial_choice_is_the_l1_and_the_shared_memory(void **state)
{
    (void)state;
    struct model *model = accept_text(CHOICES(CHOICE_16, CHOICE_48) "  initial: 1\n");
    assert_int_equal(model->l1_data.size_bytes, 48 << 10);
    assert_int_equal(model->l1_data.sets, 64);
    assert_int_equal(model->l1_data.ways, 6);
    assert_int_equal(model->sm.shared.size_bytes, 16 << 10);
    struct cache_spec l1;
    uint64_t shared_bytes;
    model_carve(&l1, &shared_bytes, model, 0);
    assert_int_equal(l1.size_bytes, 16 << 10);
    assert_int_equal(l1.ways, 4);
    assert_int_equal(shared_bytes, 48 << 10);
    model_destroy(model);
}

static void carve_outs_must_agree_with_themselves(void **state)
{
    (void)state;
    refuse_text(
        CHOICES(CHOICE_16, CHOICE_48) "  initial: 2\n",
        "m.yaml:5:12: carveout.initial: is 2, but there are only 2 choices, counted from 0");
    refuse_text("carveout: {initial: 1}\n", "m.yaml:1:21: carveout.initial: there are no choices");
    refuse_text(CHOICES(CHOICE_16, CHOICE_48) "l1_data: {size: 48 KiB}\n",
                "m.yaml:5:17: l1_data.size: differs from choice 0 of carveout.choices, which "
                "determines it: [{shared: 48 KiB, l1: 16 KiB, sets: 32, ways: 4}, {shared: 16 KiB, "
                "l1: 48 KiB, sets: 64, ways: 6}]; change the choices, or have none with carveout: "
                "{choices: []}");
    refuse_text(CHOICES(CHOICE_16, "shared: 32 KiB, l1: 48 KiB, sets: 64, ways: 6"),
                "m.yaml:3:5: carveout.choices: choice 1: shared and l1 make 80 KiB, those of "
                "choice 0 make 64 KiB");
    refuse_text(CHOICES(CHOICE_16, "shared: 16 KiB, l1: 48 KiB, sets: 64, ways: 5"),
                "m.yaml:3:5: carveout.choices: choice 1: is 48 KiB, but 64 sets of 5 ways of 128 B "
                "lines make 40 KiB");
    refuse_text(
        CHOICES(CHOICE_16, CHOICE_48 ", index_bits: [7, 8, 9, 10, 11, 12]"),
        "m.yaml:3:5: carveout.choices: give each choice its index_bits or index_masks, or none");
    refuse_text(CHOICES(CHOICE_16, CHOICE_48 ", victim_probability: [1]"),
                "m.yaml:3:5: carveout.choices: give each choice its victim_probability, or none");
    refuse_text(CHOICES(CHOICE_16 ", index_bits: [7, 8, 9, 10, 11]",
                        CHOICE_48 ", index_bits: [7, 8, 9, 10, 11, 12]"),
                "m.yaml:3:5: carveout.choices: choice 0: index_bits and index_masks are for the "
                "kinds bits and xor\n"
                "m.yaml:3:5: carveout.choices: choice 1: index_bits and index_masks are for the "
                "kinds bits and xor");
    refuse_text(
        CHOICES(CHOICE_16, CHOICE_48) "l1_data: {index: {kind: bits, bits: [7, 8, 9, 10, 11]}}\n",
        "m.yaml:3:5: carveout.choices: choice 1: index function: 5 address bits or masks cannot "
        "number 64 sets");
}

static void misshapen_choices_are_refused(void **state)
{
    (void)state;
    refuse_text("carveout: {choices: 5}\n",
                "m.yaml:1:21: carveout.choices: expected a list of mappings");
    refuse_text("carveout: {choices: [5]}\n",
                "m.yaml:1:22: carveout.choices: expected a mapping, e.g. {shared: 16 KiB, l1: 48 "
                "KiB, sets: 64, ways: 6}");
    refuse_text("carveout: {choices: [{shared: 16 KiB, l1: 48 KiB, sets: 64}]}\n",
                "m.yaml:1:22: carveout.choices: a choice needs the key 'ways'");
    refuse_text("carveout: {choices: [{shred: 16 KiB}]}\n",
                "m.yaml:1:30: carveout.choices: unknown key 'shred'; did you mean 'shared'?");
    refuse_text(
        "carveout: {choices: [{shared: 16}]}\n",
        "m.yaml:1:31: carveout.choices: shared: '16' has no unit; expected bytes, e.g. \"16 B\"");
    refuse_text("carveout: {choices: [{shared: 16 KiB, sets: 0}]}\n",
                "m.yaml:1:45: carveout.choices: sets: '0' is out of range");
    refuse_text("carveout: {choices: [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}]}\n",
                "m.yaml:1:21: carveout.choices: has 13 items; 12 are the most");
    refuse_text("carveout: {choices: [{index_bits: [7], index_masks: [1]}]}\n",
                "m.yaml:1:53: carveout.choices: give index_bits or index_masks, not both");
}

static void the_machine_must_hold_together(void **state)
{
    (void)state;
    refuse_text("sm: {max_warps: 48}\n",
                "m.yaml: sm.max_threads: 2048 threads do not fit 48 warps of 32");
    refuse_text("sm: {max_warps: 2, max_threads: 64}\n",
                "m.yaml: sm.schedulers: 4 schedulers share 2 warps");
    refuse_text("sm: {sub_cores: 8}\n",
                "m.yaml:1:17: sm.sub_cores: 8 sub-cores share 4 schedulers");
    refuse_text("sm: {coalesce: {lanes_per_pass: 24}}\n",
                "m.yaml:1:33: sm.coalesce.lanes_per_pass: 24 does not divide 32");
    refuse_text("sm: {coalesce: {sector: 24 B}}\n",
                "m.yaml:1:25: sm.coalesce.sector: 24 B is not a power of two of at most a segment");
    refuse_text(
        "sm: {coalesce: {segment: 64 B, sector: 128 B}}\n",
        "m.yaml:1:40: sm.coalesce.sector: 128 B is not a power of two of at most a segment");
    refuse_text("sm: {coalesce: {segment: 96 B}}\n",
                "m.yaml:1:26: sm.coalesce.segment: 96 B is not a power of two");
    refuse_text("sm: {registers: 64}\n", "m.yaml: sm.register_granule: is more than all registers");
    refuse_text("clusters: 2\n", "m.yaml:1:11: clusters: 2 clusters share 1 SMs");
    refuse_text("dram: {channels: 2}\n",
                "m.yaml:1:18: dram.channels: 2 does not divide l2.slices, 1");
    refuse_text("dram: {burst: 48 B}\n",
                "m.yaml:1:15: dram.burst: 48 B does not divide the row, 2 KiB");
    refuse_text("dram: {t_rc: 20 cycles}\n",
                "m.yaml:1:14: dram.t_rc: 20 cycles are less than t_ras, 28, which is part of it");
    refuse_text("dram: {bank_groups: 3}\n",
                "m.yaml:1:21: dram.bank_groups: 3 does not divide banks, 16");
    refuse_text("dram: {banks_abreast: 3}\n",
                "m.yaml:1:23: dram.banks_abreast: 3 does not divide banks, 16");
    refuse_text("dram: {bank_interleave: 768 B}\n",
                "m.yaml:1:25: dram.bank_interleave: 768 B does not divide the row, 2 KiB");
    refuse_text("dram: {t_refi: 200 cycles, t_rfc: 100 cycles}\n",
                "m.yaml:1:16: dram.t_refi: DRAM: a refresh of 100 cycles every 200 leaves no time "
                "for accesses");
    refuse_text("dram: {subchannels: 64, banks: 64}\n",
                "m.yaml:1:21: dram.subchannels: DRAM: 64 subchannels of 64 banks; 1024 banks a "
                "channel are the most that are simulated");
    refuse_text("vm: {page: 3 MiB}\n", "m.yaml:1:12: vm.page: 3 MiB is not a power of two");
    refuse_text("vm: {memory: 3 MiB}\n",
                "m.yaml:1:14: vm.memory: 3 MiB is not a multiple of the page, 2 MiB");
}

static void a_model_must_fit_the_host(void **state)
{
    (void)state;
    refuse_text("sms: 1024\nl1_data: {size: 4 MiB, sets: 8192}\n",
                "m.yaml:1:6: sms: all caches together have 33556480 lines; 16777216 are the most "
                "that are simulated");
}

static void what_of_written_data_cannot_be_is_told_of_its_own_key(void **state)
{
    (void)state;
    refuse_text(
        "l2: {write: write_back, written: {piece: 7 B}}\n",
        "m.yaml:1:42: l2.written.piece: 7 bytes do not divide a sector of 128, or a line of "
        "128 bytes has more than 64 of them");
    refuse_text("l2:\n  line: 256 B\n  sector: 64 B\n  size: 512 KiB\n"
                "  write: write_back\n  written: {partial_lines: 5}\n",
                "m.yaml:6:28: l2.written.partial_lines: lines are to be of 128 bytes, not 256");
}

static void a_cache_that_is_off_is_not_checked(void **state)
{
    (void)state;
    struct model *model = accept_text("l1_data: {enabled: false, size: 5 KiB}\n");
    assert_false(model->l1_data.enabled);
    model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_must_be_what_the_geometry_makes),
        cmocka_unit_test(sectors_must_divide_the_line),
        cmocka_unit_test(unequal_sets_must_be_complete),
        cmocka_unit_test(index_bits_must_number_the_sets),
        cmocka_unit_test(maps_must_reach_every_set_and_no_other),
        cmocka_unit_test(lists_of_another_kind_are_refused),
        cmocka_unit_test(probabilities_are_one_a_way_and_sum_to_one),
        cmocka_unit_test(slices_and_sets_must_use_each_other_up),
        cmocka_unit_test(the_initial_choice_is_the_l1_and_the_shared_memory),
        cmocka_unit_test(carve_outs_must_agree_with_themselves),
        cmocka_unit_test(misshapen_choices_are_refused),
        cmocka_unit_test(the_machine_must_hold_together),
        cmocka_unit_test(a_model_must_fit_the_host),
        cmocka_unit_test(what_of_written_data_cannot_be_is_told_of_its_own_key),
        cmocka_unit_test(a_cache_that_is_off_is_not_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
