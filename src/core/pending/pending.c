/* The table of structures for what is outstanding. */
#include "core/pending/pending.h"

#include <stddef.h>

static const struct pending_ops *const kinds[PENDING_KIND_COUNT] = {
#define PENDING(id, text, doc) [PENDING_##id] = &pending_##id,
#include "core/pending/pending.def"
#undef PENDING
};

void pending_init(struct pending *table, const struct pending_spec *spec)
{
    *table = (struct pending){.ops = kinds[spec->kind], .spec = spec};
}
