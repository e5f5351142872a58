/*
 * Runs programs and keeps what they counted. See program.h.
 */
#include "study/program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "statistics/statistics.h"
#include "util/error.h"
#include "util/container/strbuf.h"
#include "util/glue/yaml_glue.h"
#include "workloads/workload.h"

struct program_runs {
    struct program_runs *next;
    size_t role, program;
    struct model *model;
    struct statistics statistics;
    struct program_result result;
    bool failed, wanted; /* wanted: has not been run, and is not to be run now */
    struct study_value why;
};

/* Where an instruction of a unit is counted; divisions apart, which are arithmetic. */
static const enum program_class class_of_unit[ISA_UNIT_COUNT] = {
    [UNIT_FDIV] = PROGRAM_SFU,       [UNIT_SFU] = PROGRAM_SFU,
    [UNIT_LSU] = PROGRAM_MEMORY,     [UNIT_TEX] = PROGRAM_MEMORY,
    [UNIT_BRANCH] = PROGRAM_CONTROL, [UNIT_BARRIER] = PROGRAM_CONTROL,
    [UNIT_FENCE] = PROGRAM_CONTROL,
};

static enum program_space space_of(enum isa_space space)
{
    switch (space) {
    case SPACE_LOCAL:
        return PROGRAM_LOCAL;
    case SPACE_SHARED:
    case SPACE_SHARED_CTA:
    case SPACE_SHARED_CLUSTER:
        return PROGRAM_SHARED;
    case SPACE_CONST:
        return PROGRAM_CONSTANT;
    case SPACE_PARAM:
    case SPACE_PARAM_ENTRY:
    case SPACE_PARAM_FUNC:
        return PROGRAM_PARAM;
    case SPACE_TEX:
        return PROGRAM_TEXTURE;
    default:
        return PROGRAM_GLOBAL; /* a generic access, too */
    }
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

double program_ipc(const struct program_result *result)
{
    return ratio(result->thread_insns, result->cycles);
}

/* Of places that grow with the latency the middle of each. */
static double mean_latency(const struct sm_stats *stats)
{
    double sum = 0, count = 0;
    for (uint32_t i = 0; i < SM_LATENCY_PLACES; i++) {
        double middle = 0.5 * (double)(sm_latency_begin(i) + sm_latency_begin(i + 1) - 1);
        sum += middle * (double)stats->latency[i];
        count += (double)stats->latency[i];
    }
    return count > 0 ? sum / count : 0;
}

void program_read(struct program_result *out, const struct gpu_stats *total,
                  const struct model *model)
{
    *out = (struct program_result){.launches = total->launches,
                                   .ctas = total->ctas,
                                   .cycles = total->cycles,
                                   .warp_insns = total->warp_insns,
                                   .thread_insns = total->thread_insns};
    for (int unit = 0; unit < ISA_UNIT_COUNT; unit++) {
        out->classes[class_of_unit[unit]] += total->sm.unit_lanes[unit];
    }
    out->classes[PROGRAM_SFU] -= total->sm.division_lanes;
    out->classes[PROGRAM_ALU] += total->sm.division_lanes;
    for (int space = 0; space < SPACE_COUNT; space++) {
        out->spaces[space_of((enum isa_space)space)] += total->sm.space_lanes[space];
    }
    out->sm_cycles = total->sm.issue_cycles;
    for (int wait = 0; wait < SM_WAIT_COUNT; wait++) {
        out->sm_cycles += total->sm.wait_cycles[wait];
    }
    memcpy(out->lanes, total->sm.lanes, sizeof(out->lanes));
    uint64_t time_ps = total->cycles * model->core_period_ps * model->dram.channels;
    out->dram_utilization = ratio(total->dram_sending_ps, time_ps);
    out->dram_efficiency = ratio(total->dram_sending_ps, total->dram_pending_ps);
    out->latency = mean_latency(&total->sm);
    out->reply_stalls = ratio(total->noc.replies.stalled_cycles * model->noc.flits.period_ps,
                              total->cycles * model->core_period_ps * model->l2_slices);
}

static int run_on(struct program_runs *run, struct rt *rt, const struct study_program *program)
{
    const struct workload *workload = workload_find(program->workload);
    struct residents residents;
    struct workbench counts;
    const struct workload_settings settings = {
        .size = program->size,
        .block = program->block,
        .depth = program->depth,
        .launched = statistics_add,
        .ctx = &run->statistics,
    };
    if (!workload) {
        return error_set(SONDE_EINPUT, "there is no workload '%s'", program->workload);
    }
    int rc = residents_begin(&residents, run->model->sms);
    if (rc < 0) {
        return rc;
    }
    gpu_set_placed(rt_gpu(rt), residents_note, &residents);
    rc = workload_run_with(&counts, rt, workload, &settings);
    gpu_set_placed(rt_gpu(rt), NULL, NULL);
    run->statistics.most_ctas = residents.most;
    run->statistics.late_ctas = residents.late;
    residents_free(&residents);
    return rc == 0 && run->statistics.failed ? error_memory() : rc;
}

uint64_t program_contents(const struct study_program *program)
{
    const struct workload *workload = workload_find(program->workload);
    return workload ? workload_hash(workload) : 0;
}

int program_model(struct model **out, const struct study_role *role)
{
    if (role->model) {
        return model_parse(out, role->name, role->model, strlen(role->model));
    }
    if (strncmp(role->spec, "sim:", 4) != 0) {
        return error_set(SONDE_EUSAGE, "'%s': whole programs are run on simulated devices",
                         role->spec);
    }
    int rc = model_load(out, role->spec + 4);
    return rc == SONDE_EIO ? SONDE_EINPUT : rc;
}

/* An error that is the program's or the device's own is a reason, and the work goes on. */
static int note_failure(struct program_runs *run, int rc)
{
    if (rc == SONDE_EINTERRUPTED || rc == SONDE_ENOMEM) {
        return rc;
    }
    run->failed = true;
    value_nothing(&run->why, "%s", error_text());
    return 0;
}

static int run_new(struct study_bench *bench, struct program_runs *run)
{
    const struct study *study = study_bench_study(bench);
    if (study_bench_lists(bench)) {
        run->wanted = run->failed = true;
        value_nothing(&run->why, "not run yet");
        return 0;
    }
    const struct study_program *program = &study->programs[run->program];
    struct rt *rt = NULL;
    int rc = program_model(&run->model, &study->devices[run->role]);
    if (rc < 0 || !run->model) {
        return rc; /* a role's device that is not there ends a study */
    }
    study_bench_running(bench, study->devices[run->role].name, program->name);
    rc = rt_create(&rt, run->model);
    if (rc == 0) {
        rt_set_cancel(rt, study_bench_cancel(bench));
        rc = run_on(run, rt, program);
    }
    rt_destroy(rt);
    if (rc < 0) {
        return note_failure(run, rc);
    }
    struct gpu_stats total;
    statistics_total(&total, &run->statistics);
    program_read(&run->result, &total, run->model);
    run->result.most_ctas = run->statistics.most_ctas;
    return 0;
}

static void free_run(struct program_runs *run)
{
    statistics_free(&run->statistics);
    model_destroy(run->model);
    free(run);
}

static void runs_destroy(struct program_runs *runs)
{
    for (struct program_runs *next; runs; runs = next) {
        next = runs->next;
        free_run(runs);
    }
}

int program_run(struct study_bench *bench, const struct program_result **out, size_t role,
                size_t program, struct study_value *why)
{
    struct program_runs **link = study_bench_runs(bench, runs_destroy);
    *out = NULL;
    while (*link && ((*link)->role != role || (*link)->program != program)) {
        link = &(*link)->next;
    }
    if (!*link) {
        struct program_runs *run = calloc(1, sizeof(*run));
        if (!run) {
            return error_memory();
        }
        run->role = role;
        run->program = program;
        int rc = run_new(bench, run);
        if (rc < 0) {
            free_run(run);
            return rc;
        }
        *link = run;
    }
    if ((*link)->failed) {
        *why = (*link)->why;
        return 0;
    }
    *out = &(*link)->result;
    return 0;
}

/* The first of those that are wanted. */
static struct program_runs *next_wanted(struct program_runs *run)
{
    while (run && !run->wanted) {
        run = run->next;
    }
    return run;
}

int program_wanted(struct study_bench *bench, int (*visit)(void *ctx, size_t role, size_t program),
                   void *ctx)
{
    int rc = 0;
    for (struct program_runs *run = next_wanted(*study_bench_runs(bench, runs_destroy));
         rc == 0 && run; run = next_wanted(run->next)) {
        rc = visit(ctx, run->role, run->program);
    }
    return rc;
}

void program_settle(struct study_bench *bench,
                    bool (*find)(void *ctx, struct program_result *result, size_t role,
                                 size_t program),
                    void *ctx)
{
    struct program_runs **link = study_bench_runs(bench, runs_destroy);
    while (*link) {
        struct program_runs *run = *link;
        bool found = run->wanted && find(ctx, &run->result, run->role, run->program);
        if (run->wanted && !found) {
            *link = run->next;
            free_run(run);
            continue;
        }
        run->failed = run->failed && !found;
        run->wanted = false;
        link = &run->next;
    }
}

int program_find(size_t *index, const struct study *study, const struct yaml_node *node)
{
    for (*index = 0; node && node->text && *index < study->program_count; ++*index) {
        if (strcmp(study->programs[*index].name, node->text) == 0) {
            return 0;
        }
    }
    return yaml_error(SONDE_EINPUT, node, "the study has no program '%s'",
                      node && node->text ? node->text : "");
}

int study_program_files(struct study_bench *bench, const char *folder)
{
    const struct study *study = study_bench_study(bench);
    int rc = 0;
    for (const struct program_runs *run = *study_bench_runs(bench, runs_destroy); rc == 0 && run;
         run = run->next) {
        struct strbuf path = {0};
        strbuf_printf(&path, "%s/%s.%s.json", folder, study->devices[run->role].name,
                      study->programs[run->program].name);
        if (!run->failed && run->model) {
            rc = strbuf_failed(&path)
                     ? error_memory()
                     : statistics_write(strbuf_text(&path), run->model, &run->statistics, NULL);
        }
        strbuf_free(&path);
    }
    return rc;
}
