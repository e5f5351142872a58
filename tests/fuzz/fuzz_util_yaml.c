/*
 * Any bytes as a YAML document: the reader must accept or refuse, with a text, and every scalar
 * that it gives must be accepted or refused by the quantity parser of every kind.
 */
#include <stdint.h>
#include <stdlib.h>

#include "util/container/arena.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void visit(const struct yaml_node *node)
{
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        visit(child);
    }
    if (node->kind != YAML_SCALAR) {
        return;
    }
    for (enum unit unit = UNIT_NONE; unit <= UNIT_FRACTION; unit++) {
        uint64_t whole;
        double real;
        error_clear();
        if (yaml_u64(&whole, node, unit) < 0 && error_text()[0] == '\0') {
            abort();
        }
        if (yaml_double(&real, node, unit) < 0 && error_text()[0] == '\0') {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct yaml_node *root = NULL;
    error_clear();
    if (yaml_parse(&root, arena, (const char *)data, size, "fuzz.yaml") == 0) {
        visit(root);
    } else if (root || error_text()[0] == '\0') {
        abort();
    }
    arena_destroy(arena);
    return 0;
}
