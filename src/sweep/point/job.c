/* One point: its model, its process, its result. See job.h. */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np() */
#include "sweep/point/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/model.h"
#include "sweep/point/flat.h"
#include "sweep/point/key.h"
#include "util/clock.h"
#include "util/container/arena.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/glue/json_glue.h"

#define RESULT_LIMIT_BYTES ((size_t)256 << 20)
#define STDERR_LIMIT_BYTES ((size_t)16 << 20)

extern char **environ;

static const char *const scratch_files[] = {"model.yaml", "result.json", "stdout", "stderr"};

static char *path_in(struct sweep_work *work, const char *name)
{
    return arena_printf(work->job.arena, "%s/%s", work->folder, name);
}

/* The parameters of the sweep whose names begin with the first `length` bytes of `prefix`, as YAML:
 * l2.size and l2.sets stand in one mapping. Recursive, a level a dot. */
static void write_group(struct strbuf *out, const struct sweep_spec *spec,
                        const struct sweep_point *point, const char *prefix, size_t length)
{
    const char *separator = "";
    for (size_t i = 0; i < spec->axis_count; i++) {
        const char *name = spec->axis[i].name;
        bool is_first = spec->axis[i].kind == AXIS_PARAMETER && strncmp(name, prefix, length) == 0;
        size_t end = is_first ? length + strcspn(name + length, ".") : 0;
        bool is_group = is_first && name[end] == '.';
        for (size_t k = 0; is_first && k < i; k++) {
            is_first = spec->axis[k].kind != AXIS_PARAMETER ||
                       strncmp(spec->axis[k].name, name, end + is_group) != 0;
        }
        if (!is_first) {
            continue;
        }
        strbuf_printf(out, "%s%.*s: ", separator, (int)(end - length), name + length);
        if (is_group) {
            strbuf_append(out, "{");
            write_group(out, spec, point, name, end + 1);
            strbuf_append(out, "}");
        } else {
            strbuf_append(out, spec->axis[i].text[point->value[i]]);
        }
        separator = length ? ", " : "\n";
    }
}

/* The model that a point runs on. */
static int write_model_text(char **out, const char *base, const struct sweep_spec *spec,
                            const struct sweep_point *point)
{
    struct strbuf text = {0};
    char *path = NULL;
    int rc = sweep_model_path(&path, spec, base);
    if (rc < 0) {
        return rc;
    }
    strbuf_printf(&text, "inherits: %s\n", path);
    write_group(&text, spec, point, "", 0);
    strbuf_append(&text, "\n");
    free(path);
    *out = strbuf_take(&text);
    return *out ? 0 : error_memory();
}

/* Why the point has no values, on one line. Paths in its scratch folder, which no other run has,
 * are cut to the file's name. */
static void note_reason(struct sweep_work *work, const char *text)
{
    size_t folder = strlen(work->folder), length = 0;
    while (*text && length + 3 < sizeof work->reason) {
        if (folder && strncmp(text, work->folder, folder) == 0 && text[folder] == '/') {
            text += folder + 1;
        } else if (*text == '\n') {
            work->reason[length++] = ';';
            work->reason[length++] = ' ';
            text++;
        } else {
            work->reason[length++] = *text++;
        }
    }
    work->reason[length] = '\0';
}

/* What one point asks too much of is that point's outcome. */
static int refuse(struct sweep_work *work, int rc)
{
    if (rc != SONDE_EINPUT && rc != SONDE_EUSAGE) {
        return rc;
    }
    work->status = POINT_REFUSED;
    note_reason(work, error_text());
    error_clear();
    return 0;
}

static int make_model(struct sweep_work *work)
{
    char *text = NULL;
    struct model *model = NULL;
    const char *path = work->job.model = path_in(work, "model.yaml");
    if (!path) {
        return error_memory();
    }
    const char *base = sweep_setting(work->job.spec, work->job.point, "model");
    if (!base) {
        return 0;
    }
    int rc = write_model_text(&text, base, work->job.spec, work->job.point);
    rc = rc || !text ? rc : file_write_all(path, text, strlen(text));
    free(text);
    if (rc == 0) {
        rc = refuse(work, model_load(&model, path));
    }
    if (model) {
        snprintf(work->model_hash, sizeof work->model_hash, "%016" PRIx64, sweep_model_hash(model));
    }
    model_destroy(model);
    return rc;
}

/* The environment without what says to a child that it is a rank of this MPI job. */
static char **plain_environment(struct arena *arena)
{
    static const char *const of_mpi[] = {"OMPI_", "PMIX_", "PMI_", "PRTE_", "ORTE_", "MPI_"};
    size_t count = 0;
    while (environ[count]) {
        count++;
    }
    char **plain = arena_array(arena, count + 1, sizeof *plain);
    for (size_t i = 0, kept = 0; plain && i < count; i++) {
        bool keep = true;
        for (size_t k = 0; k < sizeof of_mpi / sizeof *of_mpi; k++) {
            keep = keep && strncmp(environ[i], of_mpi[k], strlen(of_mpi[k])) != 0;
        }
        plain[kept] = keep ? environ[i] : NULL;
        kept += keep;
    }
    return plain;
}

/* The child leads a process group of its own, so that a limit ends all that it began. */
static int spawn(struct sweep_work *work)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    const struct sweep_job *job = &work->job;
    const char *out = job->result_on_stdout ? job->result : path_in(work, "stdout");
    const char *err = path_in(work, "stderr");
    char **environment = plain_environment(work->job.arena);
    sigset_t none;
    if (!out || !err || !environment) {
        return error_memory();
    }
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addchdir_np(&files, job->spec->folder);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    work->began_ns = time_monotonic_ns();
    int failed = posix_spawnp(&work->child, job->argv.data[0], &files, &attributes, job->argv.data,
                              environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failed) {
        work->child = 0;
        error_set(SONDE_EINPUT, "cannot run %s: %s", job->argv.data[0], strerror(failed));
        return refuse(work, SONDE_EINPUT);
    }
    work->watch = (int)syscall(SYS_pidfd_open, work->child, 0);
    return 0;
}

int sweep_work_begin(struct sweep_work *work, const struct sweep_spec *spec,
                     const struct sweep_point *point, const char *program)
{
    work->job = (struct sweep_job){
        .arena = arena_create(), .spec = spec, .point = point, .program = program};
    int rc = work->job.arena ? file_make_scratch(work->folder, "sonde-sweep") : error_memory();
    if (rc == 0) {
        work->job.result = path_in(work, "result.json");
        rc = work->job.result ? make_model(work) : error_memory();
    }
    if (rc == 0 && work->status == POINT_OPEN) {
        rc = sweep_command(&work->job);
    }
    return rc || work->status != POINT_OPEN ? rc : spawn(work);
}

/* The last line that the point wrote to standard error says best why it failed. */
static void note_last_words(struct sweep_work *work, const char *fallback)
{
    char *text = NULL;
    size_t size = 0;
    const char *path = path_in(work, "stderr");
    if (path && file_read_all(&text, &size, path, STDERR_LIMIT_BYTES) == 0) {
        while (size > 0 && text[size - 1] == '\n') {
            text[--size] = '\0';
        }
    }
    error_clear();
    const char *line = text ? strrchr(text, '\n') : NULL;
    line = line ? line + 1 : text && *text ? text : fallback;
    note_reason(work, line);
    free(text);
}

/* Reads the columns from the point's result. What cannot be read is the point's failure. */
static int read_values(json_t **values, struct sweep_work *work)
{
    json_t *document = NULL;
    struct flat flat = {0};
    int rc = json_from_file(&document, work->job.result, RESULT_LIMIT_BYTES);
    rc = rc ? rc : flat_read(&flat, work->job.arena, document);
    rc = rc ? rc : flat_keep(values, &flat, work->job.spec, work->job.point);
    vec_free(&flat);
    json_decref(document);
    if (rc == SONDE_EIO || rc == SONDE_EINPUT) {
        work->status = POINT_FAILED;
        note_reason(work, error_text());
        error_clear();
        rc = 0;
    }
    return rc;
}

static int judge(json_t **values, struct sweep_work *work, int wait_status)
{
    char fallback[64];
    if (work->past_limit) {
        work->status = POINT_LIMIT;
        snprintf(work->reason, sizeof work->reason, "ran past %g s", work->job.spec->limit_s);
    } else if (WIFSIGNALED(wait_status)) {
        work->status = POINT_CRASHED;
        snprintf(fallback, sizeof fallback, "signal %d", WTERMSIG(wait_status));
        note_last_words(work, fallback);
    } else if (WEXITSTATUS(wait_status) != 0) {
        work->status = POINT_FAILED;
        snprintf(fallback, sizeof fallback, "status %d", WEXITSTATUS(wait_status));
        note_last_words(work, fallback);
    } else {
        work->status = POINT_OK;
        return read_values(values, work);
    }
    return 0;
}

/* A process that can write neither its result nor why it failed leaves no other trace. */
static void note_full_disk(struct sweep_work *work)
{
    struct statvfs disk;
    size_t length = strlen(work->reason);
    if (work->status == POINT_FAILED && statvfs(work->folder, &disk) == 0 && disk.f_blocks > 0 &&
        disk.f_bavail == 0) { /* 0 blocks: without a bound */
        snprintf(work->reason + length, sizeof work->reason - length,
                 "; no space is left where points have their files (TMPDIR)");
    }
}

int sweep_work_line(json_t **line, struct sweep_work *work, int wait_status)
{
    json_t *values = NULL;
    char host[256] = "";
    uint64_t now = time_monotonic_ns();
    int rc = work->status == POINT_OPEN ? judge(&values, work, wait_status) : 0;
    note_full_disk(work);
    gethostname(host, sizeof host - 1);
    *line = json_object();
    rc = rc ? rc : json_put_string(*line, "status", sweep_status_names[work->status]);
    rc = rc || !work->reason[0] ? rc : json_put_string(*line, "reason", work->reason);
    double seconds = work->began_ns ? (double)(now - work->began_ns) * 1e-9 : 0;
    rc = rc ? rc : json_put_double(*line, "seconds", seconds);
    rc = rc ? rc : json_put_string(*line, "host", host);
    rc = rc || !work->model_hash[0] ? rc : json_put_string(*line, "model_hash", work->model_hash);
    if (values) {
        int put = json_put(*line, "values", values);
        rc = rc ? rc : put;
    }
    if (rc < 0) {
        json_decref(*line);
        *line = NULL;
    }
    return rc;
}

void sweep_work_clear(struct sweep_work *work)
{
    if (work->child > 0) {
        kill(-work->child, SIGKILL);
        waitpid(work->child, NULL, 0);
    }
    if (work->watch >= 0) {
        close(work->watch);
    }
    char path[sizeof work->folder + 16];
    for (size_t i = 0; work->folder[0] && i < sizeof scratch_files / sizeof *scratch_files; i++) {
        snprintf(path, sizeof path, "%s/%s", work->folder, scratch_files[i]);
        unlink(path);
    }
    if (work->folder[0]) {
        rmdir(work->folder);
    }
    vec_free(&work->job.argv);
    arena_destroy(work->job.arena);
    *work = (struct sweep_work){.watch = -1};
}
