/* Room in the result for what a published recipe gives. */
#include <stdio.h>

#include "infer/published/published.h"

struct method_result *level_method(struct level *level, const char *name, const char *reason)
{
    struct dissection *d = level->lab->out;
    if (d->method_count == INFER_MAX_METHODS) {
        return NULL;
    }
    struct method_result *method = &d->methods[d->method_count++];
    snprintf(method->name, sizeof method->name, "%s", name);
    snprintf(method->cache, sizeof method->cache, "%s", level->info->id);
    attribute_refuse(&method->size, "B", reason);
    attribute_refuse(&method->line, "B", reason);
    attribute_refuse(&method->sets, "1", reason);
    attribute_refuse(&method->ways, "1", reason);
    attribute_refuse(&method->periodic, "1", reason);
    return method;
}
