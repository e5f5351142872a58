/* The journal of a sweep. See journal.h. */
#include "sweep/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "sonde/sonde.h"
#include "util/clock.h"
#include "util/container/map.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/fileio.h"

#define JOURNAL_LIMIT_BYTES ((size_t)4 << 30)

const char *const sweep_status_names[POINT_STATUSES] = {"open",   "ok",      "refused",
                                                        "failed", "crashed", "limit"};

static enum sweep_status status_of(const json_t *line)
{
    const char *name = json_string_value(json_object_get(line, "status"));
    enum sweep_status status = POINT_OK;
    while (name && status < POINT_STATUSES && strcmp(sweep_status_names[status], name) != 0) {
        status++;
    }
    return name && status < POINT_STATUSES ? status : POINT_OPEN;
}

/* Takes one line over; false when it is none. */
static bool take_line(struct sweep_outcome *outcomes, const struct u64_map *keys, const char *text,
                      size_t length, size_t *stale)
{
    json_t *line = json_loadb(text, length, 0, NULL);
    const char *key = json_string_value(json_object_get(line, "key"));
    uint64_t index;
    if (!key || status_of(line) == POINT_OPEN) {
        json_decref(line);
        return false;
    }
    if (!u64_map_get(&index, keys, strtoull(key, NULL, 16))) {
        ++*stale;
        json_decref(line);
        return true;
    }
    json_decref(outcomes[index].line); /* the last one counts */
    outcomes[index] = (struct sweep_outcome){.status = status_of(line), .line = line};
    return true;
}

/* Reads all whole lines; what follows the last one is cut away. */
static int read_lines(struct sweep_journal *journal, const struct u64_map *keys,
                      struct sweep_outcome *outcomes, size_t *stale)
{
    char *text;
    size_t size, at = 0;
    int rc = file_read_all(&text, &size, journal->path, JOURNAL_LIMIT_BYTES);
    for (size_t number = 1; rc == 0 && at < size; number++) {
        const char *end = memchr(text + at, '\n', size - at);
        if (!end) {
            break;
        }
        if (!take_line(outcomes, keys, text + at, (size_t)(end - text) - at, stale)) {
            rc = error_set(SONDE_EINPUT, "%s:%zu: not a line of a sweep's journal", journal->path,
                           number);
        }
        at = (size_t)(end - text) + 1;
    }
    if (rc == 0 && at < size && ftruncate(journal->file, (off_t)at) != 0) {
        rc = error_set(SONDE_EIO, "%s: %s", journal->path, strerror(errno));
    }
    free(text);
    return rc;
}

/* Points that one key stands for are one and the same: what the last of them has, all have. */
static int find_old(struct sweep_journal *journal, const uint64_t *point_keys, size_t count,
                    struct sweep_outcome *outcomes, size_t *stale)
{
    struct u64_map keys = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = u64_map_put(&keys, point_keys[i], i);
    }
    rc = rc ? rc : read_lines(journal, &keys, outcomes, stale);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        uint64_t last = i;
        u64_map_get(&last, &keys, point_keys[i]);
        if (last != i) {
            outcomes[i] = outcomes[last];
            json_incref(outcomes[i].line);
        }
    }
    u64_map_free(&keys);
    return rc;
}

int sweep_journal_open(struct sweep_journal *out, const char *folder, bool resume,
                       const uint64_t *keys, size_t count, struct sweep_outcome *outcomes,
                       size_t *stale)
{
    struct strbuf path = {0};
    *stale = 0;
    strbuf_printf(&path, "%s/points.jsonl", folder);
    *out = (struct sweep_journal){.file = -1, .path = strbuf_take(&path)};
    if (!out->path) {
        return error_memory();
    }
    out->file = open(out->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (out->file < 0) {
        return error_set(SONDE_EIO, "cannot write %s: %s", out->path, strerror(errno));
    }
    if (flock(out->file, LOCK_EX | LOCK_NB) != 0) {
        return error_set(SONDE_EUSAGE, "%s: another sweep writes there", folder);
    }
    if (!resume && lseek(out->file, 0, SEEK_END) > 0) {
        return error_set(
            SONDE_EUSAGE,
            "%s holds a sweep already: --resume goes on with it, or name another folder", folder);
    }
    return find_old(out, keys, count, outcomes, stale);
}

int sweep_journal_add(struct sweep_journal *journal, const json_t *line)
{
    struct strbuf text = {0};
    char *dumped = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
    strbuf_printf(&text, "%s\n", dumped ? dumped : "");
    int rc = dumped && !strbuf_failed(&text) ? 0 : error_memory();
    ssize_t written = rc ? 0 : write(journal->file, text.text, text.length);
    if (rc == 0 && written != (ssize_t)text.length) {
        rc = error_set(SONDE_EIO, "cannot write %s: %s", journal->path,
                       strerror(written < 0 ? errno : ENOSPC));
    }
    journal->behind = true;
    free(dumped);
    strbuf_free(&text);
    return rc;
}

/* A disk takes some ms, in which rank 0 answers nobody: so not for every line. */
int sweep_journal_sync(struct sweep_journal *journal, bool now)
{
    static const uint64_t interval_ns = 200000000;
    uint64_t time_ns = time_monotonic_ns();
    if (!journal->behind || (!now && time_ns - journal->synced_ns < interval_ns)) {
        return 0;
    }
    if (fdatasync(journal->file) != 0) {
        return error_set(SONDE_EIO, "cannot write %s: %s", journal->path, strerror(errno));
    }
    journal->behind = false;
    journal->synced_ns = time_monotonic_ns();
    return 0;
}

void sweep_journal_close(struct sweep_journal *journal)
{
    if (journal->file >= 0) {
        close(journal->file);
    }
    free(journal->path);
    *journal = (struct sweep_journal){.file = -1};
}
