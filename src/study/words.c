/* Words of a study's YAML: those that must be there, and those that may. */
#include "study/bench.h"
#include "study/read.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

const char *measure_word(const struct yaml_node *node, const char *key)
{
    const struct yaml_node *child = yaml_get(node, key);
    return child ? child->text : NULL;
}

int study_need_text(const char **text, const struct yaml_node *node, const char *key)
{
    const struct yaml_node *child = yaml_get(node, key);
    return child ? yaml_text(text, child) : yaml_error(SONDE_EINPUT, node, "'%s' is missing", key);
}
