/*
 * Any bytes as a file that a command has kept as JSON (dissection, study, statistics, sweep's
 * table, profile), given to all that read such files: refused with a text, or told without a fault.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sonde/sonde.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A refusal has its reason, and leaves nothing. */
static void took(int rc, char *text)
{
    if ((rc < 0) == (text != NULL) || (rc < 0 && sonde_error_last()[0] == '\0')) {
        abort();
    }
    sonde_free(text);
}

static void read_file(const char *path)
{
    static const char *const formats[] = {"sonde", "gpgpusim", "mt4g", "hwloc"};
    char *text = NULL;
    int rc = sonde_topology(&text, path, 80, 0, 1);
    took(rc, text);
    text = NULL;
    rc = sonde_report(&text, path);
    took(rc, text);
    char name[SONDE_FIGURE_NAME];
    text = NULL;
    for (size_t i = 0; sonde_figure(&text, name, path, i) == 0 && text; i++) {
        sonde_free(text);
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        text = NULL;
        rc = sonde_export(&text, path, formats[i], NULL);
        took(rc, text);
    }
    for (int json = 0; json < 2; json++) {
        struct sonde_compare_options options = {.cycles = 2, .percent = 5, .all = 1, .json = json};
        size_t differences = 0;
        text = NULL;
        rc = sonde_compare(&text, &differences, path, path, &options);
        took(rc, text);
        if (rc == 0 && differences > 0) {
            abort(); /* from itself */
        }
    }
}

/* The input as a sweep's table. */
static void read_folder(const uint8_t *data, size_t size)
{
    char folder[2048], path[4096], *text = NULL;
    const char *scratch = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/sonde-fuzz-sweep.XXXXXX", scratch ? scratch : "/tmp");
    if (!mkdtemp(folder)) {
        return;
    }
    snprintf(path, sizeof path, "%s/table.json", folder);
    FILE *file = fopen(path, "w");
    bool written = file && fwrite(data, 1, size, file) == size;
    if (file && fclose(file) == 0 && written) {
        int rc = sonde_sweep_pareto(&text, folder, "min:cycles,max:ipc");
        took(rc, text);
    }
    unlink(path);
    rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = memfd_create("fuzz", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) {
        abort();
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    read_file(path);
    close(file);
    read_folder(data, size);
    return 0;
}
