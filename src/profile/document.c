/* A profile as JSON: "sonde.profile/1". */
#include "profile/state.h"

#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/text/symbol.h"

static void put_stalls(json_t *object, const struct profile_line *line, bool all)
{
    json_t *stalls = json_put_object(object, "warp_cycles_by_reason");
    for (int i = 0; i < STALL_COUNT; i++) {
        if (all || line->stall[i]) {
            json_put_u64(stalls, stall_name((enum stall)i), line->stall[i]);
        }
    }
}

static void put_counts(json_t *object, const struct profile_line *line, bool all)
{
    json_put_u64(object, "warp_cycles", profile_line_cycles(line));
    put_stalls(object, line, all);
    json_put_u64(object, "waited_for", line->caused);
    json_put_u64(object, "warp_instructions", line->warp_insns);
    json_put_u64(object, "thread_instructions", line->thread_insns);
    if (line->requests) {
        json_put_u64(object, "requests", line->requests);
        json_put_u64(object, "l1_hits", line->l1_hits);
        json_put_u64(object, "l1_pending_hits", line->l1_pending_hits);
        json_put_u64(object, "l2_hits", line->l2_hits);
        json_put_u64(object, "dram", line->dram);
        json_put_u64(object, "bytes", line->bytes);
        json_put_u64(object, "l2_bytes", line->l2_bytes);
    }
}

static json_t *insn_json(const struct profile_kernel *kernel, uint32_t pc)
{
    const struct profile_insn *insn = &kernel->insns[pc];
    json_t *object = json_object();
    json_put_u64(object, "pc", pc);
    json_put_string(object, "function", insn->function);
    json_put_string(object, "file", insn->file);
    if (insn->text) {
        json_put_u64(object, "line", insn->line);
        json_put_string(object, "text", insn->text);
    }
    if (insn->source) {
        json_put_string(object, "source", insn->source);
        json_put_u64(object, "source_line", insn->source_line);
        if (insn->source_text) {
            json_put_string(object, "source_text", insn->source_text);
        }
    }
    put_counts(object, &kernel->lines[pc], false);
    return object;
}

struct source_line {
    const char *file;
    uint32_t line;
    struct profile_line sum;
};

static void add_counts(struct profile_line *sum, const struct profile_line *line)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)line;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) {
        to[i] += from[i];
    }
}

/* The same by lines of the language that was compiled, where .loc tells of them. */
static int put_sources(json_t *object, const struct profile_kernel *kernel)
{
    VEC(struct source_line) lines = {0};
    int rc = 0;
    for (uint32_t pc = 0; rc == 0 && pc < kernel->length; pc++) {
        const struct profile_insn *insn = &kernel->insns[pc];
        size_t at = 0;
        if (!insn->source) {
            continue;
        }
        while (at < lines.count && (lines.data[at].line != insn->source_line ||
                                    strcmp(lines.data[at].file, insn->source) != 0)) {
            at++;
        }
        if (at == lines.count) {
            rc = vec_push(&lines,
                          (struct source_line){.file = insn->source, .line = insn->source_line});
        }
        if (rc >= 0) {
            rc = 0;
            add_counts(&lines.data[at].sum, &kernel->lines[pc]);
        }
    }
    json_t *array = lines.count ? json_put_array(object, "source_lines") : NULL;
    for (size_t i = 0; i < lines.count; i++) {
        json_t *line = json_object();
        json_put_string(line, "source", lines.data[i].file);
        json_put_u64(line, "source_line", lines.data[i].line);
        put_counts(line, &lines.data[i].sum, false);
        json_append(array, line);
    }
    vec_free(&lines);
    return rc < 0 ? error_memory() : 0;
}

static void put_size(json_t *object, const char *key, const uint32_t size[3])
{
    json_t *list = json_put_array(object, key);
    for (int i = 0; i < 3; i++) {
        json_append(list, json_integer(size[i]));
    }
}

static int put_kernel(json_t *kernels, const struct profile *profile,
                      const struct profile_kernel *kernel)
{
    struct profile_line sum;
    json_t *object = json_object();
    profile_sum(&sum, kernel);
    char *name = symbol_readable(kernel->name);
    json_put_string(object, "kernel", kernel->name);
    json_put_string(object, "name", name ? name : kernel->name);
    free(name);
    json_put_string(object, "file", kernel->file);
    json_put_u64(object, "variant", kernel->variant);
    json_put_u64(object, "launches", kernel->launches);
    json_put_u64(object, "stopped", kernel->faults);
    json_t *shapes = json_put_array(object, "sizes");
    for (size_t i = 0; i < kernel->shapes.count; i++) {
        const struct profile_shape *shape = &kernel->shapes.data[i];
        json_t *one = json_object();
        put_size(one, "grid", shape->grid);
        put_size(one, "block", shape->block);
        json_put_u64(one, "launches", shape->launches);
        json_append(shapes, one);
    }
    json_put_u64(object, "cycles", kernel->stats.cycles);
    json_put_u64(object, "resident_warp_cycles", kernel->resident);
    put_counts(object, &sum, true);
    json_put(object, "roofline", profile_roofline(profile->model, kernel));
    int rc = put_sources(object, kernel);
    json_t *lines = json_put_array(object, "lines");
    for (uint32_t pc = 0; pc < kernel->length; pc++) {
        json_append(lines, insn_json(kernel, pc));
    }
    json_append(kernels, object);
    return rc;
}

int profile_document(json_t **out, const struct profile *profile)
{
    json_check_whole(); /* what was lost before is others' */
    json_t *root = json_object();
    int rc = 0;
    json_put_string(root, "schema", "sonde.profile/1");
    json_put_string(root, "model", profile->model->name);
    json_put_u64(root, "sms", profile->model->sms);
    json_t *reasons = json_put_object(root, "reasons");
    for (int i = 0; i < STALL_COUNT; i++) {
        json_put_string(reasons, stall_name((enum stall)i), stall_doc((enum stall)i));
    }
    json_t *kernels = json_put_array(root, "kernels");
    for (size_t i = 0; rc == 0 && i < profile->kernels.count; i++) {
        rc = put_kernel(kernels, profile, profile->kernels.data[i]);
    }
    rc = rc < 0 ? rc : json_check_whole();
    if (rc < 0) {
        json_decref(root);
        return rc;
    }
    *out = root;
    return 0;
}
