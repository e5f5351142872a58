/* Reading a model file: values, lists, inheritance, and every way in which one of them is wrong. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/model_text.h"

#include "model/param.h"
#include "util/fileio.h"

static void an_empty_file_is_the_default_model_named_after_the_file(void **state)
{
    (void)state;
    struct model *model = accept_text("");
    assert_string_equal(model->name, "m");
    assert_string_equal(model->file, "m.yaml");
    assert_int_equal(model->sms, 1);
    assert_int_equal(model->l1_data.size_bytes, 16384);
    assert_int_equal(model->core_period_ps, 1000);
    model_destroy(model);
}

static void values_carry_units(void **state)
{
    (void)state;
    struct model *model =
        accept_text("name: x\n"
                    "clock: 1645 MHz\n"
                    "dram: {clock: 666 ps, t_cl: 7 cycles, width: 16 B/cycle}\n"
                    "vm: {memory: 3 GiB}\n"
                    "l1_data: {hit_latency: 94 cycles, invalidate_on_launch: false}\n");
    assert_int_equal(model->core_period_ps, 608);
    assert_int_equal(model->dram.period_ps, 666);
    assert_int_equal(model->dram.t_cl, 7);
    assert_int_equal(model->dram.bytes_per_cycle, 16);
    assert_int_equal(model->vm.memory_bytes, UINT64_C(3) << 30);
    assert_int_equal(model->l1_data.hit_cycles, 94);
    assert_false(model->l1_data.invalidate_on_launch);
    model_destroy(model);
}

static void a_missing_or_wrong_unit_is_refused(void **state)
{
    (void)state;
    refuse_text(
        "l1_data:\n  hit_latency: 94\n",
        "m.yaml:2:16: l1_data.hit_latency: '94' has no unit; expected cycles, e.g. \"16 cycles\"");
    refuse_text("l1_data: {hit_latency: 94 ns}\n",
                "m.yaml:1:24: l1_data.hit_latency: '94 ns' is a time; expected cycles");
    refuse_text("vm: {memory: 1 KB}\n",
                "m.yaml:1:14: vm.memory: '1 KB': KB is ambiguous; write KiB (1024) or kB (1000)");
    refuse_text("clock: 12 cycles\n",
                "m.yaml:1:8: clock: '12 cycles' is cycles; expected a frequency");
    refuse_text("l1_data: {line: 128 frogs}\n",
                "m.yaml:1:17: l1_data.line: '128 frogs': unknown unit 'frogs'; expected bytes");
}

static void values_out_of_range_are_refused(void **state)
{
    (void)state;
    refuse_text("sms: 0\n", "m.yaml:1:6: sms: '0' is out of range: 1 to 1024");
    refuse_text("sms: -1\n", "m.yaml:1:6: sms: '-1' is negative");
    refuse_text("sms: 1e30\n", "m.yaml:1:6: sms: '1e30' is too large");
    refuse_text("sms: 1.5\n", "m.yaml:1:6: sms: '1.5' is not a whole number");
    refuse_text("clock: 0 Hz\n", "m.yaml:1:8: clock: '0 Hz' is out of range: 1 MHz to 100 GHz");
    refuse_text("clock: 1 ps\n", "m.yaml:1:8: clock: '1 ps' is out of range: 1 MHz to 100 GHz");
    refuse_text("l2: {line: 1 MiB}\n",
                "m.yaml:1:12: l2.line: '1 MiB' is out of range: 4 B to 64 KiB");
}

static void words_and_switches_are_checked(void **state)
{
    (void)state;
    refuse_text(
        "l2: {replacement: {policy: lur}}\n",
        "m.yaml:1:28: l2.replacement.policy: 'lur' is not one of lru, fifo, plru, nru, srrip, "
        "random, biased, biased_alternating, lru_late; did you mean 'lru'?");
    refuse_text("l2: {write: sideways}\n",
                "m.yaml:1:13: l2.write: 'sideways' is not one of write_through_invalidate, "
                "write_through_update, write_back, write_back_whole");
    refuse_text("l2: {enabled: yes}\n", "m.yaml:1:15: l2.enabled: 'yes' is neither true nor false");
}

static void unknown_keys_are_refused_with_the_nearest(void **state)
{
    (void)state;
    refuse_text("l1_data:\n  sise: 16 KiB\n",
                "m.yaml:2:3: unknown key 'l1_data.sise'; did you mean 'l1_data.size'?");
    refuse_text("l1data: {}\n", "m.yaml:1:1: unknown key 'l1data'; did you mean 'l1_data'?");
    refuse_text("policy: lru\n",
                "m.yaml:1:1: unknown key 'policy'; did you mean 'l1_data.replacement.policy'?");
    refuse_text("xyzzy: 1\n", "m.yaml:1:1: unknown key 'xyzzy'");
    refuse_text("sm: {units: {alu: {inherits: x}}}\n",
                "m.yaml:1:20: unknown key 'sm.units.alu.inherits'");
}

static void groups_and_values_are_not_each_other(void **state)
{
    (void)state;
    refuse_text("l1_data: 16 KiB\n",
                "m.yaml:1:10: l1_data: expected a mapping of what is under it");
    refuse_text("sms: {a: 1}\n", "m.yaml:1:6: sms: expected a value, found a mapping");
    refuse_text("sms: [1]\n", "m.yaml:1:6: sms: expected a value, found a sequence");
    refuse_text("- 1\n", "m.yaml:1:1: a model is a mapping of parameters");
    refuse_text("just text\n", "m.yaml:1:1: a model is a mapping of parameters");
}

static void broken_yaml_is_refused_with_its_place(void **state)
{
    (void)state;
    struct model *model;
    static const char *const broken[] = {
        "sms: [1\n", "sms: 1\nsms: 2\n", "a: &x 1\nb: *x\n", "sms: \"\\0\"\n", "\xc3(",
        "{",         "sms: 1\n\t",       "sms: !!int 1\n",   "--- 1\n--- 2\n", "? [a]\n: 1\n",
    };
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        assert_int_equal(model_parse(&model, "m.yaml", broken[i], strlen(broken[i])), SONDE_EINPUT);
        assert_memory_equal(error_text(), "m.yaml:", 7);
    }
}

static void all_mistakes_are_reported_up_to_twenty(void **state)
{
    (void)state;
    refuse_text("sms: 0\nclock: 5\nl2: {sise: 1}\n",
                "m.yaml:1:6: sms: '0' is out of range: 1 to 1024\n"
                "m.yaml:2:8: clock: '5' has no unit; expected a frequency, e.g. \"16 Hz\"\n"
                "m.yaml:3:6: unknown key 'l2.sise'; did you mean 'l2.size'?");
    char text[1024] = "";
    for (int i = 0; i < 25; i++) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "zzzzz%d: 1\n", i);
    }
    struct model *model;
    assert_int_equal(model_parse(&model, "m.yaml", text, strlen(text)), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), "zzzzz19'"));
    assert_null(strstr(error_text(), "zzzzz20'"));
    const char *tail = "\nm.yaml: and 5 more";
    assert_string_equal(error_text() + strlen(error_text()) - strlen(tail), tail);
}

static void lists_are_read_item_by_item(void **state)
{
    (void)state;
    struct model *model =
        accept_text("l1_data:\n"
                    "  index: {kind: xor, masks: [0x80, 256, 0x1_0200, 0x400, 0x800]}\n"
                    "  replacement: {policy: biased, victim_probability: [1/6, 50%, 1/6, "
                    "0.16666666666666666]}\n");
    assert_int_equal(model->l1_data.index.mask_count, 5);
    assert_int_equal(model->l1_data.index.masks[1], 256);
    assert_int_equal(model->l1_data.index.masks[2], 0x10200);
    assert_int_equal(model->l1_data.replacement.probability_count, 4);
    assert_true(model->l1_data.replacement.probability[0] == 1.0 / 6);
    assert_true(model->l1_data.replacement.probability[1] == 0.5);
    assert_true(model->l1_data.replacement.probability[3] == 1.0 / 6);
    model_destroy(model);
}

static void bad_lists_are_refused(void **state)
{
    (void)state;
    refuse_text("l2: {index: {kind: bits, bits: 7}}\n",
                "m.yaml:1:32: l2.index.bits: expected a list of bit numbers, e.g. [1, 2]");
    refuse_text("l2: {index: {kind: bits, bits: [7, 64]}}\n",
                "m.yaml:1:36: l2.index.bits: '64' is out of range: 0 to 63");
    refuse_text("l2: {index: {kind: xor, masks: [0]}}\n",
                "m.yaml:1:33: l2.index.masks: '0' is out of range: 1 to 18446744073709551615");
    refuse_text("l2: {index: {kind: bits, bits: [[7]]}}\n",
                "m.yaml:1:33: l2.index.bits: expected a number");
    refuse_text("l2: {replacement: {policy: biased, victim_probability: [2/1]}}\n",
                "m.yaml:1:57: l2.replacement.victim_probability: '2/1' is not between 0 and 1");
    refuse_text(
        "l2: {replacement: {policy: biased, victim_probability: [1/0]}}\n",
        "m.yaml:1:57: l2.replacement.victim_probability: '0' is out of range: 1 to 1000000");
    char text[256] = "l2: {index: {kind: bits, bits: [0";
    for (int i = 1; i < 25; i++) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%d", i);
    }
    strcat(text, "]}}\n");
    refuse_text(text, "m.yaml:1:32: l2.index.bits: has 25 items; 24 are the most");
}

static void text_is_one_printable_line(void **state)
{
    (void)state;
    struct model *model = accept_text("doc: |\n  two\n\n  lines \t and \xc3\xa9\n");
    assert_string_equal(model->doc, "two lines and \xc3\xa9");
    model_destroy(model);
    refuse_text("doc: \"\\x07\"\n",
                "m.yaml:1:6: doc: the text holds a character that is not printable");
    refuse_text("doc: \"\\u2028\"\n",
                "m.yaml:1:6: doc: the text holds a character that is not printable");
    char text[600];
    snprintf(text, sizeof(text), "doc: %0550d\n", 7);
    refuse_text(text, "m.yaml:1:6: doc: the text is longer than 511 bytes");
    refuse_text("name: a b\n", "m.yaml:1:7: name: 'a b' may hold letters, digits, - _ and . only");
    refuse_text("name: \"\"\n", "m.yaml:1:7: name: is empty");
}

static void a_file_inherits_what_it_does_not_say(void **state)
{
    (void)state;
    struct model *base, *model = accept_text("inherits: gtx560ti\nsms: 4\n");
    assert_int_equal(model_load(&base, "gtx560ti"), 0);
    assert_string_equal(model->name, "m");
    assert_int_equal(model->sms, 4);
    model->sms = base->sms;
    memcpy(model->name, base->name, sizeof(model->name));
    memcpy(model->file, base->file, sizeof(model->file));
    assert_memory_equal(model, base, sizeof(*model));
    model_destroy(model);
    model_destroy(base);
}

static void unknown_and_misshapen_parents_are_refused(void **state)
{
    (void)state;
    refuse_text("inherits: gtx781\n",
                "m.yaml:1:11: inherits: no shipped model 'gtx781'; did you mean 'gtx780'?");
    refuse_text("inherits: [gtx780]\n",
                "m.yaml:1:11: inherits: expected the name of a shipped model or a path");
    struct model *model = NULL;
    const char *text = "inherits: ../secret.yaml\n";
    const char *refused = "m.yaml:1:11: inherits: no shipped model '../secret.yaml'; there are: ";
    assert_int_equal(model_parse(&model, "m.yaml", text, strlen(text)), SONDE_EINPUT);
    assert_memory_equal(error_text(), refused, strlen(refused));
    assert_non_null(strstr(error_text() + strlen(refused), "gtx780"));
}

static void a_child_may_change_the_kind_of_an_inherited_index(void **state)
{
    (void)state;
    struct model *model =
        accept_text("inherits: gtx560ti\nl2: {index: {kind: modulo, unit: 1 KiB}}\n");
    assert_int_equal(model->l2.index.kind, INDEX_MODULO);
    assert_int_equal(model->l2.index.mask_count, 0);
    assert_int_equal(model->l2.index.masks[0], 0);
    model_destroy(model);
}

static void loading_tells_a_missing_file_from_a_missing_model(void **state)
{
    (void)state;
    struct model *model;
    assert_int_equal(model_load(&model, "gtx78"), SONDE_EUSAGE);
    assert_string_equal(error_text(), "no shipped model 'gtx78'; did you mean 'gtx780'?");
    assert_int_equal(model_load(&model, "/nonexistent/x.yaml"), SONDE_EIO);
    assert_int_equal(model_load(&model, "x.yml"), SONDE_EIO);
    assert_int_equal(model_load(&model, "/"), SONDE_EINPUT);
    assert_int_equal(model_load(&model, SONDE_SOURCE_DIR "/tests/models/tiny.yaml"), 0);
    assert_string_equal(model->name, "tiny");
    model_destroy(model);
}

/* The length of the first `count` lines. */
static size_t lines_length(const char *text, unsigned count)
{
    const char *end = text;
    for (unsigned i = 0; i < count; i++) {
        end = strchr(end, '\n') + 1;
    }
    return (size_t)(end - text);
}

static unsigned count_lines(const char *text)
{
    unsigned lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++) {
        lines++;
    }
    return lines;
}

/* What fewer lines than all of `text` are a model of: none. */
static void assert_whole_only(const char *name, const char *text)
{
    struct model *model = NULL;
    unsigned lines = count_lines(text);
    for (unsigned kept = 1; kept < lines; kept++) {
        int rc = model_parse(&model, "cut.yaml", text, lines_length(text, kept));
        if (rc != SONDE_EINPUT) {
            fail_msg("%s with %u of %u lines: %d", name, kept, lines, rc);
        }
    }
    assert_int_equal(model_parse(&model, "whole.yaml", text, lines_length(text, lines)), 0);
    model_destroy(model);
}

static void a_shipped_file_that_was_cut_off_at_any_line_is_refused(void **state)
{
    (void)state;
    glob_t shipped;
    assert_int_equal(glob(SONDE_SOURCE_DIR "/models/*.yaml", 0, NULL, &shipped), 0);
    assert_true(shipped.gl_pathc > 10);
    for (size_t i = 0; i < shipped.gl_pathc; i++) {
        char *text;
        size_t length;
        assert_int_equal(file_read_all(&text, &length, shipped.gl_pathv[i], 1 << 20), 0);
        assert_whole_only(shipped.gl_pathv[i], text);
        free(text);
    }
    globfree(&shipped);
}

static void a_model_as_it_is_shown_and_cut_off_at_any_line_is_refused(void **state)
{
    (void)state;
    struct model *model;
    char *text;
    assert_int_equal(model_load(&model, "gtx780"), 0);
    assert_int_equal(model_show(&text, model), 0);
    model_destroy(model);
    assert_whole_only("gtx780 as it is shown", text);
    free(text);
}

/* `text` without its lines --- and ..., in a block of its own. */
static char *without_marks(const char *text)
{
    char *out = calloc(1, strlen(text) + 1), *end = out;
    assert_non_null(out);
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (strncmp(line, "---\n", length) != 0 && strncmp(line, "...\n", length) != 0) {
            memcpy(end, line, length);
            end += length;
        }
        line += length;
    }
    return out;
}

/* What is left of a model that inherits nothing when it is cut off, at each of the last bytes and
 * here and there before, is refused, or what it leaves to defaults is told. */
static void assert_no_part_passes(const char *name, const char *text, size_t last_bytes)
{
    struct model *model = NULL;
    size_t length = strlen(text), last = length - last_bytes;
    for (size_t kept = 1; kept <= length; kept += kept < last ? 101 : 1) {
        if (model_parse_heir(&model, "cut.yaml", text, kept) == SONDE_EINPUT) {
            continue;
        }
        if (!*model->open_end) {
            fail_msg("%s: %zu of %zu bytes are taken for a model", name, kept, length);
        }
        model_destroy(model);
    }
}

static void a_model_from_nothing_without_its_end_does_not_pass_wherever_it_was_cut_off(void **state)
{
    (void)state;
    unsigned tried = 0;
    for (size_t i = 0; i < model_builtin_count(); i++) {
        size_t length;
        const char *name = model_builtin_name(i);
        const char *shipped = model_builtin_text(i, &length);
        if (strstr(shipped, "\ninherits:")) {
            continue;
        }
        char *text = without_marks(shipped);
        assert_no_part_passes(name, text, tried++ == 0 ? 400 : 1);
        /* The end alone makes it whole. */
        strcat(text, "...\n");
        struct model *model;
        assert_int_equal(model_parse_heir(&model, "whole.yaml", text, strlen(text)), 0);
        assert_string_equal(model->open_end, "");
        model_destroy(model);
        free(text);
    }
    assert_true(tried >= 4);
}

static void what_a_model_without_an_end_leaves_to_defaults_is_told(void **state)
{
    (void)state;
    static const char text[] =
        "sm: {}\nl1_data: {}\ncarveout: {}\nl2: {}\ndram: {}\nvm: {}\nwalker: {}\n"
        "texture_l1: {}\nconstant_l1: {}\nconstant_l15: {}\ntlb_l1: {}\ntlb_l2: {}\n";
    struct model *model = NULL;
    assert_int_equal(model_parse_heir(&model, "m.yaml", text, strlen(text)), 0);
    assert_string_equal(model->open_end, "cta_deal, cta_starts, cta_ends, noc, pcie, driver");
    model_destroy(model);
    static const char heir[] = "inherits: gtx780\nsms: 4\n";
    assert_int_equal(model_parse_heir(&model, "m.yaml", heir, strlen(heir)), 0);
    assert_string_equal(model->open_end, "");
    model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_model_from_nothing_without_its_end_does_not_pass_wherever_it_was_cut_off),
        cmocka_unit_test(what_a_model_without_an_end_leaves_to_defaults_is_told),
        cmocka_unit_test(an_empty_file_is_the_default_model_named_after_the_file),
        cmocka_unit_test(values_carry_units),
        cmocka_unit_test(a_missing_or_wrong_unit_is_refused),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(words_and_switches_are_checked),
        cmocka_unit_test(unknown_keys_are_refused_with_the_nearest),
        cmocka_unit_test(groups_and_values_are_not_each_other),
        cmocka_unit_test(broken_yaml_is_refused_with_its_place),
        cmocka_unit_test(all_mistakes_are_reported_up_to_twenty),
        cmocka_unit_test(lists_are_read_item_by_item),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(text_is_one_printable_line),
        cmocka_unit_test(a_file_inherits_what_it_does_not_say),
        cmocka_unit_test(unknown_and_misshapen_parents_are_refused),
        cmocka_unit_test(a_child_may_change_the_kind_of_an_inherited_index),
        cmocka_unit_test(loading_tells_a_missing_file_from_a_missing_model),
        cmocka_unit_test(a_shipped_file_that_was_cut_off_at_any_line_is_refused),
        cmocka_unit_test(a_model_as_it_is_shown_and_cut_off_at_any_line_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
