/* Keys of points. See key.h. */
#include "sweep/point/key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/model.h"
#include "sweep/spec/kinds.h"
#include "util/container/arena.h"
#include "util/container/map.h"
#include "util/container/strbuf.h"
#include "util/container/vec.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/glue/yaml_glue.h"
#include "util/hash.h"
#include "workloads/workload.h"

#define FILE_LIMIT_BYTES ((size_t)1 << 30)

struct known_file {
    char *path; /* in the specification's arena */
    uint64_t hash;
};

struct keys {
    const struct sweep_spec *spec;
    uint64_t *models; /* by value of the axis `model` */
    struct known_files VEC_FIELDS(struct known_file) files;
};

/* With the zero, which parts texts. */
static void hash_text(uint64_t *hash, const char *text)
{
    *hash = hash_bytes(*hash, text, strlen(text) + 1);
}

static void hash_number(uint64_t *hash, uint64_t number)
{
    *hash = hash_bytes(*hash, &number, sizeof number);
}

uint64_t sweep_model_hash(const struct model *model)
{
    char *text;
    if (model_show(&text, model) < 0) {
        error_clear();
        return 0;
    }
    const char *first = strstr(text, "\nsms:"); /* behind the name, which may be a scratch file's */
    first = first ? first : text;
    uint64_t hash = hash_bytes(HASH_BEGIN, first, strlen(first));
    free(text);
    return hash;
}

int sweep_model_path(char **out, const struct sweep_spec *spec, const char *name)
{
    struct strbuf path = {0};
    const char *dot = strrchr(name, '.');
    bool is_path = strchr(name, '/') || (dot && dot[1] == 'y');
    char *folder = is_path && *name != '/' ? realpath(spec->folder, NULL) : NULL;
    if (is_path && *name != '/' && !folder) {
        return error_set(SONDE_EINPUT, "%s: %s", spec->folder, strerror(errno));
    }
    strbuf_printf(&path, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    free(folder);
    *out = strbuf_take(&path);
    return *out ? 0 : error_memory();
}

/* The models that points begin with; their parameters are axes of their own. */
static int hash_models(struct keys *keys, const struct sweep_axis *axis)
{
    keys->models = calloc(axis->count, sizeof *keys->models);
    if (!keys->models) {
        return error_memory();
    }
    for (size_t i = 0; i < axis->count; i++) {
        struct model *model = NULL;
        char *path = NULL;
        int rc = sweep_model_path(&path, keys->spec, axis->text[i]);
        if (rc < 0) {
            return rc;
        }
        rc = model_load(&model, path);
        free(path);
        keys->models[i] = model ? sweep_model_hash(model) : 0;
        model_destroy(model);
        if (rc == SONDE_ENOMEM) {
            return rc;
        }
        error_clear();
    }
    return 0;
}

/* Where points see a file that a word names. NULL: no memory. */
static const char *path_from(const struct keys *keys, const char *word)
{
    return *word == '/' ? word : arena_printf(keys->spec->arena, "%s/%s", keys->spec->folder, word);
}

/* What a file contains; 0: it cannot be read. A program is not read again for each point. */
static int hash_file(uint64_t *hash, struct keys *keys, const char *word)
{
    struct arena *arena = keys->spec->arena;
    char *text = NULL;
    size_t size = 0;
    for (size_t i = 0; i < keys->files.count; i++) {
        if (strcmp(keys->files.data[i].path, word) == 0) {
            *hash = keys->files.data[i].hash;
            return 0;
        }
    }
    const char *path = path_from(keys, word);
    struct known_file known = {.path = arena_strdup(arena, word)};
    if (!path || !known.path) {
        return error_memory();
    }
    int rc = file_read_all(&text, &size, path, FILE_LIMIT_BYTES);
    known.hash = rc == 0 ? hash_bytes(HASH_BEGIN, text, size) : 0;
    free(text);
    if (rc == SONDE_ENOMEM) {
        return rc;
    }
    error_clear();
    *hash = known.hash;
    return vec_push(&keys->files, known) < 0 ? error_memory() : 0;
}

static bool is_file(const struct sweep_job *job, size_t word)
{
    enum sweep_file file = job->spec->run->file;
    return word == job->what &&
           (file == ALWAYS_FILE || (file == FILE_BY_SLASH && strchr(job->argv.data[word], '/')));
}

/* The part of an argument that names a file which is there: all of it, or what stands behind its
 * first `=` or `:` (--in=F, file:F). NULL: none does. */
static int find_named_file(const char **out, const struct keys *keys, const char *word)
{
    const char *part[] = {word, strchr(word, '='), strchr(word, ':')};
    *out = NULL;
    for (size_t i = 0; i < sizeof part / sizeof *part && !*out; i++) {
        struct stat status;
        const char *name = part[i] && i > 0 ? part[i] + 1 : part[i];
        const char *path = name && *name ? path_from(keys, name) : "";
        if (!path) {
            return error_memory();
        }
        *out = *path && stat(path, &status) == 0 && S_ISREG(status.st_mode) ? name : NULL;
    }
    return 0;
}

/* A workload counts by what is built in as well. */
static void hash_workload(uint64_t *hash, const char *name)
{
    const struct workload *workload = workload_find(name);
    hash_text(hash, name);
    hash_number(hash, workload ? workload_hash(workload) : 0);
}

static int hash_argv(uint64_t *hash, struct keys *keys, const struct sweep_job *job)
{
    enum sweep_file kind = job->spec->run->file;
    bool may_name = kind == FILE_BY_SLASH || kind == ALWAYS_FILE;
    for (size_t i = 0; i < job->argv.count && job->argv.data[i]; i++) {
        const char *word = job->argv.data[i], *file = is_file(job, i) ? word : NULL;
        uint64_t content = 0;
        int rc = may_name && i > job->what ? find_named_file(&file, keys, word) : 0;
        if (rc < 0) {
            return rc;
        }
        if (kind == WORKLOAD_NAME && i == job->what) {
            hash_workload(hash, word);
            continue;
        }
        if (!file) {
            hash_text(hash, word);
            continue;
        }
        rc = hash_file(&content, keys, file);
        if (rc < 0) {
            return rc;
        }
        *hash = hash_bytes(*hash, word, (size_t)(file - word));
        hash_text(hash, file_last_name(file));
        hash_number(hash, content);
    }
    return 0;
}

/* The command line, with words in place of what lies elsewhere each time. */
static int hash_command(uint64_t *hash, struct keys *keys, const struct sweep_point *point)
{
    struct sweep_job job = {.arena = arena_create(),
                            .spec = keys->spec,
                            .point = point,
                            .program = "sonde",
                            .model = "model",
                            .result = "result"};
    int rc = job.arena ? sweep_command(&job) : error_memory();
    rc = rc ? rc : hash_argv(hash, keys, &job);
    vec_free(&job.argv);
    arena_destroy(job.arena);
    return rc;
}

static void hash_axes(uint64_t *hash, const struct keys *keys, const struct sweep_point *point)
{
    for (size_t i = 0; i < keys->spec->axis_count; i++) {
        const struct sweep_axis *axis = &keys->spec->axis[i];
        const char *text = axis->text[point->value[i]];
        hash_text(hash, axis->name);
        hash_text(hash, axis->kind == AXIS_MODEL ? file_last_name(text) : text);
        if (axis->kind == AXIS_MODEL && keys->models) {
            hash_number(hash, keys->models[point->value[i]]);
        }
    }
}

static int make_key(uint64_t *hash, struct keys *keys, const struct sweep_point *point)
{
    const struct sweep_spec *spec = keys->spec;
    int rc = 0;
    *hash = HASH_BEGIN;
    if (spec->known_by) {
        hash_text(hash, spec->name);
        for (const struct yaml_node *name = spec->known_by->first; name; name = name->next) {
            hash_text(hash, name->text);
            hash_text(hash, sweep_setting(spec, point, name->text));
        }
    } else {
        hash_axes(hash, keys, point);
        rc = hash_command(hash, keys, point);
    }
    for (size_t i = 0; i < spec->column_count; i++) {
        hash_text(hash, spec->column[i].name);
        hash_text(hash, spec->column[i].expression ? spec->column[i].expression : "");
    }
    hash_number(hash, spec->seed);
    hash_text(hash, SONDE_VERSION);
    return rc;
}

/* Points that names do not tell apart would take over each other's outcomes. */
static int check_apart(const uint64_t *keys, const struct sweep_spec *spec, size_t count)
{
    struct u64_map seen = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        uint64_t other;
        if (u64_map_get(&other, &seen, keys[i])) {
            rc = yaml_error(SONDE_EINPUT, spec->known_by,
                            "points %zu and %zu are known by the same values", (size_t)other, i);
        }
        rc = rc ? rc : u64_map_put(&seen, keys[i], i);
    }
    u64_map_free(&seen);
    return rc;
}

int sweep_keys(uint64_t **out, const struct sweep_spec *spec, const struct sweep_points *points)
{
    struct keys keys = {.spec = spec};
    int rc = 0;
    *out = calloc(points->count, sizeof **out);
    if (!*out) {
        return error_memory();
    }
    if (!spec->known_by && spec->axis_count > 0 && spec->axis[0].kind == AXIS_MODEL) {
        rc = hash_models(&keys, &spec->axis[0]); /* `models` is the first axis where it is one */
    }
    for (size_t i = 0; rc == 0 && i < points->count; i++) {
        rc = make_key(&(*out)[i], &keys, &points->point[i]);
    }
    rc = rc || !spec->known_by ? rc : check_apart(*out, spec, points->count);
    free(keys.models);
    vec_free(&keys.files);
    return rc;
}
