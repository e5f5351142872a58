/*
 * Studies for users of the public interface.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sonde/sonde.h"
#include "study/bench.h"
#include "study/kernels/compare.h"
#include "study/study.h"
#include "util/error.h"
#include "util/container/strbuf.h"

struct sonde_study {
    struct study *rows;
    char *notes;
    struct strbuf kernels; /* launch by launch */
    bool idle;             /* a rank without a result */
};

int sonde_study_list(char **text)
{
    struct strbuf out = {0};
    for (size_t i = 0; study_name(i); i++) {
        struct study *study;
        int rc = study_load(&study, study_name(i));
        if (rc < 0) {
            strbuf_free(&out);
            return rc;
        }
        strbuf_printf(&out, "%-12s %s\n", study_name(i), study->title);
        study_destroy(study);
    }
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}

int sonde_study_describe(char **text, const char *name)
{
    struct study *study;
    int rc = study_load(&study, name);
    if (rc < 0) {
        return rc;
    }
    rc = study_describe(text, study);
    study_destroy(study);
    return rc;
}

void sonde_study_names(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; study_name(i) && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", study_name(i));
    }
}

static int prepare(struct study *study, const struct sonde_study_options *options)
{
    int rc = study_select(study, options->only);
    for (size_t i = 0; rc == 0 && i < options->device_count; i++) {
        rc = study_device(study, options->devices[i]);
    }
    for (size_t i = 0; rc == 0 && i < options->size_count; i++) {
        rc = study_size(study, options->sizes[i]);
    }
    bool programs = options->quick && study->program_count > 0;
    rc = rc < 0 || !programs ? rc : study_quick(study);
    rc = rc < 0 ? rc : study_kernels(study, options->kernels, options->quick && !programs);
    rc = rc < 0 ? rc : study_keep_kernels(study, options->folder, options->resume != 0);
    return rc < 0 || !options->without_set_aside ? rc : study_leave_set_aside(study);
}

/* Programs on several processes or ranks, where that is asked for. */
static int run_points(bool *idle, struct study *study, struct study_bench *bench,
                      const struct sonde_study_options *options)
{
    char own[PATH_MAX] = "";
    const struct study_points how = {.program = own,
                                     .folder = options->folder,
                                     .jobs = options->jobs ? options->jobs : 1,
                                     .resume = options->resume != 0};
    if (options->jobs == 0 && !study_is_spread()) {
        return 0;
    }
    if (readlink("/proc/self/exe", own, sizeof own - 1) < 0) {
        return error_set(SONDE_EIO, "cannot find this program's own file");
    }
    return study_run_points(idle, study, bench, &how);
}

/* Launches, also those before an interrupt. */
static int tell_kernels(struct sonde_study *study, struct study_bench *bench, const char *folder)
{
    int rc = kernel_table(&study->kernels, bench);
    return rc < 0 || !folder ? rc : study_kernel_files(bench, folder);
}

int sonde_study(struct sonde_study **out, const char *name,
                const struct sonde_study_options *options)
{
    struct study_bench *bench = NULL;
    *out = NULL;
    struct sonde_study *study = calloc(1, sizeof(*study));
    if (!study) {
        return error_memory();
    }
    int rc = study_load(&study->rows, name);
    rc = rc < 0 ? rc : prepare(study->rows, options);
    rc = rc < 0 ? rc : study_bench_create(&bench, study->rows, options->seed, &options->watch);
    rc = rc < 0 || study->rows->program_count == 0
             ? rc
             : run_points(&study->idle, study->rows, bench, options);
    if (rc == 0 && study->idle) {
        study_bench_destroy(bench);
        *out = study;
        return 0;
    }
    rc = rc < 0 ? rc : study_run(study->rows, bench);
    if (rc == 0 && options->folder) {
        rc = study_figures(&study->notes, study->rows, bench, options->folder);
        rc = rc < 0 ? rc : study_program_files(bench, options->folder);
    }
    int told = bench ? tell_kernels(study, bench, options->folder) : 0;
    rc = rc < 0 ? rc : told;
    study_bench_destroy(bench);
    if (rc < 0 && (!study->rows || (study_done(study->rows) == 0 && !study->kernels.text))) {
        sonde_study_destroy(study);
        return rc;
    }
    *out = study;
    return rc == SONDE_EINTERRUPTED
               ? error_set(rc, "%s; the rows measured so far are kept", error_text())
               : rc;
}

void sonde_study_destroy(struct sonde_study *study)
{
    if (study) {
        study_destroy(study->rows);
        free(study->notes);
        strbuf_free(&study->kernels);
        free(study);
    }
}

int sonde_study_idle(const struct sonde_study *study)
{
    return study->idle;
}

size_t sonde_study_failures(const struct sonde_study *study)
{
    return study_failures(study->rows);
}

int sonde_study_table(char **text, const struct sonde_study *study)
{
    struct strbuf out = {0};
    char *rows = NULL;
    int rc = study_table(&rows, study->rows);
    if (rc < 0) {
        return rc;
    }
    strbuf_append(&out, rows);
    strbuf_append(&out, study->kernels.text ? study->kernels.text : "");
    free(rows);
    *text = strbuf_take(&out);
    return *text ? 0 : error_memory();
}

int sonde_study_json(char **text, const struct sonde_study *study)
{
    return study_json(text, study->rows);
}

const char *sonde_study_notes(const struct sonde_study *study)
{
    return study->notes ? study->notes : "";
}
