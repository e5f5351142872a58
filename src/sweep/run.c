/*
 * Runs a sweep: deals out the points, the dearest first, notes in the journal what became of them,
 * and writes the table. Rank 0 runs points itself, beside what it does for the others.
 */
#include "sweep/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/sonde.h"
#include "sweep/point/key.h"
#include "sweep/spec/kinds.h"
#include "util/clock.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/glue/json_glue.h"

#define SPEC_LIMIT_BYTES ((size_t)1 << 20)
#define RANK_JOBS_MAX 4096

struct sweep {
    const struct sweep_request *request;
    struct sweep_spec spec;
    struct sweep_points points;
    struct sweep_outcome *outcomes; /* by point */
    uint64_t *keys;                 /* by point */
    size_t *order;                  /* the open points, the dearest first */
    size_t open, next, ended;       /* of `order`: its length, dealt out, come back */
    double cost, cost_ended;        /* of the open points */
    uint64_t began_ns;
    struct sweep_journal journal;
    struct sweep_pool *pool;
    struct sweep_ranks *ranks; /* NULL: this process alone */
    size_t stopped;            /* places of other ranks that were told to stop */
    double seconds;            /* of the points that have ended, together */
    size_t messages, bytes;    /* that came from other ranks, and went there */
};

static const struct sweep *sorted; /* qsort() takes no context */

static int compare_cost(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    double cost_x = sorted->points.point[x].cost, cost_y = sorted->points.point[y].cost;
    return cost_x != cost_y ? (cost_x < cost_y ? 1 : -1) : (x > y) - (x < y);
}

static int plan(struct sweep *sweep)
{
    sweep->order = calloc(sweep->points.count, sizeof *sweep->order);
    if (!sweep->order) {
        return error_memory();
    }
    for (size_t i = 0; i < sweep->points.count; i++) {
        struct sweep_outcome *outcome = &sweep->outcomes[i];
        if (sweep->request->retry && outcome->status != POINT_OK) {
            json_decref(outcome->line);
            *outcome = (struct sweep_outcome){0};
        }
        if (outcome->status == POINT_OPEN) {
            sweep->order[sweep->open++] = i;
            sweep->cost += sweep->points.point[i].cost;
        }
    }
    sorted = sweep;
    qsort(sweep->order, sweep->open, sizeof *sweep->order, compare_cost);
    return 0;
}

static void tell(const struct sweep *sweep)
{
    char text[160];
    size_t bad = 0;
    double seconds = (double)(time_monotonic_ns() - sweep->began_ns) * 1e-9;
    double left =
        sweep->cost_ended > 0 ? seconds * (sweep->cost - sweep->cost_ended) / sweep->cost_ended : 0;
    for (size_t i = 0; i < sweep->points.count; i++) {
        bad += sweep->outcomes[i].status > POINT_OK;
    }
    snprintf(text, sizeof text, "%zu of %zu points, %zu not ok, %.0f:%02.0f left", sweep->ended,
             sweep->open, bad, floor(left / 60), fmod(left, 60));
    progress_report(&sweep->request->progress,
                    sweep->cost > 0 ? sweep->cost_ended / sweep->cost : 0, text);
}

/* Takes over a point's journal line. */
static int note(struct sweep *sweep, size_t point, json_t *line)
{
    struct sweep_outcome *outcome = &sweep->outcomes[point];
    const char *name = json_string_value(json_object_get(line, "status"));
    outcome->status = POINT_OPEN + 1;
    while (name && outcome->status < POINT_STATUSES - 1 &&
           strcmp(sweep_status_names[outcome->status], name) != 0) {
        outcome->status++;
    }
    json_decref(outcome->line);
    outcome->line = line;
    sweep->ended++;
    sweep->cost_ended += sweep->points.point[point].cost;
    sweep->seconds += json_number_value(json_object_get(line, "seconds"));
    tell(sweep);
    char key[20];
    snprintf(key, sizeof key, "%016" PRIx64, sweep->keys[point]);
    int rc = json_put_string(line, "key", key);
    return rc ? rc : sweep_journal_add(&sweep->journal, line);
}

static int work_here(struct sweep *sweep, bool *any)
{
    bool ended = true;
    int rc = 0;
    while (rc == 0 && sweep->next < sweep->open && sweep_pool_has_room(sweep->pool)) {
        rc = sweep_pool_begin(sweep->pool, sweep->order[sweep->next++]);
        *any = true;
    }
    while (rc == 0 && ended) {
        size_t point;
        json_t *line = NULL;
        rc = sweep_pool_end(sweep->pool, &ended, &point, &line);
        rc = rc || !ended ? rc : note(sweep, point, line);
        *any = *any || ended;
    }
    return rc;
}

static int answer_want(struct sweep *sweep, int to)
{
    char text[40] = RUN_STOP;
    if (sweep->next < sweep->open) {
        snprintf(text, sizeof text, "point %zu", sweep->order[sweep->next++]);
    } else {
        sweep->stopped++;
    }
    sweep->messages++;
    sweep->bytes += strlen(text);
    return sweep->ranks->send(to, text, strlen(text));
}

static int take_done(struct sweep *sweep, const char *text, size_t bytes)
{
    size_t point;
    const char *json = memchr(text, '\n', bytes);
    json_t *line = NULL;
    if (json && sscanf(text, "done %zu", &point) == 1 && point < sweep->points.count) {
        json++;
        line = json_loadb(json, bytes - (size_t)(json - text), 0, NULL);
    }
    return line ? note(sweep, point, line)
                : error_set(SONDE_EINTERNAL, "another rank sent what is no outcome");
}

static int work_elsewhere(struct sweep *sweep, bool *any)
{
    int rc = 0, from = 0;
    while (rc == 0 && sweep->ranks) {
        char *text;
        size_t bytes;
        if (sweep->ranks->receive(&from, &text, &bytes) != 0) {
            return error_set(SONDE_EDEVICE, "MPI cannot receive");
        }
        if (from < 0) {
            break;
        }
        *any = true;
        sweep->messages++;
        sweep->bytes += bytes;
        if (strcmp(text, RUN_WANT) == 0) {
            rc = answer_want(sweep, from) ? error_set(SONDE_EDEVICE, "MPI cannot send") : 0;
        } else {
            rc = take_done(sweep, text, bytes);
        }
        free(text);
    }
    return rc;
}

static int deal_out(struct sweep *sweep)
{
    unsigned idle = 0;
    size_t places = sweep->ranks ? (size_t)(sweep->ranks->size - 1) * sweep->request->jobs : 0;
    int rc = 0;
    sweep->began_ns = time_monotonic_ns();
    while (rc == 0 && (sweep->ended < sweep->open || sweep->stopped < places)) {
        bool any = false;
        if (sweep->request->cancel && *sweep->request->cancel) {
            return error_set(SONDE_EINTERRUPTED, "interrupted");
        }
        rc = work_here(sweep, &any);
        rc = rc ? rc : work_elsewhere(sweep, &any);
        rc = rc || any ? rc : sweep_journal_sync(&sweep->journal, false);
        sweep_pause(&idle, any, sweep->pool);
    }
    return rc;
}

/* The specification beside its table, so that a folder tells what it holds. */
static int copy_spec(const struct sweep *sweep, const char *text, size_t bytes)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/sweep.yaml", sweep->request->folder);
    int rc = strbuf_failed(&path) ? error_memory() : 0;
    if (rc == 0 && !file_is_same(strbuf_text(&path), sweep->request->spec_path)) {
        rc = file_write_all(strbuf_text(&path), text, bytes);
    }
    strbuf_free(&path);
    return rc;
}

/* What only rank 0 does before points are run. */
static int prepare(struct sweep *sweep, struct sweep_summary *out, const char *text, size_t bytes)
{
    const struct sweep_request *request = sweep->request;
    sweep->outcomes = calloc(sweep->points.count, sizeof *sweep->outcomes);
    if (!sweep->outcomes) {
        return error_memory();
    }
    int rc = file_make_folder(request->folder);
    rc = rc ? rc : sweep_keys(&sweep->keys, &sweep->spec, &sweep->points);
    rc = rc ? rc
            : sweep_journal_open(&sweep->journal, request->folder, request->resume, sweep->keys,
                                 sweep->points.count, sweep->outcomes, &out->stale);
    rc = rc ? rc : copy_spec(sweep, text, bytes);
    rc = rc ? rc : plan(sweep);
    out->resumed = sweep->points.count - sweep->open;
    return rc ? rc
              : sweep_pool_create(&sweep->pool, &sweep->spec, &sweep->points, request->program,
                                  request->jobs, request->cancel);
}

/* What the machinery took beside the points. */
static void note_work(struct sweep_summary *out, const struct sweep *sweep)
{
    double seconds = (double)(time_monotonic_ns() - sweep->began_ns) * 1e-9;
    double places = (double)out->ranks * sweep->request->jobs;
    out->idle_share = sweep->ended && seconds > 0 ? 1 - sweep->seconds / (seconds * places) : 0;
    out->messages = sweep->messages;
    out->message_bytes = sweep->bytes;
}

static int finish(struct sweep *sweep, struct sweep_summary *out, int rc)
{
    out->points = sweep->points.count;
    for (size_t i = 0; i < sweep->points.count; i++) {
        const struct sweep_outcome *outcome = &sweep->outcomes[i];
        out->counts[outcome->status]++;
        if (outcome->status > POINT_OK && !out->reason[0]) {
            const char *reason = json_string_value(json_object_get(outcome->line, "reason"));
            out->reason_point = i;
            snprintf(out->reason, sizeof out->reason, "%s", reason ? reason : "");
        }
        if (sweep->request->ended) {
            sweep->request->ended(sweep->request->ctx, i, sweep->outcomes[i].status);
        }
    }
    if (rc < 0 && rc != SONDE_EINTERRUPTED) {
        return rc;
    }
    int written =
        sweep_write_table(sweep->request->folder, &sweep->spec, &sweep->points, sweep->outcomes);
    return written < 0 ? written : rc;
}

/* Whether a command line can be made: a name that no axis has is found before anything runs. */
static int try_command(struct sweep *sweep)
{
    struct sweep_job job = {.arena = sweep->spec.arena,
                            .spec = &sweep->spec,
                            .point = &sweep->points.point[0],
                            .program = "sonde",
                            .model = "model",
                            .result = "result"};
    int rc = sweep_command(&job);
    vec_free(&job.argv);
    return rc;
}

/* Every rank reads the same specification. */
static int read_points(struct sweep *sweep, const char *text, size_t bytes)
{
    int rc = sweep_spec_parse(&sweep->spec, sweep->request->spec_path, text, bytes);
    rc = rc ? rc : sweep_points_list(&sweep->points, &sweep->spec);
    return rc ? rc : try_command(sweep);
}

/* Hands the specification to the other ranks; an empty one where rank 0 could not begin. */
static int share(struct sweep *sweep, char **text, size_t *bytes, int rc)
{
    char nothing[1] = "", *given = rc == 0 ? *text : nothing;
    size_t length = rc == 0 ? *bytes : 0;
    if (sweep->ranks && sweep->ranks->broadcast(&given, &length) != 0) {
        return error_set(SONDE_EDEVICE, "MPI cannot broadcast");
    }
    if (sweep->ranks && sweep->ranks->rank > 0) {
        *text = given;
        *bytes = length;
    }
    return rc;
}

static int run_rank_0(struct sweep *sweep, struct sweep_summary *out)
{
    char *text = NULL;
    size_t bytes = 0;
    int rc = file_read_all(&text, &bytes, sweep->request->spec_path, SPEC_LIMIT_BYTES);
    rc = rc == SONDE_EIO ? SONDE_EINPUT : rc;
    rc = rc ? rc : read_points(sweep, text, bytes);
    rc = rc ? rc : prepare(sweep, out, text, bytes);
    rc = share(sweep, &text, &bytes, rc);
    if (rc == 0) {
        rc = deal_out(sweep);
        rc = rc ? rc : sweep_journal_sync(&sweep->journal, true);
        note_work(out, sweep);
        rc = finish(sweep, out, rc);
    }
    free(text);
    return rc;
}

static int run_other_rank(struct sweep *sweep)
{
    char *text = NULL;
    size_t bytes = 0;
    int rc = share(sweep, &text, &bytes, 0);
    if (rc == 0 && bytes > 0) { /* else rank 0 says what is wrong */
        rc = read_points(sweep, text, bytes);
        rc = rc ? rc : sweep_worker(&sweep->spec, &sweep->points, sweep->request, sweep->ranks);
    }
    free(text);
    return rc;
}

static void clear(struct sweep *sweep)
{
    sweep_pool_destroy(sweep->pool);
    for (size_t i = 0; sweep->outcomes && i < sweep->points.count; i++) {
        json_decref(sweep->outcomes[i].line);
    }
    if (sweep->journal.path) {
        sweep_journal_close(&sweep->journal);
    }
    free(sweep->outcomes);
    free(sweep->keys);
    free(sweep->order);
    free(sweep->points.point);
    if (sweep->spec.arena) {
        sweep_spec_free(&sweep->spec);
    }
}

int sweep_run(struct sweep_summary *out, const struct sweep_request *request)
{
    struct sweep sweep = {.request = request};
    *out = (struct sweep_summary){.ranks = 1};
    if (request->jobs < 1 || request->jobs > RANK_JOBS_MAX) {
        return error_set(SONDE_EUSAGE, "-j is 1 to %d", RANK_JOBS_MAX);
    }
    int rc = sweep_ranks_open(&sweep.ranks);
    if (rc < 0) {
        return rc;
    }
    if (sweep.ranks) {
        out->rank = sweep.ranks->rank;
        out->ranks = (unsigned)sweep.ranks->size;
    }
    rc = out->rank == 0 ? run_rank_0(&sweep, out) : run_other_rank(&sweep);
    clear(&sweep);
    /* The others may wait for points that never come: an error ends them. Where rank 0 could not
     * begin, they know. */
    if (sweep.ranks && rc < 0 && (out->rank > 0 || out->points > 0)) {
        sweep.ranks->abort();
    } else if (sweep.ranks) {
        sweep.ranks->close();
    }
    return rc;
}

int sweep_list(char **text, const char *spec_path)
{
    struct sweep_request request = {.spec_path = spec_path};
    struct sweep sweep = {.request = &request};
    struct strbuf list = {0};
    char *spec = NULL;
    size_t bytes = 0;
    int rc = file_read_all(&spec, &bytes, spec_path, SPEC_LIMIT_BYTES);
    rc = rc == SONDE_EIO ? SONDE_EINPUT : rc;
    rc = rc ? rc : read_points(&sweep, spec, bytes);
    for (size_t i = 0; rc == 0 && i < sweep.points.count; i++) {
        strbuf_printf(&list, "%zu", i);
        for (size_t a = 0; a < sweep.spec.axis_count; a++) {
            strbuf_printf(&list, "  %s=%s", sweep.spec.axis[a].name,
                          sweep.spec.axis[a].text[sweep.points.point[i].value[a]]);
        }
        strbuf_append(&list, "\n");
    }
    free(spec);
    clear(&sweep);
    *text = rc ? NULL : strbuf_take(&list);
    strbuf_free(&list);
    return rc || *text ? rc : error_memory();
}
