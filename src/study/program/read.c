/*
 * Parts of a study's file: roles that are models of the study's own, programs, and what cannot be
 * tested. A model is kept as text, for the model reader to judge when it is first needed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/read.h"
#include "util/container/arena.h"
#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/glue/yaml_glue.h"

/* The node as YAML in one line. */
static void put_flow(struct strbuf *out, const struct yaml_node *node)
{
    if (node->kind == YAML_SCALAR) {
        strbuf_printf(out, node->quoted ? "'%s'" : "%s", node->text);
        return;
    }
    bool mapping = node->kind == YAML_MAPPING;
    strbuf_append(out, mapping ? "{" : "[");
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        if (mapping) {
            strbuf_printf(out, "%s: ", child->key);
        }
        put_flow(out, child);
        strbuf_append(out, child->next ? ", " : "");
    }
    strbuf_append(out, mapping ? "}" : "]");
}

int study_read_role(struct study *study, struct study_role *role, const struct yaml_node *node)
{
    const char *spec;
    role->name = node->key;
    if (node->kind != YAML_MAPPING) {
        int rc = yaml_text(&spec, node);
        snprintf(role->spec, sizeof(role->spec), "%s", rc == 0 ? spec : "");
        return rc;
    }
    struct strbuf text = {0};
    put_flow(&text, node);
    if (strbuf_failed(&text) || text.length >= sizeof(role->spec)) {
        strbuf_free(&text);
        return yaml_error(SONDE_EINPUT, node, "the role's model is too long");
    }
    snprintf(role->spec, sizeof(role->spec), "%s", strbuf_text(&text));
    role->model = arena_strdup(study->arena, strbuf_text(&text));
    strbuf_free(&text);
    return role->model ? 0 : error_memory();
}

/* A size of a program that may be left out; never 0. */
static int read_count(uint32_t *out, const struct yaml_node *node, const char *key)
{
    uint64_t value;
    const struct yaml_node *child = yaml_get(node, key);
    if (!child) {
        return 0;
    }
    int rc = yaml_u64(&value, child, UNIT_NONE);
    if (rc == 0 && (value == 0 || value > UINT32_MAX)) {
        rc = yaml_error(SONDE_EINPUT, child, "'%s' is 1 to %u", key, UINT32_MAX);
    }
    *out = rc == 0 ? (uint32_t)value : 0;
    return rc;
}

static int read_program(struct study_program *program, const struct yaml_node *node)
{
    if (node->kind != YAML_MAPPING) {
        return yaml_error(SONDE_EINPUT, node, "a program has a workload and its size");
    }
    program->name = node->key;
    int rc = study_need_text(&program->workload, node, "workload");
    rc = rc < 0 ? rc : read_count(&program->size, node, "size");
    rc = rc < 0 ? rc : read_count(&program->block, node, "block");
    rc = rc < 0 ? rc : read_count(&program->depth, node, "depth");
    rc = rc < 0 ? rc : read_count(&program->quick_size, node, "quick");
    rc = rc < 0 ? rc : read_count(&program->quick_depth, node, "quick_depth");
    return rc < 0 ? rc : read_count(&program->cost, node, "cost");
}

int study_read_programs(struct study *study, const struct yaml_node *node)
{
    if (!node) {
        return 0;
    }
    if (node->kind != YAML_MAPPING || node->child_count == 0) {
        return yaml_error(SONDE_EINPUT, node, "programs: NAME: {workload: .., size: ..}");
    }
    study->programs = arena_array(study->arena, node->child_count, sizeof(*study->programs));
    int rc = 0;
    if (!study->programs) {
        return error_memory();
    }
    for (const struct yaml_node *item = node->first; rc == 0 && item; item = item->next) {
        rc = read_program(&study->programs[study->program_count++], item);
    }
    return rc;
}

int study_quick(struct study *study)
{
    for (size_t i = 0; i < study->program_count; i++) {
        struct study_program *program = &study->programs[i];
        program->size = program->quick_size ? program->quick_size : program->size;
        program->depth = program->quick_depth ? program->quick_depth : program->depth;
    }
    return study->program_count
               ? 0
               : error_set(SONDE_EUSAGE, "%s runs no programs, of which there are quick sizes",
                           study->name);
}

int study_read_untested(struct study *study, const struct yaml_node *node)
{
    if (!node) {
        return 0;
    }
    if (node->kind != YAML_SEQUENCE || node->child_count == 0) {
        return yaml_error(SONDE_EINPUT, node, "not_testable: a list of id, what, why");
    }
    study->untested = arena_array(study->arena, node->child_count, sizeof(*study->untested));
    int rc = 0;
    if (!study->untested) {
        return error_memory();
    }
    for (const struct yaml_node *item = node->first; rc == 0 && item; item = item->next) {
        struct study_untested *untested = &study->untested[study->untested_count++];
        rc = study_need_text(&untested->id, item, "id");
        rc = rc < 0 ? rc : study_need_text(&untested->what, item, "what");
        rc = rc < 0 ? rc : study_need_text(&untested->why, item, "why");
    }
    return rc;
}

/* A number from 1 at *text, which moves behind it; 0: there is none. */
static uint32_t take_count(const char **text)
{
    char *end;
    unsigned long value = strtoul(*text, &end, 10);
    bool fits = **text >= '0' && **text <= '9' && value <= UINT32_MAX;
    *text = end;
    return fits ? (uint32_t)value : 0;
}

static int set_size(struct study_program *program, const char *setting, const char *text)
{
    struct study_program changed = *program;
    uint32_t depth = 1;
    changed.size = take_count(&text);
    if (changed.size && *text == 'x') {
        text++;
        changed.depth = depth = take_count(&text);
    }
    if (changed.size == 0 || *text || depth == 0) {
        return error_set(SONDE_EUSAGE, "'%s': expected SIZE or SIZExDEPTH, each 1 to %u", setting,
                         UINT32_MAX);
    }
    *program = changed;
    return 0;
}

int study_size(struct study *study, const char *setting)
{
    const char *equals = strchr(setting, '=');
    size_t length = equals ? (size_t)(equals - setting) : 0;
    for (size_t i = 0; equals && i < study->program_count; i++) {
        struct study_program *program = &study->programs[i];
        if (strlen(program->name) == length && strncmp(program->name, setting, length) == 0) {
            return set_size(program, setting, equals + 1);
        }
    }
    return study->program_count
               ? error_set(SONDE_EUSAGE,
                           "'%s': expected PROGRAM=SIZE, where %s's first program is '%s'", setting,
                           study->name, study->programs[0].name)
               : error_set(SONDE_EUSAGE, "'%s': %s runs no programs", setting, study->name);
}
