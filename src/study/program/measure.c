/*
 * Rows about whole programs: a value of one run (program/values.def), the speed of a device over
 * another, and what holds of several programs' speeds. The speed of a program is cycles there by
 * cycles here: the same instructions in less time are faster. `of: resident` counts, of all SMs,
 * the cycles in which one holds a CTA.
 */
#include <math.h>
#include <string.h>

#include "study/program/program.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static double class_share(const struct program_result *r, enum program_class which)
{
    return ratio(r->classes[which], r->thread_insns);
}

static double space_share(const struct program_result *r, enum program_space which)
{
    uint64_t all = 0;
    for (int space = 0; space < PROGRAM_SPACES; space++) {
        all += r->spaces[space];
    }
    return ratio(r->spaces[which], all);
}

static double lane_share(const struct program_result *r, int from, int to)
{
    uint64_t insns = 0;
    for (int lanes = from; lanes <= to; lanes++) {
        insns += r->lanes[lanes];
    }
    return ratio(insns, r->warp_insns);
}

static bool value_of(double *value, const struct program_result *r, const char *word)
{
#define PROGRAM_VALUE(name, expression, doc)                                                       \
    if (strcmp(word, #name) == 0) {                                                                \
        *value = (double)(expression);                                                             \
        return true;                                                                               \
    }
#include "study/program/values.def"
#undef PROGRAM_VALUE
    return false;
}

static int find_role(size_t *index, const struct study *study, const struct yaml_node *node)
{
    const char *name = measure_word(node, "over");
    for (*index = 0; name && *index < study->device_count; ++*index) {
        if (strcmp(study->devices[*index].name, name) == 0) {
            return 0;
        }
    }
    return yaml_error(SONDE_EINPUT, node, "over: one of the study's devices");
}

int program_speed(struct study_bench *bench, struct study_value *value, size_t role, size_t over,
                  size_t program, bool resident)
{
    const struct program_result *here = NULL, *there = NULL;
    int rc = program_run(bench, &there, over, program, value);
    if (rc < 0 || (!there && !study_bench_lists(bench))) {
        return rc;
    }
    rc = program_run(bench, &here, role, program, value);
    if (rc == 0 && here && there) {
        value_number(value, resident ? ratio(there->sm_cycles, here->sm_cycles)
                                     : ratio(there->cycles, here->cycles));
    }
    return rc;
}

static bool is_resident(const struct yaml_node *node)
{
    const char *of = measure_word(node, "of");
    return of && strcmp(of, "resident") == 0;
}

/* A value by what it is on another device. */
static int value_over(struct study_bench *bench, struct study_value *value, size_t role,
                      const struct yaml_node *node, size_t program, const char *word)
{
    const struct program_result *here = NULL, *there = NULL;
    double number, other;
    size_t over;
    int rc = find_role(&over, study_bench_study(bench), node);
    rc = rc < 0 ? rc : program_run(bench, &there, over, program, value);
    rc = rc < 0 ? rc : program_run(bench, &here, role, program, value);
    if (rc < 0 || !here || !there) {
        return rc;
    }
    if (!word || !value_of(&number, here, word) || !value_of(&other, there, word)) {
        return yaml_error(SONDE_EINPUT, node, "a program has no value '%s'", word ? word : "");
    }
    value_number(value, other > 0 ? number / other : 0);
    return 0;
}

int measure_program(struct study_bench *bench, struct study_value *value, size_t role,
                    const struct yaml_node *node)
{
    const struct study *study = study_bench_study(bench);
    const char *word = measure_word(node, "value");
    const struct program_result *result;
    size_t program, over;
    double number;
    int rc = program_find(&program, study, yaml_get(node, "program"));
    if (rc == 0 && word && strcmp(word, "speed") == 0) {
        rc = find_role(&over, study, node);
        return rc < 0 ? rc : program_speed(bench, value, role, over, program, is_resident(node));
    }
    if (rc == 0 && yaml_get(node, "over")) {
        return value_over(bench, value, role, node, program, word);
    }
    rc = rc < 0 ? rc : program_run(bench, &result, role, program, value);
    if (rc < 0 || !result) {
        return rc;
    }
    if (!word || !value_of(&number, result, word)) {
        return yaml_error(SONDE_EINPUT, node, "a program has no value '%s'", word ? word : "");
    }
    value_number(value, number);
    return 0;
}

/* Of several programs: their numbers so far, as a row wants them in the end. */
struct several {
    double lowest, highest, inverses; /* inverses: their sum */
    uint32_t count, within, beyond, slower;
    double by;
};

static void take(struct several *several, double number)
{
    double change = fabs(number - 1);
    several->lowest = fmin(several->lowest, number);
    several->highest = fmax(several->highest, number);
    several->inverses += 1 / number;
    several->count++;
    several->within += change <= several->by;
    several->beyond += change > several->by;
    several->slower += number < 1 - several->by;
}

static int tell(struct study_value *value, const struct several *several,
                const struct yaml_node *node)
{
    const char *word = measure_word(node, "value");
    const struct {
        const char *word;
        double number;
        bool needs_by;
    } values[] = {
        {"lowest", several->lowest, false},
        {"highest", several->highest, false},
        {"mean", several->count / several->inverses, false},
        {"within", several->within, true},
        {"beyond", several->beyond, true},
        {"slower", several->slower, true},
    };
    for (size_t i = 0; word && i < sizeof(values) / sizeof(values[0]); i++) {
        if (strcmp(word, values[i].word) == 0) {
            if (values[i].needs_by && !(several->by > 0)) {
                break;
            }
            value_number(value, values[i].number);
            return 0;
        }
    }
    return yaml_error(SONDE_EINPUT, node,
                      "of programs: lowest, highest, mean (harmonic), or with a share `by` within, "
                      "beyond, slower");
}

/* The number of one of the programs: its speed over a device, a value by name (`field`), or IPC. */
static int number_of(struct study_bench *bench, struct study_value *value, size_t role,
                     const struct yaml_node *node, size_t program)
{
    const struct program_result *result;
    size_t over;
    int rc;
    if (yaml_get(node, "over") && yaml_get(node, "field")) {
        return value_over(bench, value, role, node, program, measure_word(node, "field"));
    }
    if (yaml_get(node, "over")) {
        rc = find_role(&over, study_bench_study(bench), node);
        return rc < 0 ? rc : program_speed(bench, value, role, over, program, is_resident(node));
    }
    const char *field = yaml_get(node, "field") ? measure_word(node, "field") : "ipc";
    double number;
    rc = program_run(bench, &result, role, program, value);
    if (rc < 0 || !result) {
        return rc;
    }
    if (!field || !value_of(&number, result, field)) {
        return yaml_error(SONDE_EINPUT, node, "a program has no value '%s'", field ? field : "");
    }
    value_number(value, number);
    return 0;
}

/* The same by that of a program, the one that is said to be the least or the most of all. */
static int relative_to(struct study_bench *bench, struct study_value *value, size_t role,
                       const struct yaml_node *node)
{
    const struct yaml_node *name = yaml_get(node, "relative");
    struct study_value other;
    size_t program;
    if (!name) {
        return 0;
    }
    value_nothing(&other, "no reason given");
    int rc = program_find(&program, study_bench_study(bench), name);
    rc = rc < 0 ? rc : number_of(bench, &other, role, node, program);
    if (rc < 0 || value->kind != STUDY_NUMBER) {
        return rc;
    }
    if (other.kind != STUDY_NUMBER) {
        *value = other;
        return 0;
    }
    value_number(value, other.number > 0 ? value->number / other.number : 0);
    return 0;
}

int measure_programs(struct study_bench *bench, struct study_value *value, size_t role,
                     const struct yaml_node *node)
{
    const struct yaml_node *list = yaml_get(node, "programs"), *by = yaml_get(node, "by");
    struct several several = {.lowest = INFINITY, .highest = 0};
    int rc = by ? yaml_double(&several.by, by, UNIT_NONE) : 0;
    if (rc == 0 && (list->kind != YAML_SEQUENCE || list->child_count == 0)) {
        rc = yaml_error(SONDE_EINPUT, node, "programs: a list of names");
    }
    for (const struct yaml_node *item = list->first; rc == 0 && item; item = item->next) {
        size_t program;
        value_nothing(value, "no reason given");
        rc = program_find(&program, study_bench_study(bench), item);
        rc = rc < 0 ? rc : number_of(bench, value, role, node, program);
        if (rc < 0 || (value->kind != STUDY_NUMBER && !study_bench_lists(bench))) {
            return rc;
        }
        if (value->kind == STUDY_NUMBER) {
            take(&several, value->number);
        }
    }
    if (study_bench_lists(bench)) {
        value_nothing(value, "not run yet");
        return relative_to(bench, value, role, node);
    }
    rc = rc < 0 ? rc : tell(value, &several, node);
    return rc < 0 ? rc : relative_to(bench, value, role, node);
}
