/* Whatever the model's checks let through, the simulator can build: each parameter at both its
 * ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/param.h"
#include "rt/rt.h"
#include "util/error.h"

/* "a.b.c" and a value as YAML: "a: {b: {c: value}}". */
static void nest(char *out, size_t size, const char *path, const char *value)
{
    int depth = 0;
    size_t length = 0;
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1, depth++) {
        length += (size_t)snprintf(out + length, size - length, "%.*s: {", (int)(dot - path), path);
    }
    length += (size_t)snprintf(out + length, size - length, "%s: %s", path, value);
    snprintf(out + length, size - length, "%.*s\n", depth, "}}}}}}}}");
}

static void build(const char *path, const char *value, unsigned *built)
{
    char text[256];
    struct model *model;
    struct rt *rt;
    nest(text, sizeof(text), path, value);
    if (model_parse(&model, "m.yaml", text, strlen(text)) < 0) {
        return; /* refused with a reason: as good */
    }
    if (rt_create(&rt, model) < 0) {
        fail_msg("%s: %s", text, error_text());
    }
    rt_destroy(rt);
    model_destroy(model);
    (*built)++;
}

static void every_accepted_value_can_be_simulated(void **state)
{
    (void)state;
    unsigned built = 0, words = 0;
    for (size_t i = 0; i < param_count(); i++) {
        const struct param *param = param_at(i);
        if (param->min) {
            build(param->path, param->min, &built);
            build(param->path, param->max, &built);
        }
        for (const struct param_word *word = param->words; word && word->word; word++) {
            build(param->path, word->word, &words);
        }
    }
    assert_true(built > param_count());
    assert_true(words > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_accepted_value_can_be_simulated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
