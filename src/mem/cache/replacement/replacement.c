/* The table of replacement policies, and what may stand in a specification. */
#include "mem/cache/replacement/replacement.h"

#include <math.h>

#include "util/error.h"

static const struct replacement_ops *const kinds[REPLACE_KIND_COUNT] = {
#define REPLACEMENT(id, text, doc) [REPLACE_##id] = &replacement_##id,
#include "mem/cache/replacement/replacement.def"
#undef REPLACEMENT
};

int replacement_check(const struct replacement_spec *spec, uint32_t ways)
{
    if ((unsigned)spec->kind >= REPLACE_KIND_COUNT) {
        return error_set(SONDE_EINPUT, "replacement: unknown policy %d", (int)spec->kind);
    }
    if (spec->kind != REPLACE_BIASED && spec->kind != REPLACE_BIASED_ALTERNATING) {
        return 0;
    }
    if (spec->probability_count != ways || ways > MEM_MAX_WAYS) {
        return error_set(SONDE_EINPUT, "replacement: %u probabilities for %u ways",
                         spec->probability_count, ways);
    }
    double sum = 0;
    for (uint32_t i = 0; i < ways; i++) {
        double p = spec->probability[i];
        if (!(p >= 0 && p <= 1)) {
            return error_set(SONDE_EINPUT, "replacement: probability %u is %g, not 0 to 1", i, p);
        }
        sum += p;
    }
    if (fabs(sum - 1) > 1e-3) { /* room for a model file's rounded sixths */
        return error_set(SONDE_EINPUT, "replacement: the probabilities add up to %g, not 1", sum);
    }
    return 0;
}

void replacement_init(struct replacement *replacement, const struct replacement_spec *spec)
{
    replacement->ops = kinds[spec->kind];
    replacement->spec = spec;
    rng_seed(&replacement->rng, spec->seed);
}
