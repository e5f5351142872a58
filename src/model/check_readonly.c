/*
 * What the parameters of texture and constant caches and of shared memory's words mean together.
 */
#include "model/read.h"

static void check_words(struct reader *reader)
{
    const struct shared_spec *shared = &reader->model->sm.shared;
    if (shared->word_bytes > 0 && shared->bank_bytes % shared->word_bytes != 0) {
        problem(reader, "sm.shared.word", "%u B does not divide bank_width, %u B",
                shared->word_bytes, shared->bank_bytes);
    }
    if (shared->word_selectable && shared->bank_bytes % 4 != 0) {
        problem(reader, "sm.shared.word_selectable", "bank_width, %u B, does not hold words of 4 B",
                shared->bank_bytes);
    }
}

/* The FIFO is as long as a hit in the cache takes; without the cache nobody is served by it. */
void normalise_readonly(struct reader *reader)
{
    struct model *model = reader->model;
    normalise_cache(&model->texture_l1);
    normalise_cache(&model->constant_l1);
    normalise_cache(&model->constant_l15);
    bool by_l1 = model->sm.texture.by_l1 && model->l1_data.enabled;
    model->sm.texture.empty_cycles = by_l1                       ? model->l1_data.hit_cycles
                                     : model->texture_l1.enabled ? model->texture_l1.hit_cycles
                                                                 : 1;
}

void check_readonly(struct reader *reader)
{
    const struct model *model = reader->model;
    const struct {
        const char *prefix;
        const struct cache_spec *cache;
    } rows[] = {{"texture_l1", &model->texture_l1},
                {"constant_l1", &model->constant_l1},
                {"constant_l15", &model->constant_l15}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].cache->enabled) {
            check_cache_at(reader, rows[i].prefix, rows[i].cache);
        }
    }
    if (model->sm.texture.by_l1 && (model->texture_l1.enabled || !model->l1_data.enabled)) {
        problem(reader, "sm.texture.l1", "is true, but %s",
                model->texture_l1.enabled ? "there is texture_l1" : "l1_data is not enabled");
    }
    if (model->constant_l15_scope == TLB_PER_GPU) {
        problem(reader, "constant_l15.scope", "an SM has one, or a cluster");
    }
    if (model->sm.readonly == READONLY_TEXTURE && !model->texture_l1.enabled) {
        problem(reader, "sm.readonly", "is texture, but texture_l1 is not enabled");
    }
    if (model->constant_l15.enabled && !model->constant_l1.enabled) {
        problem(reader, "constant_l15.enabled", "is true, but constant_l1 in front of it is not");
    }
    check_words(reader);
}
