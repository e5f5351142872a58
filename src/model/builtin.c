/* The shipped models: models/NAME.yaml, which the build puts into the binary. */
#include "model/model.h"
#include "util/glue/embed.h"

extern const struct embedded_file model_embedded[];

/* The build writes one row a file, in the order of model_embedded. */
static const char *const names[] = {
#define MODEL(name) name,
#include "model_names.def"
#undef MODEL
};

size_t model_builtin_count(void)
{
    return sizeof(names) / sizeof(names[0]);
}

const char *model_builtin_name(size_t i)
{
    return names[i];
}

const char *model_builtin_text(size_t i, size_t *length)
{
    *length = model_embedded[i].size_bytes;
    return (const char *)model_embedded[i].data;
}
