/*
 * Launches that were simulated, one line of JSON each, on the disk as soon as each has ended. What
 * was simulated of another model or by another version is passed over; so is a last line that was
 * cut off.
 */
#include "study/kernels/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sonde/sonde.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/hash.h"

#define JOURNAL_LIMIT_BYTES ((size_t)64 << 20)
#define KEY_BYTES 20

static const struct {
    const char *name;
    size_t offset; /* of a double in a prediction */
} numbers[] = {
    {"cycles", offsetof(struct kernel_prediction, counts.cycles)},
    {"warp_insns", offsetof(struct kernel_prediction, counts.warp_insns)},
    {"l2_sectors", offsetof(struct kernel_prediction, counts.l2_sectors)},
    {"dram_bytes", offsetof(struct kernel_prediction, counts.dram_bytes)},
    {"l1_loads", offsetof(struct kernel_prediction, counts.l1_loads)},
    {"l1_hits", offsetof(struct kernel_prediction, counts.l1_hits)},
    {"about", offsetof(struct kernel_prediction, counts.result.about)},
    {"launches", offsetof(struct kernel_prediction, launches)},
    {"issue", offsetof(struct kernel_prediction, shares[SHARE_ISSUE])},
    {"unit", offsetof(struct kernel_prediction, shares[SHARE_UNIT])},
    {"result", offsetof(struct kernel_prediction, shares[SHARE_RESULT])},
    {"memory", offsetof(struct kernel_prediction, shares[SHARE_MEMORY])},
    {"barrier", offsetof(struct kernel_prediction, shares[SHARE_BARRIER])},
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void print_hex(char text[KEY_BYTES], uint64_t value)
{
    snprintf(text, KEY_BYTES, "%016" PRIx64, value);
}

static bool is_text(const json_t *line, const char *name, const char *text)
{
    const char *found = json_string_value(json_object_get(line, name));
    return found && strcmp(found, text) == 0;
}

static void read_lines(struct kernel_journal *journal, char *text)
{
    char key[KEY_BYTES];
    print_hex(key, journal->key);
    for (char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        json_t *line = json_loadb(text, (size_t)(end - text), 0, NULL);
        if (is_text(line, "key", key)) {
            json_array_append(journal->lines, line);
        }
        json_decref(line);
    }
}

static int read_old(struct kernel_journal *journal, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    if (access(path, F_OK) != 0) {
        return 0;
    }
    int rc = file_read_all(&text, &size, path, JOURNAL_LIMIT_BYTES);
    if (rc == 0) {
        read_lines(journal, text);
        if (size > 0 && text[size - 1] != '\n') {
            fputs("\n", journal->stream);
        }
    }
    free(text);
    return rc;
}

int kernel_journal_open(struct kernel_journal *out, const char *folder, bool resume,
                        const char *model)
{
    struct strbuf path = {0};
    uint64_t key = hash_bytes(HASH_BEGIN, SONDE_VERSION, sizeof(SONDE_VERSION));
    *out = (struct kernel_journal){.key = hash_bytes(key, model, strlen(model)),
                                   .lines = json_array()};
    if (!folder) {
        return out->lines ? 0 : error_memory();
    }
    strbuf_printf(&path, "%s/kernels.jsonl", folder);
    int rc = out->lines && !strbuf_failed(&path) ? 0 : error_memory();
    if (rc == 0) {
        out->stream = fopen(strbuf_text(&path), resume ? "a" : "w");
        rc = out->stream
                 ? 0
                 : error_set(SONDE_EIO, "cannot write %s: %s", strbuf_text(&path), strerror(errno));
    }
    rc = rc < 0 || !resume ? rc : read_old(out, strbuf_text(&path));
    strbuf_free(&path);
    return rc;
}

bool kernel_journal_find(const struct kernel_journal *journal, struct kernel_pair *pair)
{
    size_t i;
    json_t *line;
    json_array_foreach(journal->lines, i, line)
    {
        if (!is_text(line, "kernel", pair->row->name) ||
            (uint64_t)json_integer_value(json_object_get(line, "size")) != pair->size) {
            continue;
        }
        const char *why = json_string_value(json_object_get(line, "why"));
        const char *exact = json_string_value(json_object_get(line, "exact"));
        pair->why = why ? strdup(why) : NULL;
        for (size_t n = 0; n < NUMBERS; n++) {
            double value = json_number_value(json_object_get(line, numbers[n].name));
            memcpy((char *)&pair->predicted + numbers[n].offset, &value, sizeof(value));
        }
        if (!why && pair->predicted.launches < 1) {
            pair->predicted.launches = 1; /* written before workloads were kernels, too */
        }
        pair->predicted.counts.result.exact = exact ? strtoull(exact, NULL, 16) : 0;
        return true;
    }
    return false;
}

int kernel_journal_add(struct kernel_journal *journal, const struct kernel_pair *pair)
{
    char key[KEY_BYTES], exact[KEY_BYTES];
    if (!journal->stream) {
        return 0;
    }
    print_hex(key, journal->key);
    print_hex(exact, pair->predicted.counts.result.exact);
    json_t *line = json_pack("{s:s, s:s, s:I, s:s}", "key", key, "kernel", pair->row->name, "size",
                             (json_int_t)pair->size, "exact", exact);
    int failed = !line;
    if (pair->why) {
        failed |= json_object_set_new(line, "why", json_string(pair->why));
    }
    for (size_t n = 0; n < NUMBERS; n++) {
        double value;
        memcpy(&value, (const char *)&pair->predicted + numbers[n].offset, sizeof(value));
        failed |= json_object_set_new(line, numbers[n].name, json_real(value));
    }
    char *text = failed ? NULL : json_dumps(line, JSON_COMPACT);
    int rc = text ? 0 : error_memory();
    if (rc == 0 && (fprintf(journal->stream, "%s\n", text) < 0 || fflush(journal->stream) != 0)) {
        rc = error_set(SONDE_EIO, "kernels.jsonl: %s", strerror(errno));
    }
    free(text);
    json_decref(line);
    return rc;
}

void kernel_journal_close(struct kernel_journal *journal)
{
    if (journal->stream) {
        fclose(journal->stream);
    }
    json_decref(journal->lines);
    *journal = (struct kernel_journal){0};
}
