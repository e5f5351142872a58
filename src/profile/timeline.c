/* See timeline.h. Times are in microseconds there, and of the simulated GPU. */
#include "profile/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/model.h"
#include "util/container/strbuf.h"
#include "util/container/vec.h"
#include "util/error.h"
#include "util/glue/json_glue.h"
#include "util/text/symbol.h"

#define FLUSH_BYTES 65536
#define FIRST_SAMPLE_CYCLES 100
#define SAMPLES_AN_INTERVAL 2000 /* then it doubles */
#define END "\n]}\n"

struct timeline {
    char *path;
    int fd, error; /* error: errno of the first write that failed */
    off_t at;      /* where the next event goes; the document's end is there now */
    struct strbuf pending;
    bool begun; /* an event stands in the file, or is pending */
    const struct model *model;
    struct gpu *gpu;
    struct gpu_stats before;
    uint64_t interval_ps, sampled_ps, samples;
    uint64_t begin_ps, last_ps; /* in the file: where the GPU's time begins; the latest event */
    VEC(uint64_t) streams;      /* that have a name in the file */
};

static void write_all(struct timeline *timeline, const char *data, size_t bytes)
{
    off_t at = timeline->at;
    while (bytes > 0 && timeline->error == 0) {
        ssize_t written = pwrite(timeline->fd, data, bytes, at);
        if (written < 0 && errno != EINTR) {
            timeline->error = errno;
        } else if (written > 0) {
            data += written;
            at += written;
            bytes -= (size_t)written;
        }
    }
}

void timeline_flush(struct timeline *timeline)
{
    size_t bytes = strlen(strbuf_text(&timeline->pending));
    if (strbuf_failed(&timeline->pending)) {
        timeline->error = timeline->error ? timeline->error : ENOMEM;
        return;
    }
    strbuf_append(&timeline->pending, END);
    write_all(timeline, strbuf_text(&timeline->pending), bytes + strlen(END));
    timeline->at += (off_t)bytes;
    strbuf_clear(&timeline->pending);
}

/* Where an event goes. */
static struct strbuf *event(struct timeline *timeline)
{
    if (strlen(strbuf_text(&timeline->pending)) > FLUSH_BYTES) {
        timeline_flush(timeline);
    }
    strbuf_append(&timeline->pending, timeline->begun ? ",\n" : "\n");
    timeline->begun = true;
    return &timeline->pending;
}

static double microseconds(uint64_t ps)
{
    return (double)ps * 1e-6;
}

/* When that is in the file. */
static double time_of(struct timeline *timeline, uint64_t gpu_ps)
{
    uint64_t ps = timeline->begin_ps + gpu_ps;
    timeline->last_ps = ps > timeline->last_ps ? ps : timeline->last_ps;
    return microseconds(ps);
}

static void put_string(struct strbuf *out, const char *text)
{
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    strbuf_append(out, quoted ? quoted : "\"?\"");
    free(quoted);
    json_decref(value);
}

static void name_track(struct timeline *timeline, const char *what, uint64_t tid, const char *name)
{
    struct strbuf *out = event(timeline);
    strbuf_printf(out,
                  "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":1,\"tid\":%" PRIu64 ",\"args\":{\"name\":",
                  what, tid);
    put_string(out, name);
    strbuf_append(out, "}}");
}

/* An empty file that no other process writes a time line to: it is written in place. */
static int open_alone(int *fd, const char *path)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0) {
        return error_set(SONDE_EIO, "cannot write %s: %s", path, strerror(errno));
    }
    struct stat about;
    bool is_file = fstat(*fd, &about) == 0 && S_ISREG(about.st_mode);
    int rc = 0;
    if (is_file && flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        rc = error_set(SONDE_EIO, "cannot write %s: another process writes its time line there",
                       path);
    } else if (is_file && ftruncate(*fd, 0) != 0) {
        rc = error_set(SONDE_EIO, "cannot write %s: %s", path, strerror(errno));
    }
    if (rc < 0) {
        close(*fd);
    }
    return rc;
}

int timeline_open(struct timeline **out, const char *path, const struct model *model)
{
    struct timeline *timeline = calloc(1, sizeof *timeline);
    *out = NULL;
    if (!timeline) {
        return error_memory();
    }
    timeline->model = model;
    timeline->interval_ps = FIRST_SAMPLE_CYCLES * model->core_period_ps;
    int rc = open_alone(&timeline->fd, path);
    if (rc < 0) {
        free(timeline);
        return rc;
    }
    timeline->path = strdup(path);
    strbuf_append(&timeline->pending, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    name_track(timeline, "process_name", 0,
               model->driver.device_name[0] ? model->driver.device_name : model->name);
    timeline_flush(timeline);
    *out = timeline;
    return 0;
}

int timeline_close(struct timeline *timeline)
{
    if (!timeline) {
        return 0;
    }
    timeline_flush(timeline);
    if (timeline->gpu) {
        gpu_set_sampler(timeline->gpu, NULL, NULL, 0);
    }
    int error = timeline->error;
    if (close(timeline->fd) != 0 && error == 0) {
        error = errno;
    }
    int rc = error ? error_set(SONDE_EIO, "cannot write %s: %s",
                               timeline->path ? timeline->path : "the time line", strerror(error))
                   : 0;
    vec_free(&timeline->streams);
    strbuf_free(&timeline->pending);
    free(timeline->path);
    free(timeline);
    return rc;
}

/* ---- counters ---- */

static void put_counter(struct timeline *timeline, const char *name, uint64_t at_ps,
                        const char *series, double value)
{
    strbuf_printf(event(timeline),
                  "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":1,\"tid\":0,\"ts\":%.6f,\"args\":{\"%s\":"
                  "%.6g}}",
                  name, time_of(timeline, at_ps), series, value);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void sample(void *ctx, uint64_t now_ps)
{
    struct timeline *timeline = ctx;
    struct gpu_stats now, *stats = &now;
    if (now_ps <= timeline->sampled_ps) {
        return;
    }
    gpu_stats(timeline->gpu, &now);
    struct gpu_stats all = now;
    gpu_stats_since(stats, &timeline->before);
    const struct model *model = timeline->model;
    double seconds = (double)(now_ps - timeline->sampled_ps) * 1e-12;
    double cycles = (double)(now_ps - timeline->sampled_ps) / (double)model->core_period_ps;
    uint64_t bytes = stats->dram_read_bytes + stats->dram_written_bytes;
    put_counter(
        timeline, "resident warps", now_ps, "percent",
        percent(gpu_resident_warps(timeline->gpu), (uint64_t)model->sms * model->sm.max_warps));
    put_counter(timeline, "warp instructions a cycle", now_ps, "IPC",
                (double)stats->warp_insns / cycles);
    if (stats->l1_reads) {
        put_counter(timeline, "L1 hit rate", now_ps, "percent",
                    percent(stats->l1_hits + stats->l1_pending_hits, stats->l1_reads));
    }
    if (stats->l2_reads) {
        put_counter(timeline, "L2 hit rate", now_ps, "percent",
                    percent(stats->l2_hits + stats->l2_pending_hits, stats->l2_reads));
    }
    put_counter(timeline, "DRAM", now_ps, "GB/s", (double)bytes / seconds * 1e-9);
    timeline->before = all;
    timeline->sampled_ps = now_ps;
    if (++timeline->samples == SAMPLES_AN_INTERVAL) {
        timeline->samples = 0;
        timeline->interval_ps *= 2;
        gpu_set_sampler(timeline->gpu, sample, timeline, timeline->interval_ps);
    }
}

void timeline_attach(struct timeline *timeline, struct gpu *gpu)
{
    timeline->gpu = gpu;
    if (gpu) {
        timeline->begin_ps = timeline->last_ps; /* a GPU that was reset begins at 0 */
        gpu_stats(gpu, &timeline->before);
        timeline->sampled_ps = gpu_now_ps(gpu);
        gpu_set_sampler(gpu, sample, timeline, timeline->interval_ps);
    }
}

/* ---- slices ---- */

static void name_stream(struct timeline *timeline, uint64_t stream_id)
{
    char name[40];
    for (size_t i = 0; i < timeline->streams.count; i++) {
        if (timeline->streams.data[i] == stream_id) {
            return;
        }
    }
    if (vec_push(&timeline->streams, stream_id) == 0) {
        snprintf(name, sizeof name, "stream %" PRIu64, stream_id);
        name_track(timeline, "thread_name", stream_id + 1, name);
    }
}

void timeline_slice(struct timeline *timeline, const struct timeline_slice *slice)
{
    name_stream(timeline, slice->stream_id);
    struct strbuf *out = event(timeline);
    (void)time_of(timeline, slice->end_ps); /* nothing of another GPU is before it */
    char *name = symbol_readable(slice->name);
    strbuf_append(out, "{\"ph\":\"X\",\"name\":");
    put_string(out, name ? name : slice->name);
    free(name);
    strbuf_printf(
        out, ",\"cat\":\"%s\",\"pid\":1,\"tid\":%" PRIu64 ",\"ts\":%.6f,\"dur\":%.6f,\"args\":{",
        slice->category, slice->stream_id + 1, time_of(timeline, slice->begin_ps),
        microseconds(slice->end_ps - slice->begin_ps));
    const char *between = "";
    if (slice->cycles) {
        strbuf_printf(out, "\"cycles\":%" PRIu64, slice->cycles);
        between = ",";
    }
    if (slice->bytes) {
        strbuf_printf(out, "%s\"bytes\":%" PRIu64, between, slice->bytes);
        between = ",";
    }
    if (slice->status) {
        strbuf_printf(out, "%s\"status\":", between);
        put_string(out, slice->status);
    }
    strbuf_append(out, "}}");
}
