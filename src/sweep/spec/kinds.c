/* What a point may run, as rows; and a row's command line. See kinds.h. */
#include "sweep/spec/kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sonde/sonde.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/glue/yaml_glue.h"

static int put(struct sweep_job *job, char *text)
{
    return !text || vec_push(&job->argv, text) < 0 ? error_memory() : 0;
}

static int put_text(struct sweep_job *job, const char *text)
{
    return put(job, arena_strdup(job->arena, text));
}

/* The value of a name in ${name}: an axis, or what every point has. */
static const char *find_word(const struct sweep_job *job, const char *name)
{
    if (strcmp(name, "result") == 0) {
        return job->result;
    }
    if (strcmp(name, "model_file") == 0) {
        return job->model;
    }
    if (strcmp(name, "seed") == 0) {
        return arena_printf(job->arena, "%" PRIu64, job->spec->seed);
    }
    return sweep_setting(job->spec, job->point, name);
}

/* A scalar with its ${names} put in, as an argument behind `prefix`. */
static int put_scalar(struct sweep_job *job, const char *prefix, const struct yaml_node *node)
{
    struct strbuf text = {0};
    char name[64];
    int rc = node->kind == YAML_SCALAR ? 0 : yaml_error(SONDE_EINPUT, node, "a text is expected");
    strbuf_append(&text, prefix);
    for (const char *at = node->text; rc == 0 && *at;) {
        const char *end = at[0] == '$' && at[1] == '{' ? strchr(at, '}') : NULL;
        if (!end) {
            strbuf_append_char(&text, *at++);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(end - at - 2), at + 2);
        const char *value = find_word(job, name);
        rc = value ? strbuf_append(&text, value)
                   : yaml_error(SONDE_EINPUT, node, "no axis is named '%s'", name);
        at = end + 1;
    }
    rc = rc ? rc : put_text(job, strbuf_text(&text));
    strbuf_free(&text);
    return rc;
}

/* A list of texts, or one. */
static int put_list(struct sweep_job *job, const char *option, const struct yaml_node *node)
{
    const struct yaml_node *item = node->kind == YAML_SEQUENCE ? node->first : node;
    int rc = 0;
    while (rc == 0 && item) {
        rc = option ? put_text(job, option) : 0;
        rc = rc ? rc : put_scalar(job, "", item);
        item = node->kind == YAML_SEQUENCE ? item->next : NULL;
    }
    return rc;
}

/* `--key value` for each key of `run` that stands in the list. A flag's value is true or false. */
static int put_options(struct sweep_job *job, const char *const *keys)
{
    int rc = 0;
    for (; rc == 0 && *keys; keys++) {
        const struct yaml_node *node = yaml_get(job->spec->run_node, *keys);
        char *option = arena_printf(job->arena, "--%s", *keys);
        bool flag;
        if (!node || !option) {
            rc = option ? 0 : error_memory();
        } else if (node->text &&
                   (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)) {
            rc = yaml_bool(&flag, node);
            rc = rc || !flag ? rc : put(job, option);
        } else {
            rc = put_list(job, option, node);
        }
    }
    return rc;
}

/* "sonde NAME -d sim:MODEL -q RESULT_OPTION RESULT" */
static int put_command(struct sweep_job *job, const char *name, const char *result_option)
{
    int rc = put_text(job, job->program);
    rc = rc ? rc : put_text(job, name);
    rc = rc ? rc : put_text(job, "-d");
    rc = rc ? rc : put(job, arena_printf(job->arena, "sim:%s", job->model));
    rc = rc ? rc : put_text(job, "-q");
    rc = rc ? rc : put_text(job, result_option);
    return rc ? rc : put_text(job, job->result);
}

static int put_key(struct sweep_job *job)
{
    job->what = job->argv.count;
    return put_list(job, NULL, yaml_get(job->spec->run_node, job->spec->run->key));
}

static int make_workload(struct sweep_job *job)
{
    int rc = put_command(job, "workload", "--stats");
    rc = rc ? rc : put_key(job);
    return rc ? rc : put_options(job, job->spec->run->options);
}

static int make_exec(struct sweep_job *job)
{
    static const char *const options[] = {"kernel", "grid", "block", "shared", "any-target", NULL};
    const struct yaml_node *args = yaml_get(job->spec->run_node, "args");
    int rc = put_command(job, "exec", "--stats");
    rc = rc ? rc : put_key(job);
    rc = rc ? rc : put_options(job, options);
    return rc || !args ? rc : put_list(job, "--arg", args);
}

static int make_program(struct sweep_job *job)
{
    int rc = put_command(job, "run", "--stats");
    rc = rc ? rc : put_options(job, job->spec->run->options);
    rc = rc ? rc : put_text(job, "--");
    return rc ? rc : put_key(job);
}

static int make_dissect(struct sweep_job *job)
{
    int rc = put_command(job, "dissect", "--json");
    rc = rc ? rc : put(job, arena_printf(job->arena, "--seed=%" PRIu64, job->spec->seed));
    return rc ? rc : put_options(job, job->spec->run->options);
}

static int make_command(struct sweep_job *job)
{
    const struct yaml_node *command = yaml_get(job->spec->run_node, "command");
    job->result_on_stdout = true;
    for (const struct yaml_node *word = command->first; word; word = word->next) {
        job->result_on_stdout &= !word->text || !strstr(word->text, "${result}");
    }
    return put_key(job);
}

static const char *const run_columns[] = {
    "cycles", "ipc", "warp_instructions", "thread_instructions", "caches.*.hit_rate", NULL};
static const char *const dissect_columns[] = {"caches.*.size",        "caches.*.line",
                                              "caches.*.sets",        "caches.*.ways",
                                              "caches.*.hit_latency", NULL};
static const char *const all_columns[] = {"*", NULL};
static const char *const workload_options[] = {"size", "block", "depth", "threads", NULL};
static const char *const exec_options[] = {"kernel", "grid",       "block", "shared",
                                           "args",   "any-target", NULL};
static const char *const program_options[] = {"kernels",    "skip",    "count",
                                              "max-cycles", "threads", NULL};
static const char *const dissect_options[] = {"only", "skip", NULL};
static const char *const no_options[] = {NULL};

static const struct sweep_kind_row rows[] = {
    {"workload", workload_options, run_columns, make_workload, true, WORKLOAD_NAME},
    {"exec", exec_options, run_columns, make_exec, true, ALWAYS_FILE},
    {"program", program_options, run_columns, make_program, true, FILE_BY_SLASH},
    {"dissect", dissect_options, dissect_columns, make_dissect, true, NO_FILE},
    {"command", no_options, all_columns, make_command, false, FILE_BY_SLASH},
};
#define ROWS (sizeof rows / sizeof *rows)

static bool is_option(const struct sweep_kind_row *row, const char *key)
{
    bool known = strcmp(row->key, key) == 0;
    for (const char *const *option = row->options; *option; option++) {
        known = known || strcmp(*option, key) == 0;
    }
    return known;
}

int sweep_kind_find(const struct sweep_kind_row **out, const struct yaml_node *run)
{
    *out = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        if (yaml_get(run, rows[i].key)) {
            *out = &rows[i];
            break;
        }
    }
    if (!*out) {
        return yaml_error(SONDE_EINPUT, run,
                          "what is run: 'workload', 'exec', 'program', 'dissect' or 'command'");
    }
    for (const struct yaml_node *child = run->first; child; child = child->next) {
        if (!is_option(*out, child->key)) {
            return yaml_error(SONDE_EINPUT, child, "'%s' does not go with '%s'", child->key,
                              (*out)->key);
        }
    }
    return 0;
}

int sweep_command(struct sweep_job *job)
{
    int rc = job->spec->run->command(job);
    return rc ? rc : vec_push(&job->argv, NULL) < 0 ? error_memory() : 0;
}
