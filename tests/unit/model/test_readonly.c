/* What the parameters of texture, constant and shared memory's words must have in common. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/model.h"
#include "util/error.h"

static void refused(const char *text, const char *why)
{
    struct model *model = NULL;
    assert_int_equal(model_parse(&model, "m.yaml", text, strlen(text)), SONDE_EINPUT);
    assert_non_null(strstr(error_text(), why));
}

static struct model *accepted(const char *text)
{
    struct model *model = NULL;
    if (model_parse(&model, "m.yaml", text, strlen(text)) < 0) {
        fail_msg("%s", error_text());
    }
    return model;
}

static void a_model_that_says_nothing_has_none_of_these_caches(void **state)
{
    (void)state;
    struct model *model = accepted("name: m\n");
    assert_false(model->texture_l1.enabled);
    assert_false(model->constant_l1.enabled);
    assert_false(model->constant_l15.enabled);
    assert_int_equal(model->sm.readonly, READONLY_NONE);
    model_destroy(model);
}

static void read_only_loads_need_the_cache_that_serves_them(void **state)
{
    (void)state;
    refused("sm:\n  readonly: texture\n",
            "m.yaml:2:13: sm.readonly: is texture, but texture_l1 is not enabled");
    model_destroy(accepted("sm:\n  readonly: texture\ntexture_l1:\n  enabled: true\n"));
    model_destroy(accepted("sm:\n  readonly: l1\n"));
}

static void a_second_constant_cache_needs_a_first(void **state)
{
    (void)state;
    refused("constant_l15:\n  enabled: true\n", "constant_l1 in front of it is not");
    model_destroy(accepted("constant_l1:\n  enabled: true\n"));
}

static void geometry_is_checked_as_that_of_other_caches(void **state)
{
    (void)state;
    refused("texture_l1:\n  enabled: true\n  size: 12 KiB\n  line: 32 B\n  sets: 4\n  ways: 95\n"
            "  index: {kind: bits, bits: [7, 8]}\n",
            "texture_l1.size: is 12 KiB");
    refused("constant_l1:\n  enabled: true\n  size: 2 KiB\n  line: 64 B\n  sets: 8\n  ways: 4\n"
            "  index: {kind: bits, bits: [6, 7]}\n",
            "constant_l1.index");
}

static void the_fifo_is_as_long_as_a_hit_takes(void **state)
{
    (void)state;
    struct model *model = accepted("texture_l1:\n  enabled: true\n  hit_latency: 77 cycles\n");
    assert_int_equal(model->sm.texture.empty_cycles, 77);
    model_destroy(model);
}

static void words_divide_a_banks_row(void **state)
{
    (void)state;
    refused("sm:\n  shared:\n    bank_width: 8 B\n    word: 3 B\n",
            "m.yaml:4:11: sm.shared.word: 3 B does not divide bank_width, 8 B");
    refused("sm:\n  shared:\n    bank_width: 2 B\n    word_selectable: true\n",
            "does not hold words of 4 B");
    model_destroy(accepted("sm:\n  shared:\n    bank_width: 8 B\n    word: 4 B\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_that_says_nothing_has_none_of_these_caches),
        cmocka_unit_test(read_only_loads_need_the_cache_that_serves_them),
        cmocka_unit_test(a_second_constant_cache_needs_a_first),
        cmocka_unit_test(geometry_is_checked_as_that_of_other_caches),
        cmocka_unit_test(the_fifo_is_as_long_as_a_hit_takes),
        cmocka_unit_test(words_divide_a_banks_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
