/*
 * Any bytes as a model file: accepted or refused, with a text; and whatever is accepted can be
 * shown and is read back as the same model, so that nothing gets in that validation did not see.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "util/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show_and_read_again(const struct model *model)
{
    char *yaml;
    struct model *again;
    if (model_show(&yaml, model) < 0 || model_parse(&again, "fuzz.yaml", yaml, strlen(yaml)) < 0 ||
        memcmp(model, again, sizeof(*model)) != 0) {
        abort();
    }
    for (uint32_t i = 0; i < model->carveout.count; i++) {
        struct cache_spec l1;
        uint64_t shared_bytes;
        model_carve(&l1, &shared_bytes, model, i);
    }
    model_destroy(again);
    free(yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model *model;
    error_clear();
    if (model_parse(&model, "fuzz.yaml", (const char *)data, size) == 0) {
        show_and_read_again(model);
        model_destroy(model);
    } else if (error_text()[0] == '\0') {
        abort();
    }
    return 0;
}
