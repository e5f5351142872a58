/*
 * The recording: a table of tab-separated columns, whose names stand in its first line that is no
 * comment.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/kernels/compare.h"
#include "util/error.h"
#include "util/glue/embed.h"

extern const struct embedded_file study_kernel_data[];

#define FILE_NAME "recorded.tsv"

/* The nth field of a line; its length in *length. NULL: there are not so many. */
static const char *field(size_t *length, const char *line, size_t n)
{
    for (; n > 0; n--) {
        line += strcspn(line, "\t\n");
        if (*line != '\t') {
            return NULL;
        }
        line++;
    }
    *length = strcspn(line, "\t\n");
    return line;
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

static const char *column(size_t *length, const char *head, const char *line, const char *name)
{
    size_t head_length;
    const char *at;
    for (size_t n = 0; (at = field(&head_length, head, n)) != NULL; n++) {
        if (is_word(at, head_length, name)) {
            return field(length, line, n);
        }
    }
    return NULL;
}

static int number(double *out, const char *head, const char *line, const char *name)
{
    size_t length = 0;
    char *end = NULL;
    const char *at = column(&length, head, line, name);
    *out = at ? strtod(at, &end) : 0;
    return at && end == at + length && length > 0
               ? 0
               : error_set(SONDE_EINPUT, FILE_NAME ": '%.*s': no number '%s'",
                           (int)strcspn(line, "\n"), line, name);
}

static int read_line(struct kernel_counts *out, const char *head, const char *line)
{
    double read_bytes = 0, written_bytes = 0;
    size_t length = 0;
    const char *exact = column(&length, head, line, "exact");
    const struct {
        double *out;
        const char *name;
    } columns[] = {
        {&out->cycles, "cycles"},
        {&out->warp_insns, "warp_insns"},
        {&out->l2_sectors, "l2_sectors"},
        {&read_bytes, "dram_read_bytes"},
        {&written_bytes, "dram_write_bytes"},
        {&out->l1_loads, "l1_load_sectors"},
        {&out->l1_hits, "l1_load_hits"},
        {&out->result.about, "about"},
    };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(columns) / sizeof(columns[0]); i++) {
        rc = number(columns[i].out, head, line, columns[i].name);
    }
    out->dram_bytes = read_bytes + written_bytes;
    out->result.exact = exact ? strtoull(exact, NULL, 16) : 0;
    return rc;
}

int kernel_recorded_in(struct kernel_counts *out, const char *text, const char *kernel,
                       uint64_t size)
{
    const char *head = NULL;
    char wanted[32];
    snprintf(wanted, sizeof(wanted), "%" PRIu64, size);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        size_t length = 0, size_length = 0;
        line += *line == '\n';
        if (*line == '#' || *line == '\0') {
            continue;
        }
        const char *name = field(&length, line, 0), *at = field(&size_length, line, 1);
        if (!head) {
            head = line;
        } else if (is_word(name, length, kernel) && at && is_word(at, size_length, wanted)) {
            return read_line(out, head, line);
        }
    }
    return error_set(SONDE_EINPUT, FILE_NAME ": nothing of %s at %" PRIu64, kernel, size);
}

int kernel_recorded(struct kernel_counts *out, const char *kernel, uint64_t size)
{
    const struct embedded_file *file = embed_find(study_kernel_data, FILE_NAME);
    return file ? kernel_recorded_in(out, (const char *)file->data, kernel, size)
                : error_set(SONDE_EINTERNAL, FILE_NAME " was not built in");
}
