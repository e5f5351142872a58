/* Trials as points of a sweep. See spread.h. */
#include "spread.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sweep/sweep.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/glue/json_glue.h"

#define TABLE_LIMIT_BYTES ((size_t)1 << 30)

static const char *const mode_names[MODES] = {"noise-free", "noisy"};

/* ---- one trial ---- */

static void put_count(void *ctx, const char *name, uint64_t *count)
{
    if (*count) {
        json_put_u64(ctx, name, *count);
    }
}

/* Costs are put for the kinds that print them: they differ from run to run, as nothing else does.
 */
static void put_costs(json_t *document)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    json_put_u64(document, "milliseconds", blind_milliseconds(&used));
    json_put_u64(document, "kilobytes", (uint64_t)used.ru_maxrss);
}

int blind_point(const struct blind_kind *kind, uint64_t seed, bool noisy, const char *path)
{
    struct blind_tally tally = {0};
    json_t *document = json_object();
    unsigned class_of = blind_trial(&tally, kind, seed, noisy, false);
    blind_each_count(&tally, put_count, document);
    json_put_u64(document, "class", class_of);
    if (kind->judge != blind_judge) {
        put_costs(document);
    }
    int rc = document ? json_to_file(path, document) : error_memory();
    json_decref(document);
    if (rc < 0) {
        fprintf(stderr, "blind: %s\n", error_text());
    }
    return rc < 0;
}

/* ---- all ---- */

static int write_spec(const char *path, const char *own, const struct blind_spread *how)
{
    struct strbuf spec = {0};
    strbuf_printf(&spec,
                  "sweep: blind\ndoc: blind trials\n"
                  "run: {command: ['%s', --seed, '%s', --draw, %s, --trial, \"${trial}\", "
                  "\"--${mode}\", --point, \"${result}\"]}\n"
                  "variables:\n  trial: {from: 0, to: %" PRIu64 ", step: 1}\n  mode: [%s%s%s]\n"
                  "columns: ['*']\n",
                  own, how->seed_text, how->kind->name, how->count - 1,
                  how->mode[NOISE_FREE] ? mode_names[NOISE_FREE] : "",
                  how->mode[NOISE_FREE] && how->mode[NOISY] ? ", " : "",
                  how->mode[NOISY] ? mode_names[NOISY] : "");
    if (how->mix) {
        strbuf_printf(
            &spec,
            "where: [\"trial %% 2 == 0 && mode == '%s' || trial %% 2 == 1 && mode == '%s'\"]\n",
            mode_names[NOISE_FREE], mode_names[NOISY]);
    }
    int rc = strbuf_failed(&spec) ? error_memory()
                                  : file_write_all(path, strbuf_text(&spec), spec.length);
    strbuf_free(&spec);
    return rc;
}

static int run_sweep(struct sweep_summary *summary, const struct blind_spread *how)
{
    char own[PATH_MAX] = "", path[PATH_MAX];
    if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0) {
        return error_set(SONDE_EIO, "cannot find this program's own file");
    }
    if (strpbrk(own, "'\\") || strpbrk(how->seed_text, "'\\")) {
        return error_set(SONDE_EUSAGE, "no quotes in the seed or in the path %s", own);
    }
    int rc = file_make_folder(how->folder);
    snprintf(path, sizeof(path), "%s/blind.yaml", how->folder);
    rc = rc < 0 ? rc : write_spec(path, own, how);
    const struct sweep_request request = {.spec_path = path,
                                          .folder = how->folder,
                                          .program = own,
                                          .jobs = (unsigned)how->jobs,
                                          .resume = how->resume};
    return rc < 0 ? rc : sweep_run(summary, &request);
}

struct row {
    const json_t *values;
};

static void add_count(void *ctx, const char *name, uint64_t *count)
{
    const struct row *row = ctx;
    *count += (uint64_t)json_number_value(json_object_get(row->values, name));
}

static uint32_t value_of(const json_t *values, const char *name)
{
    return (uint32_t)json_number_value(json_object_get(values, name));
}

/* A trial that ended well left its counts; one that did not has nothing right. */
static void take_row(struct blind_tally *sum, struct blind_score *scores, const json_t *row,
                     const struct blind_spread *how)
{
    const json_t *settings = json_object_get(row, "settings");
    const json_t *values = json_object_get(row, "values");
    uint64_t trial = (uint64_t)json_number_value(json_object_get(settings, "trial"));
    const char *status = json_string_value(json_object_get(row, "status"));
    const char *name = json_string_value(json_object_get(settings, "mode"));
    unsigned mode = name && strcmp(name, mode_names[NOISY]) == 0 ? NOISY : NOISE_FREE;
    uint64_t seed = how->seed_of(how->seed_text, trial);
    struct blind_tally own = {0};
    struct blind_score *score = &scores[trial * MODES + mode];
    if (status && strcmp(status, "ok") == 0) {
        blind_each_count(&own, add_count, &(struct row){.values = values});
    } else {
        printf("seed %" PRIu64 " %s: %s\n", seed, status ? status : "?",
               json_string_value(json_object_get(row, "reason")));
        blind_trial_died(&own, how->kind, seed, mode == NOISY, 0);
    }
    blind_add_trial(&sum[mode], score, &own);
    score->class_of = value_of(values, "class");
    score->milliseconds = value_of(values, "milliseconds");
    score->kilobytes = value_of(values, "kilobytes");
    if (score->right < score->all) {
        printf("seed %" PRIu64 "%s: %u of %u\n", seed, mode == NOISY ? " (noisy)" : "",
               score->right, score->all);
    }
}

static int read_table(struct blind_tally *sum, struct blind_score *scores,
                      const struct blind_spread *how)
{
    char path[PATH_MAX];
    json_t *table = NULL, *row;
    size_t i;
    snprintf(path, sizeof(path), "%s/table.json", how->folder);
    int rc = json_from_file(&table, path, TABLE_LIMIT_BYTES);
    json_array_foreach(json_object_get(table, "rows"), i, row)
    {
        take_row(sum, scores, row, how);
    }
    json_decref(table);
    return rc;
}

int blind_spread(struct blind_tally *sum, struct blind_score *scores,
                 const struct blind_spread *how)
{
    struct sweep_summary summary = {0};
    int rc = run_sweep(&summary, how);
    if (rc == 0 && summary.rank != 0) {
        return 0;
    }
    printf("seed %s\n", how->seed_text);
    rc = rc < 0 ? rc : read_table(sum, scores, how);
    if (rc < 0) {
        fprintf(stderr, "blind: %s\n", error_text());
        return rc;
    }
    return 1;
}
