/*
 * The probe `chase`: fine-grained pointer chase in windows (kernels/chase.ptx). Each window is a
 * launch of one block, which warms, records, and hands the record back. Positions are counted along
 * the walk: a window's records begin at its start, the warm-up as many loads before it.
 *
 *     ... | warm (not recorded) | preroll (recorded over) | window ... |        -> along the ring
 *                                                         ^ start
 *
 * Which path the loads take is the kernel's variant; what differs here is where the ring lies and
 * who lays it out: a kernel in global memory (also under a texture), a copy in a module's
 * constants, the walking thread itself in its local memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/live.h"
#include "util/error.h"

enum { WARM_AFTER_TOUCH = 4, AUTO_WINDOW_MAX = 1024 };

/* A trace in memory: 64 Mi records. */
#define RECORDS_MAX (UINT64_C(1) << 26)

#define FLUSH_LEAST (UINT64_C(1) << 20)
#define FLUSH_MOST (UINT64_C(256) << 20)

/* The arrays in kernels/chase.ptx. */
enum { LOCAL_BYTES = 16384, OTHER_BYTES = 65536 };

enum space { GLOBAL, TEXTURE, CONSTANT, LOCAL };

struct chase {
    struct walk walk;
    const char *op;
    char variant[24]; /* of the kernel */
    enum space space;
    uint64_t elements, texture; /* what the kernel gets */
    uint64_t warm, window, windows, touch_stride, flush_bytes;
    bool touch, spread, persist, cold;
    enum space other_space; /* of what is read behind the warm-up; other NULL: nothing */
    const char *other;
    uint64_t other_at, other_bytes, other_stride; /* other_at: an address, or a texture */
};

/* The window's record as it comes back, and the columns that it goes to. */
struct chase_record {
    uint32_t *words;
    uint32_t *latency, *next, *start, *smid;
    double *cycles, *ns;
};

static enum space space_of(const char *op)
{
    return strcmp(op, "tex") == 0     ? TEXTURE
           : strcmp(op, "const") == 0 ? CONSTANT
           : strcmp(op, "local") == 0 ? LOCAL
                                      : GLOBAL;
}

/* What the path cannot do. */
static int check_space(const struct chase *chase)
{
    const struct walk *walk = &chase->walk;
    uint64_t most = chase->space == CONSTANT ? CONSTANT_BYTES : LOCAL_BYTES;
    if (walk->turns > 1 && (chase->space != LOCAL || chase->other || !walk->ring)) {
        return error_set(SONDE_EUSAGE,
                         "probe chase: turns=2 goes only with op=local, a ring, other=none");
    }
    if (chase->space == GLOBAL) {
        return SONDE_OK;
    }
    if (walk->scale != 1 || chase->touch) {
        return error_set(SONDE_EUSAGE, "probe chase: op=%s goes only with scale=1, touch=0",
                         chase->op);
    }
    if (chase->space == TEXTURE) {
        return SONDE_OK;
    }
    if (walk->ground != GROUND_PLAIN || walk_extent(walk) > most) {
        return error_set(SONDE_EUSAGE,
                         "probe chase: op=%s goes only with pages=plain and %llu bytes", chase->op,
                         (unsigned long long)most);
    }
    if (chase->space == LOCAL && (chase->cold || chase->persist)) {
        return error_set(SONDE_EUSAGE, "probe chase: op=local goes only with cold=0, persist=0");
    }
    return SONDE_OK;
}

/* Another path than the walk's own, and no more than it has. */
static int check_other(const struct chase *chase)
{
    uint64_t most = chase->other_space == CONSTANT ? CONSTANT_BYTES
                    : chase->other_space == LOCAL  ? LOCAL_BYTES
                                                   : UINT64_MAX;
    if (chase->other && strcmp(chase->other, chase->op) == 0) {
        return error_set(SONDE_EUSAGE, "probe chase: other=%s is the path of op", chase->other);
    }
    if (chase->other && (chase->other_bytes > most || chase->other_stride % 4 != 0)) {
        return error_set(SONDE_EUSAGE,
                         "probe chase: other=%s reads at most %llu bytes, at multiples of 4",
                         chase->other, (unsigned long long)most);
    }
    return SONDE_OK;
}

static int chase_check(const struct chase *chase, const struct trace_request *request)
{
    int rc = check_other(chase);
    if (rc < 0) {
        return rc;
    }
    if (chase->cold && (request_number(request, "warm", 0) > 0 || chase->touch || chase->persist)) {
        return error_set(SONDE_EUSAGE,
                         "probe chase: cold=1 goes only with warm=0, touch=0, persist=0");
    }
    if (chase->persist && chase->spread) {
        return error_set(SONDE_EUSAGE, "probe chase: persist=1 needs spread=0");
    }
    if (chase->window * chase->windows > RECORDS_MAX) {
        return error_set(SONDE_EUSAGE, "probe chase: more than %llu records in all",
                         (unsigned long long)RECORDS_MAX);
    }
    return check_space(chase);
}

/* Driver-reported cache sizes have no say: they may be wrong. */
static uint64_t auto_flush_bytes(const struct probe_live *live)
{
    uint64_t share = live->device->info.memory_bytes / 64;
    return share < FLUSH_LEAST ? FLUSH_LEAST : share > FLUSH_MOST ? FLUSH_MOST : share;
}

static int chase_read(struct chase *chase, const struct probe_live *live,
                      const struct trace_request *request)
{
    *chase = (struct chase){.op = trace_request_text(request, "op"),
                            .windows = request_number(request, "windows", 1),
                            .touch_stride = request_number(request, "touch_stride", 32),
                            .touch = request_flag(request, "touch"),
                            .spread = request_flag(request, "spread"),
                            .persist = request_flag(request, "persist"),
                            .cold = request_flag(request, "cold")};
    int rc = walk_read(&chase->walk, request, 4);
    if (rc < 0) {
        return rc;
    }
    uint64_t count = chase->walk.count, longest = probe_live_max_window(live);
    uint64_t window = count < AUTO_WINDOW_MAX ? count : AUTO_WINDOW_MAX;
    chase->warm = request_number(request, "warm",
                                 chase->cold    ? 0
                                 : chase->touch ? WARM_AFTER_TOUCH
                                                : count);
    chase->window = request_number(request, "window", window < longest ? window : longest);
    chase->flush_bytes = request_number(request, "flush_bytes", auto_flush_bytes(live));
    chase->space = space_of(chase->op);
    const char *other = trace_request_text(request, "other");
    chase->other = other && strcmp(other, "none") != 0 ? other : NULL;
    chase->other_space = chase->other ? space_of(chase->other) : GLOBAL;
    chase->other_bytes = request_number(request, "other_bytes",
                                        chase->other_space == LOCAL ? LOCAL_BYTES : OTHER_BYTES);
    chase->other_stride = request_number(request, "other_stride", 32);
    if (chase->walk.turns > 1) {
        snprintf(chase->variant, sizeof(chase->variant), "%.5s.0.4.turns", chase->op);
    } else if (chase->other) {
        snprintf(chase->variant, sizeof(chase->variant), "%.5s.1.4.+%.5s", chase->op, chase->other);
    } else {
        snprintf(chase->variant, sizeof(chase->variant), "%s", chase->op);
    }
    return chase_check(chase, request);
}

/* Puts the ring where the path finds it, and says where that is. */
static int lay_out(struct probe_live *live, struct chase *chase)
{
    const struct walk *walk = &chase->walk;
    chase->elements = walk->base;
    if (chase->space == CONSTANT) {
        return walk_fill_constants(live, walk, "chase", chase->variant);
    }
    if (chase->space == LOCAL) {
        return walk->turns > 1 ? turns_stage(live, walk) : walk_stage(live, walk);
    }
    int rc = walk_build(live, walk, chase->cold || chase->touch || chase->warm >= walk->count);
    if (rc < 0) {
        return rc;
    }
    if (chase->space == TEXTURE) {
        chase->elements = walk->base / 4;
        return device_texture_create(live->device, &chase->texture, walk_address(live, walk),
                                     walk_extent(walk));
    }
    chase->elements = walk_address(live, walk) + walk->base;
    return SONDE_OK;
}

/* Memory that the walk does not use, for what is read behind the warm-up. */
static int find_other(struct probe_live *live, struct chase *chase)
{
    if (!chase->other || chase->other_space == CONSTANT || chase->other_space == LOCAL) {
        return SONDE_OK; /* the kernel's own */
    }
    int rc = buffer_reserve(live, &live->flush, chase->other_bytes, 0);
    chase->other_at = live->flush.address;
    if (rc == 0 && chase->other_space == TEXTURE) {
        rc = device_texture_create(live->device, &chase->other_at, live->flush.address,
                                   chase->other_bytes);
    }
    return rc;
}

static uint64_t u64_of(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

/* The position of a window's first record. */
static uint64_t window_start(const struct chase *chase, uint64_t w)
{
    return (chase->spread ? w * chase->walk.count / chase->windows : w * chase->window) %
           chase->walk.count;
}

static int launch_window(struct probe_live *live, struct device_kernel *kernel,
                         const struct chase *chase, uint64_t w)
{
    const struct walk *walk = &chase->walk;
    bool warms = w == 0 || !chase->persist, touches = chase->touch && warms;
    uint64_t warm = warms ? chase->warm : 0;
    uint64_t preroll = warm < RECORD_PREROLL ? warm : RECORD_PREROLL;
    preroll = preroll < chase->window ? preroll : chase->window;
    uint64_t from = window_start(chase, w) + walk->count - warm % walk->count;
    if (chase->cold) {
        int rc = walk_flush(live, chase->flush_bytes);
        if (rc < 0) {
            return rc;
        }
    }
    struct call call =
        call_begin(1, walk_threads(live, touches), (uint32_t)chase->window * RECORD_BYTES);
    call_u64(&call, chase->elements);
    call_u64(&call, live->out.address);
    call_u64(&call, touches ? walk->bytes : 0);
    call_u32(&call, (uint32_t)chase->touch_stride);
    call_u32(&call, walk->turns > 1 ? turns_start(walk, from) : (uint32_t)walk_offset(walk, from));
    call_u32(&call, (uint32_t)(warm - preroll));
    call_u32(&call, (uint32_t)preroll);
    call_u32(&call, (uint32_t)chase->window);
    call_u32(&call, (uint32_t)walk->scale);
    if (chase->space == TEXTURE) {
        call_u64(&call, chase->texture);
    } else if (chase->space == LOCAL) {
        call_u64(&call, live->staging.address);
        call_u32(&call, (uint32_t)(walk->count / walk->turns));
    }
    if (chase->other) {
        call_u64(&call, chase->other_at);
        call_u64(&call, chase->other_bytes);
        call_u32(&call, (uint32_t)chase->other_stride);
    }
    return call_run_touching(live, kernel, &call);
}

/* Takes a window apart and holds what was loaded against what was laid out. */
static int keep_window(const struct chase *chase, const struct chase_record *record, uint64_t w)
{
    const uint32_t *clocks = record->words + RECORD_OUT_WORDS, *next = clocks + 2 * chase->window;
    uint64_t start = window_start(chase, w), at = w * chase->window;
    record->start[w] = (uint32_t)walk_offset(&chase->walk, start);
    record->smid[w] = record->words[0];
    record->cycles[w] = (double)u64_of(record->words + 2);
    record->ns[w] = (double)u64_of(record->words + 4);
    for (uint64_t i = 0; i < chase->window; i++) {
        record->latency[at + i] = clocks[2 * i + 1] - clocks[2 * i];
        uint64_t expected = walk_offset(&chase->walk, start + i + 1);
        record->next[at + i] =
            chase->walk.turns > 1 ? turns_next(&chase->walk, start + i, next[i]) : next[i];
        if (record->next[at + i] != expected) {
            return error_set(SONDE_EDEVICE,
                             "window %llu, record %llu: offset %u came back where %llu was stored",
                             (unsigned long long)w, (unsigned long long)i, record->next[at + i],
                             (unsigned long long)expected);
        }
    }
    return SONDE_OK;
}

static int measure(struct probe_live *live, struct device_kernel *kernel, const struct chase *chase,
                   const struct chase_record *record)
{
    uint64_t words = RECORD_OUT_WORDS + 3 * chase->window;
    for (uint64_t w = 0; w < chase->windows; w++) {
        int rc = launch_window(live, kernel, chase, w);
        if (rc == 0) {
            rc = device_copy_from(live->device, record->words, live->out.address, words * 4);
        }
        if (rc == 0) {
            rc = keep_window(chase, record, w);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return SONDE_OK;
}

static int add_columns(struct trace *trace, const struct chase *chase,
                       const struct chase_record *record)
{
    size_t records = (size_t)(chase->window * chase->windows), windows = (size_t)chase->windows;
    int rc = trace_add_column(trace, "latency", TRACE_U32, record->latency, records);
    rc = rc < 0 ? rc : trace_add_column(trace, "next", TRACE_U32, record->next, records);
    rc = rc < 0 ? rc : trace_add_column(trace, "start", TRACE_U32, record->start, windows);
    rc = rc < 0 ? rc : trace_add_column(trace, "smid", TRACE_U32, record->smid, windows);
    rc = rc < 0 ? rc : trace_add_column(trace, "cycles", TRACE_F64, record->cycles, windows);
    return rc < 0 ? rc : trace_add_column(trace, "ns", TRACE_F64, record->ns, windows);
}

static int add_page_bytes(struct trace *trace, const struct probe_live *live,
                          const struct walk *walk)
{
    double page_bytes = (double)live->grounds[walk->ground].buffer.page_bytes;
    return walk->ground == GROUND_MAPPED
               ? trace_add_column(trace, "page_bytes", TRACE_F64, &page_bytes, 1)
               : SONDE_OK;
}

static int record_allocate(struct chase_record *record, const struct chase *chase)
{
    uint64_t records = chase->window * chase->windows;
    *record = (struct chase_record){
        .words = malloc((RECORD_OUT_WORDS + 3 * chase->window) * 4),
        .latency = malloc(records * 4),
        .next = malloc(records * 4),
        .start = malloc(chase->windows * 4),
        .smid = malloc(chase->windows * 4),
        .cycles = malloc(chase->windows * sizeof(double)),
        .ns = malloc(chase->windows * sizeof(double)),
    };
    return record->words && record->latency && record->next && record->start && record->smid &&
                   record->cycles && record->ns
               ? SONDE_OK
               : error_memory();
}

static void record_free(struct chase_record *record)
{
    free(record->words);
    free(record->latency);
    free(record->next);
    free(record->start);
    free(record->smid);
    free(record->cycles);
    free(record->ns);
}

int chase_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct chase chase;
    struct chase_record record;
    struct device_kernel *kernel;
    int rc = chase_read(&chase, live, request);
    if (rc < 0) {
        return rc;
    }
    uint64_t words = RECORD_OUT_WORDS + 3 * chase.window;
    if ((rc = record_allocate(&record, &chase)) < 0 || (rc = walk_check_path(live, chase.op)) < 0 ||
        (rc = chase.other ? walk_check_path(live, chase.other) : 0) < 0 ||
        (rc = kernel_find(live, &kernel, "chase", "chase", chase.variant)) < 0 ||
        (rc = buffer_reserve(live, &live->out, words * 4, 65536)) < 0 ||
        (rc = walk_carveout(live, kernel, request, chase.window * RECORD_BYTES)) < 0 ||
        (rc = lay_out(live, &chase)) < 0) {
        goto out;
    }
    rc = find_other(live, &chase);
    bool has_other = rc == 0 && chase.other && chase.other_space == TEXTURE;
    rc = rc < 0 ? rc : measure(live, kernel, &chase, &record);
    if (has_other) {
        int destroyed = device_texture_destroy(live->device, chase.other_at);
        rc = rc < 0 ? rc : destroyed;
    }
    if (chase.space == TEXTURE) {
        int destroyed = device_texture_destroy(live->device, chase.texture);
        rc = rc < 0 ? rc : destroyed;
    }
    rc = rc < 0 ? rc : add_columns(trace, &chase, &record);
    rc = rc < 0 ? rc : add_page_bytes(trace, live, &chase.walk);
out:
    record_free(&record);
    return rc;
}
