/*
 * Programs of a study as points of a sweep: first the rows and figures are asked what they will ask
 * for, without running anything; then each pair of a device and a program becomes a `sonde
 * workload` of its own, on as many processes and ranks as there are; the statistics that these
 * leave are what the rows then find. A point that can only repeat what another has counted
 * (program/alike.c) takes over its statistics, if they are there when it begins: those of the
 * smallest machine begin first.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "model/model.h"
#include "study/program/program.h"
#include "sweep/point/key.h"
#include "sweep/ranks.h"
#include "sweep/sweep.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/glue/json_glue.h"

#define STATISTICS_LIMIT_BYTES ((size_t)64 << 20)
#define POINTS_MAX 4096

struct points {
    struct study_bench *bench;
    const struct study *study;
    const struct study_points *how;
    const char *folder;
    struct strbuf commands, names, costs;
    struct program_room room[STUDY_MAX_DEVICES]; /* of roles that are simulated */
    struct pair {
        size_t role, program;
        bool ended_well;
    } pair[POINTS_MAX]; /* by point */
    size_t count;
};

/* ---- what is to be run ---- */

/* Asks every row, then every figure, and forgets what they say. */
static int list_programs(struct study *study, struct study_bench *bench, bool figures)
{
    char *notes = NULL;
    study_bench_set_lists(bench, true);
    int rc = study_run(study, bench);
    rc = rc < 0 || !figures ? rc : study_figures(&notes, study, bench, NULL);
    study_bench_set_lists(bench, false);
    free(notes);
    for (size_t i = 0; i < study->row_count; i++) {
        study->rows[i].done = study->rows[i].ok = false;
        study->rows[i].shown = 0;
    }
    return rc;
}

static int write_model(const struct points *points, const struct study_role *role)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s.yaml", points->folder, role->name);
    int rc = strbuf_failed(&path)
                 ? error_memory()
                 : file_write_all(strbuf_text(&path), role->model, strlen(role->model));
    strbuf_free(&path);
    return rc;
}

/* A model of the study's own lies beside the statistics; others are named. */
static void put_device(struct strbuf *out, const struct points *points,
                       const struct study_role *role)
{
    if (role->model) {
        strbuf_printf(out, "'sim:%s/%s.yaml'", points->folder, role->name);
    } else {
        strbuf_printf(out, "'%s'", role->spec);
    }
}

/* What a point is known by when a study goes on, wherever its files lie by then: the program with
 * what it contains, its settings and all that the model says. The simulator counts by its version.
 */
static int key_of(struct strbuf *key, const struct study_role *role,
                  const struct study_program *program)
{
    struct model *model = NULL;
    int rc = program_model(&model, role);
    if (rc < 0) {
        return rc;
    }
    strbuf_printf(key, "%s.%s %s %" PRIu32 " %" PRIu32 " %" PRIu32 " %016" PRIx64 " %016" PRIx64 "",
                  role->name, program->name, program->workload, program->size, program->block,
                  program->depth, sweep_model_hash(model), program_contents(program));
    model_destroy(model);
    return strbuf_failed(key) ? error_memory() : 0;
}

/* Whether some role has less room, so that this one's points may repeat others. */
static bool may_repeat(const struct points *points, size_t role)
{
    bool may = false;
    for (size_t i = 0; i < points->study->device_count; i++) {
        may = may || program_room_is_less(&points->room[i], &points->room[role]);
    }
    return may;
}

static bool is_repeated(const struct points *points, size_t role)
{
    bool is = false;
    for (size_t i = 0; i < points->study->device_count; i++) {
        is = is || program_room_is_less(&points->room[role], &points->room[i]);
    }
    return is;
}

/*
 * Takes over statistics, or else: in shell words, inside the quotes of a YAML text. A file
 * ROLE.PROGRAM.point says what a point is known by, its copy .key that the statistics beside it are
 * that point's: a folder may hold those of another version.
 */
static void put_repeats(struct points *points, size_t role, const struct study_program *program)
{
    struct strbuf *out = &points->commands;
    strbuf_printf(out, "cd '%s' && at= && for of in", points->folder);
    for (size_t i = 0; i < points->study->device_count; i++) {
        if (program_room_is_less(&points->room[i], &points->room[role])) {
            strbuf_printf(out, " '%s.%s'", points->study->devices[i].name, program->name);
        }
    }
    strbuf_printf(out,
                  "; do cmp -s $of.point $of.key && "
                  "grep -q '^  .ctas_that_waited.: 0,$' $of.json && at=$of; done; "
                  "if test $at; then sed 's/^  .model.: .*/  \\\"model\\\": \\\"%s\\\",/' $at.json "
                  ">'%s.%s.json'; else ",
                  points->room[role].model, points->study->devices[role].name, program->name);
}

static int write_key(const struct points *points, const struct study_role *role,
                     const struct study_program *program, const char *key)
{
    struct strbuf path = {0}, text = {0};
    strbuf_printf(&path, "%s/%s.%s.point", points->folder, role->name, program->name);
    strbuf_printf(&text, "%s of sonde %s\n", key, SONDE_VERSION);
    int rc = strbuf_failed(&path) || strbuf_failed(&text)
                 ? error_memory()
                 : file_write_all(strbuf_text(&path), strbuf_text(&text), text.length);
    strbuf_free(&path);
    strbuf_free(&text);
    return rc;
}

static void put_run(struct points *points, const struct study_role *role,
                    const struct study_program *program)
{
    const struct {
        const char *option;
        uint32_t value;
    } settings[] = {
        {"--size", program->size}, {"--block", program->block}, {"--depth", program->depth}};
    struct strbuf *out = &points->commands;
    strbuf_printf(out, "'%s' workload '%s' -q -d ", points->how->program, program->workload);
    put_device(out, points, role);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (settings[i].value) {
            strbuf_printf(out, " %s %" PRIu32, settings[i].option, settings[i].value);
        }
    }
    strbuf_printf(out, " --stats '%s/%s.%s.json'", points->folder, role->name, program->name);
}

/* One that may repeat others begins later than these. */
static void put_point(struct points *points, size_t role_index, const struct study_program *program,
                      const char *key)
{
    const struct study_role *role = &points->study->devices[role_index];
    bool repeats = may_repeat(points, role_index);
    struct strbuf *out = &points->commands;
    uint32_t cost = program->cost ? program->cost : 1;
    strbuf_printf(out, "    - \"");
    if (repeats) {
        put_repeats(points, role_index, program);
    }
    put_run(points, role, program);
    strbuf_printf(out, repeats ? "; fi" : "");
    if (is_repeated(points, role_index)) {
        strbuf_printf(out, " && cp '%s/%s.%s.point' '%s/%s.%s.key'", points->folder, role->name,
                      program->name, points->folder, role->name, program->name);
    }
    strbuf_printf(out, " && echo '{\\\"done\\\": 1}'\"\n");
    strbuf_printf(&points->names, "%s'%s'", points->count ? ", " : "", key);
    strbuf_printf(&points->costs, "%s%" PRIu32, points->count ? ", " : "",
                  repeats ? (cost + 1) / 2 : cost);
}

static int add_point(void *ctx, size_t role_index, size_t program_index)
{
    struct points *points = ctx;
    const struct study_role *role = &points->study->devices[role_index];
    const struct study_program *program = &points->study->programs[program_index];
    struct strbuf key = {0};
    int rc =
        points->count < POINTS_MAX
            ? key_of(&key, role, program)
            : error_set(SONDE_EINPUT, "a study has at most %d programs on devices", POINTS_MAX);
    if (rc == 0) {
        put_point(points, role_index, program, strbuf_text(&key));
        points->pair[points->count++] = (struct pair){.role = role_index, .program = program_index};
        rc = is_repeated(points, role_index) ? write_key(points, role, program, strbuf_text(&key))
                                             : 0;
    }
    strbuf_free(&key);
    return rc < 0 || !role->model ? rc : write_model(points, role);
}

/* Roles that are not simulated, or not there, are the points' to tell. */
static void find_rooms(struct points *points)
{
    for (size_t i = 0; i < points->study->device_count; i++) {
        if (program_room(&points->room[i], &points->study->devices[i]) < 0) {
            points->room[i] = (struct program_room){0};
            error_clear();
        }
    }
}

static void note_ended(void *ctx, size_t point, enum sweep_status status)
{
    struct points *points = ctx;
    points->pair[point].ended_well = status == POINT_OK;
}

static int run_sweep(bool *idle, struct points *points, const char *path)
{
    struct strbuf spec = {0};
    struct sweep_summary summary;
    strbuf_printf(
        &spec,
        "sweep: %s\nrun: {command: [sh, -c, \"${what}\"]}\ncolumns: [done]\n"
        "variables:\n  what:\n%s  point: [%s]\n  price: [%s]\nzip: [[what, point, price]]\n"
        "known_by: [point]\ncost: price\n",
        points->study->name, strbuf_text(&points->commands), strbuf_text(&points->names),
        strbuf_text(&points->costs));
    int rc = strbuf_failed(&spec)
                 ? error_memory()
                 : file_write_all(path, strbuf_text(&spec), strlen(strbuf_text(&spec)));
    strbuf_free(&spec);
    const struct sweep_request request = {
        .spec_path = path,
        .folder = points->folder,
        .program = points->how->program,
        .jobs = points->how->jobs,
        .resume = points->how->resume,
        .retry = points->how->resume,
        .progress = study_bench_watch(points->bench),
        .cancel = study_bench_cancel(points->bench),
        .ended = note_ended,
        .ctx = points,
    };
    rc = rc < 0 ? rc : sweep_run(&summary, &request);
    *idle = rc == 0 && summary.rank != 0;
    return rc;
}

/* ---- what has come of it ---- */

static uint64_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
}

static void read_latencies(struct sm_stats *sm, const json_t *list)
{
    size_t i;
    json_t *place;
    json_array_foreach(list, i, place)
    {
        sm->latency[sm_latency_place(number(place, "from"))] = number(place, "count");
    }
}

/* What program_read() takes of the statistics that `sonde workload --stats` writes. */
static void read_statistics(struct gpu_stats *out, const json_t *root)
{
    const json_t *lanes = json_object_get(root, "warp_instructions_by_active_lanes");
    const json_t *units = json_object_get(root, "thread_instructions_by_unit");
    const json_t *spaces = json_object_get(root, "thread_accesses_by_space");
    const json_t *cycles = json_object_get(root, "sm_cycles");
    const json_t *network = json_object_get(root, "network");
    *out = (struct gpu_stats){
        .launches = number(root, "launches"),
        .ctas = number(root, "cta_count"),
        .cycles = number(root, "cycles"),
        .warp_insns = number(root, "warp_instructions"),
        .thread_insns = number(root, "thread_instructions"),
    };
    for (int i = 0; i <= PROGRAM_LANES; i++) {
        out->sm.lanes[i] = (uint64_t)json_integer_value(json_array_get(lanes, (size_t)i));
    }
    for (int unit = 0; unit < ISA_UNIT_COUNT; unit++) {
        out->sm.unit_lanes[unit] = number(units, isa_unit_text((enum isa_unit)unit));
    }
    for (int space = 0; space < SPACE_COUNT; space++) {
        const char *name = space == SPACE_NONE ? "generic" : isa_space_text((enum isa_space)space);
        out->sm.space_lanes[space] = number(spaces, name);
    }
    static const char *const waits[] = {
#define WAIT(id, text, doc) text,
#include "core/wait.def"
#undef WAIT
    };
    out->sm.issue_cycles = number(cycles, "issue");
    for (int wait = 0; wait < SM_WAIT_COUNT; wait++) {
        out->sm.wait_cycles[wait] = number(cycles, waits[wait]);
    }
    out->noc.replies.stalled_cycles =
        number(json_object_get(network, "replies"), "port_stall_cycles");
    out->sm.division_lanes = number(root, "thread_divisions");
    read_latencies(&out->sm, json_object_get(root, "access_latency_cycles"));
}

static bool read_result(struct program_result *out, const json_t *root,
                        const struct study_role *role)
{
    struct gpu_stats stats;
    struct model *model = NULL;
    const json_t *dram = json_object_get(root, "dram");
    if (!json_object_get(dram, "sending") || !json_object_get(root, "thread_divisions")) {
        return false; /* of a version that did not count them */
    }
    if (program_model(&model, role) < 0) {
        return false;
    }
    read_statistics(&stats, root);
    program_read(out, &stats, model);
    out->dram_utilization = json_number_value(json_object_get(dram, "sending"));
    out->dram_efficiency = json_number_value(json_object_get(dram, "sending_of_pending"));
    out->most_ctas = (uint32_t)number(root, "most_ctas_of_an_sm");
    model_destroy(model);
    return true;
}

/* Statistics that an earlier run of something else has left are no point's. */
static bool has_ended_well(const struct points *points, size_t role, size_t program)
{
    for (size_t i = 0; i < points->count; i++) {
        if (points->pair[i].role == role && points->pair[i].program == program) {
            return points->pair[i].ended_well;
        }
    }
    return false;
}

static bool find_result(void *ctx, struct program_result *out, size_t role, size_t program)
{
    struct points *points = ctx;
    if (!has_ended_well(points, role, program)) {
        return false;
    }
    struct strbuf path = {0};
    json_t *root = NULL;
    strbuf_printf(&path, "%s/%s.%s.json", points->folder, points->study->devices[role].name,
                  points->study->programs[program].name);
    bool found = !strbuf_failed(&path) && access(strbuf_text(&path), R_OK) == 0 &&
                 json_from_file(&root, strbuf_text(&path), STATISTICS_LIMIT_BYTES) == 0 &&
                 read_result(out, root, &points->study->devices[role]);
    json_decref(root);
    strbuf_free(&path);
    return found;
}

/* ---- the whole ---- */

static void remove_folder(const char *folder)
{
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        struct strbuf path = {0};
        strbuf_printf(&path, "%s/%s", folder, entry->d_name);
        if (!strbuf_failed(&path)) {
            unlink(strbuf_text(&path));
        }
        strbuf_free(&path);
    }
    if (stream) {
        closedir(stream);
    }
    rmdir(folder);
}

static int run_in(bool *idle, struct points *points)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/points.yaml", points->folder);
    int rc = strbuf_failed(&path) ? error_memory() : 0;
    find_rooms(points);
    rc = rc < 0 ? rc : program_wanted(points->bench, add_point, points);
    rc = rc < 0 || points->count == 0 ? rc : run_sweep(idle, points, strbuf_text(&path));
    strbuf_free(&path);
    return rc;
}

/* What stands between quotes in the commands of points. */
static int has_no_quotes(const char *path)
{
    return strpbrk(path, "'\"\\")
               ? error_set(SONDE_EUSAGE, "points of a study: no quotes in paths, as in %s", path)
               : 0;
}

/* Points run in folders of their own. */
static int absolute(char *out, const char *folder)
{
    return realpath(folder, out) ? 0 : error_set(SONDE_EIO, "%s: %s", folder, strerror(errno));
}

bool study_is_spread(void)
{
    return sweep_ranks_launched();
}

/* Takes over what the points have left; what cannot be read is run where it is asked for. */
static int settle(struct points *points, int rc)
{
    char why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", error_text());
    program_settle(points->bench, find_result, points);
    error_clear();
    return rc < 0 ? error_set(rc, "%s", why) : rc;
}

int study_run_points(bool *idle, struct study *study, struct study_bench *bench,
                     const struct study_points *how)
{
    char scratch[PATH_MAX] = "";
    struct points *points = calloc(1, sizeof *points);
    if (!points) {
        return error_memory();
    }
    *points = (struct points){.bench = bench, .study = study, .how = how, .folder = scratch};
    *idle = false;
    int rc = has_no_quotes(how->program);
    if (rc == 0 && how->folder) {
        rc = absolute(scratch, how->folder);
    } else if (rc == 0) {
        rc = file_make_scratch(scratch, "sonde-study");
    }
    rc = rc < 0 ? rc : has_no_quotes(points->folder);
    rc = rc < 0 ? rc : list_programs(study, bench, how->folder != NULL);
    rc = rc < 0 ? rc : run_in(idle, points);
    rc = settle(points, rc);
    if (!how->folder) {
        remove_folder(scratch);
    }
    strbuf_free(&points->commands);
    strbuf_free(&points->names);
    strbuf_free(&points->costs);
    free(points);
    return rc;
}
